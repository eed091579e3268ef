package ba

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// CameraCovariance returns the covariance of the parameters of the cameras at p, 9n×9n
// for n cameras. To first order, it is the covariance of a solution for features with
// independent errors of variance 1. For another variance, multiply by it. You can
// estimate the variance by 2·Final divided by the number of residuals minus unknowns.
// opts says what is fixed or shared, and the loss, as for Solve. What is fixed has
// zeros. Bounds are ignored.
//
// The images do not tell where the scene is, how it is turned, and how large it is.
// This gauge has seven dimensions. You settle it in one of two ways. Either you fix
// enough, and free is 0. Or free is the number of directions about which the
// observations say nothing: 7 if neither cameras nor points are fixed, 1 if two points
// are. The covariance is then a pseudo-inverse, in which these directions do not vary.
// Lengths and angles are measured after each parameter is multiplied by the length ‖J_k‖
// of its column of the Jacobian. Functions of the parameters that do not
// depend on the gauge, such as focal lengths, have the same variance either way.
//
// Points are eliminated as in Solve. A point that is seen once, or never, says nothing
// about cameras. The rest is an eigendecomposition, whose time grows with the cube of
// the number of unknowns of the cameras. Use it for at most some hundred cameras.
//
// It returns an error if p is not valid, if an option makes no sense, or if derivatives
// are not finite. It returns a *rev.SingularError if the observations leave open more
// or fewer than free directions (eigenvalues below 1e-12 of the largest). If more
// directions are open, the condition in the error is the ratio of the extreme
// eigenvalues that are inverted. If fewer are, it is the largest eigenvalue divided by
// the largest one that is left out.
func CameraCovariance(p *Problem, opts *Options, free int) (*mat.SymDense, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Method, o.Points = Cholesky, nil
	o.MinFocal, o.MaxFocal = 0, 0
	s, err := newSolver(p, &o, nil)
	if err != nil {
		return nil, err
	}
	n := s.unknowns.len()
	if free < 0 || free > n {
		return nil, fmt.Errorf("ba: %d free directions of %d unknowns", free, n)
	}
	if len(p.Cameras) == 0 {
		return new(mat.SymDense), nil
	}
	full := mat.NewSymDense(len(p.Cameras), nil)
	if n == 0 {
		return full, nil
	}
	if v := s.cost(); notFinite(v) {
		return nil, s.explain(v)
	}
	if v := s.linearise(); notFinite(v) {
		return nil, s.explain(v)
	}
	a, scale := s.information()

	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, fmt.Errorf("ba: the eigenvalues of the information matrix do not converge")
	}
	lambda := eigen.Values(nil)
	top := lambda[n-1]
	if !(top > 0) && free < n {
		return nil, &rev.SingularError{Index: n - 1, Condition: mat.Condition(math.Inf(1))} // no observation says anything
	}
	if free < n && !(lambda[free] > openDirection*top) {
		return nil, &rev.SingularError{Index: free, Condition: mat.Condition(top / math.Max(lambda[free], 0))}
	}
	if free > 0 && lambda[free-1] > openDirection*top {
		return nil, &rev.SingularError{Index: free - 1, Condition: mat.Condition(top / lambda[free-1])}
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	for j := range n {
		for i := range n {
			v := 0.
			if j >= free {
				v = q.At(i, j) * scale[i] / math.Sqrt(lambda[j])
			}
			q.Set(i, j, v)
		}
	}
	var c mat.SymDense
	c.SymOuterK(1, &q)
	s.unknowns.expandMatrix(full, &c)
	return full, nil
}

// openDirection is an eigenvalue relative to the largest. Below it the observations say
// nothing about a direction.
const openDirection = 1e-12

// information returns the reduced camera system without damping, with unknowns divided
// by scale, which makes the diagonal of U one.
func (s *solver) information() (a *mat.SymDense, scale []float64) {
	n := s.unknowns.len()
	scale = make([]float64, n)
	s.cameraDiagonal(scale)
	damping := s.local.damping
	s.normal.pointDiagonal(damping)
	for i, d := range scale {
		scale[i] = 1
		if d > 0 {
			scale[i] = 1 / math.Sqrt(d)
		}
	}
	// A tiny damping makes the blocks of points that are seen once invertible. Fᵀ·E
	// vanishes along these directions.
	for q := 0; q < len(damping); q += pointLen {
		d := damping[q : q+pointLen]
		top := 0x1p-46 * max(d[0], d[1], d[2])
		if top == 0 {
			top = 1
		}
		d[0], d[1], d[2] = top, top, top
	}
	s.normal.eliminate(damping, true)
	d := s.linear.(*directSolver)
	d.reduced.form(s.normal)
	a = mat.NewSymDense(n, nil)
	d.reduced.addTo(symBlocks{a, s.unknowns}, s.unknowns)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, a.At(i, j)*scale[i]*scale[j])
		}
	}
	return a, scale
}

// symBlocks is a dense matrix as a blockMatrix.
type symBlocks struct {
	a *mat.SymDense
	x *unknowns
}

func (m symBlocks) Add(i, j int, block []float64, ld int) {
	for r := range m.x.size[i] {
		for c := range m.x.size[j] {
			if i == j && c > r {
				break
			}
			k, l := m.x.at[i]+r, m.x.at[j]+c
			m.a.SetSym(k, l, m.a.At(k, l)+block[ld*r+c])
		}
	}
}

// expandMatrix stores the covariance of all camera parameters, given that of the
// unknowns.
func (x *unknowns) expandMatrix(full, u *mat.SymDense) {
	for i, k := range x.index {
		for j, l := range x.index[:i+1] {
			if k >= 0 && l >= 0 {
				full.SetSym(i, j, u.At(k, l))
			}
		}
	}
}
