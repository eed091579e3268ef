//go:build !(amd64 || arm64) || noasm

package cpu

// Best returns the best tier that this build has.
func Best() Tier { return Generic }

// HasIFMA reports that this build has no such code.
func HasIFMA() bool { return false }
