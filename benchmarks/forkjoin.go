package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/forkjoin"
)

func newForkJoin() *cobra.Command {
	var scale int
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "forkjoin",
		Short: "Programs whose branches run at the same time, with one core and two",
		Long: `forkjoin measures six programs with parallel branches, and their gradients, with one
core and with two. They are of the kinds in the paper on parallel dual-numbers reverse
AD of Smeding and Vákár: a multiplication, a dot product, a matrix times a vector, a
rotation by a quaternion, a network, and four particles. Forks ahead are joins in the
adjoint (rev.ParallelShared).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if scale < 1 {
				return fmt.Errorf("--scale: expected a positive number, found %d", scale)
			}
			if budget <= 0 {
				return fmt.Errorf("--time: expected a positive duration, found %v", budget)
			}
			rows, err := forkjoin.Measure(cmd.Context(), scale, budget)
			if err != nil {
				return err
			}
			return forkjoin.WriteTable(cmd.OutOrStdout(), rows)
		},
	}
	cmd.Flags().IntVar(&scale, "scale", 1000, "size of the programs, in thousands of numbers")
	cmd.Flags().DurationVar(&budget, "time", time.Second/4, "time for each program")
	return cmd
}
