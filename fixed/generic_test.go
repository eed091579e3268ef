package fixed

import (
	"math"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestProductInlines checks the inlining decisions that the compiler reports.
func TestProductInlines(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the product of words is a call on", runtime.GOARCH)
	}
	cmd := exec.Command("go", "build", "-gcflags=-m", "-o", t.TempDir(), "./testdata/inline")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("cannot compile here: %v\n%s", err, out)
	}
	for _, shape := range []string{"float32", "float64", "int64"} {
		if want := "inlining call to fixed.Product[go.shape." + shape + "]"; !strings.Contains(string(out), want) {
			t.Errorf("compiler does not say %q:\n%s", want, out)
		}
	}
}

func TestGeneric(t *testing.T) {
	x, y := 1.5, 0.1
	if got := Product(x, y); got != x*y {
		t.Errorf("float64: %v", got)
	}
	x32, y32 := float32(x), float32(y)
	if got := Product(x32, y32); got != x32*y32 {
		t.Errorf("float32: %v", got)
	}
	a, b := Of[Q43](1.5), Of[Q43](-0.1)
	if got := Product(a, b); got != a.Mul(b) {
		t.Errorf("Q43: %v", got)
	}
	if got := Quotient(a, b); got != a.Div(b) {
		t.Errorf("Q43 quotient: %v", got)
	}
	if got := Quotient(1.0, 3.0); got != 1.0/3.0 {
		t.Errorf("float64 quotient: %v", got)
	}
	if got := Float(a); got != 1.5 {
		t.Errorf("Float of Q43: %v", got)
	}
	if got := Float[float32](0.1); got != float64(float32(0.1)) {
		t.Errorf("Float of float32: %v", got)
	}
	if got := Of[float32](math.Pi); got != float32(math.Pi) {
		t.Errorf("Of float32: %v", got)
	}
	if got := Of[float64](math.Pi); got != math.Pi {
		t.Errorf("Of float64: %v", got)
	}
	for v, want := range map[float64]Q43{1e30: Max, -1e30: Min, 1 << 20: Max, math.Inf(1): Max, math.MaxFloat64: Max, -1 << 20: Min} {
		if got := Of[Q43](v); got != want {
			t.Errorf("Of(%v) of Q43: %v, want %v", v, got, want)
		}
	}
	mustPanic(t, "Of NaN", func() { Of[Q43](math.NaN()) })
	mustPanic(t, "Quotient by zero", func() { Quotient(a, 0) })
}
