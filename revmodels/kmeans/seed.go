package kmeans

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"revnum/internal/logs"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/nearest"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
)

// seed chooses the centroids from the points by greedy k-means++ (Arthur and
// Vassilvitskii, 2007). It draws the first centroid with a probability proportional to
// the weight of the point. For each other centroid it draws 2 + ⌊log k⌋ candidates. Their
// probability is proportional to the weight times the squared distance from the nearest
// centroid so far. It takes the candidate that lowers the cost most. seed sets labels and
// bounds. It returns false if ctx was done before all centroids were chosen.
func (s *search) seed(ctx context.Context, rnd *rand.Rand) bool {
	s.scores.most = s.far
	s.near = workspace.Zeros(s.near, len(s.upper))
	for i := range s.upper { // the least two scores, until all centroids are chosen
		s.upper[i], s.lower[i] = math.Inf(1), math.Inf(1)
	}
	c := candidates{s: s, count: 2 + int(logs.Log(float64(s.k)))}
	c.at, c.halves, c.scores = make([]float64, c.count*s.d), make([]float64, c.count), make([]float64, s.parts*c.count)
	sums := make([]float64, (s.n+panel-1)/panel)
	next := rnd.IntN(s.n)
	if s.w != nil {
		next = draw(rnd, s.w)
	}
	which := make([]int, c.count)
	for k := range s.k {
		if ctx.Err() != nil {
			return false
		}
		copy(s.centroids.Row(k), s.x.Row(next))
		s.scores.halves[k] = s.scores.center(s.scores.scored[k*s.d:(k+1)*s.d], s.centroids.Row(k))
		s.run(func(_, _, first, end int) { s.join(k, first, end, sums) })
		if k == s.k-1 {
			break
		}
		for i := range which {
			which[i] = s.draw(rnd, sums)
			c.halves[i] = s.scores.center(c.at[i*s.d:(i+1)*s.d], s.x.Row(which[i]))
		}
		next = which[c.best()]
	}
	for i, norm := range s.norms {
		if s.bounded {
			m := s.scores.margin(norm)
			s.upper[i], s.lower[i] = sqrtAbove(norm+2*s.upper[i]+2*m), sqrtBelow(norm+2*s.lower[i]-2*m)
		}
		s.labels[i] = int32(s.near[i])
	}
	s.scores.set(s.centroids)
	s.stale = true
	return true
}

// join updates the least two scores of the points from first to end with centroid k. It
// stores the sum of w·dist of each panel in sums.
func (s *search) join(k, first, end int, sums []float64) {
	for ; first < end; first += panel {
		n := min(panel, end-first)
		best, second, label := s.upper[first:][:padded(n)], s.lower[first:][:padded(n)], s.near[first:][:padded(n)]
		nearest.Two(best, second, label, s.block(first), stride, s.scores.scored[k*s.d:(k+1)*s.d], s.scores.halves[k:k+1], s.d, k)
		sums[first/panel] = max(0, s.total(first, s.norms[first:], n)+2*s.total(first, best, n))
	}
}

// candidates are the points from which the next centroid is chosen. It is the parallel
// task that computes their scores.
type candidates struct {
	s          *search
	count      int
	at, halves []float64
	scores     []float64 // Σ w·(least score) by part and candidate
}

// best returns the candidate that lowers the cost most.
func (c *candidates) best() (best int) {
	clear(c.scores)
	parallel.Run(c.s.workers, c.s.parts, partTask{c.s, c.score})
	for i := range c.count {
		for part := 1; part < c.s.parts; part++ {
			c.scores[i] += c.scores[part*c.count+i]
		}
		if c.scores[i] < c.scores[best] {
			best = i
		}
	}
	return best
}

// score sums, for each candidate, the least scores of the points from first to end if the
// candidate becomes a centroid.
func (c *candidates) score(worker, part, first, end int) {
	s, t := c.s, &c.s.scratch[worker]
	t.tile = workspace.Grow(t.tile, c.count*panel)
	for ; first < end; first += panel {
		n := min(panel, end-first)
		negated := t.least.best[:n]
		vec.ScaleTo(negated, -1, s.upper[first:first+n])
		for i, half := range c.halves {
			vec.ScaleTo(t.tile[i*panel:][:n], -half, ones[:n])
		}
		dense.Gemm(c.count, n, s.d, 1, c.at, s.d, 1, s.block(first), stride, 1, t.tile, panel)
		for i := range c.count {
			row := t.tile[i*panel:][:n]
			vec.MaxTo(row, row, negated)
			c.scores[part*c.count+i] -= s.total(first, row, n)
		}
	}
}

var ones = slices.Repeat([]float64{1}, panel)

// draw returns a point with a probability proportional to w·dist. sums holds the sum of
// w·dist of each panel.
func (s *search) draw(rnd *rand.Rand, sums []float64) int {
	first := draw(rnd, sums) * panel
	var dists [panel]float64
	n := min(panel, s.n-first)
	for p := range n {
		i := first + p
		dists[p] = s.weight(i) * max(0, s.norms[i]+2*s.upper[i])
	}
	return first + draw(rnd, dists[:n])
}

// draw returns i with a probability proportional to v_i. If all v_i are 0, the
// probabilities are equal.
func draw(rnd *rand.Rand, v []float64) int {
	var sum float64
	for _, v := range v {
		sum += v
	}
	if sum == 0 {
		return rnd.IntN(len(v))
	}
	u := float64(rnd.Float64() * sum)
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
