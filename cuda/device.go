// Package cuda runs kernels on an NVIDIA GPU. They are the kernels of revlinalg and
// revsparse with the same equations, operands and passes, but their operands lie in the
// memory of a device:
//
//	dev, err := cuda.Open(0)
//	defer dev.Close()
//	x, err := cuda.NewVector(dev, hostX)
//	k := cuda.Dot[float64]{Out: out, X: x, Y: y}
//	err = k.Forward()
//	err = k.Adjoint(g)
//
// Build with the tag cuda and a CUDA driver to use a GPU. Without the tag the package
// needs neither cgo nor CUDA, and Open returns ErrUnavailable.
//
// Passes run one after the other in the order of their calls, and a call returns before
// its pass ends. Copies to the host wait for the passes before them. Results over Q43
// equal the CPU's bit for bit. Results over floats are the same bits from run to run, as
// sums are added up in a fixed order, but may differ from the CPU's in rounding.
//
// The package has its own module, so that importers of revnum need no cgo.
package cuda

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"revnum/rev"
)

// ErrUnavailable is the error of Open if there is no GPU, or if the package is built
// without the tag cuda.
var ErrUnavailable = errors.New("cuda: no device")

// A Device is a GPU. Its methods, and the kernels over its memory, may be called from
// any goroutine.
type Device struct {
	mu      sync.Mutex
	driver  driver
	pieces  map[uintptr]int // sizes in bytes by address
	scratch [2]piece        // of the passes, which run one after the other

	transposes map[uintptr]structure // of sparse matrices, by the addresses of Ptr
}

type piece struct {
	at    uintptr
	bytes int
}

// A driver is what a device can do. Kernels and copies run in the order of the calls.
type driver interface {
	alloc(bytes int) (uintptr, error)
	free(at uintptr) error
	toDevice(at uintptr, data []byte) error
	toHost(data []byte, at uintptr) error // waits for the kernels before
	launch(kernel string, g grid, params []uint64) error
	sync() error
	close() error
}

// A grid says how many blocks of how many threads run a kernel.
type grid struct{ blocks, threads [3]int }

// Open returns device n. The devices are counted from 0.
func Open(n int) (*Device, error) {
	d, err := openDriver(n)
	if err != nil {
		return nil, err
	}
	return newDevice(d), nil
}

func newDevice(d driver) *Device {
	return &Device{driver: d, pieces: map[uintptr]int{}, transposes: map[uintptr]structure{}}
}

// Sync waits for all passes, and returns their error if one failed.
func (d *Device) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.driver.sync()
}

// Close waits for all passes, frees all memory and closes the device.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.driver.sync()
	for at := range d.pieces {
		forget(at)
		err = errors.Join(err, d.driver.free(at))
	}
	for _, s := range d.scratch {
		if s.bytes > 0 {
			err = errors.Join(err, d.driver.free(s.at))
		}
	}
	d.pieces, d.transposes, d.scratch = nil, nil, [2]piece{}
	return errors.Join(err, d.driver.close())
}

// alloc returns new memory.
func (d *Device) alloc(bytes int) (uintptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, err := d.driver.alloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("cuda: %w", err)
	}
	d.pieces[at] = bytes
	remember(at, bytes, d)
	return at, nil
}

// room returns scratch memory of a pass. The passes run in order, so they share it.
func (d *Device) room(i, bytes int) (uintptr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.scratch[i]
	if s.bytes >= bytes {
		return s.at, nil
	}
	at, err := d.driver.alloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("cuda: %w", err)
	}
	if s.bytes > 0 {
		if err := d.driver.free(s.at); err != nil {
			return 0, fmt.Errorf("cuda: %w", err)
		}
	}
	*s = piece{at, bytes}
	return at, nil
}

// launch runs a kernel.
func (d *Device) launch(kernel string, g grid, params ...uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.driver.launch(kernel, g, params); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	return nil
}

// Memory is the memory of a device. Its elements cannot be read on the host: an index
// into it is a fault. Its length and address are what a slice's are.
type Memory[T any] []T

// allocated are all pieces of memory, in the order of their addresses. The devices of a
// machine share one space of addresses.
var allocated struct {
	sync.RWMutex
	list []owned
}

type owned struct {
	piece
	device *Device
}

func remember(at uintptr, bytes int, d *Device) {
	allocated.Lock()
	defer allocated.Unlock()
	l := allocated.list
	i := sort.Search(len(l), func(i int) bool { return l[i].at > at })
	allocated.list = slices.Insert(l, i, owned{piece{at, bytes}, d})
}

func forget(at uintptr) (d *Device) {
	allocated.Lock()
	defer allocated.Unlock()
	l := allocated.list
	i := sort.Search(len(l), func(i int) bool { return l[i].at >= at })
	if i == len(l) || l[i].at != at {
		return nil
	}
	d = l[i].device
	allocated.list = slices.Delete(l, i, i+1)
	return d
}

// deviceOf returns the device of the first address that is not 0.
func deviceOf(addresses ...uintptr) (*Device, error) {
	allocated.RLock()
	defer allocated.RUnlock()
	l := allocated.list
	for _, at := range addresses {
		if at == 0 {
			continue
		}
		i := sort.Search(len(l), func(i int) bool { return l[i].at > at }) - 1
		if i >= 0 && at-l[i].at < uintptr(max(l[i].bytes, 1)) {
			return l[i].device, nil
		}
		return nil, errors.New("cuda: an operand is not in the memory of an open device")
	}
	return nil, errors.New("cuda: no operand is in the memory of a device")
}

// newMemory returns memory of a device with a copy of data.
func newMemory[T any](d *Device, data []T) (Memory[T], error) {
	at, err := d.alloc(max(1, len(data)) * int(unsafe.Sizeof(*new(T))))
	if err != nil {
		return nil, err
	}
	m := Memory[T](unsafe.Slice(*(**T)(unsafe.Pointer(&at)), max(1, len(data)))[:len(data)])
	if err := m.Set(data); err != nil {
		return nil, errors.Join(err, m.Free())
	}
	return m, nil
}

// Free waits for all passes of the device and gives the memory back. Call it for what a
// constructor such as NewVector returned, not for a part of it.
func (m Memory[T]) Free() error {
	d := forget(m.address())
	if d == nil {
		return errors.New("cuda: no memory begins at this address")
	}
	d.mu.Lock()
	t := d.transposes[m.address()]
	delete(d.transposes, m.address())
	delete(d.pieces, m.address())
	err := errors.Join(d.driver.sync(), d.driver.free(m.address()))
	d.mu.Unlock()
	for _, kept := range []Memory[int32]{t.ptr, t.ind, t.perm} {
		if kept != nil {
			err = errors.Join(err, kept.Free())
		}
	}
	return err
}

// Set copies data from the host to m. It panics if the lengths differ.
func (m Memory[T]) Set(data []T) error {
	return m.copy(data, func(d *Device, b []byte) error { return d.driver.toDevice(m.address(), b) })
}

// Get copies m to data on the host, when the passes before have ended. It panics if the
// lengths differ.
func (m Memory[T]) Get(data []T) error {
	return m.copy(data, func(d *Device, b []byte) error { return d.driver.toHost(b, m.address()) })
}

func (m Memory[T]) copy(data []T, copy func(d *Device, b []byte) error) error {
	if len(data) != len(m) {
		panic("cuda: the lengths of host and device memory differ")
	}
	if len(m) == 0 {
		return nil
	}
	d, err := deviceOf(m.address())
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*int(unsafe.Sizeof(data[0])))
	if err := copy(d, b); err != nil {
		return fmt.Errorf("cuda: %w", err)
	}
	return nil
}

func (m Memory[T]) address() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(m))) }

// A Vector is a rev.Vector in the memory of a device.
type Vector[T any] struct {
	N    int
	Data Memory[T]
	Inc  int
}

// NewVector returns a copy of x in the memory of d. Free x.Data when you are done.
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

// NewGeneral returns a copy of a in the memory of d. Free a.Data when you are done.
func NewGeneral[T any](d *Device, a rev.General[T]) (General[T], error) {
	m, err := newMemory(d, a.Data)
	return General[T]{Rows: a.Rows, Cols: a.Cols, Data: m, Stride: a.Stride}, err
}

// NewScalar returns a number in the memory of d. Get reads it.
func NewScalar[T any](d *Device, v T) (*T, error) {
	m, err := newMemory(d, []T{v})
	if err != nil {
		return nil, err
	}
	return &m[0], nil
}

// Get returns the number at p in the memory of a device, when the passes before have
// ended.
func Get[T any](p *T) (v T, err error) {
	err = Memory[T](unsafe.Slice(p, 1)).Get(unsafe.Slice(&v, 1))
	return v, err
}
