package revnn

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// LogSumExpRows is the kernel
//
//	y_i += log Σ_j exp(X_ij)
//
// for each row i of a matrix. LogSumExp states the equations, the results for infinities,
// and the bounds in fixed point. In floating point, the sum of a row of c elements is within
// (c + 4)·ε and the rounding of max + log s. A gradient is within (c + 4)·ε and the rounding
// of X_ij - max_j X_ij. Workers share the rows.
type LogSumExpRows[T rev.Real] struct {
	Y       rev.Vector[T]  `rev:"acc" shape:"n"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Workers int            // 0 means GOMAXPROCS
}

// NewLogSumExpRows returns the kernel over gonum's types, sharing their storage.
func NewLogSumExpRows(y *mat.VecDense, x *mat.Dense) LogSumExpRows[float64] {
	return LogSumExpRows[float64]{Y: rev.ViewVec(y), X: rev.ViewDense(x)}
}

// Forward adds log Σ exp of each row.
func (k LogSumExpRows[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse subtracts log Σ exp of each row.
func (k LogSumExpRows[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint does what Inverse does, and adds the gradient of each row.
func (k LogSumExpRows[T]) Adjoint(g LogSumExpRows[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent does what Forward does, and adds the tangent of each row.
func (k LogSumExpRows[T]) Tangent(t LogSumExpRows[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Y, and adds the
// tangent of the gradient in gt.
func (k LogSumExpRows[T]) AdjointTangent(g, t, gt LogSumExpRows[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k LogSumExpRows[T]) Run(p rev.Pass[LogSumExpRows[T]]) error {
	w := workspace.Get[logSumExpRows[T]]()
	workers := parallel.Workers(k.Workers)
	*w = logSumExpRows[T]{k, p, w.room}
	if !byRow(k.X, longLogSumExp) {
		w.room = growRows(w.room, workers, k.X)
	}
	parallel.Run(workers, rowBlocks(k.X), w)
	*w = logSumExpRows[T]{room: w.room} // without the caller's storage
	workspace.Put(w)
	return nil
}

// A logSumExpRows is a pass of LogSumExpRows in progress.
type logSumExpRows[T rev.Real] struct {
	k LogSumExpRows[T]
	p rev.Pass[LogSumExpRows[T]]

	room []rowExponentials[T] // of each worker
}

// Block works on a block of rows.
func (w *logSumExpRows[T]) Block(worker, b int) {
	apart := byRow(w.k.X, longLogSumExp)
	lo, hi := rowsOfBlock(w.k.X, b)
	if !apart {
		w.room[worker].compute(w.k.X, lo, hi)
	}
	for i := lo; i < hi; i++ {
		if !apart && w.add(&w.room[worker], lo, i) {
			continue
		}
		k := w.k.row(i)
		k.runPieces(rev.Pass[LogSumExp[T]]{
			Back: w.p.Back, Adjoint: w.p.Adjoint, Tangent: w.p.Tangent,
			G: w.p.G.row(i), T: w.p.T.row(i), GT: w.p.GT.row(i),
		})
	}
}

// add makes the pass for row i, of a block that begins with row lo. It does nothing and
// returns false if an exponential is not finite.
func (w *logSumExpRows[T]) add(r *rowExponentials[T], lo, i int) bool {
	p, s, ok := r.sum(w.k.X.Cols, i-lo)
	if !ok || len(p) == 0 {
		return false
	}
	k, g, t, gt, sign := &w.k, &w.p.G, &w.p.T, &w.p.GT, w.p.Sign()
	if k.Y.Data != nil {
		k.Y.Data[i*k.Y.Inc] += number.Signed(sign, r.maxima[i-lo]+T(math.Log(float64(s))))
	}
	if g.X.Data == nil && t.X.Data == nil && gt.X.Data == nil {
		return true
	}
	normalise(p, s)
	var tau T
	if t.X.Data != nil {
		tau = dotOf(p, t.X.Row(i))
		if t.Y.Data != nil {
			t.Y.Data[i*t.Y.Inc] += number.Signed(sign, tau)
		}
	}
	gy, gty := vector.Element(g.Y, i), vector.Element(gt.Y, i)
	if g.X.Data != nil {
		gx := g.X.Row(i)
		for j, v := range p {
			gx[j] += T(v * gy)
		}
	}
	if gt.X.Data != nil {
		gtx := gt.X.Row(i)
		for j, v := range p {
			d := gty
			if t.X.Data != nil {
				d += T(gy * (t.X.Row(i)[j] - tau))
			}
			gtx[j] += T(v * d)
		}
	}
	return true
}

// row returns the kernel of row i.
func (k *LogSumExpRows[T]) row(i int) LogSumExp[T] {
	r := LogSumExp[T]{X: rowIn(k.X, i)}
	if k.Y.Data != nil {
		r.Out = &k.Y.Data[i*k.Y.Inc]
	}
	return r
}
