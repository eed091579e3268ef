package revlinalg

import (
	"math"

	"revnum/rev"
)

// A smallSystem is the system of Solve for a matrix and right sides of few elements, for which the blocks of
// luSystem take longer than the elements. P·A = L·U as in luFactor.
type smallSystem[T rev.Float] struct {
	n      int
	trans  bool
	pivots [smallOrder]int            // row i was exchanged with row pivots[i], in this order
	lu     [smallOrder * smallOrder]T // L below the diagonal, U on it and above
	x      [smallOrder * smallOrder]T // a solution in progress
}

// smallOrder bounds the rows and columns of A and B.
const smallOrder = 8

// factor computes the factors of A. It returns false if A is singular to working precision, as
// checkPivots says.
func (s *smallSystem[T]) factor(a rev.General[T]) bool {
	n := a.Rows
	s.n = n
	lu := s.lu[:n*n]
	var norms [smallOrder]T // largest magnitudes of the columns of A
	for i := range n {
		row, to := a.Row(i)[:n], lu[i*n:][:n]
		for j, v := range row {
			to[j], norms[j] = v, max(norms[j], abs(v))
		}
	}
	limit := 1 / (T(n) * epsilon[T]())
	for j := range n {
		pivot, largest := j, uint64(0)
		for i := j; i < n; i++ {
			// As in factorColumn: NaN is the largest.
			if b := math.Float64bits(float64(lu[i*n+j])) << 1; b > largest {
				pivot, largest = i, b
			}
		}
		s.pivots[j] = pivot
		top := lu[j*n:][:n]
		if pivot > j {
			for l, v := range lu[pivot*n:][:n] {
				top[l], lu[pivot*n+l] = v, top[l]
			}
		}
		u := top[j]
		if c := norms[j] / abs(u); u == 0 || c >= limit && isFinite(float64(norms[j])) {
			return false
		}
		for i := j + 1; i < n; i++ {
			row := lu[i*n:][:n]
			f := row[j] / u
			row[j] = f
			for l := j + 1; l < n; l++ {
				row[l] -= T(f * top[l])
			}
		}
	}
	return true
}

// exchange exchanges rows i and j of c elements of x.
func exchange[T any](x []T, c, i, j int) {
	if i != j {
		a, b := x[i*c:][:c], x[j*c:][:c]
		for l := range a {
			a[l], b[l] = b[l], a[l]
		}
	}
}

func (s *smallSystem[T]) apply(b rev.General[T], trans bool, y rev.General[T], alpha T, x rev.General[T]) {
	n, c := s.n, b.Cols
	w := s.x[:n*c]
	for i := range n {
		copy(w[i*c:][:c], b.Row(i))
	}
	if trans == s.trans {
		for i, p := range s.pivots[:n] {
			exchange(w, c, i, p)
		}
		for i := 1; i < n; i++ { // L
			s.eliminate(w, c, i, 0, i, s.lu[i*n:], 1)
		}
		for i := n - 1; i >= 0; i-- { // U
			s.eliminate(w, c, i, i+1, n, s.lu[i*n:], 1)
			s.divide(w[i*c:][:c], i)
		}
	} else {
		for i := range n { // Uᵀ
			s.eliminate(w, c, i, 0, i, s.lu[i:], n)
			s.divide(w[i*c:][:c], i)
		}
		for i := n - 2; i >= 0; i-- { // Lᵀ
			s.eliminate(w, c, i, i+1, n, s.lu[i:], n)
		}
		for i := n - 1; i >= 0; i-- {
			exchange(w, c, i, s.pivots[i])
		}
	}
	for i := range n {
		row := w[i*c:][:c]
		if x.Data != nil {
			for j, to := 0, x.Row(i); j < c; j++ {
				to[j] += T(alpha * row[j])
			}
		}
		if y.Data != nil {
			copy(y.Row(i), row)
		}
	}
}

// eliminate subtracts f_l times row l of w from row i, for l in [lo, hi). f_l is element l·inc of f.
func (s *smallSystem[T]) eliminate(w []T, c, i, lo, hi int, f []T, inc int) {
	row := w[i*c:][:c]
	for l := lo; l < hi; l++ {
		v, from := f[l*inc], w[l*c:][:len(row)]
		for j := range row {
			row[j] -= T(v * from[j])
		}
	}
}

// divide divides a row by element i of the diagonal.
func (s *smallSystem[T]) divide(row []T, i int) {
	u := s.lu[i*s.n+i]
	for j := range row {
		row[j] /= u
	}
}

func (s *smallSystem[T]) subtractProduct(dst, ta rev.General[T], trans bool, x rev.General[T]) {
	for i := 0; i < s.n && ta.Data != nil; i++ {
		row := dst.Row(i)
		for l := range s.n {
			v := ta.Data[i*ta.Stride+l]
			if trans != s.trans {
				v = ta.Data[l*ta.Stride+i]
			}
			from := x.Row(l)[:len(row)]
			for j := range row {
				row[j] -= T(v * from[j])
			}
		}
	}
}

func (s *smallSystem[T]) subtractOuter(ga, z, y rev.General[T]) {
	if s.trans {
		z, y = y, z
	}
	for i := 0; i < s.n && ga.Data != nil; i++ {
		row, zi := ga.Row(i), z.Row(i)
		for l := range row {
			yl, sum := y.Row(l)[:len(zi)], T(0)
			for j, v := range zi {
				sum += T(v * yl[j])
			}
			row[l] -= sum
		}
	}
}
