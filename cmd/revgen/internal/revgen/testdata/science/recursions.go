package science

import "math"

// Functions that call themselves.

// determinant expands by minors the matrix of which columns has the places of the rows' elements.
//
//revgen:gradient x hessian
func determinant(x []float64, n int) float64 {
	columns := make([]int, n)
	for i := range columns {
		columns[i] = i
	}
	return minorOf(x, n, columns)
}

func minorOf(x []float64, n int, columns []int) float64 {
	if len(columns) == 0 {
		return 1
	}
	sum, sign, rest := 0.0, 1.0, make([]int, len(columns)-1)
	for j, c := range columns {
		copy(rest, columns[:j])
		copy(rest[j:], columns[j+1:])
		sum += sign * x[c] * minorOf(x[n:], n, rest)
		sign = -sign
	}
	return sum
}

// hermite is Hermite's polynomial of degree n.
//
//revgen:gradient x
func hermite(x float64, n int) float64 {
	switch n {
	case 0:
		return 1
	case 1:
		return 2 * x
	}
	return 2*x*hermite(x, n-1) - 2*float64(n-1)*hermite(x, n-2)
}

// A bSpline has the knots and the coefficients of a curve.
type bSpline struct {
	knots, coefs []float64
	degree       int
}

// at is the value at x, by the recursion of Cox and de Boor.
//
//revgen:gradient s x
func (s *bSpline) at(x float64) float64 {
	sum := 0.0
	for i, c := range s.coefs {
		sum += c * s.basis(i, s.degree, x)
	}
	return sum
}

func (s *bSpline) basis(i, degree int, x float64) float64 {
	if degree == 0 {
		if s.knots[i] <= x && x < s.knots[i+1] {
			return 1
		}
		return 0
	}
	left := (x - s.knots[i]) / (s.knots[i+degree] - s.knots[i])
	right := (s.knots[i+degree+1] - x) / (s.knots[i+degree+1] - s.knots[i+1])
	return left*s.basis(i, degree-1, x) + right*s.basis(i+1, degree-1, x)
}

// quadrature integrates exp(-p0·t²)·cos(p1·t) by Simpson's rule, in halves.
//
//revgen:gradient p hessian
func quadrature(p []float64, depth int) float64 { return simpsonIn(p, 0, p[2], depth) }

func simpsonIn(p []float64, a, b float64, depth int) float64 {
	f := func(t float64) float64 { return math.Exp(-p[0]*t*t) * math.Cos(p[1]*t) }
	m := (a + b) / 2
	if depth == 0 {
		return (b - a) / 6 * (f(a) + 4*f(m) + f(b))
	}
	return simpsonIn(p, a, m, depth-1) + simpsonIn(p, m, b, depth-1)
}

// cosines computes cos(n·x) by the addition theorems, from functions that call each other.
//
//revgen:gradient x
func cosines(x float64, n int) float64 { return cosOf(x, n) + 0.5*sinOf(x, n) }

func cosOf(x float64, n int) float64 {
	if n == 0 {
		return 1
	}
	return cosOf(x, n-1)*math.Cos(x) - sinOf(x, n-1)*math.Sin(x)
}

func sinOf(x float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return sinOf(x, n-1)*math.Cos(x) + cosOf(x, n-1)*math.Sin(x)
}

// tree adds up the smooth maxima of halves. Only x has derivatives by it, and not weights.
//
//revgen:jacobian x
func tree(dst, x, weights []float64) {
	for i := range dst {
		dst[i] = weights[i] * smooth(x[i:], weights, 2)
	}
}

func smooth(x, weights []float64, sharp float64) float64 {
	if len(x) == 1 {
		return x[0] * weights[0]
	}
	n := len(x) / 2
	a, b := smooth(x[:n], weights[:n], sharp), smooth(x[n:], weights[n:], 1.5*sharp)
	return math.Log(math.Exp(sharp*a)+math.Exp(sharp*b)) / sharp
}

// faded changes parameters that are numbers, which are not named.
//
//revgen:jacobian x
func faded(dst, x []float64, s float64) {
	s *= x[0]
	dst[0] = s*x[1] + fade(x, s, 3)
}

func fade(x []float64, s float64, n int) float64 {
	if n == 0 {
		return s * x[1]
	}
	s *= x[n%2] + s
	return s + fade(x, 0.5*s, n-1)
}
