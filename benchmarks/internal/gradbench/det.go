package gradbench

import (
	"encoding/json"
	"fmt"
	"math/bits"

	"revnum/rev"
	"revnum/revlinalg"
)

// A recursion expands the determinant of an n×n matrix as the eval describes it: along the first
// row of each minor, and each minor again wherever it occurs, which takes n! products. With S the
// columns of a minor of the last s rows,
//
//	D(S) = Σ_{j∈S} ±a_{n-s,j}·D(S∖j),  D({j}) = a_{n-1,j}.
//
// The cotangent of a minor is the product of the elements on the way to it, ±a·a···, which is known
// before the minor. One recursion therefore computes the value and adds the gradient:
//
//	ā_{n-s,j} += ±D̄(S)·D(S∖j),  D̄(S∖j) = ±D̄(S)·a_{n-s,j}.
//
// revlinalg.DetMinors computes each minor once.
type recursion struct {
	n           int
	a, gradient []row
	value       float64
}

// maxRecursion is the largest number of rows. 14! products take minutes.
const maxRecursion = 14

// A row has room for all columns. An index modulo its length needs no check.
type row [16]float64

// first and last return the first and the last column of a set.
func first(set uint) int { return bits.TrailingZeros(set) % len(row{}) }
func last(set uint) int  { return (bits.Len(set) - 1) % len(row{}) }

// three returns the minor of columns i, j and k of three rows.
func three(x, y, z *row, i, j, k int) float64 {
	return x[i]*(y[j]*z[k]-y[k]*z[j]) - x[j]*(y[i]*z[k]-y[k]*z[i]) + x[k]*(y[i]*z[j]-y[j]*z[i])
}

// minor returns D(set), where a has the rows of the minor.
func minor(a []row, set uint) float64 {
	switch len(a) {
	case 1:
		return a[0][first(set)]
	case 2:
		x, y, j, k := &a[0], &a[1], first(set), last(set)
		return x[j]*y[k] - x[k]*y[j]
	case 3:
		return three(&a[0], &a[1], &a[2], first(set), first(set&(set-1)), last(set))
	case 4: // The loop below, written out. Compilers may share products that occur twice here.
		x, y, z, w := &a[0], &a[1], &a[2], &a[3]
		rest := set & (set - 1)
		i, j, k, l := first(set), first(rest), first(rest&(rest-1)), last(set)
		return x[i]*three(y, z, w, j, k, l) - x[j]*three(y, z, w, i, k, l) + x[k]*three(y, z, w, i, j, l) - x[l]*three(y, z, w, i, j, k)
	}
	sum, sign := 0.0, 1.0
	for rest := set; rest != 0; rest &= rest - 1 {
		sum += sign * a[0][first(rest)] * minor(a[1:], set^rest&-rest)
		sign = -sign
	}
	return sum
}

// adjoint returns D(set), and adds what its cotangent bar gives to the gradient g. a and g have the rows
// of the minor.
func adjoint(a, g []row, set uint, bar float64) float64 {
	g = g[:len(a)]
	switch len(a) {
	case 1:
		g[0][first(set)] += bar
		return a[0][first(set)]
	case 2:
		x, y, gx, gy, j, k := &a[0], &a[1], &g[0], &g[1], first(set), last(set)
		gx[j] += bar * y[k]
		gx[k] -= bar * y[j]
		gy[j] -= bar * x[k]
		gy[k] += bar * x[j]
		return x[j]*y[k] - x[k]*y[j]
	case 3:
		gx, gy, gz := &g[0], &g[1], &g[2]
		i, j, k := first(set), first(set&(set-1)), last(set)
		x0, x1, x2, y0, y1, y2, z0, z1, z2 := a[0][i], a[0][j], a[0][k], a[1][i], a[1][j], a[1][k], a[2][i], a[2][j], a[2][k]
		m0, m1, m2 := y1*z2-y2*z1, y0*z2-y2*z0, y0*z1-y1*z0
		gx[i] += bar * m0
		gx[j] -= bar * m1
		gx[k] += bar * m2
		b0, b1, b2 := bar*x0, bar*x1, bar*x2 // D̄ of the three minors, but for the sign
		gy[i] += b2*z1 - b1*z2
		gy[j] += b0*z2 - b2*z0
		gy[k] += b1*z0 - b0*z1
		gz[i] += b1*y2 - b2*y1
		gz[j] += b2*y0 - b0*y2
		gz[k] += b0*y1 - b1*y0
		return x0*m0 - x1*m1 + x2*m2
	}
	sum, sign := 0.0, 1.0
	for rest := set; rest != 0; rest &= rest - 1 {
		j := first(rest)
		v := sign * adjoint(a[1:], g[1:], set^rest&-rest, sign*bar*a[0][j])
		g[0][j] += bar * v
		sum += a[0][j] * v
		sign = -sign
	}
	return sum
}

// detPrimal evaluates the determinant of a square matrix by the recursion.
func detPrimal(input json.RawMessage, _ int) (evaluation, error) {
	r, err := parseRecursion(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumber(func() { r.value = minor(r.a, 1<<r.n-1) }, &r.value), nil
}

// detGradient evaluates the gradient of the determinant with respect to the elements.
func detGradient(input json.RawMessage, _ int) (evaluation, error) {
	r, err := parseRecursion(input)
	if err != nil {
		return evaluation{}, err
	}
	r.gradient = make([]row, r.n)
	out := make([]float64, r.n*r.n)
	call := func() {
		clear(r.gradient)
		r.value = adjoint(r.a, r.gradient, 1<<r.n-1, 1)
		for i := range r.gradient {
			copy(out[i*r.n:][:r.n], r.gradient[i][:])
		}
	}
	return toNumbers(call, out), nil
}

func parseRecursion(input json.RawMessage) (*recursion, error) {
	n, a, err := parseDet(input, maxRecursion, "ell!")
	if err != nil {
		return nil, err
	}
	r := &recursion{n: n, a: make([]row, n)}
	for i := range r.a {
		copy(r.a[i][:n], a[i*n:])
	}
	return r, nil
}

// minorsPrimal evaluates the determinant by shared minors.
func minorsPrimal(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseMinors(input)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		*k.Out = 0
		k.Forward()
	}
	return toNumber(call, k.Out), nil
}

// minorsGradient evaluates the gradient by shared minors.
func minorsGradient(input json.RawMessage, _ int) (evaluation, error) {
	k, err := parseMinors(input)
	if err != nil {
		return evaluation{}, err
	}
	k.Out = nil // nothing to uncompute
	one := 1.
	gradient := make([]float64, len(k.A.Data))
	g := revlinalg.DetMinors[float64]{Out: &one, A: rev.NewGeneral(k.A.Rows, k.A.Cols, gradient)}
	call := func() {
		clear(gradient)
		k.Adjoint(g)
	}
	return toNumbers(call, gradient), nil
}

func parseMinors(input json.RawMessage) (k revlinalg.DetMinors[float64], err error) {
	n, a, err := parseDet(input, revlinalg.MaxMinors, "ell·2^ell")
	if err != nil {
		return k, err
	}
	return revlinalg.DetMinors[float64]{Out: new(float64), A: rev.NewGeneral(n, n, a)}, nil
}

// parseDet reads a matrix of at most most rows, for which the determinant takes so many products.
func parseDet(input json.RawMessage, most int, products string) (n int, a []float64, err error) {
	var in struct {
		A   numbers
		Ell *int
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return 0, nil, err
	}
	switch {
	case in.A == nil:
		return 0, nil, missing("A")
	case in.Ell == nil:
		return 0, nil, missing("ell")
	}
	n = *in.Ell
	if n < 1 || n > most {
		return 0, nil, fmt.Errorf("ell: expected 1 to %d rows, as there are %s products, found %d", most, products, n)
	}
	if len(in.A) != n*n {
		return 0, nil, fmt.Errorf("matrix A: expected %d numbers, found %d", n*n, len(in.A))
	}
	return n, in.A, nil
}
