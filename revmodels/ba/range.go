package ba

import (
	"fmt"
	"math"

	"revnum/fixed"
	"revnum/internal/workspace"
	"revnum/revmodels/ba/internal/views"
)

// In fixed point a value that leaves the range wraps, and has no meaning. The passes
// therefore check the operands first, and return an error before they write.
//
// A few numbers of an observation nearly always prove that nothing leaves the range.
// Let v be the vector that is rotated, y its result in the camera, and d the depth:
//
//	|R·v| = |v|,  P = |(y₁, y₂)|/|d|,
//
// Everything else is computed from P, |R·v|/|d|, 1/|d| and parameters. So each camera
// has limits for |v|, P and 1/|d|. Only an observation beyond these goes through the
// arithmetic step by step.

// limits are bounds of the numbers of an observation by a camera. Lengths are in units
// of 2⁻⁴³, as in fixed.Q43.
type limits struct {
	turn          [9]float64
	before, after [3]float64 // subtracted before the rotation, and added after it
	far           float64    // the largest |v|²
	near          float64    // the least d²
	wide          float64    // the largest P²
}

const (
	unit  = 1 << 43
	bound = 1 << 19 // half the range of a Q43, for roundings
)

// newLimits returns the limits for observations by a camera with the given parameters,
// for weights and features up to the given ones, with the Jacobian or without.
func newLimits(m views.CameraModel, x []fixed.Q43, weight, feature float64, jacobian bool) (l limits) {
	c := [weightedParams]float64{}
	for i, v := range x {
		c[i] = v.Float64()
	}
	// For rotations of smaller vectors, all products stay below bound.
	const angle = 256
	for _, v := range c[:3] {
		if !(math.Abs(v) <= angle) {
			return l
		}
	}
	l.turn = rotationMatrix([3]float64(c[:3]))
	push := 0.0 // |l.after|, in units of 1
	if m == views.Snavely {
		push = math.Sqrt(squareNorm(c[3:6]))
	}
	for i, v := range c[3:6] {
		if m == views.Snavely {
			l.after[i] = unit * v
		} else {
			l.before[i] = unit * v
		}
	}
	f, k1, k2, u := math.Abs(c[6]), math.Abs(c[7]), math.Abs(c[8]), 0.0
	if m == views.Weighted {
		u, k1, k2 = max(k1, k2), math.Abs(c[9]), math.Abs(c[10])
	}
	weight = max(1, weight)
	if push >= bound/2 || weight*weight >= bound {
		return l
	}
	for wide := 512.0; wide > 1e-3; wide /= 2 {
		most, gain := extent(wide, f, k1, k2, u, weight, feature, jacobian)
		if most < bound {
			near := unit * max(0x1p-20, push/4, 2*gain/bound)
			far := unit * (bound - push)
			l.wide, l.near, l.far = wide*wide, near*near, far*far
			return l
		}
	}
	return l
}

// extent returns a bound on all numbers of an observation with P <= wide, and |R·v| at
// most 4·|d| + |y|, except those divided by the depth. These are vectors of at most
// 2·gain before the division.
func extent(wide, f, k1, k2, u, weight, feature float64, jacobian bool) (most, gain float64) {
	s := float64(wide * wide)
	slope := k1 + float64(k2*s)
	radial := 1 + float64(slope*s)
	most = max(s, slope, weight*(float64(f*radial*wide)+feature+u), radial*wide*weight)
	if !jacobian {
		return most, 0
	}
	scale := weight * max(1, f)
	bend := 2 * (slope + float64(k2*s))
	stretch := radial + float64(bend*s)
	gain = scale * max(radial+float64(bend*s), stretch*wide)
	// The left Jacobian of a rotation is a mean of rotations, so it lengthens nothing.
	return max(most, bend, gain, 2*gain*(4+math.Sqrt(1+s)), scale*s*max(1, s)*wide), gain
}

// takes reports whether the numbers of an observation of the point x are within l.
func (l *limits) takes(x []fixed.Q43) bool {
	_ = x[2]
	x0, x1, x2 := float64(x[0])-l.before[0], float64(x[1])-l.before[1], float64(x[2])-l.before[2]
	r := &l.turn
	y0 := float64(r[0]*x0) + float64(r[1]*x1) + float64(r[2]*x2) + l.after[0]
	y1 := float64(r[3]*x0) + float64(r[4]*x1) + float64(r[5]*x2) + l.after[1]
	d := float64(r[6]*x0) + float64(r[7]*x1) + float64(r[8]*x2) + l.after[2]
	d *= d
	return float64(x0*x0)+float64(x1*x1)+float64(x2*x2) <= l.far && d >= l.near && float64(y0*y0)+float64(y1*y1) <= l.wide*d
}

// checkRange returns an error if an intermediate value of the residuals, or of their
// Jacobian if that is needed, leaves the range of fixed.Q43, or if a point is at depth
// 0. The error names the first such observation. Over floats it is nil: there
// infinities and NaN say the same.
func (p *problem[T]) checkRange(jacobian bool) error {
	q, ok := any(p).(*problem[fixed.Q43])
	if !ok {
		return nil
	}
	s := workspace.Get[rangeCheck]()
	defer workspace.Put(s)
	s.limits = workspace.Grow(s.limits, q.cameras.Rows)
	var weight, feature uint64 // at least the largest: ^x is |x|-1 for x < 0
	for i := range q.camera {
		if !q.exists(i) {
			panic(q.indexError(i))
		}
		if q.model == views.Weighted {
			w := int64(q.weights.Data[i*q.weights.Inc])
			weight = max(weight, uint64(w^w>>63))
		}
		f := q.features.Data[i*q.features.Stride:][:2]
		u, v := int64(f[0]), int64(f[1])
		feature = max(feature, uint64(u^u>>63), uint64(v^v>>63))
	}
	for i := range s.limits {
		s.limits[i] = newLimits(q.model, q.cameras.Row(i), (float64(weight)+1)/unit, (float64(feature)+1)/unit, jacobian)
	}
	for i, c := range q.camera {
		if !s.limits[c].takes(q.points.Data[q.point[i]*q.points.Stride:]) {
			if err := s.step(q, i, jacobian); err != nil {
				return fmt.Errorf("ba: observation %d, of point %d by camera %d: %w", i, q.point[i], c, err)
			}
		}
	}
	return nil
}

// rangeCheck is the workspace of checkRange.
type rangeCheck struct {
	limits []limits
	term   term[checkedQ43]
}

// step goes through the arithmetic of observation i.
func (s *rangeCheck) step(q *problem[fixed.Q43], i int, jacobian bool) error {
	var p [weightedParams]checkedQ43
	for k, v := range q.cameras.Row(q.camera[i]) {
		p[k].v = v
	}
	one := checkedQ43{v: fixed.One}
	c := newCamera(q.model, p, one, func(s checkedQ43) [3]checkedQ43 {
		q := newCoefficients(s.v)
		return [3]checkedQ43{{q.a, s.err}, {q.b, s.err}, {q.c, s.err}}
	})
	e := &s.term
	*e = term[checkedQ43]{} // without errors of another model's columns
	x, f := q.points.Row(q.point[i]), q.features.Row(i)
	w, err := one, error(nil)
	if q.model == views.Weighted {
		w.v = q.weights.Data[i*q.weights.Inc]
		err = one.sub(w.mul(w)).err
	}
	e.observe(q.model, &c, [3]checkedQ43{{v: x[0]}, {v: x[1]}, {v: x[2]}}, w, one, [2]checkedQ43{{v: f[0]}, {v: f[1]}}, jacobian)
	for c := range e.r {
		err = first(err, e.r[c].err)
		if jacobian {
			for _, v := range e.j[c] {
				err = first(err, v.err)
			}
		}
	}
	return err
}

// checkedQ43 is a fixed.Q43, with the first error on the way to it.
type checkedQ43 struct {
	v   fixed.Q43
	err error
}

func (x checkedQ43) add(y checkedQ43) checkedQ43 { return x.after(y, fixed.Q43.AddChecked) }
func (x checkedQ43) sub(y checkedQ43) checkedQ43 { return x.after(y, fixed.Q43.SubChecked) }
func (x checkedQ43) mul(y checkedQ43) checkedQ43 { return x.after(y, fixed.Q43.MulChecked) }
func (x checkedQ43) div(y checkedQ43) checkedQ43 { return x.after(y, fixed.Q43.DivChecked) }

func (x checkedQ43) addProduct(y, z checkedQ43) checkedQ43 { return x.add(y.mul(z)) }
func (x checkedQ43) subProduct(y, z checkedQ43) checkedQ43 { return x.sub(y.mul(z)) }

func (x checkedQ43) after(y checkedQ43, op func(x, y fixed.Q43) (fixed.Q43, error)) checkedQ43 {
	v, err := op(x.v, y.v)
	return checkedQ43{v, first(x.err, first(y.err, err))}
}

// first returns the first of two errors that is not nil.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
