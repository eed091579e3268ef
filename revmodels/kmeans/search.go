package kmeans

import (
	"context"
	"math"
	"slices"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A search holds points and centroids, and of each point the nearest centroid
// with bounds on distances, while centroids are chosen and moved.
//
// # Scores
//
// Points lie in panels by coordinate, so that the lanes of a vector are points.
// With points and centroids shifted by the mean of some points, to x' and c',
// the score
//
//	s_ik = c'_k·x'_i - ½‖c'_k‖² = ½‖x'_i‖² - ½‖x_i - c_k‖²
//
// is a product of matrices, and its maximum belongs to the nearest centroid.
// The rounding error of a difference of two scores is below the margin
//
//	m_i = (2D+8)·(ε·R_i² + η),  R_i = ‖x'_i‖ + max_k ‖c'_k‖,
//
// as a sweep derives it. Where the two largest scores are closer than that, the
// distances themselves decide, so that labels agree with Cost.
//
// # Bounds
//
// Of each point, upper is not less than the distance from its centroid, and
// lower is not more than that from any other. When centroids move, the bounds
// move by as much, and a point with upper < lower, or with upper less than half
// the distance of its centroid from the nearest other one, keeps its centroid
// without a look at it: Hamerly, Making k-means even faster, SIAM International
// Conference on Data Mining, 2010.
type search struct {
	x       rev.General[float64]
	w       []float64 // weights of the points; nil if all are 1
	n, d, k int
	workers int
	parts   int // runs of panels that have sums of their own

	shift    []float64 // the mean of some points
	panels   []float64 // x' by coordinate: (j, p) of panel b is at (b·D+j)·panel+p
	norms    []float64 // ‖x'‖²
	far      float64   // the largest ‖x'‖
	variance float64   // the mean of those of the columns
	squares  []float64 // of each part, Σ w·‖x'‖²

	centroids rev.General[float64]
	scored    []float64 // K×D: c'
	halves    []float64 // ½‖c'‖²
	radius    float64   // the largest ‖c'‖

	labels       []int32
	upper, lower []float64
	changed      []int // of each part, points that changed their centroid

	// Of each part, by centroid: the weight of its points, and Σ w·(x - base),
	// where base is where the centroid was when this was last added up anew.
	counts, sums, base []float64
	stale              bool // whether a label has changed since

	moved       []float64 // how far each centroid moved
	apart       []float64 // half its distance from the nearest other one
	most, after float64   // the largest two of moved
	mover       int       // the centroid that moved most

	scratch []searchScratch // of each worker
}

// searchScratch is what a worker needs.
type searchScratch struct {
	tile         []float64 // K×panel: scores
	points       []float64 // D×panel: points whose bounds did not decide
	which        [panel]int
	best, second [panel]float64 // the largest two scores
	top, lesser  [panel]float64
	label        [panel]int32
	before       [panel]int32
}

// slack is more than the relative error of a bound that is computed from
// distances; tiny is more than the absolute error where squares underflow.
const (
	slack = 0x1p-40
	tiny  = 1e-150
)

// newSearch returns a search without centroids, in which all points are to have
// the given weights.
func newSearch(x rev.General[float64], w []float64, k, workers int) *search {
	n, d := x.Rows, x.Cols
	blocks := (n + panel - 1) / panel
	s := workspace.Get[search]()
	s.x, s.w, s.n, s.d, s.k, s.workers = x, w, n, d, k, parallel.Workers(workers)
	// Few enough for their sums to be small beside the points.
	s.parts = min(max(n/(4*k), 8), 32, blocks)
	s.panels, s.norms = workspace.Grow(s.panels, blocks*d*panel), workspace.Grow(s.norms, n)
	s.labels, s.upper, s.lower = workspace.Grow(s.labels, n), workspace.Grow(s.upper, n), workspace.Grow(s.lower, n)
	s.centroids = rev.NewGeneral(k, d, workspace.Grow(s.centroids.Data, k*d))
	s.scored, s.halves = workspace.Grow(s.scored, k*d), workspace.Grow(s.halves, k)
	s.moved, s.apart = workspace.Grow(s.moved, k), workspace.Grow(s.apart, k)
	s.squares = workspace.Grow(s.squares, s.parts)
	s.changed, s.base = workspace.Grow(s.changed, s.parts), workspace.Grow(s.base, k*d)
	s.counts, s.sums = workspace.Grow(s.counts, s.parts*k), workspace.Grow(s.sums, s.parts*k*d)
	s.scratch = workspace.Grow(s.scratch[:cap(s.scratch)], max(s.workers, cap(s.scratch)))
	for i := range s.scratch[:s.workers] {
		s.scratch[i].tile = workspace.Grow(s.scratch[i].tile, max(k, maxCandidates)*panel)
		s.scratch[i].points = workspace.Grow(s.scratch[i].points, d*panel)
	}

	s.shift = workspace.Zeros(s.shift, d)
	few := min(n, 1024)
	for i := range few {
		vec.Axpy(1/float64(few), x.Row(i*(n/few)), s.shift)
	}
	// Sums of x' and of its squares, for the variances.
	s.forget()
	s.run(s.load)
	s.far, s.variance = 0, 0
	for _, v := range s.norms {
		s.far = max(s.far, v)
	}
	s.far = math.Sqrt(s.far)
	var total float64
	mean := make([]float64, d)
	for part := range s.parts {
		total += s.counts[part*k]
		vec.Axpy(1, s.sums[part*k*d:][:d], mean)
	}
	for part := range s.parts {
		s.variance += s.squares[part] / total
	}
	for _, v := range mean {
		s.variance -= v / total * v / total
	}
	s.variance /= float64(d)
	return s
}

// close gives the storage back, but for what belongs to the caller.
func (s *search) close() {
	s.x, s.w = rev.General[float64]{}, nil
	workspace.Put(s)
}

func (s *search) weight(i int) float64 {
	if s.w == nil {
		return 1
	}
	return s.w[i]
}

// run runs task for every part of the points, in parallel.
func (s *search) run(task func(worker, part, first, end int)) {
	parallel.Run(s.workers, s.parts, partTask{s, task})
}

// partTask is the parallel task of run.
type partTask struct {
	s   *search
	run func(worker, part, first, end int)
}

// Block implements parallel.Task.
func (t partTask) Block(worker, part int) {
	blocks := (t.s.n + panel - 1) / panel
	t.run(worker, part, part*blocks/t.s.parts*panel, min((part+1)*blocks/t.s.parts*panel, t.s.n))
}

// block returns the panel of the points from the given first one on.
func (s *search) block(first int) []float64 { return s.panels[first*s.d : (first+panel)*s.d] }

// load fills the panels of a part, and adds up w·x' and w·‖x'‖².
func (s *search) load(_, part, first, end int) {
	sums := s.sums[part*s.k*s.d:][:s.d]
	var squares [panel]float64
	s.squares[part] = 0
	for ; first < end; first += panel {
		x, n := s.block(first), min(panel, end-first)
		dense.Transpose(x, panel, s.x.Data[first*s.x.Stride:], s.x.Stride, n, s.d)
		vec.SubColumn(n, x, panel, x, panel, s.shift)
		norms := s.norms[first : first+n]
		clear(norms)
		for j := range s.d {
			vec.MulTo(squares[:n], x[j*panel:][:n], x[j*panel:][:n])
			vec.AddTo(norms, norms, squares[:n])
		}
		s.counts[part*s.k] += s.total(first, nil, n)
		s.squares[part] += s.total(first, norms, n)
		for j := range sums {
			sums[j] += s.total(first, x[j*panel:], n)
		}
	}
}

// total returns Σ w·v over n points from the given first one on, Σ w if v is nil.
func (s *search) total(first int, v []float64, n int) float64 {
	switch {
	case s.w == nil && v == nil:
		return float64(n)
	case s.w == nil:
		return vec.Sum(v[:n])
	case v == nil:
		return vec.Sum(s.w[first : first+n])
	}
	return vec.Dot(s.w[first:first+n], v[:n])
}

// set makes c' of the centroids.
func (s *search) set() {
	s.radius = 0
	for k := range s.k {
		s.halves[k] = s.center(s.scored[k*s.d:(k+1)*s.d], s.centroids.Row(k))
		s.radius = max(s.radius, math.Sqrt(2*s.halves[k]))
	}
}

// center sets c to x' for the point or centroid x, and returns ½‖x'‖².
func (s *search) center(c, x []float64) (half float64) {
	for j, v := range s.shift {
		c[j] = x[j] - v
		half += float64(c[j]*c[j]) / 2
	}
	return half
}

// margin returns m_i for a point with the given ‖x'‖².
func (s *search) margin(norm float64) float64 {
	r := math.Sqrt(norm) + s.radius
	return float64(2*s.d+8) * (float64(0x1p-52*float64(r*r)) + math.SmallestNonzeroFloat64)
}

var ones = slices.Repeat([]float64{1}, panel)

// score sets rows of tile to the scores of the given centroids at n points held
// by coordinate.
func (s *search) score(tile, points, c, halves []float64, n int) {
	for k, half := range halves {
		vec.ScaleTo(tile[k*panel:][:n], -half, ones[:n])
	}
	dense.Gemm(len(halves), n, s.d, 1, c, s.d, 1, points, panel, 1, tile, panel)
}

// nearest finds the centroids of n points, given by coordinate and as t.which, and
// sets their labels and bounds.
func (s *search) nearest(t *searchScratch, x []float64, n int) {
	s.score(t.tile, x, s.scored, s.halves, n)
	best, second, label := t.best[:n], t.second[:n], t.label[:n]
	top, lesser := t.top[:n], t.lesser[:n]
	copy(best, t.tile)
	vec.ScaleTo(second, math.Inf(-1), ones[:n])
	for k := 1; k < s.k; k++ {
		row := t.tile[k*panel:][:n]
		vec.MaxTo(top, best, row)
		vec.AddTo(lesser, best, row) // and what is left of the sum: rounding, which the margin covers
		vec.Axpy(-1, top, lesser)
		vec.MaxTo(second, second, lesser)
		copy(best, top)
	}
	for k := s.k - 1; k >= 0; k-- {
		for p, v := range t.tile[k*panel:][:n] {
			if v == best[p] {
				label[p] = int32(k)
			}
		}
	}
	for p, i := range t.which[:n] {
		norm := s.norms[i]
		m := s.margin(norm)
		if best[p]-second[p] <= m {
			label[p] = s.decide(t.tile[p:], i, best[p]-m)
		}
		s.labels[i] = label[p]
		s.upper[i] = above(norm - 2*best[p] + 2*m)
		s.lower[i] = below(norm - 2*second[p] - 2*m)
	}
}

// decide returns the nearest centroid of point i of those with a score of at
// least limit, of which column has one in panel elements.
func (s *search) decide(column []float64, i int, limit float64) int32 {
	least, label := math.Inf(1), 0
	for k := range s.k {
		if column[k*panel] >= limit {
			if v := distance(s.x.Row(i), s.centroids.Row(k)); v < least {
				least, label = v, k
			}
		}
	}
	return int32(label)
}

// above returns a number that is not below √square, below one not above it.
func above(square float64) float64 { return math.Sqrt(max(square, 0))*(1+slack) + tiny }

func below(square float64) float64 { return math.Sqrt(max(square, 0))*(1-slack) - tiny }

// assign finds the centroid of every point.
func (s *search) assign() {
	s.set()
	s.run(func(worker, _, first, end int) {
		t := &s.scratch[worker]
		for ; first < end; first += panel {
			n := min(panel, end-first)
			for p := range n {
				t.which[p] = first + p
			}
			s.nearest(t, s.block(first), n)
		}
	})
	s.stale = true
}

// add adds w times point i to the sums of centroid k.
func (s *search) add(part, i int, k int32, w float64) {
	at := part*s.k + int(k)
	s.counts[at] += w
	base, sums := s.base[int(k)*s.d:][:s.d], s.sums[at*s.d:][:s.d]
	for j, v := range s.x.Row(i)[:s.d] {
		sums[j] += float64(w * (v - base[j]))
	}
}

// resum adds up the points of the centroids anew, if a label has changed since: each
// change leaves a rounding error behind.
func (s *search) resum() {
	if !s.stale {
		return
	}
	s.stale = false
	s.forget()
	s.run(func(_, part, first, end int) {
		for i := first; i < end; i++ {
			s.add(part, i, s.labels[i], s.weight(i))
		}
	})
}

// forget makes the sums 0.
func (s *search) forget() {
	clear(s.counts)
	clear(s.sums)
	copy(s.base, s.centroids.Data)
}

// update moves each centroid to the mean of its points, and returns the sum of
// the squares of how far they moved. A centroid without points stays.
func (s *search) update() (squares float64) {
	s.most, s.after, s.mover = 0, 0, 0
	mean := make([]float64, s.d)
	for k := range s.k {
		count := s.count(k)
		s.moved[k] = 0
		if !(count > 0) {
			continue
		}
		clear(mean)
		for part := range s.parts {
			for j, v := range s.sums[(part*s.k+k)*s.d:][:s.d] {
				mean[j] += v
			}
		}
		var square float64
		c := s.centroids.Row(k)
		for j, v := range mean {
			to := s.base[k*s.d+j] + v/count
			square += float64((to - c[j]) * (to - c[j]))
			c[j] = to
		}
		if squares += square; square > 0 {
			s.moved[k] = above(square)
		}
		if s.moved[k] > s.most {
			s.most, s.after, s.mover = s.moved[k], s.most, k
		} else {
			s.after = max(s.after, s.moved[k])
		}
	}
	s.set()
	return squares
}

// count returns the weight of the points of centroid k.
func (s *search) count(k int) (count float64) {
	for part := range s.parts {
		count += s.counts[part*s.k+k]
	}
	return count
}

// step assigns the points again after update, and returns how many changed their
// centroid.
func (s *search) step() (changed int) {
	parallel.Run(s.workers, s.k, (*spacing)(s))
	s.run(s.stepPart)
	for _, c := range s.changed {
		changed += c
	}
	s.stale = s.stale || changed > 0
	return changed
}

// spacing is the parallel task of finding how far each centroid is apart from
// the others.
type spacing search

// Block implements parallel.Task.
func (s *spacing) Block(_, k int) {
	least := math.Inf(1)
	for l := range s.k {
		if l != k {
			least = min(least, distance(s.centroids.Row(k), s.centroids.Row(l)))
		}
	}
	s.apart[k] = below(least) / 2
}

func (s *search) stepPart(worker, part, first, end int) {
	t := &s.scratch[worker]
	s.changed[part] = 0
	n := 0
	for i := first; i < end; i++ {
		k := int(s.labels[i])
		u, l := s.upper[i], s.lower[i]
		if m := s.moved[k]; m > 0 {
			u = (u + m) * (1 + slack)
			s.upper[i] = u
		}
		m := s.most
		if k == s.mover {
			m = s.after
		}
		if m > 0 {
			l -= m
			l -= slack * math.Abs(l)
			s.lower[i] = l
		}
		if l = max(l, s.apart[k]); u < l {
			continue
		}
		u = above(distance(s.x.Row(i), s.centroids.Row(k)))
		s.upper[i] = u
		if u < l {
			continue
		}
		s.take(t, n, i)
		if n++; n == panel {
			s.again(t, part, n)
			n = 0
		}
	}
	s.again(t, part, n)
}

// take makes point i number n of t.points.
func (s *search) take(t *searchScratch, n, i int) {
	t.which[n] = i
	at := s.block(i &^ (panel - 1))[i&(panel-1):]
	for j := range s.d {
		t.points[j*panel+n] = at[j*panel]
	}
}

// again finds the centroids of the n points in t.points anew.
func (s *search) again(t *searchScratch, part, n int) {
	if n == 0 {
		return
	}
	for p, i := range t.which[:n] {
		t.before[p] = s.labels[i]
	}
	s.nearest(t, t.points, n)
	for p, i := range t.which[:n] {
		if k := s.labels[i]; k != t.before[p] {
			s.add(part, i, t.before[p], -s.weight(i))
			s.add(part, i, k, s.weight(i))
			s.changed[part]++
		}
	}
}

// cost returns Σ w·‖x - c‖², and sets dists to the squared distances if it is not
// nil.
func (s *search) cost(dists []float64) (cost float64) {
	costs := make([]float64, s.parts)
	s.run(func(_, part, first, end int) {
		for i := first; i < end; i++ {
			v := distance(s.x.Row(i), s.centroids.Row(int(s.labels[i])))
			costs[part] += float64(s.weight(i) * v)
			if dists != nil {
				dists[i] = v
			}
		}
	})
	for _, v := range costs {
		cost += v
	}
	return cost
}

// lloyd takes steps of Lloyd's algorithm, of which there are to be at most the
// given number in all, until no point changes its centroid, or the squares of the
// moves of the centroids sum to at most the tolerance. Labels and bounds are those
// of the centroids before and after.
func (s *search) lloyd(ctx context.Context, r *Start, most int, tolerance float64) {
	r.Converged = false
	s.resum()
	for !r.Converged && r.Iterations < most && ctx.Err() == nil {
		squares := s.update()
		r.Iterations++
		if filled := s.fillEmpty(); filled > 0 {
			r.Filled += filled
			s.assign()
			s.resum()
			continue
		}
		if s.step() > 0 && squares > tolerance {
			continue
		}
		if s.stale { // once more, without what nothing but rounding has left
			s.resum()
			s.update()
			r.Converged = s.step() == 0 || squares <= tolerance
		} else {
			r.Converged = true
		}
	}
}

// fillEmpty moves each centroid without points to the point that is farthest
// from its own centroid, and returns how many it moved.
func (s *search) fillEmpty() (filled int) {
	var dists []float64
	for k := range s.k {
		if s.count(k) > 0 {
			continue
		}
		if dists == nil {
			dists = make([]float64, s.n)
			s.cost(dists)
			for i := range dists {
				dists[i] *= s.weight(i)
			}
		}
		far := 0
		for i, v := range dists {
			if v > dists[far] {
				far = i
			}
		}
		if dists[far] == 0 {
			break // all points lie on centroids
		}
		copy(s.centroids.Row(k), s.x.Row(far))
		dists[far] = 0
		filled++
	}
	return filled
}
