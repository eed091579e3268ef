package revnn

import (
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

// logSumExpRowsRun is Run of LogSumExpRows. It returns no error.
func logSumExpRowsRun[T rev.Real](k *LogSumExpRows[T], p *rev.Pass[LogSumExpRows[T]]) error {
	w := workspace.Get[*softmaxRowsPass[T]]()
	*w = softmaxRowsPass[T]{
		sign: p.Sign(), x: k.X, gx: p.G.X, tx: p.T.X, gtx: p.GT.X,
		logarithms: true, l: k.Y, gl: p.G.Y, tl: p.T.Y, gtl: p.GT.Y, long: longLogSumExp, room: w.room,
	}
	w.run(k.Workers)
	return nil
}
