package revlinalg

import (
	"unsafe"

	"revnum/internal/simd/vec"
	"revnum/internal/vector"
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
// and in the inverse, as the inverse of a unitary matrix is its conjugate transpose,
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

// Run implements rev.Kernel. It returns no error.
func (k ComplexUnitary) Run(p rev.Pass[ComplexUnitary]) error {
	x, g, t, gt := k.operands(), p.G.operands(), p.T.operands(), p.GT.operands()
	runUnitary(unitaryMethod{p.Back, p.Adjoint, p.Tangent, false}, k.Rectangular, k.Workers, &x, &g, &t, &gt)
	return nil
}

func (k *ComplexUnitary) operands() unitaryOperands[float64] {
	o := unitaryOperands[float64]{theta: k.Theta, phi: k.Phi, delta: k.Delta}
	if k.X.Data != nil {
		data := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(k.X.Data))), 2*len(k.X.Data))
		o.x = rev.General[float64]{Rows: k.X.Rows, Cols: 2 * k.X.Cols, Data: data, Stride: 2 * k.X.Stride}
	}
	return o
}

// phases holds the phases of the rotations of a panel, or of the rows of the result.
// There are none unless T is float64.
type phases[T rev.Real] struct {
	k, g, t, gt    rev.Vector[T] // the operand, its cotangent and the tangents of both
	c, s           []T           // cosines and sines
	sums, tangents []T           // of each part, what its columns add to g and gt, or nil
}

// begin makes room for n phases.
func (f *phases[T]) begin(n, parts int, cross, crossTangent bool) {
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
func (f *phases[T]) set(at, element int) { f.c[at] = f.k.Data[element*f.k.Inc] }

func (f *phases[T]) load() {
	c := float64s(f.c, 0)
	vec.SinCos(float64s(f.s, 0), c, c)
}

func (f *phases[T]) drop() {
	f.k, f.g, f.t, f.gt = rev.Vector[T]{}, rev.Vector[T]{}, rev.Vector[T]{}, rev.Vector[T]{}
}

// turn multiplies a row by a phase in the table, for an element of the operand, or divides it
// if back is set. A tangent gets i·φ̇ times the row in both cases, with the sign of the turn.
func (f *phases[T]) turn(x *unitaryColumns[T], part, row, at, element int, back bool) {
	c, s, d := f.c[at], f.s[at], vector.Element(f.t, element)
	if back {
		s, d = -s, -d
	}
	for _, v := range [...]*rev.General[T]{&x.x, &x.tx, &x.gx, &x.gtx} {
		if v.Data != nil {
			turnPhase(v.Row(row), c, s)
		}
	}
	addImaginary(x.tx, d, x.x, row)
	addImaginary(x.gtx, d, x.gx, row)
	f.add(x, part, row, at)
}

// add sets the sums of a part. They are the same before and after a turn.
func (f *phases[T]) add(x *unitaryColumns[T], part, row, at int) {
	i := part*len(f.c) + at
	if len(f.sums) > 0 {
		f.sums[i] = imaginaryDot(x.x, x.gx, row)
	}
	if len(f.tangents) > 0 {
		f.tangents[i] = imaginaryDot(x.tx, x.gx, row) + imaginaryDot(x.x, x.gtx, row)
	}
}

// join adds the sums at a place to an element of the cotangent.
func (f *phases[T]) join(at, element, parts int, back bool) {
	addParts(f.g, element, f.sums, at, len(f.c), parts, back)
	addParts(f.gt, element, f.tangents, at, len(f.c), parts, back)
}

func addParts[T rev.Real](to rev.Vector[T], element int, sums []T, at, size, parts int, back bool) {
	if len(sums) == 0 {
		return
	}
	var sum T
	for part := range parts {
		sum += sums[part*size+at]
	}
	if !back {
		sum = -sum
	}
	to.Data[element*to.Inc] += sum
}

// The functions below take rows of complex numbers, as real and imaginary parts in
// turn. They do nothing if an operand is nil.

// turnPhase multiplies a row by c + i·s.
func turnPhase[T rev.Real](row []T, c, s T) {
	for j := 0; j+1 < len(row); j += 2 {
		re, im := row[j], row[j+1]
		row[j], row[j+1] = T(c*re)-T(s*im), T(s*re)+T(c*im)
	}
}

// addImaginary adds i·alpha times row i of x to that of y.
func addImaginary[T rev.Real](y rev.General[T], alpha T, x rev.General[T], i int) {
	if x.Data == nil || y.Data == nil {
		return
	}
	from, to := x.Row(i), y.Row(i)
	for j := 0; j+1 < len(from); j += 2 {
		to[j] -= T(alpha * from[j+1])
		to[j+1] += T(alpha * from[j])
	}
}

// imaginaryDot returns ⟨i·x, y⟩ of row i, 0 for nil.
func imaginaryDot[T rev.Real](x, y rev.General[T], i int) T {
	if x.Data == nil || y.Data == nil {
		return 0
	}
	a, b := x.Row(i), y.Row(i)
	var sum T
	for j := 0; j+1 < len(a); j += 2 {
		sum += T(a[j]*b[j+1]) - T(a[j+1]*b[j])
	}
	return sum
}
