package borrowed

import (
	m "math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

var inputs = []float64{0.1, 0.5, 0.9, 1.6}

// evidence is the logarithm of the likelihood of a Gaussian process, with a prediction and its variance.
//
//revgen:gradient p hessian
func evidence(p []float64) float64 {
	n := len(inputs)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			d := inputs[i] - inputs[j]
			v := p[0] * m.Exp(-d*d/(2*p[1]*p[1]))
			if i == j {
				v += p[2] * p[2]
			}
			k.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if ok := chol.Factorize(k); !ok {
		return m.Inf(1)
	}
	y := mat.NewVecDense(n, p[3:3+n])
	var alpha mat.VecDense
	if err := chol.SolveVecTo(&alpha, y); err != nil {
		return m.Inf(1)
	}
	near := mat.NewVecDense(n, nil)
	for i := range n {
		d := inputs[i] - p[8]
		near.SetVec(i, p[0]*m.Exp(-d*d/(2*p[1]*p[1])))
	}
	var v mat.VecDense
	_ = chol.SolveVecTo(&v, near)
	return 0.5*mat.Dot(y, &alpha) + 0.5*chol.LogDet() + mat.Dot(near, &alpha) + p[0] - mat.Dot(near, &v) + p[2]*k.At(2, 1)
}

// sampled draws from a normal distribution by the factor of its covariance, and looks at all that a factorisation gives.
//
//revgen:gradient p hessian
func sampled(p []float64) float64 {
	s := mat.NewSymDense(3, []float64{
		4 + p[0], p[1], p[2],
		7, 3 + p[3], p[4],
		8, 9, 5 + p[5],
	})
	chol := &mat.Cholesky{}
	chol.Factorize(s)
	var l, u mat.TriDense
	chol.LTo(&l)
	chol.UTo(&u)
	var x mat.VecDense
	x.MulVec(&l, mat.NewVecDense(3, p[6:9]))
	var inv, again mat.SymDense
	if err := chol.InverseTo(&inv); err != nil {
		return 0
	}
	chol.ToSym(&again)
	var z, prod mat.Dense
	_ = chol.SolveTo(&z, mat.NewDense(2, 3, p[6:12]).T())
	prod.Mul(&inv, u.T())
	return x.AtVec(0)*x.AtVec(2) + mat.Sum(&inv)*l.At(1, 0) + u.At(0, 2) + u.At(2, 0) + mat.Norm(&z, 2) + chol.Det() + again.At(2, 1) +
		inv.At(2, 0)*mat.Trace(&prod) + float64(chol.SymmetricDim()) + l.TTri().At(0, 1)
}

// sums are of symmetric matrices.
//
//revgen:gradient p hessian
func sums(p []float64) float64 {
	x := mat.NewDense(4, 3, p)
	v := mat.NewVecDense(3, p[2:5])
	var a, b, c, d, e mat.SymDense
	a.SymOuterK(p[0], x.T())
	b.SymRankOne(&a, p[1], v)
	c.AddSym(&a, &b)
	c.ScaleSym(p[3], &c)
	d.SymRankK(&c, 0.3, x.T())
	d.SymRankOne(&d, 0.1, v)
	e.ScaleSym(1, &d)
	e.CopySym(&a)
	t := mat.NewTriDense(2, mat.Lower, nil)
	t.SetTri(1, 0, p[5])
	t.SetTri(0, 0, p[6]*p[6])
	t.ScaleTri(p[7], t)
	n := d.SymmetricDim()
	return mat.Inner(v, &d, v) + m.Log(d.At(n-1, 0)) + d.Trace() + mat.Sum(&e) + t.At(1, 0)*t.At(0, 0) + t.At(0, 1)
}

// covariances come from another package, and so does the distance by one.
//
//revgen:gradient p hessian
func covariances(p []float64) float64 {
	x := mat.NewDense(4, 3, p)
	var cov, weighted mat.SymDense
	stat.CovarianceMatrix(&cov, x, nil)
	stat.CovarianceMatrix(&weighted, x, []float64{1, 2, 0.5, 1})
	for i := range 3 {
		cov.SetSym(i, i, cov.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(&cov) {
		return m.NaN()
	}
	return stat.Mahalanobis(mat.NewVecDense(3, p[:3]), mat.NewVecDense(3, p[3:6]), &chol) + weighted.At(1, 2)
}

// A density has its factorisation from elsewhere.
type density struct {
	mean  *mat.VecDense
	prior *mat.SymDense
	chol  mat.Cholesky
}

//revgen:gradient p hessian
func (g *density) logProb(p []float64) float64 {
	var d, s mat.VecDense
	d.SubVec(mat.NewVecDense(3, p), g.mean)
	_ = g.chol.SolveVecTo(&s, &d)
	return -0.5*mat.Dot(&d, &s) - 0.5*g.chol.LogDet() + mat.Inner(&d, g.prior, &d)*g.prior.At(2, 0)
}

// given reads a symmetric matrix, and columns of another.
//
//revgen:gradient x
func given(x *mat.Dense, s *mat.SymDense, t *mat.TriDense) float64 {
	if s.IsEmpty() || x.IsEmpty() {
		return 0
	}
	var y mat.Dense
	if y.IsEmpty() {
		y.Mul(s, x)
	}
	var z mat.VecDense
	z.MulVec(t, x.ColView(1))
	into := mat.NewDense(3, 2, nil)
	rows, cols := into.Copy(y.T())
	return mat.Dot(y.ColView(0), x.ColView(1)) + s.At(1, 0)*z.AtVec(1) + x.ColView(0).AtVec(1) + mat.Sum(into)*float64(10*rows+cols)
}
