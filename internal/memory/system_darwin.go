package memory

import "golang.org/x/sys/unix"

// systemMemory returns all memory of the machine: what is free is little, because macOS keeps files
// in the rest and gives it back.
func systemMemory() uint64 {
	size, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return unknown
	}
	return size
}
