package suite

import (
	"fmt"
	"math"

	"revnum/benchmarks/internal/problem"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// gmmProblems are mixtures of ADBench's sizes and distribution.
func gmmProblems() []*Problem {
	one, both := []int{1}, []int{1, 2}
	return []*Problem{
		gmmProblem[float64](1000, 2, 5, one),
		gmmProblem[float64](1000, 10, 5, one),
		gmmProblem[float64](1000, 10, 25, both),
		gmmProblem[float64](1000, 20, 50, one),
		gmmProblem[float64](1000, 32, 100, both),
		gmmProblem[float64](1000, 64, 50, both),
		gmmProblem[float64](1000, 128, 100, one),
		gmmProblem[float32](1000, 10, 25, one),
		gmmProblem[float32](1000, 32, 100, one),
		gmmProblem[float32](1000, 64, 50, one),
		gmmProblem[float64](10000, 2, 200, both),
		gmmProblem[float64](2500000, 10, 50, one),
	}
}

// gmmProblem is the log posterior of n points in d dimensions under k
// components, and its gradient with respect to all parameters.
func gmmProblem[T rev.Float](n, d, k int, workers []int) *Problem {
	// Each point and component takes a triangular product of d(d+1)/2
	// multiply-adds, and in the gradient a symmetric rank-one update of as many.
	flops := float64(n) * float64(k) * float64(d) * float64(d+1)
	_, single := any(T(0)).(float32)
	p := &Problem{
		Family: "gmm", Sizes: fmt.Sprintf("n=%d d=%d k=%d", n, d, k),
		Series: "gmm, n = " + Short(n),
		Params: k * (1 + d + d*(d+1)/2), FlopsF: flops, FlopsJ: 2 * flops,
		Single: single, Workers: workers,
	}
	if single {
		p.Family, p.Series = "gmm float32", "gmm float32, n = "+Short(n)
	}
	p.New = func() (*Instance, error) {
		data, err := problem.GenerateGMM(d, k, n, 1, false)
		if err != nil {
			return nil, err
		}
		o := problem.NewGMMObjective[T](data, gmm.GradBench, 1)
		var value T
		in := &Instance{
			F:          func() { value = o.Value() },
			J:          func() { value = o.ValueGradient() },
			SetWorkers: func(w int) { o.Kernel.Workers = w },
			Result: func() []float64 {
				return append(widen(o.Gradient), float64(value))
			},
			RoundTrip: func() float64 {
				start := T(1) / 3 // a sum with it is rounded
				*o.Kernel.Out = start
				o.Kernel.Forward()
				size := math.Abs(float64(*o.Kernel.Out))
				o.Kernel.Inverse()
				return math.Abs(float64(*o.Kernel.Out-start)) / max(1, size)
			},
		}
		if !single {
			in.Derivative = func() float64 { return checkGMM(data, widen(o.Gradient)) }
		} else {
			in.Derivative = func() float64 {
				// Differences in float32 are too inaccurate. The gradient in float32 is
				// therefore compared with the one in float64.
				exact := problem.NewGMMObjective[float64](data, gmm.GradBench, 0)
				exact.ValueGradient()
				return relativeError(widen(o.Gradient), exact.Gradient)
			}
		}
		return in, nil
	}
	return p
}

// checkGMM compares the gradient with central differences.
func checkGMM(data *problem.GMM, gradient []float64) float64 {
	o := problem.NewGMMObjective[float64](data, gmm.GradBench, 0)
	return CentralDifferences(o.Value, [][]float64{data.Params}, [][]float64{gradient}, directions(data.N))
}

// relativeError returns ‖a-b‖/‖b‖.
func relativeError(a, b []float64) float64 {
	var diff, size float64
	for i, v := range b {
		diff += (a[i] - v) * (a[i] - v)
		size += v * v
	}
	return math.Sqrt(diff / size)
}

// widen returns x in float64.
func widen[T rev.Float](x []T) []float64 {
	w := make([]float64, len(x), len(x)+1)
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}
