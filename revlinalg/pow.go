package revlinalg

import (
	"math"

	"revnum/fixed"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Pow is the kernel
//
//	z_i += x_i^y_i
//
// with the derivatives, where l = log x,
//
//	x̄ += y·x^(y-1)·z̄,  ȳ += l·x^y·z̄,  ż += y·x^(y-1)·ẋ + l·x^y·ẏ,
//	ġx += y·x^(y-1)·ġz + (y·(y-1)·x^(y-2)·ẋ + (1 + y·l)·x^(y-1)·ẏ)·z̄,
//	ġy += l·x^y·ġz + ((1 + y·l)·x^(y-1)·ẋ + l²·x^y·ẏ)·z̄.
//
// x may be negative if y is an integer, and zero if y is not negative (0⁰ = 1). For
// these x the power is defined for isolated y only; l and (1 + y·l) then count as zero.
// If there is no power, all methods that need it return a *rev.DomainError with the
// index of the element, and change nothing. So do methods that need a derivative that
// does not exist because x is zero. In fixed point they also do so if one of the powers
// of x is 2²⁰ or more. NaN is passed on.
//
// In floating point the power is within 0.9 units in the last place, with the special cases of
// math.Pow, and has the same bits on all machines. Derivatives are within 5 units of the sum of the
// magnitudes of their terms. Powers that overflow are infinite, without an error, and so are the
// derivatives that have them as a factor. If an infinite x or y makes a power zero and a factor beside
// it infinite, the derivative is zero, its limit. In fixed point the power is within 0.51 units in the
// last place.
type Pow[T rev.Real] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var powFunction = binaryFunction{
	name:    "pow",
	float64: binaryLoops[float64]{positive[float64], vec.Pow[float64], vec.AddPow[float64], vec.PowSlopes[float64], vec.PowCurves[float64]},
	float32: binaryLoops[float32]{positive[float32], vec.Pow[float32], vec.AddPow[float32], vec.PowSlopes[float32], vec.PowCurves[float32]},

	value43:    fixed.Pow,
	gradient43: fixed.PowAdjoint,
	hessian43: func(x, y, dx, dy, v fixed.Q43) (hx, hy fixed.Q43) {
		if y != 0 && y != fixed.One {
			hx = fixed.Pow(x, y.SubSat(2*fixed.One)).Mul(y.Mul(y - fixed.One)).Mul(dx).Mul(v)
		}
		if x > 0 {
			l := fixed.Log(x)
			off := fixed.Pow(x, y.SubSat(fixed.One)).Mul(fixed.One + y.Mul(l)).Mul(v)
			hx += off.Mul(dy)
			hy = off.Mul(dx) + fixed.Pow(x, y).Mul(l).Mul(l).Mul(v).Mul(dy)
		}
		return hx, hy
	},
	fixed: binaryFixedLoops{
		good: func(x, y []fixed.Q43, order int) int { return fixedpoint.PowersFit(x, y, float64(order)) },
		add: func(sign int, x, y, z, v, gx, gy []fixed.Q43) {
			if v != nil {
				fixedpoint.AddPowSlopes(sign, x, y, z, v, gx, gy)
			} else {
				fixedpoint.AddPow(sign, x, y, z)
			}
		},
	},

	defined: func(x, y float64, order int) bool {
		switch {
		case x < 0:
			return y == math.Trunc(y) || math.IsNaN(y) // infinities are even integers
		case x == 0:
			// The powers are finite, and the factors of the derivatives that need them
			// are not zero.
			return !(y < 0) && !(order > 0 && y > 0 && y < 1) && !(order > 1 && y > 1 && y < 2)
		}
		return true
	},
	inRange: func(x, y fixed.Q43, order int) bool {
		for i := range order + 1 {
			e := fixed.Q43(i) << fixed.FracBits
			if x == 0 && y < e {
				break // the factor is zero
			}
			if _, err := fixed.PowChecked(x, y.SubSat(e)); err != nil {
				return false
			}
		}
		return true
	},
}

// positive returns the index of the first element of x that is not positive, or len(x).
func positive[T rev.Float](x []T) int { return vec.Above(x, 0) }

// powRun is Run of Pow. It returns a *rev.DomainError if x^y or a derivative that
// it needs is not defined.
func powRun[T rev.Real](k *Pow[T], p *rev.Pass[Pow[T]]) error {
	return binaryOperands[T](*k).run(&powFunction, p.Sign(), binaryOperands[T](p.G), binaryOperands[T](p.T), binaryOperands[T](p.GT))
}
