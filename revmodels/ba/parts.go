package ba

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/vec"
	"revnum/revmodels/ba/internal/block9"
)

// A Question is what SolveParts asks about the parts of a problem. An answer consists of a
// few numbers, and of some numbers for each camera. The answer of a problem is the sum of
// the answers of its parts.
type Question int

// The questions. Each comment says what is given and what the answer is.
const (
	AskCost      Question = iota // given all cameras: the cost (of the trial points if x is 1)
	AskLinear                    // given all cameras: the squared gradient by points; for cameras, blocks of JᵀJ (a block B has B[i,j] at 8i+j, but B[i,8] at 72+i) and then the gradient
	AskHold                      // given 1 for some cameras: makes the derivatives by their focal lengths zero; no answer
	AskScale                     // scales the columns of the points by their present sizes; no answer
	AskEliminate                 // given the radius x: the number of parts that fail; for cameras, the right side and the preconditioner
	AskProduct                   // given a vector: for cameras, its product with the reduced camera system
	AskStep                      // given the step of the cameras: the gain that the model promises, and the squared step of the points
	AskSwap                      // makes the trial points the best; no answer
	AskLength                    // the sum of the squares of all coordinates of the points
	AskResume                    // makes the points of Resume the best; no answer
)

// Sizes returns how many numbers a question has for each camera, how many numbers its
// answer has, and how many more it has for each camera.
func (q Question) Sizes() (operands, numbers, perCamera int) {
	switch q {
	case AskCost:
		return cameraLen, 1, 0
	case AskLinear:
		return cameraLen, 1, block9.Len + cameraLen
	case AskHold:
		return 1, 0, 0
	case AskEliminate:
		return 0, 1, cameraLen + cameraLen*cameraLen
	case AskProduct:
		return cameraLen, 0, cameraLen
	case AskStep:
		return cameraLen, 2, 0
	case AskLength:
		return 0, 1, 0
	}
	return 0, 0, 0
}

// A Part is a range of the points of a problem with all their observations. It keeps the
// best points and those of the trial step, and answers questions about them. A part
// computes in one goroutine. Several parts may compute at the same time.
type Part struct {
	solver  *solver
	schur   *localSchur
	first   int       // the first point
	cameras []int     // the cameras that see the points
	later   []float64 // the points of Resume
}

// Cut divides the points of p into parts with about the given number of observations each.
// It returns the first point of each part, followed by the number of points. The result
// depends on p and that number alone.
func (p *Problem) Cut(observations int) []int {
	start := make([]int, p.NumPoints())
	for _, q := range p.Point {
		start[q]++
	}
	cut, sum := []int{0}, 0
	for q, n := range start {
		if sum += n; sum >= observations && q+1 < len(start) {
			cut, sum = append(cut, q+1), 0
		}
	}
	return append(cut, len(start))
}

// Parts returns the parts of p with the indices in which. cut is the result of Cut. A nil
// loss stands for squares. Parts returns the error of Validate.
func (p *Problem) Parts(cut []int, which []int, loss Loss) ([]*Part, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	parts := make([]*Part, len(which))
	problems := make(map[int]*Problem) // by part
	of := make([]int, p.NumPoints())   // part of each point
	for k := range len(cut) - 1 {
		for q := cut[k]; q < cut[k+1]; q++ {
			of[q] = k
		}
	}
	local := make(map[int]map[int]int) // by part: the index of each camera in it
	seen := make(map[int][]bool)       // by part: which cameras see its points
	for at, k := range which {
		parts[at] = &Part{first: cut[k]}
		problems[k] = &Problem{Points: p.Points[pointLen*cut[k] : pointLen*cut[k+1]]}
		local[k], seen[k] = make(map[int]int), make([]bool, p.NumCameras())
	}
	for i, c := range p.Camera {
		if s := seen[of[p.Point[i]]]; s != nil {
			s[c] = true
		}
	}
	for at, k := range which {
		for c, s := range seen[k] {
			if s {
				local[k][c] = len(parts[at].cameras)
				parts[at].cameras = append(parts[at].cameras, c)
				problems[k].Cameras = append(problems[k].Cameras, p.Cameras[cameraLen*c:cameraLen*(c+1)]...)
			}
		}
	}
	for i, q := range p.Point {
		k := of[q]
		if to := problems[k]; to != nil {
			to.Camera = append(to.Camera, local[k][p.Camera[i]])
			to.Point = append(to.Point, q-cut[k])
			to.Features = append(to.Features, p.Features[2*i:2*i+2]...)
		}
	}
	for at, k := range which {
		o := &Options{Loss: loss, Workers: 1}
		if err := o.fill(); err != nil {
			return nil, err
		}
		s := &solver{opts: o}
		s.side = here{s}
		var err error
		if s.unknowns, err = newUnknowns(problems[k], o); err != nil {
			return nil, err
		}
		s.makeRoom(problems[k], nil)
		parts[at].solver, parts[at].schur = s, newLocalSchur(s.normal)
	}
	return parts, nil
}

// Cameras returns the cameras that see points of the part, in ascending order. Operands and
// answers have numbers for these cameras. Do not modify the result.
func (p *Part) Cameras() []int { return p.cameras }

// First returns the index of the first point of the part among all points.
func (p *Part) First() int { return p.first }

// Points returns the best points. Do not modify them.
func (p *Part) Points() []float64 { return p.solver.best.Points }

// Resume keeps a copy of points, which AskResume makes the best. It panics with mat.ErrShape
// if they are not as many as those of the part.
func (p *Part) Resume(points []float64) {
	if len(points) != len(p.Points()) {
		panic(mat.ErrShape)
	}
	p.later = slices.Clone(points)
}

// Answer answers a question. It stores numbers, and in perCamera the numbers for each
// camera. It panics with mat.ErrShape if a length is not the one that Sizes returns.
func (p *Part) Answer(q Question, x float64, operands, numbers, perCamera []float64) {
	n := len(p.cameras)
	if a, b, c := q.Sizes(); len(operands) != a*n || len(numbers) != b || len(perCamera) != c*n {
		panic(mat.ErrShape)
	}
	s := p.solver
	switch q {
	case AskCost:
		copy(s.best.Cameras, operands)
		copy(s.trial.Cameras, operands)
		numbers[0] = s.side.cost(x == 1)
	case AskLinear:
		copy(s.best.Cameras, operands)
		s.side.linearise()
		numbers[0] = vec.SumSquares(s.normal.gq)
		copy(perCamera, s.normal.u)
		copy(perCamera[block9.Len*n:], s.normal.gc)
	case AskHold:
		s.side.hold(operands)
	case AskScale:
		s.side.scale()
	case AskEliminate:
		numbers[0] = 0
		if !s.side.eliminate(x, nil) {
			numbers[0] = 1
			clear(perCamera)
			return
		}
		p.schur.right(perCamera[:cameraLen*n])
		p.schur.diagonal(perCamera[cameraLen*n:])
	case AskProduct:
		p.schur.product(perCamera, operands)
	case AskStep:
		var length float64
		numbers[0], length = s.side.step(operands)
		numbers[1] = float64(length * length)
	case AskSwap:
		s.best.Points, s.trial.Points = s.trial.Points, s.best.Points
	case AskLength:
		numbers[0] = vec.SumSquares(s.best.Points)
	case AskResume:
		copy(s.best.Points, p.later)
	}
}

// Parts asks all parts of a problem. operands has numbers for each camera of the problem.
// perCamera gets, for each camera, the sum of the answers of the parts that it sees. Package
// cluster asks parts on many machines, and adds exactly.
type Parts interface {
	Ask(q Question, x float64, operands, numbers, perCamera []float64) error
}

// Points are the points of a problem with all their observations, for Solve. Package cuda has
// them in the memory of a GPU. They answer as parts do, but the gradient by points of AskLinear
// is the square of its largest element. Some points may be fixed: their derivatives are zero.
type Points interface {
	Parts

	// Set makes points the best points, and Get stores the best points.
	Set(points []float64) error
	Get(points []float64) error

	// Reduced stores the reduced camera system after AskEliminate, for Cholesky. For each
	// camera a these are the blocks (a, b) of all cameras b < a that see a point that a sees,
	// in ascending order, and then (a, a). A block is stored as in the answer to AskLinear.
	Reduced(blocks []float64) error
}

// A State is where a solution by SolveParts is after an iteration, apart from the points.
// SolveParts goes on from there, to the same bits as if it had not stopped.
type State struct {
	Iteration int       `json:"iteration"`
	Radius    float64   `json:"radius"` // of the trust region
	Shrink    float64   `json:"shrink"` // the next divisor of the radius
	Cameras   []float64 `json:"cameras"`
}

// A Checkpoint says how SolveParts leaves a trace. The zero Checkpoint leaves none.
type Checkpoint struct {
	Resume *State             // if not nil, where to go on
	Save   func(*State) error // if not nil, called after each iteration but the last; it must not keep the State
}

// SolveParts is Solve for a problem whose points are elsewhere. It improves the parameters
// of the cameras, nine each, and the points of the parts. It solves the linear systems by
// conjugate gradients.
//
// With c.Resume the cameras and the parts are still those of the first start, on which the
// scales of the columns depend. Part.Resume gives the parts the points from which to go on.
// A nil c is the zero Checkpoint.
//
// FixedPoints, Points and Cholesky are errors. Loss must be the loss of the parts. For
// the points, the Gradient in the report uses the length of the gradient instead of its
// largest element. Behind is 0. SolveParts returns the first error of parts.Ask, or an
// error of Solve. When ctx is done, it returns a report and the error of ctx.
func SolveParts(ctx context.Context, cameras []float64, parts Parts, opts *Options, c *Checkpoint) (*Report, error) {
	begin := time.Now()
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.FixedPoints != nil || o.Points != nil || o.Method == Cholesky {
		return nil, errors.New("ba: FixedPoints, Points and Cholesky are for Solve")
	}
	o.Method = ConjugateGradients
	p := &Problem{Cameras: cameras}
	s, err := newSolverOf(p, &o, parts)
	if err != nil {
		return nil, err
	}
	if c != nil {
		s.checkpoint = *c
	}
	if from := s.checkpoint.Resume; from != nil && (len(from.Cameras) != len(cameras) || !(from.Radius > 0 && from.Shrink >= 2) || from.Iteration < 0) {
		return nil, fmt.Errorf("ba: a state at iteration %d with %d numbers of cameras, radius %v and divisor %v, expected %d numbers", from.Iteration, len(from.Cameras), from.Radius, from.Shrink, len(cameras))
	}
	if err := s.search(ctx, begin); err != nil {
		return nil, err
	}
	copy(cameras, s.best.Cameras)
	s.report.Duration = time.Since(begin)
	if s.report.Status == Cancelled {
		return &s.report, ctx.Err()
	}
	return &s.report, nil
}

// elsewhere is the side of a solver whose points are elsewhere. It is also the schur of
// conjugate gradients.
type elsewhere struct {
	*solver
	parts  Parts
	err    error // the first error, after which the solver stops
	cancel func()
	system []float64 // the answer to AskEliminate for each camera
}

// ask asks a question and returns the numbers. They are NaN if there is an error.
func (e *elsewhere) ask(q Question, x float64, operands, perCamera []float64) [2]float64 {
	var numbers [2]float64
	_, n, _ := q.Sizes()
	if e.err == nil {
		e.err = e.parts.Ask(q, x, operands, numbers[:n], perCamera)
	}
	if e.err != nil {
		e.cancel()
		return [2]float64{math.NaN(), math.NaN()}
	}
	return numbers
}

func (e *elsewhere) cost(trial bool) float64 {
	if trial {
		return e.ask(AskCost, 1, e.trial.Cameras, nil)[0]
	}
	return e.ask(AskCost, 0, e.best.Cameras, nil)[0]
}

func (e *elsewhere) linearise() float64 {
	n := len(e.normal.gc) / cameraLen
	answer := make([]float64, (block9.Len+cameraLen)*n)
	square := e.ask(AskLinear, 0, e.best.Cameras, answer)[0]
	copy(e.normal.u, answer)
	copy(e.normal.gc, answer[block9.Len*n:])
	return math.Sqrt(square)
}

func (e *elsewhere) hold(cameras []float64) {
	here{e.solver}.hold(cameras)
	e.ask(AskHold, 0, cameras, nil)
}

func (e *elsewhere) scale() { e.ask(AskScale, 0, nil, nil) }

func (e *elsewhere) eliminate(radius float64, system *reduced) bool {
	if e.ask(AskEliminate, radius, nil, e.system)[0] != 0 || e.err != nil {
		return false
	}
	if system != nil { // only Cholesky has one, for which the parts are Points
		e.right(system.right)
		if e.err = e.opts.Points.Reduced(system.data); e.err != nil {
			e.cancel()
		}
	}
	return e.err == nil
}

func (e *elsewhere) step(cameras []float64) (promised, length float64) {
	numbers := e.ask(AskStep, 0, cameras, nil)
	return numbers[0], math.Sqrt(numbers[1])
}

func (e *elsewhere) swap()           { e.ask(AskSwap, 0, nil, nil) }
func (e *elsewhere) resume()         { e.ask(AskResume, 0, nil, nil) }
func (e *elsewhere) length() float64 { return math.Sqrt(e.ask(AskLength, 0, nil, nil)[0]) }

// elsewhere implements schur.

func (e *elsewhere) right(dst []float64)      { copy(dst, e.system) }
func (e *elsewhere) diagonal(dst []float64)   { copy(dst, e.system[len(e.normal.gc):]) }
func (e *elsewhere) product(dst, x []float64) { e.ask(AskProduct, 0, x, dst) }

// AddPerCamera adds the answer of a part, which has numbers for the given cameras, to an
// answer for all cameras of the problem. It calls add with numbers x and the index at of the
// first of them in the answer for all.
func (q Question) AddPerCamera(cameras []int, all int, answer []float64, add func(at int, x []float64)) {
	local, to := 0, 0
	for _, width := range q.fields() {
		for i, c := range cameras {
			add(to+width*c, answer[local+width*i:local+width*(i+1)])
		}
		local += width * len(cameras)
		to += width * all
	}
}

// fields returns the lists that make an answer: how many numbers each has for a camera.
func (q Question) fields() []int {
	switch q {
	case AskLinear:
		return []int{block9.Len, cameraLen}
	case AskEliminate:
		return []int{cameraLen, cameraLen * cameraLen}
	case AskProduct:
		return []int{cameraLen}
	}
	return nil
}
