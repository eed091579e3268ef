package main

import (
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
	"revnum/internal/jsonfile"
	"revnum/internal/outfile"
	"revnum/program"
)

func newSuite() *cobra.Command {
	var out, only string
	var budget time.Duration
	var list bool
	cmd := &cobra.Command{
		Use:   "benchmarks",
		Short: "Measure revnum, and run it for ADBench, for GradBench and on data",
		Long: `Without a command, benchmarks runs the default suite. It measures problems drawn
from fixed seeds, compares their gradients with central differences along random
directions, and runs their kernels forward and back.

It prints a table, and writes it with figures to the output folder:
table.txt, results.csv, results.json, times and ratios as .png and .svg.

  F, J       time of one call of the objective, and of the gradient with value
  of peak    fraction of the multiply-add peak of the cores in use, measured in the same run
  extra      memory that the first F and J take beyond data and results
  J error    of the gradient, relative to max(1, |a|+|b|)
  round trip of the output after Forward and Inverse, relative to its size

A wrong gradient, round trip or bit is an error, which is returned after everything
is written. The machine is measured before and after the suite. If its rates moved by
more than 10%, or other programs took more than 10% of a core, a warning says so.`,
		Example: `  go run ./benchmarks
  go run ./benchmarks --run 'gmm.*d=64' --out gmm64`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			re, err := regexp.Compile(only)
			if err != nil {
				return fmt.Errorf("--run: %w", err)
			}
			var problems []*suite.Problem
			for _, p := range suite.Problems() {
				if re.MatchString(p.Name()) {
					problems = append(problems, p)
				}
			}
			if len(problems) == 0 {
				return fmt.Errorf("--run: no problem's name matches %q; --list shows them", only)
			}
			if list {
				for _, p := range problems {
					if _, err := fmt.Fprintln(cmd.OutOrStdout(), p.Name()); err != nil {
						return err
					}
				}
				return nil
			}
			return runSuite(cmd, problems, budget, out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "results", "`folder` to write to, made if its parent exists")
	cmd.Flags().StringVar(&only, "run", "", "only the problems whose names match the `regexp`")
	program.TimeFlag(cmd, &budget, 200*time.Millisecond, "time to measure each function for")
	cmd.Flags().BoolVar(&list, "list", false, "print the names of the problems, and measure nothing")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func runSuite(cmd *cobra.Command, problems []*suite.Problem, budget time.Duration, out string) error {
	if err := makeFolder(out, nil); err != nil {
		return err
	}
	bar := program.Bar(cmd.ErrOrStderr(), 2+suite.Rows(problems))
	bar.Describe("machine")
	report := suite.Report{Machine: machine.Measure(4 * budget)}
	_ = bar.Add(1)
	for _, p := range problems {
		bar.Describe(p.Name())
		err := suite.Measure(p, budget, func(r suite.Result) {
			report.Results = append(report.Results, r)
			_ = bar.Add(1)
		})
		if err != nil {
			return err
		}
	}
	// Measure before and after, because the load of other programs varies.
	bar.Describe("machine")
	report.Machine.Best(machine.Measure(4 * budget))
	report.Compare()
	_ = bar.Finish()

	table := func(w io.Writer) error {
		if err := suite.WriteMachine(w, report.Machine); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return report.WriteTable(w)
	}
	if err := table(cmd.OutOrStdout()); err != nil {
		return err
	}
	if err := outfile.WriteAll(out, map[string]func(io.Writer) error{
		"table.txt": table, "results.csv": report.WriteCSV, "results.json": jsonfile.Indented(report),
	}); err != nil {
		return err
	}
	if err := report.SaveFigures(out); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", out)
	if err := report.Check(); err != nil {
		return fmt.Errorf("a check failed:\n%w", err)
	}
	return nil
}
