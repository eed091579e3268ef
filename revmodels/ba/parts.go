package ba

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"revnum/internal/objective"
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

// questions says for each question how many numbers it has for each camera, how many
// numbers its answer has, and for each list of the answer how many numbers it has for each
// camera.
var questions = [...]struct {
	operands, numbers int
	lists             []int
}{
	AskCost:      {cameraLen, 1, nil},
	AskLinear:    {cameraLen, 1, []int{block9.Len, cameraLen}},
	AskHold:      {1, 0, nil},
	AskEliminate: {0, 1, []int{cameraLen, cameraLen * cameraLen}},
	AskProduct:   {cameraLen, 0, []int{cameraLen}},
	AskStep:      {cameraLen, 2, nil},
	AskLength:    {0, 1, nil},
	AskResume:    {},
}

// Sizes returns how many numbers a question has for each camera, how many numbers its
// answer has, and how many more it has for each camera.
func (q Question) Sizes() (operands, numbers, perCamera int) {
	for _, width := range questions[q].lists {
		perCamera += width
	}
	return questions[q].operands, questions[q].numbers, perCamera
}

// A Part is a range of the points of a problem with all their observations. It keeps the
// best points and those of the trial step, and answers questions about them. A part
// computes in one goroutine. Several parts may compute at the same time.
type Part struct {
	normal      *normalEquations
	best, trial *Problem
	schur       *schur
	scales      []float64 // of the columns of the points, see damp
	damping     []float64
	step        []float64 // of the points
	first       int       // the first point
	cameras     []int     // the cameras that see the points
	later       []float64 // the points of Resume
}

// newPart returns a part that keeps its points in best and trial.
func newPart(n *normalEquations, best, trial *Problem) *Part {
	room := func() []float64 { return make([]float64, len(best.Points)) }
	return &Part{normal: n, best: best, trial: trial, scales: room(), damping: room(), step: room()}
}

// Cut divides the points of p into parts with about the given number of observations each.
// It returns the first point of each part, followed by the number of points. The result
// depends on p and that number alone.
func (p *Problem) Cut(observations int) []int {
	n := p.NumPoints()
	start, cut := firsts(p.Point, n), []int{0}
	for q := 1; q < n; q++ {
		if start[q]-start[cut[len(cut)-1]] >= observations {
			cut = append(cut, q)
		}
	}
	return append(cut, n)
}

// Parts returns the parts of p with the indices in which. cut is the result of Cut. A nil
// loss stands for squares. Parts returns the error of Validate, or an error if the scale of the
// loss is not positive.
func (p *Problem) Parts(cut []int, which []int, loss Loss) ([]*Part, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if err := checkLoss(loss); err != nil {
		return nil, err
	}
	of := make([]int, p.NumPoints()) // the part of each point: its place in which, or -1
	for q := range of {
		of[q] = -1
	}
	local := make([][]int32, len(which)) // of each part, the index of each camera in it
	for i, k := range which {
		for q := cut[k]; q < cut[k+1]; q++ {
			of[q] = i
		}
		local[i] = make([]int32, p.NumCameras())
	}
	for i, c := range p.Camera {
		if k := of[p.Point[i]]; k >= 0 {
			local[k][c] = 1 // it is there
		}
	}
	problems, cameras := make([]*Problem, len(which)), make([][]int, len(which))
	for i, k := range which {
		problems[i] = &Problem{Points: p.Points[pointLen*cut[k] : pointLen*cut[k+1]]}
		for c, there := range local[i] {
			if there == 1 {
				local[i][c] = int32(len(cameras[i]))
				cameras[i] = append(cameras[i], c)
				problems[i].Cameras = append(problems[i].Cameras, p.Cameras[cameraLen*c:cameraLen*(c+1)]...)
			}
		}
	}
	for i, q := range p.Point {
		if k := of[q]; k >= 0 {
			to := problems[k]
			to.Camera = append(to.Camera, int(local[k][p.Camera[i]]))
			to.Point = append(to.Point, q-cut[which[k]])
			to.Features = append(to.Features, p.Features[2*i:2*i+2]...)
		}
	}
	parts := make([]*Part, len(which))
	for i, k := range which {
		best, _ := problems[i].sorted()
		parts[i] = newPart(newNormal(best, &Options{Loss: loss, Workers: 1}, nil), best, best.room())
		parts[i].first, parts[i].cameras = cut[k], cameras[i]
	}
	return parts, nil
}

// Cameras returns the cameras that see points of the part, in ascending order. Operands and
// answers have numbers for these cameras. Do not modify the result.
func (p *Part) Cameras() []int { return p.cameras }

// First returns the index of the first point of the part among all points.
func (p *Part) First() int { return p.first }

// Points returns the best points. Do not modify them.
func (p *Part) Points() []float64 { return p.best.Points }

// Resume keeps a copy of points, which AskResume makes the best. It panics with mat.ErrShape
// unless the part has as many points.
func (p *Part) Resume(points []float64) {
	objective.CheckLen("ba.Part", "points", len(points), len(p.Points()))
	p.later = slices.Clone(points)
}

// Answer answers a question. It stores numbers, and in perCamera the numbers for each
// camera. It panics with mat.ErrShape if a length is not the one that Sizes returns.
func (p *Part) Answer(q Question, x float64, operands, numbers, perCamera []float64) {
	n := p.best.NumCameras()
	a, b, c := q.Sizes()
	objective.CheckLen("ba.Part", "operands", len(operands), a*n)
	objective.CheckLen("ba.Part", "numbers", len(numbers), b)
	objective.CheckLen("ba.Part", "perCamera", len(perCamera), c*n)
	s := p.normal
	switch q {
	case AskCost:
		of := p.best
		if x == 1 {
			of = p.trial
		}
		copy(of.Cameras, operands)
		numbers[0] = s.cost(of)
	case AskLinear:
		copy(p.best.Cameras, operands)
		s.linearise(p.best)
		numbers[0] = vec.SumSquares(s.gq)
		copy(perCamera, s.u)
		copy(perCamera[len(s.u):], s.gc)
	case AskHold:
		s.hold(operands)
	case AskScale:
		s.pointDiagonal(p.scales)
		toScales(p.scales)
	case AskEliminate:
		numbers[0] = 0
		if !p.eliminate(x, false) {
			numbers[0] = 1
			clear(perCamera)
			return
		}
		if p.schur == nil {
			p.schur = newSchur(s)
		}
		p.schur.right(perCamera[:cameraLen*n])
		p.schur.diagonal(perCamera[cameraLen*n:])
	case AskProduct:
		p.schur.product(perCamera, operands)
	case AskStep:
		numbers[0] = s.points(p.step, operands)
		floats.AddTo(p.trial.Points, p.best.Points, p.step)
		length := floats.Norm(p.step, 2)
		numbers[1] = float64(length * length)
	case AskSwap:
		p.best.Points, p.trial.Points = p.trial.Points, p.best.Points
	case AskLength:
		numbers[0] = vec.SumSquares(p.best.Points)
	case AskResume:
		copy(p.best.Points, p.later)
	}
}

// eliminate eliminates the points with the damping of a radius. If forms is set, it also
// computes G of normal. It reports whether that is possible.
func (p *Part) eliminate(radius float64, forms bool) bool {
	p.normal.pointDiagonal(p.damping)
	damp(p.damping, p.scales, radius)
	return p.normal.eliminate(p.damping, forms)
}

// A wholePart is a part of all points, which answers as Points do.
type wholePart struct{ *Part }

func (w wholePart) Ask(q Question, x float64, operands, numbers, perCamera []float64) error {
	w.Answer(q, x, operands, numbers, perCamera)
	if q == AskLinear {
		most := largest(w.normal.gq)
		numbers[0] = float64(most * most)
	}
	return nil
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
// With c.Resume, give the cameras and the parts of the first start again: the scales of the
// columns depend on them. Give the points from which to go on to Part.Resume.
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
	s, err := newSolver(p, &o, parts)
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
	return s.end(ctx)
}

// AddPerCamera adds the answer of a part, which has numbers for the given cameras, to an
// answer for all cameras of the problem. It calls add with numbers x and the index at of the
// first of them in the answer for all.
func (q Question) AddPerCamera(cameras []int, all int, answer []float64, add func(at int, x []float64)) {
	local, to := 0, 0
	for _, width := range questions[q].lists {
		for i, c := range cameras {
			add(to+width*c, answer[local+width*i:local+width*(i+1)])
		}
		local += width * len(cameras)
		to += width * all
	}
}
