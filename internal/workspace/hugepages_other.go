//go:build !linux

package workspace

import "unsafe"

// adviseHuge does nothing here.
func adviseHuge(unsafe.Pointer, uintptr) {}
