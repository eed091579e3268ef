package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/vec"
	"revnum/rev"
	"revnum/revmodels/kmeans"
)

// KMeansOptions says how FitKMeans works. The zero value is ready to use.
type KMeansOptions struct {
	MaxIter   int        // largest number of steps; 0 means 300
	Tolerance float64    // as in kmeans.Options; 0 means 1e-4
	Init      *mat.Dense // if not nil, the K×D centroids to start from
	Seed      uint64     // of the random numbers

	// Progress, if not nil, is called on rank 0 before each step, with the centroids and
	// their cost. It must not change or keep them. Its error ends the fit.
	Progress func(iteration int, cost float64, centroids *mat.Dense) error

	// Iterations is the number of steps already taken, if the fit resumes another one
	// from Init.
	Iterations int
}

// KMeansReport says how a fit went.
type KMeansReport struct {
	Iterations int // steps of Lloyd's algorithm
	Cost       float64
	Converged  bool
	Candidates int // points from which the seeding chose
	Counts     []float64
}

// Requests of FitKMeans.
const (
	kmeansStep = stop + 1 + iota
	kmeansJoin
	kmeansWeights
	kmeansDraw
	kmeansGather
)

// FitKMeans finds k centroids. All ranks call it with the same arguments.
//
// It chooses the first centroids by k-means|| (Bahmani, Moseley, Vattani, Kumar and
// Vassilvitskii, Scalable k-means++, 2012): in each of five rounds a point becomes a
// candidate with probability 2K·d²/Σd², where d is its distance from the candidates so
// far. Then rank 0 clusters the candidates. The weight of a candidate is the number of
// points nearest to it. After that FitKMeans takes steps of Lloyd's algorithm. A step
// sums K·(D+1) + 1 numbers over the ranks. A centroid that has lost its points moves to
// the candidate that is farthest from all centroids, unless all candidates are
// centroids.
//
// All ranks return the clustering. It has the same bits for any number of ranks, and no
// labels, because there would be one for each point. Only rank 0 returns a report. When
// ctx is done on rank 0, rank 0 returns the clustering so far and the error of ctx.
func FitKMeans(ctx context.Context, p *Points, k int, opts *KMeansOptions) (*kmeans.Clustering, *KMeansReport, error) {
	if opts == nil {
		opts = &KMeansOptions{}
	}
	_, d := p.Dims()
	return fitKMeans(ctx, p, k, opts, slices.Repeat([]float64{1}, d))
}

// fitScaled finds centroids, measuring each column in units of its standard deviation.
// It returns them in the units of the points. They are the start of another fit.
func fitScaled(ctx context.Context, p *Points, k int, seed uint64) (*mat.Dense, error) {
	scale := make([]float64, len(p.variances))
	for j, v := range p.variances {
		if scale[j] = 0; v > 0 {
			scale[j] = 1 / math.Sqrt(v)
		}
	}
	c, _, err := fitKMeans(ctx, p, k, &KMeansOptions{MaxIter: 30, Tolerance: 1e-3, Seed: seed}, scale)
	if err != nil {
		return nil, err
	}
	means := c.Centroids()
	for i := range k {
		for j, v := range scale {
			if v > 0 {
				means.Set(i, j, means.At(i, j)/v)
			} else {
				means.Set(i, j, p.means[j])
			}
		}
	}
	return means, nil
}

// kmeansPoints is a fit by FitKMeans.
type kmeansPoints struct {
	*Points
	team  *team
	k, d  int
	scale []float64

	// While candidates are chosen: for each point of this rank the squared distance
	// from the nearest candidate so far, and the number of that candidate.
	dists      []float64
	near       []int32
	candidates int
	drawn      []float64 // coordinates of the points that a round drew
}

func fitKMeans(ctx context.Context, p *Points, k int, opts *KMeansOptions, scale []float64) (*kmeans.Clustering, *KMeansReport, error) {
	n, d := p.Dims()
	if err := checkKMeans(n, d, k, opts); err != nil {
		return nil, nil, err
	}
	f := &kmeansPoints{Points: p, k: k, d: d, scale: scale}
	f.team = newTeam(p.r, k*d, f.answer)
	centroids, report := mat.NewDense(k, d, nil), new(KMeansReport)
	begun := false
	err := f.team.run(func() error {
		candidates := opts.Init
		if candidates != nil {
			centroids.Copy(candidates)
		} else {
			var err error
			if candidates, err = f.seed(ctx, centroids, opts.Seed); err != nil {
				return err
			}
			report.Candidates, _ = candidates.Dims()
		}
		begun = true
		return f.lloyd(ctx, centroids, candidates, opts, report)
	})
	if p.r.Rank() == 0 && begun && done(err) {
		return kmeans.NewClustering(centroids, report.Cost), report, err
	}
	if err != nil {
		return nil, nil, err
	}
	b := make([]byte, 8*(k*d+1))
	putFloats(b, append(slices.Clone(centroids.RawMatrix().Data), report.Cost))
	if err := p.r.Broadcast(b); err != nil {
		return nil, nil, err
	}
	all := make([]float64, k*d+1)
	getFloats(all, b)
	c := kmeans.NewClustering(mat.NewDense(k, d, all[:k*d]), all[k*d])
	if p.r.Rank() != 0 {
		report = nil
	}
	return c, report, nil
}

func checkKMeans(n, d, k int, opts *KMeansOptions) error {
	switch {
	case k < 1:
		return fmt.Errorf("cluster: %d clusters, want at least 1", k)
	case n < k:
		return fmt.Errorf("cluster: %d points for %d clusters", n, k)
	case opts.MaxIter < 0 || opts.Iterations < 0 || !(opts.Tolerance >= 0 && opts.Tolerance < 1):
		return fmt.Errorf("cluster: MaxIter, Iterations and Tolerance are %d, %d and %v, want at least 0, and less than 1", opts.MaxIter, opts.Iterations, opts.Tolerance)
	}
	if opts.Init == nil {
		return nil
	}
	if r, c := opts.Init.Dims(); r != k || c != d {
		return fmt.Errorf("cluster: Init is %d×%d, want %d×%d", r, c, k, d)
	}
	for _, v := range opts.Init.RawMatrix().Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("cluster: Init has %v", v)
		}
	}
	return nil
}

// lloyd takes steps of Lloyd's algorithm.
func (f *kmeansPoints) lloyd(ctx context.Context, c, candidates *mat.Dense, opts *KMeansOptions, r *KMeansReport) error {
	most, tolerance := opts.MaxIter, opts.Tolerance
	if most == 0 {
		most = 300
	}
	if tolerance == 0 {
		tolerance = 1e-4
	}
	var variance float64
	for j, v := range f.variances {
		variance += float64(v*f.scale[j]*f.scale[j]) / float64(f.d)
	}
	k, d := f.k, f.d
	moments := make([]float64, k*(d+1)+1)
	data := c.RawMatrix().Data
	r.Iterations = opts.Iterations
	for moved := math.Inf(1); ; {
		if err := f.team.ask(moments, kmeansStep, data); err != nil {
			return err
		}
		counts, sums := moments[:k], moments[k:k+k*d]
		r.Cost, r.Counts = moments[k+k*d], slices.Clone(counts)
		lost := slices.Contains(counts, 0)
		if lost {
			_, dist := farthest(candidates, c)
			lost = dist > 0 // else there is no place for them
		}
		if r.Converged = moved <= tolerance*variance && !lost; r.Converged || r.Iterations >= most {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if opts.Progress != nil {
			if err := opts.Progress(r.Iterations, r.Cost, c); err != nil {
				return err
			}
		}
		moved = 0
		for i, n := range counts {
			row := c.RawRowView(i)
			if n == 0 {
				if far, dist := farthest(candidates, c); dist > 0 {
					copy(row, far)
					moved = math.Inf(1)
				}
				continue
			}
			for j := range row {
				step := sums[i*d+j] / n
				row[j] += step
				moved += float64(step * step)
			}
		}
		r.Iterations++
	}
}

// farthest returns the candidate that is farthest from all centroids, and its squared
// distance.
func farthest(candidates, centroids *mat.Dense) ([]float64, float64) {
	n, _ := candidates.Dims()
	labels, dists := make([]int, n), make([]float64, n)
	kmeans.NewCost(nil, centroids, candidates).Nearest(labels, dists)
	far := 0
	for i, v := range dists {
		if v > dists[far] {
			far = i
		}
	}
	return candidates.RawRowView(far), dists[far]
}

// seedRounds is how many rounds k-means|| has.
const seedRounds = 5

// seed stores the first centroids in c, and returns the candidates.
func (f *kmeansPoints) seed(ctx context.Context, c *mat.Dense, seed uint64) (*mat.Dense, error) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	n, _ := f.Dims()
	first, err := f.set.ReadRow(rnd.IntN(n))
	if err != nil {
		return nil, err
	}
	vec.MulTo(first, first, f.scale)
	fresh, candidates := first, slices.Clone(first)
	cost := make([]float64, 1)
	for round := 0; ; round++ {
		if err := f.team.ask(cost, kmeansJoin, fresh); err != nil {
			return nil, err
		}
		enough := len(candidates) >= f.k*f.d
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Few points, or many equal ones, may take more rounds.
		if cost[0] == 0 || round >= seedRounds && (enough || round >= 20*seedRounds) {
			break
		}
		if fresh, err = f.draw(rnd.Uint64(), 2*float64(f.k)/cost[0]); err != nil {
			return nil, err
		}
		candidates = append(candidates, fresh...)
	}
	weights := make([]float64, len(candidates)/f.d)
	if err := f.team.ask(weights, kmeansWeights, []float64{float64(len(weights))}); err != nil {
		return nil, err
	}
	for len(candidates) < f.k*f.d { // there are fewer different points than centroids
		candidates = append(candidates, first...)
		weights = append(weights, 0)
	}
	x := mat.NewDense(len(weights), f.d, candidates)
	best, _, err := kmeans.Fit(ctx, x, f.k, &kmeans.Options{Weights: weights, Source: rand.NewPCG(seed, 1)})
	if best == nil {
		return nil, err
	}
	c.Copy(best.Centroids())
	return x, nil
}

// draw draws points, each with a probability of its squared distance times scale. It
// returns their coordinates, point by point. Rank 0 calls it.
func (f *kmeansPoints) draw(seed uint64, scale float64) ([]float64, error) {
	size := f.r.Size()
	counts := make([]float64, size)
	if err := f.team.ask(counts, kmeansDraw, []float64{math.Float64frombits(seed), scale}); err != nil {
		return nil, err
	}
	var total float64
	for _, v := range counts {
		total += v
	}
	points := make([]float64, int(total)*f.d)
	return points, f.team.ask(points, kmeansGather, counts)
}

// answer answers a request.
func (f *kmeansPoints) answer(q request) (*Sums, error) {
	k, d := f.k, f.d
	switch q.what {
	case kmeansStep:
		c := rev.NewGeneral(k, d, q.operands)
		return f.sum(k*(d+1)+1, func(_ *pointsWorker, part []float64, _ int, x rev.General[float64]) error {
			f.toScale(x)
			part[k+k*d] = kmeans.Cost[float64]{Centroids: c, X: x, Workers: 1}.Moments(part[:k], part[k:k+k*d])
			return nil
		})
	case kmeansJoin:
		return f.join(rev.NewGeneral(len(q.operands)/d, d, q.operands))
	case kmeansWeights:
		s := NewSums(int(q.operands[0]))
		counts := make([]float64, s.Len())
		for _, c := range f.near {
			counts[c]++
		}
		s.Add(counts)
		f.dists, f.near = nil, nil
		return s, nil
	case kmeansDraw:
		s := NewSums(f.r.Size())
		counts := make([]float64, f.r.Size())
		err := f.drawOwn(math.Float64bits(q.operands[0]), q.operands[1])
		counts[f.r.Rank()] = float64(len(f.drawn) / d)
		s.Add(counts)
		return s, err
	default: // kmeansGather: each rank stores its points after those of the lower ranks
		before, total := 0, 0
		for rank, v := range q.operands {
			if rank < f.r.Rank() {
				before += int(v)
			}
			total += int(v)
		}
		s, points := NewSums(total*d), make([]float64, total*d)
		copy(points[before*d:], f.drawn)
		s.Add(points)
		return s, nil
	}
}

// toScale scales the columns of x.
func (f *kmeansPoints) toScale(x rev.General[float64]) {
	for i := range x.Rows {
		vec.MulTo(x.Row(i), x.Row(i), f.scale)
	}
}

// join adds candidates, and returns the sum of the squared distances from the nearest
// candidates.
func (f *kmeansPoints) join(c rev.General[float64]) (*Sums, error) {
	base := 0
	if f.first < f.end {
		base, _ = f.set.Rows(f.first)
		if f.dists == nil {
			_, last := f.set.Rows(f.end - 1)
			f.dists, f.near, f.candidates = make([]float64, last-base), make([]int32, last-base), 0
			for i := range f.dists {
				f.dists[i] = math.Inf(1)
			}
		}
	}
	known := f.candidates
	f.candidates += c.Rows
	return f.sum(1, func(_ *pointsWorker, part []float64, block int, x rev.General[float64]) error {
		first, end := f.set.Rows(block)
		labels, dists := make([]int, x.Rows), make([]float64, x.Rows)
		if c.Rows > 0 {
			f.toScale(x)
			kmeans.Cost[float64]{Centroids: c, X: x, Workers: 1}.Nearest(labels, dists)
		}
		part[0] = 0
		own, near := f.dists[first-base:end-base], f.near[first-base:end-base]
		for i, v := range dists {
			if c.Rows > 0 && v < own[i] {
				own[i], near[i] = v, int32(known+labels[i])
			}
			part[0] += own[i]
		}
		return nil
	})
}

// drawOwn draws points of this rank. Each block has random numbers of its own.
func (f *kmeansPoints) drawOwn(seed uint64, scale float64) error {
	f.drawn = f.drawn[:0]
	at := 0
	for block := f.first; block < f.end; block++ {
		rnd := rand.New(rand.NewPCG(seed, uint64(block)))
		first, end := f.set.Rows(block)
		for row := first; row < end; row++ {
			v := f.dists[at] * scale
			at++
			if rnd.Float64() >= v {
				continue
			}
			x, err := f.set.ReadRow(row)
			if err != nil {
				return err
			}
			vec.MulTo(x, x, f.scale)
			f.drawn = append(f.drawn, x...)
		}
	}
	return nil
}
