//go:build !linux

package workspace

import "unsafe"

// adviseHuge does nothing on this system.
func adviseHuge(unsafe.Pointer, uintptr) {}

// populate does nothing on this system.
func populate(unsafe.Pointer, uintptr) {}
