// Package logstep makes the step that all kernels over logs share: it adds a number
// to an output that is kept as its log, and computes the derivatives of that.
//
// The kernels Sum, Dot, MatMul and MulElem of package revlog, and LogMul of package
// revsparse, compute in the semiring of logarithmic numbers. Their operands are
// logs. The product of the numbers is x ⊗ y = x + y, and the sum is x ⊕ y = log(eˣ +
// eʸ). A kernel adds a sum of products s = t_1 ⊕ t_2 ⊕ ... to an output z. Each t is
// a sum of inputs:
//
//	Forward   z' = z ⊕ s
//	Inverse   z  = z' ⊖ s = log(e^z' - e^s)
//
// In the logs this is a map in place, with the derivatives
//
//	∂z'/∂z = ω = e^(z-z'),   ∂z'/∂t_i = w_i = e^(t_i-z'),   ω + Σ w_i = 1
//
// They are the shares of the numbers in the sum. For probabilities, a share is the
// posterior probability of its term. The w_i are computed as
//
//	w_i = v·e^(t_i-m),  v = e^(s-z')/Σ e^(t_i-m),  m = max t
//
// and s-z' is 0 if z is zero. The shares then sum to 1, however large the logs and
// their rounding errors are. With σ = Σ w_i·ṫ_i,
//
//	Tangent         ż' = ω·ż + σ
//	Adjoint         z̄ = ω·z̄',  t̄_i += w_i·z̄'
//	AdjointTangent  ġz = ω·(ġz' + z̄'·(ż - ż')),
//	                ġt_i += w_i·(ġz' + z̄'·(ṫ_i - ż'))
//
// because ω̇ = ω·(ż - ż') and ẇ_i = w_i·(ṫ_i - ż').
//
// A kernel computes s, calls Step for z, computes σ from the z' that Step returns,
// and calls Tangent and Cotangent for the rest. The argument back of these functions
// says that the state is z' and becomes z, as in Inverse, Adjoint and
// AdjointTangent.
//
// The logs of zero have no derivatives, so the shares decide there. A term that is
// zero has the share 0. z has the share 0 if it is zero and s is not. If s is zero,
// z' is z and ω is 1.
package logstep

import (
	"math"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
	"revnum/ulog"
)

// Step adds s to z, or subtracts it if back. It returns the number without and with
// s.
func Step[T cpu.Float](z *T, s T, back bool) (before, after T) {
	number := func(x T) ulog.Float64 { return ulog.Float64{Log: float64(x)} }
	if back {
		after = *z
		before = T(number(after).Sub(number(s)).Log)
		*z = before
		return before, after
	}
	before = *z
	after = T(number(before).Add(number(s)).Log)
	*z = after
	return before, after
}

// Steps is like Step for several numbers: it stores z_i ⊕ s_i in z_i, or z_i ⊖ s_i.
// It overwrites d and rest, which must have the length of z.
//
// The error is within 2⁻⁵³·(|z'| + 3) forward, and 2⁻⁵³·(|z| + 3·e^(z'-z)) backward.
func Steps(z, s, d, rest []float64, back bool) {
	for i, x := range z {
		d[i] = s[i] - x
		if !back {
			d[i] = -math.Abs(d[i])
		}
	}
	vec.Exp(d, d)
	// Let u be 1+x after rounding. Then log(1+x) is log u + (x-(u-1))/u, except for
	// terms that are far smaller.
	for i, x := range d {
		if back {
			x = -x
		}
		u := 1 + x
		d[i], rest[i] = u, 0
		if u != 0 {
			rest[i] = (x - (u - 1)) / u
		}
	}
	vec.Log(d, d)
	for i, x := range z {
		y := x
		if !back {
			y = max(x, s[i])
		}
		if y += d[i] + rest[i]; y-y != 0 { // an infinity, or none of these
			y = x
			Step(&y, s[i], back)
		}
		z[i] = y
	}
}

// Share returns w = e^(t-z') for a term t of z'.
func Share[T cpu.Float](t, after T) float64 {
	if IsZero(t) {
		return 0
	}
	return math.Exp(float64(t) - float64(after))
}

// Kept returns ω.
func Kept[T cpu.Float](before, after, s T) float64 {
	if IsZero(s) {
		return 1
	}
	return Share(before, after)
}

// Lost reports whether z is zero and s is not. The ω of z ⊕ s is then 0, and Adjoint loses z̄'.
// Kernels therefore have no inverse of Adjoint there. A sum s of terms is zero if all of them are.
func Lost[T cpu.Float](z, s T) bool { return IsZero(z) && !IsZero(s) }

// IsZero reports whether x is the log of zero.
func IsZero[T cpu.Float](x T) bool { return math.IsInf(float64(x), -1) }

// Tangent changes ż to ż', or back. It returns the tangents without and with σ. t is
// nil if ż is not asked for.
func Tangent[T cpu.Float](t *T, kept, sigma float64, back bool) (before, after float64) {
	switch {
	case t == nil:
		return 0, sigma
	case back:
		after = float64(*t)
		if kept != 0 {
			before = (after - sigma) / kept
		}
		*t = T(before)
	default:
		before = float64(*t)
		after = sigma
		if kept != 0 {
			after += float64(kept * before)
		}
		*t = T(after)
	}
	return before, after
}

// Cotangent changes z̄' to z̄ and ġz' to ġz. g and gt may be nil, for zero. A term of
// the share w adds w·seed to its cotangent, and w·(dseed + seed·ṫ) to the tangent of
// its cotangent.
func Cotangent[T cpu.Float](g, gt *T, kept, before, after float64, back bool) (seed, dseed float64) {
	var out, dout float64 // z̄' and ġz'
	if g != nil {
		out = float64(*g)
	}
	if gt != nil {
		dout = float64(*gt)
	}
	if back {
		if g != nil {
			*g = T(kept * out)
		}
		if gt != nil {
			*gt = T(kept * (dout + float64(out*(before-after))))
		}
		return out, dout - float64(out*after)
	}
	out /= kept
	dout = dout/kept - float64(out*(before-after))
	if g != nil {
		*g = T(out)
	}
	if gt != nil {
		*gt = T(dout)
	}
	return -out, float64(out*after) - dout
}
