package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"revnum/benchmarks/internal/adbench"
	"revnum/benchmarks/internal/dataset"
	"revnum/benchmarks/internal/figure"
	"revnum/internal/outfile"
	"revnum/revmodels/gmm"
)

func newGMM() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "gmm",
		Short: "Fit a Gaussian mixture to data, and predict with it",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGMMFit(), newGMMPredict())
	return cmd
}

const dataHelp = `DATA is a CSV file (commas, semicolons or tabs; a first line without numbers is
taken for the names of the columns) or a .npy file, a point a row.`

func newGMMFit() *cobra.Command {
	var k int
	var seed uint64
	var out, plot, cols string
	opts := new(gmm.Options)
	cmd := &cobra.Command{
		Use:   "fit DATA",
		Short: "Fit a Gaussian mixture with full covariances to data",
		Long: `fit finds the Gaussian mixture of k components that makes the points most
probable: from k-means++ centres, by expectation maximisation and L-BFGS, with
several restarts of which the best is kept. It prints a report, and writes the
mixture and a figure where asked to.

` + dataHelp,
		Example: `  go run ./benchmarks gmm fit faithful.csv -k 2 --out model.json --plot fit.png`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Source = rand.NewPCG(seed, 0)
			if opts.Starts < 1 {
				return fmt.Errorf("--starts: expected at least 1, found %d", opts.Starts)
			}
			if plot != "" {
				if err := figure.Check(plot); err != nil {
					return fmt.Errorf("--plot: %w", err)
				}
			}
			t, err := dataset.Load(args[0])
			if err != nil {
				return err
			}
			i, j := 0, 0
			if plot != "" {
				if i, j, err = columns(t, cols); err != nil {
					return fmt.Errorf("%s: --cols: %w", args[0], err)
				}
			}
			if err := checkFitMemory(args[0], t, k); err != nil {
				return err
			}
			mixture, report, err := gmm.Fit(cmd.Context(), t.X, k, opts)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if err := writeFit(cmd.OutOrStdout(), args[0], t, mixture, report); err != nil {
				return err
			}
			if out != "" {
				err := outfile.Write(out, func(w io.Writer) error { return json.NewEncoder(w).Encode(mixture) })
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "model written to %s\n", out)
			}
			if plot != "" {
				p := figure.Mixture(t, mixture, i, j)
				if err := figure.Save(p, 16*vg.Centimeter, 12*vg.Centimeter, plot); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "figure written to %s\n", plot)
			}
			return nil
		},
	}
	cmd.Flags().IntVarP(&k, "components", "k", 3, "number of components")
	cmd.Flags().IntVar(&opts.Starts, "starts", 4, "number of starts from different centres, of which the best is kept")
	cmd.Flags().IntVar(&opts.MaxIter, "max-iter", 500, "largest number of iterations of a restart")
	cmd.Flags().Float64Var(&opts.RegCovar, "reg-covar", 0, "about what is added to the diagonal of the covariances; 0 is 1e-6 of the least variance of a column, negative is nothing")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the restarts")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`file` to write the mixture to, as JSON")
	cmd.Flags().StringVar(&plot, "plot", "", "`file` to draw points and components to ("+strings.Join(figure.Formats, ", ")+")")
	cmd.Flags().StringVar(&cols, "cols", "0,1", "the two columns to draw, by name or by number from 0")
	return cmd
}

// checkFitMemory returns an error if k components in as many dimensions as t
// has columns need more memory than there is. A fit has some 16 matrices of
// each.
func checkFitMemory(name string, t *dataset.Table, k int) error {
	_, d := t.X.Dims()
	floats := 16 * math.Max(0, float64(k)) * float64(d) * float64(d)
	return adbench.CheckMemory(uint64(math.Min(floats, 1<<62)), fmt.Sprintf("%s: covariances of %d components in %d dimensions", name, k, d))
}

// columns finds the two columns that s names.
func columns(t *dataset.Table, s string) (i, j int, err error) {
	_, n := t.X.Dims()
	one := func(s string) (int, error) {
		s = strings.TrimSpace(s)
		if c := slices.Index(t.Names, s); c >= 0 {
			return c, nil
		}
		if c, err := strconv.Atoi(s); err == nil && c >= 0 && c < n {
			return c, nil
		}
		if t.Names != nil {
			return 0, fmt.Errorf("expected one of %s or a number from 0 to %d, found %q", strings.Join(t.Names, ", "), n-1, s)
		}
		return 0, fmt.Errorf("expected a number from 0 to %d, found %q", n-1, s)
	}
	first, second, ok := strings.Cut(s, ",")
	if !ok {
		return 0, 0, fmt.Errorf("expected two columns with a comma between, found %q", s)
	}
	if i, err = one(first); err != nil {
		return 0, 0, err
	}
	j, err = one(second)
	return i, j, err
}

// writeFit writes what a fit found.
func writeFit(w io.Writer, name string, t *dataset.Table, m *gmm.Mixture, r *gmm.Report) error {
	n, d := t.X.Dims()
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %d points, %d columns\n\n%s\n", name, n, d, r)
	fmt.Fprintf(b, "log-likelihood %.6f, BIC %.3f, AIC %.3f\n\n", m.LogLikelihood(t.X), m.BIC(t.X), m.AIC(t.X))

	counts := make([]int, m.Components())
	for _, label := range m.Predict(t.X) {
		if label >= 0 {
			counts[label]++
		}
	}
	// Of many columns, the first few show whether the fit makes sense.
	const shown = 6
	rows := [][]string{{"component", "weight", "points"}}
	for j := range min(d, shown) {
		rows[0] = append(rows[0], t.ColumnName(j))
	}
	means, covariances := m.Means(), m.Covariances()
	for c, weight := range m.Weights() {
		row := []string{strconv.Itoa(c), fmt.Sprintf("%.4f", weight), strconv.Itoa(counts[c])}
		for j := range min(d, shown) {
			row = append(row, fmt.Sprintf("%.4g ± %.3g", means.At(c, j), math.Sqrt(covariances[c].At(j, j))))
		}
		rows = append(rows, row)
	}
	writeColumns(b, rows)
	if d > shown {
		fmt.Fprintf(b, "(mean ± standard deviation of the first %d of %d columns)\n", shown, d)
	} else {
		fmt.Fprintln(b, "(mean ± standard deviation)")
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// writeColumns writes rows of equally many cells, aligned to the right.
func writeColumns(w io.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		for j, cell := range row {
			fmt.Fprintf(w, "%s%s", strings.Repeat(" ", width[j]-len([]rune(cell))+2*min(j, 1)), cell)
		}
		fmt.Fprintln(w)
	}
}

func newGMMPredict() *cobra.Command {
	var out string
	var probabilities bool
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA",
		Short: "Find the most probable component of each point",
		Long: `predict writes, for each point of DATA, the most probable component of the mixture
in MODEL, a file that gmm fit wrote: CSV with a header, a point a line.

` + dataHelp,
		Example: `  go run ./benchmarks gmm predict model.json faithful.csv --out labels.csv`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := loadMixture(args[0])
			if err != nil {
				return err
			}
			t, err := dataset.Load(args[1])
			if err != nil {
				return err
			}
			if _, d := t.X.Dims(); d != m.Dim() {
				return fmt.Errorf("%s: expected %d columns, as %s has, found %d", args[1], m.Dim(), args[0], d)
			}
			write := func(w io.Writer) error { return writePrediction(w, t, m, probabilities) }
			if out == "-" {
				return write(cmd.OutOrStdout())
			}
			return outfile.Write(out, write)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "-", "`file` to write to, - for standard output")
	cmd.Flags().BoolVar(&probabilities, "prob", false, "write the probabilities of all components as well")
	return cmd
}

func loadMixture(path string) (*gmm.Mixture, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := new(gmm.Mixture)
	if err := json.Unmarshal(b, m); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + strings.Count(string(b[:min(int(syntax.Offset), len(b))]), "\n")
			return nil, fmt.Errorf("%s:%d: expected a mixture as gmm fit writes it: %w", path, line, err)
		}
		return nil, fmt.Errorf("%s: expected a mixture as gmm fit writes it: %w", path, err)
	}
	if m.Components() == 0 {
		return nil, fmt.Errorf("%s: expected a mixture as gmm fit writes it, found null", path)
	}
	return m, nil
}

func writePrediction(w io.Writer, t *dataset.Table, m *gmm.Mixture, probabilities bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	labels := m.Predict(t.X)
	_, _ = b.WriteString("component")
	if !probabilities {
		_, _ = b.WriteString("\n")
		for _, label := range labels {
			_, _ = b.WriteString(strconv.Itoa(label) + "\n")
		}
		return b.Flush()
	}
	for c := range m.Components() {
		fmt.Fprintf(b, ",p%d", c)
	}
	_, _ = b.WriteString("\n")
	resp := m.Responsibilities(t.X)
	var line []byte
	for i, label := range labels {
		line = strconv.AppendInt(line[:0], int64(label), 10)
		for _, p := range resp.RawRowView(i) {
			line = strconv.AppendFloat(append(line, ','), p, 'g', 8, 64)
		}
		_, _ = b.Write(append(line, '\n'))
	}
	return b.Flush()
}
