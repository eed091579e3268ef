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
// columns, a warp of threads computes a row, and each thread has columns of its own. The structure of the transpose, which gradients of B and
// products with Aᵀ need, is computed on the host when it is first wanted, and kept until
// A is freed.
//
// In floating point an element of op(A)·B, of r terms, is within (r+6)·ε times the sum of their
// magnitudes, and within (r/t+7)·ε if there is one column. Over Q43 all passes have the bits of
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
	a       CSR[T]
	op, opT structure // op(A) and its transpose
	scratch Memory[T] // one element for each entry
}

// add computes c += sign·α·op·b for a matrix with the structure op and the values a, unless one of
// them is nil.
func (m *product[T]) add(c General[T], sign int, alpha *T, op structure, a Memory[T], b General[T]) {
	if c.Data == nil || a == nil || b.Data == nil {
		return
	}
	if b.Cols == 1 {
		m.column(forwardPass, column[T]{c: c, b: b, a: a, alpha: alpha}, op, sign)
		return
	}
	m.launch(typed[T]("addSparseColumns"), rowGrid(op.rows),
		uint64(c.Data.address()), uint64(c.Stride), uint64(b.Data.address()), uint64(b.Stride), uint64(c.Cols), uint64(op.rows),
		uint64(op.ptr.address()), uint64(op.ind.address()), uint64(op.perm.address()), uint64(a.address()), pointer(alpha), uint64(sign))
}

// A column has the operands of a product of one column. Some are nil.
type column[T rev.Real] struct {
	c, b, tc, tb, gc General[T]
	a, ta, ga        Memory[T]
	alpha, talpha    *T
}

// column computes C of a product of one column, and Ċ or Ā if the kind is that of such a pass.
func (m *product[T]) column(kind string, k column[T], op structure, sign int) {
	share := 1
	for share < warp && 4*share*op.rows <= len(op.ind) {
		share *= 2
	}
	params := make([]uint64, 0, 21)
	for _, v := range [...]General[T]{k.c, k.b, k.tc, k.tb} {
		params = append(params, uint64(v.Data.address()), uint64(v.Stride))
	}
	params = append(params, uint64(k.ga.address()), uint64(k.gc.Data.address()), uint64(k.gc.Stride), uint64(op.rows),
		uint64(op.ptr.address()), uint64(op.ind.address()), uint64(op.perm.address()),
		uint64(k.a.address()), uint64(k.ta.address()), pointer(k.alpha), pointer(k.talpha), uint64(sign), uint64(share))
	m.launch(typed[T]("addSparse"+kind), threadGrid(op.rows*share), params...)
}

// sample adds to the entries of ga those of α·u·vᵀ.
func (m *product[T]) sample(ga Memory[T], alpha *T, u, v General[T]) {
	m.launch(typed[T]("addSampled"), rowGrid(m.a.Rows),
		uint64(ga.address()), uint64(u.Data.address()), uint64(u.Stride), uint64(v.Data.address()), uint64(v.Stride), uint64(u.Cols), uint64(m.a.Rows),
		uint64(m.a.Ptr.address()), uint64(m.a.Ind.address()), pointer(alpha))
}

// rowGrid returns the grid that gives a warp to each row.
func rowGrid(rows int) grid { return threadGrid(rows * warp) }

// threadGrid returns a grid of n threads, or of as many as share out rows.
func threadGrid(n int) grid {
	threads := max(warp, min((n+warp-1)/warp*warp, bounds.threads))
	return grid{blocks: [3]int{max(1, min((n+threads-1)/threads, bounds.rows)), 1, 1}, threads: [3]int{threads, 1, 1}}
}
