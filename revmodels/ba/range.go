package ba

import (
	"fmt"
	"math"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/fixedpoint"
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

// limits are bounds of the numbers of an observation by a camera: the rows of a block that
// views.Within reads.
type limits struct {
	turn          [9]float64
	before, after [3]float64 // subtracted before the rotation, and added after it
	far           float64    // the largest |v|²
	near          float64    // the least d²
	wide          float64    // the largest P²
}

const bound = 1 << 19 // half the range of a Q43, for roundings

// newLimits returns the limits for observations by a camera with the given parameters,
// for weights and features up to the given ones, with the Jacobian or without.
func newLimits(m views.CameraModel, x []fixed.Q43, weight, feature float64, jacobian bool) (l limits) {
	l.near = math.Inf(1) // no observation, unless there are better limits
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
	push := 0.0 // |l.after|
	if m == views.Snavely {
		push = math.Sqrt(squareNorm(c[3:6]))
	}
	for i, v := range c[3:6] {
		if m == views.Snavely {
			l.after[i] = v
		} else {
			l.before[i] = v
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
			near, far := max(0x1p-20, push/4, 2*gain/bound), bound-push
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

// checkRange returns an error if an intermediate value of the residuals, or of their
// Jacobian if that is needed, leaves the range of fixed.Q43, or if a point is at depth
// 0. The error names the first such observation. Over floats it is nil: there
// infinities and NaN say the same.
func (p *problem[T]) checkRange(jacobian bool) error {
	q, ok := any(p).(*problem[fixed.Q43])
	if !ok {
		return nil
	}
	s := workspace.Get[*rangeCheck]()
	defer workspace.Put(s)
	s.load(q, jacobian)
	n := len(q.camera)
	for lo := 0; lo < n; lo += views.Lanes {
		hi := min(lo+views.Lanes, n)
		if !s.gather(q, lo, hi) {
			q.checkIndices(lo, hi)
		}
		for i := lo; ; i++ {
			if i = lo + s.block.Within(i-lo, hi-lo); i == hi {
				break
			}
			if err := s.step(q, i, jacobian); err != nil {
				q.checkIndices(hi, n)
				return fmt.Errorf("ba: observation %d, of point %d by camera %d: %w", i, q.point[i], q.camera[i], err)
			}
		}
	}
	return nil
}

// rangeCheck is the workspace of checkRange.
type rangeCheck struct {
	block  views.Views[float64] // is first, and so begins at a line of the cache
	limits []limits             // of the cameras
	points []float64            // all of them, or those of a block if there are more points than observations
	own    bool                 // those of a block
	order  [views.Lanes]int     // 0, 1, 2 ...
	term   term[checkedQ43]
}

// load computes the limits, and converts the points.
func (s *rangeCheck) load(q *problem[fixed.Q43], jacobian bool) {
	weight, feature := 0.0, magnitude(q.features.Data, q.features.Stride, len(q.camera), 2)
	if q.model == views.Weighted {
		weight = magnitude(q.weights.Data, q.weights.Inc, len(q.camera), 1)
	}
	s.limits = workspace.Grow(s.limits, q.cameras.Rows)
	for i := range s.limits {
		s.limits[i] = newLimits(q.model, q.cameras.Row(i), weight, feature, jacobian)
	}
	if s.own = q.points.Rows > len(q.camera); s.own {
		s.points = workspace.Grow(s.points, 3*views.Lanes)
		for i := range s.order {
			s.order[i] = i
		}
		return
	}
	s.points = workspace.Grow(s.points, 3*q.points.Rows)
	if q.points.Stride == 3 {
		fixedpoint.Floats(s.points, q.points.Data[:len(s.points)])
		return
	}
	for i := range q.points.Rows {
		fixedpoint.Floats(s.points[3*i:][:3], q.points.Row(i))
	}
}

// gather fills the block for the observations from lo to hi. It returns false if an index is out of range.
func (s *rangeCheck) gather(q *problem[fixed.Q43], lo, hi int) bool {
	rows, index := q.points.Rows, q.point[lo:hi]
	if s.own {
		for i, at := range index {
			if uint(at) >= uint(rows) {
				return false
			}
			fixedpoint.Floats(s.points[3*i:][:3], q.points.Row(at))
		}
		rows, index = hi-lo, s.order[:hi-lo]
	}
	limits := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(s.limits))), len(s.limits)*views.LimitRows)
	return s.block.Gather(0, limits, len(s.limits), views.LimitRows, views.LimitRows, q.camera[lo:hi]) &&
		s.block.Gather(views.PointRow, s.points, rows, 3, 3, index)
}

// magnitude returns at least the largest of n rows of numbers, stride apart.
func magnitude(x []fixed.Q43, stride, n, cols int) float64 {
	if stride == cols {
		n, cols = 1, n*cols
	}
	var most uint64 // ^x is |x|-1 for x < 0
	for i := range n {
		for _, v := range x[i*stride:][:cols] {
			most = max(most, uint64(v^v>>63))
		}
	}
	return (float64(most) + 1) / (1 << fixed.FracBits)
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
