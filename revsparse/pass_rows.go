package revsparse

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/sparse"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// rows handles a block of rows of stepRows.
func (j *job[T, I]) rows(s *scratch[T], block int) {
	r0, r1 := j.cut(block), j.cut(block+1)
	switch j := any(j).(type) {
	case *job[float64, I]:
		vectorRows(j, any(s).(*scratch[float64]), block, r0, r1)
	case *job[float32, I]:
		vectorRows(j, any(s).(*scratch[float32]), block, r0, r1)
	case *job[fixed.Q43, I]:
		scalarRows(j, any(s).(*scratch[fixed.Q43]), block, r0, r1)
	case *job[complex128, I]:
		scalarRows(j, any(s).(*scratch[complex128]), block, r0, r1)
	}
}

// vectorRows handles a block in pieces, as many entries as a loop takes.
func vectorRows[T rev.Float, I Index](j *job[T, I], s *scratch[T], block, r0, r1 int) {
	p, cols, ptr := &j.p, max(j.p.u.Cols, j.p.v.Cols), j.p.a.Ptr
	var win *window[T]
	if p.w.Data != nil {
		win = &j.windows[block]
	}
	// One loop for both gradients, with sums that are not needed, is faster than two
	// loops.
	both := win != nil && p.ga != nil && p.out.Data == nil
	for i := r0; i < r1; {
		begin, rows := int(ptr[i]), pieceOf(ptr, i, r1)
		end := i + max(1, rows)
		// Where a piece adds to w does not depend on the other outputs, nor on how it is divided below.
		var w to[T]
		if rows > 0 {
			w = destination(j, win, begin, int(ptr[end]))
		}
		if rows > 0 && p.sum == nil && !both {
			var out []T
			if p.out.Data != nil {
				out = p.out.Data[i*p.out.Stride:]
			}
			vectorPiece(j, i, ptr[i+1:end+1], begin, out, p.out.Stride, p.alpha, w)
			i = end
			continue
		}
		// The sum needs s_i before the product with alpha. A row of more entries than a
		// loop takes is handled in parts.
		for ; i < end; i += rows {
			rows = min(end-i, pieceRows/cols)
			begin, last := int(ptr[i]), int(ptr[i+rows])
			var sums []T
			if p.out.Data != nil || p.sum != nil || both {
				sums = s.s[:rows*cols]
				clear(sums)
			}
			if last-begin <= sparse.MaxEntries {
				vectorPiece(j, i, ptr[i+1:i+rows+1], begin, sums, cols, 1, w)
			} else {
				for begin < last {
					next := min(begin+sparse.MaxEntries, last)
					vectorPiece(j, i, []I{I(next)}, begin, sums, cols, 1, destination(j, win, begin, next))
					begin = next
				}
			}
			for n := 0; sums != nil && n < rows; n++ {
				if ptr[i+n] == ptr[i+n+1] {
					continue
				}
				sum := sums[n*cols : (n+1)*cols]
				if p.out.Data != nil {
					vec.Axpy(p.alpha, sum, p.out.Row(i+n))
				}
				if p.sum != nil {
					j.sums[block] += vec.Dot(p.v.Row(i+n), sum)
				}
			}
		}
	}
}

// A to is where a piece adds to w: rows that are ld elements apart.
type to[T any] struct {
	rows []T
	ld   int
}

// destination returns where the entries from begin to end-1 add to w: in place, in win, or
// nowhere if there is no window.
func destination[T rev.Float, I Index](j *job[T, I], win *window[T], begin, end int) to[T] {
	p := &j.p
	if win == nil || begin == end {
		return to[T]{}
	}
	lo, hi := sparse.IndexRange(p.a.Ind[begin:end])
	if lo < 0 || int(hi) >= p.a.Cols {
		panic(p.a.outOfRange())
	}
	cols := p.w.Cols
	if w := win.span(int(lo)*cols, (int(hi)+1)*cols-1, nil); w != nil {
		return to[T]{w, cols}
	}
	return to[T]{p.w.Data, p.w.Stride}
}

// vectorPiece handles the entries from begin on of the rows from i on. It adds
// alpha·s_i to the rows of out, unless out is nil, and to w, unless that is nowhere. A
// cache keeps the entries between groups of columns.
func vectorPiece[T rev.Float, I Index](j *job[T, I], i int, end []I, begin int, out []T, ldo int, alpha T, w to[T]) {
	p, last := &j.p, int(end[len(end)-1])
	ind := p.a.Ind[begin:last]
	if len(ind) == 0 {
		return
	}
	cols := max(p.u.Cols, p.v.Cols)
	var a, ga []T
	if out != nil || w.rows != nil {
		a = p.a.Data[begin:last]
	}
	if p.ga != nil {
		ga = p.ga[begin:last]
	}
	var n int
	for lo := 0; lo < cols; lo += n {
		var u, v []T
		if p.u.Data != nil {
			u = p.u.Data[lo:]
		}
		if p.v.Data != nil {
			v = p.v.Data[i*p.v.Stride+lo:]
		}
		if w.rows != nil {
			n = sparse.SpreadCols[T](cols - lo)
		} else {
			n = sparse.Cols[T](cols - lo)
		}
		e := &sparse.Entries[T, I]{ // by its address, because a value would be copied
			End: end, Base: begin, Ind: ind, A: a,
			U: u, W: w.rows, V: v, Out: out, GA: ga,
			LdU: p.u.Stride, LdW: w.ld, LdV: p.v.Stride, LdOut: ldo, Alpha: alpha, Beta: p.beta, Gamma: p.gamma,
		}
		e.Columns(n)
		if w.rows != nil {
			w.rows = w.rows[n:]
		}
		if out != nil {
			out = out[n:]
		}
	}
}

// scalarRows handles a block of numbers without vector code.
func scalarRows[T rev.Number, I Index](j *job[T, I], s *scratch[T], block, r0, r1 int) {
	p, cols := &j.p, max(j.p.u.Cols, j.p.v.Cols)
	r := row[T, I]{alpha: p.alpha, gamma: p.gamma, u: p.u.Data, ldu: p.u.Stride, sign: p.outSign, flip: p.flip}
	r.scaled = p.sum == nil && (number.IsFixed[T]() || number.IsComplex[T]() && cols < wideRow)
	for i := r0; i < r1; i++ {
		b, e := int(p.a.Ptr[i]), int(p.a.Ptr[i+1])
		if b == e {
			continue
		}
		r.ind = p.a.Ind[b:e]
		if p.ga != nil {
			r.ga = p.ga[b:e]
		}
		if p.v.Data != nil {
			r.v = p.v.Row(i)
		}
		if p.out.Data != nil {
			r.out = p.out.Row(i)
		}
		if p.out.Data != nil || p.sum != nil {
			r.a = p.a.Data[b:e]
		}
		if r.a == nil || r.scaled {
			r.run(s)
			continue
		}
		// The sum needs s_i before the product with alpha.
		out := r.out
		r.out, r.alpha, r.sign = s.s[:cols], number.One[T](), 0
		clear(r.out)
		r.run(s)
		if out != nil {
			vector.AddScaled(p.outSign, p.alpha, rev.ViewSlice(r.out), rev.ViewSlice(out))
		}
		if p.sum != nil {
			j.sums[block] += dotConj(r.v, r.out, p.flip)
		}
		r.out, r.alpha, r.sign = out, p.alpha, p.outSign
	}
}

// A row is what a pass does for a row of a without vector code. out and a, or ga and v,
// may be nil. Element c of u_j is u[j*ldu+c]. Unless scaled is set, alpha is 1.
type row[T rev.Number, I Index] struct {
	out, a, ga, v, u []T
	ind              []I
	ldu              int
	alpha, gamma     T
	sign             int
	flip, scaled     bool
}

func (r *row[T, I]) run(s *scratch[T]) {
	switch r := any(r).(type) {
	case *row[fixed.Q43, I]:
		fixedRow(r, s.exact[:])
	case *row[complex128, I]:
		complexRow(r)
	}
}

func fixedRow[I Index](r *row[fixed.Q43, I], sums []fixed.Accumulator) {
	if r.out != nil {
		fixedpoint.AddRowSums(r.sign, r.alpha, r.a, r.ind, r.u, r.ldu, r.out, sums)
	}
	if r.ga != nil {
		fixedpoint.AddRowDots(r.gamma, r.v, r.ind, r.u, r.ldu, r.ga)
	}
}

// wideRow is the number of columns from which on a call of vector code pays for each entry of complex numbers.
const wideRow = 8

func complexRow[I Index](r *row[complex128, I]) {
	cols := max(len(r.out), len(r.v))
	if cols < wideRow {
		narrowRow(r)
		return
	}
	for q, i := range r.ind {
		u := r.u[int(i)*r.ldu:][:cols]
		if r.out != nil {
			vec.ComplexAxpy(conjIf(r.flip, r.a[q]), u, r.out)
		}
		if r.ga != nil {
			r.ga[q] += number.Times(r.gamma, conjIf(r.flip, vec.ComplexDot(u, r.v)))
		}
	}
}

// narrowRow is complexRow for few columns. A column is summed in registers, with the bits of vec.ComplexAxpy.
func narrowRow[I Index](r *row[complex128, I]) {
	if r.out != nil {
		turn := 1.0 // of the imaginary parts of the entries
		if r.flip {
			turn = -1
		}
		c := 0
		for ; c+1 < len(r.out); c += 2 {
			out := r.out[c : c+2]
			var re0, im0, re1, im1 float64
			for q, i := range r.ind {
				u := r.u[int(i)*r.ldu+c:][:2]
				are, aim := real(r.a[q]), turn*imag(r.a[q])
				re0 += float64(are*real(u[0])) - float64(aim*imag(u[0]))
				im0 += float64(are*imag(u[0])) + float64(aim*real(u[0]))
				re1 += float64(are*real(u[1])) - float64(aim*imag(u[1]))
				im1 += float64(are*imag(u[1])) + float64(aim*real(u[1]))
			}
			r.add(&out[0], complex(re0, im0))
			r.add(&out[1], complex(re1, im1))
		}
		if c < len(r.out) {
			var s complex128
			for q, i := range r.ind {
				s += number.Times(conjIf(r.flip, r.a[q]), r.u[int(i)*r.ldu+c])
			}
			r.add(&r.out[c], s)
		}
	}
	if r.ga == nil {
		return
	}
	for q, i := range r.ind {
		var re, im float64
		u := r.u[int(i)*r.ldu:][:len(r.v)]
		for c, v := range r.v {
			re += float64(real(u[c])*real(v)) + float64(imag(u[c])*imag(v))
			im += float64(real(u[c])*imag(v)) - float64(imag(u[c])*real(v))
		}
		r.ga[q] += number.Times(r.gamma, conjIf(r.flip, complex(re, im)))
	}
}

// add adds a sum, or alpha times it, to an output.
func (r *row[T, I]) add(out *T, s T) {
	if r.scaled {
		s = number.Mul(r.alpha, s)
	}
	*out += s
}

func conjIf(flip bool, z complex128) complex128 {
	if flip {
		return complex(real(z), -imag(z))
	}
	return z
}
