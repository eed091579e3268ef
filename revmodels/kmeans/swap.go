package kmeans

import (
	"context"
	"math/rand/v2"
	"slices"

	"revnum/rev"
)

// What Lloyd's algorithm ends in has, where it is not the optimum, most often two
// centroids in one cluster and one centroid for two. A swap takes a centroid away
// where that costs little, and puts it where a second centroid gains more. Both are
// known: a point whose centroid goes costs no more than what its second nearest
// one is farther away, and a cluster gains what clustering its points in two does.
// Patanè and Russo, The enhanced LBG algorithm, Neural Networks 14, 2001.

// split is a clustering of the points of one centroid in two.
type split struct {
	of   []float64 // the centroid
	gain float64   // by how much the cost falls
	two  rev.General[float64]
}

// improve makes swaps, with Lloyd's algorithm after each, until none is found that
// lowers the cost. It returns the cost.
func (s *search) improve(ctx context.Context, r *Start, rnd *rand.Rand, most int, tolerance float64) float64 {
	dists := make([]float64, s.n)
	splits := make([]split, s.k)
	kept := slices.Clone(s.centroids.Data)
	cost := s.cost(dists)
	for s.k > 1 && r.Iterations < most && ctx.Err() == nil {
		from, to := s.bestSwap(ctx, rnd, dists, splits)
		if from < 0 {
			break
		}
		copy(kept, s.centroids.Data)
		copy(s.centroids.Row(from), splits[to].two.Row(0))
		copy(s.centroids.Row(to), splits[to].two.Row(1))
		s.assign()
		s.lloyd(ctx, r, most, tolerance)
		swapped := s.cost(dists)
		if !(swapped < cost*(1-1e-9)) { // rounding, or ctx was done
			copy(s.centroids.Data, kept)
			s.assign()
			break
		}
		cost = swapped
		r.Swaps++
	}
	return cost
}

// bestSwap returns the centroid to take away and that whose points to split, for
// the largest fall of the cost, or -1 if there is none.
func (s *search) bestSwap(ctx context.Context, rnd *rand.Rand, dists []float64, splits []split) (from, to int) {
	// What each centroid costs, and what the points do without it.
	costs, without, order := make([]float64, s.k), make([]float64, s.k), make([]int, s.k)
	for i, k := range s.labels {
		w := s.weight(i)
		costs[k] += float64(w * dists[i])
		without[k] += float64(w * max(0, float64(s.lower[i]*s.lower[i])-dists[i]))
	}
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case costs[a] > costs[b]:
			return -1
		case costs[a] < costs[b]:
			return 1
		}
		return a - b
	})
	least := 0
	for k := range without {
		if without[k] < without[least] {
			least = k
		}
	}
	from, to = -1, -1
	var best float64
	for _, k := range order {
		// No split gains more than what the cluster costs.
		if costs[k] <= without[least]+best || ctx.Err() != nil {
			break
		}
		if k == least {
			continue
		}
		if !slices.Equal(splits[k].of, s.centroids.Row(k)) {
			splits[k] = s.split(ctx, rnd, k, costs[k])
		}
		if gain := splits[k].gain - without[least]; gain > best {
			from, to, best = least, k, gain
		}
	}
	return from, to
}

// split clusters the points of centroid k, which cost what is given, in two.
func (s *search) split(ctx context.Context, rnd *rand.Rand, k int, cost float64) split {
	var points, weights []float64
	for i, label := range s.labels {
		if int(label) != k {
			continue
		}
		points = append(points, s.x.Row(i)...)
		if s.w != nil {
			weights = append(weights, s.w[i])
		}
	}
	result := split{of: slices.Clone(s.centroids.Row(k))}
	if len(points) < 2*s.d {
		return result
	}
	in := newSearch(rev.NewGeneral(len(points)/s.d, s.d, points), weights, 2, s.workers)
	if in.seed(ctx, rnd) {
		in.lloyd(ctx, new(Start), 10, 0)
		result.gain = cost - in.cost(nil)
		result.two = rev.NewGeneral(2, s.d, slices.Clone(in.centroids.Data))
	}
	in.close()
	return result
}
