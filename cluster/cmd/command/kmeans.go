package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	shared "revnum/program"
)

func (p *program) newKMeans() *cobra.Command {
	return shared.Group("kmeans", "Find clusters", p.newKMeansFit())
}

// kmeansFlags are the flags of kmeans fit.
type kmeansFlags struct {
	shardFlags
	checkpointFlags
	opts cluster.KMeansOptions
	k    int
	out  string
}

// kmeansState is the state in a checkpoint.
type kmeansState struct {
	Iterations int       `json:"iterations"`
	Centroids  []float64 `json:"centroids"`
}

func (p *program) newKMeansFit() *cobra.Command {
	f := new(kmeansFlags)
	cmd := &cobra.Command{
		Use:   "fit",
		Short: "Find the clusters of the points in files",
		Long: `fit finds K centroids such that the sum of the squared distances from each point to its
nearest centroid is small. It begins with k-means|| and takes steps of Lloyd's algorithm. An
interrupt ends it after the current iteration; it then writes the centroids so far.`,
		Example: `  revcluster kmeans fit --shards 'data/*.npy' -k 20 --out clusters.json`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(p, cmd) },
	}
	f.shardFlags.register(cmd)
	f.checkpointFlags.register(cmd)
	flags := cmd.Flags()
	shared.IntFlag(cmd, &f.k, "clusters", "k", 8, 1, maxClusters, "number of clusters")
	shared.IntFlag(cmd, &f.opts.MaxIter, "max-iter", "", 300, 1, shared.MaxIterations, "largest number of iterations")
	shared.FloatFlag(cmd, &f.opts.Tolerance, "tolerance", 1e-4, 1e-300, shared.MaxFloat, "squared moves of the centroids, as a fraction of the variance, at which the fit ends")
	flags.Uint64Var(&f.opts.Seed, "seed", 1, "seed of the first centroids")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to write the centroids to, as JSON, - for standard output")
	return cmd
}

func (f *kmeansFlags) run(p *program, cmd *cobra.Command) error {
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
	if err := p.checkMemory("clusters", f.k, 1+float64(d), fmt.Sprintf("clusters in %d dimensions", d)); err != nil {
		return err
	}
	fit := append([]Fact{{"version", version()}, {"model", "kmeans"}, {"clusters", fmt.Sprint(f.k)}, {"seed", fmt.Sprint(f.opts.Seed)}}, f.facts(points)...)
	state, err := readCheckpoint[kmeansState](p.r, &f.checkpointFlags, fit)
	if err != nil {
		return err
	}
	if state != nil {
		if len(state.Centroids) != f.k*d {
			return fmt.Errorf("%s: expected %d numbers of centroids, found %d", f.path, f.k*d, len(state.Centroids))
		}
		f.opts.Init, f.opts.Iterations = mat.NewDense(f.k, d, state.Centroids), state.Iterations
	}
	p.header(stdout, points)
	show, write := progress(cmd.ErrOrStderr()), writeCheckpoint[kmeansState](&f.checkpointFlags, fit)
	f.opts.Progress = func(iteration int, cost float64, c *mat.Dense) error {
		show("iteration %d, cost %.9g", iteration, cost)
		return write(iteration, kmeansState{iteration, c.RawMatrix().Data})
	}

	c, report, err := cluster.FitKMeans(p.ctx, points, f.k, &f.opts)
	show("")
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && (!interrupted || c == nil) || p.r.Rank() != 0 {
		return err
	}
	fmt.Fprintf(stdout, "iterations %d, cost %.9g", report.Iterations, report.Cost)
	if !report.Converged {
		fmt.Fprint(stdout, ", not converged")
	}
	fmt.Fprintf(stdout, "\npoints of the clusters: %.0f\n", report.Counts)
	if f.out != "" {
		if err := shared.WriteJSON(cmd, f.out, c); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "clusters written to %s\n", f.out)
	}
	return err
}
