package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/gradbench"
)

func newGradBench() *cobra.Command {
	var multithreaded, generated, minors bool
	cmd := &cobra.Command{
		Use:   "gradbench",
		Short: "Answer GradBench's protocol on standard input and output",
		Long: `gradbench is a tool in GradBench's sense. It reads one JSON message a line, and
answers each. If it cannot answer a message, it answers "success": false with the
reason, and continues.

Modules: ` + gradbench.Revnum.Modules() + `. gmm's prior
has the sign of GradBench's, and det expands each minor again wherever it occurs, as the
eval describes it. As in other tools, evaluating the Jacobian of ba includes its row
pointers and column indices. The timings "values" say how much of that time the values
took. Outputs have the same bits with and without --multithreaded.

With --generated the tool is called revgen. It evaluates
` + gradbench.Revgen.Modules() + ` with derivatives that
revgen wrote from plain functions. With --minors the tool evaluates det alone, and
computes each minor once.`,
		Example: `  gradbench run --eval "gradbench repo eval gmm" --tool "benchmarks gradbench"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Parsing makes garbage.
			defer debug.SetGCPercent(debug.SetGCPercent(50))
			workers := 1
			if multithreaded {
				workers = 0
			}
			tool := &gradbench.Revnum
			switch {
			case generated && minors:
				tool = &gradbench.RevgenMinors
			case generated:
				tool = &gradbench.Revgen
			case minors:
				tool = &gradbench.RevnumMinors
			}
			return tool.Serve(cmd.InOrStdin(), cmd.OutOrStdout(), workers)
		},
	}
	cmd.Flags().BoolVar(&multithreaded, "multithreaded", false, "use all cores")
	cmd.Flags().BoolVar(&generated, "generated", false, "evaluate by derivatives that revgen wrote")
	cmd.Flags().BoolVar(&minors, "minors", false, "evaluate det by minors that are computed once")
	return cmd
}
