package cuda

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"revnum/cuda/internal/ptx"
	"revnum/cuda/kernels"
	"revnum/internal/byname"
	"revnum/rev"
	"revnum/revmodels/graphembed"
)

// An interpreted device runs the committed PTX on the host.
type interpreted struct {
	machine ptx.Machine
	pinned  map[unsafe.Pointer][]uint64
	events  map[int]time.Time
	streams int
	zeroed  int // bytes

	capability  int
	allocations int // of memory, streams and events
	failing     int // the number of the allocation that fails, 0 for none

	narrow     bool  // has no room for clusters
	unanswered error // of clusters
}

// modules are the files that kernels were run of, as a driver loads them.
var modules struct {
	sync.Mutex
	parsed map[string]*ptx.Module
}

// kernelOf returns a kernel of the committed PTX, or of that in the folder REVNUM_PTX: kernels/host tries
// mutants of the source.
func kernelOf(name string) (*ptx.Kernel, error) {
	modules.Lock()
	defer modules.Unlock()
	file := kernels.File(name)
	m, ok := modules.parsed[file]
	if !ok {
		text, err := kernels.PTX.ReadFile(file)
		if folder := os.Getenv("REVNUM_PTX"); folder != "" {
			text, err = os.ReadFile(filepath.Join(folder, file))
		}
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", name, err)
		}
		if m, err = ptx.Parse(path.Join("kernels", file), string(text)); err != nil {
			return nil, err
		}
		if modules.parsed == nil {
			modules.parsed = map[string]*ptx.Module{}
		}
		modules.parsed[file] = m
	}
	return m.Kernel(name)
}

// interpreter returns an interpreted device with that many bytes of memory. If REVNUM_DEVICE is the
// number of a device, it returns this one instead, so that the tests of kernels run on a card.
func interpreter(t testing.TB, bytes int) *Device {
	t.Helper()
	on := os.Getenv("REVNUM_DEVICE")
	if on == "" {
		return open(t, interpret(t, bytes))
	}
	n, err := strconv.Atoi(on)
	if err != nil {
		t.Fatalf("REVNUM_DEVICE=%s is not the number of a device", on)
	}
	dev := must(Open(n))(t)
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// withTensorCores returns a device of a compute capability, or that of the tests.
func withTensorCores(t testing.TB, bytes, capability int) *Device {
	t.Helper()
	if os.Getenv("REVNUM_DEVICE") != "" {
		return interpreter(t, bytes)
	}
	d := interpret(t, bytes)
	d.capability = capability
	return open(t, d)
}

// open opens an interpreted device. It is closed after the test.
func open(t testing.TB, d *interpreted) *Device {
	t.Helper()
	dev, err := newDevice(0, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, dev, d) })
	return dev
}

func interpret(t testing.TB, bytes int) *interpreted {
	t.Helper()
	return &interpreted{machine: ptx.Machine{Memory: ptx.NewMemory(bytes)}, pinned: map[unsafe.Pointer][]uint64{}, events: map[int]time.Time{}}
}

// closeAll closes a device, and fails if something is left.
func closeAll(t testing.TB, dev *Device, d *interpreted) {
	t.Helper()
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	if used := d.machine.Memory.Used(); used != 0 || len(d.pinned) > 0 || len(d.events) > 0 || d.streams != 0 {
		t.Errorf("%d bytes, %d pieces of pinned memory, %d events and %d streams leak", used, len(d.pinned), len(d.events), d.streams)
	}
}

// fail reports whether an allocation is to fail.
func (d *interpreted) fail() bool {
	d.allocations++
	return d.allocations == d.failing
}

func (d *interpreted) properties() Properties {
	if d.capability == 0 {
		return Properties{Name: "interpreter", Capability: 75, held: 256}
	}
	return Properties{Name: "interpreter", Capability: d.capability, held: 256}
}

func (d *interpreted) alloc(bytes int) (uintptr, error) {
	if d.fail() {
		return 0, ErrMemory
	}
	at, err := d.machine.Memory.Alloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrMemory, err)
	}
	return uintptr(at), nil
}

func (d *interpreted) free(at uintptr) error { return d.machine.Memory.Free(uint64(at)) }

func (d *interpreted) allocHost(bytes int) (unsafe.Pointer, error) {
	if d.fail() {
		return nil, ErrMemory
	}
	m := make([]uint64, (bytes+7)/8)
	at := unsafe.Pointer(unsafe.SliceData(m))
	d.pinned[at] = m
	return at, nil
}

func (d *interpreted) freeHost(at unsafe.Pointer) error {
	delete(d.pinned, at)
	return nil
}

func (d *interpreted) toDevice(_ int, at uintptr, data []byte) error {
	return d.machine.Memory.Write(uint64(at), data)
}

func (d *interpreted) toHost(_ int, data []byte, at uintptr) error {
	return d.machine.Memory.Read(data, uint64(at))
}

func (d *interpreted) copyFrom(_ int, at uintptr, of driver, from uintptr, bytes int) error {
	b := make([]byte, bytes)
	if err := of.toHost(0, b, from); err != nil {
		return err
	}
	return d.toDevice(0, at, b)
}

func (d *interpreted) zero(_ int, at uintptr, bytes int) error {
	d.zeroed += bytes
	return d.toDevice(0, at, make([]byte, bytes))
}

func (d *interpreted) newStream(bool) (int, error) {
	if d.fail() {
		return 0, ErrMemory
	}
	d.streams++
	return d.allocations, nil
}

func (d *interpreted) freeStream(int) error {
	d.streams--
	return nil
}

func (d *interpreted) newEvent() (int, error) {
	if d.fail() {
		return 0, ErrMemory
	}
	d.events[d.allocations] = time.Time{}
	return d.allocations, nil
}

func (d *interpreted) freeEvent(event int) error {
	delete(d.events, event)
	return nil
}

func (d *interpreted) record(_, event int) error {
	d.events[event] = time.Now()
	if d.machine.Traffic != nil { // a byte takes a nanosecond
		moved := d.zeroed
		for _, t := range d.machine.Traffic {
			moved += t.LoadedSectors + t.StoredSectors
		}
		d.events[event] = time.Unix(0, int64(moved))
	}
	return nil
}

func (d *interpreted) wait(_, _ int) error { return nil } // everything runs when it is called
func (d *interpreted) finish(int) error    { return nil }
func (d *interpreted) sync(int) error      { return nil }
func (d *interpreted) close() error        { return nil }

func (d *interpreted) done(int) (bool, error)   { return true, nil }
func (d *interpreted) handle() uintptr          { return 1 }
func (d *interpreted) streamHandle(int) uintptr { return 2 }
func (d *interpreted) memory() (free, total int, err error) {
	used := d.machine.Memory.Used()
	return d.machine.Memory.Limit() - used, d.machine.Memory.Limit(), nil
}

func (d *interpreted) elapsed(from, to int) (time.Duration, error) {
	return d.events[to].Sub(d.events[from]), nil
}

func (d *interpreted) compile(kernel string) error {
	_, err := kernelOf(kernel)
	return err
}

func (d *interpreted) clusters(kernel string, _ grid) (int, error) {
	if d.narrow || d.unanswered != nil {
		return 0, d.unanswered
	}
	return 1, nil
}

func (d *interpreted) launch(_ int, kernel string, g grid, params []uint64) error {
	k, err := kernelOf(kernel)
	if err != nil {
		return err
	}
	if most, ok := largestBlock()[kernel]; ok && g.threads[0]*g.threads[1]*g.threads[2] > most {
		return fmt.Errorf("kernel %s: %v threads of a block, but its occupancy is that of %d", kernel, g.threads, most)
	}
	if d.narrow && (strings.HasPrefix(kernel, "panelColumns") || strings.HasPrefix(kernel, "reflectColumns")) {
		return fmt.Errorf("kernel %s: no room for a cluster", kernel)
	}
	r := newRecord(d.machine.Memory, kernel, g, params)
	if err := d.machine.Launch(k, ptx.Grid{Blocks: g.blocks, Threads: g.threads}, params); err != nil {
		return err
	}
	return r.write()
}

// largestBlock returns how many threads the blocks of kernels have at most, as their occupancy was
// computed.
var largestBlock = sync.OnceValue(func() map[string]int {
	text, err := os.ReadFile("kernels/occupancy.csv")
	if err != nil {
		panic(err)
	}
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		panic(err)
	}
	of := map[string]int{}
	for _, r := range records[1:] {
		if of[r[1]], err = strconv.Atoi(r[3]); err != nil {
			panic(err)
		}
	}
	return of
})

// through runs a pass of the device kernel D for the host kernel H, whose fields have the
// same names. Those that H lacks are zero. It copies the operands to the device and back.
func through[H any, D rev.Kernel[D]](dev *Device, k H, p rev.Pass[H]) error {
	c := copies{dev: dev, memory: map[unsafe.Pointer]reflect.Value{}}
	var d D
	dp := rev.Pass[D]{Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent}
	for _, pair := range [][2]any{{&d, &k}, {&dp.G, &p.G}, {&dp.T, &p.T}, {&dp.GT, &p.GT}} {
		if err := c.toDevice(reflect.ValueOf(pair[0]).Elem(), reflect.ValueOf(pair[1]).Elem()); err != nil {
			return err
		}
	}
	// No pass may rely on what an earlier one left in scratch memory.
	for _, s := range dev.first.scratch {
		if on, ok := dev.driver.(*interpreted); ok && s.at != 0 {
			if err := on.machine.Memory.Forget(uint64(s.at)); err != nil {
				return err
			}
		}
	}
	run := func() error { return d.Run(dp) }
	if name := map[[3]bool]string{{}: "Forward", {true}: "Inverse", {true, true}: "Adjoint", {false, false, true}: "Tangent", {true, true, true}: "AdjointTangent"}[[3]bool{p.Back, p.Adjoint, p.Tangent}]; name != "" {
		run = func() error { return byname.Run(name, &d, &dp.G, &dp.T, &dp.GT) } // which reads the tags of D
	}
	if err := run(); err != nil {
		return err
	}
	return c.toHost()
}

// copies are the copies of operands on a device. Operands that share memory on the host
// share it on the device.
type copies struct {
	dev    *Device
	memory map[unsafe.Pointer]reflect.Value // slices by their addresses on the host
	hosts  []reflect.Value
	graphs []*Graph
}

// shift is how many elements after the beginning of memory of a device operands begin, as views of
// users may. A test of what only aligned operands take sets it to 0.
var shift = 1

func shifted[T any](d *Device, data []T) (Memory[T], error) {
	m, err := newMemory(d, append(make([]T, shift), data...))
	if err != nil {
		return nil, err
	}
	return m[shift:], nil
}

// slice returns a copy of a slice on the device.
func (c *copies) slice(host reflect.Value) (reflect.Value, error) {
	if host.IsNil() {
		return host, nil
	}
	at := host.UnsafePointer()
	if m, ok := c.memory[at]; ok && host.Len() > 0 {
		return m, nil
	}
	var m any
	var err error
	switch data := host.Interface().(type) {
	case []float64:
		m, err = shifted(c.dev, data)
	case []float32:
		m, err = shifted(c.dev, data)
	case []int32:
		m, err = shifted(c.dev, data)
	case []complex128:
		m, err = shifted(c.dev, data)
	default:
		raw := unsafe.Slice((*int64)(at), host.Len())
		m, err = shifted(c.dev, raw)
	}
	v := reflect.ValueOf(m)
	if err == nil && host.Len() > 0 {
		c.memory[at] = v
		c.hosts = append(c.hosts, host)
	}
	return v, err
}

// toDevice copies the operands of a kernel to the device.
func (c *copies) toDevice(d, h reflect.Value) error {
	for i := range d.NumField() {
		to, from := d.Field(i), h.FieldByName(d.Type().Field(i).Name)
		if !from.IsValid() {
			continue
		}
		switch to.Kind() {
		case reflect.Struct:
			if err := c.toDevice(to, from); err != nil {
				return err
			}
		case reflect.Pointer:
			if from.IsNil() {
				continue
			}
			if g, ok := from.Interface().(*graphembed.Graph); ok {
				on, err := NewGraph(c.dev, g)
				if err != nil {
					return err
				}
				c.graphs = append(c.graphs, on)
				to.Set(reflect.ValueOf(on))
				continue
			}
			one := reflect.SliceAt(from.Type().Elem(), from.UnsafePointer(), 1)
			m, err := c.slice(one)
			if err != nil {
				return err
			}
			to.Set(reflect.NewAt(to.Type().Elem(), m.UnsafePointer()))
		case reflect.Slice:
			m, err := c.slice(from)
			if err != nil {
				return err
			}
			if !m.IsNil() {
				// The elements of Q43 went as integers.
				to.Set(reflect.SliceAt(to.Type().Elem(), m.UnsafePointer(), m.Len()).Convert(to.Type()))
			}
		default:
			to.Set(from)
		}
	}
	return nil
}

// toHost copies everything back and frees the memory of the device.
func (c *copies) toHost() error {
	for _, g := range c.graphs {
		if err := g.Free(); err != nil {
			return err
		}
	}
	for _, host := range c.hosts {
		m := c.memory[host.UnsafePointer()]
		size := int(host.Type().Elem().Size())
		bytes := host.Len() * size
		all := Memory[byte](unsafe.Slice((*byte)(unsafe.Add(m.UnsafePointer(), -shift*size)), shift*size+bytes))
		raw := all[shift*size:]
		if err := raw.Get(unsafe.Slice((*byte)(host.UnsafePointer()), bytes)); err != nil {
			return err
		}
		if err := all.Free(); err != nil {
			return err
		}
	}
	return nil
}
