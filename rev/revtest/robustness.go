package revtest

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"revnum/internal/long"
	"revnum/rev"
)

func (c *trial) nan() error {
	if c.size == 0 {
		return nil // empty operands affect nothing
	}
	s0 := c.start()
	for n, op := range c.Operands {
		a := s0.arrays[n]
		if a == nil || op.Role == rev.Index || a.exact || a.len() == 0 || slices.Contains(c.Masked, op.Name) {
			continue
		}
		s := c.clone(s0)
		at := c.rnd.IntN(a.len())
		s.arrays[n].put(at, math.NaN())
		if err := finishes("Forward", func() { c.pass(forward, s) }); err != nil {
			if errors.As(err, new(failure)) {
				continue
			}
			return err
		}
		shows := false
		for i, b := range s.arrays {
			if b != nil && !readOnly(c.Operands[i].Role) {
				shows = shows || math.IsNaN(b.magnitude())
			}
		}
		if !shows {
			return fmt.Errorf("%s is NaN, but the result of Forward has none (if the kernel may leave it out, name %s in Spec.Masked)", a.name(op, at), op.Name)
		}
	}
	return nil
}

// finishes returns an error if f panics. If the panic is a failure, it returns the
// error of the kernel.
func finishes(name string, f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if e, ok := v.(failure); ok {
				err = e
			} else {
				err = fmt.Errorf("%s panics: %v\n%s", name, v, debug.Stack())
			}
		}
	}()
	f()
	return nil
}

func (c *trial) extremes() error {
	for range long.Or(10, 6) {
		release := c.memory.mark()
		o := c.start()
		all := []*operands{o, c.like(o, nil), c.like(o, nil), c.like(o, nil)}
		for _, x := range all {
			for _, a := range x.arrays {
				if a != nil && a.number != nil {
					a.fill(func() float64 { return a.extreme(c.rnd) })
				}
			}
		}
		for _, pass := range append(firstOrder, adjointTangent) {
			if !c.has(pass) {
				continue
			}
			o := c.clones(argumentsOf(pass, all))
			if err := finishes(pass, func() { c.pass(pass, o...) }); err != nil && !errors.As(err, new(failure)) {
				return err
			}
		}
		release()
	}
	return nil
}

func (c *trial) noAllocation() error {
	// A garbage collection would empty the pools of workspaces.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	// Workers of calls before this one go to sleep after some 50 µs. The first time, that allocates.
	time.Sleep(time.Millisecond)
	all := c.all(c.start())
	workers := []int{0}
	if _, ok := workersOf(all[0].k); ok {
		// AllocsPerRun sets GOMAXPROCS to 1, so the default would not fork.
		workers = []int{1, 3}
	}
	for _, w := range workers {
		for _, o := range all {
			if f, ok := workersOf(o.k); ok {
				f.SetInt(int64(w))
			}
		}
		calls := make([]func(), len(firstOrder))
		for i, pass := range firstOrder {
			o := c.clones(argumentsOf(pass, all))
			calls[i] = func() { c.pass(pass, o...) }
		}
		// To count stops all goroutines. Mostly one count for all passes is enough, of one call of each after a
		// first one.
		if testing.AllocsPerRun(1, func() {
			for _, call := range calls {
				call()
			}
		}) == 0 {
			continue
		}
		for i, pass := range firstOrder {
			call := calls[i]
			// A worker that is interrupted keeps its workspace, and the next one
			// allocates another. That ends when there is one for each.
			n := testing.AllocsPerRun(5, call)
			for try := 1; n != 0 && try < w; try++ {
				n = testing.AllocsPerRun(5, call)
			}
			if n != 0 {
				return fmt.Errorf("%s allocates %v times per call with %d workers", pass, n, max(w, 1))
			}
		}
	}
	return nil
}

func (c *trial) workers() error {
	s0 := c.start()
	if _, ok := workersOf(s0.k); !ok {
		return nil
	}
	// Adjoint starts from the state after Forward, but any other serves as well.
	all := c.all(s0)
	var first [][]*operands
	for _, w := range []int{1, 2, 7} {
		for n, pass := range append(firstOrder, adjointTangent) {
			if !c.has(pass) {
				continue
			}
			release := c.memory.mark()
			o := c.clones(argumentsOf(pass, all))
			for i := range o {
				f, _ := workersOf(o[i].k)
				f.SetInt(int64(w))
			}
			c.pass(pass, o...)
			if w == 1 {
				first = append(first, o)
				continue
			}
			for i := range o {
				if err := c.identical(o[i], first[n][i]); err != nil {
					return fmt.Errorf("%s after %s with %d workers, against 1: %w", roles[placesOf(pass)[i]], pass, w, err)
				}
			}
			release()
		}
	}
	return nil
}

// roles says what the arguments of a pass are.
var roles = [...]string{"operands", "cotangents", "tangents", "tangents of cotangents"}

func (c *trial) errors() error {
	if c.Failing == nil {
		return nil
	}
	s0 := c.startFrom(c.Failing)
	isFailure := func(v any) bool {
		_, ok := v.(failure)
		return ok
	}
	for _, pass := range firstOrder {
		o := c.drawn(pass, s0)
		got := c.clones(o)
		if panics(func() { c.pass(pass, got...) }, isFailure) != nil {
			return fmt.Errorf("%s returns no error", pass)
		}
		for i := range got {
			if err := c.identical(got[i], o[i]); err != nil {
				return fmt.Errorf("%s returns an error, but has written: %w", pass, err)
			}
		}
	}
	return nil
}
