package revnn

import (
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A softmaxRowsPass is a pass of SoftmaxRows or LogSumExpRows. It takes the exponentials of
// many rows at a time in floating point, because a call for each row takes longer than the
// exponentials of a short row.
type softmaxRowsPass[T rev.Real] struct {
	sign           int
	x, gx, tx, gtx rev.General[T]
	y, gy, ty, gty rev.General[T] // of SoftmaxRows
	l, gl, tl, gtl rev.Vector[T]  // of LogSumExpRows
	logarithms     bool           // it is one of LogSumExpRows
	long           int            // rows of this length go one by one
	room           []rowsRoom[T]  // of each worker
}

// A rowsRoom is scratch for a block of rows, and the pass over one of them.
type rowsRoom[T rev.Real] struct {
	softmaxRoom[T]
	values []T // exp(x_ij - m_i), row by row
	maxima []T // m_i
	sums   []T // of the values of a row
	s      softmax[T]
	o      softmaxPass[T]
}

// Rows from these lengths on go one by one, which is not slower there.
const (
	longSoftmax   = 4096
	longLogSumExp = 512
)

// run makes the pass w, and clears it.
func (w *softmaxRowsPass[T]) run(workers int) {
	if number.IsFixed[T]() {
		w.long = 0
	}
	rows := rowsInBlock(w.x)
	blocks := (w.x.Rows + rows - 1) / rows
	workers = min(parallel.Workers(workers), max(1, w.x.Rows))
	if !number.IsFixed[T]() {
		workers = min(workers, max(1, blocks/2)) // a block takes 10 to 30 µs
	}
	w.room = workspace.Grow(w.room, max(len(w.room), workers))
	for i := range workers {
		if r := &w.room[i]; w.x.Cols < w.long {
			r.values = workspace.Grow(r.values, rows*w.x.Cols)
			r.maxima, r.sums = workspace.Grow(r.maxima, rows), workspace.Grow(r.sums, rows)
		}
	}
	parallel.Run(workers, blocks, w)
	*w = softmaxRowsPass[T]{room: w.room} // without the caller's storage
	workspace.Put(w)
}

// rowsInBlock returns the number of rows of x that a worker takes at a time: some 4096
// elements.
func rowsInBlock[T any](x rev.General[T]) int { return 1 + 4096/max(1, x.Cols) }

// Block works on a block of rows.
func (w *softmaxRowsPass[T]) Block(worker, b int) {
	n, c, room := rowsInBlock(w.x), w.x.Cols, &w.room[worker]
	lo, hi := b*n, min((b+1)*n, w.x.Rows)
	if c < w.long {
		room.compute(w.x, lo, hi)
		if w.y.Data != nil {
			w.addRows(room, lo, hi)
		}
	}
	if c < shortSoftmax && !w.logarithms && w.tx.Data == nil && w.gtx.Data == nil && !number.IsFixed[T]() {
		for i := lo; i < hi && w.gx.Data != nil && w.gy.Data != nil; i++ {
			shortGradient(w.gx.Row(i), w.gy.Row(i), room.values[(i-lo)*c:][:c], 1/room.sums[i-lo])
		}
		return
	}
	w.begin(&room.o)
	if c < w.long && w.y.Data != nil {
		room.o.y = rev.Vector[T]{}
		if !room.o.needed() {
			return
		}
	}
	s := &room.s
	*s = softmax[T]{x: rowIn(w.x, 0), kept: true, room: &room.softmaxRoom}
	for i := lo; i < hi; i++ {
		if c >= w.long {
			*s = newSoftmax(vector.Row(w.x, i), &room.softmaxRoom, room.o.needed())
		} else {
			s.x.Data, s.values = w.x.Row(i), room.values[(i-lo)*c:][:c]
			if w.logarithms { // others have no use for it, and addRows has overwritten it
				s.max = room.maxima[i-lo]
			}
			s.s, s.unit = room.sums[i-lo], 1/room.sums[i-lo]
		}
		w.row(i, s, &room.o)
	}
	*s, room.o = softmax[T]{}, softmaxPass[T]{} // without the caller's storage
}

// compute computes the exponentials of the rows lo, ..., hi-1 of x, and their sums.
func (r *rowsRoom[T]) compute(x rev.General[T], lo, hi int) {
	switch rows := any(x.Data[lo*x.Stride:]).(type) {
	case []float64:
		expRows(any(r).(*rowsRoom[float64]), rows, x.Cols, x.Stride, hi-lo)
	case []float32:
		expRows(any(r).(*rowsRoom[float32]), rows, x.Cols, x.Stride, hi-lo)
	}
}

func expRows[T rev.Float](r *rowsRoom[T], x []T, cols, stride, rows int) {
	maxima, sums := r.maxima[:rows], r.sums[:rows]
	vec.MaxRows(cols, x, stride, maxima)
	if cols >= shortSoftmax {
		vec.ExpRows(cols, r.values, cols, x, stride, maxima, sums)
		return
	}
	vec.SubColumn(cols, r.values, max(1, cols), x, stride, maxima)
	vec.Exp(r.values[:rows*cols], r.values[:rows*cols])
	vec.SumRows(cols, r.values, cols, sums)
}

// addRows adds the softmax of the rows lo, ..., hi-1 to Y. It overwrites the maxima.
func (w *softmaxRowsPass[T]) addRows(r *rowsRoom[T], lo, hi int) {
	units := r.maxima[:hi-lo]
	for i, s := range r.sums[:hi-lo] {
		units[i] = number.Signed(w.sign, 1/s)
	}
	switch y := any(w.y.Data[lo*w.y.Stride:]).(type) {
	case []float64:
		vec.AxpyRows(w.y.Cols, y, w.y.Stride, any(r.values).([]float64), w.y.Cols, any(units).([]float64))
	case []float32:
		vec.AxpyRows(w.y.Cols, y, w.y.Stride, any(r.values).([]float32), w.y.Cols, any(units).([]float32))
	}
}

// shortGradient adds the gradient of a short row of floats to gx. p are its exponentials, and unit is 1 over their sum. It
// has the bits of row, which takes longer than the elements.
func shortGradient[T rev.Real](gx, gy, p []T, unit T) {
	gx, gy = gx[:len(p)], gy[:len(p)]
	var d T
	for j, v := range p {
		d += T(v * gy[j])
	}
	d = T(d * unit)
	for j, v := range p {
		gx[j] += T(unit * T(v*(gy[j]-d)))
	}
}

// begin prepares for passes over rows.
func (w *softmaxRowsPass[T]) begin(o *softmaxPass[T]) {
	*o = softmaxPass[T]{sign: w.sign, tx: rowIn(w.tx, 0), gx: rowIn(w.gx, 0), gtx: rowIn(w.gtx, 0)}
	if w.logarithms {
		o.dropUnused(w.gl.Data != nil, w.gl.Data != nil || w.gtl.Data != nil, w.tl.Data != nil)
		return
	}
	o.y, o.ty, o.gy, o.gty = rowIn(w.y, 0), rowIn(w.ty, 0), rowIn(w.gy, 0), rowIn(w.gty, 0)
	o.omitForSoftmax()
}

// row makes the pass for row i.
func (w *softmaxRowsPass[T]) row(i int, s *softmax[T], o *softmaxPass[T]) {
	o.r, o.d, o.e = 0, 0, 0
	move := func(v *rev.Vector[T], m *rev.General[T]) {
		if v.Data != nil {
			v.Data = m.Data[i*m.Stride:][:m.Cols]
		}
	}
	move(&o.tx, &w.tx)
	move(&o.gx, &w.gx)
	move(&o.gtx, &w.gtx)
	if !w.logarithms {
		move(&o.y, &w.y)
		move(&o.ty, &w.ty)
		move(&o.gy, &w.gy)
		move(&o.gty, &w.gty)
		o.run(s)
		return
	}
	if w.l.Data != nil {
		w.l.Data[i*w.l.Inc] += number.Signed(w.sign, s.logSum())
	}
	if o.tx.Data == nil && o.gx.Data == nil && o.gtx.Data == nil {
		return
	}
	o.d, o.e = -vector.Element(w.gl, i), -vector.Element(w.gtl, i)
	s.forLogarithm()
	o.run(s)
	if w.tl.Data != nil && w.tx.Data != nil {
		w.tl.Data[i*w.tl.Inc] += number.Signed(w.sign, o.r)
	}
}

// rowIn returns row i of m, or nil if m is nil.
func rowIn[T any](m rev.General[T], i int) rev.Vector[T] {
	if m.Data == nil {
		return rev.Vector[T]{}
	}
	return vector.Row(m, i)
}
