package ba

import (
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd"
	"revnum/internal/workspace"
	"revnum/rev"
)

const (
	// recordLen is how far apart the records of cameras lie, which have what the
	// rows of simd.Views need: three lines of the cache.
	recordLen = 24

	// recordBlock is how many cameras a block has.
	recordBlock = 128

	// viewBlock is how many observations a block has.
	viewBlock = 16 * simd.ViewLanes

	// viewChunk is how many observations have their gradients in memory at a time.
	viewChunk = 8 * viewBlock

	// jacobianLanes is how many observations a view has that wants the Jacobian, so
	// that what it uses stays in the first cache.
	jacobianLanes = 32

	// streamBytes is the size from which on a Jacobian goes past the caches: larger
	// than what a core has of them.
	streamBytes = 4 << 20
)

// A viewSweep is a task in floating point. Observations lie along the vector
// lanes, simd.ViewLanes at a time.
//
// Gradients are first stored observation by observation, and then added to those
// of cameras and of points, in the order of the observations; so nothing is summed
// across workers.
type viewSweep[T rev.Float] struct {
	problem[T]
	task  task[T]
	phase phase

	records []T
	first   int       // the observation that the blocks begin at
	rows    []T       // of gradients by camera and point, an observation each
	scratch []view[T] // of each worker
	stream  bool      // whether the Jacobian goes past the caches
}

type phase int

const (
	prepare phase = iota // the records of cameras
	observe              // the terms of observations
	collect              // the gradients of cameras, and of points
)

// A view is the scratch of a worker. Operands that are not contiguous, or not a
// whole number of vectors, are copied.
type view[T rev.Float] struct {
	views simd.Views[T]
	x, r  [2 * simd.ViewLanes]T
	w, z  [simd.ViewLanes]T
	gx    [2][simd.ViewLanes]T // cotangents or tangents of residuals
}

func sweepViews[T rev.Float](p *problem[T], t *task[T]) {
	n := len(p.camera)
	if n == 0 || t.do == doResiduals && !p.outputs() {
		return
	}
	s := workspace.Get[viewSweep[T]]()
	defer s.release()
	s.problem, s.task = *p, *t
	workers := parallel.Workers(p.workers)
	if len(s.scratch) < workers {
		s.scratch = make([]view[T], workers)
	}

	s.stream = t.do == doJacobian && t.j.Stride == t.j.Cols && len(t.j.Data)*int(unsafe.Sizeof(t.sign)) >= streamBytes
	s.phase = prepare
	s.records = workspace.Grow(s.records, recordLen*p.cameras.Rows)
	parallel.Run(workers, blocks(p.cameras.Rows, recordBlock), s)

	if t.do != doAdjoint || t.g.cameras.Data == nil && t.g.points.Data == nil {
		s.phase, s.first = observe, 0
		parallel.Run(workers, blocks(n, viewBlock), s)
		return
	}
	s.rows = workspace.Grow(s.rows, min(n, viewChunk)*s.rowLen())
	for s.first = 0; s.first < n; s.first += viewChunk {
		s.phase = observe
		parallel.Run(workers, blocks(min(n-s.first, viewChunk), viewBlock), s)
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
		lo := s.first + b*viewBlock
		hi := min(lo+viewBlock, len(s.camera))
		lanes := simd.ViewLanes
		if s.task.do != doResiduals {
			lanes = jacobianLanes
		}
		for i := lo; i < hi; i += lanes {
			n := min(lanes, hi-i)
			if i+n < hi {
				simd.Prefetch(s.points.Data, s.points.Stride, s.point[i+n:min(i+n+lanes, hi)])
			}
			s.observe(&s.scratch[worker], i, n)
		}
		if s.stream {
			simd.StreamFence()
		}
	case collect:
		s.collect(b)
	}
}

// record stores what simd.Views needs of a camera.
func record[T rev.Float](m simd.CameraModel, to, from []T) {
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
	if m == simd.Weighted {
		to[10], to[11], to[12], to[13] = from[9], from[10], from[7], from[8]
		lens = 14
	} else {
		to[10], to[11] = from[7], from[8]
	}
	for k, v := range left {
		to[lens+k] = T(v)
	}
}

// observe does the task for n observations from the first on.
func (s *viewSweep[T]) observe(v *view[T], first, n int) {
	derivatives := s.task.do != doResiduals
	cameraRows, jacobianRows := s.model.CameraRows()
	if derivatives {
		cameraRows = jacobianRows
	}
	if !v.views.Gather(0, s.records, s.cameras.Rows, recordLen, cameraRows, s.camera[first:first+n]) ||
		!v.views.Gather(simd.ViewPoint, s.points.Data, s.points.Rows, s.points.Stride, 3, s.point[first:first+n]) {
		panic(mat.ErrRowAccess)
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
	r := v.r[:2*lanes]
	inPlace := whole && s.r.Inc == 1 && s.r.Data != nil
	if inPlace {
		r = s.r.Data[2*first:][:2*n]
	} else {
		load(r[:2*n], s.r, 2*first)
	}
	var w, z []T
	zInPlace := whole && s.z.Inc == 1 && s.z.Data != nil
	if s.model == simd.Weighted {
		w, z = v.w[:lanes], v.z[:lanes]
		if whole && s.weights.Inc == 1 {
			w = s.weights.Data[first:][:n]
		} else {
			load(w[:n], s.weights, first)
		}
		if zInPlace {
			z = s.z.Data[first:][:n]
		} else {
			load(z[:n], s.z, first)
		}
	}
	v.views.Reproject(s.model, derivatives, x, w, r, z, s.task.sign)
	if !inPlace {
		store(s.r, 2*first, r[:2*n])
	}
	if s.model == simd.Weighted {
		w = w[:n]
		if !zInPlace {
			store(s.z, first, z[:n])
		}
	}
	switch s.task.do {
	case doJacobian:
		s.storeJacobian(v, first, n, w)
	case doAdjoint:
		s.addGradients(v, first, n, w)
	case doTangent:
		s.addTangents(v, first, n, w)
	}
}

// load copies the elements of x from the first on to dst. It does nothing if there
// is no x.
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
	switch {
	case s.stream:
		v.views.Stream(to, simd.ViewJacobian, 2*cols, n)
	case j.Stride == cols:
		v.views.Scatter(to, 2*cols, simd.ViewJacobian, 2*cols, n)
	default:
		v.views.Scatter(to, 2*j.Stride, simd.ViewJacobian, cols, n)
		v.views.Scatter(to[j.Stride:], 2*j.Stride, simd.ViewJacobian+cols, cols, n)
	}
	if s.model == simd.Weighted && dz.Inc == 1 {
		simd.ScaleTo(dz.Data[first:first+n], -2, w)
		return
	}
	for i, wi := range w {
		dz.Data[(first+i)*dz.Inc] = -2 * wi
	}
}

// addGradients adds the cotangents of weights and features, and stores those of
// cameras and points in the rows of the observations.
func (s *viewSweep[T]) addGradients(v *view[T], first, n int, w []T) {
	g := &s.task.g
	if g.weights.Data != nil && g.z.Data != nil {
		for i, wi := range w {
			g.weights.Data[(first+i)*g.weights.Inc] += T(-2 * wi * g.z.Data[(first+i)*g.z.Inc])
		}
	}
	params, cols := params(s.model), s.model.Columns()
	if g.r.Data == nil {
		if s.rows != nil && (g.cameras.Data != nil || g.points.Data != nil) {
			clear(s.rows[(first-s.first)*s.rowLen():][:n*s.rowLen()])
		}
		return
	}
	for i := range n {
		v.gx[0][i], v.gx[1][i] = g.r.Data[2*(first+i)*g.r.Inc], g.r.Data[(2*(first+i)+1)*g.r.Inc]
	}
	if g.features.Data != nil {
		for i := range n {
			row := g.features.Row(first + i)
			for c := range row {
				gx := v.gx[c][i]
				if w != nil {
					gx *= w[i]
				}
				row[c] -= gx
			}
		}
	}
	// The rows of the camera are not needed any more.
	j0, j1 := v.views[simd.ViewJacobian:], v.views[simd.ViewJacobian+cols:]
	for k := range cols {
		to, a, b := v.views[k][:n], j0[k][:n], j1[k][:n]
		g0, g1 := v.gx[0][:n], v.gx[1][:n]
		for i := range to {
			to[i] = T(a[i]*g0[i]) + T(b[i]*g1[i])
		}
	}
	if g.weights.Data != nil && w != nil {
		for i := range n {
			g.weights.Data[(first+i)*g.weights.Inc] += v.views[params+3][i]
		}
	}
	if g.cameras.Data != nil || g.points.Data != nil {
		v.views.Scatter(s.rows[(first-s.first)*s.rowLen():], s.rowLen(), 0, s.rowLen(), n)
	}
}

// collect adds the rows of observations to the cotangents of cameras (what = 0) or
// of points (what = 1).
func (s *viewSweep[T]) collect(what int) {
	to, index, from, cols := s.task.g.cameras, s.camera, 0, params(s.model)
	if what == 1 {
		to, index, from, cols = s.task.g.points, s.point, cols, 3
	}
	if to.Data == nil {
		return
	}
	n := min(len(index)-s.first, viewChunk)
	for i, at := range index[s.first:][:n] {
		row := to.Data[at*to.Stride:][:cols]
		for k, x := range s.rows[i*s.rowLen()+from:][:cols] {
			row[k] += x
		}
	}
}

// addTangents adds the tangents of the residuals, times the sign.
func (s *viewSweep[T]) addTangents(v *view[T], first, n int, w []T) {
	t, sign := &s.task.g, s.task.sign
	if t.z.Data != nil && t.weights.Data != nil {
		for i, wi := range w {
			t.z.Data[(first+i)*t.z.Inc] += sign * T(-2*wi*t.weights.Data[(first+i)*t.weights.Inc])
		}
	}
	if t.r.Data == nil {
		return
	}
	clear(v.gx[0][:n])
	clear(v.gx[1][:n])
	params, cols := params(s.model), s.model.Columns()
	add := func(at int, x rev.General[T], row int, index []int) {
		if x.Data == nil {
			return
		}
		v.views.Gather(row, x.Data, x.Rows, x.Stride, x.Cols, index[first:first+n])
		for c := range v.gx {
			d := v.gx[c][:n]
			for k := range x.Cols {
				a, b := v.views[simd.ViewJacobian+c*cols+at+k][:n], v.views[row+k][:n]
				for i := range d {
					d[i] += T(a[i] * b[i])
				}
			}
		}
	}
	// The rows of the camera and of the point are not needed any more.
	add(0, t.cameras, 0, s.camera)
	add(params, t.points, simd.ViewPoint, s.point)
	for i := range n {
		for c := range v.gx {
			d := v.gx[c][i]
			if t.weights.Data != nil && w != nil {
				d += T(v.views[simd.ViewJacobian+c*cols+params+3][i] * t.weights.Data[(first+i)*t.weights.Inc])
			}
			if t.features.Data != nil {
				f := t.features.Row(first + i)[c]
				if w != nil {
					f *= w[i]
				}
				d -= f
			}
			t.r.Data[(2*(first+i)+c)*t.r.Inc] += sign * d
		}
	}
}
