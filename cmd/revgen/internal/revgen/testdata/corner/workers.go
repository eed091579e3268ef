package corner

import "math"

// curve fits points by a curve, as misfit of the tutorial does. Each part of the loop has
// a gradient by p of its own.
//
//revgen:kernel Curve[T rev.Real] workers
func curve(loss *float64, p, t, y []float64) {
	if len(p) != 4 || len(t) != len(y) {
		panic("shape")
	}
	sum := 0.0
	for i, ti := range t {
		r := p[0]*math.Exp(-p[1]*ti)*math.Cos(p[2]*ti) + p[3] - y[i]
		sum += math.Log1p(r * r)
	}
	*loss += math.Sqrt(sum)
}

// layer is a layer with an activation. An iteration has a row of w of its own, and all
// share x. In the second loop it has a column.
//
//revgen:kernel Layer[T rev.Real] workers
func layer(y, z []float64, w [][]float64, x []float64, scale float64) {
	for i, row := range w {
		s := 0.0
		for j, v := range row {
			s += v * x[j]
		}
		y[i] += scale * math.Tanh(s)
	}
	for j := range x {
		for i := range w {
			z[j] += w[i][j]
		}
	}
}

// histogram adds to elements that the data choose.
//
//revgen:kernel Histogram[T rev.Real] workers
func histogram(h []float64, table [][]float64, bin, from []int, x []float64) {
	for i, v := range x {
		h[bin[i]] += v*v + table[from[i]][1]
	}
}

// drift moves bodies in place, in a loop that is not divided, and pairs of numbers in the
// same loop.
//
//revgen:kernel Drift[T rev.Real] workers
//revgen:const h
func drift(x, v, pairs []float64, k *float64, h float64, steps int) {
	if len(v) != len(x) || len(pairs) != 2*len(x) {
		panic("shape")
	}
	for range steps {
		for i := len(x) - 1; i >= 0; i-- {
			v[i] -= h * math.Sin(x[i]) * *k
			x[i] += h * v[i]
			pairs[2*i], pairs[2*i+1] = pairs[2*i+1], pairs[2*i]
			pairs[2*i] += h * x[i]
		}
	}
}

// flat has a matrix in a vector, and an inner loop whose values go on a tape.
//
//revgen:kernel Flat[T rev.Real] workers
func flat(y, x, u []float64, n, m int) {
	if len(x) != n*m || len(y) != n*m || len(u) != n {
		panic("shape")
	}
	for i := range n {
		c := u[i]
		for j := range m {
			c = math.Sin(c) * x[i*m+j]
			y[i*m+j] += c
		}
	}
}
