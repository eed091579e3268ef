package revsparse

import (
	"revnum/internal/workspace"
	"revnum/rev"
)

// A system is a matrix A, or its transpose, for which A·X = B can be solved. Matrices are
// stored by columns, in numbers of the type D. Values of tangents and cotangents are those
// at the entries of A, in numbers of the type T.
type system[T, D rev.Float] interface {
	// solve replaces X by A⁻¹·X, or by A⁻ᵀ·X.
	solve(x []D, trans bool) error
	// subMul computes Y -= Ȧ·X, or Y -= Ȧᵀ·X.
	subMul(y []D, ta []T, x []D, trans bool)
	// subOuter computes Ā -= Λ·Xᵀ at the entries of A.
	subOuter(ga []T, lambda, x []D)
}

// equation has the operands of a kernel X += A⁻¹·B.
type equation[T rev.Float] struct {
	x rev.General[T]
	a []T
	b rev.General[T]
}

// solutions are X = A⁻¹·B, Λ = A⁻ᵀ·X̄, and their tangents.
type solutions[D rev.Float] struct{ x, dx, lambda, dlambda []D }

// solveSystem makes a pass of a kernel X += A⁻¹·B. If a solution fails, it writes nothing.
func solveSystem[T, D rev.Float](s system[T, D], w *solutions[D], sign int, k, g, t, gt equation[T]) (err error) {
	n, c := k.b.Rows, k.b.Cols
	gradient := g.x.Data != nil && (g.a != nil || g.b.Data != nil)
	second := (g.x.Data != nil || gt.x.Data != nil) && (gt.a != nil || gt.b.Data != nil)
	tangent := second || t.x.Data != nil && (t.a != nil || t.b.Data != nil)

	if k.x.Data != nil || tangent || g.a != nil || !gradient {
		w.x = columns(w.x, k.b, n, c)
		err = s.solve(w.x, false)
	}
	if err == nil && tangent {
		w.dx = columns(w.dx, t.b, n, c)
		if t.a != nil {
			s.subMul(w.dx, t.a, w.x, false)
		}
		err = s.solve(w.dx, false)
	}
	if err == nil && (gradient || second) {
		w.lambda = columns(w.lambda, g.x, n, c)
		err = s.solve(w.lambda, true)
	}
	if err == nil && second {
		w.dlambda = columns(w.dlambda, gt.x, n, c)
		if t.a != nil {
			s.subMul(w.dlambda, t.a, w.lambda, true)
		}
		err = s.solve(w.dlambda, true)
	}
	if err != nil {
		return err
	}

	if gradient {
		addColumns(g.b, 1, w.lambda)
		if g.a != nil {
			s.subOuter(g.a, w.lambda, w.x)
		}
	}
	if second {
		addColumns(gt.b, 1, w.dlambda)
		if gt.a != nil {
			s.subOuter(gt.a, w.dlambda, w.x)
			s.subOuter(gt.a, w.lambda, w.dx)
		}
	}
	addColumns(k.x, D(sign), w.x)
	if tangent {
		addColumns(t.x, D(sign), w.dx)
	}
	return nil
}

// column returns x as a matrix of one column, sharing its storage.
func column[T any](x rev.Vector[T]) rev.General[T] {
	return rev.General[T]{Rows: x.N, Cols: 1, Data: x.Data, Stride: x.Inc}
}

// columns returns the elements of m by columns, or zeros if m is nil, in the storage of
// dst.
func columns[D, T rev.Float](dst []D, m rev.General[T], rows, cols int) []D {
	dst = workspace.Zeros(dst, rows*cols)
	if m.Data != nil && rows > 0 {
		for j := range cols {
			load(dst[j*rows:(j+1)*rows], rev.Vector[T]{N: rows, Data: m.Data[j:], Inc: m.Stride}, rows)
		}
	}
	return dst
}

// addColumns computes m += alpha·x for x by columns. It does nothing if m is nil.
func addColumns[D, T rev.Float](m rev.General[T], alpha D, x []D) {
	for j := 0; j < m.Cols && m.Rows > 0 && m.Data != nil; j++ {
		accumulate(rev.Vector[T]{N: m.Rows, Data: m.Data[j:], Inc: m.Stride}, alpha, x[j*m.Rows:(j+1)*m.Rows])
	}
}

// entries are the entries of a matrix A, or of Aᵀ, for subMul and subOuter. Entries with
// side·(j-i) < least do not count.
type entries[T, D rev.Float, I Index] struct {
	a           CSR[T, I]
	trans       bool
	side, least int
}

func (e *entries[T, D, I]) subMul(y []D, data []T, x []D, trans bool) {
	n, ptr := e.a.Rows, e.a.Ptr
	trans = trans != e.trans
	for ; len(y) > 0; y, x = y[n:], x[n:] {
		for i := range n {
			for p := ptr[i]; p < ptr[i+1]; p++ {
				j, v := e.a.Ind[p], D(data[p])
				switch {
				case e.side*(int(j)-i) < e.least:
				case trans:
					y[j] -= D(v * x[i])
				default:
					y[i] -= D(v * x[j])
				}
			}
		}
	}
}

func (e *entries[T, D, I]) subOuter(data []T, lambda, x []D) {
	if len(x) == 0 {
		return
	}
	if e.trans {
		lambda, x = x, lambda
	}
	n, ptr := e.a.Rows, e.a.Ptr
	for i := range n {
		ind, row := e.a.Ind[ptr[i]:ptr[i+1]], data[ptr[i]:ptr[i+1]]
		row = row[:len(ind)]
		f := lambda[i]
		for q, j := range ind {
			if e.side*(int(j)-i) < e.least {
				continue
			}
			s := D(f * x[j])
			for at := n; at < len(x); at += n {
				s += D(lambda[at+i] * x[at+int(j)])
			}
			row[q] -= T(s)
		}
	}
}
