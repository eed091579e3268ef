package vector_test

import (
	"math"
	"testing"

	"revnum/internal/vector"
)

// A scale that is subnormal is 0 to XLA's threads, and the inverse of one that is too small is infinite.
func TestNorm2Scale(t *testing.T) {
	for e := -1074; e <= 1024; e++ {
		c := vector.ScaleExponent(e)
		for _, scale := range []float64{math.Ldexp(1, c), math.Ldexp(1, -c)} {
			if !(scale >= 0x1p-1022 && scale <= math.MaxFloat64) {
				t.Fatalf("exponent %d: a scale of %v", e, scale)
			}
		}
		if largest := math.Ldexp(1, e-c); !(largest >= 0x1p-100 && largest <= 0x1p100) {
			t.Fatalf("exponent %d: the largest element becomes %v", e, largest)
		}
	}
}
