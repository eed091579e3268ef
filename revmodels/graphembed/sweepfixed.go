package graphembed

import (
	"math/bits"

	"revnum/fixed"
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
	sum, squares  wide
	tangents      wide
	mean, meanDot fixed.Q43
	beta, betaDot fixed.Q43
}

// sweepFixed is Loss.sweep in fixed point.
func sweepFixed(k, g, t, gt *Loss[fixed.Q43]) (f, df fixed.Q43) {
	s := workspace.Get[fixedSweep]()
	defer workspace.Put(s)
	s.k, s.t = *k, Loss[fixed.Q43]{}
	if t != nil {
		s.t = *t
	}
	tangents := s.t.hasPositions()
	s.x, s.v = workspace.Grow(s.x, k.Free.Cols), workspace.Grow(s.v, k.Free.Cols)

	kind := &s.kind
	for c, n := range k.Graph.count() {
		kind[c] = fixedMoments{n: n}
	}
	s.pairs(func(_, _ int, m *fixedMoments) {
		m.sum.add(s.d)
		m.tangents.add(s.dDot)
	})
	for c := range kind {
		if m := &kind[c]; m.n > 0 {
			m.mean, m.meanDot = m.sum.over(m.n, 0), m.tangents.over(m.n, 0)
		}
	}
	s.pairs(func(_, _ int, m *fixedMoments) { m.squares.addSquare(s.d - m.mean) })
	for c := range kind {
		if m := &kind[c]; m.n > 1 {
			f += m.squares.over(m.n-1, fixed.FracBits)
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
		near.beta, far.beta = quotient(e, near.n), -quotient(e, far.n)
		near.betaDot, far.betaDot = quotient(eDot, near.n), -quotient(eDot, far.n)
	}

	wantDF := tangents && t.hasOut()
	toG := g.hasOut() && g.hasPositions()
	toGT := gt.hasPositions()
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
		if toGT && gt.hasOut() {
			s.addUnits(gt, i, j, w.Mul(*gt.Out))
		}
		if toGT && tangents && g.hasOut() {
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
	return quotient(2*x, m.n-1)
}

// pairs calls f for each pair of vertices i < j, with its distance in s.
func (s *fixedSweep) pairs(f func(i, j int, m *fixedMoments)) {
	graph, m, tangents := s.k.Graph, s.k.Fixed.Rows, s.t.hasPositions()
	for i := range graph.n {
		later := graph.Later(i)
		for j := i + 1; j < graph.n; j++ {
			c := apart
			if len(later) > 0 && int(later[0]) == j {
				c, later = connected, later[1:]
			}
			subtract(s.x, s.k.row(j, m), s.k.row(i, m))
			s.d, s.dDot = 0, 0
			revlinalg.Norm2[fixed.Q43]{Out: &s.d, X: rev.ViewSlice(s.x)}.Forward()
			if tangents {
				subtract(s.v, s.t.row(j, m), s.t.row(i, m))
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
	if s.d == 0 {
		return
	}
	gi, gj := g.row(i, s.k.Fixed.Rows), g.row(j, s.k.Fixed.Rows)
	for a, x := range s.x {
		v := alpha.Mul(x.Div(s.d))
		if gj != nil {
			gj[a] += v
		}
		if gi != nil {
			gi[a] -= v
		}
	}
}

// addTurns adds alpha·w·u̇ to the operand of vertex j in g, u̇ = (v - u·ḋ)/d, and
// subtracts it from that of i. Where d is 0, w·u̇ is that of the square, 2·v/(n-1).
func (s *fixedSweep) addTurns(g *Loss[fixed.Q43], i, j int, m *fixedMoments, w, alpha fixed.Q43) {
	gi, gj := g.row(i, s.k.Fixed.Rows), g.row(j, s.k.Fixed.Rows)
	for a, x := range s.x {
		var v fixed.Q43
		if s.d == 0 {
			v = m.weight(s.v[a])
		} else {
			v = w.Mul((s.v[a] - x.Div(s.d).Mul(s.dDot)).Div(s.d))
		}
		v = alpha.Mul(v)
		if gj != nil {
			gj[a] += v
		}
		if gi != nil {
			gi[a] -= v
		}
	}
}

// quotient returns the number nearest to x/n, for n > 0.
func quotient(x fixed.Q43, n int) fixed.Q43 {
	var a wide
	a.add(x)
	return a.over(n, 0)
}

// wide is an integer of 128 bits in two's complement: a sum of more numbers than fit a
// Q43.
type wide struct{ hi, lo uint64 }

// add computes a += x.
func (a *wide) add(x fixed.Q43) {
	var c uint64
	a.lo, c = bits.Add64(a.lo, uint64(x), 0)
	a.hi += uint64(int64(x)>>63) + c
}

// addSquare computes a += x², in units of 2⁻⁸⁶.
func (a *wide) addSquare(x fixed.Q43) {
	m := uint64(x.Abs())
	hi, lo := bits.Mul64(m, m)
	var c uint64
	a.lo, c = bits.Add64(a.lo, lo, 0)
	a.hi, _ = bits.Add64(a.hi, hi, c)
}

// over returns a/(n·2^shift), rounded to nearest and wrapped, for n > 0.
func (a wide) over(n int, shift uint) fixed.Q43 {
	negative := int64(a.hi) < 0
	if negative {
		var b uint64
		a.lo, b = bits.Sub64(0, a.lo, 0)
		a.hi, _ = bits.Sub64(0, a.hi, b)
	}
	hi, rest := a.hi/uint64(n), a.hi%uint64(n)
	lo, rest := bits.Div64(rest, a.lo, uint64(n))
	up := rest >= (uint64(n)+1)/2
	if shift > 0 {
		up = lo>>(shift-1)&1 != 0
		lo = lo>>shift | hi<<(64-shift)
	}
	if up {
		lo++
	}
	if negative {
		lo = -lo
	}
	return fixed.Q43(lo)
}
