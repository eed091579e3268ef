package cuda

import (
	"unsafe"

	"revnum/rev"
)

// Cholesky is the kernel
//
//	L += chol(A),  chol(A)·chol(A)ᵀ = A,
//
// of revlinalg.Cholesky, for one matrix or many. Count is the number of matrices, which stand below each
// other in L and in A; 0 means 1. Only upper triangles of A are read, and only lower triangles of L are
// written, also of cotangents and tangents. An element of A above the diagonal also stands for its mirror
// image, and has the gradient of both.
//
// With L for chol(A), Φ(M) the lower triangle of M with its diagonal halved, and sym(M) = (M + Mᵀ)/2, the
// derivatives are
//
//	L̇ = L·Φ(K),          K = L⁻¹·Ȧ·L⁻ᵀ,
//	Y = L⁻ᵀ·H·L⁻¹,       H = sym Φ(Lᵀ·L̄),
//	Ẏ = L⁻ᵀ·E·L⁻¹,       E = sym Φ(Lᵀ·ġL + L̇ᵀ·L̄) - Φ(K)ᵀ·H - H·Φ(K),
//
// where Y is the gradient by a full matrix (Giles 2008, 4.8; Murray 2016, equations 8 to 10).
//
// If there are up to 32 rows, a block makes the pass for a matrix in shared memory. Of larger matrices, squares of 64
// columns are factored there, with the rows below them in the same launch, and what they change in other columns is a
// product of matrices, whose tiles above the diagonal are left out. A matrix of more than 256 columns is factored in panels
// of 256 columns; the next panel runs beside the product of the one before. The
// factor is that of a matrix within about n·ε·|L|·|L|ᵀ of A (Higham 2002, theorem 10.3).
//
// If a pivot is zero or negative, the pass returns a *rev.NotPositiveDefiniteError, and nothing is written
// for any matrix of the stack. Its Row is that of the pivot in A. NaN is passed on. Each pass waits for the
// device to know.
type Cholesky[T rev.Float] struct {
	L     General[T] `rev:"acc" shape:"rows,rows/max(Count,1)"`
	A     General[T] `rev:"in" shape:"rows,rows/max(Count,1)"`
	Count int
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.NotPositiveDefiniteError. It panics
// with a *rev.OperandError if the rows of A are not those of Count matrices.
func (k Cholesky[T]) Run(p rev.Pass[Cholesky[T]]) error {
	s := choleskys[T]{stacks: stacks[T]{count: max(k.Count, 1)}}
	checkStack[Cholesky[T]]("A", k.A, s.count)
	w := begin(&k, &p)
	s.pass = &w
	s.run(&k, &p)
	return w.end()
}

// choleskys are a pass of Cholesky at work.
type choleskys[T rev.Float] struct {
	stacks[T]
	l stack[T]
}

// run makes the pass. Everything that may fail comes before the results are written.
func (s *choleskys[T]) run(k *Cholesky[T], p *rev.Pass[Cholesky[T]]) {
	g, t, gt := &p.G, &p.T, &p.GT
	n := k.A.Cols
	if n == 0 {
		return
	}
	const most = 7 // matrices in scratch memory
	small := n <= squareSide
	size, room := int(unsafe.Sizeof(*new(T))), 2*s.count*n*8
	if !small {
		room += most * s.count * n * n * size
		s.reserve(n, n, n)
		s.reserveSolve(n, n)
	}
	s.free = s.room(1, room)
	ratios := uint64(s.take(s.count * n * (8 / size)).address())
	pivots := uint64(s.take(s.count * n * (8 / size)).address())
	if small {
		s.launchFactor("pivotsStack", 1, s.of(k.A).t(), ratios, pivots, n)
	} else {
		s.l = s.matrices(n, n)
		s.clear(s.l)
		s.add(s.l, 1, s.of(k.A).t(), lowerTriangle)
		s.ahead(n, func(on stacks[T], lo, hi int) {
			on.factor(s.l.block(lo, n, lo, hi), ratios+uint64(8*lo), pivots+uint64(8*lo), n)
		}, func(on stacks[T], lo, hi, first, end int) { on.updateFactor(s.l, lo, hi, first, end) })
	}
	if worst, at := s.worst(ratios, s.count*n); worst > 1 {
		var pivot [1]float64
		get(s.pass, pivot[:], uintptr(pivots)+uintptr(8*at))
		s.fail(&rev.NotPositiveDefiniteError{Row: at, Value: pivot[0]})
	}
	if small {
		kind, params := smallPass(p.Sign(), k.equation(), g.equation(), t.equation(), gt.equation())
		s.launch(typed[T]("factorSmall"+kind), smallGrid(s.count), append(params, uint64(n))...)
		return
	}
	s.launch(typed[T]("endFactor"), vectorGrid(len(s.l.data)), uint64(s.l.data.address()), pivots, uint64(n), uint64(s.count))
	s.add(s.of(k.L), p.Sign(), s.l, lowerTriangle)

	var phi, dl, h stack[T]
	if t.A.Data != nil && (t.L.Data != nil || gt.A.Data != nil) {
		phi = s.matrices(n, n)
		s.clear(phi)
		s.add(phi, 1, s.of(t.A).t(), lowerTriangle)
		s.mirror(phi, false)
		s.solve(phi, s.l.t(), upperTriangle)
		s.solve(phi.t(), s.l.t(), upperTriangle)
		s.halve(phi, false)
		dl = s.matrices(n, n)
		s.multiply(dl, 0, s.l, phi)
		s.add(s.of(t.L), p.Sign(), dl, lowerTriangle)
	}
	var gl stack[T]
	if g.L.Data != nil && (g.A.Data != nil || gt.A.Data != nil) {
		gl = s.lower(g.L)
		h = s.matrices(n, n)
		s.multiply(h, 0, s.l.t(), gl)
		s.halve(h, true)
		if gt.A.Data == nil {
			s.addGradient(g.A, h)
			return
		}
	}
	if gt.A.Data == nil {
		return
	}
	e := s.matrices(n, n)
	s.clear(e)
	if gt.L.Data != nil {
		s.multiply(e, 1, s.l.t(), s.lower(gt.L))
	}
	s.multiply(e, 1, dl.t(), gl)
	s.halve(e, true)
	s.multiply(e, -1, phi.t(), h)
	s.multiply(e, -1, h, phi)
	s.addGradient(gt.A, e)
	s.addGradient(g.A, h)
}

// equation has L and A, as kernels of small matrices take them.
func (k *Cholesky[T]) equation() equation[T] { return equation[T]{x: k.L, a: k.A} }

// lower returns the lower triangles of an operand, with zeros above them.
func (s *choleskys[T]) lower(a General[T]) stack[T] {
	b := s.matrices(a.Cols, a.Cols)
	s.clear(b)
	s.add(b, 1, s.of(a), lowerTriangle)
	return b
}

// addGradient adds L⁻ᵀ·H·L⁻¹ to ga, which has upper triangles alone, unless one of them is nil. It destroys h.
func (s *choleskys[T]) addGradient(ga General[T], h stack[T]) {
	if ga.Data == nil || h.data == nil {
		return
	}
	s.solve(h, s.l, lowerTriangle)
	s.solve(h.t(), s.l, lowerTriangle)
	s.add(s.of(ga), 1, h, upperTriangle)
	s.add(s.of(ga), 1, h, strictlyUpper)
}

// factorCols are the columns of kernel factorStack.
const factorCols = 2 * squareSide

// factor replaces the lower triangles of x by their factors, as kernel endFactor takes them, and the rows below the squares by
// the rows of L there. It takes halves of the columns, so that a product changes all rows. ratios gets infinity for
// each pivot that is zero or negative. It and pivots have stride numbers for each matrix.
func (s stacks[T]) factor(x stack[T], ratios, pivots uint64, stride int) {
	rows, n := x.rows, x.cols
	if n <= factorCols {
		s.launchFactor("factorStack", 1+across(rows-n, squareSide), x, ratios, pivots, stride)
		return
	}
	mid := halfOf(n, factorCols)
	s.factor(x.block(0, rows, 0, mid), ratios, pivots, stride)
	s.updateFactor(x, 0, mid, mid, n)
	s.factor(x.block(mid, rows, mid, n), ratios+uint64(8*mid), pivots+uint64(8*mid), stride)
}

// updateFactor subtracts what columns lo to hi-1 of L change in columns first to end-1 of x, if there are any.
func (s stacks[T]) updateFactor(x stack[T], lo, hi, first, end int) {
	if first == end {
		return
	}
	s.subtract(lowerTriangle, x.block(first, x.rows, first, end), x.block(first, x.rows, lo, hi), x.block(first, end, lo, hi).t())
}

// launchFactor launches a kernel of matrices of up to 64 columns, or 32 if it only looks at their pivots.
func (s stacks[T]) launchFactor(kernel string, each int, x stack[T], ratios, pivots uint64, stride int) {
	s.launch(typed[T](kernel), smallGrid(s.count*each), uint64(x.data.address()), uint64(x.down), uint64(x.across), uint64(x.batch), uint64(x.rows), uint64(x.cols), ratios, pivots, uint64(stride))
}

// halve replaces the lower triangles of matrices M in scratch memory by Φ(M), or by sym Φ(M) if symmetric is set.
func (s stacks[T]) halve(x stack[T], symmetric bool) {
	s.launch(typed[T]("halve"), vectorGrid(len(x.data)), uint64(x.data.address()), uint64(x.rows), uint64(s.count), bit(symmetric))
}
