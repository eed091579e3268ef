package revnn

import (
	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Tanh is the kernel
//
//	y_i += tanh(x_i)
//
// With ġy the tangent of ȳ and z = tanh(x), the derivatives are
//
//	x̄ += (1 - z²)·ȳ,  ẏ += (1 - z²)·ẋ,  ġx += (1 - z²)·ġy - 2z·(1 - z²)·ẋ·ȳ.
//
// In float64 the value is within 2 units in the last place, even near 0. 1 - z² is within 5,
// even for large x. In float32 the value is within 3, and 1 - z² within 5. In fixed
// point both are within 0.51 units.
type Tanh[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var tanhFunction = elementwise.Function{
	Name:    "tanh",
	Float64: tanhLoops[float64](),
	Float32: tanhLoops[float32](),
	ByFloat: true,
}

func tanhLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{Both: vec.Tanh[T], Add: vec.AddTanh[T], Curves: elementwise.Curve(func(y, d T) T { return -2 * y * d })}
}

// tanhRun is Run of Tanh. It returns no error.
func tanhRun[T rev.Real](k *Tanh[T], p *rev.Pass[Tanh[T]]) error {
	return elementwise.Run(&tanhFunction, k, p)
}
