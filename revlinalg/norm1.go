package revlinalg

import (
	"revnum/internal/number"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Norm1 is the kernel
//
//	Out += ‖x‖₁ = Σ |x_i|
//
// with the derivatives, where sign(0) = 0 (the subgradient of least norm),
//
//	x̄ += Ōut·sign(x),  Ȯut += Σ sign(x_i)·ẋ_i,  ġx += ġOut·sign(x).
//
// In floating point the sum is within n·ε times itself. In fixed point it is exact and
// wraps at 2²⁰.
type Norm1[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// norm1Run is Run of Norm1. It returns no error.
func norm1Run[T rev.Real](k *Norm1[T], p *rev.Pass[Norm1[T]]) error {
	const part = cpu.Chunk // which stays in the cache; the sums of vec are cut there, too
	var sum, rate T
	for lo := 0; lo < k.X.N; lo += part {
		n := min(part, k.X.N-lo)
		x := vector.Between(k.X, lo, n)
		if k.Out != nil {
			sum += sumMagnitudes(x)
		}
		if p.T.Out != nil && p.T.X.Data != nil {
			rate += dotSigns(x, vector.Between(p.T.X, lo, n))
		}
		addSigns(p.G.Out, x, vector.Between(p.G.X, lo, n))
		addSigns(p.GT.Out, x, vector.Between(p.GT.X, lo, n))
	}
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), sum)
	}
	if p.T.Out != nil && p.T.X.Data != nil {
		*p.T.Out += number.Signed(p.Sign(), rate)
	}
	return nil
}

// sumMagnitudes returns Σ |x_i|.
func sumMagnitudes[T rev.Real](x rev.Vector[T]) (s T) {
	if x.Inc == 1 {
		switch x := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(vec.SumAbs(x))
		case []float32:
			return T(vec.SumAbs(x))
		}
	}
	for i := range x.N {
		s += magnitude(x.Data[i*x.Inc])
	}
	return s
}

// dotSigns returns Σ sign(x_i)·y_i.
func dotSigns[T rev.Real](x, y rev.Vector[T]) (s T) {
	if x.Inc == 1 && y.Inc == 1 {
		switch x := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(vec.DotSign(x, number.As[[]float64](y.Data[:y.N])))
		case []float32:
			return T(vec.DotSign(x, number.As[[]float32](y.Data[:y.N])))
		}
	}
	for i := range x.N {
		s += T(sign(x.Data[i*x.Inc]) * y.Data[i*y.Inc])
	}
	return s
}

// addSigns adds r·sign(x_i) to each y_i. It does nothing if r or y is nil.
func addSigns[T rev.Real](r *T, x, y rev.Vector[T]) {
	if r == nil || y.Data == nil {
		return
	}
	if x.Inc == 1 && y.Inc == 1 {
		switch x := any(x.Data[:x.N]).(type) {
		case []float64:
			vec.AddSign(number.As[[]float64](y.Data[:y.N]), float64(*r), x)
			return
		case []float32:
			vec.AddSign(number.As[[]float32](y.Data[:y.N]), float32(*r), x)
			return
		}
	}
	for i := range x.N {
		y.Data[i*y.Inc] += T(*r * sign(x.Data[i*x.Inc]))
	}
}

// magnitude returns |x|. The least fixed-point number is its own magnitude.
func magnitude[T rev.Real](x T) T {
	if x < 0 {
		return -x
	}
	return x + 0 // not -0
}
