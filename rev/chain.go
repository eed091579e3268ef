package rev

import (
	"math"
	"reflect"
	"unsafe"
)

// A Chain is a computation x_n = fⁿ(x_0) whose step x_{i+1} = f(x_i) has no inverse,
// because f is not a bijection. You give the step as y += f(x), which has one.
// [Bennett] and [Treeverse] turn it into y += fⁿ(x). They allocate the states between
// x_0 and x_n.
//
// X finds x in the state s, and Y finds y. Both are of the same type and shape: slices,
// pointers, views, or structs of them and of numbers. Step must add f(x) to y and
// change nothing else in s. It must not read y, and must give the same bits each time.
// Whatever else it reads, such as the parameters of f, must be in s too. While the
// chain runs, X and Y of s hold other states. Afterwards they hold their former states
// again.
//
// Give Count if n is known in advance. Otherwise give Last, which must not change the
// state.
type Chain[S, X any] struct {
	Step  Step[S]         // y += f(x)
	X, Y  func(s *S) *X   // x and y
	Count func(s *S) int  // n, at least 1
	Last  func(s *S) bool // reports whether the step from x is the last one

	// Index, if not nil, returns a place in s. It holds i while Step and Last see x_i.
	Index func(s *S) *int
}

// A chainState is a state of a chain, or a cotangent. Either comes with its tangent.
type chainState[X any] struct {
	v, d       X            // d is used only when tangents are computed
	memV, memD []numberSpan // the numbers in them
}

// A numberSpan is memory that holds numbers.
type numberSpan struct {
	at    unsafe.Pointer
	bytes uintptr
	elem  reflect.Type
}

func (m numberSpan) slice() []byte { return unsafe.Slice((*byte)(m.at), m.bytes) }

// clear sets all numbers to zero.
func (c *chainState[X]) clear() {
	for _, m := range c.memV {
		clear(m.slice())
	}
	for _, m := range c.memD {
		clear(m.slice())
	}
}

// largest returns the largest magnitude of the floating-point numbers of the state, and NaN if
// one is NaN. The parts of complex numbers count.
func (c *chainState[X]) largest() float64 {
	most := 0.
	for _, m := range c.memV {
		m.each(func(x, bound float64) bool {
			if bound > 0 {
				most = max(most, math.Abs(x))
			}
			return true
		})
	}
	return most
}

// isRemoved reports whether all numbers of the state are zero, up to the rounding of sums on
// the way to a magnitude of at most largest and back.
func (c *chainState[X]) isRemoved(largest float64) bool {
	for _, m := range c.memV {
		for _, b := range m.slice() {
			if b == 0 {
				continue
			}
			if !m.each(func(x, bound float64) bool { return x == 0 || math.Abs(x) <= bound*largest }) {
				return false
			}
			break
		}
	}
	return true
}

// each calls f with the numbers of m, and with what Bennett allows of them after they are
// uncomputed, until f returns false.
func (m numberSpan) each(f func(x, bound float64) bool) bool {
	n := int(m.bytes / max(1, m.elem.Size()))
	if m.elem.Kind() == reflect.Float64 {
		for _, x := range unsafe.Slice((*float64)(m.at), n) {
			if !f(x, double) {
				return false
			}
		}
		return true
	}
	for i := range n {
		if !eachNumber(reflect.NewAt(m.elem, unsafe.Add(m.at, uintptr(i)*m.elem.Size())).Elem(), f) {
			return false
		}
	}
	return true
}

// Bounds of what is left of an uncomputed number, in units of the largest of its state.
const double, single = 0x1p-26, 0x1p-12

func eachNumber(v reflect.Value, f func(x, bound float64) bool) bool {
	switch v.Kind() {
	case reflect.Float64:
		return f(v.Float(), double)
	case reflect.Float32:
		return f(v.Float(), single)
	case reflect.Complex128:
		return f(real(v.Complex()), double) && f(imag(v.Complex()), double)
	case reflect.Complex64:
		return f(real(v.Complex()), single) && f(imag(v.Complex()), single)
	case reflect.Array:
		for i := range v.Len() {
			if !eachNumber(v.Index(i), f) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range v.NumField() {
			if !eachNumber(v.Field(i), f) {
				return false
			}
		}
		return true
	}
	return f(float64(v.Int()), 0) // fixed point is exact
}

// spans appends the memory of all numbers that the addressable value v leads to.
func spans(list []numberSpan, v reflect.Value) []numberSpan {
	switch t := v.Type(); {
	case isNumberType(t):
		return append(list, numberSpan{v.Addr().UnsafePointer(), t.Size(), t})
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			list = spans(list, exported(v.Field(i)))
		}
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			list = spans(list, v.Index(i))
		}
	case t.Kind() == reflect.Pointer && !v.IsNil():
		return spans(list, v.Elem())
	case t.Kind() == reflect.Slice && v.Len() > 0 && isNumberType(t.Elem()):
		return append(list, numberSpan{v.UnsafePointer(), uintptr(v.Len()) * t.Elem().Size(), t.Elem()})
	case t.Kind() == reflect.Slice:
		for i := range v.Len() {
			list = spans(list, v.Index(i))
		}
	}
	return list
}

// A chainRun is a pass over a chain.
type chainRun[S, X any] struct {
	*Chain[S, X]
	p     pass
	first chainLink[X] // x_0 and its derivatives, those of the caller
	last  chainLink[X] // y
	index int          // what the place of the index holds
	wrote bool         // whether y has been written

	states, cotangents chainPool[X]
	ends               []chainLink[X] // a stack of states, for bennett
}

// A chainLink is a state and its cotangent. The cotangent may be nil.
type chainLink[X any] struct{ state, cotangent *chainState[X] }

// begin starts a pass.
func (c *Chain[S, X]) begin(p pass) *chainRun[S, X] {
	r := &chainRun[S, X]{Chain: c, p: p}
	r.first, r.last = r.held(c.X), r.held(c.Y)
	if c.Index != nil {
		r.index = *c.Index((*S)(p.s))
	}
	return r
}

// count returns n. It must be positive: a chain of no steps would add x to y, and no
// Step does that.
func (c *Chain[S, X]) count(s *S, name string) (int, error) {
	n := c.Count(s)
	if n < 1 {
		return 0, &Violation{name, "the count must be positive", n}
	}
	return n, nil
}

// held returns the link that the states of the pass hold.
func (r *chainRun[S, X]) held(place func(s *S) *X) chainLink[X] {
	l := chainLink[X]{new(chainState[X]), new(chainState[X])}
	r.get(place, l)
	return l
}

// end puts the caller's states back.
func (r *chainRun[S, X]) end() {
	r.put(r.X, r.first)
	r.put(r.Y, r.last)
	if r.Index != nil {
		*r.Index((*S)(r.p.s)) = r.index
	}
}

// put puts l into the states of the pass.
func (r *chainRun[S, X]) put(place func(s *S) *X, l chainLink[X]) {
	r.each(l, func(s *S, x *X) { *place(s) = *x })
}

// get takes l out of the states of the pass. This matters if X is a struct that holds
// numbers directly.
func (r *chainRun[S, X]) get(place func(s *S) *X, l chainLink[X]) {
	r.each(l, func(s *S, x *X) { *x = *place(s) })
}

// each calls f with each state of the pass and the part of l that belongs there.
func (r *chainRun[S, X]) each(l chainLink[X], f func(s *S, x *X)) {
	f((*S)(r.p.s), &l.state.v)
	if r.p.t != nil {
		f((*S)(r.p.t), &l.state.d)
	}
	if l.cotangent != nil && r.p.g != nil {
		f((*S)(r.p.g), &l.cotangent.v)
	}
	if l.cotangent != nil && r.p.gt != nil {
		f((*S)(r.p.gt), &l.cotangent.d)
	}
}

// step makes the pass q of the step from x_i, which is x.
func (r *chainRun[S, X]) step(q pass, i int, x, y chainLink[X]) error {
	r.set(i, x)
	r.put(r.Y, y)
	err := q.over(r.Step.node)
	r.get(r.X, x)
	r.get(r.Y, y)
	r.wrote = r.wrote || err == nil && y.state == r.last.state
	return err
}

// set makes x the state x_i.
func (r *chainRun[S, X]) set(i int, x chainLink[X]) {
	r.put(r.X, x)
	if r.Index != nil {
		*r.Index((*S)(r.p.s)) = i
	}
}

// A chainPool recycles states.
type chainPool[X any] struct {
	free       []*chainState[X]
	live, peak int // states in use, and the most so far
}

// take returns a state of zeros.
func (r *chainRun[S, X]) take() *chainState[X] { return r.states.take(&r.first.state.v, r.p.t != nil) }

// takeCotangent returns a cotangent of zeros.
func (r *chainRun[S, X]) takeCotangent() *chainState[X] {
	return r.cotangents.take(&r.first.state.v, r.p.gt != nil)
}

func (c *chainPool[X]) take(like *X, tangent bool) *chainState[X] {
	c.live++
	c.peak = max(c.peak, c.live)
	if n := len(c.free); n > 0 {
		s := c.free[n-1]
		c.free = c.free[:n-1]
		return s
	}
	s := &chainState[X]{v: *ZeroLike(like)}
	s.memV = spans(nil, reflect.ValueOf(&s.v).Elem())
	if tangent {
		s.d = *ZeroLike(like)
		s.memD = spans(nil, reflect.ValueOf(&s.d).Elem())
	}
	return s
}

// drop recycles a state that is no longer needed.
func (c *chainPool[X]) drop(s *chainState[X]) {
	if s == nil {
		return
	}
	s.clear()
	c.live--
	c.free = append(c.free, s)
}

// forwardOnly returns the forward pass without cotangents.
func (p pass) forwardOnly() pass {
	p.back, p.g, p.gt = false, nil, nil
	if p.t == nil {
		p.missing = nil
	}
	return p
}

// walk makes the pass p, which has no cotangents, from x_0 to y. It drops each state
// once it has the next one.
func (r *chainRun[S, X]) walk(p pass, last func(i int, x *chainState[X]) bool) error {
	ahead := p.forwardOnly()
	x := r.first.state
	for i := 0; ; i++ {
		if last(i, x) {
			return r.step(p, i, chainLink[X]{state: x}, chainLink[X]{state: r.last.state})
		}
		next, err := r.advance(ahead, i, 1, x)
		if err != nil {
			return err
		}
		if x != r.first.state {
			r.states.drop(x)
		}
		x = next
	}
}

// advance returns x_{i+m}, where x is x_i and m is at least 1.
func (r *chainRun[S, X]) advance(ahead pass, i, m int, x *chainState[X]) (*chainState[X], error) {
	from := x
	for end := i + m; i < end; i++ {
		next := r.take()
		if err := r.step(ahead, i, chainLink[X]{state: from}, chainLink[X]{state: next}); err != nil {
			return nil, err
		}
		if from != x {
			r.states.drop(from)
		}
		from = next
	}
	return from, nil
}

// restore returns err after a pass has failed. Only y may have changed. If it has,
// restore subtracts f(x_{n-1}) from it, or adds it back.
func (r *chainRun[S, X]) restore(err error, last func(i int, x *chainState[X]) bool) error {
	var reason error
	if r.wrote {
		reason = r.walk(r.p.inverse().primal(), last)
		if reason == nil && (r.p.g != nil || r.p.t != nil) {
			reason = ErrUnsupported
		}
	}
	return notRestored(err, reason)
}
