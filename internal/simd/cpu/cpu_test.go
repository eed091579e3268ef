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

func TestPeakFMA(t *testing.T) {
	defer func(was Tier) { tier = was }(tier)
	for tier = Generic; tier <= Best(); tier++ {
		if got := PeakFMA[float64](0); got != 0 {
			t.Errorf("%v: %d flops in no rounds", tier, got)
		}
		one := PeakFMA[float64](1)
		if got := PeakFMA[float64](Chunk + 5); got != (Chunk+5)*one || one <= 0 {
			t.Errorf("%v: %d flops in %d rounds of %d", tier, got, Chunk+5, one)
		}
		if got := PeakFMA[float32](1); tier > Generic && got != 2*one {
			t.Errorf("%v: %d flops a round for float32, %d for float64", tier, got, one)
		}
	}
}
