package cuda

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"revnum/rev"
)

// Memory is the memory of a device. Its elements cannot be read on the host: an index
// into it is a fault. Its length and address are what a slice's are.
//
// Package fmt prints the length and the address. It cannot do that for unexported fields of your
// structs, and reads their elements: give such structs a method Format.
type Memory[T any] []T

// Format implements fmt.Formatter for all verbs.
func (m Memory[T]) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "[%d]%v at %#x on a device", len(m), reflect.TypeFor[T](), m.address())
}

// allocated are all pieces of memory, in the order of their addresses. The devices of a
// machine share one space of addresses.
var allocated struct {
	sync.RWMutex
	list []piece
}

type piece struct {
	at     uintptr
	bytes  int
	device *Device
}

func remember(at uintptr, bytes int, d *Device) {
	allocated.Lock()
	defer allocated.Unlock()
	l := allocated.list
	i := sort.Search(len(l), func(i int) bool { return l[i].at > at })
	allocated.list = slices.Insert(l, i, piece{at, bytes, d})
}

// forget returns the piece that begins at an address, or one without a device.
func forget(at uintptr) piece {
	allocated.Lock()
	defer allocated.Unlock()
	l := allocated.list
	i := sort.Search(len(l), func(i int) bool { return l[i].at >= at })
	if i == len(l) || l[i].at != at {
		return piece{}
	}
	p := l[i]
	allocated.list = slices.Delete(l, i, i+1)
	return p
}

// deviceOf returns the device in whose memory an address is, or nil.
func deviceOf(at uintptr) *Device {
	allocated.RLock()
	defer allocated.RUnlock()
	l := allocated.list
	i := sort.Search(len(l), func(i int) bool { return l[i].at > at }) - 1
	if i < 0 || !l[i].has(at) {
		return nil
	}
	return l[i].device
}

func (p piece) has(at uintptr) bool { return at-p.at < uintptr(p.bytes) }

var errForeign = errors.New("cuda: the memory is not of an open device")

// newMemory returns memory of a device with a copy of data.
func newMemory[T any](d *Device, data []T) (Memory[T], error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return copyTo(d, data)
}

// copyTo does what newMemory does, for a device that is held.
func copyTo[T any](d *Device, data []T) (Memory[T], error) {
	m, err := allocate[T](d, len(data))
	if err != nil || len(data) == 0 {
		return m, err
	}
	if err := d.toDevice(m.address(), bytesOf(data)); err != nil {
		return nil, join(wrap(err), release(d, m))
	}
	return m, nil
}

// allocate returns memory for n elements, for a device that is held. Nothing is written there.
func allocate[T any](d *Device, n int) (Memory[T], error) {
	some := max(1, n) // so that each has an address
	bytes := some * int(unsafe.Sizeof(*new(T)))
	at, err := d.driver.alloc(bytes)
	if err != nil {
		return nil, wrap(err)
	}
	d.pieces[at] = true
	remember(at, bytes, d)
	return memoryAt[T](at, some)[:n], nil
}

// memoryAt returns the n numbers at an address. There are none at 0.
func memoryAt[T any](at uintptr, n int) Memory[T] {
	if at == 0 {
		return nil
	}
	return unsafe.Slice(*(**T)(unsafe.Pointer(&at)), n)
}

// Free waits for all passes of the device and gives the memory back. Call it for what a
// constructor such as NewVector returned. It is an error if m is a part of that, or was freed.
func (m Memory[T]) Free() error {
	p := forget(m.address())
	d := p.device
	if d == nil {
		return errors.New("cuda: no memory begins at this address")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.sync()
	for from, t := range d.transposes {
		if p.has(from.ptr) || p.has(from.ind) {
			delete(d.transposes, from)
			err = join(err, t.free(d))
		}
	}
	delete(d.pieces, m.address())
	return join(err, wrap(d.driver.free(m.address())))
}

// release gives memory back, if there is any, of a device that is held.
func release[T any](d *Device, m Memory[T]) error {
	if m == nil {
		return nil
	}
	forget(m.address())
	delete(d.pieces, m.address())
	return join(d.sync(), wrap(d.driver.free(m.address())))
}

// Set copies data from the host to m, in the stream of the passes, and waits for it. It panics if
// the lengths differ. It is an error if m is not in the memory of an open device.
func (m Memory[T]) Set(data []T) error { return m.move(data, (*Device).toDevice) }

// Get copies m to data on the host, when the passes before have ended in the stream of the passes.
// It panics if the lengths differ. It is an error if m is not in the memory of an open device.
func (m Memory[T]) Get(data []T) error { return m.move(data, (*Device).toHost) }

// SetAsync copies data to m, as Set does, but returns before. It runs in the stream of the
// passes. Do not change data before it has run: Sync or an event tells when. It is an error if
// data is not in memory that NewPinned returned for this device.
func (m Memory[T]) SetAsync(data Pinned[T]) error {
	return m.move(data, func(d *Device, at uintptr, b []byte) error {
		if !d.isPinned(b) {
			return errPageable
		}
		return d.driver.toDevice(d.now.id, at, b)
	})
}

// GetAsync copies m to data, as Get does, but returns before. It runs in the stream of the
// passes. Do not use data before it has run: Sync or an event tells when. It is an error if
// data is not in memory that NewPinned returned for this device.
func (m Memory[T]) GetAsync(data Pinned[T]) error {
	return m.move(data, func(d *Device, at uintptr, b []byte) error {
		if !d.isPinned(b) {
			return errPageable
		}
		return d.driver.toHost(d.now.id, b, at)
	})
}

var errPageable = errors.New("the memory of the host is not pinned memory of the device")

// isPinned reports whether memory of the host, which is not empty, stays where it is.
func (d *Device) isPinned(b []byte) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for p, bytes := range d.pinned {
		if from := at - uintptr(p); from < uintptr(bytes) && len(b) <= bytes-int(from) {
			return true
		}
	}
	return false
}

func (m Memory[T]) move(data []T, move func(d *Device, at uintptr, b []byte) error) error {
	if len(data) != len(m) {
		panic("cuda: the lengths of host and device memory differ")
	}
	if len(m) == 0 {
		return nil
	}
	d := deviceOf(m.address())
	if d == nil {
		return errForeign
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return wrap(move(d, m.address(), bytesOf(data)))
}

func bytesOf[T any](data []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(*new(T))))
}

// toDevice copies from the host, and waits.
func (d *Device) toDevice(at uintptr, b []byte) error {
	var p runtime.Pinner // until the copy has run
	defer p.Unpin()
	p.Pin(unsafe.SliceData(b))
	return join(d.driver.toDevice(d.now.id, at, b), d.driver.sync(d.now.id))
}

// toHost copies to the host, and waits.
func (d *Device) toHost(at uintptr, b []byte) error {
	var p runtime.Pinner
	defer p.Unpin()
	p.Pin(unsafe.SliceData(b))
	return join(d.driver.toHost(d.now.id, b, at), d.driver.sync(d.now.id))
}

func (m Memory[T]) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }

// Pinned is memory of the host that stays where it is. Copies from it and to it are faster,
// and run beside the host's work. It is not Go's memory: do not use it after Free, or when the
// device is closed.
type Pinned[T any] []T

// NewPinned returns n zeros for copies to and from d. T must have no pointers. Call Free when you
// are done. The error is ErrMemory if the host has not enough memory.
func NewPinned[T any](d *Device, n int) (Pinned[T], error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	bytes := max(1, n) * int(unsafe.Sizeof(*new(T)))
	at, err := d.driver.allocHost(bytes)
	if err != nil {
		return nil, wrap(err)
	}
	d.pinned[at] = bytes
	clear(unsafe.Slice((*byte)(at), bytes))
	return unsafe.Slice((*T)(at), max(1, n))[:n], nil
}

// Free waits for all passes and copies of the device d that made p, and gives p back. It is an error
// if p is not what NewPinned returned for d, or was freed.
func (p Pinned[T]) Free(d *Device) error {
	at := unsafe.Pointer(unsafe.SliceData(p))
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.pinned[at]; !ok {
		return errors.New("cuda: no pinned memory of the device begins here")
	}
	delete(d.pinned, at)
	return join(d.sync(), wrap(d.driver.freeHost(at)))
}

// A Vector is a rev.Vector in the memory of a device.
type Vector[T any] struct {
	N    int
	Data Memory[T]
	Inc  int
}

// NewVector returns a copy of x in the memory of d, with the elements between those of x. Free
// its Data when you are done.
func NewVector[T any](d *Device, x rev.Vector[T]) (Vector[T], error) {
	m, err := newMemory(d, x.Data)
	return Vector[T]{N: x.N, Data: m, Inc: x.Inc}, err
}

// A General is a rev.General in the memory of a device.
type General[T any] struct {
	Rows, Cols int
	Data       Memory[T]
	Stride     int
}

// NewGeneral returns a copy of a in the memory of d, with the elements between its rows. Free its
// Data when you are done.
func NewGeneral[T any](d *Device, a rev.General[T]) (General[T], error) {
	m, err := newMemory(d, a.Data)
	return General[T]{Rows: a.Rows, Cols: a.Cols, Data: m, Stride: a.Stride}, err
}

// NewScalar returns a number in the memory of d. Get reads it, and Free frees it.
func NewScalar[T any](d *Device, v T) (*T, error) {
	m, err := newMemory(d, []T{v})
	if err != nil {
		return nil, err
	}
	return &m[0], nil
}

// Get returns the number at p in the memory of a device, when the passes before have ended. It is
// an error if p is not in the memory of an open device.
func Get[T any](p *T) (v T, err error) {
	err = Memory[T](unsafe.Slice(p, 1)).Get(unsafe.Slice(&v, 1))
	return v, err
}

// Free gives the number at p back, as Memory.Free does.
func Free[T any](p *T) error { return Memory[T](unsafe.Slice(p, 1)).Free() }
