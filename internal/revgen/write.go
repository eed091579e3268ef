package revgen

import (
	"bytes"
	"fmt"
	"go/format"
	"go/token"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/num"
)

// A writer writes kernels as Go.
type writer struct {
	bytes.Buffer
	k      *kernel
	elem   string            // float64, or T
	typ    string            // of the kernel, with its type parameter
	scopes []map[string]bool // names in use, in the blocks around
	names  map[*local]string
	slices map[string]*local // what stands for the elements of operands
	guards bool              // whether acc operands may be nil here
}

func (w *writer) printf(f string, args ...any) { fmt.Fprintf(w, f, args...) }

// A pass is a private method of a kernel, which makes one pass.
type pass struct {
	name, doc, args string
	body            []*stmt
}

// passes returns the passes of a kernel. For one that accumulates, they run forward
// and back by their sign.
func (k *kernel) passes() []pass {
	f := named(k.body)
	if k.accumulates() {
		back := named(reversed(f, true, true))
		return []pass{
			{"value", "adds the value, times sign.", "", k.body},
			{"adjoint", "does that, and adds to the cotangents g.", "g", back},
			{"tangent", "adds the value and its tangent, times sign.", "t", tangents(f)},
			{"adjointTangent", "does that, and adds to the cotangents g and to their tangents gt.", "g, t, gt", tangents(back)},
		}
	}
	inverse := alive(fresh(reversed(k.body, false, false), nil))
	back := named(reversed(f, true, false))
	ps := []pass{
		{"forward", "runs " + k.source + ".", "", k.body},
		{"inverse", "undoes forward.", "", inverse},
		{"adjoint", "undoes forward, and turns the cotangents g into those before it.", "g", back},
		{"tangent", "runs forward, with the tangents t.", "t", tangents(f)},
		{"adjointTangent", "is the tangent of adjoint, and undoes tangent.", "g, t, gt", tangents(back)},
	}
	if contains(inverse, func(s *stmt) bool { return s.op == "push" || s.op == "kernel" }) {
		return ps
	}
	f = named(inverse)
	back = named(reversed(f, true, false))
	return append(ps,
		pass{"undoAdjoint", "undoes adjoint.", "g", back},
		pass{"undoTangent", "undoes tangent.", "t", tangents(f)},
		pass{"undoAdjointTangent", "undoes adjointTangent.", "g, t, gt", tangents(back)})
}

var (
	goTypes    = map[kind]string{number: "float64", integer: "int", boolean: "bool"}
	fieldTypes = []string{"*%s", "rev.Vector[%s]", "rev.General[%s]"}
	gonumTypes = []string{"*float64", "*mat.VecDense", "*mat.Dense"}
	views      = []string{"%s", "rev.ViewVec(%s)", "rev.ViewDense(%s)"}
)

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (w *writer) kernel(k *kernel) {
	w.k, w.elem, w.typ = k, "float64", k.name
	float := k.name
	if k.generic != "" {
		w.elem, w.typ, float = "T", k.name+"[T]", k.name+"[float64]"
	}
	w.printf("\n%stype %s%s struct {\n", k.doc, k.name, k.generic)
	var params, fields []string
	for _, p := range k.params {
		name, goType, view := "", "[]int", "%s"
		switch p := p.(type) {
		case *operand:
			name = p.name
			fieldType := "[]int"
			if !p.index {
				fieldType, goType, view = fmt.Sprintf(fieldTypes[p.rank], w.elem), gonumTypes[p.rank], views[p.rank]
			}
			tag := fmt.Sprintf("rev:%q", p.role())
			if p.shape != "" {
				tag += fmt.Sprintf(" shape:%q", p.shape)
			}
			w.printf("%s %s `%s`\n", title(name), fieldType, tag)
		case *local:
			name, goType = p.name, goTypes[p.kind]
			w.printf("%s %s\n", title(name), strings.Replace(goType, "float64", w.elem, 1))
		}
		params = append(params, name+" "+goType)
		fields = append(fields, title(name)+": "+fmt.Sprintf(view, name))
	}
	w.printf("}\n\n// New%s returns the kernel over gonum's types, sharing their storage.\n", k.name)
	w.printf("func New%s(%s) %s {\nreturn %s{%s}\n}\n", k.name, strings.Join(params, ", "), float, float, strings.Join(fields, ", "))
	w.printf("\nvar _ = %s // which %s is written from\n", k.source, k.name)
	w.methods()
	passes := k.passes()
	w.run(passes)
	if k.fallible {
		w.check()
	}
	for _, p := range passes {
		p.body = tidy(p.body)
		w.pass(p)
	}
}

// methods writes the methods that users call.
func (w *writer) methods() {
	for _, m := range []struct{ name, doc, args string }{
		{"Forward", "runs " + w.k.source + ".", ""},
		{"Inverse", "undoes Forward.", ""},
		{"Adjoint", "undoes Forward, and turns the cotangents g of the state after it into those of the state before.", "g"},
		{"Tangent", "runs Forward, and carries the tangents t along.", "t"},
		{"AdjointTangent", "is the tangent of Adjoint: it undoes Tangent, and gt gets the tangents of g.", "g, t, gt"},
	} {
		params, args := "", "&k"
		if m.args != "" {
			params = m.args + " " + w.typ
			args += ", &" + strings.ReplaceAll(m.args, ", ", ", &")
		}
		head := fmt.Sprintf("\n// %s %s\nfunc (k %s) %s(%s)", m.name, m.doc, w.typ, m.name, params)
		if w.k.fallible {
			w.printf("%s error { return k.Run(rev.%sPass(%s)) }\n", head, m.name, args)
		} else {
			w.printf("%s { _ = k.Run(rev.%sPass(%s)) }\n", head, m.name, args)
		}
	}
}

// run writes Run.
func (w *writer) run(passes []pass) {
	doc := "Run implements rev.Kernel. It returns no error."
	switch {
	case w.k.fallible:
		doc = "Run implements rev.Kernel. It returns the errors of " + w.k.source + "."
	case len(passes) == 5:
		doc = "Run implements rev.Kernel. What undoes Adjoint and Tangent is not there."
	}
	w.printf("\n// %s\nfunc (k %s) Run(p rev.Pass[%s]) error {\n", doc, w.typ, w.typ)
	if w.k.fallible {
		w.printf("if err := k.check(); err != nil {\nreturn err\n}\n")
	}
	call := func(pass, args string) string {
		if w.calls() {
			return "return k." + pass + "(" + args + ")\n"
		}
		return "k." + pass + "(" + args + ")\n"
	}
	if w.k.accumulates() {
		w.printf("switch sign := %s(p.Sign()); {\n", w.elem)
		w.printf("case p.Adjoint && p.Tangent:\n%s", call("adjointTangent", "sign, p.G, p.T, p.GT"))
		w.printf("case p.Adjoint:\n%s", call("adjoint", "sign, p.G"))
		w.printf("case p.Tangent:\n%s", call("tangent", "sign, p.T"))
		w.printf("default:\n%s}\n", call("value", "sign"))
	} else {
		undo := len(passes) > 5
		w.printf("switch {\n")
		if !undo {
			w.printf("case p.Adjoint && !p.Back, p.Tangent && !p.Adjoint && p.Back:\nreturn rev.ErrUnsupported\n")
		}
		w.printf("case p.Adjoint && p.Tangent && p.Back:\n%s", call("adjointTangent", "p.G, p.T, p.GT"))
		if undo {
			w.printf("case p.Adjoint && p.Tangent:\n%s", call("undoAdjointTangent", "p.G, p.T, p.GT"))
		}
		w.printf("case p.Adjoint && p.Back:\n%s", call("adjoint", "p.G"))
		if undo {
			w.printf("case p.Adjoint:\n%scase p.Tangent && p.Back:\n%s", call("undoAdjoint", "p.G"), call("undoTangent", "p.T"))
		}
		w.printf("case p.Tangent:\n%scase p.Back:\n%sdefault:\n%s}\n", call("tangent", "p.T"), call("inverse", ""), call("forward", ""))
	}
	if !w.calls() {
		w.printf("return nil\n")
	}
	w.printf("}\n")
}

// calls reports whether the function calls kernels, so that passes return errors.
func (w *writer) calls() bool {
	return contains(w.k.body, func(s *stmt) bool { return s.op == "kernel" })
}

// check writes the method that returns the errors of the function.
func (w *writer) check() {
	b := tidy(w.k.checks)
	w.scope()
	w.printf("\n// check returns the errors of %s.\nfunc (k %s) check() error {\n", w.k.source, w.typ)
	for _, x := range w.k.operands() {
		w.hoist(x, b)
	}
	w.block(b)
	w.printf("return nil\n}\n")
}

// scope begins a method.
func (w *writer) scope() {
	w.names, w.slices, w.scopes = map[*local]string{}, map[string]*local{}, []map[string]bool{{}}
	for name := range strings.FieldsSeq("k g t gt sign T fixed mat num rev int float64 len make max min new panic") {
		w.scopes[0][name] = true
	}
}

func (w *writer) pass(p pass) {
	k := w.k
	var params []string
	if k.accumulates() {
		params = append(params, "sign "+w.elem)
	}
	if p.args != "" {
		params = append(params, p.args+" "+w.typ)
	}
	w.scope()
	tapes, kept := taped(p.body)
	w.printf("\n// %s %s\n", p.name, p.doc)
	if len(tapes) > 0 {
		w.printf("//\n// Iterations need %s of those before. These numbers go on a tape, one for\n// each iteration: computing them again on the way back would take quadratic time.\n", kept)
	}
	result := ""
	if w.calls() {
		result = "error "
	}
	w.printf("func (k %s) %s(%s) %s{\n", w.typ, p.name, strings.Join(params, ", "), result)
	w.nils(p)
	for _, x := range k.operands() {
		w.hoist(x, p.body)
	}
	for _, t := range tapes {
		w.printf("%s := num.NewTape[%s]()\n", w.name(t), w.elem)
	}
	w.block(p.body)
	for _, t := range tapes {
		w.printf("%s.Free()\n", w.name(t))
	}
	if w.calls() {
		w.printf("return nil\n")
	}
	w.printf("}\n")
}

// taped returns the tapes of b and the names of what they keep.
func taped(b []*stmt) (tapes []*local, kept string) {
	var names []string
	each(b, func(s *stmt) {
		if s.op != "push" {
			return
		}
		if !slices.Contains(tapes, s.tape) {
			tapes = append(tapes, s.tape)
		}
		if s.v.of == nil && !slices.Contains(names, s.v.name) {
			names = append(names, s.v.name)
		}
	})
	return tapes, strings.Join(names, " and ")
}

// nils writes the statements of a pass for operands that are nil.
func (w *writer) nils(p pass) {
	var outputs []*operand
	for _, x := range w.k.operands() {
		if x.written {
			outputs = append(outputs, x)
		}
		for s := range strings.SplitSeq(p.args, ", ") {
			if x.role() == "inout" && s != "" {
				w.standIn(x, s+"."+title(x.name))
			}
		}
	}
	absent := func(in ...space) string {
		var nils []string
		for _, s := range in {
			for _, x := range outputs {
				nils = append(nils, w.base(x, s)+" == nil")
			}
		}
		return strings.Join(nils, " && ")
	}
	w.absentLengths(p, outputs)
	w.guards = true
	if !w.k.accumulates() {
		return
	}
	switch p.name {
	case "value":
		if len(outputs) == 1 && !w.calls() {
			w.printf("if %s {\nreturn\n}\n", absent(value))
			w.guards = false
		}
	case "adjoint":
		w.printf("if %s {\n%s}\n", absent(cotangent), w.instead("k.value(sign)"))
	case "adjointTangent":
		w.printf("if %s {\n%s}\n", absent(cotangent, cotangent|tangent), w.instead("k.tangent(sign, t)"))
	}
}

// instead returns statements that run another pass in place of this one.
func (w *writer) instead(pass string) string {
	if w.calls() {
		return "return " + pass + "\n"
	}
	return pass + "\nreturn\n"
}

// absentLengths writes the lengths of outputs that are nil. If no other operand
// determines them, they are the lengths of the derivatives.
func (w *writer) absentLengths(p pass, outputs []*operand) {
	for _, x := range outputs {
		for axis, name := range strings.Split(x.shape, ",") {
			told := slices.ContainsFunc(w.k.operands(), func(o *operand) bool {
				return o != x && slices.Contains(strings.Split(o.shape, ","), name)
			})
			if p.args == "" || x.role() != "acc" || x.rank == 0 || told || !token.IsIdentifier(name) {
				continue
			}
			f := "." + title(x.name) + []string{".N", ".Rows", ".Cols"}[x.rank-1+axis]
			from := strings.ReplaceAll(p.args, ",", f+",") + f
			if strings.Contains(from, ",") {
				from = "max(" + from + ")"
			}
			w.printf("if %s == nil {\nk%s = %s\n}\n", w.base(x, value), f, from)
		}
	}
}

// standIn writes zeros for nil cotangents or tangents f of an operand in place. Unlike
// other derivatives, these change during the pass.
func (w *writer) standIn(x *operand, f string) {
	k := "k." + title(x.name)
	switch x.rank {
	case 0:
		w.printf("if %s == nil {\n%s = new(%s)\n}\n", f, f, w.elem)
	case 1:
		w.printf("if %s.Data == nil {\n%s = rev.ViewSlice(make([]%s, %s.N))\n}\n", f, f, w.elem, k)
	case 2:
		w.printf("if %s.Data == nil {\n%s = rev.NewGeneral[%s](%s.Rows, %s.Cols, nil)\n}\n", f, f, w.elem, k, k)
	}
}

// hoist writes local names for the elements of x that b uses, except rows.
func (w *writer) hoist(x *operand, b []*stmt) {
	if x.rank != 1 {
		return
	}
	var used [4]bool
	each(b, func(s *stmt) {
		for _, e := range append(s.reads(), s.targets()...) {
			e.each(func(e *node) {
				if e.op == "elem" && e.x == x {
					used[e.in] = true
				}
			})
		}
	})
	var names, values []string
	for s, yes := range used {
		if yes {
			v := &local{name: spacePrefix[s] + x.name}
			w.slices[field(x, space(s))] = v
			names = append(names, w.name(v))
			if f := field(x, space(s)); x.index {
				values = append(values, f)
			} else {
				values = append(values, "num.Elements("+f+")")
			}
		}
	}
	if len(names) > 0 {
		w.printf("%s := %s\n", strings.Join(names, ", "), strings.Join(values, ", "))
	}
}

// field returns the field of an operand, and base what in it is nil if there is
// no operand.
func field(x *operand, s space) string {
	return []string{"k.", "g.", "t.", "gt."}[s] + title(x.name)
}

func (w *writer) base(x *operand, s space) string {
	if x.rank > 0 && !x.index {
		return field(x, s) + ".Data"
	}
	return field(x, s)
}

// name returns the name of v. It first gives v an unused name if it has none.
func (w *writer) name(v *local) string {
	if v.plain {
		return "k." + title(v.name)
	}
	if w.names[v] != "" {
		return w.names[v]
	}
	base := v.name
	if v.of != nil {
		base += v.of.name
		if n := w.names[v.of]; n != "" {
			base = v.name + n
		}
	}
	name := base
	taken := func(names map[string]bool) bool { return names[name] }
	for i := 1; slices.ContainsFunc(w.scopes, taken) || token.IsKeyword(name); i++ {
		name = fmt.Sprint(base, i)
	}
	w.scopes[len(w.scopes)-1][name] = true
	w.names[v] = name
	return name
}

// block writes statements, in one if where the same operand must not be nil.
func (w *writer) block(b []*stmt) {
	guard := ""
	for _, s := range b {
		if g := w.guard(s); g != guard {
			if guard != "" {
				w.printf("}\n")
			}
			if guard = g; g != "" {
				w.printf("if %s != nil {\n", g)
			}
		}
		w.stmt(s)
	}
	if guard != "" {
		w.printf("}\n")
	}
}

// guard returns what must not be nil for s to have an effect, or nothing.
func (w *writer) guard(s *stmt) string {
	x := s.to
	switch {
	case s.op != "add" || x.op != "elem" || x.x.role() == "inout" || x.in == value && !w.guards:
		return ""
	case x.x.rank == 0:
		return w.base(x.x, x.in)
	}
	return w.data(x)
}

func (w *writer) inside(b []*stmt) {
	w.scopes = append(w.scopes, map[string]bool{})
	w.block(b)
	w.scopes = w.scopes[:len(w.scopes)-1]
}

func (w *writer) stmt(s *stmt) {
	switch s.op {
	case "def":
		e := w.expr(s.e, 0)
		v := w.name(s.v)
		switch {
		case s.e.is(zero):
			w.printf("var %s %s\n", v, w.elem)
		case s.e.is(none):
			w.printf("var %s int\n", v)
		case s.e.op == "lit" && s.e.kind == number && w.k.constraint != "rev.Real":
			w.printf("var %s %s = %s\n", v, w.elem, e)
		default:
			w.printf("%s := %s\n", v, e)
		}
	case "row":
		row := "num.Row(" + field(s.x, s.in) + ", " + w.expr(s.e, 0) + ")"
		_, cols, _ := strings.Cut(s.x.shape, ",")
		if _, err := strconv.Atoi(cols); err == nil && (s.in == value && s.x.role() == "in" || s.x.role() == "inout") {
			row += "[:" + cols + "]" // so that indices need no check
		}
		w.printf("%s := %s\n", w.name(s.v), row)
	case "set":
		w.printf("%s = %s\n", w.name(s.v), w.expr(s.e, 0))
	case "add":
		e := w.expr(s.e, 0)
		if to := s.to; to.op == "elem" && w.k.accumulates() && to.in&cotangent == 0 {
			e = w.elem + "(sign * " + w.expr(s.e, 6) + ")"
		}
		w.printf("%s %s= %s\n", w.place(s.to), map[bool]string{false: "+", true: "-"}[s.neg], e)
	case "swap":
		if x := w.place(s.to); s.with == nil {
			w.printf("%s = -%s\n", x, x)
		} else {
			w.printf("%s, %s = %s, %s\n", x, w.place(s.with), w.place(s.with), x)
		}
	case "loop":
		w.loop(s)
	case "cond":
		c, b := s.e, s.inner
		if len(b) == 0 {
			c, b = not(c), s.els
		}
		w.printf("if %s {\n", w.expr(c, 0))
		w.inside(b)
		if len(s.inner) > 0 && len(s.els) > 0 {
			w.printf("} else {\n")
			w.inside(s.els)
		}
		w.printf("}\n")
	case "kernel":
		w.library(s)
	case "fail":
		w.printf("return %s\n", s.text)
	case "push":
		w.printf("%s.Push(%s)\n", w.name(s.tape), w.name(s.v))
	case "pop":
		w.printf("%s = %s.Pop()\n", w.name(s.v), w.name(s.tape))
	}
}

func (w *writer) loop(s *stmt) {
	lo, end, outer := w.expr(s.lo, 0), "", w.scopes
	used := contains(s.inner, func(u *stmt) bool { return reads(u, s.v) > 0 }) || s.e != nil && s.e.has(func(e *node) bool { return e.v == s.v })
	hi, last, next := "", "", false // hi is last+1 if next is true
	if s.hi != nil {
		hi, last = w.expr(s.hi, 0), w.expr(s.hi, 4)+" - 1"
		if next = s.hi.op == "+" && s.hi.args[1].text == "1"; next {
			last = w.expr(s.hi.args[0], 0)
		}
	}
	if !s.keep && !s.again {
		w.scopes = append(w.scopes, map[string]bool{})
	}
	v := ""
	if used || s.keep || s.again {
		v = w.name(s.v)
	}
	switch {
	case s.again:
		w.printf("for %s--; %s >= %s; %s-- {\n", v, v, lo, v)
	case s.keep:
		w.printf("%s := %s\nfor %s {\n", v, lo, w.expr(s.e, 0))
		end = v + "++\n"
	case s.e != nil && !used:
		w.printf("for %s {\n", w.expr(s.e, 0))
	case s.e != nil:
		w.printf("for %s := %s; %s; %s++ {\n", v, lo, w.expr(s.e, 0), v)
	case !used && lo == "0":
		w.printf("for range %s {\n", hi)
	case !used:
		w.printf("for range %s - %s {\n", hi, w.expr(s.lo, 5))
	case s.down:
		w.printf("for %s := %s; %s >= %s; %s-- {\n", v, last, v, lo, v)
	case lo == "0":
		w.printf("for %s := range %s {\n", v, hi)
	case next:
		w.printf("for %s := %s; %s <= %s; %s++ {\n", v, lo, v, last, v)
	default:
		w.printf("for %s := %s; %s < %s; %s++ {\n", v, lo, v, hi, v)
	}
	w.inside(s.inner)
	w.printf("%s}\n", end)
	w.scopes = outer
}

// place returns the Go variable of a local or an element.
func (w *writer) place(e *node) string {
	switch {
	case e.op == "ref":
		return w.name(e.v)
	case e.x.rank == 0:
		return "*" + field(e.x, e.in)
	}
	return w.data(e) + "[" + w.offset(e) + "]"
}

// data returns the name of the slice that e is in, and offset where.
func (w *writer) data(e *node) string {
	if e.row != nil {
		return w.name(e.row)
	}
	return w.name(w.slices[field(e.x, e.in)])
}

func (w *writer) offset(e *node) string {
	if e.row != nil || e.x.index || e.args[0].is(none) {
		return w.expr(e.args[len(e.args)-1], 0)
	}
	return w.expr(e.args[0], 5) + "*" + field(e.x, e.in) + ".Inc"
}

// expr returns e as Go, in parentheses if its operator binds less than prec.
func (w *writer) expr(e *node, prec int) string {
	arg := func(i, prec int) string { return w.expr(e.args[i], prec) }
	real := e.kind == number && w.k.constraint == "rev.Real"
	var out string
	switch e.op {
	case "lit":
		if real && !e.is(zero) {
			return "fixed.Of[T](" + e.text + ")"
		}
		return e.text
	case "ref":
		return w.name(e.v)
	case "len":
		switch f := field(e.x, value); {
		case e.x.index:
			return "len(" + f + ")"
		case e.x.rank == 1:
			return f + ".N"
		default:
			return f + []string{".Rows", ".Cols"}[e.axis]
		}
	case "elem":
		switch {
		case e.in == value || e.x.role() == "inout":
			return w.place(e)
		case e.x.rank == 0:
			return "num.Deref(" + field(e.x, e.in) + ")"
		}
		return "num.At(" + w.data(e) + ", " + w.offset(e) + ")"
	case "neg":
		return "-" + arg(0, 6)
	case "!":
		return "!" + arg(0, 6)
	case "*":
		c := e.args[0]
		switch {
		case e.kind != number || c.op == "lit" && !strings.ContainsAny(c.text, ".e"):
			out = arg(0, 5)
			if c.op == "lit" {
				out = c.text
			}
			out += " * " + arg(1, 6)
		case real:
			return "fixed.Product(" + arg(0, 0) + ", " + arg(1, 0) + ")"
		default:
			return w.elem + "(" + arg(0, 5) + " * " + arg(1, 6) + ")"
		}
	case "over":
		return "num.Over(" + arg(0, 0) + ", " + arg(1, 0) + ")"
	default:
		if e.op[0] >= 'A' && e.op[0] <= 'Z' {
			return w.call(e)
		}
		if e.op == "/" && real {
			return "num.Quotient(" + arg(0, 0) + ", " + arg(1, 0) + ")"
		}
		p := precedence[e.op]
		out = arg(0, p) + " " + e.op + " " + arg(1, p+1)
	}
	if precedence[e.op] < prec {
		return "(" + out + ")"
	}
	return out
}

// call returns a call of a function of package num.
func (w *writer) call(e *node) string {
	var args []string
	for _, a := range e.args {
		s := w.expr(a, 0)
		if a.op == "lit" && s == a.text && a.kind == number {
			s = w.elem + "(" + s + ")" // of no type yet
		}
		args = append(args, s)
	}
	f := "num." + e.op
	if e.op == "Int" {
		f += "[" + w.elem + "]"
	}
	return f + "(" + strings.Join(args, ", ") + ")"
}

var precedence = map[string]int{"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}

// imports are the packages that written code may import, in the order of gofmt.
var imports = []string{
	"gonum.org/v1/gonum/mat", "",
	reflect.TypeFor[fixed.Q43]().PkgPath(),
	reflect.TypeFor[rev.Role]().PkgPath(),
	reflect.TypeFor[num.Tape[float64]]().PkgPath(),
}

// write returns a file with kernels.
func write(pkg, source string, kernels []*kernel) ([]byte, error) {
	var w writer
	for _, k := range kernels {
		w.kernel(k)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by revgen from %s. DO NOT EDIT.\n\npackage %s\n\nimport (\n", source, pkg)
	paths := slices.Clone(imports)
	for _, k := range kernels {
		each(k.body, func(s *stmt) {
			if s.op == "kernel" && !slices.Contains(paths, s.callee.pkg) {
				paths = append(paths, s.callee.pkg)
			}
		})
	}
	slices.Sort(paths[2:])
	for _, name := range paths {
		if name == "" {
			b.WriteString("\n")
		} else if bytes.Contains(w.Bytes(), []byte(path.Base(name)+".")) {
			fmt.Fprintf(&b, "%q\n", name)
		}
	}
	b.WriteString(")\n")
	b.Write(w.Bytes())
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: what was written is not Go, which is a bug of revgen: %w", source, err)
	}
	return text, nil
}
