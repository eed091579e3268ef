package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/problem"
	"revnum/internal/memory"
	"revnum/program"
	"revnum/revmodels/ba"
)

func newGen() *cobra.Command {
	return program.Group("gen", "Draw problems from a seed", newGenGMM(), newGenBA())
}

func newGenGMM() *cobra.Command {
	var d, k, n int
	var seed uint64
	var out string
	var replicate bool
	cmd := &cobra.Command{
		Use:   "gmm",
		Short: "Draw a Gaussian mixture and points, in ADBench's form",
		Long: `gmm writes a problem in ADBench's form, from the distribution of ADBench's own
synthetic data: log weights, inverse-covariance factors and points are standard
normal, and means are uniform in [0, 1). The prior has gamma 1 and m 0.`,
		Example: `  go run ./benchmarks gen gmm --d 10 --k 25 --n 1000 --seed 1 -o gmm_d10_K25.txt`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := program.CheckOutputs(nil, program.Output{Flag: "out", Path: out}); err != nil {
				return err
			}
			g, err := problem.GenerateGMM(d, k, n, seed, replicate)
			if err != nil {
				return err
			}
			return program.WriteOutput(cmd, out, func(w io.Writer) error { return g.Write(w, replicate) })
		},
	}
	program.IntFlag(cmd, &d, "d", "", 10, 1, 1<<16, "dimension of the points")
	program.IntFlag(cmd, &k, "k", "", 25, 1, 1<<20, "number of components")
	program.IntFlag(cmd, &n, "n", "", 1000, 1, 1<<30, "number of points")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed; the same seed gives the same problem everywhere")
	cmd.Flags().StringVarP(&out, "out", "o", program.Stdout, "`file` to write to, - for standard output")
	cmd.Flags().BoolVar(&replicate, "rep", false, "write one point that stands for all n (adbench's -rep)")
	return cmd
}

// layouts are the kinds of problems of gen ba: first those of ba.Layout, in order, then
// the one in ADBench's form.
var layouts = []string{"ring", "city", adbenchLayout}

const adbenchLayout = "adbench"

func newGenBA() *cobra.Command {
	var kind, out, truth string
	var seed uint64
	opts := new(ba.GenerateOptions)
	cmd := &cobra.Command{
		Use:   "ba",
		Short: "Draw a bundle adjustment problem with a known solution",
		Long: `ba draws cameras and points, and computes what each camera sees. It writes a problem
of Bundle Adjustment in the Large (BAL). If the name of the file ends in .gz, the file
is compressed. There are three kinds:

  ring     the cameras stand around an object and look at it
  city     the cameras drive through streets; the houses hide the points behind them
  adbench  one camera, point, weight and feature stand for all, in the form of
           ADBench's own problems; only the sizes and the seed matter

In a ring and in a city all pictures have 1024 by 768 pixels and come from the same
camera, which moves. Each point is seen at least twice, from places near each other.
The features have noise and outliers. The cameras and points have errors, with which
a solver starts. --truth writes the same problem without noise, outliers and errors.`,
		Example: `  go run ./benchmarks gen ba --kind city --cameras 100 --points 20000 --observations 100000 -o city.txt.gz`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			layout := slices.Index(layouts, kind)
			if layout < 0 {
				return fmt.Errorf("--kind: expected one of %s, found %q", strings.Join(layouts, ", "), kind)
			}
			if err := program.CheckOutputs(nil, program.Output{Flag: "out", Path: out}, program.Output{Flag: "truth", Path: truth}); err != nil {
				return err
			}
			if kind == adbenchLayout {
				if truth != "" {
					return errors.New("--truth: a problem in ADBench's form has no solution")
				}
				p, err := problem.GenerateBA(opts.Cameras, opts.Points, opts.Observations, seed)
				if err != nil {
					return err
				}
				return program.WriteOutput(cmd, out, p.Write)
			}
			opts.Layout = ba.Layout(layout)
			opts.Source = rand.NewPCG(seed, 0)
			floats := 12*float64(opts.Observations) + 8*float64(opts.Points) + 40*float64(opts.Cameras)
			if err := memory.Check(floats, "--cameras, --points, --observations: the cameras, points and observations"); err != nil {
				return err
			}
			start, exact, err := ba.Generate(opts)
			if err != nil {
				return err
			}
			if truth != "" {
				if err := program.WriteBAL(cmd, truth, exact); err != nil {
					return err
				}
			}
			return program.WriteBAL(cmd, out, start)
		},
	}
	cmd.Flags().StringVar(&kind, "kind", layouts[0], strings.Join(layouts, ", "))
	program.IntFlag(cmd, &opts.Cameras, "cameras", "", 100, 1, 1<<20, "number of cameras")
	program.IntFlag(cmd, &opts.Points, "points", "", 20000, 1, 1<<28, "number of points")
	program.IntFlag(cmd, &opts.Observations, "observations", "", 100000, 1, 1<<30, "number of observations, at least two for each point")
	program.FloatFlag(cmd, &opts.Noise, "noise", 0.5, 0, 1e6, "standard deviation of the noise of the features, in pixels")
	program.FloatFlag(cmd, &opts.Outliers, "outliers", 0, 0, 1, "fraction of the observations that are moved to random places in the picture")
	program.FloatFlag(cmd, &opts.Start, "start", 0.01, 0, 1e3, "relative size of the errors of cameras and points")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed; the same seed gives the same problem")
	cmd.Flags().StringVarP(&out, "out", "o", program.Stdout, "`file` to write to, - for standard output")
	program.Complete(cmd, "kind", layouts...)
	cmd.Flags().StringVar(&truth, "truth", "", "`file` to write the solution to")
	return cmd
}
