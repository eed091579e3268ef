package revtest

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"testing"

	"revnum/rev"
)

func (c *trial) nan() error {
	if c.size == 0 {
		return nil // empty operands affect nothing
	}
	s0 := c.start()
	for n, op := range c.ops {
		a := s0.arrays[n]
		if a == nil || op.Role == rev.Index || a.exact || a.len() == 0 || slices.Contains(c.Masked, op.Name) {
			continue
		}
		s := c.clone(s0)
		at := c.rnd.IntN(a.len())
		s.arrays[n].put(at, math.NaN())
		if err := finishes("Forward", func() { c.forward(s.k) }); err != nil {
			if errors.As(err, new(failure)) {
				continue
			}
			return err
		}
		shows := false
		for i, b := range s.arrays {
			if b != nil && !readOnly(c.ops[i].Role) {
				shows = shows || math.IsNaN(b.magnitude())
			}
		}
		if !shows {
			return fmt.Errorf("%s is NaN, but the result of Forward has none (if the kernel may leave it out, name %s in Spec.Masked)", a.name(op, at), op.Name)
		}
	}
	return nil
}

// A failure is the error of a kernel, passed on as a panic.
type failure struct{ error }

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
	for range 10 {
		o := c.start()
		o2, o3, o4 := c.random(o), c.random(o), c.random(o)
		for _, x := range []*operands{o, o2, o3, o4} {
			for _, a := range x.arrays {
				if a != nil && a.number != nil {
					a.fill(func() float64 { return a.extreme(c.rnd) })
				}
			}
		}
		calls := map[string]func(){
			"Forward": func() { c.forward(c.clone(o).k) },
			"Inverse": func() { c.inverse(c.clone(o).k) },
			"Adjoint": func() { c.adjoint(c.clone(o).k, c.clone(o2).k) },
			"Tangent": func() { c.tangent(c.clone(o).k, c.clone(o2).k) },
		}
		if c.adjointTangent != nil {
			calls["AdjointTangent"] = func() {
				c.adjointTangent(c.clone(o).k, c.clone(o2).k, c.clone(o3).k, c.clone(o4).k)
			}
		}
		for name, call := range calls {
			if err := finishes(name, call); err != nil && !errors.As(err, new(failure)) {
				return err
			}
		}
	}
	return nil
}

func (c *trial) noAllocation() error {
	// A garbage collection would empty the pools of workspaces.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	s := c.start()
	g, t := c.random(s), c.random(s)
	workers := []int{0}
	if _, ok := workersOf(s.k); ok {
		// AllocsPerRun sets GOMAXPROCS to 1, so the default would not fork.
		workers = []int{1, 3}
	}
	for _, w := range workers {
		if f, ok := workersOf(s.k); ok {
			f.SetInt(int64(w))
		}
		for _, m := range []struct {
			name string
			call func()
		}{
			{"Forward", func() { c.forward(s.k) }},
			{"Inverse", func() { c.inverse(s.k) }},
			{"Adjoint", func() { c.adjoint(s.k, g.k) }},
			{"Tangent", func() { c.tangent(s.k, t.k) }},
		} {
			// A worker that is interrupted keeps its workspace, and the next one
			// allocates another. That ends when there is one for each.
			n := testing.AllocsPerRun(5, m.call)
			for try := 1; n != 0 && try < w; try++ {
				n = testing.AllocsPerRun(5, m.call)
			}
			if n != 0 {
				return fmt.Errorf("%s allocates %v times per call with %d workers", m.name, n, max(w, 1))
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
	t0, g0, gt0 := c.random(s0), c.random(s0), c.random(s0)
	var first []*operands
	for _, w := range []int{1, 2, 7} {
		with := func(o *operands) *operands {
			o = c.clone(o)
			f, _ := workersOf(o.k)
			f.SetInt(int64(w))
			return o
		}
		fwd := with(s0)
		c.forward(fwd.k)
		adj, g := c.clone(fwd), c.clone(g0)
		c.adjoint(adj.k, g.k)
		tan, t := with(s0), c.clone(t0)
		c.tangent(tan.k, t.k)
		inv := c.clone(fwd)
		c.inverse(inv.k)
		results := []*operands{fwd, inv, adj, g, tan, t}
		names := []string{"Forward", "Inverse", "operands after Adjoint", "cotangents after Adjoint",
			"operands after Tangent", "tangents after Tangent", "operands after AdjointTangent",
			"cotangents after AdjointTangent", "tangents after AdjointTangent", "tangents of cotangents"}
		if c.adjointTangent != nil {
			s, g, t, gt := c.clone(tan), c.clone(g0), c.clone(t), c.clone(gt0)
			c.adjointTangent(s.k, g.k, t.k, gt.k)
			results = append(results, s, g, t, gt)
		}
		if first == nil {
			first = results
			continue
		}
		for i, r := range results {
			if err := c.identical(r, first[i]); err != nil {
				return fmt.Errorf("%s with %d workers, against 1: %w", names[i], w, err)
			}
		}
	}
	return nil
}

func (c *trial) errors() error {
	if c.Failing == nil {
		return nil
	}
	s0 := c.startFrom(c.Failing)
	g0 := c.random(s0)
	isFailure := func(v any) bool {
		_, ok := v.(failure)
		return ok
	}
	for _, m := range []struct {
		name string
		call func(k, g any)
	}{
		{"Forward", func(k, _ any) { c.forward(k) }},
		{"Inverse", func(k, _ any) { c.inverse(k) }},
		{"Adjoint", c.adjoint},
		{"Tangent", c.tangent},
	} {
		s, g := c.clone(s0), c.clone(g0)
		if panics(func() { m.call(s.k, g.k) }, isFailure) != nil {
			return fmt.Errorf("%s returns no error", m.name)
		}
		if err := errors.Join(c.identical(s, s0), c.identical(g, g0)); err != nil {
			return fmt.Errorf("%s returns an error, but has written: %w", m.name, err)
		}
	}
	return nil
}
