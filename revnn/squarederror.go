package revnn

import "revnum/rev"

// SquaredError is the kernel
//
//	Out += Σ_ij (x_ij - y_ij)²
//
// If Mean is set, the sum is divided by the number of elements: that is the mean squared error
// (MSE), and PyTorch's MSELoss. With r = x - y, the derivatives are
//
//	x̄ += 2·Ōut·r,  ȳ -= 2·Ōut·r,  Ȯut += 2·Σ r·(ẋ - ẏ),
//
// and, of second order,
//
//	ġx += 2·ġOut·r + 2·Ōut·(ẋ - ẏ),  ġy -= 2·ġOut·r + 2·Ōut·(ẋ - ẏ).
//
// Vectors are matrices of one row. In floating point the sum of n elements is within (n+3)·ε times
// itself. In fixed point each square is rounded, and the sum must be below 2²⁰.
type SquaredError[T rev.Real] struct {
	Out     *T             `rev:"acc"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Y       rev.General[T] `rev:"in" shape:"n,c"`
	Mean    bool
	Workers int // 0 means GOMAXPROCS
}

// squaredErrorRun is Run of SquaredError. It returns no error.
func squaredErrorRun[T rev.Real](k *SquaredError[T], p *rev.Pass[SquaredError[T]]) error {
	runLoss(loss{f: squaredError}, p.Sign(), k.Mean, k.Workers, squaredErrorOperands(k), squaredErrorOperands(&p.G), squaredErrorOperands(&p.T), squaredErrorOperands(&p.GT))
	return nil
}

func squaredErrorOperands[T rev.Real](k *SquaredError[T]) lossOperands[T] {
	return lossOperands[T]{k.Out, k.X, k.Y}
}
