// Package evals compares revnum with other tools on the evals of GradBench. It runs GradBench's own
// command, and reads its logs.
package evals

import (
	"encoding/csv"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/program/figure"
)

// A Row is one evaluation by one tool. Times are nanoseconds, and 0 if there was no run.
type Row struct {
	Eval, Function, Size, Tool string
	MinSeconds                 float64 // for which the tool was asked to repeat it
	Runs                       int
	First, Min, Mean           float64
	Outcome                    string
}

// add adds the time of a run.
func (r *Row) add(ns float64) {
	if r.Runs == 0 {
		r.First, r.Min = ns, ns
	}
	r.Runs++
	r.Min = min(r.Min, ns)
	r.Mean += (ns - r.Mean) / float64(r.Runs)
}

const header = "eval,function,size,tool,min_seconds,runs,first_ns,min_ns,mean_ns,outcome"

// Write writes rows as CSV.
func Write(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	_ = out.Write(strings.Split(header, ","))
	for _, r := range rows {
		_ = out.Write([]string{r.Eval, r.Function, r.Size, r.Tool, strconv.FormatFloat(r.MinSeconds, 'g', -1, 64), strconv.Itoa(r.Runs),
			fmt.Sprintf("%.0f", r.First), fmt.Sprintf("%.0f", r.Min), fmt.Sprintf("%.0f", r.Mean), r.Outcome})
	}
	out.Flush()
	return out.Error()
}

// Load reads the rows of a file that Write wrote.
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
		row := Row{Eval: record[0], Function: record[1], Size: record[2], Tool: record[3], Outcome: record[9]}
		var runs float64
		for j, to := range []*float64{&row.MinSeconds, &runs, &row.First, &row.Min, &row.Mean} {
			if *to, err = strconv.ParseFloat(record[4+j], 64); err != nil || !(*to >= 0) {
				return nil, fmt.Errorf("%s:%d: expected a number, found %q", path, i+2, record[4+j])
			}
		}
		row.Runs = int(runs)
		rows = append(rows, row)
	}
	return rows, nil
}

// Merge returns rows with more among them, in place of rows of the same evaluations, or else after the last
// of the same eval and tool, or of the same eval.
func Merge(rows, more []Row) []Row {
	rows = slices.Clone(rows)
	for _, m := range more {
		at, near := len(rows), 0
		for i, r := range rows {
			switch {
			case r.evaluation() == m.evaluation() && r.Tool == m.Tool:
				at, near = i, 3
			case r.Eval == m.Eval && r.Tool == m.Tool && near <= 2:
				at, near = i+1, 2
			case r.Eval == m.Eval && near <= 1:
				at, near = i+1, 1
			}
		}
		if near == 3 {
			rows[at] = m
		} else {
			rows = slices.Insert(rows, at, m)
		}
	}
	return rows
}

// An evaluation is what tools are compared in.
type evaluation struct {
	eval, function, size string
	minSeconds           float64
}

func (r *Row) evaluation() evaluation { return evaluation{r.Eval, r.Function, r.Size, r.MinSeconds} }

// A Range is the least and the most of some ratios.
type Range struct{ Low, High float64 }

func (r *Range) add(v float64) {
	if r.High == 0 {
		*r = Range{v, v}
		return
	}
	r.Low, r.High = min(r.Low, v), max(r.High, v)
}

// String returns the bounds in words, as in "2.8 to 14".
func (r Range) String() string {
	digits := func(v float64) string {
		if v >= 100 {
			return fmt.Sprintf("%.0f", v)
		}
		return fmt.Sprintf("%.2g", v)
	}
	return digits(r.Low) + " to " + digits(r.High)
}

// A Ratio says how many times a time of the fastest other tool is that of one of ours, over the
// sizes of a function. Which tool is the fastest may differ by size.
type Ratio struct {
	Eval, Function, Tool string
	Mean, Min, First     Range
	At                   string // where the ratio of means is least: the size, and the other tool
}

// Ratios returns the ratios of all functions that another tool has too, in the order of rows. Only
// valid evaluations count.
func Ratios(rows []Row) []Ratio {
	others := map[evaluation][]Row{}
	for _, r := range rows {
		if k := r.evaluation(); r.counts() && !slices.Contains(ours, r.Tool) {
			others[k] = append(others[k], r)
		}
	}
	var ratios []Ratio
	for _, r := range rows {
		peers := others[r.evaluation()]
		if !slices.Contains(ours, r.Tool) || !r.counts() || len(peers) == 0 {
			continue
		}
		i := slices.IndexFunc(ratios, func(q Ratio) bool { return q.Eval == r.Eval && q.Function == r.Function && q.Tool == r.Tool })
		if i < 0 {
			i = len(ratios)
			ratios = append(ratios, Ratio{Eval: r.Eval, Function: r.Function, Tool: r.Tool})
		}
		q, best := &ratios[i], [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}
		at := ""
		for _, p := range peers {
			if p.Mean < best[0] {
				at = p.Tool
			}
			best = [3]float64{min(best[0], p.Mean), min(best[1], p.Min), min(best[2], p.First)}
		}
		if low := q.Mean.Low; low == 0 || best[0]/r.Mean < low {
			q.At = r.Size + ", " + at
		}
		q.Mean.add(best[0] / r.Mean)
		q.Min.add(best[1] / r.Min)
		q.First.add(best[2] / r.First)
	}
	return ratios
}

// counts reports whether r has times that may be compared. A clock may read 0 for a short run.
func (r *Row) counts() bool { return r.Outcome == valid && r.Min > 0 }

// WriteRatios writes ratios as a table.
func WriteRatios(w io.Writer, ratios []Ratio) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "time of the best other tool over that of\tmean\tleast\tfirst\tlowest mean at")
	for _, r := range ratios {
		fmt.Fprintf(tab, "%s: %s %s\t%v\t%v\t%v\t%s\n", r.Tool, r.Eval, r.Function, r.Mean, r.Min, r.First, r.At)
	}
	return tab.Flush()
}

// ours are our tools. The first that has a function stands for all in the figure.
var ours = []string{"revnum", "revgen", "revnum-minors", "revgen-minors"}

// others are the evals for which our algorithm is not that of the other tools. docs/performance.md compares
// them.
var others = []string{"ht", "ode"}

// SaveFigure draws two lines for each function, of the ratios of means and of least times, from the
// least favourable size to the most favourable, to path. It tells apart functions whose algorithms differ.
func SaveFigure(rows []Row, path string) error {
	ratios := Ratios(rows)
	slices.SortStableFunc(ratios, func(a, b Ratio) int { return slices.Index(ours, a.Tool) - slices.Index(ours, b.Tool) })
	drawn := map[string]bool{}
	ratios = slices.DeleteFunc(ratios, func(r Ratio) bool {
		name := r.Eval + " " + r.Function
		has := drawn[name]
		drawn[name] = true
		return has
	})
	if len(ratios) == 0 {
		return fmt.Errorf("%s: no function that one of our tools and another one have", path)
	}
	slices.Reverse(ratios) // the first is the highest
	p := figure.New("Time of the best other tool over ours", "times", "")
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = figure.Decades(func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) })
	p.Legend.Top = true
	lines := map[string]*plotter.Line{}
	var names []string
	for i, r := range ratios {
		kind, hue := "", 0
		switch {
		case strings.HasPrefix(r.Tool, "revgen"):
			kind, hue = ", written by revgen", 2
		case slices.Contains(others, r.Eval) || r.Tool != ours[0]: // revnum-minors
			kind, hue = ", another algorithm", 1
		}
		for _, l := range []struct {
			ratios Range
			name   string
			shift  float64
			width  vg.Length
			glyph  draw.GlyphDrawer
		}{
			{r.Mean, "mean of all runs" + kind, 0.12, 3, draw.CircleGlyph{}},
			{r.Min, "fastest run", -0.22, 1, draw.RingGlyph{}},
		} {
			y := float64(i) + l.shift
			line, ends, err := plotter.NewLinePoints(plotter.XYs{{X: l.ratios.Low, Y: y}, {X: l.ratios.High, Y: y}})
			if err != nil {
				return err
			}
			line.Width, line.Color = l.width, figure.Color(hue)
			ends.Shape, ends.Color, ends.Radius = l.glyph, figure.Color(hue), 2
			p.Add(line, ends)
			lines[l.name] = line
		}
		names = append(names, r.Eval+" "+r.Function)
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		p.Legend.Add(name, lines[name])
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
