package suite

import (
	"fmt"
	"math"
	"math/rand/v2"

	"revnum/internal/simd/vec"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
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
				F:      func() { vec.Exp(y, x) },
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
		k := revnn.LogSumExp[float64]{Out: out, X: rev.ViewSlice(x), Workers: 1}
		return scalar(&k, revnn.LogSumExp[float64]{Out: &one, X: rev.ViewSlice(g)}, out, x, g, &k.Workers), nil
	}
	return p
}

// llsqProblem is the least squares fit of a polynomial of m coefficients to
// the sign of n points from -1 to 1.
func llsqProblem(n, m int, workers []int) *Problem {
	p := &Problem{
		Family: "llsq", Sizes: fmt.Sprintf("n=%d m=%d", n, m), Series: "llsq, n = " + Short(n),
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
		k := revlinalg.Dot[float64]{Out: out, X: rev.ViewSlice(x), Y: rev.ViewSlice(x)}
		return scalar(&k, revlinalg.Dot[float64]{Out: &one, X: rev.ViewSlice(g), Y: rev.ViewSlice(g)}, out, x, g, nil), nil
	}
	return p
}

// norm2Problem is the Euclidean norm of a vector of n numbers.
func norm2Problem(n int) *Problem {
	p := &Problem{
		Family: "norm2", Sizes: fmt.Sprintf("n=%d", n), Series: "norm2", Params: n,
		FlopsF: 2 * float64(n), FlopsJ: 4 * float64(n), Workers: []int{1},
	}
	p.New = func() (*Instance, error) {
		x, g := uniform(n, -1, 1), make([]float64, n)
		out, one := new(float64), 1.
		k := revlinalg.Norm2[float64]{Out: out, X: rev.ViewSlice(x)}
		return scalar(&k, revlinalg.Norm2[float64]{Out: &one, X: rev.ViewSlice(g)}, out, x, g, nil), nil
	}
	return p
}

// affineProblem is an n×n matrix times a vector, plus a vector. Its gradient is
// that of the sum of the result, with respect to all three.
func affineProblem(n int) *Problem {
	flops := 2 * float64(n) * float64(n)
	p := &Problem{
		Family: "affine", Sizes: fmt.Sprintf("n=%d", n), Series: "affine", Params: n*n + 2*n,
		FlopsF: flops, FlopsJ: 3 * flops, Workers: []int{1},
	}
	p.New = func() (*Instance, error) {
		params, gradient := uniform(p.Params, -1, 1), make([]float64, p.Params)
		view := func(y, p []float64) revlinalg.Affine[float64] {
			return revlinalg.Affine[float64]{
				Y: rev.ViewSlice(y), W: rev.NewGeneral(n, n, p[:n*n]), X: rev.ViewSlice(p[n*n : n*n+n]), B: rev.ViewSlice(p[n*n+n:]),
			}
		}
		y, ones := make([]float64, n), make([]float64, n)
		for i := range ones {
			ones[i] = 1
		}
		k, g := view(y, params), view(ones, gradient)
		forward := func() {
			clear(y)
			k.Forward()
		}
		return &Instance{
			F: forward,
			J: func() {
				clear(gradient)
				clear(y)
				k.Adjoint(g)
			},
			Result: func() []float64 { return append(widen(gradient), y...) },
			Derivative: func() float64 {
				value := func() float64 {
					forward()
					return vec.Sum(y)
				}
				return CentralDifferences(value, [][]float64{params}, [][]float64{gradient}, directions(len(params)))
			},
			RoundTrip: func() float64 {
				copy(y, ones)
				k.Forward()
				size := math.Sqrt(vec.SumSquares(y))
				k.Inverse()
				vec.Axpy(-1, ones, y)
				return math.Sqrt(vec.SumSquares(y)) / size
			},
		}, nil
	}
	return p
}

// largeVector is the length from which a vector comes from memory, not from a
// cache.
const largeVector = 8 << 20

// scalar returns the instance of a kernel that adds a function of x to *out. g
// holds the cotangent 1 of out, and the gradient of x.
func scalar[K rev.Kernel[K]](k *K, g K, out *float64, x, gradient []float64, workers *int) *Instance {
	run := func(pass func(K) error) float64 {
		if err := pass(*k); err != nil {
			panic(err) // these kernels have a value everywhere
		}
		return *out
	}
	value := func() float64 {
		*out = 0
		return run(rev.Forward[K])
	}
	in := &Instance{
		F: func() { value() },
		J: func() {
			clear(gradient)
			*out = 0
			run(func(k K) error { return rev.Gradient(k, g) })
		},
		Result: func() []float64 { return append(widen(gradient), *out) },
		Derivative: func() float64 {
			return CentralDifferences(value, [][]float64{x}, [][]float64{gradient}, directions(len(x)))
		},
		RoundTrip: func() float64 {
			const start = 1. / 3 // a sum with it is rounded
			*out = start
			size := math.Abs(run(rev.Forward[K]))
			return math.Abs(run(rev.Inverse[K])-start) / max(1, size)
		},
	}
	if workers != nil {
		in.SetWorkers = func(w int) { *workers = w }
	}
	return in
}
