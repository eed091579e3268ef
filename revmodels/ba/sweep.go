package ba

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// A problem is the operands of either kernel.
type problem[T rev.Real] struct {
	model           views.CameraModel
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
		p.cameras.Cols != params(p.model), p.points.Cols != 3,
		p.r.Data != nil && p.r.N != 2*n,
		p.model == views.Weighted && (p.weights.N != n || p.z.Data != nil && p.z.N != n):
		panic(mat.ErrShape)
	}
}

// params returns the number of parameters of a camera.
func params(m views.CameraModel) int {
	if m == views.Weighted {
		return weightedParams
	}
	return snavelyParams
}

// A task is what is done with the terms of all observations: residuals are added
// to r, and
//
//	ViewDerivative  j = J
//	ViewAdjoint     ḡ += Jᵀ·r̄
//	ViewTangent     ṙ += sign·J·ẋ
//
// Of the operands g, those that are not nil are used.
type task[T rev.Real] struct {
	do   views.Task
	sign T              // r += sign·residuals
	g    problem[T]     // cotangents or tangents
	j    rev.General[T] // the Jacobian
	dz   rev.Vector[T]  // that of z
}

// run does a task: in floating point by blocks of observations, in fixed point
// one by one.
func (p *problem[T]) run(t *task[T]) {
	switch p := any(p).(type) {
	case *problem[float64]:
		sweepViews(p, any(t).(*task[float64]))
	case *problem[float32]:
		sweepViews(p, any(t).(*task[float32]))
	case *problem[fixed.Q43]:
		sweepTerms(p, any(t).(*task[fixed.Q43]))
	}
}

func (p *problem[T]) addResiduals(sign T) { p.run(&task[T]{do: views.Residuals, sign: sign}) }

func (p *problem[T]) jacobian(j rev.General[T], dz rev.Vector[T]) {
	n := len(p.camera)
	if j.Rows != 2*n || j.Cols != p.model.Columns() || n > 0 && (j.Stride < j.Cols || len(j.Data) < (2*n-1)*j.Stride+j.Cols) ||
		p.model == views.Weighted && (dz.N != n || n > 0 && (dz.Inc < 1 || len(dz.Data) < (n-1)*dz.Inc+1)) {
		panic(mat.ErrShape)
	}
	p.run(&task[T]{do: views.Derivative, sign: 1, j: j, dz: dz})
}

// adjoint subtracts the residuals from r and z, and adds to the cotangents g.
func (p *problem[T]) adjoint(g problem[T]) {
	t := task[T]{do: views.Adjoint, sign: -1, g: g}
	if !g.outputs() || !g.inputs() {
		t.do = views.Residuals
	}
	p.run(&t)
}

// tangent adds sign times the residuals and their tangents.
func (p *problem[T]) tangent(t problem[T], sign T) {
	s := task[T]{do: views.Tangent, sign: sign, g: t}
	if !t.outputs() || !t.inputs() {
		s.do = views.Residuals
	}
	p.run(&s)
}

// adjointTangent is the tangent of adjoint.
func (p *problem[T]) adjointTangent(g, t, gt problem[T]) {
	p.adjoint(g)
	q := *p
	q.r.Data, q.z.Data = nil, nil
	q.tangent(t, -1)
	if gt.inputs() && (gt.outputs() || g.outputs()) {
		q.second(&g, &t, &gt)
	}
}

// outputs reports whether residuals are among the operands.
func (p *problem[T]) outputs() bool { return p.r.Data != nil || p.z.Data != nil }

// inputs reports whether any other operand is.
func (p *problem[T]) inputs() bool {
	return p.cameras.Data != nil || p.points.Data != nil || p.weights.Data != nil || p.features.Data != nil
}
