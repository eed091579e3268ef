package workspace

import (
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const hugePage = 2 << 20 // bytes, on most systems

// adviseHuge asks the system to put the n bytes at p, which are new, into huge pages, as far as
// whole ones fit. A program that accesses large memory at random may spend most of its time
// finding small pages, and most systems give huge pages faster. A virtual machine may give them
// thirty times slower: whole ones are left only of memory that no process has used, which the
// host gives when it is touched.
//
// adviseHuge therefore touches page by page, and keeps a balance of the time that huge pages saved.
// A process whose balance falls too low gets no more of them: the advice outlives the memory, and
// Go, which returns memory and takes it again, would wait for each page again. If advice fails,
// nothing changes.
func adviseHuge(p unsafe.Pointer, n uintptr) {
	skip := -uintptr(p) % hugePage
	if n < skip+hugePage || !hugePages() {
		return
	}
	whole := unsafe.Slice((*byte)(unsafe.Add(p, skip)), (n-skip)/hugePage*hugePage)
	small := int64(smallPages())
	if small == 0 {
		return
	}
	for page := range slices.Chunk(whole, hugePage) {
		start := time.Now()
		if saved.Load() < -mostLost*small || syscall.Madvise(page, syscall.MADV_HUGEPAGE) != nil {
			return
		}
		page[0] = 0
		balance(small-int64(time.Since(start)), small)
	}
}

// balance adds the nanoseconds that a huge page took less than small ones to saved.
func balance(gain, small int64) {
	gain = max(gain, -mostOfPage*small)
	for {
		old := saved.Load()
		if saved.CompareAndSwap(old, min(old+gain, mostLost*small)) {
			return
		}
	}
}

// saved is the balance in nanoseconds. It is at most mostLost times what small pages in the place of one
// huge page take, and huge pages end when it is less than -mostLost times that. One page counts for at most
// mostOfPage times that, as the system may have run another program meanwhile. So it takes three slow pages
// from a balance of 0 to the end, and five or more from the highest.
var saved atomic.Int64

const (
	mostLost   = 8
	mostOfPage = 4
)

// populateWrite is MADV_POPULATE_WRITE, of Linux 5.14.
const populateWrite = 23

// populate asks the system for all whole pages of the n bytes at p in one call. Older systems refuse.
func populate(p unsafe.Pointer, n uintptr) {
	page := uintptr(os.Getpagesize())
	skip := -uintptr(p) % page
	if n < skip+page {
		return
	}
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (n-skip)/page*page), populateWrite)
}

// smallPages returns the time in which the system gives a huge page's memory in small pages, or 0 if
// it gives none.
var smallPages = sync.OnceValue(func() time.Duration {
	least := time.Duration(0)
	for range 3 {
		b, err := syscall.Mmap(-1, 0, hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return 0
		}
		_ = syscall.Madvise(b, syscall.MADV_NOHUGEPAGE)
		start := time.Now()
		for i := 0; i < len(b); i += os.Getpagesize() {
			b[i] = 0
		}
		if d := time.Since(start); least == 0 || d < least {
			least = d
		}
		_ = syscall.Munmap(b)
	}
	return least
})

// hugePages reports whether processes may have huge pages.
var hugePages = sync.OnceValue(func() bool {
	setting, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && turnedOn(string(setting))
})

// turnedOn reports whether the choice in brackets is not never.
func turnedOn(setting string) bool { return !strings.Contains(setting, "[never]") }
