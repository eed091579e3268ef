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

	"gonum.org/v1/gonum/mat"

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

var errForeign = errors.New("the memory is not of an open device")

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
	if err := d.first.toDevice(m.address(), bytesOf(data)); err != nil {
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
	for from, t := range d.kept {
		if p.has(from.ptr) || p.has(from.ind) {
			delete(d.kept, from)
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

// Set copies data from the host to m, when all passes of the device have ended, and waits for it. It
// panics if the lengths differ. It is an error if m is not in the memory of an open device.
func (m Memory[T]) Set(data []T) error {
	return m.move(len(data), func(d *Device) error {
		return join(d.finishOthers(), d.first.toDevice(m.address(), bytesOf(data)))
	})
}

// Get copies m to data on the host, when all passes of the device have ended. It panics if the
// lengths differ. It is an error if m is not in the memory of an open device.
func (m Memory[T]) Get(data []T) error {
	return m.move(len(data), func(d *Device) error {
		return join(d.finishOthers(), d.first.toHost(m.address(), bytesOf(data)))
	})
}

// finishOthers waits for the streams but the first.
func (d *Device) finishOthers() (err error) {
	for s := range d.streams {
		if s != d.first {
			err = join(err, d.driver.sync(s.id))
		}
	}
	return err
}

// SetAsync copies data to m in stream s, or in the first stream if s is nil, and returns before. Do
// not change data before it has run: Sync or an event tells when. It panics if the lengths differ.
// It is an error if data is not in memory that NewPinned returned for this device.
func (m Memory[T]) SetAsync(s *Stream, data Pinned[T]) error {
	return m.moveIn(s, len(data), func(s *Stream) error {
		if !s.device.isPinned(bytesOf(data)) {
			return errPageable
		}
		return s.device.driver.toDevice(s.id, m.address(), bytesOf(data))
	})
}

// GetAsync copies m to data in stream s, or in the first stream if s is nil, and returns before. Do
// not use data before it has run: Sync or an event tells when. It panics if the lengths differ. It is
// an error if data is not in memory that NewPinned returned for this device.
func (m Memory[T]) GetAsync(s *Stream, data Pinned[T]) error {
	return m.moveIn(s, len(data), func(s *Stream) error {
		if !s.device.isPinned(bytesOf(data)) {
			return errPageable
		}
		return s.device.driver.toHost(s.id, bytesOf(data), m.address())
	})
}

// Zero sets m to zeros in stream s, or in the first stream if s is nil, and returns before.
func (m Memory[T]) Zero(s *Stream) error {
	return m.moveIn(s, len(m), func(s *Stream) error {
		return s.device.driver.zero(s.id, m.address(), m.bytes())
	})
}

// Fill sets all elements of m to v in stream s, or in the first stream if s is nil, and returns before.
func Fill[T rev.Real | int32](s *Stream, m Memory[T], v T) error {
	return m.moveIn(s, len(m), func(s *Stream) error {
		w := pass{dev: s.device, stream: s}
		w.launch(fmt.Sprint("fill", 8*unsafe.Sizeof(v)), vectorGrid(len(m)), uint64(m.address()), uint64(len(m)), rawBits(v))
		return w.err
	})
}

// rawBits returns the bits of v, as a parameter of a kernel.
func rawBits[T any](v T) (bits uint64) {
	copy(bytesOf(unsafe.Slice(&bits, 1)), bytesOf(unsafe.Slice(&v, 1)))
	return bits
}

// Copy copies from to m in stream s, or in the first stream if s is nil, and returns before. If from
// is on another device, Copy waits for all passes there before, and for the copy. It panics if the
// lengths differ. Parts of one memory must not overlap.
func (m Memory[T]) Copy(s *Stream, from Memory[T]) error {
	to, of := deviceOf(m.address()), deviceOf(from.address())
	if len(m) == len(from) && to != nil && of != nil && to != of {
		return wrap(to.copyBetween(s, m.address(), of, from.address(), m.bytes()))
	}
	return m.moveIn(s, len(from), func(s *Stream) error {
		if of == nil {
			return errForeign
		}
		return s.device.driver.copyFrom(s.id, m.address(), s.device.driver, from.address(), m.bytes())
	})
}

// copyBetween copies from another device.
func (d *Device) copyBetween(s *Stream, at uintptr, of *Device, from uintptr, bytes int) error {
	first, second := d, of
	if first.order > second.order { // so that opposite copies do not wait for each other
		first, second = second, first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	second.mu.Lock()
	defer second.mu.Unlock()
	s, err := d.stream(s)
	if err != nil {
		return err
	}
	if err := of.sync(); err != nil {
		return err
	}
	return join(d.driver.copyFrom(s.id, at, of.driver, from, bytes), d.driver.sync(s.id))
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

// move makes a copy of n elements with the device of m, which is held meanwhile.
func (m Memory[T]) move(n int, copies func(d *Device) error) error {
	if n != len(m) {
		panic(rev.ShapeError[Memory[T]]("the memory", "has %d elements, want %d", len(m), n))
	}
	if len(m) == 0 {
		return nil
	}
	d := deviceOf(m.address())
	if d == nil {
		return wrap(errForeign)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return wrap(copies(d))
}

// moveIn does what move does, in a stream.
func (m Memory[T]) moveIn(s *Stream, n int, copies func(s *Stream) error) error {
	return m.move(n, func(d *Device) error {
		s, err := d.stream(s)
		if err != nil {
			return err
		}
		return copies(s)
	})
}

func bytesOf[T any](data []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(*new(T))))
}

// toDevice copies from the host, and waits.
func (s *Stream) toDevice(at uintptr, b []byte) error {
	var p runtime.Pinner // until the copy has run
	defer p.Unpin()
	p.Pin(unsafe.SliceData(b))
	return join(s.device.driver.toDevice(s.id, at, b), s.device.driver.sync(s.id))
}

// toHost copies to the host, and waits.
func (s *Stream) toHost(at uintptr, b []byte) error {
	var p runtime.Pinner
	defer p.Unpin()
	p.Pin(unsafe.SliceData(b))
	return join(s.device.driver.toHost(s.id, b, at), s.device.driver.sync(s.id))
}

func (m Memory[T]) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }

func (m Memory[T]) bytes() int { return len(m) * int(unsafe.Sizeof(*new(T))) }

// Alloc returns n zeros in the memory of d. Nothing is copied from the host. T must have no pointers.
// Free them when you are done.
func Alloc[T any](d *Device, n int) (Memory[T], error) {
	if n < 0 {
		panic(rev.Misuse[Memory[T]](mat.ErrNegativeDimension, "n", "is %d", n))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	m, err := allocate[T](d, n)
	if err != nil || n == 0 {
		return m, err
	}
	if err := join(d.driver.zero(d.first.id, m.address(), m.bytes()), d.driver.sync(d.first.id)); err != nil {
		return nil, join(wrap(err), release(d, m))
	}
	return m, nil
}

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

// AllocVector returns a vector of n zeros, as Alloc does.
func AllocVector[T any](d *Device, n int) (Vector[T], error) {
	m, err := Alloc[T](d, n)
	return Vector[T]{N: n, Data: m, Inc: 1}, err
}

// Slice returns elements i to j-1 of x, in the same memory. It panics if x does not have them.
func (x Vector[T]) Slice(i, j int) Vector[T] {
	if i < 0 || j < i || j > x.N {
		panic(rev.Misuse[Vector[T]](mat.ErrIndexOutOfRange, "i or j", "is out of range: %d and %d of %d elements", i, j, x.N))
	}
	return Vector[T]{N: j - i, Data: span(x.Data, i*x.Inc, (j-i-1)*x.Inc+1), Inc: x.Inc}
}

// span returns the n elements of m from i on, or none if n is not positive.
func span[T any](m Memory[T], i, n int) Memory[T] {
	if n <= 0 {
		return m[:0]
	}
	return m[i : i+n]
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

// AllocGeneral returns a matrix of r×c zeros without gaps, as Alloc does.
func AllocGeneral[T any](d *Device, r, c int) (General[T], error) {
	if r < 0 || c < 0 {
		panic(rev.Misuse[General[T]](mat.ErrNegativeDimension, "r or c", "is negative: they are %d and %d", r, c))
	}
	m, err := Alloc[T](d, r*c)
	return General[T]{Rows: r, Cols: c, Data: m, Stride: max(c, 1)}, err
}

// Slice returns rows i to k-1 and columns j to l-1 of a, in the same memory. It panics if a does not
// have them.
func (a General[T]) Slice(i, k, j, l int) General[T] {
	if i < 0 || k < i || k > a.Rows {
		panic(rev.Misuse[General[T]](mat.ErrRowAccess, "i or k", "is out of range: %d and %d of %d rows", i, k, a.Rows))
	}
	if j < 0 || l < j || l > a.Cols {
		panic(rev.Misuse[General[T]](mat.ErrColAccess, "j or l", "is out of range: %d and %d of %d columns", j, l, a.Cols))
	}
	s := General[T]{Rows: k - i, Cols: l - j, Data: a.Data[:0], Stride: a.Stride}
	if s.Rows > 0 && s.Cols > 0 {
		s.Data = span(a.Data, i*a.Stride+j, (s.Rows-1)*a.Stride+s.Cols)
	}
	return s
}

// Row returns row i of a, in the same memory.
func (a General[T]) Row(i int) Vector[T] {
	r := a.Slice(i, i+1, 0, a.Cols)
	return Vector[T]{N: a.Cols, Data: r.Data, Inc: 1}
}

// Col returns column j of a, in the same memory.
func (a General[T]) Col(j int) Vector[T] {
	c := a.Slice(0, a.Rows, j, j+1)
	return Vector[T]{N: a.Rows, Data: c.Data, Inc: a.Stride}
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
