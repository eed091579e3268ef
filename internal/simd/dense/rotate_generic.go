package dense

import "revnum/internal/simd/cpu"

// The phases pc and ps of these functions are nil without phases.

func genericRotate[T cpu.Float](x []T, ldx, cols, chains, steps int, c, s, pc, ps []T, ldc int) {
	for p := range steps {
		for q := range chains {
			i, k := steps-1-p+q, q*ldc+p
			a, b := x[i*ldx:][:cols], x[(i+1)*ldx:][:cols]
			if pc != nil {
				turnPhase(a, pc[k], ps[k])
			}
			turnRows(a, b, c[k], s[k])
		}
	}
}

func genericRotateBack[T cpu.Float](x []T, ldx, cols, chains, steps int, c, s, pc, ps []T, ldc int) {
	for p := steps - 1; p >= 0; p-- {
		for q := chains - 1; q >= 0; q-- {
			i, k := steps-1-p+q, q*ldc+p
			a, b := x[i*ldx:][:cols], x[(i+1)*ldx:][:cols]
			turnRows(a, b, c[k], -s[k])
			if pc != nil {
				turnPhase(a, pc[k], -ps[k])
			}
		}
	}
}

func genericRotateBackCross[T cpu.Float](x []T, ldx int, g []T, ldg, cols, chains, steps int, c, s, pc, ps []T, ldc int, sums []T) {
	for p := steps - 1; p >= 0; p-- {
		for q := chains - 1; q >= 0; q-- {
			i, k, at := steps-1-p+q, q*ldc+p, p*chains+q
			a, b := x[i*ldx:][:cols], x[(i+1)*ldx:][:cols]
			ga, gb := g[i*ldg:][:cols], g[(i+1)*ldg:][:cols]
			var sum T
			for j, v := range a {
				sum += T(v*gb[j]) - T(b[j]*ga[j])
			}
			turnRows(a, b, c[k], -s[k])
			turnRows(ga, gb, c[k], -s[k])
			if pc == nil {
				sums[at] += sum
				continue
			}
			sums[2*at+1] += sum
			sum = 0
			for j := 0; j < cols; j += 2 {
				sum += T(a[j]*ga[j+1]) - T(a[j+1]*ga[j])
			}
			sums[2*at] += sum
			turnPhase(a, pc[k], -ps[k])
			turnPhase(ga, pc[k], -ps[k])
		}
	}
}

func genericRotateTangent[T cpu.Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []T, ldc int) {
	for p := range steps {
		for q := range chains {
			i, k := steps-1-p+q, q*ldc+p
			a, b := x[i*ldx:][:cols], x[(i+1)*ldx:][:cols]
			ta, tb := t[i*ldt:][:cols], t[(i+1)*ldt:][:cols]
			if pc != nil {
				turnPhase(a, pc[k], ps[k])
				turnPhase(ta, pc[k], ps[k])
				addImaginary(ta, pd[k], a)
			}
			turnRows(a, b, c[k], s[k])
			turnRows(ta, tb, c[k], s[k])
			for j, v := range a {
				ta[j] -= T(d[k] * b[j])
				tb[j] += T(d[k] * v)
			}
		}
	}
}

func genericRotateTangentBack[T cpu.Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []T, ldc int) {
	for p := steps - 1; p >= 0; p-- {
		for q := chains - 1; q >= 0; q-- {
			i, k := steps-1-p+q, q*ldc+p
			a, b := x[i*ldx:][:cols], x[(i+1)*ldx:][:cols]
			ta, tb := t[i*ldt:][:cols], t[(i+1)*ldt:][:cols]
			for j, v := range a {
				ta[j] += T(d[k] * b[j])
				tb[j] -= T(d[k] * v)
			}
			turnRows(a, b, c[k], -s[k])
			turnRows(ta, tb, c[k], -s[k])
			if pc != nil {
				addImaginary(ta, -pd[k], a)
				turnPhase(a, pc[k], -ps[k])
				turnPhase(ta, pc[k], -ps[k])
			}
		}
	}
}

// turnPhase multiplies complex numbers by c + i·s.
func turnPhase[T cpu.Float](a []T, c, s T) {
	for j := 0; j < len(a); j += 2 {
		re, im := a[j], a[j+1]
		a[j], a[j+1] = T(c*re)-T(s*im), T(s*re)+T(c*im)
	}
}

// addImaginary adds i·alpha times the complex numbers x to y.
func addImaginary[T cpu.Float](y []T, alpha T, x []T) {
	for j := 0; j < len(x); j += 2 {
		y[j] -= T(alpha * x[j+1])
		y[j+1] += T(alpha * x[j])
	}
}

// turnRows rotates a and b.
func turnRows[T cpu.Float](a, b []T, c, s T) {
	for j, v := range a {
		w := b[j]
		a[j], b[j] = T(c*v)-T(s*w), T(s*v)+T(c*w)
	}
}
