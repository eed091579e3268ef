package revnn

import (
	"revnum/internal/elementwise"
	"revnum/rev"
)

// ReLU is the kernel
//
//	y_i += max(x_i, 0)
//
// The slope s(x) is 0 if x <= 0, and 1 otherwise, also where x is NaN. With ġy the tangent of ȳ, the derivatives
// are
//
//	x̄ += s(x)·ȳ,  ẏ += s(x)·ẋ,  ġx += s(x)·ġy.
//
// At 0 the slope is 0 and at NaN it is 1, as in PyTorch: a NaN shows in y, and derivatives pass.
// Value and slope are exact.
type ReLU[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// reLURun is Run of ReLU. It returns no error.
func reLURun[T rev.Real](k *ReLU[T], p *rev.Pass[ReLU[T]]) error {
	operands := func(k *ReLU[T]) *elementwise.Operands[T] { return (*elementwise.Operands[T])(k) }
	rectify(0, p.Sign(), operands(k), operands(&p.G), operands(&p.T), operands(&p.GT))
	return nil
}
