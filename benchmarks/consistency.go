package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/consistency"
	"revnum/fixed"
	"revnum/program"
	"revnum/program/figure"
)

func newConsistency() *cobra.Command {
	q := consistency.Problem{}
	var out string
	cmd := &cobra.Command{
		Use:   "consistency",
		Short: "Learn a parameter by running a reversible function ahead and back",
		Long: `consistency looks for the p with exp(p + x) - exp(x) = y, without a gradient: it runs a
function ahead, replaces the output by y, runs it back, replaces x, and so on. f1 keeps x,
from which the inverse finds the old p, and so learns nothing. f2 uncomputes x, and
converges if |exp(-x)/y| < 1.`,
		Example: `  go run ./benchmarks consistency
  go run ./benchmarks consistency --p 2 --target 3 --out consistency.png`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if least := -math.Exp(q.X); q.Y <= least {
				return fmt.Errorf("--target: expected more than -exp(x) = %.4g, which is the output for p = -∞, found %v", least, q.Y)
			}
			if out != "" {
				if err := figure.Check(out); err != nil {
					return fmt.Errorf("--out: %w", err)
				}
			}
			if err := program.CheckOutputs(nil, program.Output{Flag: "out", Path: out}); err != nil {
				return err
			}
			return runConsistency(cmd, q, out)
		},
	}
	program.FloatFlag(cmd, &q.X, "x", 0.3, -10, 10, "the input")
	program.FloatFlag(cmd, &q.Y, "target", 1, -10, 10, "the output to reach")
	program.FloatFlag(cmd, &q.P, "p", 1.6, -10, 10, "the parameter at the start")
	program.IntFlag(cmd, &q.Steps, "steps", "", 100, 1, mostSteps, "steps of training")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` for a figure of the outputs, such as consistency.png")
	return cmd
}

func runConsistency(cmd *cobra.Command, q consistency.Problem, out string) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "wanted: p = %.15f with output %v\n", q.Solution(), q.Y)
	var names []string
	var runs []consistency.Run
	for _, f := range []struct {
		name      string
		uncompute bool
		train     func(context.Context, consistency.Problem, bool) (consistency.Run, error)
	}{
		{"f1, float64", false, consistency.Train[float64]}, {"f1, fixed point", false, consistency.Train[fixed.Q43]},
		{"f2, float64", true, consistency.Train[float64]}, {"f2, fixed point", true, consistency.Train[fixed.Q43]},
	} {
		r, err := f.train(cmd.Context(), q, f.uncompute)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		fmt.Fprintf(w, "%-16s p = %.15f with output %.15f after %d steps\n", f.name, r.P, r.Outputs[q.Steps-1], q.Steps)
		if f.name == "f1, float64" || f.name == "f2, float64" {
			names, runs = append(names, f.name[:2]), append(runs, r)
		}
	}
	if out == "" {
		return nil
	}
	return consistency.Save(out, q.Y, names, runs)
}
