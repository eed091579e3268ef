package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/rev"
)

// LeakyReLU is the kernel
//
//	y_i += s(x_i)·x_i
//
// where the slope s(x) is Slope if x <= 0, and 1 otherwise, also where x is NaN. With ġy the
// tangent of ȳ, the derivatives are
//
//	x̄ += s(x)·ȳ,  ẏ += s(x)·ẋ,  ġx += s(x)·ġy.
//
// At 0 the slope is Slope and at NaN it is 1, as in PyTorch. Slope is a constant. The kernel rounds it to the
// number type, and rounds its product with x. If Slope is 0, the kernel is ReLU.
type LeakyReLU[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Slope   float64       // for negative x; PyTorch uses 0.01
	Workers int           // 0 means GOMAXPROCS
}

// NewLeakyReLU returns the kernel that adds to y, over gonum vectors, sharing their
// storage.
func NewLeakyReLU(y, x *mat.VecDense, slope float64) LeakyReLU[float64] {
	return LeakyReLU[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x), Slope: slope}
}

// leakyReLURun is Run of LeakyReLU. It returns no error.
func leakyReLURun[T rev.Real](k *LeakyReLU[T], p *rev.Pass[LeakyReLU[T]]) error {
	o := [4]elementwise.Operands[T]{leakyReLUOperands(k), leakyReLUOperands(&p.G), leakyReLUOperands(&p.T), leakyReLUOperands(&p.GT)}
	rectify(fixed.Of[T](k.Slope), p.Sign(), &o[0], &o[1], &o[2], &o[3])
	return nil
}

func leakyReLUOperands[T rev.Real](k *LeakyReLU[T]) elementwise.Operands[T] {
	return elementwise.Operands[T]{Y: k.Y, X: k.X, Workers: k.Workers}
}
