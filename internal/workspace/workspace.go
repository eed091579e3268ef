// Package workspace recycles the workspaces of kernels. A kernel value can then be a
// plain struct of operands, and its methods still do not allocate after the first
// call on a shape.
package workspace

import (
	"reflect"
	"sync"
	"unsafe"

	"revnum/internal/bytype"
)

var pools bytype.Map[sync.Pool] // by the types of pointers to workspaces

// poolOf returns the pool of workspaces that w, which may be nil, would point to.
func poolOf(w any) *sync.Pool {
	t := reflect.TypeOf(w)
	if p := pools.Load(t); p != nil {
		return p
	}
	return pools.LoadOrStore(t, &sync.Pool{New: func() any { return reflect.New(t.Elem()).Interface() }})
}

// Get returns a pointer of type P to an idle workspace as it was when it was Put, or to a new one, which is
// zero. (Code that is generic over pointers is compiled once for all of them.)
func Get[P any]() P {
	var w P
	return get(w).(P)
}

// get is not inlined, or each package that calls Get would compile methods of sync.Pool's fields.
//
//go:noinline
func get(w any) any { return poolOf(w).Get() }

// Put makes the workspace idle that w points to. Clear pointers to the caller's memory in it before.
//
//go:noinline
func Put(w any) { poolOf(w).Put(w) }

// Grow returns a slice of length n with undefined elements. It uses the storage of b
// if that is large enough. Large slices lie in huge pages until these have taken the
// process longer than small ones.
func Grow[E any](b []E, n int) []E {
	if cap(b) < n {
		b = make([]E, n)
		adviseHuge(unsafe.Pointer(unsafe.SliceData(b)), uintptr(n)*unsafe.Sizeof(b[0]))
	}
	return b[:n]
}

// Zeros is like Grow, with all elements zero.
func Zeros[E any](b []E, n int) []E {
	b = Grow(b, n)
	clear(b)
	return b
}

// Populate has the system give the memory of b, which is about to be written for the first time. The system
// takes less time for many pages at once than for page by page. Blocks of a task call it for what they write,
// so that workers share this time too, and find b in the cache. The elements stay as they are.
func Populate[E any](b []E) {
	populate(unsafe.Pointer(unsafe.SliceData(b)), uintptr(len(b))*unsafe.Sizeof(b[0]))
}
