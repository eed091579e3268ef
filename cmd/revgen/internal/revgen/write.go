package revgen

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"revnum/cmd/revgen/internal/passes"
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
	dims   []dimension       // those in the shape tags
	over   map[*local]string // the dimension that the variable of a loop runs over
	sure   []bool            // by space: whether the only output is not nil here
	pass   pass              // being written
	part   *stmt             // the loop of which a part is being written
	there  *stmt             // of the kind given, around
	types  map[string]bool   // of the parts of loops
	after  string            // what goes after the pass
	was    *local            // copies of what changes before a call that may fail, or nil
	tapes  []*local          // of the pass
	err    string            // the error of a call
	wrong  error             // a bug
}

// A dimension is a name in shape tags.
type dimension struct {
	name, from string // from is the field that has it
	v          *local
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
	ps := k.allPasses()
	if !k.second() {
		ps = slices.DeleteFunc(ps, func(p pass) bool { return strings.HasSuffix(strings.ToLower(p.name), "adjointtangent") })
	}
	return ps
}

// second reports whether the kernels that k calls have derivatives of second order.
func (k *kernel) second() bool {
	return !contains(k.body, func(s *stmt) bool { return s.op == "kernel" && !s.callee.second })
}

// withExactSums returns b with exact sums, if k is over fixed point too.
func (k *kernel) withExactSums(b []*stmt) []*stmt {
	if k.exact {
		return withExactSums(b)
	}
	return b
}

func (k *kernel) allPasses() []pass {
	f := named(k.body)
	if k.accumulates() {
		back := k.withExactSums(named(k.reversed(f, true)))
		return []pass{
			{"value", "adds the value, times sign.", "", k.body},
			{"adjoint", "adds sign times the value, and the gradient times the cotangents of the outputs to g.", "g", back},
			{"tangent", "adds the value and its tangent, times sign.", "t", tangents(f)},
			{"adjointTangent", "is tangent, and adds to g and to its tangents gt.", "g, t, gt", tangents(back)},
		}
	}
	inverse := alive(fresh(k.reversed(k.body, false), nil))
	back := k.withExactSums(named(k.reversed(f, true)))
	ps := []pass{
		{"forward", "runs " + k.source + ".", "", k.body},
		{"inverse", "is the inverse of forward.", "", inverse},
		{"adjoint", "inverts forward, and turns the cotangents g into those before it.", "g", back},
		{"tangent", "runs forward, with the tangents t.", "t", tangents(f)},
		{"adjointTangent", "is the tangent of adjoint, and inverts tangent.", "g, t, gt", tangents(back)},
	}
	ahead := k.withExactSums(named(k.undone(f)))
	return append(ps,
		pass{"undoAdjoint", "is the inverse of adjoint.", "g", ahead},
		pass{"undoTangent", "is the inverse of tangent.", "t", tangents(named(inverse))},
		pass{"undoAdjointTangent", "is the inverse of adjointTangent.", "g, t, gt", tangents(ahead)})
}

var (
	goTypes    = map[kind]string{number: "float64", integer: "int", boolean: "bool"}
	fieldTypes = []string{"*%s", "rev.Vector[%s]", "rev.General[%s]"}
	gonumTypes = []string{"*float64", "*mat.VecDense", "*mat.Dense"}
	views      = []string{"%s", "rev.ViewVec(%s)", "rev.ViewDense(%s)"}

	complexTypes = []string{"*complex128", "[]complex128", "*mat.CDense"} // gonum has no vector
	complexViews = []string{"%s", "rev.ViewSlice(%s)", "rev.ViewCDense(%s)"}
)

// title returns the name of the field for a parameter.
func title(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

func (w *writer) kernel(k *kernel) {
	w.k, w.elem, w.typ = k, "float64", k.name
	gonum, view := gonumTypes, views
	if k.complex {
		w.elem, gonum, view = "complex128", complexTypes, complexViews
	}
	float := k.name
	if k.generic != "" {
		w.elem, w.typ, float = "T", k.name+"[T]", k.name+"[float64]"
	}
	w.printf("\n%stype %s%s struct {\n", k.doc, k.name, k.generic)
	var params, fields, added, changed []string
	for _, p := range k.params {
		name, goType, viewed := "", "[]int", "%s"
		switch p := p.(type) {
		case *operand:
			name = p.name
			fieldType := "[]int"
			if !p.index {
				fieldType, goType, viewed = fmt.Sprintf(fieldTypes[p.rank], w.elem), gonum[p.rank], view[p.rank]
			}
			tag := fmt.Sprintf("rev:%q", p.role())
			if p.shape != "" {
				tag += fmt.Sprintf(" shape:%q", p.shape)
			}
			w.printf("%s %s `%s`\n", title(name), fieldType, tag)
		case *local:
			name, goType = p.name, goTypes[p.kind]
			if k.complex && p.kind == number {
				goType = "complex128"
			}
			w.printf("%s %s\n", title(name), goType)
		}
		field := title(name)
		if types.Universe.Lookup(name) != nil || name == "mat" || name == "rev" {
			name = field // which no other parameter has: what is written needs the name itself
		}
		if n := len(params); n > 0 && strings.HasSuffix(params[n-1], " "+goType) {
			params[n-1] = strings.TrimSuffix(params[n-1], " "+goType) // of the same type as the next
		}
		params = append(params, name+" "+goType)
		fields = append(fields, field+": "+fmt.Sprintf(viewed, name))
		if x, ok := p.(*operand); ok && x.role() == "acc" {
			added = append(added, name)
		} else if ok && x.role() == "inout" {
			changed = append(changed, name)
		}
	}
	if k.workers {
		w.printf("Workers int // 0 means GOMAXPROCS\n")
	}
	w.printf("}\n\n%s", passes.ConstructorComment(constructor(k.name), added, changed))
	w.printf("func %s(%s) %s {\nreturn %s{%s}\n}\n", constructor(k.name), strings.Join(params, ", "), float, float, strings.Join(fields, ", "))
	w.printf("\nvar _ = %s // which %s is written from\n", k.source, k.name)
	w.WriteString(passes.Methods(w.typ, passes.InPlace("runs "+k.source), k.fallible, k.second(), false, func(string) bool { return false }))
	k.exact = k.constraint == "rev.Real"
	k.body = k.withExactSums(k.body)
	passes := k.passes()
	w.run()
	if len(k.checks) > 0 {
		w.check()
	}
	for _, p := range passes {
		if p.body = simple(p.body); !k.complex {
			p.body = shortened(vectors(p.body, k.exact))
		}
		p.body = arranged(withNilTests(p.body))
		w.pass = p
		w.method(p)
		w.WriteString(w.after)
		w.after = ""
	}
}

// run writes Run.
func (w *writer) run() {
	doc := "Run implements rev.Kernel. It returns no error."
	switch {
	case w.k.fallible:
		doc = "Run implements rev.Kernel. It returns the errors of " + w.k.source + "."
	case !w.k.second():
		doc = "Run implements rev.Kernel. Its only error is rev.ErrUnsupported: a kernel that " + w.k.source + " calls has no\n// AdjointTangent."
	}
	w.printf("\n// %s\nfunc (k %s) Run(p rev.Pass[%s]) error {\n", doc, w.typ, w.typ)
	if !w.k.second() {
		w.printf("if p.Adjoint && p.Tangent {\nreturn rev.ErrUnsupported\n}\n")
	}
	unprepared, statements := w.preparation()
	if unprepared != "" {
		w.printf("if %s {\nreturn k.prepared(p)\n}\n", unprepared)
	}
	if len(w.k.checks) > 0 {
		w.printf("if err := k.check(); err != nil {\nreturn err\n}\n")
	}
	call := func(pass, args string) string {
		if w.callsKernels() {
			return "return k." + pass + "(" + args + ")\n"
		}
		return "k." + pass + "(" + args + ")\n"
	}
	if w.k.accumulates() {
		sign := w.elem + "(p.Sign())"
		if w.k.complex {
			sign = "complex(float64(p.Sign()), 0)"
		}
		w.printf("switch sign := %s; {\n", sign)
		if w.k.second() {
			w.printf("case p.Adjoint && p.Tangent:\n%s", call("adjointTangent", "sign, p.G, p.T, p.GT"))
		}
		w.printf("case p.Adjoint:\n%s", call("adjoint", "sign, p.G"))
		w.printf("case p.Tangent:\n%s", call("tangent", "sign, p.T"))
		w.printf("default:\n%s}\n", call("value", "sign"))
	} else {
		w.printf("switch {\n")
		if w.k.second() {
			w.printf("case p.Adjoint && p.Tangent && p.Back:\n%s", call("adjointTangent", "p.G, p.T, p.GT"))
			w.printf("case p.Adjoint && p.Tangent:\n%s", call("undoAdjointTangent", "p.G, p.T, p.GT"))
		}
		w.printf("case p.Adjoint && p.Back:\n%s", call("adjoint", "p.G"))
		w.printf("case p.Adjoint:\n%scase p.Tangent && p.Back:\n%s", call("undoAdjoint", "p.G"), call("undoTangent", "p.T"))
		w.printf("case p.Tangent:\n%scase p.Back:\n%sdefault:\n%s}\n", call("tangent", "p.T"), call("inverse", ""), call("forward", ""))
	}
	if !w.callsKernels() {
		w.printf("return nil\n")
	}
	w.printf("}\n")
	if unprepared == "" {
		return
	}
	w.printf("\n// prepared makes a pass with contiguous copies of vectors that are not contiguous")
	if !w.k.accumulates() {
		w.printf(",\n// and with zeros in place of nil for derivatives that change during the pass")
	}
	w.printf(".\nfunc (k %s) prepared(p rev.Pass[%s]) error {\ns := num.NewScratch[%s]()\n", w.typ, w.typ, w.elem)
	retrace := w.withoutTangents()
	if retrace == "" {
		w.printf("%serr := k.Run(p)\ns.Free()\nreturn err\n}\n", statements)
		return
	}
	w.printf("// Without tangents of what is in place, these are zero before the step.\nretrace := %s\n%s", retrace, statements)
	w.printf("var err error\nif retrace {\nerr = rev.Retrace(k, p)\n} else {\nerr = k.Run(p)\n}\ns.Free()\nreturn err\n}\n")
}

// withoutTangents returns the condition that a pass is AdjointTangent, and has tangents of
// operands that the function reads, but none of those that it changes. It returns nothing if
// there is no such pass.
func (w *writer) withoutTangents() string {
	if w.k.accumulates() || !w.k.second() {
		return ""
	}
	var absent, present []string
	for _, x := range w.k.operands() {
		f := "p.T." + title(x.name) + []string{"", ".Data", ".Data"}[x.rank]
		switch x.role() {
		case "inout":
			absent = append(absent, f+" == nil")
		case "in":
			present = append(present, f+" != nil")
		}
	}
	if len(present) == 0 {
		return ""
	}
	return fmt.Sprintf("p.Adjoint && p.Tangent && %s && (%s)", strings.Join(absent, " && "), strings.Join(present, " || "))
}

// preparation returns the condition under which operands are not as the passes need
// them, and the statements that make them so.
func (w *writer) preparation() (unprepared, statements string) {
	var strides, read, written, nils []string
	for s, pass := range []string{"", "p.Adjoint", "p.Tangent", "p.Adjoint && p.Tangent"} {
		var absent []string
		for _, x := range w.k.operands() {
			f, k := field(x, space(s)), field(x, value)
			if s > 0 {
				f = "p." + strings.ToUpper(f[:strings.IndexByte(f, '.')]) + f[strings.IndexByte(f, '.'):]
			}
			role := x.role()
			if x.rank == 1 && !x.index {
				strides = append(strides, f+".Inc")
				if role == "inout" || role == "acc" == (space(s)&cotangent == 0) {
					written = append(written, "&"+f)
				} else {
					read = append(read, "&"+f)
				}
			}
			if role != "inout" || s == 0 {
				continue
			}
			absent = append(absent, f+[]string{"", ".Data", ".Data"}[x.rank]+" == nil")
			nils = append(nils, []string{fmt.Sprintf("s.Number(&%s)", f), fmt.Sprintf("s.Vector(&%s, %s.N)", f, k), fmt.Sprintf("s.Matrix(&%s, %s)", f, k)}[x.rank])
		}
		if len(absent) > 0 {
			unprepared += fmt.Sprintf(" ||\n%s && (%s)", pass, strings.Join(absent, " || "))
		}
	}
	if len(strides) > 0 {
		unprepared = strings.Join(strides, "|") + " > 1" + unprepared
	}
	if len(read) > 0 {
		statements += "s.Read(" + strings.Join(read, ", ") + ")\n"
	}
	if len(written) > 0 {
		statements += "s.Write(" + strings.Join(written, ", ") + ")\n"
	}
	for _, n := range nils {
		statements += n + "\n"
	}
	return strings.TrimPrefix(unprepared, " ||\n"), statements
}

// callsKernels reports whether the function calls kernels, so that passes return errors.
func (w *writer) callsKernels() bool {
	return contains(w.k.body, func(s *stmt) bool { return s.op == "kernel" })
}

// check writes the method that returns the errors of the function.
func (w *writer) check() {
	b := tidy(w.k.checks)
	w.scope()
	w.sure = make([]bool, 4)
	each(b, func(s *stmt) {
		if s.op == "fail" {
			s.e.each(func(e *node) { w.scopes[0][e.text] = true })
		}
	})
	w.printf("\n// check returns the errors of %s.\nfunc (k %s) check() error {\n", w.k.source, w.typ)
	w.body(b)
	w.printf("return nil\n}\n")
}

// scope begins a method.
func (w *writer) scope() {
	w.names, w.slices, w.over, w.scopes = map[*local]string{}, map[string]*local{}, map[*local]string{}, []map[string]bool{{}}
	for _, name := range append(types.Universe.Names(), "k", "g", "t", "gt", "sign", "T", "cmplx", "fixed", "fmt", "mat", "num", "rev") {
		w.scopes[0][name] = true
	}
	for name := range strings.FieldsSeq("lo hi own part parts exact") {
		w.scopes[0][name] = w.k.workers
	}
	each(w.k.body, func(s *stmt) {
		if s.op != "kernel" {
			return
		}
		name, _, _ := strings.Cut(s.callee.name, ".")
		w.scopes[0][name] = true
		if s.e != nil {
			s.e.each(func(e *node) { w.scopes[0][e.text] = true }) // variables of the package
		}
	})
}

func (w *writer) method(p pass) {
	k := w.k
	var params []string
	if k.accumulates() {
		params = append(params, "sign "+w.elem)
	}
	if p.args != "" {
		params = append(params, p.args+" "+w.typ)
	}
	w.scope()
	w.printf("\n// %s %s\n", p.name, p.doc)
	w.writeTapeComment(p.body)
	if len(restored(p.body)) > 0 {
		w.printf("//\n// A call may fail after operands have changed. They have copies, which are put back then.\n")
	}
	result := ""
	if w.callsKernels() {
		result = "error "
	}
	w.printf("func (k %s) %s(%s) %s{\n", w.typ, p.name, strings.Join(params, ", "), result)
	w.nils(p)
	w.tapes = w.newTapes(withoutForkBodies(p.body))
	w.copies(p.body)
	w.body(p.body)
	if w.was != nil {
		w.printf("%s.Free()\n", w.name(w.was))
	}
	w.freeTapes(w.tapes)
	if w.callsKernels() {
		w.printf("return nil\n")
	}
	w.printf("}\n")
}

// body writes b, and before it the dimensions, the constants and the elements of operands
// that it uses.
func (w *writer) body(b []*stmt) {
	w.findDimensions()
	prelude := w.dims
	for _, p := range w.k.params {
		if v, ok := p.(*local); ok && v.kind == number && w.elem == "T" {
			prelude = append(prelude[:len(prelude):len(prelude)], dimension{v: v, from: "fixed.Of[T](k." + title(v.name) + ")"})
		}
	}
	for _, d := range prelude {
		w.name(d.v)
	}
	from := w.Len()
	for _, x := range w.k.operands() {
		w.hoist(x, withoutForkBodies(b))
	}
	w.block(b)
	text := string(w.Bytes()[from:])
	w.Truncate(from)
	code := regexp.MustCompile(`"(\\.|[^"\\])*"|(?m:^// .*$)`).ReplaceAllString(text, "") // without texts and comments
	for _, d := range prelude {
		if regexp.MustCompile(`\b` + w.name(d.v) + `\b`).MatchString(code) {
			w.printf("%s := %s\n", w.name(d.v), d.from)
		}
	}
	w.WriteString(text)
}

// findDimensions finds the names in the shape tags. The lengths of an operand that may
// be nil serve only if no other has them.
func (w *writer) findDimensions() {
	w.dims = nil
	for _, acc := range []bool{false, true} {
		for _, x := range w.k.operands() {
			if acc != (x.role() == "acc") {
				continue
			}
			for axis, tag := range w.tags(x) {
				known := slices.ContainsFunc(w.dims, func(d dimension) bool { return d.name == tag })
				if known || !token.IsIdentifier(tag) || token.IsExported(tag) {
					continue
				}
				from := field(x, value)
				if x.index {
					from = "len(" + from + ")"
				} else {
					from += []string{".N", ".Rows", ".Cols"}[x.rank-1+axis]
				}
				d := dimension{tag, from, &local{name: tag}}
				w.name(d.v)
				w.dims = append(w.dims, d)
			}
		}
	}
}

// tags returns the shape tag of each axis of x.
func (w *writer) tags(x *operand) []string {
	if x.shape == "" {
		return nil
	}
	return strings.Split(x.shape, ",")
}

// length returns the length of x as Go.
func (w *writer) length(x *operand, axis int) string {
	return regexp.MustCompile(`[A-Za-z_]\w*`).ReplaceAllStringFunc(w.tags(x)[axis], func(name string) string {
		for _, d := range w.dims {
			if d.name == name {
				return w.name(d.v)
			}
		}
		return "k." + name
	})
}

// nils writes the statements of a pass for operands that are nil.
func (w *writer) nils(p pass) {
	var outputs []*operand
	for _, x := range w.k.operands() {
		if x.written {
			outputs = append(outputs, x)
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
	w.sure = make([]bool, 4)
	if !w.k.accumulates() {
		return
	}
	switch p.name {
	case "value":
		if len(outputs) == 1 && !w.callsKernels() {
			w.printf("if %s {\nreturn\n}\n", absent(value))
			w.sure[value] = true
		}
	case "adjoint":
		w.printf("if %s {\n%s}\n", absent(cotangent), w.otherPass("k.value(sign)"))
		w.sure[cotangent] = len(outputs) == 1
	case "adjointTangent":
		w.printf("if %s {\n%s}\n", absent(cotangent, cotangent|tangent), w.otherPass("k.tangent(sign, t)"))
	}
}

// otherPass returns statements that run another pass in place of this one.
func (w *writer) otherPass(pass string) string {
	if w.callsKernels() {
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

// hoist writes local names for the elements of x that b uses.
func (w *writer) hoist(x *operand, b []*stmt) {
	if x.rank == 0 {
		return
	}
	var used [4]bool
	each(b, func(s *stmt) {
		if s.x == x && (s.op == "given" || s.op == "row" && w.present(x, s.in)) {
			used[s.in] = true
		}
		for _, e := range append(s.reads(), s.targets()...) {
			e.each(func(e *node) {
				if e.op == "elem" && e.x == x && x.rank == 1 {
					used[e.in] = true
				}
			})
		}
	})
	var names, values []string
	for s, yes := range used {
		if !yes {
			continue
		}
		in := space(s)
		v, f := &local{name: spacePrefix[s] + x.name}, field(x, in)
		w.slices[f] = v
		names = append(names, w.name(v))
		switch {
		case x.rank == 2:
			values = append(values, "num.Rows("+f+")")
		case x.index:
			values = append(values, f+"[:"+w.length(x, 0)+"]")
		case w.present(x, in):
			values = append(values, f+".Data[:"+w.length(x, 0)+"]")
		default:
			values = append(values, "num.Elements("+f+")")
		}
	}
	if len(names) > 0 {
		w.printf("%s := %s\n", strings.Join(names, ", "), strings.Join(values, ", "))
	}
}

// present reports whether x cannot be nil in a space here.
func (w *writer) present(x *operand, in space) bool {
	role := x.role()
	return role == "inout" || in == value && role != "acc" || role == "acc" && w.sure[in] || w.there != nil && w.there.x == x && w.there.in == in
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
	if v.plain && (v.kind != number || w.elem != "T") {
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
				w.printf("if %s {\n", g)
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
	case s.op != "add" || x.op != "elem" || w.present(x.x, x.in):
		return ""
	case x.x.rank == 0:
		return w.base(x.x, x.in) + " != nil"
	}
	if i, n := w.within(x); n != "" {
		return i + " < len(" + w.data(x) + ")"
	} else if n, err := strconv.Atoi(w.length(x.x, x.x.rank-1)); err == nil && x.row != nil {
		return fmt.Sprintf("len(%s) == %d", w.data(x), n)
	}
	return w.data(x) + " != nil"
}

// within returns the index of x in the slice that it is in, and the length of that, if
// the index is the variable of a loop over that length. A slice that may be nil then has
// either the element or none.
func (w *writer) within(x *node) (i, n string) {
	at := x.args[len(x.args)-1]
	if axis := x.x.rank - 1; at.op == "ref" && axis >= 0 && w.over[at.v] == w.length(x.x, axis) {
		return w.offset(x), w.over[at.v]
	}
	return "", ""
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
		case s.v.exact && s.e.is(zero):
			w.printf("var %s fixed.Sum[T]\n", v)
		case s.v.exact:
			w.printf("%s := fixed.SumOf(%s)\n", v, e)
		case s.e.is(zero):
			w.printf("var %s %s\n", v, w.elem)
		case s.e.is(none):
			w.printf("var %s int\n", v)
		case abs(s.e).op == "lit" && s.e.kind == number && w.k.constraint != "rev.Real":
			w.printf("var %s %s = %s\n", v, w.elem, e)
		default:
			w.printf("%s := %s\n", v, e)
		}
	case "row":
		f, i := field(s.x, s.in), w.expr(s.e, 5)
		if at, ok := s.e.integer(); w.present(s.x, s.in) {
			from := ""
			switch {
			case ok && at == 0:
			case ok && at == 1:
				from = f + ".Stride"
			default:
				from = i + "*" + f + ".Stride"
			}
			if from != "" {
				from = "[" + from + ":]"
			}
			w.printf("%s := %s%s[:%s]\n", w.name(s.v), w.name(w.slices[f]), from, w.length(s.x, 1))
		} else {
			w.printf("%s := num.Row(%s, %s)\n", w.name(s.v), f, w.expr(s.e, 0))
		}
	case "given":
		w.printf("if %s != nil {\n", w.name(w.slices[field(s.x, s.in)]))
		w.there = s
		w.inside(s.inner)
		w.there = nil
		w.printf("}\n")
	case "set":
		v, a := w.name(s.v), s.e.args
		switch {
		case s.v.exact:
			w.printf("%s = fixed.SumOf(%s)\n", v, w.expr(s.e, 0))
		case (s.e.op == "+" || s.e.op == "-") && a[0].op == "ref" && a[0].v == s.v:
			w.printf("%s %s= %s\n", v, s.e.op, w.expr(a[1], 0))
		default:
			w.printf("%s = %s\n", v, w.expr(s.e, 0))
		}
	case "add":
		if v := s.to.v; v != nil && v.exact {
			w.printf("%s = %s%s\n", w.name(v), w.name(v), w.exactAdd(s.e, s.neg))
			return
		}
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
		if s.fork != nil {
			w.writeFork(s)
			return
		}
		if s.vector {
			w.vector(s)
			return
		}
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
	case "sincos":
		sincos := "num.Sincos(%s)"
		if w.k.complex {
			sincos = "complex(num.Sin(real(%[1]s)), 0), complex(num.Cos(real(%[1]s)), 0)"
		}
		w.printf("%s, %s %s %s\n", w.name(s.v), w.name(s.with.v), map[bool]string{true: "=", false: ":="}[s.keep], fmt.Sprintf(sincos, w.expr(s.e, 0)))
	case "note":
		name := w.names[s.v]
		if name == "" {
			name = "one number"
		}
		w.printf("// Derivatives by %s go along with the values, so the backward pass needs no tape.\n", name)
	case "fail":
		w.printf("return %s\n", w.failure(s.e))
	case "keep":
		w.printf("if %s.Keep(%s, %s) {\n", w.name(s.tape), w.expr(s.e, 0), w.expr(s.hi, 0))
		w.inside(s.inner)
		w.printf("}\n")
	case "back":
		w.printf("%s := %s.Back(%s)\n", w.name(s.v), w.name(s.tape), w.expr(s.e, 0))
	case "push":
		w.printf("%s.Push(%s)\n", w.name(s.tape), w.name(s.v))
	case "pop":
		w.printf("%s = %s.Pop()\n", w.name(s.v), w.name(s.tape))
	}
}

func (w *writer) loop(s *stmt) {
	lo, start, end, outer := w.expr(s.lo, 0), w.expr(s.lo, 5), "", w.scopes
	used := contains(s.inner, func(u *stmt) bool { return reads(u, s.v) > 0 }) || s.e != nil && s.e.has(func(e *node) bool { return e.v == s.v })
	hi, highest, next := "", "", false // hi is highest + 1, and ends in + 1 if next is true
	if s.hi != nil {
		if s.lo.is(none) {
			w.over[s.v] = w.expr(s.hi, 0)
		}
		hi, highest = w.expr(s.hi, 0), w.expr(last(s.hi), 0)
		next = s.hi.op == "+" && s.hi.args[1].text == "1"
	}
	if s == w.part {
		lo, start, hi, highest, next = "lo", "lo", "hi", "hi - 1", false
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
		w.printf("for range %s - %s {\n", hi, start)
	case s.down:
		w.printf("for %s := %s; %s >= %s; %s-- {\n", v, highest, v, lo, v)
	case lo == "0":
		w.printf("for %s := range %s {\n", v, hi)
	case next:
		w.printf("for %s := %s; %s <= %s; %s++ {\n", v, lo, v, highest, v)
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
	return w.expr(e.args[len(e.args)-1], 0)
}

// expr returns e as Go, in parentheses if its operator binds less than prec.
func (w *writer) expr(e *node, prec int) string {
	arg := func(i, prec int) string { return w.expr(e.args[i], prec) }
	real := e.kind == number && w.k.constraint == "rev.Real"
	var out string
	switch e.op {
	case "lit":
		switch {
		case e.is(largest) && w.k.generic != "":
			return "num.Largest[T]()"
		case real && !e.is(zero):
			return "fixed.Of[T](" + e.text + ")"
		}
		return e.text
	case failure.op, "Errorf":
		return w.failure(e)
	case "ref":
		if e.v.exact {
			return w.name(e.v) + ".Round()"
		}
		return w.name(e.v)
	case "len":
		n := w.length(e.x, e.axis)
		if prec > 3 && strings.ContainsAny(n, "+-*/") {
			return "(" + n + ")"
		}
		return n
	case "elem":
		switch {
		case w.present(e.x, e.in):
			return w.place(e)
		case e.x.rank == 0:
			return "num.Deref(" + field(e.x, e.in) + ")"
		}
		f := "num.At"
		if _, n := w.within(e); n != "" {
			f = "num.OrZero"
		}
		return f + "(" + w.data(e) + ", " + w.offset(e) + ")"
	case "neg":
		return "-" + arg(0, 6)
	case "!":
		return "!" + arg(0, 6)
	case "*":
		n, factor := e.args[0].factor()
		switch {
		case e.kind != number:
			out = arg(0, 5) + " * " + arg(1, 6)
		case factor && n&(n-1) == 0: // rounds nothing, so that it may be fused with a sum
			out = arg(1, 6)
			if strings.HasPrefix(out, "*") {
				out = "(" + out + ")" // the value of a pointer: not 2**x
			}
			out = strconv.Itoa(n) + " * " + out
		case factor:
			return w.elem + "(" + strconv.Itoa(n) + " * " + arg(1, 6) + ")"
		case real:
			return "fixed.Product(" + arg(0, 0) + ", " + arg(1, 0) + ")"
		default:
			return w.elem + "(" + arg(0, 5) + " * " + arg(1, 6) + ")"
		}
	case "over":
		if w.k.complex {
			return "num.ComplexOver(" + arg(0, 0) + ", " + arg(1, 0) + ")"
		}
		return "num.Over(" + arg(0, 0) + ", " + arg(1, 0) + ")"
	default:
		p := precedence[e.op]
		switch {
		case unicode.IsLetter(rune(e.op[0])):
			return w.call(e)
		case e.op == "/" && real:
			return "num.Quotient(" + arg(0, 0) + ", " + arg(1, 0) + ")"
		case w.k.complex && p == precedence["<"] && e.op != "==" && e.op != "!=" && e.args[0].kind == number:
			out = w.realExpr(e.args[0]) + " " + e.op + " " + w.realExpr(e.args[1])
		case e.comparesConstants():
			out = constantText(e.args[0]) + " " + e.op + " " + constantText(e.args[1])
		default:
			first := arg(0, p)
			if a := e.args; e.kind == number && !real && a[0].op == "lit" && a[1].op == "lit" {
				first = w.elem + "(" + first + ")" // two literals would be integers
			}
			out = first + " " + e.op + " " + arg(1, p+1)
		}
	}
	if precedence[e.op] < prec {
		return "(" + out + ")"
	}
	return out
}

// isConstant reports whether e is a number that no type rounds: a literal, or a parameter that
// is no operand.
func (e *node) isConstant() bool {
	return e.kind == number && (e.op == "lit" || e.op == "ref" && e.v.plain)
}

// comparesConstants reports whether e compares two such numbers, which then are not rounded.
func (e *node) comparesConstants() bool {
	return precedence[e.op] == precedence["<"] && e.args[0].isConstant() && e.args[1].isConstant()
}

// constantText returns a constant as Go, without its conversion to the type of operands.
func constantText(e *node) string {
	if e.op == "ref" {
		return "k." + title(e.v.name)
	}
	return e.text
}

// failure returns an error as Go.
func (w *writer) failure(e *node) string {
	switch e.op {
	case "lit":
		return e.text
	case failure.op:
		return w.err
	}
	var args []string
	for _, a := range e.args {
		s := w.expr(a, 0)
		switch {
		case a.isConstant():
			s = constantText(a)
		case a.kind == number && w.elem == "T":
			s = "fixed.Float(" + s + ")"
		}
		args = append(args, s)
	}
	if e.op == "DomainError" {
		return fmt.Sprintf("&rev.DomainError{Func: %s, Args: []float64{%s}, Index: %s}", args[0], strings.Join(args[2:], ", "), args[1])
	}
	return "fmt.Errorf(" + strings.Join(args, ", ") + ")"
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
	switch {
	case e.op == "Index":
	case e.op == "complex":
		return "complex(" + w.realExpr(e.args[0]) + ", " + w.realExpr(e.args[1]) + ")"
	case w.k.complex && e.isReal():
		return "complex(" + w.realExpr(e) + ", 0)"
	case subnormal[e.op] != "":
		f = subnormal[e.op]
	case w.k.complex:
		f = e.op
	case e.op == "Int":
		f += "[" + w.elem + "]"
	}
	return f + "(" + strings.Join(args, ", ") + ")"
}

// subnormal has the functions that take the places of those of math/cmplx that are wrong for
// subnormal numbers.
var subnormal = map[string]string{"cmplx.Log": "num.ComplexLog", "cmplx.Log10": "num.ComplexLog10", "cmplx.Pow": "num.ComplexPow"}

var precedence = map[string]int{
	"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, "<=": 3, ">": 3, ">=": 3,
	"+": 4, "-": 4, "|": 4, "^": 4, "*": 5, "/": 5, "%": 5, "<<": 5, ">>": 5, "&": 5, "&^": 5,
}

// imports are the packages that written code may import, in the order of gofmt.
var imports = []string{
	"fmt",
	"math/cmplx", "",
	"gonum.org/v1/gonum/mat", "",
	reflect.TypeFor[fixed.Q43]().PkgPath(),
	reflect.TypeFor[rev.Role]().PkgPath(),
	reflect.TypeFor[num.Tape[float64]]().PkgPath(),
}

// write returns a file with kernels.
func write(pkg, source string, kernels []*kernel) ([]byte, error) {
	w := writer{types: map[string]bool{}}
	for _, k := range kernels {
		w.kernel(k)
	}
	if w.wrong != nil {
		return nil, w.wrong
	}
	paths, names := slices.Clone(imports), map[string]string{}
	for _, p := range paths {
		names[p] = path.Base(p)
	}
	for _, k := range kernels {
		each(k.body, func(s *stmt) {
			if s.op == "kernel" && names[s.callee.pkg] == "" {
				paths = append(paths, s.callee.pkg)
				names[s.callee.pkg], _, _ = strings.Cut(s.callee.name, ".")
			}
		})
	}
	slices.Sort(paths[slices.Index(paths, "gonum.org/v1/gonum/mat")+2:])
	used, err := qualifiers(w.String())
	if err != nil {
		return nil, fmt.Errorf("%s: what was written is not Go, which is a bug of revgen: %w", source, err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s%s\n\npackage %s\n\nimport (\n", generated, source, notEdit, pkg)
	for _, p := range paths {
		if p == "" {
			b.WriteString("\n")
		} else if used[names[p]] {
			fmt.Fprintf(&b, "%q\n", p)
		}
	}
	b.WriteString(")\n")
	b.Write(w.Bytes())
	return format.Source(b.Bytes())
}

// qualifiers returns the names x of all x.y in declarations, which need the packages of
// these names. Comments and texts need none.
func qualifiers(declarations string) (map[string]bool, error) {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+declarations, parser.SkipObjectResolution)
	names := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && identOf(s.X) != nil {
			names[identOf(s.X).Name] = true
		}
		return true
	})
	return names, err
}
