package ba

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"revnum/revmodels/ba/internal/block9"
)

const (
	takeGain  = 1e-3  // gain that a step must have to be taken
	minRadius = 1e-32 // below which the search for a step ends

	// Bounds of the diagonal of the scaled JᵀJ in the damping.
	minDiagonal, maxDiagonal = 1e-6, 1e32
)

// Solve moves the cameras and points of p to where they have the least cost
//
//	½ Σ_i ρ(‖r_i‖²)
//
// that it can reach from their start. It never raises the cost: p gets the best
// parameters found, whatever ends the iteration. A nil opts means the defaults.
//
// The method is that of Levenberg and Marquardt. A step solves the normal equations
// with the diagonal matrix D/μ added. μ is the radius of the trust region, and D the
// diagonal of JᵀJ (bounded, after columns were scaled by 1/(1+‖J_k‖) of the start).
// Points are eliminated first (Schur complement). After a step with a good gain the
// radius grows by a factor of up to 3. After steps that are not taken it shrinks by 2,
// 4, 8, ... These rules, the losses and the default tolerances are those of Ceres
// Solver. The largest radius is 1e12, not 1e16 as there: with so little damping the
// directions that the observations do not determine make the systems singular, and robust
// losses, which converge slowly, spend half of their steps on that. Robust losses weigh
// observations by ρ' (iteratively reweighted least squares). Triggs' second-order
// correction is not used, as Ceres does not use it for
// ρ" <= 0.
//
// Damping makes every system definite. You need not care about the free choice of
// coordinates (gauge), a point seen once or never, a camera without observations, or
// repeated observations. What the observations do not determine hardly moves. Neither
// the model nor Solve knows that cameras do not see what is behind them; see
// Report.Behind. A step is not taken if the cost is not finite after it. If a step would
// move a focal length at its bound out of it, the focal length stays there.
//
// The result does not depend on the number of workers.
//
// Solve returns an error and does not change p if p is not valid (see Validate), if an
// option makes no sense, if a focal length that is not fixed is out of bounds, if
// something is not finite at the start (ErrNotFinite), or if a method of opts.Points
// fails. When ctx is done it returns the error of ctx and a report.
func Solve(ctx context.Context, p *Problem, opts *Options) (*Report, error) {
	begin := time.Now()
	var o Options
	if opts != nil {
		o = *opts
	}
	s, err := newSolver(p, &o, o.Points)
	if err == nil && o.Points != nil {
		err = o.Points.Set(p.Points)
	}
	if err != nil {
		return nil, err
	}
	if err := s.search(ctx, begin); err != nil {
		return nil, err
	}
	if o.Points != nil {
		if err := o.Points.Get(s.best.Points); err != nil {
			return nil, err
		}
	}
	copy(p.Cameras, s.best.Cameras)
	copy(p.Points, s.best.Points)
	s.report.Behind = behind(p)
	return s.end(ctx)
}

// end returns the results of Solve and SolveParts.
func (s *solver) end(ctx context.Context) (*Report, error) {
	s.report.Duration = time.Since(s.begin)
	if s.report.Status == Cancelled {
		return &s.report, ctx.Err()
	}
	return &s.report, nil
}

// search runs the iteration. If parts return an error, it ends there with this error.
func (s *solver) search(ctx context.Context, begin time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx, s.cancel, s.begin = ctx, cancel, begin
	err := s.run()
	if s.err != nil {
		return s.err
	}
	return err
}

// solver is the state of Solve. It holds the cameras, both the best ones and those of the
// trial. Others hold the points and observations, and it asks them.
type solver struct {
	opts   *Options
	ctx    context.Context
	cancel func()
	begin  time.Time

	order       []int // number of each observation in the caller's problem
	best, trial *Problem
	normal      *normalEquations
	parts       Parts
	local       *Part      // the points, if they are here
	err         error      // the first error of parts, after which the solver stops
	answer      []float64  // the last answer to AskLinear or AskEliminate for each camera
	numbers     [2]float64 // of the last answer
	unknowns    *unknowns
	linear      cameraSolver
	report      Report
	checkpoint  Checkpoint // of SolveParts

	gradient []float64 // of the unknowns of cameras
	scales   []float64 // squares of 1/(1 + length) of the columns at the start
	damping  []float64
	move     []float64 // of unknowns
	step     []float64 // of all camera parameters
	held     []float64 // 1 for a camera whose focal length stays at its bound
}

// newSolver returns a solver for p, which asks parts if they are not nil.
func newSolver(p *Problem, o *Options, parts Parts) (*solver, error) {
	err := o.fill()
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return nil, err
	}
	s := &solver{opts: o, parts: parts}
	if s.unknowns, err = newUnknowns(p, o); err != nil {
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

	s.best, s.order = p.sorted()
	s.trial = s.best.room()
	s.normal = newNormal(s.best, o, fixed)
	if parts == nil {
		s.local = newPart(s.normal, s.best, s.trial)
		s.parts = wholePart{s.local}
	}
	n := s.unknowns.len()
	s.gradient, s.scales, s.damping, s.move = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	s.step, s.held = make([]float64, len(p.Cameras)), make([]float64, p.NumCameras())
	s.answer = make([]float64, (block9.Len+cameraLen)*p.NumCameras())
	s.linear = newLinear(s)
	s.linear.describe(&s.report)
	s.report.Unknowns = n
	return s, nil
}

// ask asks a question and returns the numbers. They are NaN if there is an error.
func (s *solver) ask(q Question, x float64, operands, perCamera []float64) [2]float64 {
	_, n, _ := q.Sizes()
	if s.err == nil {
		s.err = s.parts.Ask(q, x, operands, s.numbers[:n], perCamera)
	}
	if s.err != nil {
		s.cancel()
		return [2]float64{math.NaN(), math.NaN()}
	}
	return s.numbers
}

// cost returns the cost of the best cameras and points.
func (s *solver) cost() float64 { return s.ask(AskCost, 0, s.best.Cameras, nil)[0] }

// swap makes the trial the best, and the best the trial.
func (s *solver) swap() {
	s.best.Cameras, s.trial.Cameras = s.trial.Cameras, s.best.Cameras
	s.ask(AskSwap, 0, nil, nil)
}

// focal is the index of the focal length among the parameters of a camera.
const focal = 6

// movesFocal reports whether the focal length of a camera is not fixed.
func (s *solver) movesFocal(c int) bool { return s.unknowns.index[cameraLen*c+focal] >= 0 }

// run iterates, and sets the report except for its duration.
func (s *solver) run() error {
	cost := s.cost()
	if notFinite(cost) {
		return s.explain(cost)
	}
	s.report.Initial, s.report.Final = cost, cost
	gradient := s.linearise()
	if notFinite(gradient) {
		return s.explain(gradient)
	}
	s.scale()
	radius, shrink, last := s.opts.Radius, 2., 0
	if from := s.checkpoint.Resume; from != nil {
		radius, shrink, last = from.Radius, from.Shrink, from.Iteration
		copy(s.best.Cameras, from.Cameras)
		s.ask(AskResume, 0, nil, nil)
		cost = s.cost()
		gradient = s.linearise()
		if notFinite(cost) || notFinite(gradient) {
			return fmt.Errorf("%w: the cost or its gradient at the state from which to resume", ErrNotFinite)
		}
		s.report.Final = cost
	}
	s.record(Iteration{Number: last, Cost: cost, Gradient: gradient, Radius: radius})
	if gradient <= s.opts.GradientTolerance {
		s.report.Status = GradientConvergence
		return nil
	}
	for number := last + 1; ; number++ {
		switch {
		case s.ctx.Err() != nil:
			s.report.Status = Cancelled
			return nil
		case number > s.opts.MaxIter:
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
			next = s.ask(AskCost, 1, s.trial.Cameras, nil)[0]
			it.Gain = (cost - next) / promised
			it.Taken = it.Gain > takeGain && next < cost
		}
		status, done := s.converged(cost, next, promised, &it)
		if it.Taken {
			s.swap()
			gradient = s.linearise()
		}
		if it.Taken && notFinite(gradient) {
			// The cost is finite there, but its derivatives are not.
			s.swap()
			it.Taken, done = false, false
			gradient = s.linearise()
		}
		if it.Taken {
			cost = next
			s.report.Final = cost
			g := 2*it.Gain - 1
			radius = math.Min(radius/math.Max(1./3, 1-float64(g*g*g)), s.opts.MaxRadius)
			shrink = 2
		} else {
			radius /= shrink
			shrink *= 2
		}
		it.Cost, it.Gradient = cost, gradient
		s.record(it)
		if it.Taken && gradient <= s.opts.GradientTolerance {
			status, done = GradientConvergence, true
		}
		if done {
			s.report.Status = status
			return nil
		}
		if s.checkpoint.Save != nil {
			if err := s.checkpoint.Save(&State{number, radius, shrink, s.best.Cameras}); err != nil {
				return err
			}
		}
	}
}

// record adds an iteration to the report.
func (s *solver) record(it Iteration) {
	it.Elapsed = time.Since(s.begin)
	s.report.Iterations = append(s.report.Iterations, it)
	if s.opts.Progress != nil {
		s.opts.Progress(it)
	}
}

// late reports whether the time is over.
func (s *solver) late() bool { return s.opts.MaxTime > 0 && time.Since(s.begin) >= s.opts.MaxTime }

// stopped reports whether to stop in the middle of a step.
func (s *solver) stopped() bool { return s.ctx.Err() != nil || s.late() }

// converged reports whether an attempted step is within a tolerance. If it was not
// taken, a small change of the cost counts only if a small change was promised.
func (s *solver) converged(cost, next, promised float64, it *Iteration) (Status, bool) {
	if notFinite(next) {
		return 0, false
	}
	small := s.opts.CostTolerance * cost
	if math.Abs(cost-next) <= small && (it.Taken || promised <= small) {
		return CostConvergence, true
	}
	norm := math.Hypot(floats.Norm(s.best.Cameras, 2), math.Sqrt(s.ask(AskLength, 0, nil, nil)[0]))
	return StepConvergence, it.Step <= s.opts.StepTolerance*(norm+s.opts.StepTolerance)
}

// linearise linearises the problem at the best parameters, and returns the largest
// element of the gradient. A focal length at a bound that would leave it downhill is
// held.
func (s *solver) linearise() float64 {
	square := s.ask(AskLinear, 0, s.best.Cameras, s.answer)[0] // of the gradient by points
	copy(s.normal.u, s.answer)
	copy(s.normal.gc, s.answer[len(s.normal.u):])
	s.unknowns.reduce(s.gradient, s.normal.gc)
	clear(s.held)
	for c := range s.held {
		if !s.movesFocal(c) {
			continue
		}
		f, g := s.best.Cameras[cameraLen*c+focal], s.gradient[s.unknowns.index[cameraLen*c+focal]]
		if f <= s.opts.MinFocal && g > 0 || f >= s.opts.MaxFocal && g < 0 {
			s.held[c] = 1
		}
	}
	if slices.Contains(s.held, 1) {
		s.normal.hold(s.held)
		s.ask(AskHold, 0, s.held, nil)
		s.unknowns.reduce(s.gradient, s.normal.gc)
	}
	return max(largest(s.gradient), math.Sqrt(square))
}

// largest returns the largest absolute value of x, or NaN if there is one.
func largest(x []float64) (v float64) {
	for _, e := range x {
		v = max(v, math.Abs(e))
	}
	return v
}

// cameraDiagonal stores the diagonal of U.
func (s *solver) cameraDiagonal(dst []float64) {
	for i := range s.step {
		k := i % cameraLen
		s.step[i] = s.normal.u[block9.Len*(i/cameraLen)+inBlock(k, k)]
	}
	s.unknowns.reduce(dst, s.step)
}

// scale stores the scales of columns.
func (s *solver) scale() {
	s.cameraDiagonal(s.scales)
	toScales(s.scales)
	s.ask(AskScale, 0, nil, nil)
}

// toScales replaces the squares of the lengths of columns by scales.
func toScales(list []float64) {
	for i, d := range list {
		v := 1 / (1 + math.Sqrt(d))
		list[i] = v * v
	}
}

// damp replaces the squares of the lengths of columns by the damping of a radius.
func damp(list, scales []float64, radius float64) {
	for i, d := range list {
		list[i] = math.Min(math.Max(d*scales[i], minDiagonal), maxDiagonal) / radius / scales[i]
	}
}

// try looks for a step in the given radius. It stores the step, and the resulting
// parameters in trial. It returns by how much the model lowers the cost, and whether
// there is a step.
func (s *solver) try(radius float64, it *Iteration) (promised float64, ok bool) {
	s.cameraDiagonal(s.damping)
	damp(s.damping, s.scales, radius)
	if !s.eliminate(radius) {
		return 0, false
	}
	if it.Linear, ok = s.linear.solve(s); !ok {
		return 0, false
	}
	s.unknowns.expand(s.step, s.move)
	floats.AddTo(s.trial.Cameras, s.best.Cameras, s.step)
	for c := range s.unknowns.parts {
		if f := &s.trial.Cameras[cameraLen*c+focal]; s.movesFocal(c) && !(*f >= s.opts.MinFocal && *f <= s.opts.MaxFocal) {
			*f = math.Min(math.Max(*f, s.opts.MinFocal), s.opts.MaxFocal)
			s.step[cameraLen*c+focal] = *f - s.best.Cameras[cameraLen*c+focal]
		}
	}
	answer := s.ask(AskStep, 0, s.step, nil)
	promised = answer[0]
	it.Step = math.Hypot(floats.Norm(s.move, 2), math.Sqrt(answer[1]))
	return promised, promised > 0 && !notFinite(promised) && !notFinite(it.Step)
}

// eliminate eliminates the points with the damping of a radius, and computes what the
// linear solver needs. It reports whether that is possible.
func (s *solver) eliminate(radius float64) bool {
	system := s.linear.system()
	if s.local != nil && system != nil {
		ok := s.local.eliminate(radius, true)
		if ok {
			system.form(s.normal)
		}
		return ok
	}
	_, _, size := AskEliminate.Sizes()
	if s.ask(AskEliminate, radius, nil, s.answer[:size*len(s.held)])[0] != 0 || s.err != nil {
		return false
	}
	if system != nil { // only Cholesky has one, for which the parts are Points
		copy(system.right, s.answer)
		if s.err = s.opts.Points.Reduced(system.data); s.err != nil {
			s.cancel()
		}
	}
	return s.err == nil
}
