package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/forkjoin"
	"revnum/internal/memory"
	"revnum/program"
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
			if err := memory.Check(40_000*float64(scale), fmt.Sprintf("--scale: programs of %d thousand numbers", scale)); err != nil {
				return err
			}
			rows, err := forkjoin.Measure(cmd.Context(), scale, budget)
			if err != nil {
				return err
			}
			return forkjoin.WriteTable(cmd.OutOrStdout(), rows)
		},
	}
	program.IntFlag(cmd, &scale, "scale", "", 1000, 1, 100_000, "size of the programs, in thousands of numbers")
	program.TimeFlag(cmd, &budget, time.Second/4, "time for each program")
	return cmd
}
