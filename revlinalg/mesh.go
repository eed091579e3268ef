package revlinalg

import (
	"revnum/internal/simd/dense"
	"revnum/internal/vector"
	"revnum/rev"
)

// A mesh is an order of N(N-1)/2 plane rotations of neighbours among N rows.
//
// Both orders consist of N-1 chains, one after the other. Each chain goes up: it
// rotates rows i and i+1, counted from 0, for i from bottom(j) to top(j). In the
// triangular mesh chain j goes from the last pair of rows to rows j and j+1. In the
// rectangular mesh layer l has the rows i of its parity, and chain j the diagonal i+l =
// 2j. A rotation there needs the results of two rotations of the layer before, at i-1
// and i+1. The first is in the chain before and the second in its own, so the chains
// can be applied in turn.
type mesh struct {
	n           int
	rectangular bool
}

// chains returns the number of chains. Each has at least one rotation.
func (m mesh) chains() int { return max(0, m.n-1) }

func (m mesh) bottom(chain int) int {
	if m.rectangular {
		return min(2*chain, m.n-2)
	}
	return m.n - 2
}

func (m mesh) top(chain int) int {
	if m.rectangular {
		return max(0, 2*chain-m.n+1)
	}
	return chain
}

// angle returns the index of the angle of a rotation.
func (m mesh) angle(chain, row int) int {
	if !m.rectangular {
		return chain*(m.n-1) - chain*(chain-1)/2 + m.n - 2 - row
	}
	layer := 2*chain - row
	index := layer/2*(m.n-1) + row/2
	if layer%2 != 0 {
		index += m.n / 2
	}
	return index
}

// A place is a position in a product of rotations. The next rotation, or the one before
// in reverse, is of rows row and row+1.
type place struct {
	mesh
	chain, row int
}

// before returns the place before the first rotation of a chain.
func (m mesh) before(chain int) place { return place{m, chain, m.bottom(chain) + 1} }

// next moves to the next rotation. It reports whether there is one before the chain
// end.
func (p *place) next(end int) bool {
	p.row--
	if p.row < p.top(p.chain) {
		p.chain++
		p.row = p.bottom(p.chain)
	}
	return p.chain < end
}

// previous moves back by a rotation. It reports whether there is one in the chain first
// or after it.
func (p *place) previous(first int) bool {
	p.row++
	if p.row > p.bottom(p.chain) {
		p.chain--
		p.row = p.top(p.chain)
	}
	return p.chain >= first
}

// A panel is some chains of a mesh, with a table of their rotations. The rotation of
// chain j and row i is element (j-first)·(n-1) + n-2-i of the table.
type panel[T rev.Real] struct {
	mesh
	first, end int
	c, s       []T // cosines and sines; in fixed point tangents of half the angles, and sines
	pc, ps     []T // those of the phases before rotations, or empty
	d, pd      []T // the tangents of the angles and phases, or empty
	runs       []run

	vector rotations[T] // the vector code for the tables, nil in fixed point
}

// rotations has the methods of *dense.Rotations[T].
type rotations[T rev.Real] interface {
	Forward(run dense.Run, x []T, ldx, cols int)
	Back(run dense.Run, x []T, ldx, cols int)
	BackCross(run dense.Run, x []T, ldx int, g []T, ldg, cols int, sums []T)
	Tangent(run dense.Run, x []T, ldx int, t []T, ldt, cols int)
	TangentBack(run dense.Run, x []T, ldx int, t []T, ldt, cols int)
}

// A run is rotations that are applied together. In each step, each of several chains
// rotates one pair of rows. In the last step, chain number chain+q rotates row+q and
// the row below it.
type run struct {
	chain, chains, row, steps int
	at                        int // number of rotations in earlier runs
}

func (p *panel[T]) size() int { return (p.end - p.first) * (p.n - 1) }

func (p *panel[T]) index(chain, row int) int { return (chain-p.first)*(p.n-1) + p.n - 2 - row }

// setRuns cuts the panel into runs. Chains overlap in most of their rotations; those
// are applied together, and the others, at either end, one by one.
func (p *panel[T]) setRuns() {
	p.runs = p.runs[:0]
	for j := p.first; j < p.end; j += dense.RotateChains {
		// In step r of a run, chain j+q rotates row r+q.
		bottom, top := p.n, 0
		for q := range min(dense.RotateChains, p.end-j) {
			bottom = min(bottom, p.bottom(j+q)-q)
			top = max(top, p.top(j+q)-q)
		}
		if j+dense.RotateChains > p.end || bottom < top {
			for q := j; q < min(p.end, j+dense.RotateChains); q++ {
				p.addRun(q, 1, p.top(q), p.bottom(q))
			}
			continue
		}
		for q := range dense.RotateChains {
			p.addRun(j+q, 1, bottom+q+1, p.bottom(j+q))
		}
		p.addRun(j, dense.RotateChains, top, bottom)
		for q := range dense.RotateChains {
			p.addRun(j+q, 1, p.top(j+q), top+q-1)
		}
	}
}

func (p *panel[T]) addRun(chain, chains, top, bottom int) {
	if bottom < top {
		return
	}
	at := 0
	if n := len(p.runs); n > 0 {
		last := p.runs[n-1]
		at = last.at + last.steps*last.chains
	}
	p.runs = append(p.runs, run{chain, chains, top, bottom - top + 1, at})
}

// setVector sets vector.
func (p *panel[T]) setVector() {
	switch p := any(p).(type) {
	case *panel[float64]:
		p.vector = vectorOf(p, p.vector)
	case *panel[float32]:
		p.vector = vectorOf(p, p.vector)
	}
}

// vectorOf returns the rotations of p, in the memory of old if that is not nil.
func vectorOf[T rev.Float](p *panel[T], old rotations[T]) rotations[T] {
	r, ok := old.(*dense.Rotations[T])
	if !ok {
		r = new(dense.Rotations[T])
	}
	*r = dense.Rotations[T]{C: p.c, S: p.s, PC: p.pc, PS: p.ps, D: p.d, PD: p.pd, Ld: p.n - 2}
	return r
}

// vectorRun returns the run for vector code.
func (p *panel[T]) vectorRun(r run) dense.Run {
	return dense.Run{At: p.index(r.chain, r.row+r.steps-1), Chains: r.chains, Steps: r.steps}
}

// The floating-point rotations of columns lo, ..., hi-1 of x in a run, or their inverses
// if back is set.

func (p *panel[T]) rotate(x rev.General[T], lo, hi int, r run, back bool) {
	if data := x.Data[r.row*x.Stride+lo:]; back {
		p.vector.Back(p.vectorRun(r), data, x.Stride, hi-lo)
	} else {
		p.vector.Forward(p.vectorRun(r), data, x.Stride, hi-lo)
	}
}

// rotateBackCross also rotates y back, and adds to sums what cross returns for each
// rotation. With phases, what imaginaryDot returns comes first.
func (p *panel[T]) rotateBackCross(x, y rev.General[T], lo, hi int, r run, sums []T) {
	first := r.at
	if len(p.pc) > 0 {
		first *= 2
	}
	p.vector.BackCross(p.vectorRun(r), x.Data[r.row*x.Stride+lo:], x.Stride, y.Data[r.row*y.Stride+lo:], y.Stride, hi-lo, sums[first:])
}

// rotateTangent also rotates y, the tangent of x.
func (p *panel[T]) rotateTangent(x, y rev.General[T], lo, hi int, r run, back bool) {
	at, data := x.Data[r.row*x.Stride+lo:], y.Data[r.row*y.Stride+lo:]
	if back {
		p.vector.TangentBack(p.vectorRun(r), at, x.Stride, data, y.Stride, hi-lo)
	} else {
		p.vector.Tangent(p.vectorRun(r), at, x.Stride, data, y.Stride, hi-lo)
	}
}

// float64s and float32s return x[i:] of that type.

func float64s[T rev.Real](x []T, i int) []float64 { return any(x[i:]).([]float64) }

func float32s[T rev.Real](x []T, i int) []float32 { return any(x[i:]).([]float32) }

// cross returns Σ_j x_ij·y_(i+1)j - x_(i+1)j·y_ij, 0 for nil.
func cross[T rev.Real](x, y rev.General[T], i int) T {
	return vector.Dot(vector.Row(x, i), vector.Row(y, i+1)) - vector.Dot(vector.Row(x, i+1), vector.Row(y, i))
}

// crossTangent returns the tangent of cross(x, gx, i), where tx and gtx are those
// of x and gx. All but x may be nil.
func crossTangent[T rev.Real](x, gx, tx, gtx rev.General[T], i int) T {
	return cross(tx, gx, i) + cross(x, gtx, i)
}

// addQuarter adds sign·alpha times rows i and i+1 of x, turned by a right angle, to those
// of y. It does nothing if x or y is nil.
func addQuarter[T rev.Real](sign int, y rev.General[T], alpha T, x rev.General[T], i int) {
	vector.AddScaled(-sign, alpha, vector.Row(x, i+1), vector.Row(y, i))
	vector.AddScaled(sign, alpha, vector.Row(x, i), vector.Row(y, i+1))
}
