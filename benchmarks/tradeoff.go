package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/tradeoff"
	"revnum/internal/memory"
	"revnum/internal/outfile"
	"revnum/program"
)

func newTradeoff() *cobra.Command {
	var most int
	var budget time.Duration
	var out string
	cmd := &cobra.Command{
		Use:   "tradeoff",
		Short: "Compare ways to go back in a long computation: steps, memory and time",
		Long: `tradeoff computes the gradient of where the planets are after 1, 4, 16 and more steps
of leapfrog, and compares the ways to go back: record all states, uncompute them
(Bennett), compute them again from snapshots (treeverse), or take steps that are
reversible by themselves.

  steps    runs of a step: ahead, back, and with cotangents
  states   the largest number of states at a time, without cotangents
  bytes    memory that one gradient takes beyond the state; figures draw 0 as 1`,
		Example: `  go run ./benchmarks tradeoff
  go run ./benchmarks tradeoff --most 65536 --out tradeoff`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := memory.Check(2*float64(most)*float64(tradeoff.StateBytes()/8), fmt.Sprintf("--most: the states of %d steps", most)); err != nil {
				return err
			}
			if out != "" {
				if err := makeFolder(out, nil); err != nil {
					return err
				}
			}
			return runTradeoff(cmd, most, budget, out)
		},
	}
	program.IntFlag(cmd, &most, "most", "", 4096, 1, 1<<22, "the most steps")
	program.TimeFlag(cmd, &budget, 100*time.Millisecond, "time to measure each gradient for")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write tables and figures to as well, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func runTradeoff(cmd *cobra.Command, most int, budget time.Duration, out string) error {
	before := machine.Measure(budget)
	report, err := measureTradeoff(cmd, most, budget)
	if err != nil {
		return err
	}
	report.Machine = machine.Measure(budget)
	report.Machine.Best(before)
	if err := report.WriteTable(cmd.OutOrStdout()); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{"tradeoff.txt", report.WriteTable}, {"tradeoff.csv", report.WriteCSV}, {"tradeoff.json", report.WriteJSON}} {
		if err := outfile.Write(filepath.Join(out, f.name), f.write); err != nil {
			return err
		}
	}
	if err := report.SaveFigures(out); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", out)
	return err
}
