package kmeans

import (
	"context"
	"math"
	"math/rand/v2"

	"revnum/internal/parallel"
	"revnum/internal/plusplus"
)

// seed chooses the centroids from the points by k-means++. It returns false if ctx
// was done before the last.
func (f *fit) seed(ctx context.Context, rnd *rand.Rand) bool {
	for i := range f.dists {
		f.dists[i] = math.Inf(1)
	}
	return plusplus.Seed(ctx, rnd, f.centroids.Rows, f.dists, func(c, point int) {
		copy(f.centroids.Row(c), f.x.Row(point))
		parallel.Run(parallel.Workers(f.workers), (f.x.Rows+seedRun-1)/seedRun, &closer{f, f.centroids.Row(c)})
	})
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
