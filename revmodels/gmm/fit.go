package gmm

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

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/logs"
	"revnum/internal/objective"
	"revnum/internal/simd/vec"
	"revnum/rev"
	"revnum/revmodels/kmeans"
)

// Options are the options of Fit. The zero value is ready to use.
type Options struct {
	// Covariance is the kind of the covariances. The default is Full. Variances of Diagonal
	// and Spherical ones are wrong by about 2⁻⁵² times the squared distance of the component
	// from the mean of the points.
	Covariance Covariance

	// Starts is the number of clusterings to start from. The best fit is kept. The
	// first, third and so on scale all columns to unit variance. The others take the
	// points as they are. With spherical covariances the first take the points as they
	// are. 0 means 2 to 24: the fewer the points, and the later a start was better than
	// those before it, the more. Equal clusterings count as one. With Init or InitMeans
	// there is only one.
	Starts int

	// MaxIter is the largest number of iterations of a start. 0 means 500, and a negative
	// number means none.
	MaxIter int

	// Tolerance ends a start when all further iterations together are expected to change
	// the log posterior by less than this for each point. 0 means 1e-3. With a negative
	// number only MaxIter ends a start.
	Tolerance float64

	// Polish continues the best start to its maximum, up to about 1e-8 nats in all, by
	// L-BFGS. It needs full covariances and points without weights. With RegCovar it ends
	// where steps of EM would, or does nothing if a component would lose its points.
	Polish bool

	// RegCovar keeps components from collapsing onto too few points. Each iteration adds
	// it to the diagonals of all covariances. 0 means 1e-9 of the least positive variance
	// of a column. A negative number means nothing is added.
	RegCovar float64

	// Prior, if its Gamma is not 0, replaces RegCovar, which must then be 0. Every
	// iteration then raises the same objective, the log posterior. Its sign must be
	// GradBench.
	Prior Prior

	// Init, if not nil, is the mixture to start from.
	Init *Mixture

	// InitMeans, if not nil, are K×D means to start from. After a step of k-means, each
	// component begins with the points nearest to one of them. For FitPoints they are
	// K×D for each of Starts.
	InitMeans *mat.Dense

	// Points, if not nil, are the points of Fit and Select once more, in the memory of a
	// GPU for example. They compute the moments and the gradients. Weights must then be
	// nil. FitPoints does not use this field.
	Points Points

	// Weights, if not nil, are the weights of the points. A point of weight 2 counts as
	// two points.
	Weights []float64

	// Source provides random numbers. Fits with equal sources are equal, for any number
	// of workers. nil means a fixed seed.
	Source rand.Source

	// Workers is the number of goroutines to use; 0 means GOMAXPROCS.
	Workers int

	// Progress, if not nil, is called after each iteration.
	Progress func(Iteration)
}

// Iteration is the argument of Options.Progress.
type Iteration struct {
	Start, Iteration int // both count from 0
	LogPosterior     float64
}

// Report says how a fit went.
type Report struct {
	Starts []Start
	Best   int // index of the start that was kept, or -1 if all failed
}

// Start says how a fit from one clustering went. If it gave no mixture, the fields
// after Polish are 0.
type Start struct {
	Iterations    int       // in all
	Polish        int       // iterations of the polish
	LogLikelihood float64   // at the end
	LogPosterior  float64   // the log likelihood, plus the log prior if there is one
	History       []float64 // the log posterior at the start and after each iteration
	Gain          float64   // of the last iteration; after the polish, an estimate of what can still be gained
	Converged     bool      // Options.Tolerance was met, and after the polish 1e-8 nats; false if the start ended because others were better
	Reseeded      int       // components that had lost their points and restarted with points of others
	Collapsed     []int     // components that only RegCovar or the prior keeps from being singular
	Duration      time.Duration
	Err           error `json:"-"` // why the start gave no mixture, or stopped early
}

// String returns a table of the starts for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s%12s%17s%17s%10s%10s\n", "start", "iterations", "log-likelihood", "log posterior", "gain", "time")
	for i, s := range r.Starts {
		fmt.Fprintf(&b, "%8d%12d", i, s.Iterations)
		if s.Err != nil && s.LogPosterior == 0 { // no mixture
			fmt.Fprintf(&b, "%17s%17s%10s", "-", "-", "-")
		} else {
			fmt.Fprintf(&b, "%17.6f%17.6f%10.1e", s.LogLikelihood, s.LogPosterior, s.Gain)
		}
		fmt.Fprintf(&b, "%10v", s.Duration.Round(time.Millisecond/10))
		if i == r.Best {
			b.WriteString("  best")
		}
		switch {
		case s.Err != nil:
			fmt.Fprintf(&b, "  %v", s.Err)
		case !s.Converged:
			b.WriteString("  not converged")
		}
		if s.Polish > 0 {
			fmt.Fprintf(&b, "  %d iterations of polish", s.Polish)
		}
		if s.Reseeded > 0 {
			fmt.Fprintf(&b, "  %d reseeded", s.Reseeded)
		}
		if len(s.Collapsed) > 0 {
			fmt.Fprintf(&b, "  collapsed: %v", s.Collapsed)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Fit returns the mixture of k components that makes the rows of x most probable, or,
// with a prior, the mixture that is most probable given the rows of x. It also returns
// a report. It reads x in place if x is a mat.RawMatrixer or a *mat.VecDense, and
// otherwise copies it. A nil opts means the defaults.
//
// Each start clusters the points by k-means, and continues by expectation maximisation
// (EM). The first two run k-means to its end, and the others take one step of it. A start
// ends early if it gains too little to become the best. No step lowers the log
// posterior, except by rounding. A component that has lost its points restarts with
// half of the heaviest component, if that leads to a better fit. This finds a local
// maximum. Several starts make it likely that it is the best. A fit that has not
// converged is not an error: see the report.
//
// Fit returns an error and no mixture in these cases:
//
//   - k < 1, there are fewer points than components, or an option makes no sense.
//   - x has a NaN or an infinity (the error names row and column, counted from 0), or a
//     column whose variance is not between 1e-290 and 1e290.
//   - There are no more points than columns, covariances are full or tied, and neither
//     RegCovar nor Prior is set.
//   - Every start failed because a covariance became singular
//     (*rev.NotPositiveDefiniteError). This takes a negative RegCovar, or points that
//     do not vary at all.
//
// Fit also returns the errors of opts.Points. When ctx is done, it returns the error of ctx,
// with the best mixture so far if there is one.
func Fit(ctx context.Context, x mat.Matrix, k int, opts *Options) (*Mixture, *Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	f, err := newFit(x, k, opts)
	if err != nil {
		return nil, nil, err
	}
	if opts.Init != nil {
		f.keep(f.climb(ctx, time.Now(), 0, Start{}, func() error { return f.em.start(opts.Init) }))
	} else if err := f.starts(ctx); err != nil {
		return nil, nil, err
	}
	return f.result(ctx)
}

// keep adds a start to the report. Its mixture is nil if it gave none.
func (f *fit) keep(m *Mixture, r Start) {
	f.report.Starts = append(f.report.Starts, r)
	if m != nil && (f.best == nil || f.better(&r, &f.report.Starts[f.report.Best])) {
		f.best, f.report.Best = m, len(f.report.Starts)-1
	}
}

// result polishes the best mixture if the options say so, and returns what Fit returns.
func (f *fit) result(ctx context.Context) (*Mixture, *Report, error) {
	r := &f.report
	if f.best != nil && f.opts.Polish && ctx.Err() == nil && f.em.err == nil {
		f.best = f.polish(ctx, f.best, &r.Starts[r.Best])
	}
	switch {
	case f.em.err != nil:
		return nil, r, f.em.err
	case ctx.Err() != nil:
		return f.best, r, ctx.Err()
	case f.best == nil:
		return nil, r, fmt.Errorf("gmm: no start gave a mixture: %w", r.Starts[len(r.Starts)-1].Err)
	}
	return f.best, r, nil
}

// better reports whether r is a better fit than s. With the default RegCovar, collapsed
// components have densities as high as they like. Fewer of them are then better.
func (f *fit) better(r, s *Start) bool {
	if len(r.Collapsed) != len(s.Collapsed) && f.opts.RegCovar <= 0 {
		return len(r.Collapsed) < len(s.Collapsed)
	}
	return r.LogPosterior > s.LogPosterior
}

// Choice is the result of Select for one number of components.
type Choice struct {
	Components int
	BIC        float64 // as Mixture.BIC, with the weights of the points; +Inf if there is no mixture
	Report     *Report
	Err        error // why there is no mixture
}

// Select fits mixtures with each of the given numbers of components, as Fit does. It
// returns the mixture with the least Bayesian information criterion, and a Choice for
// each number. It returns an error if there is no mixture at all. When ctx is done, it
// returns the error of ctx, with the best mixture so far if there is one.
func Select(ctx context.Context, x mat.Matrix, components []int, opts *Options) (*Mixture, []Choice, error) {
	if len(components) == 0 {
		return nil, nil, errors.New("gmm: no numbers of components to select from")
	}
	n, _ := x.Dims()
	total := float64(n)
	if opts != nil && opts.Weights != nil {
		total = floats.Sum(opts.Weights)
	}
	var best *Mixture
	var choices []Choice
	least := math.Inf(1)
	for _, k := range components {
		if ctx.Err() != nil {
			break
		}
		m, r, err := Fit(ctx, x, k, opts)
		c := Choice{Components: k, BIC: math.Inf(1), Report: r, Err: err}
		if m != nil {
			c.BIC = float64(m.freeParams()*logs.Log(total)) - 2*r.Starts[r.Best].LogLikelihood
		}
		if choices = append(choices, c); c.BIC < least {
			best, least = m, c.BIC
		}
	}
	switch {
	case ctx.Err() != nil:
		return best, choices, ctx.Err()
	case best == nil:
		return nil, choices, choices[0].Err
	}
	return best, choices, nil
}

// fit is what the starts of a fit have in common.
type fit struct {
	opts      *Options
	model     *Model[float64]
	em        *em
	maxIter   int
	tolerance float64
	source    rand.Source
	reg       float64   // what is added to the diagonals of covariances
	variances []float64 // of the columns

	best   *Mixture // of all starts, nil if there is none yet
	report Report

	points  Points             // nil if the points are those of model
	save    func(*State) error // nil, or called after each iteration until the first climb is done
	resumed bool               // iterations precede the first
}

// newFit checks the data and the options.
func newFit(x mat.Matrix, k int, opts *Options) (*fit, error) {
	n, d := x.Dims()
	if err := checkCounts(n, d, k); err != nil {
		return nil, err
	}
	if err := opts.check(n, k, d, 1); err != nil {
		return nil, err
	}
	view := objective.View(x)
	if err := objective.CheckFinite("gmm: the data", view); err != nil {
		return nil, err
	}
	f, err := newFitOf(view, k, opts, variances(view))
	if err != nil {
		return nil, err
	}
	if opts.Points != nil {
		if rows, cols := opts.Points.Dims(); rows != n || cols != d {
			return nil, fmt.Errorf("gmm: Points are %d×%d, want %d×%d", rows, cols, n, d)
		}
		f.points, f.em.remote = opts.Points, opts.Points
	}
	for i := range n {
		vec.Axpy(f.em.weight(i)/f.em.total, view.Row(i), f.em.density.origin)
	}
	return f, nil
}

// checkCounts returns an error unless n points in d dimensions can have k components.
func checkCounts(n, d, k int) error {
	switch {
	case k < 1:
		return fmt.Errorf("gmm: %d components, want at least 1", k)
	case n == 0 || d == 0:
		return errors.New("gmm: no points")
	case k > n:
		return fmt.Errorf("gmm: %d components for %d points", k, n)
	}
	return nil
}

// newFitOf returns a fit with the options, or with their defaults. It returns an error if
// the variances of the columns are out of range.
func newFitOf(x rev.General[float64], k int, opts *Options, variances []float64) (*fit, error) {
	f := &fit{
		opts: opts, report: Report{Best: -1}, source: opts.Source, variances: variances,
		maxIter: max(0, cmp.Or(opts.MaxIter, 500)), tolerance: cmp.Or(opts.Tolerance, 1e-3),
		model: &Model[float64]{X: x, K: k, Prior: opts.Prior, Workers: opts.Workers},
	}
	if f.source == nil {
		f.source = rand.NewPCG(1, 2)
	}
	if err := f.setRegCovar(); err != nil {
		return nil, err
	}
	f.em = newEM(x, opts.Weights, k, opts.Covariance, opts.Prior, opts.Workers)
	f.em.reg = f.reg
	return f, nil
}

// setRegCovar checks the variances, and sets reg.
func (f *fit) setRegCovar() error {
	n, d, opts := f.model.X.Rows, f.model.X.Cols, f.opts
	var least float64 // positive variance
	for j, v := range f.variances {
		if v != 0 && !(v > 1e-290 && v < 1e290) {
			return fmt.Errorf("gmm: the variance of column %d is %v, out of range: rescale it", j, v)
		}
		if v > 0 && (least == 0 || v < least) {
			least = v
		}
	}
	switch {
	case opts.Prior.Gamma != 0 || opts.RegCovar < 0:
	case opts.RegCovar > 0:
		f.reg = opts.RegCovar
	case n <= d && d > 1 && (opts.Covariance == Full || opts.Covariance == Tied):
		return fmt.Errorf("gmm: %d points do not determine %v covariances of %d columns: want more points, diagonal or spherical ones, or a RegCovar", n, opts.Covariance, d)
	default:
		f.reg = 1e-9 * least
	}
	return nil
}

// check returns an error if the options make no sense for k components of n points in d
// dimensions, and InitMeans for the given number of starts.
func (o *Options) check(n, k, d, starts int) error {
	switch {
	case o.Starts < 0 || o.Workers < 0:
		return errors.New("gmm: negative Starts or Workers")
	case math.IsNaN(o.Tolerance):
		return errors.New("gmm: Tolerance is NaN")
	case math.IsNaN(o.RegCovar) || math.IsInf(o.RegCovar, 0):
		return fmt.Errorf("gmm: RegCovar is %v", o.RegCovar)
	case o.Covariance < Full || o.Covariance > Spherical:
		return fmt.Errorf("gmm: there is no %v", o.Covariance)
	case o.Polish && (o.Covariance != Full || o.Weights != nil):
		return errors.New("gmm: Polish is for full covariances and points without weights")
	case o.Points != nil && o.Weights != nil:
		return errors.New("gmm: Points are for points without weights")
	case o.InitMeans != nil && o.Init != nil:
		return errors.New("gmm: both InitMeans and Init are given")
	case o.Init != nil && (o.Init.Components() != k || o.Init.Dim() != d):
		return fmt.Errorf("gmm: Init has %d components in %d dimensions, want %d in %d", o.Init.Components(), o.Init.Dim(), k, d)
	}
	if o.Init != nil && o.Covariance != Full {
		if err := o.Covariance.check(o.Init.covs); err != nil {
			return fmt.Errorf("gmm: Init: %w", err)
		}
	}
	if o.InitMeans != nil {
		if r, c := o.InitMeans.Dims(); r != k*starts || c != d {
			return fmt.Errorf("gmm: InitMeans is %d×%d, want %d×%d", r, c, k*starts, d)
		}
		if err := objective.CheckFinite("gmm: InitMeans", rev.ViewDense(o.InitMeans)); err != nil {
			return err
		}
	}
	if _, err := objective.CheckWeights("gmm", o.Weights, n); err != nil {
		return err
	}
	switch p := o.Prior; {
	case p == Prior{}:
	case !(p.Gamma > 0) || math.IsInf(p.Gamma, 0) || p.M < 0:
		return fmt.Errorf("gmm: Prior has Gamma %v and M %d, want Gamma > 0 and M >= 0", p.Gamma, p.M)
	case p.Sign != GradBench:
		return errors.New("gmm: Prior has ADBench's sign, which has no maximum")
	case o.RegCovar != 0:
		return errors.New("gmm: both RegCovar and Prior are given")
	}
	return nil
}

// variances returns the variances of the columns of x. They are exactly 0 for constant
// columns.
func variances(x rev.General[float64]) []float64 {
	n := float64(x.Rows)
	mean, sum := append([]float64(nil), x.Row(0)...), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			sum[j] += v - x.Row(0)[j]
		}
	}
	floats.AddScaled(mean, 1/n, sum)
	clear(sum)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			sum[j] += float64((v - mean[j]) * (v - mean[j]))
		}
	}
	floats.Scale(1/n, sum)
	return sum
}

// starts clusters the points, and fits from each clustering that differs from the
// earlier ones. Which scales of the columns separate the components best is not known, so
// starts alternate between equal variances and the variances that the columns have. The latter come
// first for spherical covariances, which have no other scales: starts that are worse end early.
func (f *fit) starts(ctx context.Context) error {
	x, k := f.model.X, f.model.K
	scaled, means := mat.NewDense(x.Rows, x.Cols, nil), mat.NewDense(k, x.Cols, nil)
	largest, scale := floats.Max(f.variances), make([]float64, x.Cols)
	opts := &kmeans.Options{Starts: 1, Weights: f.opts.Weights, Source: f.source, Workers: f.opts.Workers}
	starts, improved := f.opts.Starts, 0
	if starts == 0 {
		numbers, _ := f.opts.Covariance.size(k, x.Cols)
		starts = int(min(max(2, 2e6/(float64(x.Rows)*float64(k)*float64(numbers))), 24))
	}
	if f.opts.InitMeans != nil {
		starts = 1
	}
	var clusterings [][]int // labels
	for i := 0; i < starts && ctx.Err() == nil; i++ {
		if f.opts.Starts == 0 && i >= 6+3*improved {
			break
		}
		begin := time.Now()
		for j, v := range f.variances {
			switch {
			case v == 0:
				scale[j] = 0
			case (i%2 == 0) != (f.opts.Covariance == Spherical):
				scale[j] = 1 / math.Sqrt(v)
			default:
				scale[j] = 1 / math.Sqrt(largest)
			}
		}
		for i := range x.Rows {
			vec.MulTo(scaled.RawRowView(i), x.Row(i), scale)
		}
		if m := f.opts.InitMeans; m != nil {
			opts.Init, opts.MaxIter = mat.NewDense(k, x.Cols, nil), 1
			for c := range k {
				vec.MulTo(opts.Init.RawRowView(c), m.RawRowView(c), scale)
			}
		}
		if i >= 2 {
			opts.MaxIter = 1
		}
		c, _, err := kmeans.Fit(ctx, scaled, k, opts)
		if c == nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("gmm: clustering the points: %w", err)
		}
		labels := c.Labels()
		if slices.ContainsFunc(clusterings, func(other []int) bool { return sameClusters(labels, other, k) }) {
			continue
		}
		clusterings = append(clusterings, labels)
		centroids := c.Centroids()
		for j, s := range scale { // near the means, about which begin takes moments
			for k := range k {
				if means.Set(k, j, x.Row(0)[j]); s > 0 {
					means.Set(k, j, centroids.At(k, j)/s)
				}
			}
		}
		before := f.most()
		f.keep(f.climb(ctx, begin, len(clusterings)-1, Start{}, func() error { return f.em.begin(labels, rev.ViewDense(means), f.opts.RegCovar <= 0) }))
		if f.most() > before+float64(f.tolerance*f.em.total) {
			improved = i
		}
	}
	return nil
}

// most returns the largest log posterior of a mixture so far, or -Inf.
func (f *fit) most() float64 {
	if f.best == nil {
		return math.Inf(-1)
	}
	return f.report.Starts[f.report.Best].LogPosterior
}

// sound reports whether the best mixture so far has no collapsed components. One with them may not be
// better than one with a smaller log posterior.
func (f *fit) sound() bool {
	return f.best != nil && (f.opts.RegCovar > 0 || len(f.report.Starts[f.report.Best].Collapsed) == 0)
}

// sameClusters reports whether labels below k divide the points in the same way.
func sameClusters(a, b []int, k int) bool {
	other, used := make([]int, k), make([]bool, k) // the label in b for one in a, from 1
	for i, label := range a {
		switch {
		case other[label] == 0 && !used[b[i]]:
			other[label], used[b[i]] = b[i]+1, true
		case other[label] != b[i]+1:
			return false
		}
	}
	return true
}

// minWeight is the least weight of a component in expectation maximisation.
const minWeight = 1e-15

// climb fits from the mixture of begin, after the iterations in begun. It returns nil if
// there is none.
func (f *fit) climb(ctx context.Context, since time.Time, start int, begun Start, begin func() error) (m *Mixture, r Start) {
	r = begun
	defer func() { r.Duration = time.Since(since) }()
	if r.Err = begin(); r.Err != nil {
		return nil, r
	}
	if r.Err = f.maximise(ctx, start, &r); r.Err != nil {
		return nil, r
	}
	f.save = nil
	m, r.Err = f.mixture(&r)
	// At most once for each component: there may be no better place for one.
	for range f.model.K {
		lost := f.em.lost()
		if r.Err != nil || len(lost) == 0 || len(lost) == f.model.K || ctx.Err() != nil || r.Iterations >= f.maxIter {
			break
		}
		again := r
		again.Reseeded += len(lost)
		again.History = slices.Clone(r.History[:r.Iterations])
		f.em.reseed(lost)
		if f.em.refactor() != nil || f.maximise(ctx, start, &again) != nil {
			break
		}
		other, err := f.mixture(&again)
		if err != nil || !f.better(&again, &r) {
			break
		}
		m, r = other, again
	}
	if m != nil && !r.Converged {
		r.Err = ctx.Err()
	}
	return m, r
}

// mixture returns the present mixture of f.em, and says in r how good it is.
func (f *fit) mixture(r *Start) (*Mixture, error) {
	m, err := f.em.mixture()
	if err != nil {
		return nil, err
	}
	r.LogLikelihood = f.em.expect(false)
	r.LogPosterior = r.LogLikelihood + f.em.logPrior()
	if len(r.History) == r.Iterations {
		r.History = append(r.History, r.LogPosterior)
	}
	r.Collapsed = f.collapsed(m)
	return m, nil
}

// remaining returns about how much all further iterations will change the log posterior.
// In the end changes shrink by a constant factor, which is that of the last two changes.
// It is at least 3/4, since early changes shrink faster than later ones.
func remaining(history []float64) float64 {
	n := len(history)
	if n < 2 {
		return math.Inf(1)
	}
	last, factor := math.Abs(history[n-1]-history[n-2]), 0.75
	if n > 2 && last > 0 {
		factor = min(max(factor, last/math.Abs(history[n-2]-history[n-3])), 0.999)
	}
	return last * factor / (1 - factor)
}

// maximise makes steps of EM until further ones gain little.
func (f *fit) maximise(ctx context.Context, start int, r *Start) error {
	before := math.Inf(-1)
	if f.resumed && r.Iterations > 0 {
		before = r.History[r.Iterations-1]
	}
	f.resumed = false
	r.Converged = false
	for {
		posterior := f.em.expect(true) + f.em.logPrior()
		if math.IsNaN(posterior) || math.IsInf(posterior, 0) {
			return fmt.Errorf("gmm: the log posterior is %v", posterior)
		}
		r.History = append(r.History, posterior)
		r.Gain, before = posterior-before, posterior
		r.Converged = remaining(r.History) < f.tolerance*f.em.total
		if r.Iterations >= f.maxIter || ctx.Err() != nil {
			return nil
		}
		if !r.Converged && r.Iterations >= 3 && f.sound() && posterior+float64(20*r.Gain) < f.most() {
			return nil // other starts are better
		}
		if f.opts.Progress != nil {
			f.opts.Progress(Iteration{Start: start, Iteration: r.Iterations, LogPosterior: posterior})
		}
		// After convergence there are moments for one more step.
		if err := f.em.maximise(); err != nil {
			return err
		}
		if r.Iterations++; r.Converged {
			return nil
		}
		if f.save != nil {
			if err := f.save(f.em.state(r.History)); err != nil {
				f.em.err = err
				return err
			}
		}
	}
}

// collapsed returns the components of m that have a variance more than half of which is
// due to RegCovar or the prior.
func (f *fit) collapsed(m *Mixture) []int {
	var list []int
	for c, w := range m.weights {
		prior := f.model.Prior.Gamma * f.model.Prior.Gamma / (float64(w*f.em.total) + float64(f.model.Prior.M))
		if m.kind == Tied {
			prior = float64(prior * w * float64(m.Components()))
		}
		prior += f.reg
		factor := viewParams(m.params, m.Components(), m.Dim()).Factors.Row(c)
		if 2*prior*precision(factor, m.Dim()) < 1 { // the trace is at least 1 over the least variance
			continue
		}
		less, least := mat.NewSymDense(m.Dim(), nil), math.Inf(1) // Σ - 2·prior·I, and its least element on the diagonal
		less.CopySym(m.covs[c])
		for j := range m.Dim() {
			less.SetSym(j, j, less.At(j, j)-2*prior)
			least = min(least, less.At(j, j))
		}
		full := m.kind == Full || m.kind == Tied
		if least <= 0 || full && !new(mat.Cholesky).Factorize(less) {
			list = append(list, c)
		}
	}
	return list
}
