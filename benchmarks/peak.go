package main

import (
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
	"revnum/program"
)

func newPeak() *cobra.Command {
	var d time.Duration
	cmd := &cobra.Command{
		Use:   "peak",
		Short: "Measure the peak rates of this machine",
		Long: `peak measures, on one core, the rate of multiply-adds on registers and the bandwidth
of memory. Triad is a = b + s·c, counted as three arrays moved.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return suite.WriteMachine(cmd.OutOrStdout(), machine.Measure(d))
		},
	}
	program.TimeFlag(cmd, &d, 2*time.Second, "time to measure for")
	return cmd
}
