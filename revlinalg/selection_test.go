package revlinalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// apart returns three vectors, of which the second and third differ in all elements.
func apart[T rev.Real](rnd *rand.Rand, n int) (z, x, y rev.Vector[T]) {
	z, x, y = kerneltest.Vector[T](rnd, n), kerneltest.Vector[T](rnd, n), kerneltest.Away[T](rnd, n)
	for i := range n {
		y.Data[i] += x.Data[i]
	}
	return z, x, y
}

const selectionSize = 2*elementwise.BlockSize + 5

func TestMaxElem(t *testing.T) {
	kerneltest.Kernels(t, maxElemSpec[float32](), maxElemSpec[float64](), maxElemSpec[fixed.Q43]())
}

func maxElemSpec[T rev.Real]() revtest.Spec[revlinalg.MaxElem[T]] {
	return revtest.Spec[revlinalg.MaxElem[T]]{New: func(rnd *rand.Rand, n int) revlinalg.MaxElem[T] {
		z, x, y := apart[T](rnd, n)
		return revlinalg.MaxElem[T]{Z: z, X: x, Y: y}
	}, Large: selectionSize}
}

func TestMinElem(t *testing.T) {
	kerneltest.Kernels(t, minElemSpec[float32](), minElemSpec[float64](), minElemSpec[fixed.Q43]())
}

func minElemSpec[T rev.Real]() revtest.Spec[revlinalg.MinElem[T]] {
	return revtest.Spec[revlinalg.MinElem[T]]{New: func(rnd *rand.Rand, n int) revlinalg.MinElem[T] {
		z, x, y := apart[T](rnd, n)
		return revlinalg.MinElem[T]{Z: z, X: x, Y: y}
	}}
}

func TestClip(t *testing.T) {
	kerneltest.Kernels(t, clipSpec[float32](), clipSpec[float64](), clipSpec[fixed.Q43]())
}

func clipSpec[T rev.Real]() revtest.Spec[revlinalg.Clip[T]] {
	return revtest.Spec[revlinalg.Clip[T]]{New: func(rnd *rand.Rand, n int) revlinalg.Clip[T] {
		k := revlinalg.Clip[T]{Y: kerneltest.Vector[T](rnd, n), X: kerneltest.Vector[T](rnd, n), Lo: -2, Hi: 1.5}
		for i := range n { // away from the bounds
			k.X.Data[i] = fixed.Of[T](rnd.Float64() + float64(3*rnd.IntN(3)) - 3.5)
		}
		return k
	}, Magnitudes: [2]float64{1, 1}}
}

func TestWhere(t *testing.T) {
	kerneltest.Kernels(t, whereSpec[float32](), whereSpec[float64](), whereSpec[fixed.Q43]())
}

func whereSpec[T rev.Real]() revtest.Spec[revlinalg.Where[T]] {
	return revtest.Spec[revlinalg.Where[T]]{New: func(rnd *rand.Rand, n int) revlinalg.Where[T] {
		z, x, y := apart[T](rnd, n)
		return revlinalg.Where[T]{Z: z, C: kerneltest.Away[T](rnd, n), X: x, Y: y}
	}, Masked: []string{"C", "X", "Y"}}
}

// Values and derivatives at kinks, jumps, bounds and NaN.
func TestSelectionEdges(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testSelectionEdges(t, math.NaN()) })
	t.Run("float32", func(t *testing.T) { testSelectionEdges(t, float32(math.NaN())) })
	t.Run("Q43", func(t *testing.T) { testSelectionEdges[fixed.Q43](t) })
}

func testSelectionEdges[T rev.Real](t *testing.T, nan ...T) {
	of := func(x ...float64) rev.Vector[T] {
		v := make([]T, len(x))
		for i, x := range x {
			v[i] = fixed.Of[T](x)
		}
		return rev.ViewSlice(v)
	}
	with := func(v rev.Vector[T], more ...T) rev.Vector[T] { return rev.ViewSlice(append(v.Data, more...)) }
	// Every second element of a longer vector, which no vector code takes.
	strided := func(v rev.Vector[T]) rev.Vector[T] {
		s := rev.Vector[T]{Data: make([]T, 2*v.N), N: v.N, Inc: 2}
		for i := range v.N {
			s.Data[2*i] = v.Data[i]
		}
		return s
	}
	x, y := with(of(1, 2, 3, 0, 5), nan...), with(of(2, 2, 1, 0, -1), of(4).Data[:len(nan)]...)
	c := with(of(1, 0, -2, 0.5, 0), nan...)
	n := x.N
	ones := of(1, 1, 1, 1, 1, 1)
	ones.Data, ones.N = ones.Data[:n], n
	zeros := func() rev.Vector[T] { return rev.ViewSlice(make([]T, n)) }
	for _, c := range []struct {
		name         string
		run          func(z, gz, gx, gy rev.Vector[T], as func(rev.Vector[T]) rev.Vector[T])
		z, gx, gy    []float64
		atNaN, slope float64
	}{
		{"max", func(z, gz, gx, gy rev.Vector[T], as func(rev.Vector[T]) rev.Vector[T]) {
			_ = rev.Gradient(revlinalg.MaxElem[T]{Z: z, X: as(x), Y: as(y)}, revlinalg.MaxElem[T]{Z: gz, X: gx, Y: gy})
		}, []float64{2, 2, 3, 0, 5}, []float64{0, 0.5, 1, 0.5, 1}, []float64{1, 0.5, 0, 0.5, 0}, math.NaN(), 1},
		{"min", func(z, gz, gx, gy rev.Vector[T], as func(rev.Vector[T]) rev.Vector[T]) {
			_ = rev.Gradient(revlinalg.MinElem[T]{Z: z, X: as(x), Y: as(y)}, revlinalg.MinElem[T]{Z: gz, X: gx, Y: gy})
		}, []float64{1, 2, 1, 0, -1}, []float64{1, 0.5, 0, 0.5, 0}, []float64{0, 0.5, 1, 0.5, 1}, math.NaN(), 1},
		{"clip", func(z, gz, gx, _ rev.Vector[T], as func(rev.Vector[T]) rev.Vector[T]) {
			_ = rev.Gradient(revlinalg.Clip[T]{Y: z, X: as(x), Lo: 1, Hi: 3}, revlinalg.Clip[T]{Y: gz, X: gx})
		}, []float64{1, 2, 3, 1, 3}, []float64{1, 1, 1, 0, 0}, []float64{0, 0, 0, 0, 0}, math.NaN(), 1},
		{"clip to one side", func(z, gz, gx, _ rev.Vector[T], as func(rev.Vector[T]) rev.Vector[T]) {
			_ = rev.Gradient(revlinalg.Clip[T]{Y: z, X: as(x), Lo: math.NaN(), Hi: 1}, revlinalg.Clip[T]{Y: gz, X: gx})
		}, []float64{1, 1, 1, 0, 1}, []float64{1, 0, 0, 1, 0}, []float64{0, 0, 0, 0, 0}, math.NaN(), 1},
		{"clip to an empty interval", func(z, gz, gx, _ rev.Vector[T], as func(rev.Vector[T]) rev.Vector[T]) {
			_ = rev.Gradient(revlinalg.Clip[T]{Y: z, X: as(x), Lo: 3, Hi: 2}, revlinalg.Clip[T]{Y: gz, X: gx})
		}, []float64{2, 2, 2, 2, 2}, []float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0}, math.NaN(), 1},
		{"where", func(z, gz, gx, gy rev.Vector[T], as func(rev.Vector[T]) rev.Vector[T]) {
			gc := zeros()
			_ = rev.Gradient(revlinalg.Where[T]{Z: z, C: as(c), X: as(x), Y: as(y)}, revlinalg.Where[T]{Z: gz, C: gc, X: gx, Y: gy})
			if slices.ContainsFunc(gc.Data, func(v T) bool { return v != 0 }) {
				t.Errorf("the gradient of the condition is %v", gc.Data)
			}
		}, []float64{1, 2, 1, 0, -1}, []float64{1, 0, 0, 1, 0}, []float64{0, 1, 1, 0, 1}, math.NaN(), 1},
	} {
		for name, as := range map[string]func(rev.Vector[T]) rev.Vector[T]{"packed": func(v rev.Vector[T]) rev.Vector[T] { return v }, "with gaps": strided} {
			z, gx, gy := zeros(), zeros(), zeros()
			c.run(z, ones, gx, gy, as)
			for i := range n {
				wantZ, wantX, wantY := c.atNaN, c.slope, c.slope
				if i < len(c.z) {
					wantZ, wantX, wantY = c.z[i], c.gx[i], c.gy[i]
				} else if c.name == "where" || strings.HasPrefix(c.name, "clip") {
					wantY = 0
				}
				if !kerneltest.Near(fixed.Float(z.Data[i]), wantZ, 0) || fixed.Float(gx.Data[i]) != wantX || fixed.Float(gy.Data[i]) != wantY {
					t.Errorf("%s %s, element %d: %v, gradients %v and %v, want %v, %v and %v", c.name, name, i, z.Data[i], gx.Data[i], gy.Data[i], wantZ, wantX, wantY)
				}
			}
		}
	}
}

// What Where does not choose adds nothing.
func TestWhereIgnoresOthers(t *testing.T) {
	inf := math.Inf(1)
	z, c := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, -1})
	k := revlinalg.NewWhere(z, c, mat.NewVecDense(2, []float64{3, inf}), mat.NewVecDense(2, []float64{math.NaN(), 4}))
	k.Forward()
	gx, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, nil)
	k.Adjoint(revlinalg.NewWhere(mat.NewVecDense(2, []float64{inf, 1}), nil, gx, gy))
	k.Forward()
	if got := slices.Concat(z.RawVector().Data, gx.RawVector().Data, gy.RawVector().Data); !slices.Equal(got, []float64{3, 4, inf, 0, 0, 1}) {
		t.Errorf("z, x̄ and ȳ are %v", got)
	}
}

func BenchmarkSelection(b *testing.B) {
	const n = 10_000
	rnd := rand.New(rand.NewPCG(31, 1))
	vector := func() rev.Vector[float64] { return kerneltest.Vector[float64](rnd, n) }
	z, x, y, c, gz, gx, gy := vector(), vector(), vector(), vector(), vector(), vector(), vector()
	run := func(name string, bytes int, pass func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				pass()
			}
			kerneltest.ReportBytes(b, bytes)
		})
	}
	k := revlinalg.MaxElem[float64]{Z: z, X: x, Y: y, Workers: 1}
	run("MaxElem/Forward", 24*n, k.Forward)
	run("MaxElem/Adjoint", 80*n, func() { k.Adjoint(revlinalg.MaxElem[float64]{Z: gz, X: gx, Y: gy}) })
	clip := revlinalg.Clip[float64]{Y: z, X: x, Lo: -0.5, Hi: 0.5, Workers: 1}
	run("Clip/Forward", 24*n, clip.Forward)
	run("Clip/Adjoint", 56*n, func() { clip.Adjoint(revlinalg.Clip[float64]{Y: gz, X: gx}) })
	where := revlinalg.Where[float64]{Z: z, C: c, X: x, Y: y, Workers: 1}
	run("Where/Forward", 40*n, where.Forward)
	run("Where/Adjoint", 80*n, func() { where.Adjoint(revlinalg.Where[float64]{Z: gz, X: gx, Y: gy}) })
	sum := revlinalg.CumSum[float64]{Y: z, X: x}
	run("CumSum/Forward", 24*n, sum.Forward)
	run("CumSum/Adjoint", 48*n, func() { sum.Adjoint(revlinalg.CumSum[float64]{Y: gz, X: gx}) })
	square := revlinalg.Square[float64]{Y: z, X: x, Workers: 1}
	run("Square/Forward", 24*n, square.Forward)
	run("Square/Adjoint", 48*n, func() { square.Adjoint(revlinalg.Square[float64]{Y: gz, X: gx}) })
	recip := revlinalg.Recip[float64]{Y: z, X: x, Workers: 1}
	run("Recip/Forward", 24*n, func() { _ = recip.Forward() })
	run("Recip/Adjoint", 48*n, func() { _ = recip.Adjoint(revlinalg.Recip[float64]{Y: gz, X: gx}) })
}
