package gmm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"revnum/internal/parallel"
	"revnum/internal/plusplus"
	"revnum/rev"
)

// clustering is a k-means clustering of the points x: each belongs to the
// centre with the least
//
//	dist_i = Σ_j scale_j·(x_ij - centre_j)².
//
// It is the parallel task of assign too, whose blocks are runs of points.
type clustering struct {
	x       rev.General[float64]
	scale   []float64
	centres rev.General[float64]
	labels  []int
	dist    []float64
	workers int
	from    int // assign looks at the centres from this one on
}

// newClustering returns a clustering without centres yet.
func newClustering(x rev.General[float64], k int, scale []float64, workers int) *clustering {
	return &clustering{
		x: x, scale: scale, centres: rev.NewGeneral[float64](k, x.Cols, nil),
		labels: make([]int, x.Rows), dist: make([]float64, x.Rows), workers: workers,
	}
}

// seed chooses the centres from the points by k-means++.
func (c *clustering) seed(ctx context.Context, rnd *rand.Rand) {
	k := c.centres.Rows
	c.centres.Rows = 0
	c.reassign() // all at an infinite distance
	plusplus.Seed(ctx, rnd, k, c.dist, func(n, point int) {
		c.centres.Rows = n + 1
		copy(c.centres.Row(n), c.x.Row(point))
		c.from = n
		c.assign()
	})
	c.centres.Rows = k
}

// lloyd moves each centre to the mean of its points and assigns the points
// again, until nothing changes or the given number of times.
func (c *clustering) lloyd(ctx context.Context, steps int) {
	counts, sums := make([]float64, c.centres.Rows), rev.NewGeneral[float64](c.centres.Rows, c.x.Cols, nil)
	before := make([]int, len(c.labels))
	for step := 0; step < steps && ctx.Err() == nil; step++ {
		clear(counts)
		clear(sums.Data)
		for i, label := range c.labels {
			counts[label]++
			row, centre := sums.Row(label), c.centres.Row(label)
			for j, v := range c.x.Row(i) {
				row[j] += v - centre[j]
			}
		}
		for k, count := range counts {
			if count == 0 {
				continue // nothing to move it to
			}
			for j, s := range sums.Row(k) {
				c.centres.Row(k)[j] += s / count
			}
		}
		copy(before, c.labels)
		c.reassign()
		if slices.Equal(c.labels, before) {
			return
		}
	}
}

// reassign assigns every point to the nearest centre.
func (c *clustering) reassign() {
	for i := range c.dist {
		c.dist[i] = math.Inf(1)
	}
	c.from = 0
	c.assign()
}

const assignRun = 1024

// assign moves each point to a centre from c.from on that is nearer than its
// own.
func (c *clustering) assign() {
	parallel.Run(parallel.Workers(c.workers), (c.x.Rows+assignRun-1)/assignRun, c)
}

// Block implements parallel.Task.
func (c *clustering) Block(_, b int) {
	for i := b * assignRun; i < min((b+1)*assignRun, c.x.Rows); i++ {
		x := c.x.Row(i)
		best, label := c.dist[i], c.labels[i]
		for k := c.from; k < c.centres.Rows; k++ {
			centre, scale := c.centres.Row(k)[:len(x)], c.scale[:len(x)]
			var s float64
			for j, v := range x {
				r := v - centre[j]
				s += float64(scale[j] * r * r)
			}
			if s < best {
				best, label = s, k
			}
		}
		c.dist[i], c.labels[i] = best, label
	}
}
