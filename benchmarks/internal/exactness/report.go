package exactness

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"revnum/benchmarks/internal/orbits"
	"revnum/benchmarks/internal/suite"
	"revnum/program/figure"
)

// WriteTable writes the report as tables that people read.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "planets, steps ahead and back\tnumbers\toff by (au)\ttime")
	writeLongest(t, r.Planets)
	fmt.Fprintln(t, "\nweights, steps of training ahead and back\tnumbers\toff by\ttime")
	writeLongest(t, r.Training)
	fmt.Fprintf(t, "\nloss before and after %d steps: %.4f, %.4f\n", r.Sizes.Training, r.Losses[0], r.Losses[1])
	fmt.Fprintf(t, "\nworkers (%s)\thash of the trained weights\tuntrained\n", r.Arch)
	for _, h := range r.Hashes {
		fmt.Fprintf(t, "%d\t%016x\t%s\n", h.Workers, h.Bits, bits(h.Same))
	}
	x := &r.Rates
	fmt.Fprintf(t, "\n%d learning rates, %d weights\tkept of the steps\ttime of the gradient\tfirst weights\n", r.Sizes.Rates, x.Parameters)
	fmt.Fprintf(t, "fixed.Q43, by the inverse\t%s\t%s\t%s\n", size(x.FixedBytes), suite.Seconds(x.FixedSeconds), bits(x.Same))
	fmt.Fprintf(t, "float64, weights and velocities\t%s\t%s\t\n", size(x.KeptBytes), suite.Seconds(x.KeptSeconds))
	fmt.Fprintf(t, "float64, all values, as a tape (not run)\t%s\t\t\n", size(x.TapeBytes))
	fmt.Fprintf(t, "\nlargest difference of the two gradients: %.2g of the largest derivative\n", x.Difference())
	return t.Flush()
}

func writeLongest(w io.Writer, rows []orbits.Row) {
	longest := 0
	for _, x := range rows {
		longest = max(longest, x.Steps)
	}
	for _, x := range rows {
		if x.Steps == longest {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", x.Steps, x.Series, x.Off(), suite.Seconds(x.Seconds))
		}
	}
}

func bits(same bool) string {
	if same {
		return "every bit"
	}
	return "other bits"
}

// size returns n bytes in decimal units.
func size(n int) string {
	switch {
	case n < 1e3:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.3g kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g GB", float64(n)/1e9)
}

// Difference returns the largest difference of the two gradients, relative to the largest
// derivative.
func (x *Rates) Difference() float64 {
	var far, most float64
	for i, v := range x.Kept {
		far, most = math.Max(far, math.Abs(x.Fixed[i]-v)), math.Max(most, math.Abs(v))
	}
	return far / most
}

// WriteCSV writes all results but hashes with a header. Numbers have all their digits.
func (r *Report) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	_ = c.Write([]string{"program", "numbers", "step", "value", "seconds"})
	for i, rows := range [][]orbits.Row{r.Planets, r.Training} {
		for _, x := range rows {
			_ = c.Write([]string{[]string{"planets", "training"}[i], x.Series, strconv.Itoa(x.Steps), number(x.Error), number(x.Seconds)})
		}
	}
	for i := range r.Rates.Fixed {
		_ = c.Write([]string{"rates", "fixed.Q43", strconv.Itoa(i), number(r.Rates.Fixed[i]), ""})
		_ = c.Write([]string{"rates", "float64", strconv.Itoa(i), number(r.Rates.Kept[i]), ""})
	}
	c.Flush()
	return c.Error()
}

// SaveFigures draws the three programs, to the folder dir as PNG and SVG.
func (r *Report) SaveFigures(dir string) error {
	for _, f := range []struct {
		name string
		draw func() (*plot.Plot, error)
	}{
		{"planets", func() (*plot.Plot, error) {
			return orbits.Draw("The planets, ahead and back again", "off by (au; 0 is drawn as 1e-18)", r.Planets)
		}},
		{"training", func() (*plot.Plot, error) {
			return orbits.Draw("Weights of a network, trained and untrained", "off by (0 is drawn as 1e-18)", r.Training)
		}},
		{"rates", r.drawRates},
	} {
		p, err := f.draw()
		if err != nil {
			return err
		}
		for _, ext := range []string{".png", ".svg"} {
			if err := figure.Save(p, 18*vg.Centimeter, 9*vg.Centimeter, filepath.Join(dir, f.name+ext)); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawRates draws both gradients over the steps, one on the other.
func (r *Report) drawRates() (*plot.Plot, error) {
	p := figure.New("Derivative of the loss after training by the rate of each step", "step", "derivative")
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, figure.Decades(func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) })
	for i, s := range []struct {
		name   string
		values []float64
		width  vg.Length
	}{
		{"float64, keeps " + size(r.Rates.KeptBytes), r.Rates.Kept, 4},
		{"fixed.Q43, keeps " + size(r.Rates.FixedBytes), r.Rates.Fixed, 1},
	} {
		var xy plotter.XYs
		for j := 0; j < len(s.values); j += 1 + j/200 { // a figure shows no more
			xy = append(xy, plotter.XY{X: float64(j + 1), Y: s.values[j]})
		}
		line, err := plotter.NewLine(xy)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = figure.Color(i), s.width
		p.Add(line)
		p.Legend.Add(s.name, line)
	}
	return p, nil
}
