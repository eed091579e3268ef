package corner

import (
	"errors"
	"math"
)

// A point is a struct of numbers.
type point struct {
	x, y float64
	w    [2]float64
}

// turned returns p turned by a, with exchanged weights.
func turned(p point, a float64) point {
	sin, cos := math.Sincos(a)
	p.x, p.y = cos*p.x-sin*p.y, sin*p.x+cos*p.y
	return point{x: p.x, y: p.y, w: [2]float64{p.w[1], p.w[0]}}
}

// structs has structs as locals, parameters and results of functions.
//
//revgen:kernel Structs[T rev.Real]
func structs(out *float64, q []float64, a []float64) {
	var sum point
	for i, v := range a {
		p := turned(point{q[i], v, [2]float64{0.5, v * v}}, v)
		sum.x += p.x
		sum.y += p.y * p.w[0]
		sum.w[1] = 0.5*sum.w[1] + math.Tanh(p.w[1])
		p = turned(p, sum.w[1])
		sum.w[0] += p.x
	}
	*out += sum.x*sum.y + sum.w[0] - sum.w[1]
}

// arrays multiplies each row of x, as a vector of three, by a matrix made of it.
//
//revgen:kernel Arrays[T rev.Real]
func arrays(y, x [][]float64, s float64) {
	if len(x) != len(y) || len(x[0]) != 3 || len(y[0]) != 3 {
		panic("shape")
	}
	for n := range x {
		v := [3]float64{x[n][0], x[n][1], x[n][2]}
		m := cross(v)
		for i := range m {
			m[i][i] += 1 + s*v[i]
		}
		var u [3]float64
		for i, row := range m {
			for j := 0; j < 3; j++ {
				if i == j {
					continue
				}
				u[i] += row[j] * v[j]
			}
			u[i] -= m[i][2-i%2] / (2 + v[i]*v[i])
		}
		for i := 2; i >= 0; i-- {
			y[n][i] += u[i]
		}
	}
}

// cross returns the matrix of the product with v.
func cross(v [3]float64) (m [3][3]float64) {
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		m[k][j] += v[i]
		m[j][k] -= v[i]
	}
	return
}

// parts works on parts of vectors and rows.
//
//revgen:kernel Parts[T rev.Real]
func parts(y, x []float64, m [][]float64, n int) {
	if len(y) != len(m) || len(x) != n*len(m) || len(m[0]) != 2*n {
		panic("shape")
	}
	for i, row := range m {
		mine, left, right := x[i*n:(i+1)*n], row[:n], row[n:]
		for j := range mine {
			y[i] += mine[j] * left[j] * math.Sin(right[j])
		}
		y[i] += norm(mine) * norm(left)
	}
}

func norm(x []float64) float64 {
	s := 0.25
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// huber is quadratic near 0 and linear beyond.
func huber(x, d float64) float64 {
	if x > d {
		return d * (x - d/2)
	} else if x < -d {
		return -d * (x + d/2)
	}
	return x * x / 2
}

// divided returns both signs of x/y.
func divided(x, y float64) (plus, minus float64) {
	plus = x / (2 + y*y)
	minus = -plus
	return plus, minus
}

// early has functions that return early, several results, switches and continue.
//
//revgen:kernel Early[T rev.Real]
func early(y, x []float64, kind []int, mode int) {
	if len(x) != len(y) || len(kind) != len(y) {
		panic("shape")
	}
	if mode == 0 {
		return
	}
	for i, v := range x {
		plus, minus := divided(v, 1)
		switch k := kind[i]; k {
		case 0:
			y[i] += huber(v, 0.75)
		case 1, 2:
			const half = 0.5
			y[i] += plus + half*float64(k)
		default:
			if mode == 2 {
				continue
			}
			y[i] += v * v * minus
		}
		switch {
		case v > 2:
			y[i] -= math.Exp(-v)
		case mode == 1:
		default:
			y[i] += max(v, minus, -0.5) - min(plus, 0.25)
		}
	}
}

// ErrDomain is the error of logs.
var ErrDomain = errors.New("corner: a number is not positive")

// logs fails unless all numbers are positive.
//
//revgen:kernel Logs[T rev.Real]
func logs(y, x []float64, limit int) error {
	if len(x) != len(y) {
		panic("shape")
	}
	if len(x) > limit {
		return errLimit
	}
	for i, v := range x {
		if v <= 0 && i >= 0 {
			return ErrDomain
		}
	}
	for i, v := range x {
		y[i] += math.Log(v)
	}
	return nil
}

var errLimit = errors.New("corner: too many numbers")

// guarded reads the row of a parent only where there is one.
//
//revgen:kernel Guarded[T rev.Real]
func guarded(y, m [][]float64, parents []int) {
	if len(y) != len(parents) || len(m) != len(parents) || len(m[0]) != 3 || len(y[0]) != 3 {
		panic("shape")
	}
	for i, p := range parents {
		if p >= 0 {
			for j := range 3 {
				y[i][j] += m[p][j] * m[p][0]
			}
		}
	}
}

// ranges reads rows only where their range of columns is not empty. Elsewhere the index
// may be -1.
//
//revgen:kernel Ranges[T rev.Real]
func ranges(y []float64, m [][]float64, row, from, to []int) {
	if len(row) != len(y) || len(from) != len(y) || len(to) != len(y) {
		panic("shape")
	}
	for i, r := range row {
		sum := 0.0
		for j := from[i]; j < to[i]; j++ {
			sum += m[r][j] * m[r][j]
		}
		y[i] += sum
	}
}

// factor adds the factor of Cholesky to l, which is zero before, in one loop over its lower
// triangle. It reads l[i][k] and l[j][k] only for k < j, which is why l[i][j] and l[i][i] may
// change after s.
//
//revgen:kernel Factor[T rev.Real]
func factor(l, a [][]float64) {
	if len(l) != len(a) || len(l[0]) != len(a) || len(a[0]) != len(a) {
		panic("shape")
	}
	for i := range a {
		for j := 0; j <= i; j++ {
			s := a[i][j]
			for k := 0; k < j; k++ {
				s -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] += math.Sqrt(s)
			} else {
				l[i][j] += s / l[j][j]
			}
		}
	}
}
