package kmeans

import (
	"context"
	"math"
	"math/rand/v2"

	"revnum/internal/parallel"
)

// batches is mini-batch k-means (Sculley, Web-scale k-means clustering, 2010). It
// clusters a sample. Then it moves each centroid to the mean of the points of the
// sample, and of batches of the given size, that have been assigned to it. It ends when
// the smoothed cost of a batch has not fallen for a while, or when each point has been
// read once for each allowed iteration. It returns false if ctx was done before there
// were centroids.
func (s *search) batches(ctx context.Context, r *Start, rnd *rand.Rand, size, most int, tolerance float64) bool {
	order := rnd.Perm(s.n)
	first := order[:min(s.n, max(3*size, 10*s.k))]
	counts := s.begin(ctx, r, rnd, first, s.weights(first), most, tolerance)
	if counts == nil {
		return false
	}
	s.scores.set(s.centroids)

	const patience = 10 // batches
	var smooth float64
	least, since := math.Inf(1), 0
	for at := s.n; r.Iterations < most && ctx.Err() == nil && since < patience; {
		if at+size > s.n { // the rest of a pass waits for the next
			rnd.Shuffle(s.n, func(i, j int) { order[i], order[j] = order[j], order[i] })
			at = 0
			r.Iterations++
		}
		batch := order[at : at+size]
		at += size
		parallel.Run(s.workers, (size+panel-1)/panel, &batchTask{s, batch})
		var cost, weight float64
		for _, i := range batch {
			k, w := s.labels[i], s.weight(i)
			if w == 0 {
				continue
			}
			counts[k] += w
			c := s.centroids.Row(int(k))
			for j, v := range s.x.Row(i) {
				c[j] += float64(w / counts[k] * (v - c[j]))
			}
			cost += float64(w * s.upper[i] * s.upper[i])
			weight += w
		}
		s.scores.set(s.centroids)
		if weight == 0 {
			continue
		}
		if cost /= weight; smooth == 0 {
			smooth = cost
		}
		smooth += float64((cost - smooth) * min(1, 2*float64(size)/float64(s.n+1)))
		if since++; smooth < least {
			least, since = smooth, 0
		}
	}
	r.Converged = since == patience
	s.assign()
	return true
}

// batchTask is the parallel task that finds the centroids of the points of a batch.
type batchTask struct {
	s     *search
	which []int
}

// Block implements parallel.Task.
func (b *batchTask) Block(worker, block int) {
	t := &b.s.scratch[worker]
	which := b.which[block*panel : min((block+1)*panel, len(b.which))]
	b.s.gather(t, which)
	b.s.label(t, t.points, which)
}
