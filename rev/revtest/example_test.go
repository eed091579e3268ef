package revtest_test

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
)

// Squares is the kernel y += Σ x_i².
type Squares[T rev.Float] struct {
	Y *T            `rev:"acc"`
	X rev.Vector[T] `rev:"in"`
}

// value returns Σ x_i².
func (k Squares[T]) value() T {
	var s T
	for i := range k.X.N {
		x := k.X.Data[i*k.X.Inc]
		s += T(x * x)
	}
	return s
}

func (k Squares[T]) Forward() {
	rev.Check(&k)
	*k.Y += k.value()
}

func (k Squares[T]) Inverse() {
	rev.Check(&k)
	*k.Y -= k.value()
}

// Adjoint computes y -= Σ x_i², x̄_i += 2·x_i·ȳ.
func (k Squares[T]) Adjoint(g Squares[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &g)
	if k.Y != nil {
		*k.Y -= k.value()
	}
	if g.X.Data == nil || g.Y == nil {
		return
	}
	for i := range k.X.N {
		g.X.Data[i*g.X.Inc] += T(2 * k.X.Data[i*k.X.Inc] * *g.Y)
	}
}

// Tangent computes y += Σ x_i², ẏ += Σ 2·x_i·ẋ_i.
func (k Squares[T]) Tangent(t Squares[T]) {
	rev.Check(&k)
	rev.CheckLike(&k, &t)
	*k.Y += k.value()
	if t.X.Data == nil || t.Y == nil {
		return
	}
	var d T
	for i := range k.X.N {
		d += T(2 * k.X.Data[i*k.X.Inc] * t.X.Data[i*t.X.Inc])
	}
	*t.Y += d
}

// squares says how to test the kernel; the test is
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
	Free: []string{"X.N"}, // no other operand has a length
}

// A kernel with its Spec, on which a test calls revtest.Kernel.
func ExampleKernel() {
	x := mat.NewVecDense(3, []float64{1, 2, 3})
	gx := mat.NewVecDense(3, nil)
	y, gy := 0.0, 1.0

	k := Squares[float64]{Y: &y, X: rev.ViewVec(x)}
	k.Forward()
	fmt.Println("Σx² =", y)
	k.Adjoint(Squares[float64]{Y: &gy, X: rev.ViewVec(gx)})
	fmt.Println("gradient", gx.RawVector().Data, "and y =", y, "again")
	// Output:
	// Σx² = 14
	// gradient [2 4 6] and y = 0 again
}
