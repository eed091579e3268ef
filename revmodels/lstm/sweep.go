package lstm

import (
	"math"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/lstm/internal/cells"
)

// A sweep is a pass over the sequence in float64, layer by layer. Rows have ld
// elements, of which the first bits are in use; the others hold zeros, and are computed
// too. The layout of weights is that of package cells.
type sweep struct {
	layers, steps, bits, ld int

	x     []float64 // the characters, steps+1 rows
	extra []float64 // w_in, w_out, b_out
	w, g  []float64 // of each layer: weights; cotangents of these and of the state
	h, c  []float64 // of each layer: the states before the steps and after the last
	u     []float64 // input of the lowest layer, a row a step
	d     []float64 // cotangents of the output of a layer, and then of its input

	y        []float64 // scores, a row a step
	p        []float64 // softmax
	lse      []float64 // of each step
	total    float64   // Σ x_{t+1,j}·(y_tj - lse_t)
	extraBar []float64 // cotangents of extra
	xBar     []float64 // cotangents of x
}

// read takes the operands of k.
func read[T rev.Real](s *sweep, k *Loss[T]) {
	s.layers, s.steps, s.bits = k.Main.Rows/2, k.Sequence.Rows-1, k.Sequence.Cols
	s.ld = (s.bits + cells.Lanes - 1) / cells.Lanes * cells.Lanes
	rows := func(to []float64, m rev.General[T]) []float64 {
		to = workspace.Zeros(to, m.Rows*s.ld)
		for i := range m.Rows {
			for j, v := range m.Row(i) {
				to[i*s.ld+j] = fixed.Float(v)
			}
		}
		return to
	}
	s.x, s.extra = rows(s.x, k.Sequence), rows(s.extra, k.Extra)
	s.w = workspace.Zeros(s.w, s.layers*cells.Weights*s.ld)
	s.h = workspace.Zeros(s.h, s.layers*(s.steps+1)*s.ld)
	s.c = workspace.Zeros(s.c, len(s.h))
	for layer := range s.layers {
		h, c := s.states(layer)
		w := s.weights(layer)
		for j := range s.bits {
			h[j], c[j] = fixed.Float(k.State.Row(2 * layer)[j]), fixed.Float(k.State.Row(2*layer + 1)[j])
			for row := range cells.Weights {
				w[s.weight(cells.Weights, row, j)] = fixed.Float(k.Main.Row(2*layer + row/4)[row%4*s.bits+j])
			}
		}
	}
}

// weight returns the index of bit j in a row of a layer's weights. The layer has the
// given number of rows.
func (s *sweep) weight(rows, row, j int) int {
	return (j/cells.Lanes*rows+row)*cells.Lanes + j%cells.Lanes
}

func (s *sweep) weights(layer int) []float64 {
	n := cells.Weights * s.ld
	return s.w[layer*n : (layer+1)*n]
}

func (s *sweep) bars(layer int) []float64 {
	n := cells.Bars * s.ld
	return s.g[layer*n : (layer+1)*n]
}

func (s *sweep) states(layer int) (h, c []float64) {
	n := (s.steps + 1) * s.ld
	return s.h[layer*n : (layer+1)*n], s.c[layer*n : (layer+1)*n]
}

// input returns the inputs of a layer. Above the last layer, these are the inputs of
// the output.
func (s *sweep) input(layer int) []float64 {
	if layer == 0 {
		return s.u
	}
	h, _ := s.states(layer - 1)
	return h[s.ld:]
}

func (s *sweep) row(x []float64, t int) []float64 { return x[t*s.ld:][:s.bits] }

// forward computes the states, the scores and total.
func (s *sweep) forward() {
	s.u = workspace.Zeros(s.u, s.steps*s.ld)
	wIn, wOut, bOut := s.row(s.extra, 0), s.row(s.extra, 1), s.row(s.extra, 2)
	for t := range s.steps {
		u, x := s.row(s.u, t), s.row(s.x, t)
		for j, w := range wIn {
			u[j] = x[j] * w
		}
	}
	for layer := range s.layers {
		h, c := s.states(layer)
		cells.Forward(s.input(layer), h, c, s.weights(layer), s.steps, s.ld)
	}

	// The larger of 0 and the largest score is the shift that keeps exponentials
	// finite.
	s.y, s.p = workspace.Zeros(s.y, s.steps*s.ld), workspace.Zeros(s.p, s.steps*s.ld)
	s.lse = workspace.Grow(s.lse, s.steps)
	out := s.input(s.layers)
	for t := range s.steps {
		y, p, h, top := s.row(s.y, t), s.row(s.p, t), s.row(out, t), 0.
		for j, w := range wOut {
			y[j] = float64(h[j]*w) + bOut[j]
			top = max(top, y[j])
		}
		for j, v := range y {
			p[j] = v - top
		}
		s.lse[t] = top
	}
	vec.Exp(s.p, s.p)
	s.total = 0
	for t, top := range s.lse {
		p, sum := s.row(s.p, t), 2*math.Exp(-top)
		for _, e := range p {
			sum += e
		}
		inverse := 1 / sum
		for j := range p {
			p[j] *= inverse
		}
		s.lse[t] = top + logs.Log(sum)
		x, y := s.row(s.x, t+1), s.row(s.y, t)
		var score, mass float64
		for j, v := range x {
			score += float64(v * y[j])
			mass += v
		}
		s.total += score - float64(mass*s.lse[t])
	}
}

// backward computes the cotangents. bar is the cotangent of total.
func (s *sweep) backward(bar float64) {
	s.d = workspace.Zeros(s.d, s.steps*s.ld)
	s.g = workspace.Zeros(s.g, s.layers*cells.Bars*s.ld)
	s.extraBar, s.xBar = workspace.Zeros(s.extraBar, 3*s.ld), workspace.Zeros(s.xBar, (s.steps+1)*s.ld)
	wIn, wOut := s.row(s.extra, 0), s.row(s.extra, 1)
	wInBar, wOutBar, bOutBar := s.row(s.extraBar, 0), s.row(s.extraBar, 1), s.row(s.extraBar, 2)
	out := s.input(s.layers)
	for t := range s.steps {
		x, xBar, p, y := s.row(s.x, t+1), s.row(s.xBar, t+1), s.row(s.p, t), s.row(s.y, t)
		h, d, sum := s.row(out, t), s.row(s.d, t), 0.
		for _, v := range x {
			sum += v
		}
		for j, v := range x {
			yBar := float64(bar * (v - float64(sum*p[j])))
			xBar[j] = float64(bar * (y[j] - s.lse[t]))
			wOutBar[j] += float64(yBar * h[j])
			bOutBar[j] += yBar
			d[j] = yBar * wOut[j]
		}
	}
	for layer := s.layers - 1; layer >= 0; layer-- {
		h, c := s.states(layer)
		cells.Backward(s.input(layer), h, c, s.d, s.weights(layer), s.bars(layer), s.steps, s.ld)
	}
	for t := range s.steps {
		x, xBar, d := s.row(s.x, t), s.row(s.xBar, t), s.row(s.d, t)
		for j, v := range d {
			wInBar[j] += float64(v * x[j])
			xBar[j] += float64(v * wIn[j])
		}
	}
}

// addGradients adds the cotangents to the operands of g that are there.
func addGradients[T rev.Real](s *sweep, g *Loss[T]) {
	add := func(m rev.General[T], from []float64) {
		if m.Data == nil {
			return
		}
		for i := range m.Rows {
			row := m.Row(i)
			for j, v := range s.row(from, i) {
				row[j] += fixed.Of[T](v)
			}
		}
	}
	add(g.Sequence, s.xBar)
	add(g.Extra, s.extraBar)
	for layer := range s.layers {
		bars := s.bars(layer)
		bar := func(row, j int) T { return fixed.Of[T](bars[s.weight(cells.Bars, row, j)]) }
		for j := range s.bits {
			if g.Main.Data != nil {
				for row := range cells.Weights {
					g.Main.Row(2*layer + row/4)[row%4*s.bits+j] += bar(row, j)
				}
			}
			if g.State.Data != nil {
				g.State.Row(2 * layer)[j] += bar(cells.HiddenBar, j)
				g.State.Row(2*layer + 1)[j] += bar(cells.CellBar, j)
			}
		}
	}
}
