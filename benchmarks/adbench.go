package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/adbench"
)

func newADBench() *cobra.Command {
	return &cobra.Command{
		Use:   "adbench TEST MODULE INPUT OUTPREFIX MIN_TIME NRUNS_F NRUNS_J TIME_LIMIT [-rep]",
		Short: "Measure a problem file as a runner of ADBench",
		Long: `adbench takes the arguments of ADBench's runners, and writes the same files.
ADBench's scripts can therefore run it in place of a runner.

  TEST        ` + strings.Join(adbench.Tests, ", ") + `
  MODULE      Revnum (float64, one worker), RevnumMT (all workers), Revnum32 (float32,
              one worker), or a path whose last part is such a name
  INPUT       the problem's file
  OUTPREFIX   beginning of the names of the output files; if it is a folder, end it with /
  MIN_TIME    seconds; calls are repeated until a batch of them takes longer
  NRUNS_F     number of batches for the objective
  NRUNS_J     number of batches for the gradient or the Jacobian
  TIME_LIMIT  seconds after which no new batch begins
  -rep        the file of a GMM has one point, which stands for all

adbench writes three files. <OUTPREFIX><input>_times_<module>.txt has the seconds of
the objective and of the gradient, ..._F_... the objective, and ..._J_... the gradient
with respect to log weights, means and factors, in the order of the input. For LSTM
it is the gradient with respect to the main and the extra parameters. The sign of the
prior is ADBench's. For BA, ..._F_... has the
reprojection errors and then those of the weights, and ..._J_... their Jacobian
with respect to cameras, points and weights, by sparse rows. Its time is that of
row pointers, column indices and values, which ADBench's modules make in each call;
what the values take alone is printed beside it. For Hand, ..._F_... has three
residuals for each point and ..._J_... a row of derivatives of each; the model is in
the folder model beside the file.

The files have the least times, as ADBench's runners write them. The times of the first
calls and the means of all are printed.`,
		Example: `  go run ./benchmarks adbench GMM Revnum gmm_d10_K25.txt results/ 0.5 10 10 10`,
		// -rep is not an ordinary flag, and numbers may be negative.
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return adbench.Tests, cobra.ShellCompDirectiveNoFileComp
			case 1:
				return adbench.Modules, cobra.ShellCompDirectiveNoFileComp
			case 2, 3:
				return nil, cobra.ShellCompDirectiveDefault
			case 8:
				return []string{"-rep"}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "-h") || slices.Contains(args, "--help") {
				return cmd.Help()
			}
			run, err := adbench.ParseRun(args)
			if err != nil {
				return err
			}
			return run.Do(cmd.OutOrStdout())
		},
	}
}
