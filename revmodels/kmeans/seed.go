package kmeans

import (
	"context"
	"math"
	"math/rand/v2"

	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
)

// maxCandidates is more than 2 + log k for any k.
const maxCandidates = 48

// seed chooses the centroids from the points by greedy k-means++ (Arthur and
// Vassilvitskii, 2007): the first with a probability in proportion to its weight,
// of the others each time 2 + log k candidates, with a probability in proportion
// to weight times squared distance from the nearest centroid so far, of which
// that is taken which lowers the cost most, of all points or a sample of many. It
// sets labels and bounds. It returns false if ctx was done before the last.
func (s *search) seed(ctx context.Context, rnd *rand.Rand) bool {
	s.radius = s.far
	for i := range s.upper { // the largest two scores, until all centroids are there
		s.upper[i], s.lower[i], s.labels[i] = math.Inf(-1), math.Inf(-1), 0
	}
	count := 2 + int(math.Log(float64(s.k)))
	at, halves := make([]float64, count*s.d), make([]float64, count)
	sums := make([]float64, (s.n+panel-1)/panel)
	sample := s.sample(rnd, max(4096, 32*s.k))
	next := rnd.IntN(s.n)
	if s.w != nil {
		next = draw(rnd, s.w)
	}
	for k := range s.k {
		if ctx.Err() != nil {
			return false
		}
		copy(s.centroids.Row(k), s.x.Row(next))
		s.halves[k] = s.center(s.scored[k*s.d:(k+1)*s.d], s.centroids.Row(k))
		s.run(func(worker, _, first, end int) { s.join(&s.scratch[worker], k, first, end, sums) })
		if k == s.k-1 {
			break
		}
		candidates := make([]int, count)
		for c := range candidates {
			candidates[c] = s.draw(rnd, sums)
			halves[c] = s.center(at[c*s.d:(c+1)*s.d], s.x.Row(candidates[c]))
		}
		next = candidates[sample.best(at, halves)]
	}
	for i, norm := range s.norms {
		m := s.margin(norm)
		s.upper[i], s.lower[i] = above(norm-2*s.upper[i]+2*m), below(norm-2*s.lower[i]-2*m)
	}
	s.set()
	s.stale = true
	return true
}

// join takes centroid k into the largest two scores of the points from first to end,
// and sets the sums of w·dist over their panels.
func (s *search) join(t *searchScratch, k, first, end int, sums []float64) {
	for ; first < end; first += panel {
		n := min(panel, end-first)
		s.score(t.tile, s.block(first), s.scored[k*s.d:(k+1)*s.d], s.halves[k:k+1], n)
		top := s.upper[first : first+n]
		keepTwo(top, s.lower[first:], s.labels[first:], t.tile[:n], int32(k))
		sums[first/panel] = max(0, s.total(first, s.norms[first:], n)-2*s.total(first, top, n))
	}
}

// keepTwo takes the scores of centroid k into the largest two of each point.
func keepTwo(best, second []float64, label []int32, scores []float64, k int32) {
	best, second, label = best[:len(scores)], second[:len(scores)], label[:len(scores)]
	for p, v := range scores {
		if v > second[p] {
			if v > best[p] {
				best[p], second[p], label[p] = v, best[p], k
			} else {
				second[p] = v
			}
		}
	}
}

// sampled is a sample of the points of a search, by coordinate, on which candidates
// are tried. It is the parallel task of that.
type sampled struct {
	s          *search
	which      []int     // nil if all points are in it
	panels     []float64 // as those of the search
	at, halves []float64 // the candidates
	scores     []float64 // of each part, of each candidate, Σ w·largest score
	parts      int
}

// sample returns a sample of so many points, or of all if there are not many more.
func (s *search) sample(rnd *rand.Rand, size int) *sampled {
	if s.n <= 2*size {
		return &sampled{s: s, panels: s.panels, parts: s.parts}
	}
	a := &sampled{s: s, which: make([]int, size), panels: make([]float64, (size+panel-1)/panel*panel*s.d), parts: min(s.parts, size/panel)}
	for p := range a.which {
		i := rnd.IntN(s.n)
		a.which[p] = i
		from, to := s.block(i &^ (panel - 1))[i&(panel-1):], a.panels[p&^(panel-1)*s.d+p&(panel-1):]
		for j := range s.d {
			to[j*panel] = from[j*panel]
		}
	}
	return a
}

// best returns the candidate that lowers the cost most.
func (a *sampled) best(at, halves []float64) (best int) {
	count := len(halves)
	a.at, a.halves, a.scores = at, halves, make([]float64, a.parts*count)
	parallel.Run(a.s.workers, a.parts, a)
	for c := range count {
		for part := 1; part < a.parts; part++ {
			a.scores[c] += a.scores[part*count+c]
		}
		if a.scores[c] > a.scores[best] {
			best = c
		}
	}
	return best
}

// Block implements parallel.Task.
func (a *sampled) Block(worker, part int) {
	s, t := a.s, &a.s.scratch[worker]
	size := s.n
	if a.which != nil {
		size = len(a.which)
	}
	scores := a.scores[part*len(a.halves):][:len(a.halves)]
	blocks := (size + panel - 1) / panel
	for b := part * blocks / a.parts; b < (part+1)*blocks/a.parts; b++ {
		first := b * panel
		n := min(panel, size-first)
		top, w := t.best[:n], t.second[:n]
		for p := range top {
			i := first + p
			if a.which != nil {
				i = a.which[i]
			}
			top[p], w[p] = s.upper[i], s.weight(i)
		}
		s.score(t.tile, a.panels[first*s.d:], a.at, a.halves, n)
		for c := range scores {
			row := t.tile[c*panel:][:n]
			vec.MaxTo(row, row, top)
			scores[c] += vec.Dot(w, row)
		}
	}
}

// draw returns a point with a probability in proportion to w·dist, given the sums
// of that over panels.
func (s *search) draw(rnd *rand.Rand, sums []float64) int {
	first := draw(rnd, sums) * panel
	var dists [panel]float64
	n := min(panel, s.n-first)
	for p := range n {
		i := first + p
		dists[p] = s.weight(i) * max(0, s.norms[i]-2*s.upper[i])
	}
	return first + draw(rnd, dists[:n])
}

// draw returns i with a probability in proportion to v_i, and with equal ones if
// all are 0.
func draw(rnd *rand.Rand, v []float64) int {
	var sum float64
	for _, v := range v {
		sum += v
	}
	if sum == 0 {
		return rnd.IntN(len(v))
	}
	u := rnd.Float64() * sum
	last := 0
	for i, v := range v {
		if v == 0 {
			continue
		}
		if last = i; u < v {
			break
		}
		u -= v
	}
	return last
}
