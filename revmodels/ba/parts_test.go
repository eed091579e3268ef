package ba

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// plainParts are parts that are all here, added in order.
type plainParts struct {
	list    []*Part
	cameras int
	fail    int // the call that fails; 0 for none
	calls   int
}

var errLink = errors.New("the link is down")

func (p *plainParts) Ask(q Question, x float64, operands, numbers, perCamera []float64) error {
	if p.calls++; p.calls == p.fail {
		return errLink
	}
	clear(numbers)
	clear(perCamera)
	width, few, wide := q.Sizes()
	for _, part := range p.list {
		var in []float64
		for _, c := range part.Cameras() {
			if width > 0 {
				in = append(in, operands[width*c:width*(c+1)]...)
			}
		}
		n, each := make([]float64, few), make([]float64, wide*len(part.Cameras()))
		part.Answer(q, x, in, n, each)
		for i, v := range n {
			numbers[i] += v
		}
		q.AddPerCamera(part.Cameras(), p.cameras, each, func(at int, x []float64) {
			for i, v := range x {
				perCamera[at+i] += v
			}
		})
	}
	return nil
}

func partsOf(t *testing.T, p *Problem, observations int, loss Loss) *plainParts {
	t.Helper()
	cut := p.Cut(observations)
	var which []int
	for k := range len(cut) - 1 {
		which = append(which, k)
	}
	list, err := p.Parts(cut, which, loss)
	if err != nil {
		t.Fatal(err)
	}
	return &plainParts{list: list, cameras: p.NumCameras()}
}

// TestSolveParts solves a problem in parts, and compares with Solve.
func TestSolveParts(t *testing.T) {
	low, high := focals(partsProblem(t))
	for _, opts := range []Options{
		{CostTolerance: 1e-14, Forcing: 1e-3},
		{CostTolerance: 1e-14, Forcing: 1e-3, Loss: Huber(1), FixedCameras: []int{0, 2}},
		{CostTolerance: 1e-14, Forcing: 1e-3, FixedIntrinsics: true},
		{CostTolerance: 1e-14, Forcing: 1e-3, MinFocal: low, MaxFocal: high},
	} {
		opts.Method = ConjugateGradients
		whole := partsProblem(t)
		want, err := Solve(t.Context(), whole, &opts)
		if err != nil {
			t.Fatal(err)
		}
		p := partsProblem(t)
		parts := partsOf(t, p, 100, opts.Loss)
		if len(parts.list) < 4 {
			t.Fatalf("%d parts, want more", len(parts.list))
		}
		cameras := slices.Clone(p.Cameras)
		saved := 0
		got, err := SolveParts(t.Context(), cameras, parts, &opts, &Checkpoint{Save: func(s *State) error {
			saved++
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.Iterations) - 2; saved != n { // not at the start, nor after the last iteration
			t.Errorf("saved %d times, want %d", saved, n)
		}
		if math.Abs(got.Final-want.Final) > 1e-9*want.Final || math.Abs(got.Initial-want.Initial) > 1e-12*want.Initial {
			t.Errorf("cost from %v to %v, want from %v to %v", got.Initial, got.Final, want.Initial, want.Final)
		}
		for _, part := range parts.list {
			copy(p.Points[3*part.First():], part.Points())
		}
		copy(p.Cameras, cameras)
		m := Model{Problem: p, Loss: opts.Loss}
		if cost := m.Func(m.Params(nil)); math.Abs(cost-got.Final) > 1e-12*cost {
			t.Errorf("the points and cameras have the cost %v, the report %v", cost, got.Final)
		}
	}
}

func TestSolvePartsErrors(t *testing.T) {
	p := partsProblem(t)
	for fail := 1; fail < 20; fail += 3 {
		parts := partsOf(t, p, 200, nil)
		parts.fail = fail
		if _, err := SolveParts(t.Context(), slices.Clone(p.Cameras), parts, nil, nil); !errors.Is(err, errLink) {
			t.Errorf("call %d fails: %v, want %v", fail, err, errLink)
		}
	}
	for name, o := range map[string]*Options{"Cholesky": {Method: Cholesky}, "FixedPoints": {FixedPoints: []int{1}}, "Points": {Points: new(onePart)}} {
		if _, err := SolveParts(t.Context(), slices.Clone(p.Cameras), partsOf(t, p, 200, nil), o, nil); err == nil {
			t.Errorf("no error for %s", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := SolveParts(ctx, slices.Clone(p.Cameras), partsOf(t, p, 200, nil), nil, nil); r == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", r, err)
	}
	p.Camera[0] = -1
	if _, err := p.Parts([]int{0, p.NumPoints()}, []int{0}, nil); err == nil {
		t.Error("no error for camera -1")
	}
}

// onePart is Points on the host: a part with all points.
type onePart struct {
	plainParts
	answered map[Question]bool
}

func pointsOf(t *testing.T, p *Problem, loss Loss) *onePart {
	t.Helper()
	return &onePart{*partsOf(t, p, p.NumObservations(), loss), map[Question]bool{}}
}

func (p *onePart) Ask(q Question, x float64, operands, numbers, perCamera []float64) error {
	err := p.plainParts.Ask(q, x, operands, numbers, perCamera)
	if q == AskLinear && err == nil {
		largest := largest(p.list[0].normal.gq)
		numbers[0] = largest * largest
	}
	p.answered[q] = true
	return err
}

func (p *onePart) Set(points []float64) error {
	p.list[0].Resume(points)
	return p.Ask(AskResume, 0, nil, nil, nil)
}

func (p *onePart) Get(points []float64) error {
	copy(points, p.list[0].Points())
	return nil
}

func (p *onePart) Reduced(blocks []float64) error {
	if p.calls++; p.calls == p.fail {
		return errLink
	}
	n := p.list[0].normal
	n.g = make([]float64, couplingLen*len(n.camera))
	for i, q := range n.point {
		n.couple((*[couplingLen]float64)(n.g[couplingLen*i:]), (*[6]float64)(n.l[6*q:]), i)
	}
	system := newReduced(n, math.MaxInt)
	system.form(n)
	if len(blocks) != len(system.data) {
		return fmt.Errorf("%d numbers of blocks, want %d", len(blocks), len(system.data))
	}
	copy(blocks, system.data)
	return nil
}

// TestSolvePoints solves a problem with Points, and compares with Solve without.
func TestSolvePoints(t *testing.T) {
	low, high := focals(partsProblem(t))
	for _, opts := range []Options{
		{Method: ConjugateGradients},
		{Method: ConjugateGradients, Loss: Cauchy(1), FixedCameras: []int{1}, MinFocal: low, MaxFocal: high},
		{Method: Cholesky, Loss: Huber(1), FixedIntrinsics: true},
		{Method: Cholesky, MinFocal: low, MaxFocal: high},
	} {
		want, got := partsProblem(t), partsProblem(t)
		wanted, err := Solve(t.Context(), want, &opts)
		if err != nil {
			t.Fatal(err)
		}
		points := pointsOf(t, got, opts.Loss)
		copy(points.list[0].Points(), make([]float64, 3)) // Solve sets the points
		opts.Points = points
		report, err := Solve(t.Context(), got, &opts)
		if err != nil {
			t.Fatal(err)
		}
		if report.Status != wanted.Status || report.Method != wanted.Method || report.Behind != wanted.Behind || len(report.Iterations) != len(wanted.Iterations) {
			t.Fatalf("%v by %v after %d iterations, want %v by %v after %d", report.Status, report.Method, len(report.Iterations), wanted.Status, wanted.Method, len(wanted.Iterations))
		}
		for i, it := range report.Iterations {
			of := wanted.Iterations[i]
			if !(math.Abs(it.Cost-of.Cost) <= 1e-10*of.Cost) || i < 3 && !(math.Abs(it.Gradient-of.Gradient) <= 1e-6*of.Gradient) {
				t.Errorf("iteration %d: cost %v, gradient %v, want %v and %v", i, it.Cost, it.Gradient, of.Cost, of.Gradient)
			}
		}
		for i, v := range got.Points {
			if !(math.Abs(v-want.Points[i]) <= 1e-6*(1+math.Abs(v))) {
				t.Fatalf("coordinate %d is %v, want %v", i, v, want.Points[i])
			}
		}
		if held := opts.MinFocal > 0; points.answered[AskHold] != held {
			t.Errorf("a focal length is held: %v, want %v", !held, held)
		}
	}
	// Automatic asks the points.
	p := partsProblem(t)
	points := pointsOf(t, p, nil)
	r, err := Solve(t.Context(), p, &Options{Points: points})
	if err != nil || r.Method != ConjugateGradients || !points.answered[AskProduct] {
		t.Errorf("%v by %v", err, r.Method)
	}
	// The error of a question is returned, and the problem does not change.
	for fail := 1; fail < 20; fail += 3 {
		p := partsProblem(t)
		points := pointsOf(t, p, nil)
		points.fail = fail
		if _, err := Solve(t.Context(), p, &Options{Points: points}); !errors.Is(err, errLink) || !slices.Equal(p.Cameras, partsProblem(t).Cameras) {
			t.Errorf("call %d fails: %v, want %v", fail, err, errLink)
		}
	}
	points = pointsOf(t, p, nil)
	points.fail = 6 // after AskResume, AskCost, AskLinear, AskScale and AskEliminate
	if _, err := Solve(t.Context(), partsProblem(t), &Options{Points: points, Method: Cholesky}); !errors.Is(err, errLink) || points.answered[AskStep] {
		t.Errorf("the reduced system fails: %v, want %v", err, errLink)
	}
	// A cost that is not finite is explained as without Points.
	p = partsProblem(t)
	copy(p.Cameras[cameraLen*p.Camera[7]:], make([]float64, 6))
	copy(p.Points[pointLen*p.Point[7]:], []float64{1, 2, 0})
	_, want := Solve(t.Context(), p, nil)
	if _, err := Solve(t.Context(), p, &Options{Points: pointsOf(t, p, nil)}); !errors.Is(err, ErrNotFinite) || err.Error() != want.Error() {
		t.Errorf("a point at depth 0: %v, want %v", err, want)
	}
}

// focals returns the least and the greatest focal length. The cameras that have them are at
// bounds there.
func focals(p *Problem) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for c := range p.NumCameras() {
		f := p.Cameras[cameraLen*c+focal]
		low, high = min(low, f), max(high, f)
	}
	return low, high
}

func partsProblem(t *testing.T) *Problem {
	t.Helper()
	p, _, err := Generate(&GenerateOptions{Cameras: 8, Points: 300, Observations: 1200, Noise: 0.5, Start: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
