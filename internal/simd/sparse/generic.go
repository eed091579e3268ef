package sparse

import "revnum/internal/simd/cpu"

// The pure-Go loops. Without assembly, these are the only loops. With it, they are the
// reference of its tests.

func (e *Entries[T, I]) genericColumns(n int) {
	if e.Out != nil {
		e.genericRows(n)
	}
	if e.GA != nil {
		e.genericDots(n)
	}
	if e.W != nil {
		e.genericSpread(n)
	}
}

func (e *Entries[T, I]) genericRows(n int) {
	var buf [mostCols]T
	sum := buf[:n]
	q := 0
	for i, end := range e.End {
		if q == int(end)-e.Base {
			continue
		}
		clear(sum)
		for ; q+1 < int(end)-e.Base; q += 2 { // two at a time save loads and stores of sum
			a, b := e.A[q], e.A[q+1]
			x, y := e.U[int(e.Ind[q])*e.LdU:][:n], e.U[int(e.Ind[q+1])*e.LdU:][:n]
			for c, s := range sum {
				s += T(a * x[c])
				sum[c] = s + T(b*y[c])
			}
		}
		if q < int(end)-e.Base {
			addScaled(sum, e.A[q], e.U[int(e.Ind[q])*e.LdU:])
			q++
		}
		addScaled(e.Out[i*e.LdOut:][:n], e.Alpha, sum)
	}
}

func (e *Entries[T, I]) genericDots(n int) {
	q := 0
	for i, end := range e.End {
		for ; q < int(end)-e.Base; q++ {
			u := e.U[int(e.Ind[q])*e.LdU:][:n]
			var dot T
			for c, x := range e.V[i*e.LdV:][:n] {
				dot += T(x * u[c])
			}
			e.GA[q] += T(e.Gamma * dot)
		}
	}
}

func (e *Entries[T, I]) genericSpread(n int) {
	var buf [mostCols]T
	scaled := buf[:n]
	q := 0
	for i, end := range e.End {
		for c, x := range e.V[i*e.LdV:][:n] {
			scaled[c] = T(e.Beta * x)
		}
		for ; q < int(end)-e.Base; q++ {
			addScaled(e.W[int(e.Ind[q])*e.LdW:][:n], e.A[q], scaled)
		}
	}
}

// addScaled computes y += alpha·x for the elements of y.
func addScaled[T cpu.Float](y []T, alpha T, x []T) {
	x = x[:len(y)]
	for c, v := range x {
		y[c] += T(alpha * v)
	}
}

func (e *Entries[T, I]) genericColumn() {
	u, w, out := e.U, e.W, e.Out // not read again after each store
	q := 0
	for i, end := range e.End {
		first := q
		q = int(end) - e.Base
		ind := e.Ind[first:q]
		if out != nil {
			a := e.A[first:][:len(ind)]
			var sum T
			for p, at := range ind {
				sum += T(a[p] * u[at])
			}
			out[i] += T(e.Alpha * sum)
		}
		if e.GA != nil {
			g, to := T(e.Gamma*e.V[i]), e.GA[first:][:len(ind)]
			for p, at := range ind {
				to[p] += T(g * u[at])
			}
		}
		if w != nil {
			f, a := T(e.Beta*e.V[i]), e.A[first:][:len(ind)]
			for p, at := range ind {
				w[at] += T(a[p] * f)
			}
		}
	}
}

func (e *Entries[T, I]) genericPairs() bool {
	q := 0
	for i, end := range e.End {
		f, g := T(e.Beta*e.V[i]), T(e.Gamma*e.V[i])
		var sum T
		for ; q < int(end)-e.Base; q++ {
			if uint(e.Ind[q]) >= uint(len(e.U)/2) {
				return false
			}
			uw := e.U[2*int(e.Ind[q]):][:2]
			sum += T(e.A[q] * uw[0])
			uw[1] += T(e.A[q] * f)
			if e.GA != nil {
				e.GA[q] += T(g * uw[0])
			}
		}
		e.Out[i] += T(e.Alpha * sum)
	}
	return true
}

func genericIndexRange[I Index](ind []I) (lo, hi I) {
	lo, hi = ind[0], ind[0]
	for _, i := range ind {
		lo, hi = min(lo, i), max(hi, i)
	}
	return lo, hi
}
