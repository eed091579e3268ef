package kmeans

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Options are the options of Fit. The zero value is ready to use.
type Options struct {
	// Starts is the number of starts from different centroids. The best is kept. 0
	// means 1 to 16, more if there are few points, and no more once three have ended at
	// the same least cost. With Init or Batch it means 1. With Init there is only one.
	Starts int

	// MaxIter is the largest number of iterations of a start; 0 means 300.
	MaxIter int

	// Tolerance ends Lloyd's algorithm when the squared moves of all centroids sum to
	// less than this fraction of the mean variance of the columns. 0 means 1e-4. A
	// negative number continues until no point changes its centroid.
	Tolerance float64

	// Init, if not nil, are the K×D centroids to start from. Lloyd's algorithm
	// continues to the nearest minimum, without swaps.
	Init *mat.Dense

	// Weights, if not nil, are the weights of the points. A point of weight 2 counts as
	// two points.
	Weights []float64

	// Batch, if not 0, is the number of points in a batch of mini-batch k-means. Use it
	// if there are so many points that there is only time for a few passes over them.
	Batch int

	// Source provides random numbers. Fits with equal sources are equal, for any number
	// of workers. nil means a fixed seed.
	Source rand.Source

	// Workers is the number of goroutines to use; 0 means GOMAXPROCS.
	Workers int
}

// Report says how a fit went.
type Report struct {
	Starts []Start
	Best   int // index of the start that was kept, or -1 if there is none
}

// Start says how a fit from one start went.
type Start struct {
	Iterations int     // steps of Lloyd's algorithm; with Batch, passes over the points
	Cost       float64 // at the end
	Converged  bool    // Options.Tolerance was met
	Swaps      int     // centroids that were moved to lower the cost
	Filled     int     // centroids without points that were moved to far points
	Duration   time.Duration
}

// String returns a table of the starts for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s%12s%7s%17s%10s\n", "start", "iterations", "swaps", "cost", "time")
	for i, s := range r.Starts {
		fmt.Fprintf(&b, "%8d%12d%7d%17.9g%10v", i, s.Iterations, s.Swaps, s.Cost, s.Duration.Round(time.Millisecond/10))
		if i == r.Best {
			b.WriteString("  best")
		}
		if !s.Converged {
			b.WriteString("  not converged")
		}
		if s.Filled > 0 {
			fmt.Fprintf(&b, "  %d empty clusters filled", s.Filled)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// enough starts at the least cost suggest that it is the least of all.
const enough = 3

// Fit returns k centroids with a small sum of squared distances from the rows of x, and
// a report. It reads x in place if x is a mat.RawMatrixer or a *mat.VecDense, and
// otherwise copies it. A nil opts means the defaults.
//
// Each start chooses centroids by greedy k-means++ (Arthur and Vassilvitskii, 2007) and
// makes steps of Lloyd's algorithm, with Hamerly's bounds (2010) unless k and the
// columns are so few that all scores of a point take less time. A centroid that has lost
// its points moves to the point farthest from its own centroid. Then, as long as the
// cost falls, the centroid whose removal costs least moves to the cluster that
// gains most from a second one, and Lloyd's algorithm continues. Early in a start a swap
// that only may lower the cost is tried, too. If there are many points, a sample of
// max(2048, 64·k) goes through the rest first, and all points continue from its result.
// This finds a local minimum, usually a good one. A fit that has not converged is not an
// error: see the report.
//
// It returns an error if k < 1, if x has no columns or fewer rows than k, if x has a
// NaN, an infinity or numbers whose squares overflow (the error names row and column,
// counted from 0), or if an option makes no sense. When ctx is done, it returns the
// error of ctx, with the best clustering so far if there is one.
func Fit(ctx context.Context, x mat.Matrix, k int, opts *Options) (*Clustering, *Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	points, limit, err := check(x, k, opts)
	if err != nil {
		return nil, nil, err
	}
	src := opts.Source
	if src == nil {
		src = rand.NewPCG(1, 2)
	}
	rnd := rand.New(src)
	starts := opts.Starts
	switch {
	case opts.Init != nil || starts == 0 && opts.Batch > 0:
		starts = 1
	case starts == 0:
		starts = int(min(max(1, math.Cbrt(6e5/(float64(points.Rows)*float64(k)*float64(points.Cols)))), 16))
	}

	s, init, down := newSearch(points, opts.Weights, k, opts.Workers), opts.Init, 1.0
	defer func() { s.close() }()
	if s.far < 0x1p-800 && s.within(tinyLimit) && (init == nil || small(rev.ViewDense(init), tinyLimit)) {
		s.close()
		s, down = newSearch(enlarged(points), opts.Weights, k, opts.Workers), 1/enlargement
		if init != nil {
			init = new(mat.Dense)
			init.Scale(enlargement, opts.Init)
		}
	}
	if !s.within(limit) {
		if err := checkRange("the points have", points, limit); err != nil {
			return nil, nil, err
		}
	}
	report := &Report{Best: -1}
	var best *Clustering
	var least float64 // cost, of points that may be enlarged
	same := 0         // starts that ended at the least cost
	for i := 0; i < starts && ctx.Err() == nil && (opts.Starts > 0 || same < enough); i++ {
		r, ok := s.start(ctx, opts, init, rnd)
		if !ok {
			break
		}
		cost := r.Cost
		r.Cost = float64(cost*down) * down
		report.Starts = append(report.Starts, r)
		switch {
		case best == nil || cost < least*(1-1e-9):
			same = 1
		case cost <= least*(1+1e-9):
			same++
		}
		if best == nil || cost < least {
			report.Best, least = i, cost
			best = &Clustering{
				centroids: rev.NewGeneral(k, s.d, slices.Clone(s.centroids.Data)),
				labels:    make([]int, s.n), cost: r.Cost, workers: opts.Workers,
			}
			vec.ScaleTo(best.centroids.Data, down, best.centroids.Data)
			for i, label := range s.labels {
				best.labels[i] = int(label)
			}
		}
	}
	return best, report, ctx.Err()
}

// check returns a view of the data and the largest magnitude that its numbers may have.
// It checks shape and options.
func check(x mat.Matrix, k int, opts *Options) (points rev.General[float64], limit float64, err error) {
	n, d := x.Dims()
	switch {
	case k < 1:
		return points, 0, fmt.Errorf("kmeans: %d clusters, want at least 1", k)
	case d < 1:
		return points, 0, errors.New("kmeans: the points have no columns")
	case n < k:
		return points, 0, fmt.Errorf("kmeans: %d points for %d clusters", n, k)
	case opts.Starts < 0 || opts.MaxIter < 0 || opts.Batch < 0 || opts.Workers < 0:
		return points, 0, fmt.Errorf("kmeans: Starts, MaxIter, Batch and Workers are %d, %d, %d and %d, want at least 0",
			opts.Starts, opts.MaxIter, opts.Batch, opts.Workers)
	case !(opts.Tolerance < 1):
		return points, 0, fmt.Errorf("kmeans: Tolerance is %v, want less than 1", opts.Tolerance)
	case opts.Init != nil && opts.Batch > 0:
		return points, 0, errors.New("kmeans: both Init and Batch are given")
	}
	heaviest, err := objective.CheckWeights("kmeans", opts.Weights, n)
	if err != nil {
		return points, 0, err
	}
	limit = math.Sqrt(math.MaxFloat64/float64(n)/float64(d)/heaviest) / 8
	points = objective.View(x)
	if opts.Init == nil {
		return points, limit, nil
	}
	if r, c := opts.Init.Dims(); r != k || c != d {
		return points, 0, fmt.Errorf("kmeans: Init is %d×%d, want %d×%d", r, c, k, d)
	}
	return points, limit, checkRange("Init has", rev.ViewDense(opts.Init), limit)
}

// Squares of numbers below 1e-154 underflow. If all are that small, enlarged does not change the
// problem, as it multiplies by a power of two: no square underflows then, even of the smallest number,
// and none overflows of numbers up to tinyLimit.
const enlargement, tinyLimit = 0x1p600, 0x1p-150

// enlarged returns x times enlargement.
func enlarged(x rev.General[float64]) rev.General[float64] {
	big := rev.NewGeneral[float64](x.Rows, x.Cols, nil)
	for i := range x.Rows {
		vec.ScaleTo(big.Row(i), enlargement, x.Row(i))
	}
	return big
}

// small reports whether no magnitude exceeds limit.
func small(x rev.General[float64], limit float64) bool { return checkRange("", x, limit) == nil }

// checkRange returns an error that names the first element of x whose magnitude
// is not at most limit.
func checkRange(what string, x rev.General[float64], limit float64) error {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if !(math.Abs(v) <= limit) {
				return fmt.Errorf("kmeans: %s %v in row %d, column %d, want magnitudes of at most %.3g", what, v, i, j, limit)
			}
		}
	}
	return nil
}

// start fits from one start. It returns false if ctx was done before there were
// centroids.
func (s *search) start(ctx context.Context, opts *Options, init *mat.Dense, rnd *rand.Rand) (r Start, ok bool) {
	begin := time.Now()
	most, tolerance := cmp.Or(opts.MaxIter, 300), cmp.Or(max(opts.Tolerance, -1), 1e-4)*s.variance
	switch {
	case init != nil:
		for c := range s.k {
			copy(s.centroids.Row(c), init.RawRowView(c))
		}
		s.assign()
		s.lloyd(ctx, &r, most, tolerance)
		r.Cost = s.cost(nil)
	case opts.Batch > 0 && opts.Batch < s.n:
		if !s.batches(ctx, &r, rnd, opts.Batch, most, tolerance) {
			return r, false
		}
		r.Cost = s.cost(nil)
	default:
		if r.Cost, ok = s.find(ctx, &r, rnd, most, tolerance); !ok {
			return r, false
		}
	}
	r.Duration = time.Since(begin)
	return r, true
}
