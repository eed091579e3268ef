package revtest_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
)

// Squares is the kernel y += Σ x_i², with the derivatives
//
//	x̄_i += 2·x_i·ȳ,  ẏ += Σ 2·x_i·ẋ_i,  ġx_i += 2·x_i·ġy + 2·ẋ_i·ȳ
//
// where ġy is the tangent of ȳ.
type Squares[T rev.Float] struct {
	Y *T            `rev:"acc"`
	X rev.Vector[T] `rev:"in" shape:"n"`
}

func (k Squares[T]) Run(p rev.Pass[Squares[T]]) error {
	g, t, gt := p.G, p.T, p.GT
	var sum, dot T
	for i := range k.X.N {
		x, dx := k.X.Data[i*k.X.Inc], T(0)
		sum += T(x * x)
		if t.X.Data != nil {
			dx = t.X.Data[i*t.X.Inc]
			dot += T(2 * x * dx)
		}
		if g.Y != nil && g.X.Data != nil {
			g.X.Data[i*g.X.Inc] += T(2 * x * *g.Y)
		}
		if gt.Y != nil && gt.X.Data != nil {
			gt.X.Data[i*gt.X.Inc] += T(2 * x * *gt.Y)
		}
		if g.Y != nil && gt.X.Data != nil {
			gt.X.Data[i*gt.X.Inc] += T(2 * dx * *g.Y)
		}
	}
	if k.Y != nil {
		*k.Y += T(p.Sign()) * sum
	}
	if t.Y != nil {
		*t.Y += T(p.Sign()) * dot
	}
	return nil
}

// squares says how to test the kernel. The test is
//
//	func TestSquares(t *testing.T) { revtest.Kernel(t, squares) }
var squares = revtest.Spec[Squares[float64]]{
	New: func(rnd *rand.Rand, size int) Squares[float64] {
		x := make([]float64, size)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		return Squares[float64]{Y: new(float64), X: rev.ViewSlice(x)}
	},
}

// This is a kernel with its Spec. A test calls revtest.Kernel on the Spec.
func ExampleKernel() {
	x := mat.NewVecDense(3, []float64{1, 2, 3})
	gx := mat.NewVecDense(3, nil)
	y, gy := 0.0, 1.0

	k := Squares[float64]{Y: &y, X: rev.ViewVec(x)}
	g := Squares[float64]{Y: &gy, X: rev.ViewVec(gx)}
	if err := rev.Gradient(k, g); err != nil {
		fmt.Println(err)
	}
	fmt.Println("Σx² =", y, "with the gradient", gx.RawVector().Data)
	if err := rev.Inverse(k); err != nil {
		fmt.Println(err)
	}
	fmt.Println("y =", y, "again")
	// Output:
	// Σx² = 14 with the gradient [2 4 6]
	// y = 0 again
}
