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

// adviseHuge asks for the n bytes at p to lie in huge pages, as far as whole ones go:
// where they are met at random, most of the time may go into finding small pages, and
// huge ones come into being faster too. Memory that was in use before has pages already,
// which only a collapse makes huge at once. Both are hints: on failure all is as it was.
// A collapse would not mind if huge pages were turned off.
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

// turnedOn reports whether another choice than never is in brackets.
func turnedOn(setting string) bool { return !strings.Contains(setting, "[never]") }
