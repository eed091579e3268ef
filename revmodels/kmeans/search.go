package kmeans

import (
	"context"
	"math"

	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/nearest"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A search chooses and moves centroids. For each point it keeps the nearest centroid
// and bounds on distances.
//
// Points lie in panels by coordinate, so that the lanes of a vector are points. Scores find
// the nearest centroid, or distances where scores do not decide. The labels therefore agree
// with Cost.
//
// # Bounds
//
// upper is an upper bound on the distance of a point from its centroid, and lower a lower
// bound on its distance from every other centroid. When centroids move, the bounds change
// by the lengths of the moves. A point keeps its centroid, and no distance is computed, in
// two cases: if upper < lower, or if upper is less than half the distance of its centroid
// from the nearest other centroid. See Hamerly, Making k-means even faster, SIAM
// International Conference on Data Mining, 2010.
//
// With few centroids in few dimensions, the scores of all points take less time than these bounds.
// Then lower holds the square of the bound for the present centroids, and upper nothing.
type search struct {
	x       rev.General[float64]
	w       []float64 // weights of the points, nil if all are 1
	n, d, k int
	workers int
	sampled bool // the points are some of many
	bounded bool // steps of Lloyd's algorithm use the bounds
	parts   int  // number of parts: runs of panels with their own sums

	scores scores[float64] // shifted by the mean of some points

	panels   []float64 // x' by coordinate: (j, p) of panel b is at (b·D+j)·stride+p
	norms    []float64 // ‖x'‖²
	far      float64   // the largest ‖x'‖²
	variance float64   // the mean variance of the columns
	squares  []float64 // Σ w·‖x'‖² of each part

	centroids rev.General[float64]

	labels       []int32
	upper, lower []float64 // the bounds; in seed, the least two scores
	near         []float64 // in seed, the centroid of the least score
	changed      []int     // number of points of each part that changed their centroid

	// For each part and centroid: the weight of the points, and Σ w·(x - base). base is
	// the position of the centroid when the sums were last computed anew.
	counts, sums, base []float64
	stale              bool // whether a label has changed since then

	moved  []float64 // how far each centroid moved
	others []float64 // the farthest move of another centroid
	apart  []float64 // half the distance of each from the nearest other one

	copies  []float64       // of points of a sample or a split
	scratch []searchScratch // of each worker
}

// searchScratch is the scratch memory of a worker.
type searchScratch struct {
	points, rows []float64  // some points by coordinate, D×stride, and by row
	tile         []float64  // scores
	which        [panel]int // the points
	unclear      [panel]int // points of a panel whose bounds do not decide
	least        twoLeast[float64]
	before       [panel]int32
}

// slack exceeds the relative error of a bound computed from distances. tiny exceeds
// the absolute error if squares underflow.
const (
	slack = 0x1p-40
	tiny  = 1e-150
)

// unbounded returns whether the scores of k centroids take less time for a point than bounds. To compare
// a score takes as long as 10 of its products.
func unbounded(k, d int) bool {
	if cpu.InUse() == cpu.Generic { // one score at a time
		return k*(d+10) <= 64
	}
	return k*(d+10) <= 1024
}

// newSearch returns a search without centroids. Points have the weights w, or 1 if w is
// nil.
func newSearch(x rev.General[float64], w []float64, k, workers int) *search {
	n, d := x.Rows, x.Cols
	blocks := (n + panel - 1) / panel
	s := workspace.Get[*search]()
	s.x, s.w, s.n, s.d, s.k, s.workers, s.sampled = x, w, n, d, k, parallel.Workers(workers), false
	s.bounded = !unbounded(k, d)
	s.scores.bound(k, d)
	// Few parts, so that their sums are small compared with the points.
	s.parts = min(max(n/(4*k), 8), 32, blocks)
	s.panels, s.norms = workspace.Grow(s.panels, blocks*d*stride), workspace.Grow(s.norms, n)
	s.labels, s.upper, s.lower = workspace.Grow(s.labels, n), workspace.Grow(s.upper, blocks*panel), workspace.Grow(s.lower, blocks*panel)
	s.centroids = rev.NewGeneral(k, d, workspace.Grow(s.centroids.Data, k*d))
	s.scores.scored, s.scores.halves = workspace.Grow(s.scores.scored, k*d), workspace.Grow(s.scores.halves, k)
	s.moved, s.others, s.apart = workspace.Grow(s.moved, k), workspace.Grow(s.others, k), workspace.Grow(s.apart, k)
	s.squares = workspace.Grow(s.squares, s.parts)
	s.changed, s.base = workspace.Grow(s.changed, s.parts), workspace.Grow(s.base, k*d)
	s.counts, s.sums = workspace.Grow(s.counts, s.parts*k), workspace.Grow(s.sums, s.parts*k*d)
	s.scratch = workspace.Grow(s.scratch[:cap(s.scratch)], max(s.workers, cap(s.scratch)))
	for i := range s.scratch[:s.workers] {
		s.scratch[i].points = workspace.Grow(s.scratch[i].points, d*stride)
	}

	s.scores.shift = workspace.Zeros(s.scores.shift, d)
	some := min(n, 128)
	for i := range some {
		vec.Axpy(1/float64(some), x.Row(i*(n/some)), s.scores.shift)
	}
	// Sums of x' and of its squares give the variances.
	s.forget()
	s.run(s.load)
	s.far, s.variance = vec.Max(s.norms), 0
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

// within reports whether no number of the points exceeds limit in magnitude. It may
// return false if the largest is just below limit.
func (s *search) within(limit float64) bool {
	far := math.Sqrt(s.far)
	for _, v := range s.scores.shift {
		if !(math.Abs(v)+far <= limit*(1-slack)) {
			return false
		}
	}
	return true
}

// close gives the storage back, except that of the caller.
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

// block returns the panel that begins at point first.
func (s *search) block(first int) []float64 {
	return s.panels[first/panel*s.d*stride:][:s.d*stride]
}

// load fills the panels of a part and sums w·x' and w·‖x'‖².
func (s *search) load(_, part, first, end int) {
	sums := s.sums[part*s.k*s.d:][:s.d]
	s.squares[part] = 0
	for ; first < end; first += panel {
		x, n := s.block(first), min(panel, end-first)
		norms := s.norms[first : first+n]
		s.scores.load(x, norms, s.x.Data[first*s.x.Stride:], s.x.Stride)
		s.counts[part*s.k] += s.total(first, nil, n)
		s.squares[part] += s.total(first, norms, n)
		for j := range sums {
			sums[j] += s.total(first, x[j*stride:], n)
		}
	}
}

// total returns Σ w·v over n points from point first on, or Σ w if v is nil.
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

// label sets the labels and bounds of the points in which. x holds them by coordinate.
func (s *search) label(t *searchScratch, x []float64, which []int) {
	if len(which) == 0 {
		return
	}
	best, second, label := s.scores.leastScores(&t.least, x, len(which))
	for p, i := range which {
		norm := s.norms[i]
		m := s.scores.margin(norm)
		if s.labels[i] = int32(label[p]); !(second[p]-best[p] > m) {
			s.labels[i], _ = nearestOf(s.x.Row(i), s.centroids)
		}
		s.upper[i] = sqrtAbove(norm + 2*best[p] + 2*m)
		s.lower[i] = sqrtBelow(norm + 2*second[p] - 2*m)
	}
}

// relabel is label without upper for n points from point first on. If move is set, it moves those
// that changed.
func (s *search) relabel(t *searchScratch, part, first, n int, move bool) {
	best, second, label := s.scores.leastScores(&t.least, s.block(first), n)
	labels, lower := s.labels[first:][:n], s.lower[first:][:n]
	for p, norm := range s.norms[first:][:n] {
		m := s.scores.margin(norm)
		k := int32(label[p])
		if !(second[p]-best[p] > m) {
			k, _ = nearestOf(s.x.Row(first+p), s.centroids)
		}
		lower[p] = norm + 2*second[p] - 2*m
		if k == labels[p] {
			continue
		}
		if move {
			s.change(part, first+p, labels[p], k)
		}
		labels[p] = k
	}
}

// change moves point i from centroid k to centroid l in the sums of a part.
func (s *search) change(part, i int, k, l int32) {
	s.add(part, i, k, -s.weight(i))
	s.add(part, i, l, s.weight(i))
	s.changed[part]++
}

// sqrtAbove returns an upper bound of √square.
func sqrtAbove(square float64) float64 { return float64(math.Sqrt(max(square, 0))*(1+slack)) + tiny }

// sqrtBelow returns a lower bound of √square. It is finite even where there is no other centroid
// and square is +Inf: an infinite bound would become NaN in unclear.
func sqrtBelow(square float64) float64 {
	return float64(math.Sqrt(min(max(square, 0), math.MaxFloat64))*(1-slack)) - tiny
}

// assign finds the centroid of every point.
func (s *search) assign() {
	s.scores.set(s.centroids)
	s.run(func(worker, part, first, end int) {
		t := &s.scratch[worker]
		for ; first < end; first += panel {
			n := min(panel, end-first)
			if !s.bounded {
				s.relabel(t, part, first, n, false)
				continue
			}
			for p := range n {
				t.which[p] = first + p
			}
			s.label(t, s.block(first), t.which[:n])
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

// resum computes the sums of all centroids anew if a label has changed since the last
// time, because each change leaves a rounding error in them.
func (s *search) resum() {
	if !s.stale {
		return
	}
	s.stale = false
	s.forget()
	s.run(func(_, part, first, end int) {
		labels, counts, w := s.labels[first:end], s.counts[part*s.k:][:s.k], s.w
		if w != nil {
			w = w[first:end]
		}
		for i, k := range labels {
			if w == nil {
				counts[k]++
			} else {
				counts[k] += w[i]
			}
		}
		nearest.AddRows(s.sums[part*s.k*s.d:], s.base, s.d, labels, s.x.Data[first*s.x.Stride:], s.x.Stride, s.d, w)
	})
}

// forget sets the sums to 0 and base to the centroids.
func (s *search) forget() {
	clear(s.counts)
	clear(s.sums)
	copy(s.base, s.centroids.Data)
}

// update moves each centroid to the mean of its points. It returns the sum of the
// squares of the moves. A centroid without points stays.
func (s *search) update() (squares float64) {
	var farthest, after float64 // the largest two moves
	mover := 0                  // the centroid that moved most
	mean := make([]float64, s.d)
	for k := range s.k {
		count := s.count(k)
		s.moved[k] = 0
		if !(count > 0) {
			continue
		}
		clear(mean)
		for part := range s.parts {
			vec.AddTo(mean, mean, s.sums[(part*s.k+k)*s.d:][:s.d])
		}
		var square float64
		c := s.centroids.Row(k)
		for j, v := range mean {
			to := s.base[k*s.d+j] + v/count
			square += float64((to - c[j]) * (to - c[j]))
			c[j] = to
		}
		if squares += square; square > 0 {
			s.moved[k] = sqrtAbove(square)
		}
		if s.moved[k] > farthest {
			farthest, after, mover = s.moved[k], farthest, k
		} else {
			after = max(after, s.moved[k])
		}
	}
	for k := range s.others {
		s.others[k] = farthest
	}
	s.others[mover] = after
	s.scores.set(s.centroids)
	return squares
}

// count returns the weight of the points of centroid k.
func (s *search) count(k int) (count float64) {
	for part := range s.parts {
		count += s.counts[part*s.k+k]
	}
	return count
}

// lightest returns the weight of the points of the centroid that has the least, and that of all
// points.
func (s *search) lightest() (least, all float64) {
	least = math.Inf(1)
	for k := range s.k {
		count := s.count(k)
		least = min(least, count)
		all += count
	}
	return least, all
}

// step assigns the points again after update. It returns how many points changed their
// centroid.
func (s *search) step() (changed int) {
	if s.bounded {
		parallel.Run(s.workers, s.k, (*spacing)(s))
	}
	s.run(s.stepPart)
	for _, c := range s.changed {
		changed += c
	}
	s.stale = s.stale || changed > 0
	return changed
}

// spacing is the parallel task that finds the distance of each centroid from the nearest
// other centroid.
type spacing search

// Block implements parallel.Task.
func (s *spacing) Block(_, k int) {
	least := math.Inf(1)
	for l := range s.k {
		if l != k {
			least = min(least, distance(s.centroids.Row(k), s.centroids.Row(l)))
		}
	}
	s.apart[k] = sqrtBelow(least) / 2
}

func (s *search) stepPart(worker, part, first, end int) {
	t := &s.scratch[worker]
	s.changed[part] = 0
	n := 0
	for ; first < end; first += panel {
		size := min(panel, end-first)
		if !s.bounded {
			s.relabel(t, part, first, size, true)
			continue
		}
		unclear := t.unclear[:s.unclear(&t.unclear, first, size)]
		if 2*len(unclear) > size { // cheaper than to copy the points
			for p := range size {
				t.unclear[p] = first + p
			}
			s.recompute(t, part, s.block(first), t.unclear[:size])
			continue
		}
		for _, i := range unclear {
			k := int(s.labels[i])
			u := sqrtAbove(distance(s.x.Row(i), s.centroids.Row(k)))
			if s.upper[i] = u; u < max(s.lower[i], s.apart[k]) {
				continue
			}
			t.which[n] = i
			if n++; n == panel {
				s.recompute(t, part, nil, t.which[:n])
				n = 0
			}
		}
	}
	s.recompute(t, part, nil, t.which[:n])
}

// unclear changes the bounds of size points from point first on by the moves of the centroids. It
// stores in list the points whose bounds no longer decide, and returns their number.
func (s *search) unclear(list *[panel]int, first, size int) (n int) {
	labels, upper := s.labels[first:first+size], s.upper[first:first+size]
	lower, moved, others, apart := s.lower[first:first+size], s.moved, s.others, s.apart
	for p, k := range labels {
		u, l := float64((upper[p]+moved[k])*(1+slack)), lower[p]-others[k]
		l -= float64(slack * math.Abs(l))
		upper[p], lower[p] = u, l
		list[n] = first + p
		if !(u < max(l, apart[k])) {
			n++
		}
	}
	return n
}

// gather stores x' of the points in which by coordinate in t.points.
func (s *search) gather(t *searchScratch, which []int) {
	n := len(which)
	t.rows = workspace.Grow(t.rows, n*s.d)
	for p, i := range which {
		copy(t.rows[p*s.d:(p+1)*s.d], s.x.Row(i))
	}
	dense.Transpose(t.points, stride, t.rows, s.d, n, s.d)
	vec.SubColumn(n, t.points, stride, t.points, stride, s.scores.shift)
}

// recompute finds the centroids of the points in which, and moves those that changed. If x is
// not nil, it holds the points by coordinate.
func (s *search) recompute(t *searchScratch, part int, x []float64, which []int) {
	if x == nil {
		s.gather(t, which)
		x = t.points
	}
	for p, i := range which {
		t.before[p] = s.labels[i]
	}
	s.label(t, x, which)
	for p, i := range which {
		if k := s.labels[i]; k != t.before[p] {
			s.change(part, i, t.before[p], k)
		}
	}
}

// cost returns Σ w·‖x - c‖². If dists is not nil, it stores the squared distances there.
func (s *search) cost(dists []float64) (cost float64) {
	costs := make([]float64, s.parts)
	s.run(func(worker, part, first, end int) {
		for ; first < end; first += panel {
			n := min(panel, end-first)
			d := s.scratch[worker].least.best[:n]
			if dists != nil {
				d = dists[first : first+n]
			}
			nearest.Distances(d, s.centroids.Data, s.d, s.labels[first:first+n], s.x.Data[first*s.x.Stride:], s.x.Stride, s.d)
			costs[part] += s.total(first, d, n)
		}
	})
	for _, v := range costs {
		cost += v
	}
	return cost
}

// lloyd takes steps of Lloyd's algorithm. It ends when no point changes its centroid,
// when the squares of the moves sum to at most the tolerance, when r.Iterations reaches
// most, or when ctx is done. Labels and bounds must be those of the centroids, and are
// so again at the end.
func (s *search) lloyd(ctx context.Context, r *Start, most int, tolerance float64) {
	r.Converged = false
	s.resum()
	for !r.Converged && r.Iterations < most && ctx.Err() == nil {
		if least, all := s.lightest(); s.w != nil && least < 0x1p-30*all {
			s.resum() // else rounding may be all that the sums of a centroid have
		}
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
		if s.stale { // again, with sums that have no errors from earlier changes
			s.resum()
			if least, _ := s.lightest(); least == 0 {
				continue // the last step took all points of a centroid
			}
			s.update()
			changed := s.step()
			s.resum() // this step too may have taken all points of a centroid
			least, _ := s.lightest()
			r.Converged = least > 0 && (changed == 0 || squares <= tolerance)
		} else {
			r.Converged = true
		}
	}
}

// fillEmpty moves each centroid without points to the point that is farthest from its
// own centroid. It returns how many centroids it moved.
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
