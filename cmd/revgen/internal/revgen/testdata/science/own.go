package science

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Structs, slices and arrays of vectors and matrices that a function makes itself.

type belief struct {
	x *mat.VecDense
	p *mat.Dense
	n int
}

type tracker struct {
	F, Q *mat.Dense
	H    *mat.VecDense
	R    float64
}

func (f *tracker) predict(s belief) belief {
	x := mat.NewVecDense(s.x.Len(), nil)
	x.MulVec(f.F, s.x)
	var p mat.Dense
	p.Product(f.F, s.p, f.F.T())
	p.Add(&p, f.Q)
	return belief{x, &p, s.n + 1}
}

func (f *tracker) update(s *belief, y float64) float64 {
	e := y - mat.Dot(f.H, s.x)
	v := mat.Inner(f.H, s.p, f.H) + f.R
	k := mat.NewVecDense(s.x.Len(), nil)
	k.MulVec(s.p, f.H)
	s.x.AddScaledVec(s.x, e/v, k)
	o := mat.NewDense(s.x.Len(), s.x.Len(), nil)
	o.Outer(-1/v, k, k)
	s.p.Add(s.p, o)
	return -0.5 * (math.Log(2*math.Pi*v) + e*e/v)
}

//revgen:gradient theta hessian value
func beliefs(theta []float64, y []float64) float64 {
	f := &tracker{
		F: mat.NewDense(2, 2, []float64{1, theta[0], 0, 1}),
		Q: mat.NewDense(2, 2, []float64{math.Exp(theta[1]), 0, 0, math.Exp(theta[2])}),
		H: mat.NewVecDense(2, []float64{1, 0}),
		R: 1,
	}
	s := belief{x: mat.NewVecDense(2, nil), p: mat.NewDense(2, 2, []float64{1, 0, 0, 1})}
	ll := 0.0
	for _, v := range y {
		s = f.predict(s)
		ll += f.update(&s, v)
	}
	return ll
}

type gate struct {
	W, U *mat.Dense
	B    *mat.VecDense
}

type stackedGates struct {
	cells []gate
	out   *mat.VecDense
}

func (c gate) step(x, h mat.Vector) *mat.VecDense {
	n, _ := c.W.Dims()
	a, b := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	a.MulVec(c.W, x)
	b.MulVec(c.U, h)
	a.AddVec(a, b)
	a.AddVec(a, c.B)
	for i := 0; i < n; i++ {
		a.SetVec(i, math.Tanh(a.AtVec(i)))
	}
	return a
}

//revgen:gradient r xs
func (r *stackedGates) Loss(xs []*mat.VecDense, target []float64) float64 {
	hs := make([]*mat.VecDense, len(r.cells))
	for i, c := range r.cells {
		n, _ := c.W.Dims()
		hs[i] = mat.NewVecDense(n, nil)
	}
	loss := 0.0
	for t, x := range xs {
		in := x
		for i, c := range r.cells {
			hs[i] = c.step(in, hs[i])
			in = hs[i]
		}
		d := mat.Dot(in, r.out) - target[t]
		loss += d * d
	}
	return loss
}

type unpackedLayer struct {
	W *mat.Dense
	b []float64
}

func unpack2(theta []float64, n, m int) unpackedLayer {
	return unpackedLayer{W: mat.NewDense(n, m, theta[:n*m]), b: theta[n*m:]}
}

//revgen:gradient theta hessian value
func unpackedLoss(theta []float64, x *mat.VecDense) float64 {
	p := unpack2(theta, 3, 2)
	var y mat.VecDense
	y.MulVec(p.W, x)
	s := 0.0
	for i := 0; i < y.Len(); i++ {
		s += math.Pow(math.Tanh(y.AtVec(i)+p.b[i]), 2)
	}
	return s
}

//revgen:gradient d
func scaledBy(d []float64, a *mat.Dense) float64 {
	dm := mat.NewDiagDense(len(d), d)
	var m mat.Dense
	m.Mul(dm, a)
	m.Mul(&m, dm)
	m.Add(&m, dm)
	return mat.Sum(&m) + dm.At(0, 0)*mat.Trace(dm)
}

type pair2 struct{ A [2]*mat.Dense }

//revgen:gradient x
func pairNorm(x []float64) float64 {
	var b pair2
	for i := range b.A {
		b.A[i] = mat.NewDense(2, 2, x[4*i:4*i+4])
	}
	var c mat.Dense
	c.Mul(b.A[0], b.A[1])
	return mat.Norm(&c, 2)
}

//revgen:gradient l
func chosenGate(l []gate, x *mat.VecDense, which int) float64 {
	var c gate
	if which > 0 {
		c = l[1]
	} else {
		c = l[0]
	}
	s := 0.0
	y := c.step(x, c.B)
	for i := 0; i < y.Len(); i++ {
		s += y.AtVec(i)
	}
	return s
}

//revgen:gradient p
func diagonals(p []float64, a *mat.Dense) float64 {
	d := make([]float64, len(p))
	for i, v := range p {
		d[i] = math.Exp(v)
	}
	s := mat.NewSymDense(2, p[:4])
	var m mat.Dense
	m.Mul(mat.NewDiagDense(len(d), d), a)
	k := mat.NewDiagDense(2, nil)
	k.SetDiag(1, p[0])
	k.SetDiag(0, p[1])
	var n mat.Dense
	n.Mul(k, s)
	return mat.Sum(&m)*mat.Trace(k) + mat.Norm(&n, 2)
}

//revgen:gradient a
func givenDiagonal(a *mat.Dense, d *mat.DiagDense) float64 {
	var m mat.Dense
	m.Mul(a, d)
	return mat.Norm(&m, 2)
}
