package borrowed

import (
	std "math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// These hide names that are written.

var num = 3.0

type math struct{ mat float64 }

func rev(x float64) float64 { return x * num }

func max[T int | float64](x, y T) T {
	if x > y {
		return x
	}
	return y
}

func min[T int | float64](x, y T) T { return -max(-x, -y) }

type real struct{ x, y float64 }

func (r real) value() float64 { return r.x * r.y }

//revgen:gradient p hessian
func hidden(p []float64) float64 {
	var c mat.Dense
	x := mat.NewDense(2, 2, p[:4])
	c.Mul(x, x)
	s := rev(real{p[0], std.Exp(p[1])}.value()) * math{p[2]}.mat
	best := 0.0
	for _, v := range p {
		best = std.Max(best, std.Min(v, p[3])*std.Pi)
	}
	y := make([]float64, 3)
	copy(y, p)
	y[0] *= 2
	copy(y[1:], y)
	return s + best + mat.Sum(&c) + floats.Dot(y, p[:3]) + p[rand.N(1)]
}
