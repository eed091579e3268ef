package graphembed

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"revnum/benchmarks/internal/suite"
)

// Title returns what the report is about, for people.
func (r *Report) Title() string {
	return fmt.Sprintf("%s: %d vertices, %d edges, %d held; %d starts of %s, seed %d",
		r.Graph, r.Vertices, r.Edges, r.Fixed, r.Starts, r.Method, r.Seed)
}

// WriteTable writes the report as tables for people: the embeddings, the derivatives,
// and the large graph if it was measured.
func (r *Report) WriteTable(w io.Writer) error {
	found := [][]string{{"k", "best loss", "median", "below 1e-20", "steps", "most", "l1", "l2", "l2/l1", "spread"}}
	derivatives := [][]string{{"k", "parameters", "objective", "gradient", "G/F", "fd gradient", "error",
		"Hessian", "unstructured", "U/nG", "U/H", "error", "fd Hessian", "error"}}
	for i := range r.Rows {
		x := &r.Rows[i]
		most := "-"
		if x.Reached > 0 {
			most = strconv.Itoa(x.Most)
		}
		found = append(found, []string{
			strconv.Itoa(x.K), fmt.Sprintf("%.3g", x.Losses[0]), fmt.Sprintf("%.3g", x.median()),
			fmt.Sprintf("%d of %d", x.Reached, len(x.Losses)), strconv.Itoa(x.Steps), most,
			cell("%.6f", x.Near), cell("%.6f", x.Far), cell("%.9f", x.Ratio), cell("%.1e", x.Spread),
		})
		derivatives = append(derivatives, []string{
			strconv.Itoa(x.K), strconv.Itoa(x.Params), seconds(x.F), seconds(x.G), cell("%.2f", x.GOverF),
			seconds(x.FDG), cell("%.1e", x.FDGError), seconds(x.H), seconds(x.U), cell("%.2f", x.UOverG), cell("%.1f", x.UOverH),
			cell("%.1e", x.UError), seconds(x.FDH), cell("%.1e", x.FDHError),
		})
	}
	if err := writeAligned(w, found); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\nderivatives by all vertices at random positions, one worker:\n"); err != nil {
		return err
	}
	if err := writeAligned(w, derivatives); err != nil || len(r.Large) == 0 {
		return err
	}
	if _, err := fmt.Fprintf(w, "\nF the objective, J the objective with its gradient:\n"); err != nil {
		return err
	}
	return r.large().WriteTable(w)
}

func writeAligned(w io.Writer, table [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range table {
		fmt.Fprintln(t, strings.Join(cells, "\t")+"\t")
	}
	return t.Flush()
}

// seconds returns a time for people, or - if it was not measured.
func seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return suite.Seconds(s)
}

// large returns the results of the large graph as a report of their own.
func (r *Report) large() *suite.Report { return &suite.Report{Machine: r.Machine, Results: r.Large} }

// WriteLargeCSV writes the results of the large graph.
func (r *Report) WriteLargeCSV(w io.Writer) error { return r.large().WriteCSV(w) }

// cell returns v for people.
func cell(format string, v suite.Error) string {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return "-"
	}
	return fmt.Sprintf(format, float64(v))
}

// WriteCSV writes a line for each start, sorted by k and then by loss. The line of the
// best start also has the figures that exist once for each k.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	header := []string{"k", "rank", "loss", "l1", "l2", "spread", "params", "f_seconds", "g_seconds", "g_over_f",
		"fd_g_seconds", "fd_g_error", "h_seconds", "unstructured_seconds", "unstructured_over_n_g", "unstructured_over_h",
		"unstructured_error", "fd_h_seconds", "fd_h_error"}
	_ = c.Write(header)
	number := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	seconds := func(v float64) suite.Error {
		if v == 0 {
			return suite.Error(math.NaN())
		}
		return suite.Error(v)
	}
	for _, x := range r.Rows {
		for i, loss := range x.Losses {
			cells := make([]string, len(header))
			cells[0], cells[1], cells[2] = strconv.Itoa(x.K), strconv.Itoa(i), number(float64(loss))
			if i == 0 {
				for j, v := range []suite.Error{x.Near, x.Far, x.Spread, suite.Error(x.Params), seconds(x.F), seconds(x.G), x.GOverF,
					seconds(x.FDG), x.FDGError, seconds(x.H), seconds(x.U), x.UOverG, x.UOverH, x.UError, seconds(x.FDH), x.FDHError} {
					cells[3+j] = number(float64(v))
				}
			}
			_ = c.Write(cells)
		}
	}
	c.Flush()
	return c.Error()
}
