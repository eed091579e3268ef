package cpu

import "testing"

func TestChooseTier(t *testing.T) {
	for _, test := range []struct {
		best Tier
		env  string
		want Tier
	}{
		{AVX512, "", AVX512},
		{AVX512, "avx2", AVX2},
		{AVX512, "generic", Generic},
		{AVX2, "avx512", AVX2},
		{Generic, "avx2", Generic},
		{AVX2, "nonsense", AVX2},
	} {
		if got := chooseTier(test.best, test.env); got != test.want {
			t.Errorf("best %v, REVNUM_SIMD=%q: %v, want %v", test.best, test.env, got, test.want)
		}
	}
}
