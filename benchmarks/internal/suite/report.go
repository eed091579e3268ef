package suite

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"revnum/benchmarks/internal/machine"
)

// WriteMachine writes a description of the machine for people, with a warning if
// it was loaded.
func WriteMachine(w io.Writer, m machine.Machine) error {
	_, err := fmt.Fprintf(w, "%s, %d cores in use, %s, %s\n"+
		"one core: %.1f GFLOP/s float64, %.1f float32 (multiply-adds); memory: %.1f GB/s read, %.1f triad\n",
		m.CPU, m.Cores, m.Tier, m.Go, m.FMA64/1e9, m.FMA32/1e9, m.Reading/1e9, m.Triad/1e9)
	if load := m.Load(); err == nil && load != "" {
		_, err = fmt.Fprintf(w, "warning: %s: the machine has other work, and times are too long\n", load)
	}
	return err
}

// WriteTable writes the results as a table for people.
func (r *Report) WriteTable(w io.Writer) error {
	rows := [][]string{{
		"problem", "sizes", "workers", "F", "J", "J/F", "GFLOP/s F", "of peak", "GFLOP/s J", "of peak",
		"extra", "J error", "round trip", "notes",
	}}
	for _, x := range r.Results {
		cells := []string{
			x.Family, x.Sizes, strconv.Itoa(x.Workers), Seconds(x.F), "-", "-",
			"-", "-", "-", "-", Bytes(x.Extra), relative(x.Deriv), relative(x.Trip), x.notes(),
		}
		if x.J > 0 {
			cells[4], cells[5] = Seconds(x.J), fmt.Sprintf("%.2f", x.Ratio)
		}
		if x.RateF > 0 {
			cells[6], cells[7] = fmt.Sprintf("%.1f", x.RateF/1e9), percent(x.PeakF)
		}
		if x.RateJ > 0 {
			cells[8], cells[9] = fmt.Sprintf("%.1f", x.RateJ/1e9), percent(x.PeakJ)
		}
		rows = append(rows, cells)
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for j, cell := range row {
			pad := strings.Repeat(" ", width[j]-utf8.RuneCountInString(cell))
			if words := j < 2 || j == len(row)-1; words {
				line += cell + pad + "  "
			} else {
				line += pad + cell + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// notes returns the figures that only some problems have.
func (x *Result) notes() string {
	var notes []string
	if x.Against != "" {
		notes = append(notes, fmt.Sprintf("%.1fx %s", x.AgainstTime, x.Against))
	}
	if x.Bytes > 0 {
		notes = append(notes, fmt.Sprintf("%.1f GB/s, %s of reading", x.Bytes/1e9, percent(x.Band)))
	}
	if x.Speedup > 0 {
		notes = append(notes, fmt.Sprintf("%.2fx one worker", x.Speedup))
	}
	if x.SameBits != nil {
		if *x.SameBits {
			notes = append(notes, "same bits")
		} else {
			notes = append(notes, "OTHER BITS")
		}
	}
	return strings.Join(notes, ", ")
}

func percent(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }

func relative(e Error) string {
	if math.IsNaN(float64(e)) {
		return "-"
	}
	return fmt.Sprintf("%.1e", float64(e))
}

// Seconds returns s with three digits and a unit.
func Seconds(s float64) string {
	switch {
	case s < 1e-6:
		return fmt.Sprintf("%.3g ns", s*1e9)
	case s < 1e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

// Short returns n with a unit where it is round.
func Short(n int) string {
	switch {
	case n >= 1e6 && n%1e5 == 0:
		return fmt.Sprintf("%gM", float64(n)/1e6)
	case n >= 1e4 && n%1e3 == 0:
		return fmt.Sprintf("%dk", n/1e3)
	}
	return strconv.Itoa(n)
}

// Bytes returns n with a unit.
func Bytes(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d B", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// WriteCSV writes the results with a header, numbers in full.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{
		"family", "sizes", "workers", "params", "f_seconds", "j_seconds", "j_over_f", "f_flops", "j_flops",
		"f_of_peak", "j_of_peak", "f_bytes", "f_of_bandwidth", "extra_bytes", "gradient_error", "roundtrip_error",
		"speedup", "same_bits", "against", "against_ratio",
	})
	for _, x := range r.Results {
		number := func(v float64) string {
			if v == 0 || math.IsNaN(v) {
				return ""
			}
			return strconv.FormatFloat(v, 'g', 6, 64)
		}
		same := ""
		if x.SameBits != nil {
			same = strconv.FormatBool(*x.SameBits)
		}
		// An error of zero is a result.
		errorOf := func(e Error) string {
			if math.IsNaN(float64(e)) {
				return ""
			}
			return strconv.FormatFloat(float64(e), 'g', 3, 64)
		}
		_ = c.Write([]string{
			x.Family, x.Sizes, strconv.Itoa(x.Workers), strconv.Itoa(x.Params), number(x.F), number(x.J), number(x.Ratio),
			number(x.RateF), number(x.RateJ), number(x.PeakF), number(x.PeakJ), number(x.Bytes), number(x.Band),
			strconv.FormatInt(x.Extra, 10), errorOf(x.Deriv), errorOf(x.Trip), number(x.Speedup), same, x.Against, number(x.AgainstTime),
		})
	}
	c.Flush()
	return c.Error()
}
