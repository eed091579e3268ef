// Package evals compares revnum with other tools on the evals of GradBench, from times that
// benchmarks/compare/evals.py has measured.
package evals

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/program/figure"
)

// A Row is one evaluation by one tool.
type Row struct {
	Eval, Function, Size, Tool string
	First, Min, Mean           float64 // nanoseconds
}

const header = "eval,function,size,tool,runs,first_ns,min_ns,mean_ns"

// Load reads the rows of a file that evals.py wrote.
func Load(path string) ([]Row, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	records, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(records) == 0 || strings.Join(records[0], ",") != header {
		return nil, fmt.Errorf("%s:1: expected %s", path, header)
	}
	var rows []Row
	for i, record := range records[1:] {
		row := Row{Eval: record[0], Function: record[1], Size: record[2], Tool: record[3]}
		for j, to := range []*float64{&row.First, &row.Min, &row.Mean} {
			if *to, err = strconv.ParseFloat(record[5+j], 64); err != nil || !(*to > 0) {
				return nil, fmt.Errorf("%s:%d: expected a number of nanoseconds, found %q", path, i+2, record[5+j])
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// A Ratio says how many times the mean time of the fastest other tool is ours, over the sizes
// of a function.
type Ratio struct {
	Eval, Function string
	Least, Most    float64
}

// Ratios returns the ratios of all functions that another tool has too, in the order of rows.
func Ratios(rows []Row) []Ratio {
	type evaluation struct{ eval, function, size string }
	best := map[evaluation]float64{}
	for _, r := range rows {
		k := evaluation{r.Eval, r.Function, r.Size}
		if v, ok := best[k]; r.Tool != ours && (!ok || r.Mean < v) {
			best[k] = r.Mean
		}
	}
	var ratios []Ratio
	for _, r := range rows {
		peer, ok := best[evaluation{r.Eval, r.Function, r.Size}]
		if r.Tool != ours || !ok {
			continue
		}
		v := peer / r.Mean
		i := slices.IndexFunc(ratios, func(q Ratio) bool { return q.Eval == r.Eval && q.Function == r.Function })
		if i < 0 {
			ratios = append(ratios, Ratio{r.Eval, r.Function, v, v})
			continue
		}
		ratios[i].Least, ratios[i].Most = min(ratios[i].Least, v), max(ratios[i].Most, v)
	}
	return ratios
}

const ours = "revnum"

// others are the evals for which our algorithm is not the peers'. docs/performance.md compares
// them.
var others = []string{"ht", "ode"}

// SaveFigure draws a line for each function, from the least ratio to the most, to path. It
// tells apart functions whose algorithms differ.
func SaveFigure(rows []Row, path string) error {
	ratios := Ratios(rows)
	if len(ratios) == 0 {
		return fmt.Errorf("%s: no evaluation by two tools", path)
	}
	slices.Reverse(ratios) // the first is the highest
	p := figure.New("Time of the best C++ tool over ours, mean of all runs", "times", "")
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = figure.Decades(func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) })
	p.Legend.Top = true
	var names, kinds []string
	for i, r := range ratios {
		y := float64(i)
		line, ends, err := plotter.NewLinePoints(plotter.XYs{{X: r.Least, Y: y}, {X: r.Most, Y: y}})
		if err != nil {
			return err
		}
		name, hue := "the same algorithm", 0
		if slices.Contains(others, r.Eval) {
			name, hue = "another algorithm", 1
		}
		line.Width, line.Color = vg.Points(3), figure.Color(hue)
		ends.Shape, ends.Color = draw.CircleGlyph{}, figure.Color(hue)
		p.Add(line, ends)
		if !slices.Contains(kinds, name) {
			kinds = append(kinds, name)
			p.Legend.Add(name, line)
		}
		names = append(names, r.Eval+" "+r.Function)
	}
	equal, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.5}, {X: 1, Y: float64(len(ratios)) - 0.5}})
	if err != nil {
		return err
	}
	equal.Color = color.Gray{100}
	p.Add(equal)
	p.NominalY(names...)
	figure.WholeDecades(&p.X)
	return figure.Save(p, 18*vg.Centimeter, vg.Length(3+0.55*float64(len(ratios)))*vg.Centimeter, path)
}
