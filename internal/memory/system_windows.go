package memory

import (
	"math"
	"syscall"
	"unsafe"
)

var globalMemoryStatusEx = syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// systemMemory returns the physical memory that is available, and never more than the address space.
func systemMemory() uint64 {
	var status struct { // MEMORYSTATUSEX
		length, load                                                                          uint32
		totalPhys, availPhys, totalPage, availPage, totalVirtual, availVirtual, availExtended uint64
	}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return unknown
	}
	return min(status.availPhys, math.MaxInt)
}
