package lstm

import (
	"math"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/lstm/internal/cells"
)

// A dual is a number and its derivative in the direction of the tangents. The passes
// with tangents do what sweep and package cells do, step by step in duals.
type dual struct{ v, d float64 }

func constant(v float64) dual    { return dual{v: v} }
func (a dual) plus(b dual) dual  { return dual{a.v + b.v, a.d + b.d} }
func (a dual) minus(b dual) dual { return dual{a.v - b.v, a.d - b.d} }
func (a dual) times(b dual) dual {
	return dual{a.v * b.v, float64(a.d*b.v) + float64(a.v*b.d)}
}

// of returns the dual of f(a), where slope is the derivative of f.
func (a dual) of(f, slope float64) dual { return dual{f, a.d * slope} }

func (a dual) sigmoid() dual {
	s := 1 / (1 + math.Exp(-a.v))
	return a.of(s, s*(1-s))
}

func (a dual) tanh() dual {
	f := math.Tanh(a.v)
	return a.of(f, 1-float64(f*f))
}

// A dualSweep is a sweep in duals. Rows have bits elements.
type dualSweep struct {
	layers, steps, bits int

	x, main, extra, state             []dual
	xBar, mainBar, extraBar, stateBar []dual

	h, c, u, d, y, p []dual
	lse              []dual
	total            dual
}

// readDuals takes the operands of k, with the tangents t.
func readDuals[T rev.Real](s *dualSweep, k, t *Loss[T]) {
	s.layers, s.steps, s.bits = k.Main.Rows/2, k.Sequence.Rows-1, k.Sequence.Cols
	rows := func(to []dual, m, dm rev.General[T]) []dual {
		to = workspace.Zeros(to, m.Rows*m.Cols)
		for i := range m.Rows {
			for j, v := range m.Row(i) {
				to[i*m.Cols+j].v = fixed.Float(v)
			}
			if dm.Data != nil {
				for j, v := range dm.Row(i) {
					to[i*m.Cols+j].d = fixed.Float(v)
				}
			}
		}
		return to
	}
	s.x, s.main = rows(s.x, k.Sequence, t.Sequence), rows(s.main, k.Main, t.Main)
	s.extra, s.state = rows(s.extra, k.Extra, t.Extra), rows(s.state, k.State, t.State)
}

func (s *dualSweep) row(x []dual, i int) []dual { return x[i*s.bits:][:s.bits] }

// states returns the states of a layer from before step t on.
func (s *dualSweep) states(layer, t int) (h, c []dual) {
	at := layer*(s.steps+1) + t
	return s.h[at*s.bits:], s.c[at*s.bits:]
}

// input returns the inputs of a layer. Above the last layer, these are the inputs of the
// output.
func (s *dualSweep) input(layer int) []dual {
	if layer == 0 {
		return s.u
	}
	h, _ := s.states(layer-1, 1)
	return h
}

// gates returns the gates of bit j: forget, in, out, and the change.
func (s *dualSweep) gates(layer, j int, u, h dual) (g [4]dual) {
	for i, from := range [4]dual{u, h, u, h} {
		z := from.times(s.main[(8*layer+i)*s.bits+j]).plus(s.main[(8*layer+4+i)*s.bits+j])
		if i == 3 {
			g[i] = z.tanh()
		} else {
			g[i] = z.sigmoid()
		}
	}
	return g
}

func (s *dualSweep) forward() {
	n := s.steps * s.bits
	s.u, s.y, s.p = workspace.Grow(s.u, n), workspace.Grow(s.y, n), workspace.Grow(s.p, n)
	s.h, s.c = workspace.Grow(s.h, s.layers*(n+s.bits)), workspace.Grow(s.c, s.layers*(n+s.bits))
	s.lse = workspace.Grow(s.lse, s.steps)
	for i := range s.u {
		s.u[i] = s.x[i].times(s.extra[i%s.bits])
	}
	for layer := range s.layers {
		u := s.input(layer)
		h, c := s.states(layer, 0)
		copy(h, s.row(s.state, 2*layer))
		copy(c, s.row(s.state, 2*layer+1))
		for i := range n {
			g := s.gates(layer, i%s.bits, u[i], h[i])
			next := c[i].times(g[0]).plus(g[1].times(g[3]))
			c[i+s.bits], h[i+s.bits] = next, g[2].times(next.tanh())
		}
	}
	out := s.input(s.layers)
	s.total = dual{}
	for t := range s.steps {
		h, y, p, x, top := s.row(out, t), s.row(s.y, t), s.row(s.p, t), s.row(s.x, t+1), 0.
		for j := range y {
			y[j] = h[j].times(s.extra[s.bits+j]).plus(s.extra[2*s.bits+j])
			top = max(top, y[j].v)
		}
		sum := constant(2 * math.Exp(-top))
		for j, y := range y {
			e := math.Exp(y.v - top)
			p[j] = y.of(e, e)
			sum = sum.plus(p[j])
		}
		inverse := sum.of(1/sum.v, -1/sum.v/sum.v)
		s.lse[t] = sum.of(top+logs.Log(sum.v), inverse.v)
		for j := range p {
			p[j] = p[j].times(inverse)
			s.total = s.total.plus(x[j].times(y[j].minus(s.lse[t])))
		}
	}
}

// backward computes the cotangents with their tangents. bar is the cotangent of total.
func (s *dualSweep) backward(bar dual) {
	s.d = workspace.Zeros(s.d, s.steps*s.bits)
	s.xBar, s.mainBar = workspace.Zeros(s.xBar, len(s.x)), workspace.Zeros(s.mainBar, len(s.main))
	s.extraBar, s.stateBar = workspace.Zeros(s.extraBar, len(s.extra)), workspace.Zeros(s.stateBar, len(s.state))
	add := func(to *dual, x dual) { *to = to.plus(x) }
	out := s.input(s.layers)
	for t := range s.steps {
		x, xBar, y, p, h, d := s.row(s.x, t+1), s.row(s.xBar, t+1), s.row(s.y, t), s.row(s.p, t), s.row(out, t), s.row(s.d, t)
		var sum dual
		for _, x := range x {
			sum = sum.plus(x)
		}
		for j, x := range x {
			yBar := bar.times(x.minus(sum.times(p[j])))
			xBar[j] = bar.times(y[j].minus(s.lse[t]))
			add(&s.extraBar[s.bits+j], yBar.times(h[j]))
			add(&s.extraBar[2*s.bits+j], yBar)
			d[j] = yBar.times(s.extra[s.bits+j])
		}
	}
	for layer := s.layers - 1; layer >= 0; layer-- {
		s.backwardLayer(layer)
	}
	for i, d := range s.d {
		add(&s.extraBar[i%s.bits], d.times(s.x[i]))
		add(&s.xBar[i], d.times(s.extra[i%s.bits]))
	}
}

func (s *dualSweep) backwardLayer(layer int) {
	one, u := constant(1), s.input(layer)
	h, c := s.states(layer, 0)
	hBars, cBars := s.row(s.stateBar, 2*layer), s.row(s.stateBar, 2*layer+1)
	main, mainBar := s.main[cells.Weights*layer*s.bits:], s.mainBar[cells.Weights*layer*s.bits:]
	for i := s.steps*s.bits - 1; i >= 0; i-- {
		j := i % s.bits
		g, q := s.gates(layer, j, u[i], h[i]), c[i+s.bits].tanh()
		hBar := s.d[i].plus(hBars[j])
		cBar := cBars[j].plus(hBar.times(g[2]).times(one.minus(q.times(q))))
		cBars[j] = cBar.times(g[0])
		z := [4]dual{cBar.times(c[i]), cBar.times(g[3]), hBar.times(q), cBar.times(g[1])}
		var bars [4]dual // of u or h, by each gate
		for gate, from := range [4]dual{u[i], h[i], u[i], h[i]} {
			slope := g[gate].times(one.minus(g[gate]))
			if gate == 3 {
				slope = one.minus(g[3].times(g[3]))
			}
			z := z[gate].times(slope)
			w, b := gate*s.bits+j, (4+gate)*s.bits+j
			mainBar[w] = mainBar[w].plus(z.times(from))
			mainBar[b] = mainBar[b].plus(z)
			bars[gate] = z.times(main[w])
		}
		s.d[i], hBars[j] = bars[0].plus(bars[2]), bars[1].plus(bars[3])
	}
}

// addTangents adds the tangents of the cotangents to the operands of gt that are
// there.
func addTangents[T rev.Real](s *dualSweep, gt *Loss[T]) {
	for _, o := range []struct {
		to   rev.General[T]
		from []dual
	}{{gt.Sequence, s.xBar}, {gt.Main, s.mainBar}, {gt.Extra, s.extraBar}, {gt.State, s.stateBar}} {
		if o.to.Data == nil {
			continue
		}
		for i := range o.to.Rows {
			row := o.to.Row(i)
			for j, v := range o.from[i*o.to.Cols:][:len(row)] {
				row[j] += fixed.Of[T](v.d)
			}
		}
	}
}
