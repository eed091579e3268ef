package wave

import (
	"fmt"
	"math"

	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/wave/internal/stencil"
)

// Steps is the kernel that takes N steps of time in place. Step n computes
//
//	Prev <- 2·U - Prev + M∘LU           the wave equation
//	Prev <- U + f∘(Prev - U)            the damping at the edges
//	Prev[s] += Source[n, s]             for each source
//	U, Prev <- Prev, U
//	Trace[n, r] += U[r]                 for each receiver
//
// where L is the Laplacian of fourth order for a spacing of 1. U is 0 one cell outside the
// grid, and odd beyond it. So waves are reflected at the edges, with the opposite sign.
// M is (c·dt/h)² for a speed c and a spacing h. It must be between 0 and [MaxCourant]²,
// or the waves would grow without bound. An index of a source or receiver is row·Cols +
// column.
//
// # Derivatives
//
// Let w be Prev, S Source and D Trace. L is symmetric, so the adjoint of a step is, from
// the last line to the first,
//
//	Ū[r] += D̄[n, r]
//	U, Ū, w, w̄ <- w, w̄, U, Ū
//	S̄[n, s] += w̄[s]
//	Ū += (1-f)∘w̄,  w̄ <- f∘w̄
//	M̄ += w̄∘LU,  Ū += 2·w̄ + L(M∘w̄),  w̄ <- -w̄
//
// and the tangent and the second order follow by the rule of products. If only some of
// U, Prev and Trace have derivatives, absent derivatives of U and Prev begin as zeros in
// scratch memory.
//
// # The inverse
//
// The first line is its own inverse, up to rounding over floats. The inverse of the second
// line divides by f. Over floats this multiplies the rounding errors at the edges by 1/f.
// Over fixed.Q43 it is exact (see fixed.Buffer): the bits that the multiplication loses are
// kept in Absorbed. So Inverse and Adjoint restore all bits, for any number of steps.
// Tangents are damped in the same way, and their bits kept too.
//
// Over floats each step back adds a rounding error as large as that of the step ahead.
// Without damping the error grows in proportion to the number of steps at most. With
// damping it grows by the factor f^-N in the worst case, and Run returns an error if that
// is more than 2²⁶ for float64 or 2¹² for float32. Use fixed.Q43 then.
//
// # Rounding
//
// Over floats each product and sum is rounded. Over fixed.Q43 a cell's new value is
// computed in float64 and rounded once, to 2⁻⁴³, and damping adds noise below 2⁻³³.
// The bits depend neither on the number of workers nor on the vector code.
type Steps[T rev.Real] struct {
	U          rev.General[T] `rev:"inout" shape:"r,c"`
	Prev       rev.General[T] `rev:"inout" shape:"r,c"` // U one step ago
	M          rev.General[T] `rev:"in" shape:"r,c"`    // (c·dt/h)²
	Source     rev.General[T] `rev:"in,optional" shape:"n,s"`
	Trace      rev.General[T] `rev:"acc" shape:"n,t"`
	SourceAt   []int          `rev:"index,optional" shape:"s"`
	ReceiverAt []int          `rev:"index,optional" shape:"t"`
	N          int            // at least 0
	Damping
	Absorbed *Absorbed `rules:"nil"` // needed for damping over fixed.Q43, and not used otherwise
	Workers  int       // 0 means GOMAXPROCS
}

// MaxCourant is the largest c·dt/h for which the steps are stable: √(3/8). The largest
// eigenvalue of -L is 32/3, and that of -M∘L must be at most 4.
const MaxCourant = 0.6123724356957945

// stepsRun is Run of Steps. It returns an error if M is too large, negative or NaN, if
// Damping is invalid or too wide for the grid, if Absorbed is missing or does not hold
// the steps to invert, and if damping over floats has no accurate inverse. It panics if
// N is negative, or if a source or receiver is outside the grid.
func stepsRun[T rev.Real](k *Steps[T], p *rev.Pass[Steps[T]]) error {
	if p.Adjoint && !p.Back {
		return rev.ErrUnsupported
	}
	stepsCheckShapes(k, p)
	if t := &p.T; p.Adjoint && p.Tangent && t.U.Data == nil && t.Prev.Data == nil && (t.M.Data != nil || t.Source.Data != nil) {
		return stepsRetrace(*k, *p)
	}
	if err := stepsCheck(k, p); err != nil || k.N == 0 || k.U.Rows == 0 || k.U.Cols == 0 {
		return err
	}
	switch any(T(0)).(type) {
	case float32:
		takeSteps[T, float32](k, p)
	default:
		takeSteps[T, float64](k, p)
	}
	return nil
}

func stepsCheckShapes[T rev.Real](k *Steps[T], p *rev.Pass[Steps[T]]) {
	if k.N < 0 {
		panic(rev.ShapeError[Steps[T]]("U", "is to take %d steps", k.N))
	}
	for _, d := range [...]*Steps[T]{k, &p.G, &p.T, &p.GT} {
		if d.Source.Data != nil && d.Source.Rows != k.N {
			panic(rev.ShapeError[Steps[T]]("Source", "has %d rows for %d steps", d.Source.Rows, k.N))
		}
		if d.Trace.Data != nil && d.Trace.Rows != k.N {
			panic(rev.ShapeError[Steps[T]]("Trace", "has %d rows for %d steps", d.Trace.Rows, k.N))
		}
	}
	cells := k.U.Rows * k.U.Cols
	for name, list := range map[string][]int{"SourceAt": k.SourceAt, "ReceiverAt": k.ReceiverAt} {
		for i, at := range list {
			if at < 0 || at >= cells {
				panic(rev.ShapeError[Steps[T]](name, "has %d at %d, but the grid has %d cells", at, i, cells))
			}
		}
	}
}

func stepsCheck[T rev.Real](k *Steps[T], p *rev.Pass[Steps[T]]) error {
	most := fixed.Of[T](MaxCourant * MaxCourant * (1 + 1e-6))
	if m := &k.M; m.Stride == m.Cols && stencil.Within(m.Data[:m.Rows*m.Cols], most) {
		return stepsCheckDamping(k, p)
	}
	for i := range k.M.Rows {
		if stencil.Within(k.M.Row(i), most) {
			continue
		}
		for j, m := range k.M.Row(i) {
			if stable := m >= 0 && m <= most; !stable { // NaN is not
				m := fixed.Float(m)
				return fmt.Errorf("wave: the steps are not stable: c·dt/h in cell (%d, %d) is %.4g, and must be between 0 and %.4g", i, j, math.Sqrt(m), MaxCourant)
			}
		}
	}
	return stepsCheckDamping(k, p)
}

func stepsCheckDamping[T rev.Real](k *Steps[T], p *rev.Pass[Steps[T]]) error {
	if err := k.check(k.U.Rows, k.U.Cols); err != nil || k.Width == 0 || k.U.Rows == 0 || k.U.Cols == 0 {
		return err
	}
	if T(1)/2 == 0 { // fixed point
		t := &p.T
		tangents := t.U.Data != nil || t.Prev.Data != nil || t.M.Data != nil || t.Source.Data != nil || t.Trace.Data != nil
		return k.Absorbed.prepare(k.U.Rows, k.U.Cols, k.Width, k.N, tangents, p.Back)
	}
	bits := 26.
	if _, ok := any(T(0)).(float32); ok {
		bits = 12
	}
	if lost := -float64(k.N) * math.Log2(k.keptPart(0)); p.Back && lost > bits {
		return fmt.Errorf("wave: %d damped steps back would multiply rounding errors by 2^%.0f, and 2^%.0f is allowed: use fixed.Q43", k.N, lost, bits)
	}
	return nil
}

// stepsRetrace is rev.Retrace with zeros for the tangents of U and Prev. Absorbed holds the bits that
// their damping lost before, which p restores. Here it loses the same bits to other memory.
func stepsRetrace[T rev.Real](k Steps[T], p rev.Pass[Steps[T]]) error {
	w := workspace.Get[*zeroTangents[T]]()
	size := k.U.Rows * k.U.Cols
	*w = workspace.Zeros(*w, 2*size)
	p.T.U = rev.NewGeneral(k.U.Rows, k.U.Cols, (*w)[:size])
	p.T.Prev = rev.NewGeneral(k.U.Rows, k.U.Cols, (*w)[size:])
	state, ahead := k, p.T
	state.Trace.Data, ahead.Trace.Data = nil, nil
	var held losses
	if k.Absorbed != nil {
		held, k.Absorbed.tangent = k.Absorbed.tangent, losses{}
	}
	err := stepsRun(&state, &rev.Pass[Steps[T]]{Back: true})
	if err == nil {
		err = stepsRun(&state, &rev.Pass[Steps[T]]{Tangent: true, T: ahead})
	}
	if k.Absorbed != nil {
		k.Absorbed.tangent = held
	}
	if err == nil {
		err = stepsRun(&k, &p)
	}
	workspace.Put(w)
	return err
}

// zeroTangents is memory for the tangents of U and Prev.
type zeroTangents[T any] []T

func takeSteps[T rev.Real, F cpu.Float](k *Steps[T], p *rev.Pass[Steps[T]]) {
	w := workspace.Get[*stepsWork[T, F]]()
	w.begin(k, p)
	if p.Back {
		w.swapFields()
		for _, g := range [...]*fields[T]{&w.g, &w.gt} {
			negate(g[(k.N-1)&1])
		}
		for n := k.N - 1; n >= 0; n-- {
			w.back(n)
		}
		for _, g := range [...]*fields[T]{&w.g, &w.gt} {
			negate(g[1])
		}
	} else {
		for n := range k.N {
			w.advance(n)
		}
		w.swapFields()
	}
	w.k, w.p = Steps[T]{}, rev.Pass[Steps[T]]{}
	w.s, w.t, w.g, w.gt = fields[T]{}, fields[T]{}, fields[T]{}, fields[T]{}
	workspace.Put(w)
}

// fields are two fields, of which the even steps change the second and the odd steps the
// first.
type fields[T any] [2]rev.General[T]

// A stepsWork takes steps. The cotangent of the field that a step does not change is
// stored with the opposite sign. The adjoint of the wave equation is then of the same
// form as the wave equation, and changes one field:
//
//	z <- 2·w̄ - z + L(M∘w̄)
//
// where z is -Ū before and Ū after.
type stepsWork[T rev.Real, F cpu.Float] struct {
	k     Steps[T]
	p     rev.Pass[Steps[T]]
	s     fields[T] // the state
	t     fields[T] // its tangents, cotangents and their tangents: nil if absent
	g, gt fields[T]

	step  int
	rings bool // whether a block is a ring of damped cells, and not a block of rows

	spare    [3][]T // derivatives that the caller does not have
	zero     []T    // the row next to the grid
	zeroF    []F
	mirrors  []T // of each worker: the rows beyond that, of the state and of its tangent
	products []F // of each worker: M∘v for a row and its neighbours, and a mirror
}

const (
	bandRows  = 2*stencil.Reach + 1
	blockRows = 16 // rows of a block
)

// parallelCells is the number of cells from which on a second worker pays.
const parallelCells = 1 << 14

func (w *stepsWork[T, F]) begin(k *Steps[T], p *rev.Pass[Steps[T]]) {
	w.k, w.p = *k, *p
	w.s = fields[T]{k.U, k.Prev}
	for i, d := range [...]struct {
		of *Steps[T]
		to *fields[T]
	}{{&p.T, &w.t}, {&p.G, &w.g}, {&p.GT, &w.gt}} {
		*d.to = w.complete(i, d.of)
	}
	w.zero = workspace.Zeros(w.zero, k.U.Cols)
	w.zeroF = workspace.Zeros(w.zeroF, k.U.Cols)
	w.mirrors = workspace.Grow(w.mirrors, w.workers()*2*k.U.Cols)
	w.products = workspace.Grow(w.products, w.workers()*(bandRows+1)*k.U.Cols)
}

func (w *stepsWork[T, F]) workers() int {
	if w.k.U.Rows*w.k.U.Cols < parallelCells {
		return 1
	}
	return parallel.Workers(w.k.Workers)
}

// complete returns the derivatives of the state, with zeros for those that are absent. It
// returns nil fields if there are no derivatives at all.
func (w *stepsWork[T, F]) complete(i int, d *Steps[T]) fields[T] {
	f := fields[T]{d.U, d.Prev}
	if d.U.Data == nil && d.Prev.Data == nil && d.M.Data == nil && d.Source.Data == nil && d.Trace.Data == nil {
		return f
	}
	rows, cols := w.k.U.Rows, w.k.U.Cols
	size := rows * cols
	for j := range f {
		if f[j].Data == nil {
			if len(w.spare[i]) < 2*size {
				w.spare[i] = workspace.Grow(w.spare[i], 2*size)
			}
			spare := w.spare[i][j*size:][:size]
			clear(spare)
			f[j] = rev.NewGeneral(rows, cols, spare)
		}
	}
	return f
}

// swapFields makes the later field of each pair the first one after an odd number of
// steps.
func (w *stepsWork[T, F]) swapFields() {
	if w.k.N%2 == 0 {
		return
	}
	for _, f := range [...]*fields[T]{&w.s, &w.t, &w.g, &w.gt} {
		if f[0].Data == nil {
			continue
		}
		for i := range f[0].Rows {
			b := f[1].Row(i)
			for j, v := range f[0].Row(i) {
				f[0].Row(i)[j], b[j] = b[j], v
			}
		}
	}
}

func negate[T rev.Real](x rev.General[T]) {
	if x.Data == nil {
		return
	}
	for i := range x.Rows {
		row := x.Row(i)
		for j, v := range row {
			row[j] = -v
		}
	}
}

// advance takes step n.
func (w *stepsWork[T, F]) advance(n int) {
	w.run(n, false)
	w.run(n, true)
	for _, d := range w.stateAndTangent() {
		addToCells(d.f[1-n&1], w.k.SourceAt, 1, d.k.Source, n) // raw: a sign
		addToRow(d.k.Trace, n, 1, d.f[1-n&1], w.k.ReceiverAt)  // raw: a sign
	}
}

// back inverts step n.
func (w *stepsWork[T, F]) back(n int) {
	for _, d := range w.stateAndTangent() {
		addToRow(d.k.Trace, n, -1, d.f[1-n&1], w.k.ReceiverAt)  // raw: a sign
		addToCells(d.f[1-n&1], w.k.SourceAt, -1, d.k.Source, n) // raw: a sign
	}
	for _, d := range [...]fieldPair[T]{{&w.g, &w.p.G}, {&w.gt, &w.p.GT}} {
		addToCells(d.f[1-n&1], w.k.ReceiverAt, 1, d.k.Trace, n) // raw: a sign
		addToRow(d.k.Source, n, 1, d.f[1-n&1], w.k.SourceAt)    // raw: a sign
	}
	w.run(n, true)
	w.run(n, false)
}

// A fieldPair is a pair of fields, and the kernel with their sources and traces.
type fieldPair[T rev.Real] struct {
	f *fields[T]
	k *Steps[T]
}

// stateAndTangent returns the state and its tangents.
func (w *stepsWork[T, F]) stateAndTangent() [2]fieldPair[T] {
	return [...]fieldPair[T]{{&w.s, &w.k}, {&w.t, &w.p.T}}
}

// addToCells adds sign times row n of m to some cells of x, unless one of them is nil.
func addToCells[T rev.Real](x rev.General[T], cells []int, sign T, m rev.General[T], n int) {
	if x.Data == nil || m.Data == nil {
		return
	}
	for i, at := range cells {
		x.Data[at/x.Cols*x.Stride+at%x.Cols] += T(sign * m.Row(n)[i])
	}
}

// addToRow adds sign times some cells of x to row n of m, unless one of them is nil.
func addToRow[T rev.Real](m rev.General[T], n int, sign T, x rev.General[T], cells []int) {
	if x.Data == nil || m.Data == nil {
		return
	}
	for i, at := range cells {
		m.Row(n)[i] += T(sign * x.Data[at/x.Cols*x.Stride+at%x.Cols])
	}
}

// run runs the wave equation or the damping of step n in parallel.
func (w *stepsWork[T, F]) run(n int, rings bool) {
	w.step, w.rings = n, rings
	blocks := (w.k.U.Rows + blockRows - 1) / blockRows
	if rings {
		blocks = w.k.Width
	}
	parallel.Run(w.workers(), blocks, w)
}

// Block implements parallel.Task.
func (w *stepsWork[T, F]) Block(worker, block int) {
	now := w.step & 1
	if w.rings {
		w.damp(block, now)
		return
	}
	from := block * blockRows
	to := min(from+blockRows, w.k.U.Rows)
	u, tu := w.s[now], w.t[now]
	mirrors := w.mirrors[worker*2*u.Cols:][:2*u.Cols]
	w.leap(w.s[1-now], u, from, to, mirrors[:u.Cols])
	if tu.Data != nil {
		w.leap(w.t[1-now], tu, from, to, mirrors[u.Cols:])
	}
	if w.p.T.M.Data != nil || w.p.G.M.Data != nil || w.p.GT.M.Data != nil {
		w.byM(now, from, to, mirrors)
	}
	if w.g[0].Data != nil {
		w.backRows(worker, from, to, w.g[1-now], w.g[now], rev.General[T]{}, rev.General[T]{})
	}
	if w.gt[0].Data != nil {
		w.backRows(worker, from, to, w.gt[1-now], w.gt[now], w.p.T.M, w.g[1-now])
	}
}

// leap is stencil.Leap for rows from to to-1.
func (w *stepsWork[T, F]) leap(dst, u rev.General[T], from, to int, mirror []T) {
	lo, hi := max(from, stencil.Reach), min(to, u.Rows-stencil.Reach)
	if lo < hi {
		stencil.LeapRows(&dst, &w.k.M, &u, lo, hi)
	}
	for i := from; i < to; i++ {
		if i < lo || i >= hi {
			b := w.band(u, i, mirror)
			stencil.Leap(dst.Row(i), w.k.M.Row(i), &b)
		}
	}
}

// byM computes what derivatives of M add to, and what they get.
func (w *stepsWork[T, F]) byM(now, from, to int, mirrors []T) {
	u, tu := w.s[now], w.t[now]
	for i := from; i < to; i++ {
		b := w.band(u, i, mirrors[:u.Cols])
		var tb stencil.Band[T]
		if tu.Data != nil {
			tb = w.band(tu, i, mirrors[u.Cols:])
			if w.p.T.M.Data != nil {
				stencil.AddMul(w.t[1-now].Row(i), w.p.T.M.Row(i), &b)
			}
		}
		if w.p.G.M.Data != nil {
			stencil.AddMul(w.p.G.M.Row(i), w.g[1-now].Row(i), &b)
		}
		if w.p.GT.M.Data != nil {
			if w.gt[1-now].Data != nil {
				stencil.AddMul(w.p.GT.M.Row(i), w.gt[1-now].Row(i), &b)
			}
			if tu.Data != nil && w.g[1-now].Data != nil {
				stencil.AddMul(w.p.GT.M.Row(i), w.g[1-now].Row(i), &tb)
			}
		}
	}
}

// band returns row i of x between its neighbours.
func (w *stepsWork[T, F]) band(x rev.General[T], i int, mirror []T) (b stencil.Band[T]) {
	if from := i - stencil.Reach; from >= 0 && i+stencil.Reach < x.Rows {
		for r := range b {
			b[r] = x.Row(from + r)
		}
		return b
	}
	return bandOf(i, x.Rows, x.Row, w.zero, mirror)
}

// bandOf returns row i of n rows between its neighbours. mirror is memory for the row two
// rows outside the grid.
func bandOf[T rev.Real](i, n int, row func(i int) []T, zero, mirror []T) (b stencil.Band[T]) {
	for r := range b {
		switch at := i + r - stencil.Reach; at {
		case -1, n:
			b[r] = zero
		case -2, n + 1:
			for j, v := range row(i) {
				mirror[j] = -v
			}
			b[r] = mirror
		default:
			b[r] = row(at)
		}
	}
	return b
}

// backRows computes z <- 2·v - z + L(M∘v + mDot∘g) for some rows. mDot and g may be nil.
func (w *stepsWork[T, F]) backRows(worker, from, to int, v, z, mDot, g rev.General[T]) {
	memory := w.products[worker*(bandRows+1)*v.Cols:][:(bandRows+1)*v.Cols]
	product := func(i int) []F { return memory[i%bandRows*v.Cols:][:v.Cols] }
	compute := func(i int) {
		if i < 0 || i >= v.Rows {
			return
		}
		p := product(i)
		stencil.Mul(p, w.k.M.Row(i), v.Row(i))
		if mDot.Data != nil && g.Data != nil {
			stencil.AddProduct(p, mDot.Row(i), g.Row(i))
		}
	}
	for i := from - stencil.Reach; i < from+stencil.Reach; i++ {
		compute(i)
	}
	for i := from; i < to; i++ {
		compute(i + stencil.Reach)
		b := bandOf(i, v.Rows, product, w.zeroF, memory[bandRows*v.Cols:])
		stencil.LeapBack(z.Row(i), v.Row(i), &b)
	}
}

// damp damps ring d, or makes the inverse of that.
func (w *stepsWork[T, F]) damp(d, now int) {
	ring := ringOf(w.k.U.Rows, w.k.U.Cols, d)
	kept := w.k.keptPart(d)
	move := func(f fields[T], lost func(a *Absorbed) *losses) {
		if f[0].Data == nil {
			return
		}
		if u, ok := any(f[now]).(rev.General[fixed.Q43]); ok {
			lost(w.k.Absorbed).move(ring, d, u, any(f[1-now]).(rev.General[fixed.Q43]), w.k.numerator(d), w.p.Back)
			return
		}
		factor := kept
		if w.p.Back {
			factor = 1 / kept
		}
		u, x := f[now], f[1-now]
		ring.each(func(i, j int) {
			a, b := u.Data[i*u.Stride+j], &x.Data[i*x.Stride+j]
			*b = a + T(T(factor)*(*b-a))
		})
	}
	move(w.s, func(a *Absorbed) *losses { return &a.field })
	move(w.t, func(a *Absorbed) *losses { return &a.tangent })
	for _, g := range [...]*fields[T]{&w.g, &w.gt} {
		if g[0].Data == nil {
			continue
		}
		z, v := g[now], g[1-now]
		ring.each(func(i, j int) {
			at := &v.Data[i*v.Stride+j]
			less := fixed.Of[T](kept * fixed.Float(*at))
			z.Data[i*z.Stride+j] -= *at - less
			*at = less
		})
	}
}
