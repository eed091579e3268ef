package science

import "math"

// spline is a natural cubic spline through (x, y), evaluated at points t.
//
//revgen:gradient y hessian
func spline(x, y, t []float64) float64 {
	n := len(x)
	h := make([]float64, n-1)
	for i := range h {
		h[i] = x[i+1] - x[i]
	}
	l, mu, z := make([]float64, n), make([]float64, n), make([]float64, n)
	l[0] = 1
	for i := 1; i < n-1; i++ {
		a := 3/h[i]*(y[i+1]-y[i]) - 3/h[i-1]*(y[i]-y[i-1])
		l[i] = 2*(x[i+1]-x[i-1]) - h[i-1]*mu[i-1]
		mu[i] = h[i] / l[i]
		z[i] = (a - h[i-1]*z[i-1]) / l[i]
	}
	c := make([]float64, n)
	b := make([]float64, n-1)
	d := make([]float64, n-1)
	for j := n - 2; j >= 0; j-- {
		c[j] = z[j] - mu[j]*c[j+1]
		b[j] = (y[j+1]-y[j])/h[j] - h[j]*(c[j+1]+2*c[j])/3
		d[j] = (c[j+1] - c[j]) / (3 * h[j])
	}
	sum := 0.0
	for _, u := range t {
		j := 0
		for j < n-2 && x[j+1] < u {
			j++
		}
		s := u - x[j]
		v := y[j] + s*(b[j]+s*(c[j]+s*d[j]))
		sum += v * v
	}
	return sum
}

// newton solves x³ + a·x = b.
//
//revgen:gradient a b
func newton(a, b float64) float64 {
	x := 1.0
	for {
		f := x*x*x + a*x - b
		step := f / (3*x*x + a)
		x -= step
		if math.Abs(step) < 1e-14 {
			return x
		}
	}
}

// halley finds the cube root.
//
//revgen:gradient a
func halley(a float64) float64 {
	x := a
	for i := 0; i < 40; i++ {
		c := x * x * x
		y := x * (c + 2*a) / (2*c + a)
		if math.Abs(y-x) <= 1e-15*math.Abs(y) {
			x = y
			break
		}
		x = y
	}
	return x
}

// bilinear interpolates in an image.
//
//revgen:gradient img p
func bilinear(img [][]float64, p [][2]float64) float64 {
	s := 0.0
	for _, q := range p {
		x, y := q[0], q[1]
		i, j := int(math.Floor(x)), int(math.Floor(y))
		if i < 0 || j < 0 || i+1 >= len(img) || j+1 >= len(img[0]) {
			continue
		}
		u, v := x-float64(i), y-float64(j)
		val := (1-u)*(1-v)*img[i][j] + u*(1-v)*img[i+1][j] + (1-u)*v*img[i][j+1] + u*v*img[i+1][j+1]
		s += val * val
	}
	return s
}

// rk4 integrates a pendulum with damping.
//
//revgen:gradient x0 c
func rk4(x0 []float64, c float64, steps int, h float64) float64 {
	f := func(th, w float64) (float64, float64) {
		return w, -math.Sin(th) - c*w
	}
	th, w := x0[0], x0[1]
	for n := 0; n < steps; n++ {
		a1, b1 := f(th, w)
		a2, b2 := f(th+h/2*a1, w+h/2*b1)
		a3, b3 := f(th+h/2*a2, w+h/2*b2)
		a4, b4 := f(th+h*a3, w+h*b3)
		th += h / 6 * (a1 + 2*a2 + 2*a3 + a4)
		w += h / 6 * (b1 + 2*b2 + 2*b3 + b4)
	}
	return th*th + 0.5*w*w
}

// cholesky is the log-determinant of A + AᵀA + I, by Cholesky's factorisation in place.
//
//revgen:gradient a
func cholesky(a [][]float64) float64 {
	n := len(a)
	l := make([][]float64, n)
	for i := range l {
		l[i] = make([]float64, i+1)
		for j := 0; j <= i; j++ {
			sum := 0.0
			for k := range n {
				sum += a[k][i] * a[k][j]
			}
			if i == j {
				sum++
			}
			for k := 0; k < j; k++ {
				sum -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][j] = math.Sqrt(sum)
			} else {
				l[i][j] = sum / l[j][j]
			}
		}
	}
	det := 0.0
	for i := 0; i < n; i++ {
		det += 2 * math.Log(l[i][i])
	}
	return det
}

// gauss solves a·x = b by elimination with pivots, and returns Σ x².
//
//revgen:gradient a b
func gauss(a [][]float64, b []float64) float64 {
	n := len(b)
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n+1)
		copy(m[i], a[i])
		m[i][n] = b[i]
	}
	for k := 0; k < n; k++ {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(m[i][k]) > math.Abs(m[p][k]) {
				p = i
			}
		}
		m[k], m[p] = m[p], m[k]
		for i := k + 1; i < n; i++ {
			f := m[i][k] / m[k][k]
			for j := k; j <= n; j++ {
				m[i][j] -= f * m[k][j]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		s := m[i][n]
		for j := i + 1; j < n; j++ {
			s -= m[i][j] * x[j]
		}
		x[i] = s / m[i][i]
	}
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// simpson integrates exp(-a·x²)·cos(b·x) from 0 to 1.
//
//revgen:gradient p
func simpson(p [2]float64, n int) float64 {
	h := 1 / float64(n)
	s := 0.0
	for i := 0; i <= n; i++ {
		w := 2.0
		switch {
		case i == 0, i == n:
			w = 1
		case i%2 == 1:
			w = 4
		}
		x := float64(i) * h
		s += w * math.Exp(-p[0]*x*x) * math.Cos(p[1]*x)
	}
	return s * h / 3
}

// fft is the power in the first half of the spectrum, by the radix-2 transform.
//
//revgen:gradient x hessian
func fft(x []float64) float64 {
	n := len(x)
	re := make([]float64, n)
	im := make([]float64, n)
	for i := range x {
		j, k := 0, i
		for m := n; m > 1; m >>= 1 {
			j = j<<1 | k&1
			k >>= 1
		}
		re[j] = x[i]
	}
	for size := 2; size <= n; size *= 2 {
		half := size / 2
		for start := 0; start < n; start += size {
			for k := 0; k < half; k++ {
				s, c := math.Sincos(-2 * math.Pi * float64(k) / float64(size))
				i, j := start+k, start+k+half
				tr := c*re[j] - s*im[j]
				ti := s*re[j] + c*im[j]
				re[j], im[j] = re[i]-tr, im[i]-ti
				re[i], im[i] = re[i]+tr, im[i]+ti
			}
		}
	}
	p := 0.0
	for k := 1; k < n/2; k++ {
		p += (re[k]*re[k] + im[k]*im[k]) / float64(k)
	}
	return p
}

// horner evaluates a polynomial and its second moments.
//
//revgen:gradient c hessian
func horner(c []float64, xs []float64) (sum float64) {
	for _, x := range xs {
		v := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			v = v*x + c[i]
		}
		sum += v * v
	}
	return sum
}

// continuedFraction is a + 1/(b + 1/(a + ...)).
//
//revgen:gradient a b
func continuedFraction(a, b float64, n int) float64 {
	v := 1.0
	for i := n; i > 0; i-- {
		if i%2 == 0 {
			v = a + 1/v
		} else {
			v = b + 1/v
		}
	}
	return v
}

// bisect is the root of x·exp(x) = a by regula falsi, with the iteration's own derivative.
//
//revgen:gradient a
func bisect(a float64) float64 {
	lo, hi := 0.0, a+1
	flo, fhi := -a, hi*math.Exp(hi)-a
	x := lo
outer:
	for n := 0; ; n++ {
		x = (lo*fhi - hi*flo) / (fhi - flo)
		f := x*math.Exp(x) - a
		switch {
		case math.Abs(f) < 1e-13 || n > 200:
			break outer
		case f < 0:
			lo, flo = x, f
		default:
			hi, fhi = x, f
		}
	}
	return x
}

// triple has few results, so products on its left are taken two at once.
//
//revgen:jacobian x rows
func triple(dst, x []float64) {
	a := math.Sin(x[0]) * x[1]
	dst[0] = a * x[2]
	dst[1] = a / x[3]
	dst[2] = x[0] * x[3]
}

// inverseRoots stores 1/√x in dst.
//
//revgen:jacobian x
func inverseRoots(dst, x []float64) {
	for i := range dst {
		r := math.Sqrt(x[i])
		dst[i] = 1 / r
	}
}

// scaledRoot stores 1/√(x₀x₁) in dst.
//
//revgen:jacobian x
func scaledRoot(dst, x []float64) {
	r := math.Sqrt(x[0])
	r *= math.Sqrt(x[1])
	dst[0] = 1 / r
}
