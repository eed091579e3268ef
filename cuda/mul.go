package cuda

import (
	"unsafe"

	"revnum/rev"
)

// Mul is the kernel
//
//	C += α·op(A)·B
//
// of revsparse.Mul, where A is sparse and op(A) is A or, if Trans is set, its transpose. A nil Alpha
// stands for 1. The derivatives are, with Ā only at the entries of A,
//
//	op(Ā) += α·C̄·Bᵀ,  B̄ += α·op(A)ᵀ·C̄,  ᾱ += Σ_ij C̄_ij·(op(A)·B)_ij
//	Ċ += α̇·op(A)·B + α·op(Ȧ)·B + α·op(A)·Ḃ
//
// and the tangents of these are of second order.
//
// With one column, t threads share the entries of a row, and their sums are added up in the order of
// a tree. t is a power of two: of the mean number of entries in a row, it is at most half, but at
// least 1 and at most 32. Adjoint computes Ā in the same launch as C, and Tangent Ċ. With more
// columns, a warp of threads computes a row, and each thread has columns of its own.
//
// Rows of more than 32·t entries are cut into pieces of 256 entries. Two more launches do them: a warp sums a
// piece, and a warp adds up the pieces of a row, in a fixed order. These rows do not count for the mean. [NewCSR]
// cuts rows on the host. The structure of the transpose, which gradients of B and products with Aᵀ need, is
// computed there when it is first wanted. Both are kept until A is freed.
//
// In floating point an element of op(A)·B, of r terms, is within (r+6)·ε times the sum of their
// magnitudes, and within (r/t+7)·ε if there is one column and the row is not cut. If it is cut, an element is
// within (r/8192+21)·ε with one column, and within (r/8192+264)·ε with more. Over Q43 all passes have the bits of
// the CPU, except for ᾱ. It is the sum of the products of A's elements with their gradients for
// α = 1.
type Mul[T rev.Real] struct {
	C     General[T] `rev:"acc" shape:"Trans ? k,n : m,n"`
	Alpha *T         `rev:"in,optional"`
	A     CSR[T]     `rev:"in" shape:"m,k"`
	B     General[T] `rev:"in" shape:"Trans ? m,n : k,n"`
	Trans bool
}

// Run implements rev.Kernel. It returns the errors of the device. It panics if A has
// values or row pointers of another number than its structure.
func (k Mul[T]) Run(p rev.Pass[Mul[T]]) error {
	if len(k.A.Data) != len(k.A.Ind) || len(k.A.Ptr) != k.A.Rows+1 {
		panic(rev.ShapeError[Mul[T]]("A", "has %d values, %d columns and %d row pointers for %d rows", len(k.A.Data), len(k.A.Ind), len(k.A.Ptr), k.A.Rows))
	}
	w := begin(&k, &p)
	g, t, gt, sign := &p.G, &p.T, &p.GT, p.Sign()
	m := product[T]{pass: &w, a: k.A}
	if len(k.A.Ind) == 0 || k.B.Cols == 0 {
		return w.end()
	}
	m.op = structureOf(&w, k.A, k.Trans)
	if g.B.Data != nil || gt.B.Data != nil {
		m.opT = structureOf(&w, k.A, !k.Trans)
	}
	m.own = m.op
	if k.Trans {
		m.own = structureOf(&w, k.A, false)
	}
	if pieces := max(m.op.pieces, m.opT.pieces); pieces > 0 {
		m.part = w.room(2, max(3, k.B.Cols)*pieces*sumBytes[T]())
	}
	if g.Alpha != nil || gt.Alpha != nil {
		m.scratch = memoryAt[T](w.room(1, len(k.A.Ind)*int(unsafe.Sizeof(*new(T)))), len(k.A.Ind))
	}
	ga := g.A.Data // unless it is computed with C
	switch together := k.B.Cols == 1 && (!isFixed[T]() || !k.Trans); {
	case together && t.C.Data != nil:
		m.column(tangentPass, column[T]{c: k.C, b: k.B, tc: t.C, tb: t.B, a: k.A.Data, ta: t.A.Data, alpha: k.Alpha, talpha: t.Alpha}, m.op, sign)
	case together && g.C.Data != nil && ga != nil:
		m.column(adjointPass, column[T]{c: k.C, b: k.B, gc: g.C, a: k.A.Data, ga: ga, alpha: k.Alpha}, m.op, sign)
		ga = nil
	default:
		m.add(k.C, sign, k.Alpha, m.op, k.A.Data, k.B)
		m.add(t.C, sign, k.Alpha, m.op, t.A.Data, k.B)
		m.add(t.C, sign, k.Alpha, m.op, k.A.Data, t.B)
		if t.Alpha != nil {
			m.add(t.C, sign, t.Alpha, m.op, k.A.Data, k.B)
		}
	}
	k.addGradients(&m, k.Alpha, k.A.Data, k.B, g.C, g.B, ga, g.Alpha)
	k.addGradients(&m, k.Alpha, k.A.Data, k.B, gt.C, gt.B, gt.A.Data, gt.Alpha)
	k.addGradients(&m, k.Alpha, t.A.Data, k.B, g.C, gt.B, nil, gt.Alpha)
	k.addGradients(&m, k.Alpha, k.A.Data, t.B, g.C, General[T]{}, gt.A.Data, gt.Alpha)
	if t.Alpha != nil {
		k.addGradients(&m, t.Alpha, k.A.Data, k.B, g.C, gt.B, gt.A.Data, nil)
	}
	return w.end()
}

// addGradients adds to gb, ga and galpha the cotangents of the factors of α·op(A)·b, whose
// cotangent is gc. It leaves out what is nil.
func (k *Mul[T]) addGradients(m *product[T], alpha *T, a Memory[T], b, gc, gb General[T], ga Memory[T], galpha *T) {
	if gc.Data == nil {
		return
	}
	m.add(gb, 1, alpha, m.opT, a, gc)
	if b.Data == nil {
		return
	}
	u, v := gc, b
	if k.Trans {
		u, v = b, gc
	}
	if ga != nil {
		m.sample(ga, alpha, u, v)
	}
	if galpha != nil && a != nil {
		// ᾱ is the product of the values with their gradients for α = 1.
		zero(m.pass, m.scratch)
		m.sample(m.scratch, nil, u, v)
		addDot(m.pass, galpha, 1, Vector[T]{len(a), a, 1}, Vector[T]{len(a), m.scratch, 1})
	}
}

// A product is a pass over products with a sparse matrix.
type product[T rev.Real] struct {
	*pass
	a            CSR[T]
	op, opT, own structure // op(A) and its transpose, and A
	scratch      Memory[T] // one element for each entry
	part         uintptr   // the sums of pieces
}

// sumBytes returns the size of a sum on the device.
func sumBytes[T rev.Real]() int {
	if isFixed[T]() {
		return 16
	}
	return int(unsafe.Sizeof(*new(T)))
}

// spans calls launch for the rows that are not cut, and then for the pieces of the others, with how many they are,
// and how many threads each has, and with their number, their place and their most entries as the kernels want
// them. It calls end for the rows that were cut.
func (s *structure) spans(launch func(n, share int, params ...uint64), end func()) {
	if s.rows > s.cut {
		launch(s.rows, s.share, uint64(s.rows), uint64(s.ptr.address()), uint64(s.longest))
	}
	if s.pieces > 0 {
		launch(s.pieces, warp, uint64(s.pieces), uint64(s.list.address()), ^uint64(0))
		end()
	}
}

// add computes c += sign·α·op·b for a matrix with the structure op and the values a, unless one of
// them is nil.
func (m *product[T]) add(c General[T], sign int, alpha *T, op structure, a Memory[T], b General[T]) {
	if c.Data == nil || a == nil || b.Data == nil {
		return
	}
	k := column[T]{c: c, b: b, a: a, alpha: alpha}
	if b.Cols == 1 {
		m.column(forwardPass, k, op, sign)
		return
	}
	op.spans(func(n, _ int, spans ...uint64) {
		params := append([]uint64{uint64(c.Data.address()), uint64(c.Stride), uint64(b.Data.address()), uint64(b.Stride), uint64(c.Cols)}, spans...)
		m.launch(typed[T]("addSparseColumns"), rowGrid(n), append(params,
			uint64(op.ind.address()), uint64(op.perm.address()), uint64(a.address()), pointer(alpha), uint64(sign), uint64(m.part))...)
	}, func() { m.end(k, op, sign) })
}

// A column has the operands of a product of one column. Some are nil.
type column[T rev.Real] struct {
	c, b, tc, tb, gc General[T]
	a, ta, ga        Memory[T]
	alpha, talpha    *T
}

// column computes C of a product of one column, and Ċ or Ā if the kind is that of such a pass.
func (m *product[T]) column(kind string, k column[T], op structure, sign int) {
	op.spans(func(n, share int, spans ...uint64) {
		params := make([]uint64, 0, 23)
		for _, v := range [...]General[T]{k.c, k.b, k.tc, k.tb} {
			params = append(params, uint64(v.Data.address()), uint64(v.Stride))
		}
		params = append(append(params, uint64(k.ga.address()), uint64(k.gc.Data.address()), uint64(k.gc.Stride)), spans...)
		params = append(params, uint64(op.ind.address()), uint64(op.perm.address()),
			uint64(k.a.address()), uint64(k.ta.address()), pointer(k.alpha), pointer(k.talpha), uint64(sign), uint64(share), uint64(m.part))
		m.launch(typed[T]("addSparse"+kind), threadGrid(n*share), params...)
	}, func() {
		if isFixed[T]() && op.perm != nil {
			k.alpha = nil // the terms have it
		}
		m.end(k, op, sign)
	})
}

// end adds up the pieces of the rows that were cut.
func (m *product[T]) end(k column[T], op structure, sign int) {
	m.launch(typed[T]("addSparseEnd"), rowGrid(op.cut*k.b.Cols),
		uint64(k.c.Data.address()), uint64(k.c.Stride), uint64(k.tc.Data.address()), uint64(k.tc.Stride), bit(k.ta != nil), bit(k.tb.Data != nil),
		pointer(k.alpha), pointer(k.talpha), uint64(sign), uint64(k.b.Cols), uint64(op.cut),
		uint64(op.list.address())+uint64(12*op.pieces), uint64(op.pieces), uint64(m.part))
}

// sample adds to the entries of ga those of α·u·vᵀ.
func (m *product[T]) sample(ga Memory[T], alpha *T, u, v General[T]) {
	m.own.spans(func(n, _ int, spans ...uint64) {
		params := append([]uint64{uint64(ga.address()), uint64(u.Data.address()), uint64(u.Stride), uint64(v.Data.address()), uint64(v.Stride), uint64(u.Cols)}, spans...)
		m.launch(typed[T]("addSampled"), rowGrid(n), append(params, uint64(m.a.Ind.address()), pointer(alpha))...)
	}, func() {})
}

// rowGrid returns the grid that gives a warp to each row.
func rowGrid(rows int) grid { return threadGrid(rows * warp) }

// threadGrid returns a grid of n threads, or of as many as share out rows.
func threadGrid(n int) grid {
	threads := max(warp, min((n+warp-1)/warp*warp, bounds.threads))
	return grid{blocks: [3]int{max(1, min((n+threads-1)/threads, bounds.rows)), 1, 1}, threads: [3]int{threads, 1, 1}}
}
