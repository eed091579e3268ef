package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"revnum/program"
	"revnum/program/bundle"
	"revnum/revmodels/ba"
)

// BASolve returns the command solve of bundle adjustment. The invocation is how to call the
// program, in examples. The device computes what concerns points, unless open is nil.
func BASolve(invocation string, open Open) *cobra.Command {
	f := new(solveFlags)
	opts := new(ba.Options)
	cmd := &cobra.Command{
		Use:   "solve FILE",
		Short: "Find the cameras and points that agree best with the observations",
		Long: `solve moves cameras and points until the points project to where the pictures
have them. It minimises the sum of the squared reprojection errors, or of a
robust loss of them, by the method of Levenberg and Marquardt. It prints a
report, and progress on a terminal. On request it writes the solution and figures.

An interrupt ends the search. The best point so far is then reported and written.
A second interrupt ends the process at once.

  --out FILE     the solution as a BAL file, compressed if the name ends in .gz
  --ply FILE     the same for viewers: points, and pyramids for cameras
  --plot         convergence, a histogram of reprojection errors, and the cameras and
                 points before and after, as figures in the folder --plot-dir
  --covariance FILE
                 the covariance of the nine parameters of all cameras as a CSV file, for
                 features with errors of 1 pixel; not written after an interrupt. The
                 first line has the names of the columns, camera0.r1 to camera0.k2 and
                 so on. The time grows with the cube of the number of cameras: use it
                 for a few hundred at most

A list of cameras or points has numbers from 0 and ranges, such as 0,5..9.

` + bundleHelp,
		Example: `  ` + invocation + ` ba solve problem.txt.bz2 --loss huber --out solved.txt.gz --plot
  ` + invocation + ` ba solve bundle.out --fix-cameras 0 --fix-intrinsics --ply solved.ply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], opts, open) },
	}
	f.register(cmd, opts)
	return cmd
}

// run solves the problem in the file at path.
func (f *solveFlags) run(cmd *cobra.Command, path string, opts *ba.Options, open Open) (err error) {
	var dev Device
	if open != nil {
		if dev, err = open(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, dev.Close()) }()
	}
	ctx, end := program.Interruptible(cmd.Context())
	defer end()
	if err := f.checkFiles(path); err != nil {
		return err
	}
	stdout := program.Messages(cmd, f.out, f.ply, f.covariance)
	p, err := ba.ReadFile(path)
	if err != nil {
		return err
	}
	if err := f.options(opts, p); err != nil {
		return err
	}
	plots := f.plot || cmd.Flags().Changed("plot-dir")
	if plots {
		if err := program.MakeFolder(f.plotFolder); err != nil {
			return fmt.Errorf("--plot-dir: %w", err)
		}
	}
	if dev != nil {
		if opts.Points, err = dev.Bundle(p, opts); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	before := p.Clone()
	opts.Progress = progress(cmd.ErrOrStderr())
	report, err := ba.Solve(ctx, p, opts)
	end() // an interrupt from here on ends the process
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", path, err)
	}
	interrupted := err

	if err := writeSolution(stdout, path, before, p, report); err != nil {
		return err
	}
	written := func(err error, to string) error {
		if err == nil {
			_, err = fmt.Fprintf(stdout, "written to %s\n", to)
		}
		return err
	}
	if f.out != "" {
		if err := written(program.WriteBAL(cmd, f.out, p), f.out); err != nil {
			return err
		}
	}
	if f.ply != "" {
		err := program.WriteOutput(cmd, f.ply, func(w io.Writer) error { return bundle.WritePLY(w, p) })
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
		return program.ErrInterrupted
	}
	if f.covariance != "" {
		return written(f.writeCovariance(cmd, p, opts), f.covariance)
	}
	return nil
}
