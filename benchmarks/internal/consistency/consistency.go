// Package consistency learns a parameter without a gradient, by running a reversible
// function ahead and back.
//
// To find p with f(x*, p) = y*, run f from x* and p, replace the output y by y*, run f
// back, replace the x that comes out by x*, and so on. If this comes to rest, then p gives
// y*. It can come to rest at the right p only if the other outputs of f do not determine
// p. The method, and the functions F1 and F2 that show both cases, are those of J.-G. Liu
// and T. Zhao, Differentiate everything with a reversible embedded domain-specific
// language, arXiv 2003.04617, appendix "Learn by consistency".
package consistency

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"revnum/fixed"
	"revnum/program/figure"
	"revnum/rev"
)

// A Problem asks for the p with exp(p + x) - exp(x) = y.
type Problem struct {
	X, Y  float64
	P     float64 // at the start
	Steps int
}

// Solution returns the p that the problem asks for: log(y + exp x) - x.
func (p Problem) Solution() float64 { return math.Log(p.Y+math.Exp(p.X)) - p.X }

// A Run is what training by a function does.
type Run struct {
	Outputs []float64 // y after each step
	P       float64   // at the end
}

// Train trains by F2 if uncompute is set, and otherwise by F1. It returns an error if the
// output is not a finite number, and that of the context if it stops.
func Train[T rev.Real](ctx context.Context, q Problem, uncompute bool) (Run, error) {
	var r Run
	p := fixed.Of[T](q.P)
	for step := range q.Steps {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		x, y := fixed.Of[T](q.X), T(0)
		forward(&y, &x, &p, uncompute, false)
		out := fixed.Float(y)
		if math.IsNaN(out) || math.IsInf(out, 0) {
			return r, fmt.Errorf("step %d: the output is %v", step, out)
		}
		r.Outputs = append(r.Outputs, out)
		y = fixed.Of[T](q.Y)
		forward(&y, &x, &p, uncompute, true)
	}
	r.P = fixed.Float(p)
	return r, nil
}

// forward runs F1 or F2, or the inverse if back is set.
func forward[T rev.Real](y, x, p *T, uncompute, back bool) {
	switch f1, f2 := (F1[T]{Y: y, X: x, P: p}), (F2[T]{Y: y, X: x, P: p}); {
	case uncompute && back:
		f2.Inverse()
	case uncompute:
		f2.Forward()
	case back:
		f1.Inverse()
	default:
		f1.Forward()
	}
}

// Save draws the outputs of runs by steps.
func Save(path string, target float64, names []string, runs []Run) error {
	p := figure.New("Learning by consistency", "step", "output y")
	for i, r := range runs {
		var xy plotter.XYs
		for step, y := range r.Outputs {
			xy = append(xy, plotter.XY{X: float64(step), Y: y})
		}
		line, points, err := plotter.NewLinePoints(xy)
		if err != nil {
			return err
		}
		filled, _ := figure.Glyphs(i)
		line.Color, points.Color, points.Shape, points.Radius = figure.Color(i), figure.Color(i), filled, 1.5
		p.Add(line, points)
		p.Legend.Add(names[i], line, points)
	}
	goal := plotter.NewFunction(func(float64) float64 { return target })
	goal.Dashes = []vg.Length{3, 3}
	p.Add(goal)
	p.Legend.Add("target", goal)
	p.Legend.Top = true
	p.Y.Min = min(p.Y.Min, target-0.1*math.Abs(target))
	return figure.Save(p, 16*vg.Centimeter, 10*vg.Centimeter, path)
}
