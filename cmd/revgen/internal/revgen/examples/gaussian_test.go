package examples

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
)

// gaussianSpec has matrices that are positive definite, and others that are not.
func gaussianSpec[T rev.Float]() revtest.Spec[Gaussian[T]] {
	problem := func(rnd *rand.Rand, n int, diagonal T) Gaussian[T] {
		a := gen[T](rnd, n, n, 0.2, 0)
		for i := range n {
			a.Data[i*a.Stride+i] += diagonal
		}
		return Gaussian[T]{Loss: scalar[T](0.5), L: rev.NewGeneral(n, n, make([]T, n*n)), Y: rev.NewGeneral(n, n+1, make([]T, n*(n+1))), A: a, X: gen[T](rnd, n, n+1, 1, 0)}
	}
	return revtest.Spec[Gaussian[T]]{
		New:     func(rnd *rand.Rand, n int) Gaussian[T] { return problem(rnd, n, 3) },
		Failing: func(rnd *rand.Rand, n int) Gaussian[T] { return problem(rnd, n+1, -3) },
		Sizes:   []int{0, 1, 2, 5}, RoundTrip: 1000, Adjoint: 1e4, Difference: max(1e-6, 2000*eps[T]()),
	}
}

func TestGaussian(t *testing.T) { revtest.Kernel(t, gaussianSpec[float64]()) }

// Value and gradient are those of the density with gonum's inverse:
//
//	loss = ½·tr(Xᵀ·A⁻¹·X) + m/2·log det A,  X̄ = A⁻¹·X,  Ā = m/2·A⁻¹ - ½·X̄·X̄ᵀ,
//
// where an element above the diagonal counts twice.
func TestGaussianGradient(t *testing.T) {
	const n, m = 4, 5
	k := gaussianSpec[float64]().New(rand.New(rand.NewPCG(1, 2)), n)
	*k.Loss = 0
	one := 1.0
	g := Gaussian[float64]{Loss: &one, A: rev.NewGeneral(n, n, make([]float64, n*n)), X: rev.NewGeneral(n, m, make([]float64, n*m))}
	if err := rev.Gradient(k, g); err != nil {
		t.Fatal(err)
	}
	for i, v := range append(k.L.Data, k.Y.Data...) {
		if v != 0 {
			t.Errorf("number %d of L and Y is %v", i, v)
		}
	}
	a := mat.NewSymDense(n, k.A.Data)
	x := mat.NewDense(n, m, k.X.Data)
	var inv, gx, outer mat.Dense
	if err := inv.Inverse(a); err != nil {
		t.Fatal(err)
	}
	gx.Mul(&inv, x)
	outer.Mul(&gx, gx.T())
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-13*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	var product mat.Dense
	product.Mul(x.T(), &gx)
	near("the loss", *k.Loss, product.Trace()/2+m*math.Log(mat.Det(a))/2)
	for i := range n {
		for j := range m {
			near("an element of the gradient by X", g.X.Row(i)[j], gx.At(i, j))
		}
		for j := range n {
			want := m*inv.At(i, j)/2 - outer.At(i, j)/2
			if j > i {
				want *= 2
			} else if j < i {
				want = 0
			}
			near("an element of the gradient by A", g.A.Row(i)[j], want)
		}
	}

	k.A.Data[n+1] = -1
	before := *k.Loss
	err := k.Forward()
	if e := (*rev.NotPositiveDefiniteError)(nil); !errors.As(err, &e) || e.Row != 1 || *k.Loss != before {
		t.Errorf("the error is %v, the loss was %v and is %v", err, before, *k.Loss)
	}
}

func BenchmarkGaussian(b *testing.B) {
	const n = 100
	k, g := gaussianSpec[float64]().New(rand.New(rand.NewPCG(1, 2)), n), gaussianSpec[float64]().New(rand.New(rand.NewPCG(1, 3)), n)
	for i := range n {
		k.A.Data[i*n+i] += 10
	}
	for name, pass := range map[string]func() error{"Forward": k.Forward, "Adjoint": func() error { return k.Adjoint(g) }} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := pass(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
