package revlinalg

import (
	"fmt"
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// A UnitarityError says that a matrix U is neither orthogonal nor unitary. It is the
// largest magnitude of an element of UᴴU - I, or NaN.
type UnitarityError float64

// Error returns a message with the number.
func (e UnitarityError) Error() string {
	return fmt.Sprintf("revlinalg: matrix is not unitary: an element of UᴴU - I is %.3g", float64(e))
}

// maxDefect is the largest defect that is no UnitarityError: some roundings of float32.
const maxDefect = 1e-6

// OrthogonalAngles returns the angles of an orthogonal matrix, such that
//
//	Q = diag(1, ..., 1, sign)·U(θ)
//
// with U(θ) as in Unitary, in the triangular or rectangular order. The determinant of
// U(θ) is 1, so sign = ±1 is that of Q. Angles are in [-π, π]. It panics
// unless Q is square. It returns a UnitarityError if an element of QᵀQ -
// I is above 1e-6. For smaller defects U(θ) is orthogonal, and about N times as far
// from Q as the defect.
//
// Each angle makes an element of Q zero. The triangular order does this by rotations of
// columns (Reck et al. 1994). The rectangular order does it by rotations of columns and
// rows in turn, so that zeros grow from a corner (Clements et al. 2016).
func OrthogonalAngles(q mat.Matrix, rectangular bool) (theta []float64, sign float64, err error) {
	n, c := q.Dims()
	if n != c {
		panic(rev.Misuse[Unitary[float64]](mat.ErrSquare, "the matrix", "is %d×%d", n, c))
	}
	if n == 0 {
		return nil, 1, nil
	}
	a := mat.DenseCopyOf(q)
	var gram mat.Dense
	gram.Mul(a.T(), a)
	for i := range n {
		gram.Set(i, i, gram.At(i, i)-1)
	}
	defect := floats.Norm(gram.RawMatrix().Data, math.Inf(1)) // NaN if an element is
	if !(defect <= maxDefect) {
		return nil, 0, UnitarityError(defect)
	}
	sign = 1
	if mat.Det(a) < 0 {
		sign = -1
		last := a.RawRowView(n - 1)
		for j, v := range last {
			last[j] = -v
		}
	}
	m := mesh{n, rectangular}
	theta = make([]float64, n*(n-1)/2)
	at := mat.DenseCopyOf(a.T()) // rotations of rows of at are of columns of a
	rotate := func(x *mat.Dense, i int, angle float64) {
		s, c := math.Sincos(angle)
		a, b := x.RawRowView(i), x.RawRowView(i+1)
		for j, v := range a {
			a[j], b[j] = float64(c*v)-float64(s*b[j]), float64(s*v)+float64(c*b[j])
		}
	}
	if !rectangular {
		for p := m.before(0); p.next(m.chains()); {
			t := math.Atan2(-at.At(p.row+1, p.chain), at.At(p.row, p.chain))
			rotate(at, p.row, t)
			theta[m.angle(p.chain, p.row)] = t
		}
		return theta, sign, nil
	}
	for d := 1; d < n; d++ {
		if d%2 != 0 {
			for i := d - 1; i >= 0; i-- {
				r := n - d + i
				t := math.Atan2(at.At(i, r), at.At(i+1, r))
				rotate(at, i, t)
				theta[m.angle(d/2, i)] = t
			}
			continue
		}
		a.Copy(at.T())
		for i := n - 1 - d; i < n-1; i++ {
			c := i - (n - 1 - d)
			t := math.Atan2(-a.At(i+1, c), a.At(i, c))
			rotate(a, i, t)
			theta[m.angle(n-1-d/2, i)] = -t
		}
		at.Copy(a.T())
	}
	return theta, sign, nil
}

// OrthogonalMatrix returns diag(1, ..., 1, sign)·U(θ) with n rows. It panics
// unless there are n(n-1)/2 angles.
func OrthogonalMatrix(n int, theta []float64, sign float64, rectangular bool) *mat.Dense {
	x := rev.NewGeneral[float64](n, n, nil)
	for i := range n {
		x.Data[i*n+i] = 1
	}
	Unitary[float64]{X: x, Theta: rev.ViewSlice(theta), Rectangular: rectangular}.Forward()
	if n == 0 {
		return &mat.Dense{}
	}
	last := x.Row(n - 1)
	for j, v := range last {
		last[j] = v * sign
	}
	return mat.NewDense(n, n, x.Data)
}

// UnitaryAngles returns the angles and phases of a unitary matrix, such that U is
// U(θ, φ, δ) of ComplexUnitary in the triangular or rectangular order. Angles are
// in [-π/2, π/2] and phases in [-π, π]. It panics unless U is
// square, and returns a UnitarityError if an element of UᴴU - I is above 1e-6.
//
// The method is that of OrthogonalAngles. In the rectangular order the phases are then
// moved across the rotations of rows (Clements et al. 2016, eq. 5). With P(φ) the
// diagonal matrix of e^iφ and 1,
//
//	P(-φ)·R(-θ)·diag(d, e) = diag(e^-iφ·e, e)·R(-θ)·P(arg d - arg e).
func UnitaryAngles(u mat.CMatrix, rectangular bool) (theta, phi, delta []float64, err error) {
	n, c := u.Dims()
	if n != c {
		panic(rev.Misuse[ComplexUnitary](mat.ErrSquare, "the matrix", "is %d×%d", n, c))
	}
	a := make([][]complex128, n)
	for i := range a {
		a[i] = make([]complex128, n)
		for j := range a[i] {
			a[i][j] = u.At(i, j)
		}
	}
	if defect := unitarityDefect(a); !(defect <= maxDefect) {
		return nil, nil, nil, UnitarityError(defect)
	}
	m := mesh{n, rectangular}
	theta, phi, delta = make([]float64, n*(n-1)/2), make([]float64, n*(n-1)/2), make([]float64, n)

	// columns multiplies by the inverse of a rotation with phase from the right,
	// and rows by the rotation from the left.
	columns := func(i, index int, angle, phase float64) {
		theta[index], phi[index] = angle, phase
		s, c := math.Sincos(angle)
		e := cmplx.Rect(1, -phase)
		for _, row := range a {
			v, w := e*row[i], row[i+1]
			row[i], row[i+1] = complex128(complex(c, 0)*v)-complex128(complex(s, 0)*w), complex128(complex(s, 0)*v)+complex128(complex(c, 0)*w)
		}
	}
	rows := func(i, index int, angle, phase float64) {
		theta[index], phi[index] = angle, phase
		s, c := math.Sincos(angle)
		e := cmplx.Rect(1, phase)
		for j, v := range a[i] {
			v, w := e*v, a[i+1][j]
			a[i][j], a[i+1][j] = complex128(complex(c, 0)*v)-complex128(complex(s, 0)*w), complex128(complex(s, 0)*v)+complex128(complex(c, 0)*w)
		}
	}
	if rectangular {
		for d := 1; d < n; d++ {
			if d%2 != 0 {
				for i := d - 1; i >= 0; i-- {
					v, w := a[n-d+i][i], a[n-d+i][i+1]
					columns(i, m.angle(d/2, i), math.Atan2(cmplx.Abs(v), cmplx.Abs(w)), wrap(cmplx.Phase(v)-cmplx.Phase(w)))
				}
				continue
			}
			for i := n - 1 - d; i < n-1; i++ {
				v, w := a[i][i-(n-1-d)], a[i+1][i-(n-1-d)]
				rows(i, m.angle(n-1-d/2, i), -math.Atan2(cmplx.Abs(w), cmplx.Abs(v)), wrap(cmplx.Phase(w)-cmplx.Phase(v)))
			}
		}
	} else {
		for p := m.before(0); p.next(m.chains()); {
			v, w := a[p.chain][p.row], a[p.chain][p.row+1]
			columns(p.row, m.angle(p.chain, p.row), -math.Atan2(cmplx.Abs(w), cmplx.Abs(v)), wrap(cmplx.Phase(v)-cmplx.Phase(w)))
		}
	}
	for i := range delta {
		delta[i] = cmplx.Phase(a[i][i])
	}
	if rectangular {
		// Rotations of rows, the last one first.
		for d := (n - 1) / 2 * 2; d > 0; d -= 2 {
			for i := n - 2; i >= n-1-d; i-- {
				index := m.angle(n-1-d/2, i)
				phase := phi[index]
				theta[index], phi[index] = -theta[index], wrap(delta[i]-delta[i+1])
				delta[i] = wrap(delta[i+1] - phase)
			}
		}
	}
	return theta, phi, delta, nil
}

// wrap returns x without full turns, an angle in [-π, π].
func wrap(x float64) float64 { return math.Remainder(x, 2*math.Pi) }

// unitarityDefect returns the largest magnitude in UᴴU - I.
func unitarityDefect(u [][]complex128) float64 {
	defect := 0.
	gram := make([]complex128, len(u))
	for i := range u {
		clear(gram)
		gram[i] = -1
		for _, row := range u {
			v := cmplx.Conj(row[i])
			for j, w := range row {
				gram[j] += complex128(v * w)
			}
		}
		for _, v := range gram {
			defect = max(defect, cmplx.Abs(v))
		}
	}
	return defect
}

// UnitaryMatrix returns U(θ, φ, δ) of ComplexUnitary with N rows, the number of
// elements of δ. It panics unless θ and φ have N(N-1)/2.
func UnitaryMatrix(theta, phi, delta []float64, rectangular bool) *mat.CDense {
	n := len(delta)
	x := rev.NewGeneral[complex128](n, n, nil)
	for i := range n {
		x.Data[i*n+i] = 1
	}
	ComplexUnitary{
		X: x, Theta: rev.ViewSlice(theta), Phi: rev.ViewSlice(phi), Delta: rev.ViewSlice(delta), Rectangular: rectangular,
	}.Forward()
	if n == 0 {
		return &mat.CDense{}
	}
	return mat.NewCDense(n, n, x.Data)
}
