package graphembed

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revlinalg"
)

// A fixedSweep is one evaluation in fixed point, pair by pair in order.
type fixedSweep struct {
	k, t Loss[fixed.Q43]
	kind [kinds]fixedMoments
	d    fixed.Q43   // distance of the present pair
	dDot fixed.Q43   // its tangent, if there are tangents
	x, v []fixed.Q43 // difference of its coordinates, and of their tangents
}

// fixedMoments are those of the distances of a kind, with the derivative of L
// by the mean.
type fixedMoments struct {
	n             int
	sum, squares  fixed.Accumulator
	tangents      fixed.Accumulator
	mean, meanDot fixed.Q43
	beta, betaDot fixed.Q43
}

// sweepFixed is Loss.sweep in fixed point.
func sweepFixed(k, g, t, gt *Loss[fixed.Q43]) (f, df fixed.Q43) {
	s := workspace.Get[*fixedSweep]()
	defer workspace.Put(s)
	s.k, s.t = *k, Loss[fixed.Q43]{}
	if t != nil {
		s.t = *t
	}
	tangents := lossHasPositions(&s.t)
	s.x, s.v = workspace.Grow(s.x, k.Free.Cols), workspace.Grow(s.v, k.Free.Cols)

	kind := &s.kind
	for c, n := range k.Graph.count() {
		kind[c] = fixedMoments{n: n}
	}
	s.pairs(func(_, _ int, m *fixedMoments) {
		m.sum.Add(s.d)
		m.tangents.Add(s.dDot)
	})
	for c := range kind {
		if m := &kind[c]; m.n > 0 {
			m.mean, m.meanDot = m.sum.Over(m.n), m.tangents.Over(m.n)
		}
	}
	s.pairs(func(_, _ int, m *fixedMoments) { m.squares.AddMul(s.d-m.mean, s.d-m.mean) })
	for c := range kind {
		if m := &kind[c]; m.n > 1 {
			f += m.squares.Over(m.n - 1)
		}
	}
	near, far := &kind[connected], &kind[apart]
	if z := near.mean - far.mean + fixed.FromFloat64Sat(k.Margin); z > 0 && near.n > 0 && far.n > 0 {
		e, err := fixed.ExpChecked(z)
		if err != nil {
			e = fixed.Max // out of range, as documented
		}
		f += e - fixed.One
		eDot := e.Mul(near.meanDot - far.meanDot)
		near.beta, far.beta = number.Over(e, near.n), -number.Over(e, far.n)
		near.betaDot, far.betaDot = number.Over(eDot, near.n), -number.Over(eDot, far.n)
	}

	wantDF := tangents && lossHasOut(t)
	toG := lossHasOut(g) && lossHasPositions(g)
	toGT := lossHasPositions(gt)
	if !wantDF && !toG && !toGT {
		return f, 0
	}
	s.pairs(func(i, j int, m *fixedMoments) {
		w := m.weight(s.d-m.mean) + m.beta
		if wantDF {
			df += w.Mul(s.dDot)
		}
		if toG {
			s.addUnits(g, i, j, w.Mul(*g.Out))
		}
		if toGT && lossHasOut(gt) {
			s.addUnits(gt, i, j, w.Mul(*gt.Out))
		}
		if toGT && tangents && lossHasOut(g) {
			wDot := m.weight(s.dDot-m.meanDot) + m.betaDot
			s.addUnits(gt, i, j, wDot.Mul(*g.Out))
			s.addTurns(gt, i, j, m, w, *g.Out)
		}
	})
	return f, df
}

// weight returns 2·x/(n-1), or 0 if n < 2.
func (m *fixedMoments) weight(x fixed.Q43) fixed.Q43 {
	if m.n < 2 {
		return 0
	}
	return number.Over(2*x, m.n-1)
}

// pairs calls f for each pair of vertices i < j, with its distance in s.
func (s *fixedSweep) pairs(f func(i, j int, m *fixedMoments)) {
	graph, m, tangents := s.k.Graph, s.k.Fixed.Rows, lossHasPositions(&s.t)
	for i := range graph.n {
		later := graph.Later(i)
		for j := i + 1; j < graph.n; j++ {
			c := apart
			if len(later) > 0 && int(later[0]) == j {
				c, later = connected, later[1:]
			}
			subtract(s.x, lossRow(&s.k, j, m), lossRow(&s.k, i, m))
			s.d, s.dDot = 0, 0
			revlinalg.Norm2[fixed.Q43]{Out: &s.d, X: rev.ViewSlice(s.x)}.Forward()
			if tangents {
				subtract(s.v, lossRow(&s.t, j, m), lossRow(&s.t, i, m))
				if s.d != 0 {
					for a, x := range s.x {
						s.dDot += x.Div(s.d).Mul(s.v[a])
					}
				}
			}
			f(i, j, &s.kind[c])
		}
	}
}

// subtract computes dst = x - y, where nil stands for zeros.
func subtract(dst, x, y []fixed.Q43) {
	clear(dst)
	copy(dst, x)
	for a, v := range y {
		dst[a] -= v
	}
}

// addUnits adds alpha·u to the operand of vertex j in g, and subtracts it from that of
// vertex i.
func (s *fixedSweep) addUnits(g *Loss[fixed.Q43], i, j int, alpha fixed.Q43) {
	if s.d != 0 {
		s.add(g, i, j, func(a int) fixed.Q43 { return alpha.Mul(s.x[a].Div(s.d)) })
	}
}

// addTurns is addUnits for alpha·w·u̇, where u̇ = (v - u·ḋ)/d. Where d is 0, only the
// square of d has derivatives, and w·u̇ is 2·v/(n-1).
func (s *fixedSweep) addTurns(g *Loss[fixed.Q43], i, j int, m *fixedMoments, w, alpha fixed.Q43) {
	s.add(g, i, j, func(a int) fixed.Q43 {
		if s.d == 0 {
			return alpha.Mul(m.weight(s.v[a]))
		}
		return alpha.Mul(w.Mul((s.v[a] - s.x[a].Div(s.d).Mul(s.dDot)).Div(s.d)))
	})
}

// add adds term(a) to coordinate a of vertex j in g, and subtracts it from that of i.
func (s *fixedSweep) add(g *Loss[fixed.Q43], i, j int, term func(a int) fixed.Q43) {
	gi, gj := lossRow(g, i, s.k.Fixed.Rows), lossRow(g, j, s.k.Fixed.Rows)
	for a := range s.x {
		v := term(a)
		if gj != nil {
			gj[a] += v
		}
		if gi != nil {
			gi[a] -= v
		}
	}
}
