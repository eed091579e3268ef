package kmeans

import (
	"context"
	"math"
	"math/rand/v2"

	"revnum/internal/parallel"
)

// seed chooses the centroids from the points by k-means++: the first uniformly,
// each of the others with a probability in proportion to the squared distance
// from the nearest so far. It returns false if ctx was done before the last.
func (f *fit) seed(ctx context.Context, rnd *rand.Rand) bool {
	for i := range f.dists {
		f.dists[i] = math.Inf(1)
	}
	for c := range f.centroids.Rows {
		if ctx.Err() != nil {
			return false
		}
		at := rnd.IntN(f.x.Rows)
		if c > 0 {
			at = weighted(rnd, f.dists, at)
		}
		copy(f.centroids.Row(c), f.x.Row(at))
		parallel.Run(parallel.Workers(f.workers), (f.x.Rows+seedRun-1)/seedRun, &closer{f, f.centroids.Row(c)})
	}
	return true
}

// weighted returns i with a probability in proportion to w_i, or otherwise if
// all w are 0.
func weighted(rnd *rand.Rand, w []float64, otherwise int) int {
	var sum float64
	for _, v := range w {
		sum += v
	}
	if sum == 0 {
		return otherwise
	}
	u := rnd.Float64() * sum
	last := otherwise
	for i, v := range w {
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

const seedRun = 1024

// closer is the parallel task of taking a new centroid into the distances.
type closer struct {
	f        *fit
	centroid []float64
}

// Block implements parallel.Task.
func (c *closer) Block(_, b int) {
	for i := b * seedRun; i < min((b+1)*seedRun, c.f.x.Rows); i++ {
		c.f.dists[i] = min(c.f.dists[i], distance(c.f.x.Row(i), c.centroid))
	}
}
