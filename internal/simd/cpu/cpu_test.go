package cpu

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

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
		{AVX512, "AVX2", AVX2},
		{AVX2, "Generic", Generic},
		{AVX2, "Neon", AVX2},
		{Generic, "neon", Generic},
		{AVX2, "nonsense", AVX2},
		{AVX2, "avx", AVX2},
	} {
		got, err := chooseTier(test.best, test.env)
		if unknown := test.env == "nonsense" || test.env == "avx"; got != test.want || (err != nil) != unknown {
			t.Errorf("best %v, REVNUM_SIMD=%q: %v and %v, want %v", test.best, test.env, got, err, test.want)
		}
	}
}

// A program of its own reads the variable when it starts. One that is not known costs a line on
// the standard error, and nothing else.
func TestVariable(t *testing.T) {
	if os.Getenv("REVNUM_TEST_PRINTS_TIER") != "" {
		fmt.Println("tier", InUse())
		return
	}
	for _, test := range []struct {
		variable string
		want     Tier
		says     string
	}{
		{"", Best(), ""},
		{"GENERIC", Generic, ""},
		{"AVX2", min(AVX2, Best()), ""},
		{"avx-2", Best(), "revnum: REVNUM_SIMD=avx-2 is ignored: expected generic, avx2, neon or avx512\n"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestVariable$")
		cmd.Env = append(os.Environ(), "REVNUM_TEST_PRINTS_TIER=1", "REVNUM_SIMD="+test.variable)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulator runs this program, and the system cannot start it")
		}
		if err != nil || !strings.Contains(string(out), "tier "+test.want.String()+"\n") || stderr.String() != test.says {
			t.Errorf("REVNUM_SIMD=%q: %v, %s and %q, want tier %v and %q", test.variable, err, out, stderr.String(), test.want, test.says)
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
