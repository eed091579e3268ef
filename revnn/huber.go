package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Huber is the kernel
//
//	Out += Σ_ij f(x_ij - y_ij),  f(r) = r²/2 if |r| <= δ, and δ·(|r| - δ/2) otherwise
//
// If Mean is set, the sum is divided by the number of elements, as PyTorch's HuberLoss does. With
// c(r) = f′(r), which is r cut to [-δ, δ], the derivatives are
//
//	x̄ += Ōut·c,  ȳ -= Ōut·c,  Ȯut += Σ c·(ẋ - ẏ),
//
// and, of second order, where I is 1 if |r| <= δ, and 0 otherwise,
//
//	ġx += ġOut·c + Ōut·I·(ẋ - ẏ),  ġy -= ġOut·c + Ōut·I·(ẋ - ẏ).
//
// The kernel rounds δ to the number type. A negative δ, or NaN, panics with mat.ErrShape. Vectors
// are matrices of one row. In floating point the sum of n elements is within (n+4)·ε times itself.
// In fixed point each f(r) is within (1 + δ)/2 units in the last place, and the sum must be below
// 2²⁰.
//
// Source: P. J. Huber, Robust estimation of a location parameter, 1964.
type Huber[T rev.Real] struct {
	Out     *T             `rev:"acc"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Y       rev.General[T] `rev:"in" shape:"n,c"`
	Delta   float64        // δ; 0 means 1
	Mean    bool
	Workers int // 0 means GOMAXPROCS
}

// NewHuber returns the kernel that adds to out, over gonum matrices, sharing their storage.
func NewHuber(out *float64, x, y *mat.Dense, delta float64) Huber[float64] {
	return Huber[float64]{Out: out, X: rev.ViewDense(x), Y: rev.ViewDense(y), Delta: delta}
}

// huberRun is Run of Huber. It returns no error.
func huberRun[T rev.Real](k *Huber[T], p *rev.Pass[Huber[T]]) error {
	f := loss{f: huber, delta: k.Delta}
	switch {
	case k.Delta == 0:
		f.delta = 1
	case !(k.Delta > 0):
		panic(rev.ShapeError[Huber[T]]("Delta", "is %v, want a positive number", k.Delta))
	}
	runLoss(f, p.Sign(), k.Mean, k.Workers, huberOperands(k), huberOperands(&p.G), huberOperands(&p.T), huberOperands(&p.GT))
	return nil
}

func huberOperands[T rev.Real](k *Huber[T]) lossOperands[T] { return lossOperands[T]{k.Out, k.X, k.Y} }
