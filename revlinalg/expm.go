package revlinalg

import (
	"math"
	"unsafe"

	"revnum/internal/logs"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Expm is the kernel
//
//	Y += exp(A) = Σ_k A^k/k!
//
// of a square matrix. Its derivative at A in the direction E is
//
//	L(A, E) = Σ_{i,j} A^i·E·A^j/(i+j+1)!
//
// because A^k has the tangent Σ_{i+j=k-1} A^i·E·A^j. The inner product of Ȳ with A^i·E·A^j is that of E with
// (Aᵀ)^i·Ȳ·(Aᵀ)^j. With L₂(A, E, F) the derivative of L(A, E) as A moves in the direction F, therefore
//
//	Ā += L(Aᵀ, Ȳ),  Ẏ += L(A, Ȧ),  ġA += L(Aᵀ, ġY) + L₂(Aᵀ, Ȳ, Ȧᵀ).
//
// The third is the tangent of the first: L is linear in its direction.
//
// exp(A) is the square, s times, of the Taylor polynomial of degree 16 of A/2^s, where the 1-norm of
// A/2^s is at most ½, and in float32 at most 2, or where the first powers show
// that the terms which the polynomial leaves out are as small as with that norm. It takes 6 + s products of matrices. L is found by the same
// products of numbers a + e·ε with ε² = 0, whose parts are matrices: each takes 3 products, and for L₂ 9.
// The terms that the polynomial leaves out, also in L and L₂, are then below ε/2.
//
// Over float32, a call computes in float32 if A and Aᵀ have 1-norms below 16, and in float64 otherwise,
// because each squaring doubles the relative error. It also computes in float64 if Ȳ, Ȧ or ġY, or Ȳ times Ȧ,
// is so large that sums in float32 might overflow. Results in float64 are rounded once.
//
// The 1-norm of the error is within 30·n·ε·(1+‖A‖)·exp(‖A‖), with ‖A‖ the 1-norm of A, and that of L
// within ‖E‖ times this. If an element of A is not finite, neither are the results. The bits do not depend
// on the number of workers. There is no kernel over fixed point, where float64 would give each vector tier
// other bits.
//
// Source: P. Bader, S. Blanes and F. Casas, Computing the matrix exponential with an optimized Taylor
// polynomial approximation, Mathematics 7 (2019); N. J. Higham, Functions of Matrices (2008), 10.3 and 3.2;
// A. H. Al-Mohy and N. J. Higham, A new scaling and squaring algorithm for the matrix exponential, SIAM J.
// Matrix Anal. Appl. 31 (2009), 4 (a smaller s).
type Expm[T rev.Float] struct {
	Y       rev.General[T] `rev:"acc" shape:"n,n"`
	A       rev.General[T] `rev:"in" shape:"n,n"`
	Workers int            // 0 means GOMAXPROCS
}

// expmRun is Run of Expm. It returns no error.
func expmRun[T rev.Float](k *Expm[T], p *rev.Pass[Expm[T]]) error {
	if unsafe.Sizeof(T(0)) == 4 && !expmNeeds64(k, p) {
		expmIn[T](k, p)
	} else {
		expmIn[float64](k, p)
	}
	return nil
}

// expmNeeds64 reports whether float32 would lose digits of the results, or overflow.
//
// Below norm 16, parts of powers and sums are at most exp(16) times the norms that they are linear in. Two of
// these are added, so with norms up to 2¹⁰⁰ all stay below 2¹²⁵.
func expmNeeds64[T rev.Float](k *Expm[T], p *rev.Pass[Expm[T]]) bool {
	gy, ta, gty := largerNorm(p.G.Y), largerNorm(p.T.A), largerNorm(p.GT.Y)
	return !(largerNorm(k.A) < 16 && max(gy, ta, gty, gy*ta) <= 0x1p100) // NaN does
}

// largerNorm returns the larger of the 1-norms of m and its transpose.
func largerNorm[T rev.Float](m rev.General[T]) float64 {
	most := norm1(m)
	for r := range m.Rows {
		sum := 0.0
		for _, v := range m.Row(r) {
			sum += math.Abs(float64(v))
		}
		most = max(most, sum)
	}
	return most
}

// norm1 returns the 1-norm of m.
func norm1[T rev.Float](m rev.General[T]) float64 {
	most := 0.0
	for c := 0; c < m.Cols; c += 64 {
		var sums [64]float64 // of so many columns at a time
		for r := range m.Rows {
			for i, v := range m.Row(r)[c:min(c+len(sums), m.Cols)] {
				sums[i] += math.Abs(float64(v))
			}
		}
		for _, sum := range sums {
			most = max(most, sum)
		}
	}
	return most
}

// expmIn is the pass, computed in numbers of type W.
func expmIn[W, T rev.Float](k *Expm[T], p *rev.Pass[Expm[T]]) {
	w := workspace.Get[*expmWork[W]]()
	w.n, w.workers = k.A.Rows, k.Workers
	sign, g, t, gt := T(p.Sign()), p.G, p.T, p.GT
	switch tangent := t.Y.Data != nil && t.A.Data != nil; {
	case tangent:
		w.begin(2)
		setPart(w, 0, k.A, false)
		setPart(w, 1, t.A, false)
		w.exp()
		addPart(w, 0, k.Y, sign)
		addPart(w, 1, t.Y, sign)
	case k.Y.Data != nil:
		w.begin(1)
		setPart(w, 0, k.A, false)
		w.exp()
		addPart(w, 0, k.Y, sign)
	}
	switch {
	case gt.A.Data != nil && (gt.Y.Data != nil || g.Y.Data != nil && t.A.Data != nil):
		w.begin(4)
		setPart(w, 0, k.A, true)
		setPart(w, 1, g.Y, false)
		setPart(w, 2, t.A, true)
		setPart(w, 3, gt.Y, false)
		w.exp()
		if g.Y.Data != nil { // what an A that is not finite makes of 0 is NaN
			addPart(w, 1, g.A, 1)
		}
		addPart(w, 3, gt.A, 1)
	case g.A.Data != nil && g.Y.Data != nil:
		w.begin(2)
		setPart(w, 0, k.A, true)
		setPart(w, 1, g.Y, false)
		w.exp()
		addPart(w, 1, g.A, 1)
	}
	workspace.Put(w)
}

// An expmWork has numbers of 1, 2 or 4 parts, which are matrices. Part i is the coefficient of
// the product of ε₁ if bit 0 of i is set, and ε₂ if bit 1 is set, where ε₁² = ε₂² = 0.
type expmWork[T rev.Float] struct {
	n, parts, workers int
	x                 [6][]T     // the first is the operand and then the result
	norms             [4]float64 // of its powers
}

// begin makes the operand 0.
func (w *expmWork[T]) begin(parts int) {
	w.parts = parts
	for i := range w.x {
		w.x[i] = workspace.Grow(w.x[i], parts*w.n*w.n)
	}
	clear(w.x[0])
}

func (w *expmWork[T]) part(x []T, i int) rev.General[T] {
	return rev.NewGeneral(w.n, w.n, x[i*w.n*w.n:][:w.n*w.n])
}

// setPart sets part i of the operand to m or its transpose, or leaves it if m is nil.
func setPart[W, T rev.Float](w *expmWork[W], i int, m rev.General[T], transposed bool) {
	if m.Data == nil {
		return
	}
	x := w.part(w.x[0], i)
	for r := range w.n {
		for c, v := range m.Row(r) {
			if transposed {
				x.Data[c*x.Stride+r] = W(v)
			} else {
				x.Data[r*x.Stride+c] = W(v)
			}
		}
	}
}

// addPart adds sign times part i of the result to m, unless m is nil.
func addPart[W, T rev.Float](w *expmWork[W], i int, m rev.General[T], sign T) {
	if m.Data == nil {
		return
	}
	x := w.part(w.x[0], i)
	for r := range w.n {
		row := m.Row(r)
		for c, v := range x.Row(r) {
			row[c] += T(sign * T(v))
		}
	}
}

// mul stores the product of a and b in dst.
func (w *expmWork[T]) mul(dst, a, b []T) {
	clear(dst)
	for i := range w.parts {
		for j := range w.parts {
			if i&j == 0 {
				MatMul[T]{C: w.part(dst, i|j), A: w.part(a, i), B: w.part(b, j), Workers: w.workers}.Forward()
			}
		}
	}
}

// exp replaces the operand by its exponential.
func (w *expmWork[T]) exp() {
	x, a2, a3, a4, sum, product := w.x[0], w.x[1], w.x[2], w.x[3], w.x[4], w.x[5]
	most := -1 // the binary exponent of the largest norm that is not scaled
	if unsafe.Sizeof(x[0]) == 4 {
		most = 1
	}
	squarings := 0
	if norm := norm1(w.part(x, 0)); norm > math.Ldexp(1, most) && norm <= math.MaxFloat64 {
		_, squarings = math.Frexp(norm)
		squarings -= most
		half := squarings / 2 // a whole step's power of two may be subnormal, which a caller's thread may take for 0
		vec.ScaleTo(x, T(math.Ldexp(1, -half)), x)
		vec.ScaleTo(x, T(math.Ldexp(1, half-squarings)), x)
	}
	w.mul(a2, x, x)
	w.mul(a3, a2, x)
	w.mul(a4, a2, a2)
	if squarings > 0 {
		powers := [...][]T{x, a2, a3, a4}
		for k, power := range powers {
			w.norms[k] = norm1(w.part(power, 0))
		}
		if less := min(squarings, unneeded(&w.norms, most)); less > 0 {
			for k, power := range powers {
				vec.ScaleTo(power, T(math.Ldexp(1, (k+1)*less)), power)
			}
			squarings -= less
		}
	}
	vec.ScaleTo(sum, T(inverseFactorial[16]), a4)
	for k := 12; ; k -= 4 { // sum += Σ_{i<4} x^i/(k+i)!
		for i, power := range [...][]T{x, a2, a3} {
			vec.Axpy(T(inverseFactorial[k+i+1]), power, sum)
		}
		for i := range w.n {
			sum[i*w.n+i] += T(inverseFactorial[k])
		}
		if k == 0 {
			break
		}
		w.mul(product, sum, a4)
		sum, product = product, sum
	}
	for range squarings {
		w.mul(product, sum, sum)
		sum, product = product, sum
	}
	copy(x, sum)
}

// unneeded returns a number j of squarings that the 1-norms of the first powers of a matrix x show to be unneeded.
// The terms that the polynomial leaves out for 2^j·x, also in L and L₂, then have bounds as for a norm of 2^most.
//
// With d_k = ‖x^k‖^(1/k) and α = max(d₃, min(d₂, d₄)), ‖x^k‖ ≤ α^k for k = 3, 4 and from 6 on: if d₂ ≤ α, k is a sum
// of twos and threes, and otherwise of threes and fours. All powers have ‖x^k‖ ≤ M·α^k with M = max(1, d₁/α, (d₂/α)²).
// A term of L₂ is a product of three powers with k₁ + k₂ + k₃ ≥ 15, so its bound is M³·α^(k₁+k₂+k₃), at most
// (M^(1/5)·α)^(k₁+k₂+k₃). A term of L has two powers, and one of the value has one.
func unneeded(norms *[4]float64, most int) int {
	d2, d3, d4 := math.Sqrt(norms[1]), math.Cbrt(norms[2]), math.Sqrt(math.Sqrt(norms[3]))
	alpha := max(d3, min(d2, d4))
	size := max(alpha, logs.Pow(alpha, 0.8)*logs.Pow(norms[0], 0.2), logs.Pow(alpha, 0.6)*logs.Pow(norms[1], 0.2))
	const limit = 8 // so that powers of 2^j·x are far from overflow
	j := 0
	for j < limit && math.Ldexp(size, j+1) <= math.Ldexp(1, most) {
		j++
	}
	return j
}

// inverseFactorial has 1/k!.
var inverseFactorial = func() (f [17]float64) {
	factorial := 1.0
	for k := range f {
		factorial *= float64(max(k, 1))
		f[k] = 1 / factorial
	}
	return f
}()
