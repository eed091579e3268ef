package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/fixedpoint"
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
		Value: fixedpoint.Tan.Value,
		Slope: func(x, v fixed.Q43) fixed.Q43 { return addSquare(v, fixedpoint.Tan.Value(x)) },
		Curve: func(x, v, w fixed.Q43) fixed.Q43 {
			t := fixedpoint.Tan.Value(x)
			return addSquare(2*t.Mul(v).Mul(w), t)
		},
	},
	Fixed: elementwise.FixedLoops{
		Add: func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.Tan.Add(sign, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, t, v []fixed.Q43) {
			var product [128]fixed.Q43
			for lo := 0; lo < len(t); lo += len(product) {
				hi := min(lo+len(product), len(t))
				p := product[:hi-lo]
				clear(p)
				fixedpoint.AddProducts(1, t[lo:hi], v[lo:hi], p)
				fixedpoint.AddProducts(sign, t[lo:hi], p, to[lo:hi])
				fixedpoint.Axpy(sign, fixed.One, v[lo:hi], to[lo:hi])
			}
		},
		Reuse: func([]fixed.Q43) {},
	},
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

// tanRun is Run of Tan. It returns no error.
func tanRun[T rev.Real](k *Tan[T], p *rev.Pass[Tan[T]]) error {
	return elementwise.Run(&tanFunction, k, p)
}
