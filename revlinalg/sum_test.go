package revlinalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func sumSpec[T rev.Real]() revtest.Spec[Sum[T]] {
	return revtest.Spec[Sum[T]]{
		New:  func(rnd *rand.Rand, size int) Sum[T] { return Sum[T]{Out: new(T), X: vectorOf[T](rnd, size)} },
		Free: []string{"X.N"},
	}
}

func TestSum(t *testing.T) {
	kernels(t, sumSpec[float32](), sumSpec[float64](), sumSpec[fixed.Q43]())
}

func TestSumValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	m := mat.NewDense(50, 2, normals[float64](rnd, 100, 1))
	x := m.ColView(1).(*mat.VecDense)
	out := 1.0
	NewSum(&out, x).Forward()
	if want := 1 + mat.Sum(x); !(math.Abs(out-want) <= 1e-13) {
		t.Errorf("got %v, want %v", out, want)
	}
}

// Fixed-point sums do not depend on their order, nor on what wraps on the way.
func ExampleSum_fixed() {
	big := fixed.FromInt(1 << 19)
	tenth := fixed.MustParse("0.1")
	var a, b fixed.Q43
	Sum[fixed.Q43]{Out: &a, X: rev.ViewSlice([]fixed.Q43{big, big, tenth, -big, -big})}.Forward()
	Sum[fixed.Q43]{Out: &b, X: rev.ViewSlice([]fixed.Q43{-big, big, -big, big, tenth})}.Forward()
	fmt.Println(a == tenth, b == tenth)
	// Output:
	// true true
}

func ExampleSum() {
	x, gx := mat.NewVecDense(3, []float64{1, 2, 3}), mat.NewVecDense(3, nil)
	out, gout := 0.0, 5.0
	k := NewSum(&out, x)
	k.Forward()
	fmt.Println(out)
	k.Adjoint(NewSum(&gout, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 6
	// 0 [5 5 5]
}
