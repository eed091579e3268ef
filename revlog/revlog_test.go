package revlog

import (
	"math"
	"testing"
)

// near reports whether a is b up to a relative error, or both are the same
// infinity or NaN.
func near(a, b, tol float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= tol*math.Abs(b)
}

// reportFlops reports the rate of a benchmark that takes this many operations
// for each iteration.
func reportFlops(b *testing.B, flops int) {
	b.ReportMetric(float64(flops)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
