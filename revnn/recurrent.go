package revnn

import (
	"slices"

	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revlinalg"
)

// A recurrence is a pass of LSTM or GRU in progress. A step of these is a list of kernels of this library,
// each of which adds to a matrix that begins as zeros. Forward runs the lists of all steps. The gradient
// runs the adjoints of the same kernels from the last to the first, and the tangent of the gradient their
// second order. All matrices are kept in between.
//
// A matrix has a block of rows for each step, and a first one for the state before them. A block has a
// row for each sequence, and the columns of the state.
type recurrence[T rev.Real] struct {
	k, g, t, gt recurrentSide[T]

	cell                       *recurrentCell
	steps, sequences, cols     int
	first, count               int // of the sequences that kernels take
	workers                    int
	tangent, back, transposing bool // back: kernels run their adjoints

	parts []recurrence[T] // of workers that share the sequences
}

// A recurrentCell says which matrices a cell has, by their numbers.
type recurrentCell struct {
	kernels, matrices int
	input, hidden     []int // of each gate: what X·Wᵀ and H·Wᵀ are added to
	state             []int // H and, if there is one, C
}

// A recurrentSide has the operands or their derivatives, and the matrices.
type recurrentSide[T rev.Real] struct {
	y, x, wx, wh rev.General[T]
	bx, bh       rev.Vector[T]
	last, first  [2]rev.General[T] // of each state; the last H is in y

	data    []T // the matrices, one after the other
	turned  []T // the transpose of wh
	present bool
	output  bool // kernels write the matrices
}

// recurrentRows is the least number of sequences for which the weights of the state are transposed once.
// Products of fewer rows take them as they are.
const recurrentRows = dense.GemmRows

// run makes a pass.
func (w *recurrence[T]) run(sign int, tangent, adjoint bool) {
	w.steps = w.k.x.Rows / w.sequences
	w.first, w.count = 0, w.sequences
	if w.steps > 0 {
		w.runSteps(sign, tangent, adjoint)
	} else { // no operand may have the size of the matrices
		s := number.Signed(sign, number.One[T]())
		addBlock(s, w.k.first[1], w.k.last[1])
		addBlock(s, w.t.first[1], w.t.last[1])
		addBlock(number.One[T](), w.g.last[1], w.g.first[1])
		addBlock(number.One[T](), w.gt.last[1], w.gt.first[1])
	}
	for _, s := range [...]*recurrentSide[T]{&w.k, &w.g, &w.t, &w.gt} { // without the caller's storage
		*s = recurrentSide[T]{data: s.data, turned: s.turned}
	}
}

// runSteps is run for one step or more.
func (w *recurrence[T]) runSteps(sign int, tangent, adjoint bool) {
	one := number.One[T]()
	w.tangent, w.back = tangent, false
	w.transposing = w.sequences >= recurrentRows && !number.IsFixed[T]()
	w.start(&w.k, true)
	w.start(&w.t, tangent)
	for gate := range w.cell.input {
		w.inputs(gate)
	}
	w.allSteps()
	w.addOutputs(&w.k, sign, false)
	w.addOutputs(&w.t, sign, false)
	if adjoint {
		w.back, w.k.output, w.t.output = true, false, false
		w.start(&w.g, true)
		w.start(&w.gt, tangent)
		w.addOutputs(&w.g, 1, true)
		w.addOutputs(&w.gt, 1, true)
		w.allSteps()
		for gate := range w.cell.input {
			w.product(gate, 1, w.steps, true)
			w.inputs(gate)
		}
		for i, m := range w.cell.state {
			addBlock(one, w.g.rows(w, m, 0, 1), w.g.first[i])
			addBlock(one, w.gt.rows(w, m, 0, 1), w.gt.first[i])
		}
	}
}

// allSteps runs the kernels of all steps. Workers share the sequences if these are many: no kernel of a
// step adds one to another, and products of at least GemmRows rows have the bits of more. If there are more
// workers than parts, those of a part share its products.
func (w *recurrence[T]) allSteps() {
	w.share()
	if len(w.parts) == 0 {
		w.ownSteps()
		return
	}
	parallel.Run(len(w.parts), len(w.parts), w)
	clear(w.parts)
}

// share makes the parts, or none.
func (w *recurrence[T]) share() {
	workers := parallel.Workers(w.workers)
	parts := min(workers, w.sequences/dense.GemmRows)
	if parts <= 1 || float64(w.steps)*float64(w.sequences)*float64(w.cols)*float64(w.cols) < sharedSteps {
		parts = 0
	}
	w.parts = workspace.Grow(w.parts, parts)
	for i := range w.parts {
		from, to := i*w.sequences/parts, (i+1)*w.sequences/parts
		p := &w.parts[i]
		*p = *w
		p.first, p.count, p.workers, p.parts = from, to-from, workers/parts, nil
	}
}

// Below sharedSteps multiplications for a gate, finding another worker takes longer.
const sharedSteps = 1 << 16

// Block implements parallel.Task.
func (w *recurrence[T]) Block(_, part int) { w.parts[part].ownSteps() }

// ownSteps runs the kernels of all steps for the sequences of w.
func (w *recurrence[T]) ownSteps() {
	sides := [...]*recurrentSide[T]{&w.k, &w.t}
	if w.back {
		sides = [...]*recurrentSide[T]{&w.g, &w.gt}
	}
	for n := range w.steps {
		t := n + 1
		if w.back {
			t = w.steps - n
		}
		for m := range w.cell.matrices {
			for _, s := range sides {
				if !w.early(m) {
					clear(s.rows(w, m, t, 1).Data)
				}
			}
		}
		for i := range w.cell.kernels {
			if w.back {
				i = w.cell.kernels - 1 - i
			}
			w.step(t, i)
		}
	}
}

// step runs kernel i of step t.
func (w *recurrence[T]) step(t, i int) {
	if w.cell == &gruCell {
		gruStep(w, t, i)
	} else {
		lstmStep(w, t, i)
	}
}

// start makes the matrices of a side, with the states before the first step.
func (w *recurrence[T]) start(s *recurrentSide[T], present bool) {
	s.present, s.output = present, present
	if !present {
		return
	}
	s.data = workspace.Grow(s.data, w.cell.matrices*(w.steps+1)*w.sequences*w.cols)
	for m := range w.cell.matrices {
		if w.early(m) {
			clear(s.rows(w, m, 0, w.steps+1).Data)
		} else {
			clear(s.rows(w, m, 0, 1).Data)
		}
	}
	if w.back {
		return
	}
	for i, m := range w.cell.state {
		addBlock(number.One[T](), s.first[i], s.rows(w, m, 0, 1))
	}
	if w.transposing && s.wh.Data != nil {
		s.turned = workspace.Grow(s.turned, s.wh.Cols*s.turnedStride())
		switch to := any(s.turned).(type) {
		case []float64:
			dense.Transpose(to, s.turnedStride(), number.As[[]float64](s.wh.Data), s.wh.Stride, s.wh.Rows, s.wh.Cols)
		case []float32:
			dense.Transpose(to, s.turnedStride(), number.As[[]float32](s.wh.Data), s.wh.Stride, s.wh.Rows, s.wh.Cols)
		}
	}
}

// early reports whether a matrix is added to before the steps. The others become zeros step by step, when they
// are in a cache.
func (w *recurrence[T]) early(matrix int) bool {
	if w.back {
		return slices.Contains(w.cell.state, matrix)
	}
	return slices.Contains(w.cell.input, matrix) || slices.Contains(w.cell.hidden, matrix)
}

// turnedStride returns the stride of the transpose of wh, which lets rows lie in different sets of a cache.
func (s *recurrentSide[T]) turnedStride() int { return s.wh.Rows + 16 }

// addOutputs adds sign times the states to the outputs or, turned round, the cotangents of outputs to
// those of the states.
func (w *recurrence[T]) addOutputs(s *recurrentSide[T], sign int, round bool) {
	for i, m := range w.cell.state {
		from, to := s.rows(w, m, w.steps, 1), s.last[i]
		if i == 0 {
			from, to = s.rows(w, m, 1, w.steps), s.y
		}
		if round {
			from, to = to, from
		}
		addBlock(number.Signed(sign, number.One[T]()), from, to)
	}
}

// addBlock computes y += alpha·x. It does nothing if one of them is nil.
func addBlock[T rev.Real](alpha T, x, y rev.General[T]) {
	for i := 0; i < y.Rows && x.Data != nil && y.Data != nil; i++ {
		vector.Axpy(alpha, vector.Row(x, i), vector.Row(y, i))
	}
}

// rows returns the blocks of a matrix from that of step t on. If count is less than sequences, steps is 1.
func (s *recurrentSide[T]) rows(w *recurrence[T], matrix, t, steps int) (m rev.General[T]) {
	if !s.present {
		return m
	}
	block := w.sequences * w.cols
	n := (steps-1)*w.sequences + w.count
	return rev.NewGeneral(n, w.cols, s.data[(matrix*(w.steps+1)+t)*block+w.first*w.cols:][:n*w.cols])
}

// A place is a block of a matrix.
type place struct{ matrix, step int }

func (s *recurrentSide[T]) at(w *recurrence[T], p place) (v rev.Vector[T]) {
	if s.present {
		v = rev.ViewSlice(s.rows(w, p.matrix, p.step, 1).Data)
	}
	return v
}

// to returns a block that a kernel adds to.
func (s *recurrentSide[T]) to(w *recurrence[T], p place) (v rev.Vector[T]) {
	if s.output {
		v = s.at(w, p)
	}
	return v
}

// passOf returns the pass that kernels run.
func passOf[T rev.Real, K any](w *recurrence[T], of func(s *recurrentSide[T]) K) (p rev.Pass[K]) {
	p.Adjoint, p.Tangent = w.back, w.tangent
	if w.back {
		p.G = of(&w.g)
	}
	if w.tangent {
		p.T = of(&w.t)
	}
	if w.back && w.tangent {
		p.GT = of(&w.gt)
	}
	return p
}

// multiply runs z += x∘y.
func (w *recurrence[T]) multiply(z, x, y place) {
	of := func(s *recurrentSide[T]) revlinalg.MulElem[T] {
		return revlinalg.MulElem[T]{Z: s.to(w, z), X: s.at(w, x), Y: s.at(w, y), Workers: 1}
	}
	_ = of(&w.k).Run(passOf(w, of))
}

// sigmoid runs y += σ(x).
func (w *recurrence[T]) sigmoid(y, x place) {
	of := func(s *recurrentSide[T]) Sigmoid[T] {
		return Sigmoid[T]{Y: s.to(w, y), X: s.at(w, x), Workers: 1}
	}
	_ = of(&w.k).Run(passOf(w, of))
}

// tanh runs y += tanh(x).
func (w *recurrence[T]) tanh(y, x place) {
	of := func(s *recurrentSide[T]) Tanh[T] {
		return Tanh[T]{Y: s.to(w, y), X: s.at(w, x), Workers: 1}
	}
	_ = of(&w.k).Run(passOf(w, of))
}

// add runs y += sign·x.
func (w *recurrence[T]) add(y place, sign int, x place) {
	of := func(s *recurrentSide[T]) revlinalg.Axpy[T] { return revlinalg.Axpy[T]{Y: s.to(w, y), X: s.at(w, x)} }
	alpha := number.Signed(sign, number.One[T]())
	k := of(&w.k)
	k.Alpha = &alpha
	_ = k.Run(passOf(w, of))
}

// product runs the product of the states before some steps with the weights of a gate. The weights have
// no gradients in it, unless it is for these alone.
func (w *recurrence[T]) product(gate, t, steps int, weights bool) {
	of := func(s *recurrentSide[T]) (k revlinalg.MatMul[T]) {
		gradient := s == &w.g || s == &w.gt
		k.Workers = w.workers
		if s.output {
			k.C = s.rows(w, w.cell.hidden[gate], t, steps)
		}
		if !gradient || !weights {
			k.A = s.rows(w, w.cell.state[0], t-1, steps)
		}
		if gradient && !weights || s.wh.Data == nil {
			return k
		}
		k.B, k.TransB = gateRows(s.wh, gate, w.cols), true
		if w.transposing && !w.back {
			k.B = rev.General[T]{Rows: w.cols, Cols: w.cols, Stride: s.turnedStride(), Data: s.turned[gate*w.cols:]}
			k.TransB = false
		}
		return k
	}
	_ = of(&w.k).Run(passOf(w, of))
}

// inputs runs the product of all inputs with the weights of a gate, and adds the biases.
func (w *recurrence[T]) inputs(gate int) {
	in, hidden := w.cell.input[gate], w.cell.hidden[gate]
	var without struct{ x, weights bool } // gradients
	of := func(s *recurrentSide[T]) revlinalg.MatMul[T] {
		k := revlinalg.MatMul[T]{A: s.x, B: gateRows(s.wx, gate, w.cols), TransB: true, Workers: w.workers}
		if s.output {
			k.C = s.rows(w, in, 1, w.steps)
		}
		if gradient := s == &w.g || s == &w.gt; gradient && without.x {
			k.A = rev.General[T]{}
		} else if gradient && without.weights {
			k.B = rev.General[T]{}
		}
		return k
	}
	if x, wx := w.k.x.Data, w.k.wx.Data; w.back && len(x) > 0 && len(wx) > 0 && &x[0] == &wx[0] {
		// If X is WX, their gradients may be one, of which workers must not add to several parts at once.
		without.weights = true
		_ = of(&w.k).Run(passOf(w, of))
		without.x, without.weights = true, false
	}
	_ = of(&w.k).Run(passOf(w, of))
	sides := [...]*recurrentSide[T]{&w.k, &w.t}
	if w.back {
		sides = [...]*recurrentSide[T]{&w.g, &w.gt}
	}
	for _, s := range sides {
		for _, b := range [...]struct {
			bias   rev.Vector[T]
			matrix int
		}{{s.bx, in}, {s.bh, hidden}} {
			bias, m := vector.Between(b.bias, gate*w.cols, w.cols), s.rows(w, b.matrix, 1, w.steps)
			if w.back {
				addRows(m, bias)
			} else {
				addToRows(1, bias, m)
			}
		}
	}
}

// gateRows returns the weights of a gate.
func gateRows[T rev.Real](m rev.General[T], gate, n int) rev.General[T] {
	if m.Data != nil {
		m.Rows = n
	}
	if m.Cols > 0 && m.Data != nil {
		m.Data = m.Data[gate*n*m.Stride:]
	}
	return m
}
