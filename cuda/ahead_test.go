package cuda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A late device runs nothing before somebody waits for it, and then what others than its streams wait for as late as they
// allow. If it is eager, the streams made last run first instead, as far as their events let them. A result that depends on an event that
// nobody waits for is therefore wrong with one or the other.
type late struct {
	*interpreted
	eager   bool
	streams [][]lateOperation
	ran     []int          // operations of each stream
	numbers map[int]int    // of streams in the list
	events  map[int][2]int // the stream and how many operations it had
	err     error
}

// A lateOperation runs, or lets a stream run until it has done so many operations.
type lateOperation struct {
	run           func() error
	stream, until int
}

func (d *late) push(stream int, run func() error) error {
	n := d.numbers[stream]
	d.streams[n] = append(d.streams[n], lateOperation{run: run})
	return nil
}

func (d *late) advance(n, until int) {
	for d.ran[n] < until {
		o := d.streams[n][d.ran[n]]
		d.ran[n]++
		if o.run == nil {
			d.advance(o.stream, o.until)
		} else {
			d.err = join(d.err, o.run())
		}
	}
}

func (d *late) all(from int) error {
	for n := len(d.streams) - 1; n >= from; n-- {
		d.advance(n, len(d.streams[n]))
	}
	return d.err
}

func (d *late) await(n, until int) error {
	if d.eager {
		if err := d.all(n + 1); err != nil {
			return err
		}
	}
	d.advance(n, until)
	return d.err
}

func (d *late) newStream(first bool) (int, error) {
	id, err := d.interpreted.newStream(first)
	d.numbers[id] = len(d.streams)
	d.streams, d.ran = append(d.streams, nil), append(d.ran, 0)
	return id, err
}

func (d *late) free(at uintptr) error { return join(d.all(0), d.interpreted.free(at)) }

func (d *late) toDevice(stream int, at uintptr, data []byte) error {
	data = slices.Clone(data)
	return d.push(stream, func() error { return d.interpreted.toDevice(stream, at, data) })
}

func (d *late) toHost(stream int, data []byte, at uintptr) error {
	return d.push(stream, func() error { return d.interpreted.toHost(stream, data, at) })
}

func (d *late) zero(stream int, at uintptr, bytes int) error {
	return d.push(stream, func() error { return d.interpreted.zero(stream, at, bytes) })
}

func (d *late) launch(stream int, kernel string, g grid, params []uint64) error {
	return d.push(stream, func() error { return d.interpreted.launch(stream, kernel, g, params) })
}

func (d *late) record(stream, event int) error {
	n := d.numbers[stream]
	d.events[event] = [2]int{n, len(d.streams[n])}
	return nil
}

func (d *late) wait(stream, event int) error {
	n, e := d.numbers[stream], d.events[event]
	d.streams[n] = append(d.streams[n], lateOperation{stream: e[0], until: e[1]})
	return nil
}

func (d *late) finish(event int) error { return d.await(d.events[event][0], d.events[event][1]) }
func (d *late) sync(stream int) error {
	return d.await(d.numbers[stream], len(d.streams[d.numbers[stream]]))
}
func (d *late) done(stream int) (bool, error)           { return true, d.sync(stream) }
func (d *late) elapsed(int, int) (time.Duration, error) { return 0, nil }

// panels has matrices of more than so many columns factored in panels until the test ends.
func panels(t *testing.T, cols int) {
	before := aheadCols
	t.Cleanup(func() { aheadCols = before })
	aheadCols = cols
}

// TestAhead factors panels beside products, in two orders that events allow.
func TestAhead(t *testing.T) {
	panels(t, 64)
	for _, eager := range []bool{false, true} {
		t.Run(fmt.Sprintf("eager %t", eager), func(t *testing.T) {
			on := interpret(t, 1<<26)
			testDevice = must(newDevice(0, &late{
				interpreted: on, eager: eager, streams: make([][]lateOperation, 1), ran: make([]int, 1), numbers: map[int]int{}, events: map[int][2]int{},
			}))(t)
			defer closeAll(t, testDevice, on)
			compareCholesky[float64](t, 200, 0, "Forward")
			compareCholesky[float32](t, 150, 0, "Forward")
			compareSolve[float64](t, 200, 3, 0, false, "Forward")
			compareSolve[float32](t, 150, 2, 0, true, "Forward")
		})
	}
}

// TestAheadWithoutMemory lets each allocation of a pass fail that makes a stream.
func TestAheadWithoutMemory(t *testing.T) {
	panels(t, 64)
	exhaust[hostCholesky[float64], Cholesky[float64]](t, func(rnd *rand.Rand) hostCholesky[float64] { return randomCholesky[float64](rnd, 66, 1) })
}
