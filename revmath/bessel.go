package revmath

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/rev"
)

// Bessel is the kernel
//
//	y_i += J_ν(x_i),
//
// the Bessel function of the first kind of the order ν, with the derivatives
//
//	J_ν′(x) = (ν/x)·J_ν(x) - J_{ν+1}(x),
//	J_ν″(x) = (ν(ν-1)/x² - 1)·J_ν(x) + J_{ν+1}(x)/x.
//
// All passes return a *rev.DomainError and change nothing if ν is not between 0 and 1000, or if
// it is not an integer and an element of X is negative. Derivatives at x = 0 that are infinite
// come out as 0.
//
// The orders 0 and 1 are 3 to 20 times as fast as others. Their table takes 0.3 ms at first use.
//
// Over float64 the error of J_ν and of its first two derivatives is below 2⁻⁴⁸ times the
// larger of 1 and their value. Float32 and fixed-point numbers are rounded from float64.
// Where J_ν′ or J_ν″ is out of the range of fixed point, the end of the range stands for it.
type Bessel[T rev.Real] struct {
	Y  rev.Vector[T] `rev:"acc" shape:"n"`
	X  rev.Vector[T] `rev:"in" shape:"n"`
	Nu float64
}

// NewBessel returns the kernel that adds to y, over gonum vectors, sharing their storage.
func NewBessel(y, x *mat.VecDense, nu float64) Bessel[float64] {
	return Bessel[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x), Nu: nu}
}

// besselRun is Run of Bessel. It returns a *rev.DomainError if the order or an element of X has
// no value.
func besselRun[T rev.Real](k *Bessel[T], p *rev.Pass[Bessel[T]]) error {
	if !(k.Nu >= 0 && k.Nu <= 1000) {
		return &rev.DomainError{Func: "Bessel: the order", Args: []float64{k.Nu}}
	}
	for i := 0; i < k.X.N && k.Nu != math.Floor(k.Nu); i++ {
		if x := fixed.Float(k.X.Data[i*k.X.Inc]); x < 0 {
			return &rev.DomainError{Func: "Bessel", Args: []float64{k.Nu, x}, Index: i}
		}
	}
	sign, g, t, gt := T(p.Sign()), p.G, p.T, p.GT
	at := func(v rev.Vector[T], i int) *T { return &v.Data[i*v.Inc] }
	var tables *besselTables
	order := int(k.Nu)
	if k.Nu == 0 || k.Nu == 1 {
		tables = tables01()
	}
	if tables != nil && g.X.Data == nil && t.X.Data == nil && gt.X.Data == nil {
		for i := range k.Y.N {
			*at(k.Y, i) += T(sign * fixed.Of[T](tables.value(order, fixed.Float(*at(k.X, i)))))
		}
		return nil
	}
	for i := range k.X.N {
		var j, slope, curve float64
		if x := fixed.Float(*at(k.X, i)); tables != nil {
			j, slope, curve = tables.derivatives(order, x)
		} else {
			j, slope, curve = besselJ(k.Nu, x)
		}
		d := fixed.Of[T](slope)
		if k.Y.Data != nil {
			*at(k.Y, i) += T(sign * fixed.Of[T](j))
		}
		if t.X.Data != nil && t.Y.Data != nil {
			*at(t.Y, i) += T(sign * fixed.Product(d, *at(t.X, i)))
		}
		if g.X.Data != nil && g.Y.Data != nil {
			*at(g.X, i) += fixed.Product(d, *at(g.Y, i))
		}
		if gt.X.Data != nil && gt.Y.Data != nil {
			*at(gt.X, i) += fixed.Product(d, *at(gt.Y, i))
		}
		if gt.X.Data != nil && g.Y.Data != nil && t.X.Data != nil {
			*at(gt.X, i) += fixed.Product(fixed.Product(fixed.Of[T](curve), *at(t.X, i)), *at(g.Y, i))
		}
	}
	return nil
}

// besselJ returns J_ν(x) and its first two derivatives, 0 for those that are infinite.
func besselJ(nu, x float64) (j, slope, curve float64) {
	switch {
	case math.IsInf(x, 0):
		return 0, 0, 0
	case x < 0: // ν is an integer
		j, slope, curve = besselJ(nu, -x)
		if math.Mod(nu, 2) == 1 {
			return -j, slope, -curve
		}
		return j, -slope, curve
	case x < 1e-30:
		return besselNearZero(nu, x)
	}
	j, next := besselPair(nu, x)
	slope = float64(nu/x*j) - next
	return j, slope, float64((float64(nu/x*((nu-1)/x))-1)*j) + next/x
}

// besselNearZero returns the first terms of the series of besselJ.
func besselNearZero(nu, x float64) (j, slope, curve float64) {
	power := func(c, p float64) float64 { // c·(x/2)^p/Γ(ν+1)
		if c == 0 || nu > 170 || x == 0 && p < 0 {
			return 0
		}
		return c * logs.Pow(x/2, p) / math.Gamma(nu+1)
	}
	return power(1, nu), power(nu/2, nu-1), power(nu*(nu-1)/4, nu-2)
}

// besselPair returns J_ν(x) and J_{ν+1}(x) for x > 0.
//
// The recurrence J_{ν+1} + J_{ν-1} = (2ν/x)·J_ν is stable upward as long as ν < x, and always
// downward. It starts upward from Hankel's asymptotic series of the orders μ and μ+1, where μ
// is the fraction of ν. Downward it starts far above ν and x from any number (Miller's
// algorithm); what it yields is then scaled by Hankel's series too, or for smaller x by
//
//	Σ_k (μ+2k)·Γ(μ+k)/k!·J_{μ+2k}(x) = (x/2)^μ
//
// (Abramowitz and Stegun, Handbook of Mathematical Functions, 9.1.27, 9.2.5 and 9.1.87). The
// power series serves only where its terms hardly cancel.
func besselPair(nu, x float64) (j, next float64) {
	whole, mu := math.Modf(nu)
	n := int(whole)
	switch h := x / 2; {
	case h*h <= nu+2:
		lead := logs.Pow(h, mu) / math.Gamma(1+mu)
		for k := 1; k <= n; k++ {
			lead *= h / (float64(k) + mu)
		}
		return lead * besselTail(nu, h), lead * (h / (nu + 1)) * besselTail(nu+1, h)
	case x < 25:
		j, next, _, _, sum := besselDown(n, mu, x)
		scale := logs.Pow(h, mu) / sum
		return j * scale, next * scale
	}
	first, second := besselHankel(mu, x), besselHankel(mu+1, x)
	if nu > x {
		j, next, f, s, _ := besselDown(n, mu, x)
		scale := first / f
		if math.Abs(s) > math.Abs(f) {
			scale = second / s
		}
		return j * scale, next * scale
	}
	for k := 1; k <= n; k++ {
		first, second = second, float64(2*(float64(k)+mu)/x*second)-first
	}
	return first, second
}

// besselTail returns Γ(ν+1)·(x/2)^(-ν)·J_ν(x) for h = x/2, by the power series.
func besselTail(nu, h float64) float64 {
	term, sum := 1.0, 1.0
	for k := 1.0; math.Abs(term) > 1e-18; k++ {
		term = float64(term * -h * h / (k * (k + nu)))
		sum += term
	}
	return sum
}

// besselDown returns multiples of J_{n+μ}, J_{n+1+μ}, J_μ and J_{μ+1}, and of (x/2)^μ.
func besselDown(n int, mu, x float64) (j, next, first, second, sum float64) {
	top := max(float64(n), x)
	half := int((top+float64(10*math.Cbrt(top)))/2) + 3
	// weight is (μ+2k)·Γ(μ+k)/k!, which for large k only x >= 25 reaches, and does not need.
	weight := 0.0
	if x < 25 {
		k := float64(half)
		weight = (mu + 2*k) * (math.Gamma(mu+k) / math.Gamma(k+1))
	}
	first, second = 1e-100, 0
	for m := 2 * half; ; m-- {
		if m == n {
			j, next = first, second
		}
		if m == 0 {
			return j, next, first, second, sum + float64(math.Gamma(1+mu)*first)
		}
		if m%2 == 0 {
			k := float64(m / 2)
			sum += float64(weight * first)
			weight *= (mu + 2*k - 2) * k / ((mu + 2*k) * (mu + k - 1))
		}
		first, second = float64(2*(float64(m)+mu)/x*first)-second, first
		if math.Abs(first) > 1e100 {
			first, second, sum = float64(first*1e-100), float64(second*1e-100), float64(sum*1e-100)
			j, next = j*1e-100, next*1e-100
		}
	}
}

// besselHankel returns J_μ(x) for μ < 2 and x >= 25, where the terms of Hankel's series fall
// below the last bit before they grow.
func besselHankel(mu, x float64) float64 {
	var p, q float64
	for k, term := 1.0, 1.0; math.Abs(term) > 1e-18; k++ {
		if int(k)%2 == 1 {
			p += term
			term = float64(term * (float64(4*mu*mu) - float64((2*k-1)*(2*k-1))) / (8 * k * x))
		} else {
			q += term
			term = float64(-term * ((float64(4*mu*mu) - float64((2*k-1)*(2*k-1))) / (8 * k * x)))
		}
	}
	sin, cos := math.Sincos(x)
	s, c := math.Sincos(math.Pi * (mu/2 + 0.25))
	cosine, sine := float64(cos*c)+float64(sin*s), float64(sin*c)-float64(cos*s)
	return float64(math.Sqrt(2/(math.Pi*x)) * (float64(p*cosine) - float64(q*sine)))
}
