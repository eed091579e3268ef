// Package cpu chooses the vector code that runs.
//
// On amd64 there is assembly for AVX2 with FMA and for AVX-512, and on arm64 for NEON. When the
// program starts, it chooses the best tier that the machine has. The environment variable
// REVNUM_SIMD (generic, avx2, neon or avx512, in any case) asks for a lower tier. Another value is
// ignored, and a line on the standard error says so, as for GODEBUG=cpu. The build tag noasm
// omits the assembly. It omits gonum's too, so results that go through gonum may have other bits
// than with REVNUM_SIMD=generic.
package cpu

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// A Tier names a set of vector code.
type Tier int

// The tiers, each including those before it.
const (
	Generic Tier = iota // pure Go
	AVX2                // AVX2, FMA, BMI1 and POPCNT; on arm64 the same loops over pairs of NEON's registers
	AVX512              // AVX-512 F, DQ, VL and BW, and BMI2, beside what AVX2 has
)

func (t Tier) String() string {
	if t == AVX2 && runtime.GOARCH == "arm64" {
		return "neon"
	}
	return [...]string{"generic", "avx2", "avx512"}[t]
}

// chooseTier returns the tier that the variable asks for, or the best one.
func chooseTier(best Tier, variable string) (Tier, error) {
	if variable == "" {
		return best, nil
	}
	t, ok := map[string]Tier{"generic": Generic, "avx2": AVX2, "neon": AVX2, "avx512": AVX512}[strings.ToLower(variable)]
	if !ok {
		return best, fmt.Errorf("revnum: REVNUM_SIMD=%s is ignored: expected generic, avx2, neon or avx512", variable)
	}
	return min(t, best), nil
}

// tier is the vector code in use.
var tier = func() Tier {
	t, err := chooseTier(Best(), os.Getenv("REVNUM_SIMD"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return t
}()

// InUse returns the tier in use. That is the best tier of the machine, or the one
// that REVNUM_SIMD asks for if the machine has it.
func InUse() Tier { return tier }
