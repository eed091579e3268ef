package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Cos is the kernel
//
//	y_i += cos(x_i)
//
// with the derivatives
//
//	x̄ -= sin(x)·ȳ,  ẏ -= sin(x)·ẋ,  ġx -= sin(x)·ġy + cos(x)·ẋ·ȳ.
//
// In float64 the cosine is within 1.5 units in the last place, even near its zeros and
// for large x. It is NaN for infinities. In float32 it is within 1.6 units, and in
// fixed point within 0.51 units for all x.
type Cos[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var cosFunction = elementwise.Function{
	Name:    "cos",
	Float64: cosLoops[float64](),
	Float32: cosLoops[float32](),

	Q43: elementwise.Pointwise[fixed.Q43]{
		Value: fixed.Cos,
		Slope: fixed.CosAdjoint,
		Curve: func(x, v, w fixed.Q43) fixed.Q43 { return -fixed.Cos(x).Mul(v).Mul(w) },
	},
	Fixed: elementwise.FixedLoops{
		Add:      func(y []fixed.Q43, sign int, x []fixed.Q43) { fixedpoint.Cos.Add(sign, x, y) },
		AddSlope: func(to []fixed.Q43, sign int, x, v []fixed.Q43) { fixedpoint.Sin.AddProducts(-sign, x, v, to) },
	},
}

func cosLoops[T rev.Float]() elementwise.Loops[T] {
	slopes := func(d, x []T) {
		vec.Sin(d, x)
		vec.ScaleTo(d, -1, d)
	}
	addSlope := func(to []T, sign T, x, from []T) { vec.AddSinProduct(to, -sign, x, from) }
	return elementwise.Loops[T]{Values: vec.Cos[T], Slopes: slopes, Add: vec.AddCos[T], AddSlope: addSlope, Curves: elementwise.Curve(func(y, _ T) T { return -y })}
}

// cosRun is Run of Cos. It returns no error.
func cosRun[T rev.Real](k *Cos[T], p *rev.Pass[Cos[T]]) error {
	return elementwise.Run(&cosFunction, k, p)
}
