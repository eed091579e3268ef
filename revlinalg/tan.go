package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Tan is the kernel
//
//	y_i += tan(x_i)
//
// With t = tan(x), the derivatives are
//
//	x̄ += (1 + t²)·ȳ,  ẏ += (1 + t²)·ẋ,  ġx += (1 + t²)·ġy + 2t·(1 + t²)·ẋ·ȳ.
//
// The value is within 3 units in the last place and 1 + t² within 6, also near poles and for large angles. Those of infinities are NaN. In fixed point the
// value is within 1.3·(1 + t²) units. If the magnitude is 2²⁰ or more, it is the end of the range, and
// derivatives wrap if they are out of range, or a product on the way is.
type Tan[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var tanFunction = elementwise.Function{
	Name:    "tan",
	Float64: tanLoops[float64](),
	Float32: tanLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: tanSat,
		Slope: func(x, v fixed.Q43) fixed.Q43 { return addSquare(v, tanSat(x)) },
		Curve: func(x, v, w fixed.Q43) fixed.Q43 {
			t := tanSat(x)
			return addSquare(2*t.Mul(v).Mul(w), t)
		},
	},
}

// tanSat returns tan(x), or the end of the range if it is beyond it.
func tanSat(x fixed.Q43) fixed.Q43 {
	sin, cos := fixed.SinCos(x)
	switch {
	case cos != 0:
		return sin.DivSat(cos)
	case sin < 0:
		return fixed.Min
	}
	return fixed.Max
}

// addSquare returns (1 + t²)·v.
func addSquare(v, t fixed.Q43) fixed.Q43 { return v + t.Mul(t.Mul(v)) }

func tanLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{
		Both: vec.Tan[T], Add: vec.AddTan[T],
		Curves: func(d, _, y []T) {
			vec.MulTo(d, d, y)
			vec.ScaleTo(d, 2, d)
		},
	}
}

// Run implements rev.Kernel. It returns no error.
func (k Tan[T]) Run(p rev.Pass[Tan[T]]) error {
	return elementwise.Run(&tanFunction, k, p)
}
