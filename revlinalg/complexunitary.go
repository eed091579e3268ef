package revlinalg

import (
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// ComplexUnitary is the kernel
//
//	X <- U(θ, φ, δ)·X
//
// in place, where X is a complex matrix of N rows and U is unitary: N(N-1)/2
// rotations of neighbouring rows, each with a phase, and then a phase for each
// row. A rotation of the rows a and b is
//
//	a' = cos θ·e^iφ·a - sin θ·b
//	b' = sin θ·e^iφ·a + cos θ·b
//
// with θ and φ the elements of Theta and Phi, in radians, in the order of Unitary, or
// in its rectangular order if Rectangular is set. In the end row i is multiplied by
// e^iδ_i. These are N² real numbers, and any unitary matrix is a U(θ, φ, δ).
// UnitaryAngles returns them. Methods apply several rotations together as those of
// Unitary do.
//
// # Derivatives
//
// The cotangent of a complex number is z̄ = ∂/∂Re z + i·∂/∂Im z, and ⟨x, y⟩ = Re Σ
// conj(x)·y over the columns. With a₁ = e^iφ·a,
//
//	ȧ₁ = e^iφ·ȧ + i·φ̇·a₁,   ȧ' = c·ȧ₁ - s·ḃ - θ̇·b',   ḃ' = s·ȧ₁ + c·ḃ + θ̇·a'
//
// and on the way back, as the inverse of a unitary matrix is its conjugate transpose,
//
//	θ̄ += ⟨a', b̄'⟩ - ⟨b', ā'⟩   ā₁ = c·ā' + s·b̄'   b̄ = c·b̄' - s·ā'
//	φ̄ += ⟨i·a₁, ā₁⟩             ā = e^-iφ·ā₁
//
// δ̄ is like φ̄. For the second order, the tangent of ā₁ is as in Unitary, and that of ā
// is e^-iφ·(ġa₁ - i·φ̇·ā₁).
//
// # Rounding
//
// The bounds are twice those of Unitary, because of the phases. The bits do not depend
// on the number of workers.
//
// Sources: Reck et al. (1994), and Clements et al., Optimal design for universal
// multiport interferometers (2016), eq. 1, where the phases are placed as here.
type ComplexUnitary struct {
	X           rev.General[complex128] `rev:"inout" shape:"n,c"`
	Theta       rev.Vector[float64]     `rev:"in" shape:"n*(n-1)/2"`
	Phi         rev.Vector[float64]     `rev:"in" shape:"n*(n-1)/2"`
	Delta       rev.Vector[float64]     `rev:"in" shape:"n"` // phases of the result's rows
	Rectangular bool                    // the order of Clements et al.
	Workers     int                     // 0 means GOMAXPROCS
}

// NewComplexUnitary returns the kernel over gonum's types, sharing their storage.
// A nil vector is absent, or has no elements.
func NewComplexUnitary(x *mat.CDense, theta, phi, delta *mat.VecDense) ComplexUnitary {
	return ComplexUnitary{
		X: rev.ViewCDense(x), Theta: rev.ViewVec(theta), Phi: rev.ViewVec(phi), Delta: rev.ViewVec(delta),
	}
}

// Forward computes X <- U·X.
func (k ComplexUnitary) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes X <- Uᴴ·X.
func (k ComplexUnitary) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes X <- Uᴴ·X, x̄ <- Uᴴ·x̄, and adds to θ̄, φ̄ and δ̄.
func (k ComplexUnitary) Adjoint(g ComplexUnitary) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes X <- U·X and ẋ <- U·ẋ + U̇·X.
func (k ComplexUnitary) Tangent(t ComplexUnitary) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, undoes Tangent, and computes in gt
// the tangents of the cotangents. Derivatives whose operand is nil in g or t are not
// computed.
func (k ComplexUnitary) AdjointTangent(g, t, gt ComplexUnitary) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexUnitary) Run(p rev.Pass[ComplexUnitary]) error {
	k.pass(unitaryMethodOf(p.Back, p.Adjoint, p.Tangent), p.G, p.T, p.GT)
	return nil
}

// asReal returns the rotations of k without their phases. They are those of a real
// matrix in which the real and imaginary parts of a column are two columns.
func (k *ComplexUnitary) asReal() Unitary[float64] {
	r := Unitary[float64]{Theta: k.Theta, Rectangular: k.Rectangular}
	if k.X.Data != nil {
		data := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(k.X.Data))), 2*len(k.X.Data))
		r.X = rev.General[float64]{Rows: k.X.Rows, Cols: 2 * k.X.Cols, Data: data, Stride: 2 * k.X.Stride}
	}
	return r
}

// A complexPass is a method at work: the real rotations with the phases between them,
// and the phases of the result's rows. The latter are applied row by row, and so are
// the former unless rotations are applied in runs.
type complexPass struct {
	unitaryPass[float64]
	between, delta phases
}

// pass runs a method.
func (k *ComplexUnitary) pass(method unitaryMethod, g, t, gt ComplexUnitary) {
	workers := parallel.Workers(k.Workers)
	if k.X.Rows == 0 || k.X.Cols == 0 {
		return
	}
	if method == unitaryAdjointTangent { // as for Unitary
		w := workspace.Get[unitaryCopy[complex128]]()
		x, gx := w.of(k.X, g.X)
		second := *k
		second.X = x
		second.pass(unitaryTangentsBack, ComplexUnitary{X: gx}, t, gt)
		workspace.Put(w)
		method, t, gt = unitaryAdjoint, ComplexUnitary{}, ComplexUnitary{}
	}
	w := workspace.Get[complexPass]()
	w.method, w.k, w.g, w.t, w.gt = method, k.asReal(), g.asReal(), t.asReal(), gt.asReal()
	if w.inRuns() {
		w.phi, w.gphi, w.tphi = k.Phi, g.Phi, t.Phi
	}
	w.between.k, w.between.g, w.between.t, w.between.gt = k.Phi, g.Phi, t.Phi, gt.Phi
	w.delta.k, w.delta.g, w.delta.t, w.delta.gt = k.Delta, g.Delta, t.Delta, gt.Delta
	chains := w.cut()
	panels := max(1, (w.chains()+chains-1)/chains) // a single row has a phase, too
	for i := range panels {
		if method.back() {
			i = panels - 1 - i
		}
		w.first, w.end = i*chains, min((i+1)*chains, w.chains())
		w.load(workers)
		if !w.inRuns() {
			w.between.begin(w.size(), w.parts, w.wantsCross(), w.wantsCrossTangent())
			for p := w.before(w.first); p.next(w.end); {
				w.between.set(w.index(p.chain, p.row), w.angle(p.chain, p.row))
			}
			w.between.load()
		}
		if w.end == w.chains() {
			w.delta.begin(w.n, w.parts, w.wantsCross(), w.wantsCrossTangent())
			for i := range w.n {
				w.delta.set(i, i)
			}
			w.delta.load()
		}
		parallel.Run(workers, w.parts, w)
		w.join(workers)
	}
	w.k, w.g, w.t, w.gt = Unitary[float64]{}, Unitary[float64]{}, Unitary[float64]{}, Unitary[float64]{}
	w.phi, w.gphi, w.tphi = rev.Vector[float64]{}, rev.Vector[float64]{}, rev.Vector[float64]{}
	w.between.drop()
	w.delta.drop()
	workspace.Put(w)
}

// Block does the work on a part of the columns.
func (w *complexPass) Block(_, part int) {
	c := w.columns(part)
	last := w.end == w.chains()
	for i := 0; last && w.method.back() && i < w.n; i++ {
		w.delta.back(&c, part, i, i, i)
	}
	switch {
	case w.inRuns():
		c.runStrips()
	case w.method.back():
		for p := w.before(w.end); p.previous(w.first); {
			c.back(p)
			w.between.back(&c, part, p.row, w.index(p.chain, p.row), w.angle(p.chain, p.row))
		}
	default:
		for p := w.before(w.first); p.next(w.end); {
			w.between.forward(&c, part, p.row, w.index(p.chain, p.row), w.angle(p.chain, p.row))
			c.forward(p)
		}
	}
	for i := 0; last && !w.method.back() && i < w.n; i++ {
		w.delta.forward(&c, part, i, i, i)
	}
}

// join adds the sums of the parts to the cotangents of angles and phases.
func (w *complexPass) join(workers int) {
	w.unitaryPass.join(workers)
	back := w.method.back()
	if !w.inRuns() {
		for p := w.before(w.first); p.next(w.end); {
			w.between.join(w.index(p.chain, p.row), w.angle(p.chain, p.row), w.parts, back)
		}
	}
	for i := 0; w.end == w.chains() && i < w.n; i++ {
		w.delta.join(i, i, w.parts, back)
	}
}

// phases are those of the rotations of a panel, or those of the rows of the result.
type phases struct {
	k, g, t, gt    rev.Vector[float64] // the operand, its cotangent and the tangents of both
	c, s           []float64           // cosines and sines
	sums, tangents []float64           // of each part, what its columns add to g and gt, or nil
}

// begin makes room for n phases.
func (f *phases) begin(n, parts int, cross, crossTangent bool) {
	f.c, f.s = workspace.Grow(f.c, n), workspace.Grow(f.s, n)
	clear(f.c) // for rotations without a phase
	f.sums, f.tangents = f.sums[:0], f.tangents[:0]
	if cross && f.g.Data != nil {
		f.sums = workspace.Grow(f.sums, parts*n)
	}
	if crossTangent && f.gt.Data != nil {
		f.tangents = workspace.Grow(f.tangents, parts*n)
	}
}

// set puts an element of the operand into the table.
func (f *phases) set(at, element int) { f.c[at] = f.k.Data[element*f.k.Inc] }

func (f *phases) load() { vec.SinCos(f.s, f.c, f.c) }

func (f *phases) drop() {
	f.k, f.g, f.t, f.gt = rev.Vector[float64]{}, rev.Vector[float64]{}, rev.Vector[float64]{}, rev.Vector[float64]{}
}

// forward multiplies a row by a phase in the table, for an element of the operand.
func (f *phases) forward(x *unitaryColumns[float64], part, row, at, element int) {
	c, s, d := f.c[at], f.s[at], f.tangent(element)
	turnPhase(x.x, row, c, s)
	if x.tx.Data != nil {
		turnPhase(x.tx, row, c, s)
		addImaginary(x.tx, d, x.x, row)
	}
	if x.gx.Data != nil {
		turnPhase(x.gx, row, c, s)
	}
	if x.gtx.Data != nil {
		turnPhase(x.gtx, row, c, s)
		if x.gx.Data != nil {
			addImaginary(x.gtx, d, x.gx, row)
		}
	}
	f.add(x, part, row, at)
}

// back undoes forward.
func (f *phases) back(x *unitaryColumns[float64], part, row, at, element int) {
	c, s, d := f.c[at], f.s[at], f.tangent(element)
	f.add(x, part, row, at)
	if x.gtx.Data != nil {
		if x.gx.Data != nil {
			addImaginary(x.gtx, -d, x.gx, row)
		}
		turnPhase(x.gtx, row, c, -s)
	}
	if x.gx.Data != nil {
		turnPhase(x.gx, row, c, -s)
	}
	if x.tx.Data != nil {
		addImaginary(x.tx, -d, x.x, row)
		turnPhase(x.tx, row, c, -s)
	}
	turnPhase(x.x, row, c, -s)
}

// tangent returns the tangent of an element.
func (f *phases) tangent(element int) float64 {
	if f.t.Data == nil {
		return 0
	}
	return f.t.Data[element*f.t.Inc]
}

// add sets the sums of a part.
func (f *phases) add(x *unitaryColumns[float64], part, row, at int) {
	i := part*len(f.c) + at
	if len(f.sums) > 0 {
		f.sums[i] = imaginaryDot(x.x, x.gx, row)
	}
	if len(f.tangents) > 0 {
		var d float64
		if x.tx.Data != nil && x.gx.Data != nil {
			d += imaginaryDot(x.tx, x.gx, row)
		}
		if x.gtx.Data != nil {
			d += imaginaryDot(x.x, x.gtx, row)
		}
		f.tangents[i] = d
	}
}

// join adds the sums at a place to an element of the cotangent.
func (f *phases) join(at, element, parts int, back bool) {
	addParts(f.g, element, f.sums, at, len(f.c), parts, back)
	addParts(f.gt, element, f.tangents, at, len(f.c), parts, back)
}

func addParts(to rev.Vector[float64], element int, sums []float64, at, size, parts int, back bool) {
	if len(sums) == 0 {
		return
	}
	var sum float64
	for part := range parts {
		sum += sums[part*size+at]
	}
	if !back {
		sum = -sum
	}
	to.Data[element*to.Inc] += sum
}

// The functions below take rows of complex numbers, as real and imaginary parts in
// turn.

// turnPhase multiplies row i of x by c + i·s.
func turnPhase(x rev.General[float64], i int, c, s float64) {
	row := x.Row(i)
	for j := 0; j+1 < len(row); j += 2 {
		re, im := row[j], row[j+1]
		row[j], row[j+1] = float64(c*re)-float64(s*im), float64(s*re)+float64(c*im)
	}
}

// addImaginary adds i·alpha times row i of x to that of y.
func addImaginary(y rev.General[float64], alpha float64, x rev.General[float64], i int) {
	from, to := x.Row(i), y.Row(i)
	for j := 0; j+1 < len(from); j += 2 {
		to[j] -= float64(alpha * from[j+1])
		to[j+1] += float64(alpha * from[j])
	}
}

// imaginaryDot returns ⟨i·x, y⟩ of row i.
func imaginaryDot(x, y rev.General[float64], i int) float64 {
	a, b := x.Row(i), y.Row(i)
	var sum float64
	for j := 0; j+1 < len(a); j += 2 {
		sum += float64(a[j]*b[j+1]) - float64(a[j+1]*b[j])
	}
	return sum
}
