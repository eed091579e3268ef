package main

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/evals"
	"revnum/benchmarks/internal/tradeoff"
	"revnum/program"
)

func newFigures() *cobra.Command {
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "figures FOLDER",
		Short: "Draw the two figures of the README",
		Long: `figures writes two figures to FOLDER:

  memory.svg   memory of a gradient over the length of the program: with all states kept, as a
               tape does, with snapshots, and by reversible steps. It is measured now.
  speed.svg    times of GradBench's tools over ours. They are in FOLDER/evals.csv, which
               "peers evals" measures.`,
		Example: `  go run ./benchmarks figures docs`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := evals.Load(filepath.Join(args[0], "evals.csv"))
			if err != nil {
				return err
			}
			if err := evals.SaveFigure(rows, filepath.Join(args[0], "speed.svg")); err != nil {
				return err
			}
			report, err := measureTradeoff(cmd, 1<<16, budget)
			if err != nil {
				return err
			}
			if err := report.SaveMemory(filepath.Join(args[0], "memory.svg")); err != nil {
				return err
			}
			return evals.WriteRatios(cmd.OutOrStdout(), evals.Ratios(rows))
		},
	}
	program.TimeFlag(cmd, &budget, 10*time.Millisecond, "time to measure each gradient for")
	return cmd
}

// lengths returns 1, 4, 16 and so on, up to most.
func lengths(most int) []int {
	var list []int
	for n := 1; n <= most; n *= 4 {
		list = append(list, n)
	}
	return list
}

// measureTradeoff measures all ways at lengths up to most, with a progress bar.
func measureTradeoff(cmd *cobra.Command, most int, budget time.Duration) (*tradeoff.Report, error) {
	bar := program.Bar(cmd.ErrOrStderr(), len(lengths(most))*len(tradeoff.Ways()))
	bar.Describe("gradients")
	report := &tradeoff.Report{State: tradeoff.StateBytes()}
	err := tradeoff.Measure(cmd.Context(), lengths(most), budget, func(r tradeoff.Row) {
		report.Rows = append(report.Rows, r)
		_ = bar.Add(1)
	})
	_ = bar.Finish()
	return report, err
}
