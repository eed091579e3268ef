package ba

import (
	"context"
	"errors"
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
	for _, opts := range []Options{
		{CostTolerance: 1e-14, Forcing: 1e-3},
		{CostTolerance: 1e-14, Forcing: 1e-3, Loss: Huber(1), FixedCameras: []int{0, 2}},
		{CostTolerance: 1e-14, Forcing: 1e-3, FixedIntrinsics: true},
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
		got, err := SolveParts(t.Context(), cameras, parts, &opts, nil)
		if err != nil {
			t.Fatal(err)
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
	if _, err := SolveParts(t.Context(), slices.Clone(p.Cameras), partsOf(t, p, 200, nil), &Options{Method: Cholesky}, nil); err == nil {
		t.Error("no error for Cholesky")
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

func partsProblem(t *testing.T) *Problem {
	t.Helper()
	p, _, err := Generate(&GenerateOptions{Cameras: 8, Points: 300, Observations: 1200, Noise: 0.5, Start: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
