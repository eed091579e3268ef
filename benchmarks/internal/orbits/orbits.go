// Package orbits measures three things about the planets of revmodels/nbody: how close
// to their start they return after steps ahead and back, how well each method conserves
// the energy, and what a gradient over many steps costs.
package orbits

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"strconv"
	"text/tabwriter"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"revnum/benchmarks/internal/suite"
	"revnum/fixed"
	"revnum/program/figure"
	"revnum/rev"
	"revnum/revmodels/nbody"
)

// Days is the time step.
const Days = 4

// Row is the result of one run of n steps. For a round trip, Series names the number
// type. For energy, it names the method.
type Row struct {
	Series  string
	Steps   int
	Error   float64 // of positions, in astronomical units, or relative, of the energy
	Seconds float64 // of a round trip
}

// Off returns the error of a round trip as text.
func (x Row) Off() string {
	if x.Error == 0 {
		return "0, every bit"
	}
	return fmt.Sprintf("%.2g", x.Error)
}

// Report holds the results of all runs.
type Report struct {
	RoundTrips, Energies []Row

	// The gradient of a round trip's length, over float64.
	Steps          int
	Ahead, Adjoint float64 // seconds
	Bytes          int     // allocated by the adjoint
}

// Lengths returns 1, 10, 100 and so on, and most.
func Lengths(most int) []int {
	var all []int
	for n := 1; n < most; n *= 10 {
		all = append(all, n)
	}
	return append(all, most)
}

// Measure makes runs of up to most steps.
func Measure(ctx context.Context, most int) (*Report, error) {
	r := new(Report)
	var err error
	if r.RoundTrips, err = RoundTrips(ctx, most); err != nil {
		return nil, err
	}
	for _, m := range nbody.Methods() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := energies(m, most)
		if err != nil {
			return nil, err
		}
		r.Energies = append(r.Energies, rows...)
	}
	return r, r.gradient(most)
}

// RoundTrips takes the planets up to most steps ahead and back, over three number types.
func RoundTrips(ctx context.Context, most int) (rows []Row, err error) {
	for _, n := range Lengths(most) {
		for _, trip := range []struct {
			name string
			run  func(n int) (float64, error)
		}{{"float32", roundTrip[float32]}, {"float64", roundTrip[float64]}, {"fixed.Q43", roundTrip[fixed.Q43]}} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			begin := time.Now()
			e, err := trip.run(n)
			if err != nil {
				return nil, err
			}
			rows = append(rows, Row{trip.name, n, e, time.Since(begin).Seconds()})
		}
	}
	return rows, nil
}

// roundTrip returns how far the planets are from their start after n steps ahead and n
// back.
func roundTrip[T rev.Real](n int) (float64, error) {
	s, start := nbody.NewSystem[T](nbody.SolarSystem()), nbody.NewSystem[T](nbody.SolarSystem())
	k := nbody.NewSteps(s, n, nbody.Options{Method: nbody.Leapfrog, Dt: Days, Workers: 1})
	if err := k.Forward(); err != nil {
		return 0, err
	}
	if err := k.Inverse(); err != nil {
		return 0, err
	}
	var far float64
	for i, q := range s.Q.Data {
		far = max(far, math.Abs(fixed.Float(q-start.Q.Data[i])))
	}
	return far, nil
}

// energies returns, at several times, the largest relative error of the energy until
// then.
func energies(m nbody.Method, most int) ([]Row, error) {
	s := nbody.NewSystem[float64](nbody.SolarSystem())
	start, err := nbody.EnergyOf(s, 0)
	if err != nil {
		return nil, err
	}
	var rows []Row
	var worst float64
	done := 0
	for n := 1; n <= most; n = n*5/4 + 1 {
		if err := nbody.NewSteps(s, n-done, nbody.Options{Method: m, Dt: Days, Workers: 1}).Forward(); err != nil {
			return nil, err
		}
		done = n
		e, err := nbody.EnergyOf(s, 0)
		if err != nil {
			return nil, err
		}
		worst = max(worst, math.Abs(e/start-1))
		rows = append(rows, Row{Series: m.String(), Steps: n, Error: worst})
	}
	return rows, nil
}

func (r *Report) gradient(n int) error {
	s := nbody.NewSystem[float64](nbody.SolarSystem())
	g := rev.ZeroLike(s)
	g.Q.Data[9] = 1
	o := nbody.Options{Method: nbody.Leapfrog, Dt: Days, Workers: 1}
	k, bar := nbody.NewSteps(s, n, o), nbody.NewSteps(g, n, o)
	r.Steps = n
	begin := time.Now()
	if err := k.Forward(); err != nil {
		return err
	}
	r.Ahead = time.Since(begin).Seconds()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin = time.Now()
	if err := k.Adjoint(bar); err != nil {
		return err
	}
	r.Adjoint = time.Since(begin).Seconds()
	runtime.ReadMemStats(&after)
	r.Bytes = int(after.TotalAlloc - before.TotalAlloc)
	return nil
}

// WriteTable writes the report as tables that people read.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "steps ahead and back\tnumbers\toff by (au)")
	for _, x := range r.RoundTrips {
		fmt.Fprintf(t, "%d\t%s\t%s\n", x.Steps, x.Series, x.Off())
	}
	fmt.Fprintln(t, "\nmethod\tsteps\tlargest relative error of the energy")
	for i, x := range r.Energies {
		if i == len(r.Energies)-1 || r.Energies[i+1].Series != x.Series {
			fmt.Fprintf(t, "%s\t%d\t%.2g\n", x.Series, x.Steps, x.Error)
		}
	}
	fmt.Fprintf(t, "\ngradient of %d steps: ahead %s, adjoint %s, %d bytes beyond state and cotangents\n",
		r.Steps, suite.Seconds(r.Ahead), suite.Seconds(r.Adjoint), r.Bytes)
	return t.Flush()
}

// WriteCSV writes all rows with a header. Numbers have all their digits.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"experiment", "series", "steps", "error"})
	writeRows(c, "round trip", r.RoundTrips)
	writeRows(c, "energy", r.Energies)
	c.Flush()
	return c.Error()
}

func writeRows(c *csv.Writer, name string, rows []Row) {
	for _, x := range rows {
		_ = c.Write([]string{name, x.Series, strconv.Itoa(x.Steps), strconv.FormatFloat(x.Error, 'g', -1, 64)})
	}
}

// SaveFigures plots the errors against the steps, to the folder dir as PNG and SVG. An
// error of 0 is drawn at the bottom.
func (r *Report) SaveFigures(dir string) error {
	for _, f := range []struct {
		file, title, unit string
		rows              []Row
	}{
		{"roundoff", "The planets, ahead and back again", "off by (au; 0 is drawn as 1e-18)", r.RoundTrips},
		{"energy", fmt.Sprintf("Energy of the planets, steps of %d days", Days), "largest relative error so far", r.Energies},
	} {
		p, err := Draw(f.title, f.unit, f.rows)
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

// Draw plots the errors of rows against the steps. An error of 0 is drawn as 1e-18, and one
// that is not finite is left out.
func Draw(title, unit string, rows []Row) (*plot.Plot, error) {
	p := figure.New(title, "steps", unit)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	decades := figure.Decades(func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) })
	p.X.Tick.Marker, p.Y.Tick.Marker = decades, decades
	var names []string
	series := map[string]plotter.XYs{}
	for _, x := range rows {
		if math.IsNaN(x.Error) || math.IsInf(x.Error, 0) {
			continue
		}
		if series[x.Series] == nil {
			names = append(names, x.Series)
		}
		series[x.Series] = append(series[x.Series], plotter.XY{X: float64(x.Steps), Y: max(x.Error, 1e-18)})
	}
	for i, name := range names {
		line, err := plotter.NewLine(series[name])
		if err != nil {
			return nil, err
		}
		line.Color = figure.Color(i)
		p.Add(line)
		p.Legend.Add(name, line)
	}
	return p, nil
}
