package revlinalg

import (
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Unitary is the kernel
//
//	X <- U(θ)·X
//
// in place. X has N rows, and U is orthogonal: the product of N(N-1)/2 plane rotations
// of neighbouring rows, by the angles in Theta, in radians. The order of the rotations,
// with rows counted from 1, is
//
//	k = 0
//	for j = 1, ..., N
//		for i = N-1, N-2, ..., j
//			k = k+1, rotate rows i and i+1 by θ_k
//
// If Rectangular is set, it is the following. The rotations of a layer l touch
// different rows, so that the mesh is about half as deep:
//
//	k = 0
//	for l = 1, ..., N
//		for i = 1, 3, 5, ... < N if l is odd, i = 2, 4, 6, ... < N if it is even
//			k = k+1, rotate rows i and i+1 by θ_k
//
// In both orders, any orthogonal matrix of determinant 1 is a U(θ). OrthogonalAngles
// returns its θ. The methods need memory for the sines and cosines of some ten thousand
// rotations at a time. Adjoint also needs memory for as many sums in each of at most 16
// blocks of columns. In floating point AdjointTangent needs a copy of X and of its
// cotangent, too. If the tangent of X is nil, it computes it, as long as Inverse and Tangent.
//
// In floating point, Forward, Inverse, Adjoint and Tangent apply several rotations to a
// strip of columns together. In fixed point, Forward, Inverse and Adjoint take a strip through a chain
// of rotations at a time. All other methods apply one rotation after the other. In floating point that is
// slower by an order of magnitude.
//
// # One rotation
//
// A rotation by θ of the rows a and b, and its derivatives, are
//
//	a' = c·a - s·b    ȧ' = c·ȧ - s·ḃ - θ̇·b'    c = cos θ
//	b' = s·a + c·b    ḃ' = s·ȧ + c·ḃ + θ̇·a'    s = sin θ
//
// since ∂a'/∂θ = -b' and ∂b'/∂θ = a'. The inverse of a rotation is its transpose,
// the rotation by -θ. It applies to values and cotangents alike:
//
//	a = c·a' + s·b'    ā = c·ā' + s·b̄'    θ̄ += Σ a'·b̄' - b'·ā'
//	b = c·b' - s·a'    b̄ = c·b̄' - s·ā'
//
// where the sum is over the columns. Adjoint therefore applies the
// inverse to X and its cotangent together. For the second order the sum has the tangent
//
//	Σ ȧ'·b̄' + a'·ġb' - ḃ'·ā' - b'·ġa'
//
// and the tangents of ā and b̄ are ġa' and ġb', rotated back, plus θ̇·b̄ and -θ̇·ā.
//
// # Three shears
//
// In fixed point products are rounded, so a rotation by the equations above would have
// no inverse. It is made of three shears instead. Each adds a multiple of one row to
// the other. Subtracting the same multiple restores every bit:
//
//	a -= t·b,  b += s·a,  a -= t·b,  t = tan(θ/2) = s/(1+c).
//
// (Multiply out and use 1 - s·t = c.) Near θ = π the tangent has a pole. If c < 0, the
// rotation is by θ-π instead, so that 0 <= |t| <= 1, and both rows are then negated,
// which is exact. This is the lifting scheme of Daubechies and Sweldens, Factoring
// wavelet transforms into lifting steps (1998). See also Paeth, A fast algorithm for
// general raster rotation (1986).
//
// # Rounding
//
// In fixed point Inverse, Adjoint and AdjointTangent restore X bit for bit, even if
// elements wrap. Elements do not wrap if no column has a norm above 2¹⁹: between
// the shears of a pair (a, b) they stay below √2·‖(a, b)‖. A rotation is within
// 2 + 6·‖(a, b)‖ units in the last place of each element. Elements of θ̄ are rounded
// once for each block of columns.
//
// In floating point a rotation by the equations above is within 3ε·‖(a, b)‖. An element
// takes part in at most 2N-3 rotations, or N in the rectangular order. Inverse
// therefore restores X within 12·N·ε, or 6·N·ε, times the norm of the column (commonly
// within ε·√N).
//
// The bits do not depend on the number of workers. Workers share blocks of columns that
// depend only on the shape, and the sums over columns are added in the order of blocks.
//
// # Sources
//
// The first order of rotations is that of the unitary matrix in Liu and Zhao, arXiv
// 2003.04617. It is the triangular mesh of Reck et al., Experimental realization of any
// discrete unitary operator (1994). The rectangular order is that of Clements et al.,
// Optimal design for universal multiport interferometers, Optica 3 (2016), with layers
// in the order of light. Several chains of rotations are applied together to keep rows
// in registers, as in the wavefront of Van Zee, van de Geijn and Quintana-Ortí,
// Restructuring the tridiagonal and bidiagonal QR algorithms for performance (2014).
type Unitary[T rev.Real] struct {
	X           rev.General[T] `rev:"inout" shape:"n,c"`
	Theta       rev.Vector[T]  `rev:"in" shape:"n*(n-1)/2"`
	Rectangular bool           // the order of Clements et al.
	Workers     int            // 0 means GOMAXPROCS
}

// NewUnitaryVec is NewUnitary for a vector, a matrix of one column.
func NewUnitaryVec(x, theta *mat.VecDense) Unitary[float64] {
	return Unitary[float64]{X: asColumn(rev.ViewVec(x)), Theta: rev.ViewVec(theta)}
}

// asColumn returns x as a matrix of one column, sharing its storage.
func asColumn[T any](x rev.Vector[T]) rev.General[T] {
	return rev.General[T]{Rows: x.N, Cols: 1, Data: x.Data, Stride: x.Inc}
}

// unitaryRun is Run of Unitary. It returns no error.
func unitaryRun[T rev.Real](k *Unitary[T], p *rev.Pass[Unitary[T]]) error {
	if k.X.Rows < 2 {
		return nil
	}
	x, g, t, gt := unitaryFields(k), unitaryFields(&p.G), unitaryFields(&p.T), unitaryFields(&p.GT)
	runUnitary(unitaryMethod{p.Back, p.Adjoint, p.Tangent, false}, k.Rectangular, k.Workers, &x, &g, &t, &gt)
	return nil
}

// unitaryRunChecked is RunChecked of Unitary. It finds elements of X that leave the range in a shear or a half turn, in the order
// of rotations, and of columns in these. Unless the norms of the columns exclude that, it rotates a copy in plain Go first.
func unitaryRunChecked[T rev.Real](k *Unitary[T], back bool) error {
	if x := number.As[rev.General[fixed.Q43]](k.X); number.IsFixed[T]() && !areShort(x) {
		_ = parallel.Workers(k.Workers) // panics if it is negative
		copied := rev.NewGeneral[fixed.Q43](x.Rows, x.Cols, nil)
		copyMatrix(copied, x)
		if i, j := rotateChecked(copied, vector.FixedAs(k.Theta), mesh{x.Rows, k.Rectangular}, back); i >= 0 {
			return rev.Overflow[Unitary[T]]("X", i, j)
		}
	}
	return unitaryRun(k, &rev.Pass[Unitary[T]]{Back: back})
}

// areShort reports whether no column has a norm above 2¹⁸, so that no element leaves the range. 2¹⁹ would do for one
// rotation; half of that leaves room for the rounding of all of them, which adds to the norm.
func areShort(x rev.General[fixed.Q43]) bool {
	squares := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			squares[j] += float64(v.Float64() * v.Float64())
		}
	}
	for _, s := range squares {
		if s > 1<<36 {
			return false
		}
	}
	return true
}

// rotateChecked rotates x until an element leaves the range, and returns its row and column, or -1 and -1.
func rotateChecked(x rev.General[fixed.Q43], theta rev.Vector[fixed.Q43], m mesh, back bool) (row, col int) {
	angles, t, s, half := m.before(0), [1]fixed.Q43{}, [1]fixed.Q43{}, [1]bool{}
	next := func() bool { return angles.next(m.chains()) }
	if back {
		angles = place{m, m.chains() - 1, m.top(m.chains()-1) - 1}
		next = func() bool { return angles.previous(0) }
	}
	for x.Rows > 1 && next() {
		t[0] = vector.Element(theta, m.angle(angles.chain, angles.row))
		lift(t[:], s[:], half[:])
		tan, sin := t[0], s[0]
		if back {
			tan, sin = -tan, -sin
		}
		a, b := x.Row(angles.row), x.Row(angles.row+1)
		for j := range x.Cols {
			bad := -1
			see := func(row int, fits bool) {
				if !fits && bad < 0 {
					bad = row
				}
			}
			shear := func(row int, to *fixed.Q43, factor, from fixed.Q43) {
				see(row, fixedpoint.SumFits(*to, -1, factor, from))
				*to -= factor.Mul(from)
			}
			turn := func(turns bool) {
				for i, v := range []*fixed.Q43{&a[j], &b[j]} {
					if turns {
						see(i, *v != fixed.Min)
						*v = -*v
					}
				}
			}
			turn(back && half[0])
			shear(0, &a[j], tan, b[j])
			shear(1, &b[j], -sin, a[j])
			shear(0, &a[j], tan, b[j])
			turn(!back && half[0])
			if bad >= 0 {
				return angles.row + bad, j
			}
		}
	}
	return -1, -1
}

func unitaryFields[T rev.Real](k *Unitary[T]) unitaryOperands[T] {
	return unitaryOperands[T]{x: k.X, theta: k.Theta}
}

// unitaryOperands are the operands of Unitary or of ComplexUnitary. The latter has phases,
// and real and imaginary parts are two columns of x.
type unitaryOperands[T rev.Real] struct {
	x                 rev.General[T]
	theta, phi, delta rev.Vector[T]
}

// A unitaryMethod says which pass is made.
type unitaryMethod struct {
	back, adjoint, tangent bool
	copied                 bool // of a copy of X and its cotangent
}

// inRuns reports whether vector code has runs of rotations for the method.
func (m unitaryMethod) inRuns() bool { return !m.adjoint || m.back && !m.tangent }

// A unitaryPass is a method at work. It goes from panel to panel. In each panel the
// workers share the columns.
type unitaryPass[T rev.Real] struct {
	panel[T]
	method      unitaryMethod
	k, g, t, gt unitaryOperands[T]

	between phases[T] // before rotations, unless rotations are applied in runs
	last    phases[T] // of the rows of the result

	half        []bool // of the panel's fixed-point rotations
	cols, parts int    // columns of a part, and number of parts
	spread      [3][]T // copies of narrow matrices, which are one part
	sums        []T    // of each part, what its columns add to θ̄, or to φ̄ and θ̄ in turn
	tangents    []T    // the same for the tangent of θ̄
}

const (
	// panelRotations is the largest number of rotations of a panel, if it has more than
	// a few chains. Their table fits the second-level cache, and each strip of columns
	// reads it once.
	panelRotations = 1 << 13
	// loadChains is how many chains of the table a worker sets at a time.
	loadChains = 8
	// joinRuns is the number of runs whose sums a worker adds at a time.
	joinRuns = 32
	// unitaryParts is the most parts that the columns are cut into.
	unitaryParts = 16
	// vectorBytes is the length of the longest vectors.
	vectorBytes = 64
	// closeBytes is a distance between rows. Below it, vector code waits for the row
	// that it has just stored when it loads the next one, as if they overlapped.
	closeBytes = 16
	// partWork is the least number of elements that a part rotates in a panel.
	partWork = 1 << 15
)

// strip returns how many columns go through a panel at a time: 256 bytes of each row,
// which is what the vector code of rotations takes in a step.
func strip[T rev.Real]() int { return 256 / int(unsafe.Sizeof(T(0))) }

// runUnitary runs a method. Absent operands are nil.
func runUnitary[T rev.Real](method unitaryMethod, rectangular bool, workers int, k, g, t, gt *unitaryOperands[T]) {
	if k.x.Rows == 0 || k.x.Cols == 0 {
		return
	}
	if method.adjoint && method.tangent && !method.copied && g.x.Data != nil && t.hasAngles() && gt.hasAngles() && (t.x.Data == nil || gt.x.Data == nil) {
		runUnitaryFromZeros(method, rectangular, workers, k, g, t, gt)
		return
	}
	if method == (unitaryMethod{true, true, true, false}) && !number.IsFixed[T]() {
		// Rotation by rotation, for the tangents alone, because this rounds in another
		// way.
		w := workspace.Get[*unitaryCopy[T]]()
		second := *k
		second.x = w.of(&w.x, k.x)
		method.copied = true
		runUnitary(method, rectangular, workers, &second, &unitaryOperands[T]{x: w.of(&w.gx, g.x)}, t, gt)
		workspace.Put(w)
		method, t, gt = unitaryMethod{back: true, adjoint: true}, &unitaryOperands[T]{}, &unitaryOperands[T]{}
	}
	workers = parallel.Workers(workers)
	w := workspace.Get[*unitaryPass[T]]()
	w.method, w.mesh = method, mesh{k.x.Rows, rectangular}
	w.k, w.g, w.t, w.gt = *k, *g, *t, *gt
	w.between.k, w.between.g, w.between.t, w.between.gt = k.phi, g.phi, t.phi, gt.phi
	w.last.k, w.last.g, w.last.t, w.last.gt = k.delta, g.delta, t.delta, gt.delta
	chains := w.cut()
	panels := max(1, (w.chains()+chains-1)/chains) // a single row has a phase, too
	for i := range panels {
		if method.back {
			i = panels - 1 - i
		}
		w.first, w.end = i*chains, min((i+1)*chains, w.chains())
		w.load(workers)
		parallel.Run(workers, w.parts, w)
		w.join(workers)
	}
	w.k, w.g, w.t, w.gt = unitaryOperands[T]{}, unitaryOperands[T]{}, unitaryOperands[T]{}, unitaryOperands[T]{}
	w.between.drop()
	w.last.drop()
	workspace.Put(w)
}

// hasAngles reports whether o has derivatives by angles.
func (o *unitaryOperands[T]) hasAngles() bool {
	return o.theta.Data != nil || o.phi.Data != nil || o.delta.Data != nil
}

// runUnitaryFromZeros makes the pass AdjointTangent with zeros for the derivatives in place that
// are nil. The tangent of X is zero before the rotations. A copy of X is taken there and
// forward again, with the tangent.
func runUnitaryFromZeros[T rev.Real](method unitaryMethod, rectangular bool, workers int, k, g, t, gt *unitaryOperands[T]) {
	w := workspace.Get[*unitaryZeros[T]]()
	zeros := func(memory *[]T) rev.General[T] {
		*memory = workspace.Zeros(*memory, k.x.Rows*k.x.Cols)
		return rev.NewGeneral(k.x.Rows, k.x.Cols, *memory)
	}
	tangent, second := *t, *gt
	if gt.x.Data == nil {
		second.x = zeros(&w.second)
	}
	if t.x.Data == nil {
		tangent.x = zeros(&w.tangent)
		state := *k
		state.x = w.state.of(&w.state.x, k.x)
		none := new(unitaryOperands[T])
		runUnitary(unitaryMethod{back: true}, rectangular, workers, &state, none, none, none)
		runUnitary(unitaryMethod{tangent: true}, rectangular, workers, &state, none, &tangent, none)
	}
	runUnitary(method, rectangular, workers, k, g, &tangent, &second)
	workspace.Put(w)
}

// unitaryZeros are the derivatives of X that the caller does not have, and a copy of X.
type unitaryZeros[T any] struct {
	tangent, second []T
	state           unitaryCopy[T]
}

// A unitaryCopy has copies of X and its cotangent.
type unitaryCopy[T any] struct{ x, gx []T }

// of returns a copy of x, which may be nil, in the given memory.
func (w *unitaryCopy[T]) of(memory *[]T, x rev.General[T]) rev.General[T] {
	if x.Data == nil {
		return x
	}
	*memory = workspace.Grow(*memory, x.Rows*x.Cols)
	y := rev.NewGeneral(x.Rows, x.Cols, *memory)
	copyMatrix(y, x)
	return y
}

// hasBetween reports whether phases go before rotations one by one, and hasLast whether the
// panel has the phases of the result.

func (w *unitaryPass[T]) hasBetween() bool { return w.k.phi.Data != nil && !w.inRuns() }

func (w *unitaryPass[T]) hasLast() bool { return w.k.delta.Data != nil && w.end == w.chains() }

// cut sets the parts of the columns, and returns the number of chains in a panel.
func (w *unitaryPass[T]) cut() (chains int) {
	n, m := w.n, w.k.x.Cols
	chains = max(dense.RotateChains, panelRotations/n/dense.RotateChains*dense.RotateChains)
	cols := max((m+unitaryParts-1)/unitaryParts, partWork/(min(chains, n)*n))
	w.cols = (cols + strip[T]() - 1) / strip[T]() * strip[T]()
	w.parts = (m + w.cols - 1) / w.cols
	return chains
}

// load sets the table of the panel, and makes room for the sums.
func (w *unitaryPass[T]) load(workers int) {
	size := w.size()
	w.c, w.s = workspace.Grow(w.c, size), workspace.Grow(w.s, size)
	if number.IsFixed[T]() {
		w.half = workspace.Grow(w.half, size)
	}
	w.pc, w.ps = w.pc[:0], w.ps[:0]
	if w.inRuns() && w.k.phi.Data != nil {
		w.pc, w.ps = workspace.Grow(w.pc, size), workspace.Grow(w.ps, size)
	}
	w.d, w.pd = w.d[:0], w.pd[:0]
	if w.inRuns() && (w.t.theta.Data != nil || w.t.phi.Data != nil) { // these follow those of X
		w.d, w.pd = workspace.Grow(w.d, size), workspace.Grow(w.pd, len(w.pc))
	}
	w.setVector()
	if w.wantsSums() {
		w.sums = workspace.Grow(w.sums, w.parts*w.sumsSize())
	}
	if w.wantsCrossTangent() && w.gt.theta.Data != nil {
		w.tangents = workspace.Grow(w.tangents, w.parts*size)
	}
	w.setRuns()
	parallel.Run(workers, (w.end-w.first+loadChains-1)/loadChains, (*unitaryTable[T])(w))
	if w.hasBetween() {
		w.between.begin(size, w.parts, w.wantsCross(), w.wantsCrossTangent())
		for p := w.before(w.first); p.next(w.end); {
			w.between.set(w.index(p.chain, p.row), w.angle(p.chain, p.row))
		}
		w.between.load()
	}
	if w.hasLast() {
		w.last.begin(w.n, w.parts, w.wantsCross(), w.wantsCrossTangent())
		for i := range w.n {
			w.last.set(i, i)
		}
		w.last.load()
	}
}

// unitaryTable sets the table of a panel.
type unitaryTable[T rev.Real] unitaryPass[T]

// Block sets the rotations of some chains.
func (w *unitaryTable[T]) Block(_, block int) {
	for j := w.first + block*loadChains; j < min(w.first+(block+1)*loadChains, w.end); j++ {
		lo := w.index(j, w.bottom(j))
		hi := lo + w.bottom(j) - w.top(j) + 1
		w.fill(w.c[lo:hi], w.k.theta, j)
		if len(w.d) > 0 {
			w.fill(w.d[lo:hi], w.t.theta, j)
		}
		switch c := any(w.c[lo:hi]).(type) {
		case []float64:
			vec.SinCos(float64s(w.s, lo)[:hi-lo], c, c)
		case []float32:
			vec.SinCos(float32s(w.s, lo)[:hi-lo], c, c)
		case []fixed.Q43:
			lift(c, any(w.s[lo:hi]).([]fixed.Q43), w.half[lo:hi])
		}
		if len(w.pc) > 0 {
			c := float64s(w.pc, lo)[:hi-lo]
			w.fill(w.pc[lo:hi], w.k.phi, j)
			vec.SinCos(float64s(w.ps, lo)[:hi-lo], c, c)
		}
		if len(w.pd) > 0 {
			w.fill(w.pd[lo:hi], w.t.phi, j)
		}
	}
}

// fill copies the elements of x for the rotations of a chain, zeros for nil.
func (w *unitaryTable[T]) fill(to []T, x rev.Vector[T], chain int) {
	bottom := w.bottom(chain)
	switch {
	case x.Data == nil:
		clear(to)
	case !w.rectangular && x.Inc == 1:
		copy(to, x.Data[w.angle(chain, bottom):])
	default:
		for p := range to {
			to[p] = x.Data[w.angle(chain, bottom-p)*x.Inc]
		}
	}
}

// wantsCross reports whether there are cotangents that contribute to θ̄, and
// wantsCrossTangent whether there are any that contribute to its tangent.

func (w *unitaryPass[T]) wantsCross() bool { return w.g.x.Data != nil }

func (w *unitaryPass[T]) wantsCrossTangent() bool { return w.g.x.Data != nil || w.gt.x.Data != nil }

// wantsSums reports whether θ̄ or its tangent is there.
func (w *unitaryPass[T]) wantsSums() bool {
	return w.wantsCross() && (w.g.theta.Data != nil || w.inRuns() && w.g.phi.Data != nil)
}

// sumsSize returns how many sums of a part there are.
func (w *unitaryPass[T]) sumsSize() int {
	return w.size() + len(w.pc)
}

// join adds the sums of the parts to θ̄ and its tangent.
func (w *unitaryPass[T]) join(workers int) {
	if w.wantsSums() {
		if w.inRuns() {
			parallel.Run(workers, (len(w.runs)+joinRuns-1)/joinRuns, (*unitarySum[T])(w))
		} else {
			w.addSums(w.g.theta, w.sums)
		}
	}
	if w.wantsCrossTangent() && w.gt.theta.Data != nil {
		w.addSums(w.gt.theta, w.tangents)
	}
	if w.hasBetween() {
		for p := w.before(w.first); p.next(w.end); {
			w.between.join(w.index(p.chain, p.row), w.angle(p.chain, p.row), w.parts, w.method.back)
		}
	}
	for i := 0; w.hasLast() && i < w.n; i++ {
		w.last.join(i, i, w.parts, w.method.back)
	}
}

// total adds up n sums of the parts, from number at on. The sums of a part take size
// elements. The result replaces the sums of the first part.
func (w *unitaryPass[T]) total(sums []T, size, at, n int) []T {
	total := sums[at : at+n]
	for part := 1; part < w.parts; part++ {
		vector.Axpy(fixed.Of[T](1), rev.ViewSlice(sums[part*size+at:][:n]), rev.ViewSlice(total))
	}
	return total
}

// unitarySum adds the sums of the parts to θ̄ and φ̄ if the sums are in the order of
// runs.
type unitarySum[T rev.Real] unitaryPass[T]

// Block adds the sums of some runs.
func (w *unitarySum[T]) Block(_, block int) {
	pass := (*unitaryPass[T])(w)
	of := 1 // sums of a rotation
	if len(w.pc) > 0 {
		of = 2
	}
	for _, r := range w.runs[block*joinRuns : min((block+1)*joinRuns, len(w.runs))] {
		total := pass.total(w.sums, pass.sumsSize(), of*r.at, of*r.steps*r.chains)
		for p := range r.steps {
			for q := range r.chains {
				i, sums := w.angle(r.chain+q, r.row+r.steps-1-p+q), total[of*(p*r.chains+q):][:of]
				if w.g.theta.Data != nil {
					w.g.theta.Data[i*w.g.theta.Inc] += sums[of-1]
				}
				if w.g.phi.Data != nil {
					w.g.phi.Data[i*w.g.phi.Inc] += sums[0]
				}
			}
		}
	}
}

// addSums adds the sums if they are in the order of the table.
func (w *unitaryPass[T]) addSums(theta rev.Vector[T], sums []T) {
	total := w.total(sums, w.size(), 0, w.size())
	for p := w.before(w.first); p.next(w.end); {
		i, v := w.angle(p.chain, p.row)*theta.Inc, total[w.index(p.chain, p.row)]
		if w.method.back {
			theta.Data[i] += v
		} else {
			theta.Data[i] -= v
		}
	}
}

// inRuns reports whether vector code applies whole runs of rotations for the method.
func (w *unitaryPass[T]) inRuns() bool {
	return !number.IsFixed[T]() && w.method.inRuns()
}

// Block does the work on a part of the columns.
func (w *unitaryPass[T]) Block(_, part int) {
	c := w.columns(part)
	last, between, back := w.hasLast(), w.hasBetween(), w.method.back
	for i := 0; last && back && i < w.n; i++ {
		w.last.turn(&c, part, i, i, i, true)
	}
	switch {
	case w.inRuns():
		c.runStrips()
	case number.IsFixed[T]() && !between && (!c.hasDerivatives() || back && c.gx.Data != nil && c.tx.Data == nil && c.gtx.Data == nil && c.tangents == nil):
		c.turnChains(back)
	case back:
		for p := w.before(w.end); p.previous(w.first); {
			c.back(p)
			if between {
				w.between.turn(&c, part, p.row, w.index(p.chain, p.row), w.angle(p.chain, p.row), true)
			}
		}
	default:
		for p := w.before(w.first); p.next(w.end); {
			if between {
				w.between.turn(&c, part, p.row, w.index(p.chain, p.row), w.angle(p.chain, p.row), false)
			}
			c.forward(p)
		}
	}
	for i := 0; last && !back && i < w.n; i++ {
		w.last.turn(&c, part, i, i, i, false)
	}
}

// unitaryColumns are the columns of a part of the operands, with their sums. The sums
// are nil if they are not needed.
type unitaryColumns[T rev.Real] struct {
	*unitaryPass[T]
	x, gx, tx, gtx rev.General[T]
	sums, tangents []T
}

// columns returns the columns of a part, with sums that are zero.
func (w *unitaryPass[T]) columns(part int) unitaryColumns[T] {
	lo, hi := part*w.cols, min((part+1)*w.cols, w.k.x.Cols)
	c := unitaryColumns[T]{
		unitaryPass: w,
		x:           columns(w.k.x, lo, hi), gx: columns(w.g.x, lo, hi),
		tx: columns(w.t.x, lo, hi), gtx: columns(w.gt.x, lo, hi),
	}
	if w.wantsSums() {
		size := w.sumsSize()
		c.sums = w.sums[part*size : (part+1)*size]
		clear(c.sums)
	}
	if w.wantsCrossTangent() && w.gt.theta.Data != nil {
		size := w.size()
		c.tangents = w.tangents[part*size : (part+1)*size]
		clear(c.tangents)
	}
	return c
}

// columns returns columns lo, ..., hi-1 of x, which may be nil.
func columns[T any](x rev.General[T], lo, hi int) rev.General[T] {
	if x.Data != nil {
		x.Data, x.Cols = x.Data[lo:], hi-lo
	}
	return x
}

// runStrips takes the part through the panel.
func (c unitaryColumns[T]) runStrips() {
	x, gx, tx := c.x, c.gx, c.tx
	c.x, c.gx, c.tx = c.spreadOut(0, x), c.spreadOut(1, gx), c.spreadOut(2, tx)
	for j := 0; j < c.x.Cols; j += strip[T]() {
		c.runStrip(j, min(j+strip[T](), c.x.Cols))
	}
	c.copyBack(x, c.x)
	c.copyBack(gx, c.gx)
	c.copyBack(tx, c.tx)
}

// spreadOut returns x, or a copy with rows far apart if those of x are close together.
func (c *unitaryColumns[T]) spreadOut(i int, x rev.General[T]) rev.General[T] {
	size := int(unsafe.Sizeof(T(0)))
	if x.Data == nil || x.Stride*size >= closeBytes {
		return x
	}
	stride := vectorBytes / size
	c.spread[i] = workspace.Grow(c.spread[i], x.Rows*stride)
	y := rev.General[T]{Rows: x.Rows, Cols: x.Cols, Data: c.spread[i], Stride: stride}
	copyMatrix(y, x)
	return y
}

// copyBack copies to x what spreadOut returned for it.
func (c *unitaryColumns[T]) copyBack(x, y rev.General[T]) {
	if y.Stride != x.Stride {
		copyMatrix(x, y)
	}
}

// runStrip takes columns lo, ..., hi-1 of a part through the panel.
func (c *unitaryColumns[T]) runStrip(lo, hi int) {
	back := c.method.back
	for i := range c.runs {
		if back {
			i = len(c.runs) - 1 - i
		}
		switch r := c.runs[i]; {
		case c.sums != nil:
			c.rotateBackCross(c.x, c.gx, lo, hi, r, c.sums)
		case c.tx.Data != nil && len(c.d) > 0:
			c.rotateTangent(c.x, c.tx, lo, hi, r, back)
		default:
			if c.gx.Data != nil {
				c.rotate(c.gx, lo, hi, r, back)
			}
			if c.tx.Data != nil {
				c.rotate(c.tx, lo, hi, r, back)
			}
			c.rotate(c.x, lo, hi, r, back)
		}
	}
}

// hasDerivatives reports whether there is more than X.
func (c *unitaryColumns[T]) hasDerivatives() bool {
	return c.gx.Data != nil || c.tx.Data != nil || c.gtx.Data != nil || c.tangents != nil
}

// forward does a rotation of a forward pass.
func (c *unitaryColumns[T]) forward(p place) {
	c.turn(c.x, p, false)
	if !c.hasDerivatives() {
		return
	}
	i, dtheta := c.index(p.chain, p.row), c.tangent(p)
	if c.tx.Data != nil {
		c.turn(c.tx, p, false)
		addQuarter(1, c.tx, dtheta, c.x, p.row)
	}
	if c.gtx.Data != nil {
		addQuarter(1, c.gtx, dtheta, c.gx, p.row)
		c.turn(c.gtx, p, false)
	}
	if c.gx.Data != nil {
		c.turn(c.gx, p, false)
		if c.sums != nil {
			c.sums[i] = cross(c.x, c.gx, p.row)
		}
	}
	if c.tangents != nil {
		c.tangents[i] = crossTangent(c.x, c.gx, c.tx, c.gtx, p.row)
	}
}

// back does a rotation of the inverse.
func (c *unitaryColumns[T]) back(p place) {
	if !c.hasDerivatives() {
		c.turn(c.x, p, true)
		return
	}
	i, dtheta := c.index(p.chain, p.row), c.tangent(p)
	if c.tangents != nil {
		c.tangents[i] = crossTangent(c.x, c.gx, c.tx, c.gtx, p.row)
	}
	if c.gx.Data != nil {
		if c.sums != nil {
			c.sums[i] = cross(c.x, c.gx, p.row)
		}
		c.turn(c.gx, p, true)
	}
	if c.gtx.Data != nil {
		c.turn(c.gtx, p, true)
		addQuarter(-1, c.gtx, dtheta, c.gx, p.row)
	}
	if c.tx.Data != nil {
		addQuarter(-1, c.tx, dtheta, c.x, p.row)
		c.turn(c.tx, p, true)
	}
	c.turn(c.x, p, true)
}

// tangent returns the tangent of an angle.
func (c *unitaryColumns[T]) tangent(p place) T {
	return vector.Element(c.t.theta, c.angle(p.chain, p.row))
}

// turn rotates a pair of rows of x, or rotates it back.
func (c *unitaryColumns[T]) turn(x rev.General[T], p place, back bool) {
	if !number.IsFixed[T]() {
		c.rotate(x, 0, x.Cols, run{chain: p.chain, chains: 1, row: p.row, steps: 1}, back)
		return
	}
	i := c.index(p.chain, p.row)
	t, s := number.As[fixed.Q43](c.c[i]), number.As[fixed.Q43](c.s[i])
	a, b := number.As[[]fixed.Q43](x.Row(p.row)), number.As[[]fixed.Q43](x.Row(p.row+1))
	if back {
		fixedpoint.Unshear(t, s, c.half[i], a, b)
	} else {
		fixedpoint.Shears(t, s, c.half[i], a, b)
	}
}

// turnChains rotates the columns in fixed point, or rotates them back, by whole chains. If the cotangent of X
// is there, it rotates that back, too, and sets the sums.
func (c *unitaryColumns[T]) turnChains(back bool) {
	x, gx := number.As[rev.General[fixed.Q43]](c.x), number.As[rev.General[fixed.Q43]](c.gx)
	sums := number.As[[]fixed.Q43](c.sums)
	cols := strip[T]() // at a time, but all for the sums
	if sums != nil {
		cols = x.Cols
	}
	for j := 0; j < x.Cols; j += cols {
		n := min(cols, x.Cols-j)
		for q := range c.end - c.first {
			chain := c.first + q
			if back {
				chain = c.end - 1 - q
			}
			bottom := c.bottom(chain)
			lo, hi := c.index(chain, bottom), c.index(chain, c.top(chain))+1
			t, s, half := number.As[[]fixed.Q43](c.c[lo:hi]), number.As[[]fixed.Q43](c.s[lo:hi]), c.half[lo:hi]
			switch {
			case sums != nil:
				fixedpoint.UnshearChainCross(t, s, half, x.Data, x.Stride, gx.Data, gx.Stride, bottom, n, sums[lo:hi])
			case back:
				fixedpoint.UnshearChain(t, s, half, x.Data[j:], x.Stride, bottom, n)
				if gx.Data != nil {
					fixedpoint.UnshearChain(t, s, half, gx.Data[j:], gx.Stride, bottom, n)
				}
			default:
				fixedpoint.ShearChain(t, s, half, x.Data[j:], x.Stride, bottom, n)
			}
		}
	}
}

// lift replaces angles by the tangents of their halves. It sets their sines, and
// whether half a turn follows.
func lift(angles, s []fixed.Q43, half []bool) {
	var room [64]fixed.Q43
	for lo := 0; lo < len(angles); lo += len(room) {
		hi := min(lo+len(room), len(angles))
		t, sin, cos := angles[lo:hi], s[lo:hi], room[:hi-lo]
		clear(sin)
		clear(cos)
		fixedpoint.Sin.Add(1, t, sin)
		fixedpoint.Cos.Add(1, t, cos)
		for i, c := range cos {
			half[lo+i] = c < 0
			if c < 0 {
				sin[i], c = -sin[i], -c
			}
			cos[i] = fixed.One + c
		}
		clear(t)
		fixedpoint.AddQuotients(1, sin, cos, t)
	}
}
