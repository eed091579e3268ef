package dense

import (
	"unsafe"

	"revnum/internal/simd/cpu"
)

// The pure-Go loops. Without assembly, these are the only loops. With it, they are the
// reference of its tests.

// genericGemm adds up each element of A·B in order, and then multiplies it by alpha. The strides
// and sizes choose among loops that give the same bits.
func genericGemm[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	csc := 1
	if n == 1 { // as a row: Cᵀ += alpha·Bᵀ·Aᵀ
		m, n, a, rsa, csa, b, rsb, csb, ldc, csc = 1, m, b, csb, rsb, a, csa, rsa, 0, ldc
	}
	if n < 8 || csb != 1 && m < 8 {
		genericDots(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc, csc)
		return
	}
	const rows, cols, depth = 32, 64, 64 // blocks that fit the first-level cache
	p := packedPool.Get().(*packed)
	sums := unsafe.Slice((*T)(unsafe.Pointer(&p.a)), rows*cols)
	copied := unsafe.Slice((*T)(unsafe.Pointer(&p.b)), depth*cols)
	for j := 0; j < n; j += cols {
		nb := min(cols, n-j)
		for i := 0; i < m; i += rows {
			mb := min(rows, m-i)
			clear(sums[:mb*nb])
			for l := 0; l < k; l += depth {
				kb := min(depth, k-l)
				block, ldb := b[l*rsb+j*csb:], rsb
				if csb != 1 {
					pack(copied, block, nb, nb, kb, csb, rsb)
					block, ldb = copied, nb
				}
				for r := range mb {
					addRows(sums[r*nb:][:nb], kb, a[(i+r)*rsa+l*csa:], csa, block, ldb)
				}
			}
			for r := range mb {
				for q, s := range sums[r*nb:][:nb] {
					c[(i+r)*ldc+(j+q)*csc] += T(alpha * s)
				}
			}
		}
	}
	packedPool.Put(p)
}

// addRows computes s += Σ_l a[l*inc]·B[l], for k rows of B. Four rows at a time save loads and
// stores of s.
func addRows[T cpu.Float](s []T, k int, a []T, inc int, b []T, ldb int) {
	l := 0
	for ; l+4 <= k; l += 4 {
		a0, a1, a2, a3 := a[l*inc], a[(l+1)*inc], a[(l+2)*inc], a[(l+3)*inc]
		b0, b1, b2, b3 := b[l*ldb:][:len(s)], b[(l+1)*ldb:][:len(s)], b[(l+2)*ldb:][:len(s)], b[(l+3)*ldb:][:len(s)]
		for j, v := range s {
			v += T(a0 * b0[j])
			v += T(a1 * b1[j])
			v += T(a2 * b2[j])
			s[j] = v + T(a3*b3[j])
		}
	}
	for ; l < k; l++ {
		x := a[l*inc]
		for j, v := range b[l*ldb:][:len(s)] {
			s[j] += T(x * v)
		}
	}
}

// genericDots is genericGemm by dot products. It has four sums at a time, because an addition
// waits for the one before it.
func genericDots[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc, csc int) {
	for i := range m {
		x, j := a[i*rsa:], 0
		for ; j+4 <= n; j += 4 {
			b0, b1, b2, b3 := b[j*csb:], b[(j+1)*csb:], b[(j+2)*csb:], b[(j+3)*csb:]
			var s0, s1, s2, s3 T
			for l := range k {
				v := x[l*csa]
				s0 += T(v * b0[l*rsb])
				s1 += T(v * b1[l*rsb])
				s2 += T(v * b2[l*rsb])
				s3 += T(v * b3[l*rsb])
			}
			at := i*ldc + j*csc
			c[at] += T(alpha * s0)
			c[at+csc] += T(alpha * s1)
			c[at+2*csc] += T(alpha * s2)
			c[at+3*csc] += T(alpha * s3)
		}
		for ; j < n; j++ {
			var s T
			for l := range k {
				s += T(x[l*csa] * b[l*rsb+j*csb])
			}
			c[i*ldc+j*csc] += T(alpha * s)
		}
	}
}

// genericTriNorms subtracts the means once for 32 rows of L, and then adds up rows as genericGemm does.
// triNormsShort, with the same bits, is faster if rows are short.
func genericTriNorms[T cpu.Float](d, n int, q []T, l []T, ldl int, c []T, ldc int, mu []T) {
	if d < 12 || n < 16 {
		triNormsShort(d, n, q, l, ldl, c, ldc, mu)
		return
	}
	const rows, cols, depth = 32, 64, 64
	buffers := packedPool.Get().(*packed)
	sums := unsafe.Slice((*T)(unsafe.Pointer(&buffers.a)), rows*cols)
	less := unsafe.Slice((*T)(unsafe.Pointer(&buffers.b)), depth*cols) // C - mu
	for p := 0; p < n; p += cols {
		norms := q[p:min(p+cols, n)]
		nb := len(norms)
		clear(norms)
		for i := 0; i < d; i += rows {
			mb := min(rows, d-i)
			clear(sums[:mb*nb])
			for j := 0; j < i+mb; j += depth {
				kb := min(depth, i+mb-j)
				for k := range kb {
					m, to := mu[j+k], less[k*nb:][:nb]
					for r, x := range c[(j+k)*ldc+p:][:nb] {
						to[r] = x - m
					}
				}
				for r := max(0, j-i); r < mb; r++ {
					addRows(sums[r*nb:][:nb], min(kb, i+r+1-j), l[(i+r)*ldl+j:], 1, less, nb)
				}
			}
			for r := range mb {
				for k, y := range sums[r*nb:][:nb] {
					norms[k] += T(y * y)
				}
			}
		}
	}
	packedPool.Put(buffers)
}

// triNormsShort, genericMoments, genericGemvt and genericSymv have four sums at a time too.
func triNormsShort[T cpu.Float](d, n int, q []T, l []T, ldl int, c []T, ldc int, mu []T) {
	p := 0
	for ; p+4 <= n; p += 4 {
		var s0, s1, s2, s3 T
		i := d % 2
		if i == 1 { // the other rows go two at a time, which share the differences
			x, m, v := c[p:][:4], mu[0], l[0]
			s0, s1, s2, s3 = T(v*(x[0]-m)), T(v*(x[1]-m)), T(v*(x[2]-m)), T(v*(x[3]-m))
			s0, s1, s2, s3 = T(s0*s0), T(s1*s1), T(s2*s2), T(s3*s3)
		}
		for ; i < d; i += 2 {
			var y0, y1, y2, y3, z0, z1, z2, z3 T
			upper, lower := l[i*ldl:][:i+1], l[(i+1)*ldl:][:i+2]
			for j, v := range upper {
				x, m, w := c[j*ldc+p:][:4], mu[j], lower[j]
				x0, x1, x2, x3 := x[0]-m, x[1]-m, x[2]-m, x[3]-m
				y0 += T(v * x0)
				y1 += T(v * x1)
				y2 += T(v * x2)
				y3 += T(v * x3)
				z0 += T(w * x0)
				z1 += T(w * x1)
				z2 += T(w * x2)
				z3 += T(w * x3)
			}
			x, m, w := c[(i+1)*ldc+p:][:4], mu[i+1], lower[i+1]
			z0 += T(w * (x[0] - m))
			z1 += T(w * (x[1] - m))
			z2 += T(w * (x[2] - m))
			z3 += T(w * (x[3] - m))
			s0 = s0 + T(y0*y0) + T(z0*z0)
			s1 = s1 + T(y1*y1) + T(z1*z1)
			s2 = s2 + T(y2*y2) + T(z2*z2)
			s3 = s3 + T(y3*y3) + T(z3*z3)
		}
		q[p], q[p+1], q[p+2], q[p+3] = s0, s1, s2, s3
	}
	for ; p < n; p++ {
		var s T
		for i := range d {
			var y T
			for j := range i + 1 {
				y += T(l[i*ldl+j] * (c[j*ldc+p] - mu[j]))
			}
			s += T(y * y)
		}
		q[p] = s
	}
}

func genericMoments[T cpu.Float](d, n int, s []T, m []T, ldm int, w []T, c []T, ldc int) {
	if n == 0 {
		return
	}
	w = w[:n]
	for i := range d {
		row, to, j := c[i*ldc:][:n], m[i*ldm:][:i+1], 0
		for ; j+4 <= len(to); j += 4 {
			c0, c1, c2, c3 := c[j*ldc:][:n], c[(j+1)*ldc:][:n], c[(j+2)*ldc:][:n], c[(j+3)*ldc:][:n]
			var s0, s1, s2, s3 T
			for p, v := range w {
				v = T(v * row[p])
				s0 += T(v * c0[p])
				s1 += T(v * c1[p])
				s2 += T(v * c2[p])
				s3 += T(v * c3[p])
			}
			to[j] += s0
			to[j+1] += s1
			to[j+2] += s2
			to[j+3] += s3
		}
		for ; j < len(to); j++ {
			var dot T
			for p, v := range w {
				dot += T(T(v*row[p]) * c[j*ldc+p])
			}
			to[j] += dot
		}
		if s == nil {
			continue
		}
		var sum T
		for p, v := range w {
			sum += T(v * row[p])
		}
		s[i] += sum
	}
}

func genericTranspose[T cpu.Float](dst []T, ldd int, x []T, ldx, m, n int) {
	for i := range m {
		for j := range n {
			dst[j*ldd+i] = x[i*ldx+j]
		}
	}
}

// A triangle is the matrix T of TriSolve.
type triangle[T cpu.Float] struct {
	m           int
	t           []T
	rst, cst    int
	upper, unit bool
	reciprocals []T // of the diagonal in the rows to be solved for; nil to divide
}

// genericSolve solves for some rows. The rows before them must be solved.
func (t *triangle[T]) genericSolve(first, rows, n int, x []T, ldx int) {
	for k := first; k < first+rows; k++ {
		i := fromStart(k, t.m, t.upper)
		row := x[i*ldx:][:n]
		for q := range k {
			l := fromStart(q, t.m, t.upper)
			s := t.t[i*t.rst+l*t.cst]
			for j, v := range x[l*ldx:][:n] {
				row[j] -= T(s * v)
			}
		}
		switch {
		case t.unit:
		case t.reciprocals != nil:
			for j := range row {
				row[j] = T(row[j] * t.reciprocals[k-first])
			}
		default:
			d := t.t[i*(t.rst+t.cst)]
			for j := range row {
				row[j] /= d
			}
		}
	}
}

// each calls f for the rotations of a run in order, or backward: for rotation number at of
// row i, with coefficients number k.
func (r *Rotations[T]) each(run Run, back bool, f func(at, i, k int)) {
	n := run.Steps * run.Chains
	for at := range n {
		if back {
			at = n - 1 - at
		}
		p, q := at/run.Chains, at%run.Chains
		f(at, run.Steps-1-p+q, run.At+q*r.Ld+p)
	}
}

// genericRotate rotates x, and its tangent t unless that is nil.
func (r *Rotations[T]) genericRotate(run Run, x []T, ldx int, t []T, ldt, cols int, back bool) {
	r.each(run, back, func(_, i, k int) {
		a, b, sign := x[i*ldx:][:cols], x[(i+1)*ldx:][:cols], T(1)
		var ta, tb []T
		if t != nil {
			ta, tb = t[i*ldt:][:cols], t[(i+1)*ldt:][:cols]
		}
		if back {
			sign = -1
		}
		rotate := func() {
			turnRows(a, b, r.C[k], sign*r.S[k])
			turnRows(ta, tb, r.C[k], sign*r.S[k])
		}
		addAngle := func() {
			for j := range ta {
				ta[j] -= T(sign * r.D[k] * b[j])
				tb[j] += T(sign * r.D[k] * a[j])
			}
		}
		phase := func() {
			if r.phases() {
				turnPhase(a, r.PC[k], sign*r.PS[k])
				turnPhase(ta, r.PC[k], sign*r.PS[k])
			}
		}
		addPhase := func() {
			for j := 0; j < len(ta) && r.phases(); j += 2 { // adds √-1·PD·a
				ta[j] -= T(sign * r.PD[k] * a[j+1])
				ta[j+1] += T(sign * r.PD[k] * a[j])
			}
		}
		if back {
			addAngle()
			rotate()
			addPhase()
			phase()
			return
		}
		phase()
		addPhase()
		rotate()
		addAngle()
	})
}

func (r *Rotations[T]) genericBackCross(run Run, x []T, ldx int, g []T, ldg, cols int, sums []T) {
	r.each(run, true, func(at, i, k int) {
		a, b := x[i*ldx:][:cols], x[(i+1)*ldx:][:cols]
		ga, gb := g[i*ldg:][:cols], g[(i+1)*ldg:][:cols]
		var sum T
		for j, v := range a {
			sum += T(v*gb[j]) - T(b[j]*ga[j])
		}
		turnRows(a, b, r.C[k], -r.S[k])
		turnRows(ga, gb, r.C[k], -r.S[k])
		if !r.phases() {
			sums[at] += sum
			return
		}
		sums[2*at+1] += sum
		sum = 0
		for j := 0; j < cols; j += 2 {
			sum += T(a[j]*ga[j+1]) - T(a[j+1]*ga[j])
		}
		sums[2*at] += sum
		turnPhase(a, r.PC[k], -r.PS[k])
		turnPhase(ga, r.PC[k], -r.PS[k])
	})
}

// turnPhase multiplies complex numbers by c + i·s.
func turnPhase[T cpu.Float](a []T, c, s T) {
	for j := 0; j < len(a); j += 2 {
		re, im := a[j], a[j+1]
		a[j], a[j+1] = T(c*re)-T(s*im), T(s*re)+T(c*im)
	}
}

// turnRows rotates a and b.
func turnRows[T cpu.Float](a, b []T, c, s T) {
	for j, v := range a {
		w := b[j]
		a[j], b[j] = T(c*v)-T(s*w), T(s*v)+T(c*w)
	}
}

func genericGemvt(m, n int, a []float64, lda int, u, x, z, y []float64) {
	u, y = u[:n], y[:n]
	for i := 0; i < m; i += 4 {
		a0, a1, a2, a3 := a[i*lda:][:n], a[(i+1)*lda:][:n], a[(i+2)*lda:][:n], a[(i+3)*lda:][:n]
		var s0, s1, s2, s3 float64
		for j, v := range u {
			s0 += float64(a0[j] * v)
			s1 += float64(a1[j] * v)
			s2 += float64(a2[j] * v)
			s3 += float64(a3[j] * v)
		}
		for r, sum := range [...]float64{s0, s1, s2, s3} {
			x[i+r] += sum
			z[i+r] -= x[i+r]
		}
		z0, z1, z2, z3 := z[i], z[i+1], z[i+2], z[i+3]
		for j, v := range y {
			v += float64(z0 * a0[j])
			v += float64(z1 * a1[j])
			v += float64(z2 * a2[j])
			y[j] = v + float64(z3*a3[j])
		}
	}
}

func genericSymv(lo, hi int, a []float64, lda int, x, y []float64) {
	for i := lo; i < hi; i += 4 {
		left := i &^ (SymvOrder - 1)
		a0, a1, a2, a3 := a[i*lda:][:left], a[(i+1)*lda:][:left], a[(i+2)*lda:][:left], a[(i+3)*lda:][:left]
		x0, x1, x2, x3 := x[i], x[i+1], x[i+2], x[i+3]
		var s0, s1, s2, s3 float64
		to := y[:left]
		for j, v := range x[:left] {
			s0 += float64(a0[j] * v)
			s1 += float64(a1[j] * v)
			s2 += float64(a2[j] * v)
			s3 += float64(a3[j] * v)
			u := to[j] + float64(a0[j]*x0)
			u += float64(a1[j] * x1)
			u += float64(a2[j] * x2)
			to[j] = u + float64(a3[j]*x3)
		}
		for r, sum := range [...]float64{s0, s1, s2, s3} {
			for j, v := range a[(i+r)*lda+left:][:SymvOrder] {
				sum += float64(v * x[left+j])
			}
			y[i+r] += sum
		}
	}
}
