package cuda

import (
	"unsafe"

	"revnum/rev"
)

// A stack is matrices of one shape. Element (i, j) of matrix b is at b·batch + i·down +
// j·across.
type stack[T any] struct {
	strided[T]
	batch int
}

func (s stack[T]) t() stack[T] { return stack[T]{s.strided.t(), s.batch} }

// op returns s, or its transposes.
func (s stack[T]) op(trans bool) stack[T] {
	if trans {
		return s.t()
	}
	return s
}

// from returns the address of row i of matrix b.
func (s stack[T]) from(b, i int) uint64 {
	return uint64(s.data.address()) + uint64(b*s.batch+i*s.down)*uint64(unsafe.Sizeof(*new(T)))
}

// block returns rows r0 to r1-1 of columns c0 to c1-1.
func (s stack[T]) block(r0, r1, c0, c1 int) stack[T] {
	s.data, s.rows, s.cols = s.data[r0*s.down+c0*s.across:], r1-r0, c1-c0
	return s
}

// stacks are stacks of so many matrices, in a pass.
type stacks[T rev.Real] struct {
	*pass
	count int
	free  uintptr // the scratch memory that is left
}

// checkStack panics if the rows of an operand of a kernel are not those of so many matrices.
func checkStack[K any, T rev.Real](name string, a General[T], count int) {
	if a.Rows%count != 0 {
		panic(rev.ShapeError[K](name, "has %d rows, which are not those of Count = %d matrices", a.Rows, count))
	}
}

// of returns the matrices of an operand, which may be nil. They stand below each other.
func (s stacks[T]) of(a General[T]) stack[T] {
	rows := a.Rows / s.count
	return stack[T]{strided[T]{rows, a.Cols, a.Data, a.Stride, 1}, rows * a.Stride}
}

// reserve reserves what multiply needs. Call it before the pass writes.
func (s stacks[T]) reserve(rows, cols, terms int) {
	if s.count == 1 {
		reserveParts[T](s.pass, rows, cols, terms)
	}
}

// multiply computes c += sign·a·b, or c = a·b if sign is 0, unless one of them is nil.
func (s stacks[T]) multiply(c stack[T], sign int, a, b stack[T]) {
	if s.count == 1 {
		addLongProduct(s.pass, c.strided, sign, a.strided, b.strided)
		return
	}
	launchProducts(s.pass, s.count, c, sign, a, b, s.count*a.cols, whole)
}

// multiplyBoth computes c += sign·(a·b + a2·b2), without a product of which an operand is nil. A launch for both reads and
// writes c once.
func (s stacks[T]) multiplyBoth(c stack[T], sign int, a, b, a2, b2 stack[T]) {
	parts := 1
	if s.count == 1 {
		_, parts = partsOf[T](c.rows, c.cols, a.cols)
	}
	if a.data != nil && b.data != nil && a2.data != nil && b2.data != nil && parts == 1 {
		name, _, _ := productKernel(s.dev, c.strided, a, b)
		if other, _, _ := productKernel(s.dev, c.strided, a2, b2); other == name {
			launchProducts(s.pass, s.count, c, sign, a, b, s.count*a.cols, whole, a2, b2)
			return
		}
	}
	s.multiply(c, sign, a, b)
	s.multiply(c, sign, a2, b2)
}

// subtract computes c -= a·b, and need not do it above the diagonal if the lower triangle is wanted. Its sums are not in parts.
func (s stacks[T]) subtract(in triangle, c, a, b stack[T]) {
	launchProducts(s.pass, s.count, c, -1, a, b, s.count*a.cols, in)
}

// multiplyLower computes c += sign·a·b, and need not do it above the diagonal. It writes all of c where the sums are long and in parts.
func (s stacks[T]) multiplyLower(c stack[T], sign int, a, b stack[T]) {
	if _, parts := partsOf[T](c.rows, c.cols, a.cols); s.count == 1 && parts > 1 {
		s.multiply(c, sign, a, b)
		return
	}
	launchProducts(s.pass, s.count, c, sign, a, b, s.count*a.cols, lowerTriangle)
}

// aheadCols are the columns of a panel of ahead. Tests lower them.
var aheadCols = 256

// ahead factors n columns of a matrix, a panel after the other. panel factors columns lo to hi-1. update applies these to
// columns first to end-1, which come after them. The next panel is updated and factored in a stream of its own, beside the
// update of the columns after it, which may be none. Stacks of matrices are factored as one panel.
func (s stacks[T]) ahead(n int, panel func(on stacks[T], lo, hi int), update func(on stacks[T], lo, hi, first, end int)) {
	if s.count > 1 || n <= aheadCols {
		panel(s, 0, n)
		return
	}
	next := s
	next.pass = s.beside()
	next.after(s.pass)
	panel(next, 0, aheadCols)
	for lo, hi := 0, aheadCols; lo < n; lo, hi = hi, min(hi+aheadCols, n) {
		end := min(hi+aheadCols, n) // of the next panel
		next.after(s.pass)          // the next panel has been updated by those before this one
		s.after(next.pass)          // this panel has been factored
		if hi < n {
			update(next, lo, hi, hi, end)
			panel(next, hi, end)
		}
		update(s, lo, hi, end, n)
	}
}

// take returns scratch memory.
func (s *stacks[T]) take(n int) Memory[T] {
	m := memoryAt[T](s.free, n)
	s.free += uintptr(n) * unsafe.Sizeof(*new(T))
	return m
}

// matrices returns matrices in scratch memory.
func (s *stacks[T]) matrices(rows, cols int) stack[T] {
	return stack[T]{strided[T]{rows, cols, s.take(s.count * rows * cols), cols, 1}, rows * cols}
}

func (s stacks[T]) clear(a stack[T]) { zero(s.pass, a.data) }

// A triangle is a part of a square matrix, as in kernels/stack.cu. Strict ones lack the diagonal.
type triangle int

const (
	strictlyLower triangle = iota - 2
	lowerTriangle
	whole
	upperTriangle
	strictlyUpper
)

// add computes y += sign·x in a triangle, unless one of them is nil.
func (s stacks[T]) add(y stack[T], sign int, x stack[T], in triangle) {
	if y.data == nil || x.data == nil {
		return
	}
	s.launch(typed[T]("addStack"), vectorGrid(s.count*x.rows*x.cols),
		uint64(y.data.address()), uint64(y.down), uint64(y.across), uint64(y.batch), uint64(sign),
		uint64(x.data.address()), uint64(x.down), uint64(x.across), uint64(x.batch),
		uint64(x.rows), uint64(x.cols), uint64(s.count), uint64(in))
}

// mirror completes symmetric matrices in scratch memory from their lower triangles, or adds these to the
// upper ones and clears them.
func (s stacks[T]) mirror(k stack[T], add bool) {
	s.launch(typed[T]("mirror"), vectorGrid(len(k.data)), uint64(k.data.address()), uint64(k.rows), uint64(s.count), bit(add))
}

// solveCols and solveRows are the sizes of kernel solveStack. Tests lower the columns, so that small systems are halved.
var solveCols = 128

const solveRows = 32

// solve computes x <- x·R⁻¹. R is upper or lower triangular, or strictly so for a diagonal of ones.
// It takes halves of larger R.
func (s stacks[T]) solve(x, r stack[T], is triangle) {
	n := r.rows
	if x.rows == 0 || n == 0 {
		return
	}
	if n <= solveCols {
		s.launch(typed[T]("solveStack"), grid{[3]int{across(x.rows, solveRows) * s.count, 1, 1}, [3]int{maxThreads, 1, 1}},
			uint64(x.data.address()), uint64(x.down), uint64(x.across), uint64(x.batch), uint64(x.rows),
			uint64(r.data.address()), uint64(r.down), uint64(r.across), uint64(r.batch), uint64(n), bit(is < whole), bit(is == strictlyUpper || is == strictlyLower))
		return
	}
	mid := halfOf(n, solveCols)
	left, right := x.block(0, x.rows, 0, mid), x.block(0, x.rows, mid, n)
	first, last := r.block(0, mid, 0, mid), r.block(mid, n, mid, n)
	if is < whole {
		s.solve(right, last, is)
		s.multiply(left, -1, right, r.block(mid, n, 0, mid))
		s.solve(left, first, is)
	} else {
		s.solve(left, first, is)
		s.multiply(right, -1, left, r.block(0, mid, mid, n))
		s.solve(right, last, is)
	}
}

// halfOf returns the first part of n columns, which are more than cols. It is a multiple of these.
func halfOf(n, cols int) int { return across(n/2, cols) * cols }

// reserveSolve reserves what solve needs for an x of so many rows and n columns. Call it before the
// pass writes.
func (s stacks[T]) reserveSolve(rows, n int) {
	if n <= solveCols || s.count > 1 {
		return
	}
	mid := halfOf(n, solveCols)
	s.reserve(rows, mid, n-mid)
	s.reserve(rows, n-mid, mid)
	s.reserveSolve(rows, mid)
	s.reserveSolve(rows, n-mid)
}

// A system is matrices A, or their transposes, for which A·Y = B can be solved.
type system[T rev.Float] interface {
	// solved returns A⁻¹·(b - Ȧ·y), or A⁻ᵀ·(b - Ȧᵀ·y) if trans is set. b, ta and y may be nil.
	solved(b General[T], trans bool, ta General[T], y stack[T]) stack[T]
	// subtractOuter computes Ā -= z·yᵀ, unless one of them is nil.
	subtractOuter(ga General[T], z, y stack[T])
}

// An equation has the operands of a kernel X += A⁻¹·B.
type equation[T rev.Float] struct{ x, a, b General[T] }

// solveSystems makes a pass of such a kernel.
func solveSystems[T rev.Float](of system[T], s stacks[T], sign int, k, g, t, gt equation[T]) {
	y := of.solved(k.b, false, General[T]{}, stack[T]{})
	s.add(s.of(k.x), sign, y, whole)
	var dy, z stack[T]
	if t.a.Data != nil || t.b.Data != nil {
		dy = of.solved(t.b, false, t.a, y)
		s.add(s.of(t.x), sign, dy, whole)
	}
	if g.x.Data != nil {
		z = of.solved(g.x, true, General[T]{}, stack[T]{})
		s.add(s.of(g.b), 1, z, whole)
		of.subtractOuter(g.a, z, y)
		of.subtractOuter(gt.a, z, dy)
	}
	if gt.a.Data != nil || gt.b.Data != nil {
		dz := of.solved(gt.x, true, t.a, z)
		s.add(s.of(gt.b), 1, dz, whole)
		of.subtractOuter(gt.a, dz, y)
	}
}

// smallPass returns the kind of the pass of a kernel of small systems, and the parameters that it begins with. Where a
// derivative is zero because no operand has one, nothing is added, not even what 0 times an element that is not finite is.
func smallPass[T rev.Float](sign int, k, g, t, gt equation[T]) (kind string, params []uint64) {
	if g.x.Data == nil {
		g = equation[T]{}
	}
	if t.a.Data == nil && t.b.Data == nil {
		t = equation[T]{}
	}
	kind = forwardPass
	tangent, adjoint := t.a.Data != nil || t.b.Data != nil, g.x.Data != nil
	switch {
	case tangent && adjoint, gt.a.Data != nil || gt.b.Data != nil:
		kind = wholePass
	case tangent:
		kind = tangentPass
	case adjoint:
		kind = adjointPass
	}
	return kind, append([]uint64{uint64(sign)}, rowParams(k.x, k.a, k.b, g.x, g.a, g.b, t.x, t.a, t.b, gt.x, gt.a, gt.b)...)
}

// smallGrid has a block for each of so many matrices, as in kernels/small.h.
func smallGrid(count int) grid { return grid{[3]int{count, 1, 1}, [3]int{2 * warp, 1, 1}} }

// worst waits for the largest of n ratios, or 1 if that is larger, and returns the first of its places.
func (s stacks[T]) worst(ratios uint64, n int) (ratio float64, at int) {
	parts, g := s.parts(), vectorGrid(n)
	blocks := g.blocks[0]
	s.launch("condition", g, parts+16, ratios, 0, uint64(n))
	g.blocks[0] = 1
	s.launch("condition", g, parts, 0, parts+16, uint64(blocks))
	var answer [2]float64
	get(s.pass, answer[:], uintptr(parts))
	return answer[0], int(answer[1])
}

// epsilon returns the distance from 1 to the next number.
func epsilon[T rev.Real]() float64 {
	if unsafe.Sizeof(*new(T)) == 4 {
		return 0x1p-23
	}
	return 0x1p-52
}
