package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"revnum/benchmarks/internal/bundle"
	"revnum/internal/outfile"
	"revnum/revmodels/ba"
)

func newBA() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ba",
		Short: "Adjust bundles: improve cameras and points by what the cameras see",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBASolve(), newBAInfo())
	return cmd
}

const bundleHelp = `FILE is a problem of Bundle Adjustment in the Large (BAL) or a .out of Bundler,
plain or compressed by gzip or bzip2.`

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

func newBASolve() *cobra.Command {
	f := new(solveFlags)
	opts := new(ba.Options)
	cmd := &cobra.Command{
		Use:   "solve FILE",
		Short: "Find the cameras and points that agree best with the observations",
		Long: `solve moves cameras and points until the points fall where the pictures have
them: it minimises the sum of the squared reprojection errors, or of a robust
loss of them, by the method of Levenberg and Marquardt. It prints a report, with
progress on a terminal, and writes the solution and figures where asked to.

An interrupt stops it at the best point so far, which is reported and written;
a second one ends the process at once.

  --out FILE     the solution as a BAL file, compressed where the name ends in .gz
  --ply FILE     the same for viewers: points, and pyramids for cameras
  --plot         convergence, a histogram of reprojection errors, and the cameras and
                 points before and after, as figures in the folder --plot-dir
  --covariance FILE
                 the covariance of the nine parameters of all cameras as a CSV file, for
                 features with errors of 1 pixel; not after an interrupt. The first line
                 has the names of the columns, camera0.r1 to camera0.k2 and so on. Its
                 time grows with the cube of the cameras: it is for some hundred at most

Lists of cameras and points are of numbers from 0 and ranges, as 0,5..9.

` + bundleHelp,
		Example: `  go run ./benchmarks ba solve problem.txt.bz2 --loss huber --out solved.txt.gz --plot
  go run ./benchmarks ba solve bundle.out --fix-cameras 0 --fix-intrinsics --ply solved.ply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runBASolve(cmd, args[0], f, opts) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.loss, "loss", "none", "robust loss: "+names(losses))
	flags.Float64Var(&f.scale, "scale", 1, "scale of the loss, in pixels")
	flags.StringVar(&f.method, "method", "auto", "how linear systems are solved: "+names(methods))
	flags.StringVar(&f.cameras, "fix-cameras", "", "`list` of cameras that stay as they are")
	flags.StringVar(&f.points, "fix-points", "", "`list` of points that stay as they are")
	flags.BoolVar(&opts.FixedIntrinsics, "fix-intrinsics", false, "leave the focal lengths and distortions as they are")
	flags.BoolVar(&f.shareIntrinsics, "share-intrinsics", false, "one focal length and distortion for all cameras, at first the means of theirs")
	flags.Float64Var(&opts.MinFocal, "min-focal", 0, "least focal length, in pixels; 0 is no bound")
	flags.Float64Var(&opts.MaxFocal, "max-focal", 0, "greatest focal length, in pixels; 0 is no bound")
	flags.IntVar(&opts.Iterations, "iterations", 100, "most iterations")
	flags.DurationVar(&opts.Time, "time", 0, "most time; 0 is no limit")
	flags.Float64Var(&opts.CostTolerance, "cost-tol", 1e-6, "relative change of the cost at which to end")
	flags.Float64Var(&opts.GradientTolerance, "gradient-tol", 1e-10, "largest element of the gradient at which to end")
	flags.Float64Var(&opts.StepTolerance, "step-tol", 1e-8, "relative length of a step at which to end")
	flags.Float64Var(&opts.Radius, "radius", 1e4, "radius of the trust region at first")
	flags.Float64Var(&opts.Forcing, "forcing", 0.1, "accuracy of conjugate gradients, less than 1")
	flags.IntVar(&opts.LinearIterations, "linear-iterations", 500, "most iterations of conjugate gradients a step")
	flags.IntVar(&opts.Workers, "workers", 0, "goroutines to use; 0 is one a processor")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to write the solution to")
	flags.StringVar(&f.ply, "ply", "", "`file` to write points and cameras to, for viewers")
	flags.StringVar(&f.covariance, "covariance", "", "`file` to write the covariance of the cameras to")
	flags.IntVar(&f.free, "free", -1, "directions that neither observations nor what is fixed determine; -1 is those of a change of coordinates")
	flags.BoolVar(&f.plot, "plot", false, "draw figures")
	flags.StringVar(&f.plotFolder, "plot-dir", "results", "`folder` to draw figures to, made if its parent is there")
	_ = cmd.MarkFlagDirname("plot-dir")
	return cmd
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

// options completes opts by the flags for the problem p.
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
	for _, v := range []struct {
		name  string
		value int
	}{{"iterations", opts.Iterations}, {"linear-iterations", opts.LinearIterations}} {
		if v.value < 1 {
			return fmt.Errorf("--%s: expected at least 1, found %d", v.name, v.value)
		}
	}
	if f.free < -1 {
		return fmt.Errorf("--free: expected -1 or more, found %d", f.free)
	}
	if f.free >= 0 && f.covariance == "" {
		return errors.New("--free: only together with --covariance")
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"radius", opts.Radius}, {"forcing", opts.Forcing}} {
		if !(v.value > 0) {
			return fmt.Errorf("--%s: expected more than 0, found %v", v.name, v.value)
		}
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

// shareIntrinsics sets the focal length and distortion of each camera to the
// means of all.
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

func runBASolve(cmd *cobra.Command, path string, f *solveFlags, opts *ba.Options) error {
	p, err := ba.ReadFile(path)
	if err != nil {
		return err
	}
	if err := f.options(opts, p); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stopping.Store(&cancel)
	defer stopping.Store(nil)
	if err := f.checkFiles(); err != nil {
		return err
	}
	plots := f.plot || cmd.Flags().Changed("plot-dir")
	if plots {
		if err := makeFolder(f.plotFolder); err != nil {
			return err
		}
	}
	before := p.Clone()
	opts.Progress = progress(cmd.ErrOrStderr())
	report, err := ba.Solve(ctx, p, opts)
	stopping.Store(nil) // an interrupt from here on ends the process
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", path, err)
	}
	interrupted := err

	if err := writeSolution(cmd.OutOrStdout(), path, before, p, report); err != nil {
		return err
	}
	written := func(err error, to string) error {
		if err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "written to %s\n", to)
		}
		return err
	}
	if f.out != "" {
		if err := written(ba.WriteFile(f.out, p), f.out); err != nil {
			return err
		}
	}
	if f.ply != "" {
		err := outfile.Write(f.ply, func(w io.Writer) error { return ba.WritePLY(w, p) })
		if err := written(err, f.ply); err != nil {
			return err
		}
	}
	if plots {
		run := bundle.Run{Name: filepath.Base(path), Before: before, After: p, Report: report}
		if err := written(run.SaveFigures(f.plotFolder), f.plotFolder); err != nil {
			return err
		}
	}
	if interrupted != nil {
		return errInterrupted
	}
	if f.covariance != "" {
		return written(f.writeCovariance(p, opts), f.covariance)
	}
	return nil
}

// parameters are the names of the nine parameters of a camera.
var parameters = [...]string{"r1", "r2", "r3", "t1", "t2", "t3", "f", "k1", "k2"}

// writeCovariance writes the covariance of the parameters of cameras, a row a
// line, under a line with the names of the columns.
func (f *solveFlags) writeCovariance(p *ba.Problem, opts *ba.Options) error {
	free := f.free
	if free == -1 {
		free = gauge(len(opts.FixedCameras), len(opts.FixedPoints))
	}
	c, err := ba.CameraCovariance(p, opts, free)
	if err != nil {
		return fmt.Errorf("--covariance: with %s: %w", count(free, "free direction"), err)
	}
	n := c.SymmetricDim()
	return outfile.Write(f.covariance, func(w io.Writer) error {
		table, row := csv.NewWriter(w), make([]string, n)
		for j := range row {
			row[j] = fmt.Sprintf("camera%d.%s", j/len(parameters), parameters[j%len(parameters)])
		}
		if err := table.Write(row); err != nil {
			return err
		}
		for i := range n {
			for j := range row {
				row[j] = strconv.FormatFloat(c.At(i, j), 'g', -1, 64)
			}
			if err := table.Write(row); err != nil {
				return err
			}
		}
		table.Flush()
		return table.Error()
	})
}

// gauge returns the dimension of the changes of coordinates (shifts, rotations and
// a scale) that leave so many cameras and points in place.
func gauge(cameras, points int) int {
	switch {
	case cameras == 0 && points < 3:
		return 7 - 3*points
	case cameras == 1 && points == 0:
		return 1
	}
	return 0
}

// checkFiles returns an error if the solution could not be written where it is
// to go, which is better known before the search for it than after.
func (f *solveFlags) checkFiles() error {
	if strings.EqualFold(filepath.Ext(f.out), ".bz2") {
		return fmt.Errorf("--out: %s: bzip2 is read only, use .gz", f.out)
	}
	if f.out != "" && f.out == f.ply {
		return fmt.Errorf("--ply: expected another file than that of --out, found %s", f.ply)
	}
	if f.covariance != "" && (f.covariance == f.out || f.covariance == f.ply) {
		return fmt.Errorf("--covariance: expected another file than those of --out and --ply, found %s", f.covariance)
	}
	for _, path := range []string{f.out, f.ply, f.covariance} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			continue // who reads from a pipe would see its end
		}
		stop := errors.New("not now")
		if err := outfile.Write(path, func(io.Writer) error { return stop }); !errors.Is(err, stop) {
			return err
		}
	}
	return nil
}

// progress returns what writes a line for each iteration to w, nil unless w is a
// terminal.
func progress(w io.Writer) func(ba.Iteration) {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func(it ba.Iteration) { fmt.Fprint(w, progressLine(it)) }
}

// progressLine returns the line of an iteration, under those of the columns for
// the start.
func progressLine(it ba.Iteration) string {
	const row = "%9s %14s %11s %11s %11s %7s %7s %9s\n"
	line := fmt.Sprintf(row, strconv.Itoa(it.Number), fmt.Sprintf("%.8g", it.Cost), fmt.Sprintf("%.3g", it.Gradient),
		fmt.Sprintf("%.3g", it.Step), fmt.Sprintf("%.3g", it.Radius), fmt.Sprintf("%.3f", it.Gain), strconv.Itoa(it.Linear),
		it.Elapsed.Round(time.Millisecond).String())
	switch {
	case it.Number == 0:
		return fmt.Sprintf(row, "iteration", "cost", "gradient", "step", "radius", "gain", "linear", "elapsed") + line
	case !it.Taken:
		return strings.TrimSuffix(line, "\n") + "  refused\n"
	}
	return line
}

// writeSolution writes what a solution found.
func writeSolution(w io.Writer, path string, before, after *ba.Problem, r *ba.Report) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s\n\n", path, size(after))
	rows := [][]string{{"", "cost", "rms px", "median", "90 %", "largest"}}
	for _, s := range []struct {
		name string
		cost float64
		p    *ba.Problem
	}{{"start", r.Initial, before}, {"end", r.Final, after}} {
		rows = append(rows, append([]string{s.name, fmt.Sprintf("%.9g", s.cost)}, errorCells(s.p)...))
	}
	writeColumns(b, rows)
	steps := len(r.Iterations) - 1
	fmt.Fprintf(b, "\n%v after %s in %.3g s, by %v for %s of cameras",
		r.Status, count(max(0, steps), "step"), r.Duration.Seconds(), r.Method, count(r.Unknowns, "unknown"))
	if r.FactorElements > 0 {
		fmt.Fprintf(b, " (%s in the factor)", count(r.FactorElements, "element"))
	}
	fmt.Fprintln(b)
	if r.Behind > 0 {
		fmt.Fprintf(b, "%s of points that are not in front of the camera\n", count(r.Behind, "observation"))
	}
	return b.Flush()
}

// errorCells returns the cells for the reprojection errors of p.
func errorCells(p *ba.Problem) []string {
	e := bundle.ErrorsOf(p)
	cells := []string{fmt.Sprintf("%.4g", e.RMS())}
	for _, q := range []float64{0.5, 0.9, 1} {
		cells = append(cells, fmt.Sprintf("%.4g", e.Quantile(q)))
	}
	return cells
}

// size says how large p is.
func size(p *ba.Problem) string {
	return count(p.NumCameras(), "camera") + ", " + count(p.NumPoints(), "point") + ", " + count(p.NumObservations(), "observation")
}

// count returns n and the noun, in the plural unless n is 1.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

func newBAInfo() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Say what is in a bundle adjustment problem",
		Long: `info prints how large a problem is, how often points are seen, and how large its
reprojection errors are.

` + bundleHelp,
		Example: `  go run ./benchmarks ba info problem.txt.bz2`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := ba.ReadFile(args[0])
			if err != nil {
				return err
			}
			return writeInfo(cmd.OutOrStdout(), args[0], p)
		},
	}
}

func writeInfo(w io.Writer, path string, p *ba.Problem) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s\n\n", path, size(p))
	rows := [][]string{{"", "least", "median", "mean", "most"}}
	for _, s := range []struct {
		name  string
		value []float64
	}{
		{"observations of a point", occurrences(p.Point, p.NumPoints())},
		{"observations by a camera", occurrences(p.Camera, p.NumCameras())},
		{"focal length", column(p.Cameras, 9, 6)},
		{"k1", column(p.Cameras, 9, 7)},
		{"k2", column(p.Cameras, 9, 8)},
	} {
		if len(s.value) == 0 {
			continue
		}
		slices.Sort(s.value)
		mean := 0.
		for _, v := range s.value {
			mean += v / float64(len(s.value))
		}
		row := []string{s.name}
		for _, v := range []float64{s.value[0], s.value[len(s.value)/2], mean, s.value[len(s.value)-1]} {
			row = append(row, fmt.Sprintf("%.6g", v))
		}
		rows = append(rows, row)
	}
	writeColumns(b, rows)
	e := bundle.ErrorsOf(p)
	cost := e.RMS() * e.RMS() * float64(len(e)) / 2
	fmt.Fprintln(b)
	writeColumns(b, [][]string{
		{"reprojection errors", "cost", "rms px", "median", "90 %", "largest"},
		append([]string{"", strconv.FormatFloat(cost, 'g', 9, 64)}, errorCells(p)...),
	})
	return b.Flush()
}

// occurrences returns how often each index below n is in x.
func occurrences(x []int, n int) []float64 {
	times := make([]float64, n)
	for _, i := range x {
		times[i]++
	}
	return times
}

// column returns column j of a matrix with that many columns.
func column(data []float64, cols, j int) []float64 {
	var x []float64
	for i := j; i < len(data); i += cols {
		x = append(x, data[i])
	}
	return x
}
