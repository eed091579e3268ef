package borrowed

import (
	m "math"

	"gonum.org/v1/gonum/mat"
)

// The functions of this file have lists whose makers see values that change, matrices that overlap, and
// factorisations that change.

func mk(k float64) func(float64) float64 { return func(x float64) float64 { return k * x * x } }

func compose(fs ...func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		for _, f := range fs {
			x = f(x)
		}
		return x
	}
}

var prior = mat.NewSymDense(2, []float64{2, 0.3, 9, 1})

var priorC mat.Cholesky

func init() { priorC.Factorize(prior) }

//revgen:gradient p hessian
func makersInLists(p []float64) float64 {
	k := p[0]
	fs := []func(float64) float64{mk(k), m.Sin}
	k = p[1] * 3
	return fs[0](p[2]) + k
}

//revgen:gradient p hessian
func listsInLoops(p []float64) float64 {
	s := 0.0
	for i := range 3 {
		fs := []func(float64) float64{m.Sin, mk(float64(i) * p[0]), func(x float64) float64 { return x * s }}
		i++
		for j, f := range fs {
			s += f(p[j]) * float64(i)
		}
	}
	return s
}

//revgen:gradient p hessian
func rangedMakers(p []float64) float64 {
	s := 1.0
	for _, f := range []func(float64) float64{mk(s), mk(s * p[1]), mk(s * 2)} {
		s += f(p[0])
	}
	return s
}

//revgen:gradient p hessian
func composed(p []float64) float64 {
	a := compose(m.Sin, m.Cos)
	b := compose(m.Exp, func(x float64) float64 { return x * p[2] })
	return a(p[0])*3 + b(p[1])
}

//revgen:gradient p hessian
func copiedRight(p []float64) float64 {
	w := mat.NewDense(3, 4, nil)
	w.Copy(mat.NewDense(3, 4, p))
	w.Slice(0, 3, 1, 3).(*mat.Dense).Copy(w.Slice(0, 3, 0, 2))
	s := 0.0
	for i := 0; i < 3; i++ {
		for j := 0; j < 4; j++ {
			s += w.At(i, j) * float64(3*i+7*j+1) * w.At(i, j)
		}
	}
	return s
}

//revgen:gradient p hessian
func copiedDown(p []float64) float64 {
	w := mat.NewDense(3, 4, nil)
	w.Copy(mat.NewDense(3, 4, p))
	w.Slice(1, 3, 0, 4).(*mat.Dense).Copy(w.Slice(0, 2, 0, 4))
	s := 0.0
	for i := 0; i < 3; i++ {
		for j := 0; j < 4; j++ {
			s += w.At(i, j) * float64(3*i+7*j+1) * w.At(i, j)
		}
	}
	return s
}

//revgen:gradient p hessian
func augmented(p []float64) float64 {
	a := mat.NewDense(3, 4, nil)
	a.Copy(mat.NewDense(3, 4, p))
	a.Slice(0, 3, 1, 4).(*mat.Dense).Augment(a.Slice(0, 3, 0, 2), a.Slice(0, 3, 2, 3))
	s := 0.0
	for i := range 3 {
		for j := range 4 {
			s += a.At(i, j) * a.At(i, j) * float64(i+5*j)
		}
	}
	return s
}

//revgen:gradient p hessian
func stacked(p []float64) float64 {
	a := mat.NewDense(4, 3, nil)
	a.Copy(mat.NewDense(4, 3, p))
	a.Slice(1, 4, 0, 3).(*mat.Dense).Stack(a.Slice(0, 2, 0, 3), a.Slice(3, 4, 0, 3))
	s := 0.0
	for i := range 4 {
		for j := range 3 {
			s += a.At(i, j) * a.At(i, j) * float64(i+5*j)
		}
	}
	return s
}

//revgen:gradient p hessian
func copiedVector(p []float64) float64 {
	x := make([]float64, 12)
	copy(x, p)
	mat.NewVecDense(11, x[1:]).CopyVec(mat.NewVecDense(11, x[:11]))
	s := 0.0
	for i, v := range x {
		s += v * v * float64(i+1)
	}
	return s
}

//revgen:gradient p hessian
func addedToItself(p []float64) float64 {
	var s, t mat.SymDense
	s.SymOuterK(p[0], mat.NewDense(3, 4, p))
	t.SymOuterK(p[1], mat.NewDense(3, 4, p))
	t.AddSym(&s, &t)
	return mat.Sum(&s) * mat.Sum(&t)
}

//revgen:gradient p hessian
func otherNames(p []float64) float64 {
	s := []float64{2 + p[0]*p[0], p[1]}
	t := []float64{2 + p[3]*p[3], p[2]}
	u := t
	if p[0] > 0 {
		s, u = u, s
	}
	for i := range t {
		t[i] = s[i] + u[i]
	}
	return s[0] * t[1]
}

//revgen:gradient p hessian
func withoutNumbers(p []float64) float64 {
	a := mat.NewSymDense(2, []float64{4, p[1], p[1], 1})
	a.SetSym(1, 1, m.NaN())
	var c mat.Cholesky
	if !c.Factorize(a) {
		return p[3] * p[3]
	}
	return c.LogDet()
}

//revgen:gradient p hessian
func largestNumber(p []float64) float64 {
	a := mat.NewDense(3, 4, p)
	x := m.NaN()
	if p[0] > 5 {
		x = 1
	}
	b := mat.DenseCopyOf(a)
	b.Set(1, 1, x)
	return mat.Max(b) + mat.Min(b)
}

//revgen:gradient p hessian
func refactored(p []float64) float64 {
	out := 0.0
	for i := range 3 {
		var c mat.Cholesky
		s := mat.NewSymDense(2, []float64{2 + p[i]*p[i], p[1] * 0.3, p[1] * 0.3, 1 + p[2]*p[2]})
		c.Factorize(s)
		var x, y mat.VecDense
		c.SolveVecTo(&x, mat.NewVecDense(2, p[3:5]))
		s.ScaleSym(1+p[0]*p[0], s)
		c.Factorize(s)
		c.SolveVecTo(&y, &x)
		s.SymRankOne(s, 1, &x)
		c.Factorize(s)
		var l mat.TriDense
		c.LTo(&l)
		l.ScaleTri(p[4], &l)
		c.SolveVecTo(&x, &y)
		var d mat.Dense
		d.Mul(&l, l.T())
		out += c.LogDet() * mat.Dot(&x, &y) * mat.Sum(&d)
	}
	return out
}

//revgen:gradient p hessian
func inTurn(p []float64) float64 {
	a := mat.NewSymDense(2, []float64{4, p[1], p[1], 9})
	var c mat.Cholesky
	s := 0.0
	for i := 0; i < 2; i++ {
		if i == 1 {
			a.SetSym(0, 0, 5+p[0])
		}
		var c mat.Cholesky
		if ok := c.Factorize(a); ok && c.LogDet() > 0 {
			s += c.LogDet()
		}
		var cc mat.Cholesky
		cc.Clone(&c)
		a.SetSym(1, 1, 9+p[2])
		c.Factorize(a)
		s += cc.LogDet() * c.LogDet()
	}
	c.Factorize(a)
	t := func() float64 { return c.LogDet() }
	u := t()
	a.Zero()
	a.SetSym(0, 0, 1+p[3]*p[3])
	a.SetSym(1, 1, 2)
	c.Factorize(a)
	return s*u + t() + mat.Sum(a)
}

//revgen:gradient p hessian
func triangles(p []float64) float64 {
	a := mat.NewSymDense(2, []float64{4, p[1], p[1], 9})
	b := a
	var c mat.Cholesky
	c.Factorize(a)
	b.SetSym(0, 1, p[2]*p[3])
	c2 := c
	d := &c
	s := c2.LogDet() * d.Det()
	var l, u mat.TriDense
	c.LTo(&l)
	c.UTo(&u)
	l.ScaleTri(p[0], &l)
	u.SetTri(0, 1, p[1])
	var ul mat.Dense
	ul.Mul(&u, &l)
	ul.Add(&ul, l.T())
	var k mat.SymDense
	c.ToSym(&k)
	k.AddSym(&k, a)
	k.AddSym(a, a)
	return s + mat.Sum(&ul)*mat.Norm(&k, 2) + a.At(1, 0) + mat.Norm(u.T(), 1)*mat.Norm(&l, m.Inf(1))
}

//revgen:gradient p hessian
func inPlace(p []float64) float64 {
	k := mat.NewSymDense(2, []float64{1 + p[0]*p[0], p[1], p[1], 1 + p[1]*p[1] + p[2]*p[2]})
	var c mat.Cholesky
	x := mat.NewDense(2, 3, nil)
	for i := range 2 {
		for j := range 3 {
			x.Set(i, j, p[i+j]*3)
		}
	}
	v := mat.NewVecDense(2, nil)
	v.SetVec(0, p[5])
	if c.Factorize(k) {
		c.SolveTo(x.Slice(0, 2, 0, 3).(*mat.Dense), x)
		c.SolveVecTo(v, x.ColView(1))
	}
	return mat.Sum(x) + v.AtVec(0)*v.AtVec(1)
}

//revgen:gradient p hessian
func priors(p []float64) float64 {
	v := mat.NewVecDense(2, p[:2])
	var y mat.VecDense
	priorC.SolveVecTo(&y, v)
	s := prior.At(1, 0)
	for i := range 2 {
		s += prior.At(i, 1-i) * p[i+1]
	}
	return mat.Inner(v, prior, v) + mat.Dot(&y, v) + priorC.LogDet()*p[1] + s
}

//revgen:gradient p hessian
func smaller(p []float64) float64 {
	a := mat.NewSymDense(3, nil)
	b := mat.NewSymDense(2, nil)
	b.SetSym(0, 1, p[0])
	b.SetSym(1, 1, p[1]*p[0])
	n := a.CopySym(b)
	return mat.Sum(a) * float64(n) * p[2]
}
