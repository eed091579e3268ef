package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"revnum/cluster"
	"revnum/internal/long"
	"revnum/revmodels/ba"
)

func bundleProblem(t testing.TB, cameras, points, observations int) *ba.Problem {
	t.Helper()
	p, _, err := ba.Generate(&ba.GenerateOptions{Layout: ba.City, Cameras: cameras, Points: points, Observations: observations, Noise: 0.5, Start: 0.003})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSolveBA solves on several numbers of ranks, also more than there are blocks. It
// wants the same bits, and the cost that the solver of one machine reaches.
func TestSolveBA(t *testing.T) {
	opts := &ba.Options{CostTolerance: 1e-12, Forcing: 1e-3, Method: ba.ConjugateGradients}
	one := bundleProblem(t, 12, 400, 1600)
	want, err := ba.Solve(t.Context(), one, opts)
	if err != nil {
		t.Fatal(err)
	}
	var first *ba.Problem
	for _, c := range [][2]int{{1, 1}, {1, 3}, {2, 1}, {3, 2}, {9, 1}} {
		err := cluster.Run(c[0], func(r cluster.Reducer) error {
			p := bundleProblem(t, 12, 400, 1600)
			report, err := cluster.SolveBA(t.Context(), r, p, 300, c[1], opts, nil)
			if err != nil {
				return err
			}
			if r.Rank() == 0 {
				if math.Abs(report.Final-want.Final) > 1e-9*want.Final {
					t.Errorf("%v ranks and workers: cost %v, on one machine %v", c, report.Final, want.Final)
				}
				if first == nil {
					first = p
				}
			}
			if err := cluster.Agree(r, nil); err != nil { // wait until first is set
				return err
			}
			if !slices.Equal(p.Cameras, first.Cameras) || !slices.Equal(p.Points, first.Points) {
				return fmt.Errorf("%v ranks and workers: another solution on rank %d", c, r.Rank())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestSolveBAResume stops a solution by an error of Save. It resumes from the last saved
// state on another number of ranks, and must end with the bits of one that did not stop.
func TestSolveBAResume(t *testing.T) {
	opts := &ba.Options{CostTolerance: 1e-13}
	solve := func(ranks int, c *cluster.BACheckpoint) (*ba.Problem, error) {
		first := bundleProblem(t, 12, 400, 1600)
		return first, cluster.Run(ranks, func(r cluster.Reducer) error {
			p := first
			if r.Rank() != 0 {
				p = bundleProblem(t, 12, 400, 1600)
			}
			_, err := cluster.SolveBA(t.Context(), r, p, 300, 1, opts, c)
			return err
		})
	}
	want, err := solve(2, nil)
	if err != nil {
		t.Fatal(err)
	}
	killed := errors.New("killed")
	for _, every := range []int{0, 1, 2} {
		var saved []byte
		var numbers []int
		_, err = solve(3, &cluster.BACheckpoint{Every: every, Save: func(s *cluster.BAState) error {
			if s.Iteration == 4 {
				return killed
			}
			numbers = append(numbers, s.Iteration)
			var err error
			saved, err = json.Marshal(s)
			return err
		}})
		if !errors.Is(err, killed) {
			t.Fatalf("%v, want %v", err, killed)
		}
		every := max(every, 1)
		if last := 4 - every; numbers[0] != every || numbers[len(numbers)-1] != last {
			t.Fatalf("states of iterations %v, want %d to %d", numbers, every, last)
		}
		from := new(cluster.BAState)
		if err := json.Unmarshal(saved, from); err != nil {
			t.Fatal(err)
		}
		got, err := solve(4, &cluster.BACheckpoint{Resume: from})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Cameras, want.Cameras) || !slices.Equal(got.Points, want.Points) {
			t.Errorf("from iteration %d: another solution than without a stop", from.Iteration)
		}
		from.Problem++
		if _, err := solve(2, &cluster.BACheckpoint{Resume: from}); err == nil || !strings.Contains(err.Error(), "a state of another problem") {
			t.Errorf("a state of another problem: %v", err)
		}
	}
}

// TestHashBA changes a number in each part of a problem.
func TestHashBA(t *testing.T) {
	want := cluster.HashBA(bundleProblem(t, 5, 50, 200))
	if got := cluster.HashBA(bundleProblem(t, 5, 50, 200)); got != want {
		t.Errorf("%x and %x of the same problem", got, want)
	}
	for name, change := range map[string]func(p *ba.Problem){
		"nothing":         func(*ba.Problem) {},
		"a camera":        func(p *ba.Problem) { p.Cameras[8]++ },
		"a point":         func(p *ba.Problem) { p.Points[0]++ },
		"a feature":       func(p *ba.Problem) { p.Features[1]++ },
		"a camera number": func(p *ba.Problem) { p.Camera[3] = (p.Camera[3] + 1) % 5 },
		"a point number":  func(p *ba.Problem) { p.Point[3] = (p.Point[3] + 1) % 50 },
	} {
		p := bundleProblem(t, 5, 50, 200)
		change(p)
		if got := cluster.HashBA(p); (got == want) != (name == "nothing") {
			t.Errorf("%s changed: %x, before %x", name, got, want)
		}
	}
}

// TestSolveBALarge compares with the solver of one machine at 400,000 observations. The
// costs must agree in 9 digits.
func TestSolveBALarge(t *testing.T) {
	if !long.Tests() {
		t.Skip("takes minutes")
	}
	opts := &ba.Options{Method: ba.ConjugateGradients, CostTolerance: 1e-8}
	one := bundleProblem(t, 200, 80000, 400000)
	want, err := ba.Solve(t.Context(), one, opts)
	if err != nil {
		t.Fatal(err)
	}
	err = cluster.Run(2, func(r cluster.Reducer) error {
		report, err := cluster.SolveBA(t.Context(), r, bundleProblem(t, 200, 80000, 400000), 0, 1, opts, nil)
		if err == nil && r.Rank() == 0 {
			t.Logf("cost %.12g, on one machine by %v %.12g", report.Final, want.Method, want.Final)
			if math.Abs(report.Final-want.Final) > 5e-10*want.Final {
				t.Errorf("cost %v, on one machine %v", report.Final, want.Final)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSolveBAErrors(t *testing.T) {
	errs := make([]error, 2)
	_ = cluster.Run(2, func(r cluster.Reducer) error {
		_, errs[r.Rank()] = cluster.SolveBA(t.Context(), r, bundleProblem(t, 5, 50+r.Rank(), 200), 100, 1, nil, nil)
		return nil
	})
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "rank 1: it has another problem than rank 0") || errs[1] == nil {
		t.Errorf("different problems: %v", errs)
	}
	_ = cluster.Run(2, func(r cluster.Reducer) error {
		c := &cluster.BACheckpoint{}
		if r.Rank() == 0 {
			c.Resume = new(cluster.BAState)
		}
		_, errs[r.Rank()] = cluster.SolveBA(t.Context(), r, bundleProblem(t, 5, 50, 200), 100, 1, nil, c)
		return nil
	})
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "another state to resume from") || errs[1] == nil {
		t.Errorf("a state on one rank only: %v", errs)
	}
	_ = cluster.Run(2, func(r cluster.Reducer) error {
		p := bundleProblem(t, 5, 50, 200)
		p.Point[7] = 50
		_, errs[r.Rank()] = cluster.SolveBA(t.Context(), r, p, 100, 1, nil, nil)
		return nil
	})
	for rank, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "observation 7 is of point 50") {
			t.Errorf("an invalid problem: rank %d: %v", rank, err)
		}
	}
	late, end := context.WithDeadline(t.Context(), time.Now())
	defer end()
	problems := [2]*ba.Problem{bundleProblem(t, 5, 50, 200), bundleProblem(t, 5, 50, 200)}
	_ = cluster.Run(2, func(r cluster.Reducer) error {
		var report *ba.Report
		report, errs[r.Rank()] = cluster.SolveBA(late, r, problems[r.Rank()], 100, 1, nil, nil)
		if r.Rank() == 0 && report == nil {
			t.Error("no report at the end of the time")
		}
		return nil
	})
	if !errors.Is(errs[0], context.DeadlineExceeded) || !errors.Is(errs[1], context.Canceled) {
		t.Errorf("at the end of the time: %v", errs)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_ = cluster.Run(2, func(r cluster.Reducer) error {
		_, errs[r.Rank()] = cluster.SolveBA(cancelled, r, bundleProblem(t, 5, 50, 200), 100, 1, nil, nil)
		return nil
	})
	if !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) {
		t.Errorf("cancelled: %v", errs)
	}
}
