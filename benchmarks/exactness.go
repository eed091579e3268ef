package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/exactness"
	"revnum/internal/outfile"
	"revnum/program"
)

func newExactness() *cobra.Command {
	var sizes exactness.Sizes
	var out string
	cmd := &cobra.Command{
		Use:   "exactness",
		Short: "Run three programs ahead and back to the first bit, beside float64",
		Long: `exactness runs three programs over fixed point, and beside it over float64:

  planets    go ahead and back
  training   of a network by descent with momentum, with 1, 2 and 7 workers, and back to the
             first weights. The hash of the trained weights is the same on all machines
  rates      the derivatives of the loss after a training with respect to the learning rate of
             each step. Fixed point trains backward; float64 keeps the weights of all steps

docs/exactness.md says what they show. With --out it writes tables and draws figures.`,
		Example: `  go run ./benchmarks exactness
  go run ./benchmarks exactness --planets 1000 --out exactness`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out != "" {
				if err := makeFolder(out, nil); err != nil {
					return err
				}
			}
			bar := program.Bar(cmd.ErrOrStderr(), exactness.Count)
			bar.Describe("programs")
			report, err := exactness.Measure(cmd.Context(), sizes, func() { _ = bar.Add(1) })
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
			}{{"exactness.txt", report.WriteTable}, {"exactness.csv", report.WriteCSV}} {
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
	program.IntFlag(cmd, &sizes.Planets, "planets", "", 1000000, 1, 1<<30, "the most steps of the planets")
	program.IntFlag(cmd, &sizes.Training, "training", "", 1000, 1, 1<<20, "the most steps of training")
	program.IntFlag(cmd, &sizes.Rates, "rates", "", 10000, 1, 1<<17, "the steps of training whose rates have a derivative")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write tables and figures to as well, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}
