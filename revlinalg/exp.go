package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Exp is the kernel
//
//	y_i += exp(x_i)
//
// with the derivatives
//
//	x̄ += eˣ·ȳ,  ẏ += eˣ·ẋ,  ġx += eˣ·(ġy + ẋ·ȳ).
//
// In float64 the exponential is within 0.65 units in the last place, and in float32 within
// 0.6, over the whole range of normal results. In fixed point it is within 0.51 units. Above 2²⁰,
// that is for x > 13.86, it is the largest number.
type Exp[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var expFunction = elementwise.Function{
	Name:    "exp",
	Float64: expLoops[float64](),
	Float32: expLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: expSat,
		Slope: func(x, v fixed.Q43) fixed.Q43 { return expSat(x).Mul(v) },
		Curve: func(x, v, w fixed.Q43) fixed.Q43 { return expSat(x).Mul(v).Mul(w) },
	},
	Fixed: elementwise.FixedLoops{
		Add:      func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.Exp.Add(sign, x, y) },
		AddSlope: addFixedProducts,
		Reuse:    func([]fixed.Q43) {},
	},
}

// addFixedProducts computes to_i += d_i·v_i, or the differences if sign is negative.
func addFixedProducts(to []fixed.Q43, sign int, d, v []fixed.Q43) {
	fixedpoint.AddProducts(sign, d, v, to)
}

// expSat returns eˣ, or the largest number if eˣ is out of range.
func expSat(x fixed.Q43) fixed.Q43 {
	y, err := fixed.ExpChecked(x)
	if err != nil {
		return fixed.Max
	}
	return y
}

func expLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{Values: vec.Exp[T], Add: vec.AddExp[T], AddSlope: vec.AddExpProduct[T]}
}

// expRun is Run of Exp. It returns no error.
func expRun[T rev.Real](k *Exp[T], p *rev.Pass[Exp[T]]) error {
	return elementwise.Run(&expFunction, k, p)
}
