package flows

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/program/figure"
	"revnum/revmodels/flow"
)

// A Depth is what a gradient takes at some depth.
type Depth struct {
	Couplings      int
	Bytes, Records int     // of the states: reversible, and recorded
	Time, Recorded float64 // seconds
}

// points is the number of points of a gradient that is measured.
const points = 256

// Depths measures gradients of flows of 1, 2, 4, ... couplings, up to the most, each for
// about the given time.
func Depths(ctx context.Context, o flow.Options, most int, budget time.Duration, report func(Depth)) error {
	for o.Depth = 1; o.Depth <= most; o.Depth *= 2 {
		m, err := flow.New[float64](o, rand.NewPCG(1, 2))
		if err != nil {
			return err
		}
		d := Depth{Couplings: o.Depth}
		for _, way := range []struct {
			record bool
			bytes  *int
			time   *float64
		}{{false, &d.Bytes, &d.Time}, {true, &d.Records, &d.Recorded}} {
			cost := m.GradientCost(points, way.record)
			*way.bytes, *way.time = cost.States, math.Inf(1)
			for begin := time.Now(); time.Since(begin) < budget || math.IsInf(*way.time, 1); {
				if err := ctx.Err(); err != nil {
					return err
				}
				start := time.Now()
				if err := cost.Run(); err != nil {
					return err
				}
				*way.time = min(*way.time, time.Since(start).Seconds())
			}
			runtime.KeepAlive(cost)
		}
		report(d)
	}
	return nil
}

var columns = []string{"couplings", "bytes", "bytes recorded", "ms", "ms recorded"}

func (d *Depth) cells() []string {
	ms := func(s float64) string { return strconv.FormatFloat(1e3*s, 'f', 2, 64) }
	return []string{strconv.Itoa(d.Couplings), strconv.Itoa(d.Bytes), strconv.Itoa(d.Records), ms(d.Time), ms(d.Recorded)}
}

// WriteTable writes the depths as a table.
func WriteTable(w io.Writer, depths []Depth) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprint(t, c, "\t")
		}
		fmt.Fprintln(t)
	}
	line(columns)
	for _, d := range depths {
		line(d.cells())
	}
	return t.Flush()
}

// WriteCSV writes the depths as CSV.
func WriteCSV(w io.Writer, depths []Depth) error {
	c := csv.NewWriter(w)
	records := [][]string{columns}
	for _, d := range depths {
		records = append(records, d.cells())
	}
	return c.WriteAll(records)
}

// SaveMemory draws the memory of a gradient against the depth.
func SaveMemory(path string, depths []Depth) error {
	p := figure.New("Memory of a gradient", "couplings", "bytes of states")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	decades := figure.Decades(func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) })
	p.X.Tick.Marker, p.Y.Tick.Marker = decades, decades
	for i, way := range []struct {
		name  string
		bytes func(d Depth) int
	}{{"reversible", func(d Depth) int { return d.Bytes }}, {"recorded", func(d Depth) int { return d.Records }}} {
		var xy plotter.XYs
		for _, d := range depths {
			xy = append(xy, plotter.XY{X: float64(d.Couplings), Y: float64(way.bytes(d))})
		}
		line, marks, err := plotter.NewLinePoints(xy)
		if err != nil {
			return err
		}
		filled, _ := figure.Glyphs(i)
		line.Color, marks.Color, marks.Shape = figure.Color(i), figure.Color(i), filled
		p.Add(line, marks)
		p.Legend.Add(way.name, line, marks)
	}
	figure.WholeDecades(&p.X)
	figure.WholeDecades(&p.Y)
	return figure.Save(p, 16*vg.Centimeter, 10*vg.Centimeter, path)
}

// half is half the side of the square that pictures show.
const half = 4.5

// A grid is a function on a square of cells. It is a plotter.GridXYZ.
type grid struct {
	n int
	z []float64
}

func (g grid) Dims() (c, r int)   { return g.n, g.n }
func (g grid) Z(c, r int) float64 { return g.z[r*g.n+c] }
func (g grid) X(c int) float64    { return half * (2*(float64(c)+0.5)/float64(g.n) - 1) }
func (g grid) Y(r int) float64    { return g.X(r) }

// SaveDensity draws the density of a flow.
func SaveDensity(path, title string, m *flow.Model[float64]) error {
	g := grid{n: 180}
	x := mat.NewDense(g.n*g.n, 2, nil)
	for r := range g.n {
		for c := range g.n {
			x.SetRow(r*g.n+c, []float64{g.X(c), g.Y(r)})
		}
	}
	g.z = make([]float64, g.n*g.n)
	if err := m.LogDensity(g.z, x); err != nil {
		return err
	}
	for i, v := range g.z {
		g.z[i] = math.Exp(v)
	}
	p := figure.Bare(title)
	colors := moreland.ExtendedBlackBody()
	colors.SetMax(1)
	heat := plotter.NewHeatMap(g, colors.Palette(200))
	heat.Rasterized = true
	p.Add(heat)
	return figure.Save(p, 12*vg.Centimeter, 12*vg.Centimeter, path)
}

// SavePoints draws the rows of x, and those of samples beside them in another colour.
func SavePoints(path, title string, x, samples *mat.Dense) error {
	p := figure.New(title, "", "")
	for i, s := range []struct {
		name   string
		points *mat.Dense
	}{{"points", x}, {"samples", samples}} {
		var xy plotter.XYs
		for j := range min(2000, s.points.RawMatrix().Rows) {
			xy = append(xy, plotter.XY{X: s.points.At(j, 0) + float64(i)*2*half, Y: s.points.At(j, 1)})
		}
		scatter, err := plotter.NewScatter(xy)
		if err != nil {
			return err
		}
		scatter.Color, scatter.Shape, scatter.Radius = figure.Color(i), draw.CircleGlyph{}, 1
		p.Add(scatter)
		p.Legend.Add(s.name, scatter)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -half, 3*half, -half, half
	p.HideX()
	return figure.Save(p, 22*vg.Centimeter, 12*vg.Centimeter, path)
}

// SaveLosses draws the losses of a fit by steps.
func SaveLosses(path string, losses []float64) error {
	p := figure.New("Mean of -log p of a batch", "step", "nats")
	xy := make(plotter.XYs, len(losses))
	for i, v := range losses {
		xy[i] = plotter.XY{X: float64(i), Y: v}
	}
	line, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	line.Color = figure.Color(0)
	p.Add(line)
	return figure.Save(p, 16*vg.Centimeter, 10*vg.Centimeter, path)
}

// Path returns the path of a file for a set of points and a kind of flow.
func Path(dir, toy string, kind flow.Kind, name string) string {
	return filepath.Join(dir, toy+"-"+kind.String()+"-"+name)
}
