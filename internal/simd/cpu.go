package simd

import "os"

// A Tier names a set of vector code.
type Tier int

// The tiers, each including those before it.
const (
	Generic Tier = iota // pure Go
	AVX2                // AVX2 and FMA
	AVX512              // AVX-512 F, DQ, VL and BW, and BMI2
)

func (t Tier) String() string {
	return [...]string{"generic", "avx2", "avx512"}[t]
}

// tier is the vector code in use: the best that the machine has, or the one
// that the environment variable REVNUM_SIMD asks for (generic, avx2 or avx512)
// if the machine has that.
var tier = chooseTier(machineTier(), os.Getenv("REVNUM_SIMD"))

func chooseTier(best Tier, want string) Tier {
	for t := Generic; t < best; t++ {
		if want == t.String() {
			return t
		}
	}
	return best
}

// InUse returns the tier in use.
func InUse() Tier { return tier }
