package borrowed

import m "math"

func square(x float64) float64 { return x * x }

// through applies functions one after the other, until one gives too much.
func through(x float64, fs []func(float64) float64) (y float64, n int) {
	y = x
	for i, f := range fs {
		if y > 20 {
			break
		}
		if i == 1 && y < 0 {
			continue
		}
		y = f(y) + 0.1*float64(i)
		n++
	}
	return y, n
}

// listed has slices of functions.
//
//revgen:gradient p hessian
func listed(p []float64) float64 {
	scale := p[0]
	layers := []func(float64) float64{m.Tanh, square, func(x float64) float64 { return scale * x }, m.Exp}
	s := 0.0
	for _, x := range p {
		y, n := through(3*x-2, layers)
		s += y * float64(n)
	}
	for i := range layers {
		s += layers[i](p[i]) * p[i+1]
	}
	for i, f := range layers {
		i *= 2
		s += f(0.1 * float64(i) * p[5])
	}
	for _, f := range [...]func(x, y float64) float64{m.Hypot, m.Atan2} {
		if s += f(p[1], p[2]); s > 1e6 {
			return s
		}
	}
	return s + layers[1](p[3])
}
