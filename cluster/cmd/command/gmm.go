package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"revnum/cluster"
	shared "revnum/program"
	"revnum/revmodels/gmm"
)

func (p *program) newGMM() *cobra.Command {
	return shared.Group("gmm", "Fit Gaussian mixtures", p.newGMMFit())
}

// gmmFlags are the flags of gmm fit.
type gmmFlags struct {
	shardFlags
	checkpointFlags
	opts gmm.Options
	k    int
	seed uint64
	out  string
}

func (p *program) newGMMFit() *cobra.Command {
	f := new(gmmFlags)
	cmd := &cobra.Command{
		Use:   "fit",
		Short: "Fit a Gaussian mixture to the points in files",
		Long: `fit finds the mixture of K components that describes the points best, and prints how
the fit went. It begins with the centroids of k-means|| and takes steps of expectation
maximisation. An interrupt ends it after the current iteration; it then writes the
mixture so far.`,
		Example: `  revcluster gmm fit --shards 'data/*.npy' -k 20 --out model.json
  mpirun -n 4 revcluster gmm fit --shards 'data/*.npy' -k 20 --checkpoint fit.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(p, cmd) },
	}
	f.shardFlags.register(cmd)
	f.checkpointFlags.register(cmd)
	flags := cmd.Flags()
	shared.IntFlag(cmd, &f.k, "components", "k", 1, 1, maxClusters, "number of components")
	flags.TextVar(&f.opts.Covariance, "covariance", gmm.Full, "kind of covariances: full, tied, diagonal or spherical")
	shared.Complete(cmd, "covariance", "full", "tied", "diagonal", "spherical")
	shared.IntFlag(cmd, &f.opts.Starts, "starts", "", 1, 1, 1<<16, "number of clusterings to start from; the best fit is kept")
	shared.IntFlag(cmd, &f.opts.MaxIter, "max-iter", "", 500, 1, shared.MaxIterations, "largest number of iterations")
	shared.FloatFlag(cmd, &f.opts.Tolerance, "tolerance", 1e-3, 1e-300, shared.MaxFloat, "change by further iterations, for each point, at which the fit ends")
	flags.BoolVar(&f.opts.Polish, "polish", false, "continue the fit to its maximum by L-BFGS")
	shared.FloatFlag(cmd, &f.opts.RegCovar, "reg-covar", 0, -1, shared.MaxFloat, "what each iteration adds to the diagonals of the covariances; 0 means 1e-9 of the least variance of a column, negative means nothing")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first centroids")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to write the mixture to, as JSON, - for standard output")
	return cmd
}

func (f *gmmFlags) run(p *program, cmd *cobra.Command) error {
	if err := f.checkOutputs(p, &f.checkpointFlags, f.out); err != nil {
		return err
	}
	stdout := shared.Messages(cmd, f.out)
	points, err := f.open(p)
	if err != nil {
		return err
	}
	defer points.Close()
	_, d := points.Dims()
	if err := p.checkMemory("components", f.k, 1+float64(d)+float64(d)*float64(d), fmt.Sprintf("components in %d dimensions", d)); err != nil {
		return err
	}
	fit := append([]Fact{
		{"version", version()}, {"model", "gmm"}, {"components", fmt.Sprint(f.k)}, {"covariance", fmt.Sprint(f.opts.Covariance)},
		{"reg-covar", fmt.Sprint(f.opts.RegCovar)}, {"starts", fmt.Sprint(f.opts.Starts)}, {"seed", fmt.Sprint(f.seed)},
	}, f.facts(points)...)
	c := &gmm.Checkpoint{}
	if c.Resume, err = readCheckpoint[gmm.State](p.r, &f.checkpointFlags, fit); err != nil {
		return err
	}
	write := writeCheckpoint[*gmm.State](&f.checkpointFlags, fit)
	c.Save = func(s *gmm.State) error { return write(len(s.History), s) }
	p.header(stdout, points)
	show := progress(cmd.ErrOrStderr())
	f.opts.Progress = func(i gmm.Iteration) {
		show("start %d, iteration %d, log posterior %.9g", i.Start, i.Iteration, i.LogPosterior)
	}
	f.opts.Workers = f.worker

	m, report, err := cluster.FitGMM(p.ctx, points, f.k, f.seed, &f.opts, c)
	show("")
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && (!interrupted || m == nil) || p.r.Rank() != 0 {
		return err
	}
	fmt.Fprint(stdout, report)
	if f.out != "" {
		if err := shared.WriteJSON(cmd, f.out, m); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "model written to %s\n", f.out)
	}
	return err
}
