package examples

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func vec[T rev.Real](rnd *rand.Rand, n int, scale, shift float64) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](shift + scale*rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

func gen[T rev.Real](rnd *rand.Rand, r, c int, scale, shift float64) rev.General[T] {
	return rev.NewGeneral(r, c, vec[T](rnd, r*c, scale, shift).Data)
}

func scalar[T rev.Real](v float64) *T {
	x := fixed.Of[T](v)
	return &x
}

// eps returns the distance from 1 to the next number over float32, and else 0.
func eps[T rev.Real]() float64 {
	if _, ok := any(T(0)).(float32); ok {
		return 0x1p-23
	}
	return 0
}

func indices(n, below int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i * 7 % below
	}
	return x
}

func axpySpec[T rev.Real]() revtest.Spec[Axpy[T]] {
	return revtest.Spec[Axpy[T]]{New: func(rnd *rand.Rand, n int) Axpy[T] {
		return Axpy[T]{Y: vec[T](rnd, n, 1, 0), Alpha: scalar[T](rnd.NormFloat64()), X: vec[T](rnd, n, 1, 0)}
	}}
}

func affineSpec[T rev.Real]() revtest.Spec[Affine[T]] {
	return revtest.Spec[Affine[T]]{New: func(rnd *rand.Rand, n int) Affine[T] {
		m := max(0, n-n%3+1)
		if n == 0 {
			m = 0
		}
		return Affine[T]{Y: vec[T](rnd, m, 1, 0), W: gen[T](rnd, m, n, 1, 0), X: vec[T](rnd, n, 1, 0), B: vec[T](rnd, m, 1, 0)}
	}}
}

func norm2Spec[T rev.Real]() revtest.Spec[Norm2[T]] {
	return revtest.Spec[Norm2[T]]{
		New: func(rnd *rand.Rand, n int) Norm2[T] { return Norm2[T]{Out: scalar[T](0), X: vec[T](rnd, n, 1, 0.5)} },
		// The second derivative of |x| is 0, but in fixed point comes out as rounding errors.
		Sizes: []int{0, 2, 3, 5, 6, 12, 23},
	}
}

func rotateSpec[T rev.Real]() revtest.Spec[Rotate[T]] {
	return revtest.Spec[Rotate[T]]{
		Magnitudes: [2]float64{0.125, 1.5}, // |θ| < π
		New: func(rnd *rand.Rand, n int) Rotate[T] {
			return Rotate[T]{X: vec[T](rnd, n+1, 1, 0), Theta: vec[T](rnd, n, 0.5, 0)}
		},
		RoundTrip: 60,
	}
}

func leapfrogSpec[T rev.Real]() revtest.Spec[Leapfrog[T]] {
	return revtest.Spec[Leapfrog[T]]{
		New: func(rnd *rand.Rand, n int) Leapfrog[T] {
			return Leapfrog[T]{
				X: gen[T](rnd, n, 3, 1, 0), V: gen[T](rnd, n, 3, 0.3, 0), M: vec[T](rnd, n, 0.1, 1),
				Dt: scalar[T](0.05), Eps: 0.5, Steps: 3,
			}
		},
		Sizes: []int{2, 3, 5, 6}, RoundTrip: 60,
	}
}

func besselSpec[T rev.Real]() revtest.Spec[Bessel[T]] {
	return revtest.Spec[Bessel[T]]{
		Magnitudes: [2]float64{0.125, 1}, // terms of the series cancel for larger X
		New: func(rnd *rand.Rand, n int) Bessel[T] {
			return Bessel[T]{Y: vec[T](rnd, n, 1, 0), X: vec[T](rnd, n, 0.5, 1.5), Nu: 2}
		},
		Adjoint: 30000, // dozens of terms, each rounded by itself
	}
}

func lstmSpec[T rev.Real]() revtest.Spec[LSTM[T]] {
	return revtest.Spec[LSTM[T]]{
		Magnitudes: [2]float64{0.125, 8}, // gates with larger arguments have derivatives of rounding errors
		New: func(rnd *rand.Rand, n int) LSTM[T] {
			m := n/2 + 1
			if n == 0 {
				m = 0
			}
			s := 1 / math.Sqrt(float64(m+n+1))
			v := func(n int) rev.Vector[T] { return vec[T](rnd, n, 1, 0) }
			return LSTM[T]{
				H1: v(n), C1: v(n), W: gen[T](rnd, 4*n, m, s, 0), U: gen[T](rnd, 4*n, n, s, 0), B: v(4 * n), X: v(m), H0: v(n), C0: v(n),
			}
		},
	}
}

func pairsSpec[T rev.Real]() revtest.Spec[Pairs[T]] {
	return revtest.Spec[Pairs[T]]{
		New: func(rnd *rand.Rand, n int) Pairs[T] {
			p := Pairs[T]{Out: scalar[T](0), X: gen[T](rnd, n+1, 3, 1, 0), W: vec[T](rnd, 2*n, 0.3, 1), D: vec[T](rnd, 2*n, 0.1, 1)}
			for i := range 2 * n {
				j := rnd.IntN(n + 1)
				p.I = append(p.I, j)
				p.J = append(p.J, (j+1+i%max(1, n))%(n+1))
			}
			return p
		},
		Masked: []string{"X"}, // a point of no pair
	}
}

func snavelySpec[T rev.Real]() revtest.Spec[Snavely[T]] {
	return revtest.Spec[Snavely[T]]{
		Magnitudes: [2]float64{0.5, 2}, // more brings points near depth 0, where there is a pole
		New: func(rnd *rand.Rand, n int) Snavely[T] {
			c, m := (n+3)/4, (n+1)/2
			k := Snavely[T]{
				R: vec[T](rnd, 2*n, 1, 0), Cameras: gen[T](rnd, c, 9, 0.3, 0), Points: gen[T](rnd, m, 3, 0.3, 0), Features: gen[T](rnd, n, 2, 1, 0),
				Camera: indices(n, c), Point: indices(n, m),
			}
			for i := range c {
				k.Cameras.Row(i)[5] = fixed.Of[T](-3 + 0.3*rnd.NormFloat64())
				k.Cameras.Row(i)[6] = fixed.Of[T](1 + 0.1*rnd.NormFloat64())
				k.Cameras.Row(i)[7] = fixed.Of[T](0.01 * rnd.NormFloat64())
				k.Cameras.Row(i)[8] = fixed.Of[T](0.01 * rnd.NormFloat64())
			}
			return k
		},
	}
}

func misfitSpec[T rev.Real]() revtest.Spec[Misfit[T]] {
	return revtest.Spec[Misfit[T]]{
		Magnitudes: [2]float64{0.125, 2}, // the exponential overflows
		New: func(rnd *rand.Rand, n int) Misfit[T] {
			k := Misfit[T]{Loss: scalar[T](0), P: vec[T](rnd, 4, 0.1, 1), T: vec[T](rnd, n, 0.5, 1), Y: vec[T](rnd, n, 0.05, 0)}
			for i := range n { // at both sides of the bound, far from it
				k.Y.Data[i] += fixed.Of[T](3 * float64(i%2))
			}
			return k
		},
		Adjoint: 10000, Difference: max(1e-6, 1e4*eps[T]()), Masked: []string{"P"},
	}
}

// Tests over float64, and of kernels in place and in sums over Q43, where inverses are exact. The others are in types_test.go.

func TestMisfit(t *testing.T)     { revtest.Kernel(t, misfitSpec[float64]()) }
func TestNorm2Suite(t *testing.T) { revtest.Kernel(t, norm2Spec[float64]()) }
func TestRotate(t *testing.T)     { revtest.Kernel(t, rotateSpec[float64]()) }
func TestBessel(t *testing.T)     { revtest.Kernel(t, besselSpec[float64]()) }
func TestLSTM(t *testing.T)       { revtest.Kernel(t, lstmSpec[float64]()) }
func TestPairs(t *testing.T)      { revtest.Kernel(t, pairsSpec[float64]()) }
func TestSnavely(t *testing.T)    { revtest.Kernel(t, snavelySpec[float64]()) }

func TestAxpy(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, axpySpec[float64]()) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, axpySpec[fixed.Q43]()) })
}

func TestAffine(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, affineSpec[float64]()) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, affineSpec[fixed.Q43]()) })
}

func TestLeapfrog(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, leapfrogSpec[float64]()) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, leapfrogSpec[fixed.Q43]()) })
}
