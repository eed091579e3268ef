package science

import (
	"errors"
	"fmt"
	"math"
)

type vec struct{ x, y, z float64 }

func (a vec) sub(b vec) vec         { return vec{a.x - b.x, a.y - b.y, a.z - b.z} }
func (a vec) dot(b vec) float64     { return a.x*b.x + a.y*b.y + a.z*b.z }
func (a vec) norm() float64         { return math.Sqrt(a.dot(a)) }
func (a *vec) add(s float64, b vec) { a.x += s * b.x; a.y += s * b.y; a.z += s * b.z }

// ewald is the energy of charges, with the short range part of Ewald's sum.
//
//revgen:gradient pos q
func ewald(pos []vec, q []float64, alpha float64) float64 {
	e := 0.0
	for i := range pos {
		for j := i + 1; j < len(pos); j++ {
			r := pos[i].sub(pos[j]).norm()
			if r > 3 {
				continue
			}
			e += q[i] * q[j] * math.Erfc(alpha*r) / r
		}
	}
	return e
}

// nbody takes steps of leapfrog, and returns the energy.
//
//revgen:gradient pos vel
func nbody(pos, vel []vec, dt float64, steps int) float64 {
	p := make([]vec, len(pos))
	v := make([]vec, len(vel))
	copy(p, pos)
	copy(v, vel)
	for range steps {
		for i := range p {
			p[i].add(dt/2, v[i])
		}
		for i := range p {
			for j := range i {
				d := p[i].sub(p[j])
				r2 := d.dot(d) + 0.01
				f := dt / (r2 * math.Sqrt(r2))
				v[i].add(-f, d)
				v[j].add(f, d)
			}
		}
		for i := range p {
			p[i].add(dt/2, v[i])
		}
	}
	e := 0.0
	for i := range v {
		e += 0.5 * v[i].dot(v[i])
	}
	return e
}

// attention is a head of attention with a loss.
//
//revgen:gradient q k v
func attention(q, k, v [][]float64) float64 {
	n, d := len(q), len(q[0])
	scale := 1 / math.Sqrt(float64(d))
	loss := 0.0
	w := make([]float64, n)
	for i := range q {
		top := math.Inf(-1)
		for j := range k {
			w[j] = dot(q[i], k[j]) * scale
			top = max(top, w[j])
		}
		sum := 0.0
		for j := range w {
			w[j] = math.Exp(w[j] - top)
			sum += w[j]
		}
		for c := 0; c < d; c++ {
			o := 0.0
			for j := range w {
				o += w[j] * v[j][c]
			}
			o /= sum
			loss += o * o
		}
	}
	return loss
}

type layer struct {
	w [][]float64
	b []float64
}

type network struct{ hidden, out layer }

func (l layer) apply(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(l.b))
	for i := range y {
		y[i] = l.b[i]
		for j := range x {
			y[i] += l.w[i][j] * x[j]
		}
		y[i] = f(y[i])
	}
	return y
}

// loss is the cross entropy of a perceptron.
//
//revgen:gradient n
func (n *network) loss(xs [][]float64, labels []int) float64 {
	total := 0.0
	for i, x := range xs {
		h := n.hidden.apply(x, func(x float64) float64 { return math.Max(x, 0.01*x) })
		o := n.out.apply(h, func(x float64) float64 { return x })
		total += logSumExp(o) - o[labels[i]]
	}
	return total / float64(len(xs))
}

// adam takes steps of Adam on a quadratic, and returns the last value: a gradient by
// hyperparameters.
//
//revgen:gradient rate x0
func adam(rate float64, x0 []float64, steps int) float64 {
	const b1, b2, eps = 0.9, 0.999, 1e-8
	x := append([]float64(nil), x0...)
	m := make([]float64, len(x))
	v := make([]float64, len(x))
	c1, c2 := 1.0, 1.0
	for range steps {
		c1 *= b1
		c2 *= b2
		for i := range x {
			g := float64(i+1) * x[i]
			m[i] = b1*m[i] + (1-b1)*g
			v[i] = b2*v[i] + (1-b2)*g*g
			x[i] -= rate * (m[i] / (1 - c1)) / (math.Sqrt(v[i]/(1-c2)) + eps)
		}
	}
	s := 0.0
	for i, xi := range x {
		s += float64(i+1) * xi * xi / 2
	}
	return s
}

// heston is a price by the characteristic function, with complex arithmetic by hand.
//
//revgen:gradient kappa theta sigma rho v0
func heston(kappa, theta, sigma, rho, v0 float64) float64 {
	price := 0.0
	for i := 1; i <= 64; i++ {
		u := float64(i) / 8
		// d = √((ρσiu - κ)² + σ²(iu + u²))
		ar, ai := -kappa, rho*sigma*u
		br, bi := ar*ar-ai*ai+sigma*sigma*u*u, 2*ar*ai+sigma*sigma*u
		mod := math.Hypot(br, bi)
		dr := math.Sqrt((mod + br) / 2)
		di := math.Copysign(math.Sqrt((mod-br)/2), bi)
		er, ei := math.Exp(-dr)*math.Cos(di), -math.Exp(-dr)*math.Sin(di)
		price += (theta*er + v0*ei - kappa*dr) * math.Exp(-u*u/9) / u
	}
	return price
}

var errDomain = errors.New("x must be positive")

// logistic is the loss of logistic regression, with an error for wrong labels.
//
//revgen:gradient w hessian
func logistic(w []float64, x [][]float64, y []int) (float64, error) {
	if len(x) != len(y) {
		return 0, errDomain
	}
	loss := 0.0
	for i, row := range x {
		if y[i] != 1 && y[i] != -1 {
			return 0, fmt.Errorf("label %d is %d", i, y[i])
		}
		m := float64(y[i]) * dot(w, row)
		if m > 0 {
			loss += math.Log1p(math.Exp(-m))
		} else {
			loss += math.Log1p(math.Exp(m)) - m
		}
	}
	for _, v := range w {
		loss += 0.05 * v * v
	}
	return loss, nil
}

// huber is a robust fit in float32.
//
//revgen:gradient p
func huber(p []float32, t, y []float32) float32 {
	var s float32
	for i := range t {
		r := p[0] + p[1]*t[i] - y[i]
		if a := float32(math.Abs(float64(r))); a > 1 {
			s += a - 0.5
		} else {
			s += r * r / 2
		}
	}
	return s
}

// stress of an embedding in the plane.
//
//revgen:gradient p
func stress(p [][2]float64, d [][]float64) float64 {
	s := 0.0
	for i := range p {
		for j := 0; j < i; j++ {
			var r2 float64
			for c := range 2 {
				diff := p[i][c] - p[j][c]
				r2 += diff * diff
			}
			e := math.Sqrt(r2) - d[i][j]
			s += e * e
		}
	}
	return s
}

// gamma is the negative log-likelihood of a gamma distribution.
//
//revgen:gradient k theta
func gamma(k, theta float64, x []float64) float64 {
	s := 0.0
	for _, v := range x {
		lg, _ := math.Lgamma(k)
		s += lg + k*math.Log(theta) - (k-1)*math.Log(v) + v/theta
	}
	return s
}

// bessel is a wave in a drum.
//
//revgen:gradient k
func bessel(k float64, r []float64) float64 {
	s := 0.0
	for _, x := range r {
		s += math.J0(k*x) * math.J0(k*x) * x
		s += 0.1 * math.J1(k*x)
	}
	return s
}

// collect appends what passes a test, and sums squares of differences.
//
//revgen:gradient x hessian
func collect(x []float64, limit float64) float64 {
	var kept []float64
	for _, v := range x {
		if v > limit {
			kept = append(kept, v*v)
		}
	}
	s := 0.0
	for i := 1; i < len(kept); i++ {
		s += (kept[i] - kept[i-1]) * (kept[i] - kept[i-1])
	}
	return s
}

type pair[T float64 | float32] struct{ a, b T }

func lerp[T float64 | float32](a, b, t T) T { return a + t*(b-a) }

// deCasteljau evaluates a Bézier curve.
//
//revgen:gradient p hessian
func deCasteljau(p []float64, t float64) float64 {
	q := make([]float64, len(p))
	copy(q, p)
	for n := len(q) - 1; n > 0; n-- {
		for i := range n {
			q[i] = lerp(q[i], q[i+1], t)
		}
	}
	return q[0] * q[0]
}

// residuals are the distances of points from a curve.
//
//revgen:jacobian p
func residuals(dst, p, t, y []float64) {
	for i := range dst {
		dst[i] = p[0]*math.Exp(-p[1]*t[i]) + p[2]*t[i]*t[i] - y[i]
	}
}

type scale struct{ by float64 }

// second takes second differences, smoothed.
//
//revgen:jacobian x
func (s scale) differences(x, out []float64) {
	last := 0.0
	for i := 1; i+1 < len(x); i++ {
		d := s.by * (x[i-1] - 2*x[i] + x[i+1])
		last = 0.5*last + d*math.Abs(d)
		out[i-1] = last
	}
}

// elementary calls the functions of package math.
//
//revgen:gradient x hessian
func elementary(x []float64) float64 {
	a, b := x[0], x[1] // both between 0 and 1
	s := math.Abs(a-2) + math.Acos(a) + 2*math.Acosh(1+a) + 3*math.Asin(b) + math.Asinh(a*b) + math.Atan(2*a)
	s += math.Atan2(a, b) + math.Atanh(a/2) + math.Cbrt(b) + math.Ceil(a) + math.Copysign(a, -b) + math.Cos(b)
	s += math.Cosh(a) + math.Dim(a, b) + 2*math.Dim(b, a) + math.Erf(a) + math.Erfc(b*b) + math.Exp(a*b) + math.Exp2(a) + math.Expm1(b)
	s += math.FMA(a, b, a) + math.Floor(b) + math.Hypot(a, b) + math.J0(a) + math.J1(b) + math.Jn(2, a+b)
	s += math.Log(a) + math.Log10(b) + math.Log1p(a) + math.Log2(b) + math.Max(a, 2*b) + math.Min(a, 2*b) + math.Mod(7*a, b+1)
	s += math.Pow(a, b) + math.Pow(b, 3) + math.Remainder(5*a, b+1) + math.Round(a) + math.Sin(a) + math.Sinh(b) + math.Sqrt(a*b)
	s += math.Erfinv(a/2) + math.Erfcinv(1+b/2) + math.Tan(a) + math.Tanh(b) + math.Trunc(a) + math.Y0(1+a) + math.Y1(1+b) + math.Yn(2, 1+a) + min(a, b, a*b) + max(3*a, b)
	sin, cos := math.Sincos(a * b)
	whole, fraction := math.Modf(5 * a)
	lg, sign := math.Lgamma(a + 1)
	s += sin*cos + whole*fraction + lg*float64(sign)
	fraction, exponent := math.Frexp(3 * a)
	s += fraction*float64(exponent) + math.Ldexp(a, 3)*math.Pow10(2) + math.Logb(5*a) + float64(math.Ilogb(b)) + math.Nextafter(b, 2)
	if math.IsNaN(s) || math.IsInf(s, 0) || math.Signbit(a) {
		return 0
	}
	return s
}

// factorial is Γ.
//
//revgen:gradient x
func factorial(x float64) float64 { return math.Gamma(x) }
