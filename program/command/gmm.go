package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"revnum/internal/memory"
	"revnum/program"
	"revnum/program/dataset"
	"revnum/program/figure"
	"revnum/revmodels/gmm"
)

const dataHelp = `DATA is a CSV file (with commas, semicolons, tabs or spaces) or a .npy file, plain or
compressed by gzip or bzip2. Each row is a point. If the first line of a CSV file
has no numbers, it has the names of the columns.`

// fitFlags are the flags of gmm fit.
type fitFlags struct {
	components      componentRange
	seed            uint64
	out, plot, cols string
	opts            gmm.Options
}

// MaxComponents is the largest number of components of a fit.
const MaxComponents = 1 << 16

// componentRange is a number of components, or a range of them: 3 or 2..8.
type componentRange struct{ least, most int }

// String implements pflag.Value.
func (c *componentRange) String() string {
	if c.least == c.most {
		return strconv.Itoa(c.least)
	}
	return fmt.Sprintf("%d..%d", c.least, c.most)
}

// Set implements pflag.Value.
func (c *componentRange) Set(s string) error {
	first, last, found := strings.Cut(s, "..")
	if !found {
		last = first
	}
	var err error
	if c.least, err = strconv.Atoi(first); err == nil {
		c.most, err = strconv.Atoi(last)
	}
	if err != nil || c.most < c.least || c.least < 1 || c.most > MaxComponents {
		return fmt.Errorf("expected a number from 1 to %d, or two like 2..8", MaxComponents)
	}
	return nil
}

// Type implements pflag.Value.
func (c *componentRange) Type() string { return "number" }

// GMMFit returns the command fit of Gaussian mixtures. The invocation is how to call the program,
// in examples. The device computes what concerns points, unless open is nil.
func GMMFit(invocation string, open Open) *cobra.Command {
	f := &fitFlags{components: componentRange{3, 3}}
	cmd := &cobra.Command{
		Use:   "fit DATA",
		Short: "Fit a Gaussian mixture to data",
		Long: `fit finds the Gaussian mixture of k components that makes the points most
probable. It runs expectation maximisation from one or more clusterings, and keeps
the best result. If you give a range like -k 2..8, it chooses the number of
components with the least Bayesian information criterion. It prints a report. On
request it writes the mixture and a figure. An interrupt ends the search; the best
mixture so far is then written.

` + dataHelp,
		Example: `  ` + invocation + ` gmm fit faithful.csv -k 2 --out model.json --plot fit.png
  ` + invocation + ` gmm fit points.csv.gz -k 1..10 --covariance diagonal`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0], open)
		},
	}
	flags := cmd.Flags()
	flags.VarP(&f.components, "components", "k", fmt.Sprintf("number of components (1 to %d), or a range of numbers to choose from", MaxComponents))
	flags.TextVar(&f.opts.Covariance, "covariance", gmm.Full, "kind of covariances: full, tied, diagonal or spherical")
	program.IntFlag(cmd, &f.opts.Starts, "starts", "", 0, 0, 1<<16, "number of clusterings to start from, in turn with columns of equal variance and with the points as they are; the best fit is kept; 0 means 2 to 24")
	program.IntFlag(cmd, &f.opts.MaxIter, "max-iter", "", 500, 1, program.MaxIterations, "largest number of iterations of a start")
	program.FloatFlag(cmd, &f.opts.Tolerance, "tolerance", 1e-3, 1e-300, program.MaxFloat, "change by further iterations, for each point, at which a start ends")
	flags.BoolVar(&f.opts.Polish, "polish", false, "continue the best start to its maximum")
	program.FloatFlag(cmd, &f.opts.RegCovar, "reg-covar", 0, -1, program.MaxFloat, "what each iteration adds to the diagonals of the covariances; 0 means 1e-9 of the least variance of a column, negative means nothing")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the starts")
	flags.StringVarP(&f.out, "out", "o", "", "`file` to write the mixture to, as JSON, - for standard output")
	flags.StringVar(&f.plot, "plot", "", "`file` to draw points and components to ("+strings.Join(figure.Formats, ", ")+")")
	flags.StringVar(&f.cols, "cols", "0,1", "the two columns to draw, by name or by number from 0, or one for its histogram")
	program.Complete(cmd, "covariance", "full", "tied", "diagonal", "spherical")
	return cmd
}

// run fits a mixture to the data in the file at path.
func (f *fitFlags) run(cmd *cobra.Command, path string, open Open) (err error) {
	var dev Device
	if open != nil {
		if dev, err = open(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, dev.Close()) }()
	}
	ctx, end := program.Interruptible(cmd.Context())
	defer end()
	if f.plot != "" {
		if err := figure.Check(f.plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	if err := program.CheckOutputs([]string{path}, program.Output{Flag: "out", Path: f.out}, program.Output{Flag: "plot", Path: f.plot}); err != nil {
		return err
	}
	stdout := program.Messages(cmd, f.out)
	t, err := dataset.Load(path)
	if err != nil {
		return err
	}
	var cols []int
	if f.plot != "" {
		names := f.cols
		if _, n := t.X.Dims(); n == 1 && !cmd.Flags().Changed("cols") {
			names = "0" // the only column
		}
		if cols, err = Columns(t, names); err != nil {
			return fmt.Errorf("%s: --cols: %w", path, err)
		}
	}
	if err := checkFitMemory(path, t, f.components.most); err != nil {
		return err
	}
	if dev != nil {
		if f.opts.Points, err = dev.Mixture(t.X, f.opts.Covariance); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	mixture, report, err := f.fit(ctx, cmd, stdout, t)
	end() // an interrupt from here on ends the process
	interrupted := ctx.Err() != nil
	switch {
	case interrupted && mixture == nil:
		return program.ErrInterrupted
	case err != nil && !interrupted:
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := writeFit(stdout, path, t, mixture, report); err != nil {
		return err
	}
	if f.out != "" {
		if err := program.WriteJSON(cmd, f.out, mixture); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "model written to %s\n", f.out)
	}
	if f.plot != "" {
		p := figure.Mixture(t, mixture, cols...)
		if err := figure.Save(p, 16*vg.Centimeter, 12*vg.Centimeter, f.plot); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "figure written to %s\n", f.plot)
	}
	if interrupted {
		return program.ErrInterrupted
	}
	return nil
}

// fit fits a mixture with the given number of components, or the best of a range. For a
// range it prints how good each mixture is. On a terminal it shows a progress bar.
func (f *fitFlags) fit(ctx context.Context, cmd *cobra.Command, stdout io.Writer, t *dataset.Table) (*gmm.Mixture, *gmm.Report, error) {
	opts := f.opts
	opts.Source = rand.NewPCG(f.seed, 0)
	bar := program.Bar(cmd.ErrOrStderr(), -1)
	defer func() { _ = bar.Finish() }()
	opts.Progress = func(i gmm.Iteration) {
		bar.Describe(fmt.Sprintf("start %d, iteration %d, log posterior %.6g", i.Start, i.Iteration, i.LogPosterior))
		_ = bar.Add(1)
	}
	k := f.components
	if k.least == k.most {
		return gmm.Fit(ctx, t.X, k.least, &opts)
	}
	var numbers []int
	for n := k.least; n <= k.most; n++ {
		numbers = append(numbers, n)
	}
	m, choices, err := gmm.Select(ctx, t.X, numbers, &opts)
	if m == nil {
		return nil, nil, err
	}
	rows := [][]string{{"components", "BIC"}}
	var report *gmm.Report
	for _, c := range choices {
		row := []string{strconv.Itoa(c.Components), fmt.Sprintf("%.3f", c.BIC)}
		if math.IsInf(c.BIC, 1) {
			row[1] = "-"
		}
		if rows = append(rows, row); c.Components == m.Components() {
			report = c.Report
		}
	}
	b := bufio.NewWriter(stdout)
	writeColumns(b, rows)
	fmt.Fprintln(b)
	return m, report, errors.Join(err, b.Flush())
}

// checkFitMemory returns an error if a fit of k components to t needs more memory than
// there is. A fit holds about 16 matrices for each component. Their order is the number
// of columns of t.
func checkFitMemory(name string, t *dataset.Table, k int) error {
	_, d := t.X.Dims()
	floats := 16 * math.Max(0, float64(k)) * float64(d) * float64(d)
	return memory.Check(floats, fmt.Sprintf("%s: covariances of %d components in %d dimensions", name, k, d))
}

// Columns finds the one or two columns that list names.
func Columns(t *dataset.Table, list string) ([]int, error) {
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
	var cols []int
	for name := range strings.SplitSeq(list, ",") {
		c, err := one(name)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	if len(cols) > 2 {
		return nil, fmt.Errorf("expected one column or two with a comma between, found %q", list)
	}
	return cols, nil
}

// writeFit writes the report of a fit.
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
	// If there are many columns, the first few show whether the fit makes sense.
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

// GMMPredict returns the command predict of Gaussian mixtures. The invocation is how to call the
// program, in examples.
func GMMPredict(invocation string) *cobra.Command {
	var out string
	var probabilities bool
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA",
		Short: "Find the most probable component of each point",
		Long: `predict writes the most probable component of each point of DATA, as CSV with a
header and one point a line. MODEL is a mixture that gmm fit wrote.

` + dataHelp,
		Example: `  ` + invocation + ` gmm predict model.json faithful.csv --out labels.csv`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := program.CheckOutputs(args, program.Output{Flag: "out", Path: out}); err != nil {
				return err
			}
			m, err := gmm.ReadFile(args[0])
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
			return program.WriteOutput(cmd, out, func(w io.Writer) error { return writePrediction(w, t, m, probabilities) })
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", program.Stdout, "`file` to write to, - for standard output")
	cmd.Flags().BoolVar(&probabilities, "prob", false, "write the probabilities of all components as well")
	return cmd
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
