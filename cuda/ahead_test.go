package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"revnum/rev"
	"revnum/revlinalg"
)

// A late device runs nothing before the host waits for a stream, and then nothing but this stream and what it waits for. If
// it is eager, all that is in streams made after this one runs before it, in those made last first. A stream that does not wait
// for another where it should therefore comes too early with one or the other.
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

// inOrders factors panels of 64 columns beside products, in two orders that events allow.
func inOrders(t *testing.T, test func(t *testing.T)) {
	panels(t, 64)
	for _, eager := range []bool{false, true} {
		t.Run(fmt.Sprintf("eager %t", eager), func(t *testing.T) {
			on := interpret(t, 1<<26)
			testDevice = must(newDevice(0, &late{
				interpreted: on, eager: eager, streams: make([][]lateOperation, 1), ran: make([]int, 1), numbers: map[int]int{}, events: map[int][2]int{},
			}))(t)
			defer closeAll(t, testDevice, on)
			test(t)
		})
	}
}

// TestAhead has three panels and more, and derivatives after two or three.
func TestAhead(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		compareCholesky[float64](t, 200, 0, "Forward")
		compareCholesky[float32](t, 150, 0, "Forward")
		compareSolve[float64](t, 200, 3, 0, false, "Forward")
		compareSolve[float32](t, 150, 2, 0, true, "Forward")
		derivatives := []string{"Adjoint", "Tangent", "AdjointTangent"}
		compareCholesky[float64](t, 130, 0, derivatives...)
		compareSolve[float64](t, 97, 2, 0, true, derivatives...)
	})
}

// TestAheadErrors has matrices that are not positive definite or singular in the second panel and at the first column of
// the third. The errors are those of the CPU, and nothing is written.
func TestAheadErrors(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		for _, at := range []int{64 + 5, 128} {
			k := randomCholesky[float64](rand.New(rand.NewPCG(15, 16)), 134, 0)
			k.A.Row(at)[at], k.A.Row(at + 3)[at+3] = -3, -4
			before := slices.Clone(k.L.Data)
			var got, want *rev.NotPositiveDefiniteError
			err := rev.Forward(k)
			if !errors.As(err, &got) || got.Row != at {
				t.Fatalf("row %d: error %v", at, err)
			}
			if err := (revlinalg.Cholesky[float64]{L: k.L, A: k.A}).Forward(); !errors.As(err, &want) || want.Row != at || math.Abs(got.Value-want.Value) > 1e-12 {
				t.Errorf("row %d: error %v, on the CPU %v", at, got, err)
			}
			if !slices.Equal(k.L.Data, before) {
				t.Errorf("row %d: results are written", at)
			}
		}
		for _, column := range []int{64 + 5, 128} {
			k := randomSolve[float64](rand.New(rand.NewPCG(15, 16)), 134, 2, 0, false)
			for i := range k.A.Rows {
				k.A.Row(i)[column] = 0
			}
			before := slices.Clone(k.X.Data)
			var got, want *rev.SingularError
			err := rev.Forward(k)
			if !errors.As(err, &got) {
				t.Fatalf("column %d: error %v", column, err)
			}
			if err := k.of(0).Forward(); !errors.As(err, &want) || *got != *want {
				t.Errorf("column %d: error %v, on the CPU %v", column, got, err)
			}
			if !slices.Equal(k.X.Data, before) {
				t.Errorf("column %d: results are written", column)
			}
		}
		compareCholesky[float64](t, 70, 0, "Forward") // the device works afterwards
		compareSolve[float64](t, 70, 1, 0, false, "Forward")
	})
}

// TestAheadStrides has rows with numbers after them, which stay.
func TestAheadStrides(t *testing.T) {
	inOrders(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(25, 26))
		wide := func(m rev.General[float64], more int) rev.General[float64] {
			w := general[float64](rnd, m.Rows, m.Cols+more)
			w.Cols = m.Cols
			for i := range m.Rows {
				copy(w.Row(i), m.Row(i))
			}
			return w
		}
		like := func(m rev.General[float64]) rev.General[float64] {
			m.Data = slices.Clone(m.Data)
			return m
		}
		c := randomCholesky[float64](rnd, 134, 0)
		c.L, c.A = wide(c.L, 5), wide(c.A, 3)
		factor := revlinalg.Cholesky[float64]{L: like(c.L), A: like(c.A)}
		s := randomSolve[float64](rnd, 134, 2, 0, true)
		s.X, s.A, s.B = wide(s.X, 2), wide(s.A, 3), wide(s.B, 1)
		system := revlinalg.Solve[float64]{X: like(s.X), A: like(s.A), B: like(s.B), TransA: true}
		if err := errors.Join(rev.Forward(c), factor.Forward(), rev.Forward(s), system.Forward()); err != nil {
			t.Fatal(err)
		}
		check := near[[]float64](t, 1e-12)
		check("L", c.L.Data, factor.L.Data)
		check("X", s.X.Data, system.X.Data)
	})
}

// TestAheadWithoutMemory lets each allocation of a pass fail that makes a stream, also where streams have scratch memory for sums.
func TestAheadWithoutMemory(t *testing.T) {
	panels(t, 64)
	exhaust[hostCholesky[float64], Cholesky[float64]](t, func(rnd *rand.Rand) hostCholesky[float64] { return randomCholesky[float64](rnd, 66, 1) })
	solve := func(t *testing.T) {
		exhaust[hostSolve[float64], Solve[float64]](t, func(rnd *rand.Rand) hostSolve[float64] { return randomSolve[float64](rnd, 66, 2, 1, false) })
	}
	t.Run("whole", solve)
	t.Run("parts of halves", func(t *testing.T) {
		shortParts(t)
		halveSystems(t)
		solve(t)
	})
}
