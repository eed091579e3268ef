package revgen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"revnum/cmd/revgen/internal/gradient"
)

// TestScience writes the gradients of package science, and runs its tests, which compare them
// with differences of values.
func TestScience(t *testing.T) {
	written, err := Dir("testdata/science")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range written {
		files[filepath.Base(name)] = string(text)
	}
	names, err := filepath.Glob("testdata/science/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if match, _ := filepath.Match("*"+gradient.Suffix, filepath.Base(name)); match {
			continue // somebody has run revgen there
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	if out, err := testPackage(t, files); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// What has no derivatives is refused with its place and the reason.
func TestGradientRefusals(t *testing.T) {
	const gradient = "//revgen:gradient x\nfunc f"
	const jacobian = "//revgen:jacobian x\nfunc f"
	for _, c := range []struct{ text, want string }{
		{"//revgen:gradient\nfunc f(x float64) float64 { return x }", "p.go:6:1: write the names of the parameters that the derivatives are by: //revgen:gradient p"},
		{"//revgen:gradient y\nfunc f(x float64) float64 { return x }", "p.go:6:1: f has no parameter y"},
		{gradient + "(x int) float64 { return 1 }", "p.go:6:1: x has no parts that are float64 or float32"},
		{gradient + "(x float64) {}", "p.go:6:1: a gradient is that of a number that the function returns, and f returns none"},
		{gradient + "(x float64) (a, b float64) { return x, x }", "p.go:6:1: a gradient is that of one number, and f returns several"},
		{gradient + "[T float64](x T) T { return x }", "p.go:6:1: a generic function has no derivatives of its own"},
		{gradient + "(x float64) float64 { return f(x) }", "p.go:6:36: f calls itself, which is not differentiated"},
		{gradient + "(x float64) float64 { go f(x); return x }", "p.go:6:29: a goroutine is not differentiated"},
		{gradient + "(x float64) float64 { m := map[int]float64{}; return m[0] }", "p.go:6:34: a literal of map[int]float64 is not differentiated"},
		{gradient + "(x float64) float64 { global = x; return x }", "p.go:6:29: global is a variable of the package, and may not change here"},
		{gradient + "(x float64) float64 { v, _ := math.Frexp(x); return v }", "p.go:6:37: math.Frexp has no derivative here: those that have one are Abs, "},
		{gradient + "(x []float64) float64 { y := append(x, 1); return y[0] }", "p.go:6:36: append stands alone: write x = append(x, e)"},
		{gradient + "(x float64) float64 { switch { case x > 0: fallthrough; default: return x }; return 0 }", "p.go:6:50: fallthrough is not differentiated"},
		{"//revgen:gradient x hessian\nfunc f(x float64) float64 { return x }", "p.go:6:1: a Hessian is by one parameter of type []float64"},
		{jacobian + "(x []float64) {}", "p.go:6:1: f stores to no parameter: a Jacobian is that of one"},
		{jacobian + "(y, z, x []float64) { y[0] = x[0]; z[0] = x[0] }", "p.go:6:1: f stores to y and to z: a Jacobian is that of one of them"},
		{gradient + "(x float64) float64 { return y }", "p.go:6:36: undefined: y"},
	} {
		dir := t.TempDir()
		source := "package p\n\nimport \"math\"\n\n" + c.text + "\n\nvar global = math.Pi\n"
		for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": source} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Dir(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}
