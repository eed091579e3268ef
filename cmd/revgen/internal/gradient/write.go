package gradient

import (
	"bytes"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// exactFloat returns a constant as text that has its value.
func exactFloat(v constant.Value) string {
	f, _ := constant.Float64Val(constant.ToFloat(v))
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// A writer writes statements in Go.
type writer struct {
	bytes.Buffer
	pkg     *types.Package
	imports *imports
	tapes   map[string]string    // their types
	short   map[string]bool      // tapes that are slices
	until   map[*loopInfo]string // the tapes which are empty when loops that go back end
	used    map[*variable]bool
}

func (w *writer) typ(t types.Type) string {
	return types.TypeString(written(t), func(p *types.Package) string {
		if p == w.pkg {
			return ""
		}
		return w.imports.name(p.Path(), p.Name())
	})
}

// written returns a type as it is written, with what stands for types that a function declares. outer are
// those around t.
func written(t types.Type, outer ...types.Type) types.Type {
	var name *types.TypeName
	switch u := t.(type) {
	case *types.Alias:
		name = u.Obj()
	case *types.Named:
		name = u.Obj()
	}
	if isLocal(name) {
		if slices.Contains(outer, t) {
			panic(Refusal{Msg: "type " + name.Name() + " contains itself: declare it outside of the function"})
		}
		outer = append(slices.Clone(outer), t)
		if t == types.Unalias(t) {
			t = t.Underlying()
		}
		return written(types.Unalias(t), outer...)
	}
	return remade(t, func(t types.Type) types.Type { return written(t, outer...) })
}

// isLocal reports whether a function declares a type.
func isLocal(t *types.TypeName) bool {
	return t != nil && t.Pkg() != nil && t.Parent() != nil && t.Parent() != t.Pkg().Scope()
}

// remade returns a type with others in the places of its parts, and t itself if they are the same.
func remade(t types.Type, part func(types.Type) types.Type) types.Type {
	switch u := t.(type) {
	case *types.Alias:
		if changed(u.TypeArgs(), part) {
			return remade(types.Unalias(t), part)
		}
	case *types.Named:
		if !changed(u.TypeArgs(), part) {
			break
		}
		var args []types.Type
		for a := range u.TypeArgs().Types() {
			args = append(args, part(a))
		}
		out, err := types.Instantiate(nil, u.Origin(), args, true)
		if err != nil {
			panic(Refusal{Msg: err.Error() + ": declare the type outside of the function"})
		}
		return out
	case *types.Slice:
		if e := part(u.Elem()); e != u.Elem() {
			return types.NewSlice(e)
		}
	case *types.Array:
		if e := part(u.Elem()); e != u.Elem() {
			return types.NewArray(e, u.Len())
		}
	case *types.Pointer:
		if e := part(u.Elem()); e != u.Elem() {
			return types.NewPointer(e)
		}
	case *types.Struct:
		var fields []*types.Var
		var tags []string
		same := true
		for i := range u.NumFields() {
			f := u.Field(i)
			of := part(f.Type())
			same = same && of == f.Type()
			fields = append(fields, types.NewField(f.Pos(), f.Pkg(), f.Name(), of, f.Embedded() && of == f.Type()))
			tags = append(tags, u.Tag(i))
		}
		if !same {
			return types.NewStruct(fields, tags)
		}
	}
	return t
}

// changed reports whether part returns another type for any of args.
func changed(args *types.TypeList, part func(types.Type) types.Type) bool {
	for a := range args.Types() {
		if part(a) != a {
			return true
		}
	}
	return false
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) list(list []stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *writer) stmt(s stmt) {
	switch s := s.(type) {
	case *assignment:
		w.assignment(s)
	case *swap:
		x, y := w.expr(s.x, 0), w.expr(s.y, 0)
		w.line("%s, %s = %s, %s", x, y, y, x)
	case *growth:
		if len(s.xs) == 1 && s.keep {
			x := w.expr(s.xs[0], 0)
			w.imports.add(numPath)
			w.line("%s = num.More(%s, %s)", x, x, w.expr(s.n, 0))
			return
		}
		if len(s.xs) == 1 {
			x, elem := w.expr(s.xs[0], 0), elemOf(s.xs[0].typeOf())
			zero := w.typ(elem) + "{}"
			if z := zeroOf(elem); z != nil {
				zero = w.expr(z, 0)
			}
			if isLit(s.n, "1") {
				w.line("%s = append(%s, %s)", x, x, zero)
			} else {
				w.line("%s = append(%s, make(%s, %s)...)", x, x, w.typ(s.xs[0].typeOf()), w.expr(s.n, 0))
			}
			return
		}
		var xs []string
		for _, x := range s.xs {
			xs = append(xs, "&"+w.expr(x, 7))
		}
		w.imports.add(numPath)
		w.line("num.Grow(%s, %s)", w.expr(s.n, 0), strings.Join(xs, ", "))
		if !s.keep {
			for _, x := range s.xs {
				x := w.expr(x, 7)
				w.line("clear(%s[len(%s)-%s:])", x, x, w.expr(s.n, 6))
			}
		}
	case *fold:
		x := w.expr(s.x, 0)
		if elem := elemOf(s.x.typeOf()); isAggregate(elem) {
			w.imports.add(numPath)
			w.line("%s = num.FoldBy(%s.Pop(), %s, func(old, now *%s) {", x, w.tape(s.slot, s.x.typeOf()), x, w.typ(elem))
			w.sumOf("old", "now", elem)
			w.line("})")
			return
		}
		if !isFloat(elemOf(s.x.typeOf())) { // slices share their elements
			w.line("%s = %s.Pop()", x, w.tape(s.slot, s.x.typeOf()))
			return
		}
		w.imports.add(numPath)
		w.line("%s = num.Fold(%s.Pop(), %s)", x, w.tape(s.slot, s.x.typeOf()), x)
	case *branch:
		w.line("if %s {", w.expr(s.cond, 0))
		w.list(s.then)
		for len(s.els) == 1 {
			e, ok := s.els[0].(*branch)
			if !ok {
				break
			}
			w.line("} else if %s {", w.expr(e.cond, 0))
			w.list(e.then)
			s = e
		}
		if len(s.els) > 0 {
			w.line("} else {")
			w.list(s.els)
		}
		w.line("}")
	case *ranged:
		w.line("for %s {", w.rangeClause(s))
		if s.mark != nil {
			w.line("%s := scratch.Mark()", s.mark.name)
		}
		w.list(s.body)
		if s.mark != nil {
			w.line("scratch.Release(%s)", s.mark.name)
		}
		w.line("}")
	case *while:
		cond, post := w.expr(s.cond, 0), ""
		if s.count != nil && w.until[s.info] == "" {
			post = s.count.name + "++"
		}
		switch {
		case post != "":
			w.line("for ; %s; %s {", cond, post)
		case cond == "true":
			w.line("for {")
		default:
			w.line("for %s {", cond)
		}
		w.list(s.body)
		w.line("}")
	case *effect:
		text := w.expr(s.call, 0)
		if c, ok := s.call.(*call); ok && c.fn == assertion {
			text = "_ = " + text
		}
		w.line("%s", text)
	case *sincos:
		w.imports.add("math")
		op := token.ASSIGN
		if s.define {
			op = token.DEFINE
		}
		w.line("%s, %s %s math.Sincos(%s)", s.sin.name, s.cos.name, op, w.expr(s.x, 0))
	case *returned:
		var values []string
		for _, e := range s.values {
			values = append(values, w.expr(e, 0))
		}
		w.line("return %s", strings.Join(values, ", "))
	case *kernel:
		w.kernel(s)
	case *product:
		w.imports.add(numPath)
		trans := func(t bool) string {
			if t {
				return "num.Trans"
			}
			return "num.NoTrans"
		}
		beta := "0"
		if s.adds {
			beta = "1"
		}
		w.line("num.Gemm(%s, %s, %s, %s, %s, %s)", trans(s.transA), trans(s.transB), w.expr(s.a, 0), w.expr(s.b, 0), beta, w.expr(s.c, 0))
	case *cleared:
		w.imports.add(numPath)
		w.line("num.ClearMatrix(%s)", w.expr(s.x, 0))
	case *reserve:
		name := "Extend"
		if s.last {
			name = "Take"
		}
		w.line("%s := %s.%s(%s)", s.v.name, w.tape(s.slot, elemOf(s.v.typ)), name, w.expr(s.n, 0))
	case *push:
		if s.whole {
			w.line("num.PushMatrix(%s, %s)", w.tape(s.slot, float), w.expr(s.x, 0))
			return
		}
		if tape := w.tape(s.slot, s.x.typeOf()); w.short[tape] {
			w.line("%s = %s.Push(%s, %s)", tape, spare(tape), tape, w.expr(s.x, 0))
		} else {
			w.line("%s.Push(%s)", tape, w.expr(s.x, 0))
		}
	case *pop:
		if s.whole {
			pop := "num.PopMatrix"
			if s.adds {
				pop = "num.PopAddMatrix"
			}
			w.line("%s(%s, %s)", pop, w.tape(s.slot, float), w.expr(s.x, 0))
			return
		}
		op := "="
		switch {
		case s.define:
			op = ":="
		case s.adds:
			op = "+="
		}
		if tape := w.tape(s.slot, s.x.typeOf()); w.short[tape] {
			w.line("%s %s %s[len(%s)-1]\n%s = %s[:len(%s)-1]", w.expr(s.x, 0), op, tape, tape, tape, tape, tape)
		} else {
			w.line("%s %s %s.Pop()", w.expr(s.x, 0), op, tape)
		}
	default:
		panic(fmt.Sprintf("statement %T", s))
	}
}

// sumOf writes statements that add y to x, in all numbers of a struct or an array.
func (w *writer) sumOf(x, y string, t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			w.exported(t, f.Name())
			w.sumOf(x+"."+f.Name(), y+"."+f.Name(), f.Type())
		}
	case *types.Array:
		for i := range int(u.Len()) {
			w.sumOf(fmt.Sprintf("%s[%d]", x, i), fmt.Sprintf("%s[%d]", y, i), u.Elem())
		}
	default:
		if isFloat(t) {
			w.line("%s += %s", x, y)
		}
	}
}

// exported refuses a field of another package's type that is not exported.
func (w *writer) exported(t types.Type, field string) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	if ok && !token.IsExported(field) && w.pkg != nil && n.Obj().Pkg() != nil && n.Obj().Pkg() != w.pkg {
		name := n.Obj().Pkg().Name() + "." + n.Obj().Name()
		panic(Refusal{Msg: fmt.Sprintf("what is written needs the field %s of %s, which is not exported: write %s and its methods in this package", field, name, name)})
	}
}

// isConstant reports whether e is made of constants alone.
func isConstant(e expr) bool {
	yes := true
	visit(e, func(e expr) {
		if c, ok := e.(*call); isPlace(e) || ok && c.fn != "" {
			yes = false
		}
	})
	return yes
}

// title returns a name with its first letter in upper case.
func title(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

// tape returns the name of the tape of a slot for values of a type.
func (w *writer) tape(s *slot, t types.Type) string {
	typ := w.typ(t)
	name := tapeName(typ)
	if s.level > 0 {
		name = "inner" + title(name)
	}
	if s.level > 1 {
		name += strconv.Itoa(s.level)
	}
	for w.tapes[name] != "" && w.tapes[name] != typ { // of a type with the same letters
		name += "Other"
	}
	w.tapes[name] = typ
	w.imports.add(numPath)
	return name
}

// program writes the statements of a function. A tape is short if it gets at most few numbers outside of loops, and one
// in each iteration of one loop whose length is not known, which then often ends soon.
func (w *writer) program(list []stmt) {
	counts := map[string]int{}
	const many = 2 * few
	var walk func(list []stmt, one int)
	walk = func(list []stmt, one int) { // one is how many a push counts as
		for _, s := range list {
			switch s := s.(type) {
			case *push:
				if s.whole {
					counts[w.tape(s.slot, float)] += many
				} else {
					counts[w.tape(s.slot, s.x.typeOf())] += one
				}
			case *reserve:
				counts[w.tape(s.slot, elemOf(s.v.typ))] += many
			case *branch:
				walk(s.then, one)
				walk(s.els, one)
			case *ranged:
				walk(s.body, many)
			case *while:
				if one == 1 {
					walk(s.body, few)
				} else {
					walk(s.body, many)
				}
			}
		}
	}
	walk(list, 1)
	var free []string
	for _, tape := range slices.Sorted(maps.Keys(counts)) {
		if isNumber(w.tapes[tape]) && counts[tape] < many {
			w.short[tape] = true
			free = append(free, spare(tape)+".Free()")
		}
	}
	list = w.uncounted(list, counts)
	n := len(list)
	if n > 0 {
		if _, ok := list[n-1].(*returned); ok {
			n--
		}
	}
	w.list(list[:n])
	for _, call := range free {
		w.line("%s", call)
	}
	w.list(list[n:])
}

// uncounted returns statements without the numbers of iterations of loops that put one number in each on a short tape,
// on which there is nothing else. Loops that go back end with the tape.
func (w *writer) uncounted(list []stmt, counts map[string]int) []stmt {
	gone := map[*variable]bool{}
	for _, s := range list {
		loop, ok := s.(*while)
		if !ok || loop.count == nil || mentionsOf(list, loop.count) != 2 || !goesBack(list, loop) { // its definition, and the loop that goes back
			continue
		}
		for _, s := range loop.body {
			if p, ok := s.(*push); ok && !p.whole {
				if tape := w.tape(p.slot, p.x.typeOf()); w.short[tape] && counts[tape] == few {
					w.until[loop.info], gone[loop.count] = tape, true
				}
			}
		}
	}
	return spliced(list, func(s stmt) ([]stmt, bool) {
		if r, ok := s.(*ranged); ok && w.until[r.info] != "" && !gone[root(r.hi)] {
			delete(w.until, r.info)
		}
		a, ok := s.(*assignment)
		return nil, ok && a.define && gone[root(a.l)]
	})
}

// goesBack reports whether a loop of list makes the iterations of another one backward. In the gradient of a written
// gradient, a loop that does so in the latter is one like others.
func goesBack(list []stmt, loop *while) (yes bool) {
	each(list, func(s stmt) {
		r, ok := s.(*ranged)
		yes = yes || ok && r.info == loop.info && root(r.hi) == loop.count
	})
	return yes
}

// spare returns the name of the memory of a tape.
func spare(tape string) string { return tape + "Spare" }

// isTape reports whether a name may be that of a tape or of its memory.
func isTape(name string) bool {
	name = strings.TrimSuffix(name, "Spare")
	for strings.HasSuffix(name, "Other") {
		name = strings.TrimSuffix(name, "Other")
	}
	name = strings.TrimRight(name, "0123456789")
	return name == "tape" || strings.HasSuffix(name, "Tape")
}

// isNumber reports whether the memory of values of a type has no pointers to others.
func isNumber(t string) bool {
	return slices.Contains([]string{"float64", "float32", "int", "bool"}, t)
}

// tapeName returns the name of the tape for values of a type.
func tapeName(t string) string {
	if t == "float64" {
		return "tape"
	}
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, t)
	if unicode.IsDigit(rune(name[0])) { // an array
		name = "a" + name
	}
	return strings.ToLower(name[:1]) + name[1:] + strings.Repeat("s", strings.Count(t, "[]")) + "Tape"
}

func (w *writer) assignment(s *assignment) {
	l := w.expr(s.l, 0)
	t := s.l.typeOf()
	switch {
	case s.define && s.r == nil:
		if isFloat(t) && types.Identical(t, float) {
			w.line("%s := 0.0", l)
			return
		}
		w.line("var %s %s", l, w.typ(t))
	case s.define:
		r := w.expr(s.r, 0)
		if c, ok := s.r.(*call); ok && c.fn == assertion { // it is wrong only where it is used
			l += ", _"
		}
		c, ok := s.r.(*literal)
		if ok && (c.text == "nil" || isMatrix(t)) {
			w.line("var %s %s", l, w.typ(t))
			return
		}
		if isConstant(s.r) {
			switch {
			case types.Identical(t, float):
				r = w.expr(rewritten(s.r, ofFloat), 0)
			case ok && !types.Identical(t, integer) && !isBoolean(t):
				r = w.typ(t) + "(" + r + ")"
			}
		}
		w.line("%s := %s", l, r)
	case s.op == token.ASSIGN:
		w.line("%s = %s", l, w.expr(s.r, 0))
	case isLit(s.r, "1") && isInteger(t):
		w.line("%s%s", l, map[token.Token]string{token.ADD_ASSIGN: "++", token.SUB_ASSIGN: "--"}[s.op])
	default:
		w.line("%s %s %s", l, s.op, w.expr(s.r, 0))
	}
}

// ofFloat returns a constant, but one without a type as a float64.
func ofFloat(e expr) expr {
	c, ok := e.(*literal)
	if !ok || strings.ContainsAny(c.text, ".eExXp") {
		return e
	}
	if _, err := strconv.Atoi(c.text); err == nil {
		return &literal{c.text + ".0", c.typ}
	}
	return &literal{"float64(" + c.text + ")", c.typ}
}

func (w *writer) rangeClause(s *ranged) string {
	if tape := w.until[s.info]; tape != "" {
		return "len(" + tape + ") > 0"
	}
	v, lo, hi := s.v.name, w.expr(s.lo, 0), w.expr(s.hi, 0)
	init := lo
	if c, ok := s.lo.(*literal); ok && !types.Identical(s.v.typ, integer) {
		init = w.typ(s.v.typ) + "(" + c.text + ")"
	}
	to := hi
	if _, ok := s.hi.(*literal); ok && !types.Identical(s.v.typ, integer) {
		to = w.typ(s.v.typ) + "(" + hi + ")"
	}
	used := map[*variable]bool{}
	reading(s.body, used)
	switch {
	case s.step == 1 && isLit(s.lo, "0"):
		if !used[s.v] {
			return "range " + hi
		}
		if c, ok := s.hi.(*call); ok && c.fn == "len" {
			return fmt.Sprintf("%s := range %s", v, w.expr(c.args[0], 0))
		}
		return fmt.Sprintf("%s := range %s", v, to)
	case s.step == 1:
		return fmt.Sprintf("%s := %s; %s < %s; %s++", v, init, v, hi, v)
	case s.step == -1:
		return fmt.Sprintf("%s := %s; %s >= %s; %s--", v, init, v, hi, v)
	case s.step > 0:
		return fmt.Sprintf("%s := %s; %s < %s; %s += %d", v, init, v, hi, v, s.step)
	}
	return fmt.Sprintf("%s := %s; %s >= %s; %s -= %d", v, init, v, hi, v, -s.step)
}

// expr returns an expression, in brackets if an operator of the given precedence needs them.
func (w *writer) expr(e expr, above int) string {
	switch e := e.(type) {
	case *literal:
		if above > 0 && (strings.HasPrefix(e.text, "-") || strings.ContainsAny(e.text, " ")) {
			return "(" + e.text + ")"
		}
		return e.text
	case *reference:
		if w.used != nil {
			w.used[e.v] = true
		}
		return e.v.name
	case *element:
		if v, ok := e.x.(*view); ok && v.fn == "num.Row" {
			w.imports.add(numPath)
			m := w.expr(v.x, 7)
			return m + ".Data[num.Entry(" + m + ", " + w.expr(v.args[0], 0) + ", " + w.expr(e.i, 0) + ")]"
		}
		return w.expr(e.x, 7) + "[" + w.expr(e.i, 0) + "]"
	case *field:
		w.exported(e.x.typeOf(), e.name)
		return w.expr(e.x, 7) + "." + e.name
	case *target:
		if above > 6 {
			return "(*" + w.expr(e.x, 7) + ")"
		}
		return "*" + w.expr(e.x, 7)
	case *unary:
		return e.op.String() + w.expr(e.x, 6)
	case *binary:
		p := e.op.Precedence()
		if e.op == token.QUO && isFloat(e.typ) && isConstant(e) {
			// Constants of integer text would be divided as integers.
			s := w.typ(e.typ) + "(" + w.expr(e.x, 0) + ") / " + w.expr(e.y, p+1)
			if p < above {
				s = "(" + s + ")"
			}
			return s
		}
		s := w.expr(e.x, p) + " " + e.op.String() + " " + w.expr(e.y, p+1)
		if p < above {
			return "(" + s + ")"
		}
		return s
	case *comparison:
		return fmt.Sprintf("func(%s, %s int) bool { return %s }", e.i.name, e.j.name, w.expr(e.before, 0))
	case *part:
		s := w.expr(e.x, 7) + "["
		if e.lo != nil {
			s += w.expr(e.lo, 0)
		}
		s += ":"
		if e.hi != nil {
			s += w.expr(e.hi, 0)
		}
		if _, isSlice := e.x.typeOf().Underlying().(*types.Slice); e.bounded && isSlice {
			s += ":len(" + w.expr(e.x, 0) + ")"
		}
		return s + "]"
	case *view:
		w.imports.add(numPath)
		x := w.expr(e.x, 0)
		if t := e.x.typeOf(); isGonum(t) && !isPointer(t) {
			x = "&" + x
		}
		if e.fn == "num.Shaped" {
			return e.fn + "(" + w.expr(e.args[0], 0) + ", " + w.expr(e.args[1], 0) + ", " + x + ")"
		}
		for _, a := range e.args {
			x += ", " + w.expr(a, 0)
		}
		return e.fn + "(" + x + ")"
	case *call:
		switch e.fn {
		case "rows":
			return w.expr(e.args[0], 7) + ".Rows"
		case "cols":
			return w.expr(e.args[0], 7) + ".Cols"
		case "stride":
			return w.expr(e.args[0], 7) + ".Stride"
		}
		var args []string
		for _, a := range e.args {
			args = append(args, w.expr(a, 0))
		}
		if e.path != "" {
			name, _, _ := strings.Cut(e.fn, ".")
			w.imports.name(e.path, name)
		}
		if e.fn == "make" {
			if isMatrix(e.typ) {
				w.imports.add(numPath)
				w.tapes["scratch"] = ""
				return "scratch.MakeMatrix(" + args[0] + ", " + args[1] + ")"
			}
			if s := e.typ.Underlying().(*types.Slice); isFloat(s.Elem()) && types.Identical(s.Elem(), float) {
				w.imports.add(numPath)
				w.tapes["scratch"] = ""
				if len(args) > 1 { // and the length
					return "scratch.Make(" + args[1] + ")[:" + args[0] + "]"
				}
				return "scratch.Make(" + args[0] + ")"
			}
			return "make(" + w.typ(e.typ) + ", " + strings.Join(args, ", ") + ")"
		}
		fn := e.fn
		if fn == assertion {
			return w.expr(e.args[0], 7) + ".(" + w.typ(e.typ) + ")"
		}
		if strings.Contains(fn, "%s.") { // of a lock
			return fmt.Sprintf(fn, w.expr(e.args[0], 7)) + "()"
		}
		switch hidden := w.pkg != nil && w.pkg.Scope().Lookup(fn) != nil; {
		case fn == conversion:
			fn = w.typ(e.typ)
		case (fn == "max" || fn == "min") && hidden && types.Identical(e.typ, float):
			w.imports.add("math")
			fn = "math." + title(fn)
		case (fn == "max" || fn == "min") && hidden:
			return w.imports.name("slices", "slices") + "." + title(fn) + "([]" + w.typ(e.typ) + "{" + strings.Join(args, ", ") + "})"
		}
		if strings.HasPrefix(fn, "[") || strings.HasPrefix(fn, "*") {
			fn = "(" + fn + ")"
		}
		return fn + "(" + strings.Join(args, ", ") + ")"
	case *invocation:
		name, args := e.name, e.args
		if e.decl.Recv != nil {
			x := args[0]
			if u, ok := x.(*unary); ok && u.op == token.AND {
				x = u.x
			}
			name, args = w.expr(x, 7)+"."+name, args[1:]
		}
		var texts []string
		for _, x := range args {
			texts = append(texts, w.expr(x, 0))
		}
		return name + "(" + strings.Join(texts, ", ") + ")"
	}
	panic(fmt.Sprintf("expression %T", e))
}
