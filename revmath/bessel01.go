package revmath

import (
	"math"
	"sync"
)

// besselTables has what the orders 0 and 1 are computed from. Below besselEnd it is the Taylor
// series at the next multiple of besselStep, whose coefficients follow from
//
//	2^k·J_ν^(k) = Σ_j (-1)^j·binomial(k, j)·J_{ν-k+2j}
//
// (Abramowitz and Stegun, 9.1.31). The terms that are left out are below 2⁻⁵¹. From
// besselEnd on it is Hankel's series (9.2.5), with s and c for the sine and cosine of x:
//
//	J_0 = (P_0·(c+s) + Q_0·(c-s))/√(πx),  J_1 = (P_1·(s-c) + Q_1·(s+c))/√(πx)
//
// where P and Q are polynomials in x⁻², and Q is divided by x.
type besselTables [2]struct {
	taylor [besselEnd/besselStep + 1][12]float64
	p, q   [10]float64
}

const (
	besselEnd  = 25
	besselStep = 0.25
)

var tables01 = sync.OnceValue(func() *besselTables {
	t := new(besselTables)
	for i := range t[0].taylor {
		for order, a := range besselTaylor(float64(i) * besselStep) {
			t[order].taylor[i] = a
		}
	}
	for order := range t {
		term := 1.0
		for k := range len(t[order].p) {
			t[order].p[k] = term
			term *= hankelRatio(float64(order), float64(2*k+1))
			t[order].q[k] = term
			term *= -hankelRatio(float64(order), float64(2*k+2))
		}
	}
	return t
})

// hankelRatio returns x times the ratio of term k of Hankel's series to the term before it.
func hankelRatio(mu, k float64) float64 {
	return (float64(4*mu*mu) - float64((2*k-1)*(2*k-1))) / (8 * k)
}

// besselTaylor returns the coefficients of J_0(c+h) and J_1(c+h) as polynomials in h.
func besselTaylor(c float64) (a [2][12]float64) {
	j := [14]float64{1} // J_0(c), J_1(c), ...
	for m := 0; m < len(j) && c > 0; m += 2 {
		j[m], j[m+1] = besselPair(float64(m), c)
	}
	for order := range a {
		scale := 1.0 // 1/(2^k·k!)
		for k := range a[order] {
			binomial, sum := 1.0, 0.0
			for i := range k + 1 {
				m := order - k + 2*i
				v := j[max(m, -m)]
				if m < 0 && m&1 != 0 {
					v = -v
				}
				sum += float64(binomial * v)
				binomial *= -float64(k-i) / float64(i+1)
			}
			a[order][k] = float64(sum * scale)
			scale /= float64(2 * (k + 1))
		}
	}
	return a
}

// value returns J_0(x) or J_1(x).
func (t *besselTables) value(order int, x float64) (j float64) {
	if size := math.Abs(x); size < besselEnd {
		i := int(float64(size*(1/besselStep)) + 0.5)
		h := size - float64(float64(i)*besselStep)
		a := &t[order].taylor[i]
		z := float64(h * h) // terms from 10 on are too small
		even := float64((float64((float64((float64(a[8]*z)+a[6])*z)+a[4])*z)+a[2])*z) + a[0]
		odd := float64((float64((float64((float64(a[9]*z)+a[7])*z)+a[5])*z)+a[3])*z) + a[1]
		j = even + float64(h*odd)
	} else {
		j, _, _ = t.hankel(order, size, false)
	}
	if order == 1 {
		j *= math.Copysign(1, x)
	}
	return j
}

// derivatives returns J_0(x) or J_1(x), and its first two derivatives.
func (t *besselTables) derivatives(order int, x float64) (j, slope, curve float64) {
	size, sign := math.Abs(x), math.Copysign(1, x)
	if size < besselEnd {
		i := int(float64(size*(1/besselStep)) + 0.5)
		h := size - float64(float64(i)*besselStep)
		a := &t[order].taylor[i]
		for k := len(a) - 1; k > 1; k-- { // each has its own coefficients, which rounds once near x = 0
			d := float64(float64(k) * a[k])
			slope = float64(slope*h) + d
			curve = float64(curve*h) + float64(float64(k-1)*d)
		}
		slope = float64(slope*h) + a[1]
		j = t.value(order, x)
	} else {
		j, slope, curve = t.hankel(order, size, true)
		if order == 1 {
			j *= sign
		}
	}
	if order == 0 {
		return j, slope * sign, curve
	}
	return j, slope, curve * sign
}

// hankel returns J_0(x) or J_1(x) for x >= besselEnd, and its derivatives if they are wanted.
func (t *besselTables) hankel(order int, x float64, derivatives bool) (j, slope, curve float64) {
	if math.IsInf(x, 1) {
		return 0, 0, 0
	}
	s, c := math.Sincos(x)
	inv, root := 1/x, math.Sqrt(1/math.Pi*(1/x))
	var zero, one float64
	if order == 0 || derivatives {
		p, q := t.series(0, inv)
		zero = float64(root * (float64(p*(c+s)) + float64(q*(c-s))))
	}
	if order == 1 || derivatives {
		p, q := t.series(1, inv)
		one = float64(root * (float64(p*(s-c)) + float64(q*(s+c))))
	}
	if order == 0 {
		return zero, -one, float64(one*inv) - zero
	}
	return one, zero - float64(one*inv), float64((float64(2*inv*inv)-1)*one) - float64(zero*inv)
}

// series returns P and Q at x = 1/inv.
func (t *besselTables) series(order int, inv float64) (p, q float64) {
	series, z := &t[order], float64(inv*inv)
	n := len(series.p)
	if z < 1./(50*50) {
		n /= 2
	}
	for k := n - 1; k >= 0; k-- {
		p = float64(p*z) + series.p[k]
		q = float64(q*z) + series.q[k]
	}
	return p, float64(q * inv)
}
