package gradient

import (
	"go/token"
	"strconv"
)

// writtenOnce reports whether statements set each element of the vector y at most once, and do not read it.
// The indices are different constants, or c·i + k in one loop over i, with one c and different k.
func writtenOnce(list []stmt, y *variable) bool {
	w := &onceWalk{y: y, taken: map[int]bool{}, once: true}
	w.list(list, nil, 0)
	return w.once
}

// A onceWalk goes through statements for writtenOnce.
type onceWalk struct {
	y     *variable
	loop  *ranged // of the first element that is set
	c     int
	taken map[int]bool // values of k
	once  bool
}

// list looks at statements in loops, of which loop is the innermost.
func (w *onceWalk) list(list []stmt, loop *ranged, depth int) {
	for _, s := range list {
		switch s := s.(type) {
		case *branch:
			w.mentions(s.cond)
			w.list(s.then, loop, depth)
			w.list(s.els, loop, depth)
		case *ranged:
			w.mentions(s.lo)
			w.mentions(s.hi)
			w.list(s.body, s, depth+1)
		case *while:
			w.mentions(s.cond)
			w.list(s.body, nil, depth+1)
		case *assignment:
			w.mentions(s.r)
			e, ok := s.l.(*element)
			if !ok || !isVariable(e.x, w.y) {
				w.mentions(s.l)
				continue
			}
			w.mentions(e.i)
			w.set(e.i, loop, depth)
		default:
			expressions(s, w.mentions)
		}
	}
}

// set notes that y[i] is set.
func (w *onceWalk) set(i expr, loop *ranged, depth int) {
	var v *variable
	if loop != nil {
		v = loop.v
	}
	c, k, ok := affine(i, v)
	first := len(w.taken) == 0
	if first {
		w.loop, w.c = loop, c
	}
	if !ok || loop != w.loop || c != w.c || depth > 1 || (c == 0) != (depth == 0) {
		w.once = false
		return
	}
	if c != 0 { // those of all iterations
		period := max(c, -c) * max(loop.step, -loop.step)
		k = (k%period + period) % period
	}
	w.once = w.once && !w.taken[k]
	w.taken[k] = true
}

// mentions finds y in an expression, but for its length.
func (w *onceWalk) mentions(e expr) {
	switch x := e.(type) {
	case nil:
		return
	case *call:
		if x.fn == "len" && isVariable(x.args[0], w.y) {
			return
		}
	case *reference:
		w.once = w.once && x.v != w.y
	}
	for _, c := range children(e) {
		w.mentions(c)
	}
}

// affine returns c and k if e is c·v + k.
func affine(e expr, v *variable) (c, k int, ok bool) {
	switch e := e.(type) {
	case *literal:
		k, err := strconv.Atoi(e.text)
		return 0, k, err == nil
	case *reference:
		return 1, 0, e.v == v
	case *binary:
		c, k, ok := affine(e.x, v)
		d, l, also := affine(e.y, v)
		switch e.op {
		case token.ADD:
			return c + d, k + l, ok && also
		case token.SUB:
			return c - d, k - l, ok && also
		case token.MUL:
			return c*l + d*k, k * l, ok && also && c*d == 0
		}
	}
	return 0, 0, false
}
