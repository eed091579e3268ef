package revnn

import (
	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Sigmoid is the kernel
//
//	y_i += σ(x_i) = 1/(1 + exp(-x_i))
//
// With ġy the tangent of ȳ and σ′ = σ·(1 - σ), the derivatives are
//
//	x̄ += σ′(x)·ȳ,  ẏ += σ′(x)·ẋ,  ġx += σ′(x)·ġy + σ′(x)·(1 - 2σ(x))·ẋ·ȳ.
//
// Nothing overflows, and 1 - σ(x) has all its digits even for large x. In float64 the value is
// within 2.5 units in the last place, and σ′ within 5. In float32 the bounds are 1.6 and 3. In fixed
// point both are within 0.51 units.
type Sigmoid[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var sigmoidFunction = elementwise.Function{
	Name:    "sigmoid",
	Float64: sigmoidLoops[float64](),
	Float32: sigmoidLoops[float32](),
	ByFloat: true,
}

func sigmoidLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{Both: vec.Sigmoid[T], Add: vec.AddSigmoid[T], Curves: elementwise.Curve(func(y, d T) T { return d * (1 - 2*y) })}
}

// sigmoidRun is Run of Sigmoid. It returns no error.
func sigmoidRun[T rev.Real](k *Sigmoid[T], p *rev.Pass[Sigmoid[T]]) error {
	return elementwise.Run(&sigmoidFunction, k, p)
}
