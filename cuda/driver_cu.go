//go:build cuda

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"

	"revnum/cuda/kernels"
)

// A card is a GPU behind its CUDA driver. All calls of the driver come from one thread,
// in which the primary context of the device is current.
type card struct {
	calls     chan func()
	device    cu.Device
	modules   []cu.Module
	functions map[string]cu.Function
}

// openDriver opens device n. If there is no GPU at all, package cu ends the process when
// it starts, with a message that says so.
func openDriver(n int) (driver, error) {
	count, err := cu.NumDevices()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if n < 0 || n >= count {
		return nil, fmt.Errorf("%w: device %d of %d", ErrUnavailable, n, count)
	}
	c := &card{calls: make(chan func()), device: cu.Device(n), functions: map[string]cu.Function{}}
	go c.work()
	if err := c.do(c.open); err != nil {
		close(c.calls)
		return nil, fmt.Errorf("cuda: device %d: %w", n, err)
	}
	return c, nil
}

func (c *card) work() {
	runtime.LockOSThread()
	for call := range c.calls {
		call()
	}
}

// do calls f in the thread of the card.
func (c *card) do(f func() error) (err error) {
	done := make(chan struct{})
	c.calls <- func() {
		defer close(done)
		err = f()
	}
	<-done
	return err
}

func (c *card) open() error {
	ctx, err := c.device.RetainPrimaryCtx()
	if err != nil {
		return err
	}
	if err := cu.SetCurrentContext(ctx); err != nil {
		return errors.Join(err, c.device.ReleasePrimaryCtx())
	}
	if err := c.load(); err != nil {
		return errors.Join(err, c.unload())
	}
	return nil
}

// load has the driver compile the kernels.
func (c *card) load() error {
	files, err := kernels.PTX.ReadDir(".")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := kernels.PTX.ReadFile(f.Name())
		if err != nil {
			return err
		}
		m, err := cu.LoadData(string(text) + "\x00")
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		c.modules = append(c.modules, m)
	}
	return nil
}

func (c *card) unload() (err error) {
	for _, m := range c.modules {
		err = errors.Join(err, m.Unload())
	}
	return errors.Join(err, c.device.ReleasePrimaryCtx())
}

// function returns a kernel of one of the modules.
func (c *card) function(kernel string) (f cu.Function, err error) {
	if f, ok := c.functions[kernel]; ok {
		return f, nil
	}
	for _, m := range c.modules {
		if f, err = m.Function(kernel); err == nil {
			c.functions[kernel] = f
			return f, nil
		}
	}
	return f, fmt.Errorf("kernel %s: %w", kernel, err)
}

func (c *card) alloc(bytes int) (at uintptr, err error) {
	err = c.do(func() error {
		p, err := cu.MemAlloc(int64(bytes))
		at = uintptr(p)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("allocate %d bytes: %w", bytes, err)
	}
	return at, nil
}

func (c *card) free(at uintptr) error {
	return c.do(func() error { return cu.MemFree(cu.DevicePtr(at)) })
}

func (c *card) toDevice(at uintptr, data []byte) error {
	return c.do(func() error {
		return cu.MemcpyHtoD(cu.DevicePtr(at), unsafe.Pointer(unsafe.SliceData(data)), int64(len(data)))
	})
}

func (c *card) toHost(data []byte, at uintptr) error {
	return c.do(func() error {
		return cu.MemcpyDtoH(unsafe.Pointer(unsafe.SliceData(data)), cu.DevicePtr(at), int64(len(data)))
	})
}

func (c *card) launch(kernel string, g grid, params []uint64) error {
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
		return f.Launch(b[0], b[1], b[2], t[0], t[1], t[2], 0, cu.NoStream, args)
	})
}

func (c *card) sync() error { return c.do(cu.Synchronize) }

func (c *card) close() error {
	err := c.do(c.unload)
	close(c.calls)
	return err
}
