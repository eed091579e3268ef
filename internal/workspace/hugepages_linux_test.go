package workspace

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// The kernel notes what was asked for, whether or not it has huge pages to give.
func TestHugePages(t *testing.T) {
	if !hugePages() {
		t.Skip("no transparent huge pages")
	}
	asked, err := syscall.Mmap(-1, 0, hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(asked) }()
	if err := syscall.Madvise(asked, syscall.MADV_HUGEPAGE); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(vmFlags(t, uintptr(unsafe.Pointer(&asked[0]))), "hg") {
		t.Skip("an emulator that does not show what was asked for")
	}
	defer saved.Store(saved.Load())
	for _, n := range []int{1, hugePage, 2*hugePage - 1, 2 * hugePage, 5*hugePage + 3} {
		saved.Store(0)
		b := Grow[byte](nil, n)
		for i, x := range b {
			if x != 0 {
				t.Fatalf("%d bytes: byte %d is %d", n, i, x)
			}
			b[i] = 1
		}
		first := uintptr(unsafe.Pointer(&b[0]))
		page := (first + hugePage - 1) / hugePage * hugePage
		if page+hugePage > first+uintptr(n) {
			continue // no whole one
		}
		if flags := vmFlags(t, page); !slices.Contains(flags, "hg") {
			t.Errorf("%d bytes: the flags of the memory are %v", n, flags)
		}
	}
}

// A process that lost too much time asks for no more.
func TestGivenUp(t *testing.T) {
	if !hugePages() {
		t.Skip("no transparent huge pages")
	}
	b, err := syscall.Mmap(-1, 0, 3*hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(b) }()
	defer saved.Store(saved.Load())
	for _, c := range []struct {
		saved int64 // in times of small pages
		want  bool
	}{{-mostLost - 1, false}, {0, true}} {
		saved.Store(c.saved * int64(smallPages()))
		adviseHuge(unsafe.Pointer(&b[0]), uintptr(len(b)))
		page := (uintptr(unsafe.Pointer(&b[0])) + hugePage - 1) / hugePage * hugePage
		if got := slices.Contains(vmFlags(t, page), "hg"); got != c.want {
			if c.want {
				t.Skip("an emulator that does not show what was asked for")
			}
			t.Errorf("%d saved: asked for huge pages is %v", c.saved, got)
		}
	}
}

// A pause while a page is touched does not end huge pages, and pages that are always slow do.
func TestBalance(t *testing.T) {
	defer saved.Store(saved.Load())
	const small = 1000
	saved.Store(0)
	for pages, want := range []bool{true, true, false} {
		balance(-1000*small, small)
		if got := saved.Load() >= -mostLost*small; got != want {
			t.Errorf("after %d slow pages: huge pages are %v", pages+1, got)
		}
	}
	balance(1000*small, small)
	if got := saved.Load(); got != mostLost*small {
		t.Errorf("a balance of %d, want %d", got, mostLost*small)
	}
	saved.Store(0)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range small {
				balance(1, small)
			}
		})
	}
	all.Wait()
	if got := saved.Load(); got != 4*small {
		t.Errorf("a balance of %d, want %d", got, 4*small)
	}
}

func TestTurnedOn(t *testing.T) {
	for setting, want := range map[string]bool{
		"[always] madvise never\n": true, "always [madvise] never\n": true, "always madvise [never]\n": false,
	} {
		if turnedOn(setting) != want {
			t.Errorf("%q: turned on is %v", setting, !want)
		}
	}
}

// vmFlags returns the flags of the mapping at address p.
func vmFlags(t *testing.T, p uintptr) []string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = f.Close() }()
	in := false
	for s := bufio.NewScanner(f); s.Scan(); {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(s.Text(), "%x-%x ", &lo, &hi); n == 2 {
			in = lo <= p && p < hi
		}
		if flags, ok := strings.CutPrefix(s.Text(), "VmFlags:"); ok && in {
			return strings.Fields(flags)
		}
	}
	t.Skip("no flags of mappings")
	return nil
}

// The kernel tells which pages are in memory.
func TestPopulate(t *testing.T) {
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 8*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(b) }()
	if syscall.Madvise(b[:page], populateWrite) != nil {
		t.Skip("an older system")
	}
	in := make([]byte, 8)
	resident := func() []byte {
		if _, _, e := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&in[0]))); e != 0 {
			t.Skip("no mincore: ", e)
		}
		return in
	}
	if got := resident(); !slices.Equal(got, []byte{1, 0, 0, 0, 0, 0, 0, 0}) {
		t.Skipf("of new memory these pages are there: %v", got)
	}
	b[0] = 7
	Populate(b[:0])
	Populate(b[1:page]) // no whole page
	Populate(b[2*page-1 : 5*page+1])
	if got := resident(); !slices.Equal(got, []byte{1, 0, 1, 1, 1, 0, 0, 0}) {
		t.Errorf("these pages are there: %v, want 0 and 2 to 4", got)
	}
	Populate(b)
	if got := resident(); !slices.Equal(got, []byte{1, 1, 1, 1, 1, 1, 1, 1}) || b[0] != 7 {
		t.Errorf("these pages are there: %v, want all; and element 0 is %d, want 7", got, b[0])
	}
}
