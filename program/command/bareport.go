package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"revnum/revmodels/ba"
)

// progress returns a function that writes a line for each iteration to w, or nil unless
// w is a terminal.
func progress(w io.Writer) func(ba.Iteration) {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func(it ba.Iteration) { fmt.Fprint(w, ProgressLine(it)) }
}

// ProgressLine returns the line of an iteration. For the start, the names of the
// columns precede it.
func ProgressLine(it ba.Iteration) string {
	const row = "%9s %14s %11s %11s %11s %7s %7s %9s\n"
	line := fmt.Sprintf(row, strconv.Itoa(it.Number), fmt.Sprintf("%.8g", it.Cost), fmt.Sprintf("%.3g", it.Gradient),
		fmt.Sprintf("%.3g", it.Step), fmt.Sprintf("%.3g", it.Radius), fmt.Sprintf("%.3f", it.Gain), strconv.Itoa(it.Linear),
		it.Elapsed.Round(time.Millisecond).String())
	switch {
	case it.Number == 0:
		return fmt.Sprintf(row, "iteration", "cost", "gradient", "step", "radius", "gain", "linear", "elapsed") + line
	case !it.Taken:
		return strings.TrimSuffix(line, "\n") + "  refused\n"
	}
	return line
}

// writeSolution writes the report of a solution.
func writeSolution(w io.Writer, path string, before, after *ba.Problem, r *ba.Report) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s\n\n", path, size(after))
	rows := [][]string{{"", "cost", "rms px", "median", "90 %", "largest"}}
	for _, s := range []struct {
		name string
		cost float64
		p    *ba.Problem
	}{{"start", r.Initial, before}, {"end", r.Final, after}} {
		rows = append(rows, append([]string{s.name, fmt.Sprintf("%.9g", s.cost)}, errorCells(s.p)...))
	}
	writeColumns(b, rows)
	steps := len(r.Iterations) - 1
	fmt.Fprintf(b, "\n%v after %s in %.3g s, by %v for %s of cameras",
		r.Status, count(max(0, steps), "step"), r.Duration.Seconds(), r.Method, count(r.Unknowns, "unknown"))
	if r.FactorElements > 0 {
		fmt.Fprintf(b, " (%s in the factor)", count(r.FactorElements, "element"))
	}
	fmt.Fprintln(b)
	if r.Behind > 0 {
		fmt.Fprintf(b, "%s of points that are not in front of the camera\n", count(r.Behind, "observation"))
	}
	return b.Flush()
}
