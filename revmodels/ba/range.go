package ba

import (
	"fmt"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// CheckRange returns an error if an intermediate value of R or of its Jacobian
// leaves the range of fixed.Q43, or a point is at depth 0. What the passes would
// add then means nothing, though they undo it to the bit. The error names the
// first such observation, and wraps fixed.ErrRange or fixed.ErrDivideByZero. Over
// floats, whose infinities and NaN tell the same, it is nil.
//
// Products of the Jacobian with cotangents and tangents, and sums of them, are not
// looked at. It panics with mat.ErrRowAccess if an index is out of range.
func (k Snavely[T]) CheckRange() error {
	rev.ForwardPass(&k)
	p := k.problem()
	return p.checkRange()
}

// CheckRange returns an error if an intermediate value of R, of Z or of their
// Jacobian leaves the range of fixed.Q43, or a point is at depth 0. What the passes
// would add then means nothing, though they undo it to the bit. The error names the
// first such observation, and wraps fixed.ErrRange or fixed.ErrDivideByZero. Over
// floats, whose infinities and NaN tell the same, it is nil.
//
// Products of the Jacobian with cotangents and tangents, and sums of them, are not
// looked at. It panics with mat.ErrRowAccess if an index is out of range.
func (k Weighted[T]) CheckRange() error {
	rev.ForwardPass(&k)
	p := k.problem()
	return p.checkRange()
}

func (p *problem[T]) checkRange() error {
	q, ok := any(p).(*problem[fixed.Q43])
	if !ok {
		return nil
	}
	cameras := make([]camera[guarded], q.cameras.Rows)
	for i := range cameras {
		cameras[i] = newGuardedCamera(q.model, q.cameras.Row(i))
	}
	one := guarded{v: fixed.One}
	var e term[guarded]
	for i, c := range q.camera {
		q.checkIndex(i)
		x, f := q.points.Row(q.point[i]), q.features.Row(i)
		w, err := one, error(nil)
		if q.model == views.Weighted {
			w.v = q.weights.Data[i*q.weights.Inc]
			err = one.sub(w.mul(w)).err
		}
		e.observe(q.model, &cameras[c], [3]guarded{{v: x[0]}, {v: x[1]}, {v: x[2]}}, w, one, [2]guarded{{v: f[0]}, {v: f[1]}}, true)
		for c := range e.r {
			err = first(err, e.r[c].err)
			for _, v := range e.j[c] {
				err = first(err, v.err)
			}
		}
		if err != nil {
			return fmt.Errorf("ba: observation %d, of point %d by camera %d: %w", i, q.point[i], c, err)
		}
	}
	return nil
}

func newGuardedCamera(m views.CameraModel, x []fixed.Q43) camera[guarded] {
	var p [weightedParams]guarded
	for i, v := range x {
		p[i].v = v
	}
	s := p[0].mul(p[0]).add(p[1].mul(p[1])).add(p[2].mul(p[2]))
	q := newCoefficients(s.v)
	return assemble(m, p, guarded{v: fixed.One}, [3]guarded{{q.a, s.err}, {q.b, s.err}, {q.c, s.err}})
}

// guarded is a fixed.Q43, with the first error on the way to it.
type guarded struct {
	v   fixed.Q43
	err error
}

func (x guarded) add(y guarded) guarded { return x.after(y, fixed.Q43.AddChecked) }
func (x guarded) sub(y guarded) guarded { return x.after(y, fixed.Q43.SubChecked) }
func (x guarded) mul(y guarded) guarded { return x.after(y, fixed.Q43.MulChecked) }
func (x guarded) div(y guarded) guarded { return x.after(y, fixed.Q43.DivChecked) }

func (x guarded) after(y guarded, op func(x, y fixed.Q43) (fixed.Q43, error)) guarded {
	v, err := op(x.v, y.v)
	return guarded{v, first(x.err, first(y.err, err))}
}

// first returns the first of two errors that is one.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
