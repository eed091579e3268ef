package graphembed

import (
	"encoding/csv"
	"encoding/json"
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

// WriteTable writes the rows as a table for people.
func (r *Report) WriteTable(w io.Writer) error {
	table := [][]string{{"k", "best loss", "median", "below 1e-20", "steps", "most", "l1", "l2", "l2/l1", "spread",
		"objective", "gradient", "Hessian", "G/F", "H/G"}}
	for i := range r.Rows {
		x := &r.Rows[i]
		cells := []string{
			strconv.Itoa(x.K), fmt.Sprintf("%.3g", x.Losses[0]), fmt.Sprintf("%.3g", x.median()),
			fmt.Sprintf("%d of %d", x.Reached, len(x.Losses)), strconv.Itoa(x.Steps), "-",
			cell("%.6f", x.Near), cell("%.6f", x.Far), cell("%.9f", x.Ratio), cell("%.1e", x.Spread),
			suite.Seconds(x.F), "-", "-", "-", "-",
		}
		if x.Reached > 0 {
			cells[5] = strconv.Itoa(x.Most)
		}
		if x.G > 0 { // some vertices are free
			copy(cells[11:], []string{
				suite.Seconds(x.G), suite.Seconds(x.H), fmt.Sprintf("%.2f", x.G/x.F), fmt.Sprintf("%.1f", x.H/x.G),
			})
		}
		table = append(table, cells)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, cells := range table {
		fmt.Fprintln(t, strings.Join(cells, "\t")+"\t")
	}
	return t.Flush()
}

// cell returns v for people.
func cell(format string, v suite.Error) string {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return "-"
	}
	return fmt.Sprintf(format, float64(v))
}

// WriteCSV writes a line of each start, by k and ascending in the loss.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"k", "rank", "loss", "l1", "l2", "spread", "f_seconds", "g_seconds", "h_seconds"})
	number := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for _, x := range r.Rows {
		for i, loss := range x.Losses {
			cells := []string{strconv.Itoa(x.K), strconv.Itoa(i), number(float64(loss)), "", "", "", "", "", ""}
			if i == 0 {
				for j, v := range []float64{float64(x.Near), float64(x.Far), float64(x.Spread), x.F, x.G, x.H} {
					cells[3+j] = number(v)
				}
			}
			_ = c.Write(cells)
		}
	}
	c.Flush()
	return c.Error()
}

// WriteJSON writes the report.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
