package revlinalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func norm1Spec[T rev.Real]() revtest.Spec[revlinalg.Norm1[T]] {
	return revtest.Spec[revlinalg.Norm1[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Norm1[T] {
			return revlinalg.Norm1[T]{Out: new(T), X: kerneltest.Away[T](rnd, n)}
		},
		Free: []string{"X.N"},
	}
}

func TestNorm1(t *testing.T) {
	kerneltest.Kernels(t, norm1Spec[float32](), norm1Spec[float64](), norm1Spec[fixed.Q43]())
}

func normInfSpec[T rev.Real]() revtest.Spec[revlinalg.NormInf[T]] {
	return revtest.Spec[revlinalg.NormInf[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.NormInf[T] {
			x := make([]T, n)
			for i, v := range rnd.Perm(n) { // magnitudes well apart
				x[i] = fixed.Of[T](float64(v+1) * math.Copysign(1, rnd.NormFloat64()))
			}
			return revlinalg.NormInf[T]{Out: new(T), X: rev.ViewSlice(x)}
		},
		Free: []string{"X.N"},
	}
}

func TestNormInf(t *testing.T) {
	kerneltest.Kernels(t, normInfSpec[float32](), normInfSpec[float64](), normInfSpec[fixed.Q43]())
}

func TestNormsValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 1))
	x := mat.NewDense(50, 2, kerneltest.Normals[float64](rnd, 100, 1e300)).ColView(1).(*mat.VecDense)
	one, infinity := 0.0, 0.0
	revlinalg.NewNorm1(&one, x).Forward()
	revlinalg.NewNormInf(&infinity, x).Forward()
	if want := mat.Norm(x, 1); !(math.Abs(one-want) <= 1e-14*want) {
		t.Errorf("1-norm %v, want %v", one, want)
	}
	if want := mat.Norm(x, math.Inf(1)); infinity != want {
		t.Errorf("∞-norm %v, want %v", infinity, want)
	}
}

// Vectors that are longer than a call of vector code.
func TestLongNorms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(22, 2))
	const n, at = 20011, 17003
	x, dx := kerneltest.Normals[float64](rnd, n, 1), kerneltest.Normals[float64](rnd, n, 1)
	x[5], x[at], x[at+1] = 0, -50, 50
	var norms, rates [2]float64
	g1, gInf := make([]float64, n), make([]float64, n)
	one, infinity := revlinalg.Norm1[float64]{Out: &norms[0], X: rev.ViewSlice(x)}, revlinalg.NormInf[float64]{Out: &norms[1], X: rev.ViewSlice(x)}
	one.Tangent(revlinalg.Norm1[float64]{Out: &rates[0], X: rev.ViewSlice(dx)})
	infinity.Tangent(revlinalg.NormInf[float64]{Out: &rates[1], X: rev.ViewSlice(dx)})
	m := mat.NewVecDense(n, x)
	if want := mat.Norm(m, 1); !(math.Abs(norms[0]-want) <= 1e-12*want) || norms[1] != 50 {
		t.Errorf("norms %v, want %v and 50", norms, want)
	}
	rate := 0.0
	two := 2.0
	one.Adjoint(revlinalg.Norm1[float64]{Out: &two, X: rev.ViewSlice(g1)})
	infinity.Adjoint(revlinalg.NormInf[float64]{Out: &two, X: rev.ViewSlice(gInf)})
	for i, v := range x {
		sign := 0.0
		if v != 0 {
			sign = math.Copysign(1, v)
		}
		want := 2 * sign
		rate += sign * dx[i]
		if g1[i] != want || i == at && gInf[i] != want || i != at && gInf[i] != 0 {
			t.Fatalf("gradients at element %d, which is %v: %v and %v", i, v, g1[i], gInf[i])
		}
	}
	if !(math.Abs(rates[0]-rate) <= 1e-11) || rates[1] != -dx[at] {
		t.Errorf("tangents %v, want %v and %v", rates, rate, -dx[at])
	}
}

// The subgradients at a corner, and NaN.
func TestNormsSubgradient(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	for _, c := range []struct {
		x               []float64
		norm1, infinity float64
		g1, gInf        []float64
	}{
		{nil, 0, 0, nil, nil},
		{[]float64{0, math.Copysign(0, -1)}, 0, 0, []float64{0, 0}, []float64{0, 0}},
		{[]float64{0, -3, 3}, 6, 3, []float64{0, -1, 1}, []float64{0, -1, 0}},
		{[]float64{1, -inf}, inf, inf, []float64{1, -1}, []float64{0, -1}},
		{[]float64{inf, nan}, nan, nan, []float64{1, nan}, []float64{0, nan}},
		{[]float64{nan, inf}, nan, nan, []float64{nan, 1}, []float64{nan, 0}},
	} {
		n1, nInf, one := 0.0, 0.0, 1.0
		g1, gInf := make([]float64, len(c.x)), make([]float64, len(c.x))
		k1 := revlinalg.Norm1[float64]{Out: &n1, X: rev.ViewSlice(c.x)}
		kInf := revlinalg.NormInf[float64]{Out: &nInf, X: rev.ViewSlice(c.x)}
		k1.Forward()
		kInf.Forward()
		if !same(n1, c.norm1) || !same(nInf, c.infinity) {
			t.Errorf("norms of %v: %v, %v, want %v, %v", c.x, n1, nInf, c.norm1, c.infinity)
		}
		k1.Adjoint(revlinalg.Norm1[float64]{Out: &one, X: rev.ViewSlice(g1)})
		kInf.Adjoint(revlinalg.NormInf[float64]{Out: &one, X: rev.ViewSlice(gInf)})
		for i := range c.x {
			if !same(g1[i], c.g1[i]) || !same(gInf[i], c.gInf[i]) {
				t.Errorf("gradients at %v: %v, %v, want %v, %v", c.x, g1, gInf, c.g1, c.gInf)
			}
		}
	}
}

// The least fixed-point number has the largest magnitude.
func TestNormInfLeast(t *testing.T) {
	x := rev.ViewSlice([]fixed.Q43{3, fixed.Max, fixed.Min, -5})
	out, gout, gx := fixed.Q43(7), fixed.One, rev.ViewSlice(make([]fixed.Q43, 4))
	k := revlinalg.NormInf[fixed.Q43]{Out: &out, X: x}
	k.Forward()
	if out != 7+fixed.Min {
		t.Errorf("got %v, want %v", out, 7+fixed.Min)
	}
	k.Adjoint(revlinalg.NormInf[fixed.Q43]{Out: &gout, X: gx})
	if out != 7 || !slices.Equal(gx.Data, []fixed.Q43{0, 0, -fixed.One, 0}) {
		t.Errorf("Adjoint leaves %v and %v", out, gx.Data)
	}
}
