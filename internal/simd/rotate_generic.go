package simd

import "math"

// The phases pc and ps of these functions are nil without phases.

func genericRotate[T Float](x []T, ldx, cols, chains, steps int, c, s, pc, ps []T, ldc int) {
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

func genericRotateBack[T Float](x []T, ldx, cols, chains, steps int, c, s, pc, ps []T, ldc int) {
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

func genericRotateBackCross[T Float](x []T, ldx int, g []T, ldg, cols, chains, steps int, c, s, pc, ps []T, ldc int, sums []T) {
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

func genericRotateTangent[T Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []T, ldc int) {
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

func genericRotateTangentBack[T Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []T, ldc int) {
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
func turnPhase[T Float](a []T, c, s T) {
	for j := 0; j < len(a); j += 2 {
		re, im := a[j], a[j+1]
		a[j], a[j+1] = T(c*re)-T(s*im), T(s*re)+T(c*im)
	}
}

// addImaginary adds i·alpha times the complex numbers x to y.
func addImaginary[T Float](y []T, alpha T, x []T) {
	for j := 0; j < len(x); j += 2 {
		y[j] -= T(alpha * x[j+1])
		y[j+1] += T(alpha * x[j])
	}
}

// turnRows rotates a and b.
func turnRows[T Float](a, b []T, c, s T) {
	for j, v := range a {
		w := b[j]
		a[j], b[j] = T(c*v)-T(s*w), T(s*v)+T(c*w)
	}
}

func genericSinCos[T Float](sin, cos, x []T) {
	for i, v := range x {
		s, c := sinCosOf(float64(v))
		sin[i], cos[i] = T(s), T(c)
	}
}

// The constants of sinCosOf. The parts of π/2 have 33 bits but for the last, so
// that products with a number of 20 bits are exact. The polynomials are those of
// __kernel_sin and __kernel_cos in FreeBSD's msun (Sun Microsystems 1993), which
// approximate (sin r - r)/r³ and (cos r - 1 + r²/2)/r⁴ in r² for |r| < π/4.
const (
	trigMagic = 0x1.8p52
	twoOverPi = 0x1.45f306dc9c883p-1
	halfPi1   = 0x1.921fb544p+0
	halfPi2   = 0x1.0b4611a6p-34
	halfPi3   = 0x1.3198a2e037073p-69
)

var (
	sinC = [6]float64{
		-0x1.5555555555549p-3, 0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13,
		0x1.71de357b1fe7dp-19, -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33,
	}
	cosC = [6]float64{
		0x1.555555555554cp-5, -0x1.6c16c16c15177p-10, 0x1.a01a019cb159p-16,
		-0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29, -0x1.8fae9be8838d4p-37,
	}
)

// sinCosOf does in its order what the assembly does, but for large angles, which the
// assembly leaves to it.
func sinCosOf(x float64) (sin, cos float64) {
	r, quadrant := reduceAngle(x)
	z := float64(r * r)
	p, q := sinC[5], cosC[5]
	for j := 4; j >= 0; j-- {
		p = float64(p*z) + sinC[j]
		q = float64(q*z) + cosC[j]
	}
	sin = r + float64(p*float64(z*r))
	h := float64(z * 0.5)
	w := 1 - h
	cos = w + (float64(q*float64(z*z)) + ((1 - w) - h)) // 1-w-h is the error of w

	if quadrant&1 != 0 {
		sin, cos = cos, sin
	}
	flip := func(v float64, sign uint64) float64 { return math.Float64frombits(math.Float64bits(v) ^ sign<<63) }
	return flip(sin, quadrant>>1&1), flip(cos, (quadrant+1)>>1&1)
}

// reduceAngle returns r = x - k·π/2 for the integer k that is nearest to x·2/π, and
// the low bits of k.
func reduceAngle(x float64) (r float64, k uint64) {
	if !(math.Abs(x) <= 1<<20) {
		return reduceLargeAngle(x)
	}
	// k is in the low bits of k+magic.
	quadrant := float64(x*twoOverPi) + trigMagic
	m := quadrant - trigMagic
	a := x - float64(m*halfPi1) // exact
	t := float64(m * halfPi2)   // exact
	r = a - t
	e := (a - r) - t // what r lacks
	r -= float64(m*halfPi3) - e
	return r, math.Float64bits(quadrant)
}
