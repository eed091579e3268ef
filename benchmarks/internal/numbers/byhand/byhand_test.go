package byhand_test

import (
	"math"
	"testing"

	"revnum/benchmarks/internal/numbers/byhand"
	"revnum/fixed"
	"revnum/ulog"
)

func fixedOf(x []float64) []fixed.Q43 {
	q := make([]fixed.Q43, len(x))
	for i, v := range x {
		q[i] = fixed.FromFloat64(v)
	}
	return q
}

// Test compares the loops with sums of products that are exact.
func Test(t *testing.T) {
	x := []float64{0.5, -1.25, 3, -700}
	y := []float64{2, 2.5, -0.375, 0.125}
	const want = 1 - 3.125 - 1.125 - 87.5
	qx, qy := fixedOf(x), fixedOf(y)
	if v := byhand.DotFloat64(x, y); v != want {
		t.Errorf("byhand.DotFloat64 is %v, want %v", v, want)
	}
	if v := byhand.DotRounded(qx, qy).Float64(); v != want {
		t.Errorf("byhand.DotRounded is %v, want %v", v, want)
	}
	if v := byhand.DotExact(qx, qy).Float64(); v != want {
		t.Errorf("byhand.DotExact is %v, want %v", v, want)
	}
	c, qc := make([]float64, 4), fixedOf(make([]float64, 4))
	byhand.MulFloat64(c, x, y, 2)
	byhand.MulRounded(qc, qx, qy, 2)
	for i, v := range []float64{1.46875, 1.09375, 268.5, -80} {
		if c[i] != v || qc[i].Float64() != v {
			t.Errorf("products are %v and %v", c, qc)
			break
		}
	}

	c = make([]float64, 2)
	byhand.LogMulRow(ulog.OfLogs(c), ulog.OfLogs(x[:2]), ulog.OfLogs(y))
	for j, v := range c {
		if want := math.Log(math.Exp(x[0]+y[j]) + math.Exp(x[1]+y[2+j])); math.Abs(v-want) > 1e-14 {
			t.Errorf("the log of the product is %v, want %v", v, want)
		}
	}
}
