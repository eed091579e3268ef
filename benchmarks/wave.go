package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/acoustics"
	"revnum/internal/memory"
	"revnum/internal/outfile"
	"revnum/program"
)

const (
	mostCells = 1 << 13 // in a row of a grid of waves
	mostSteps = 1 << 20 // of waves, iterations and training
)

func newWave() *cobra.Command {
	var size, steps, shots, iterations, workers int
	var budget time.Duration
	var out string
	cmd := &cobra.Command{
		Use:   "wave",
		Short: "Acoustic waves: a step beside a copy, the memory of a gradient, and an inversion",
		Long: `wave takes waves ahead and back on a grid. It prints what a step takes beside the
copying of memory, and the time and memory of a gradient over many steps. It also finds
the speeds of a section of the ground from recordings. With --out it draws them.`,
		Example: `  go run ./benchmarks wave
  go run ./benchmarks wave --steps 10000 --out wave`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := memory.Check(10*float64(size)*float64(size), fmt.Sprintf("--size: the grids of %d × %d cells", size, size)); err != nil {
				return err
			}
			if out != "" {
				if err := makeFolder(out, nil); err != nil {
					return err
				}
			}
			bar := program.Bar(cmd.ErrOrStderr(), -1)
			report, err := acoustics.Measure(cmd.Context(), size, steps, shots, iterations, workers, budget, func(doing string) {
				bar.Describe(doing)
				_ = bar.Add(1)
			})
			_ = bar.Finish()
			if err != nil {
				return err
			}
			if err := report.WriteTable(cmd.OutOrStdout()); err != nil || out == "" {
				return err
			}
			if err := outfile.Write(filepath.Join(out, "wave.txt"), report.WriteTable); err != nil {
				return err
			}
			if err := report.SaveFigures(out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", out)
			return err
		},
	}
	program.IntFlag(cmd, &size, "size", "", 1000, 8, mostCells, "rows and columns of the grid")
	program.IntFlag(cmd, &steps, "steps", "", 1000, 1, mostSteps, "steps of the gradient")
	program.IntFlag(cmd, &shots, "shots", "", acoustics.MostShots, 1, acoustics.MostShots, "sources of the inversion")
	program.IntFlag(cmd, &iterations, "iterations", "", 40, 1, mostSteps, "the most iterations of the inversion")
	program.IntFlag(cmd, &workers, "workers", "", 1, 0, program.MaxWorkers, "workers; 0 means all cores")
	program.TimeFlag(cmd, &budget, time.Second/2, "time for each measurement")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write the table and pictures to as well, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}
