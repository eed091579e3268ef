package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"revnum/cluster"
	shared "revnum/program"
	"revnum/revmodels/ba"
)

func (p *program) newBA() *cobra.Command {
	return shared.Group("ba", "Bundle adjustment", p.newBASolve())
}

func (p *program) newBASolve() *cobra.Command {
	opts := new(ba.Options)
	var huber float64
	var out string
	var block, workers int
	var f checkpointFlags
	cmd := &cobra.Command{
		Use:   "solve FILE",
		Short: "Find the cameras and points that agree best with the observations",
		Long: `solve improves the cameras and points in FILE. The file is in the form of Bundle
Adjustment in the Large or of Bundler, and may be compressed. Each rank reads it and keeps
its share of the points. An interrupt ends the search; the best solution so far is written.`,
		Example: `  revcluster ba solve problem.txt.bz2 --out solved.txt.gz
  mpirun -n 4 revcluster ba solve problem.txt.bz2 --out solved.txt.gz --checkpoint solve.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.checkOutputs(args, shared.Output{Flag: "out", Path: out}, f.output()); err != nil {
				return err
			}
			stdout := shared.Messages(cmd, out)
			problem, err := ba.ReadFile(args[0])
			if err := cluster.Agree(p.r, err); err != nil {
				return err
			}
			if huber > 0 {
				opts.Loss = ba.Huber(huber)
			}
			fmt.Fprintf(stdout, "%d cameras, %d points, %d observations, ranks: %d\n", problem.NumCameras(), problem.NumPoints(), problem.NumObservations(), p.r.Size())
			fit := []Fact{
				{"version", version()}, {"model", "ba"}, {"problem", fmt.Sprintf("%016x", cluster.HashBA(problem))}, {"block", fmt.Sprint(block)}, {"huber", fmt.Sprint(huber)},
				{"forcing", fmt.Sprint(opts.Forcing)}, {"cost-tolerance", fmt.Sprint(opts.CostTolerance)}, {"fix-intrinsics", fmt.Sprint(opts.FixedIntrinsics)},
			}
			c := &cluster.BACheckpoint{Every: f.every}
			if c.Resume, err = readCheckpoint[cluster.BAState](p.r, &f, fit); err != nil {
				return err
			}
			if f.path != "" {
				write := writeCheckpoint[*cluster.BAState](&f, fit)
				c.Save = func(s *cluster.BAState) error { return write(s.Iteration, s) }
			}
			show := progress(cmd.ErrOrStderr())
			opts.Progress = func(i ba.Iteration) { show("iteration %d, cost %.9g", i.Number, i.Cost) }
			report, err := cluster.SolveBA(p.ctx, p.r, problem, block, workers, opts, c)
			show("")
			if p.r.Rank() != 0 || err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
			fmt.Fprintf(stdout, "cost from %.9g to %.9g in %d iterations: %v\n", report.Initial, report.Final, report.Iterations[len(report.Iterations)-1].Number, report.Status)
			if out != "" {
				if err := shared.WriteBAL(cmd, out, problem); err != nil {
					return err
				}
				fmt.Fprintf(stdout, "written to %s\n", out)
			}
			return err
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	shared.FloatFlag(cmd, &huber, "huber", 0, 0, shared.MaxFloat, "scale in pixels of Huber's loss; 0 means squares")
	shared.IntFlag(cmd, &opts.MaxIter, "max-iter", "", 100, 1, shared.MaxIterations, "largest number of iterations")
	shared.FloatFlag(cmd, &opts.CostTolerance, "cost-tolerance", 1e-6, -1, 1, "stop at this relative change of the cost, or never if it is negative")
	shared.FloatFlag(cmd, &opts.Forcing, "forcing", 0.1, 1e-15, 1-1e-15, "accuracy of conjugate gradients")
	flags.BoolVar(&opts.FixedIntrinsics, "fix-intrinsics", false, "hold focal lengths and distortion")
	blockFlag(cmd, &block, cluster.DefaultObservations, "observations of a block; the bits of the result depend on it")
	workersFlag(cmd, &workers, 0)
	flags.StringVarP(&out, "out", "o", "", "`file` to write the solution to, compressed if it ends in .gz, - for standard output")
	return cmd
}
