package bundle

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/program/figure"
	"revnum/revmodels/ba"
)

// Run is a solution together with its start.
type Run struct {
	Name          string
	Before, After *ba.Problem
	Report        *ba.Report
}

// SaveFigures writes figures to the folder dir: the convergence and the histogram of
// reprojection errors as PNG and SVG, and views of the cameras and points before and
// after as PNG only. SVG would be too large for so many points.
func (r *Run) SaveFigures(dir string) error {
	const width = 18 * vg.Centimeter
	for _, ext := range []string{".png", ".svg"} {
		err := figure.SaveGrid(r.convergence(), width, []vg.Length{7 * vg.Centimeter, 7 * vg.Centimeter}, filepath.Join(dir, "convergence"+ext))
		if err != nil {
			return err
		}
		err = figure.SaveGrid([][]*plot.Plot{{r.histogram()}}, width, []vg.Length{9 * vg.Centimeter}, filepath.Join(dir, "errors"+ext))
		if err != nil {
			return err
		}
	}
	views, heights := r.views(width)
	return figure.SaveGrid(views, width, heights, filepath.Join(dir, "views.png"))
}

// A quantity is a value per iteration, for a logarithmic axis.
type quantity struct {
	name string
	of   func(it *ba.Iteration) float64
}

// convergence plots the cost against the iterations, and in a second figure how far the
// cost and the gradient still have to go.
func (r *Run) convergence() [][]*plot.Plot {
	report := r.Report
	cost := figure.New(fmt.Sprintf("%s: %v, by %v in %.3g s", r.Name, report.Status, report.Method, report.Duration.Seconds()), "iteration", "cost")
	r.addQuantities(cost, []quantity{{"cost", func(it *ba.Iteration) float64 { return it.Cost }}})
	rest := figure.New("", "iteration", "relative to the start")
	r.addQuantities(rest, []quantity{
		{"cost less that at the end", func(it *ba.Iteration) float64 { return (it.Cost - report.Final) / (report.Initial - report.Final) }},
		{"largest element of the gradient", func(it *ba.Iteration) float64 { return it.Gradient / report.Iterations[0].Gradient }},
	})
	return [][]*plot.Plot{{cost}, {rest}}
}

// addQuantities adds quantities to p, with crosses for rejected steps.
func (r *Run) addQuantities(p *plot.Plot, quantities []quantity) {
	var refused plotter.XYs
	p.Y.Min, p.Y.Max = math.Inf(1), math.Inf(-1)
	for k, q := range quantities {
		var line, taken plotter.XYs
		for i := range r.Report.Iterations {
			it := &r.Report.Iterations[i]
			xy := plotter.XY{X: float64(it.Number), Y: q.of(it)}
			switch {
			case !(xy.Y > 0) || math.IsInf(xy.Y, 0):
				continue // has no place on the axis
			case it.Taken || i == 0:
				taken = append(taken, xy)
			default:
				refused = append(refused, xy)
			}
			line = append(line, xy)
		}
		if line == nil {
			continue
		}
		shape, _ := figure.Glyphs(k)
		curve := &plotter.Line{XYs: line, LineStyle: draw.LineStyle{Color: figure.Color(k), Width: vg.Points(1.4)}}
		dots := &plotter.Scatter{XYs: taken, GlyphStyle: draw.GlyphStyle{Color: figure.Color(k), Radius: vg.Points(2.2), Shape: shape}}
		p.Add(curve, dots)
		p.Legend.Add(q.name, curve, dots)
	}
	if refused != nil {
		crosses := &plotter.Scatter{XYs: refused, GlyphStyle: draw.GlyphStyle{Color: figure.Color(6), Radius: vg.Points(3), Shape: draw.CrossGlyph{}}}
		p.Add(crosses)
		p.Legend.Add("step refused", crosses)
	}
	p.Legend.Top = true
	p.X.Min, p.X.Max = 0, float64(max(1, len(r.Report.Iterations)-1))
	p.X.Tick.Marker = wholeTicks{}
	if !(p.Y.Min <= p.Y.Max) {
		p.Y.Min, p.Y.Max = 1, 10
	}
	const room = 1.25 // for the legend, relative to the axis
	if p.Y.Max < 4*p.Y.Min {
		p.Y.Max += (room - 1) * (p.Y.Max - p.Y.Min)
		return
	}
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = within{figure.Decades(scientific)}
	figure.WholeDecades(&p.Y)
	p.Y.Max *= math.Pow(p.Y.Max/p.Y.Min, room-1)
}

// scientific returns the label of a power of ten.
func scientific(v float64) string {
	if v >= 0.01 && v <= 1000 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprintf("1e%d", int(math.Round(math.Log10(v))))
}

// wholeTicks selects the ticks of plot.DefaultTicks that are integers.
type wholeTicks struct{}

// Ticks implements plot.Ticker.
func (wholeTicks) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	ticks = slices.DeleteFunc(ticks, func(t plot.Tick) bool { return t.Value != math.Trunc(t.Value) })
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strconv.Itoa(int(ticks[i].Value))
		}
	}
	return ticks
}

// histogram shows the distribution of the reprojection errors before and after. Errors
// differ by orders of magnitude, so the axis is logarithmic.
func (r *Run) histogram() *plot.Plot {
	const perDecade = 10
	before, after := ErrorsOf(r.Before), ErrorsOf(r.After)
	p := figure.New(fmt.Sprintf("%s: reprojection errors of %d observations", r.Name, len(after)), "reprojection error in pixels", "observations")
	// A few errors that are zero or very large must not stretch the axis.
	low := max(1e-9, min(before.Quantile(0.005), after.Quantile(0.005)))
	high := min(1e9, max(before.Quantile(0.999), after.Quantile(0.999), 2*low))
	first := math.Floor(perDecade*math.Log10(low)) / perDecade
	bins := int(math.Ceil(perDecade * (math.Log10(high) - first)))
	for i, s := range []struct {
		name string
		e    Errors
	}{{"before", before}, {"after", after}} {
		count := make([]float64, bins)
		for _, v := range s.e {
			if v >= 0 && !math.IsInf(v, 0) { // what is at depth zero has none
				bin := perDecade * (math.Log10(max(v, low)) - first)
				count[min(max(0, int(bin)), bins-1)]++
			}
		}
		outline := plotter.XYs{{X: math.Pow(10, first), Y: 0}}
		for j, c := range count {
			for k := range 2 {
				outline = append(outline, plotter.XY{X: math.Pow(10, first+float64(j+k)/perDecade), Y: c})
			}
		}
		outline = append(outline, plotter.XY{X: outline[len(outline)-1].X, Y: 0})
		fill := figure.Color(1 - i)
		fill.A = 70
		area := &plotter.Line{XYs: outline, FillColor: fill, LineStyle: draw.LineStyle{Color: figure.Color(1 - i), Width: vg.Points(1.4)}}
		p.Add(area)
		p.Legend.Add(fmt.Sprintf("%s: median %.3g, 90 %% below %.3g", s.name, s.e.Quantile(0.5), s.e.Quantile(0.9)), area)
	}
	p.Legend.Top = true
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = within{figure.Decades(scientific)}
	p.X.Min, p.X.Max = math.Pow(10, first), math.Pow(10, first+float64(bins)/perDecade)
	p.Y.Min = 0
	p.Y.Max = 1.3 * max(1, p.Y.Max) // room for the legend
	return p
}

// within selects the ticks of another ticker that are on the axis.
type within struct{ plot.Ticker }

// Ticks implements plot.Ticker.
func (w within) Ticks(low, high float64) []plot.Tick {
	return slices.DeleteFunc(w.Ticker.Ticks(low, high), func(t plot.Tick) bool { return t.Value < low || t.Value > high })
}

// views returns the cameras and points before and after, from above and from the side,
// in a figure of the given width, and the heights of its rows.
func (r *Run) views(width vg.Length) (rows [][]*plot.Plot, heights []vg.Length) {
	const title = 1.6 * vg.Centimeter
	axes := AxesOf(r.After)
	// All views show the same region. Nearly everything lies in it after the solution.
	bounds := boundsOf(r.After, &axes)
	breadth := bounds[0][1] - bounds[0][0]
	for i, from := range []string{"from above", "from the side"} {
		var row []*plot.Plot
		for j, p := range []*ba.Problem{r.Before, r.After} {
			when := [2]string{"before", "after"}[j]
			f := figure.Bare(when + ", " + from)
			if i == 0 {
				f.Title.Text = fmt.Sprintf("%s %s: median error %.3g px\n%s", r.Name, when, ErrorsOf(p).Quantile(0.5), from)
			}
			f.Title.TextStyle.Font.Size = 10
			f.HideAxes()
			f.Add(&view{
				problem: p, axes: [2][3]float64{axes[0], axes[1+i]}, bounds: [2][2]float64{bounds[0], bounds[1+i]},
				camera: breadth / (30 + float64(p.NumCameras())/8),
			})
			row = append(row, f)
		}
		rows = append(rows, row)
		// The height keeps the proportions, within limits.
		height := (bounds[1+i][1] - bounds[1+i][0]) / breadth
		heights = append(heights, title+width/2*vg.Length(min(max(height, 0.2), 1.2)))
	}
	return rows, heights
}
