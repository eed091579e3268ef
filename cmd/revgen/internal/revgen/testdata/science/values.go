package science

import "math"

// Functions as values, any number of arguments, and slices that grow.

func midpoints(f func(float64) float64, a, b float64, n int) float64 {
	h := (b - a) / float64(n)
	sum := 0.0
	for i := range n {
		sum += f(a + (float64(i)+0.5)*h)
	}
	return sum * h
}

func cubed(x float64) float64 { return x * x * x }

//revgen:gradient x
func integrals(x []float64) float64 {
	f, again := cubed, math.Sin
	twice := func(g func(float64) float64, v float64) float64 { return g(g(v)) }
	return midpoints(cubed, 0, x[0], 5) + midpoints(math.Exp, x[0], x[1], 5) + twice(f, x[1]) + twice(again, x[2])
}

func sumOf(scale float64, terms ...float64) float64 {
	sum := 0.0
	for i, t := range terms {
		sum += scale * t * t / float64(i+1)
	}
	return sum
}

//revgen:gradient x
func several(x []float64) float64 {
	return sumOf(2) + sumOf(x[0], x[1], 3*x[2]) + sumOf(x[1], x[1:]...)
}

type place struct {
	at     [2]float64
	weight float64
}

// hull grows slices of structs, and joins slices.
//
//revgen:gradient x hessian
func hull(x []float64) float64 {
	places := []place{}
	for i := 0; i+2 < len(x); i += 3 {
		places = append(places, place{[2]float64{x[i], x[i+1]}, x[i+2]})
		places[0].weight *= 1.5
	}
	path := append([]float64{x[0], 1}, x[1:]...)
	path = append(path, path...)
	path = append(path, append([]float64(nil), x[:2]...)...)
	row := make([][]float64, 1)
	row[0] = append([]float64{}, path[:3]...)
	row[0] = append(row[0], x[1], x[1]*x[1])
	sum := 0.0
	for i, p := range places {
		sum += p.weight * math.Hypot(p.at[0]-x[0]*2, p.at[1]) * float64(i+1)
	}
	for i, v := range path {
		sum += v * v * v / float64(i+1)
	}
	for i, v := range row[0] {
		sum += float64(i) * v * v
	}
	return sum
}

// orbit copies a struct in each step, which the gradient keeps on a tape.
//
//revgen:gradient x hessian
func orbit(x []float64) float64 {
	p := place{at: [2]float64{x[0], 0.5}, weight: x[1]}
	for range 4 {
		q := p
		p.at[0] = q.at[1]
		p.at[1] *= q.at[0] * q.weight
	}
	return math.Sin(p.at[0] * p.at[1])
}

// turned is orbit and its slope along u.
//
//revgen:gradient x
func turned(x, u []float64) float64 {
	g := make([]float64, 2)
	value := orbitGradient(g, x)
	return value + g[0]*u[0] + g[1]*u[1]
}
