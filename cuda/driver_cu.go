//go:build cuda

package cuda

// #cgo LDFLAGS: -lcuda
// #include <cuda.h>
// #include <stdint.h>
//
// // The addresses of the host are numbers here. Cgo refuses pointers into a struct that has
// // pointers to Go's memory. The callers pin what is copied.
// static CUresult toDevice(CUdeviceptr to, uintptr_t from, size_t n, CUstream s) { return cuMemcpyHtoDAsync(to, (void *)from, n, s); }
// static CUresult toHost(uintptr_t to, CUdeviceptr from, size_t n, CUstream s) { return cuMemcpyDtoHAsync((void *)to, from, n, s); }
//
// // clusters asks how many clusters of a kernel run at the same time. CUDA 11.8 and its drivers brought clusters.
// #if CUDA_VERSION >= 11080
// #pragma weak cuOccupancyMaxActiveClusters
// #endif
// static CUresult clusters(int *n, CUfunction f, const unsigned *blocks, const unsigned *threads) {
// 	*n = 0;
// #if CUDA_VERSION >= 11080
// 	CUlaunchConfig c = {blocks[0], blocks[1], blocks[2], threads[0], threads[1], threads[2]};
// 	if (cuOccupancyMaxActiveClusters) return cuOccupancyMaxActiveClusters(n, f, &c);
// #endif
// 	return CUDA_SUCCESS;
// }
//
// // compileLog compiles an image again, and stores what the driver says of its errors.
// static void compileLog(const char *image, char *log, size_t n) {
// 	CUmodule m;
// 	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
// 	void *values[] = {log, (void *)n};
// 	if (!cuModuleLoadDataEx(&m, image, 2, options, values)) cuModuleUnload(m);
// }
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"revnum/cuda/kernels"
)

// A card is a GPU with its CUDA driver.
type card struct {
	device  cu.Device
	context cu.CUContext // the primary one of the device
	is      Properties
	streams map[int]cu.Stream
	events  map[int]cu.Event
	next    int // number of a stream or event
	closed  bool

	mu        sync.Mutex // of what Compile changes beside passes
	modules   []cu.Module
	functions map[string]*function
}

// A function is a kernel. Who compiles it holds it.
type function struct {
	sync.Mutex
	loaded bool
	cu.Function
}

func countDevices() (int, error) {
	n, err := cu.NumDevices()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return n, nil
}

// openDriver opens device n. If there is no GPU at all, package cu ends the process when
// it starts, with a message that says so.
func openDriver(n int) (driver, error) {
	count, err := countDevices()
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= count {
		return nil, fmt.Errorf("%w: device %d of %d", ErrUnavailable, n, count)
	}
	c := &card{
		device: cu.Device(n), functions: map[string]*function{},
		streams: map[int]cu.Stream{}, events: map[int]cu.Event{}, next: 1,
	}
	if err := c.open(); err != nil {
		return nil, fmt.Errorf("cuda: device %d: %w", n, err)
	}
	return c, nil
}

var errClosed = errors.New("the device is closed")

// do calls f in a thread in which the context of the card is current, and returns its error. The
// thread is the caller's: to hand a launch over to another thread takes longer than the launch.
func (c *card) do(f func() error) (err error) {
	if c.closed {
		return errClosed
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.PushCurrentCtx(c.context); err != nil {
		return err
	}
	defer func() {
		_, popped := cu.PopCurrentCtx()
		err = join(err, popped)
	}()
	return explain(f())
}

func (c *card) open() (err error) {
	if c.is, err = c.describe(); err != nil {
		return err
	}
	if c.context, err = c.device.RetainPrimaryCtx(); err != nil {
		return err
	}
	if err := c.do(c.begin); err != nil {
		return join(err, c.device.ReleasePrimaryCtx())
	}
	return nil
}

// begin makes stream 0. It must not wait for the stream that other users of the context have.
func (c *card) begin() error {
	s, err := cu.MakeStream(cu.NonBlocking)
	if err == nil {
		c.streams[0] = s
	}
	return err
}

func (c *card) describe() (p Properties, err error) {
	if p.Name, err = c.device.Name(); err != nil {
		return p, err
	}
	var v [6]int
	for i, a := range [...]cu.DeviceAttribute{
		cu.ComputeCapabilityMajor, cu.ComputeCapabilityMinor,
		cu.MultiprocessorCount, cu.MaxSharedMemoryPerMultiprocessor, cu.MaxRegistersPerMultiprocessor, cu.L2CacheSize,
	} {
		if v[i], err = c.device.Attribute(a); err != nil {
			return p, err
		}
	}
	p.Capability = 10*v[0] + v[1]
	p.held = v[2]*(v[3]+4*v[4]) + v[5]
	return p, nil
}

func (c *card) properties() Properties { return c.is }

func (c *card) unload() error {
	stream := c.streams[0]
	err := stream.Destroy()
	for _, m := range c.modules {
		err = join(err, m.Unload())
	}
	return err
}

// function returns a kernel. The driver compiles it when it is used first.
func (c *card) function(kernel string) (*function, error) {
	c.mu.Lock()
	f := c.functions[kernel]
	if f == nil {
		f = &function{}
		c.functions[kernel] = f
	}
	c.mu.Unlock()
	f.Lock()
	defer f.Unlock()
	if f.loaded {
		return f, nil
	}
	source := kernels.Source(kernel) + "\x00"
	m, err := cu.LoadData(source)
	if err != nil {
		return f, fmt.Errorf("kernel %s: %w: %s", kernel, err, errorLog(source))
	}
	c.mu.Lock()
	c.modules = append(c.modules, m)
	c.mu.Unlock()
	if f.Function, err = m.Function(kernel); err != nil {
		return f, fmt.Errorf("kernel %s: %w", kernel, err)
	}
	f.loaded = true
	return f, nil
}

func (c *card) compile(kernel string) error {
	return c.do(func() error {
		_, err := c.function(kernel)
		return err
	})
}

// errorLog returns what the driver says of a source that it does not compile. Package cu does not ask.
func errorLog(source string) string {
	var log [4096]byte
	C.compileLog((*C.char)(unsafe.Pointer(unsafe.StringData(source))), (*C.char)(unsafe.Pointer(&log[0])), C.size_t(len(log)-1))
	return strings.TrimSpace(string(log[:bytes.IndexByte(log[:], 0)]))
}

func (c *card) alloc(bytes int) (at uintptr, err error) {
	err = c.do(func() error {
		p, err := cu.MemAlloc(int64(bytes))
		at = uintptr(p)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("allocate %d bytes on device %d: %w", bytes, c.device, err)
	}
	return at, nil
}

// explain returns err, with ErrMemory if there is not enough memory.
func explain(err error) error {
	if errors.Is(err, cu.OutOfMemory) {
		return fmt.Errorf("%w (%w)", ErrMemory, err) // which kernel, for example
	}
	return err
}

func (c *card) free(at uintptr) error {
	return c.do(func() error { return cu.MemFree(cu.DevicePtr(at)) })
}

// result is the error of a call that package cu does not make.
func result(r C.CUresult) error {
	switch r {
	case C.CUDA_SUCCESS:
		return nil
	case C.CUDA_ERROR_OUT_OF_MEMORY:
		return ErrMemory
	}
	return fmt.Errorf("error %d of CUDA", r)
}

// Package cu has no pinned memory.
func (c *card) allocHost(bytes int) (at unsafe.Pointer, err error) {
	err = c.do(func() error { return result(C.cuMemAllocHost(&at, C.size_t(bytes))) })
	if err != nil {
		return nil, fmt.Errorf("allocate %d bytes of pinned memory: %w", bytes, err)
	}
	return at, nil
}

func (c *card) freeHost(at unsafe.Pointer) error {
	if err := c.do(func() error { return result(C.cuMemFreeHost(at)) }); err != nil {
		return fmt.Errorf("free pinned memory: %w", err)
	}
	return nil
}

func addressOf(data []byte) C.uintptr_t {
	return C.uintptr_t(uintptr(unsafe.Pointer(unsafe.SliceData(data))))
}

func (c *card) stream(n int) C.CUstream { return C.CUstream(unsafe.Pointer(c.streams[n].C())) }

func (c *card) toDevice(stream int, at uintptr, data []byte) error {
	return c.do(func() error {
		return result(C.toDevice(C.CUdeviceptr(at), addressOf(data), C.size_t(len(data)), c.stream(stream)))
	})
}

func (c *card) toHost(stream int, data []byte, at uintptr) error {
	return c.do(func() error {
		return result(C.toHost(addressOf(data), C.CUdeviceptr(at), C.size_t(len(data)), c.stream(stream)))
	})
}

func (c *card) copyFrom(stream int, at uintptr, of driver, from uintptr, bytes int) error {
	return c.do(func() error {
		return cu.MemcpyPeerAsync(cu.DevicePtr(at), c.context, cu.DevicePtr(from), of.(*card).context, int64(bytes), c.streams[stream])
	})
}

func (c *card) zero(stream int, at uintptr, bytes int) error {
	return c.do(func() error { return cu.MemsetD8Async(cu.DevicePtr(at), 0, int64(bytes), c.streams[stream]) })
}

func (c *card) clusters(kernel string, g grid) (int, error) {
	var n C.int
	err := c.do(func() error {
		f, err := c.function(kernel)
		if err != nil {
			return err
		}
		var sizes [6]C.uint
		for i := range 3 {
			sizes[i], sizes[3+i] = C.uint(g.blocks[i]), C.uint(g.threads[i])
		}
		if err := result(C.clusters(&n, *(*C.CUfunction)(unsafe.Pointer(&f.Function)), &sizes[0], &sizes[3])); err != nil {
			return fmt.Errorf("clusters of kernel %s: %w", kernel, err)
		}
		return nil
	})
	return int(n), err
}

func (c *card) launch(stream int, kernel string, g grid, params []uint64) error {
	return c.do(func() error {
		f, err := c.function(kernel)
		if err != nil {
			return err
		}
		args := make([]unsafe.Pointer, len(params))
		for i := range params {
			args[i] = unsafe.Pointer(&params[i])
		}
		b, t := g.blocks, g.threads
		if b[0] > math.MaxInt32 { // package cu would cut off the upper bits
			return fmt.Errorf("kernel %s: %d blocks", kernel, b[0])
		}
		if err := f.Launch(b[0], b[1], b[2], t[0], t[1], t[2], 0, c.streams[stream], args); err != nil {
			return fmt.Errorf("kernel %s: %w", kernel, err)
		}
		return nil
	})
}

func (c *card) newStream(first bool) (n int, err error) {
	priority := 0
	if first {
		priority = math.MinInt32 // the driver takes the first that there is
	}
	err = c.do(func() error {
		s, err := cu.MakeStreamWithPriority(priority, cu.NonBlocking)
		if err == nil {
			n = c.number()
			c.streams[n] = s
		}
		return err
	})
	return n, err
}

func (c *card) number() (n int) {
	n = c.next
	c.next++
	return n
}

func (c *card) freeStream(n int) error {
	return c.do(func() error {
		s := c.streams[n]
		delete(c.streams, n)
		return s.Destroy()
	})
}

func (c *card) newEvent() (n int, err error) {
	err = c.do(func() error {
		e, err := cu.MakeEvent(cu.DefaultEvent)
		if err == nil {
			n = c.number()
			c.events[n] = e
		}
		return err
	})
	return n, err
}

func (c *card) freeEvent(n int) error {
	return c.do(func() error {
		e := c.events[n]
		delete(c.events, n)
		return cu.DestroyEvent(&e)
	})
}

func (c *card) record(stream, event int) error {
	return c.do(func() error { return c.events[event].Record(c.streams[stream]) })
}

func (c *card) wait(stream, event int) error {
	return c.do(func() error { return c.streams[stream].Wait(c.events[event], 0) })
}

func (c *card) finish(event int) error {
	return c.do(func() error { return c.events[event].Synchronize() })
}

func (c *card) elapsed(from, to int) (t time.Duration, err error) {
	err = c.do(func() error {
		ms, err := c.events[from].Elapsed(c.events[to])
		t = time.Duration(ms * 1e6)
		return err
	})
	return t, err
}

func (c *card) sync(stream int) error {
	return c.do(func() error { return c.streams[stream].Synchronize() })
}

func (c *card) done(stream int) (done bool, err error) {
	err = c.do(func() error {
		err := c.streams[stream].Query()
		if errors.Is(err, cu.NotReady) {
			return nil
		}
		done = err == nil
		return err
	})
	return done, err
}

func (c *card) memory() (free, total int, err error) {
	err = c.do(func() error {
		f, t, err := cu.MemInfo()
		free, total = int(f), int(t)
		return err
	})
	return free, total, err
}

func (c *card) handle() uintptr { return *(*uintptr)(unsafe.Pointer(&c.context)) }

func (c *card) streamHandle(stream int) uintptr { return uintptr(unsafe.Pointer(c.stream(stream))) }

func (c *card) close() error {
	if c.closed {
		return errClosed
	}
	err := c.do(c.unload)
	c.closed = true
	return join(err, c.device.ReleasePrimaryCtx())
}
