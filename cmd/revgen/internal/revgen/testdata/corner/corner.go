// Package corner has kernels that try the corners of revgen. They are not committed:
// TestCorner of revgen writes them and runs the tests of this package. To do it yourself, say
//
//	go run ./cmd/revgen cmd/revgen/internal/revgen/testdata/corner
//	go test ./cmd/revgen/internal/revgen/testdata/corner
package corner

import (
	"math"

	_ "revnum/rev/num" // which written kernels import; tests of revgen import what this package does
)

// permute exchanges, turns signs and adds, in place.
//
//revgen:kernel Permute[T rev.Real]
func permute(x []float64, a, b *float64, w []float64) {
	if len(w) != len(x) {
		panic("shape")
	}
	for i := range x {
		j := len(x) - 1 - i
		if i < j {
			x[i], x[j] = x[j], x[i]
			x[i] += w[i] * x[j]
		} else {
			x[i] = -x[i]
		}
		*a += *b * x[i]
		*b -= w[i] * *a
	}
	*a, *b = *b, *a
}

// recurrent carries a state through a loop that changes operands.
//
//revgen:kernel Recurrent[T rev.Real]
func recurrent(y, x, w []float64, u float64) {
	if len(y) != len(x) || len(w) != len(x) {
		panic("shape")
	}
	h, c := 0.1, 0.2
	for t := range x {
		h = math.Tanh(w[t]*h + u*x[t])
		c += h * h
		c = 0.5*c + math.Sin(h)
		y[t] += c * h
	}
}

// branches assigns in branches, within loops, and reads what it assigned.
//
//revgen:kernel Branches[T rev.Real]
func branches(y, x []float64) {
	if len(y) != len(x) {
		panic("shape")
	}
	best, sum := 0.5, 0.0
	for i, v := range x {
		a, b := v, 1.0
		if v > 0 {
			t := math.Exp(-v)
			if v > 1 {
				a = t * a
			} else {
				b += t
				a += b
			}
			sum += t * v
		} else if v < -1 {
			for k := 1; k < 4; k++ {
				b *= v / float64(k)
			}
		}
		best = max(best, a*b)
		m := min(a, 2*b)
		y[i] += m * best
	}
	for i := range x {
		y[i] += sum * x[i]
	}
}

// power has loops in loops that carry, one of them with a condition.
//
//revgen:kernel Power[T rev.Real]
func power(out *float64, x []float64, n int) {
	total := 0.0
	for _, v := range x {
		p := 1.0
		for range n {
			q := v
			for j := range 3 {
				q = q*0.5 + p*v/float64(j+1)
			}
			p = p*0.9 + q
			e := 1.0
			for k := 1; k < 5 && e > 1e-9; k++ {
				e *= 0.5 * math.Abs(v) / float64(k)
				p += e
			}
		}
		total += p
	}
	*out += total + math.Pow(2+total*total, 0.3)
}

// pendulum is a leapfrog in place, with locals between the updates, downward.
//
//revgen:kernel Pendulum[T rev.Real]
func pendulum(q, p *float64, k, h float64, drive []float64) {
	for i := len(drive) - 1; i >= 0; i-- {
		f := -k * math.Sin(*q)
		*p += h * (f + drive[i])
		v := *p * 0.5
		*q += h * v
		g := -k * math.Sin(*q)
		*p += h * g
	}
}

// table adds rows of a matrix that indices select, in another order.
//
//revgen:kernel Table[T rev.Real]
func table(y, x [][]float64, from, to []int, scale []float64) {
	if len(from) != len(scale) || len(to) != len(scale) || len(y[0]) != len(x[0]) {
		panic("shape")
	}
	for p, s := range scale {
		a, b := x[from[p]], y[to[p]]
		for d := range a {
			b[d] += s * a[d] / (1 + a[d]*a[d])
		}
	}
}

// names has parameters with the names that the methods use themselves.
//
//revgen:kernel Names[T rev.Float]
func names(k []float64, g, gk [][]float64, t float64, fixed, num *float64) {
	if len(g) != len(k) || len(gk) != len(k) || len(g[0]) != len(k) || len(gk[0]) != len(k) {
		panic("shape")
	}
	for i := range k {
		for j := range k {
			k[i] += t * g[i][j] * math.Exp(gk[j][i])
		}
	}
	x := t * 2.5
	*num += x / (*fixed**fixed + 1)
}

// plain is over float64 alone.
//
//revgen:kernel Plain
func plain(y, x []float64, scale float64) {
	if len(x) != len(y) {
		panic("shape")
	}
	for i, v := range x {
		s := 1.5
		if v > 0 {
			s = math.Exp(-v) * 2
		}
		y[i] += scale * math.Sqrt(1+v*v) * s / 3
	}
}
