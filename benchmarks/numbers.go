package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/numbers"
	"revnum/benchmarks/internal/suite"
	"revnum/internal/jsonfile"
	"revnum/internal/outfile"
	"revnum/program"
)

func newNumbers() *cobra.Command {
	var steps int
	var budget time.Duration
	var out string
	cmd := &cobra.Command{
		Use:   "numbers",
		Short: "Compare the number types: round trips of long programs, and speed",
		Long: `numbers runs programs forward and then backward over float32, float64, fixed
point and logarithmic numbers. It prints how far each program ends from its start.
Over fixed point, and logs in fixed point, it ends at the start to the bit.

Then it compares the speed of the types with loops written by hand and with
package math. The two sides of a comparison take turns. The ratio is the best time
of one over the best time of the other.

  moved by  the largest change of a number, or of its log for logarithmic numbers
  extra     memory that Forward and Inverse take beyond the state, for any number of steps`,
		Example: `  go run ./benchmarks numbers
  go run ./benchmarks numbers --steps 100000 --out numbers`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out != "" {
				if err := makeFolder(out, nil); err != nil {
					return err
				}
			}
			return runNumbers(cmd, steps, budget, out)
		},
	}
	program.IntFlag(cmd, &steps, "steps", "", 10000, 0, 1<<30, "steps of the programs")
	program.TimeFlag(cmd, &budget, 300*time.Millisecond, "time to measure each comparison for")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write the tables to as well, as text, CSV and JSON, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func runNumbers(cmd *cobra.Command, steps int, budget time.Duration, out string) error {
	bar := program.Bar(cmd.ErrOrStderr(), 3+numbers.NumBars())
	bar.Describe("machine")
	report := numbers.Report{Machine: machine.Measure(budget)}
	_ = bar.Add(1)
	bar.Describe("round trips")
	var err error
	if report.RoundTrips, err = numbers.RoundTrips(steps); err != nil {
		return err
	}
	_ = bar.Add(1)
	bar.Describe("speed")
	numbers.Bars(budget, func(b numbers.Bar) {
		report.Bars = append(report.Bars, b)
		_ = bar.Add(1)
	})
	bar.Describe("machine")
	report.Machine.Best(machine.Measure(budget))
	_ = bar.Finish()

	text := func(w io.Writer) error {
		if err := suite.WriteMachine(w, report.Machine); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return report.WriteTable(w)
	}
	if err := text(cmd.OutOrStdout()); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	if err := outfile.WriteAll(out, map[string]func(io.Writer) error{
		"numbers.txt": text, "numbers.csv": report.WriteCSV, "bars.csv": report.WriteBarsCSV, "numbers.json": jsonfile.Indented(report),
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", out)
	return err
}
