package figure

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/benchmarks/internal/dataset"
	"revnum/revmodels/gmm"
)

// maxPoints is how many points a scatter plot shows; more would be one blot,
// and a file of many megabytes.
const maxPoints = 20000

// Mixture returns a scatter plot of columns i and j of t, coloured by the most
// probable component of m, with the ellipses of one and two standard
// deviations of each component's marginal distribution.
func Mixture(t *dataset.Table, m *gmm.Mixture, i, j int) *plot.Plot {
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
	const maxLegend = 24
	means, covariances, weights := m.Means(), m.Covariances(), m.Weights()
	for c, xy := range points {
		scatter := &plotter.Scatter{XYs: xy}
		fill := Color(c)
		fill.A = 150
		scatter.GlyphStyle = draw.GlyphStyle{Color: fill, Radius: vg.Points(1.8), Shape: draw.CircleGlyph{}}
		p.Add(scatter)
		if c < maxLegend {
			p.Legend.Add("component "+strconv.Itoa(c)+fmt.Sprintf(" (%.3g%%)", 100*weights[c]), scatter)
		}
	}
	for c := range points {
		x, y := means.At(c, i), means.At(c, j)
		cov := covariances[c]
		for _, sigmas := range []float64{1, 2} {
			line := &plotter.Line{XYs: ellipse(x, y, cov.At(i, i), cov.At(i, j), cov.At(j, j), sigmas)}
			line.Color, line.Width = Color(c), vg.Points(1.6)
			p.Add(line)
		}
		centre := &plotter.Scatter{XYs: plotter.XYs{{X: x, Y: y}}}
		centre.GlyphStyle = draw.GlyphStyle{Color: Palette[len(Palette)-1], Radius: vg.Points(4), Shape: draw.PlusGlyph{}}
		p.Add(centre)
	}
	return p
}

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
