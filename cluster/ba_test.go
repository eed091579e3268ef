package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

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
			report, err := cluster.SolveBA(t.Context(), r, p, 300, c[1], opts)
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

// TestSolveBALarge compares with the solver of one machine at 400,000 observations. The
// costs must agree in 9 digits.
func TestSolveBALarge(t *testing.T) {
	if !long.Tests() {
		t.Skip("takes minutes")
	}
	opts := &ba.Options{Method: ba.ConjugateGradients, CostTolerance: 1e-12}
	one := bundleProblem(t, 200, 80000, 400000)
	want, err := ba.Solve(t.Context(), one, opts)
	if err != nil {
		t.Fatal(err)
	}
	err = cluster.Run(2, func(r cluster.Reducer) error {
		report, err := cluster.SolveBA(t.Context(), r, bundleProblem(t, 200, 80000, 400000), 0, 1, opts)
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
		_, errs[r.Rank()] = cluster.SolveBA(t.Context(), r, bundleProblem(t, 5, 50+r.Rank(), 200), 100, 1, nil)
		return nil
	})
	if errs[0] == nil || !strings.Contains(errs[0].Error(), "rank 1: it has another problem than rank 0") || errs[1] == nil {
		t.Errorf("different problems: %v", errs)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_ = cluster.Run(2, func(r cluster.Reducer) error {
		_, errs[r.Rank()] = cluster.SolveBA(cancelled, r, bundleProblem(t, 5, 50, 200), 100, 1, nil)
		return nil
	})
	if !errors.Is(errs[0], context.Canceled) || !errors.Is(errs[1], context.Canceled) {
		t.Errorf("cancelled: %v", errs)
	}
}
