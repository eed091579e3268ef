package ba

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// A problem is the operands of either kernel.
type problem[T rev.Real] struct {
	model           model
	r, z            rev.Vector[T]
	cameras, points rev.General[T]
	weights         rev.Vector[T] // of the weighted model
	features        rev.General[T]
	camera, point   []int
	workers         int
}

func (p *problem[T]) checkShape() {
	n := len(p.camera)
	switch {
	case len(p.point) != n, p.features.Rows != n, p.features.Cols != 2,
		p.cameras.Cols != p.model.params(), p.points.Cols != 3,
		p.r.Data != nil && p.r.N != 2*n,
		p.model == weighted && (p.weights.N != n || p.z.Data != nil && p.z.N != n):
		panic(mat.ErrShape)
	}
}

// addResiduals adds the residuals to r and z, or subtracts them.
func (p *problem[T]) addResiduals(sign T) {
	p.each(false, func(i int, e *term[real[T]]) { p.add(i, e, sign) })
}

func (p *problem[T]) add(i int, e *term[real[T]], sign T) {
	if p.r.Data != nil {
		p.r.Data[2*i*p.r.Inc] += sign * e.r[0].v
		p.r.Data[(2*i+1)*p.r.Inc] += sign * e.r[1].v
	}
	if p.model == weighted && p.z.Data != nil {
		w := p.weights.Data[i*p.weights.Inc]
		p.z.Data[i*p.z.Inc] += sign * (fixed.Of[T](1) - fixed.Product(w, w))
	}
}

// jacobian adds the residuals to r and z, and stores their derivatives in j and z.
func (p *problem[T]) jacobian(j rev.General[T], z rev.Vector[T]) {
	if n := len(p.camera); j.Rows != 2*n || j.Cols != p.model.columns() || p.model == weighted && z.N != n {
		panic(mat.ErrShape)
	}
	p.each(true, func(i int, e *term[real[T]]) {
		p.add(i, e, 1)
		for c := range e.j {
			for k, row := 0, j.Row(2*i+c); k < len(row); k++ {
				row[k] = e.j[c][k].v
			}
		}
		if p.model == weighted {
			z.Data[i*z.Inc] = -2 * p.weights.Data[i*p.weights.Inc]
		}
	})
}

// each calls use with the term of each observation.
func (p *problem[T]) each(jacobian bool, use func(i int, e *term[real[T]])) {
	cameras := make([]camera[real[T]], p.cameras.Rows)
	for i := range cameras {
		cameras[i] = newCamera(p.model, p.cameras.Row(i))
	}
	one := real[T]{fixed.Of[T](1)}
	var e term[real[T]]
	for i, c := range p.camera {
		if uint(c) >= uint(len(cameras)) || uint(p.point[i]) >= uint(p.points.Rows) {
			panic(mat.ErrRowAccess)
		}
		x, f := p.points.Row(p.point[i]), p.features.Row(i)
		var w real[T]
		if p.model == weighted {
			w.v = p.weights.Data[i*p.weights.Inc]
		}
		e.observe(p.model, &cameras[c], [3]real[T]{{x[0]}, {x[1]}, {x[2]}}, w, one, [2]real[T]{{f[0]}, {f[1]}}, jacobian)
		use(i, &e)
	}
}
