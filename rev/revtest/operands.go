package revtest

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// zero makes the numbers of operand n of o zero.
func (o *operands) zero(n int) { o.arrays[n].fill(func() float64 { return 0 }) }

// others returns an error unless got and want have the same bits in all operands
// except n.
func (c *trial) others(got, want *operands, n int) error {
	for i := range c.ops {
		if i == n {
			continue
		}
		if err := c.same(got, want, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *trial) nilGradients() error {
	s0 := c.start()
	t0 := c.random(s0)
	s1, t1 := c.clone(s0), c.clone(t0)
	c.tangent(s1.k, t1.k)
	g0, gt0 := c.random(s1), c.random(s1)

	// adjoint runs Adjoint on fresh copies of s1 and g0, after edit.
	adjoint := func(edit func(g *operands)) (s, g *operands) {
		s, g = c.clone(s1), c.clone(g0)
		edit(g)
		c.adjoint(s.k, g.k)
		return s, g
	}
	tangent := func(edit func(t *operands)) (s, t *operands) {
		s, t = c.clone(s0), c.clone(t0)
		edit(t)
		c.tangent(s.k, t.k)
		return s, t
	}
	second := func(edit func(g *operands)) (s, g, gt *operands) {
		s, g, gt = c.clone(s1), c.clone(g0), c.clone(gt0)
		edit(g)
		edit(gt)
		c.adjointTangent(s.k, g.k, c.clone(t1).k, gt.k)
		return s, g, gt
	}
	keep := func(*operands) {}
	sFull, gFull := adjoint(keep)
	sTan, tFull := tangent(keep)

	for n, op := range c.ops {
		if op.Role == rev.Index || s0.arrays[n] == nil {
			continue
		}
		drop := func(g *operands) { c.drop(g, n) }
		zero := func(g *operands) { g.zero(n) }
		what := op.Name + " nil in g"
		s, g := adjoint(drop)
		if err := c.identical(s, sFull); err != nil {
			return in(what+", operands after Adjoint", err)
		}
		switch op.Role {
		case rev.In:
			if err := c.others(g, gFull, n); err != nil {
				return in(what+", Adjoint", err)
			}
		case rev.Acc, rev.InOut:
			_, want := adjoint(zero)
			for i := range c.ops {
				if err := c.near(g, want, i, c.Adjoint*c.eps, want, g0); err != nil {
					return in(what+", Adjoint against a zero cotangent", err)
				}
			}
		}
		switch {
		case c.adjointTangent == nil:
		case op.Role == rev.In:
			s, g, gt := second(drop)
			sWant, gWant, gtWant := second(keep)
			if err := errors.Join(c.identical(s, sWant), c.others(g, gWant, n), c.others(gt, gtWant, n)); err != nil {
				return in(what+" and gt, AdjointTangent", err)
			}
		default:
			s, g, gt := second(drop)
			sWant, gWant, gtWant := second(zero)
			if err := c.identical(s, sWant); err != nil {
				return in(what+" and gt, operands after AdjointTangent", err)
			}
			for i := range c.ops {
				err := errors.Join(c.near(g, gWant, i, c.Adjoint*c.eps, gWant, g0), c.near(gt, gtWant, i, c.Adjoint*c.eps, gtWant, gt0))
				if err != nil {
					return in(what+" and gt, AdjointTangent against a zero cotangent", err)
				}
			}
		}

		what = op.Name + " nil in t"
		s, t := tangent(drop)
		if err := c.identical(s, sTan); err != nil {
			return in(what+", operands after Tangent", err)
		}
		switch op.Role {
		case rev.In:
			_, want := tangent(zero)
			for i := range c.ops {
				if err := c.near(t, want, i, c.Adjoint*c.eps, want, t0, tFull); err != nil {
					return in(what+", Tangent against a zero tangent", err)
				}
			}
		case rev.Acc:
			if err := c.others(t, tFull, n); err != nil {
				return in(what+", Tangent", err)
			}
		}
	}

	all := func(g *operands) {
		for n := range c.ops {
			c.drop(g, n)
		}
	}
	s, _ := adjoint(all)
	if err := c.identical(s, sFull); err != nil {
		return in("all nil in g, operands after Adjoint", err)
	}
	s, _ = tangent(all)
	return in("all nil in t, operands after Tangent", c.identical(s, sTan))
}

func (c *trial) nilOutputs() error {
	s0 := c.start()
	t1 := c.random(s0)
	s1 := c.clone(s0)
	c.tangent(s1.k, t1.k)
	g0, gt0 := c.random(s1), c.random(s1)
	want, got := c.clone(g0), c.clone(g0)
	sWant, sGot := c.clone(s1), c.clone(s1)
	for n, op := range c.ops {
		if op.Role == rev.Acc {
			c.drop(sGot, n)
		}
	}
	second := c.clone(sGot)
	c.adjoint(sWant.k, want.k)
	c.adjoint(sGot.k, got.k)
	if err := errors.Join(c.identical(sGot, sWant), c.identical(got, want)); err != nil {
		return in("acc operands nil, Adjoint", err)
	}
	if c.adjointTangent == nil {
		return nil
	}
	g, gt, gWant, gtWant := c.clone(g0), c.clone(gt0), c.clone(g0), c.clone(gt0)
	c.adjointTangent(c.clone(s1).k, gWant.k, c.clone(t1).k, gtWant.k)
	c.adjointTangent(second.k, g.k, c.clone(t1).k, gt.k)
	return in("acc operands nil, AdjointTangent", errors.Join(c.identical(g, gWant), c.identical(gt, gtWant)))
}

// panics returns an error unless f panics with a value that wanted accepts.
func panics(f func(), wanted func(v any) bool) (err error) {
	defer func() {
		switch v := recover(); {
		case v == nil:
			err = errors.New("does not panic")
		case !wanted(v):
			err = fmt.Errorf("panics with %v", v)
		}
	}()
	f()
	return nil
}

// deliberate reports whether a panic comes from code. Panics of the run-time system are
// not deliberate.
func deliberate(v any) bool {
	_, ok := v.(runtime.Error)
	return !ok
}

func isShapeError(v any) bool {
	err, ok := v.(error)
	return ok && errors.As(err, new(mat.Error))
}

// allPanic returns an error unless all methods of s panic with a value that wanted
// accepts, and write nothing.
func (c *trial) allPanic(s, like *operands, wanted func(v any) bool) error {
	before := c.clone(like) // s may have shapes that cannot be copied
	raw := c.contents(s)
	for _, m := range []struct {
		name string
		call func()
	}{
		{"Forward", func() { c.forward(s.k) }},
		{"Inverse", func() { c.inverse(s.k) }},
		{"Adjoint", func() { c.adjoint(s.k, c.random(before).k) }},
		{"Tangent", func() { c.tangent(s.k, c.random(before).k) }},
	} {
		if err := panics(m.call, wanted); err != nil {
			return in(m.name, err)
		}
		if !slices.Equal(raw, c.contents(s)) {
			return fmt.Errorf("%s panics, but has written to its operands", m.name)
		}
	}
	return nil
}

// contents returns all memory of o.
func (c *trial) contents(o *operands) []byte {
	var all []byte
	for _, a := range o.arrays {
		if a != nil {
			all = append(all, a.raw()...)
		}
	}
	return all
}

func readOnly(r rev.Role) bool { return r == rev.In || r == rev.Index }

func (c *trial) sharedInputs() error {
	s0 := c.start()
	for i, a := range s0.arrays {
		for j, b := range s0.arrays[:i] {
			if a == nil || b == nil || c.ops[i].Role != rev.In || c.ops[j].Role != rev.In ||
				c.ops[i].Elem != c.ops[j].Elem || c.ops[i].Kind != c.ops[j].Kind || a.rows != b.rows || a.cols != b.cols {
				continue
			}
			what := fmt.Sprintf("%s and %s have the same storage", c.ops[j].Name, c.ops[i].Name)
			apart := c.clone(s0)
			c.setArray(apart, j, c.clone(apart).arrays[i])
			shared := c.clone(apart)
			c.setArray(shared, j, shared.arrays[i])
			c.forward(apart.k)
			c.forward(shared.k)
			if err := c.identical(shared, apart); err != nil {
				return in(what+": Forward", err)
			}
			g0 := c.random(apart)
			gApart, gShared := c.clone(g0), c.clone(g0)
			gApart.zero(j)
			c.setArray(gShared, j, gShared.arrays[i])
			c.adjoint(apart.k, gApart.k)
			c.adjoint(shared.k, gShared.k)
			if err := c.identical(shared, apart); err != nil {
				return in(what+": operands after Adjoint", err)
			}
			want := c.clone(gApart)
			for n := range a.len() {
				want.arrays[i].put(n, gApart.arrays[i].at(n)+gApart.arrays[j].at(n))
			}
			for n := range c.ops {
				if n == j {
					continue
				}
				if err := c.near(gShared, want, n, c.Adjoint*c.eps, want, gApart, g0); err != nil {
					return in(what+": cotangents after Adjoint", err)
				}
			}
		}
	}
	return nil
}

// everyMethod calls each method on fresh operands. It passes them to check, with their
// values from before the call. Tangents and cotangents count as operands.
func (c *trial) everyMethod(check func(name string, got, before []*operands) error) error {
	s0 := c.start()
	type call struct {
		name string
		n    int // number of operands of the call
		call func(o []*operands)
	}
	calls := []call{
		{"Forward", 1, func(o []*operands) { c.forward(o[0].k) }},
		{"Inverse", 1, func(o []*operands) { c.inverse(o[0].k) }},
		{"Adjoint", 2, func(o []*operands) { c.adjoint(o[0].k, o[1].k) }},
		{"Tangent", 2, func(o []*operands) { c.tangent(o[0].k, o[1].k) }},
	}
	if c.adjointTangent != nil {
		calls = append(calls, call{"AdjointTangent", 4, func(o []*operands) {
			c.adjointTangent(o[0].k, o[1].k, o[2].k, o[3].k)
		}})
	}
	calls = append(calls, call{"Gradient", 2, func(o []*operands) { c.gradient(o[0].k, o[1].k) }})
	if c.inverseAdjoint != nil {
		calls = append(calls, call{"InverseAdjoint", 2, func(o []*operands) { c.inverseAdjoint(o[0].k, o[1].k) }})
	}
	if c.inverseTangent != nil {
		calls = append(calls, call{"InverseTangent", 2, func(o []*operands) { c.inverseTangent(o[0].k, o[1].k) }})
	}
	if c.inverseAdjointTangent != nil {
		calls = append(calls, call{"InverseAdjointTangent", 4, func(o []*operands) {
			c.inverseAdjointTangent(o[0].k, o[1].k, o[2].k, o[3].k)
		}})
	}
	for _, m := range calls {
		got := []*operands{c.clone(s0)}
		for len(got) < m.n {
			got = append(got, c.random(s0))
		}
		var before []*operands
		for _, o := range got {
			before = append(before, c.clone(o))
		}
		m.call(got)
		if err := check(m.name, got, before); err != nil {
			return in(m.name, err)
		}
	}
	return nil
}

func (c *trial) readOnly() error {
	return c.everyMethod(func(name string, got, before []*operands) error {
		for n, op := range c.ops {
			if !readOnly(op.Role) {
				continue
			}
			if err := c.same(got[0], before[0], n); err != nil {
				return err
			}
			// The tangents of in operands are read-only too.
			tangents := map[string]int{"Tangent": 1, "InverseTangent": 1, "AdjointTangent": 2, "InverseAdjointTangent": 2}[name]
			if tangents > 0 {
				if err := c.same(got[tangents], before[tangents], n); err != nil {
					return in("tangents", err)
				}
			}
		}
		return nil
	})
}

func (c *trial) untouchedGaps() error {
	// Adding to a NaN would leave it a NaN.
	c.poison = poisonNumber
	return c.everyMethod(func(_ string, got, before []*operands) error {
		for i := range got {
			for n := range c.ops {
				if err := c.gaps(got[i], before[i], n); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// A reshaping is an operand with one dimension changed.
type reshaping struct {
	dim        string // as in Spec.Free
	rows, cols int
}

func (c *trial) reshapings(n int, a *array) []reshaping {
	name := c.ops[n].Name
	var r []reshaping
	for _, d := range []int{1, -1} {
		switch c.ops[n].Kind {
		case rev.Slice, rev.Sparse:
			r = append(r, reshaping{name + ".Len", a.rows + d, 1})
		case rev.Vec:
			r = append(r, reshaping{name + ".N", a.rows + d, 1})
		case rev.Gen:
			r = append(r, reshaping{name + ".Rows", a.rows + d, a.cols}, reshaping{name + ".Cols", a.rows, a.cols + d})
		}
	}
	return slices.DeleteFunc(r, func(r reshaping) bool { return r.rows < 0 || r.cols < 0 })
}

// reshaped returns an array of another shape with the elements of a. It repeats them
// if there are too few.
func (c *trial) reshaped(n int, a *array, r reshaping) *array {
	b := c.newArray(c.ops[n], r.rows, r.cols)
	for i, w := range b.where {
		if len(a.where) > 0 {
			b.full.Index(w).Set(a.full.Index(a.where[i%len(a.where)]))
		} else {
			b.full.Index(w).SetZero()
		}
	}
	return b
}

func (c *trial) shapes() error {
	s0 := c.start()
	for n, a := range s0.arrays {
		if a == nil {
			continue
		}
		for _, r := range c.reshapings(n, a) {
			what := fmt.Sprintf("%s changed from %d×%d to %d×%d", r.dim, a.rows, a.cols, r.rows, r.cols)
			if !slices.Contains(c.Free, r.dim) {
				s := c.clone(s0)
				c.setArray(s, n, c.reshaped(n, a, r))
				if err := c.allPanic(s, s0, isShapeError); err != nil {
					return in(what, err)
				}
			}
			if c.ops[n].Role == rev.Index {
				continue
			}
			s, g := c.clone(s0), c.random(s0)
			c.setArray(g, n, c.reshaped(n, a, r))
			if err := panics(func() { c.adjoint(s.k, g.k) }, isShapeError); err != nil {
				return in(what+" in g: Adjoint", err)
			}
			if err := panics(func() { c.tangent(s.k, g.k) }, isShapeError); err != nil {
				return in(what+" in t: Tangent", err)
			}
			if err := c.identical(s, s0); err != nil {
				return in(what+" in g", err)
			}
		}
		if err := c.malformed(s0, n); err != nil {
			return err
		}
	}
	return nil
}

// malformed checks malformed views: a negative dimension, a stride that is too
// small, data that is too short.
func (c *trial) malformed(s0 *operands, n int) error {
	kind := c.ops[n].Kind
	a := s0.arrays[n]
	if kind != rev.Vec && kind != rev.Gen {
		return nil
	}
	for _, m := range []struct {
		what string
		edit func(f reflect.Value)
		ok   bool // whether a has enough elements for the edit to be wrong
	}{
		{"a negative dimension", func(f reflect.Value) { f.Field(0).SetInt(-1) }, true},
		{"too small a stride", func(f reflect.Value) {
			f.FieldByName(map[rev.Kind]string{rev.Vec: "Inc", rev.Gen: "Stride"}[kind]).SetInt(int64(a.cols - 1))
		}, a.rows > 1 && a.cols > 0},
		{"data that is too short", func(f reflect.Value) {
			d := f.FieldByName("Data")
			d.Set(d.Slice(0, d.Len()-1))
		}, a.span() > 0},
	} {
		if !m.ok {
			continue
		}
		s := c.clone(s0)
		m.edit(fields(s.k).Field(c.ops[n].Field))
		if err := c.allPanic(s, s0, isShapeError); err != nil {
			return fmt.Errorf("%s has %s: %w", c.ops[n].Name, m.what, err)
		}
	}
	return nil
}
