// Package simdtest holds what the tests of vector code share. It runs a test on every tier,
// compares bits, and guards memory.
package simdtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"time"

	"revnum/internal/simd/cpu"
)

// Tests of vector code make much garbage and keep little.
var _ = debug.SetGCPercent(400)

// OnTier runs f while the variable tier of a package is t.
func OnTier(tier *cpu.Tier, t cpu.Tier, f func()) {
	defer func(was cpu.Tier) { *tier = was }(*tier)
	*tier = t
	f()
}

// ForEachTier runs a test of a package on each tier of the machine. tier is the
// package's variable.
func ForEachTier(t *testing.T, tier *cpu.Tier, test func(t *testing.T)) {
	for at := cpu.Generic; at <= cpu.Best(); at++ {
		OnTier(tier, at, func() { t.Run(fmt.Sprint(at), test) })
	}
}

// ForEachType runs the tests of both element types on each tier.
func ForEachType(t *testing.T, tier *cpu.Tier, f64, f32 func(t *testing.T)) {
	ForEachTier(t, tier, func(t *testing.T) {
		t.Run("float64", f64)
		t.Run("float32", f32)
	})
}

// Normal returns n numbers from the normal distribution.
func Normal[T cpu.Float](n int, seed uint64) []T {
	rnd := rand.New(rand.NewPCG(seed, 0))
	x := make([]T, n)
	for i := range x {
		x[i] = T(rnd.NormFloat64())
	}
	return x
}

// Unit returns the rounding error of 1.
func Unit[T cpu.Float]() float64 {
	if cpu.Is64[T]() {
		return 0x1p-53
	}
	return 0x1p-24
}

// Same reports whether a and b have the same bits or are both NaN.
func Same[T cpu.Float](a, b T) bool {
	if math.IsNaN(float64(a)) {
		return math.IsNaN(float64(b))
	}
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b))
}

// SameSlice fails the test unless all elements are the same, as Same says.
func SameSlice[T cpu.Float](t *testing.T, name string, got, want []T) {
	t.Helper()
	for i := range want {
		if !Same(got[i], want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

// Panics reports whether f panics.
func Panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// LeastTime returns the nanoseconds of one call of f in the fastest of several
// groups of calls.
func LeastTime(loop func() bool, f func()) float64 {
	const slice = 50 * time.Microsecond
	reps := 1
	run := func() time.Duration {
		start := time.Now()
		for range reps {
			f()
		}
		return time.Since(start)
	}
	for run() < slice {
		reps *= 2
	}
	least := time.Hour
	for loop() {
		least = min(least, run())
	}
	return float64(least.Nanoseconds()) / float64(reps)
}

// Beside reports the least time of ours for each of n elements, and the ratio of the least time of a
// peer to it. The two take turns.
func Beside(b *testing.B, name string, n int, ours, theirs func()) {
	b.Run(name, func(b *testing.B) {
		least := [2]float64{math.Inf(1), math.Inf(1)}
		for b.Loop() {
			for i, f := range [...]func(){ours, theirs} {
				groups := 5
				least[i] = min(least[i], LeastTime(func() bool { groups--; return groups >= 0 }, f))
			}
		}
		b.ReportMetric(0, "ns/op") // an iteration is a turn of both
		b.ReportMetric(least[0]/float64(n), "ns/elt")
		b.ReportMetric(least[1]/least[0], "x-peer")
	})
}

// End returns the first n elements of x, or the last.
func End[E any](x []E, n int, last bool) []E {
	if last {
		return x[len(x)-n:]
	}
	return x[:n:n]
}
