package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/graphembed"
	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
	"revnum/internal/jsonfile"
	"revnum/internal/outfile"
	"revnum/program"
)

const (
	// maxDimensions bounds --k, because the Hessian has (n·k)² elements.
	maxDimensions = 20

	// largeVertices is the number of vertices of the graph whose gradient is compared
	// with the speed of the machine.
	largeVertices = 2000
)

func newGraphEmbed() *cobra.Command {
	var name, dims, method, out string
	var starts int
	var seed uint64
	var budget time.Duration
	cmd := &cobra.Command{
		Use:   "graphembed",
		Short: "Find into how many dimensions a graph embeds with two distances",
		Long: `graphembed reproduces the experiment of Liu and Zhao, arXiv 2003.04617, appendix
D.2. For each number of dimensions k it looks for coordinates of the vertices such
that all connected pairs have one distance l1, and all other pairs a larger one l2.
It minimises

  Var(l1) + Var(l2) + exp(relu(mean l1 - mean l2 + 0.1)) - 1

from many random starts, by default with Newton's method in a trust region. The
first two vertices stay where the start puts them. The answer is the least k for
which the loss reaches 0: 5 for the Petersen graph, with l2/l1 = √2.

  steps      Hessians of Newton's method, iterations of L-BFGS, steps of Adam: the
             median, and the most for a start that reached a loss below 1e-20
  spread     the largest deviation of a distance from its mean, relative to that

Then it measures the derivatives for each k, at random positions on one worker. They
are by the n coordinates of all vertices:

  objective F, gradient G,
  Hessian H                one call; the Hessian uses that each pair has only two vertices
  unstructured, U          the products of the Hessian with all unit vectors
  fd                       gonum's differences, by their default formula
  error                    of the figure to its left, against the gradient or Hessian:
                           the largest of an element, relative to max(1, |element|)

What would take more than half a second a call is left out of U and fd. Last come
the loss and the gradient of a random graph of 2,000 vertices for k = 5, with their
flop/s (a pair has 3k + 3 in the loss and 6k + 6 in both), the fraction of the
multiply-add peak measured beside them, and the memory they take.

It prints the tables, and writes them with figures to the output folder: table.txt,
results.csv (a line of each start), large.csv, results.json; the losses, the times,
and the best embeddings in 2 and 3 dimensions as .png and .svg.

GRAPH is one of ` + graphembed.Names() + `
or a file with an edge a line: the names of two vertices, apart by a space, a tab
or a comma. A line with one name is a vertex; what follows # or % is a comment.`,
		Example: `  go run ./benchmarks graphembed
  go run ./benchmarks graphembed --graph cycle:7 --k 1..4
  go run ./benchmarks graphembed --graph edges.txt --k 3 --starts 1000 --out results`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			low, high, err := interval(dims)
			if err != nil {
				return fmt.Errorf("--k: %w", err)
			}
			g, err := graphembed.Load(name)
			if err != nil {
				return fmt.Errorf("--graph: %w", err)
			}
			r, err := graphembed.NewReport(g, method, starts, seed)
			if err != nil {
				return fmt.Errorf("--method: %w", err)
			}
			if err := makeFolder(out, []string{name}, "table.txt", "results.csv", "large.csv", "results.json"); err != nil {
				return err
			}
			return runGraphEmbed(cmd, r, low, high, budget, out)
		},
	}
	cmd.Flags().StringVar(&name, "graph", "petersen", "`GRAPH` by name, or a file of edges")
	cmd.Flags().StringVarP(&dims, "k", "k", "1..10", "numbers of dimensions, such as 5 or 1..10")
	cmd.Flags().StringVar(&method, "method", graphembed.Methods[0], strings.Join(graphembed.Methods, ", "))
	program.Complete(cmd, "method", graphembed.Methods...)
	program.IntFlag(cmd, &starts, "starts", "", 100, 1, 1e6, "random starts for each k; the best is kept")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the starts")
	program.TimeFlag(cmd, &budget, 100*time.Millisecond, "time to measure each function for")
	cmd.Flags().StringVarP(&out, "out", "o", "results", "`folder` to write to, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

// interval reads one number, or two with .. between.
func interval(s string) (low, high int, err error) {
	first, last, two := strings.Cut(s, "..")
	if !two {
		last = first
	}
	low, err1 := strconv.Atoi(first)
	high, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil || low < 1 || high < low || high > maxDimensions {
		return 0, 0, fmt.Errorf("expected a number or a range such as 1..10, within 1..%d, found %q", maxDimensions, s)
	}
	return low, high, nil
}

func runGraphEmbed(cmd *cobra.Command, r *graphembed.Report, low, high int, budget time.Duration, out string) error {
	bar := program.Bar(cmd.ErrOrStderr(), (high-low+1)*r.Starts+1)
	bar.Describe("machine")
	r.Machine = machine.Measure(4 * budget)
	for k := low; k <= high; k++ {
		bar.Describe(fmt.Sprintf("k = %d", k))
		if err := r.Run(cmd.Context(), k, budget, func(n int) { _ = bar.Add(n) }); err != nil {
			return err
		}
	}
	bar.Describe("large graph")
	if err := r.MeasureLarge(largeVertices, budget); err != nil {
		return err
	}
	_ = bar.Finish()

	table := func(w io.Writer) error {
		if err := suite.WriteMachine(w, r.Machine); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n\n", r.Title()); err != nil {
			return err
		}
		return r.WriteTable(w)
	}
	if err := table(cmd.OutOrStdout()); err != nil {
		return err
	}
	if err := outfile.WriteAll(out, map[string]func(io.Writer) error{
		"table.txt": table, "results.csv": r.WriteCSV, "large.csv": r.WriteLargeCSV, "results.json": jsonfile.Indented(r),
	}); err != nil {
		return err
	}
	if err := r.SaveFigures(out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", out)
	return err
}
