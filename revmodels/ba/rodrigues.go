package ba

import (
	"math"

	"revnum/fixed"
	"revnum/rev"
)

// The rotation R by the angle-axis vector r, of angle θ = ‖r‖, is Rodrigues' formula
//
//	R = I + a·[r]ₓ + b·[r]ₓ²,  a = sin θ/θ,  b = (1 - cos θ)/θ²,
//
// and its derivative is ∂(R·x)/∂r·δ = (K·δ) × (R·x), where
//
//	K = I + b·[r]ₓ + c·[r]ₓ²,  c = (θ - sin θ)/θ³,
//
// is the left Jacobian of the group of rotations (Sola, Deray and Atchuthan, "A micro
// Lie theory for state estimation in robotics", 2018, equation 145). R and K depend on
// the camera alone. The coefficients are analytic functions of s = θ², also at 0, with
// the derivatives
//
//	a' = (c - b)/2,  b' = (a/2 - b)/s,  c' = (b - 3c)/(2s).
//
// For s < 1 their power series are summed, because the quotients cancel there.

// coefficients are those of a rotation, with their derivatives by s.
type coefficients[T rev.Real] struct{ a, b, c, da, db, dc T }

// series are the factors 1/k! of the power series: a begins at 1!, b at 2!, and c
// at 3!.
var series = func() (f [24]float64) {
	f[0] = 1
	for k := 1; k < len(f); k++ {
		f[k] = f[k-1] / float64(k)
	}
	return f
}()

// terms is the number of terms of the power series. For s < 1 the remainder is below
// 1/21!.
const terms = 9

// newCoefficients returns the coefficients of the rotation with the squared angle s. In
// fixed point s may have wrapped; its magnitude is taken.
func newCoefficients[T rev.Real](s T) (q coefficients[T]) {
	if s < 0 {
		s = -s
	}
	if s < fixed.Of[T](1) {
		for k := terms - 1; k >= 0; k-- {
			q.a = fixed.Of[T](series[2*k+1]) - fixed.Product(s, q.a)
			q.b = fixed.Of[T](series[2*k+2]) - fixed.Product(s, q.b)
			q.c = fixed.Of[T](series[2*k+3]) - fixed.Product(s, q.c)
			// The derivative of Σ (-s)^k/(2k+i)! is -Σ (k+1)·(-s)^k/(2k+2+i)!.
			q.db = -fixed.Of[T](float64(k+1)*series[2*k+4]) - fixed.Product(s, q.db)
			q.dc = -fixed.Of[T](float64(k+1)*series[2*k+5]) - fixed.Product(s, q.dc)
		}
	} else {
		theta, sine, half := angle(s)
		q.a = fixed.Quotient(sine, theta)
		// 1 - cos θ = 2·sin²(θ/2) does not cancel near 2π.
		half = fixed.Quotient(half, theta)
		q.b = 2 * fixed.Product(half, half)
		q.c = fixed.Quotient(fixed.Of[T](1)-q.a, s)
		q.db = fixed.Quotient(fixed.Product(fixed.Of[T](0.5), q.a)-q.b, s)
		q.dc = fixed.Quotient(fixed.Product(fixed.Of[T](0.5), q.b-T(3*q.c)), s)
	}
	q.da = fixed.Product(fixed.Of[T](0.5), q.c-q.b)
	return q
}

// angle returns θ = √s, sin θ and sin(θ/2).
func angle[T rev.Real](s T) (theta, sine, half T) {
	if x, ok := any(s).(fixed.Q43); ok {
		r, err := fixed.SqrtChecked(x)
		if err != nil {
			r = fixed.One // for the number that is its own negative
		}
		return T(r), T(fixed.Sin(r)), T(fixed.Sin(r / 2))
	}
	t := math.Sqrt(float64(s))
	return T(t), T(math.Sin(t)), T(math.Sin(t / 2))
}

// exponential returns I + a·[r]ₓ + b·[r]ₓ².
func exponential[N number[N]](one, a, b N, r [3]N) [9]N {
	xx, yy, zz := r[0].mul(r[0]), r[1].mul(r[1]), r[2].mul(r[2])
	x, y, z := a.mul(r[0]), a.mul(r[1]), a.mul(r[2])
	xy, xz, yz := b.mul(r[0].mul(r[1])), b.mul(r[0].mul(r[2])), b.mul(r[1].mul(r[2]))
	return [9]N{
		one.sub(b.mul(yy.add(zz))), xy.sub(z), xz.add(y),
		xy.add(z), one.sub(b.mul(xx.add(zz))), yz.sub(x),
		xz.sub(y), yz.add(x), one.sub(b.mul(xx.add(yy))),
	}
}

// rodrigues is exponential for cameras in floating point. There all other work is in
// assembly, and the methods of an N are calls, which take several times as long.
func rodrigues(a, b float64, r [3]float64) [9]float64 {
	xx, yy, zz := float64(b*r[0]*r[0]), float64(b*r[1]*r[1]), float64(b*r[2]*r[2])
	x, y, z := float64(a*r[0]), float64(a*r[1]), float64(a*r[2])
	xy, xz, yz := float64(b*r[0]*r[1]), float64(b*r[0]*r[2]), float64(b*r[1]*r[2])
	return [9]float64{
		1 - (yy + zz), xy - z, xz + y,
		xy + z, 1 - (xx + zz), yz - x,
		xz - y, yz + x, 1 - (xx + yy),
	}
}
