package revlinalg

import (
	"math/bits"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/workspace"
	"revnum/rev"
)

// DetMinors is the kernel
//
//	Out += det A
//
// of a square matrix of at most 24 rows, by expansion by minors. D(S) is the minor of
// the columns in S and the last s rows, where s is the size of S:
//
//	D(∅) = 1,  D(S) = Σ_{j∈S} ±a_{n-s,j}·D(S∖j),  det A = D({0, ..., n-1}),
//
// where the signs alternate over S, beginning with plus. This is Laplace's expansion
// along the first row of each minor. Each of the 2ⁿ minors is computed once, which
// takes n·2^(n-1) products instead of the n! of the recursion. The derivatives take
// the same sums from the last to the first: D̄({0, ..., n-1}) = Ōut, and
//
//	ā_{n-s,j} += ±D(S∖j)·D̄(S),  D̄(S∖j) += ±a_{n-s,j}·D̄(S),
//
// so that Adjoint takes three times the products of Forward. Nothing is divided, so
// singular matrices are no special case, and the kernel is exact over fixed point too.
// For more than about ten rows Det is faster, at n³ operations.
//
// A call needs 2ⁿ elements of memory each for the minors, their cotangents, and the
// tangents of both, as far as they are needed.
//
// In floating point the result is within n²·ε times the permanent of |A|. It overflows
// or underflows if a minor does. In fixed point each product is rounded to nearest, and
// the result is meaningful if all minors are below 2²⁰.
type DetMinors[T rev.Real] struct {
	Out *T             `rev:"acc"`
	A   rev.General[T] `rev:"in" shape:"n,n"`
}

// MaxMinors is the largest number of rows that DetMinors takes.
const MaxMinors = 24

// detMinorsRun is Run of DetMinors. It returns no error.
func detMinorsRun[T rev.Real](k *DetMinors[T], p *rev.Pass[DetMinors[T]]) error {
	if k.A.Rows > MaxMinors {
		panic(rev.ShapeError[DetMinors[T]]("A", "has %d rows, want at most %d", k.A.Rows, MaxMinors))
	}
	sign := T(p.Sign())
	w := workspace.Get[*minors[T]]()
	det := w.expand(k.A)
	if k.Out != nil {
		*k.Out += T(sign * det)
	}
	if p.T.A.Data != nil {
		dot := w.expandTangent(k.A, p.T.A)
		if p.T.Out != nil {
			*p.T.Out += T(sign * dot)
		}
	}
	if p.G.Out != nil && p.G.A.Data != nil {
		w.gradient(k.A, p.G.A, *p.G.Out)
	}
	if p.GT.A.Data != nil {
		w.gradientTangent(k.A, p.T.A, p.GT.A, number.ValueOf(p.G.Out), number.ValueOf(p.GT.Out))
	}
	workspace.Put(w)
	return nil
}

// minors are the minors of A by the set of their columns, as bits, with their
// tangents, cotangents, and the tangents of these.
type minors[T rev.Real] struct {
	d, td, bar, tbar []T
}

// expand computes d, and returns det A.
func (w *minors[T]) expand(a rev.General[T]) T {
	n := a.Rows
	w.d = workspace.Grow(w.d, 1<<n)
	w.d[0] = fixed.Of[T](1)
	for set := 1; set < 1<<n; set++ {
		row := a.Row(n - bits.OnesCount(uint(set)))
		sum := T(0)
		for rest, minus := set, false; rest != 0; rest, minus = rest&(rest-1), !minus {
			p := fixed.Product(row[bits.TrailingZeros(uint(rest))], w.d[set&^(rest&-rest)])
			if minus {
				p = -p
			}
			sum += p
		}
		w.d[set] = sum
	}
	return w.d[1<<n-1]
}

// expandTangent computes td, after expand, and returns the tangent of det A.
func (w *minors[T]) expandTangent(a, ta rev.General[T]) T {
	n := a.Rows
	w.td = workspace.Grow(w.td, 1<<n)
	w.td[0] = 0
	for set := 1; set < 1<<n; set++ {
		i := n - bits.OnesCount(uint(set))
		row, trow := a.Row(i), ta.Row(i)
		sum := T(0)
		for rest, minus := set, false; rest != 0; rest, minus = rest&(rest-1), !minus {
			j, less := bits.TrailingZeros(uint(rest)), set&^(rest&-rest)
			p := fixed.Product(trow[j], w.d[less]) + fixed.Product(row[j], w.td[less])
			if minus {
				p = -p
			}
			sum += p
		}
		w.td[set] = sum
	}
	return w.td[1<<n-1]
}

// gradient adds to Ā, after expand.
func (w *minors[T]) gradient(a, ga rev.General[T], out T) {
	n := a.Rows
	w.bar = workspace.Zeros(w.bar, 1<<n)
	w.bar[1<<n-1] = out
	for set := 1<<n - 1; set > 0; set-- {
		i := n - bits.OnesCount(uint(set))
		row, grow := a.Row(i), ga.Row(i)
		bar := w.bar[set]
		for rest := set; rest != 0; rest &= rest - 1 {
			j, less := bits.TrailingZeros(uint(rest)), set&^(rest&-rest)
			grow[j] += fixed.Product(bar, w.d[less])
			w.bar[less] += fixed.Product(bar, row[j])
			bar = -bar
		}
	}
}

// gradientTangent adds to the tangent of Ā, after expand and, unless Ȧ is nil, after
// expandTangent.
func (w *minors[T]) gradientTangent(a, ta, gta rev.General[T], out, tout T) {
	n := a.Rows
	w.bar, w.tbar = workspace.Zeros(w.bar, 1<<n), workspace.Zeros(w.tbar, 1<<n)
	w.bar[1<<n-1], w.tbar[1<<n-1] = out, tout
	for set := 1<<n - 1; set > 0; set-- {
		i := n - bits.OnesCount(uint(set))
		row, grow := a.Row(i), gta.Row(i)
		bar, tbar := w.bar[set], w.tbar[set]
		for rest := set; rest != 0; rest &= rest - 1 {
			j, less := bits.TrailingZeros(uint(rest)), set&^(rest&-rest)
			grow[j] += fixed.Product(tbar, w.d[less])
			w.bar[less] += fixed.Product(bar, row[j])
			w.tbar[less] += fixed.Product(tbar, row[j])
			if ta.Data != nil {
				grow[j] += fixed.Product(bar, w.td[less])
				w.tbar[less] += fixed.Product(bar, ta.Row(i)[j])
			}
			bar, tbar = -bar, -tbar
		}
	}
}
