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
	n        int
	a        []float64
	value    float64
	gradient []float64
}

// maxRecursion is the largest number of rows. 14! products take minutes.
const maxRecursion = 14

// minor returns D(set), of s columns.
func (r *recursion) minor(s int, set uint) float64 {
	row := r.a[(r.n-s)*r.n:][:r.n]
	switch s {
	case 1:
		return row[bits.TrailingZeros(set)]
	case 2:
		next, j, k := r.a[(r.n-1)*r.n:][:r.n], bits.TrailingZeros(set), bits.Len(set)-1
		return row[j]*next[k] - row[k]*next[j]
	case 3:
		y, z := r.a[(r.n-2)*r.n:][:r.n], r.a[(r.n-1)*r.n:][:r.n]
		i, j, k := bits.TrailingZeros(set), bits.TrailingZeros(set&(set-1)), bits.Len(set)-1
		return row[i]*(y[j]*z[k]-y[k]*z[j]) - row[j]*(y[i]*z[k]-y[k]*z[i]) + row[k]*(y[i]*z[j]-y[j]*z[i])
	}
	sum, sign := 0.0, 1.0
	for rest := set; rest != 0; rest &= rest - 1 {
		sum += sign * row[bits.TrailingZeros(rest)] * r.minor(s-1, set^rest&-rest)
		sign = -sign
	}
	return sum
}

// adjoint returns D(set), of s columns, and adds what its cotangent bar gives to the gradient.
func (r *recursion) adjoint(s int, set uint, bar float64) float64 {
	row, grow := r.a[(r.n-s)*r.n:][:r.n], r.gradient[(r.n-s)*r.n:][:r.n]
	switch s {
	case 1:
		j := bits.TrailingZeros(set)
		grow[j] += bar
		return row[j]
	case 2:
		j, k := bits.TrailingZeros(set), bits.Len(set)-1
		next, gnext := r.a[(r.n-1)*r.n:][:r.n], r.gradient[(r.n-1)*r.n:][:r.n]
		grow[j] += bar * next[k]
		grow[k] -= bar * next[j]
		gnext[j] -= bar * row[k]
		gnext[k] += bar * row[j]
		return row[j]*next[k] - row[k]*next[j]
	}
	sum, sign := 0.0, 1.0
	for rest := set; rest != 0; rest &= rest - 1 {
		j := bits.TrailingZeros(rest)
		v := sign * r.adjoint(s-1, set^rest&-rest, sign*bar*row[j])
		grow[j] += bar * v
		sum += row[j] * v
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
	return toNumber(func() { r.value = r.minor(r.n, 1<<r.n-1) }, &r.value), nil
}

// detGradient evaluates the gradient of the determinant with respect to the elements.
func detGradient(input json.RawMessage, _ int) (evaluation, error) {
	r, err := parseRecursion(input)
	if err != nil {
		return evaluation{}, err
	}
	r.gradient = make([]float64, len(r.a))
	call := func() {
		clear(r.gradient)
		r.value = r.adjoint(r.n, 1<<r.n-1, 1)
	}
	return toNumbers(call, r.gradient), nil
}

func parseRecursion(input json.RawMessage) (*recursion, error) {
	n, a, err := parseDet(input, maxRecursion, "ell!")
	return &recursion{n: n, a: a}, err
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
