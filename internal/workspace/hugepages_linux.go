package workspace

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

const (
	hugePage = 2 << 20 // bytes, on most systems
	collapse = 25      // MADV_COLLAPSE, since Linux 6.1
)

// adviseHuge asks the system to put the n bytes at p into huge pages, as far as
// whole ones fit. A program that accesses large memory at random may spend most of
// its time finding small pages, and huge pages are also created faster. Memory that
// was in use before has pages already; only a collapse makes these huge at once.
// Both are hints: if they fail, nothing changes. adviseHuge does nothing if huge
// pages are turned off, because a collapse would not respect that.
func adviseHuge(p unsafe.Pointer, n uintptr) {
	skip := -uintptr(p) % hugePage
	if n < skip+hugePage || !hugePages() {
		return
	}
	whole := unsafe.Slice((*byte)(unsafe.Add(p, skip)), (n-skip)/hugePage*hugePage)
	_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE)
	_ = syscall.Madvise(whole, collapse)
}

// hugePages reports whether processes may have huge pages.
var hugePages = sync.OnceValue(func() bool {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && turnedOn(string(setting))
})

// turnedOn reports whether the choice in brackets is not never.
func turnedOn(setting string) bool { return !strings.Contains(setting, "[never]") }
