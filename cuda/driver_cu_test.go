//go:build cuda

package cuda

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"

	"revnum/rev"
)

// The tests of this file run on each card there is, or with testdata/driver.c in place of the driver.

// cards opens all devices. They are closed after the test.
func cards(t *testing.T) (devices []*Device) {
	t.Helper()
	for i := range must(Count())(t) {
		dev := must(Open(i))(t)
		t.Cleanup(func() {
			if err := dev.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		devices = append(devices, dev)
	}
	return devices
}

// sumOf returns Σ x_i² on a device for x = 1, 2, ..., n.
func sumOf(dev *Device, n int) (sum float64, err error) {
	host := make([]float64, n)
	for i := range host {
		host[i] = float64(i + 1)
	}
	x, err := NewVector(dev, rev.ViewSlice(host))
	if err != nil {
		return 0, err
	}
	out, err := NewScalar(dev, 0.0)
	if err == nil {
		if err = (Dot[float64]{Out: out, X: x, Y: x}).Forward(); err == nil {
			sum, err = Get(out)
		}
		err = errors.Join(err, Free(out))
	}
	return sum, errors.Join(err, x.Data.Free())
}

// TestCardPointers copies from a struct that has a pointer, and to it.
func TestCardPointers(t *testing.T) {
	for _, dev := range cards(t) {
		s := &struct {
			next     *int
			from, to [3]float64
		}{new(int), [3]float64{1, 2, 3}, [3]float64{}}
		x := must(NewVector(dev, rev.ViewSlice(s.from[:])))(t)
		if err := x.Data.Get(s.to[:]); err != nil || s.to != s.from {
			t.Errorf("%v: got %v, want %v", err, s.to, s.from)
		}
	}
}

func TestCards(t *testing.T) {
	n := must(Count())(t)
	for _, i := range []int{-1, n} {
		if _, err := Open(i); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), " of ") {
			t.Errorf("device %d of %d: error %v", i, n, err)
		}
	}
	devices := cards(t)
	var wait sync.WaitGroup
	for _, dev := range devices {
		if p := dev.Properties(); p.Name == "" || p.Capability < 75 {
			t.Errorf("properties %+v", p)
		}
		for g := range 4 {
			wait.Go(func() { // in threads in which no context is current
				for range 5 {
					n := 300 + g
					if sum, err := sumOf(dev, n); err != nil || sum != float64(n*(n+1)*(2*n+1)/6) {
						t.Errorf("the sum of %d squares is %v: %v", n, sum, err)
					}
				}
			})
		}
	}
	wait.Wait()
	again := must(Open(0))(t) // the same card
	a, b := must(NewScalar(devices[0], 1.0))(t), must(NewScalar(again, 2.0))(t)
	x := Vector[float64]{N: 1, Data: memoryOf(a), Inc: 1}
	if err := (Sum[float64]{Out: b, X: x}).Forward(); err == nil {
		t.Error("no error for operands of two devices")
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if v, err := Get(a); v != 1 || err != nil {
		t.Errorf("%v after the same card was closed by another: %v", v, err)
	}
	if _, err := Get(b); err == nil {
		t.Error("memory of a closed device is read")
	}
	for name, err := range map[string]error{"Close": again.Close(), "memory": second(NewScalar(again, 1.0)), "stream": second(again.NewStream()), "event": second(again.Stream().Record()), "pinned": second(NewPinned[int32](again, 1))} {
		if err == nil {
			t.Errorf("%s: no error after the device was closed", name)
		}
	}
}

// TestCardClusters asks for the room for clusters. testdata/driver.c has none on device 0, and for three on device 1.
func TestCardClusters(t *testing.T) {
	for i, dev := range cards(t) {
		p := dev.Properties()
		imitated := strings.HasPrefix(p.Name, "no GPU")
		kernel := "panelColumnsF64"
		if imitated {
			kernel = "exchangeRowsF64"
		} else if p.Capability < 90 {
			continue
		}
		ask := func(blocks int) (int, error) {
			return dev.driver.clusters(kernel, grid{[3]int{blocks, 1, 1}, [3]int{maxThreads, 1, 1}})
		}
		if n, err := ask(8); err != nil || imitated && n != 3*i {
			t.Errorf("device %d: room for %d clusters: %v", i, n, err)
		}
		if imitated {
			if _, err := ask(7); err == nil {
				t.Errorf("device %d: no error for 7 blocks", i)
			}
		}
	}
}

// TestCardStreams orders copies and passes of two streams by events.
func TestCardStreams(t *testing.T) {
	for _, dev := range cards(t) {
		s := must(dev.NewStream())(t)
		side := must(s.beside())(t)
		host := must(NewPinned[float64](dev, 3))(t)
		x := must(NewVector(dev, rev.ViewSlice(make([]float64, 3))))(t)
		y := must(NewVector(dev, rev.ViewSlice([]float64{1, 1, 1})))(t)
		one, out := must(NewScalar(dev, 1.0))(t), must(NewScalar(dev, 0.0))(t)
		copy(host, []float64{4, 5, 6})
		if err := x.Data.SetAsync(s, host); err != nil {
			t.Fatal(err)
		}
		took := must(s.Time(On(s, Dot[float64]{Out: out, X: x, Y: x}).Forward))(t)
		if took <= 0 {
			t.Errorf("a pass took %v", took)
		}
		squares := must(s.Record())(t)
		if err := errors.Join(dev.Stream().Wait(squares), Axpy[float64]{Y: y, Alpha: one, X: x}.Forward(), y.Data.GetAsync(nil, host), dev.Sync()); err != nil {
			t.Fatal(err)
		}
		if host[0] != 5 || host[2] != 7 {
			t.Errorf("copied %v", host)
		}
		if v, err := Get(out); v != 77 || err != nil {
			t.Errorf("%v, %v", v, err)
		}
		// Each stream waits twice for the other, with one event.
		add := func(s *Stream, y, x Vector[float64]) error {
			return On(s, Axpy[float64]{Y: y, Alpha: one, X: x}).Forward()
		}
		after := func(s, other *Stream) error {
			dev.mu.Lock()
			defer dev.mu.Unlock()
			w := pass{dev: dev, stream: s}
			w.after(&pass{dev: dev, stream: other})
			return w.err
		}
		a, b := must(NewVector(dev, rev.ViewSlice([]float64{1, 2, 3})))(t), must(NewVector(dev, rev.ViewSlice([]float64{1, 1, 1})))(t)
		for range 2 {
			if err := errors.Join(add(s, a, b), after(side, s), add(side, b, a), after(s, side)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(b.Data.GetAsync(s, host), s.Sync()); err != nil || host[0] != 8 || host[2] != 14 {
			t.Errorf("copied %v: %v", host, err)
		}
		if err := errors.Join(squares.Sync(), squares.Close(), s.Sync(), s.Close(), host.Free(dev)); err != nil {
			t.Error(err)
		}
		must(dev.NewStream())(t) // what is left is closed with the device
		must(dev.Stream().Record())(t)
		must(NewPinned[int32](dev, 5))(t)
	}
}

// TestCardPriority compares the priorities of streams. The lowest number comes first.
func TestCardPriority(t *testing.T) {
	for _, dev := range cards(t) {
		s := must(dev.NewStream())(t)
		side := must(s.beside())(t)
		var priorities []int
		dev.mu.Lock()
		c := dev.driver.(*card)
		err := c.do(func() (err error) {
			for _, s := range []*Stream{dev.first, s, side} {
				p, e := c.streams[s.id].Priority()
				priorities, err = append(priorities, p), join(err, e)
			}
			return err
		})
		dev.mu.Unlock()
		if p := priorities; err != nil || p[1] != p[0] || p[2] >= p[0] {
			t.Errorf("priorities of the first stream, another and one beside it: %v, error %v", p, err)
		}
	}
}

// TestCardMemory allocates, sets and copies memory, also between devices, without the host.
func TestCardMemory(t *testing.T) {
	devices := cards(t)
	devices = append(devices, must(Open(0))(t)) // the same card
	t.Cleanup(func() {
		if err := devices[len(devices)-1].Close(); err != nil {
			t.Error(err)
		}
	})
	var x []Vector[float64]
	for i, dev := range devices {
		before, total, err := dev.Memory()
		if err != nil || before <= 0 || before > total {
			t.Errorf("%d of %d bytes are free: %v", before, total, err)
		}
		x = append(x, must(AllocVector[float64](dev, 1<<20))(t))
		s := must(dev.NewStream())(t)
		if dev.Context() == 0 || s.Handle() == 0 || s.Handle() == dev.Stream().Handle() {
			t.Error("a handle is 0, or of two streams")
		}
		if err := errors.Join(Fill(s, x[i].Data, float64(i+2)), x[i].Data[:1<<19].Zero(s), x[i].Data[1:3].Copy(s, x[i].Data[1<<19:1<<19+2]), s.Sync()); err != nil {
			t.Fatal(err)
		}
		after, _, err := dev.Memory()
		if err != nil || strings.HasPrefix(dev.Properties().Name, "no GPU") && after > before-8<<20 {
			t.Errorf("%d bytes are free after %d: %v", after, before, err)
		}
	}
	for i := range x {
		v := float64(i + 2)
		var got [4]float64
		if err := x[i].Data[:4].Get(got[:]); err != nil || got != [4]float64{0, v, v, 0} {
			t.Errorf("%v, want %v: %v", got, v, err)
		}
	}
	for i := range x {
		from := (i + 1) % len(x)
		if err := x[i].Data[:2].Copy(nil, x[from].Data[2:4]); err != nil {
			t.Error(err)
		}
		var got [3]float64
		if err := x[i].Data[:3].Get(got[:]); err != nil || got != [3]float64{float64(from + 2), 0, float64(i + 2)} {
			t.Errorf("%v, %v", got, err)
		}
	}
}

// TestCardErrors lacks memory, and makes launches that no card runs. The device works afterwards.
func TestCardErrors(t *testing.T) {
	for _, dev := range cards(t) {
		dev.mu.Lock()
		_, err := allocate[byte](dev, 1<<50)
		dev.mu.Unlock()
		if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "1125899906842624 bytes on device") {
			t.Errorf("error %v, want ErrMemory", err)
		}
		if _, err := NewPinned[byte](dev, 1<<50); !errors.Is(err, ErrMemory) {
			t.Errorf("pinned memory: error %v, want ErrMemory", err)
		}
		one := [3]int{1, 1, 1}
		for kernel, g := range map[string]grid{
			"addConstantF64": {[3]int{0, 1, 1}, one},
			"addConstantF32": {[3]int{1, 1 << 16, 1}, one},
			"addConstantQ43": {one, [3]int{1025, 1, 1}},
			"copyF64":        {[3]int{1<<32 + 1, 1, 1}, one},
			"noKernelIs":     {one, one},
		} {
			dev.mu.Lock()
			err := dev.driver.launch(0, kernel, g, make([]uint64, 5))
			dev.mu.Unlock()
			if err == nil || !strings.Contains(err.Error(), kernel) {
				t.Errorf("kernel %s of %v: error %v", kernel, g, err)
			}
		}
		if strings.HasPrefix(dev.Properties().Name, "no GPU") { // which is older than tensor cores
			dev.mu.Lock()
			err := dev.driver.launch(0, "tensorChainsF64", grid{one, one}, make([]uint64, 2))
			dev.mu.Unlock()
			if err == nil || !strings.HasSuffix(err.Error(), "NoBinaryForGpu: not for this card: .target sm_80") {
				t.Errorf("a kernel that the driver does not compile: error %v", err)
			}
		}
		if sum, err := sumOf(dev, 3); sum != 14 || err != nil {
			t.Errorf("%v, %v", sum, err)
		}
	}
}

// TestCardFault has a kernel that the device cannot finish. The error comes later, and all that
// follows is an error.
func TestCardFault(t *testing.T) {
	dev := must(Open(0))(t)
	if !strings.HasPrefix(dev.Properties().Name, "no GPU") {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		t.Skip("after a fault a card works again in another process only")
	}
	x := must(NewVector(dev, rev.ViewSlice(make([]float64, 3))))(t)
	must(NewPinned[int32](dev, 1))(t)
	must(dev.NewStream())(t)
	dev.mu.Lock()
	err := dev.driver.launch(0, "addConstantF64", vectorGrid(1), []uint64{at(x.Data), 1, 1, math.MaxUint64 - 7, 1})
	dev.mu.Unlock()
	if err != nil {
		t.Errorf("the launch has the error %v", err)
	}
	if v, err := Get(&x.Data[0]); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v: error %v after a fault, want one", v, err)
	}
	if err := dev.Sync(); err == nil {
		t.Error("no error of Sync after a fault")
	}
	if err := x.Data.Free(); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("Free: error %v, want one", err)
	}
	if err := dev.Close(); err == nil || strings.Count(err.Error(), "LaunchFailed") != 1 {
		t.Errorf("Close: error %v, want it once", err)
	}
}

// TestCardCompile compiles the same kernels in several goroutines, beside a pass that needs some of them.
func TestCardCompile(t *testing.T) {
	for _, dev := range cards(t) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := dev.Compile(regexp.MustCompile("^(dot|norm2).*F64$")); err != nil {
					t.Error(err)
				}
			})
		}
		if sum, err := sumOf(dev, 100); err != nil || sum != 338350 {
			t.Errorf("sum %v, error %v", sum, err)
		}
		all.Wait()
	}
}
