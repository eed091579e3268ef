package graphembed

import (
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/graphembed/internal/pairs"
)

const (
	// quad is how many vertices pairs.AddDiffs takes at once.
	quad = 4

	// chunk is how many columns are handled together. The arrays of four vertices, and
	// a coordinate of all columns, fit into the L1 cache.
	chunk = 512

	// partPairs is the least number of pairs of a part, unless there is only one part.
	partPairs = 1 << 15

	maxParts = 16

	// batch is how many vertices pairs.AllPairs gets at once, and chunkElements how
	// many coordinates of columns. These coordinates, and their sums, fit into the L1
	// cache.
	batch         = 16
	chunkElements = 2048
)

// A sweep is one evaluation in floating point.
//
// Vertices lie along the vector lanes: coordinate c of vertex i is x[c·ld+i], and x[i:]
// are the coordinates of all vertices from i on. Coordinates are relative to vertex 0.
// Differences lose nothing by that, because differences of nearby numbers are exact.
// The vertices are cut into parts with about the same number of pairs. A pair belongs
// to its first vertex. Each part adds to a gradient of its own.
type sweep[T rev.Float] struct {
	graph    *Graph
	dim      int
	value    bool // whether L is needed
	tangents bool // whether there are any
	gradient bool // whether the gradient is needed
	second   bool // whether its tangent is needed
	fast     bool // whether pairs.AllPairs is used

	ld     int // so that each row of x begins a cache line
	x, v   []T // coordinates and their tangents, by coordinate
	xi, vi []T // the same by vertex: those of vertex i from i·dim on

	count  [kinds]int
	origin [kinds]float64
	w      [kinds]weights

	// Sums of weighted differences of each vertex with later ones, by vertex: minus the
	// gradient, without the contributions of earlier vertices.
	own, ownDot []T

	parts []part[T]
	pass  int
}

// A part is a range of vertices, with the scratch for it.
type part[T rev.Float] struct {
	lo, hi     int
	sums       [kinds]sums
	grad, hess []T // by coordinate
	w, b       []T // of four vertices and a chunk of columns
	kinds      pairs.Kinds
	bits       []byte // of a batch of vertices and a chunk of columns
}

func sweepFloat[T rev.Float](k, g, t, gt *Loss[T]) (f, df T) {
	s := workspace.Get[*sweep[T]]()
	defer workspace.Put(s)

	s.tangents = lossHasPositions(t)
	wantDF := s.tangents && lossHasOut(t)
	toG := lossHasOut(g) && lossHasPositions(g)
	toGT := lossHasPositions(gt)
	s.second = toGT && s.tangents && lossHasOut(g)
	s.gradient = toG || wantDF || toGT && lossHasOut(gt)
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
			vec.AddTo(s.parts[0].grad, s.parts[0].grad, s.parts[i+1].grad)
		}
		if s.second {
			vec.AddTo(s.parts[0].hess, s.parts[0].hess, s.parts[i+1].hess)
		}
	}

	m := k.Fixed.Rows
	if wantDF {
		for i := range s.graph.n {
			if row := lossRow(t, i, m); row != nil {
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
	if toGT && lossHasOut(gt) {
		s.addTo(gt, m, *gt.Out, s.parts[0].grad, s.own)
	}
	return T(loss), df
}

// measureAll is the first pass. It returns L and sets the weights.
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
	s.fast = pairs.AllPairsFast(s.dim)
	n, m := g.n, k.Fixed.Rows
	s.ld = max(16, (n+15)&^15)
	size := s.ld * max(1, s.dim) // enough for whole quads, and for x[n-1:] without coordinates
	s.x, s.xi = workspace.Grow(s.x, size), workspace.Zeros(s.xi, size)
	pack(s.x, s.xi, k, n, m, s.dim, s.ld)
	if s.tangents {
		s.v, s.vi = workspace.Grow(s.v, size), workspace.Zeros(s.vi, size)
		pack(s.v, s.vi, t, n, m, s.dim, s.ld)
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
	i, done := 0, 0
	for p := range s.parts {
		part := &s.parts[p]
		part.lo = i
		for i < n && (p == parts-1 || done < g.Pairs()/parts*(p+1)) {
			for range quad {
				done += max(0, n-1-i)
				i++
			}
		}
		part.hi = i
		if s.fast {
			part.bits = workspace.Grow(part.bits, batch*max(16, chunkElements/s.dim)/8)
		}
		part.w = workspace.Grow(part.w, quad*chunk)
		for c := range part.kinds {
			part.kinds[c] = workspace.Grow(part.kinds[c], chunk/8)
		}
		if s.tangents {
			part.b = workspace.Grow(part.b, quad*chunk)
		}
		if s.gradient {
			part.grad = workspace.Zeros(part.grad, size)
		}
		if s.second {
			part.hess = workspace.Zeros(part.hess, size)
		}
	}

	var edge [2]int
	for i := range n {
		if later := g.Later(i); len(later) > 0 {
			edge = [2]int{i, int(later[0])}
			break
		}
	}
	s.origin[connected], s.origin[apart] = s.distance(edge), s.distance(g.apart)
}

// pack copies the positions of k, relative to vertex 0, by coordinate and by vertex.
func pack[T rev.Float](x, xi []T, k *Loss[T], n, m, dim, ld int) {
	var first []T
	if n > 0 {
		first = lossRow(k, 0, m)
	}
	for i := range n {
		row, to := lossRow(k, i, m), xi[i*dim:][:dim]
		for c := range to {
			var v T
			if row != nil {
				v = row[c]
			}
			if first != nil {
				v -= first[c]
			}
			to[c], x[c*ld+i] = v, v
		}
	}
}

// distance returns the distance of a pair.
func (s *sweep[T]) distance(pair [2]int) float64 {
	var d [1]T
	switch {
	case s.graph.n == 0:
	case s.fast:
		// Computed as in the sums, so that equal distances have no variance.
		a := s.pairs(pair[0], 2, pair[1], pair[1]+1, []byte{0, 0}, 0)
		a.From = 0 // no pair for the second row
		sum, _ := a.Moments([kinds]T{})
		d[0] = sum[apart]
	default:
		pairs.Distances(d[:], s.x[pair[1]:], s.ld, s.xi[pair[0]*s.dim:][:s.dim])
	}
	return float64(d[0])
}

// Block implements parallel.Task: one pass over the pairs of a part. Columns begin at a
// multiple of 8, so that rows are aligned. Columns that do not come after the vertex
// are of neither kind.
func (s *sweep[T]) Block(_, i int) {
	p := &s.parts[i]
	if s.pass == 1 {
		p.sums = [kinds]sums{}
	}
	n := s.graph.n
	if s.fast {
		s.blockOfPairs(p)
		if !s.second {
			return
		}
	}
	for left := p.lo &^ 7; left < n; left += chunk {
		hi := min(left+chunk, n)
		for i := p.lo; i < min(p.hi, hi-1); i += quad { // hi-1 has no later column
			lo := max(left, i&^7)
			if s.pass == 1 {
				s.measure(p, i, lo, hi)
			} else {
				s.differentiate(p, i, lo, hi)
			}
		}
	}
}

// blockOfPairs is Block with pairs.AllPairs.
func (s *sweep[T]) blockOfPairs(p *part[T]) {
	if s.pass == 2 && !s.gradient {
		return
	}
	g, n := s.graph, s.graph.n
	origin := [kinds]T{T(s.origin[apart]), T(s.origin[connected])}
	near, far := &s.w[connected], &s.w[apart]
	alpha, minusGamma := [kinds]T{T(far.alpha), T(near.alpha)}, [kinds]T{-T(far.gamma), -T(near.gamma)}
	end := min(p.hi, n+n%2)
	columns := max(16, chunkElements/s.dim&^15)
	for left := p.lo &^ 15; left < n; left += columns {
		hi := min(left+columns, n)
		for i := p.lo; i < min(end, hi); i += batch {
			rows := min(batch, end-i)
			bits, stride := g.nearBits(p.bits, i, rows, left, hi)
			a := s.pairs(i, rows, left, hi, bits, stride)
			if s.pass == 1 {
				p.addMoments(a.Moments(origin))
			} else {
				a.AddForces(alpha, minusGamma, p.grad[left:], s.own[i*s.dim:][:rows*s.dim])
			}
		}
	}
}

// addMoments adds to the sums of each kind.
func (p *part[T]) addMoments(sums, squares [kinds]T) {
	for c := range p.sums {
		p.sums[c].d += float64(sums[c])
		p.sums[c].squares += float64(squares[c])
	}
}

// pairs returns the pairs of some vertices from i on with later ones among lo, ...,
// hi-1.
func (s *sweep[T]) pairs(i, rows, lo, hi int, near []byte, ldNear int) *pairs.AllPairs[T] {
	return &pairs.AllPairs[T]{
		Dim: s.dim, N: hi - lo, From: i + 1 - lo,
		X: s.x[lo:], Ld: s.ld, C: s.xi[i*s.dim:][:rows*s.dim], Near: near, LdNear: ldNear,
	}
}

// measure adds the distances of the four vertices from i on, and their tangents,
// to the sums of their kind.
func (s *sweep[T]) measure(p *part[T], i, lo, hi int) {
	origin := [kinds]T{T(s.origin[apart]), T(s.origin[connected])}
	x, n, dim := s.x[lo:], hi-lo, s.dim
	for i, last := i, min(i+quad, s.graph.n); i < last; i++ {
		xi := s.xi[i*dim:][:dim]
		s.graph.kinds(p.kinds, i, lo, hi)
		if !s.fast {
			p.addMoments(pairs.KindDistances(n, x, s.ld, xi, p.kinds, origin))
		}
		if !s.tangents {
			continue
		}
		r, dDot := p.w[:n], p.b[:n]
		pairs.InvDistances(r, x, s.ld, xi)
		pairs.DiffDots(dDot, x, s.ld, xi, s.v[lo:], s.vi[i*dim:][:dim])
		vec.MulTo(dDot, dDot, r)
		sum, _ := pairs.KindSums(dDot, p.kinds, [kinds]T{})
		for c := range p.sums {
			p.sums[c].tangent += float64(sum[c])
		}
	}
}

// differentiate adds the contributions of the four vertices from i on to the gradient
// and its tangent.
func (s *sweep[T]) differentiate(p *part[T], i, lo, hi int) {
	near, far := &s.w[connected], &s.w[apart]
	alpha, gamma := [kinds]T{T(far.alpha), T(near.alpha)}, [kinds]T{T(far.gamma), T(near.gamma)}
	x, n, dim := s.x[lo:], hi-lo, s.dim
	for q := range quad {
		w, b := p.w[q*chunk:][:n], []T(nil)
		if s.second {
			b = p.b[q*chunk:][:n]
		}
		i := i + q
		if i >= s.graph.n {
			clear(w)
			clear(b)
			continue
		}
		xi := s.xi[i*dim:][:dim]
		s.graph.kinds(p.kinds, i, lo, hi)
		minusGamma := [kinds]T{-gamma[apart], -gamma[connected]}
		if s.second { // r·(γ·r·ḋ - γ̇)
			pairs.InvDistances(w, x, s.ld, xi)
			pairs.DiffDots(b, x, s.ld, xi, s.v[lo:], s.vi[i*dim:][:dim])
			vec.MulTo(b, b, w)
			vec.MulTo(b, b, w)
			pairs.KindAffine(b, b, p.kinds, [kinds]T{-T(far.gammaDot), -T(near.gammaDot)}, gamma)
			vec.MulTo(b, b, w)
			pairs.KindAffine(w, w, p.kinds, alpha, minusGamma)
		} else {
			pairs.KindInvDistances(w, x, s.ld, xi, p.kinds, alpha, minusGamma)
		}
	}
	xi := s.xi[i*dim:][:quad*dim]
	if s.gradient && !s.fast {
		pairs.AddDiffs(n, p.grad[lo:], x, s.ld, xi, p.w, chunk, s.own[i*dim:][:quad*dim])
	}
	if s.second {
		hess, own := p.hess[lo:], s.ownDot[i*dim:][:quad*dim]
		pairs.AddDiffs(n, hess, s.v[lo:], s.ld, s.vi[i*dim:][:quad*dim], p.w, chunk, own)
		pairs.AddDiffs(n, hess, x, s.ld, xi, p.b, chunk, own)
	}
}

// times returns the gradient by vertex i times v.
func (s *sweep[T]) times(grad, own []T, i int, v []T) T {
	var sum T
	for c, vc := range v {
		sum += T((grad[c*s.ld+i] - own[i*s.dim+c]) * vc)
	}
	return sum
}

// addTo adds alpha times a gradient to the operands of g.
func (s *sweep[T]) addTo(g *Loss[T], m int, alpha T, grad, own []T) {
	for i := range s.graph.n {
		row := lossRow(g, i, m)
		for c := range row {
			row[c] += T(alpha * (grad[c*s.ld+i] - own[i*s.dim+c]))
		}
	}
}
