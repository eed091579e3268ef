package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"revnum/internal/simd"
	"revnum/rev"
	"revnum/revlinalg"
)

// uniform returns n numbers in [low, high).
func uniform(n int, low, high float64) []float64 {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = low + (high-low)*rnd.Float64()
	}
	return x
}

// expProblem is the exponential of n numbers, against package math.
func expProblem(n int) *Problem {
	return &Problem{
		Family: "exp", Sizes: fmt.Sprintf("n=%d", n), Workers: []int{1},
		New: func() (*Instance, error) {
			x, y := uniform(n, -10, 10), make([]float64, n)
			return &Instance{
				F:      func() { simd.Exp(y, x) },
				Result: func() []float64 { return y },
				Against: func() {
					for i, v := range x {
						y[i] = math.Exp(v)
					}
				},
				AgainstName: "math.Exp",
			}, nil
		},
	}
}

// lseProblem is the logarithm of the sum of n exponentials.
func lseProblem(n int, workers []int) *Problem {
	p := &Problem{Family: "lse", Sizes: fmt.Sprintf("n=%d", n), Series: "lse", Params: n, Workers: workers}
	if n >= largeVector {
		p.BytesF = 8 * float64(n)
	}
	p.New = func() (*Instance, error) {
		x, g := uniform(n, -10, 10), make([]float64, n)
		out, one := new(float64), 1.
		k := revlinalg.LogSumExp[float64]{Out: out, X: rev.ViewSlice(x), Workers: 1}
		return scalar(&k, revlinalg.LogSumExp[float64]{Out: &one, X: rev.ViewSlice(g)}, out, x, g, &k.Workers), nil
	}
	return p
}

// llsqProblem is the least squares fit of a polynomial of m coefficients to
// the sign of n points from -1 to 1.
func llsqProblem(n, m int, workers []int) *Problem {
	p := &Problem{
		Family: "llsq", Sizes: fmt.Sprintf("n=%d m=%d", n, m), Series: "llsq, n = " + short(n),
		Params: m, FlopsF: 2 * float64(n) * float64(m), FlopsJ: 4 * float64(n) * float64(m), Workers: workers,
	}
	p.New = func() (*Instance, error) {
		t, s := make([]float64, n), make([]float64, n)
		for i := range t {
			t[i] = -1 + 2*float64(i)/float64(n-1)
			s[i] = math.Copysign(1, t[i])
		}
		c, g := uniform(m, 0, 1), make([]float64, m)
		out, one := new(float64), 1.
		k := revlinalg.PolyLeastSquares[float64]{Out: out, C: rev.ViewSlice(c), X: rev.ViewSlice(t), Y: rev.ViewSlice(s), Workers: 1}
		return scalar(&k, revlinalg.PolyLeastSquares[float64]{Out: &one, C: rev.ViewSlice(g)}, out, c, g, &k.Workers), nil
	}
	return p
}

// dotProblem is the square of the norm of a vector of n numbers.
func dotProblem(n int) *Problem {
	p := &Problem{
		Family: "dot", Sizes: fmt.Sprintf("n=%d", n), Series: "dot", Params: n,
		FlopsF: 2 * float64(n), FlopsJ: 6 * float64(n), Workers: []int{1},
	}
	if n >= largeVector {
		p.BytesF = 8 * float64(n)
	}
	p.New = func() (*Instance, error) {
		x, g := uniform(n, -1, 1), make([]float64, n)
		out, one := new(float64), 1.
		k := revlinalg.Dot[float64]{R: out, X: rev.ViewSlice(x), Y: rev.ViewSlice(x)}
		return scalar(&k, revlinalg.Dot[float64]{R: &one, X: rev.ViewSlice(g), Y: rev.ViewSlice(g)}, out, x, g, nil), nil
	}
	return p
}

// largeVector is the length from which a vector comes from memory, not from a
// cache.
const largeVector = 8 << 20

// scalar returns the instance of a kernel that adds a function of x to *out. g
// holds the cotangent 1 of out, and the gradient of x.
func scalar[K rev.Kernel[G], G any](k K, g G, out *float64, x, gradient []float64, workers *int) *Instance {
	value := func() float64 {
		*out = 0
		k.Forward()
		return *out
	}
	in := &Instance{
		F: func() { value() },
		J: func() {
			clear(gradient)
			*out = 0
			k.Adjoint(g)
			*out = -*out // 0 - f uncomputed
		},
		Result: func() []float64 { return append(widen(gradient), *out) },
		Derivative: func() float64 {
			return centralDifferences(value, [][]float64{x}, [][]float64{gradient}, directions(len(x)))
		},
		RoundTrip: func() float64 {
			const start = 1
			*out = start
			k.Forward()
			size := math.Abs(*out)
			k.Inverse()
			return math.Abs(*out-start) / max(start, size)
		},
	}
	if workers != nil {
		in.SetWorkers = func(w int) { *workers = w }
	}
	return in
}
