// Package cpu chooses the vector code that runs.
//
// On amd64 there is assembly for AVX2 with FMA and for AVX-512. When the program
// starts, it chooses the best tier that the machine has. The environment variable
// REVNUM_SIMD (generic, avx2 or avx512) asks for a lower tier. The build tag noasm
// omits the assembly.
package cpu

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

func chooseTier(best Tier, want string) Tier {
	for t := Generic; t < best; t++ {
		if want == t.String() {
			return t
		}
	}
	return best
}

// tier is the vector code in use.
var tier = chooseTier(Best(), os.Getenv("REVNUM_SIMD"))

// InUse returns the tier in use. That is the best tier of the machine, or the one
// that REVNUM_SIMD asks for if the machine has it.
func InUse() Tier { return tier }
