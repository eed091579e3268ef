package kmeans

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// Options says how Fit works. The zero value is ready to use.
type Options struct {
	// Restarts is the number of starts from different centroids, of which the
	// best fit is kept; 0 means 10. There is only one with Init.
	Restarts int

	// MaxIter is the largest number of steps of a restart; 0 means 300.
	MaxIter int

	// Tol ends a restart when a step gains less than this fraction of the cost.
	// With 0 it goes on until no point changes its centroid.
	Tol float64

	// Init, if not nil, are the K×D centroids to start from instead of those of
	// k-means++.
	Init *mat.Dense

	// Src is where the random numbers of k-means++ come from. Fits with equal
	// sources are equal, on any number of workers; nil means a fixed seed.
	Src rand.Source

	// Workers is the number of goroutines to use; 0 means GOMAXPROCS.
	Workers int
}

// Report says how a fit went.
type Report struct {
	Restarts []Restart
	Best     int // index of the restart that was kept; -1 if there is none
}

// Restart says how a fit from one start went.
type Restart struct {
	Iterations int       // Newton steps
	Cost       float64   // in the end
	History    []float64 // the cost at the start and after each step
	Converged  bool      // no point changed its centroid, or Options.Tol was met
	Moved      int       // centroids without points that were moved to far points
	Duration   time.Duration
}

// String returns a table of the restarts, to be read by people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s%7s%17s%10s\n", "restart", "steps", "cost", "time")
	for i, s := range r.Restarts {
		fmt.Fprintf(&b, "%8d%7d%17.9g%10v", i, s.Iterations, s.Cost, s.Duration.Round(time.Millisecond/10))
		if i == r.Best {
			b.WriteString("  best")
		}
		if !s.Converged {
			b.WriteString("  not converged")
		}
		if s.Moved > 0 {
			fmt.Fprintf(&b, "  %d empty clusters filled", s.Moved)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Clustering is what Fit finds: centroids, and the points that belong to each.
type Clustering struct {
	centroids rev.General[float64]
	labels    []int
	cost      float64
	workers   int
}

// Centroids returns a copy of the K×D centroids.
func (c *Clustering) Centroids() *mat.Dense {
	return mat.NewDense(c.centroids.Rows, c.centroids.Cols, slices.Clone(c.centroids.Data))
}

// Labels returns a copy of the indices of the nearest centroids of the points
// that were fitted.
func (c *Clustering) Labels() []int { return slices.Clone(c.labels) }

// Sizes returns the number of points of each cluster.
func (c *Clustering) Sizes() []int {
	sizes := make([]int, c.centroids.Rows)
	for _, label := range c.labels {
		sizes[label]++
	}
	return sizes
}

// Cost returns the sum of the squared distances of the points that were fitted
// from their nearest centroids.
func (c *Clustering) Cost() float64 { return c.cost }

// Predict returns the index of the nearest centroid of each row of x, the lowest
// of several, and -1 for a row with a NaN. It panics with mat.ErrShape if x has
// not as many columns as the centroids.
func (c *Clustering) Predict(x mat.Matrix) []int {
	k := Cost[float64]{Centroids: c.centroids, X: viewMatrix(x), Workers: c.workers}
	k.check()
	labels, dists := make([]int, k.X.Rows), make([]float64, k.X.Rows)
	s := k.open()
	s.allLabels, s.allDists = labels, dists
	s.run()
	s.close()
	for i, d := range dists {
		if math.IsNaN(d) {
			labels[i] = -1
		}
	}
	return labels
}

// viewMatrix returns a view of x if there is one, of a copy otherwise.
func viewMatrix(x mat.Matrix) rev.General[float64] {
	switch x := x.(type) {
	case mat.RawMatrixer:
		return rev.General[float64](x.RawMatrix())
	case *mat.VecDense:
		v := x.RawVector()
		return rev.General[float64]{Rows: v.N, Cols: 1, Data: v.Data, Stride: max(v.Inc, 1)}
	}
	return rev.ViewDense(mat.DenseCopyOf(x))
}

// Fit is FitContext without a context.
func Fit(x mat.Matrix, k int, opts *Options) (*Clustering, *Report, error) {
	return FitContext(context.Background(), x, k, opts)
}

// FitContext returns k centroids from which the sum of the squared distances of
// the rows of x is small, and a report. It reads x in place if it is a
// mat.RawMatrixer or a *mat.VecDense, and copies it otherwise. A nil opts means
// the defaults.
//
// Each restart chooses centroids by k-means++ (Arthur and Vassilvitskii, 2007)
// and takes Newton steps, see Cost.NewtonDirection, which are those of Lloyd's
// algorithm, until no point changes its centroid. No step raises the cost beyond
// rounding. A centroid that has lost its points moves to the point farthest from
// its own, which lowers the cost too, unless all points lie on centroids. That
// finds a local minimum; several restarts make it likely that it is a good one.
// A fit that has not converged is not an error: see the report.
//
// It returns an error if k < 1, if x has no columns or fewer rows than k, if it
// has a NaN, an infinity or numbers so large that their squares overflow (the
// error names row and column, counted from 0), or if an option makes no sense.
// When ctx is done it returns the error of ctx, with the best clustering so far
// unless there is none.
func FitContext(ctx context.Context, x mat.Matrix, k int, opts *Options) (*Clustering, *Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	f, err := newFit(x, k, opts)
	if err != nil {
		return nil, nil, err
	}
	src := opts.Src
	if src == nil {
		src = rand.NewPCG(1, 2)
	}
	rnd := rand.New(src)

	report := &Report{Best: -1}
	var best *Clustering
	for i := 0; i < f.restarts && ctx.Err() == nil; i++ {
		r, ok := f.restart(ctx, opts.Init, rnd)
		if !ok {
			break
		}
		report.Restarts = append(report.Restarts, r)
		if best == nil || r.Cost < best.cost {
			report.Best = i
			best = &Clustering{
				centroids: rev.NewGeneral(k, f.x.Cols, slices.Clone(f.centroids.Data)),
				labels:    slices.Clone(f.labels), cost: r.Cost, workers: opts.Workers,
			}
		}
	}
	return best, report, ctx.Err()
}

// fit is the state of a fit.
type fit struct {
	x         rev.General[float64]
	centroids rev.General[float64]
	direction rev.General[float64]
	labels    []int
	before    []int // labels
	dists     []float64
	restarts  int
	maxIter   int
	tol       float64
	workers   int
}

func newFit(x mat.Matrix, k int, opts *Options) (*fit, error) {
	n, d := x.Dims()
	switch {
	case k < 1:
		return nil, fmt.Errorf("kmeans: %d clusters, want at least 1", k)
	case d < 1:
		return nil, errors.New("kmeans: the points have no columns")
	case n < k:
		return nil, fmt.Errorf("kmeans: %d points for %d clusters", n, k)
	case opts.Restarts < 0 || opts.MaxIter < 0 || opts.Workers < 0:
		return nil, fmt.Errorf("kmeans: Restarts, MaxIter and Workers are %d, %d and %d, want at least 0",
			opts.Restarts, opts.MaxIter, opts.Workers)
	case !(opts.Tol >= 0 && opts.Tol < 1):
		return nil, fmt.Errorf("kmeans: Tol is %v, want 0 <= Tol < 1", opts.Tol)
	}
	f := &fit{
		x: viewMatrix(x), restarts: opts.Restarts, maxIter: opts.MaxIter, tol: opts.Tol, workers: opts.Workers,
		labels: make([]int, n), before: make([]int, n), dists: make([]float64, n),
		centroids: rev.NewGeneral[float64](k, d, nil), direction: rev.NewGeneral[float64](k, d, nil),
	}
	if f.restarts == 0 {
		f.restarts = 10
	}
	if f.maxIter == 0 {
		f.maxIter = 300
	}
	if err := checkRange("the points have", f.x); err != nil {
		return nil, err
	}
	if opts.Init != nil {
		if r, c := opts.Init.Dims(); r != k || c != d {
			return nil, fmt.Errorf("kmeans: Init is %d×%d, want %d×%d", r, c, k, d)
		}
		if err := checkRange("Init has", rev.ViewDense(opts.Init)); err != nil {
			return nil, err
		}
		f.restarts = 1
	}
	return f, nil
}

// checkRange returns an error that names the first element of x of which the
// square, or a sum of squares of differences, may not be finite.
func checkRange(what string, x rev.General[float64]) error {
	limit := math.Sqrt(math.MaxFloat64/float64(max(1, x.Rows))/float64(max(1, x.Cols))) / 4
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if !(math.Abs(v) <= limit) {
				return fmt.Errorf("kmeans: %s %v in row %d, column %d, want magnitudes of at most %.3g", what, v, i, j, limit)
			}
		}
	}
	return nil
}

// restart fits from one start. It returns false if ctx was done before there
// were centroids.
func (f *fit) restart(ctx context.Context, start *mat.Dense, rnd *rand.Rand) (r Restart, ok bool) {
	begin := time.Now()
	if start == nil {
		if !f.seed(ctx, rnd) {
			return r, false
		}
	} else {
		for c := range f.centroids.Rows {
			copy(f.centroids.Row(c), start.RawRowView(c))
		}
	}
	k := Cost[float64]{Centroids: f.centroids, X: f.x, Workers: f.workers}
	r.Cost = k.newton(f.direction, f.labels, f.dists)
	r.History = []float64{r.Cost}
	for r.Iterations < f.maxIter && ctx.Err() == nil {
		copy(f.before, f.labels)
		for i, v := range f.direction.Data {
			f.centroids.Data[i] -= v
		}
		moved := f.fillEmpty()
		r.Moved += moved
		cost := k.newton(f.direction, f.labels, f.dists)
		r.Iterations++
		r.History = append(r.History, cost)
		gain := r.Cost - cost
		r.Cost = cost
		if moved == 0 && (slices.Equal(f.labels, f.before) || gain < f.tol*cost) {
			r.Converged = true
			break
		}
	}
	r.Duration = time.Since(begin)
	return r, true
}

// fillEmpty moves each centroid without points to the point that is farthest
// from its own centroid, and returns how many it moved.
func (f *fit) fillEmpty() int {
	sizes := make([]int, f.centroids.Rows)
	for _, label := range f.labels {
		sizes[label]++
	}
	moved := 0
	for c, size := range sizes {
		if size > 0 {
			continue
		}
		far := 0
		for i, d := range f.dists {
			if d > f.dists[far] {
				far = i
			}
		}
		if f.dists[far] == 0 {
			break // all points lie on centroids
		}
		copy(f.centroids.Row(c), f.x.Row(far))
		f.dists[far] = 0
		moved++
	}
	return moved
}
