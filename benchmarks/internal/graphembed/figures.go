package graphembed

import (
	"fmt"
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/benchmarks/internal/suite"
	"revnum/program/figure"
)

// SaveFigures writes the figures to the folder dir, each as PNG and as SVG: the
// losses and the times by k, and the best embeddings in 2 and 3 dimensions where
// there are any.
func (r *Report) SaveFigures(dir string) error {
	save := func(p *plot.Plot, width, height vg.Length, name string) error {
		for _, ext := range []string{".png", ".svg"} {
			if err := figure.Save(p, width, height, filepath.Join(dir, name+ext)); err != nil {
				return err
			}
		}
		return nil
	}
	const width, height = 18 * vg.Centimeter, 11 * vg.Centimeter
	if err := save(r.lossFigure(), width, height, "loss"); err != nil {
		return err
	}
	if err := save(r.timesFigure(), width, height, "times"); err != nil {
		return err
	}
	for i := range r.Rows {
		if x := &r.Rows[i]; x.K == 2 || x.K == 3 {
			if err := save(r.embedding(x), 15*vg.Centimeter, 13*vg.Centimeter, fmt.Sprintf("embedding_k%d", x.K)); err != nil {
				return err
			}
		}
	}
	return nil
}

// floor is the least loss that is shown. Smaller losses are shown as floor.
const floor = 1e-32

// lossFigure has the loss of every start, and the best and the median, by k.
func (r *Report) lossFigure() *plot.Plot {
	p := figure.New(fmt.Sprintf("%s: losses of %d starts", r.Graph, r.Starts), "dimensions k", "loss")
	var all, best, median plotter.XYs
	for i := range r.Rows {
		x := &r.Rows[i]
		for j, v := range x.Losses {
			if loss := float64(v); !math.IsNaN(loss) && !math.IsInf(loss, 0) {
				// Draw them side by side, because many are equal.
				offset := 0.5 * (float64(j)/float64(len(x.Losses)) - 0.5)
				all = append(all, plotter.XY{X: float64(x.K) + offset, Y: max(loss, floor)})
			}
		}
		best = append(best, plotter.XY{X: float64(x.K), Y: max(float64(x.Losses[0]), floor)})
		median = append(median, plotter.XY{X: float64(x.K), Y: max(x.median(), floor)})
	}
	dots := &plotter.Scatter{XYs: all, GlyphStyle: draw.GlyphStyle{
		Color: color.NRGBA{120, 120, 120, 130}, Radius: vg.Points(1.2), Shape: draw.CircleGlyph{}}}
	p.Add(dots)
	p.Legend.Add("a start", dots)
	for i, s := range []struct {
		name string
		xy   plotter.XYs
	}{{"median", median}, {"best", best}} {
		line, points := series(s.xy, 1-i)
		p.Add(line, points)
		p.Legend.Add(s.name, line, points)
	}
	p.Y.Scale = plot.LogScale{}
	p.Y.Min, p.Y.Max = min(p.Y.Min, 1e-3), max(p.Y.Max, 1)
	figure.WholeDecades(&p.Y)
	p.Y.Tick.Marker = figure.Decades(func(v float64) string {
		switch {
		case v <= floor:
			return "0"
		case v == 1:
			return "1"
		}
		return strings.Replace(fmt.Sprintf("%.0e", v), "e-0", "e-", 1)
	})
	r.dimensions(p)
	return p
}

// timesFigure has the times of loss, gradient and Hessians by k.
func (r *Report) timesFigure() *plot.Plot {
	p := figure.New(r.Graph+": objective, gradient and Hessian, one worker", "dimensions k", "time")
	p.Y.Scale = plot.LogScale{}
	for i, s := range []struct {
		name string
		time func(x *Row) float64
	}{
		{"Hessian by differences", func(x *Row) float64 { return x.FDH }},
		{"Hessian, unstructured", func(x *Row) float64 { return x.U }},
		{"Hessian", func(x *Row) float64 { return x.H }},
		{"gradient", func(x *Row) float64 { return x.G }},
		{"objective", func(x *Row) float64 { return x.F }},
	} {
		var xy plotter.XYs
		for j := range r.Rows {
			if v := s.time(&r.Rows[j]); v > 0 {
				xy = append(xy, plotter.XY{X: float64(r.Rows[j].K), Y: v})
			}
		}
		if len(xy) == 0 {
			continue
		}
		line, points := series(xy, i)
		p.Add(line, points)
		p.Legend.Add(s.name, line, points)
	}
	figure.WholeDecades(&p.Y)
	p.Y.Tick.Marker = figure.Decades(suite.Seconds)
	r.dimensions(p)
	return p
}

// series returns the line and points of series i.
func series(xy plotter.XYs, i int) (*plotter.Line, *plotter.Scatter) {
	shape, _ := figure.Glyphs(i)
	return &plotter.Line{XYs: xy, LineStyle: draw.LineStyle{Color: figure.Color(i), Width: vg.Points(1.5)}},
		&plotter.Scatter{XYs: xy, GlyphStyle: draw.GlyphStyle{Color: figure.Color(i), Radius: vg.Points(3), Shape: shape}}
}

// dimensions makes the axis of x one of the numbers of dimensions.
func (r *Report) dimensions(p *plot.Plot) {
	var ticks plot.ConstantTicks
	for _, x := range r.Rows {
		ticks = append(ticks, plot.Tick{Value: float64(x.K), Label: strconv.Itoa(x.K)})
	}
	p.X.Tick.Marker = ticks
	p.X.Min, p.X.Max = ticks[0].Value-0.5, ticks[len(ticks)-1].Value+0.5
}

// embedding has the edges and vertices of the best embedding, projected on its
// first two principal axes. Vertices are larger along the third.
func (r *Report) embedding(x *Row) *plot.Plot {
	xy, depth := project(x.best)
	title := fmt.Sprintf("%s in %d dimensions, loss %.3g", r.Graph, x.K, x.Losses[0])
	if x.K > 2 {
		title += " (projected)"
	}
	p := figure.New(title, "along the first principal axis", "along the second")
	for i := range r.Vertices {
		for _, j := range r.graph.Later(i) {
			line := &plotter.Line{XYs: plotter.XYs{xy[i], xy[j]}}
			line.Color, line.Width = figure.Color(0), vg.Points(1.4)
			p.Add(line)
		}
	}
	least, most := slices.Min(depth), slices.Max(depth)
	for i, at := range xy {
		radius := vg.Points(9)
		if most > least {
			radius = vg.Points(7 + 4*(depth[i]-least)/(most-least))
		}
		vertex := &plotter.Scatter{XYs: plotter.XYs{at}, GlyphStyle: draw.GlyphStyle{
			Color: figure.Color(4), Radius: radius, Shape: draw.CircleGlyph{}}}
		rim := &plotter.Scatter{XYs: plotter.XYs{at}, GlyphStyle: draw.GlyphStyle{
			Color: color.Black, Radius: radius, Shape: draw.RingGlyph{}}}
		p.Add(vertex, rim)
	}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: xy, Labels: r.graph.Labels})
	if err == nil { // there are as many labels as vertices
		for i := range labels.TextStyle {
			labels.TextStyle[i].Font = p.Legend.TextStyle.Font
			labels.TextStyle[i].XAlign, labels.TextStyle[i].YAlign = draw.XCenter, draw.YCenter
		}
		p.Add(labels)
	}
	square(p)
	return p
}

// project returns the rows of x along their first two principal axes, and along
// the third, or 0 where there is none.
func project(x *mat.Dense) (xy plotter.XYs, depth []float64) {
	n, d := x.Dims()
	centred := mat.DenseCopyOf(x)
	for j := range d {
		mean := stat.Mean(mat.Col(nil, j, x), nil)
		for i := range n {
			centred.Set(i, j, x.At(i, j)-mean)
		}
	}
	xy, depth = make(plotter.XYs, n), make([]float64, n)
	var pc stat.PC
	var vectors, at mat.Dense
	if n > 1 && pc.PrincipalComponents(centred, nil) {
		pc.VectorsTo(&vectors)
		at.Mul(centred, &vectors)
	} else {
		at.CloneFrom(centred)
	}
	_, c := at.Dims() // fewer where there are fewer points
	for i := range xy {
		xy[i].X = at.At(i, 0)
		if c > 1 {
			xy[i].Y = at.At(i, 1)
		}
		if c > 2 {
			depth[i] = at.At(i, 2)
		}
	}
	return xy, depth
}

// square gives both axes one scale, with room for the vertices.
func square(p *plot.Plot) {
	x, y := (p.X.Min+p.X.Max)/2, (p.Y.Min+p.Y.Max)/2
	half := 0.56 * max(p.X.Max-p.X.Min, p.Y.Max-p.Y.Min, 1e-3)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x-half, x+half, y-half, y+half
}
