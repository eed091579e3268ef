package revlinalg

import (
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// Dot is the kernel
//
//	Out += Σ_i conj(x_i)·y_i
//
// of two vectors of the same length, real or complex, with the derivatives
//
//	x̄ += conj(Ōut)·y,  ȳ += Ōut·x,  Ȯut += Σ conj(ẋ_i)·y_i + conj(x_i)·ẏ_i
//
// and, of second order,
//
//	ġx += conj(ġOut)·y + conj(Ōut)·ẏ,  ġy += ġOut·x + Ōut·ẋ.
//
// Over complex numbers it is the Dotc of BLAS.
//
// Dot{X: x, Y: x} is the square of the norm of x. If both places have the same
// cotangent, it gets 2·Ōut·x.
//
// Adjoint moves three times the memory of Forward: it also reads and writes two
// cotangents. For long vectors it takes about three times as long.
//
// In floating point the sum is within n·ε·Σ|x_i·y_i|, and over complex numbers within
// twice that. In fixed point it is exact, rounded once to nearest, and wraps on
// overflow. Each element of a gradient is rounded once too.
type Dot[T rev.Number] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
	Y   rev.Vector[T] `rev:"in" shape:"n"`
}

// dotPart is how many floating-point elements a pass handles at a time, so that the
// gradients find them in the cache. In fixed point the sum is rounded once, so the pass
// handles all elements at a time.
const dotPart = 1 << 10

// Run implements rev.Kernel. It returns no error.
func (k Dot[T]) Run(p rev.Pass[Dot[T]]) error {
	part := dotPart
	if number.IsFixed[T]() {
		part = max(1, k.X.N)
	}
	var sum T
	for lo := 0; lo < k.X.N; lo += part {
		x, y, gx, gy := k.X, k.Y, p.G.X, p.G.Y
		if n := min(part, k.X.N-lo); n < k.X.N {
			x, y = vector.Between(x, lo, n), vector.Between(y, lo, n)
			if p.G.Out != nil {
				gx, gy = vector.Between(gx, lo, n), vector.Between(gy, lo, n)
			}
		}
		if k.Out != nil {
			sum += vector.Dot(x, y)
		}
		if p.G.Out != nil {
			vector.Axpy(number.Conj(*p.G.Out), y, gx)
			vector.Axpy(*p.G.Out, x, gy)
		}
	}
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), sum)
	}
	if !p.Tangent {
		return nil
	}
	if p.T.Out != nil {
		*p.T.Out += number.Signed(p.Sign(), vector.Dot(p.T.X, k.Y)+vector.Dot(k.X, p.T.Y))
	}
	if p.GT.Out != nil {
		vector.Axpy(number.Conj(*p.GT.Out), k.Y, p.GT.X)
		vector.Axpy(*p.GT.Out, k.X, p.GT.Y)
	}
	if p.G.Out != nil {
		vector.Axpy(number.Conj(*p.G.Out), p.T.Y, p.GT.X)
		vector.Axpy(*p.G.Out, p.T.X, p.GT.Y)
	}
	return nil
}
