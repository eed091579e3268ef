// Package draw draws the operands of kernels, by their tags.
package draw

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"

	"revnum/fixed"
	"revnum/internal/bytype"
	"revnum/rev"
)

// A Problem says how the operands of a kernel are drawn. If nothing else is said, they are
// normal numbers, and the names in the shape tags, in the order of the operands, stand for
// r, c and 3.
type Problem struct {
	Fields map[string]any // values of fields that are no operands
	Dims   [][2]string    // names in shape tags, or int fields, and their values by r and c
	Draws  map[string]func(*Operand)
	Adjust func(k reflect.Value)
}

// An Operand is an operand that is being drawn.
type Operand struct {
	*rand.Rand
	Rows, Cols int // a vector has one column
	Number     func(expression string) int
	Elem       reflect.Type
	Put        func(i, j int, x float64) // sets an element, or appends an entry of a sparse matrix
}

// Each draws the elements of a vector or matrix.
func (o *Operand) Each(x func(i, j int) float64) {
	for i := range o.Rows {
		for j := range o.Cols {
			o.Put(i, j, x(i, j))
		}
	}
}

// Normal returns a random number of a standard deviation of 1/2. It is not zero: what is
// added to zero comes back over floats too.
func (o *Operand) Normal() float64 {
	if o.Elem.Kind() == reflect.Complex128 {
		return 0.5 + o.Float64()
	}
	return o.NormFloat64() / 2
}

// Fill draws the operands of k.
func (p *Problem) Fill(k reflect.Value, ops []rev.Operand, rnd *rand.Rand, r, c int) {
	for name, value := range p.Fields {
		k.FieldByName(name).Set(reflect.ValueOf(value))
	}
	known := map[string]int{"r": r, "c": c}
	unnamed := []int{r, c}
	number := func(expression string) int {
		return value(expression, func(name string) int {
			if f := k.FieldByName(name); f.IsValid() && f.Kind() == reflect.Int {
				return int(f.Int())
			}
			if _, ok := known[name]; !ok {
				known[name] = 3
				if len(unnamed) > 0 {
					known[name], unnamed = unnamed[0], unnamed[1:]
				}
			}
			return known[name]
		})
	}
	values := make([]int, len(p.Dims))
	for i, d := range p.Dims {
		values[i] = number(d[1])
	}
	for i, d := range p.Dims {
		if f := k.FieldByName(d[0]); f.IsValid() && f.Kind() == reflect.Int {
			f.SetInt(int64(values[i]))
		} else {
			known[d[0]] = values[i]
		}
	}
	for _, op := range ops {
		shape := op.Shape
		if field, rest, ok := strings.Cut(shape, "?"); ok {
			yes, no, _ := strings.Cut(rest, ":")
			if shape = no; k.FieldByName(strings.TrimSpace(field)).Bool() {
				shape = yes
			}
		}
		o := &Operand{Rand: rnd, Rows: 1, Cols: 1, Elem: op.Elem, Number: number}
		for axis, expression := range split(shape) {
			*[...]*int{&o.Rows, &o.Cols}[axis] = number(expression)
		}
		f := k.Field(op.Field)
		o.allocate(f, op.Kind)
		switch draw := p.Draws[op.Name]; {
		case draw != nil:
			draw(o)
		case op.Role == rev.Index:
			f.SetZero() // an operand that may be absent
		case op.Kind == rev.Sparse:
			for i := range o.Rows {
				for range min(2, o.Cols) {
					o.Put(i, rnd.IntN(o.Cols), o.Normal())
				}
			}
		default:
			o.Each(func(_, _ int) float64 { return o.Normal() })
		}
	}
	if p.Adjust != nil {
		p.Adjust(k)
	}
}

// allocate makes f an operand of zeros, or a sparse matrix without entries.
func (o *Operand) allocate(f reflect.Value, kind rev.Kind) {
	if kind == rev.Sparse {
		header := func(field string, v any) { Field(f, field).Set(reflect.ValueOf(v)) }
		ptr := make([]int, o.Rows+1)
		header("Rows", o.Rows)
		header("Cols", o.Cols)
		header("Ptr", ptr)
		o.Put = func(i, j int, x float64) {
			ind, data := Field(f, "Ind"), Field(f, "Data")
			ind.Set(reflect.Append(ind, reflect.ValueOf(j)))
			data.Set(reflect.Append(data, reflect.Zero(o.Elem)))
			o.set(data.Index(data.Len()-1), x)
			for row := i + 1; row < len(ptr); row++ {
				ptr[row] = data.Len()
			}
		}
		return
	}
	n := o.Rows * o.Cols
	data := reflect.MakeSlice(reflect.SliceOf(o.Elem), n, n)
	View(f, kind, data, o.Rows, o.Cols, max(1, o.Cols))
	o.Put = func(i, j int, x float64) { o.set(data.Index(i*o.Cols+j), x) }
}

// View makes f, an operand of the given kind, a view of data. A sparse matrix keeps its
// structure. stride separates rows, or the elements of a vector.
func View(f reflect.Value, kind rev.Kind, data reflect.Value, rows, cols, stride int) {
	header := func(field string, n int) { Field(f, field).SetInt(int64(n)) }
	switch kind {
	case rev.Scalar:
		f.Set(data.Index(0).Addr())
		return
	case rev.Slice:
		f.Set(data.Convert(f.Type()))
		return
	case rev.Vec:
		header("N", rows)
		header("Inc", stride)
	case rev.Gen:
		header("Rows", rows)
		header("Cols", cols)
		header("Stride", stride)
	}
	Field(f, "Data").Set(data)
}

// indices has the indices of the fields of types, by their names.
var indices bytype.Map[map[string]int]

// Field returns the field of v, a vector or matrix, with a name. A search by reflection would
// take longer than the rest of View.
func Field(v reflect.Value, name string) reflect.Value {
	t := v.Type()
	at := indices.Load(t)
	if at == nil {
		at = &map[string]int{}
		for i := range t.NumField() {
			(*at)[t.Field(i).Name] = i
		}
		at = indices.LoadOrStore(t, at)
	}
	i, ok := (*at)[name]
	if !ok {
		panic("draw: " + t.String() + " has no field " + name)
	}
	return v.Field(i)
}

// set sets v to x.
func (o *Operand) set(v reflect.Value, x float64) {
	switch {
	case v.CanFloat():
		v.SetFloat(x)
	case v.CanComplex():
		v.SetComplex(complex(x, o.NormFloat64()))
	case o.Elem == reflect.TypeFor[fixed.Q43]():
		v.SetInt(int64(fixed.FromFloat64(x)))
	default:
		v.SetInt(int64(x))
	}
}

// split returns the dimensions of a shape, which commas separate outside of parentheses.
func split(shape string) []string {
	depth, list := 0, []string(nil)
	for from, i := 0, 0; i <= len(shape) && shape != ""; i++ {
		switch {
		case i == len(shape) || shape[i] == ',' && depth == 0:
			list, from = append(list, shape[from:i]), i+1
		case shape[i] == '(':
			depth++
		case shape[i] == ')':
			depth--
		}
	}
	return list
}

// value returns the value of an expression of a shape tag, by the values of names.
func value(expression string, of func(name string) int) int {
	e, err := parser.ParseExpr(expression)
	if err != nil {
		panic(err)
	}
	var eval func(e ast.Expr) int
	eval = func(e ast.Expr) int {
		switch e := e.(type) {
		case *ast.BasicLit:
			n, _ := strconv.Atoi(e.Value)
			return n
		case *ast.Ident:
			return of(e.Name)
		case *ast.ParenExpr:
			return eval(e.X)
		case *ast.CallExpr:
			x, y := eval(e.Args[0]), eval(e.Args[1])
			if e.Fun.(*ast.Ident).Name == "min" {
				return min(x, y)
			}
			return max(x, y)
		case *ast.BinaryExpr:
			x, y := eval(e.X), eval(e.Y)
			switch e.Op {
			case token.ADD:
				return x + y
			case token.SUB:
				return x - y
			case token.MUL:
				return x * y
			case token.QUO:
				return x / y
			}
		}
		panic("draw: " + expression + " is no expression of a shape")
	}
	return eval(e)
}
