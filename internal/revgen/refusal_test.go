package revgen

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// refusals returns what is refused of a function with the given parameters and
// body.
func refusals(t *testing.T, params, body string) string {
	t.Helper()
	src := "package p\n\nimport \"math\"\n\nvar global = 1.0\n\nfunc twice(x float64) float64 { return 2 * x }\n\n" +
		"func again(x float64) float64 { return again(x) }\n\nvar _ = math.Pi\n\n//revgen:kernel K[T rev.Real]\nfunc k(" + params + ") {\n" + body + "\n}\n"
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Files(fset, []*ast.File{f}, importer.ForCompiler(fset, "source", nil))
	return fmt.Sprint(err)
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ params, body, want string }{
		{"y, x []float64", "y[0] = x[0]", "p.go:15:1: y[0] is overwritten, and what it was could not be restored"},
		{"y, x []float64", "y[0] *= x[0]", "a rounded product cannot be undone"},
		{"y []float64", "y[0] += y[0]", "y[0] is read and written in the same statement"},
		{"y []float64, i, j int", "y[i] += y[j]", "y[i] and y[j] may be the same element"},
		{"y []float64, i, j int", "if i != j {\ny[i] += y[j]\n}", "<nil>"},
		{"y []float64", "for i := range y {\nfor j := range i {\ny[i] += y[j]\n}\n}", "<nil>"},
		{"y []float64", "for i := range y {\nfor j := i + 1; j < len(y); j++ {\ny[i] += y[j]\n}\n}", "<nil>"},
		{"y []float64", "for i := range y {\nfor j := i; j < len(y); j++ {\ny[i] += y[j]\n}\n}", "may be the same element"},
		{"y, x []float64", "t := y[0]\ny[0] += x[0]\ny[1] += t", "t is used where y[0], which it is computed from, changes or has changed"},
		{"y, x []float64", "if y[0] > 0 {\ny[0] += x[0]\n}", "the condition reads y[0], which the branch changes"},
		{"y, x []float64", "for y[0] < 1 {\ny[1] += x[0]\n}", "a loop that changes operands runs over a range"},
		{"y, x []float64", "for i := 0; i < len(x); i++ {\ny[i] += x[i]\ni += 1\n}", "i changes in the loop that counts with it"},
		{"y, x []float64", "for i := range x {\nif x[i] > 0 {\nbreak\n}\ny[i] += x[i]\n}", "break: the way back would not know that it was taken"},
		{"y, x []float64", "if x[0] > 0 {\nreturn\n}\ny[0] += x[0]", "return before the end"},
		{"y, x []float64", "n := 0\nfor i := range x {\nif x[i] > 0 {\nn++\n}\n}\ny[0] += float64(n)", "n changes: what is not float64 keeps the value"},
		{"y, x []float64", "f := func(v float64) float64 { return v }\ny[0] += f(x[0])", "closures cannot be run backward"},
		{"y, x []float64", "y[0] += global * x[0]", "global is a variable outside of the function"},
		{"y, x []float64", "y[0] += math.Gamma(x[0])", "math.Gamma has no derivative here; there are Abs, Cos"},
		{"y, x []float64", "y[0] += again(x[0])", "again calls itself"},
		{"y, x []float64", "y[0] += twice(x[0])", "<nil>"},
		{"y, x []float64", "m := map[int]float64{}\ny[0] += m[0] * x[0]", "local slices, arrays, maps and structs are not known"},
		{"y []float64, x map[int]float64", "y[0] += x[0]", "x is a map[int]float64: parameters are"},
		{"y, x []float64", "z := x\ny[0] += z[0]", "z would be a second name for x"},
		{"y, x []float64", "z := x[1:]\ny[0] += z[0]", "parts of slices are not known"},
		{"y, x []float64", "for h := 0.0; h < 1; h += 0.1 {\ny[0] += x[0]\n}", "h is no integer"},
		{"y, x []float64", "go twice(x[0])\ny[0] += x[0]", "a Go cannot be run backward"},
		{"y, x []float64", "switch {\ncase x[0] > 0:\ny[0] += x[0]\n}", "a Switch cannot be run backward"},
		{"y []float64, i []int", "i[0] += 1\ny[0] += 1", "i is an index, and is only read"},
		{"y []float64", "y[0] += undefined", "undefined: undefined"},
		{"y, v []float64, h float64", "for i := range y {\ny[i] += h * v[i]\nv[i] -= h * y[i]\n}", "<nil>"},
		{"y, v []float64, h float64", "for i := range y {\na := y[i]\ny[i] += h * v[i]\nv[i] -= h * a\n}", "a is used where y[i]"},
	} {
		got := refusals(t, c.params, c.body)
		t.Log(got)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q\ngot  %s\nwant %s", c.params, c.body, got, c.want)
		}
	}
}
