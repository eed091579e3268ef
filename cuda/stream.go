package cuda

import (
	"errors"
	"time"
)

// A Stream is an order of passes and copies. What is in one stream runs in the order of the
// calls, and beside what is in other streams. A device has a stream from the start.
type Stream struct {
	device  *Device
	id      int
	scratch [2]chunk // of the passes
	closed  bool     // the device is held to read or change it
}

type chunk struct {
	at    uintptr
	bytes int
}

// Scratch memory 0, which each stream has from the start, has parts of up to 24 bytes of a
// reduction and then a few numbers. Reductions therefore never lack memory.
const (
	numbersAt = maxBlocks * 24
	numbers   = 8
	partBytes = numbersAt + numbers*16
)

// NewStream returns a new stream. [Device.Use] puts passes into it. Close it when you are
// done.
func (d *Device) NewStream() (*Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, err := d.driver.newStream()
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

func (s *Stream) reserve() error {
	_, err := s.room(0, partBytes)
	return err
}

// Use puts the passes and copies that follow into stream s, and returns the stream before.
// A nil s stands for the stream that the device has from the start. The streams wait for each
// other only where you say so with events. If other goroutines use the device meanwhile,
// their passes and copies go to s, too. Use panics if s is of another device or is closed.
func (d *Device) Use(s *Stream) (before *Stream) {
	if s == nil {
		s = d.first
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.device != d || s.closed {
		panic("cuda: the stream is of another device, or is closed")
	}
	before, d.now = d.now, s
	return before
}

// Sync waits for the passes and copies of s, and returns their error if one failed. It is an error
// if s is closed.
func (s *Stream) Sync() error {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed {
		return errors.New("cuda: the stream is closed")
	}
	return wrap(d.driver.sync(s.id))
}

// Close waits for the passes and copies of s, and gives s back. The device then uses its
// first stream, if it used s. It is an error to close a stream twice, or the first one.
func (s *Stream) Close() error {
	d := s.device
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.closed || s == d.first {
		return errors.New("cuda: this stream cannot be closed")
	}
	if d.now == s {
		d.now = d.first
	}
	delete(d.streams, s)
	return join(wrap(d.driver.sync(s.id)), s.close())
}

func (s *Stream) close() (err error) {
	d := s.device
	for _, c := range s.scratch {
		if c.bytes > 0 {
			err = join(err, wrap(d.driver.free(c.at)))
		}
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

// Record returns an event that occurs when what is in the stream of the passes until now has
// run. Close it when you are done.
func (d *Device) Record() (*Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, err := d.driver.newEvent()
	if err != nil {
		return nil, wrap(err)
	}
	if err := d.driver.record(d.now.id, id); err != nil {
		return nil, wrap(join(err, d.driver.freeEvent(id)))
	}
	e := &Event{device: d, id: id}
	d.events[e] = true
	return e, nil
}

// Wait has the stream of the passes wait for e: what follows in it runs after e has
// occurred. The call itself does not wait. It is an error if e is of another device or is closed.
func (d *Device) Wait(e *Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.device != d || e.closed {
		return errEvent
	}
	return wrap(d.driver.wait(d.now.id, e.id))
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

// Time returns how long the passes and copies that f calls take on the device, or the error of f.
// It measures by events in the stream of the passes.
func (d *Device) Time(f func() error) (t time.Duration, err error) {
	start, err := d.Record()
	if err != nil {
		return 0, err
	}
	defer func() { err = join(err, start.Close()) }()
	if err := f(); err != nil {
		return 0, err
	}
	end, err := d.Record()
	if err != nil {
		return 0, err
	}
	defer func() { err = join(err, end.Close()) }()
	return end.Since(start)
}
