package ba

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"revnum/internal/simd"
)

// Method is how the reduced camera system is solved.
type Method int

const (
	// Automatic is Cholesky, unless that takes much more time than
	// ConjugateGradients are likely to, or its matrices more than 1 GiB each.
	Automatic Method = iota
	// Cholesky forms the system and factors it, with an order of the cameras
	// that keeps the factor sparse.
	Cholesky
	// ConjugateGradients solves the system approximately and forms nothing:
	// little memory, but more iterations.
	ConjugateGradients
)

var methodNames = [...]string{"automatic", "Cholesky", "conjugate gradients"}

// String returns the name of the method in words.
func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methodNames[m]
}

// Options say how to solve. The zero value of each field stands for a default,
// given in brackets, and that of tolerances, if negative, for none.
type Options struct {
	Loss   Loss   // robust loss [squares: ρ(s) = s]
	Method Method // how linear systems are solved [Automatic]

	FixedCameras []int // cameras whose nine parameters stay as they are
	FixedPoints  []int // points that stay as they are

	// FixedIntrinsics holds the focal length and distortion of all cameras.
	FixedIntrinsics bool
	// Intrinsics, if not nil, has a number for each camera: cameras with equal
	// numbers share f, k₁ and k₂, with which they must start. They stay as they
	// are if one of these cameras is fixed.
	Intrinsics []int

	// MinFocal and MaxFocal bound the focal lengths that are not fixed [no
	// bounds].
	MinFocal, MaxFocal float64

	Iterations int           // most steps tried [100]
	Time       time.Duration // most time; the step in progress is finished [no limit]

	CostTolerance     float64 // relative change of the cost at which to end [1e-6]
	GradientTolerance float64 // largest element of the gradient [1e-10]
	StepTolerance     float64 // length of a step relative to that of all parameters [1e-8]

	Radius, MaxRadius float64 // of the trust region at first and at most [1e4, 1e16]

	Forcing          float64 // accuracy η of conjugate gradients, less than 1 [0.1]
	LinearIterations int     // most iterations of conjugate gradients a step [500]

	Workers int // goroutines to use [GOMAXPROCS]

	// Progress, if not nil, is called for each iteration, and for the start.
	Progress func(Iteration)
}

// Status says why Solve ended.
type Status int

// The reasons to end.
const (
	CostConvergence     Status = iota // the cost hardly changes
	GradientConvergence               // the gradient is small enough
	StepConvergence                   // the step is small enough
	RadiusLimit                       // no step, however short, lowers the cost
	IterationLimit
	TimeLimit
	Cancelled // by the context
)

var statusNames = [...]string{
	"cost converged", "gradient converged", "step converged", "no step lowers the cost", "iteration limit", "time limit", "cancelled",
}

// String returns the reason in words.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Converged reports whether a tolerance was reached.
func (s Status) Converged() bool { return s <= StepConvergence }

// Iteration is a step that was tried.
type Iteration struct {
	Number   int     // 0 for the start
	Cost     float64 // after the step if it was taken, and before otherwise
	Gradient float64 // largest element of the gradient there
	Step     float64 // length of the step
	Radius   float64 // of the trust region in which it was looked for
	Gain     float64 // decrease of the cost by the step relative to what the linear model promised
	Taken    bool    // whether it was taken
	Linear   int     // iterations of conjugate gradients
	Elapsed  time.Duration
}

// Report is how a solution went.
type Report struct {
	Status         Status
	Initial, Final float64 // cost
	Iterations     []Iteration
	Method         Method // that was used, not Automatic
	Unknowns       int    // of cameras
	FactorElements int    // of the Cholesky factor, with zeros that it stores
	Behind         int    // observations of points that are not in front of their camera, at the end
	Duration       time.Duration
}

// ErrNotFinite is wrapped by the error that Solve returns if a residual or its
// derivatives are infinite or NaN at the start, as where a point is at depth zero.
var ErrNotFinite = errors.New("ba: not finite")

const (
	takeGain  = 1e-3  // gain that a step must have to be taken
	minRadius = 1e-32 // at which no step is looked for any longer

	// Bounds of the diagonal of the scaled JᵀJ in the damping.
	minDiagonal, maxDiagonal = 1e-6, 1e32
)

// Solve moves the cameras and points of p to where they have the least cost
//
//	½ Σ_i ρ(‖r_i‖²)
//
// that can be reached from where they are. It never raises the cost: p gets the
// best parameters that were met, whatever ends the iteration. A nil opts means
// the defaults.
//
// The method is that of Levenberg and Marquardt. A step solves the normal
// equations with the diagonal matrix D/μ added, where μ is the radius of the
// trust region and D the diagonal of JᵀJ (bounded, after columns were scaled by
// 1/(1+‖J_k‖) of the start); points are eliminated first (Schur complement). The
// radius grows after a step with a good gain, by up to 3, and shrinks by 2, 4, 8,
// ... after steps that are not taken. These rules, the losses and the defaults of
// tolerances are those of Ceres Solver. Robust losses weigh observations by ρ'
// (iteratively reweighted least squares); Triggs' second-order correction is
// not used, as for ρ" <= 0 Ceres does not.
//
// Damping makes every system definite: the free choice of coordinates (gauge), a
// point seen once or never, a camera without observations and repeated
// observations need no care. What the observations do not determine hardly
// moves. The model does not know that cameras do not see what is behind them,
// and neither does Solve; see Report.Behind. A step to where the cost is not
// finite is not taken. At a bound of the focal length, the step of a camera that
// leads out leaves the focal length there.
//
// The result does not depend on the number of workers.
//
// It returns an error, with p as it was, if p is not valid (see Validate), if an
// option makes no sense, if a focal length that is not fixed is out of bounds, or
// if something is not finite at the start (ErrNotFinite). When ctx is done it
// returns the error of ctx and a report.
func Solve(ctx context.Context, p *Problem, opts *Options) (*Report, error) {
	begin := time.Now()
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	s, err := newSolver(p, &o)
	if err != nil {
		return nil, err
	}
	s.ctx, s.begin = ctx, begin
	if err := s.run(); err != nil {
		return nil, err
	}
	copy(p.Cameras, s.best.Cameras)
	copy(p.Points, s.best.Points)
	s.report.Behind = behind(p)
	s.report.Duration = time.Since(begin)
	if s.report.Status == Cancelled {
		return &s.report, ctx.Err()
	}
	return &s.report, nil
}

// fill sets defaults, or returns an error that says what makes no sense.
func (o *Options) fill() error {
	for _, v := range []struct {
		name  string
		value *float64
		usual float64
		free  bool // may be negative or infinite
	}{
		{"MinFocal", &o.MinFocal, math.Inf(-1), true}, {"MaxFocal", &o.MaxFocal, math.Inf(1), true},
		{"CostTolerance", &o.CostTolerance, 1e-6, true}, {"GradientTolerance", &o.GradientTolerance, 1e-10, true},
		{"StepTolerance", &o.StepTolerance, 1e-8, true}, {"Radius", &o.Radius, 1e4, false},
		{"MaxRadius", &o.MaxRadius, 1e16, false}, {"Forcing", &o.Forcing, 0.1, false},
	} {
		if math.IsNaN(*v.value) || !v.free && (*v.value < 0 || math.IsInf(*v.value, 1)) {
			return fmt.Errorf("ba: option %s is %v", v.name, *v.value)
		}
		if *v.value == 0 {
			*v.value = v.usual
		}
	}
	for _, v := range []struct {
		name  string
		value *int
		usual int
	}{
		{"Iterations", &o.Iterations, 100}, {"LinearIterations", &o.LinearIterations, 500}, {"Workers", &o.Workers, 0},
	} {
		if *v.value < 0 {
			return fmt.Errorf("ba: option %s is %d", v.name, *v.value)
		}
		if *v.value == 0 {
			*v.value = v.usual
		}
	}
	switch {
	case o.Method < Automatic || o.Method > ConjugateGradients:
		return fmt.Errorf("ba: option Method is %v", o.Method)
	case o.Time < 0:
		return fmt.Errorf("ba: option Time is %v", o.Time)
	case o.MinFocal > o.MaxFocal:
		return fmt.Errorf("ba: options MinFocal %v and MaxFocal %v leave nothing", o.MinFocal, o.MaxFocal)
	case o.Forcing >= 1:
		return fmt.Errorf("ba: option Forcing is %v, expected less than 1", o.Forcing)
	case o.FixedIntrinsics && o.Intrinsics != nil:
		return errors.New("ba: options FixedIntrinsics and Intrinsics exclude each other")
	}
	o.Radius = math.Min(o.Radius, o.MaxRadius)
	return checkLoss(o.Loss)
}

// linear solves the reduced camera system.
type linear interface {
	// solve stores a step of the unknowns of cameras for their damping, and
	// reports whether it found one. It may end early if stopped says so.
	solve(s *normal, damping, step []float64, stopped func() bool) (iterations int, ok bool)

	// forms reports whether it needs G.
	forms() bool
}

// solver is the state of Solve.
type solver struct {
	o     *Options
	ctx   context.Context
	begin time.Time

	order       []int // which observation of the caller's each is
	best, trial *Problem
	s           *normal
	x           *unknowns
	linear      linear
	report      Report

	gradient           []float64 // of the unknowns of cameras
	scaleC, scaleQ     []float64 // squares of 1/(1 + length) of the columns at the start
	dampingC, dampingQ []float64
	stepC, stepQ       []float64 // of unknowns, of points
	step               []float64 // of all camera parameters
}

func newSolver(p *Problem, o *Options) (*solver, error) {
	s := &solver{o: o}
	var err error
	if s.x, err = newUnknowns(p, o); err != nil {
		return nil, err
	}
	var fixed []bool
	if o.FixedPoints != nil {
		fixed = make([]bool, p.NumPoints())
	}
	for _, q := range o.FixedPoints {
		if q < 0 || q >= len(fixed) {
			return nil, fmt.Errorf("ba: fixed point %d, expected 0 to %d", q, len(fixed)-1)
		}
		fixed[q] = true
	}
	for c := range p.NumCameras() {
		if f := p.Cameras[cameraLen*c+focal]; s.movesFocal(c) && !(f >= o.MinFocal && f <= o.MaxFocal) {
			return nil, fmt.Errorf("ba: the focal length %v of camera %d is not within [%v, %v]", f, c, o.MinFocal, o.MaxFocal)
		}
	}

	s.order = sortObservations(p)
	n := len(s.order)
	s.best = &Problem{
		Cameras: append([]float64(nil), p.Cameras...), Points: append([]float64(nil), p.Points...),
		Camera: make([]int, n), Point: make([]int, n), Features: make([]float64, 2*n),
	}
	for i, k := range s.order {
		s.best.Camera[i], s.best.Point[i] = p.Camera[k], p.Point[k]
		copy(s.best.Features[2*i:2*i+2], p.Features[2*k:])
	}
	trial := *s.best
	trial.Cameras, trial.Points = make([]float64, len(p.Cameras)), make([]float64, len(p.Points))
	s.trial = &trial
	s.s = newNormal(s.best, o, fixed)

	unknowns := s.x.len()
	s.gradient, s.scaleC, s.scaleQ = make([]float64, unknowns), make([]float64, unknowns), make([]float64, len(p.Points))
	s.dampingC, s.dampingQ = make([]float64, unknowns), make([]float64, len(p.Points))
	s.stepC, s.stepQ, s.step = make([]float64, unknowns), make([]float64, len(p.Points)), make([]float64, len(p.Cameras))
	s.choose()
	return s, nil
}

// focal is the index of the focal length among the parameters of a camera.
const focal = 6

// movesFocal reports whether the focal length of a camera is not fixed.
func (s *solver) movesFocal(c int) bool {
	for _, p := range s.x.parts[c] {
		if p.from <= focal && focal < p.from+s.x.size[p.node] {
			return true
		}
	}
	return false
}

// sortObservations returns the observations by points, those of a point by cameras,
// and otherwise in order.
func sortObservations(p *Problem) []int {
	order := make([]int, p.NumObservations())
	for i := range order {
		order[i] = i
	}
	next := make([]int, len(order))
	for _, key := range []struct {
		of []int
		n  int
	}{{p.Camera, p.NumCameras()}, {p.Point, p.NumPoints()}} {
		start := make([]int, key.n+1)
		for _, k := range key.of {
			start[k+1]++
		}
		for k := range key.n {
			start[k+1] += start[k]
		}
		for _, i := range order {
			k := key.of[i]
			next[start[k]] = i
			start[k]++
		}
		order, next = next, order
	}
	return order
}

const (
	// autoElements is the most elements of a matrix that Automatic makes.
	autoElements = 1 << 27
	// autoFlops is how many operations an observation Automatic takes Cholesky
	// for: conjugate gradients take some hundred iterations of a hundred
	// operations, which are five to ten times slower.
	autoFlops = 2e5
)

// choose sets the method.
func (s *solver) choose() {
	s.report.Method = s.o.Method
	if s.o.Method != ConjugateGradients {
		limit := math.MaxInt
		if s.o.Method == Automatic {
			limit = autoElements
		}
		d := newDirect(s.s, s.x, limit)
		if d != nil && (s.o.Method == Cholesky || d.flops(s.s) <= autoFlops*float64(len(s.order))) {
			s.linear = d
			s.report.Method = Cholesky
			s.report.FactorElements = d.factor.Elements()
		}
	}
	if s.linear == nil {
		s.linear = newConjugate(s.s, s.x, s.o)
		s.report.Method = ConjugateGradients
	}
	s.report.Unknowns = s.x.len()
}

// run iterates, and sets the report but for its duration.
func (s *solver) run() error {
	cost := s.s.cost(s.best)
	if notFinite(cost) {
		return s.explain(s.s.trial, cost)
	}
	s.report.Initial, s.report.Final = cost, cost
	gradient := s.linearise()
	if notFinite(gradient) {
		return s.explain(s.s.j, gradient)
	}
	s.scale()
	radius, shrink := s.o.Radius, 2.
	s.record(Iteration{Cost: cost, Gradient: gradient, Radius: radius})
	if gradient <= s.o.GradientTolerance {
		s.report.Status = GradientConvergence
		return nil
	}
	for number := 1; ; number++ {
		switch {
		case s.ctx.Err() != nil:
			s.report.Status = Cancelled
			return nil
		case number > s.o.Iterations:
			s.report.Status = IterationLimit
			return nil
		case s.late():
			s.report.Status = TimeLimit
			return nil
		case radius < minRadius:
			s.report.Status = RadiusLimit
			return nil
		}
		it := Iteration{Number: number, Cost: cost, Gradient: gradient, Radius: radius}
		promised, ok := s.try(radius, &it)
		if s.ctx.Err() != nil {
			continue
		}
		next := math.NaN()
		if ok {
			next = s.s.cost(s.trial)
			it.Gain = (cost - next) / promised
			it.Taken = it.Gain > takeGain && next < cost
		}
		status, done := s.converged(cost, next, promised, &it)
		if it.Taken {
			s.best, s.trial = s.trial, s.best
			gradient = s.linearise()
		}
		if it.Taken && notFinite(gradient) {
			// The cost is finite there, but its derivatives are not.
			s.best, s.trial = s.trial, s.best
			it.Taken, done = false, false
			gradient = s.linearise()
		}
		if it.Taken {
			cost = next
			s.report.Final = cost
			g := 2*it.Gain - 1
			radius = math.Min(radius/math.Max(1./3, 1-float64(g*g*g)), s.o.MaxRadius)
			shrink = 2
		} else {
			radius /= shrink
			shrink *= 2
		}
		it.Cost, it.Gradient = cost, gradient
		s.record(it)
		if it.Taken && gradient <= s.o.GradientTolerance {
			status, done = GradientConvergence, true
		}
		if done {
			s.report.Status = status
			return nil
		}
	}
}

// record adds an iteration to the report.
func (s *solver) record(it Iteration) {
	it.Elapsed = time.Since(s.begin)
	s.report.Iterations = append(s.report.Iterations, it)
	if s.o.Progress != nil {
		s.o.Progress(it)
	}
}

// late reports whether time is over.
func (s *solver) late() bool { return s.o.Time > 0 && time.Since(s.begin) >= s.o.Time }

// stopped reports whether to stop in the middle of a step.
func (s *solver) stopped() bool { return s.ctx.Err() != nil || s.late() }

// converged reports whether a step that was tried is within a tolerance. If it was
// not taken, a small change of the cost counts only if that is what was promised.
func (s *solver) converged(cost, next, promised float64, it *Iteration) (Status, bool) {
	if notFinite(next) {
		return 0, false
	}
	small := s.o.CostTolerance * cost
	if math.Abs(cost-next) <= small && (it.Taken || promised <= small) {
		return CostConvergence, true
	}
	norm := math.Hypot(floats.Norm(s.best.Cameras, 2), floats.Norm(s.best.Points, 2))
	return StepConvergence, it.Step <= s.o.StepTolerance*(norm+s.o.StepTolerance)
}

// linearise makes the linear problem that at the best parameters, and returns the
// largest element of the gradient. A focal length that is at a bound, and would
// leave it downhill, is held.
func (s *solver) linearise() float64 {
	s.s.linearise(s.best)
	s.x.reduce(s.gradient, s.s.gc)
	if !math.IsInf(s.o.MinFocal, -1) || !math.IsInf(s.o.MaxFocal, 1) {
		for c, parts := range s.x.parts {
			f := s.best.Cameras[cameraLen*c+focal]
			if !s.movesFocal(c) {
				continue
			}
			p := parts[len(parts)-1] // the one with the intrinsics
			g := s.gradient[s.x.at[p.node]+focal-p.from]
			if f <= s.o.MinFocal && g > 0 || f >= s.o.MaxFocal && g < 0 {
				s.s.hold(c, focal)
			}
		}
		s.x.reduce(s.gradient, s.s.gc)
	}
	return largest(largest(0, s.gradient), s.s.gq)
}

// largest returns the largest of v and the absolute values of x, NaN if there is
// one.
func largest(v float64, x []float64) float64 {
	for _, e := range x {
		v = max(v, math.Abs(e))
	}
	return v
}

// diagonals stores the diagonals of U and V.
func (s *solver) diagonals(c, q []float64) {
	for i := range s.step {
		k := i % cameraLen
		s.step[i] = s.s.u[simd.BlockLen9*(i/cameraLen)+inBlock(k, k)]
	}
	s.x.reduce(c, s.step)
	for i := range q {
		k := i % pointLen
		q[i] = s.s.v[6*(i/pointLen)+(k+1)*(k+2)/2-1]
	}
}

// scale stores the scales of columns.
func (s *solver) scale() {
	s.diagonals(s.scaleC, s.scaleQ)
	for _, list := range [][]float64{s.scaleC, s.scaleQ} {
		for i, d := range list {
			v := 1 / (1 + math.Sqrt(d))
			list[i] = v * v
		}
	}
}

// try looks for a step in the given radius, and stores it, and the parameters that
// it leads to in trial. It returns by how much the model lowers the cost, and
// whether there is a step.
func (s *solver) try(radius float64, it *Iteration) (promised float64, ok bool) {
	s.diagonals(s.dampingC, s.dampingQ)
	for _, v := range [2][2][]float64{{s.dampingC, s.scaleC}, {s.dampingQ, s.scaleQ}} {
		for i, d := range v[0] {
			scale := v[1][i]
			v[0][i] = math.Min(math.Max(d*scale, minDiagonal), maxDiagonal) / radius / scale
		}
	}
	if !s.s.eliminate(s.dampingQ, s.linear.forms()) {
		return 0, false
	}
	if it.Linear, ok = s.linear.solve(s.s, s.dampingC, s.stepC, s.stopped); !ok {
		return 0, false
	}
	s.x.expand(s.step, s.stepC)
	floats.AddTo(s.trial.Cameras, s.best.Cameras, s.step)
	for c := range s.x.parts {
		if f := &s.trial.Cameras[cameraLen*c+focal]; s.movesFocal(c) && !(*f >= s.o.MinFocal && *f <= s.o.MaxFocal) {
			*f = math.Min(math.Max(*f, s.o.MinFocal), s.o.MaxFocal)
			s.step[cameraLen*c+focal] = *f - s.best.Cameras[cameraLen*c+focal]
		}
	}
	promised = s.s.points(s.stepQ, s.step)
	floats.AddTo(s.trial.Points, s.best.Points, s.stepQ)
	it.Step = math.Hypot(floats.Norm(s.stepC, 2), floats.Norm(s.stepQ, 2))
	return promised, promised > 0 && !notFinite(promised) && !notFinite(it.Step)
}

// explain returns the error for a cost or gradient that is not finite, given what
// is known of the observations.
func (s *solver) explain(values []float64, sum float64) error {
	first, size := -1, len(values)/len(s.order)
	for i, k := range s.order {
		if largest(0, values[size*i:size*(i+1)]) <= math.MaxFloat64 {
			continue
		}
		if first < 0 || k < s.order[first] {
			first = i
		}
	}
	if first < 0 {
		return fmt.Errorf("%w: the cost or its gradient is %v", ErrNotFinite, sum)
	}
	c, q := s.best.Camera[first], s.best.Point[first]
	return fmt.Errorf("%w: observation %d, of point %d by camera %d, in front of which it is by %v",
		ErrNotFinite, s.order[first], q, c, 0-depth(s.best.Cameras[cameraLen*c:], s.best.Points[pointLen*q:]))
}

// depth returns the third coordinate of a point for a camera, which is negative in
// front of it.
func depth(camera, x []float64) float64 {
	r := rotationMatrix([3]float64(camera))
	return apply(&r, [3]float64(x))[2] + camera[5]
}

// behind returns how many observations are of points that are not in front of
// their camera.
func behind(p *Problem) int {
	axes := make([][3]float64, p.NumCameras()) // third rows of rotations
	for c := range axes {
		r := rotationMatrix([3]float64(p.Cameras[cameraLen*c:]))
		axes[c] = [3]float64(r[6:])
	}
	sum := 0
	for i, c := range p.Camera {
		x := p.Points[pointLen*p.Point[i]:]
		a := &axes[c]
		if !(float64(a[0]*x[0])+float64(a[1]*x[1])+float64(a[2]*x[2])+p.Cameras[cameraLen*c+5] < 0) {
			sum++
		}
	}
	return sum
}
