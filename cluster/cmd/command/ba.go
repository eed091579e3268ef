package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"revnum/cluster"
	"revnum/revmodels/ba"
)

func (p *program) newBA() *cobra.Command {
	cmd := &cobra.Command{Use: "ba", Short: "Bundle adjustment"}
	cmd.AddCommand(p.newBASolve())
	return cmd
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
			if opts.MaxIter < 1 {
				return fmt.Errorf("--max-iter: expected at least 1, found %d", opts.MaxIter)
			}
			if !(huber >= 0) {
				return fmt.Errorf("--huber: expected 0 or more, found %v", huber)
			}
			problem, err := ba.ReadFile(args[0])
			if err := cluster.Agree(p.r, err); err != nil {
				return err
			}
			if huber > 0 {
				opts.Loss = ba.Huber(huber)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d cameras, %d points, %d observations, ranks: %d\n", problem.NumCameras(), problem.NumPoints(), problem.NumObservations(), p.r.Size())
			fit := []fact{
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
			fmt.Fprintf(cmd.OutOrStdout(), "cost from %.9g to %.9g in %d iterations: %v\n", report.Initial, report.Final, report.Iterations[len(report.Iterations)-1].Number, report.Status)
			if out != "" {
				if err := ba.WriteFile(out, problem); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "written to %s\n", out)
			}
			return err
		},
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.Float64Var(&huber, "huber", 0, "scale in pixels of Huber's loss; 0 means squares")
	flags.IntVar(&opts.MaxIter, "max-iter", 100, "largest number of iterations")
	flags.Float64Var(&opts.CostTolerance, "cost-tolerance", 1e-6, "stop at this relative change of the cost")
	flags.Float64Var(&opts.Forcing, "forcing", 0.1, "accuracy of conjugate gradients, less than 1")
	flags.BoolVar(&opts.FixedIntrinsics, "fix-intrinsics", false, "hold focal lengths and distortion")
	flags.IntVar(&block, "block", cluster.DefaultObservations, "observations of a block; the bits of the result depend on it")
	flags.IntVar(&workers, "workers", 0, "goroutines of each rank; 0 means one for each processor")
	flags.StringVarP(&out, "out", "o", "", "`file` to write the solution to, compressed if it ends in .gz")
	return cmd
}
