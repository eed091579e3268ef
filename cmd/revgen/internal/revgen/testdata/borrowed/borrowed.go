// Package borrowed has functions of code that is not theirs: of other packages, which are read from their sources, of
// functions that return functions, of loops over functions, and of interfaces.
package borrowed

import (
	"iter"
	m "math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

var observed = []float64{1.2, 0.7, 2.4, 3.1, 1.9, 0.4, 1.1}

//revgen:gradient p hessian
func distributions(p []float64) float64 {
	d := distuv.Normal{Mu: p[0], Sigma: m.Exp(p[1])}
	s := 0.0
	for _, x := range observed {
		s -= d.LogProb(x)
	}
	s += distuv.Gamma{Alpha: p[0], Beta: p[1]}.LogProb(1.2) + distuv.StudentsT{Mu: p[2], Sigma: p[3], Nu: p[4]}.LogProb(0.4)
	s += distuv.Beta{Alpha: p[5], Beta: p[6]}.LogProb(0.3) + distuv.UnitNormal.Survival(p[3])
	return s - mathext.Lbeta(p[0], p[1])
}

//revgen:gradient p hessian
func statistics(p []float64) float64 {
	mean, variance := stat.MeanVariance(p, nil)
	weights := make([]float64, len(p))
	for i, v := range p {
		weights[i] = m.Exp(0.1 * v)
	}
	mu, sigma := stat.MeanStdDev(p, weights)
	x := make([]float64, len(p))
	floats.Span(x, 0, 1)
	return mean*variance + mu/sigma + stat.Skew(p, nil) + stat.Mean(p, weights) + integrate.Trapezoidal(x, p) + integrate.Simpsons(x, p)
}

//revgen:gradient p hessian
func geometry(p []float64) float64 {
	a, b, c := r3.Vec{X: p[0], Y: p[1], Z: p[2]}, r3.Vec{X: p[3], Y: p[4], Z: p[5]}, r3.Vec{X: p[6], Y: p[7], Z: p[8]}
	n := r3.Cross(r3.Sub(a, b), r3.Sub(c, b))
	q := quat.Number{Real: p[0], Imag: p[1], Jmag: p[2], Kmag: p[3]}
	w := quat.Mul(quat.Mul(q, quat.Number{Imag: p[4], Jmag: p[5], Kmag: p[6]}), quat.Conj(q))
	return r3.Norm(n) + r3.Dot(a, r3.Unit(c)) + r3.Cos(a, b) + w.Imag*w.Jmag
}

// knots are found by a search, in a slice that is sorted.
//
//revgen:gradient p hessian
func interpolated(p []float64) float64 {
	x := make([]float64, len(p))
	floats.Span(x, 0, 5)
	s := 0.0
	for _, t := range observed {
		i := min(max(sort.SearchFloat64s(x, t)-1, 0), len(x)-2)
		u := (t - x[i]) / (x[i+1] - x[i])
		y := (1-u)*p[i] + u*p[i+1]
		s += y * y
	}
	return s
}

// raw has the memory of gonum's vectors and matrices.
//
//revgen:gradient p hessian
func raw(p []float64) float64 {
	x := mat.NewDense(3, 3, p[:9])
	var c mat.Dense
	c.Mul(x, x.T())
	r := c.RawMatrix()
	s := 0.0
	for i := range r.Rows {
		r.Data[i*r.Stride+i] *= 2
		for j := range r.Cols {
			s += r.Data[i*r.Stride+j] * float64(i+j)
		}
	}
	v := mat.NewVecDense(len(p), p)
	for i, e := range v.RawVector().Data {
		s += e * e * float64(i)
	}
	return s*c.At(0, 1) + floats.Sum(mat.Col(nil, 1, x))*floats.Norm(mat.Row(nil, 2, &c), 2)
}

// solved has systems, inverses and determinants, of matrices in place too.
//
//revgen:gradient p hessian
func solved(p []float64) float64 {
	a := mat.NewDense(3, 3, slices.Clone(p[:9]))
	for i := range 3 {
		a.Set(i, i, a.At(i, i)+3)
	}
	var x mat.VecDense
	if err := x.SolveVec(a, mat.NewVecDense(3, p[9:12])); err != nil {
		return m.NaN()
	}
	var inv, z, y mat.Dense
	if err := inv.Inverse(a); err != nil {
		return -1
	}
	_ = z.Solve(a.T(), &inv)
	_ = y.Solve(a, mat.NewDense(2, 3, p[3:9]).T())
	log, sign := mat.LogDet(a)
	s := mat.Dot(&x, &x) + mat.Det(a) + log*sign + mat.Norm(&z, 2) + mat.Sum(&y)
	for range 3 {
		_ = x.SolveVec(a, &x)
	}
	_ = a.Inverse(a)
	none, _ := mat.LogDet(mat.NewDense(2, 2, nil))
	return s + x.AtVec(0)*a.At(0, 1) + m.Exp(none)
}

// newton takes the Jacobian's inverse in each step.
//
//revgen:gradient p hessian
func newton(p []float64) float64 {
	x := mat.NewVecDense(2, []float64{1, 1})
	j := mat.NewDense(2, 2, nil)
	f, step := mat.NewVecDense(2, nil), mat.NewVecDense(2, nil)
	for range 8 {
		u, v := x.AtVec(0), x.AtVec(1)
		f.SetVec(0, u*u+v*p[0]-3)
		f.SetVec(1, v*v*v-u*p[1]-1)
		j.Set(0, 0, 2*u)
		j.Set(0, 1, p[0])
		j.Set(1, 0, -p[1])
		j.Set(1, 1, 3*v*v)
		if err := step.SolveVec(j, f); err != nil {
			return 0
		}
		x.SubVec(x, step)
	}
	return x.AtVec(0) * x.AtVec(1)
}

func gaussian(mu, sigma float64) func(float64) float64 {
	norm := 1 / (sigma * m.Sqrt(2*m.Pi))
	return func(x float64) float64 {
		z := (x - mu) / sigma
		return norm * m.Exp(-z*z/2)
	}
}

func sum(f, g func(float64) float64) func(float64) float64 {
	return func(x float64) float64 { return f(x) + 2*g(x) }
}

func total(start float64) func(float64) float64 {
	t := start
	return func(x float64) float64 {
		t += x * t
		return t
	}
}

// returned calls functions that others returned, of which several are of one literal.
//
//revgen:gradient p hessian
func returned(p []float64) float64 {
	g, h := gaussian(p[0], p[1]), gaussian(p[2], p[3])
	k := sum(g, sum(h, g))
	s := g(0.3) + h(0.9)*p[2] + k(p[5]) + sum(gaussian(p[6], 1), h)(p[7])
	a, b := total(p[0]), total(p[1])
	for _, v := range p[:4] {
		s += a(v) * b(v*v)
	}
	return s
}

func reversed(x []float64) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		for i := len(x) - 1; i >= 0; i-- {
			if !yield(i, x[i]) {
				return
			}
		}
	}
}

func pairs(yield func(int, int) bool) {
	for i := range 4 {
		for j := range i {
			if !yield(i, j) {
				return
			}
		}
	}
}

// iterated has a loop over a function in itself, which is left, and one whose body changes the slice.
//
//revgen:gradient p hessian
func iterated(p []float64) float64 {
	s, x := 1.0, slices.Clone(p)
	for i, v := range reversed(x) {
		x = x[:3]
		s += v * float64(i) * x[i%3]
		x[i%3] *= 0.5
	}
	for i, j := range pairs {
		d := p[i] - p[j]
		s += d * d * p[4]
	}
	for v := range slices.Values(p[:3]) {
		s *= v
	}
outer:
	for i, c := range reversed(p) {
		for j, d := range reversed(p[:i]) {
			if j == 2 && i%2 == 0 {
				continue outer
			}
			if i == 3 {
				break
			}
			s += c * d
			if s > 30 {
				return s * c
			}
		}
	}
	return s
}

type kernel interface{ at(squared float64) float64 }

type radial struct{ scale float64 }

func (r radial) at(squared float64) float64 { return m.Exp(-squared / (2 * r.scale * r.scale)) }

type scaled struct {
	radial
	by float64
}

func gram(k kernel, x []float64) float64 {
	s := 0.0
	for i := range x {
		for j := range x {
			d := x[i] - x[j]
			s += k.at(d * d)
		}
	}
	return s
}

//revgen:gradient p hessian
func interfaces(p []float64) float64 {
	return gram(radial{p[0]}, p[1:5]) * gram(&scaled{radial{p[2]}, 2}, p[5:])
}

func (s *scaled) grow(by float64) { s.scale *= by * s.half() }

func (s scaled) half() float64 { return s.by / 2 } // of a pointer

var (
	index   = map[string]int{"a": 1, "b": 2}
	factors = map[string]float64{"a": 1.5, "b": 2}
)

func bounds(x []float64) (lo, hi float64) { return slices.Min(x), slices.Max(x) }

func spread(lo, hi float64) float64 { return (hi - lo) * hi }

// spelled has what is said in other ways elsewhere.
//
//revgen:gradient p hessian
func spelled(p []float64) float64 {
	a, b := [...]float64{2: p[0], 0: p[1]}, []float64{1: p[2], 3: p[3]}
	s := a[2]*a[0] + a[1] + b[1]*b[3] + b[0] + float64(len(a)+len(b)) + spread(bounds(p))
	s += p[index["a"]] * p[index["b"]] * factors["b"] * p[index["none"]]
	k := scaled{radial{p[4]}, p[5]}
	k.grow(p[6])
	for i, v := range p {
		switch i % 3 {
		case 0:
			s += v * k.scale
			fallthrough
		case 1:
			s += v * v
		default:
			s *= 1.1
		}
	}
	return s
}
