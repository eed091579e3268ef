package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/orbits"
	"revnum/internal/outfile"
	"revnum/program"
)

func newNBody() *cobra.Command {
	var steps int
	var out string
	cmd := &cobra.Command{
		Use:   "nbody",
		Short: "Take the planets ahead and back: round-off, energy, and the cost of a gradient",
		Long: `nbody takes the solar system ahead by steps of four days, and back again. It prints how
far the planets end from where they began, over float32, float64 and fixed point. It
also prints how well each method keeps the energy, and what the gradient costs.`,
		Example: `  go run ./benchmarks nbody
  go run ./benchmarks nbody --steps 1000000 --out nbody`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out != "" {
				if err := makeFolder(out, nil); err != nil {
					return err
				}
			}
			bar := program.Bar(cmd.ErrOrStderr(), -1)
			bar.Describe("the planets")
			_ = bar.Add(1)
			report, err := orbits.Measure(cmd.Context(), steps)
			_ = bar.Finish()
			if err != nil {
				return err
			}
			if err := report.WriteTable(cmd.OutOrStdout()); err != nil || out == "" {
				return err
			}
			for _, f := range []struct {
				name  string
				write func(io.Writer) error
			}{{"nbody.txt", report.WriteTable}, {"nbody.csv", report.WriteCSV}} {
				if err := outfile.Write(filepath.Join(out, f.name), f.write); err != nil {
					return err
				}
			}
			if err := report.SaveFigures(out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", out)
			return err
		},
	}
	program.IntFlag(cmd, &steps, "steps", "", 100000, 1, 1<<30, "the most steps")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write tables and figures to as well, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}
