package graphembed

import (
	"revnum/internal/parallel"
	"revnum/internal/simd"
	"revnum/internal/workspace"
	"revnum/rev"
)

const (
	// blockPairs is how many pairs a block has at most, unless it is a single
	// vertex with all later ones: the arrays of a block fit into the L1 cache.
	blockPairs = 1024

	// partPairs is how many pairs a part has at least, unless it is all.
	partPairs = 1 << 15

	maxParts = 16
)

// A sweep is one evaluation in floating point.
//
// Vertices lie along the vector lanes: coordinate c of vertex i is x[c·n+i],
// and x[i:] are the coordinates of all vertices from i on. The coordinates are
// taken from vertex 0, which loses nothing that differences would keep, as
// differences of numbers near each other are exact. The vertices are cut into
// parts of about as many pairs each, a pair belonging to the vertex that comes
// first; a part adds to a gradient of its own.
type sweep[T rev.Float] struct {
	graph    *Graph
	dim      int
	value    bool // whether L is wanted
	tangents bool // whether there are any
	gradient bool // whether the gradient is wanted
	second   bool // whether its tangent is
	cached   bool // whether the second pass finds the distances of the first

	x, v   []T // coordinates and their tangents, by coordinate
	xi, vi []T // the same by vertex: those of vertex i from i·dim on

	count  [kinds]int
	origin [kinds]float64
	w      [kinds]weights

	// Sums of weighted differences of each vertex with later ones, by vertex:
	// minus the gradient, but for what earlier vertices give.
	own, ownDot []T

	parts []part[T]
	pass  int
}

// A part is a range of vertices, with the scratch to work on it.
type part[T rev.Float] struct {
	lo, hi     int
	sums       [kinds]sums
	grad, hess []T // by coordinate
	d, r, dd   []T // of the pairs of a block: d, 1/d and ḋ
	w, b       []T
	shift      [1]T
}

func sweepFloat[T rev.Float](k, g, t, gt *Loss[T]) (f, df T) {
	s := workspace.Get[sweep[T]]()
	defer workspace.Put(s)

	s.tangents = t.hasPositions()
	wantDF := s.tangents && t.hasOut()
	toG := g.hasOut() && g.hasPositions()
	toGT := gt.hasPositions()
	s.second = toGT && s.tangents && g.hasOut()
	s.gradient = toG || wantDF || toGT && gt.hasOut()
	s.value = k.Out != nil
	if !s.value && !s.gradient && !s.second {
		return 0, 0
	}
	s.tangents = s.second
	loss := s.measureAll(k, t)
	if !s.gradient && !s.second {
		return T(loss), 0
	}
	s.pass = 2
	parallel.Run(parallel.Workers(k.Workers), len(s.parts), s)
	for i := range s.parts[1:] {
		if s.gradient {
			simd.AddTo(s.parts[0].grad, s.parts[0].grad, s.parts[i+1].grad)
		}
		if s.second {
			simd.AddTo(s.parts[0].hess, s.parts[0].hess, s.parts[i+1].hess)
		}
	}

	m := k.Fixed.Rows
	if wantDF {
		for i := range s.graph.n {
			if row := t.row(i, m); row != nil {
				df += s.times(s.parts[0].grad, s.own, i, row)
			}
		}
	}
	if toG {
		s.addTo(g, m, *g.Out, s.parts[0].grad, s.own)
	}
	if s.second {
		s.addTo(gt, m, *g.Out, s.parts[0].hess, s.ownDot)
	}
	if toGT && gt.hasOut() {
		s.addTo(gt, m, *gt.Out, s.parts[0].grad, s.own)
	}
	return T(loss), df
}

// measureAll is the first pass. It returns L, and sets the weights.
func (s *sweep[T]) measureAll(k, t *Loss[T]) (loss float64) {
	s.load(k, t)
	s.pass = 1
	parallel.Run(parallel.Workers(k.Workers), len(s.parts), s)
	var total [kinds]sums
	for i := range s.parts {
		for c := range total {
			total[c].add(s.parts[i].sums[c])
		}
	}
	loss, s.w = combine(s.count, s.origin, total, k.Margin)
	return loss
}

// load lays out the coordinates and the parts.
func (s *sweep[T]) load(k, t *Loss[T]) {
	g := k.Graph
	s.graph, s.dim, s.count = g, k.Free.Cols, g.count()
	n, m := g.n, k.Fixed.Rows
	size := n * max(1, s.dim) // so that x[n-1:] is there if there are no coordinates
	s.x, s.xi = workspace.Grow(s.x, size), workspace.Grow(s.xi, size)
	pack(s.x, s.xi, k, n, m, s.dim)
	if s.tangents {
		s.v, s.vi = workspace.Grow(s.v, size), workspace.Grow(s.vi, size)
		pack(s.v, s.vi, t, n, m, s.dim)
	}
	if s.gradient {
		s.own = workspace.Zeros(s.own, size)
	}
	if s.second {
		s.ownDot = workspace.Zeros(s.ownDot, size)
	}

	parts := min(max(1, g.Pairs()/partPairs), maxParts)
	if cap(s.parts) < parts {
		s.parts = make([]part[T], parts)
	}
	s.parts = s.parts[:parts]
	block := min(max(blockPairs, n), g.Pairs())
	i, done := 0, 0
	for p := range s.parts {
		part := &s.parts[p]
		part.lo = i
		for i < n && (p == parts-1 || done < g.Pairs()/parts*(p+1)) {
			done += n - 1 - i
			i++
		}
		part.hi = i
		part.d, part.r = workspace.Grow(part.d, block), workspace.Grow(part.r, block)
		part.w, part.b = workspace.Grow(part.w, block), workspace.Grow(part.b, block)
		if s.tangents {
			part.dd = workspace.Grow(part.dd, block)
		}
		if s.gradient {
			part.grad = workspace.Zeros(part.grad, size)
		}
		if s.second {
			part.hess = workspace.Zeros(part.hess, size)
		}
	}
	s.cached = g.Pairs() <= blockPairs

	var edge [2]int
	for i := range n {
		if later := g.Later(i); len(later) > 0 {
			edge = [2]int{i, int(later[0])}
			break
		}
	}
	s.origin[connected], s.origin[apart] = s.distance(edge), s.distance(g.apart)
}

// pack copies the positions of k, less that of vertex 0, by coordinate and by
// vertex.
func pack[T rev.Float](x, xi []T, k *Loss[T], n, m, dim int) {
	var first []T
	if n > 0 {
		first = k.row(0, m)
	}
	for i := range n {
		row, to := k.row(i, m), xi[i*dim:][:dim]
		for c := range to {
			var v T
			if row != nil {
				v = row[c]
			}
			if first != nil {
				v -= first[c]
			}
			to[c], x[c*n+i] = v, v
		}
	}
}

// distance returns the distance of a pair.
func (s *sweep[T]) distance(pair [2]int) float64 {
	var d [1]T
	if s.graph.n > 0 {
		simd.Distances(d[:], s.x[pair[1]:], s.graph.n, s.xi[pair[0]*s.dim:][:s.dim])
	}
	return float64(d[0])
}

// Block implements parallel.Task: one pass over the pairs of a part.
func (s *sweep[T]) Block(_, i int) {
	p := &s.parts[i]
	if s.pass == 1 {
		p.sums = [kinds]sums{}
	}
	n := s.graph.n
	for lo := p.lo; lo < p.hi; {
		hi, pairs := lo+1, n-1-lo
		for hi < p.hi && pairs+n-1-hi <= blockPairs {
			pairs += n - 1 - hi
			hi++
		}
		if pairs > 0 {
			if s.pass == 1 {
				s.measure(p, lo, hi, pairs)
				s.sum(p, lo, hi, pairs)
			} else {
				if !s.cached {
					s.measure(p, lo, hi, pairs)
				}
				s.differentiate(p, lo, hi, pairs)
			}
		}
		lo = hi
	}
}

// measure computes distances, their inverses and their tangents. Those of
// vertex i and the later ones follow each other, from i = lo on.
func (s *sweep[T]) measure(p *part[T], lo, hi, pairs int) {
	n, dim := s.graph.n, s.dim
	at := 0
	for i := lo; i < hi; i++ {
		row := n - 1 - i
		if row == 0 {
			break
		}
		simd.Distances(p.d[at:at+row], s.x[i+1:], n, s.xi[i*dim:][:dim])
		if s.tangents {
			simd.DiffDots(p.dd[at:at+row], s.x[i+1:], n, s.xi[i*dim:][:dim], s.v[i+1:], s.vi[i*dim:][:dim])
		}
		at += row
	}
	if s.tangents || s.pass == 2 || s.cached && s.gradient {
		simd.InvTo(p.r[:pairs], p.d[:pairs])
	}
	if s.tangents {
		simd.MulTo(p.dd[:pairs], p.dd[:pairs], p.r[:pairs])
	}
}

// sum adds the distances and their tangents to the sums of their kind. What is
// connected moves to an array of its own.
func (s *sweep[T]) sum(p *part[T], lo, hi, pairs int) {
	near, far := &p.sums[connected], &p.sums[apart]
	e, d := p.w[:pairs], p.d[:pairs]
	p.shift[0] = T(s.origin[apart])
	simd.SubColumn(pairs, e, pairs, d, pairs, p.shift[:])
	some := s.take(p.b, d, e, lo, hi)
	p.shift[0] = T(s.origin[connected])
	if n := len(some); n > 0 {
		simd.SubColumn(n, some, n, some, n, p.shift[:])
	}
	near.d += float64(simd.Sum(some))
	far.d += float64(simd.Sum(e))
	if s.value {
		near.squares += float64(simd.SumSquares(some))
		far.squares += float64(simd.SumSquares(e))
	}
	if s.tangents {
		copy(e, p.dd)
		near.tangent += float64(simd.Sum(s.take(p.b, e, e, lo, hi)))
		far.tangent += float64(simd.Sum(e))
	}
}

// take stores the elements of from that belong to connected pairs in dst, which
// it returns shortened, and zeros in their places in e.
func (s *sweep[T]) take(dst, from, e []T, lo, hi int) []T {
	taken := 0
	for i := lo; i < hi; i++ {
		later := s.graph.Later(i)
		to := dst[taken:][:len(later)]
		row := s.graph.n - 1 - i
		f, z := from[:row], e[:row]
		for q, j := range later {
			j -= int32(i + 1)
			to[q] = f[j]
			z[j] = 0
		}
		taken += len(later)
		from, e = from[row:], e[row:]
	}
	return dst[:taken]
}

// differentiate adds the gradient and its tangent.
func (s *sweep[T]) differentiate(p *part[T], lo, hi, pairs int) {
	n, dim := s.graph.n, s.dim
	r, w, b := p.r[:pairs], p.w[:pairs], p.b[:pairs]

	far := &s.w[apart]
	simd.ScaleTo(w, -T(far.gamma), r)
	p.shift[0] = -T(far.alpha)
	simd.SubColumn(pairs, w, pairs, w, pairs, p.shift[:])
	if s.second { // r·(γ·r·ḋ - γ̇)
		simd.MulTo(b, r, p.dd[:pairs])
		simd.ScaleTo(b, T(far.gamma), b)
		p.shift[0] = T(far.gammaDot)
		simd.SubColumn(pairs, b, pairs, b, pairs, p.shift[:])
		simd.MulTo(b, b, r)
	}

	near := &s.w[connected]
	alpha, gamma, gammaDot := T(near.alpha), T(near.gamma), T(near.gammaDot)
	at := 0
	for i := lo; i < hi; i++ {
		row := n - 1 - i
		later := s.graph.Later(i)
		ri, wi := r[at:][:row], w[at:][:row]
		for _, j := range later {
			j -= int32(i + 1)
			wi[j] = alpha - T(gamma*ri[j])
		}
		if s.second {
			bi, di := b[at:][:row], p.dd[at:][:row]
			for _, j := range later {
				j -= int32(i + 1)
				bi[j] = ri[j] * (T(gamma*T(ri[j]*di[j])) - gammaDot)
			}
		}
		if row == 0 {
			break
		}
		x, xi := s.x[i+1:], s.xi[i*dim:][:dim]
		if s.gradient {
			simd.AddDiffs(p.grad[i+1:], x, n, xi, w[at:at+row], s.own[i*dim:][:dim])
		}
		if s.second {
			hess, own := p.hess[i+1:], s.ownDot[i*dim:][:dim]
			simd.AddDiffs(hess, s.v[i+1:], n, s.vi[i*dim:][:dim], w[at:at+row], own)
			simd.AddDiffs(hess, x, n, xi, b[at:at+row], own)
		}
		at += row
	}
}

// times returns the gradient by vertex i times v.
func (s *sweep[T]) times(grad, own []T, i int, v []T) T {
	var sum T
	for c, vc := range v {
		sum += T((grad[c*s.graph.n+i] - own[i*s.dim+c]) * vc)
	}
	return sum
}

// addTo adds alpha times a gradient to the operands of g.
func (s *sweep[T]) addTo(g *Loss[T], m int, alpha T, grad, own []T) {
	n := s.graph.n
	for i := range n {
		row := g.row(i, m)
		for c := range row {
			row[c] += T(alpha * (grad[c*n+i] - own[i*s.dim+c]))
		}
	}
}
