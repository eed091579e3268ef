//go:build !noasm

package cpu

// Best returns the best tier that this machine runs: every arm64 has NEON.
func Best() Tier { return AVX2 }

// HasIFMA reports that NEON does not multiply integers of 52 bits.
func HasIFMA() bool { return false }
