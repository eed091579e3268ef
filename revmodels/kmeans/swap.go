package kmeans

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"revnum/internal/logs"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Lloyd's algorithm often ends in a state that is not the optimum. Most often one cluster
// then has two centroids, and two clusters share one. A swap removes a centroid from where
// it saves little, and puts it where a second centroid saves more. Both amounts can be
// computed. If a centroid is removed, the cost of its points rises at most to that of their
// second nearest centroid. The gain of a second centroid comes from clustering the points
// in two. See Patanè and Russo, The enhanced LBG algorithm, Neural Networks 14, 2001.
//
// The rise is an upper bound. If it exceeds the gain of all swaps, some may lower the cost all
// the same, after some steps of Lloyd's algorithm. The one that promises most is tried, but not
// in a sample: with many points certain swaps suffice.

// clusterSplit divides the points of one centroid into two clusters.
type clusterSplit struct {
	of   []float64 // the centroid
	most float64   // a bound on gain
	gain float64   // the fall of the cost; +Inf if not yet computed
	two  rev.General[float64]
}

// loose times the mean variance is the tolerance of searches before swaps and in samples.
// Two centroids in one cluster would otherwise take many small steps.
const loose = 1e-2

// trial is the number of steps after which a swap that may not lower the cost is judged.
const trial = 3

// find moves the centroids to a minimum of the cost that no swap lowers. It returns the
// cost. If there are many points, it begins with a sample, where most steps and swaps are
// made. It returns false if ctx was done before all centroids were chosen.
func (s *search) find(ctx context.Context, r *Start, rnd *rand.Rand, most int, tolerance float64) (cost float64, ok bool) {
	if size := max(2048, 64*s.k); s.n > 2*size {
		if s.begin(ctx, r, rnd, s.sample(rnd, size), nil, most, loose*s.variance) == nil {
			return 0, false
		}
		s.assign()
	} else {
		if !s.seed(ctx, rnd) {
			return 0, false
		}
		if rough := loose * s.variance; tolerance < rough {
			s.lloyd(ctx, r, most, rough)
			s.improve(ctx, r, rnd, most, rough, !s.sampled)
		}
	}
	s.lloyd(ctx, r, most, tolerance)
	return s.improve(ctx, r, rnd, most, tolerance, false), true
}

// sample draws points with probabilities proportional to their weights. It cuts the points
// into runs of equal weight, and draws one point from each run.
func (s *search) sample(rnd *rand.Rand, size int) []int {
	which := make([]int, size)
	if s.w == nil {
		for p := range which {
			first := p * s.n / size
			which[p] = first + rnd.IntN((p+1)*s.n/size-first)
		}
		return which
	}
	step := floats.Sum(s.w) / float64(size)
	i, sum := 0, s.w[0] // sum of the weights up to i
	for p := range which {
		at := (float64(p) + rnd.Float64()) * step
		for sum <= at && i < s.n-1 {
			i++
			sum += s.w[i]
		}
		which[p] = i
	}
	return which
}

// begin finds centroids of the points in which and copies them to s. It returns the weight
// of the points of each centroid, or nil if ctx was done before all were chosen.
func (s *search) begin(ctx context.Context, r *Start, rnd *rand.Rand, which []int, weights []float64, most int, tolerance float64) []float64 {
	in := newSearch(s.points(which), weights, s.k, s.workers)
	defer in.close()
	in.sampled = true
	start := new(Start)
	if _, ok := in.find(ctx, start, rnd, most, tolerance); !ok {
		return nil
	}
	r.Swaps, r.Filled = start.Swaps, start.Filled
	copy(s.centroids.Data, in.centroids.Data)
	counts := make([]float64, s.k)
	for k := range counts {
		counts[k] = in.count(k)
	}
	return counts
}

// points returns a copy of the points in which, until the next call.
func (s *search) points(which []int) rev.General[float64] {
	s.copies = workspace.Grow(s.copies, len(which)*s.d)
	points := rev.NewGeneral(len(which), s.d, s.copies)
	for p, i := range which {
		copy(points.Row(p), s.x.Row(i))
	}
	return points
}

// weights returns a copy of their weights, or nil if all are 1.
func (s *search) weights(which []int) (w []float64) {
	if s.w != nil {
		for _, i := range which {
			w = append(w, s.w[i])
		}
	}
	return w
}

// improve makes swaps, each followed by Lloyd's algorithm, until it finds none that lowers
// the cost. If try is set, it then tries the one that promises most. It returns the cost.
func (s *search) improve(ctx context.Context, r *Start, rnd *rand.Rand, most int, tolerance float64, try bool) float64 {
	dists := make([]float64, s.n)
	splits := make([]clusterSplit, s.k)
	seed := rnd.Uint64()
	kept := slices.Clone(s.centroids.Data)
	cost := s.cost(dists)
	for s.k > 1 && r.Iterations < most && ctx.Err() == nil {
		from, to := s.bestSwap(ctx, seed, dists, splits)
		steps := most
		if from < 0 && try {
			from, to = s.promisingSwap(ctx, seed, dists, splits)
			steps = min(r.Iterations+trial, most)
		}
		if from < 0 {
			break
		}
		copy(kept, s.centroids.Data)
		copy(s.centroids.Row(from), splits[to].two.Row(0))
		copy(s.centroids.Row(to), splits[to].two.Row(1))
		s.assign()
		s.lloyd(ctx, r, steps, tolerance)
		swapped := s.cost(dists)
		if !(swapped < cost*(1-1e-9)) { // it was a trial, rounding misled the bounds, or ctx was done
			copy(s.centroids.Data, kept)
			s.assign()
			break
		}
		cost = swapped
		r.Swaps++
	}
	return cost
}

// bestSwap returns the swap that lowers the cost most: it removes centroid from and splits
// the points of centroid to. Both are -1 if no swap lowers the cost.
func (s *search) bestSwap(ctx context.Context, seed uint64, dists []float64, splits []clusterSplit) (from, to int) {
	// The bounds on distances give a lower bound on the rise of the cost. They are made
	// sharp only if some cluster may gain more.
	without, _ := s.cheapestRemoval(dists)
	costs := s.costs(dists)
	if floats.Max(costs) <= without {
		return -1, -1
	}
	members := s.members()
	candidates := s.candidates(members, costs, splits, without)
	if len(candidates) == 0 {
		return -1, -1
	}
	s.sharpen()
	without, from = s.cheapestRemoval(dists)
	to = -1
	var best float64
	for _, k := range candidates {
		if splits[k].most <= without+best || ctx.Err() != nil {
			break
		}
		if k == from {
			continue
		}
		if math.IsInf(splits[k].gain, 1) {
			s.trySplit(ctx, rand.New(rand.NewPCG(seed, uint64(k))), &splits[k], members[k], costs[k])
		}
		if gain := splits[k].gain - without; gain > best {
			to, best = k, gain
		}
	}
	if to < 0 {
		from = -1
	}
	return from, to
}

// promisingSwap returns the swap for which the gain of the second centroid exceeds the rise most,
// or -1 and -1 if no cluster can be split.
func (s *search) promisingSwap(ctx context.Context, seed uint64, dists []float64, splits []clusterSplit) (from, to int) {
	s.sharpen()
	rises := s.rises(dists)
	first := floats.MinIdx(rises)
	second := -1 // the cheapest but for first
	for k, rise := range rises {
		if k != first && (second < 0 || rise < rises[second]) {
			second = k
		}
	}
	from, to = -1, -1
	best := math.Inf(-1)
	costs, members := s.costs(dists), s.members()
	for k := range splits {
		if s.renew(&splits[k], k, costs[k]) || math.IsInf(splits[k].gain, 1) {
			s.trySplit(ctx, rand.New(rand.NewPCG(seed, uint64(k))), &splits[k], members[k], costs[k])
		}
		remove := first
		if k == first {
			remove = second
		}
		if more := splits[k].gain - rises[remove]; splits[k].gain > 0 && more > best {
			from, to, best = remove, k, more
		}
	}
	return from, to
}

// sharpen makes the lower bounds sharp.
func (s *search) sharpen() {
	if s.bounded {
		s.assign()
	}
}

// costs returns the cost of the points of each centroid.
func (s *search) costs(dists []float64) []float64 {
	costs := make([]float64, s.k)
	for i, label := range s.labels {
		costs[label] += float64(s.weight(i) * dists[i])
	}
	return costs
}

// candidates returns the centroids whose points may gain more than least if they are
// split. Those that may gain most come first.
func (s *search) candidates(members [][]int, costs []float64, splits []clusterSplit, least float64) (list []int) {
	for k, points := range members {
		// No split gains more than the cost of the cluster, nor more than its largest scatter.
		if costs[k] <= least {
			continue
		}
		if s.renew(&splits[k], k, costs[k]) && s.d <= flat {
			splits[k].most = s.scatter(points, k)
		}
		if splits[k].most > least {
			list = append(list, k)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(splits[b].most, splits[a].most) })
	return list
}

// flat is the most dimensions for which scatter costs less than a split.
const flat = 16

// renew replaces the split by one that is not yet computed if it is that of another centroid than
// k is now. It reports whether it was.
func (s *search) renew(split *clusterSplit, k int, cost float64) bool {
	if slices.Equal(split.of, s.centroids.Row(k)) {
		return false
	}
	*split = clusterSplit{of: slices.Clone(s.centroids.Row(k)), gain: math.Inf(1), most: cost}
	return true
}

// rises returns by how much the removal of each centroid raises the cost at most. Where lower is
// not sharp, it is less.
func (s *search) rises(dists []float64) []float64 {
	rises := make([]float64, s.k)
	for i, label := range s.labels {
		square := s.lower[i]
		if s.bounded {
			l := max(0, square)
			square = float64(l * l)
		}
		rises[label] += float64(s.weight(i) * max(0, square-dists[i]))
	}
	return rises
}

// cheapestRemoval returns the centroid k whose removal raises the cost least, and that rise. Where
// lower is not sharp, these are a guess and a lower bound.
func (s *search) cheapestRemoval(dists []float64) (least float64, k int) {
	rises := s.rises(dists)
	k = floats.MinIdx(rises)
	return rises[k], k
}

// members lists the points of each centroid.
func (s *search) members() [][]int {
	sizes := make([]int, s.k)
	for _, label := range s.labels {
		sizes[label]++
	}
	members, all := make([][]int, s.k), make([]int, s.n)
	for k, size := range sizes {
		members[k], all = all[:0:size], all[size:]
	}
	for i, label := range s.labels {
		members[label] = append(members[label], i)
	}
	return members
}

// scatter returns a bound on the gain from splitting the points of centroid k in two. The
// means of the two parts lie on a line, so the gain is at most the largest uᵀ·S·u for unit
// vectors u, where S = Σ w·(x - c)·(x - c)ᵀ. That is the largest eigenvalue of S. It is at
// most the eighth root of the trace of S⁸.
func (s *search) scatter(points []int, k int) float64 {
	d := s.d
	m, square := make([]float64, d*d), make([]float64, d*d)
	t, w := &s.scratch[0], make([]float64, panel)
	c := s.scores.scored[k*d : (k+1)*d]
	for first := 0; first < len(points); first += panel {
		part := points[first:min(first+panel, len(points))]
		s.gather(t, part)
		for p, i := range part {
			w[p] = s.weight(i)
		}
		vec.SubColumn(len(part), t.points, stride, t.points, stride, c)
		dense.WeightedMoments(d, len(part), nil, m, d, w[:len(part)], t.points, stride)
	}
	var size float64
	for i := range d {
		size = max(size, m[i*d+i])
		for j := range i {
			m[j*d+i] = m[i*d+j]
		}
	}
	if size == 0 {
		return 0
	}
	vec.ScaleTo(m, 1/size, m)
	for range 2 {
		clear(square)
		dense.Gemm(d, d, d, 1, m, d, 1, m, d, 1, square, d)
		m, square = square, m
	}
	return size * logs.Pow(vec.SumSquares(m), 0.125) * (1 + slack)
}

// trySplit divides the points of a centroid into two clusters. cost is their present cost. Each
// centroid has random numbers of its own: whether rounding moved another one, so that its split is
// computed again, changes nothing here.
func (s *search) trySplit(ctx context.Context, rnd *rand.Rand, into *clusterSplit, members []int, cost float64) {
	into.gain = 0
	if len(members) < 2 {
		return
	}
	in := newSearch(s.points(members), s.weights(members), 2, s.workers)
	if in.seed(ctx, rnd) {
		in.lloyd(ctx, new(Start), 10, 0)
		into.gain = cost - in.cost(nil)
		into.two = rev.NewGeneral(2, s.d, slices.Clone(in.centroids.Data))
	}
	in.close()
}
