package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"revnum/rev"
	"revnum/revsparse"
)

func must[V any](v V, err error) func(t testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestStreams(t *testing.T) {
	dev := interpreter(t, 1<<18)
	s := must(dev.NewStream())(t)
	host := must(NewPinned[float64](dev, 3))(t)
	x := must(NewVector(dev, rev.ViewSlice([]float64{1, 2, 3})))(t)
	out := must(NewScalar(dev, 0.0))(t)
	copy(host, []float64{4, 5, 6})
	if err := x.Data.SetAsync(s, host); err != nil {
		t.Fatal(err)
	}
	took := must(s.Time(On(s, Dot[float64]{Out: out, X: x, Y: x}).Forward))(t)
	if took <= 0 {
		t.Errorf("the pass took %v", took)
	}
	copied := must(s.Record())(t)
	if err := dev.Stream().Wait(copied); err != nil {
		t.Error(err)
	}
	if v, err := Get(out); v != 77 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	clear(host)
	if err := errors.Join(x.Data.GetAsync(nil, host), s.Sync(), copied.Sync(), dev.Sync()); err != nil || host[2] != 6 {
		t.Errorf("%v, %v", host, err)
	}
	if s.Handle() == 0 || dev.Stream().Handle() == 0 || dev.Context() == 0 {
		t.Error("a handle is 0")
	}
	if err := errors.Join(s.Close(), copied.Close(), host.Free(dev)); err != nil {
		t.Error(err)
	}
	if s.Handle() != 0 {
		t.Error("the handle of a closed stream")
	}
	k := Dot[float64]{Out: out, X: x, Y: x}
	for name, err := range map[string]error{
		"stream":       s.Close(),
		"first stream": dev.Stream().Close(),
		"event":        copied.Close(),
		"wait":         dev.Stream().Wait(copied),
		"sync":         copied.Sync(),
		"pinned":       host.Free(dev),
		"sync stream":  s.Sync(),
		"record":       second(s.Record()),
		"time":         second(s.Time(k.Forward)),
		"pass":         On(s, k).Forward(),
		"zero":         x.Data.Zero(s),
		"fill":         Fill(s, x.Data, 1),
		"copy":         x.Data[:1].Copy(s, x.Data[1:2]),
		"from host":    x.Data.SetAsync(nil, make(Pinned[float64], 3)),
		"to host":      x.Data.GetAsync(nil, make(Pinned[float64], 3)),
	} {
		if err == nil {
			t.Errorf("%s: no error after it was closed", name)
		}
	}
}

func second[V any](_ V, err error) error { return err }

// TestOn makes all passes of a kernel in a stream, and compares with those of the first stream.
func TestOn(t *testing.T) {
	dev := interpreter(t, 1<<18)
	s := must(dev.NewStream())(t)
	operands := func() (k, g, tan, gt Axpy[float64]) {
		rnd := rand.New(rand.NewPCG(1, 2))
		for _, k := range []*Axpy[float64]{&k, &g, &tan, &gt} {
			*k = Axpy[float64]{Y: must(NewVector(dev, vector[float64](rnd, 5)))(t), Alpha: must(NewScalar(dev, rnd.Float64()))(t), X: must(NewVector(dev, vector[float64](rnd, 5)))(t)}
		}
		return k, g, tan, gt
	}
	k, g, tan, gt := operands()
	k2, g2, tan2, gt2 := operands()
	on := On(s, k2)
	for name, errs := range map[string][2]error{
		"Forward":        {k.Forward(), on.Forward()},
		"Inverse":        {k.Inverse(), on.Inverse()},
		"Adjoint":        {k.Adjoint(g), on.Adjoint(g2)},
		"Tangent":        {k.Tangent(tan), on.Tangent(tan2)},
		"AdjointTangent": {k.AdjointTangent(g, tan, gt), on.AdjointTangent(g2, tan2, gt2)},
	} {
		if err := errors.Join(errs[:]...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i, pair := range [][2]Axpy[float64]{{k, k2}, {g, g2}, {tan, tan2}, {gt, gt2}} {
		var got, want [11]float64
		for j, of := range []*[11]float64{&want, &got} {
			if err := errors.Join(pair[j].Y.Data.Get(of[:5]), pair[j].X.Data.Get(of[5:10]), memoryOf(pair[j].Alpha).Get(of[10:])); err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("operands %d are %v, want %v", i, got, want)
		}
	}
}

// TestLaunchesInStream has launches and scratch memory of passes in their own stream.
func TestLaunchesInStream(t *testing.T) {
	c := &counting{interpreted: *interpret(t, 0), next: 1 << 40}
	dev := must(newDevice(0, c))(t)
	defer func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := must(dev.NewStream())(t)
	x := must(AllocVector[float64](dev, 10))(t)
	k := Dot[float64]{Out: &x.Data[0], X: x.Slice(1, 10), Y: x.Slice(1, 10)}
	if err := errors.Join(k.Forward(), On(s, k).Forward(), On(nil, k).Forward(), Fill(s, x.Data, 3)); err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 0, s.id, s.id, 0, 0, s.id}; !slices.Equal(c.streamsOf, want) {
		t.Errorf("launches in the streams %v, want %v", c.streamsOf, want)
	}
	if s.scratch[0].at == dev.first.scratch[0].at {
		t.Error("streams share scratch memory")
	}
}

// TestClose leaves everything open.
func TestClose(t *testing.T) {
	dev := interpreter(t, 1<<18)
	s := must(dev.NewStream())(t)
	must(NewPinned[int32](dev, 5))(t)
	must(NewScalar(dev, 1.0))(t)
	must(s.Record())(t)
}

func TestDevices(t *testing.T) {
	d := [2]*interpreted{interpret(t, 1<<18), interpret(t, 1<<18)}
	var dev [2]*Device
	var x [2]Vector[float64]
	var out [2]*float64
	for i := range d {
		dev[i] = must(newDevice(i, d[i]))(t)
		x[i] = must(NewVector(dev[i], rev.ViewSlice([]float64{1, 2})))(t)
		out[i] = must(NewScalar(dev[i], 0.0))(t)
	}
	for i := range d {
		if err := (Dot[float64]{Out: out[i], X: x[i], Y: x[i]}).Forward(); err != nil {
			t.Error(err)
		}
		if v, err := Get(out[i]); v != 5 || err != nil {
			t.Errorf("%v, %v", v, err)
		}
	}
	k := Dot[float64]{Out: out[0], X: x[0], Y: x[0]}
	for want, err := range map[string]error{
		"Y is on device 1, but Out on device 0":                Dot[float64]{Out: out[0], X: x[0], Y: x[1]}.Forward(),
		"cotangent of X is on device 1, but Out on device 0":   k.Adjoint(Dot[float64]{X: x[1]}),
		"Dot[float64]: tangent of Out is not in the memory of": k.Tangent(Dot[float64]{Out: new(float64)}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := dev[1].Stream().Wait(must(dev[0].Stream().Record())(t)); err == nil {
		t.Error("a device waits for an event of another")
	}
	if err := On(dev[1].Stream(), k).Forward(); err == nil {
		t.Error("a pass in a stream of another device")
	}
	for i := range d { // copies between devices
		if err := x[i].Data.Copy(nil, x[1-i].Data); err != nil {
			t.Error(err)
		}
		if err := x[i].Data[:1].Set([]float64{float64(7 + i)}); err != nil {
			t.Error(err)
		}
	}
	var got [2]float64
	if err := x[1].Data.Get(got[:]); err != nil || got != [2]float64{8, 2} {
		t.Errorf("copied %v, %v", got, err)
	}
	if err := x[0].Data.Copy(dev[1].Stream(), x[1].Data); err == nil {
		t.Error("a copy in a stream of another device")
	}
	for i := range d {
		closeAll(t, dev[i], d[i])
	}
	if err := x[0].Data.Copy(nil, x[1].Data); !errors.Is(err, errForeign) {
		t.Errorf("a copy of closed devices: %v", err)
	}
	if err := k.Forward(); err == nil {
		t.Error("a pass over a closed device has no error")
	}
	if _, err := Get(out[0]); err == nil {
		t.Error("memory of a closed device is read")
	}
}

// TestAllocations lets each allocation of a program fail in turn. The error must be
// ErrMemory, what is allocated must be what was before, and the pass must not have begun.
func TestAllocations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	a := randomCSR[float64](rnd, 40, 30)
	const enough = 100
	for failing := 1; ; failing++ {
		if failing == enough {
			t.Fatal("the program never ends")
		}
		d := interpret(t, 1<<20)
		d.failing = failing
		err := program(t, d, a)
		if used := d.machine.Memory.Used(); used != 0 || len(d.pinned) > 0 || len(d.events) > 0 || d.streams != 0 {
			t.Errorf("allocation %d: %d bytes, %d pieces of pinned memory, %d events and %d streams leak", failing, used, len(d.pinned), len(d.events), d.streams)
		}
		if err == nil {
			if failing < 15 {
				t.Errorf("the program makes %d allocations", failing-1)
			}
			return
		}
		if !errors.Is(err, ErrMemory) {
			t.Errorf("allocation %d: error %v, want ErrMemory", failing, err)
		}
	}
}

// program allocates everything that there is. It frees what it got itself, so that what is
// left is what failed calls left. It closes the device only afterwards.
func program(t *testing.T, d *interpreted, a revsparse.CSR[float64, int32]) (err error) {
	dev, err := newDevice(0, d)
	if err != nil {
		return err
	}
	var frees []func() error
	defer func() {
		for _, free := range frees {
			if err := free(); err != nil {
				t.Error(err)
			}
		}
		scratch := 0
		for _, c := range dev.first.scratch {
			scratch += c.bytes
		}
		// The first stream has pinned memory and an event.
		if used := d.machine.Memory.Used(); used != scratch || len(d.pinned) != 1 || len(d.events) != 1 || d.streams != 0 {
			t.Errorf("allocation %d: calls that failed left %d bytes, %d pieces of pinned memory, %d events and %d streams", d.failing, used-scratch, len(d.pinned)-1, len(d.events)-1, d.streams)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	frees = append(frees, s.Close)
	host, err := NewPinned[float64](dev, 10)
	if err != nil {
		return err
	}
	frees = append(frees, func() error { return host.Free(dev) })
	m, err := NewCSR(dev, a)
	if err != nil {
		return err
	}
	frees = append(frees, m.Free)
	var vectors [5]General[float64] // of C, B and their cotangents, and of the cotangent of A
	for i, n := range []int{40, 30, 40, 30, len(a.Ind)} {
		if vectors[i], err = NewGeneral(dev, rev.NewGeneral(n, 1, make([]float64, n))); err != nil {
			return err
		}
		frees = append(frees, vectors[i].Data.Free)
	}
	alpha, err := NewScalar(dev, 2.0)
	if err != nil {
		return err
	}
	frees = append(frees, func() error { return Free(alpha) })
	galpha, err := NewScalar(dev, 0.0)
	if err != nil {
		return err
	}
	frees = append(frees, func() error { return Free(galpha) })
	ones := make([]float64, 40)
	for i := range ones {
		ones[i] = 1
	}
	if err := errors.Join(vectors[0].Data.Set(ones), vectors[1].Data.Set(ones[:30])); err != nil {
		return err
	}
	err = Mul[float64]{C: vectors[0], Alpha: alpha, A: m, B: vectors[1]}.Adjoint(
		Mul[float64]{C: vectors[2], Alpha: galpha, A: m.With(vectors[4].Data), B: vectors[3]})
	if err != nil {
		got := make([]float64, 40)
		if err := vectors[0].Data.Get(got); err != nil || !slices.Equal(got, ones) {
			t.Errorf("allocation %d: the pass began and failed: %v, %v", d.failing, got, err)
		}
		return err
	}
	_, err = dev.Stream().Time(Sum[float64]{Out: galpha, X: Vector[float64]{40, vectors[0].Data, 1}}.Forward)
	return err
}

// TestGoroutines runs passes of one device from several goroutines, in one stream with its scratch
// memory, or each in its own.
func TestGoroutines(t *testing.T) {
	dev := interpreter(t, 1<<20)
	for _, own := range []bool{false, true} {
		var wait sync.WaitGroup
		for g := range 4 {
			n := 300 + 100*g
			v := must(AllocVector[float64](dev, n))(t)
			out := must(NewScalar(dev, 0.0))(t)
			s := dev.Stream()
			if own {
				s = must(dev.NewStream())(t)
			}
			if err := errors.Join(Fill(s, v.Data, 1), s.Sync()); err != nil {
				t.Fatal(err)
			}
			wait.Go(func() {
				for range 10 {
					if err := On(s, Sum[float64]{Out: out, X: v}).Forward(); err != nil {
						t.Error(err)
					}
				}
				if err := s.Sync(); err != nil {
					t.Error(err)
				}
				if got, err := Get(out); got != float64(10*n) || err != nil {
					t.Errorf("the sum is %v, want %d: %v", got, 10*n, err)
				}
			})
		}
		wait.Wait()
	}
}

// TestCloseRace closes a stream and an event while other goroutines use them. They are closed
// once, and the race detector finds nothing.
func TestCloseRace(t *testing.T) {
	dev := interpreter(t, 1<<18)
	for range 20 {
		s, e := must(dev.NewStream())(t), must(dev.Stream().Record())(t)
		var wait sync.WaitGroup
		var closed atomic.Int32
		for range 4 {
			wait.Go(func() {
				_, _ = s.Sync(), e.Sync() // after Close it is an error
				if s.Close() == nil {
					closed.Add(1)
				}
				if e.Close() == nil {
					closed.Add(1)
				}
			})
		}
		if wait.Wait(); closed.Load() != 2 {
			t.Errorf("a stream and an event were closed %d times", closed.Load())
		}
	}
}

// A counting device has endless memory, which holds zeros, and runs nothing. It counts grids that
// no card runs.
type counting struct {
	interpreted
	next     uintptr
	launches int
	wrong    []string

	streamsOf []int // launches
}

func (c *counting) alloc(bytes int) (uintptr, error) {
	c.next += uintptr(bytes+255) / 256 * 256
	return c.next - uintptr(bytes+255)/256*256, nil
}
func (c *counting) free(uintptr) error                      { return nil }
func (c *counting) toDevice(int, uintptr, []byte) error     { return nil }
func (c *counting) toHost(_ int, b []byte, _ uintptr) error { clear(b); return nil }

func (c *counting) zero(int, uintptr, int) error { return nil }

func (c *counting) launch(stream int, kernel string, g grid, _ []uint64) error {
	c.launches++
	c.streamsOf = append(c.streamsOf, stream)
	t, b := g.threads, g.blocks
	if n := t[0] * t[1] * t[2]; n < 1 || n > 1024 || min(b[0], b[1], b[2]) < 1 || b[0] > math.MaxInt32 || max(b[1], b[2]) > math.MaxUint16 {
		c.wrong = append(c.wrong, fmt.Sprintf("%s: %v", kernel, g))
	}
	return nil
}

// TestLargeGrids has more matrices, rows and components than a grid has blocks in its second
// dimension.
func TestLargeGrids(t *testing.T) {
	c := &counting{interpreted: *interpret(t, 0), next: 1 << 40}
	dev := must(newDevice(0, c))(t)
	defer func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}()
	const many = 1<<16 + 100
	general := func(rows, cols int) General[float64] {
		at, _ := c.alloc(8 * rows * cols)
		remember(at, 8*rows*cols, dev)
		dev.pieces[at] = true
		return General[float64]{Rows: rows, Cols: cols, Data: memoryAt[float64](at, rows*cols), Stride: cols}
	}
	vector := func(n int) Vector[float64] { return Vector[float64]{N: n, Data: general(n, 1).Data, Inc: 1} }
	qr := func() QR[float64] {
		return QR[float64]{Q: general(2*many, 2), R: general(2*many, 2), A: general(2*many, 2), Count: many}
	}
	affine := func() AffineBatch[float64] {
		return AffineBatch[float64]{Y: general(20*many, 3), X: general(20*many, 4), W: general(4, 3), B: vector(3)}
	}
	mixture := func() LogPosterior[float64] {
		return LogPosterior[float64]{Out: &vector(1).Data[0], Alpha: vector(many), Means: general(many, 1), Factors: general(many, 1), X: general(3, 1)}
	}
	product := func() MatMul[float64] {
		return MatMul[float64]{C: general(2*many, 2), A: general(2*many, 2), B: general(2*many, 2), Count: many}
	}
	convolution := func() Conv2D[float64] {
		return Conv2D[float64]{
			Y: general(2, 4*many), X: general(2, 9*many), W: general(many, 4), B: vector(many), Channels: many, Height: 3, Width: 3,
			KernelHeight: 2, KernelWidth: 2, StrideHeight: 1, StrideWidth: 1, Groups: many,
		}
	}
	for name, err := range map[string]error{
		"MatMul":       product().AdjointTangent(product(), product(), product()),
		"Conv2D":       convolution().AdjointTangent(convolution(), convolution(), convolution()),
		"QR":           qr().AdjointTangent(qr(), qr(), qr()),
		"AffineBatch":  affine().Adjoint(affine()),
		"LogPosterior": mixture().Adjoint(mixture()),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(c.wrong) > 0 || c.launches < 50 {
		t.Errorf("%d launches; too large: %v", c.launches, c.wrong)
	}
}
