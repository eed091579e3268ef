package science

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Functions that call derivatives of others.

// wave is a function of a loop that carries a local and overwrites elements.
//
//revgen:gradient x hessian
func wave(x []float64, k float64) float64 {
	y := make([]float64, len(x))
	copy(y, x)
	s := 1.0
	for i := range y {
		s = math.Sin(s*y[i]) + k*y[i]
		y[i] *= s
		if s > 0.5 && i%2 == 0 {
			s -= y[i] * y[i]
		}
	}
	sum := s
	for _, v := range y {
		sum += math.Exp(-v) * v
	}
	return sum
}

//revgen:jacobian x
func waves(dst, x []float64, k float64) {
	dst[0] = wave(x, k)
	dst[1] = x[0] * math.Cos(x[1]) * k
}

// slope is ‖∇wave‖².
//
//revgen:gradient x hessian
func slope(x []float64, k float64) float64 {
	g := make([]float64, len(x))
	v := waveGradient(g, x, k)
	sum := v * v
	for _, v := range g {
		sum += v * v
	}
	return sum
}

// curvature is xᵀ·H·x, of the Hessian of wave, in a loop.
//
//revgen:gradient x
func curvature(x []float64) float64 {
	h, sum := make([]float64, len(x)), 0.0
	for n := range 3 {
		waveHessVec(h, x, x, float64(n))
		for i, v := range h {
			sum += v * x[i]
		}
	}
	return sum
}

// steepest is the gradient of slope, which is a gradient of a gradient, at the end of a descent.
//
//revgen:gradient x
func steepest(x []float64) float64 {
	g, y := make([]float64, len(x)), make([]float64, len(x))
	copy(y, x)
	for n := 0; n < 2 || y[0] > 10; n++ {
		if slopeGradient(g, y, 0.25) > 1e9 {
			return 0
		}
		for i := range y {
			y[i] -= 0.01 * g[i]
		}
	}
	return y[0] + y[1]*y[2]
}

// products has both products of a Jacobian.
//
//revgen:gradient x
func products(x []float64) float64 {
	j, jt := make([]float64, 2), make([]float64, len(x))
	wavesJVP(j, x, x, 0.5)
	wavesVJP(jt, x, j, 0.5)
	sum := 0.0
	for i, v := range jt {
		sum += v * x[i] * float64(i)
	}
	return sum + j[0]
}

// scaledWaves has its results after other vectors.
//
//revgen:jacobian x
func scaledWaves(scale []float64, k float64, dst, x []float64) {
	waves(dst, x, k)
	for i, s := range scale {
		dst[i] *= s
	}
}

// pulled is xᵀ·Jᵀ·scale, of the Jacobian of scaledWaves.
//
//revgen:gradient x
func pulled(x []float64) float64 {
	scale, g := []float64{0.5, -2}, make([]float64, len(x))
	scaledWavesVJP(g, scale, 0.5, x, scale)
	sum := 0.0
	for i, v := range g {
		sum += v * x[i]
	}
	return sum
}

// along is the derivative along an axis, forward.
//
//revgen:jacobian x
func along(dst, x []float64) {
	axis := make([]float64, len(x))
	j := make([]float64, 2)
	for i := range x {
		axis[i] = 1
		wavesJVP(j, x, axis, 0.5)
		dst[i] = j[0] + j[1]*x[i]
		axis[i] = 0
	}
}

// uphill is the same by the gradient.
//
//revgen:jacobian x
func uphill(dst, x []float64) {
	waveGradient(dst, x, 0.5)
	g := make([]float64, len(x))
	wavesVJP(g, x, []float64{0, 1}, 0.5)
	for i := range dst {
		dst[i] += g[i] * x[i]
	}
}

type charge struct {
	at  [2]float64
	q   float64
	hit []float64
}

//revgen:gradient x
func (c *charge) potential(x [2]float64, scale float64) float64 {
	var d [2]float64
	for i := range d {
		d[i] = x[i] - c.at[i]
		c.hit[i] = d[i]
	}
	return scale * c.q / math.Hypot(d[0], d[1])
}

//revgen:gradient c x scale
func (c *charge) energy(x [2]float64, scale float64) (e float64, n int) {
	for e < 4 {
		e += scale*c.q*c.q/math.Hypot(x[0]-c.at[0], x[1]-c.at[1]) + c.hit[0]
		n++
	}
	return e * e, n
}

// path follows a particle until it is low.
//
//revgen:gradient w
func path(w float64) float64 {
	c := charge{at: [2]float64{3, 4 - w}, q: 1, hit: make([]float64, 2)}
	x, v := [2]float64{0, 3}, [2]float64{0.75, 0}
	for {
		var force [2]float64
		c.potentialGradient(&force, x, 2)
		for i := range x {
			x[i] += 0.1 * v[i]
		}
		if x[1] <= 0 {
			t := -x[1] / v[1]
			x[0] += t * v[0]
			return x[0] * x[0]
		}
		for i := range v {
			v[i] += 0.1 * force[i] * (1 + 0.1*c.hit[i])
		}
		v[1] -= 0.1
	}
}

// total has the gradient by a struct and by numbers.
//
//revgen:gradient x
func total(x []float64) float64 {
	c := charge{at: [2]float64{x[0], x[1]}, q: x[2], hit: []float64{x[0], x[1]}}
	g := charge{hit: make([]float64, 2)}
	var at [2]float64
	var scale float64
	e, n := c.energyGradient(&g, &at, &scale, [2]float64{x[1], 1}, x[2])
	return e/float64(n) + g.at[0]*g.q + at[1]*scale + g.hit[0]*c.at[1]
}

//revgen:gradient w x
func quadric(w *mat.Dense, x *mat.VecDense) float64 {
	var y, z mat.VecDense
	y.MulVec(w, x)
	for i := range y.Len() {
		y.SetVec(i, math.Tanh(y.AtVec(i)))
	}
	z.MulVec(w.T(), &y)
	return mat.Dot(&z, x) + mat.Dot(&y, &y)
}

// penalty is a gradient with products of matrices.
//
//revgen:gradient p
func penalty(p []float64) float64 {
	w, x := mat.NewDense(2, 2, p[:4]), mat.NewVecDense(2, p[4:])
	gw, gx := mat.NewDense(2, 2, nil), mat.NewVecDense(2, nil)
	v := quadricGradient(gw, gx, w, x)
	var s mat.Dense
	s.Mul(gw, gw.T())
	return v + mat.Trace(&s)*mat.Dot(gx, gx)
}

// copying copies a struct in a loop, whose copies are on a tape.
//
//revgen:gradient x
func copying(x []float64) float64 {
	p := struct{ u, w float64 }{x[0], 0.5}
	for range 3 {
		q := p
		p.u = q.w + x[1]
		p.w *= q.u
	}
	return p.u * p.w
}

//revgen:gradient x
func copied(x []float64) float64 {
	g := make([]float64, 2)
	copyingGradient(g, x)
	return g[0]*g[0] + x[0]*g[1]
}
