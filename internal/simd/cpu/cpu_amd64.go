//go:build amd64 && !noasm

package cpu

import "golang.org/x/sys/cpu"

// Best returns the best tier that this machine runs.
func Best() Tier {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512BW && x.HasFMA && x.HasBMI2 && x.HasBMI1 && x.HasPOPCNT:
		return AVX512
	case x.HasAVX2 && x.HasFMA && x.HasBMI1 && x.HasPOPCNT:
		return AVX2
	}
	return Generic
}

// HasIFMA reports whether the tier in use is AVX512 and the machine multiplies integers of 52
// bits too. It must also count leading zeros (CD), as all such machines do that do not hide it.
func HasIFMA() bool { return tier == AVX512 && cpu.X86.HasAVX512IFMA && cpu.X86.HasAVX512CD }
