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

var pools bytype.Map[sync.Pool]

func poolOf[W any]() *sync.Pool {
	t := reflect.TypeFor[W]()
	if p := pools.Load(t); p != nil {
		return p
	}
	return pools.LoadOrStore(t, &sync.Pool{New: func() any { return new(W) }})
}

// Get returns an idle workspace as it was when it was Put, or a new one, which is
// zero.
func Get[W any]() *W { return poolOf[W]().Get().(*W) }

// Put makes w idle. Clear pointers to the caller's memory in w before.
func Put[W any](w *W) { poolOf[W]().Put(w) }

// Grow returns a slice of length n with undefined elements. It uses the storage of b
// if that is large enough. Large slices lie in huge pages if the system gives them
// as fast as small ones.
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
