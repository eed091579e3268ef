package sparse

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"revnum/benchmarks/internal/suite"
)

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	if err := suite.WriteMachine(w, r.Machine); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "reading: %.1f GB/s by one worker, %.1f by two\n", r.Reading[1]/1e9, r.Reading[2]/1e9); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for _, x := range r.Rows {
		if x.Matrix != last {
			last = x.Matrix
			fmt.Fprintf(t, "\n%s\ncall\tworkers\ttime\trate\tof peak\tratio\tagainst\tbar\n", last)
		}
		rate, peak, bar := "-", "-", "-"
		switch {
		case x.Bytes > 0:
			rate = fmt.Sprintf("%.1f GB/s", x.Bytes/1e9)
		case x.Flops > 0:
			rate = fmt.Sprintf("%.1f GFLOP/s", x.Flops/1e9)
		}
		if x.OfPeak > 0 {
			peak = fmt.Sprintf("%.0f %%", 100*x.OfPeak)
		}
		switch {
		case x.AtLeast > 0:
			bar = fmt.Sprintf("at least %.0f %%", 100*x.AtLeast)
		case x.AtMost > 0:
			bar = fmt.Sprintf("at most %v", x.AtMost)
		}
		if !x.Met() {
			bar += ", MISSED"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%.2f\t%s\t%s\n", x.Call, x.Workers, suite.Seconds(x.Time), rate, peak, x.Ratio, x.Against, bar)
	}
	return t.Flush()
}

// WriteCSV writes the rows with a header, numbers in full.
func (r *Report) WriteCSV(w io.Writer) error {
	full := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	c := csv.NewWriter(w)
	_ = c.Write([]string{"matrix", "call", "workers", "seconds", "bytes_per_second", "flops_per_second", "of_peak", "against", "ratio", "at_least", "at_most"})
	for _, x := range r.Rows {
		_ = c.Write([]string{x.Matrix, x.Call, strconv.Itoa(x.Workers), full(x.Time), full(x.Bytes), full(x.Flops), full(x.OfPeak),
			x.Against, full(x.Ratio), full(x.AtLeast), full(x.AtMost)})
	}
	c.Flush()
	return c.Error()
}
