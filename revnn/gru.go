package revnn

import (
	"cmp"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// GRU is the kernel
//
//	Y_t += h_t,  h_t = n + z∘(h_{t-1} - n),  n = tanh(A_n + r∘B_n),
//	r, z = σ(A_r + B_r), σ(A_z + B_z),  A = WX·x_t + BX,  B = WH·h_{t-1} + BH
//
// of t = 1, ..., T: a layer of gated recurrent units over sequences. The layouts, and what a nil operand
// means, are those of [LSTM]. The rows of the weights are those of the gates r, z and n, in this order, as in
// PyTorch, where the reset gate r multiplies the product and its bias. (Cho et al. multiply h_{t-1} by r.)
//
// With s′ the derivatives of σ and tanh, the adjoints are, from the last step to the first,
//
//	h̄_t = Ȳ_t + z_{t+1}∘h̄_{t+1} + WHᵀ·B̄_{t+1},  z̄ = h̄_t∘(h_{t-1} - n),  n̄ = h̄_t - z∘h̄_t,
//	Ā_n = n̄∘s′,  B̄_n = r∘Ā_n,  Ā_r = B̄_r = Ā_n∘B_n∘s′,  Ā_z = B̄_z = z̄∘s′,
//	x̄_t += WXᵀ·Ā_t,  W̄X += Σ_t Ā_t·x_tᵀ,  W̄H += Σ_t B̄_t·h_{t-1}ᵀ,  B̄X += Σ_t Ā_t,  B̄H += Σ_t B̄_t,
//
// and H̄0 += h̄_0. Tangents and second order are those of the same steps. Scratch memory is as for LSTM, with
// 9 numbers for each element. So are rounding, workers and panics.
//
// Source: K. Cho et al., Learning phrase representations using RNN encoder-decoder, arXiv 1406.1078.
type GRU[T rev.Real] struct {
	Y         rev.General[T] `rev:"acc" shape:"n,h"`
	X         rev.General[T] `rev:"in" shape:"n,d"`
	H0        rev.General[T] `rev:"in,optional" shape:"max(1,Sequences),h"`
	WX        rev.General[T] `rev:"in" shape:"3*h,d"`
	WH        rev.General[T] `rev:"in" shape:"3*h,h"`
	BX        rev.Vector[T]  `rev:"in,optional" shape:"3*h"`
	BH        rev.Vector[T]  `rev:"in,optional" shape:"3*h"`
	Sequences int            // 0 means 1
	Workers   int            // 0 means GOMAXPROCS
}

// NewGRU returns the kernel that adds to y, over gonum's types, sharing their storage. The vectors may be nil.
// It is of one sequence that begins with zeros. Set H0 and Sequences in the kernel that it returns.
func NewGRU(y, x, wx, wh *mat.Dense, bx, bh *mat.VecDense) GRU[float64] {
	return GRU[float64]{
		Y: rev.ViewDense(y), X: rev.ViewDense(x), WX: rev.ViewDense(wx), WH: rev.ViewDense(wh),
		BX: rev.ViewVec(bx), BH: rev.ViewVec(bh),
	}
}

// The matrices of GRU: what is under the functions of the gates, B_n, the gates, h_{t-1} - n and h.
const (
	gruA = iota * 4
	gruGates
	gruB          = 3
	gruDifference = gruGates + 3
	gruH          = gruGates + 4

	gruReset, gruUpdate, gruCandidate = 0, 1, 2 // gates
)

var gruCell = recurrentCell{
	kernels: 11, matrices: gruH + 1,
	input: []int{gruA, gruA + 1, gruA + 2}, hidden: []int{gruA, gruA + 1, gruB},
	state: []int{gruH},
}

// gruStep runs kernel i of step t.
func gruStep[T rev.Real](w *recurrence[T], t, i int) {
	h, before, n := place{gruH, t}, place{gruH, t - 1}, place{gruGates + gruCandidate, t}
	difference, z := place{gruDifference, t}, place{gruGates + gruUpdate, t}
	switch i {
	case 0, 1, 2:
		w.product(i, t, 1, false)
	case 3, 4:
		w.sigmoid(place{gruGates + i - 3, t}, place{gruA + i - 3, t})
	case 5:
		w.multiply(place{gruA + gruCandidate, t}, place{gruGates + gruReset, t}, place{gruB, t})
	case 6:
		w.tanh(n, place{gruA + gruCandidate, t})
	case 7:
		w.add(difference, 1, before)
	case 8:
		w.add(difference, -1, n)
	case 9:
		w.add(h, 1, n)
	default:
		w.multiply(h, z, difference)
	}
}

// gruRun is Run of GRU. It returns no error.
func gruRun[T rev.Real](k *GRU[T], p *rev.Pass[GRU[T]]) error {
	checkGroups[GRU[T]]("X", k.X.Rows, cmp.Or(k.Sequences, 1), "rows of so many sequences")
	w := workspace.Get[*recurrence[T]]()
	w.cell, w.sequences, w.cols, w.workers = &gruCell, max(1, k.Sequences), k.WH.Cols, k.Workers
	gruOperands(k, &w.k)
	gruOperands(&p.G, &w.g)
	gruOperands(&p.T, &w.t)
	gruOperands(&p.GT, &w.gt)
	w.run(p.Sign(), p.Tangent, p.Adjoint)
	workspace.Put(w)
	return nil
}

func gruOperands[T rev.Real](k *GRU[T], s *recurrentSide[T]) {
	s.y, s.x, s.wx, s.wh, s.bx, s.bh = k.Y, k.X, k.WX, k.WH, k.BX, k.BH
	s.last, s.first = [2]rev.General[T]{}, [2]rev.General[T]{k.H0}
}
