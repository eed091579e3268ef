package rev

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"gonum.org/v1/gonum/mat"
)

// mustCheck panics if the operands of the kernel that k points to are not well formed. g, t and gt point to
// derivatives, of the same type, or are nil. The pointers are in interfaces so that mustCheck is compiled
// only once, and not for each type of kernel.
func mustCheck(k, g, t, gt any) {
	layoutAt(k).mustCheck(pointer(k), pointer(g), pointer(t), pointer(gt))
}

// pointee returns the type of what p points to, or would if it were not nil.
func pointee(p any) reflect.Type { return reflect.TypeOf(p).Elem() }

// pointer returns the pointer that p holds.
func pointer(p any) unsafe.Pointer { return noescape((*[2]unsafe.Pointer)(unsafe.Pointer(&p))[1]) }

func (l *layout) mustCheck(k, g, t, gt unsafe.Pointer) {
	if err := l.check(k, g, t, gt); err != nil {
		panic(err)
	}
}

// noescape returns the address of a kernel, hidden from the compiler's escape analysis.
// A check keeps no operand, but the compiler cannot see that, and would move the
// caller's local variables to the heap.
func noescape(k unsafe.Pointer) unsafe.Pointer {
	p := uintptr(k)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// check returns an error unless the operands of k are well formed. Their views must
// fit their data, they must have the shapes of the tags, and two of them may overlap
// only if both are only read. check fills in the dimensions of absent views of k.
//
// check also checks the derivatives g, t and gt that are not nil. Each operand there
// may be absent. If it is not, it must have the shape of its counterpart in k and must
// overlap nothing. There is one exception: if two operands of k are the same view,
// their cotangents may be the same view too, and so may their tangents.
//
// If there are g and t, t must have tangents of all operands in place or of none.
//
// Empty values of gonum in the places of outputs and derivatives get their sizes.
//
// Calls of small kernels spend most of their time here, so most of them take the short way
// of accepts. Clearing the room for a region takes as long as looking at an operand, so check
// makes little more room than it needs.
func (l *layout) check(k, g, t, gt unsafe.Pointer) *OperandError {
	if gt == nil && (g == nil || t == nil) && l.accepts(k, noneNil(g, t)) {
		return nil
	}
	var c checker
	c.layout = l
	c.values = [4]unsafe.Pointer{k, g, t, gt}
	n := len(l.fields)
	if g == nil && t == nil && n <= 5 {
		var room [5]region
		return c.check(room[:n])
	}
	for _, d := range [...]unsafe.Pointer{g, t, gt} {
		if d != nil {
			n += len(l.fields)
		}
	}
	if n <= 20 {
		var room [20]region
		return c.check(room[:n])
	}
	return c.checkMany(n)
}

func (c *checker) checkMany(n int) *OperandError {
	var room [4 * maxOperands]region
	return c.check(room[:n])
}

// A checker checks the operands of a kernel and of its derivatives.
type checker struct {
	*layout
	values [4]unsafe.Pointer // the kernel and its derivatives g, t and gt, nil if there are none
	binding
}

// prefixes[v] stands before the names of the operands of values[v] in messages.
var prefixes = [...]string{"", "g.", "t.", "gt."}

// check checks all values, and stores the regions of their operands in room, one value
// after the other.
func (c *checker) check(room []region) *OperandError {
	k, kernel := c.values[0], room[:len(c.fields)]
	absent, bad := load(c.fields, k, kernel, false)
	if bad >= 0 {
		return c.malformed(bad, 0, room)
	}
	if absent&^c.optional != 0 {
		for i, r := range kernel {
			f := &c.fields[i]
			if r.data == nil && !f.Optional && (f.Kind == Scalar || r.stride == nilStride || !r.empty()) {
				return c.isNil(i)
			}
		}
	}
	absent &= c.optional
	equations := c.equations
	for i := range equations {
		e := &equations[i]
		if absent&e.operand != 0 || e.cond >= 0 && !e.applies(k) {
			continue
		}
		v, s := e.value(k), e.symbol
		switch {
		case s < 0:
			if want, ok := e.eval(&c.binding); ok && v != want {
				return c.mismatched(room)
			}
		case !c.known[s]:
			c.value[s], c.known[s] = v, true
		case c.value[s] != v:
			return c.mismatched(room)
		}
	}
	if absent&c.shaped != 0 || absent != 0 && len(room) > len(kernel) {
		c.fill(kernel, absent)
	}
	for v, end := 1, len(kernel); end < len(room); v++ {
		if c.values[v] == nil {
			continue
		}
		own := room[end:][:len(kernel)]
		if _, bad := load(c.fields, c.values[v], own, true); bad >= 0 {
			return c.malformed(bad, v, room)
		}
		for i := range own {
			k, r := &kernel[i], &own[i]
			if r.data != nil && (r.rows != k.rows || r.cols != k.cols) && !k.matchUnknown(r) {
				kind := c.fields[i].Kind
				return c.wrong(i, v, fmt.Sprintf("%s, want %s", r.describe(kind), k.size(kind)), mat.ErrShape)
			}
		}
		end += len(kernel)
	}
	if c.inPlace && c.values[1] != nil && c.values[2] != nil {
		if err := c.someInPlace(kernel); err != nil {
			return err
		}
	}
	for i := nextOverlap(room, 1); i < len(room); i = nextOverlap(room, i+1) {
		if err := c.overlapping(i, room); err != nil {
			return err
		}
	}
	return nil
}

// someInPlace returns an error if t has tangents of some operands in place, and not of all.
func (c *checker) someInPlace(kernel []region) *OperandError {
	none, some := -1, false
	for i := range c.fields {
		switch f := &c.fields[i]; {
		case f.Role != InOut || kernel[i].data == nil || kernel[i].bytes == 0:
		case f.isNil(c.values[2]):
			none = i
		default:
			some = true
		}
	}
	if none < 0 || !some {
		return nil
	}
	return c.wrong(none, 2, "is nil, but another operand in place has a tangent", mat.ErrShape)
}

// nextOverlap returns the first i from the given one on for which region i meets one before it,
// or len(room).
func nextOverlap(room []region, i int) int {
	for ; i < len(room); i++ {
		data, bytes := uintptr(room[i].data), room[i].bytes
		for j := range room[:i] {
			// Differences wrap around.
			if d := uintptr(room[j].data); data-d < room[j].bytes || d-data < bytes {
				return i
			}
		}
	}
	return i
}

// matchUnknown replaces negative dimensions of r, which may be anything, by those of s. It
// reports whether r and s then have the same dimensions.
func (r *region) matchUnknown(s *region) bool {
	if r.rows < 0 {
		r.rows = s.rows
	}
	if r.cols < 0 {
		r.cols = s.cols
	}
	return r.rows == s.rows && r.cols == s.cols
}

// fill sets the dimensions of the absent operands of the kernel: in room, where -1 means
// any, and in the views of outputs.
func (c *checker) fill(room []region, absent uint64) {
	for i := range c.fields {
		if f, r := &c.fields[i], &room[i]; absent>>i&1 != 0 && (f.Shape == "" || f.Kind == Sparse) && r.empty() {
			r.rows, r.cols = -1, -1
		}
	}
	for i := range c.equations {
		e := &c.equations[i]
		if absent&e.operand == 0 || !e.applies(c.values[0]) {
			continue
		}
		f, r := &c.fields[e.field], &room[e.field]
		v, ok := e.eval(&c.binding)
		v = max(v, 0)
		if f.Role == Acc && (f.Kind == Vec || f.Kind == Gen) {
			*(*int)(unsafe.Add(c.values[0], e.offset)) = v
		}
		switch {
		case !ok:
			v = -1
		case f.Kind == Sparse: // its rows are the entries
			continue
		}
		if e.axis == 0 {
			r.rows = v
		} else {
			r.cols = v
		}
	}
}

// mismatched returns the error of a kernel whose operands do not have the shapes of their
// tags. It binds the names again, to the dimensions of operands that are not nil. If an
// operand is nil and must not be, that is the error.
func (c *checker) mismatched(room []region) *OperandError {
	k := c.values[0]
	c.binding = binding{}
	// A sparse matrix without entries may have dimensions.
	present := func(e *equation) bool {
		return e.operand == 0 || room[e.field].data != nil || c.fields[e.field].Kind == Sparse && !c.fields[e.field].Optional && e.value(k) != 0
	}
	from := map[int8]int{} // by name, the operand that gave its number
	for _, e := range c.equations {
		if e.symbol >= 0 && e.applies(k) && present(&e) && !c.known[e.symbol] {
			c.agree(&e, e.value(k))
			if e.operand != 0 {
				from[e.symbol] = e.field
			}
		}
	}
	for _, e := range c.equations {
		if v, _ := e.eval(&c.binding); e.applies(k) && v > 0 && !present(&e) && !c.fields[e.field].Optional {
			return c.isNil(e.field)
		}
	}
	for _, e := range c.equations {
		if e.operand != 0 && e.applies(k) && present(&e) && !c.agree(&e, e.value(k)) {
			return c.wrong(e.field, 0, c.want(e.field, from), mat.ErrShape)
		}
	}
	i := slices.IndexFunc(c.equations, func(e equation) bool { return e.operand != 0 && e.applies(k) && !c.agree(&e, e.value(k)) })
	return c.wrong(c.equations[i].field, 0, c.want(c.equations[i].field, from), mat.ErrShape) // nil, of a size below 0
}

// want says which shape operand i has and must have, as in "is 3×2, want m×n where m = 2 of A".
func (c *checker) want(i int, from map[int8]int) string {
	var is, texts [2]string // by axis: the equations of names come before those of expressions
	var values []string
	for _, e := range c.equations {
		if e.operand == 0 || e.field != i || !e.applies(c.values[0]) {
			continue
		}
		is[e.axis], texts[e.axis] = strconv.Itoa(e.value(c.values[0])), e.text
		for _, t := range e.terms {
			if t.op != 's' || !c.known[t.n] {
				continue
			}
			value := fmt.Sprintf("%s = %d", c.symbols[t.n], c.value[t.n])
			f, ok := from[int8(t.n)]
			if ok {
				value += " of " + c.fields[f].Name
			}
			if (!ok || f != i) && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	s := "has length " + is[0] + ", want " + texts[0]
	if is[1] != "" {
		s = "is " + is[0] + "×" + is[1] + ", want " + texts[0] + "×" + texts[1]
	}
	if len(values) > 0 {
		s += " where " + strings.Join(values, " and ")
	}
	return s
}

// malformed returns the error of operand i of c.values[v], whose view does not fit its
// data. If the operand is a view of an empty gonum value, malformed instead gives all such
// values their sizes.
func (c *checker) malformed(i, v int, room []region) *OperandError {
	f := &c.fields[i]
	if f.receiver(c.values[v]) != nil {
		return c.receive(room)
	}
	var r region
	f.load(c.values[v], &r)
	n := f.header(c.values[v]).len
	switch is := r.describe(f.Kind); {
	case r.rows < 0 || r.cols < 0:
		return c.wrong(i, v, is, mat.ErrNegativeDimension)
	case f.Kind == Sparse:
		return c.wrong(i, v, fmt.Sprintf("has %d values for %d column indices", n, r.rows), mat.ErrShape)
	case r.stride < max(1, r.cols):
		return c.wrong(i, v, fmt.Sprintf("%s with a stride of %d", is, r.stride), mat.ErrIllegalStride)
	default:
		return c.wrong(i, v, fmt.Sprintf("%s with a stride of %d, but %d elements of data", is, r.stride, n), mat.ErrShape)
	}
}

func (c *checker) isNil(i int) *OperandError { return c.wrong(i, 0, "is nil", mat.ErrShape) }

// overlapping returns the error of operand i of the room if it overlaps an earlier one and
// must not. Operands of the kernel may be the same if both are only read. Their derivatives
// in one value may then be the same, too.
func (c *checker) overlapping(i int, room []region) *OperandError {
	n := len(c.fields)
	value := func(i int) (v int) { // whose operand it is
		for i /= n; i > 0; i-- {
			for v++; c.values[v] == nil; v++ {
			}
		}
		return v
	}
	for j := range room[:i] {
		f, g := &c.fields[i%n], &c.fields[j%n]
		shared := f.Role.readOnly() && g.Role.readOnly() && i/n == j/n &&
			(i < n || room[i] == room[j] && room[i%n] == room[j%n])
		if !shared && overlap(&room[i], &room[j]) {
			return c.wrong(i%n, value(i), "shares memory with "+prefixes[value(j)]+g.Name, ErrOverlap)
		}
	}
	return nil
}

// wrong returns the error of operand i of c.values[v].
func (c *checker) wrong(i, v int, reason string, err error) *OperandError {
	return c.layout.wrong(i, prefixes[v], reason, err)
}

func (l *layout) wrong(i int, prefix, reason string, err error) *OperandError {
	return &OperandError{Kernel: l.kernel.String(), Operand: prefix + l.fields[i].Name, Reason: reason, Err: err}
}
