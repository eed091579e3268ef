package acoustics

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"revnum/benchmarks/internal/suite"
	"revnum/program/figure"
	"revnum/revmodels/wave"
)

// Inversion is what an inversion found.
type Inversion struct {
	Survey                  wave.Survey
	Truth, Start, Recovered *mat.Dense // speeds
	Before, After           float64    // misfits
	Iterations, Gradients   int
	Time                    float64 // seconds
}

// The section of the ground: 0.8 km deep and 1.6 km wide, with 10 m cells.
const (
	depth, length   = 80, 160
	spacing         = 10.
	slowest, quick  = 1500., 3200.
	edge            = 16 // damped cells, without sources and receivers
	between, around = 24, 3

	// MostShots is the number of sources that fit the top.
	MostShots = 6
)

// background is the speed that the inversion begins with. It grows with depth.
func background(i int) float64 { return 1900 + 6*float64(i) }

// ground returns the speed of a cell: a fast lens, a slow one, and a layer with a fault.
func ground(i, j int) float64 {
	c := background(i)
	lens := func(row, col, height, width, by float64) {
		y, x := (float64(i)-row)/height, (float64(j)-col)/width
		r2 := x*x + y*y
		c += by * math.Exp(-r2*r2)
	}
	lens(30, 50, 7, 14, 350)
	lens(36, 108, 6, 12, -300)
	top := 50.
	if j > 84 {
		top = 45
	}
	c += 250 / (1 + math.Exp(-1.5*(float64(i)-top)))
	return c
}

// section returns the survey: sources along the top, and receivers on all four sides.
func section(shots, workers int) wave.Survey {
	s := wave.Survey{
		Rows: depth, Cols: length, Spacing: spacing, Dt: 0.0018, Steps: 520,
		Damping: wave.Damping{Width: edge - 1, Loss: 0.25}, Workers: workers,
	}
	var receivers []wave.Cell
	for j := edge; j < length-edge; j += around {
		receivers = append(receivers, wave.Cell{Row: edge, Col: j}, wave.Cell{Row: depth - 1 - edge, Col: j})
	}
	for i := edge + 1; i < depth-1-edge; i += around {
		receivers = append(receivers, wave.Cell{Row: i, Col: edge}, wave.Cell{Row: i, Col: length - 1 - edge})
	}
	for i := range shots {
		at := wave.Cell{Row: edge, Col: edge + 4 + i*MostShots*between/shots}
		s.Shots = append(s.Shots, wave.Shot{At: at, Wavelet: wave.Ricker(14, s.Dt, 200), Receivers: receivers})
	}
	return s
}

func invert(ctx context.Context, shots, iterations, workers int, report func(doing string)) (Inversion, error) {
	v := Inversion{Survey: section(shots, workers), Truth: mat.NewDense(depth, length, nil), Start: mat.NewDense(depth, length, nil)}
	for i := range depth {
		for j := range length {
			v.Truth.Set(i, j, ground(i, j))
			v.Start.Set(i, j, background(i))
		}
	}
	report("recordings")
	recordings, err := v.Survey.Record(v.Truth)
	if err != nil {
		return v, err
	}
	problem, err := wave.NewInversion(v.Survey, recordings, slowest, quick)
	if err != nil {
		return v, err
	}
	x, err := problem.Variables(v.Start)
	if err != nil {
		return v, err
	}
	begin, gradients := time.Now(), 0
	v.Before = problem.Func(x)
	r, err := optimize.Minimize(optimize.Problem{
		Func: problem.Func, Grad: problem.Grad,
		Status: func() (optimize.Status, error) {
			report(fmt.Sprintf("inversion, gradient %d", gradients))
			gradients++
			return optimize.NotTerminated, errors.Join(ctx.Err(), problem.Err())
		},
	}, x, &optimize.Settings{MajorIterations: iterations}, &optimize.LBFGS{})
	if r == nil || ctx.Err() != nil || problem.Err() != nil {
		return v, errors.Join(ctx.Err(), problem.Err(), err)
	}
	v.Time = time.Since(begin).Seconds()
	v.After, v.Iterations, v.Gradients = r.F, r.MajorIterations, r.GradEvaluations
	v.Recovered = problem.Speeds(r.X)
	return v, nil
}

// off returns the root of the mean square of the difference from the truth, where no cell
// is damped.
func (v *Inversion) off(c *mat.Dense) float64 {
	var sum float64
	n := 0
	for i := edge; i < depth-edge; i++ {
		for j := edge; j < length-edge; j++ {
			d := c.At(i, j) - v.Truth.At(i, j)
			sum += d * d
			n++
		}
	}
	return math.Sqrt(sum / float64(n))
}

func (v *Inversion) write(w io.Writer) {
	s := &v.Survey
	fmt.Fprintf(w, "\ninversion of %d×%d cells, %d shots of %d steps, %d receivers: %d iterations, %d gradients, %s\n",
		s.Rows, s.Cols, len(s.Shots), s.Steps, len(s.Shots[0].Receivers), v.Iterations, v.Gradients, suite.Seconds(v.Time))
	fmt.Fprintf(w, "misfit %.3g -> %.3g; speeds off by %.0f -> %.0f m/s\n", v.Before, v.After, v.off(v.Start), v.off(v.Recovered))
}

// speeds is a plotter.GridXYZ that draws a matrix with its first row at the top.
type speeds struct{ *mat.Dense }

func (s speeds) Dims() (c, r int) { r, c = s.Dense.Dims(); return c, r }
func (s speeds) Z(c, r int) float64 {
	rows, _ := s.Dense.Dims()
	return s.At(rows-1-r, c)
}
func (s speeds) X(c int) float64 { return spacing * float64(c) / 1000 }
func (s speeds) Y(r int) float64 {
	rows, _ := s.Dense.Dims()
	return -spacing * float64(rows-1-r) / 1000
}

// SaveFigures writes the speeds to the folder dir, as PNG: the truth, the start and what
// was recovered.
func (r *Report) SaveFigures(dir string) error {
	v := &r.Inversion
	colors := moreland.Kindlmann()
	colors.SetMin(mat.Min(v.Truth))
	colors.SetMax(mat.Max(v.Truth))
	var plots [][]*plot.Plot
	var heights []vg.Length
	for _, m := range []struct {
		title  string
		speeds *mat.Dense
	}{{"Speeds of the ground", v.Truth}, {"Start of the inversion", v.Start},
		{fmt.Sprintf("Recovered in %d iterations", v.Iterations), v.Recovered}} {
		p := figure.Bare(fmt.Sprintf("%s (%.0f to %.0f m/s)", m.title, mat.Min(m.speeds), mat.Max(m.speeds)))
		p.X.Label.Text, p.Y.Label.Text = "km", "depth (km)"
		heat := plotter.NewHeatMap(speeds{m.speeds}, colors.Palette(255))
		heat.Min, heat.Max = mat.Min(v.Truth), mat.Max(v.Truth)
		heat.Rasterized = true
		heat.Underflow, heat.Overflow = heat.Palette.Colors()[0], heat.Palette.Colors()[254]
		p.Add(heat)
		if m.speeds == v.Truth {
			if err := v.marks(p); err != nil {
				return err
			}
		}
		plots, heights = append(plots, []*plot.Plot{p}), append(heights, 8*vg.Centimeter)
	}
	return figure.SaveGrid(plots, 16*vg.Centimeter, heights, filepath.Join(dir, "inversion.png"))
}

// marks draws sources and receivers.
func (v *Inversion) marks(p *plot.Plot) error {
	at := func(c wave.Cell) plotter.XY {
		return plotter.XY{X: spacing * float64(c.Col) / 1000, Y: -spacing * float64(c.Row) / 1000}
	}
	var sources, receivers plotter.XYs
	for _, s := range v.Survey.Shots {
		sources = append(sources, at(s.At))
	}
	for _, c := range v.Survey.Shots[0].Receivers {
		receivers = append(receivers, at(c))
	}
	for i, xy := range []plotter.XYs{receivers, sources} {
		marks, err := plotter.NewScatter(xy)
		if err != nil {
			return err
		}
		marks.Color, marks.Radius = color.White, vg.Length(1+3*i)
		p.Add(marks)
	}
	return nil
}
