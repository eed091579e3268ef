package ulog

import (
	"unsafe"

	"revnum/fixed"
)

// A number is its log in memory, so a slice of numbers is a slice of logs. These
// functions change the type and share the storage.

// OfLogs returns the numbers with the given logs.
func OfLogs(logs []float64) []Float64 { return recast[Float64](logs) }

// OfLogs32 returns the numbers with the given logs.
func OfLogs32(logs []float32) []Float32 { return recast[Float32](logs) }

// OfFixedLogs returns the numbers with the given logs. ZeroLog gives zero.
func OfFixedLogs(logs []fixed.Q43) []Fixed { return recast[Fixed](logs) }

// Logs returns the logs of x.
func Logs(x []Float64) []float64 { return recast[float64](x) }

// Logs32 returns the logs of x.
func Logs32(x []Float32) []float32 { return recast[float32](x) }

// FixedLogs returns the logs of x. A fixed.Buffer of them raises x to a fraction and undoes
// it, if no number is zero.
func FixedLogs(x []Fixed) []fixed.Q43 { return recast[fixed.Q43](x) }

// recast returns x as a slice of To. To and From must have the same memory layout.
func recast[To, From any](x []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(x))), cap(x))[:len(x)]
}
