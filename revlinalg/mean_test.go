package revlinalg

import (
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
)

func meanSpec[T rev.Real]() revtest.Spec[Mean[T]] {
	return revtest.Spec[Mean[T]]{
		New:   func(rnd *rand.Rand, n int) Mean[T] { return Mean[T]{Out: new(T), X: kerneltest.Vector[T](rnd, n)} },
		Free:  []string{"X.N"},
		Sizes: []int{1, 2, 3, 5, 6, 12, 23},
	}
}

func TestMean(t *testing.T) {
	kerneltest.Kernels(t, meanSpec[float32](), meanSpec[float64](), meanSpec[fixed.Q43]())
}

func varianceSpec[T rev.Real]() revtest.Spec[Variance[T]] {
	return revtest.Spec[Variance[T]]{
		New: func(rnd *rand.Rand, n int) Variance[T] {
			return Variance[T]{Out: new(T), X: kerneltest.Vector[T](rnd, n)}
		},
		Free:  []string{"X.N"},
		Sizes: []int{2, 3, 5, 6, 12, 23},
	}
}

func TestVariance(t *testing.T) {
	kerneltest.Kernels(t, varianceSpec[float32](), varianceSpec[float64](), varianceSpec[fixed.Q43]())
}

func covarianceSpec[T rev.Real]() revtest.Spec[Covariance[T]] {
	return revtest.Spec[Covariance[T]]{
		New: func(rnd *rand.Rand, n int) Covariance[T] {
			return Covariance[T]{C: kerneltest.Matrix[T](rnd, n, n), X: kerneltest.Matrix[T](rnd, n+2, n)}
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
	rnd := rand.New(rand.NewPCG(23, 1))
	const n, k = 40, 5
	x := mat.NewDense(n+1, k+2, nil)
	for i := range n + 1 {
		for j := range k + 2 {
			x.Set(i, j, 1000+rnd.NormFloat64()+float64(j%2)*float64(i)/10)
		}
	}
	x = x.Slice(1, n+1, 1, k+1).(*mat.Dense)
	c := mat.NewDense(k, k, nil)
	NewCovariance(c, x).Forward()
	var want mat.SymDense
	stat.CovarianceMatrix(&want, x, nil)
	if !mat.EqualApprox(c, &want, 1e-11) {
		t.Errorf("covariance %v, want %v", mat.Formatted(c), mat.Formatted(&want))
	}
	if !mat.Equal(c, c.T()) {
		t.Error("the covariance is not symmetric")
	}
	col := mat.Col(nil, 2, x)
	var m, v float64
	NewMean(&m, x.ColView(2).(*mat.VecDense)).Forward()
	NewVariance(&v, x.ColView(2).(*mat.VecDense)).Forward()
	if w := stat.Mean(col, nil); !(math.Abs(m-w) <= 1e-12) {
		t.Errorf("mean %v, want %v", m, w)
	}
	if w := stat.Variance(col, nil); !(math.Abs(v-w) <= 1e-13) {
		t.Errorf("variance %v, want %v", v, w)
	}
}

// Too few elements, and how a mean is rounded in fixed point.
func TestMomentsSpecial(t *testing.T) {
	var a, b float64
	Mean[float64]{Out: &a}.Forward()
	Variance[float64]{Out: &b, X: rev.ViewSlice([]float64{1})}.Forward()
	c := rev.NewGeneral[float64](1, 1, nil)
	Covariance[float64]{C: c, X: rev.NewGeneral[float64](0, 1, nil)}.Forward()
	if !math.IsNaN(a) || !math.IsNaN(b) || !math.IsNaN(c.Data[0]) {
		t.Errorf("mean of nothing %v, variance of one %v, covariance of none %v, want NaN", a, b, c.Data[0])
	}
	var q fixed.Q43
	Mean[fixed.Q43]{Out: &q}.Forward()
	Variance[fixed.Q43]{Out: &q, X: rev.ViewSlice([]fixed.Q43{1})}.Forward()
	if q != 0 {
		t.Errorf("over Q43 %v, want 0", q)
	}
	for _, c := range []struct{ sum, n, want fixed.Q43 }{{7, 3, 2}, {8, 3, 3}, {-7, 3, -2}, {-8, 3, -3}, {3, 2, 2}, {-3, 2, -2}, {fixed.Min, 1, fixed.Min}} {
		if got := number.Over(c.sum, int(c.n)); got != c.want {
			t.Errorf("%d/%d is %d, want %d", int64(c.sum), c.n, int64(got), int64(c.want))
		}
	}
}
