package revnn

import (
	"revnum/internal/workspace"
	"revnum/rev"
)

// SoftmaxRows is the kernel
//
//	Y_i += softmax(X_i)
//
// for each row i of a matrix. Softmax states the equations, the bounds and the results for
// infinities. Workers share the rows.
type SoftmaxRows[T rev.Real] struct {
	Y       rev.General[T] `rev:"acc" shape:"n,c"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	Workers int            // 0 means GOMAXPROCS
}

// softmaxRowsRun is Run of SoftmaxRows. It returns no error.
func softmaxRowsRun[T rev.Real](k *SoftmaxRows[T], p *rev.Pass[SoftmaxRows[T]]) error {
	w := workspace.Get[*softmaxRowsPass[T]]()
	*w = softmaxRowsPass[T]{
		sign: p.Sign(), x: k.X, gx: p.G.X, tx: p.T.X, gtx: p.GT.X,
		y: k.Y, gy: p.G.Y, ty: p.T.Y, gty: p.GT.Y, long: longSoftmax, room: w.room,
	}
	w.run(k.Workers)
	return nil
}
