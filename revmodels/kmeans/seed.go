package kmeans

import (
	"context"
	"math"
	"math/rand/v2"

	"revnum/internal/simd/vec"
)

// maxCandidates is more than 2 + log k for any k.
const maxCandidates = 48

// seed chooses the centroids from the points by greedy k-means++ (Arthur and
// Vassilvitskii, 2007): the first with a probability in proportion to its weight,
// of the others each time 2 + log k candidates, with a probability in proportion
// to weight times squared distance from the nearest centroid so far, of which
// that is taken which lowers the cost most. It sets labels and bounds. It
// returns false if ctx was done before the last.
func (s *search) seed(ctx context.Context, rnd *rand.Rand) bool {
	for i := range s.lower { // the largest scores so far
		s.lower[i] = math.Inf(-1)
	}
	count := 2 + int(math.Log(float64(s.k)))
	candidates := make([]int, count)
	at, halves := make([]float64, count*s.d), make([]float64, count)
	scores, sums := make([]float64, s.parts*count), make([]float64, len(s.panels)/panel/s.d)
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
		for c := range candidates {
			candidates[c] = s.draw(rnd, sums)
			halves[c] = s.center(at[c*s.d:(c+1)*s.d], s.x.Row(candidates[c]))
		}
		clear(scores)
		s.run(func(worker, part, first, end int) {
			s.try(&s.scratch[worker], scores[part*count:(part+1)*count], at, halves, first, end)
		})
		best := 0
		for c := range candidates {
			for part := 1; part < s.parts; part++ {
				scores[c] += scores[part*count+c]
			}
			if scores[c] > scores[best] {
				best = c
			}
		}
		next = candidates[best]
	}
	s.assign()
	return true
}

// join takes centroid k into the largest scores of the points from first to end,
// and sets the sums of w·dist over their panels.
func (s *search) join(t *searchScratch, k, first, end int, sums []float64) {
	for ; first < end; first += panel {
		n := min(panel, end-first)
		s.score(t.tile, s.block(first), s.scored[k*s.d:(k+1)*s.d], s.halves[k:k+1], n)
		top := s.lower[first : first+n]
		vec.MaxTo(top, top, t.tile[:n])
		sums[first/panel] = max(0, s.total(first, s.norms[first:], n)-2*s.total(first, top, n))
	}
}

// try adds to scores, for each of the candidates, the sum of w times the largest
// score of the points from first to end if it were a centroid.
func (s *search) try(t *searchScratch, scores, at, halves []float64, first, end int) {
	for ; first < end; first += panel {
		n := min(panel, end-first)
		s.score(t.tile, s.block(first), at, halves, n)
		for c := range scores {
			row := t.tile[c*panel:][:n]
			vec.MaxTo(row, row, s.lower[first:first+n])
			scores[c] += s.total(first, row, n)
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
		dists[p] = s.weight(i) * max(0, s.norms[i]-2*s.lower[i])
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
