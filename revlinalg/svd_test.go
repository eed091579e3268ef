package revlinalg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
)

// spread returns an m×n matrix with singular values of about 1, 2, ....
func spread[T rev.Float](rnd *rand.Rand, m, n int) rev.General[T] {
	a := rev.NewGeneral(m, n, normals[T](rnd, m*n, 1./8))
	for i, p := range rnd.Perm(min(m, n)) {
		a.Row(i)[i] += T(p + 1)
	}
	return a
}

func svdSpec[T rev.Float](more int) revtest.Spec[SVD[T]] {
	return revtest.Spec[SVD[T]]{
		New: func(rnd *rand.Rand, size int) SVD[T] {
			m, n := size+max(more, 0), size-min(more, 0)
			return SVD[T]{
				U: matrixOf[T](rnd, m, size), S: vectorOf[T](rnd, size), V: matrixOf[T](rnd, n, size),
				A: spread[T](rnd, m, n),
			}
		},
		Sizes:     []int{0, 1, 2, 3, 5, 12},
		RoundTrip: 4, // the sum may be larger than either
		Step:      0x1p-12,
	}
}

func TestSVD(t *testing.T) {
	for _, more := range []int{0, 2, -3} {
		t.Run(fmt.Sprintf("more=%d", more), func(t *testing.T) { revtest.Fallible(t, svdSpec[float64](more)) })
	}
	t.Run("float32", func(t *testing.T) {
		spec := svdSpec[float32](1)
		spec.Step = 0x1p-7
		revtest.Fallible(t, spec)
	})
}

func TestSVDValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 1))
	for _, s := range [][2]int{{1, 1}, {5, 3}, {3, 5}, {40, 40}} {
		m, n, r := s[0], s[1], min(s[0], s[1])
		a := mat.NewDense(m, n, normals[float64](rnd, m*n, 1))
		var f mat.SVD
		if !f.Factorize(a, mat.SVDThin) {
			t.Fatal("gonum finds no singular values")
		}
		u, sigma, v := mat.NewDense(m, r, nil), mat.NewVecDense(r, nil), mat.NewDense(n, r, nil)
		if err := NewSVD(u, sigma, v, a).Forward(); err != nil {
			t.Fatal(err)
		}
		for i, want := range f.Values(nil) {
			if !near(sigma.AtVec(i), want, 1e-13) {
				t.Errorf("%d×%d: singular value %d is %v, want %v", m, n, i, sigma.AtVec(i), want)
			}
		}
		var us, b mat.Dense
		us.Mul(u, mat.NewDiagDense(r, sigma.RawVector().Data))
		b.Mul(&us, v.T())
		if !mat.EqualApprox(&b, a, 1e-12) {
			t.Errorf("%d×%d: U·S·Vᵀ is not A", m, n)
		}
	}
}

// The polar factor U·Vᵀ has a derivative where singular values are equal, which
// is that of matrices near by.
func TestSVDDegenerate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 2))
	q, _ := twice(rnd)
	b := mat.NewDense(4, 4, normals[float64](rnd, 16, 1))
	gradient := func(values []float64) []float64 {
		var a mat.Dense
		a.Product(q, mat.NewDiagDense(4, values), mat.NewDiagDense(4, []float64{1, -1, 1, 1}))
		k := SVD[float64]{U: rev.NewGeneral[float64](4, 4, nil), V: rev.NewGeneral[float64](4, 4, nil), A: rev.ViewDense(&a)}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		var gu, gv mat.Dense // of ⟨B, U·Vᵀ⟩
		gu.Mul(b, mat.NewDense(4, 4, k.V.Data))
		gv.Mul(b.T(), mat.NewDense(4, 4, k.U.Data))
		ga := rev.NewGeneral[float64](4, 4, nil)
		if err := k.Adjoint(SVD[float64]{U: rev.ViewDense(&gu), V: rev.ViewDense(&gv), A: ga}); err != nil {
			t.Fatal(err)
		}
		return ga.Data
	}
	got, want := gradient([]float64{1, 2, 2, 5}), gradient([]float64{1, 2, 2 + 1e-7, 5})
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-5) {
			t.Errorf("derivative %v by element %d, %v near by", got[i], i, want[i])
		}
	}
}

func TestSVDError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 3))
	q, _ := twice(rnd)
	double := new(mat.Dense)
	double.Mul(q, mat.NewDiagDense(4, []float64{1, 2, 2, 5}))
	singular := rev.NewGeneral[float64](4, 4, nil)
	singular.Row(2)[3] = 7
	for i, a := range []rev.General[float64]{rev.ViewDense(double), singular} {
		like := func(a rev.General[float64]) SVD[float64] {
			return SVD[float64]{U: matrixOf[float64](rnd, 4, 4), S: vectorOf[float64](rnd, 4), V: matrixOf[float64](rnd, 4, 4), A: a}
		}
		k, g := like(a), like(matrixOf[float64](rnd, 4, 4))
		for name, f := range map[string]func() error{
			"Adjoint": func() error { return k.Adjoint(g) },
			"Tangent": func() error { return k.Tangent(g) },
		} {
			all := func() []float64 {
				return slices.Concat(k.U.Data, k.S.Data, k.V.Data, g.U.Data, g.S.Data, g.V.Data, g.A.Data)
			}
			before := all()
			err := f()
			var e *Degenerate
			var c mat.Condition
			if i == 0 && (!errors.As(err, &e) || e.I != 1 || e.J != 2) || i == 1 && !errors.As(err, &c) {
				t.Errorf("matrix %d, %s: error %v", i, name, err)
			}
			if !slices.Equal(before, all()) {
				t.Errorf("matrix %d, %s: operands are written", i, name)
			}
		}
		if err := errors.Join(k.Forward(), k.Inverse()); err != nil {
			t.Error(err)
		}
	}
}

// The condition of a matrix of zeros is infinite, too.
func TestSVDZero(t *testing.T) {
	k := SVD[float64]{A: rev.NewGeneral[float64](3, 2, nil)}
	err := k.Adjoint(SVD[float64]{S: rev.ViewSlice([]float64{1, 2}), A: rev.NewGeneral[float64](3, 2, nil)})
	var c mat.Condition
	if !errors.As(err, &c) || !math.IsInf(float64(c), 1) {
		t.Errorf("error %v", err)
	}
}

func ExampleSVD() {
	a := mat.NewDense(2, 2, []float64{
		0, 3,
		2, 0,
	})
	u, s, v := mat.NewDense(2, 2, nil), mat.NewVecDense(2, nil), mat.NewDense(2, 2, nil)
	if err := NewSVD(u, s, v, a).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", s.RawVector().Data)
	// Output:
	// [3.000 2.000]
}
