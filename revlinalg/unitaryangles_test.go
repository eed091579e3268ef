package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"revnum/internal/kerneltest"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revlinalg"
)

// randomOrthogonal returns a matrix from the uniform distribution, with the sign
// of the determinant that is asked for.
func randomOrthogonal(rnd *rand.Rand, n int, sign float64) *mat.Dense {
	a := mat.NewDense(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	if mat.Det(&q)*sign < 0 {
		for j := range n {
			q.Set(0, j, -q.At(0, j))
		}
	}
	return &q
}

func TestOrthogonalAngles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	check := func(name string, q *mat.Dense, want float64, rectangular bool) {
		t.Helper()
		n, _ := q.Dims()
		before := mat.DenseCopyOf(q)
		theta, sign, err := revlinalg.OrthogonalAngles(q, rectangular)
		if err != nil || sign != want || !mat.Equal(q, before) {
			t.Fatalf("%s: sign %v, want %v, error %v", name, sign, want, err)
		}
		for i, v := range theta {
			if !(math.Abs(v) <= math.Pi) {
				t.Errorf("%s: angle %d is %v", name, i, v)
			}
		}
		if u := revlinalg.OrthogonalMatrix(n, theta, sign, rectangular); !mat.EqualApprox(u, q, 1e-12) {
			t.Errorf("%s: U(θ) is not Q, but\n%v\nwant\n%v", name, mat.Formatted(u), mat.Formatted(q))
		}
	}
	for _, rectangular := range []bool{false, true} {
		for n := 1; n <= 100; n += 1 + n/8 {
			for _, sign := range []float64{1, -1} {
				check(fmt.Sprintf("n=%d rectangular=%v sign=%v", n, rectangular, sign), randomOrthogonal(rnd, n, sign), sign, rectangular)
			}
			// Permutations have nothing but zeros and ones to rotate.
			p := mat.NewDense(n, n, nil)
			for i, j := range rnd.Perm(n) {
				p.Set(i, j, float64(1-2*rnd.IntN(2)))
			}
			check(fmt.Sprintf("permutation of %d, rectangular=%v", n, rectangular), p, math.Round(mat.Det(p)), rectangular)
		}
	}
	if theta, sign, err := revlinalg.OrthogonalAngles(&mat.Dense{}, true); len(theta) != 0 || sign != 1 || err != nil {
		t.Errorf("no rows: %v, %v, %v", theta, sign, err)
	}
}

// The transpose of a view, and a bare matrix, are matrices too.
func TestOrthogonalAnglesViews(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 2))
	q := randomOrthogonal(rnd, 5, 1)
	big := mat.NewDense(9, 9, nil)
	view := big.Slice(2, 7, 3, 8).(*mat.Dense)
	view.Copy(q.T())
	want, _, _ := revlinalg.OrthogonalAngles(q, true)
	got, _, err := revlinalg.OrthogonalAngles(view.T(), true)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestUnitaryAngles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 3))
	check := func(name string, u *mat.CDense, rectangular bool) {
		t.Helper()
		n, _ := u.Dims()
		theta, phi, delta, err := revlinalg.UnitaryAngles(u, rectangular)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range theta {
			if !(math.Abs(theta[i]) <= math.Pi/2) || !(math.Abs(phi[i]) <= math.Pi) {
				t.Errorf("%s: angle and phase %d are %v and %v", name, i, theta[i], phi[i])
			}
		}
		v := revlinalg.UnitaryMatrix(theta, phi, delta, rectangular)
		for i := range n {
			for j := range n {
				if !(cmplx.Abs(v.At(i, j)-u.At(i, j)) <= 1e-12) {
					t.Fatalf("%s: element %d, %d of U(θ, φ, δ) is %v, want %v", name, i, j, v.At(i, j), u.At(i, j))
				}
			}
		}
	}
	for _, rectangular := range []bool{false, true} {
		for n := 1; n <= 64; n += 1 + n/8 {
			name := fmt.Sprintf("n=%d rectangular=%v", n, rectangular)
			check(name, randomUnitaryMatrix(rnd, n), rectangular)
			p := mat.NewCDense(n, n, nil)
			for i, j := range rnd.Perm(n) {
				p.Set(i, j, []complex128{1, -1, 1i, -1i}[rnd.IntN(4)])
			}
			check(name+", permutation", p, rectangular)
		}
	}
}

// randomUnitaryMatrix returns a matrix from the uniform distribution, by
// orthogonalising normal columns twice.
func randomUnitaryMatrix(rnd *rand.Rand, n int) *mat.CDense {
	cols := make([][]complex128, n)
	for j := range cols {
		v := make([]complex128, n)
		for i := range v {
			v[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
		}
		for range 2 {
			for _, u := range cols[:j] {
				var dot complex128
				for i := range v {
					dot += cmplx.Conj(u[i]) * v[i]
				}
				for i := range v {
					v[i] -= dot * u[i]
				}
			}
		}
		norm := 0.
		for _, c := range v {
			norm += real(c)*real(c) + imag(c)*imag(c)
		}
		for i := range v {
			v[i] /= complex(math.Sqrt(norm), 0)
		}
		cols[j] = v
	}
	u := mat.NewCDense(n, n, nil)
	for j, v := range cols {
		for i := range v {
			u.Set(i, j, v[i])
		}
	}
	return u
}

func TestAnglesErrors(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		q    *mat.Dense
		want float64
	}{
		{mat.NewDense(2, 2, []float64{1, 0.5, 0, 1}), 0.5},
		{mat.NewDense(2, 2, []float64{1, 0, 0, 0}), 1},
		{mat.NewDense(2, 2, []float64{1, nan, 0, 1}), nan},
	} {
		for _, rectangular := range []bool{false, true} {
			var e revlinalg.UnitarityError
			if _, _, err := revlinalg.OrthogonalAngles(test.q, rectangular); !errors.As(err, &e) || fmt.Sprint(float64(e)) != fmt.Sprint(test.want) {
				t.Errorf("%v: error %v, want one with %v", test.q.RawMatrix().Data, err, test.want)
			}
			u := mat.NewCDense(2, 2, nil)
			for i := range 2 {
				for j := range 2 {
					u.Set(i, j, complex(0, test.q.At(i, j)))
				}
			}
			if _, _, _, err := revlinalg.UnitaryAngles(u, rectangular); !errors.As(err, &e) || fmt.Sprint(float64(e)) != fmt.Sprint(test.want) {
				t.Errorf("%v times i: error %v, want one with %v", test.q.RawMatrix().Data, err, test.want)
			}
		}
	}
	for name, f := range map[string]func(){
		"OrthogonalAngles": func() { _, _, _ = revlinalg.OrthogonalAngles(mat.NewDense(2, 3, nil), false) },
		"UnitaryAngles":    func() { _, _, _, _ = revlinalg.UnitaryAngles(mat.NewCDense(2, 3, nil), false) },
	} {
		func() {
			defer func() {
				if v, ok := recover().(*rev.OperandError); !ok || !errors.Is(v, mat.ErrSquare) {
					t.Errorf("%s of a matrix that is not square: %v, want %v", name, v, mat.ErrSquare)
				}
			}()
			f()
		}()
	}
}
