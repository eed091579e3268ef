package peers

import (
	"syscall"
	"unsafe"

	"revnum/rules"
)

// useHugePages asks the system to give an operand pages of 2 MiB, as NumPy does for arrays of 4 MiB or more.
// Systems that have none, or no advice to collapse pages (before Linux 6.1), leave it as it is.
func useHugePages(b rules.Buffer, size int) {
	const page, collapse = 2 << 20, 25 // MADV_COLLAPSE
	if b.Data == nil || b.Len*size < 2*page {
		return
	}
	x := unsafe.Slice((*byte)(b.Data), b.Len*size)
	x = x[-uintptr(b.Data)&(page-1):]
	_ = syscall.Madvise(x[:len(x)&^(page-1)], collapse)
}
