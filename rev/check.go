package rev

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"

	"gonum.org/v1/gonum/mat"
)

// ErrOverlap is the error that an OperandError wraps if operands overlap and must
// not.
var ErrOverlap = errors.New("rev: operands overlap")

// OperandError says what is wrong with an operand of a kernel. A wrong operand is a
// bug of the caller, so the functions and methods that run kernels and programs
// panic with an *OperandError.
type OperandError struct {
	Step    string // path of the step in a program, if there is one
	Kernel  string // type of the kernel
	Operand string // name of the field, with the prefix "g.", "t." or "gt." in a kernel of derivatives
	Reason  string // what is wrong
	Err     error  // mat.ErrShape, mat.ErrNegativeDimension, mat.ErrIllegalStride or ErrOverlap
}

func (e *OperandError) Error() string {
	s := fmt.Sprintf("%v: %s of %s %s", e.Err, e.Operand, e.Kernel, e.Reason)
	if e.Step != "" {
		s += " (" + e.Step + ")"
	}
	return s
}

// Unwrap returns e.Err.
func (e *OperandError) Unwrap() error { return e.Err }

// ShapeError returns the error with which Run panics if the shape of an operand is
// wrong in a way that no tag can say. The error wraps mat.ErrShape. K is the type of
// the kernel, operand the name of the field, and format and args give the reason.
func ShapeError[K any](operand, format string, args ...any) *OperandError {
	return &OperandError{Kernel: layoutFor[K]().kernel.String(), Operand: operand, Reason: fmt.Sprintf(format, args...), Err: mat.ErrShape}
}

// mustCheck panics if the operands of the kernel of type K at k are not well formed.
// The pointers to derivatives may be nil.
func mustCheck[K any](k, g, t, gt *K) {
	mustCheckOf(reflect.TypeFor[K](), hidden(k), hidden(g), hidden(t), hidden(gt))
}

// hidden returns the address of a kernel, hidden from the compiler's escape analysis.
// A check keeps no operand, but the compiler cannot see that, and would move the
// caller's local variables to the heap.
func hidden[K any](k *K) unsafe.Pointer {
	p := uintptr(unsafe.Pointer(k))
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

func mustCheckOf(kernel reflect.Type, k, g, t, gt unsafe.Pointer) {
	if err := layoutOf(kernel).check(k, g, t, gt); err != nil {
		panic(err)
	}
}

// check returns an error unless the operands of k are well formed. Their views must
// fit their data, they must have the shapes of the tags, and two of them may overlap
// only if both are only read. check fills in the dimensions of absent views of k.
//
// check also checks the derivatives g, t and gt that are not nil. Each operand there
// may be absent. If it is not, it must have the shape of its counterpart in k and must
// overlap nothing. There is one exception: if two operands of k are the same view,
// their cotangents may be the same view too, and so may their tangents.
func (l *layout) check(k, g, t, gt unsafe.Pointer) *OperandError {
	if l.plain(k, g, t, gt) {
		return nil
	}
	return l.checkSlowly(k, g, t, gt)
}

// checkSlowly is check without the short cut.
func (l *layout) checkSlowly(k, g, t, gt unsafe.Pointer) *OperandError {
	n, alone := len(l.fields), g == nil && t == nil
	switch {
	case n <= fewOperands && alone:
		var c [fewOperands]region
		return l.checkIn(k, nil, nil, nil, c[:], nil, nil, nil)
	case alone:
		var c [maxOperands]region
		return l.checkIn(k, nil, nil, nil, c[:], nil, nil, nil)
	case n <= fewOperands:
		var c, rg, rt, rgt [fewOperands]region
		return l.checkIn(k, g, t, gt, c[:], rg[:], rt[:], rgt[:])
	case n <= manyOperands:
		var c, rg, rt, rgt [manyOperands]region
		return l.checkIn(k, g, t, gt, c[:], rg[:], rt[:], rgt[:])
	default:
		var c, rg, rt, rgt [maxOperands]region
		return l.checkIn(k, g, t, gt, c[:], rg[:], rt[:], rgt[:])
	}
}

// Most kernels have at most fewOperands, and nearly all at most manyOperands. Clearing
// room for more operands takes as long as checking them.
const (
	fewOperands  = 4
	manyOperands = 12
)

// checkIn does the work of check, in the given room for regions.
func (l *layout) checkIn(k, g, t, gt unsafe.Pointer, rk, rg, rt, rgt regions) *OperandError {
	c := checked{regions: rk}
	if err := c.kernel(l, k); err != nil {
		return err
	}
	if g != nil {
		if err := c.derivative(l, k, g, "g.", rg); err != nil {
			return err
		}
	}
	if t == nil {
		return nil
	}
	if err := c.derivative(l, k, t, "t.", rt); err != nil {
		return err
	}
	if g == nil {
		return nil
	}
	if err := c.derivative(l, k, gt, "gt.", rgt); err != nil {
		return err
	}
	if err := l.disjoint(rg, rt, "g.", "t."); err != nil {
		return err
	}
	if err := l.disjoint(rg, rgt, "g.", "gt."); err != nil {
		return err
	}
	return l.disjoint(rt, rgt, "t.", "gt.")
}

// checked holds the regions and dimensions of the operands of a kernel that are known
// so far.
type checked struct {
	regions
	binding
}

// kernel checks the operands of k.
func (c *checked) kernel(l *layout, k unsafe.Pointer) *OperandError {
	absent := false
	for i := range l.fields {
		f, r := &l.fields[i], &c.regions[i]
		if err := l.load(i, r, k, ""); err != nil {
			return err
		}
		if r.data == nil {
			if !f.Optional && (f.Kind == Scalar || !r.empty()) {
				return l.wrong(i, "", "is nil", mat.ErrShape)
			}
			absent = true
		}
	}
	for _, p := range l.params {
		c.set(p.symbol, *(*int)(unsafe.Add(k, p.offset)), -1)
	}
	for _, i := range l.tagged {
		if f := &l.fields[i]; c.regions[i].data == nil && f.Optional {
			continue
		}
		if err := c.bind(l, i, k, k, &c.regions[i], ""); err != nil {
			return err
		}
	}
	if l.expressions {
		if err := c.compare(l, k, k, c.regions, ""); err != nil {
			return err
		}
	}
	if absent {
		c.fill(l, k)
	}
	for _, p := range l.pairs {
		if overlap(&c.regions[p[0]], &c.regions[p[1]]) {
			return l.overlapping(p[1], "", p[0], "")
		}
	}
	return nil
}

// derivative checks the operands of d, cotangents or tangents, and stores their
// regions in r.
func (c *checked) derivative(l *layout, k, d unsafe.Pointer, prefix string, r regions) *OperandError {
	for i := range l.fields {
		f := &l.fields[i]
		if f.Role == Index {
			continue
		}
		if err := l.load(i, &r[i], d, prefix); err != nil {
			return err
		}
		if r[i].data == nil {
			continue
		}
		kr := &c.regions[i]
		known := kr.data != nil || !kr.empty() || !f.Optional
		switch {
		case known && (r[i].rows != kr.rows || r[i].cols != kr.cols):
			return l.wrong(i, prefix, fmt.Sprintf("%s, want %s", r[i].describe(f.Kind), kr.size(f.Kind)), mat.ErrShape)
		case !known && f.shape.tagged:
			if err := c.bind(l, i, k, d, &r[i], prefix); err != nil {
				return err
			}
		}
		for j := range l.fields[:i] {
			if l.fields[j].Role == Index || !overlap(&r[i], &r[j]) {
				continue
			}
			same := r[i] == r[j] && c.regions[i] == c.regions[j]
			if !same || f.Role != In || l.fields[j].Role != In {
				return l.overlapping(j, prefix, i, prefix)
			}
		}
	}
	if l.expressions {
		if err := c.compare(l, k, d, r, prefix); err != nil {
			return err
		}
	}
	return l.disjoint(c.regions, r, "", prefix)
}

// disjoint returns an error if an operand of b, other than an index, overlaps one of a.
func (l *layout) disjoint(a, b regions, prefixA, prefixB string) *OperandError {
	for i := range l.fields {
		if l.fields[i].Role == Index || b[i].bytes == 0 {
			continue
		}
		for j := range l.fields {
			if overlap(&b[i], &a[j]) {
				return l.overlapping(j, prefixA, i, prefixB)
			}
		}
	}
	return nil
}

// sizes returns the dimensions that the shape tag of operand i of v describes. r is
// the operand's region.
func (l *layout) sizes(i int, v unsafe.Pointer, r *region) [2]int {
	if f := &l.fields[i]; f.Kind == Sparse {
		m := (*sparse)(unsafe.Add(v, f.offset))
		return [2]int{m.Rows, m.Cols}
	}
	return [2]int{r.rows, r.cols}
}

// bind compares the dimensions of operand i of v with the symbols in its shape tag,
// and binds the symbols that have no value yet. The tag is read for the kernel k.
func (c *checked) bind(l *layout, i int, k, v unsafe.Pointer, r *region, prefix string) *OperandError {
	f := &l.fields[i]
	rows, cols := r.rows, r.cols
	if f.Kind == Sparse {
		m := (*sparse)(unsafe.Add(v, f.offset))
		rows, cols = m.Rows, m.Cols
	}
	size := rows
	for axis, d := range f.shape.of(k) {
		if axis == 1 {
			size = cols
		}
		switch {
		case d.symbol < 0:
		case !c.has(d.symbol):
			c.set(d.symbol, size, i)
		case c.value[d.symbol] != size:
			return l.mismatch(i, k, [2]int{rows, cols}, &c.binding, prefix)
		}
	}
	return nil
}

// compare compares dimensions that are expressions, once all names are bound.
func (c *checked) compare(l *layout, k, v unsafe.Pointer, r regions, prefix string) *OperandError {
	for _, i := range l.tagged {
		f := &l.fields[i]
		if prefix != "" && (f.Role == Index || f.Kind == Sparse || r[i].data == nil) || f.Optional && r[i].data == nil {
			continue // the derivatives of a sparse matrix have the shape of its entries
		}
		for axis, d := range f.shape.of(k) {
			if d.symbol >= 0 {
				continue
			}
			sizes := l.sizes(i, v, &r[i])
			if want, ok := d.expr.eval(&c.binding); ok && want != sizes[axis] {
				return l.mismatch(i, k, sizes, &c.binding, prefix)
			}
		}
	}
	return nil
}

// fill sets the dimensions of absent views of k.
func (c *checked) fill(l *layout, k unsafe.Pointer) {
	for i := range l.fields {
		f := &l.fields[i]
		if f.Role != Acc || c.regions[i].data != nil || !f.shape.tagged || f.Kind != Vec && f.Kind != Gen {
			continue
		}
		var sizes [2]int
		for axis, d := range f.shape.of(k) {
			v, _ := d.expr.eval(&c.binding)
			sizes[axis] = max(v, 0)
		}
		c.regions[i].rows = sizes[0]
		if f.Kind == Gen {
			c.regions[i].cols = sizes[1]
		}
		p := unsafe.Add(k, f.offset)
		if f.Kind == Vec {
			(*Vector[byte])(p).N = sizes[0]
		} else {
			m := (*General[byte])(p)
			m.Rows, m.Cols = sizes[0], sizes[1]
		}
	}
}

// mismatch returns the error of operand i, which does not have the shape of its tag.
func (l *layout) mismatch(i int, k unsafe.Pointer, sizes [2]int, b *binding, prefix string) *OperandError {
	f := &l.fields[i]
	d := f.shape.of(k)
	got := fmt.Sprintf("has length %d", sizes[0])
	if len(d) == 2 {
		got = fmt.Sprintf("is %d×%d", sizes[0], sizes[1])
	}
	reason := got + ", want " + d.String()
	join := " where "
	var seen uint32
	for _, dim := range d {
		for _, t := range dim.expr {
			if t.op != 's' || !b.has(t.n) || seen&(1<<t.n) != 0 {
				continue
			}
			seen |= 1 << t.n
			reason += fmt.Sprintf("%s%s = %d", join, l.symbols[t.n], b.value[t.n])
			if from := int(b.from[t.n]); from >= 0 && from != i {
				reason += " of " + l.fields[from].Name
			}
			join = " and "
		}
	}
	return l.wrong(i, prefix, reason, mat.ErrShape)
}

func (l *layout) wrong(i int, prefix, reason string, err error) *OperandError {
	return &OperandError{Kernel: l.kernel.String(), Operand: prefix + l.fields[i].Name, Reason: reason, Err: err}
}

func (l *layout) overlapping(j int, prefixJ string, i int, prefixI string) *OperandError {
	return l.wrong(i, prefixI, "shares memory with "+prefixJ+l.fields[j].Name, ErrOverlap)
}

// size describes the size of an operand for a message. For a sparse matrix it is the
// number of entries.
func (r *region) size(k Kind) string {
	if k == Gen {
		return fmt.Sprintf("%d×%d", r.rows, r.cols)
	}
	return fmt.Sprint(r.rows)
}

// describe returns a verb and the size of an operand, such as "has length 3".
func (r *region) describe(k Kind) string {
	if k == Gen {
		return "is " + r.size(k)
	}
	return "has length " + r.size(k)
}

// A region is the memory of an operand: element (i, j) of rows×cols elements
// is i*stride+j elements after data. The region of a nil scalar is empty.
type region struct {
	data               unsafe.Pointer
	rows, cols, stride int
	bytes              uintptr // from the first element to the end of the last
}

type regions []region

func (r *region) empty() bool { return r.rows == 0 || r.cols == 0 }

// span returns the number of elements from the first to the last one.
func (r *region) span() int { return (r.rows-1)*r.stride + r.cols }

// load sets r to the region of operand i of the kernel value at k, and returns an
// error if it is malformed. The headers of slices and views do not depend on the
// element type, so they are read as those of bytes.
func (l *layout) load(i int, r *region, k unsafe.Pointer, prefix string) *OperandError {
	f := &l.fields[i]
	p := unsafe.Add(k, f.offset)
	var data []byte
	r.stride, r.cols = 1, 1
	switch f.Kind {
	case Scalar:
		if r.data = *(*unsafe.Pointer)(p); r.data != nil {
			r.rows, r.bytes = 1, f.size
		}
		return nil
	case Slice:
		data = *(*[]byte)(p)
		r.rows = len(data)
	case Vec:
		v := (*Vector[byte])(p)
		data, r.rows, r.stride = v.Data, v.N, v.Inc
	case Gen:
		m := (*General[byte])(p)
		data, r.rows, r.cols, r.stride = m.Data, m.Rows, m.Cols, m.Stride
	case Sparse:
		m := (*sparse)(p)
		data, r.rows = m.Data, max(len(m.Data), len(m.Ind))
	}
	if r.rows < 0 || r.cols < 0 {
		return l.wrong(i, prefix, r.describe(f.Kind), mat.ErrNegativeDimension)
	}
	r.data = unsafe.Pointer(unsafe.SliceData(data))
	if data == nil || r.empty() {
		return nil
	}
	if r.stride < max(1, r.cols) {
		return l.wrong(i, prefix, fmt.Sprintf("%s with a stride of %d", r.describe(f.Kind), r.stride), mat.ErrIllegalStride)
	}
	// The product may not fit an int.
	hi, lo := bits.Mul(uint(r.rows-1), uint(r.stride))
	if hi != 0 || len(data) < r.cols || lo > uint(len(data)-r.cols) {
		if f.Kind == Sparse {
			return l.wrong(i, prefix, fmt.Sprintf("has %d values for %d column indices", len(data), r.rows), mat.ErrShape)
		}
		return l.wrong(i, prefix, fmt.Sprintf("%s with a stride of %d, but %d elements of data", r.describe(f.Kind), r.stride, len(data)), mat.ErrShape)
	}
	r.bytes = uintptr(r.span()) * f.size
	return nil
}

// overlap reports whether a and b share an element. Disjoint blocks of one matrix
// share none, and neither do disjoint columns. Views of more than one row whose
// strides differ are assumed to share an element if the ranges of memory that they
// span overlap, as in gonum's mat.
func overlap(a, b *region) bool {
	pa, pb := uintptr(a.data), uintptr(b.data)
	if pa+a.bytes <= pb || pb+b.bytes <= pa || a.bytes == 0 || b.bytes == 0 {
		return false
	}
	return overlapWithin(a, b)
}

// overlapWithin is overlap for a and b whose ranges of memory overlap.
func overlapWithin(a, b *region) bool {
	pa, pb := uintptr(a.data), uintptr(b.data)
	if pa > pb {
		a, b, pa, pb = b, a, pb, pa
	}
	size := a.bytes / uintptr(a.span())
	// The first element of b lies in the span of a.
	if size != b.bytes/uintptr(b.span()) || (pb-pa)%size != 0 {
		return true
	}
	off := int((pb - pa) / size)
	if a.rows == 1 || a.stride == a.cols {
		return true // a has no gaps
	}
	row := b.cols // length of a run of b
	if b.stride == b.cols {
		row *= b.rows
	} else if b.rows > 1 && b.stride != a.stride {
		return true // too hard, so assume the worst
	}
	// In units of rows of a, b begins in row i at column j.
	i, j := off/a.stride, off%a.stride
	if j < a.cols {
		return true
	}
	// All rows of b begin in gaps of a. If they are longer than the rest of the gap,
	// the first one meets row i+1 of a, if there is one.
	return j+row > a.stride && i+1 < a.rows
}
