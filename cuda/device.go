// Package cuda runs kernels on an NVIDIA GPU. They are kernels of revlinalg, revnn,
// revsparse and revmodels with the same equations, operands and passes, but their operands lie in the
// memory of a device:
//
//	dev, err := cuda.Open(0)
//	defer dev.Close()
//	x, err := cuda.NewVector(dev, hostX)
//	k := cuda.Dot[float64]{Out: out, X: x, Y: y}
//	err = k.Forward()
//	err = k.Adjoint(g)
//
// To use a GPU, build with the tag cuda, the header cuda.h of CUDA 11 to 13, and a CUDA driver.
// Without the tag the package needs neither cgo nor CUDA, and Open returns ErrUnavailable.
//
// Passes run one after the other in the order of their calls, and a call returns before
// its pass ends. Copies to the host wait for the passes before them. With [On] you choose a stream
// for a pass, and it runs beside those of other streams. All operands of a pass must lie on one device. If
// not, the pass returns an error that names the operand, and does nothing. Operands of wrong
// shapes, and those that overlap, panic as on the CPU, with values for which errors.Is finds
// mat.ErrShape or rev.ErrOverlap.
//
// A pass that the device cannot finish, after a fault of the driver for example, has an error at
// a later call: of another pass, a copy, or Sync. Its outputs are then not defined.
//
// Results over Q43 equal the CPU's bit for bit. Results over floats are the same bits from
// run to run, as sums are added up in a fixed order, but may differ from the CPU's in
// rounding.
//
// Close gives back all that a device holds. If memory runs out, the error is ErrMemory. Of what
// the call allocated, only scratch memory and tables of FFT remain, which the device uses again.
//
// The package has its own module, so that importers of revnum need no cgo.
package cuda

//go:generate go run revnum/cmd/revgen

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"revnum/cuda/kernels"
	"revnum/internal/bytype"
	"revnum/rev"
)

// ErrUnavailable is the error of Open if there is no GPU, or if the package is built
// without the tag cuda.
var ErrUnavailable = errors.New("cuda: no device")

// ErrMemory is the error if a device or the host has not enough memory.
var ErrMemory = errors.New("out of memory")

// A Device is a GPU. Its methods, and the kernels over its memory, may be called from any
// goroutine. A device makes one call at a time. While one waits for results, as Memory.Get,
// Device.Sync and Event.Sync do, the calls of other goroutines wait too. While Stream.Sync waits,
// they do not. What has been queued before runs meanwhile.
type Device struct {
	number int
	order  int64 // in which devices are held together

	compiling sync.RWMutex // read by Compile, for which Close waits

	mu      sync.Mutex // held by each pass and copy
	driver  driver
	pieces  map[uintptr]bool       // the memory
	pinned  map[unsafe.Pointer]int // the memory of the host, with its bytes
	events  map[*Event]bool
	streams map[*Stream]bool
	first   *Stream              // the stream from the start
	kept    map[source]structure // of structures
	fits    map[string]bool      // whether clusters of kernels have room
	tables  map[int]fftTable     // what is kept for lengths of transforms
	uses    int64                // of tables
}

// A driver is what a device can do. Kernels and copies of a stream run in the order of the
// calls, which return before. Stream 0 is there from the start.
type driver interface {
	properties() Properties
	alloc(bytes int) (uintptr, error)
	free(at uintptr) error // waits for all streams
	allocHost(bytes int) (unsafe.Pointer, error)
	freeHost(at unsafe.Pointer) error
	toDevice(stream int, at uintptr, data []byte) error
	toHost(stream int, data []byte, at uintptr) error
	copyFrom(stream int, at uintptr, of driver, from uintptr, bytes int) error // of this device or another
	zero(stream int, at uintptr, bytes int) error
	compile(kernel string) error                 // beside other calls
	clusters(kernel string, g grid) (int, error) // how many of its clusters the device runs at the same time
	launch(stream int, kernel string, g grid, params []uint64) error
	newStream(first bool) (int, error) // whose kernels may start before those of others
	freeStream(stream int) error
	newEvent() (int, error)
	freeEvent(event int) error
	record(stream, event int) error // the event is when the stream has come here
	wait(stream, event int) error   // the stream waits
	finish(event int) error         // the host waits
	elapsed(from, to int) (time.Duration, error)
	sync(stream int) error // the host waits
	done(stream int) (bool, error)
	memory() (free, total int, err error)
	handle() uintptr // of the context
	streamHandle(stream int) uintptr
	close() error
}

// Properties say what a device is.
type Properties struct {
	Name       string
	Capability int // compute capability: 90 is 9.0

	held int // bytes of shared memory, registers and the second cache, or 0 if it is not known
}

// A grid says how many blocks of how many threads run a kernel.
type grid struct{ blocks, threads [3]int }

// Count returns how many devices there are. Its error is ErrUnavailable, with the reason, if the
// package is built without the tag cuda, or if the driver does not say.
func Count() (int, error) { return countDevices() }

// Open returns device n. The devices are counted from 0. Close it when you are done. It returns
// ErrUnavailable, with the reason, if there is no such device, or if its compute capability is
// below 7.5.
//
// The driver compiles a kernel, and those of the same source, for the card when a pass first
// needs it. It keeps the result in its cache, so that the first pass on a machine takes longer.
// If it cannot, the pass returns the error, but launches of the pass that came before have run.
// Meanwhile other goroutines wait: to compile beside them, call Compile.
func Open(n int) (*Device, error) {
	d, err := openDriver(n)
	if err != nil {
		return nil, err
	}
	return newDevice(n, d)
}

var opened atomic.Int64 // how many devices were opened

func newDevice(number int, dr driver) (*Device, error) {
	if p := dr.properties(); p.Capability < kernels.Capability {
		err := fmt.Errorf("%w that kernels can use: device %d (%s) has compute capability %d.%d, want at least %d.%d", ErrUnavailable,
			number, p.Name, p.Capability/10, p.Capability%10, kernels.Capability/10, kernels.Capability%10)
		return nil, join(err, dr.close())
	}
	d := &Device{
		number: number, order: opened.Add(1), driver: dr, first: &Stream{},
		pieces: map[uintptr]bool{}, pinned: map[unsafe.Pointer]int{}, kept: map[source]structure{}, fits: map[string]bool{},
		tables: map[int]fftTable{},
		events: map[*Event]bool{}, streams: map[*Stream]bool{},
	}
	d.first.device = d
	d.streams[d.first] = true
	if err := d.first.reserve(); err != nil {
		return nil, errors.Join(err, d.first.close(), dr.close())
	}
	return d, nil
}

// Format implements fmt.Formatter for all verbs.
func (d *Device) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "device %d (%s)", d.number, d.Properties().Name)
}

// Properties returns what the device is.
func (d *Device) Properties() Properties { return d.driver.properties() }

// Memory returns how many bytes of memory are free, and how many there are. Other programs that use
// the card take some of them.
func (d *Device) Memory() (free, total int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, total, err = d.driver.memory()
	return free, total, wrap(err)
}

// Context returns the CUcontext of the device, for other libraries. It is the primary one.
func (d *Device) Context() uintptr { return d.driver.handle() }

// Compile compiles the kernels whose names match, or all for a nil, as many at a time as GOMAXPROCS. Names end
// in the type of numbers: F64, F32 or Q43. Other goroutines use the device meanwhile. A pass that needs a
// kernel that is being compiled waits for this one. Compile returns the errors of all kernels, and one if no name
// matches.
func (d *Device) Compile(names *regexp.Regexp) error {
	d.compiling.RLock()
	defer d.compiling.RUnlock()
	var all sync.WaitGroup
	free := make(chan bool, runtime.GOMAXPROCS(0))
	var held sync.Mutex
	var err error
	list := kernels.Names(d.Properties().Capability)
	if names != nil {
		list = slices.DeleteFunc(list, func(kernel string) bool { return !names.MatchString(kernel) })
	}
	if len(list) == 0 {
		return fmt.Errorf("cuda: no kernel has a name that matches %v", names)
	}
	for _, kernel := range list {
		free <- true
		all.Go(func() {
			e := d.driver.compile(kernel)
			held.Lock()
			err = join(err, wrap(e))
			held.Unlock()
			<-free
		})
	}
	all.Wait()
	return err
}

// Sync waits for all passes and copies, and returns their error if one failed.
func (d *Device) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sync()
}

func (d *Device) sync() (err error) {
	for s := range d.streams {
		err = join(err, wrap(d.driver.sync(s.id)))
	}
	return err
}

// Close waits for Compile and for all passes and copies, frees all memory, streams and events, and closes
// the device. It returns the errors of all that. Memory, streams and events of the device must not
// be used afterwards: what uses them returns an error.
func (d *Device) Close() error {
	d.compiling.Lock()
	defer d.compiling.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.sync()
	for at := range d.pieces {
		forget(at)
		err = join(err, wrap(d.driver.free(at)))
	}
	for at := range d.pinned {
		err = join(err, wrap(d.driver.freeHost(at)))
	}
	for e := range d.events {
		err = join(err, wrap(d.driver.freeEvent(e.id)))
		e.closed = true
	}
	for s := range d.streams {
		err = join(err, s.close())
	}
	d.pieces, d.pinned, d.events, d.streams, d.kept, d.tables = nil, nil, nil, nil, nil, nil
	return join(err, wrap(d.driver.close()))
}

// join is errors.Join without what an error before says: after a fault, all calls have the same error.
func join(errs ...error) error {
	var kept []error
	for _, err := range errs {
		if err != nil && !slices.ContainsFunc(kept, func(k error) bool { return strings.Contains(k.Error(), err.Error()) }) {
			kept = append(kept, err)
		}
	}
	return errors.Join(kept...)
}

// wrap says where an error of the driver comes from.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cuda: %w", err)
}

// A pass is one at work, from begin to end. It holds its device meanwhile. After an error,
// and if it has no operands, it does nothing.
type pass struct {
	dev    *Device
	stream *Stream
	err    error
}

// A place is where a kernel has the address of an operand, or of a part of one.
type place struct {
	operand string
	offset  uintptr
	slice   bool
}

var placesOf bytype.Map[[]place]

// begin begins a pass of a kernel. It finds the device on which all operands are. Call end
// afterwards. Check shapes before, as a panic between them would leave the device locked.
func begin[K any](k *K, p *rev.Pass[K]) (w pass) {
	t := reflect.TypeFor[K]()
	places := placesOf.Load(t)
	if places == nil {
		places = placesOf.LoadOrStore(t, findPlaces(t))
	}
	var first string // the operand that is on w.dev
	for i, operands := range [...]*K{k, &p.G, &p.T, &p.GT} {
		for _, at := range *places {
			field := unsafe.Add(unsafe.Pointer(operands), at.offset)
			address := *(*uintptr)(field)
			if address == 0 || at.slice && (*[2]uintptr)(field)[1] == 0 {
				continue
			}
			switch d, name := deviceOf(address), [...]string{"", "cotangent of ", "tangent of ", "tangent of the cotangent of "}[i]; {
			case d == nil:
				return pass{err: fmt.Errorf("cuda: %v: %s%s is not in the memory of an open device", t, name, at.operand)}
			case w.dev == nil:
				w.dev, first = d, name+at.operand
			case w.dev != d:
				return pass{err: fmt.Errorf("cuda: %v: %s%s is on device %d, but %s on device %d", t, name, at.operand, d.number, first, w.dev.number)}
			}
		}
	}
	if w.dev == nil {
		return w
	}
	w.dev.mu.Lock()
	chosen, _ := p.On.(*Stream)
	s, err := w.dev.stream(chosen)
	w.stream, w.err = s, wrap(err)
	return w
}

func findPlaces(t reflect.Type) *[]place {
	var places []place
	var find func(name string, t reflect.Type, offset uintptr)
	find = func(name string, t reflect.Type, offset uintptr) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			places = append(places, place{name, offset, t.Kind() == reflect.Slice})
		case reflect.Struct:
			for f := range t.Fields() {
				find(name, f.Type, offset+f.Offset)
			}
		}
	}
	for f := range t.Fields() {
		if _, ok := f.Tag.Lookup("rev"); ok {
			find(f.Name, f.Type, f.Offset)
		}
	}
	return &places
}

// end ends a pass and returns its error.
func (w *pass) end() error {
	if w.dev != nil {
		w.dev.mu.Unlock()
	}
	return w.err
}

// fail ends the pass with an error, unless there is one.
func (w *pass) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// launch runs a kernel of the device.
func (w *pass) launch(kernel string, g grid, params ...uint64) {
	if w.err == nil && w.dev != nil {
		w.err = wrap(w.dev.driver.launch(w.stream.id, kernel, g, params))
	}
}

// fits reports whether the device has a compute capability, and room for a cluster of a kernel, whose largest grid is g. Where others
// use the room, a launch waits for it.
func (w *pass) fits(kernel string, capability int, g grid) bool {
	if w.err != nil || w.dev == nil || w.dev.Properties().Capability < capability {
		return false
	}
	fits, known := w.dev.fits[kernel]
	if !known {
		n, err := w.dev.driver.clusters(kernel, g)
		if w.err = wrap(err); err != nil {
			return false
		}
		fits = n > 0
		w.dev.fits[kernel] = fits
	}
	return fits
}

// zero sets m to zeros.
func zero[T any](w *pass, m Memory[T]) {
	if w.err == nil && w.dev != nil && len(m) > 0 {
		w.err = wrap(w.dev.driver.zero(w.stream.id, m.address(), m.bytes()))
	}
}

// room returns scratch memory of a pass. The passes of a stream run in order, so they share
// it. Ask for it before the pass writes, as there may be none.
func (w *pass) room(i, bytes int) (at uintptr) {
	if w.err == nil && w.dev != nil {
		at, w.err = w.stream.room(i, bytes)
	}
	return at
}

// beside returns a pass in a stream beside that of w, whose launches start first where both have some. After an error it has
// no device, and does nothing.
func (w *pass) beside() *pass {
	side := pass{err: w.err}
	if w.err == nil && w.dev != nil {
		if side.stream, w.err = w.stream.beside(); w.err == nil {
			side.dev = w.dev
		}
	}
	return &side
}

// after has what follows in w wait for what is in the stream of v until now, also after an error.
func (w *pass) after(v *pass) {
	w.fail(v.err)
	if w.dev != nil && v.dev != nil {
		d, e := w.dev.driver, v.stream.answered
		w.fail(wrap(join(d.record(v.stream.id, e), d.wait(w.stream.id, e))))
	}
}

// ask begins to copy a number of 8 bytes to the host. The answer comes when the launches before have
// ended, beside those that follow.
func (w *pass) ask(at uint64) {
	if w.err == nil && w.dev != nil {
		s, d := w.stream, w.dev.driver
		w.err = wrap(join(d.toHost(s.id, unsafe.Slice((*byte)(s.answer), 8), uintptr(at)), d.record(s.id, s.answered)))
	}
}

// answer waits for what ask has asked for. It is 0 after an error.
func (w *pass) answer() int64 {
	if w.err == nil && w.dev != nil {
		w.err = wrap(w.dev.driver.finish(w.stream.answered))
	}
	if w.err != nil || w.dev == nil {
		return 0
	}
	return *(*int64)(w.stream.answer)
}

// get copies numbers to the host. It waits for the launches before.
func get[T any](w *pass, to []T, from uintptr) {
	if w.err == nil && w.dev != nil {
		w.err = wrap(w.stream.toHost(from, bytesOf(to)))
	}
}
