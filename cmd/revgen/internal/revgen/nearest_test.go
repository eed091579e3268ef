package revgen

import (
	"go/ast"
	"go/parser"
	"path/filepath"
	"strings"
	"testing"

	"revnum/cmd/revgen/internal/gradient"
)

// What is nearly a search for the nearest row stays a loop.
func TestNearSearches(t *testing.T) {
	const search = `
func f(points [][]float64, x []float64) float64 {
	sum := 0.0
	for i := 0; i < len(points); i++ {
		p := points[i]
		least := 1e3
		for k := 0; k < 4; k++ {
			row := x[k*len(p):][:len(p)]
			s := 0.0
			for j := 0; j < len(p); j++ {
				e := p[j] - row[j]
				s += e * e
			}
			least = min(least, s)
		}
		sum += least
	}
	return sum
}
`
	for _, c := range []struct{ old, new string }{
		{"", ""}, // this is one
		{"i := 0", "i := 1"},
		{"i++", "i += 2"},
		{"i < len(points)", "i < 3"},
		{"points[i]", "points[0]"},
		{"k := 0", "k := 1"},
		{"k++", "k += 2"},
		{"j := 0", "j := 1"},
		{"j++", "j += 2"},
		{"j < len(p)", "j < 2"},
		{"s := 0.0", "s := 1.0"},
		{"s += e * e", "s -= e * e"},
		{"s += e * e", "s += e * p[j]"},
		{"p[j] - row[j]", "p[j] + row[j]"},
		{"row[j]", "row[0]"},
		{"x[k*len(p):]", "x[k*len(x):]"},
		{"x[k*len(p):]", "x[k*len(p):len(x)]"},
		{"[:len(p)]", "[0:len(p)]"}, // it could be one
		{"min(", "max("},
		{"sum += least", "sum += least; points[i][0] = 1"},
		{"sum += least", "sum += least; x = x[1:]"},
		{"sum += least", "sum += least; x[i] = 1"},
		{"x []float64)", "y []float64)"},
	} {
		source := strings.Replace(search, c.old, c.new, 1)
		if c.new == "y []float64)" { // rows are other ones in each iteration
			source = strings.Replace(source, "least :=", "x := y[i:]\n\t\tleast :=", 1)
		}
		name := filepath.Join(t.TempDir(), "p.go")
		file, err := parser.ParseFile(testFiles, name, "package p\n\n//revgen:gradient points"+source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files := []*ast.File{file}
		written, err := load(testFiles, files, importerFor(t, ".")).written(files)
		if err != nil {
			t.Errorf("with %s for %s: %v", c.new, c.old, err)
			continue
		}
		text := string(written[strings.TrimSuffix(name, ".go")+gradient.Suffix])
		if got, want := strings.Contains(text, "num.NewNearest("), c.old == ""; got != want {
			t.Errorf("with %s for %s there is a search: %t", c.new, c.old, got)
		}
	}
}

// gradientPassesOfSearches compares values, gradients and products with the Hessian of functions that search for the
// nearest row, and that add numbers to slices, with the functions and with differences. Where the loop changes what it searches,
// it stays a loop.
func gradientPassesOfSearches(t *testing.T, b *batch) {
	text := b.add(t, `package written

import "math"

// near is searched by points of x, in rows of x: they share memory.
//
//revgen:gradient x value both
func near(x []float64, d int) float64 {
	points := make([][]float64, 3)
	for i := range points {
		points[i] = x[2*i+1:][:d]
	}
	rows := x[10:min(10+5*d, 64)]
	sum := 0.0
	for i := range points {
		p := points[i]
		least := 1e3
		for k := range len(rows) / max(len(p), 1) {
			row := rows[k*len(p):][:len(p)]
			s := 0.0
			for j, v := range p {
				e := row[j] - v
				s += e * e
			}
			least = min(least, s)
		}
		sum += math.Sin(float64(i+1) * least)
	}
	return sum
}

// moved changes the rows that it searches.
//
//revgen:gradient x value
func moved(x []float64, d int) float64 {
	points := make([][]float64, 4)
	for i := range points {
		points[i] = x[2*i+1:][:d]
	}
	rows := make([]float64, 50)
	copy(rows, x[10:])
	sum := 0.0
	for i := range points {
		p := points[i]
		least := math.Inf(1)
		for k := range 2 {
			row := rows[k*len(p):][:len(p)]
			s := 0.0
			for j, v := range p {
				e := v - row[j]
				s += e * e
			}
			least = min(least, s)
		}
		sum += least
		if d > 0 {
			rows[d/2] += x[i] / 3
			points[i][0] = rows[0] // no later point has it, but x has
		}
	}
	return sum
}

// overall has points that nothing but the search reads, and a distance over all points.
//
//revgen:gradient x value
func overall(x []float64, d int) float64 {
	points := make([][]float64, 3)
	for i := range points {
		points[i] = x[2*i+1:][:d]
	}
	rows := x[10:]
	least, sum := x[0]*90, 0.0
	for i, p := range points {
		for k := range min(i, 2) {
			row := rows[k*len(p):][:len(p)]
			s := 0.0
			for j, v := range p {
				e := v - row[j]
				s += e * e
			}
			least = min(least, s)
		}
		sum += least * float64(i+1)
	}
	return sum
}

type point []float64

// named has types that the calls do not take.
//
//revgen:gradient x value
func named(x []float64, points []point) float64 {
	sum := 0.0
	for _, p := range points {
		least := 50.0
		for k := range 2 {
			row := x[k*len(p):][:len(p)]
			s := 0.0
			for j, v := range p {
				e := v - row[j]
				s += e * e
			}
			least = min(least, s)
		}
		sum += least
	}
	return sum
}

//revgen:gradient x value
func single(x []float32, points [][]float32) float32 {
	sum := float32(0)
	for _, p := range points {
		least := float32(50)
		for k := range 2 {
			row := x[k*len(p):][:len(p)]
			var s float32
			for j, v := range p {
				e := v - row[j]
				s += e * e
			}
			least = min(least, s)
		}
		sum += least
	}
	return sum
}

//revgen:gradient x value
func shifts(x []float64, d int) float64 {
	y, z := make([]float64, d), make([]float64, d)
	for i := range y {
		y[i] = x[63]
	}
	for i, v := range x[:d] {
		z[i] = v - x[62]
	}
	for i := range z {
		y[i] = y[i]*z[i] + x[61]
	}
	for i := range y {
		z[i] -= x[60] * x[59]
	}
	for i := range y {
		y[i] = 3 + z[i]*y[i] - 2*y[i]
	}
	none := x[d:][:0]
	for i := range none {
		none[i] = x[1000] + none[i]
	}
	if d > 3 {
		for i := range y {
			z[i] = z[i] + z[3] // which changes
		}
		for i := range y {
			y[i] = y[3] - y[i]
		}
	}
	sum := 0.0
	for i, v := range y {
		sum += v*z[i] + 1
	}
	return math.Sin(sum)
}

// cleared overwrites what it adds to, so a cotangent is cleared and added to.
//
//revgen:gradient x value
func cleared(x []float64, d int) float64 {
	y := make([]float64, d+1)
	for k := range 3 {
		for i, v := range x[:d] {
			y[i] = y[i]*v + x[40+k]
		}
		for i := range d {
			y[i] = y[i+1] * x[i]
		}
	}
	sum := 0.0
	for _, v := range y {
		sum += math.Sin(v)
	}
	z := y[:d] // the cotangent that is added is the one that was cleared
	for i := range d {
		at := (3*i + 1) % d
		z[at] += 3 * y[at]
		y[at] = 0.5
		sum += y[at] * z[at] * x[at]
	}
	return sum
}
`, `package written

import (
	"fmt"
	"math"
	"testing"
)

func TestPasses(t *testing.T) {
	x := make([]float64, 64)
	for i := range x {
		x[i] = 0.6 + 0.4*math.Sin(float64(3*i+1))
	}
	for _, d := range []int{0, 1, 2, 3, 7, 16, 17, 23} {
		for _, c := range []struct {
			name string
			f, v func(x []float64, d int) float64
			g    func(g, x []float64, d int) float64
		}{
			{"near", near, nearValue, nearGradient}, {"overall", overall, overallValue, overallGradient}, {"moved", moved, movedValue, movedGradient},
			{"shifts", shifts, shiftsValue, shiftsGradient}, {"cleared", cleared, clearedValue, clearedGradient},
		} {
			fresh := func(x []float64) []float64 { return append([]float64(nil), x...) } // some change x
			if value, want := c.v(fresh(x), d), c.f(fresh(x), d); !(math.Abs(value-want) <= 1e-13*(1+math.Abs(want))) {
				t.Errorf("%s %d: the value is %v, want %v", c.name, d, value, want)
			}
			compare(t, fmt.Sprint(c.name, " ", d), x, func(x []float64) float64 { return c.f(fresh(x), d) },
				func(g, x []float64) float64 { return c.g(g, fresh(x), d) })
		}
		// The product with the Hessian is the difference of gradients.
		g, h, v := make([]float64, 64), make([]float64, 64), make([]float64, 64)
		for i := range v {
			v[i] = math.Cos(float64(i))
		}
		nearGradientHessVec(g, h, x, v, d)
		at := func(s float64) []float64 {
			y, g := append([]float64(nil), x...), make([]float64, 64)
			for i := range y {
				y[i] += s * v[i]
			}
			nearGradient(g, y, d)
			return g
		}
		up, down := at(1e-6), at(-1e-6)
		for i, got := range h {
			if want := (up[i] - down[i]) / 2e-6; !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("near %d: product %d is %v, want %v", d, i, got, want)
			}
		}
	}
}
`+compareGradients)
	for name, calls := range map[string][]string{
		"nearValue": {"num.NewNearest(points, rows)", "least = near1.Least(i"}, "nearGradient": {".At(i1, n, least)"},
		"overallValue": {".Least(i"},
		"shiftsValue":  {"num.Fill(y, x[63])", "num.Shift(z, -x[62], ", "num.MulShift(y, x[61], "}, "clearedGradient": {"num.Sum("},
	} {
		_, body, _ := strings.Cut(text, "func "+name+"(")
		body, _, _ = strings.Cut(body, "\n}\n")
		for _, call := range calls {
			if !strings.Contains(body, call) {
				t.Errorf("%s has no %s:\n%s", name, call, body)
			}
		}
	}
	for _, name := range []string{"movedValue", "movedGradient", "namedValue", "namedGradient", "singleValue", "singleGradient"} {
		_, body, _ := strings.Cut(text, "func "+name+"(")
		if body, _, _ = strings.Cut(body, "\n}\n"); strings.Contains(body, "Nearest") {
			t.Errorf("%s searches rows that change:\n%s", name, body)
		}
	}
}
