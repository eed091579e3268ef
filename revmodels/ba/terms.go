package ba

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// sweepTerms runs a task observation by observation, in one goroutine.
func sweepTerms[T rev.Real](p *problem[T], t *task[T]) {
	if t.do == views.Residuals && !p.outputs() {
		return
	}
	s := workspace.Get[termSweep[real[T]]]()
	defer workspace.Put(s)
	s.cameras = workspace.Grow(s.cameras, p.cameras.Rows)
	for i := range s.cameras {
		s.cameras[i] = newCamera(p.model, p.cameras.Row(i))
	}
	one := real[T]{fixed.Of[T](1)}
	var w, dz T
	for i, c := range p.camera {
		p.checkIndex(i)
		x, f := p.points.Row(p.point[i]), p.features.Row(i)
		if p.model == views.Weighted {
			w = p.weights.Data[i*p.weights.Inc]
			dz = -2 * w
			if p.z.Data != nil {
				p.z.Data[i*p.z.Inc] += t.sign * (one.v - fixed.Product(w, w))
			}
		}
		e := &s.term
		e.observe(p.model, &s.cameras[c], [3]real[T]{{x[0]}, {x[1]}, {x[2]}}, real[T]{w}, one, [2]real[T]{{f[0]}, {f[1]}}, t.do != views.Residuals)
		for c := range e.r {
			if p.r.Data != nil {
				p.r.Data[(2*i+c)*p.r.Inc] += t.sign * e.r[c].v
			}
			switch t.do {
			case views.Derivative:
				for k, row := 0, t.j.Row(2*i+c); k < len(row); k++ {
					row[k] = e.j[c][k].v
				}
			case views.Adjoint:
				if t.g.r.Data != nil {
					p.addTo(&t.g, i, t.g.r.Data[(2*i+c)*t.g.r.Inc], c, &e.j[c])
				}
			case views.Tangent:
				if t.g.r.Data != nil {
					t.g.r.Data[(2*i+c)*t.g.r.Inc] += t.sign * p.directional(&t.g, i, c, &e.j[c])
				}
			}
		}
		if p.model != views.Weighted {
			continue
		}
		switch {
		case t.do == views.Derivative:
			t.dz.Data[i*t.dz.Inc] = dz
		case t.do == views.Adjoint && t.g.z.Data != nil && t.g.weights.Data != nil:
			t.g.weights.Data[i*t.g.weights.Inc] += fixed.Product(dz, t.g.z.Data[i*t.g.z.Inc])
		case t.do == views.Tangent && t.g.z.Data != nil && t.g.weights.Data != nil:
			t.g.z.Data[i*t.g.z.Inc] += t.sign * fixed.Product(dz, t.g.weights.Data[i*t.g.weights.Inc])
		}
	}
}

// A termSweep is the workspace of sweepTerms and of second.
type termSweep[N number[N]] struct {
	cameras []camera[N]
	term    term[N]
}

// checkIndex panics with mat.ErrRowAccess unless the camera and the point of
// observation i exist.
func (p *problem[T]) checkIndex(i int) {
	if uint(p.camera[i]) >= uint(p.cameras.Rows) || uint(p.point[i]) >= uint(p.points.Rows) {
		panic(mat.ErrRowAccess)
	}
}

// addTo adds gr times the derivatives of residual c of observation i to the
// cotangents g.
func (p *problem[T]) addTo(g *problem[T], i int, gr T, c int, row *[weightedColumns]real[T]) {
	n := params(p.model)
	if g.cameras.Data != nil {
		for k, to := 0, g.cameras.Row(p.camera[i]); k < len(to); k++ {
			to[k] += fixed.Product(row[k].v, gr)
		}
	}
	if g.points.Data != nil {
		for k, to := 0, g.points.Row(p.point[i]); k < len(to); k++ {
			to[k] += fixed.Product(row[n+k].v, gr)
		}
	}
	if g.weights.Data != nil && p.model == views.Weighted {
		g.weights.Data[i*g.weights.Inc] += fixed.Product(row[n+3].v, gr)
	}
	if g.features.Data != nil {
		if p.model == views.Weighted {
			gr = fixed.Product(p.weights.Data[i*p.weights.Inc], gr)
		}
		g.features.Row(i)[c] -= gr
	}
}

// directional returns the derivative of residual c of observation i in the
// direction t.
func (p *problem[T]) directional(t *problem[T], i, c int, row *[weightedColumns]real[T]) (d T) {
	n := params(p.model)
	if t.cameras.Data != nil {
		for k, v := range t.cameras.Row(p.camera[i]) {
			d += fixed.Product(row[k].v, v)
		}
	}
	if t.points.Data != nil {
		for k, v := range t.points.Row(p.point[i]) {
			d += fixed.Product(row[n+k].v, v)
		}
	}
	if t.weights.Data != nil && p.model == views.Weighted {
		d += fixed.Product(row[n+3].v, t.weights.Data[i*t.weights.Inc])
	}
	if t.features.Data != nil {
		v := t.features.Row(i)[c]
		if p.model == views.Weighted {
			v = fixed.Product(p.weights.Data[i*p.weights.Inc], v)
		}
		d -= v
	}
	return d
}

// second adds to gt the tangents of the gradient that adjoint adds to g, in the
// direction t: Jᵀ·ġR + (∂J[ẋ])ᵀ·R̄. The terms are computed in dual numbers.
func (p *problem[T]) second(g, t, gt *problem[T]) {
	s := workspace.Get[termSweep[dual[T]]]()
	defer workspace.Put(s)
	s.cameras = workspace.Grow(s.cameras, p.cameras.Rows)
	for i := range s.cameras {
		var direction []T
		if t.cameras.Data != nil {
			direction = t.cameras.Row(i)
		}
		s.cameras[i] = newDualCamera(p.model, p.cameras.Row(i), direction)
	}
	one := dual[T]{v: fixed.Of[T](1)}
	for i, c := range p.camera {
		p.checkIndex(i)
		var x [3]dual[T]
		for k, v := range p.points.Row(p.point[i]) {
			x[k].v = v
			if t.points.Data != nil {
				x[k].d = t.points.Row(p.point[i])[k]
			}
		}
		var f [2]dual[T]
		for k, v := range p.features.Row(i) {
			f[k].v = v
			if t.features.Data != nil {
				f[k].d = t.features.Row(i)[k]
			}
		}
		w := one
		if p.model == views.Weighted {
			w = dual[T]{v: p.weights.Data[i*p.weights.Inc]}
			if t.weights.Data != nil {
				w.d = t.weights.Data[i*t.weights.Inc]
			}
		}
		s.term.observe(p.model, &s.cameras[c], x, w, one, f, true)
		for c := range s.term.r {
			p.addSecondTo(gt, i, dualAt(g.r, gt.r, 2*i+c), c, w, &s.term.j[c])
		}
		if p.model == views.Weighted && gt.weights.Data != nil {
			// Z̄·(-2w)
			gz := w.mul(dualAt(g.z, gt.z, i)).d
			gt.weights.Data[i*gt.weights.Inc] -= 2 * gz
		}
	}
}

// dualAt returns element i of x with that of its tangents t. nil means zeros.
func dualAt[T rev.Real](x, t rev.Vector[T], i int) (v dual[T]) {
	if x.Data != nil {
		v.v = x.Data[i*x.Inc]
	}
	if t.Data != nil {
		v.d = t.Data[i*t.Inc]
	}
	return v
}

// addSecondTo adds to gt the tangent of what addTo adds.
func (p *problem[T]) addSecondTo(gt *problem[T], i int, gr dual[T], c int, w dual[T], row *[weightedColumns]dual[T]) {
	n := params(p.model)
	if gt.cameras.Data != nil {
		for k, to := 0, gt.cameras.Row(p.camera[i]); k < len(to); k++ {
			to[k] += row[k].mul(gr).d
		}
	}
	if gt.points.Data != nil {
		for k, to := 0, gt.points.Row(p.point[i]); k < len(to); k++ {
			to[k] += row[n+k].mul(gr).d
		}
	}
	if gt.weights.Data != nil && p.model == views.Weighted {
		gt.weights.Data[i*gt.weights.Inc] += row[n+3].mul(gr).d
	}
	if gt.features.Data != nil {
		gt.features.Row(i)[c] -= w.mul(gr).d
	}
}
