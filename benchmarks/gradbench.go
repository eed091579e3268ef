package main

import (
	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/gradbench"
)

func newGradBench() *cobra.Command {
	var multithreaded bool
	cmd := &cobra.Command{
		Use:   "gradbench",
		Short: "Answer GradBench's protocol on standard input and output",
		Long: `gradbench is a tool in GradBench's sense: it reads one JSON message a line and
answers each. A message that it cannot answer gets "success": false and the
reason, and it goes on.

Modules: ` + gradbench.Modules() + `. The sign of gmm's prior is GradBench's,
and det expands by minors, as it does, not by an LU decomposition. The Jacobian of
ba is evaluated with its row pointers and column indices, as other tools do; the
timings "values" say what its values took of that. Outputs are the same bits with
--multithreaded as without.`,
		Example: `  gradbench run --eval "gradbench repo eval gmm" --tool "benchmarks gradbench"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			workers := 1
			if multithreaded {
				workers = 0
			}
			return gradbench.Serve(cmd.InOrStdin(), cmd.OutOrStdout(), workers)
		},
	}
	cmd.Flags().BoolVar(&multithreaded, "multithreaded", false, "use all cores")
	return cmd
}
