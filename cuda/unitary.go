package cuda

import (
	"unsafe"

	"revnum/internal/simd/dense"
	"revnum/rev"
)

// Unitary is the kernel
//
//	X <- U(θ)·X
//
// of revlinalg.Unitary, where U is the product of the plane rotations of neighbouring rows by the
// N(N-1)/2 angles in Theta, in radians. The order of the rotations of the N rows, counted from 1, is
//
//	for j = 1, ..., N
//		for i = N-1, N-2, ..., j
//			rotate rows i and i+1 by the next angle
//
// or, if Rectangular is set,
//
//	for l = 1, ..., N
//		for i = 1, 3, 5, ... < N if l is odd, i = 2, 4, 6, ... < N if it is even
//			rotate rows i and i+1 by the next angle
//
// A rotation of the rows a and b, with c = cos θ and s = sin θ, its tangent and its inverse are
//
//	a' = c·a - s·b    ȧ' = c·ȧ - s·ḃ - θ̇·b'    a = c·a' + s·b'    ā = c·ā' + s·b̄'
//	b' = s·a + c·b    ḃ' = s·ȧ + c·ḃ + θ̇·a'    b = c·b' - s·a'    b̄ = c·b̄' - s·ā'
//
// with θ̄ += Σ a'·b̄' - b'·ā', summed over the columns. The tangents of these cotangents are
//
//	ġa = c·ġa' + s·ġb' + θ̇·b̄,  ġb = c·ġb' - s·ġa' - θ̇·ā,  ġθ += Σ ȧ'·b̄' + a'·ġb' - ḃ'·ā' - b'·ġa'.
//
// A block of threads has 32 columns. Rows stream through its threads, which apply up to
// 128 chains of rotations to them on the way, and read and write X once for all of these.
// The sines and cosines of the chains are computed once, in scratch memory. Adjoint needs
// scratch memory for a number per rotation of these chains and per 32 columns. The sums
// over the columns are those of a tree in a block, and blocks are added in their order.
//
// Over float64, with more than 128 rows, cards of compute capability 8.0 and later make an orthogonal matrix Q of
// each 64×64 rotations, which act on 128 rows. They multiply the rows by Q or Qᵀ on tensor cores, and by the tangent of Q
// for that of X. The cotangents of the angles come from sums of x̄'·x'ᵀ over 128 columns or more, which are matrices of the
// same size. A matrix takes 128 KiB of scratch memory, and all together 256 MiB, or more if blocks that run at the same time need
// that. AdjointTangent does not multiply X̄ or its tangent by matrices.
//
// Over Q43 the rotations are made of shears. They and the cotangents of the angles have the
// bits of the CPU. Over floats a rotation is within 3ε·‖(a, b)‖ of the exact one, and X
// comes back with the error that revlinalg.Unitary states. With matrices Q, an element takes part in at most 127 rotations of a matrix,
// so that the columns of Q are within 381ε, and a product by Q within (381+128)·√128·ε = 6000ε times the norm of the 128 elements. An element
// is in at most N/32 + 2 products, so Inverse restores X within 12,000·(N/32 + 2)·ε times the norm of the column (commonly
// within ε·√N). If an angle, an element, the norm of a column, or the sum over columns of the products of a row of X and one of X̄ is
// not finite, and a matrix acts on these rows, numbers that are infinite or finite on the CPU may be NaN: all rows of these columns, or of
// all columns for an angle, and the cotangents of all angles. So if an angle is NaN, Inverse restores none of 128 rows. What is NaN on the CPU is NaN.
//
// AdjointTangent gives the gradients of Adjoint bit for bit, unless that has matrices Q. If the tangent of X or that of its
// cotangent is nil and has a part in that of θ̄, it needs scratch memory for three matrices of the shape of X. If the tangent of
// X is nil, it takes as long as Inverse and Tangent in addition.
type Unitary[T rev.Real] struct {
	X           General[T] `rev:"inout" shape:"n,c"`
	Theta       Vector[T]  `rev:"in" shape:"n*(n-1)/2"`
	Rectangular bool       // the order of Clements et al.
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Unitary[T]) Run(p rev.Pass[Unitary[T]]) error {
	n, cols := k.X.Rows, k.X.Cols
	if n < 2 || cols == 0 {
		return nil
	}
	w := begin(&k, &p)
	if p.Adjoint && p.Tangent && p.G.X.Data != nil && p.T.Theta.Data != nil && p.GT.Theta.Data != nil {
		setZeros(&w, &k, &p)
	}
	rotate(&w, &k, &p)
	return w.end()
}

// setZeros gives a pass AdjointTangent zeros for the derivatives of X that are nil. The tangent of X is
// zero before the rotations. A copy of X is taken there and forward again, with the tangent.
func setZeros[T rev.Real](w *pass, k *Unitary[T], p *rev.Pass[Unitary[T]]) {
	rows, cols := k.X.Rows, k.X.Cols
	n := rows * cols
	bytes := n * int(unsafe.Sizeof(*new(T)))
	at, used := uintptr(0), 0
	if p.T.X.Data == nil || p.GT.X.Data == nil {
		at = w.room(2, 3*bytes)
	}
	take := func() General[T] {
		x := General[T]{Rows: rows, Cols: cols, Data: memoryAt[T](at+uintptr(used*bytes), n), Stride: cols}
		used++
		return x
	}
	if p.GT.X.Data == nil {
		p.GT.X = take()
		zero(w, p.GT.X.Data)
	}
	if p.T.X.Data != nil || w.err != nil {
		return
	}
	p.T.X = take()
	zero(w, p.T.X.Data)
	state := *k
	state.X = take()
	w.launch(typed[T]("copyRows"), vectorGrid(n), uint64(state.X.Data.address()), uint64(k.X.Data.address()), uint64(k.X.Stride), uint64(rows), uint64(cols))
	rotate(w, &state, &rev.Pass[Unitary[T]]{Back: true})
	rotate(w, &state, &rev.Pass[Unitary[T]]{Tangent: true, T: Unitary[T]{X: p.T.X, Theta: p.T.Theta}})
}

// rotate does the rotations of a pass.
func rotate[T rev.Real](w *pass, k *Unitary[T], p *rev.Pass[Unitary[T]]) {
	n := k.X.Rows
	r := rotations[T]{pass: w, k: k, p: p, blocks: (k.X.Cols + warp - 1) / warp}
	r.choose()
	if r.inBlocks() {
		r.runInBlocks()
		return
	}
	chains := min(n-1, r.warps*r.chains)
	r.reserve(chains * n)
	panels := (n - 2 + chains) / chains
	for i := range panels {
		if p.Back {
			i = panels - 1 - i
		}
		r.run(i*chains, min(chains, n-1-i*chains))
	}
}

// rotations are a pass of Unitary at work.
type rotations[T rev.Real] struct {
	*pass
	k      *Unitary[T]
	p      *rev.Pass[Unitary[T]]
	blocks int // of columns

	kernel   string        // with the operands and the direction
	operands [4]General[T] // in the order of the kernel
	count    int           // of them
	warps    int           // of a block, at most
	chains   int           // of a warp
	tangents bool          // of the angles count

	sums, second   bool // θ̄ and its tangent are wanted
	turns, crosses uint64
	turn, cross    int // bytes of what these consist of
}

// choose sets which operands rotate, and what is wanted of them.
func (r *rotations[T]) choose() {
	g, t, gt := &r.p.G, &r.p.T, &r.p.GT
	r.count = 2
	switch {
	case gt.X.Data != nil || g.X.Data != nil && t.X.Data != nil:
		r.kernel, r.operands, r.count = "rotateAll", [4]General[T]{r.k.X, g.X, t.X, gt.X}, 4
		r.warps, r.chains = 8, 4 // here and below as in kernels/unitary.cu
	case g.X.Data != nil:
		r.kernel, r.operands = "rotateCotangent", [4]General[T]{r.k.X, g.X}
		r.warps, r.chains = 12, 8
	case t.X.Data != nil:
		r.kernel, r.operands = "rotateTangent", [4]General[T]{r.k.X, t.X}
		r.warps, r.chains = 8, 16
	default:
		r.kernel, r.operands, r.count = "rotateAlone", [4]General[T]{r.k.X}, 1
		r.warps, r.chains = 16, 8
	}
	if isFixed[T]() {
		r.chains = 4 / r.count
	}
	r.tangents = t.Theta.Data != nil && (t.X.Data != nil || gt.X.Data != nil)
	r.sums = g.X.Data != nil && g.Theta.Data != nil
	r.second = r.count == 4 && gt.Theta.Data != nil
	if r.p.Back {
		r.kernel += "Back"
	} else {
		r.kernel += "Ahead"
	}
}

// reserve takes scratch memory for tables of n rotations.
func (r *rotations[T]) reserve(n int) {
	number := int(unsafe.Sizeof(*new(T)))
	r.turn, r.cross = 2*number, number
	if isFixed[T]() {
		r.turn, r.cross = 24, 32
	}
	r.turns = uint64(r.room(0, n*(r.turn+number)))
	switch {
	case r.second:
		r.crosses = uint64(r.room(1, 3*r.blocks*n*r.cross))
	case r.sums:
		r.crosses = uint64(r.room(1, r.blocks*n*r.cross))
	}
}

// run does the rotations of a panel.
func (r *rotations[T]) run(first, chains int) {
	n := r.k.X.Rows
	size := chains * n
	mesh := []uint64{uint64(n), bit(r.k.Rectangular), uint64(first), uint64(chains)}
	theta, inc := r.k.Theta.params()
	dtheta, dinc := r.p.T.Theta.params()
	dturns := uint64(0)
	if r.tangents {
		dturns = r.turns + uint64(size*r.turn)
	}
	r.launch(typed[T]("setTurns"), vectorGrid(size), append([]uint64{r.turns, dturns, theta, inc, dtheta, dinc}, mesh...)...)

	params := make([]uint64, 0, 17)
	for _, m := range r.operands {
		params = append(params, uint64(m.Data.address()), uint64(m.Stride))
	}
	params = append(append(append(params, uint64(r.k.X.Cols)), mesh...), r.turns, dturns, r.crosses, bit(r.second))
	warps := (chains + r.chains - 1) / r.chains
	r.launch(typed[T](r.kernel), grid{blocks: [3]int{r.blocks, 1, 1}, threads: [3]int{warp * warps, 1, 1}}, params...)

	add := func(to Vector[T], cross1, cross2 uint64) {
		data, inc := to.params()
		params := append([]uint64{data, inc, cross1, cross2, uint64(r.blocks), uint64(r.group())}, mesh...)
		r.launch(typed[T]("addCrosses"), vectorGrid(size), append(params, uint64(-r.p.Sign()))...)
	}
	each := uint64(r.blocks * size * r.cross)
	if r.sums {
		add(r.p.G.Theta, r.crosses, 0)
	}
	if r.second {
		add(r.p.GT.Theta, r.crosses+each, r.crosses+2*each)
	}
}

// group returns how many blocks of columns have a sum that is rounded once. Over Q43 they
// are a part of the columns in revlinalg.Unitary, which depends only on the shape.
func (r *rotations[T]) group() int {
	if !isFixed[T]() {
		return r.blocks
	}
	const panelRotations, parts, partWork = 1 << 13, 16, 1 << 15 // as in revlinalg
	n, cols := r.k.X.Rows, r.k.X.Cols
	chains := max(dense.RotateChains, panelRotations/n/dense.RotateChains*dense.RotateChains)
	part := max((cols+parts-1)/parts, partWork/(min(chains, n)*n))
	return (part + warp - 1) / warp
}
