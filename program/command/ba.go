package command

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"revnum/program/bundle"
	"revnum/revmodels/ba"
)

const bundleHelp = `FILE is a problem of Bundle Adjustment in the Large (BAL) or a .out of Bundler,
plain or compressed by gzip or bzip2.`

// errorCells returns the cells for the reprojection errors of p.
func errorCells(p *ba.Problem) []string {
	e := bundle.ErrorsOf(p)
	cells := []string{fmt.Sprintf("%.4g", e.RMS())}
	for _, q := range []float64{0.5, 0.9, 1} {
		cells = append(cells, fmt.Sprintf("%.4g", e.Quantile(q)))
	}
	return cells
}

// size returns the size of p in words.
func size(p *ba.Problem) string {
	return count(p.NumCameras(), "camera") + ", " + count(p.NumPoints(), "point") + ", " + count(p.NumObservations(), "observation")
}

// count returns n and the noun, in the plural unless n is 1.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// BAInfo returns the command info of bundle adjustment. The invocation is how to call the
// program, in examples.
func BAInfo(invocation string) *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Describe a bundle adjustment problem",
		Long: `info prints the size of a problem, how often points are seen, and the size of the
reprojection errors.

` + bundleHelp,
		Example: `  ` + invocation + ` ba info problem.txt.bz2`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := ba.ReadFile(args[0])
			if err != nil {
				return err
			}
			return writeInfo(cmd.OutOrStdout(), args[0], p)
		},
	}
}

func writeInfo(w io.Writer, path string, p *ba.Problem) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s\n\n", path, size(p))
	rows := [][]string{{"", "least", "median", "mean", "most"}}
	for _, s := range []struct {
		name  string
		value []float64
	}{
		{"observations of a point", occurrences(p.Point, p.NumPoints())},
		{"observations by a camera", occurrences(p.Camera, p.NumCameras())},
		{"focal length", column(p.Cameras, 9, 6)},
		{"k1", column(p.Cameras, 9, 7)},
		{"k2", column(p.Cameras, 9, 8)},
	} {
		if len(s.value) == 0 {
			continue
		}
		slices.Sort(s.value)
		mean := 0.
		for _, v := range s.value {
			mean += v / float64(len(s.value))
		}
		row := []string{s.name}
		for _, v := range []float64{s.value[0], s.value[len(s.value)/2], mean, s.value[len(s.value)-1]} {
			row = append(row, fmt.Sprintf("%.6g", v))
		}
		rows = append(rows, row)
	}
	writeColumns(b, rows)
	e := bundle.ErrorsOf(p)
	cost := e.RMS() * e.RMS() * float64(len(e)) / 2
	fmt.Fprintln(b)
	writeColumns(b, [][]string{
		{"reprojection errors", "cost", "rms px", "median", "90 %", "largest"},
		append([]string{"", strconv.FormatFloat(cost, 'g', 9, 64)}, errorCells(p)...),
	})
	return b.Flush()
}

// occurrences returns how often each index below n is in x.
func occurrences(x []int, n int) []float64 {
	times := make([]float64, n)
	for _, i := range x {
		times[i]++
	}
	return times
}

// column returns column j of a matrix with that many columns.
func column(data []float64, cols, j int) []float64 {
	var x []float64
	for i := j; i < len(data); i += cols {
		x = append(x, data[i])
	}
	return x
}
