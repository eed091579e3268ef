package numbers

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
)

// Report is all that a run found.
type Report struct {
	Machine    machine.Machine `json:"machine"`
	RoundTrips []RoundTrip     `json:"round_trips"`
	Bars       []Bar           `json:"bars"`
}

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "number\tsteps\tmoved by\terror after the round trip\tforward\tinverse\tstate\textra\tprogram")
	for _, x := range r.RoundTrips {
		errorOf := fmt.Sprintf("%.1e", x.Error)
		if x.Exact {
			errorOf = "0, every bit"
		}
		fmt.Fprintf(t, "%s\t%d\t%.3g\t%s\t%s\t%s\t%d B\t%d B\t%s\n", x.Number, x.Steps, x.Moved, errorOf,
			suite.Seconds(x.Forward), suite.Seconds(x.Inverse), x.State, x.Extra, x.Program)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(t, "\noperation\ttime\tagainst\ttime\tratio\tat most")
	for _, b := range r.Bars {
		limit := fmt.Sprint(b.Limit)
		if !b.Met() {
			limit += ", MISSED"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.3g\t%s\n", b.Name, suite.Seconds(b.Time), b.Against, suite.Seconds(b.Other), b.Ratio, limit)
	}
	return t.Flush()
}

// WriteCSV writes the round trips with a header, numbers in full.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"number", "program", "steps", "moved", "error", "exact", "forward_seconds", "inverse_seconds", "state_bytes", "extra_bytes"})
	for _, x := range r.RoundTrips {
		_ = c.Write([]string{x.Number, x.Program, strconv.Itoa(x.Steps), full(x.Moved), full(x.Error), strconv.FormatBool(x.Exact),
			full(x.Forward), full(x.Inverse), strconv.FormatInt(x.State, 10), strconv.FormatInt(x.Extra, 10)})
	}
	c.Flush()
	return c.Error()
}

// WriteBarsCSV writes the comparisons with a header, numbers in full.
func (r *Report) WriteBarsCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"name", "against", "seconds", "against_seconds", "ratio", "limit"})
	for _, b := range r.Bars {
		_ = c.Write([]string{b.Name, b.Against, full(b.Time), full(b.Other), full(b.Ratio), full(b.Limit)})
	}
	c.Flush()
	return c.Error()
}

func full(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
