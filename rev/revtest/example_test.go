package revtest_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
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
		*k.Y += T(T(p.Sign()) * sum)
	}
	if t.Y != nil {
		*t.Y += T(T(p.Sign()) * dot)
	}
	return nil
}

// This is a kernel. The zero Spec suits it:
//
//	func TestSquares(t *testing.T) { revtest.Kernel(t, revtest.Spec[Squares[float64]]{}) }
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
