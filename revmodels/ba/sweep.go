package ba

import (
	"revnum/fixed"
	"revnum/internal/objective"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// A problem has the operands of either kernel.
type problem[T rev.Real] struct {
	model           views.CameraModel
	r, z            rev.Vector[T]
	cameras, points rev.General[T]
	weights         rev.Vector[T] // of the weighted model
	features        rev.General[T]
	camera, point   []int
	workers         int
}

// params returns the number of parameters of a camera.
func params(m views.CameraModel) int {
	if m == views.Weighted {
		return weightedParams
	}
	return snavelyParams
}

// A task is a computation with the terms of all observations. It adds residuals to r,
// and
//
//	views.Derivative  j = J
//	views.Adjoint     ḡ += Jᵀ·r̄
//	views.Tangent     ṙ += sign·J·ẋ
//
// It uses the operands of g that are not nil.
type task[T rev.Real] struct {
	do   views.Task
	sign T              // r += sign·residuals
	g    problem[T]     // cotangents or tangents
	j    rev.General[T] // the Jacobian
	dz   rev.Vector[T]  // the Jacobian of z
}

// run runs a task by blocks of observations.
func (p *problem[T]) run(t *task[T]) {
	switch p := any(p).(type) {
	case *problem[float64]:
		sweepViews(p, any(t).(*task[float64]))
	case *problem[float32]:
		sweepViews(p, any(t).(*task[float32]))
	case *problem[fixed.Q43]:
		sweepLanes(p, any(t).(*task[fixed.Q43]))
	}
}

func (p *problem[T]) jacobian(j rev.General[T], dz rev.Vector[T]) error {
	n, of := len(p.camera), p.kernel()
	objective.CheckDims(of, "j", j.Rows, j.Cols, 2*n, p.model.Columns())
	if p.model == views.Weighted {
		objective.CheckLen(of, "z", dz.N, n)
	}
	if n > 0 {
		objective.CheckStorage(of, "j", len(j.Data), 2*n, j.Cols, j.Stride)
		if p.model == views.Weighted {
			objective.CheckStorage(of, "z", len(dz.Data), n, 1, dz.Inc)
		}
	}
	if err := p.checkRange(true); err != nil {
		return err
	}
	p.run(&task[T]{do: views.Derivative, sign: 1, j: j, dz: dz}) // raw: a sign
	return nil
}

// pass adds sign times the residuals and their tangents, and adds to the cotangents and
// their tangents.
func (p *problem[T]) pass(sign T, g, t, gt problem[T]) error {
	q := *p // without what has been computed
	run := func(do views.Task, d problem[T]) {
		q.run(&task[T]{do: do, sign: sign, g: d})
		q.r.Data, q.z.Data = nil, nil
	}
	adjoint, tangent := g.outputs() && g.inputs(), t.outputs() && t.inputs()
	second := gt.inputs() && (gt.outputs() || g.outputs())
	if p.outputs() || adjoint || tangent || second {
		if err := p.checkRange(adjoint || tangent || second); err != nil {
			return err
		}
	}
	if adjoint {
		run(views.Adjoint, g)
	}
	if tangent {
		run(views.Tangent, t)
	}
	if !adjoint && !tangent {
		run(views.Residuals, problem[T]{})
	}
	if second {
		q.second(&g, &t, &gt)
	}
	return nil
}

// outputs reports whether residuals are among the operands.
func (p *problem[T]) outputs() bool { return p.r.Data != nil || p.z.Data != nil }

// inputs reports whether any other operand is.
func (p *problem[T]) inputs() bool {
	return p.cameras.Data != nil || p.points.Data != nil || p.weights.Data != nil || p.features.Data != nil
}
