package revnn

import (
	"math"

	"revnum/internal/elementwise"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// GELU is the kernel
//
//	y_i += x_i·Φ(x_i),  Φ(x) = (1 + erf(x/√2))/2
//
// With ġy the tangent of ȳ, φ(x) = exp(-x²/2)/√(2π) and f′ = Φ(x) + x·φ(x), the derivatives
// are
//
//	x̄ += f′·ȳ,  ẏ += f′·ẋ,  ġx += f′·ġy + (2 - x²)·φ(x)·ẋ·ȳ.
//
// It is the exact function, which is PyTorch's default, and not the approximation by tanh.
// In float64 the value is within 6 units in the last place, even for large negative x, where
// 1 + erf would lose all digits. f′ is within 7·2⁻⁵³·(Φ + |x·φ|). In float32 the bounds are
// 5 units and 3.2·2⁻²⁴·(Φ + |x·φ|). In fixed point both are within 0.51 units. At -Inf the value is
// 0, its limit.
//
// Source: D. Hendrycks and K. Gimpel, Gaussian Error Linear Units, arXiv 1606.08415.
type GELU[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

var geluFunction = elementwise.Function{
	Name:    "GELU",
	Float64: geluLoops[float64](),
	Float32: geluLoops[float32](),
	ByFloat: true,
	Rest:    true,
}

// geluCurves computes (2 - x²)·φ(x). Beyond 40, φ is 0.
func geluCurves[T rev.Float](d, x, y []T) {
	for i, v := range x {
		v = max(min(v, 40), -40)
		y[i] = -0.5 * v * v
		d[i] = (2 - T(v*v)) / T(math.Sqrt(2*math.Pi)) // as package cuda does
	}
	vec.Exp(y, y)
	vec.MulTo(d, d, y)
}

func geluLoops[T rev.Float]() elementwise.Loops[T] {
	return elementwise.Loops[T]{Both: vec.GELU[T], Add: vec.AddGELU[T], Curves: geluCurves[T]}
}

// geluRun is Run of GELU. It returns no error.
func geluRun[T rev.Real](k *GELU[T], p *rev.Pass[GELU[T]]) error {
	return elementwise.Run(&geluFunction, k, p)
}
