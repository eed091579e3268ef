package revlinalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/number"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func meanSpec[T rev.Real]() revtest.Spec[revlinalg.Mean[T]] {
	return revtest.Spec[revlinalg.Mean[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Mean[T] {
			return revlinalg.Mean[T]{Out: new(T), X: kerneltest.Vector[T](rnd, n)}
		},
		Free:  []string{"X.N"},
		Sizes: []int{1, 2, 3, 5, 6, 12, 23},
	}
}

func TestMean(t *testing.T) {
	kerneltest.Kernels(t, meanSpec[float32](), meanSpec[float64](), meanSpec[fixed.Q43]())
}

func varianceSpec[T rev.Real]() revtest.Spec[revlinalg.Variance[T]] {
	return revtest.Spec[revlinalg.Variance[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Variance[T] {
			return revlinalg.Variance[T]{Out: new(T), X: kerneltest.Vector[T](rnd, n)}
		},
		Free:  []string{"X.N"},
		Sizes: []int{2, 3, 5, 6, 12, 23},
	}
}

func TestVariance(t *testing.T) {
	kerneltest.Kernels(t, varianceSpec[float32](), varianceSpec[float64](), varianceSpec[fixed.Q43]())
}

func covarianceSpec[T rev.Real]() revtest.Spec[revlinalg.Covariance[T]] {
	return revtest.Spec[revlinalg.Covariance[T]]{
		New: func(rnd *rand.Rand, n int) revlinalg.Covariance[T] {
			return revlinalg.Covariance[T]{C: kerneltest.Matrix[T](rnd, n, n), X: kerneltest.Matrix[T](rnd, n+2, n)}
		},
		Free:  []string{"X.Rows"},
		Large: 90,
	}
}

func TestCovariance(t *testing.T) {
	kerneltest.Kernels(t, covarianceSpec[float32](), covarianceSpec[float64](), covarianceSpec[fixed.Q43]())
}

// Against gonum, at a distance from zero of a thousand deviations.
func TestMomentsValue(t *testing.T) {
	for _, size := range [][2]int{{40, 5}, {199, 3}, {200, 70}, {300, 3}, {70, 130}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { testMomentsValue(t, size[0], size[1]) })
	}
}

func testMomentsValue(t *testing.T, n, k int) {
	rnd := rand.New(rand.NewPCG(23, 1))
	x := mat.NewDense(n+1, k+2, nil)
	for i := range n + 1 {
		for j := range k + 2 {
			x.Set(i, j, 1000+rnd.NormFloat64()+float64(j%2)*float64(i)/10)
		}
	}
	x = x.Slice(1, n+1, 1, k+1).(*mat.Dense)
	c := mat.NewDense(k, k, nil)
	revlinalg.NewCovariance(c, x).Forward()
	var want mat.SymDense
	stat.CovarianceMatrix(&want, x, nil)
	if !mat.EqualApprox(c, &want, 1e-10) {
		t.Errorf("covariance %v, want %v", mat.Formatted(c), mat.Formatted(&want))
	}
	if !mat.Equal(c, c.T()) {
		t.Error("the covariance is not symmetric")
	}
	for _, v := range []*mat.VecDense{x.ColView(2).(*mat.VecDense), mat.VecDenseCopyOf(x.ColView(2))} { // with gaps and without
		testVariance(t, v, x.ColView(1).(*mat.VecDense))
	}
}

// testVariance compares mean and variance of x, their tangents along dx and the gradient with gonum's.
func testVariance(t *testing.T, x, dx *mat.VecDense) {
	n, at, along := x.Len(), mat.Col(nil, 0, x), mat.Col(nil, 0, dx)
	var m, v, rate float64
	revlinalg.NewMean(&m, x).Forward()
	k := revlinalg.NewVariance(&v, x)
	k.Tangent(revlinalg.NewVariance(&rate, dx))
	one, gx := 1.0, mat.NewVecDense(n, nil)
	k.Adjoint(revlinalg.NewVariance(&one, gx))
	revlinalg.NewVariance(&v, x).Forward()
	mean := stat.Mean(at, nil)
	for _, c := range []struct {
		name            string
		got, want, most float64
	}{
		{"mean", m, mean, 1e-12},
		{"variance", v, stat.Variance(at, nil), 1e-12},
		{"tangent", rate, 2 * stat.Covariance(at, along, nil), 1e-10},
	} {
		if !(math.Abs(c.got-c.want) <= c.most) {
			t.Errorf("%s %v, want %v", c.name, c.got, c.want)
		}
	}
	for i, g := range gx.RawVector().Data {
		if want := 2 * (at[i] - mean) / float64(n-1); !(math.Abs(g-want) <= 1e-13) {
			t.Fatalf("element %d of the gradient is %v, want %v", i, g, want)
		}
	}
}

// A cotangent may be near the largest number or the least, if its products with x are not.
func TestVarianceExtreme(t *testing.T) {
	const n = 300
	for _, c := range [][2]float64{{math.MaxFloat64, 0x1p-100}, {0x1p-1070, 0x1p600}} {
		var out float64
		g, x, gx := c[0], make([]float64, n), make([]float64, n)
		x[0] = c[1]
		k := revlinalg.Variance[float64]{Out: &out, X: rev.ViewSlice(x)}
		k.Adjoint(revlinalg.Variance[float64]{Out: &g, X: rev.ViewSlice(gx)})
		if want := g * (x[0] - x[0]/n) * 2 / (n - 1); !(math.Abs(gx[0]-want) <= 1e-12*want) {
			t.Errorf("cotangent %v: gradient %v, want %v", g, gx[0], want)
		}
	}
}

// Too few elements, and how a mean is rounded in fixed point.
func TestMomentsSpecial(t *testing.T) {
	var a, b float64
	revlinalg.Mean[float64]{Out: &a}.Forward()
	revlinalg.Variance[float64]{Out: &b, X: rev.ViewSlice([]float64{1})}.Forward()
	c := rev.NewGeneral[float64](1, 1, nil)
	revlinalg.Covariance[float64]{C: c, X: rev.NewGeneral[float64](0, 1, nil)}.Forward()
	if !math.IsNaN(a) || !math.IsNaN(b) || !math.IsNaN(c.Data[0]) {
		t.Errorf("mean of nothing %v, variance of one %v, covariance of none %v, want NaN", a, b, c.Data[0])
	}
	var q fixed.Q43
	revlinalg.Mean[fixed.Q43]{Out: &q}.Forward()
	revlinalg.Variance[fixed.Q43]{Out: &q, X: rev.ViewSlice([]fixed.Q43{1})}.Forward()
	if q != 0 {
		t.Errorf("over Q43 %v, want 0", q)
	}
	for _, c := range []struct{ sum, n, want fixed.Q43 }{{7, 3, 2}, {8, 3, 3}, {-7, 3, -2}, {-8, 3, -3}, {3, 2, 2}, {-3, 2, -2}, {fixed.Min, 1, fixed.Min}} {
		if got := number.Over(c.sum, int(c.n)); got != c.want {
			t.Errorf("%d/%d is %d, want %d", int64(c.sum), c.n, int64(got), int64(c.want))
		}
	}
}
