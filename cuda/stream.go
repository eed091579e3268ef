package cuda

import (
	"errors"
	"time"
	"unsafe"

	"revnum/rev"
)

// A Stream is an order of passes and copies. What is in one stream runs in the order of the
// calls, and beside what is in other streams. A device has a stream from the start.
type Stream struct {
	device  *Device
	id      int
	scratch [3]chunk // of the passes
	closed  bool     // the device is held to read or change it

	answer   unsafe.Pointer // pinned memory for a number that a pass asks the device for
	answered int            // the event when it is there

	side *Stream // of launches beside those of a pass, or nil before one has any
}

type chunk struct {
	at    uintptr
	bytes int
}

// Scratch memory 0, which each stream has from the start, has parts of up to 32 bytes of a
// reduction and then a few numbers. Reductions therefore never lack memory.
const (
	numbersAt = maxBlocks * 32
	numbers   = 8
	partBytes = numbersAt + numbers*16
)

// NewStream returns a new stream. [On] puts passes into it. Close it when you are done.
func (d *Device) NewStream() (*Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.newStream(false)
}

func (d *Device) newStream(first bool) (*Stream, error) {
	id, err := d.driver.newStream(first)
	if err != nil {
		return nil, wrap(err)
	}
	s := &Stream{device: d, id: id}
	d.streams[s] = true
	if err := s.reserve(); err != nil {
		delete(d.streams, s)
		return nil, join(err, s.close())
	}
	return s, nil
}

// beside returns the stream for launches beside those of a pass. It is closed with s.
func (s *Stream) beside() (_ *Stream, err error) {
	if s.side == nil {
		s.side, err = s.device.newStream(true)
	}
	return s.side, err
}

// reserve allocates what a stream has from the start. If it cannot, close gives the rest back.
func (s *Stream) reserve() error {
	if _, err := s.room(0, partBytes); err != nil {
		return err
	}
	answer, err := s.device.driver.allocHost(8)
	if err != nil {
		return wrap(err)
	}
	s.answer = answer
	s.answered, err = s.device.driver.newEvent()
	return wrap(err)
}

// Stream returns the stream that the device has from the start. Passes and copies for which you
// choose none run in it.
func (d *Device) Stream() *Stream { return d.first }

// OnStream is a kernel whose passes run in a stream. On makes it.
type OnStream[K rev.Kernel[K]] struct {
	stream *Stream
	kernel K
}

// On returns k with its passes in stream s:
//
//	err := cuda.On(s, k).Forward()
//
// Passes of other streams run beside them, also those of other goroutines. The streams wait for each
// other only where you say so with events. It is an error if s is of another device than the
// operands, or is closed.
func On[K rev.Kernel[K]](s *Stream, k K) OnStream[K] { return OnStream[K]{s, k} }

// Run makes pass p of the kernel in the stream. ForwardPass of package rev and its kin make p.
func (k OnStream[K]) Run(p rev.Pass[K]) error {
	p.On = k.stream
	return k.kernel.Run(p)
}

// Forward is Forward of the kernel, in the stream.
func (k OnStream[K]) Forward() error { return k.Run(rev.ForwardPass(&k.kernel)) }

// Inverse is Inverse of the kernel, in the stream.
func (k OnStream[K]) Inverse() error { return k.Run(rev.InversePass(&k.kernel)) }

// Adjoint is Adjoint of the kernel, in the stream.
func (k OnStream[K]) Adjoint(g K) error { return k.Run(rev.AdjointPass(&k.kernel, &g)) }

// Tangent is Tangent of the kernel, in the stream.
func (k OnStream[K]) Tangent(t K) error { return k.Run(rev.TangentPass(&k.kernel, &t)) }

// AdjointTangent is AdjointTangent of the kernel, in the stream.
func (k OnStream[K]) AdjointTangent(g, t, gt K) error {
	return k.Run(rev.AdjointTangentPass(&k.kernel, &g, &t, &gt))
}

var errStream = errors.New("the stream is of another device, or is closed")

// stream returns s, or the first stream if s is nil, of a device that is held.
func (d *Device) stream(s *Stream) (*Stream, error) {
	if s == nil {
		return d.first, nil
	}
	if s.device != d || s.closed {
		return nil, errStream
	}
	return s, nil
}

// Handle returns the CUstream of s, for other libraries, or 0 if s is closed.
func (s *Stream) Handle() uintptr {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed {
		return 0
	}
	return d.driver.streamHandle(s.id)
}

// Sync waits for the passes and copies of s, and returns their error if one failed. Other
// goroutines use the device meanwhile. It is an error if s is closed.
func (s *Stream) Sync() error {
	for pause := time.Duration(0); ; pause = min(pause+time.Microsecond, 50*time.Microsecond) {
		if done, err := s.done(); done || err != nil {
			return err
		}
		time.Sleep(pause)
	}
}

// done reports whether the passes and copies of s have run.
func (s *Stream) done() (bool, error) {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed {
		return false, wrap(errStream)
	}
	done, err := d.driver.done(s.id)
	return done, wrap(err)
}

// Close waits for the passes and copies of s, and gives s back. It is an error to close a stream
// twice, or the first one.
func (s *Stream) Close() (err error) {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed || s == d.first {
		return errors.New("cuda: this stream cannot be closed")
	}
	for _, s := range []*Stream{s, s.side} {
		if s != nil {
			delete(d.streams, s)
			err = join(err, wrap(d.driver.sync(s.id)), s.close())
		}
	}
	return err
}

func (s *Stream) close() (err error) {
	d := s.device
	for _, c := range s.scratch {
		if c.bytes > 0 {
			err = join(err, wrap(d.driver.free(c.at)))
		}
	}
	if s.answer != nil {
		err = join(err, wrap(d.driver.freeHost(s.answer)))
	}
	if s.answered != 0 {
		err = join(err, wrap(d.driver.freeEvent(s.answered)))
	}
	if s != d.first {
		err = join(err, wrap(d.driver.freeStream(s.id)))
	}
	s.closed = true
	return err
}

// room returns scratch memory.
func (s *Stream) room(i, bytes int) (uintptr, error) {
	c, d := &s.scratch[i], s.device.driver
	if c.bytes >= bytes {
		return c.at, nil
	}
	at, err := d.alloc(bytes)
	if err != nil {
		return 0, wrap(err)
	}
	if c.bytes > 0 {
		if err := join(d.sync(s.id), d.free(c.at)); err != nil {
			return 0, wrap(join(err, d.free(at)))
		}
	}
	*c = chunk{at, bytes}
	return at, nil
}

// An Event is a point in the order of a stream.
type Event struct {
	device *Device
	id     int
	closed bool // the device is held to read or change it
}

// Record returns an event that occurs when what is in s until now has run. Close it when you are
// done.
func (s *Stream) Record() (*Event, error) {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed {
		return nil, wrap(errStream)
	}
	id, err := d.driver.newEvent()
	if err != nil {
		return nil, wrap(err)
	}
	if err := d.driver.record(s.id, id); err != nil {
		return nil, wrap(join(err, d.driver.freeEvent(id)))
	}
	e := &Event{device: d, id: id}
	d.events[e] = true
	return e, nil
}

// Wait has s wait for e: what follows in s runs after e has occurred. The call itself does not
// wait. It is an error if e is of another device, or if s or e is closed.
func (s *Stream) Wait(e *Event) error {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed {
		return wrap(errStream)
	}
	if e.device != d || e.closed {
		return errEvent
	}
	return wrap(d.driver.wait(s.id, e.id))
}

var errEvent = errors.New("cuda: the event is of another device, or is closed")

// Sync waits until e has occurred. It is an error if e is closed.
func (e *Event) Sync() error {
	_, err := e.Since(e)
	return err
}

// Since returns the time on the device from event start to e. It waits until both have
// occurred. It is an error if one is closed, or if they are of different devices.
func (e *Event) Since(start *Event) (time.Duration, error) {
	d := e.device
	if start.device != d {
		return 0, errEvent
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.closed || start.closed {
		return 0, errEvent
	}
	if err := join(d.driver.finish(start.id), d.driver.finish(e.id)); err != nil {
		return 0, wrap(err)
	}
	t, err := d.driver.elapsed(start.id, e.id)
	return t, wrap(err)
}

// Close gives e back. It is an error to close it twice.
func (e *Event) Close() error {
	d := e.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.closed {
		return errEvent
	}
	delete(d.events, e)
	e.closed = true
	return wrap(d.driver.freeEvent(e.id))
}

// Time returns how long the passes and copies that f puts into s take on the device, or the error of
// f. It measures by events in s.
func (s *Stream) Time(f func() error) (t time.Duration, err error) {
	start, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer func() { err = join(err, start.Close()) }()
	if err := f(); err != nil {
		return 0, err
	}
	end, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer func() { err = join(err, end.Close()) }()
	return end.Since(start)
}
