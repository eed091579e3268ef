package simdtest

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
)

// Guarded returns a page of ones between two pages that must not be touched.
func Guarded[T cpu.Float | byte | int | int32 | fixed.Q43](t *testing.T) []T {
	t.Helper()
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory map: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	for _, m := range [][]byte{mem[:page], mem[2*page:]} {
		if err := syscall.Mprotect(m, syscall.PROT_NONE); err != nil {
			t.Skipf("no guard page: %v", err)
		}
	}
	x := unsafe.Slice((*T)(unsafe.Pointer(&mem[page])), page/int(unsafe.Sizeof(T(0))))
	for i := range x {
		x[i] = 1 // raw: any number
	}
	return x
}
