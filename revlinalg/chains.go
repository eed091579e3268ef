package revlinalg

import (
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/workspace"
	"revnum/rev"
)

// chains record the plane rotations of sweeps over the rows of a matrix. A sweep rotates rows
// i and i+1 for i = hi-1, ..., lo. Successive sweeps are a run of dense.Rotations, which
// loads and stores a row once for all of them. Chain q of a run begins at row top+q, and
// ends at row first+q. Rotations by 0 fill it at both ends, so chainPad rows above and
// below the matrix take part.
type chains struct {
	rotations dense.Rotations[float64]
	runs      []chainRun
	sweeps    int // of the last run
	most      int // number of runs for which there is room, with one to spare
}

type chainRun struct {
	first, top, length int // length is that of the first sweep
	ends               [dense.RotateChains]int
}

const (
	chainPad  = dense.RotateChains - 1
	chainRoom = 1 << 15 // coefficients of all runs
	chainCols = 32      // columns of a matrix that are rotated at a time
)

// begin removes all rotations. The matrix has n rows.
func (c *chains) begin(n int) {
	c.rotations.Ld = n + 2*chainPad
	c.most = max(2, chainRoom/(dense.RotateChains*c.rotations.Ld))
	size := (c.most + 1) * dense.RotateChains * c.rotations.Ld
	c.rotations.C, c.rotations.S = workspace.Grow(c.rotations.C, size), workspace.Grow(c.rotations.S, size)
	c.runs, c.sweeps = c.runs[:0], dense.RotateChains
}

// full reports whether there may be no room for another sweep.
func (c *chains) full() bool {
	return len(c.runs) > c.most || len(c.runs) == c.most && c.sweeps == dense.RotateChains
}

// sweep returns where the cosines and sines of the next sweep go.
func (c *chains) sweep(lo, hi int) (cosines, sines []float64) {
	if c.sweeps < dense.RotateChains {
		// A sweep that does not fit, or is much shorter, begins another run.
		if r := &c.runs[len(c.runs)-1]; hi-1 > r.top || hi-lo < r.length/2 {
			c.finish()
		}
	}
	if c.sweeps == dense.RotateChains {
		c.runs = append(c.runs, chainRun{first: lo, top: hi - 1, length: hi - lo})
		c.sweeps = 0
	}
	r, q := &c.runs[len(c.runs)-1], c.sweeps
	r.first = min(r.first, lo-q)
	from, to := r.top+q-(hi-1), r.top+q-lo+1
	r.ends[q] = to
	c.identity(q, 0, from)
	c.sweeps++
	if c.sweeps == dense.RotateChains {
		c.fill()
	}
	cosines, sines = c.chain(q)
	return cosines[from:to], sines[from:to]
}

// finish completes the last run.
func (c *chains) finish() {
	if c.sweeps < dense.RotateChains {
		r := &c.runs[len(c.runs)-1]
		clear(r.ends[c.sweeps:])
		c.sweeps = dense.RotateChains
		c.fill()
	}
}

// fill ends the chains of the last run with rotations by 0.
func (c *chains) fill() {
	r := &c.runs[len(c.runs)-1]
	for q, end := range r.ends {
		c.identity(q, end, r.steps())
	}
}

func (r *chainRun) steps() int { return r.top - r.first + 1 }

// identity sets coefficients of chain q of the last run to those of a rotation by 0.
func (c *chains) identity(q, from, to int) {
	cosines, sines := c.chain(q)
	for i := from; i < to; i++ {
		cosines[i], sines[i] = 1, 0
	}
}

// chain returns the coefficients of chain q of the last run.
func (c *chains) chain(q int) (cosines, sines []float64) {
	at := ((len(c.runs)-1)*dense.RotateChains + q) * c.rotations.Ld
	return c.rotations.C[at:][:c.rotations.Ld], c.rotations.S[at:][:c.rotations.Ld]
}

// apply applies all rotations to some columns of a matrix. x holds chainPad rows above and
// below the matrix too.
func (c *chains) apply(x rev.General[float64], lo, cols int) {
	for i := range c.runs {
		r := &c.runs[i]
		run := dense.Run{At: i * dense.RotateChains * c.rotations.Ld, Chains: dense.RotateChains, Steps: r.steps()}
		c.rotations.Forward(run, x.Data[(r.first+chainPad)*x.Stride+lo:], x.Stride, cols)
	}
}

// A sweeper makes sweeps of plane rotations. It adds them to chains, for the rows of one
// matrix or of two, until these are full. It reports whether there are more.
type sweeper interface {
	sweep(to *[2]chains) (more bool)
}

// rotatedRows applies the rotations of a sweeper to the rows of up to two matrices. The
// rotations do not depend on the matrices. While some workers apply a batch of rotations,
// another makes the next batch.
type rotatedRows struct {
	sweeps  sweeper
	x       [2]rev.General[float64] // with chainPad rows above and below the matrix
	batches [2][2]chains            // the current batch and the next one
	makes   bool                    // block 0 makes the next batch
	more    bool
}

// rotateAlone is the order up to which one worker does everything.
const rotateAlone = 128

// run makes all sweeps, over matrices of n rows. x or y may be nil.
func (w *rotatedRows) run(workers, n int, s sweeper, x, y rev.General[float64]) {
	w.sweeps, w.x = s, [2]rev.General[float64]{x, y}
	for i := range w.batches {
		for j := range w.batches[i] {
			w.batches[i][j].begin(n)
		}
	}
	workers = workersAbove(rotateAlone, n, workers)
	for w.makes = true; w.makes || len(w.batches[0][0].runs) > 0; w.makes = w.more {
		w.more = false
		blocks := strips(x) + strips(y)
		if w.makes {
			blocks++
		}
		parallel.Run(workers, blocks, w)
		w.batches[0], w.batches[1] = w.batches[1], w.batches[0]
		for j := range w.batches[1] {
			w.batches[1][j].begin(n)
		}
	}
	w.sweeps, w.x = nil, [2]rev.General[float64]{}
}

// strips returns the number of parts of x that are rotated one after the other.
func strips(x rev.General[float64]) int { return (x.Cols + chainCols - 1) / chainCols }

// Block makes the next batch, or applies the current one to a strip.
func (w *rotatedRows) Block(_, b int) {
	if w.makes {
		b--
	}
	if b < 0 {
		w.more = w.sweeps.sweep(&w.batches[1])
		return
	}
	i := 0
	if b >= strips(w.x[0]) {
		b -= strips(w.x[0])
		i = 1
	}
	lo := b * chainCols
	w.batches[0][i].apply(w.x[i], lo, min(chainCols, w.x[i].Cols-lo))
}
