package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"revnum/program"
	"revnum/revmodels/ba"
)

// losses are the robust losses by name, nil for squares.
var losses = map[string]func(scale float64) ba.Loss{
	"none":   nil,
	"huber":  func(scale float64) ba.Loss { return ba.Huber(scale) },
	"cauchy": func(scale float64) ba.Loss { return ba.Cauchy(scale) },
	"tukey":  func(scale float64) ba.Loss { return ba.Tukey(scale) },
}

// methods are the methods of ba.Options by name.
var methods = map[string]ba.Method{"auto": ba.Automatic, "cholesky": ba.Cholesky, "cg": ba.ConjugateGradients}

// solveFlags are the flags of ba solve that are not fields of ba.Options.
type solveFlags struct {
	loss, method         string
	scale                float64
	cameras, points      string
	shareIntrinsics      bool
	out, ply, plotFolder string
	covariance           string
	free                 int
	plot                 bool
}

// register adds the flags to cmd, also those that are fields of opts.
func (f *solveFlags) register(cmd *cobra.Command, opts *ba.Options) {
	flags := cmd.Flags()
	flags.StringVar(&f.loss, "loss", "none", "robust loss: "+names(losses))
	program.FloatFlag(cmd, &f.scale, "scale", 1, 1e-100, program.MaxFloat, "scale of the loss, in pixels")
	flags.StringVar(&f.method, "method", "auto", "how to solve linear systems: "+names(methods))
	flags.StringVar(&f.cameras, "fix-cameras", "", "`list` of cameras to keep fixed")
	flags.StringVar(&f.points, "fix-points", "", "`list` of points to keep fixed")
	flags.BoolVar(&opts.FixedIntrinsics, "fix-intrinsics", false, "keep the focal lengths and distortions")
	flags.BoolVar(&f.shareIntrinsics, "share-intrinsics", false, "use one focal length and distortion for all cameras, starting from the means")
	program.FloatFlag(cmd, &opts.MinFocal, "min-focal", 0, 0, program.MaxFloat, "least focal length, in pixels; 0 means no bound")
	program.FloatFlag(cmd, &opts.MaxFocal, "max-focal", 0, 0, program.MaxFloat, "greatest focal length, in pixels; 0 means no bound")
	program.IntFlag(cmd, &opts.MaxIter, "max-iter", "", 100, 1, program.MaxIterations, "largest number of iterations")
	program.DurationFlag(cmd, &opts.MaxTime, "max-time", 0, 0, 8760*time.Hour, "time limit; 0 means no limit")
	program.FloatFlag(cmd, &opts.CostTolerance, "cost-tol", 1e-6, 0, 1, "stop at this relative change of the cost")
	program.FloatFlag(cmd, &opts.GradientTolerance, "gradient-tol", 1e-10, 0, program.MaxFloat, "stop when the largest element of the gradient is at most this")
	program.FloatFlag(cmd, &opts.StepTolerance, "step-tol", 1e-8, 0, 1, "stop at this relative length of a step")
	program.FloatFlag(cmd, &opts.Radius, "radius", 1e4, 1e-100, program.MaxFloat, "initial radius of the trust region")
	program.FloatFlag(cmd, &opts.Forcing, "forcing", 0.1, 1e-15, 1-1e-15, "accuracy of conjugate gradients, less than 1")
	program.IntFlag(cmd, &opts.MaxLinearIter, "max-linear-iter", "", 500, 1, program.MaxIterations, "largest number of iterations of conjugate gradients in a step")
	program.IntFlag(cmd, &opts.Workers, "workers", "", 0, 0, program.MaxWorkers, "goroutines to use; 0 means one for each processor")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to write the solution to, - for standard output")
	flags.StringVar(&f.ply, "ply", "", "`file` to write points and cameras to, for viewers, - for standard output")
	flags.StringVar(&f.covariance, "covariance", "", "`file` to write the covariance of the cameras to, - for standard output")
	program.IntFlag(cmd, &f.free, "free", "", -1, -1, 1<<20, "number of directions that neither the observations nor the fixed cameras and points determine; -1 means those of a change of coordinates")
	flags.BoolVar(&f.plot, "plot", false, "draw figures")
	flags.StringVar(&f.plotFolder, "plot-dir", "results", "`folder` to draw figures to, made if its parent exists")
	_ = cmd.MarkFlagDirname("plot-dir")
	program.Complete(cmd, "loss", strings.Split(names(losses), ", ")...)
	program.Complete(cmd, "method", strings.Split(names(methods), ", ")...)
}

// names returns the keys of m as a list for people.
func names[V any](m map[string]V) string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// options sets opts from the flags, for the problem p.
func (f *solveFlags) options(opts *ba.Options, p *ba.Problem) error {
	loss, ok := losses[f.loss]
	if !ok {
		return fmt.Errorf("--loss: expected one of %s, found %q", names(losses), f.loss)
	}
	if loss != nil {
		opts.Loss = loss(f.scale)
	}
	if opts.Method, ok = methods[f.method]; !ok {
		return fmt.Errorf("--method: expected one of %s, found %q", names(methods), f.method)
	}
	var err error
	if opts.FixedCameras, err = indices(f.cameras, p.NumCameras()); err != nil {
		return fmt.Errorf("--fix-cameras: %w", err)
	}
	if opts.FixedPoints, err = indices(f.points, p.NumPoints()); err != nil {
		return fmt.Errorf("--fix-points: %w", err)
	}
	if f.free >= 0 && f.covariance == "" {
		return errors.New("--free: only together with --covariance")
	}
	if opts.MaxFocal > 0 && opts.MinFocal > opts.MaxFocal {
		return fmt.Errorf("--min-focal: expected a number up to %v of --max-focal, found %v", opts.MaxFocal, opts.MinFocal)
	}
	for _, tol := range []*float64{&opts.CostTolerance, &opts.GradientTolerance, &opts.StepTolerance} {
		if *tol == 0 {
			*tol = -1 // none, where 0 is the default of package ba
		}
	}
	if f.shareIntrinsics {
		opts.Intrinsics = make([]int, p.NumCameras())
		shareIntrinsics(p)
	}
	return nil
}

// shareIntrinsics sets the focal length and distortion of each camera to the means over
// all cameras.
func shareIntrinsics(p *ba.Problem) {
	n := p.NumCameras()
	for j := 6; j < 9; j++ {
		mean := 0.
		for i := range n {
			mean += p.Cameras[9*i+j] / float64(n)
		}
		for i := range n {
			p.Cameras[9*i+j] = mean
		}
	}
}

// indices reads a list of numbers below n and of ranges with .. between.
func indices(list string, n int) ([]int, error) {
	var at []int
	if list == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(list, ",") {
		first, last, two := strings.Cut(strings.TrimSpace(part), "..")
		if !two {
			last = first
		}
		low, err1 := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || low < 0 || high < low || high >= n {
			return nil, fmt.Errorf("expected numbers and ranges within 0..%d, as 0,5..9, found %q", n-1, part)
		}
		for i := low; i <= high; i++ {
			at = append(at, i)
		}
	}
	return at, nil
}

// checkFiles returns an error if the solution of the problem in the file at path cannot be
// written to its files. It is better to know before the search than after.
func (f *solveFlags) checkFiles(path string) error {
	if strings.EqualFold(filepath.Ext(f.out), ".bz2") {
		return fmt.Errorf("--out: %s: bzip2 is read only, use .gz", f.out)
	}
	return program.CheckOutputs([]string{path}, program.Output{Flag: "out", Path: f.out}, program.Output{Flag: "ply", Path: f.ply}, program.Output{Flag: "covariance", Path: f.covariance})
}
