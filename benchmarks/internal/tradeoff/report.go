package tradeoff

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"revnum/benchmarks/internal/suite"
	"revnum/program/figure"
)

// WriteTable writes the report as a table that people read.
func (r *Report) WriteTable(w io.Writer) error {
	if err := suite.WriteMachine(w, r.Machine); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\na state has %d bytes\n\nlength\tway\tsteps\tahead\tback\tadjoint\tstates\ttime\tbytes\n", r.State)
	last := 0
	for _, x := range r.Rows {
		if last != 0 && x.Length != last {
			fmt.Fprintln(t, "\t\t\t\t\t\t\t\t")
		}
		last = x.Length
		fmt.Fprintf(t, "%d\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%d\n", x.Length, x.Way, x.Steps(),
			x.Runs.Ahead, x.Runs.Back, x.Runs.Adjoint, x.States, suite.Seconds(x.Time), x.Bytes)
	}
	return t.Flush()
}

// WriteCSV writes the rows with a header. Numbers have all their digits.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"length", "way", "ahead", "back", "adjoint", "states", "seconds", "bytes"})
	for _, x := range r.Rows {
		_ = c.Write([]string{strconv.Itoa(x.Length), x.Way, strconv.Itoa(x.Runs.Ahead), strconv.Itoa(x.Runs.Back), strconv.Itoa(x.Runs.Adjoint),
			strconv.Itoa(x.States), strconv.FormatFloat(x.Time, 'g', -1, 64), strconv.Itoa(x.Bytes)})
	}
	c.Flush()
	return c.Error()
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(r)
}

// SaveFigures plots steps, time and bytes against the length, to the folder dir as PNG
// and SVG.
func (r *Report) SaveFigures(dir string) error {
	for _, f := range []struct {
		file, title, unit string
		value             func(x *Row) float64
	}{
		{"steps", "Steps of a gradient", "steps", func(x *Row) float64 { return float64(x.Steps()) }},
		{"times", "Time of a gradient", "seconds", func(x *Row) float64 { return x.Time }},
		{"bytes", "Memory of a gradient", "bytes", func(x *Row) float64 { return float64(max(x.Bytes, 1)) }},
	} {
		p, err := r.figure(f.title, f.unit, Ways(), f.value)
		if err != nil {
			return err
		}
		for _, ext := range []string{".png", ".svg"} {
			if err := figure.Save(p, 18*vg.Centimeter, 11*vg.Centimeter, filepath.Join(dir, f.file+ext)); err != nil {
				return err
			}
		}
	}
	return nil
}

// SaveMemory plots to path the memory of a gradient, with the state and its cotangents: with
// all states recorded, with 10 snapshots, and by reversible steps.
func (r *Report) SaveMemory(path string) error {
	names := Ways()
	names = []string{names[0], names[len(names)-2], names[len(names)-1]}
	p, err := r.figure("Memory of a gradient of leapfrog", "bytes", names, func(x *Row) float64 { return float64(2*r.State + x.Bytes) })
	if err != nil {
		return err
	}
	return figure.Save(p, 18*vg.Centimeter, 9*vg.Centimeter, path)
}

// figure plots a value against the length, a line for each of the ways.
func (r *Report) figure(title, unit string, ways []string, value func(x *Row) float64) (*plot.Plot, error) {
	p := figure.New(title, "length of the computation, in steps", unit)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	decades := figure.Decades(func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) })
	p.X.Tick.Marker, p.Y.Tick.Marker = decades, decades
	for i, way := range ways {
		var xy plotter.XYs
		for _, x := range r.Rows {
			if x.Way == way {
				xy = append(xy, plotter.XY{X: float64(x.Length), Y: value(&x)})
			}
		}
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return nil, err
		}
		filled, _ := figure.Glyphs(i)
		line.Color, points.Color, points.Shape = figure.Color(i), figure.Color(i), filled
		p.Add(line, points)
		p.Legend.Add(way, line, points)
	}
	return p, nil
}
