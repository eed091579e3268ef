//go:build !amd64 || noasm

package simd

// machineTier returns the best tier that this build has.
func machineTier() Tier { return Generic }
