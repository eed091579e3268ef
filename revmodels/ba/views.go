package ba

import (
	"unsafe"

	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

const (
	// recordLen is the distance between the records of cameras, which have what the
	// rows of views.Views need: three lines of the cache.
	recordLen = views.PointRow

	// recordBlock is the number of cameras of a block.
	recordBlock = 128

	// viewBlock is the number of observations of a block, and residualBlock is the
	// number if only residuals are computed. These take so little time that a worker
	// should change its place in memory less often.
	viewBlock     = 16 * views.Lanes
	residualBlock = 2 * viewBlock

	// viewChunk is the number of observations whose gradients are in memory at a time.
	viewChunk = 8 * viewBlock

	// jacobianLanes is the number of observations of a view with a Jacobian. What it
	// uses then stays in the first cache.
	jacobianLanes = 32

	// A Jacobian of at least streamBytes, more than the caches of a core hold, is
	// written past the caches.
	streamBytes = 4 << 20
)

// A viewSweep is a task in floating point. Observations lie along the vector
// lanes, views.Lanes at a time.
//
// Gradients are first stored observation by observation. They are then added to the
// gradients of cameras and points, in the order of the observations, so that no sum is
// shared by workers.
type viewSweep[T rev.Float] struct {
	problem[T]
	task  task[T]
	phase phase

	records []T
	first   int       // the first observation of the blocks
	block   int       // observations of a block
	rows    []T       // of gradients by camera and point, an observation each
	scratch []view[T] // of each worker
	dense   bool      // whether all operands are contiguous
	past    bool      // whether the Jacobian goes past the caches
}

type phase int

const (
	prepare phase = iota // the records of cameras
	observe              // the terms of observations
	collect              // the gradients of cameras, and of points
)

// A view is the scratch of a worker. Operands are copied if they are not contiguous or
// not a whole number of vectors.
type view[T rev.Float] struct {
	views views.Views[T]
	x, r  [2 * views.Lanes]T
	w, z  [views.Lanes]T
	g     [2 * views.Lanes]T // cotangents or tangents of residuals
}

func sweepViews[T rev.Float](p *problem[T], t *task[T]) {
	n := len(p.camera)
	if n == 0 || t.do == views.Residuals && !p.outputs() {
		return
	}
	s := workspace.Get[*viewSweep[T]]()
	defer s.release()
	s.problem, s.task = *p, *t
	workers := parallel.Workers(p.workers)
	if len(s.scratch) < workers {
		s.scratch = make([]view[T], workers)
	}

	s.dense = s.contiguous()
	s.past = len(t.j.Data)*int(unsafe.Sizeof(t.sign)) >= streamBytes
	s.block = viewBlock
	if t.do == views.Residuals {
		s.block = residualBlock
	}
	s.phase = prepare
	s.records = workspace.Grow(s.records, recordLen*p.cameras.Rows)
	parallel.Run(workers, blocks(p.cameras.Rows, recordBlock), s)

	if t.do != views.Adjoint || t.g.r.Data == nil || t.g.cameras.Data == nil && t.g.points.Data == nil {
		s.phase, s.first = observe, 0
		parallel.Run(workers, blocks(n, s.block), s)
		return
	}
	s.rows = workspace.Grow(s.rows, min(n, viewChunk)*s.rowLen())
	for s.first = 0; s.first < n; s.first += viewChunk {
		s.phase = observe
		parallel.Run(workers, blocks(min(n-s.first, viewChunk), s.block), s)
		s.phase = collect
		parallel.Run(workers, 2, s)
	}
}

// blocks returns how many blocks of the given size n elements are.
func blocks(n, size int) int { return (n + size - 1) / size }

func (s *viewSweep[T]) release() {
	s.problem, s.task = problem[T]{}, task[T]{}
	workspace.Put(s)
}

// rowLen returns the length of a row of gradients.
func (s *viewSweep[T]) rowLen() int { return params(s.model) + 3 }

// Block implements parallel.Task.
func (s *viewSweep[T]) Block(worker, b int) {
	switch s.phase {
	case prepare:
		for i := b * recordBlock; i < min((b+1)*recordBlock, s.cameras.Rows); i++ {
			record(s.model, s.records[i*recordLen:][:recordLen], s.cameras.Row(i))
		}
	case observe:
		lo := s.first + b*s.block
		hi := min(lo+s.block, len(s.camera))
		if s.dense {
			lo += s.observeDense(&s.scratch[worker], lo, hi)
		}
		lanes := views.Lanes
		if s.task.do != views.Residuals {
			lanes = jacobianLanes
		}
		for i := lo; i < hi; i += lanes {
			n := min(lanes, hi-i)
			if i+n < hi {
				views.Prefetch(s.points.Data, s.points.Stride, s.point[i+n:min(i+n+lanes, hi)])
			}
			s.observe(&s.scratch[worker], i, n)
		}
	case collect:
		s.collect(b)
	}
}

// record stores what views.Views needs of a camera.
func record[T rev.Float](m views.CameraModel, to, from []T) {
	var r [3]float64
	for k := range r {
		r[k] = float64(from[k])
	}
	q := newCoefficients(squareNorm(r[:]))
	turn, left := rodrigues(q.a, q.b, r), rodrigues(q.b, q.c, r)
	for k := range 6 {
		to[k] = T(turn[k])
	}
	copy(to[6:9], from[3:6])
	to[9] = from[6]
	lens := 12
	if m == views.Weighted {
		to[10], to[11], to[12], to[13] = from[9], from[10], from[7], from[8]
		lens = 14
	} else {
		to[10], to[11] = from[7], from[8]
	}
	for k, v := range left {
		to[lens+k] = T(v)
	}
}

// contiguous reports whether observeDense can run the task.
func (s *viewSweep[T]) contiguous() bool {
	t := &s.task
	one := func(x rev.Vector[T]) bool { return x.Data != nil && x.Inc == 1 }
	return t.do <= views.Derivative && one(s.r) && s.features.Stride == 2 &&
		(s.model != views.Weighted || one(s.weights) && one(s.z)) &&
		(t.do != views.Derivative || t.j.Stride == t.j.Cols && (s.model != views.Weighted || one(t.dz)))
}

// observeDense runs the task for the first observations from lo to hi in one pass over
// all operands, and returns their number.
func (s *viewSweep[T]) observeDense(v *view[T], lo, hi int) int {
	t := &s.task
	o := views.Operands[T]{
		Cameras: s.records, Points: s.points.Data, NumPoints: s.points.Rows, PointStride: s.points.Stride,
		Camera: s.camera[lo:hi], Point: s.point[lo:hi], X: s.features.Data[2*lo : 2*hi], R: s.r.Data[2*lo : 2*hi],
	}
	if s.model == views.Weighted {
		o.W, o.Z = s.weights.Data[lo:hi], s.z.Data[lo:hi]
	}
	if t.do == views.Derivative {
		row := 2 * t.j.Cols
		o.J = t.j.Data[row*lo : row*hi]
		if s.model == views.Weighted {
			o.DZ = t.dz.Data[lo:hi]
		}
	}
	done, ok := v.views.Observe(s.model, t.do, &o, t.sign, s.past)
	if !ok {
		s.checkIndices(lo, hi)
	}
	return done
}

// observe runs the task for n observations from the first on.
func (s *viewSweep[T]) observe(v *view[T], first, n int) {
	do := s.task.do
	cameraRows, derivativeRows := s.model.CameraRows()
	if do != views.Residuals {
		cameraRows = derivativeRows
	}
	if !v.views.Gather(0, s.records, s.cameras.Rows, recordLen, cameraRows, s.camera[first:first+n]) ||
		!v.views.Gather(views.PointRow, s.points.Data, s.points.Rows, s.points.Stride, 3, s.point[first:first+n]) {
		s.checkIndices(first, first+n)
	}
	lanes := (n + 15) &^ 15
	whole := lanes == n

	x := v.x[:2*lanes]
	if whole && s.features.Stride == 2 {
		x = s.features.Data[2*first:][:2*n]
	} else {
		for i := range n {
			copy(x[2*i:], s.features.Row(first+i))
		}
	}
	r, rInPlace := operand(v.r[:], s.r, 2*first, 2*n, 2*lanes)
	var w, z []T
	zInPlace := true
	if s.model == views.Weighted {
		w, _ = operand(v.w[:], s.weights, first, n, lanes)
		z, zInPlace = operand(v.z[:], s.z, first, n, lanes)
	}
	var g []T
	gInPlace := true
	if do == views.Adjoint || do == views.Tangent {
		if s.task.g.r.Data == nil {
			do = views.Residuals
		} else {
			g, gInPlace = operand(v.g[:], s.task.g.r, 2*first, 2*n, 2*lanes)
		}
		if do == views.Tangent {
			s.gatherTangents(v, first, n)
		}
	}
	v.views.Reproject(s.model, do, &views.Operands[T]{X: x, W: w, R: r, Z: z, G: g}, s.task.sign)
	if !rInPlace {
		store(s.r, 2*first, r[:2*n])
	}
	if s.model == views.Weighted {
		w = w[:n]
		if !zInPlace {
			store(s.z, first, z[:n])
		}
	}
	switch s.task.do {
	case views.Derivative:
		s.storeJacobian(v, first, n, w)
	case views.Adjoint:
		s.addGradients(v, first, n, w, g)
	case views.Tangent:
		if !gInPlace {
			store(s.task.g.r, 2*first, g[:2*n])
		}
		s.addTangents(first, n, w)
	}
}

// operand returns n elements of x from the first on: in place if they are contiguous
// and a whole number of lanes, and otherwise in a copy.
func operand[T any](scratch []T, x rev.Vector[T], first, n, lanes int) (at []T, inPlace bool) {
	if n == lanes && x.Inc == 1 && x.Data != nil {
		return x.Data[first:][:n], true
	}
	load(scratch[:n], x, first)
	return scratch[:lanes], false
}

// load copies the elements of x from the first on to dst. It does nothing if x is
// absent.
func load[T any](dst []T, x rev.Vector[T], first int) {
	if x.Data == nil {
		return
	}
	for i := range dst {
		dst[i] = x.Data[(first+i)*x.Inc]
	}
}

// store is the inverse of load.
func store[T any](x rev.Vector[T], first int, src []T) {
	if x.Data == nil {
		return
	}
	for i, v := range src {
		x.Data[(first+i)*x.Inc] = v
	}
}

func (s *viewSweep[T]) storeJacobian(v *view[T], first, n int, w []T) {
	j, dz, cols := s.task.j, s.task.dz, s.model.Columns()
	to := j.Data[2*first*j.Stride:]
	if j.Stride == cols {
		v.views.Scatter(to, 2*cols, views.JacobianRow, 2*cols, n)
	} else {
		v.views.Scatter(to, 2*j.Stride, views.JacobianRow, cols, n)
		v.views.Scatter(to[j.Stride:], 2*j.Stride, views.JacobianRow+cols, cols, n)
	}
	if s.model == views.Weighted && dz.Inc == 1 {
		vec.ScaleTo(dz.Data[first:first+n], -2, w)
		return
	}
	for i, wi := range w {
		dz.Data[(first+i)*dz.Inc] = -2 * wi
	}
}

// addGradients adds to the cotangents of weights and features. It stores what it adds to
// cameras and points in the rows of the observations, for collect.
func (s *viewSweep[T]) addGradients(v *view[T], first, n int, w, gr []T) {
	g := &s.task.g
	if g.weights.Data != nil && g.z.Data != nil {
		for i, wi := range w {
			g.weights.Data[(first+i)*g.weights.Inc] += T(-2 * wi * g.z.Data[(first+i)*g.z.Inc])
		}
	}
	if gr == nil {
		return
	}
	if g.weights.Data != nil && w != nil {
		for i, x := range v.views[views.JacobianRow+s.rowLen()][:n] {
			g.weights.Data[(first+i)*g.weights.Inc] += x
		}
	}
	if g.features.Data != nil {
		scale := T(1)
		for i := range n {
			if w != nil {
				scale = w[i]
			}
			row := g.features.Data[(first+i)*g.features.Stride:][:2]
			row[0] -= T(scale * gr[2*i])
			row[1] -= T(scale * gr[2*i+1])
		}
	}
	if g.cameras.Data != nil || g.points.Data != nil {
		v.views.Scatter(s.rows[(first-s.first)*s.rowLen():], s.rowLen(), views.JacobianRow, s.rowLen(), n)
	}
}

// collect adds the rows of observations to the cotangents of cameras and points:
// one half the first columns of the cameras, the other all the rest.
func (s *viewSweep[T]) collect(half int) {
	const first = 8
	n := min(len(s.camera)-s.first, viewChunk)
	camera, point := s.camera[s.first:][:n], s.point[s.first:][:n]
	cameras, points, params := s.task.g.cameras, s.task.g.points, params(s.model)
	switch {
	case half == 0 && cameras.Data != nil:
		views.AddRows(cameras.Data, cameras.Stride, s.rows, s.rowLen(), first, camera)
	case half == 1:
		if cameras.Data != nil {
			views.AddRows(cameras.Data[first:], cameras.Stride, s.rows[first:], s.rowLen(), params-first, camera)
		}
		if points.Data != nil {
			views.AddRows(points.Data, points.Stride, s.rows[params:], s.rowLen(), 3, point)
		}
	}
}

// gatherTangents copies the tangents of cameras, points and weights to the block.
// Absent tangents are zeros.
func (s *viewSweep[T]) gatherTangents(v *view[T], first, n int) {
	t, params := &s.task.g, params(s.model)
	gather := func(row int, x rev.General[T], cols int, index []int) {
		if x.Data != nil {
			v.views.Gather(row, x.Data, x.Rows, x.Stride, cols, index[first:first+n])
			return
		}
		for k := range cols {
			clear(v.views[row+k][:n])
		}
	}
	gather(views.JacobianRow, t.cameras, params, s.camera)
	gather(views.JacobianRow+params, t.points, 3, s.point)
	if s.model == views.Weighted {
		row := v.views[views.JacobianRow+params+3][:n]
		clear(row)
		load(row, t.weights, first)
	}
}

// addTangents adds sign times the tangents of z, and the part of the tangents of residuals
// that comes from the features.
func (s *viewSweep[T]) addTangents(first, n int, w []T) {
	t, sign := &s.task.g, s.task.sign
	if t.z.Data != nil && t.weights.Data != nil {
		for i, wi := range w {
			t.z.Data[(first+i)*t.z.Inc] += T(sign * T(-2*wi*t.weights.Data[(first+i)*t.weights.Inc]))
		}
	}
	if t.r.Data == nil || t.features.Data == nil {
		return
	}
	scale, at := sign, 2*first*t.r.Inc
	for i := range n {
		if w != nil {
			scale = sign * w[i]
		}
		row := t.features.Data[(first+i)*t.features.Stride:][:2]
		t.r.Data[at] -= T(scale * row[0])
		t.r.Data[at+t.r.Inc] -= T(scale * row[1])
		at += 2 * t.r.Inc
	}
}
