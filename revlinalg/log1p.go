package revlinalg

import (
	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Log1p is the kernel
//
//	y_i += log(1 + x_i)
//
// With d = 1/(1 + x), the derivatives are
//
//	x̄ += d·ȳ,  ẏ += d·ẋ,  ġx += d·ġy - d²·ẋ·ȳ.
//
// If an element of X is -1 or less, all passes return a *rev.DomainError with its index and change
// nothing. NaN is passed on.
//
// In float64 the value is within 0.8 units in the last place, also near 0, and in float32 within
// 0.94. d is within 1.5 and 1.6 units. In fixed point the value is within 0.51 units, and so
// is d for x above -1 + 2⁻¹⁰. Nearer to -1, d has the error of float64, and derivatives wrap if they
// are out of range.
type Log1p[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var log1pFunction = elementwise.Function{
	Name:    "log1p",
	Float64: log1pLoops[float64](),
	Float32: log1pLoops[float32](),
	ByFloat: true,
	Defined: func(x float64, _ int) bool { return !(x <= -1) },
}

func log1pLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{
		Known: func(x []T) int { return vec.Above(x, -1) },
		Both:  vec.Log1p[T], Add: vec.AddLog1p[T],
		Curves: elementwise.Curve(func(_, d T) T { return -d * d }),
	}
}

// log1pRun is Run of Log1p. It returns a *rev.DomainError if log(1 + x) is not defined.
func log1pRun[T rev.Real](k *Log1p[T], p *rev.Pass[Log1p[T]]) error {
	return elementwise.Run(&log1pFunction, k, p)
}
