package cuda

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Solve is the kernel
//
//	X += op(A)⁻¹·B
//
// of revlinalg.Solve, where op(A) is A or its transpose, for one system or many. Count is the number of systems,
// whose matrices stand below each other in X, in A and in B; 0 means 1. Writing A for op(A) and
// Y = A⁻¹·B, the derivatives are
//
//	Z = A⁻ᵀ·X̄,  B̄ += Z,  Ā -= Z·Yᵀ,  Ẋ += Ẏ = A⁻¹·(Ḃ - Ȧ·Y)
//
// and, of second order,
//
//	Ż = A⁻ᵀ·(ġX - Ȧᵀ·Z),  ġB += Ż,  ġA -= Ż·Yᵀ + Z·Ẏᵀ.
//
// Each pass factors A by elimination with partial pivoting. If there are up to 32 rows and right-hand sides, a launch
// does so to test for singular matrices, and in another a block makes the pass for a system in shared memory. Otherwise
// 32 columns at a time are eliminated in
// registers: up to 64 rows in one launch for all matrices, and more in a launch for each column, in
// which many blocks take part. On cards of compute capability 9.0 and later the blocks of a cluster eliminate 64 columns of one matrix in a
// launch, if there are up to 8192 rows and the card has room for a cluster: a small part of a card may have none. What they change in other columns is a triangular solution and a product of matrices. A matrix
// of more than 256 columns is factored in panels of 256 columns; the next panel runs beside the product of the one before.
// The pivot of a column is the first of its elements of the largest magnitude. NaN counts as the largest. Clusters multiply by the
// reciprocal of the pivot where others divide. Of two equal rows, they may then leave some ε where others leave 0, and the Condition
// of the error is some 1/ε instead of +Inf.
// Each column of Y solves a system whose matrix is within about 3n·ε·|L|·|U| of A (Higham 2002, theorem 9.4).
//
// The test for singular matrices is that of revlinalg.Solve, with rows that are scaled if it needs
// that: the pass returns a *rev.SingularError with the largest κ of all matrices, and nothing is written for
// any system of the stack. Its Index is the row of A with the diagonal element of that column. NaN is passed on. Each pass
// waits for the device to know.
type Solve[T rev.Float] struct {
	X      General[T] `rev:"acc" shape:"rows,m"`
	A      General[T] `rev:"in" shape:"rows,rows/max(Count,1)"`
	B      General[T] `rev:"in" shape:"rows,m"`
	TransA bool
	Count  int
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.SingularError. It panics with
// a *rev.OperandError if the rows of A are not those of Count matrices.
func (k Solve[T]) Run(p rev.Pass[Solve[T]]) error {
	s := luSystems[T]{stacks: stacks[T]{count: max(k.Count, 1)}, k: &k}
	checkStack[Solve[T]]("A", k.A, s.count)
	w := begin(&k, &p)
	s.pass = &w
	s.run(&p)
	return w.end()
}

func (k *Solve[T]) equation() equation[T] { return equation[T]{k.X, k.A, k.B} }

// luSystems are a pass of Solve at work.
type luSystems[T rev.Float] struct {
	stacks[T]
	k      *Solve[T]
	lu     stack[T] // the factors of P·D·A, where D has powers of two
	right  stack[T] // scratch for right-hand sides
	order  uint64   // of the rows of A in P·A
	shifts uint64   // the exponents of D, or 0 if it is the identity

	pivots     uint64
	candidates [2]uint64 // for the next column of a panel, before and after a step
}

// The sizes of kernel pivotColumns.
const (
	pivotCols      = 32
	pivotRows      = 64 // of a block
	warpPivotRows  = 8
	candidateBytes = 16 + 2*pivotCols*8
)

// exchangeCols are the columns of a block of kernel exchangeRows. It exchanges rows for up to 256 pivots, as many as ahead has
// in a panel.
const exchangeCols = 8

// The sizes of kernels panelColumns and reflectColumns, as in kernels/cluster.h.
const (
	teamBlocks = 8 // of a cluster
	panelCols  = 64
	partCols   = 16 // in registers
	ownRows    = 4  // of a thread
)

// A block of these has from leastTeamWarps to teamWarps warps. Tests change them, so that a block has several, or a thread
// several rows.
var leastTeamWarps, teamWarps = 1, maxThreads / warp

// run makes the pass. Everything that may fail comes before the results are written.
func (s *luSystems[T]) run(p *rev.Pass[Solve[T]]) {
	k := s.k
	n, m := k.A.Cols, k.B.Cols
	if n == 0 {
		return
	}
	if n <= squareSide && m <= squareSide {
		s.runSmall(p)
		return
	}
	size := int(unsafe.Sizeof(*new(T)))
	words := s.count * n * 4 // ratios, order, shifts and pivots
	steps := 2 * s.count * across(n, pivotRows) * candidateBytes
	s.free = s.room(1, words*8+steps+s.count*(5*n*m+n*n)*size)
	s.reserveSolve(m, n)
	s.reserve(n, m, n)
	s.reserve(n, n, m)
	number := func() uint64 { return uint64(s.take(s.count * n * (8 / size)).address()) }
	ratios, order, shifts, pivots := number(), number(), number(), number()
	s.order, s.pivots = order, pivots
	for i := range s.candidates {
		s.candidates[i] = uint64(s.take(steps / 2 / size).address())
	}
	s.lu = s.matrices(n, n)
	s.test(ratios, shifts, func() { s.factor(ratios) })
	if m == 0 {
		return
	}
	s.right = s.matrices(n, m)
	solveSystems(s, s.stacks, p.Sign(), k.equation(), p.G.equation(), p.T.equation(), p.GT.equation())
}

// runSmall makes the pass in shared memory.
func (s *luSystems[T]) runSmall(p *rev.Pass[Solve[T]]) {
	k := s.k
	n, m, words := k.A.Cols, k.B.Cols, s.count*k.A.Cols
	ratios := uint64(s.room(1, 2*words*8))
	shifts := ratios + uint64(words*8)
	s.test(ratios, shifts, func() {
		s.launch(typed[T]("systemRatios"), smallGrid(s.count), ratios, uint64(k.A.Data.address()), uint64(k.A.Stride), uint64(n), s.shifts)
	})
	if m == 0 {
		return
	}
	kind, params := smallPass(p.Sign(), k.equation(), p.G.equation(), p.T.equation(), p.GT.equation())
	s.launch(typed[T]("solveSystems"+kind), smallGrid(s.count), append(params, uint64(n), uint64(m), bit(k.TransA), s.shifts)...)
}

// test fails for singular matrices. factor sets the ratios ‖a_j‖/|u_jj|. If one is too large, it is called again for
// matrices with scaled rows, with their exponents in shifts.
func (s *luSystems[T]) test(ratios, shifts uint64, factor func()) {
	n := s.k.A.Cols
	limit := float64(1 / (T(n) * T(epsilon[T]())))
	factor()
	if worst, _ := s.worst(ratios, s.count*n); worst < limit {
		return
	}
	s.launch(typed[T]("rowShifts"), rowGrid(s.count*n), append([]uint64{shifts, ratios, math.Float64bits(limit)}, s.operand()...)...)
	s.shifts = shifts
	factor()
	if worst, at := s.worst(ratios, s.count*n); worst >= limit {
		s.fail(&rev.SingularError{Index: at, Condition: mat.Condition(worst)})
	}
}

// operand returns A as parameters of kernels.
func (s *luSystems[T]) operand() []uint64 {
	a := s.of(s.k.A)
	return []uint64{uint64(a.data.address()), uint64(a.down), uint64(a.batch), uint64(a.cols), uint64(s.count)}
}

// factor factors A, and sets the ratios.
func (s *luSystems[T]) factor(ratios uint64) {
	n, a := s.lu.rows, s.of(s.k.A)
	s.load()
	s.ahead(n, func(on stacks[T], lo, hi int) {
		first, end := lo, hi
		if hi-lo == n {
			end++ // with order
		}
		s.eliminate(on, lo, hi, first, end)
	}, s.update)
	s.launch(typed[T]("pivotRatios"), grid{[3]int{across(n, warp) * s.count, 1, 1}, [3]int{maxThreads, 1, 1}},
		ratios, uint64(s.lu.data.address()), uint64(a.data.address()), uint64(a.down), uint64(a.batch), uint64(n), s.shifts)
}

// load copies A to the place of its factors, and numbers its rows.
func (s *luSystems[T]) load() {
	params := append([]uint64{uint64(s.lu.data.address()), s.order}, s.operand()...)
	s.launch(typed[T]("loadSystems"), vectorGrid(len(s.lu.data)), append(params, s.shifts)...)
}

// eliminate eliminates columns lo to hi-1, by halves. The columns before lo have been applied to them. Rows are exchanged in columns
// first to end-1. Column n is the order of the rows.
func (s *luSystems[T]) eliminate(on stacks[T], lo, hi, first, end int) {
	if hi-lo <= panelCols && on.together("panelColumns", s.lu.rows-lo) {
		s.pivotTogether(on, lo, hi, first, end)
		return
	}
	if hi-lo <= pivotCols {
		s.pivot(on, s.lu.block(lo, s.lu.rows, lo, hi), lo)
		s.exchange(on, lo, hi, hi, first, end)
		return
	}
	mid := lo + halfOf(hi-lo, pivotCols)
	s.eliminate(on, lo, mid, first, end)
	s.apply(on, lo, mid, mid, hi)
	s.eliminate(on, mid, hi, first, end)
}

// exchange exchanges rows as the pivots of columns lo to hi-1 say, in columns from to end-1 and first to lo-1.
func (s *luSystems[T]) exchange(on stacks[T], lo, hi, from, first, end int) {
	cols := end - from + lo - first
	if cols == 0 {
		return
	}
	on.launch(typed[T]("exchangeRows"), grid{[3]int{across(cols, exchangeCols) * s.count, 1, 1}, [3]int{maxThreads, 1, 1}}, uint64(s.lu.data.address()), s.order, s.pivots,
		uint64(s.lu.rows), uint64(lo), uint64(hi), uint64(from), uint64(first), uint64(end), uint64(cols))
}

// apply applies columns lo to hi-1 to columns first to end-1, in which rows have been exchanged.
func (s *luSystems[T]) apply(on stacks[T], lo, hi, first, end int) {
	n, x := s.lu.rows, s.lu
	right := x.block(lo, hi, first, end)
	on.solve(right.t(), x.block(lo, hi, lo, hi).t(), strictlyUpper)
	on.subtract(whole, x.block(hi, n, first, end), x.block(hi, n, lo, hi), right)
}

// update exchanges rows in columns first to end-1, and applies columns lo to hi-1 to them, for function ahead. In the stream of
// the pass it also exchanges rows in the columns before lo and in order.
func (s *luSystems[T]) update(on stacks[T], lo, hi, first, end int) {
	before, last := lo, end
	if on.pass == s.pass {
		before, last = 0, s.lu.rows+1
	}
	s.exchange(on, lo, hi, first, before, last)
	if first < end {
		s.apply(on, lo, hi, first, end)
	}
}

// pivot eliminates the columns of a panel, whose first row is row top of the matrix.
func (s *luSystems[T]) pivot(on stacks[T], panel stack[T], top int) {
	each := across(panel.rows, pivotRows)
	threads := warp * min(across(panel.rows, warpPivotRows), pivotRows/warpPivotRows)
	steps := func(from, to int) {
		on.launch(typed[T]("pivotColumns"), grid{[3]int{each * s.count, 1, 1}, [3]int{threads, 1, 1}},
			uint64(panel.data.address()), uint64(panel.down), uint64(panel.batch), uint64(panel.rows), uint64(panel.cols), uint64(each), uint64(from), uint64(to),
			s.candidates[(from+2)%2], s.candidates[(from+1)%2], s.pivots, uint64(s.lu.rows), uint64(top))
	}
	if each == 1 {
		steps(-1, panel.cols)
		return
	}
	for j := -1; j < panel.cols; j++ {
		steps(j, j+1)
	}
}

// together reports whether the blocks of a cluster make panels of so many rows by a kernel. All blocks of a cluster run at the same
// time, so that they can wait for each other.
func (s stacks[T]) together(kernel string, rows int) bool {
	return s.count == 1 && rows > pivotRows && rows <= ownRows*teamBlocks*warp*teamWarps &&
		s.fits(typed[T](kernel), 90, grid{[3]int{teamBlocks, 1, 1}, [3]int{maxThreads, 1, 1}})
}

// teamGrid has a cluster for a panel of so many rows.
func teamGrid(rows int) grid {
	threads := warp * min(max(across(rows, teamBlocks*warp), leastTeamWarps), teamWarps)
	return grid{[3]int{teamBlocks, 1, 1}, [3]int{threads, 1, 1}}
}

// pivotTogether does what eliminate does for a panel, in one launch.
func (s *luSystems[T]) pivotTogether(on stacks[T], lo, hi, first, end int) {
	n := s.lu.rows
	on.launch(typed[T]("panelColumns"), teamGrid(n-lo),
		uint64(s.lu.data.address()), s.order, s.pivots, uint64(n), uint64(lo), uint64(hi-lo), uint64(first), uint64(end))
}

// solved returns op(A)⁻¹·(b - op(ta)·y), or the same with the transposes of op(A) and op(ta). b, ta and y may be nil.
func (s *luSystems[T]) solved(b General[T], trans bool, ta General[T], y stack[T]) stack[T] {
	n, m := s.lu.rows, s.k.B.Cols
	c := s.right
	s.clear(c)
	s.add(c, 1, s.of(b), whole)
	trans = trans != s.k.TransA
	if ta.Data != nil && y.data != nil {
		s.multiply(c, -1, s.of(ta).op(trans), y)
	}
	x := s.matrices(n, m)
	permute := func() {
		s.launch(typed[T]("permuteRows"), vectorGrid(len(x.data)), uint64(x.data.address()), uint64(c.data.address()),
			uint64(n), uint64(m), uint64(s.count), s.order, s.shifts, bit(trans))
	}
	if trans { // A⁻ᵀ = D·Pᵀ·L⁻ᵀ·U⁻ᵀ
		s.solve(c.t(), s.lu, upperTriangle)
		s.solve(c.t(), s.lu, strictlyLower)
		permute()
		return x
	}
	permute() // A⁻¹ = U⁻¹·L⁻¹·P·D
	s.solve(x.t(), s.lu.t(), strictlyUpper)
	s.solve(x.t(), s.lu.t(), lowerTriangle)
	return x
}

// subtractOuter computes ga -= z·yᵀ, or its transpose, unless one of them is nil.
func (s *luSystems[T]) subtractOuter(ga General[T], z, y stack[T]) {
	if s.k.TransA {
		z, y = y, z
	}
	s.multiply(s.of(ga), -1, z, y.t())
}
