package revlinalg

import "revnum/rev"

// MinElem is the kernel
//
//	z_i += min(x_i, y_i)
//
// for vectors of the same length. The slope s(x, y) is 1 if x < y, 1/2 if x = y, and 0 if x > y
// (the subgradient of least norm). With ġz the tangent of z̄, the derivatives are
//
//	x̄ += s(x, y)·z̄,  ȳ += s(y, x)·z̄,  ż += s(x, y)·ẋ + s(y, x)·ẏ,
//	ġx += s(x, y)·ġz,  ġy += s(y, x)·ġz.
//
// If x or y is NaN, so is the minimum, and both slopes are 1, as in PyTorch. Zeros of either sign
// are equal. Value and slopes are exact, but half an odd number in fixed point, or a subnormal one, is rounded.
type MinElem[T rev.Real] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// minElemRun is Run of MinElem. It returns no error.
func minElemRun[T rev.Real](k *MinElem[T], p *rev.Pass[MinElem[T]]) error {
	choose(*k, *p, k.X.N, k.Workers)
	return nil
}

func (k MinElem[T]) add(lo, n, sign int, g, t, gt *MinElem[T]) {
	addExtremes(lo, n, sign, true, (*MaxElem[T])(&k), (*MaxElem[T])(g), (*MaxElem[T])(t), (*MaxElem[T])(gt))
}
