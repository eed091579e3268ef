package revgen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// Vector code adds products where that gives the right bits, and loops do elsewhere.
func TestVectors(t *testing.T) {
	imports := testImporter(t)
	for _, c := range []struct {
		name, parameters, body string
		pass, want             string // the calls of vector code in a pass
	}{
		{"update", "y []float64, a float64, x []float64", "for i := range x { y[i] += a * x[i] }",
			"value", "AddSigned(y, sign, a, x)"},
		{"its adjoint", "y []float64, a float64, x []float64", "for i := range x { y[i] += a * x[i] }",
			"adjoint", "AddSigned(y, sign, a, x) Dot(gy, x) AddScaled(gx, a, gy)"},
		{"its tangent", "y []float64, a float64, x []float64", "for i := range x { y[i] += a * x[i] }",
			"tangent", "AddSigned(ty, sign, ta, x) AddSigned(ty, sign, a, tx) AddSigned(y, sign, a, x)"},
		{"difference", "y, x []float64", "for i, v := range x { y[i] -= v }",
			"adjoint", "AddSigned(y, -sign, fixed.Of[T](1), x) AddSigned(gx, -1, fixed.Of[T](1), gy)"},
		{"a row", "y *float64, w [][]float64, x []float64", "s := 0.0\nfor j, v := range w[2] { s += v * x[j] }\n*y += s",
			"adjoint", "AddScaled(gx, gs, w1) AddScaled(gw, gs, x)"},
		{"a sum of values stays as it is", "y *float64, w, x []float64", "s := 0.0\nfor j, v := range w { s += v * x[j] }\n*y += s",
			"value", ""},
		{"so do two products in one value", "y []float64, a float64, x, z []float64", "for i := range x { y[i] += a*x[i] + z[i] }",
			"value", ""},
		{"and a function", "y []float64, a float64, x []float64", "for i := range x { y[i] += a * math.Sin(x[i]) }",
			"adjoint", ""},
		{"a part of a vector", "y []float64, a float64, x []float64", "for i := 1; i < len(x); i++ { y[i] += a * x[i] }\ny[0] += x[0]",
			"value", ""},
		{"another order", "y []float64, a float64, x []float64", "for i := range x { y[i] += a * x[len(x)-1-i] }",
			"value", ""},
		{"three coordinates", "y [][]float64, a float64, x [][]float64", "if len(x[0]) != 3 || len(y[0]) != 3 || len(x) != len(y) { panic(0) }\nfor i := range x { for j := range x[i] { y[i][j] += a * x[i][j] } }",
			"value", ""},
		{"in place", "x, v []float64, a float64", "for i := range x { x[i] += a * v[i] }\nfor i := range x { v[i] -= a * x[i] }",
			"inverse", "AddScaled(v, a, x) AddSigned(x, -1, a, v)"},
		{"in place, what the next statement reads", "x, v []float64, a float64", "for i := range x { x[i] += a * v[i]\nv[i] -= a * x[i] }",
			"inverse", ""},
		{"a number that changes", "y []float64, a float64, x []float64", "s := a\nfor i := range x { y[i] += s * x[i]\ns += x[i] }",
			"value", ""},
	} {
		text := passOf(t, imports, c.pass, c.parameters, c.body)
		var calls []string
		for _, m := range regexp.MustCompile(`num\.((AddScaled|AddSigned|Dot)\([^()]*(\([^()]*\)[^()]*)?\))`).FindAllStringSubmatch(text, -1) {
			calls = append(calls, m[1])
		}
		if got := strings.Join(calls, " "); got != c.want {
			t.Errorf("%s: the calls are %q, want %q, in\n%s", c.name, got, c.want, text)
		}
	}
}

// A loop that only adds to a matrix of cotangents tests once whether that is nil.
func TestGiven(t *testing.T) {
	text := passOf(t, testImporter(t), "adjoint", "y []float64, x [][]float64", "for i, row := range x { s := 0.0\nfor _, v := range row { s += v * v * v }\ny[i] += math.Sqrt(s) }")
	if strings.Count(text, "if gx != nil {") != 1 || strings.Contains(text, "num.Row(") || strings.Contains(text, "len(gx") {
		t.Error(text)
	}
	text = passOf(t, testImporter(t), "adjoint", "y []float64, a *float64, x []float64", "for i, v := range x { y[i] += *a * v * v }")
	if strings.Contains(text, "if gx != nil {") {
		t.Error(text)
	}
}

// passOf returns what is written for a pass of a function.
func passOf(t *testing.T, imports types.Importer, pass, parameters, body string) string {
	t.Helper()
	source := "package p\n\nimport \"math\"\n\nvar _ = math.Pi\n\n//revgen:kernel K[T rev.Real]\nfunc f(" + parameters + ") {\n" + body + "\n}\n"
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	out, err := load(fset, []*ast.File{file}, imports).written([]*ast.File{file})
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(out["p_rev.go"]), ") "+pass+"(")
	text, _, _ = strings.Cut(text, "\n}\n")
	return text
}
