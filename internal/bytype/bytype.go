// Package bytype has a map from types to values. Calls of small kernels look up more
// than one type, and a sync.Map takes four times as long.
package bytype

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Map maps types to pointers. Its zero value is empty. Goroutines may share it.
type Map[V any] struct {
	table atomic.Pointer[[]entry[V]]
	mu    sync.Mutex // held while the table is replaced
}

// An entry belongs to the type whose description lies at typ, which does not move. The
// table uses open addressing, has a power of two of entries, and is at most half full.
type entry[V any] struct {
	typ   unsafe.Pointer
	value *V
}

func address(t reflect.Type) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
}

// find returns the entry of typ in the table, or the free entry for it.
func find[V any](table []entry[V], typ unsafe.Pointer) *entry[V] {
	mask := uintptr(len(table) - 1)
	for i := uintptr(typ) >> 5; ; i++ {
		if e := &table[i&mask]; e.typ == typ || e.typ == nil {
			return e
		}
	}
}

// Load returns the value of t, or nil.
func (m *Map[V]) Load(t reflect.Type) *V {
	table := m.table.Load()
	if table == nil {
		return nil
	}
	return find(*table, address(t)).value
}

// LoadOrStore returns the value of t. If t has none, it stores v, which is not nil.
func (m *Map[V]) LoadOrStore(t reflect.Type, v *V) *V {
	m.mu.Lock()
	defer m.mu.Unlock()
	var old []entry[V]
	if table := m.table.Load(); table != nil {
		old = *table
		if e := find(old, address(t)); e.value != nil {
			return e.value
		}
	}
	used := 1
	for _, e := range old {
		if e.value != nil {
			used++
		}
	}
	size := max(64, len(old))
	if 2*used > size {
		size *= 2
	}
	table := make([]entry[V], size)
	*find(table, address(t)) = entry[V]{address(t), v}
	for _, e := range old {
		if e.value != nil {
			*find(table, e.typ) = e
		}
	}
	m.table.Store(&table)
	return v
}
