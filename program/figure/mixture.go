package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/program/dataset"
	"revnum/revmodels/gmm"
)

// maxPoints is the largest number of points in a scatter plot. More would be one blot,
// in a file of many megabytes.
const maxPoints = 20000

// Mixture plots one or two columns of t with the marginal distributions of the
// components of m. One column gives a histogram with densities, two a scatter plot.
// Components without points are omitted.
func Mixture(t *dataset.Table, m *gmm.Mixture, cols ...int) *plot.Plot {
	if len(cols) == 1 {
		return histogram(t, m, cols[0])
	}
	return scatter(t, m, cols[0], cols[1])
}

// components lists the components to draw: those with at least the weight of half a
// point.
func components(t *dataset.Table, m *gmm.Mixture) (list []int) {
	n, _ := t.X.Dims()
	for c, w := range m.Weights() {
		if w*float64(n) >= 0.5 {
			list = append(list, c)
		}
	}
	return list
}

// maxLegend is the largest number of components in a legend.
const maxLegend = 24

// name returns the legend's text for component c.
func name(m *gmm.Mixture, c int) string {
	return fmt.Sprintf("component %d (%.3g%%)", c, 100*m.Weights()[c])
}

// histogram plots column j of t, the density of each component of m, and the sum of the
// densities.
func histogram(t *dataset.Table, m *gmm.Mixture, j int) *plot.Plot {
	x := plotter.Values(mat.Col(nil, j, t.X))
	p := New(fmt.Sprintf("%d points, %d components", len(x), m.Components()), t.ColumnName(j), "density")
	low, high := slices.Min(x), slices.Max(x)
	if high > low {
		bars, err := plotter.NewHist(x, min(100, 1+int(2*math.Cbrt(float64(len(x))))))
		if err == nil {
			bars.Normalize(1)
			bars.FillColor, bars.LineStyle.Width = color.Gray{220}, 0
			p.Add(bars)
		}
	}
	const steps = 400
	total := make(plotter.XYs, steps+1)
	means, covariances, weights := m.Means(), m.Covariances(), m.Weights()
	colors := Colors(m.Components())
	line := func(xy plotter.XYs, c color.Color, name string) {
		l := &plotter.Line{XYs: xy}
		l.Color, l.Width = c, vg.Points(1.6)
		p.Add(l)
		if name != "" {
			p.Legend.Add(name, l)
		}
	}
	for n, c := range components(t, m) {
		normal := distuv.Normal{Mu: means.At(c, j), Sigma: math.Sqrt(covariances[c].At(j, j))}
		xy := make(plotter.XYs, steps+1)
		for i := range xy {
			at := low + (high-low)*float64(i)/steps
			xy[i] = plotter.XY{X: at, Y: weights[c] * normal.Prob(at)}
			total[i].X = at
			total[i].Y += xy[i].Y
		}
		label := ""
		if n < maxLegend {
			label = name(m, c)
		}
		line(xy, colors[c], label)
	}
	line(total, color.Gray{90}, "all")
	return p
}

// scatter plots column j of t against column i. Each point has the colour of its most
// probable component. Each component has the ellipses of one and two standard
// deviations of its marginal distribution.
func scatter(t *dataset.Table, m *gmm.Mixture, i, j int) *plot.Plot {
	n, _ := t.X.Dims()
	step := (n + maxPoints - 1) / maxPoints
	title := fmt.Sprintf("%d points, %d components: ellipses at 1 and 2 σ", n, m.Components())
	if step > 1 {
		title = fmt.Sprintf("1 in %d of ", step) + title
	}
	p := New(title, t.ColumnName(i), t.ColumnName(j))

	points := make([]plotter.XYs, m.Components())
	for row, label := range m.Predict(t.X) {
		if row%step == 0 && label >= 0 {
			points[label] = append(points[label], plotter.XY{X: t.X.At(row, i), Y: t.X.At(row, j)})
		}
	}
	drawn, colors := components(t, m), Colors(m.Components())
	for n, c := range drawn {
		scatter := &plotter.Scatter{XYs: points[c]}
		fill := colors[c]
		fill.A = 150
		scatter.GlyphStyle = draw.GlyphStyle{Color: fill, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}
		p.Add(scatter)
		if n < maxLegend {
			p.Legend.Add(name(m, c), scatter)
		}
	}
	means, covariances := m.Means(), m.Covariances()
	for _, c := range drawn {
		x, y := means.At(c, i), means.At(c, j)
		cov := covariances[c]
		for _, sigmas := range []float64{1, 2} {
			xy := ellipse(x, y, cov.At(i, i), cov.At(i, j), cov.At(j, j), sigmas)
			edge, line := &plotter.Line{XYs: xy}, &plotter.Line{XYs: xy} // dark, with light edges: seen among points of its colour
			edge.Color, edge.Width = color.White, vg.Points(3.2)
			line.Color, line.Width = darker(colors[c]), vg.Points(1.6)
			p.Add(edge, line)
		}
		centre := &plotter.Scatter{XYs: plotter.XYs{{X: x, Y: y}}}
		centre.GlyphStyle = draw.GlyphStyle{Color: Palette[len(Palette)-1], Radius: vg.Points(4), Shape: draw.PlusGlyph{}}
		p.Add(centre)
	}
	return p
}

// darker returns c with half its light.
func darker(c color.NRGBA) color.NRGBA { return color.NRGBA{c.R / 2, c.G / 2, c.B / 2, c.A} }

// ellipse returns the points μ + s·L·(cos φ, sin φ), where L is the Cholesky
// factor of the covariance [a b; b c]: the contour at s standard deviations.
func ellipse(x, y, a, b, c, s float64) plotter.XYs {
	l11 := math.Sqrt(a)
	l21 := b / l11
	l22 := math.Sqrt(max(0, c-l21*l21)) // 0 for a column against itself
	const steps = 128
	xy := make(plotter.XYs, steps+1)
	for i := range xy {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / steps)
		xy[i] = plotter.XY{X: x + s*l11*cos, Y: y + s*(l21*cos+l22*sin)}
	}
	return xy
}
