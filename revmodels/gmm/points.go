package gmm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/kmeans"
)

// Points are the points of a fit that are not all in one matrix: they lie in files, or
// on other machines. FitPoints never sees them. It needs only sums over all points.
// Methods of Expectation and Model compute these sums for some of the points. Package
// cluster makes these sums exactly, to the same bits wherever the points are.
//
// FitPoints calls the methods in one goroutine. It stops at the first error, and returns
// it.
type Points interface {
	// Dims returns the number of points, and of their coordinates.
	Dims() (n, d int)

	// Columns returns the means and the variances of the columns.
	Columns() (means, variances []float64)

	// Moments overwrites dst with the sum of e.Moments over all points. A step asks for
	// them again, about other points, if those about the middle of all points cancel.
	Moments(dst []float64, e *Expectation) error

	// FuncGrad returns the sum over all points of Model.FuncGrad at x without a Prior,
	// and overwrites grad with the sum of its gradients. If grad is nil, it returns the
	// sum of Model.Func.
	FuncGrad(grad, x []float64) (float64, error)
}

// A State is where a fit is after an iteration. FitPoints goes on from there, to the
// same bits as if it had not stopped.
type State struct {
	History     []float64 `json:"history"` // of the log posterior, before each iteration
	Weights     []float64 `json:"weights"`
	Means       []float64 `json:"means"`       // K×D
	Covariances []float64 `json:"covariances"` // K×D×D, D×D if tied, and K×D diagonal or spherical ones

	// With several starts: those before the present one, and the best mixture so far, if
	// there is one, with the number of its start.
	Before    []Start  `json:"before,omitempty"`
	Best      *Mixture `json:"best,omitempty"`
	BestStart int      `json:"best_start,omitempty"`
}

// A Checkpoint says how FitPoints leaves a trace. The zero Checkpoint leaves none.
type Checkpoint struct {
	Resume *State             // if not nil, where to go on
	Save   func(*State) error // if not nil, called after each iteration of EM; it must not keep the State
}

// FitPoints is Fit for points that are elsewhere. Its starts are given: one Init, or
// InitMeans with K rows for each of Starts. A start from InitMeans begins with the points
// that are nearest to the means, in units of the standard deviations of the columns,
// without a step of k-means. Weights must be nil. A nil c is the zero Checkpoint. With
// c.Resume, Init is ignored, and InitMeans is needed only for later starts.
//
// It returns the errors of p, of c.Save and of Fit. p must check that numbers are
// finite.
func FitPoints(ctx context.Context, p Points, k int, opts *Options, c *Checkpoint) (*Mixture, *Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	if c == nil {
		c = &Checkpoint{}
	}
	n, d := p.Dims()
	means, variances := p.Columns()
	f, err := newFitPoints(n, d, means, variances, k, opts)
	if err != nil {
		return nil, nil, err
	}
	f.points, f.em.remote = p, p
	starts, first := 1, 0
	if opts.InitMeans != nil {
		starts = max(opts.Starts, 1)
	}
	if from := c.Resume; from != nil {
		if err := from.check(starts, k, d); err != nil {
			return nil, nil, err
		}
		if err := f.em.resume(from); err != nil {
			return nil, nil, err
		}
		first, f.report.Starts = len(from.Before), slices.Clone(from.Before)
		if f.best = from.Best; f.best != nil {
			f.report.Best = from.BestStart
		}
	} else if opts.Init == nil && opts.InitMeans == nil {
		return nil, nil, errors.New("gmm: neither Init nor InitMeans is given, and no State")
	}
	for number := first; number < starts && f.em.err == nil && (number == first || ctx.Err() == nil); number++ {
		begin, begun := time.Now(), Start{}
		start := func() error { return f.em.start(opts.Init) }
		switch {
		case c.Resume != nil && number == first:
			begun.History, begun.Iterations = slices.Clone(c.Resume.History), len(c.Resume.History)
			f.resumed = true
			start = func() error { return nil }
		case opts.InitMeans != nil:
			f.em.scale = make([]float64, d)
			for j, v := range f.variances {
				if v > 0 {
					f.em.scale[j] = 1 / math.Sqrt(v)
				}
			}
			means := rev.ViewDense(mat.DenseCopyOf(opts.InitMeans.Slice(number*k, (number+1)*k, 0, d)))
			start = func() error { return f.em.begin(nil, means, f.opts.RegCovar <= 0) }
		}
		if c.Save != nil {
			f.save = func(s *State) error {
				s.Before, s.Best, s.BestStart = f.report.Starts, f.best, max(f.report.Best, 0)
				return c.Save(s)
			}
		}
		f.keep(f.climb(ctx, begin, number, begun, start))
	}
	return f.result(ctx)
}

// check returns an error if the state is not one of a fit of k components in d dimensions with
// that many starts.
func (s *State) check(starts, k, d int) error {
	if n := len(s.Before); n >= starts || s.BestStart < 0 || s.Best != nil && s.BestStart >= n {
		return fmt.Errorf("gmm: a state after %d starts, the best of which is %d, in a fit of %d", n, s.BestStart, starts)
	}
	if m := s.Best; m != nil && (m.Components() != k || m.Dim() != d) {
		return fmt.Errorf("gmm: the best mixture of a state has %d components in %d dimensions, want %d in %d", m.Components(), m.Dim(), k, d)
	}
	return nil
}

// newFitPoints checks the options for n points with the given means and variances of
// their d columns.
func newFitPoints(n, d int, means, variances []float64, k int, opts *Options) (*fit, error) {
	if err := checkCounts(n, d, k); err != nil {
		return nil, err
	}
	if opts.Weights != nil {
		return nil, errors.New("gmm: Weights are for points in a matrix")
	}
	if err := opts.check(n, k, d, max(opts.Starts, 1)); err != nil {
		return nil, err
	}
	f, err := newFitOf(rev.General[float64]{Rows: n, Cols: d, Stride: d}, k, opts, variances)
	if err != nil {
		return nil, err
	}
	copy(f.em.density.origin, means)
	return f, nil
}

// state returns where the em is, given the log posteriors so far.
func (e *em) state(history []float64) *State {
	return &State{History: history, Weights: e.weights, Means: e.density.means.Data, Covariances: e.covs}
}

// resume goes to where s was.
func (e *em) resume(s *State) error {
	if len(s.Weights) != len(e.weights) || len(s.Means) != len(e.density.means.Data) || len(s.Covariances) != len(e.covs) {
		return fmt.Errorf("gmm: a state with %d weights, %d numbers of means and %d of covariances, want %d, %d and %d",
			len(s.Weights), len(s.Means), len(s.Covariances), len(e.weights), len(e.density.means.Data), len(e.covs))
	}
	copy(e.weights, s.Weights)
	copy(e.density.means.Data, s.Means)
	copy(e.covs, s.Covariances)
	return e.refactor()
}

// An Expectation is a mixture in a step of expectation maximisation. It computes what
// that step needs of points: their moments,
//
//	Σ_i log p(x_i),  W_k = Σ_i r_ik,  Σ_i r_ik·c_ik,  Σ_i r_ik·c_ik·c_ikᵀ
//
// with the responsibilities r of the components, in that order, 1 + K + K·D + K·D² numbers
// (the lower triangles of the last; K·D, their diagonals, for diagonal and spherical
// covariances). The c_ik are x_i - μ_k for full and tied covariances, and for components that lie far from the middle of all points beside their standard
// deviations: their squares about the middle would cancel. Otherwise the c_ik are x_i minus
// that middle. In the first step of a fit r_ik is 1 for the nearest mean, and 0 for the others.
//
// Its methods may be called concurrently.
type Expectation struct {
	em   *em
	logw []float64
}

// NewExpectation returns the Expectation with the given Numbers, of k components in d
// dimensions. It returns an error if their number is wrong.
func NewExpectation(kind Covariance, k, d int, numbers []float64) (*Expectation, error) {
	if kind < Full || kind > Spherical || k < 1 || d < 1 {
		return nil, fmt.Errorf("gmm: an expectation of %d components in %d dimensions with %v covariances", k, d, kind)
	}
	x := &Expectation{em: newEM(rev.General[float64]{Cols: d}, nil, k, kind, Prior{}, 1), logw: make([]float64, k)}
	e := x.em
	e.scale = make([]float64, d)
	rest := numbers
	for _, list := range x.lists() {
		if len(rest) < len(list) {
			break
		}
		rest = rest[copy(list, rest):]
	}
	if want := len(x.Numbers()); len(numbers) != want {
		return nil, fmt.Errorf("gmm: an expectation of %d numbers, want %d", len(numbers), want)
	}
	e.density.set(x.logw)
	return x, nil
}

// lists are the numbers of an Expectation.
func (x *Expectation) lists() [][]float64 {
	e := x.em
	return [][]float64{x.logw, e.own, e.density.means.Data, e.density.q, e.density.origin, e.scale}
}

// Numbers returns what makes the Expectation, for NewExpectation on another machine.
func (x *Expectation) Numbers() []float64 { return slices.Concat(x.lists()...) }

// Len returns the number of moments.
func (x *Expectation) Len() int {
	e := x.em
	numbers, _ := e.kind.size(e.k, e.d)
	return 1 + e.k*(1+e.d+numbers)
}

// expectationScratch is what Moments needs.
type expectationScratch struct {
	em     em
	run    *densityScratch
	k, d   int
	scaled []float64
	labels []int
	dists  []float64
}

// Moments overwrites dst with the moments of the rows of x. It panics with mat.ErrShape
// if dst does not have Len elements, or x another number of columns.
func (x *Expectation) Moments(dst []float64, points rev.General[float64]) {
	e := x.em
	objective.CheckLen("gmm.Expectation", "dst", len(dst), x.Len())
	objective.CheckDims("gmm.Expectation", "points", points.Rows, points.Cols, points.Rows, e.d)
	s := workspace.Get[*expectationScratch]()
	defer workspace.Put(s)
	if s.k != e.k || s.d != e.d {
		s.k, s.d, s.run = e.k, e.d, newDensityScratch(e.k, e.d)
	}
	s.em = *e
	b := &s.em
	b.x, b.moments, b.scratch = points, true, []*densityScratch{s.run}
	if e.kind == Spherical {
		b.density.kind = Diagonal // the numbers of an Expectation may differ between columns
	}
	b.view(dst)
	clear(dst)
	if e.scaled() {
		b.labels = s.nearest(e, points)
	}
	b.Block(0, 0)
	s.em = em{}
}

// nearest returns the components with the nearest means, in scaled coordinates.
func (s *expectationScratch) nearest(e *em, points rev.General[float64]) []int {
	n, k, d := points.Rows, e.k, e.d
	s.scaled = workspace.Grow(s.scaled, (n+k)*d)
	s.labels, s.dists = workspace.Grow(s.labels, n), workspace.Grow(s.dists, n)
	x, c := rev.NewGeneral(n, d, s.scaled[:n*d]), rev.NewGeneral(k, d, s.scaled[n*d:])
	for i := range n {
		vec.MulTo(x.Row(i), points.Row(i), e.scale)
	}
	for i := range k {
		vec.MulTo(c.Row(i), e.density.means.Row(i), e.scale)
	}
	kmeans.Cost[float64]{Centroids: c, X: x, Workers: 1}.Nearest(s.labels, s.dists)
	return s.labels
}

// view makes the moments views of dst, which is of one part.
func (e *em) view(dst []float64) {
	k, d := e.k, e.d
	e.parts = 1
	e.lse, e.w0, e.w1, e.w2 = dst[:1], dst[1:1+k], dst[1+k:1+k+k*d], dst[1+k+k*d:]
}

// gather sets the moments to those of points that are elsewhere, and returns the log
// likelihood.
func (e *em) gather(logw []float64) float64 {
	x := &Expectation{em: e, logw: logw}
	if e.all == nil {
		e.all = make([]float64, x.Len())
		if e.scale == nil {
			e.scale = make([]float64, e.d)
		}
	}
	if e.err == nil {
		e.err = e.remote.Moments(e.all, x)
	}
	clear(e.scale) // after the first step points belong to all components
	e.view(e.all)
	if e.err != nil {
		return math.NaN()
	}
	return e.lse[0]
}

// funcGrad returns minus the log posterior at x, and stores its gradient in grad if that
// is not nil.
func (f *fit) funcGrad(grad, x []float64, prior Prior) float64 {
	model := *f.model
	model.Prior = prior
	switch {
	case f.points == nil && grad == nil:
		return model.Func(x)
	case f.points == nil:
		return model.FuncGrad(grad, x)
	case f.em.err != nil:
		return math.NaN()
	}
	var sum float64
	if sum, f.em.err = f.points.FuncGrad(grad, x); f.em.err != nil {
		return math.NaN()
	}
	model.X.Rows = 0
	if grad == nil {
		return sum + model.Func(x)
	}
	ofPrior := make([]float64, len(x))
	sum += model.FuncGrad(ofPrior, x)
	vec.AddTo(grad, grad, ofPrior)
	return sum
}

// A Stepper takes the steps of FitPoints one at a time, with the same bits. You run the loop,
// and compute the moments between two calls.
type Stepper struct{ f *fit }

// NewStepper returns a Stepper for n points with the given means and variances of their
// columns, which begins at the mixture opts.Init, or at s if that is not nil. It returns
// an error as FitPoints does.
func NewStepper(n int, means, variances []float64, k int, opts *Options, s *State) (*Stepper, error) {
	f, err := newFitPoints(n, len(means), means, variances, k, opts)
	if err != nil {
		return nil, err
	}
	f.em.scale = make([]float64, len(means))
	switch {
	case s != nil:
		err = f.em.resume(s)
	case opts.Init != nil:
		err = f.em.start(opts.Init)
	default:
		err = errors.New("gmm: neither Init nor a State is given")
	}
	return &Stepper{f}, err
}

// Expectation returns the Expectation that computes the moments for the next step. It is
// valid until then.
func (s *Stepper) Expectation() *Expectation {
	e := s.f.em
	return &Expectation{em: e, logw: e.setWeights()}
}

// Step takes a step, for the moments of all points, and returns where it leads. If a component becomes
// so narrow beside its distance from the middle of all points that its moments about that cancel, Step
// returns an error and takes no step. FitPoints asks for other moments there. You may do so: the next
// Expectation has all moments about means.
func (s *Stepper) Step(moments []float64) (*State, error) {
	e := s.f.em
	objective.CheckLen("gmm.Stepper", "moments", len(moments), (&Expectation{em: e}).Len())
	e.setWeights() // says what the moments are about
	e.view(slices.Clone(moments))
	posterior := e.lse[0] + e.logPrior()
	if math.IsNaN(posterior) || math.IsInf(posterior, 0) {
		return nil, fmt.Errorf("gmm: the log posterior is %v", posterior)
	}
	if e.cancel() {
		e.allOwn = true
		return nil, errors.New("gmm: a component becomes so narrow in this step that its moments about the middle of all points cancel. " +
			"Take the moments of the next Expectation, which are about means, or begin with smaller covariances")
	}
	e.allOwn = false
	err := e.maximise()
	return e.state([]float64{posterior}), err
}

// Mixture returns the mixture as it is now.
func (s *Stepper) Mixture() (*Mixture, error) { return s.f.em.mixture() }
