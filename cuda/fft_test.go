package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// The kernels of the host whose passes run on the device.
type (
	hostFFT struct {
		X     rev.Vector[complex128] `rev:"inout" shape:"n"`
		Count int
	}
	hostRealFFT struct {
		Y     rev.Vector[complex128] `rev:"acc" shape:"max(Count,1)*min(n/max(Count,1),1)*(n/max(Count,1)/2+1)"`
		X     rev.Vector[float64]    `rev:"in" shape:"n"`
		Count int
	}
)

func (k hostFFT) Run(p rev.Pass[hostFFT]) error {
	return through[hostFFT, FFT](testDevice, k, p)
}
func (k hostRealFFT) Run(p rev.Pass[hostRealFFT]) error {
	return through[hostRealFFT, RealFFT](testDevice, k, p)
}

func complexNormals(rnd *rand.Rand, n int) rev.Vector[complex128] {
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

func randomRealFFT(rnd *rand.Rand, n, count int) hostRealFFT {
	return hostRealFFT{Y: complexNormals(rnd, count*min(n, 1)*(n/2+1)), X: vector[float64](rnd, count*n), Count: count}
}

// shortTransforms lowers how long transforms of one pass are, until the end of a test. A card keeps that.
func shortTransforms(t *testing.T) {
	t.Helper()
	before := fftLogs
	t.Cleanup(func() { fftLogs = before })
	fftLogs.whole, fftLogs.part = 4, 3
}

func TestFFT(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	shortTransforms(t)
	// Of one pass, of two and three, and convolutions of these.
	lengths := map[int][]int{0: {0, 1, 2, 8, 13, 32}, 3: {5, 64}}
	if long.Tests() {
		lengths[0] = []int{0, 1, 2, 3, 4, 5, 8, 13, 16, 32, 100, 256}
		lengths[3] = []int{1, 2, 7, 64, 100, 127}
	}
	for count, sizes := range lengths {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[hostFFT]{Sizes: sizes, Skip: noAllocs, RoundTrip: 64, Free: []string{"Count"}, New: func(rnd *rand.Rand, n int) hostFFT {
				return hostFFT{X: complexNormals(rnd, max(count, 1)*n), Count: count}
			}})
			revtest.Kernel(t, revtest.Spec[hostRealFFT]{Sizes: sizes, Skip: noAllocs, RoundTrip: 4, Free: []string{"X.N", "Count"}, New: func(rnd *rand.Rand, n int) hostRealFFT {
				return randomRealFFT(rnd, n, max(count, 1))
			}})
		})
	}
}

// spectrum returns F·x by gonum.
func spectrum(x []complex128) []complex128 {
	y := fourier.NewCmplxFFT(len(x)).Coefficients(nil, x)
	for i := range y {
		y[i] /= complex(math.Sqrt(float64(len(x))), 0)
	}
	return y
}

// TestFFTValues compares transforms of all numbers of passes with gonum's, forward and back, of vectors with gaps
// and of many signals, which have the bits that one has alone.
func TestFFTValues(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, lengths := range [][]int{{2, 16, 24, 256, 2048, 4096, 1000}, {512, 1024, 150}} {
		for _, n := range lengths {
			fftValues(t, n)
		}
		shortTransforms(t)
	}
}

func fftValues(t *testing.T, n int) {
	t.Helper()
	const count = 3
	rnd := rand.New(rand.NewPCG(71, uint64(n)))
	one := complexNormals(rnd, n)
	many := hostFFT{X: rev.Vector[complex128]{N: count * n, Data: complexNormals(rnd, 2*count*n).Data, Inc: 2}, Count: count}
	for i, v := range one.Data {
		many.X.Data[2*(n+i)] = v // the second
	}
	norm := 0.0
	for _, v := range one.Data {
		norm = math.Hypot(norm, cmplx.Abs(v))
	}
	x := append([]complex128(nil), one.Data...)
	bound := 4e-16 * math.Log2(float64(n)+1) * norm
	near := func(what string, got func(i int) complex128, want []complex128) {
		for i, v := range want {
			if g := got(i); !(cmplx.Abs(g-v) <= bound) {
				t.Fatalf("n = %d: %s %d is %v, want %v", n, what, i, g, v)
			}
		}
	}
	of := func(i int) complex128 { return one.Data[i] }
	if err := rev.Forward(hostFFT{X: one}); err != nil {
		t.Fatal(err)
	}
	near("element", of, spectrum(x))
	gap := many.X.Data[2*n+1]
	if err := rev.Forward(many); err != nil {
		t.Fatal(err)
	}
	for i, v := range one.Data {
		if many.X.Data[2*(n+i)] != v {
			t.Fatalf("n = %d: element %d of one of many is %v, and %v alone", n, i, many.X.Data[2*(n+i)], v)
		}
	}
	if many.X.Data[2*n+1] != gap {
		t.Errorf("n = %d: what is between elements has changed", n)
	}
	if err := rev.Inverse(many); err != nil {
		t.Fatal(err)
	}
	near("restored element", func(i int) complex128 { return many.X.Data[2*(n+i)] }, x)

	k := randomRealFFT(rnd, n, 1)
	clear(k.Y.Data)
	for i, v := range k.X.Data {
		x[i] = complex(v, 0)
	}
	if err := rev.Forward(k); err != nil {
		t.Fatal(err)
	}
	near("element of half a spectrum", func(i int) complex128 { return k.Y.Data[i] }, spectrum(x)[:n/2+1])
}

// TestFFTAlike compares all passes with those of the CPU.
func TestFFTAlike(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	shortTransforms(t)
	for _, n := range []int{64, 256, 512, 32, 60, 1} { // of two passes and of three
		alike(t, 1e-13, func(rnd *rand.Rand) hostFFT { return hostFFT{X: complexNormals(rnd, n)} },
			func(k hostFFT) revlinalg.FFT { return revlinalg.FFT{X: k.X} })
		alike(t, 1e-13, func(rnd *rand.Rand) hostRealFFT { return randomRealFFT(rnd, n, 1) },
			func(k hostRealFFT) revlinalg.RealFFT { return revlinalg.RealFFT{Y: k.Y, X: k.X} })
	}
}

// TestFFTTables makes transforms of more lengths than a device keeps tables of.
func TestFFTTables(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	lengths := []int{3, 5}
	for n := range mostTables {
		lengths = append(lengths, 6+2*n+n%2*7)
	}
	for _, n := range append(lengths, lengths...) {
		x := complexNormals(rand.New(rand.NewPCG(72, 1)), n)
		want := spectrum(x.Data)
		if err := rev.Forward(hostFFT{X: x}); err != nil {
			t.Fatal(err)
		}
		for i, v := range x.Data {
			if !(cmplx.Abs(v-want[i]) <= 1e-14) {
				t.Errorf("n = %d: element %d is %v, want %v", n, i, v, want[i])
			}
		}
		if len(testDevice.tables) > mostTables {
			t.Fatalf("%d tables", len(testDevice.tables))
		}
	}
	for _, n := range lengths[len(lengths)-mostTables+1:] { // those of the last lengths stay, beside the roots
		if _, ok := testDevice.tables[n]; !ok {
			t.Errorf("no table of %d", n)
		}
	}
}

func TestFFTCount(t *testing.T) {
	testDevice = interpreter(t, 1<<20)
	for name, f := range map[string]func() error{
		"FFT":     func() error { return FFT{X: Vector[complex128]{N: 5, Inc: 1}, Count: 2}.Run(rev.Pass[FFT]{}) },
		"RealFFT": func() error { return RealFFT{X: Vector[float64]{N: 5, Inc: 1}, Count: 2}.Run(rev.Pass[RealFFT]{}) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*rev.OperandError); !ok {
					t.Errorf("%s of two signals in five numbers does not panic", name)
				}
			}()
			_ = f()
		}()
	}
}

func TestFFTLongest(t *testing.T) {
	testDevice = interpreter(t, 1<<20)
	for _, n := range []int{1<<mostFFTLog + 2, 1<<(mostFFTLog-1) + 1} { // the second by a convolution
		w := pass{dev: testDevice, stream: testDevice.first}
		if newTransforms(&w, n, 1, true); w.err == nil || errors.Is(w.err, ErrMemory) {
			t.Errorf("%d numbers: error %v", n, w.err)
		}
	}
}

// TestFFTParts cuts transforms of 2¹¹, 2¹² and 2¹⁴ numbers as those of larger ones are cut.
func TestFFTParts(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	defer func(f func(int) []int) { partsOfLog = f }(partsOfLog)
	for _, parts := range [][]int{{1, 10}, {10, 1}, {7, 4}, {4, 7}, {8, 3}, {3, 8}, {9, 2}, {2, 9}, {3, 5, 4}, {1, 7, 3}, {4, 4, 4}, {5, 5, 4}} {
		l := 0
		for _, p := range parts {
			l += p
		}
		partsOfLog = func(int) []int { return parts }
		const count = 2
		x := complexNormals(rand.New(rand.NewPCG(72, 2)), count<<l)
		want := append(spectrum(x.Data[:1<<l]), spectrum(x.Data[1<<l:])...)
		if err := rev.Forward(hostFFT{X: x, Count: count}); err != nil {
			t.Fatal(err)
		}
		for i, v := range x.Data {
			if !(cmplx.Abs(v-want[i]) <= 1e-13) {
				t.Errorf("%v: element %d is %v, want %v", parts, i, v, want[i])
				break
			}
		}
		alike(t, 1e-12, func(rnd *rand.Rand) hostRealFFT { return randomRealFFT(rnd, 1<<l, 1) },
			func(k hostRealFFT) revlinalg.RealFFT { return revlinalg.RealFFT{Y: k.Y, X: k.X} })
	}
}

// inFFTChunks has transforms of many numbers cut into so many parts, and the last two of three passes into chunks
// of so many numbers, until the test ends.
func inFFTChunks(t *testing.T, chunk int, parts ...int) {
	of, n, threads := partsOfLog, fftChunk, bounds.threads
	t.Cleanup(func() { partsOfLog, fftChunk, bounds.threads = of, n, threads })
	partsOfLog, fftChunk, bounds.threads = func(int) []int { return parts }, chunk, warp
}

// TestFFTChunks makes the last two of three passes for parts of their columns, in two streams, in the orders that events allow.
// The bits are those of whole passes.
func TestFFTChunks(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		for _, c := range []struct {
			parts          []int
			n, count, inc  int
			chunk, perPass int // numbers, and launches of each of the two passes for a signal
		}{
			{[]int{6, 3, 3}, 1 << 12, 1, 1, 1, 2},
			{[]int{7, 4, 3}, 1 << 14, 1, 2, 1, 4},
			{[]int{7, 4, 3}, 1 << 14, 1, 1, 1 << 13, 2},
			{[]int{6, 3, 4}, 1 << 13, 3, 1, 1, 2},
			{[]int{6, 3, 3}, 1<<11 - 1, 1, 1, 1, 2}, // a convolution
			{[]int{6, 3, 3}, 1<<11 - 1, 2, 1, 1, 2},
		} {
			inFFTChunks(t, 1, c.parts...)
			x := complexNormals(rand.New(rand.NewPCG(73, 2)), c.count*c.n*c.inc)
			x.N, x.Inc = c.count*c.n, c.inc
			run := func(chunk int) []complex128 {
				fftChunk = chunk
				y := slices.Clone(x.Data)
				if err := rev.Forward(hostFFT{X: rev.Vector[complex128]{N: x.N, Data: y, Inc: x.Inc}, Count: c.count}); err != nil {
					t.Fatal(err)
				}
				return y
			}
			if got, want := run(c.chunk), run(math.MaxInt); !slices.Equal(got, want) {
				t.Errorf("%+v: chunks have other bits", c)
			}
			fftChunk = c.chunk
			w := pass{dev: testDevice, stream: testDevice.first}
			f := newTransforms(&w, c.n, c.count, true)
			if some := f.chunkLog(c.parts); w.err != nil || f.side == nil || c.perPass<<some != 1<<c.parts[0] {
				t.Errorf("%+v: chunks of 2^%d columns, error %v", c, some, w.err)
			}
		}
	})
}

// TestFFTChunksAlike compares all passes in chunks with those of the CPU. Two transforms of a pass follow each other in the
// same scratch memory.
func TestFFTChunksAlike(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		inFFTChunks(t, 1, 6, 3, 3)
		for _, n := range []int{1 << 12, 1<<11 - 1} {
			alike(t, 1e-12, func(rnd *rand.Rand) hostFFT { return hostFFT{X: complexNormals(rnd, n)} },
				func(k hostFFT) revlinalg.FFT { return revlinalg.FFT{X: k.X} })
		}
		alike(t, 1e-12, func(rnd *rand.Rand) hostRealFFT { return randomRealFFT(rnd, 1<<11-1, 1) },
			func(k hostRealFFT) revlinalg.RealFFT { return revlinalg.RealFFT{Y: k.Y, X: k.X} })
	})
}

// TestFFTChunksJoin wants what follows in the stream of a pass to wait for the chunks beside it.
func TestFFTChunksJoin(t *testing.T) {
	inFFTChunks(t, 1, 6, 3, 3)
	on := interpret(t, 1<<24)
	d := &late{interpreted: on, streams: make([][]lateOperation, 1), ran: make([]int, 1), numbers: map[int]int{}, events: map[int][2]int{}}
	dev := must(newDevice(0, d))(t)
	const n = 1 << 12
	x := must(allocate[complex128](dev, n))(t)
	w := pass{dev: dev, stream: dev.first}
	zero(&w, x)
	if err := join(w.err, (FFT{X: Vector[complex128]{n, x, 1}}).Run(rev.Pass[FFT]{}), d.sync(0)); err != nil {
		t.Fatal(err)
	}
	if side := d.numbers[dev.first.side.id]; len(d.streams[side]) < 2 || d.ran[side] != len(d.streams[side]) {
		t.Errorf("%d of %d operations beside the pass have run when it ends", d.ran[side], len(d.streams[side]))
	}
	if err := release(dev, x); err != nil {
		t.Error(err)
	}
	closeAll(t, dev, on)
}

// TestRealFFTStreams wants a stream beside only for transforms that use it.
func TestRealFFTStreams(t *testing.T) {
	inFFTChunks(t, 1, 6, 3, 3)
	for n, want := range map[int]bool{1 << 12: false, 1<<11 - 1: true} {
		testDevice = interpreter(t, 1<<24)
		if err := rev.Forward(randomRealFFT(rand.New(rand.NewPCG(73, 3)), n, 1)); err != nil {
			t.Fatal(err)
		}
		if got := testDevice.first.side != nil; got != want {
			t.Errorf("RealFFT of %d numbers has a stream beside: %t", n, got)
		}
	}
}

// TestFFTTablesWithoutMemory lets each allocation of a convolution fail once, on a device with the table of another length.
// That table makes room if those of the convolution had none.
func TestFFTTablesWithoutMemory(t *testing.T) {
	parts := partsOfLog
	for _, chunk := range []int{math.MaxInt, 1} {
		again := 0
		inFFTChunks(t, chunk)
		for failing := 1; ; failing++ {
			d := interpret(t, 1<<24)
			testDevice = must(newDevice(0, d))(t)
			partsOfLog = parts
			if err := rev.Forward(hostFFT{X: complexNormals(rand.New(rand.NewPCG(73, 4)), 3)}); err != nil {
				t.Fatal(err)
			}
			partsOfLog = func(int) []int { return []int{6, 3, 3} }
			x := complexNormals(rand.New(rand.NewPCG(73, 5)), 1<<11-1)
			want := spectrum(x.Data)
			last := d.allocations + failing
			d.failing = last
			err := rev.Forward(hostFFT{X: x})
			_, kept := testDevice.tables[3]
			if err == nil {
				for i, v := range x.Data {
					if !(cmplx.Abs(v-want[i]) <= 1e-13) {
						t.Fatalf("allocation %d: element %d is %v, want %v", failing, i, v, want[i])
					}
				}
			}
			reached := d.allocations >= last
			closeAll(t, testDevice, d)
			if !reached {
				break
			}
			if err == nil && !kept {
				again++
			} else if !errors.Is(err, ErrMemory) || !kept {
				t.Errorf("chunks of %d, allocation %d: error %v, another table kept: %t", chunk, failing, err, kept)
			}
		}
		if again != 2 { // the two tables of a convolution
			t.Errorf("chunks of %d: %d allocations had room after another table", chunk, again)
		}
	}
}

// TestFFTWithoutMemory lets each allocation of transforms fail that make a stream.
func TestFFTWithoutMemory(t *testing.T) {
	inFFTChunks(t, 1, 6, 3, 3)
	for _, n := range []int{1 << 12, 1<<11 - 1} {
		exhaust[hostFFT, FFT](t, func(rnd *rand.Rand) hostFFT { return hostFFT{X: complexNormals(rnd, n)} })
	}
}
