package memory

import (
	"math"
	"runtime/debug"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	if err := Check(100, "a few numbers"); err != nil {
		t.Error(err)
	}
	for _, floats := range []float64{1e18, math.Inf(1)} {
		if err := Check(floats, "x.csv: the numbers"); err == nil || !strings.HasPrefix(err.Error(), "x.csv: the numbers need ") {
			t.Errorf("%v numbers: %v", floats, err)
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	if err := Check(16<<20, "128 MiB"); err == nil {
		t.Error("more than GOMEMLIMIT is there")
	}
}

func TestGrow(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(64 << 20))
	var x []float64
	for {
		grown, err := Grow(x, 3, "numbers")
		if err != nil {
			break
		}
		old := float64(len(x))
		x = grown
		if x = append(x, 1, 2, old); &x[0] != &grown[:1][0] {
			t.Fatal("no room")
		}
	}
	if n := len(x); n < 1<<17 || n > 8<<20 || x[n-1] != float64(n-3) {
		t.Errorf("%d numbers of 64 MiB", n)
	}
}
