package dense

import "revnum/internal/simd/cpu"

// The pure-Go loops. Without assembly, these are the only loops. With it, they are the
// reference of its tests.

func genericGemm[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	for i := range m {
		for j := range n {
			var s T
			for l := range k {
				s += T(a[i*rsa+l*csa] * b[l*rsb+j*csb])
			}
			c[i*ldc+j] += T(alpha * s)
		}
	}
}

func genericTriNorms[T cpu.Float](d, n int, q []T, l []T, ldl int, c []T, ldc int, mu []T) {
	for p := range n {
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
	for i := range d {
		for j := range i + 1 {
			var dot T
			for p := range n {
				dot += T(T(w[p]*c[i*ldc+p]) * c[j*ldc+p])
			}
			m[i*ldm+j] += dot
		}
		if s == nil {
			continue
		}
		var sum T
		for p := range n {
			sum += T(w[p] * c[i*ldc+p])
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
				row[j] *= t.reciprocals[k-first]
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
