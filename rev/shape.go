package rev

import (
	"fmt"
	"math"
	"reflect"
	"slices"
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

// An equation says which value a number in the kernel has: a dimension of an operand, or an
// int field that shapes name.
type equation struct {
	dim
	offset  uintptr // of the number in the kernel
	symbol  int8    // the name that the dimension consists of, or -1 for an expression
	when    bool    // the value of the bool field for which the equation holds
	cond    int     // the offset of that field, or -1 if the equation always holds
	operand uint64  // 1<<field, or 0 for an int field
	field   int     // the index of the operand
	axis    int     // 0 for rows or the length, 1 for columns
}

// value returns the number in the kernel k.
func (e *equation) value(k unsafe.Pointer) int { return *(*int)(unsafe.Add(k, e.offset)) }

// applies reports whether the equation holds for the kernel k.
func (e *equation) applies(k unsafe.Pointer) bool {
	return e.cond < 0 || *(*bool)(unsafe.Add(k, e.cond)) == e.when
}

// A dim is a dimension: an expression in postfix order, where an operator follows its two
// operands.
type dim struct {
	text  string
	terms []term
}

// A term is a number, a symbol or an operator.
type term struct {
	op byte // '0' number, 's' symbol, '+', '-', '*', '/', '<' min, '>' max
	n  int  // the number, or the symbol
}

// maxDepth bounds how many operands of an expression wait for their operators.
const maxDepth = 8

// undefined is the value of an expression that divides by zero. No operand has it.
const undefined = math.MinInt

// eval returns the value of d, and whether all its symbols are known.
func (d *dim) eval(b *binding) (v int, ok bool) {
	var stack [maxDepth]int // the operands before v
	top := 0
	for _, t := range d.terms {
		if t.op == '0' || t.op == 's' {
			stack[top%maxDepth] = v
			top++
			v = t.n
			if t.op == 's' {
				if !b.known[t.n] {
					return 0, false
				}
				v = b.value[t.n]
			}
			continue
		}
		top--
		x := stack[top%maxDepth]
		switch t.op {
		case '+':
			v = x + v
		case '-':
			v = x - v
		case '*':
			v = x * v
		case '/':
			if v == 0 {
				return undefined, true
			}
			v = x / v
		case '<':
			v = min(x, v)
		default:
			v = max(x, v)
		}
	}
	return v, true
}

// maxSymbols bounds the names in the shapes of a kernel. Every check clears a binding.
const maxSymbols = 14

// A binding holds the numbers that names stand for. Some may not be known yet.
type binding struct {
	value [maxSymbols]int
	known [maxSymbols]bool
}

// agree reports whether the dimension e is v. A name without a number gets v, and an
// expression of such names may be anything.
func (b *binding) agree(e *equation, v int) bool {
	if e.symbol < 0 {
		want, ok := e.eval(b)
		return !ok || v == want
	}
	if !b.known[e.symbol] {
		b.value[e.symbol], b.known[e.symbol] = v, true
	}
	return b.value[e.symbol] == v
}

// A shapeParser reads the shape tags of a kernel type.
type shapeParser struct {
	kernel    reflect.Type
	symbols   []string
	equations []equation
	rest      string
}

// parse reads the shape tag of an operand, field i of the kernel.
func (p *shapeParser) parse(o Operand, offset uintptr, i int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(shapeSyntax)
			if !ok {
				panic(v)
			}
			err = fmt.Errorf("shape:%q: %s", o.Shape, string(e))
		}
	}()
	p.rest = o.Shape
	e := equation{cond: -1, when: true, operand: 1 << i, field: i}
	if before, after, ok := strings.Cut(o.Shape, "?"); ok {
		name := strings.TrimSpace(before)
		f, ok := fieldOf(p.kernel, name, reflect.Bool)
		if !ok {
			p.fail("no bool field %q", name)
		}
		e.cond = int(f.Offset)
		p.rest = after
	}
	p.dims(e, o.Kind, offset)
	if e.cond >= 0 {
		p.expect(':')
		e.when = false
		p.dims(e, o.Kind, offset)
	}
	if p.peek() == ',' || o.Kind == Scalar {
		p.fail("more than %d dimensions", o.Kind.axes())
	} else if p.peek() != 0 {
		p.fail("unexpected %q", p.rest)
	}
	return nil
}

// dims reads the dimensions of an operand, and adds e to the equations for each.
func (p *shapeParser) dims(e equation, k Kind, offset uintptr) {
	for e.axis = range k.axes() {
		if e.axis > 0 && p.peek() != ',' {
			p.fail("%d dimensions, want %d", e.axis, k.axes())
		} else if e.axis > 0 {
			p.rest = p.rest[1:]
		}
		p.peek()
		before := p.rest
		e.terms = p.sum()
		e.text = strings.TrimSpace(before[:len(before)-len(p.rest)])
		e.symbol = -1
		if len(e.terms) == 1 && e.terms[0].op == 's' {
			e.symbol = int8(e.terms[0].n)
		}
		e.offset = offset // N of a vector, Rows and Cols of a matrix
		switch {
		case k == Slice:
			e.offset += unsafe.Sizeof(offset) // its length
		case e.axis == 1:
			e.offset += unsafe.Offsetof(General[byte]{}.Cols)
		}
		p.equations = append(p.equations, e)
	}
}

// ordered returns the equations of the kernel whose operands are given. The names come
// first, then the expressions. Names get their numbers from int fields first, then from
// operands that must not be nil.
func (p *shapeParser) ordered(fields []field) []equation {
	var told []equation
	for i, name := range p.symbols {
		if f, ok := fieldOf(p.kernel, name, reflect.Int); ok {
			told = append(told, equation{offset: f.Offset, symbol: int8(i), cond: -1})
		} else if !slices.ContainsFunc(p.equations, func(e equation) bool { return e.symbol == int8(i) }) {
			panic(fmt.Sprintf("rev: kernel %v: no operand has the dimension %s by itself, and no int field is named so", p.kernel, name))
		}
	}
	rank := func(e equation) int {
		r := 0
		if fields[e.field].Optional {
			r = 1
		}
		if e.symbol < 0 {
			r += 2
		}
		return r
	}
	slices.SortStableFunc(p.equations, func(a, b equation) int { return rank(a) - rank(b) })
	return append(told, p.equations...)
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

func (p *shapeParser) sum() []term     { return p.chain("+-", p.product) }
func (p *shapeParser) product() []term { return p.chain("*/", p.factor) }

// chain reads operands with any of the operators between them.
func (p *shapeParser) chain(operators string, operand func() []term) []term {
	e := operand()
	for p.peek() != 0 && strings.IndexByte(operators, p.rest[0]) >= 0 {
		operator := p.rest[0]
		p.rest = p.rest[1:]
		e = p.join(operator, e, operand())
	}
	return e
}

// join returns the expression that applies op to x and y.
func (p *shapeParser) join(op byte, x, y []term) []term {
	e := append(append(x, y...), term{op: op})
	depth := 0
	for _, t := range e {
		if t.op != '0' && t.op != 's' {
			depth--
		} else if depth++; depth > maxDepth {
			p.fail("more than %d operands wait for their operators", maxDepth)
		}
	}
	return e
}

func (p *shapeParser) factor() []term {
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
		return []term{{'0', n}}
	}
	if op, ok := map[string]byte{"min": '<', "max": '>'}[word]; ok && p.peek() == '(' {
		p.expect('(')
		a := p.sum()
		p.expect(',')
		b := p.sum()
		p.expect(')')
		return p.join(op, a, b)
	}
	return []term{{'s', p.symbol(word)}}
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
	if i := slices.Index(p.symbols, name); i >= 0 {
		return i
	}
	if len(p.symbols) == maxSymbols {
		p.fail("more than %d names", maxSymbols)
	}
	p.symbols = append(p.symbols, name)
	return len(p.symbols) - 1
}
