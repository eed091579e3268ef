package revnn

import (
	"math"

	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Over floats, pools work on whole rows: first along the columns of a window, for all places of
// a plane and all columns, and then along its rows.

// floatPool is the scratch memory of a worker.
type floatPool[T rev.Float] struct {
	tall []T // a row for each row of places: sums or maxima along the columns of windows
	d, e []T // planes of places
}

// block computes block b of p.
func (w *floatPool[T]) block(p *poolPass[T], b int) {
	n, c := b/p.k.Channels, b%p.k.Channels
	in := func(m rev.General[T]) []T { return plane(m, n, c, p.rows.n*p.cols.n) }
	out := func(m rev.General[T]) []T { return plane(m, n, c, p.rows.places*p.cols.places) }
	x, gx, tx, gtx := in(p.k.X), in(p.g.X), in(p.t.X), in(p.gt.X)
	y, gy, ty, gty := out(p.k.Y), out(p.g.Y), out(p.t.Y), out(p.gt.Y)
	if !p.mean {
		w.addMaxima(p, x, gx, tx, gtx, y, gy, ty, gty)
		return
	}
	share := 1 / T(p.rows.size*p.cols.size)
	w.addMeans(&p.rows, &p.cols, T(p.sign)*share, y, x)
	w.addMeans(&p.rows, &p.cols, T(p.sign)*share, ty, tx)
	w.spread(&p.rows, &p.cols, share, gx, gy)
	w.spread(&p.rows, &p.cols, share, gtx, gty)
}

// addMeans adds alpha times the sums of windows of the plane x to y, unless one is nil.
func (w *floatPool[T]) addMeans(rows, cols *axis, alpha T, y, x []T) {
	if y == nil || x == nil {
		return
	}
	width, places := cols.n, cols.places
	w.tall, w.d = workspace.Zeros(w.tall, rows.places*width), workspace.Zeros(w.d, len(y))
	for u := range rows.size {
		if lo, hi := rows.inside(u, 0, rows.places); lo < hi {
			dense.AddRows(hi-lo, width, 1, x[rows.at(lo, u)*width:], rows.apart()*width, w.tall[lo*width:], width)
		}
	}
	for v := range cols.size {
		lo, hi := cols.inside(v, 0, places)
		if lo >= hi {
			continue
		}
		from, ld := w.tall[cols.at(lo, v):], width
		if cols.stride > 1 {
			w.e = workspace.Grow(w.e, len(y))
			dense.CopyRows(rows.places, hi-lo, w.e, places, from, width, cols.stride)
			from, ld = w.e, places
		}
		dense.AddRows(rows.places, hi-lo, 1, from, ld, w.d[lo:], places)
	}
	dense.AddRows(1, len(y), alpha, w.d, 0, y, 0)
}

// spread adds alpha times each element of y to its window in x, unless one is nil.
func (w *floatPool[T]) spread(rows, cols *axis, alpha T, x, y []T) {
	if y == nil || x == nil {
		return
	}
	width, places := cols.n, cols.places
	w.tall, w.d = workspace.Zeros(w.tall, rows.places*width), workspace.Zeros(w.d, len(y))
	dense.AddRows(1, len(y), alpha, y, 0, w.d, 0)
	for v := range cols.size {
		lo, hi := cols.inside(v, 0, places)
		if lo >= hi {
			continue
		}
		at := cols.at(lo, v)
		if cols.stride == 1 {
			dense.AddRows(rows.places, hi-lo, 1, w.d[lo:], places, w.tall[at:], width)
			continue
		}
		for i := range rows.places {
			to := w.tall[i*width+at : (i+1)*width]
			for j, q := lo, 0; j < hi && q < len(to); j, q = j+1, q+cols.stride {
				to[q] += w.d[i*places+j]
			}
		}
	}
	for u := range rows.size {
		if lo, hi := rows.inside(u, 0, rows.places); lo < hi {
			dense.AddRows(hi-lo, width, 1, w.tall[lo*width:], width, x[rows.at(lo, u)*width:], rows.apart()*width)
		}
	}
}

// apart returns the stride, or 0 if there is one place, whose stride may be larger than any
// plane.
func (a *axis) apart() int {
	if a.places == 1 {
		return 0
	}
	return a.stride
}

// addMaxima adds the derivatives of the maxima of a plane. Those of nil slices are left out.
func (w *floatPool[T]) addMaxima(p *poolPass[T], x, gx, tx, gtx, y, gy, ty, gty []T) {
	rows, cols := &p.rows, &p.cols
	sign := T(p.sign)
	width := cols.n
	w.tall = workspace.Grow(w.tall, width)
	derivatives := ty != nil && tx != nil || gy != nil && gx != nil || gty != nil && gtx != nil
	for i := range rows.places {
		top, bottom := rows.within(i)
		first := rows.at(i, top) * width
		tall := x[first:][:width]
		for u := top + 1; u < bottom; u++ {
			vec.MaxTo(w.tall, tall, x[first+(u-top)*width:][:width])
			tall = w.tall
		}
		for j := range cols.places {
			left, right := cols.within(j)
			at := cols.at(j, left)
			window := tall[at:][:right-left]
			m := window[0]
			for _, v := range window[1:] {
				m = max(m, v)
			}
			place := i*cols.places + j
			if y != nil {
				y[place] += T(sign * m)
			}
			if !derivatives {
				continue
			}
			k := p.first(x, m, i, j, first+at, bottom-top, right-left)
			if ty != nil && tx != nil {
				ty[place] += T(sign * tx[k])
			}
			if gy != nil && gx != nil {
				gx[k] += gy[place]
			}
			if gty != nil && gtx != nil {
				gtx[k] += gty[place]
			}
		}
	}
}

// first returns where in x the first element of a window is that equals its maximum m. It goes
// back from the last one, without branches that depend on elements.
func (w *poolPass[T]) first(x []T, m T, i, j, at, height, width int) int {
	if math.IsNaN(float64(m)) {
		return w.largest(x, i, j)
	}
	k := at
	for u := height - 1; u >= 0; u-- {
		row := x[at+u*w.cols.n:][:width]
		for v := len(row) - 1; v >= 0; v-- {
			if row[v] == m {
				k = at + u*w.cols.n + v
			}
		}
	}
	return k
}
