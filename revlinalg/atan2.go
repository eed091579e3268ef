package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Atan2 is the kernel
//
//	z_i += atan2(x_i, y_i),
//
// the angle in [-π, π] of the point with ordinate x_i and abscissa y_i. The order of
// arguments is that of math.Atan2. With r² = x² + y², the derivatives are
//
//	x̄ += y/r²·z̄,  ȳ -= x/r²·z̄,  ż += (y·ẋ - x·ẏ)/r²
//
// and, of second order,
//
//	ġx += y/r²·ġz + ((x² - y²)·ẏ - 2xy·ẋ)/r⁴·z̄,
//	ġy -= x/r²·ġz - ((x² - y²)·ẋ + 2xy·ẏ)/r⁴·z̄.
//
// If a point is the origin, there is no derivative. A method that needs one returns a
// *rev.DomainError with the index of the element, and changes nothing. The angle at the
// origin is that of math.Atan2, and 0 in fixed point. No r² overflows. At infinity the
// derivatives are zero, their limit. In floating point the angle is within 1.1 units in the last
// place, with the special cases of math.Atan2, and has the same bits on all machines. Derivatives are
// within 5 units, unless 1/r² underflows. In fixed point the angle is within 0.51 units in the last
// place, and derivatives wrap if they are out of range.
type Atan2[T rev.Real] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var atan2Function = binaryFunction{
	name:    "atan2",
	float64: binaryLoops[float64]{vec.Nonzero[float64], vec.Atan2[float64], vec.AddAtan2[float64], vec.Atan2Slopes[float64], vec.Atan2Curves[float64]},
	float32: binaryLoops[float32]{vec.Nonzero[float32], vec.Atan2[float32], vec.AddAtan2[float32], vec.Atan2Slopes[float32], vec.Atan2Curves[float32]},

	value43:    fixed.Atan2,
	gradient43: fixed.Atan2Adjoint,
	hessian43: func(x, y, dx, dy, v fixed.Q43) (hx, hy fixed.Q43) {
		r := fixed.Hypot(x, y)
		a, b := x.Div(r), y.Div(r)
		diag, off := -2*a.Mul(b), a.Mul(a)-b.Mul(b)
		dx, dy = dx.Div(r), dy.Div(r)
		return (diag.Mul(dx) + off.Mul(dy)).Mul(v).Div(r), (off.Mul(dx) - diag.Mul(dy)).Mul(v).Div(r)
	},
	fixed: binaryFixedLoops{
		good: func(x, y []fixed.Q43, _ int) int {
			for i, x := range x {
				if y := y[i]; x|y == 0 || ((x^x>>63)|(y^y>>63))>>62 != 0 { // below 2¹⁹, the distance is in range
					return i
				}
			}
			return len(x)
		},
		add: func(sign int, x, y, z, v, gx, gy []fixed.Q43) {
			if z != nil {
				fixedpoint.AddAtan2(sign, x, y, z)
			}
			if v != nil {
				fixedpoint.AddAtan2Slopes(x, y, v, gx, gy)
			}
		},
	},

	everywhere: true,
	defined:    func(x, y float64, _ int) bool { return x != 0 || y != 0 },
	inRange: func(x, y fixed.Q43, _ int) bool { // has derivatives
		_, err := fixed.HypotChecked(x, y)
		return err == nil
	},
}

// atan2Run is Run of Atan2. It returns a *rev.DomainError if atan2(x, y) or a
// derivative that it needs is not defined.
func atan2Run[T rev.Real](k *Atan2[T], p *rev.Pass[Atan2[T]]) error {
	return binaryOperands[T](*k).run(&atan2Function, p.Sign(), binaryOperands[T](p.G), binaryOperands[T](p.T), binaryOperands[T](p.GT))
}
