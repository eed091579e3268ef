package ba

import (
	"context"
	"errors"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/vec"
	"revnum/revmodels/ba/internal/block9"
)

// A Question is one that SolveParts asks about the parts of a problem. An answer is a few
// numbers, and some for each camera. The answer of a problem is the sum of those of its
// parts.
type Question int

// The questions.
const (
	AskCost      Question = iota // given all cameras: the cost, of the trial points if x is 1
	AskLinear                    // given all cameras: the squared gradient by points; of cameras, blocks of JᵀJ and the gradient
	AskScale                     // nothing: the columns of points are scaled as they are now
	AskEliminate                 // given the radius x: how many parts fail; of cameras, the right side and the preconditioner
	AskProduct                   // given a vector: its product with the reduced camera system
	AskStep                      // given the step of the cameras: the gain that the model promises, the squared step of the points
	AskSwap                      // nothing: the trial points become the best
	AskLength                    // the squares of all coordinates of points
)

// Sizes returns how many numbers for each camera a question has, and how many numbers an
// answer has, and for each camera.
func (q Question) Sizes() (operands, numbers, perCamera int) {
	switch q {
	case AskCost:
		return cameraLen, 1, 0
	case AskLinear:
		return cameraLen, 1, block9.Len + cameraLen
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

// A Part is a run of the points of a problem with all observations of them. It keeps the
// best points and those of the trial step, and answers questions about them. A part is
// computed in one goroutine; several parts may be at work at once.
type Part struct {
	solver  *solver
	schur   *localSchur
	first   int   // point
	cameras []int // that see the points
}

// Cut returns at which points the parts of p begin that have about the given number of
// observations each, and the number of all points at last. It depends on p alone.
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

// Parts returns the parts of p with the given indices, where cut says at which points all
// of them begin. The loss may be nil, for squares. It returns the error of Validate.
func (p *Problem) Parts(cut []int, which []int, loss Loss) ([]*Part, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	parts := make([]*Part, len(which))
	problems := make(map[int]*Problem) // by index of the part
	of := make([]int, p.NumPoints())   // parts of points
	for k := range len(cut) - 1 {
		for q := cut[k]; q < cut[k+1]; q++ {
			of[q] = k
		}
	}
	local := make(map[int]map[int]int) // by index of the part: cameras to their numbers in it
	seen := make(map[int][]bool)       // by index of the part: which cameras see its points
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

// Cameras returns the cameras that see points of the part, ascending. Operands and
// answers for each camera are of these. The caller must not change it.
func (p *Part) Cameras() []int { return p.cameras }

// First returns the first point of the part among all.
func (p *Part) First() int { return p.first }

// Points returns the best points. The caller must not change them.
func (p *Part) Points() []float64 { return p.solver.best.Points }

// Answer answers a question: it stores numbers, and what there is for each camera in
// perCamera. It panics with mat.ErrShape if lengths are not what Sizes says.
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
	case AskScale:
		s.side.scale()
	case AskEliminate:
		numbers[0] = 0
		if !s.side.eliminate(x, false) {
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
	}
}

// Parts asks all parts of a problem. For each camera of the problem there are operands,
// and in perCamera the sums of the answers of the parts whose points it sees. Package
// cluster asks parts on many machines, and adds exactly.
type Parts interface {
	Ask(q Question, x float64, operands, numbers, perCamera []float64) error
}

// SolveParts is Solve for a problem whose points are elsewhere: it improves the given
// parameters of the cameras, nine each, and the points of the parts. The linear systems
// are solved by conjugate gradients.
//
// FixedPoints, MinFocal, MaxFocal and Cholesky are errors; Loss must be that of the parts.
// The Gradient in the report has the length of the gradient by points for its largest
// element. Behind is 0. The error is the first of parts.Ask, or one of Solve. When ctx is
// done it returns the error of ctx and a report.
func SolveParts(ctx context.Context, cameras []float64, parts Parts, opts *Options) (*Report, error) {
	begin := time.Now()
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.FixedPoints != nil || o.MinFocal != 0 || o.MaxFocal != 0 || o.Method == Cholesky {
		return nil, errors.New("ba: FixedPoints, MinFocal, MaxFocal and Cholesky are for problems on one machine")
	}
	o.Method = ConjugateGradients
	p := &Problem{Cameras: cameras}
	s, err := newSolver(p, &o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ctx, s.begin = ctx, begin
	e := &elsewhere{solver: s, parts: parts, cancel: cancel, system: make([]float64, (cameraLen+cameraLen*cameraLen)*p.NumCameras())}
	s.side, s.linear = e, newConjugate(e, s.unknowns, &o)
	err = s.run()
	if e.err != nil {
		return nil, e.err
	}
	if err != nil {
		return nil, err
	}
	copy(cameras, s.best.Cameras)
	s.report.Duration = time.Since(begin)
	if s.report.Status == Cancelled {
		return &s.report, ctx.Err()
	}
	return &s.report, nil
}

// elsewhere is the side of a solver whose points are elsewhere, and what conjugate
// gradients need.
type elsewhere struct {
	*solver
	parts  Parts
	err    error // after which the solver stops
	cancel func()
	system []float64 // the answer to AskEliminate for each camera
}

// ask asks, and returns the numbers, NaN if there is an error.
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

func (e *elsewhere) scale() { e.ask(AskScale, 0, nil, nil) }

func (e *elsewhere) eliminate(radius float64, _ bool) bool {
	return e.ask(AskEliminate, radius, nil, e.system)[0] == 0
}

func (e *elsewhere) step(cameras []float64) (promised, length float64) {
	numbers := e.ask(AskStep, 0, cameras, nil)
	return numbers[0], math.Sqrt(numbers[1])
}

func (e *elsewhere) swap()           { e.ask(AskSwap, 0, nil, nil) }
func (e *elsewhere) length() float64 { return math.Sqrt(e.ask(AskLength, 0, nil, nil)[0]) }

// The elsewhere is a schur, too.

func (e *elsewhere) right(dst []float64)      { copy(dst, e.system) }
func (e *elsewhere) diagonal(dst []float64)   { copy(dst, e.system[len(e.normal.gc):]) }
func (e *elsewhere) product(dst, x []float64) { e.ask(AskProduct, 0, x, dst) }

// AddPerCamera adds the answer of a part for each of its cameras to one for each camera
// of the problem: it calls add with where in that the numbers from the given one on go.
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

// fields returns of how many numbers for each camera the lists are that make an answer.
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
