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
	"revnum/internal/outfile"
	"revnum/program/dataset"
)

// A program is the surroundings that all commands share.
type program struct {
	r       cluster.Reducer
	formats shard.Formats
	ctx     context.Context
}

// Main runs the command and returns its exit status: 0, 1 for an error, 130 after an
// interrupt. Formats says which files it can read.
//
// The first interrupt ends a fit after the current iteration. Rank 0 then writes the
// result so far. The second interrupt ends the process at once. Ranks other than 0
// ignore interrupts.
func Main(r cluster.Reducer, formats shard.Formats, args []string) int {
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
	return run(ctx, r, formats, args, os.Stdout, os.Stderr)
}

// run is Main with the surroundings as parameters.
func run(ctx context.Context, r cluster.Reducer, formats shard.Formats, args []string, stdout, stderr io.Writer) int {
	p := &program{r, formats, ctx}
	root := &cobra.Command{
		Use:   "revcluster",
		Short: "Fit models to points in many files, on many machines",
		Long: `revcluster fits models to points in many files. Run it alone, or on the ranks of MPI:

  mpirun -n 4 revcluster gmm fit --shards 'data/*.npy' -k 20

All ranks see the same files, and each works on its share of them. The result is the same
to the bit on any number of ranks.`,
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(p.newGMM(), p.newKMeans(), p.newBA(), p.newSplit(), p.newMeasure())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if r.Rank() != 0 {
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
	}
	err := root.Execute()
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
	flags.IntVar(&f.block, "block", shard.DefaultBlock, "rows of a block; the bits of the result depend on it")
	flags.StringVar(&f.columns, "columns", "", "`number` of columns of files of plain numbers (.f64, .bin, .raw), or names of columns of Parquet, such as x,y")
	flags.IntVar(&f.worker, "workers", 0, "goroutines of each rank; 0 means one for each processor")
	_ = cmd.MarkFlagRequired("shards")
}

// open opens the points.
func (f *shardFlags) open(p *program) (*cluster.Points, error) {
	if f.block < 1 || f.worker < 0 {
		return nil, fmt.Errorf("--block and --workers: expected at least 1 and 0, found %d and %d", f.block, f.worker)
	}
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
func (f *shardFlags) facts(points *cluster.Points) []fact {
	shards := points.Shards()
	facts := []fact{{"block", fmt.Sprint(f.block)}, {"number of shards", fmt.Sprint(len(shards))}}
	for i, s := range shards {
		facts = append(facts, fact{fmt.Sprintf("shard %d", i+1), s})
	}
	return facts
}

// checkEnd returns an error unless a fit with these flags can end.
func checkEnd(maxIter int, tolerance float64) error {
	if maxIter < 1 {
		return fmt.Errorf("--max-iter: expected at least 1, found %d", maxIter)
	}
	if !(tolerance > 0) {
		return fmt.Errorf("--tolerance: expected more than 0, found %v", tolerance)
	}
	return nil
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
	cmd.Flags().IntVar(&rows, "rows", rows, "rows of a file")
	cmd.Flags().BoolVar(&force, "force", false, "replace the parts that the folder has")
	return cmd
}
