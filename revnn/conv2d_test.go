package revnn_test

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// convSizes are sizes of a Conv2D: without derivatives, operands and workers.
type convSizes = revnn.Conv2D[float64]

// convOf returns a convolution of n inputs with f filters a group and random operands.
func convOf[T rev.Real](rnd *rand.Rand, n, f int, s convSizes) revnn.Conv2D[T] {
	rows, cols := convPlaces(s)
	groups := max(1, s.Groups)
	f *= groups
	return revnn.Conv2D[T]{
		Y: kerneltest.Matrix[T](rnd, n, f*rows*cols), X: kerneltest.Matrix[T](rnd, n, s.Channels*s.Height*s.Width),
		W: kerneltest.Matrix[T](rnd, f, s.Channels/groups*s.KernelHeight*s.KernelWidth), B: kerneltest.Vector[T](rnd, f),
		Channels: s.Channels, Height: s.Height, Width: s.Width, KernelHeight: s.KernelHeight, KernelWidth: s.KernelWidth,
		StrideHeight: s.StrideHeight, StrideWidth: s.StrideWidth, PadHeight: s.PadHeight, PadWidth: s.PadWidth,
		DilationHeight: s.DilationHeight, DilationWidth: s.DilationWidth, Groups: s.Groups,
	}
}

// convPlaces returns how many places a filter has in a column and in a row.
func convPlaces(s convSizes) (rows, cols int) {
	rows = (s.Height+2*s.PadHeight-max(1, s.DilationHeight)*(s.KernelHeight-1)-1)/s.StrideHeight + 1
	return rows, (s.Width+2*s.PadWidth-max(1, s.DilationWidth)*(s.KernelWidth-1)-1)/s.StrideWidth + 1
}

// The windows of these leave out elements, or meet padding alone, or neither.
var convCases = map[string]convSizes{
	"Plain": {Channels: 2, Height: 4, Width: 3, KernelHeight: 3, KernelWidth: 2, StrideHeight: 1, StrideWidth: 1},
	"Same":  {Channels: 3, Height: 3, Width: 4, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1},
	"Stride": {
		Channels: 1, Height: 7, Width: 6, KernelHeight: 2, KernelWidth: 1, StrideHeight: 3, StrideWidth: 2, PadHeight: 1,
	},
	"WidePadding": {Channels: 1, Height: 2, Width: 1, KernelHeight: 1, KernelWidth: 2, StrideHeight: 2, StrideWidth: 3, PadHeight: 2, PadWidth: 4},
	"Pointwise":   {Channels: 4, Height: 2, Width: 3, KernelHeight: 1, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1},
	"Dilated": {
		Channels: 2, Height: 6, Width: 7, KernelHeight: 3, KernelWidth: 2, StrideHeight: 1, StrideWidth: 2, PadHeight: 1, PadWidth: 2,
		DilationHeight: 2, DilationWidth: 3,
	},
	"Groups":    {Channels: 4, Height: 3, Width: 4, KernelHeight: 2, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadWidth: 1, Groups: 2},
	"Depthwise": {Channels: 3, Height: 4, Width: 3, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1, Groups: 3},
	"OnePlace":  {Channels: 2, Height: 3, Width: 4, KernelHeight: 2, KernelWidth: 2, StrideHeight: math.MaxInt, StrideWidth: 1, PadWidth: 1},
	"OneRow":    {Channels: 2, Height: 1, Width: 9, KernelHeight: 1, KernelWidth: 4, StrideHeight: 1, StrideWidth: 2, PadWidth: 2},
}

func convSpec[T rev.Real](s convSizes, bias bool) revtest.Spec[revnn.Conv2D[T]] {
	spec := revtest.Spec[revnn.Conv2D[T]]{
		New: func(rnd *rand.Rand, n int) revnn.Conv2D[T] {
			k := convOf[T](rnd, n, n+1, s)
			if !bias {
				k.B = rev.Vector[T]{}
			}
			return k
		},
		Sizes:  []int{0, 1, 2, 4},
		Masked: []string{"X"}, // between windows
	}
	if !bias {
		spec.Free = []string{"B.N"}
	}
	return spec
}

func TestConv2D(t *testing.T) {
	for name, s := range convCases {
		t.Run(name, func(t *testing.T) {
			if name != "Same" && name != "Dilated" && name != "Groups" && !long.Tests() {
				revtest.Kernel(t, convSpec[float64](s, true))
				return
			}
			kerneltest.Kernels(t, convSpec[float32](s, true), convSpec[float64](s, true), convSpec[fixed.Q43](s, true))
		})
	}
	t.Run("NoBias", func(t *testing.T) { revtest.Kernel(t, convSpec[float64](convCases["Same"], false)) })
}

// Planes of several parts, and channels of several groups.
func TestConv2DInParts(t *testing.T) {
	s := convSizes{Channels: 30, Height: 19, Width: 23, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1}
	rnd := rand.New(rand.NewPCG(61, 1))
	testConv(t, convOf[float64](rnd, 2, 3, s), 1e-10)
	testConvFixed(t, convOf[fixed.Q43](rnd, 2, 3, s))
	revtest.Kernel(t, convPartsSpec[float64](s))
	revtest.Kernel(t, convPartsSpec[fixed.Q43](s))
}

// convPartsSpec is for workers and allocation.
func convPartsSpec[T rev.Real](s convSizes) revtest.Spec[revnn.Conv2D[T]] {
	kernel := revtest.Spec[revnn.Conv2D[T]]{
		New:    func(rnd *rand.Rand, n int) revnn.Conv2D[T] { return convOf[T](rnd, n, 2, s) },
		Sizes:  []int{1},
		Large:  2,
		Skip:   map[revtest.Property]string{},
		Masked: []string{"X"},
	}
	for _, p := range []revtest.Property{
		revtest.RoundTrip, revtest.AdjointRestores, revtest.DotProduct, revtest.Tangents, revtest.SecondOrder, revtest.SymmetricHessian,
		revtest.Accumulation, revtest.NilGradients, revtest.NilOutputs, revtest.SharedInputs, revtest.ReadOnly, revtest.Gaps, revtest.Shapes,
		revtest.NaN, revtest.Extremes, revtest.Uncall, revtest.Gradients, revtest.Methods, revtest.Errors,
	} {
		kernel.Skip[p] = "TestConv2D has it for small planes"
	}
	return kernel
}

// testConvFixed compares value and gradients with those over float64.
func testConvFixed(t *testing.T, k revnn.Conv2D[fixed.Q43]) {
	t.Helper()
	floats := func(x []fixed.Q43) []float64 {
		y := make([]float64, len(x))
		for i, v := range x {
			y[i] = fixed.Float(v)
		}
		return y
	}
	rnd := rand.New(rand.NewPCG(61, 5))
	gy := kerneltest.Matrix[fixed.Q43](rnd, k.Y.Rows, k.Y.Cols)
	g := revnn.Conv2D[fixed.Q43]{
		Y: gy, X: rev.NewGeneral[fixed.Q43](k.X.Rows, k.X.Cols, nil),
		W: rev.NewGeneral[fixed.Q43](k.W.Rows, k.W.Cols, nil), B: rev.ViewSlice(make([]fixed.Q43, k.W.Rows)),
	}
	want := revnn.Conv2D[float64]{
		Y: rev.NewGeneral(k.Y.Rows, k.Y.Cols, floats(k.Y.Data)), X: rev.NewGeneral(k.X.Rows, k.X.Cols, floats(k.X.Data)),
		W: rev.NewGeneral(k.W.Rows, k.W.Cols, floats(k.W.Data)), B: rev.ViewSlice(floats(k.B.Data)),
		Channels: k.Channels, Height: k.Height, Width: k.Width, KernelHeight: k.KernelHeight, KernelWidth: k.KernelWidth,
		StrideHeight: k.StrideHeight, StrideWidth: k.StrideWidth, PadHeight: k.PadHeight, PadWidth: k.PadWidth,
	}
	wantG := revnn.Conv2D[float64]{
		Y: rev.NewGeneral(k.Y.Rows, k.Y.Cols, floats(gy.Data)), X: rev.NewGeneral[float64](k.X.Rows, k.X.Cols, nil),
		W: rev.NewGeneral[float64](k.W.Rows, k.W.Cols, nil), B: rev.ViewSlice(make([]float64, k.W.Rows)),
	}
	if err := errors.Join(rev.Gradient(k, g), rev.Gradient(want, wantG)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  []fixed.Q43
		want []float64
	}{
		"Y": {k.Y.Data, want.Y.Data}, "gradient of X": {g.X.Data, wantG.X.Data}, "gradient of W": {g.W.Data, wantG.W.Data},
		"gradient of B": {g.B.Data, wantG.B.Data},
	} {
		for i, v := range c.want {
			if d := fixed.Float(c.got[i]) - v; !(math.Abs(d) < 1e-11) {
				t.Errorf("element %d of %s over Q43: got %v, want %v", i, name, c.got[i], v)
				break
			}
		}
	}
}

// Planes in bands, filters in chunks, and several inputs in a block of which the last has
// fewer.
func TestConv2DBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 6))
	for name, c := range map[string]struct {
		inputs, filters int
		sizes           convSizes
	}{
		"Bands":  {1, long.Or(70, 20), convSizes{Channels: 40, Height: 60, Width: 61, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1}},
		"Stride": {1, 20, convSizes{Channels: 40, Height: 91, Width: 60, KernelHeight: 3, KernelWidth: 5, StrideHeight: 2, StrideWidth: 3, PadHeight: 1, DilationHeight: 3}},
		"Batch":  {70, 140, convSizes{Channels: 2, Height: 10, Width: 10, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1}},
		"Thin":   {2, 70, convSizes{Channels: 1, Height: 300, Width: 260, KernelHeight: 2, KernelWidth: 2, StrideHeight: 1, StrideWidth: 1}},
		"Point":  {9, 20, convSizes{Channels: 50, Height: 9, Width: 8, KernelHeight: 1, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1}},
	} {
		if name == "Thin" && !long.Tests() {
			continue
		}
		t.Run(name, func(t *testing.T) { testConv(t, convOf[float64](rnd, c.inputs, c.filters, c.sizes), 1e-9) })
	}
}

// Value and gradient are those of loops over the definition.
func TestConv2DValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 2))
	for name, s := range convCases {
		t.Run(name, func(t *testing.T) { testConv(t, convOf[float64](rnd, 3, 2, s), 1e-13) })
	}
}

func testConv(t *testing.T, k revnn.Conv2D[float64], tolerance float64) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(61, 3))
	rows, cols := convPlaces(k)
	stepU, stepV, groups := max(1, k.DilationHeight), max(1, k.DilationWidth), max(1, k.Groups)
	perGroup := k.Channels / groups
	g := revnn.Conv2D[float64]{
		Y: kerneltest.Matrix[float64](rnd, k.Y.Rows, k.Y.Cols), X: rev.NewGeneral[float64](k.X.Rows, k.X.Cols, nil),
		W: rev.NewGeneral[float64](k.W.Rows, k.W.Cols, nil), B: rev.ViewSlice(make([]float64, k.W.Rows)),
	}
	y := slices.Clone(k.Y.Data)
	gx, gw, gb := make([]float64, len(k.X.Data)), make([]float64, len(k.W.Data)), make([]float64, k.W.Rows)
	for p := range y {
		n, f, i, j := p/k.Y.Cols, p/(rows*cols)%k.W.Rows, p/cols%rows, p%cols
		sum, gy := y[p]+k.B.Data[f], g.Y.Data[p]
		gb[f] += gy
		for c := range perGroup {
			channel := f/(k.W.Rows/groups)*perGroup + c
			for u := range k.KernelHeight {
				r := i*k.StrideHeight + u*stepU - k.PadHeight
				if r < 0 || r >= k.Height {
					continue
				}
				x, w := ((n*k.Channels+channel)*k.Height+r)*k.Width, ((f*perGroup+c)*k.KernelHeight+u)*k.KernelWidth
				for v := range k.KernelWidth {
					q := j*k.StrideWidth + v*stepV - k.PadWidth
					if q < 0 || q >= k.Width {
						continue
					}
					sum += k.W.Data[w+v] * k.X.Data[x+q]
					gx[x+q] += k.W.Data[w+v] * gy
					gw[w+v] += k.X.Data[x+q] * gy
				}
			}
		}
		y[p] = sum
	}
	if err := rev.Gradient(k, g); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string][2][]float64{
		"Y": {k.Y.Data, y}, "gradient of X": {g.X.Data, gx}, "gradient of W": {g.W.Data, gw}, "gradient of B": {g.B.Data, gb},
	} {
		for i, want := range c[1] {
			if d := c[0][i] - want; !(d <= tolerance && -d <= tolerance) {
				t.Errorf("element %d of %s: got %v, want %v", i, name, c[0][i], want)
				break
			}
		}
	}
}

// The bits of fixed point are those of sums that are rounded once.
func TestConv2DFixed(t *testing.T) {
	const one = fixed.One
	k := revnn.Conv2D[fixed.Q43]{
		Y: rev.NewGeneral[fixed.Q43](1, 1, nil), X: rev.NewGeneral(1, 4, []fixed.Q43{1, 1, 1, 0}),
		W:        rev.NewGeneral(1, 4, []fixed.Q43{one / 4, one / 4, one / 4, one}),
		Channels: 1, Height: 2, Width: 2, KernelHeight: 2, KernelWidth: 2, StrideHeight: 1, StrideWidth: 1,
	}
	k.Forward()
	if k.Y.Data[0] != 1 { // ¾ of the least number; each quarter alone is rounded to 0
		t.Errorf("got %d units, want 1", k.Y.Data[0])
	}
}

// Sizes that make no sense panic in all passes.
func TestConvPoolSizes(t *testing.T) {
	dense := func(r, c int) *mat.Dense { return mat.NewDense(r, c, nil) }
	conv := func(edit func(k *revnn.Conv2D[float64])) func() {
		return func() {
			k := revnn.NewConv2D(dense(2, 12), dense(2, 12), dense(2, 4), nil)
			k.Channels, k.Height, k.Width, k.KernelHeight, k.KernelWidth = 1, 3, 4, 2, 2
			edit(&k)
			k.Forward()
		}
	}
	pool := func(edit func(k *revnn.MaxPool[float64])) func() {
		return func() {
			k := revnn.NewMaxPool(dense(2, 2), dense(2, 12))
			k.Channels, k.Height, k.Width, k.WindowHeight, k.WindowWidth, k.StrideHeight, k.StrideWidth = 1, 3, 4, 2, 2, 2, 2
			edit(&k)
			k.Forward()
			m := revnn.MeanPool[float64]{
				k.Y, k.X, k.Channels, k.Height, k.Width, k.WindowHeight, k.WindowWidth, k.StrideHeight, k.StrideWidth, k.PadHeight, k.PadWidth, 1,
			}
			m.Forward()
		}
	}
	conv(func(*revnn.Conv2D[float64]) {})()
	conv(func(k *revnn.Conv2D[float64]) { // a stride past the end of the plane leaves one place
		k.StrideWidth, k.PadWidth, k.Y = math.MaxInt, 2, rev.ViewDense(dense(2, 4))
	})()
	pool(func(*revnn.MaxPool[float64]) {})()
	for name, call := range map[string]func(){
		"stride 0":         conv(func(k *revnn.Conv2D[float64]) { k.StrideHeight = 0 }),
		"stride -1":        conv(func(k *revnn.Conv2D[float64]) { k.StrideWidth = -1 }),
		"height":           conv(func(k *revnn.Conv2D[float64]) { k.Height = 4 }),
		"padding":          conv(func(k *revnn.Conv2D[float64]) { k.PadWidth = 1 }),
		"negative padding": conv(func(k *revnn.Conv2D[float64]) { k.PadHeight, k.Y.Cols = -1, 0 }),
		"wide kernel":      conv(func(k *revnn.Conv2D[float64]) { k.KernelWidth, k.W.Cols, k.Y.Cols = 5, 0, 0 }),
		"too wide, stride 2": conv(func(k *revnn.Conv2D[float64]) {
			k.X, k.Width, k.Y, k.StrideWidth = rev.ViewDense(dense(2, 3)), 1, rev.ViewDense(dense(2, 4)), 2
		}),
		"groups":               conv(func(k *revnn.Conv2D[float64]) { k.Groups = 2 }),
		"negative groups":      conv(func(k *revnn.Conv2D[float64]) { k.Groups = -1 }),
		"dilation":             conv(func(k *revnn.Conv2D[float64]) { k.DilationHeight = 2 }),
		"negative dilation":    conv(func(k *revnn.Conv2D[float64]) { k.DilationWidth = -1 }),
		"padding that wraps":   conv(func(k *revnn.Conv2D[float64]) { k.PadHeight = math.MinInt }),
		"padding that wraps 2": conv(func(k *revnn.Conv2D[float64]) { k.PadHeight, k.Height = math.MaxInt, 5 }),
		"height that wraps": conv(func(k *revnn.Conv2D[float64]) {
			k.Channels, k.Height, k.Width, k.KernelWidth, k.StrideHeight = 64, 1<<(bits.UintSize-6), 1, 1, 1<<(bits.UintSize-6)
			k.X, k.W, k.Y = rev.General[float64]{Rows: 2}, rev.ViewDense(dense(2, 128)), rev.ViewDense(dense(2, 2))
		}),
		"dilation that wraps": conv(func(k *revnn.Conv2D[float64]) { k.DilationHeight = math.MaxInt }),
		"channels":            conv(func(k *revnn.Conv2D[float64]) { k.Channels = 2 }),
		"pool, stride 0":      pool(func(k *revnn.MaxPool[float64]) { k.StrideHeight = 0 }),
		"pool, window":        pool(func(k *revnn.MaxPool[float64]) { k.WindowHeight = 1 }),
		"pool, no window":     pool(func(k *revnn.MaxPool[float64]) { k.WindowWidth, k.StrideWidth = 0, 4 }),
		"pool, wide padding": pool(func(k *revnn.MaxPool[float64]) {
			k.WindowHeight, k.StrideHeight, k.PadHeight = 1, 3, 1
			k.Y = rev.ViewDense(dense(2, 4))
		}),
		"pool, padding that wraps": pool(func(k *revnn.MaxPool[float64]) { k.PadWidth = math.MinInt }),
		"pool, no plane": pool(func(k *revnn.MaxPool[float64]) {
			k.X, k.Height, k.PadHeight, k.StrideHeight, k.Y = rev.General[float64]{Rows: 2}, 0, 1, 1, rev.ViewDense(dense(2, 2))
		}),
		"pool, wide window": pool(func(k *revnn.MaxPool[float64]) { k.WindowWidth, k.StrideWidth = 5, 2 }),
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
					t.Errorf("%s: panic %v", name, err)
				}
			}()
			call()
		}()
	}
}

func BenchmarkConv2D(b *testing.B) {
	rnd := rand.New(rand.NewPCG(61, 4))
	const n = 8
	for _, s := range []convSizes{
		{Channels: 3, Height: 64, Width: 64, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1},
		{Channels: 64, Height: 32, Width: 32, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1},
	} {
		k, g := convOf[float64](rnd, n, 64, s), convOf[float64](rnd, n, 64, s)
		k.Workers = 1
		flops := 2 * k.Y.Rows * k.Y.Cols * k.W.Cols
		name := fmt.Sprintf("%d channels", s.Channels)
		b.Run(name+"/Forward", func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportFlops(b, flops)
		})
		b.Run(name+"/Adjoint", func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			kerneltest.ReportFlops(b, 3*flops)
		})
	}
}
