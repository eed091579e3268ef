package revnn

import (
	"cmp"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// LSTM is the kernel
//
//	Y_t += h_t,  C += c_T,  h_t = o∘tanh(c_t),  c_t = f∘c_{t-1} + i∘g,
//	i, f, o = σ(A_i), σ(A_f), σ(A_o),  g = tanh(A_g),  A = WX·x_t + BX + WH·h_{t-1} + BH
//
// of t = 1, ..., T: a layer of long short-term memory over sequences. Row t of X is the input of
// step t, and row t of Y its output. If Sequences is set, the rows of a step are so many, one for each
// sequence: X has the layout (T, N, d) of PyTorch. H0 and C0 have a row for each sequence. If H0 or C0
// is nil, h₀ or c₀ is 0, and a nil bias is 0. The last h is the last rows of Y. Only C has the last c.
//
// The weights are those of PyTorch: the rows of WX and WH are those of the gates i, f, g and o, in this
// order, and so are BX and BH. For several layers, the Y of one is the X of the next.
//
// With s′ the derivatives of σ and tanh at A and c, the adjoints are, from the last step to the first,
//
//	h̄_t = Ȳ_t + WHᵀ·Ā_{t+1},  c̄_t += h̄_t∘o∘tanh′,  Ā_o = h̄_t∘tanh(c_t)∘s′,
//	Ā_i = c̄_t∘g∘s′,  Ā_g = c̄_t∘i∘s′,  Ā_f = c̄_t∘c_{t-1}∘s′,  c̄_{t-1} = c̄_t∘f,
//	x̄_t += WXᵀ·Ā_t,  W̄X += Σ_t Ā_t·x_tᵀ,  W̄H += Σ_t Ā_t·h_{t-1}ᵀ,  B̄X, B̄H += Σ_t Ā_t,
//
// where c̄_T begins as C̄, H̄0 += h̄_0 and C̄0 += c̄_0. Tangents and second order are those of the same steps.
//
// All passes compute all steps, and keep 11 numbers for each element of Y, and of the Y of one step more, in
// scratch memory. Adjoint and Tangent take twice that, and AdjointTangent four times. For some 16 sequences
// and more, they also keep a copy of WH, and Tangent and AdjointTangent one of its tangent. Sums are those of MatMul, and functions those
// of Sigmoid and Tanh. A step therefore adds an error of (d+h+8)·ε·(|WX|·|x| + |BX| + |WH|·|h| + |BH|) to A at most, and what
// it makes of later steps depends on the weights. Inverse computes the same bits again, and restores Y
// and C as Axpy does. Workers share the products, and the sequences from 32 on.
//
// All passes panic with an error that wraps mat.ErrShape if Sequences does not divide the rows of X.
//
// Sources: S. Hochreiter and J. Schmidhuber, Long short-term memory, Neural Computation 9, 1997; F. A. Gers
// et al., Learning to forget, Neural Computation 12, 2000.
type LSTM[T rev.Real] struct {
	Y         rev.General[T] `rev:"acc" shape:"n,h"`
	C         rev.General[T] `rev:"acc" shape:"max(1,Sequences),h"`
	X         rev.General[T] `rev:"in" shape:"n,d"`
	H0        rev.General[T] `rev:"in,optional" shape:"max(1,Sequences),h"`
	C0        rev.General[T] `rev:"in,optional" shape:"max(1,Sequences),h"`
	WX        rev.General[T] `rev:"in" shape:"4*h,d"`
	WH        rev.General[T] `rev:"in" shape:"4*h,h"`
	BX        rev.Vector[T]  `rev:"in,optional" shape:"4*h"`
	BH        rev.Vector[T]  `rev:"in,optional" shape:"4*h"`
	Sequences int            // 0 means 1
	Workers   int            // 0 means GOMAXPROCS
}

// NewLSTM returns the kernel that adds to y, over gonum's types, sharing their storage. The vectors may be
// nil. It is of one sequence that begins with zeros. Set C, H0, C0 and Sequences in the kernel that it
// returns.
func NewLSTM(y, x, wx, wh *mat.Dense, bx, bh *mat.VecDense) LSTM[float64] {
	return LSTM[float64]{
		Y: rev.ViewDense(y), X: rev.ViewDense(x), WX: rev.ViewDense(wx), WH: rev.ViewDense(wh),
		BX: rev.ViewVec(bx), BH: rev.ViewVec(bh),
	}
}

// The matrices of LSTM: A of the gates, the gates, c, tanh(c) and h.
const (
	lstmA = 4 * iota
	lstmGates
	lstmC
	lstmTanh = lstmC + iota - 2
	lstmH

	lstmInput, lstmForget, lstmCandidate, lstmOutput = 0, 1, 2, 3 // gates
)

var lstmCell = recurrentCell{
	kernels: 12, matrices: lstmH + 1,
	input: []int{lstmA, lstmA + 1, lstmA + 2, lstmA + 3}, hidden: []int{lstmA, lstmA + 1, lstmA + 2, lstmA + 3},
	state: []int{lstmH, lstmC},
}

// lstmStep runs kernel i of step t.
func lstmStep[T rev.Real](w *recurrence[T], t, i int) {
	gate := i % 4
	switch {
	case i < 4:
		w.product(gate, t, 1, false)
	case i < 8 && gate == lstmCandidate:
		w.tanh(place{lstmGates + gate, t}, place{lstmA + gate, t})
	case i < 8:
		w.sigmoid(place{lstmGates + gate, t}, place{lstmA + gate, t})
	case i == 8:
		w.multiply(place{lstmC, t}, place{lstmGates + lstmForget, t}, place{lstmC, t - 1})
	case i == 9:
		w.multiply(place{lstmC, t}, place{lstmGates + lstmInput, t}, place{lstmGates + lstmCandidate, t})
	case i == 10:
		w.tanh(place{lstmTanh, t}, place{lstmC, t})
	default:
		w.multiply(place{lstmH, t}, place{lstmGates + lstmOutput, t}, place{lstmTanh, t})
	}
}

// lstmRun is Run of LSTM. It returns no error.
func lstmRun[T rev.Real](k *LSTM[T], p *rev.Pass[LSTM[T]]) error {
	checkGroups[LSTM[T]]("X", k.X.Rows, cmp.Or(k.Sequences, 1), "rows of so many sequences")
	w := workspace.Get[*recurrence[T]]()
	w.cell, w.sequences, w.cols, w.workers = &lstmCell, max(1, k.Sequences), k.WH.Cols, k.Workers
	lstmOperands(k, &w.k)
	lstmOperands(&p.G, &w.g)
	lstmOperands(&p.T, &w.t)
	lstmOperands(&p.GT, &w.gt)
	w.run(p.Sign(), p.Tangent, p.Adjoint)
	workspace.Put(w)
	return nil
}

func lstmOperands[T rev.Real](k *LSTM[T], s *recurrentSide[T]) {
	s.y, s.x, s.wx, s.wh, s.bx, s.bh = k.Y, k.X, k.WX, k.WH, k.BX, k.BH
	s.last, s.first = [2]rev.General[T]{{}, k.C}, [2]rev.General[T]{k.H0, k.C0}
}
