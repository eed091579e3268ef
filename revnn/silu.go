package revnn

import (
	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// SiLU is the kernel
//
//	y_i += x_i·σ(x_i),  σ(x) = 1/(1 + exp(-x))
//
// also called swish. With ġy the tangent of ȳ, σ′ = σ(x)·σ(-x) and f′ = σ(x) + x·σ′, the
// derivatives are
//
//	x̄ += f′·ȳ,  ẏ += f′·ẋ,  ġx += f′·ġy + σ′·(2 + x·(1 - 2σ(x)))·ẋ·ȳ.
//
// Nothing overflows. In float64 the value is within 2.5 units in the last place, and f′ is
// within 5·2⁻⁵³·(σ + |x|·σ′). In float32 the bounds are 2.5 units and 3.2·2⁻²⁴·(σ + |x|·σ′), and
// in fixed point both are within 0.51 units. At -Inf the value is 0, its limit.
type SiLU[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var siluFunction = elementwise.Function{
	Name:    "SiLU",
	Float64: siluLoops[float64](),
	Float32: siluLoops[float32](),
	ByFloat: true,
	Rest:    true,
}

// siluCurves computes σ′·(2 + x·(1 - 2σ)). Beyond 800, σ′ is 0.
func siluCurves[T rev.Float](d, x, y []T) {
	vec.Sigmoid(y, d, x)
	for i, v := range x {
		v = max(min(v, 800), -800)
		d[i] *= 2 + T(v*(1-2*y[i]))
	}
}

func siluLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{Both: vec.SiLU[T], Add: vec.AddSiLU[T], Curves: siluCurves[T]}
}

// siLURun is Run of SiLU. It returns no error.
func siLURun[T rev.Real](k *SiLU[T], p *rev.Pass[SiLU[T]]) error {
	return elementwise.Run(&siluFunction, k, p)
}
