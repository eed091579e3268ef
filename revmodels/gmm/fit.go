package gmm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/vec"
	"revnum/rev"
)

// FitOptions says how Fit works. The zero value is ready to use.
type FitOptions struct {
	// Restarts is the number of starts from different centres, of which the
	// best fit is kept; 0 means 4. There is only one with MeansInit or Start.
	Restarts int

	// MaxIter is the largest number of iterations of a restart; 0 means 500.
	MaxIter int

	// Tol is how many nats of log posterior may be left to gain, by the
	// estimate Restart.Gain, for a restart to have converged; 0 means 1e-8. No
	// restart asks for more than the rounding error of the log posterior.
	Tol float64

	// RegCovar keeps components from collapsing onto too few points: it is
	// what is added to the diagonal of the covariance of a component with N/K
	// points (less to that of one with more points). 0 means 1e-6 of the least
	// variance of a column, of those that vary at all; a negative number means
	// nothing. It is a Prior in fact, with M = 0 and γ² = RegCovar·N/K, so that
	// every iteration raises the same objective, the log posterior.
	RegCovar float64

	// Prior, if its Gamma is not 0, takes the place of RegCovar, which must be
	// 0 then. Its sign must be GradBench.
	Prior Prior

	// MeansInit, if not nil, are the K×D means to start from instead of
	// k-means++ centres. The points start in the component of the nearest.
	MeansInit *mat.Dense

	// Start, if not nil, is the mixture to start from.
	Start *Mixture

	// Src is where the random numbers of k-means++ come from. Fits with equal
	// sources are equal, on any number of workers; nil means a fixed seed.
	Src rand.Source

	// Workers is the number of goroutines to use; 0 means GOMAXPROCS.
	Workers int
}

// Report says how a fit went.
type Report struct {
	Restarts []Restart
	Best     int // index of the restart that was kept; -1 if all failed
}

// Restart says how a fit from one start went. The numbers after LBFGS are 0 if
// it gave no mixture.
type Restart struct {
	EM            int       // iterations of expectation maximisation
	LBFGS         int       // iterations of L-BFGS
	LogLikelihood float64   // in the end
	LogPosterior  float64   // the same with the prior, which is what was maximised
	History       []float64 // the log posterior at the start and after each iteration
	Gain          float64   // estimate of how much the log posterior can still rise
	Converged     bool      // Gain fell to FitOptions.Tol
	Collapsed     []int     // components that only the prior keeps from being singular
	Duration      time.Duration
	Err           error // why the restart gave no mixture, or stopped early
}

// String returns a table of the restarts, to be read by people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8s%6s%8s%17s%17s%10s%10s\n", "restart", "EM", "L-BFGS", "log-likelihood", "log posterior", "gain", "time")
	for i, s := range r.Restarts {
		fmt.Fprintf(&b, "%8d%6d%8d", i, s.EM, s.LBFGS)
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
		if len(s.Collapsed) > 0 {
			fmt.Fprintf(&b, "  collapsed: %v", s.Collapsed)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Fit is FitContext without a context.
func Fit(x mat.Matrix, k int, opts *FitOptions) (*Mixture, *Report, error) {
	return FitContext(context.Background(), x, k, opts)
}

// FitContext returns the mixture of k components that makes the rows of x most
// probable, or the most probable given the rows of x where there is a prior,
// and a report. It reads x in place if it is a mat.RawMatrixer or a
// *mat.VecDense, and copies it otherwise. A nil opts means the defaults.
//
// Each restart chooses centres by k-means++, moves them by a few steps of
// Lloyd's algorithm, takes steps of expectation maximisation (EM) while they
// gain much, and finishes with L-BFGS, which converges fast where they do not,
// in rounds with a step of EM or more between them. That finds a local maximum;
// several restarts make it likely that it is the best. None of the iterations
// lowers the log posterior beyond rounding. A fit that has not converged is not
// an error: see the report.
//
// It returns an error, and no mixture, if k < 1, if there are fewer points than
// components, if x has a NaN or an infinity (the error names row and column,
// counted from 0) or a column whose variance is not between 1e-290 and 1e290,
// if an option makes no sense, or if every restart failed because a covariance
// became singular (*SingularError), which takes a RegCovar that is negative or
// points that do not vary at all.
// When ctx is done it returns the error of ctx, with the best mixture so far
// unless there is none.
func FitContext(ctx context.Context, x mat.Matrix, k int, opts *FitOptions) (*Mixture, *Report, error) {
	if opts == nil {
		opts = &FitOptions{}
	}
	f, err := newFit(x, k, opts)
	if err != nil {
		return nil, nil, err
	}
	restarts := 4
	switch {
	case opts.MeansInit != nil || opts.Start != nil:
		restarts = 1
	case opts.Restarts > 0:
		restarts = opts.Restarts
	}
	src := opts.Src
	if src == nil {
		src = rand.NewPCG(1, 2)
	}
	rnd := rand.New(src)

	report := &Report{Best: -1}
	var best *Mixture
	for i := 0; i < restarts && ctx.Err() == nil; i++ {
		m, r := f.restart(ctx, opts, rnd)
		report.Restarts = append(report.Restarts, r)
		if m != nil && (best == nil || r.LogPosterior > report.Restarts[report.Best].LogPosterior) {
			best, report.Best = m, i
		}
	}
	if err := ctx.Err(); err != nil {
		return best, report, err
	}
	if best == nil {
		return nil, report, fmt.Errorf("gmm: no restart gave a mixture: %w", report.Restarts[0].Err)
	}
	return best, report, nil
}

// fit is what the restarts of a fit share.
type fit struct {
	model   *Model
	maxIter int
	tol     float64

	variances []float64 // of the columns

	x, grad []float64 // parameters, gradient of -F there
	local   local     // coordinates around x
}

// newFit checks the data and the options.
func newFit(x mat.Matrix, k int, opts *FitOptions) (*fit, error) {
	n, d := x.Dims()
	switch {
	case k < 1:
		return nil, fmt.Errorf("gmm: %d components, want at least 1", k)
	case n == 0 || d == 0:
		return nil, errors.New("gmm: no points")
	case k > n:
		return nil, fmt.Errorf("gmm: %d components for %d points", k, n)
	case opts.Restarts < 0 || opts.MaxIter < 0 || opts.Workers < 0 || !(opts.Tol >= 0):
		return nil, errors.New("gmm: negative Restarts, MaxIter, Tol or Workers")
	case math.IsNaN(opts.RegCovar) || math.IsInf(opts.RegCovar, 0):
		return nil, fmt.Errorf("gmm: RegCovar is %v", opts.RegCovar)
	case opts.MeansInit != nil && opts.Start != nil:
		return nil, errors.New("gmm: both MeansInit and Start are given")
	case opts.Start != nil && (opts.Start.Components() != k || opts.Start.Dim() != d):
		return nil, fmt.Errorf("gmm: Start has %d components in %d dimensions, want %d in %d", opts.Start.Components(), opts.Start.Dim(), k, d)
	}
	if opts.MeansInit != nil {
		if r, c := opts.MeansInit.Dims(); r != k || c != d {
			return nil, fmt.Errorf("gmm: MeansInit is %d×%d, want %d×%d", r, c, k, d)
		}
		if err := checkFinite("MeansInit", rev.ViewDense(opts.MeansInit)); err != nil {
			return nil, err
		}
	}
	switch p := opts.Prior; {
	case p == Prior{}:
	case !(p.Gamma > 0) || math.IsInf(p.Gamma, 0) || p.M < 0:
		return nil, fmt.Errorf("gmm: Prior has Gamma %v and M %d, want Gamma > 0 and M >= 0", p.Gamma, p.M)
	case p.Sign != GradBench:
		return nil, errors.New("gmm: Prior has ADBench's sign, which has no maximum")
	case opts.RegCovar != 0:
		return nil, errors.New("gmm: both RegCovar and Prior are given")
	}
	f := &fit{
		model:   &Model{X: viewMatrix(x), K: k, Prior: opts.Prior, Workers: opts.Workers},
		maxIter: opts.MaxIter, tol: opts.Tol,
	}
	if f.maxIter == 0 {
		f.maxIter = 500
	}
	if f.tol == 0 {
		f.tol = 1e-8
	}
	if err := checkFinite("the data", f.model.X); err != nil {
		return nil, err
	}
	f.variances = variances(f.model.X)
	for j, v := range f.variances {
		if v != 0 && !(v > 1e-290 && v < 1e290) {
			return nil, fmt.Errorf("gmm: the variance of column %d is %v, out of range: rescale it", j, v)
		}
	}
	if opts.Prior.Gamma == 0 && opts.RegCovar >= 0 {
		reg := opts.RegCovar
		if reg == 0 {
			for _, v := range f.variances {
				if v > 0 && (reg == 0 || v < reg) {
					reg = v
				}
			}
			reg *= 1e-6
		}
		f.model.Prior.Gamma = math.Sqrt(reg * float64(n) / float64(k))
	}
	f.x, f.grad = make([]float64, f.model.Dim()), make([]float64, f.model.Dim())
	return f, nil
}

// checkFinite returns an error that names the first element of x that is not
// finite.
func checkFinite(name string, x rev.General[float64]) error {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("gmm: %s has %v in row %d, column %d", name, v, i, j)
			}
		}
	}
	return nil
}

// variances returns the variances of the columns of x, exactly 0 for those that
// do not vary.
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

// restart fits from one start. The mixture is nil if there is none.
func (f *fit) restart(ctx context.Context, opts *FitOptions, rnd *rand.Rand) (m *Mixture, r Restart) {
	begin := time.Now()
	defer func() { r.Duration = time.Since(begin) }()
	if r.Err = f.start(ctx, opts, rnd); r.Err != nil {
		return nil, r
	}
	if r.Err = f.maximise(ctx, &r); r.Err != nil {
		return nil, r
	}
	m, r.Err = FromParams(f.model.K, f.model.X.Cols, f.x)
	if r.Err != nil {
		return nil, r
	}
	r.LogPosterior = -f.model.Func(m.params)
	likelihood := *f.model
	likelihood.Prior = Prior{}
	r.LogLikelihood = -likelihood.Func(m.params)
	r.Collapsed = f.collapsed(m)
	if !r.Converged {
		r.Err = ctx.Err()
	}
	return m, r
}

// start sets the parameters that a restart starts from.
func (f *fit) start(ctx context.Context, opts *FitOptions, rnd *rand.Rand) error {
	x, k, d := f.model.X, f.model.K, f.model.X.Cols
	if opts.Start != nil {
		copy(f.x, opts.Start.params)
		for c := range k { // the logarithm of a weight of 0 is not finite
			f.x[c] = max(f.x[c], math.Log(minWeight))
		}
		return nil
	}
	scale := make([]float64, d)
	for j, v := range f.variances {
		if v > 0 {
			scale[j] = 1 / v
		}
	}
	c := newClustering(x, k, scale, f.model.Workers)
	if opts.MeansInit != nil {
		c.centres = rev.ViewDense(opts.MeansInit)
		c.reassign()
	} else {
		c.seed(ctx, rnd)
		c.lloyd(ctx, 10)
	}
	if err := ctx.Err(); err != nil {
		return err
	}

	// The covariance of a cluster, shrunk as if D+1 more of its points had the
	// pooled covariance, so that a cluster of few points can start too.
	p := viewParams(f.x, k, d)
	counts, scatter, pooled := make([]float64, k), make([]float64, k*d*d), make([]float64, d*d)
	r := make([]float64, d)
	for i, label := range c.labels {
		counts[label]++
		floats.SubTo(r, x.Row(i), c.centres.Row(label))
		for j, v := range r {
			vec.Axpy(v, r[:j+1], scatter[(label*d+j)*d:][:j+1])
		}
	}
	for label := range k {
		floats.Add(pooled, scatter[label*d*d:(label+1)*d*d])
	}
	n, m := float64(x.Rows), float64(d+1)
	g2 := f.model.Prior.Gamma * f.model.Prior.Gamma
	for label, count := range counts {
		p.Alpha.Data[label] = math.Log((count + 1) / (n + float64(k)))
		copy(p.Means.Row(label), c.centres.Row(label))
		s := scatter[label*d*d : (label+1)*d*d]
		floats.AddScaled(s, m/n, pooled)
		for j := range d {
			s[j*d+j] += g2
		}
		floats.Scale(1/(count+m), s)
		if row, pivot := setFactor(p.Factors.Row(label), s, d); row < d {
			return &SingularError{Component: label, Row: row, Pivot: pivot}
		}
	}
	return nil
}

// minWeight is the least weight of a component in expectation maximisation.
const minWeight = 1e-15

// maximise takes f.x to a maximum of the log posterior: by EM while it gains
// much, and then by rounds of L-BFGS with a step of EM or more between them.
func (f *fit) maximise(ctx context.Context, r *Restart) error {
	const fast = 1e-3 // nats a point that an EM step must gain to be followed by another
	u := make([]float64, len(f.x))
	before := math.Inf(-1) // the log posterior before the last step of EM
	for {
		posterior := -f.model.FuncGrad(f.grad, f.x)
		if math.IsNaN(posterior) || math.IsInf(posterior, 0) {
			return fmt.Errorf("gmm: the log posterior is %v", posterior)
		}
		if len(r.History) == r.EM+r.LBFGS {
			r.History = append(r.History, posterior)
		}
		f.local.set(f.x, f.model)
		f.local.gradient(u, f.grad)
		if f.converged(r, posterior, u) || r.EM+r.LBFGS >= f.maxIter || ctx.Err() != nil {
			return nil
		}
		if posterior-before < fast*float64(f.model.X.Rows) {
			before = math.Inf(-1)
			f.round(ctx, r)
			continue
		}
		before = posterior
		if err := f.step(); err != nil {
			return err
		}
		r.EM++
	}
}

// converged sets r.Gain, and r.Converged if it is small enough, given the
// gradient in local coordinates, in which the Hessian of -F is about the
// identity: a Newton step would gain half the square of the gradient.
func (f *fit) converged(r *Restart, posterior float64, grad []float64) bool {
	r.Gain = vec.SumSquares(grad) / 2
	r.Converged = r.Gain <= max(f.tol, 0x1p-50*math.Abs(posterior))
	return r.Converged
}

// collapsed returns the components of m with a variance of which the prior
// makes up more than half.
func (f *fit) collapsed(m *Mixture) []int {
	var list []int
	for c, w := range m.weights {
		var eigen mat.EigenSym
		if !eigen.Factorize(m.covs[c], false) {
			continue
		}
		least := eigen.Values(nil)[0]
		prior := f.model.Prior.Gamma * f.model.Prior.Gamma / (float64(w*float64(f.model.X.Rows)) + float64(f.model.Prior.M))
		if prior > least/2 {
			list = append(list, c)
		}
	}
	return list
}
