package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/sparse"
	"revnum/internal/jsonfile"
	"revnum/internal/memory"
	"revnum/internal/outfile"
	"revnum/program"
)

// allKinds is the --kind of one matrix of each.
const allKinds = "all"

func newSparse() *cobra.Command {
	var kind, out string
	var rows, entries int
	var seed uint64
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "sparse [FILE.mtx]",
		Short: "Measure sparse products against the memory, the peak and loops by hand",
		Long: `sparse measures the product of a sparse matrix with a vector and its adjoint, on one
worker and two. It draws matrices, or reads one from a Matrix Market file (.mtx,
.mtx.gz). That must be a coordinate file of a real, integer or pattern matrix. A
symmetric matrix is measured with both of its triangles. Then it measures the cases of
arXiv 2003.04617: a matrix of 1000 × 1000 elements and density 0.05 times 1 column and
times 1000 columns. It adds 64 columns, and a dot product with another such matrix.

Values take 8 bytes and indices 4. The bytes of a product are those of the matrix and
of each vector, counted once. "of peak" is relative to what the workers can read from
memory, or to their multiply-add peak, measured in the same run. Products below 64 MiB
may lie in a cache: they are not compared with the memory, and held to no bars. The two
sides of a comparison take turns. The ratio is the best time of one over the best time
of the other. Results are checked against loops written by hand. Those of two workers
must have the bits of one.

Kinds of matrices:
  laplacian   the five points of a square grid
  banded      a band around the diagonal
  uniform     columns at random
  power-law   columns at random in rows of very different length`,
		Example: `  go run ./benchmarks sparse
  go run ./benchmarks sparse --kind banded --rows 100000 --entries 50
  go run ./benchmarks sparse matrix.mtx.gz --out sparse`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case kind != allKinds && !slices.Contains(sparse.Kinds, kind):
				return fmt.Errorf("--kind: expected %s or one of %s, found %q", allKinds, strings.Join(sparse.Kinds, ", "), kind)
			case len(args) > 0 && (cmd.Flags().Changed("kind") || cmd.Flags().Changed("rows") || cmd.Flags().Changed("entries") || cmd.Flags().Changed("seed")):
				return fmt.Errorf("expected either a file or --kind, --rows, --entries and --seed, found both")
			}
			kinds := []string{kind}
			if kind == allKinds {
				kinds = sparse.Kinds
			}
			var load func(i int) (string, sparse.Matrix, error)
			if len(args) > 0 {
				kinds = args
				load = func(int) (string, sparse.Matrix, error) {
					a, err := sparse.Load(args[0])
					return filepath.Base(args[0]), a, err
				}
			} else {
				load = func(i int) (string, sparse.Matrix, error) {
					err := memory.Check(3*float64(rows)*float64(min(rows, entries)+1), fmt.Sprintf("--rows, --entries: a matrix of %d rows of %d entries", rows, entries))
					if err != nil {
						return "", sparse.Matrix{}, err
					}
					a, err := sparse.Generate(kinds[i], rows, entries, seed)
					if err != nil {
						err = fmt.Errorf("--rows, --entries: %w", err)
					}
					return kinds[i], a, err
				}
			}
			if out != "" {
				if err := makeFolder(out, args, "sparse.txt", "sparse.csv", "sparse.json"); err != nil {
					return err
				}
			}
			return runSparse(cmd, len(kinds), load, budget, out)
		},
	}
	cmd.Flags().StringVar(&kind, "kind", allKinds, allKinds+", "+strings.Join(sparse.Kinds, ", "))
	program.Complete(cmd, "kind", append([]string{allKinds}, sparse.Kinds...)...)
	program.IntFlag(cmd, &rows, "rows", "", 1_000_000, 1, 1e8, "rows and columns of the matrices")
	program.IntFlag(cmd, &entries, "entries", "", 10, 1, 1e6, "approximate number of entries in a row; a laplacian has 5")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the matrices")
	program.TimeFlag(cmd, &budget, time.Second, "time to measure each product for")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write the table to as well, as text, CSV and JSON, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func runSparse(cmd *cobra.Command, matrices int, load func(i int) (string, sparse.Matrix, error), budget time.Duration, out string) error {
	bar := program.Bar(cmd.ErrOrStderr(), 1+2*matrices+sparse.PaperSteps)
	done := func() { _ = bar.Add(1) }
	var report sparse.Report
	for i := range matrices {
		bar.Describe("matrix")
		name, a, err := load(i)
		if err != nil {
			return err
		}
		if i == 0 {
			bar.Describe("machine")
			report.Measure(budget)
			done()
		}
		bar.Describe(name)
		if err := report.Matrix(name, a, budget, done); err != nil {
			return err
		}
	}
	bar.Describe("1000 × 1000")
	if err := report.Paper(budget, done); err != nil {
		return err
	}
	_ = bar.Finish()

	if err := report.WriteTable(cmd.OutOrStdout()); err != nil {
		return err
	}
	if out == "" {
		return nil
	}
	if err := outfile.WriteAll(out, map[string]func(io.Writer) error{
		"sparse.txt": report.WriteTable, "sparse.csv": report.WriteCSV, "sparse.json": jsonfile.Indented(report),
	}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", out)
	return err
}
