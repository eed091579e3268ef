package rev

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// A shape tag gives the dimensions of an operand:
//
//	C rev.General[T] `rev:"acc" shape:"m,n"`
//	A rev.General[T] `rev:"in" shape:"TransA ? k,m : m,k"`
//	W rev.Vector[T]  `rev:"in" shape:"n*(n-1)/2"`
//
// A name stands for the same number in all operands of the kernel. The name of an int
// field of the kernel stands for the value of that field. Any other name gets its
// number from a dimension that is the name alone. A dimension may also be an
// expression of names with +, -, *, /, min, max and parentheses; it is compared with
// the operand. Two shapes may follow the name of a bool field of the kernel: the first
// holds if the field is true, the second if it is false.

// A shape is a parsed shape tag.
type shape struct {
	cond   int // offset of the bool field that chooses, or -1
	dims   [2]dims
	tagged bool
}

// dims are the dimensions of an operand: one of a slice or vector, two of a matrix.
type dims []dim

// A dim is a symbol alone, or an expression.
type dim struct {
	symbol int // index among the symbols of the layout, -1 for an expression
	expr   expr
	text   string
}

// An expr is an expression in postfix order: an operator follows its two operands.
type expr []term

// A term is a number, a symbol or an operator.
type term struct {
	op byte // '0' number, 's' symbol, '+', '-', '*', '/', '<' min, '>' max
	n  int  // the number, or the index of the symbol
}

// maxDepth bounds how many operands of an expression wait for their operator.
const maxDepth = 8

// maxSymbols bounds the names in the shapes of a kernel, and maxSlots the names and the
// other numbers that a binding holds. Small kernels clear a binding in each call.
const (
	maxSymbols = 14
	maxSlots   = 16
)

// A binding holds the numbers that names stand for. Some may not be known yet.
type binding struct {
	value [maxSlots]int
	from  [maxSlots]int8 // the operand that gave the number, -1 for an int field
	known uint32
}

func (b *binding) has(s int) bool { return b.known&(1<<s) != 0 }

func (b *binding) set(s, v, from int) {
	b.value[s], b.from[s] = v, int8(from)
	b.known |= 1 << s
}

// eval returns the value of e, and whether all its symbols are known.
func (e expr) eval(b *binding) (int, bool) {
	var stack [maxDepth]int
	top := -1
	for _, t := range e {
		switch t.op {
		case '0':
			top++
			stack[top&(maxDepth-1)] = t.n
			continue
		case 's':
			if !b.has(t.n) {
				return 0, false
			}
			top++
			stack[top&(maxDepth-1)] = b.value[t.n]
			continue
		}
		top--
		x, y := &stack[top&(maxDepth-1)], stack[(top+1)&(maxDepth-1)]
		switch t.op {
		case '+':
			*x += y
		case '-':
			*x -= y
		case '*':
			*x *= y
		case '/':
			if y == 0 {
				return -1, true // no dimension is negative
			}
			*x /= y
		case '<':
			*x = min(*x, y)
		case '>':
			*x = max(*x, y)
		}
	}
	return stack[0], true
}

// of returns the dimensions for the kernel at k, by the condition if there is one.
func (s *shape) of(k unsafe.Pointer) dims {
	if s.cond >= 0 && !*(*bool)(unsafe.Add(k, s.cond)) {
		return s.dims[1]
	}
	return s.dims[0]
}

// String returns the dimensions as the tag spells them, as in "m×k".
func (d dims) String() string {
	texts := make([]string, len(d))
	for i := range d {
		texts[i] = d[i].text
	}
	return strings.Join(texts, "×")
}

// A shapeParser reads the shape tags of a kernel type.
type shapeParser struct {
	kernel  reflect.Type
	symbols []string
	rest    string
}

// parse reads the shape tag of a field that has the given number of axes.
func (p *shapeParser) parse(tag string, axes int) (s shape, err error) {
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(shapeSyntax)
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("shape:%q: %s", tag, string(e))
		}
	}()
	s = shape{cond: -1, tagged: true}
	p.rest = tag
	if before, after, ok := strings.Cut(tag, "?"); ok {
		name := strings.TrimSpace(before)
		f, ok := fieldOf(p.kernel, name, reflect.Bool)
		if !ok {
			p.fail("no bool field %q", name)
		}
		s.cond = int(f.Offset)
		p.rest = after
	}
	s.dims[0] = p.dims(axes)
	if s.cond >= 0 {
		p.expect(':')
		s.dims[1] = p.dims(axes)
	}
	if p.peek() == ',' || axes == 0 {
		p.fail("more than %d dimensions", axes)
	} else if p.peek() != 0 {
		p.fail("unexpected %q", p.rest)
	}
	return s, nil
}

// shapeSyntax is the value with which the parser panics.
type shapeSyntax string

func (p *shapeParser) fail(format string, args ...any) {
	panic(shapeSyntax(fmt.Sprintf(format, args...)))
}

func (p *shapeParser) peek() byte {
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *shapeParser) expect(c byte) {
	if p.peek() != c {
		p.fail("want %q before %q", c, p.rest)
	}
	p.rest = p.rest[1:]
}

func (p *shapeParser) dims(axes int) dims {
	d := make(dims, axes)
	for i := range d {
		if i > 0 && p.peek() != ',' {
			p.fail("%d dimensions, want %d", i, axes)
		} else if i > 0 {
			p.rest = p.rest[1:]
		}
		p.peek()
		before := p.rest
		e := p.sum()
		d[i] = dim{symbol: -1, expr: e, text: strings.TrimSpace(before[:len(before)-len(p.rest)])}
		if len(e) == 1 && e[0].op == 's' {
			d[i].symbol = e[0].n
		}
	}
	return d
}

func (p *shapeParser) sum() expr {
	e := p.product()
	for p.peek() == '+' || p.peek() == '-' {
		op := p.rest[0]
		p.rest = p.rest[1:]
		e = p.join(op, e, p.product())
	}
	return e
}

func (p *shapeParser) product() expr {
	e := p.factor()
	for p.peek() == '*' || p.peek() == '/' {
		op := p.rest[0]
		p.rest = p.rest[1:]
		e = p.join(op, e, p.factor())
	}
	return e
}

// join returns the expression that applies op to a and b.
func (p *shapeParser) join(op byte, a, b expr) expr {
	e := append(append(a, b...), term{op: op})
	depth, deepest := 0, 0
	for _, t := range e {
		if t.op == '0' || t.op == 's' {
			depth++
		} else {
			depth--
		}
		deepest = max(deepest, depth)
	}
	if deepest > maxDepth {
		p.fail("more than %d operands wait for their operators", maxDepth)
	}
	return e
}

func (p *shapeParser) factor() expr {
	if p.peek() == '(' {
		p.expect('(')
		e := p.sum()
		p.expect(')')
		return e
	}
	word := p.word()
	if word[0] <= '9' {
		n, err := strconv.Atoi(word)
		if err != nil {
			p.fail("%q is neither a name nor a number", word)
		}
		return expr{{'0', n}}
	}
	if op, ok := map[string]byte{"min": '<', "max": '>'}[word]; ok && p.peek() == '(' {
		p.expect('(')
		a := p.sum()
		p.expect(',')
		b := p.sum()
		p.expect(')')
		return p.join(op, a, b)
	}
	return expr{{'s', p.symbol(word)}}
}

// word returns the name or number that comes next.
func (p *shapeParser) word() string {
	p.peek()
	n := 0
	for n < len(p.rest) && (p.rest[n] >= '0' && p.rest[n] <= '9' || p.rest[n] >= 'a' && p.rest[n] <= 'z' || p.rest[n] >= 'A' && p.rest[n] <= 'Z') {
		n++
	}
	if n == 0 {
		p.fail("want a name or a number before %q", p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

func (p *shapeParser) symbol(name string) int {
	for i, s := range p.symbols {
		if s == name {
			return i
		}
	}
	if len(p.symbols) == maxSymbols {
		p.fail("more than %d names", maxSymbols)
	}
	p.symbols = append(p.symbols, name)
	return len(p.symbols) - 1
}
