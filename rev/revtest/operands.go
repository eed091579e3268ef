package revtest

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// zero makes the numbers of operand n of o zero.
func (o *operands) zero(n int) { o.arrays[n].fill(func() float64 { return 0 }) }

// checkOthers returns an error unless got and want have the same bits in all operands
// except n.
func (c *trial) checkOthers(got, want *operands, n int) error {
	for i := range c.Operands {
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
	c.pass(tangent, s1, t1)
	g0, gt0 := c.random(s1), c.random(s1)
	for _, p := range []struct {
		pass   string
		before []*operands // the arguments
		edited []int       // the derivatives in which an operand is nil
		names  string      // of these
		exact  rev.Role    // of operands that change no bit of the others
	}{
		{adjoint, []*operands{s1, g0}, []int{1}, "g", rev.In},
		{adjointTangent, []*operands{s1, g0, t1, gt0}, []int{1, 3}, "g and gt", rev.In},
		{tangent, []*operands{s0, t0}, []int{1}, "t", rev.Acc},
	} {
		if !c.has(p.pass) {
			continue
		}
		run := func(edit func(o *operands)) []*operands {
			o := c.clones(p.before)
			for _, i := range p.edited {
				edit(o[i])
			}
			c.pass(p.pass, o...)
			return o
		}
		full := run(func(*operands) {})
		for n, op := range c.Operands {
			if op.Role == rev.Index || s0.arrays[n] == nil {
				continue
			}
			got := run(func(o *operands) { c.drop(o, n) })
			if err := c.identical(got[0], full[0]); err != nil {
				return wrap(fmt.Sprintf("%s nil in %s, operands after %s", op.Name, p.names, p.pass), err)
			}
			if op.Role != p.exact {
				continue
			}
			var err error
			for _, i := range p.edited {
				err = errors.Join(err, c.checkOthers(got[i], full[i], n))
			}
			if err != nil {
				return wrap(fmt.Sprintf("%s nil in %s, %s", op.Name, p.names, p.pass), err)
			}
		}
		none := run(func(o *operands) {
			for n := range c.Operands {
				c.drop(o, n)
			}
		})
		if err := c.identical(none[0], full[0]); err != nil {
			return wrap(fmt.Sprintf("all nil in %s, operands after %s", p.names, p.pass), err)
		}
	}
	return nil
}

// A slot is an operand of one of the arguments of a pass.
type slot struct{ place, operand int }

// omitted compares each pass without some derivatives with the pass with zeros in their place.
func (c *trial) omitted() error {
	s0 := c.start()
	before := c.all(s0)
	for _, a := range arguments {
		if len(a.places) == 1 || !c.has(a.pass) || strings.HasPrefix(a.pass, inverse) && !c.inPlace() {
			continue
		}
		var slots []slot
		for _, place := range a.places[1:] {
			for n := range c.Operands {
				if before[place].arrays[n] != nil {
					slots = append(slots, slot{place, n})
				}
			}
		}
		for _, set := range c.subsets(len(slots)) {
			var omit []slot
			var names []string
			for i, x := range slots {
				if set[i] {
					omit = append(omit, x)
					names = append(names, [...]string{1: "g.", 2: "t.", 3: "gt."}[x.place]+c.Operands[x.operand].Name)
				}
			}
			if err := c.omit(a.pass, a.places, before, omit); err != nil {
				return fmt.Errorf("%s without %s: %w", a.pass, strings.Join(names, ", "), err)
			}
		}
	}
	return nil
}

// subsets returns all subsets of n slots but the empty one if there are few, and random ones of many
// sizes otherwise.
func (c *trial) subsets(n int) (sets [][]bool) {
	const few, some = 4, 6
	if n <= few {
		for bits := 1; bits < 1<<n; bits++ {
			set := make([]bool, n)
			for i := range set {
				set[i] = bits>>i&1 != 0
			}
			sets = append(sets, set)
		}
		return sets
	}
	for range some {
		set := make([]bool, n)
		for _, i := range c.rnd.Perm(n)[:1+c.rnd.IntN(n)] {
			set[i] = true
		}
		sets = append(sets, set)
	}
	return sets
}

func (c *trial) omit(pass string, places []int, before []*operands, omit []slot) error {
	defer c.memory.mark()()
	run := func(edit func(o *operands, n int)) []*operands {
		o := c.clones(before)
		for _, x := range omit {
			edit(o[x.place], x.operand)
		}
		// To where the pass begins. A derivative that is nil there is zero here.
		switch pass {
		case adjoint, inverseTangent:
			c.pass(forward, o[0])
		case adjointTangent:
			c.pass(tangent, o[0], o[2])
		case inverseAdjointTangent:
			c.pass(forward, o[0])
			c.pass(inverseTangent, o[0], o[2])
		}
		args := make([]*operands, len(places))
		for i, place := range places {
			args[i] = o[place]
		}
		c.pass(pass, args...)
		return o
	}
	if len(places) == 4 {
		kept, omitted, read := c.tangentsLeft(before[2], omit)
		switch {
		case kept && omitted:
			return panics(func() { run(c.drop) }, isShapeError)
		case omitted && read && pass == inverseAdjointTangent:
			return panics(func() { run(c.drop) }, func(v any) bool {
				f, failed := v.(failure)
				return failed && errors.Is(f.error, rev.ErrUnsupported)
			})
		}
	}
	got, want := run(c.drop), run((*operands).zero)
	for _, place := range places {
		for n := range c.Operands {
			if err := c.near(got[place], want[place], n, c.Adjoint*c.eps, want[place], before[place]); err != nil {
				return wrap([...]string{"operands", "g", "t", "gt"}[place]+" against zeros", err)
			}
		}
	}
	return nil
}

// tangentsLeft reports whether tangents of operands in place are kept and omitted, and whether
// tangents of in operands are kept.
func (c *trial) tangentsLeft(t *operands, omit []slot) (kept, omitted, read bool) {
	for n, op := range c.Operands {
		left := t.arrays[n] != nil && !slices.Contains(omit, slot{2, n})
		switch {
		case op.Role == rev.In:
			read = read || left
		case op.Role != rev.InOut || t.arrays[n] == nil || t.arrays[n].span() == 0:
		case left:
			kept = true
		default:
			omitted = true
		}
	}
	return kept, omitted, read
}

func (c *trial) nilOutputs() error {
	s0 := c.start()
	t1 := c.random(s0)
	s1 := c.clone(s0)
	c.pass(tangent, s1, t1)
	g0, gt0 := c.random(s1), c.random(s1)
	want, got := c.clone(g0), c.clone(g0)
	sWant, sGot := c.clone(s1), c.clone(s1)
	for n, op := range c.Operands {
		if op.Role == rev.Acc {
			c.drop(sGot, n)
		}
	}
	second := c.clone(sGot)
	c.pass(adjoint, sWant, want)
	c.pass(adjoint, sGot, got)
	if err := errors.Join(c.identical(sGot, sWant), c.identical(got, want)); err != nil {
		return wrap("acc operands nil, Adjoint", err)
	}
	if !c.has(adjointTangent) {
		return nil
	}
	g, gt, gWant, gtWant := c.clone(g0), c.clone(gt0), c.clone(g0), c.clone(gt0)
	c.pass(adjointTangent, c.clone(s1), gWant, c.clone(t1), gtWant)
	c.pass(adjointTangent, second, g, c.clone(t1), gt)
	return wrap("acc operands nil, AdjointTangent", errors.Join(c.identical(g, gWant), c.identical(gt, gtWant)))
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
// accepts, and write nothing to it. all are operands of the right shapes.
func (c *trial) allPanic(s *operands, all []*operands, wanted func(v any) bool) error {
	raw := c.contents(s)
	for _, pass := range firstOrder {
		o := argumentsOf(pass, all)
		o[0] = s
		if err := panics(func() { c.pass(pass, o...) }, wanted); err != nil {
			return wrap(pass, err)
		}
		if !slices.Equal(raw, c.contents(s)) {
			return fmt.Errorf("%s panics, but has written to its operands", pass)
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
			if a == nil || b == nil || c.Operands[i].Role != rev.In || c.Operands[j].Role != rev.In ||
				c.Operands[i].Elem != c.Operands[j].Elem || c.Operands[i].Kind != c.Operands[j].Kind || a.rows != b.rows || a.cols != b.cols {
				continue
			}
			what := fmt.Sprintf("%s and %s have the same storage", c.Operands[j].Name, c.Operands[i].Name)
			apart := c.clone(s0)
			c.setArray(apart, j, c.clone(apart).arrays[i])
			shared := c.clone(apart)
			c.setArray(shared, j, shared.arrays[i])
			c.pass(forward, apart)
			c.pass(forward, shared)
			if err := c.identical(shared, apart); err != nil {
				return wrap(what+": Forward", err)
			}
			g0 := c.random(apart)
			gApart, gShared := c.clone(g0), c.clone(g0)
			gApart.zero(j)
			c.setArray(gShared, j, gShared.arrays[i])
			c.pass(adjoint, apart, gApart)
			c.pass(adjoint, shared, gShared)
			if err := c.identical(shared, apart); err != nil {
				return wrap(what+": operands after Adjoint", err)
			}
			want := c.clone(gApart)
			for n := range a.len() {
				want.arrays[i].put(n, gApart.arrays[i].at(n)+gApart.arrays[j].at(n))
			}
			for n := range c.Operands {
				if n == j {
					continue
				}
				if err := c.near(gShared, want, n, c.Adjoint*c.eps, want, gApart, g0); err != nil {
					return wrap(what+": cotangents after Adjoint", err)
				}
			}
		}
	}
	return nil
}

// everyMethod makes each pass on fresh operands. It passes them to check, with their
// values from before the call. Tangents and cotangents count as operands.
func (c *trial) everyMethod(check func(pass string, got, before []*operands) error) error {
	all := c.all(c.start())
	for _, a := range arguments {
		if !c.has(a.pass) {
			continue
		}
		before := argumentsOf(a.pass, all)
		got := c.clones(before)
		c.pass(a.pass, got...)
		if err := check(a.pass, got, before); err != nil {
			return wrap(a.pass, err)
		}
	}
	return nil
}

func (c *trial) readOnly() error {
	return c.everyMethod(func(pass string, got, before []*operands) error {
		for n, op := range c.Operands {
			if !readOnly(op.Role) {
				continue
			}
			if err := c.same(got[0], before[0], n); err != nil {
				return err
			}
			// The tangents of in operands are read-only too.
			if i := slices.Index(placesOf(pass), 2); i >= 0 {
				if err := c.same(got[i], before[i], n); err != nil {
					return wrap("tangents", err)
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
			for n := range c.Operands {
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
	name := c.Operands[n].Name
	var r []reshaping
	for _, d := range []int{1, -1} {
		switch c.Operands[n].Kind {
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
	b := c.newArray(c.Operands[n], r.rows, r.cols)
	size, zero := int(a.size), make([]byte, a.size)
	for i, w := range b.where {
		element := zero
		if len(a.where) > 0 {
			element = a.raw()[a.where[i%len(a.where)]*size:][:size]
		}
		copy(b.raw()[w*size:], element)
	}
	return b
}

func (c *trial) shapes() error {
	s0 := c.start()
	all := c.all(s0)
	s, g := c.clone(s0), c.clone(all[1])
	for n, a := range s0.arrays {
		if a == nil {
			continue
		}
		for _, r := range c.reshapings(n, a) {
			what := fmt.Sprintf("%s changed from %d×%d to %d×%d", r.dim, a.rows, a.cols, r.rows, r.cols)
			if !slices.Contains(c.Free, r.dim) {
				s := c.clone(s0)
				c.setArray(s, n, c.reshaped(n, a, r))
				if err := c.allPanic(s, all, isShapeError); err != nil {
					return wrap(what, err)
				}
			}
			if c.Operands[n].Role == rev.Index {
				continue
			}
			right := g.arrays[n]
			c.setArray(g, n, c.reshaped(n, a, r))
			if err := panics(func() { c.pass(adjoint, s, g) }, isShapeError); err != nil {
				return wrap(what+" in g: Adjoint", err)
			}
			if err := panics(func() { c.pass(tangent, s, g) }, isShapeError); err != nil {
				return wrap(what+" in t: Tangent", err)
			}
			if err := c.identical(s, s0); err != nil {
				return wrap(what+" in g", err)
			}
			c.setArray(g, n, right)
		}
		if err := c.malformed(all, n); err != nil {
			return err
		}
	}
	return nil
}

// malformed checks malformed views: a negative dimension, a stride that is too
// small, data that is too short.
func (c *trial) malformed(all []*operands, n int) error {
	s0, kind := all[0], c.Operands[n].Kind
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
		m.edit(fields(s.k).Field(c.Operands[n].Field))
		if err := c.allPanic(s, all, isShapeError); err != nil {
			return fmt.Errorf("%s has %s: %w", c.Operands[n].Name, m.what, err)
		}
	}
	return nil
}
