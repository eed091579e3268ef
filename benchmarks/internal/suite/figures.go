package suite

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"revnum/program/figure"
)

const (
	figureWidth  = 18 * vg.Centimeter
	figureHeight = 12 * vg.Centimeter
)

// series is a line of a figure: the results of one series of problems with a
// gradient on one worker, by the number of parameters.
type series struct {
	name    string
	results []Result
}

func (r *Report) series() []series {
	var all []series
	for _, x := range r.Results {
		if x.Workers != 1 || x.J == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(s series) bool { return s.name == x.Series })
		if i < 0 {
			i = len(all)
			all = append(all, series{name: x.Series})
		}
		all[i].results = append(all[i].results, x)
	}
	for _, s := range all {
		slices.SortStableFunc(s.results, func(a, b Result) int { return a.Params - b.Params })
	}
	return all
}

func (s *series) points(y func(Result) float64) plotter.XYs {
	xy := make(plotter.XYs, len(s.results))
	for i, r := range s.results {
		xy[i] = plotter.XY{X: float64(r.Params), Y: y(r)}
	}
	return xy
}

// SaveFigures writes the figures to the folder dir, each as PNG and as SVG. It
// writes none if no problem has a gradient.
func (r *Report) SaveFigures(dir string) error {
	all := r.series()
	if len(all) == 0 {
		return nil
	}
	times, err := timesFigure(all)
	if err != nil {
		return err
	}
	ratios, err := ratiosFigure(all)
	if err != nil {
		return err
	}
	for _, ext := range []string{".png", ".svg"} {
		if err := figure.Save(times, figureWidth, figureHeight, filepath.Join(dir, "times"+ext)); err != nil {
			return err
		}
		if err := figure.Save(ratios, figureWidth, figureHeight, filepath.Join(dir, "ratios"+ext)); err != nil {
			return err
		}
	}
	return nil
}

// timesFigure has the times of objectives (dashed, hollow) and of gradients
// (solid, filled), both axes logarithmic.
func timesFigure(all []series) (*plot.Plot, error) {
	p := figure.New("Gradient with value (solid) and objective (dashed), one worker", "parameters", "time")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = figure.Decades(count)
	p.Y.Tick.Marker = figure.Decades(Seconds)
	for i, s := range all {
		j, jPoints, err := plotter.NewLinePoints(s.points(func(r Result) float64 { return r.J }))
		if err != nil {
			return nil, err
		}
		f, fPoints, err := plotter.NewLinePoints(s.points(func(r Result) float64 { return r.F }))
		if err != nil {
			return nil, err
		}
		style(j, jPoints, i)
		style(f, fPoints, i)
		f.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		_, fPoints.Shape = figure.Glyphs(i)
		p.Add(f, fPoints, j, jPoints)
		p.Legend.Add(s.name, j, jPoints)
	}
	figure.WholeDecades(&p.X)
	figure.WholeDecades(&p.Y)
	return p, nil
}

// ratiosFigure has the time of a gradient, the value included, in times of
// that of its objective.
func ratiosFigure(all []series) (*plot.Plot, error) {
	p := figure.New("Gradient with value, in times of its objective, one worker", "parameters", "J / F")
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = figure.Decades(count)
	for i, s := range all {
		line, points, err := plotter.NewLinePoints(s.points(func(r Result) float64 { return r.Ratio }))
		if err != nil {
			return nil, err
		}
		style(line, points, i)
		p.Add(line, points)
		p.Legend.Add(s.name, line, points)
	}
	figure.WholeDecades(&p.X)
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker, p.Y.Min, p.Y.Max = RatioTicks(min(p.Y.Min, 1), max(p.Y.Max, 4))
	return p, nil
}

// RatioTicks returns ticks at round numbers from the last that is at most low to
// the first that is at least high, and ends of an axis that shows them all.
func RatioTicks(low, high float64) (ticks plot.ConstantTicks, from, to float64) {
	for e := math.Floor(math.Log10(low)); ; e++ {
		for _, digit := range []float64{1, 1.5, 2, 3, 4, 5, 7} {
			v := digit * math.Pow(10, e)
			if v <= low {
				ticks = ticks[:0]
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 3, 64)})
			if v >= high {
				const room = 1.05
				return ticks, ticks[0].Value / room, v * room
			}
		}
	}
}

func style(line *plotter.Line, points *plotter.Scatter, i int) {
	line.Color, points.Color = figure.Color(i), figure.Color(i)
	line.Width = vg.Points(1.5)
	points.Shape, _ = figure.Glyphs(i)
	points.Radius = vg.Points(3)
}

// count returns a power of ten for people.
func count(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.0fM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0fk", v/1e3)
	}
	return fmt.Sprintf("%.0f", v)
}
