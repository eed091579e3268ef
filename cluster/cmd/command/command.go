// Package command is the revcluster command, on the ranks of any Reducer. All ranks run
// it with the same arguments. Rank 0 prints, writes files, and handles interrupts.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"revnum/cluster"
	"revnum/cluster/shard"
	"revnum/internal/memory"
	"revnum/internal/outfile"
	shared "revnum/program"
	"revnum/program/dataset"
)

// A program is the surroundings that all commands share.
type program struct {
	r       cluster.Reducer
	formats shard.Formats
	ctx     context.Context
}

// Main runs the command and returns its exit status: 0, 1 for an error or a bug, 130 after an
// interrupt. Formats says which files it can read.
//
// The first interrupt ends a fit after the current iteration. Rank 0 then writes the
// result so far. The second interrupt ends the process at once. Ranks other than 0
// ignore interrupts.
//
// It is an error if ranks differ in their arguments, and if a launcher such as mpirun started
// several processes and r has one rank.
func Main(r cluster.Reducer, formats shard.Formats, args []string) int {
	if err := CheckLaunch(r.Size(), os.Getenv); err != nil {
		fmt.Fprintf(os.Stderr, "revcluster: %v\n", err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range interrupts {
			if r.Rank() != 0 {
				continue
			}
			if ctx.Err() == nil {
				cancel()
				continue
			}
			outfile.Abort()
			os.Exit(130)
		}
	}()
	return Run(ctx, r, formats, args, os.Stdout, os.Stderr)
}

// Run is Main with the surroundings as parameters.
func Run(ctx context.Context, r cluster.Reducer, formats shard.Formats, args []string, stdout, stderr io.Writer) (status int) {
	defer shared.Recover("revcluster", stderr, func() {
		status = 1
		if world, ok := r.(interface{ Abort(status int) }); ok {
			world.Abort(status) // the other ranks may wait for this one
		}
	})
	p := &program{r, formats, ctx}
	root := &cobra.Command{
		Use:   "revcluster",
		Short: "Fit models to points in many files, on many machines",
		Long: `revcluster fits models to points in many files. Run it alone, or on the ranks of MPI:

  mpirun -n 4 revcluster gmm fit --shards 'data/*.npy' -k 20

All ranks see the same files, and each works on its share of them. The result is the same
to the bit on any number of ranks.`,
	}
	shared.Quiet(root)
	root.AddCommand(p.newGMM(), p.newKMeans(), p.newBA(), p.newSplit(), p.newMeasure())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if r.Rank() != 0 {
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
	}
	err := checkSame(r, args)
	if err == nil {
		err = root.Execute()
	}
	switch {
	case errors.Is(err, context.Canceled):
		if r.Rank() == 0 {
			fmt.Fprintln(stderr, "interrupted")
		}
		return 130
	case err != nil:
		// Ranks other than 0 report only that they have lost the others.
		if r.Rank() == 0 || errors.Is(err, cluster.ErrLost) {
			fmt.Fprintf(stderr, "revcluster: %v\n", err)
		}
		return 1
	}
	return 0
}

// shardFlags are the flags that name the points.
type shardFlags struct {
	shards        []string
	columns       string
	block, worker int
}

func (f *shardFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.shards, "shards", nil, "`files` of points, or patterns such as 'data/*.npy'")
	blockFlag(cmd, &f.block, shard.DefaultBlock, "rows of a block; the bits of the result depend on it")
	flags.StringVar(&f.columns, "columns", "", "`number` of columns of files of plain numbers (.f64, .bin, .raw), or names of columns of Parquet, such as x,y")
	workersFlag(cmd, &f.worker, 0)
	_ = cmd.MarkFlagRequired("shards")
}

// open opens the points.
func (f *shardFlags) open(p *program) (*cluster.Points, error) {
	columns, err := shard.ParseColumns(f.columns)
	if err != nil {
		return nil, fmt.Errorf("--columns: %w", err)
	}
	return cluster.NewPoints(p.r, f.worker, func() (*shard.Set, error) {
		paths, err := shard.Glob(f.shards...)
		if err != nil {
			return nil, err
		}
		return p.formats.OpenSet(f.block, columns, paths...)
	})
}

// facts returns what a fit depends on: the points and their blocks.
func (f *shardFlags) facts(points *cluster.Points) []Fact {
	shards := points.Shards()
	facts := []Fact{{"block", fmt.Sprint(f.block)}, {"number of shards", fmt.Sprint(len(shards))}}
	for i, s := range shards {
		facts = append(facts, Fact{fmt.Sprintf("shard %d", i+1), s})
	}
	return facts
}

// maxClusters is the largest number of clusters and components.
const maxClusters = 1 << 20

func blockFlag(cmd *cobra.Command, to *int, value int, usage string) {
	shared.IntFlag(cmd, to, "block", "", value, 1, 1<<20, usage)
}

func workersFlag(cmd *cobra.Command, to *int, value int) {
	shared.IntFlag(cmd, to, "workers", "", value, 0, shared.MaxWorkers, "goroutines of each rank; 0 means one for each processor")
}

// checkOutputs returns the error of shared.CheckOutputs on rank 0, on all ranks.
func (p *program) checkOutputs(inputs []string, outputs ...shared.Output) error {
	var err error
	if p.r.Rank() == 0 {
		err = shared.CheckOutputs(inputs, outputs...)
	}
	return cluster.Agree(p.r, err)
}

// checkOutputs returns an error if an output is one of the shards, or cannot be written.
func (f *shardFlags) checkOutputs(p *program, c *checkpointFlags, out string) error {
	if len(f.shards) == 0 {
		return errors.New("--shards: expected files, found none")
	}
	inputs, err := shard.Glob(f.shards...)
	if err := cluster.Agree(p.r, err); err != nil {
		return err
	}
	return p.checkOutputs(inputs, shared.Output{Flag: "out", Path: out}, c.output())
}

// checkMemory returns an error if there is no memory for the sums of a fit, n of them for each of
// k clusters. A sum has 68 integers, of which those of like size touch about 5.
func (p *program) checkMemory(flag string, k int, n float64, what string) error {
	return cluster.Agree(p.r, memory.Check(16*float64(k)*n, fmt.Sprintf("--%s: the sums of %d %s", flag, k, what)))
}

// header returns a line that describes the task.
func (p *program) header(w io.Writer, points *cluster.Points) {
	n, d := points.Dims()
	fmt.Fprintf(w, "%d points, %d columns, %d blocks, ranks: %d\n\n", n, d, points.Blocks(), p.r.Size())
}

// progress returns a function that shows a line on a terminal, in place of the previous
// one. An empty line clears it. Without a terminal it shows nothing.
func progress(w io.Writer) func(format string, args ...any) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string, ...any) {}
	}
	return func(format string, args ...any) { fmt.Fprintf(w, "\r\x1b[K"+format, args...) }
}

func (p *program) newSplit() *cobra.Command {
	rows, force := 1<<20, false
	cmd := &cobra.Command{
		Use:   "split FILE FOLDER",
		Short: "Split a CSV file into shards",
		Long: `split writes the rows of a CSV file to the files part-00000.npy and so on in FOLDER,
which it makes if its parent exists. The file may be larger than the memory. It may be
compressed by gzip or bzip2, and begin with a line of names. FOLDER gets the files when
all are complete. If it has files of these names, that is an error, unless --force
replaces them all.`,
		Example: `  revcluster split points.csv.gz data --rows 1000000`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var paths []string
			var err error
			if p.r.Rank() == 0 {
				paths, err = dataset.Split(p.ctx, args[0], args[1], rows, force)
			}
			if err := cluster.Agree(p.r, err); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d files written to %s\n", len(paths), args[1])
			return nil
		},
	}
	shared.IntFlag(cmd, &rows, "rows", "", rows, 1, 1<<30, "rows of a file")
	cmd.Flags().BoolVar(&force, "force", false, "replace the parts that the folder has")
	return cmd
}
