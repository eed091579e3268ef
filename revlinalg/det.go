package revlinalg

import (
	"math"

	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Det is the kernel
//
//	Out += det A
//
// of a square matrix, with the derivatives
//
//	Ā += Ōut·C,  Ȯut += ⟨C, Ȧ⟩,  ġA += ġOut·C + Ōut·Ċ
//
// where C is the matrix of cofactors, which exists for every A. The determinant of a
// matrix without rows is 1.
//
// The determinant is the product of the pivots of elimination with partial pivoting. It
// is multiplied with a separate exponent, so that only the result can overflow or
// underflow. It is that of a matrix within about 3n·ε·|L|·|U| of A (Higham 2002,
// theorem 9.3). For small matrices DetMinors is closer, because it does not divide. It
// is also the kernel for fixed point, where an inverse leaves the range if pivots are
// small.
//
// If A is well-conditioned, C and Ċ are, with V = A⁻¹ and W = V·Ȧ,
//
//	C_ij = det A·V_ji,  Ċ_ij = det A·Σ_{k≠j} (W_kk·V_ji - W_jk·V_ki),
//
// within about n·ε·κ(A), column by column. As k = j is left out, a column of Ȧ that is
// large beside that of A does not spoil the others. If the pivots (see Solve) show that
// κ(A) exceeds 1.6e5, or 200 for float32, C and Ċ come from the singular values of A =
// U·Σ·Vᵀ. This takes longer and needs no inverse. With s = det U·det V and W = Uᵀ·Ȧ·V,
//
//	C = s·U·D·Vᵀ,  D_ii = Π_{k≠i} σ_k,
//	Ċ = s·U·Ḋ·Vᵀ,  Ḋ_ii = Σ_{k≠i} W_kk·p_ik,  Ḋ_ij = -W_ji·p_ij,  p_ij = Π_{k≠i,j} σ_k.
//
// Singular matrices therefore have the right gradient too, within about n·ε times the
// product of all singular values but the least. Columns whose magnitude is far from one
// are scaled by powers of two before the elimination. The bits do not depend on the
// number of workers.
type Det[T rev.Float] struct {
	Out     *T             `rev:"acc"`
	A       rev.General[T] `rev:"in" shape:"n,n"`
	Workers int            // 0 means GOMAXPROCS
}

// detRun is Run of Det. It returns no error.
func detRun[T rev.Float](k *Det[T], p *rev.Pass[Det[T]]) error {
	sign := T(p.Sign())
	w := workspace.Get[*detWork[T]]()
	w.factor(k.Workers, k.A)
	if k.Out != nil {
		*k.Out += T(sign * T(w.determinant().float()))
	}
	if p.Adjoint || p.Tangent {
		w.setCofactors(k.A)
	}
	if p.T.Out != nil && p.T.A.Data != nil {
		var dot T
		for i := range w.c.Rows {
			dot += vector.Dot(vector.Row(w.c, i), vector.Row(p.T.A, i))
		}
		*p.T.Out += T(sign * dot)
	}
	if p.G.Out != nil {
		addShared(k.Workers, p.G.A, *p.G.Out, w.c)
		if p.GT.A.Data != nil && p.T.A.Data != nil {
			w.setCofactorTangents(p.T.A)
			addShared(k.Workers, p.GT.A, *p.G.Out, w.dc)
		}
	}
	if p.GT.Out != nil {
		addShared(k.Workers, p.GT.A, *p.GT.Out, w.c)
	}
	workspace.Put(w)
	return nil
}

// detWork has the factors of A, the cofactors, and their tangents.
type detWork[T rev.Float] struct {
	invWork[T]
	c, dc rev.General[T]

	shifts    []int // columns of A were multiplied by 2^shifts[j] before the elimination
	shifted   bool
	ill       bool             // the cofactors come from the singular values
	svd       singularValues   // of A
	u, vt, m  rev.General[T]   // U, Vᵀ, and a diagonal or full matrix between them
	ut        rev.General[T]   // Uᵀ, as the decomposition gives it
	diag      []T              // of A⁻¹·Ȧ
	orth      luFactor[T]      // of U and Vᵀ, for their signs
	sign      float64          // det U·det V
	products  []extendedNumber // of the first i singular values
	remaining []extendedNumber // of all but the first i
}

// factor computes the factors of A. It scales columns whose magnitude is far from one,
// so that neither the inverse nor products of two of its elements leave the range.
func (w *detWork[T]) factor(workers int, a rev.General[T]) {
	w.luFactor.factor(workers, a)
	far := 200
	if epsilon[T]() == 0x1p-23 {
		far = 20
	}
	w.shifts, w.shifted = workspace.Zeros(w.shifts, a.Cols), false
	for j, norm := range w.norms {
		if e := exponent(norm); e > far || e < -far {
			w.shifts[j], w.shifted = -e, true
		}
	}
	if !w.shifted {
		return
	}
	w.x = scratchCopy(w.x, a)
	shiftColumns(w.x, w.shifts, 1)
	w.luFactor.factor(workers, w.x)
}

// determinant returns det A.
func (w *detWork[T]) determinant() extendedNumber {
	d := w.luFactor.determinant()
	for _, e := range w.shifts {
		d.e -= e
	}
	return d
}

// setCofactors sets c.
func (w *detWork[T]) setCofactors(a rev.General[T]) {
	n := a.Rows
	w.c = zeros(w.c, n, n)
	limit := T(math.Cbrt(1 / float64(epsilon[T]())))
	c, _ := pivotRatio(w.norms, w.luFactor.diag)
	w.ill = c > limit && w.decompose(a)
	if !w.ill {
		w.y = w.inverse(w.y)
		w.scaleByDet(w.c, w.y)
		return
	}
	w.m = zeros(w.m, n, n)
	for i := range n {
		w.m.Row(i)[i] = T(w.sign * w.products[i].mul(w.remaining[i+1]).float())
	}
	addSandwich(w.workers, w.c, 1, view(w.u, false), view(w.m, false), view(w.vt, false))
}

// scaleByDet sets dst, which is zero, to det A·xᵀ, where x is that of A with scaled
// columns.
func (w *detWork[T]) scaleByDet(dst, x rev.General[T]) {
	det := w.determinant()
	if f := det.float(); !w.shifted && math.Abs(f) > 0x1p-100 && math.Abs(f) < 0x1p100 {
		addTransposed(w.workers, dst, T(f), x)
		return
	}
	for i := range x.Rows {
		d := det
		d.e += w.shifts[i]
		for j, v := range x.Row(i) {
			dst.Data[j*dst.Stride+i] = T(d.times(float64(v)).float())
		}
	}
}

// decompose computes U, V and products of the singular values of A. It returns false if
// there are none.
func (w *detWork[T]) decompose(a rev.General[T]) bool {
	n := a.Rows
	w.svd.sweepsAlone = true // cofactors are products of all values but one
	if _, ok := decomposeSVD(w.workers, &w.svd, a, true, false); !ok {
		return false
	}
	w.u, w.ut, w.vt = scratch(w.u, n, n), scratch(w.ut, n, n), scratch(w.vt, n, n)
	singularVectors(&w.svd, false, w.ut, w.vt)
	copyTransposed(w.u, w.ut)
	w.orth.factor(w.workers, w.u)
	w.sign = w.orth.determinant().m
	w.orth.factor(w.workers, w.vt)
	w.sign = math.Copysign(1, w.sign*w.orth.determinant().m)
	w.products, w.remaining = workspace.Grow(w.products, n+1), workspace.Grow(w.remaining, n+1)
	w.products[0], w.remaining[n] = extendedNumber{1, 0}, extendedNumber{1, 0}
	for i := range n {
		w.products[i+1] = w.products[i].times(w.svd.s[i])
		w.remaining[n-1-i] = w.remaining[n-i].times(w.svd.s[n-1-i])
	}
	return true
}

// cofactors turns W = x into the matrix M with M_jk = -det A·W_jk and M_jj = det
// A·Σ_{k≠j} W_kk, where W is that of A with scaled columns. Then Ċ_ij = Σ_k M_jk·V_ki.
func (w *detWork[T]) cofactors() {
	det := w.determinant()
	f := det.float()
	plain := !w.shifted && math.Abs(f) > 0x1p-100 && math.Abs(f) < 0x1p100
	w.diag = workspace.Grow(w.diag, w.x.Rows)
	for j := range w.diag {
		w.diag[j] = w.x.Row(j)[j]
	}
	for j := range w.diag {
		row, sum := w.x.Row(j), T(0)
		for k, v := range row {
			switch {
			case k == j:
			case plain:
				row[k] = T(-f * float64(v))
				sum += T(f * float64(w.diag[k]))
			default:
				d := det
				d.e += w.shifts[j] + w.shifts[k]
				row[k] = -T(d.times(float64(v)).float())
				sum += T(d.times(float64(w.diag[k])).float())
			}
		}
		row[j] = sum
	}
}

// setCofactorTangents sets dc, after c.
func (w *detWork[T]) setCofactorTangents(ta rev.General[T]) {
	n := ta.Rows
	w.dc = zeros(w.dc, n, n)
	if !w.ill {
		w.x = zeros(w.x, n, n)
		multiply(w.workers, w.x, 1, view(w.y, false), view(ta, false))
		w.cofactors()
		multiply(w.workers, w.dc, 1, view(w.y, true), view(w.x, true))
		return
	}
	w.dy = zeros(w.dy, n, n) // W
	addSandwich(w.workers, w.dy, 1, view(w.u, true), view(ta, false), view(w.vt, true))
	w.m = zeros(w.m, n, n)
	for i := range n {
		p := w.products[i] // of all before j but i
		for j := i + 1; j < n; j++ {
			q := T(w.sign * p.mul(w.remaining[j+1]).float())
			w.m.Row(i)[i] += T(w.dy.Row(j)[j] * q)
			w.m.Row(j)[j] += T(w.dy.Row(i)[i] * q)
			w.m.Row(i)[j] = -T(w.dy.Row(j)[i] * q)
			w.m.Row(j)[i] = -T(w.dy.Row(i)[j] * q)
			p = p.times(w.svd.s[j])
		}
	}
	addSandwich(w.workers, w.dc, 1, view(w.u, false), view(w.m, false), view(w.vt, false))
}
