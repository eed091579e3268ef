package gradient

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A Source is a package that has been type-checked.
type Source struct {
	Fset  *token.FileSet
	Pkg   *types.Package
	Info  *types.Info
	Funcs map[types.Object]*ast.FuncDecl
	// Imports has package math, for models.
	Imports types.Importer

	Written map[types.Object]*Written // what is written for functions of the package

	// Files returns the names of the files of another package, or none if its functions are not read.
	Files func(path string) []string

	models          map[string]*ast.FuncDecl
	foreignPackages map[string]*foreignPackage
}

// A Refusal says where a function cannot be differentiated, and why.
type Refusal struct {
	Pos token.Position
	Msg string
}

func (r Refusal) Error() string { return fmt.Sprintf("%v: %s", r.Pos, r.Msg) }

// A lowerer turns the syntax of a function into statements in which calls are inlined, and
// control leaves only at the end of a list.
type lowerer struct {
	*Source
	names    map[string]bool
	bound    map[types.Object]expr           // what an identifier stands for
	lits     map[types.Object]*ast.FuncLit   // functions in variables
	alias    map[types.Object]types.Object   // named functions in variables
	lists    map[types.Object][]types.Object // slices of functions in variables
	envs     map[types.Object]*environment   // of functions that others returned
	choices  map[types.Object]*choice        // functions in variables that change
	yields   map[types.Object]*yield
	making   bool // arguments of a function that returns another one, which sees what they are now
	nests    int  // the number of functions that are read in themselves
	global   map[types.Object]*variable
	out      []stmt
	loops    []*loopInfo
	frames   []*frame
	exits    []*exit
	types    map[*types.TypeParam]types.Type
	inlining map[ast.Node]bool     // functions that are being inlined
	looking  map[types.Object]bool // functions that stores reads
	label    string                // of the next loop
	imports  *imports
	count    int // of variables
	depth    int // the number of derivatives that are inlined
	foreign  []foreignCall
	fixed    []*assignment // vectors and matrices in fields of parameters
	asserts  []expr        // interfaces in fields
	whole    []expr        // structs that are set
	overlaps []*overlap
	frozen   []frozen
	caps     []capacity
	locks    []stmt // what is written begins with them
	*recursions
	unsizes []*unsized // that have got sizes in the present list of statements
}

// A foreignCall is a call of a function of another package.
type foreignCall struct {
	*call
	at ast.Node
}

// A frame is a function that is inlined.
type frame struct {
	results []*variable
	leave   *exit
	choice  *choice // if it returns one of several functions

	deferred []deferred
	depth    int // the number of loops that it is in
}

// An exit is a place to which control may jump. flag is set when it does.
type exit struct {
	flag  *variable
	loop  bool // continue and break reach it
	next  bool // continue
	label string
	depth int // the number of loops that it is in
}

func (l *lowerer) refuse(at ast.Node, format string, args ...any) {
	panic(Refusal{l.Fset.Position(at.Pos()), fmt.Sprintf(format, args...)})
}

// unique returns a name that nothing else has.
func (l *lowerer) unique(name string) string {
	if name == "_" || name == "" {
		name = "v"
	}
	if isTape(name) { // tapes get their names when they are written
		name += "Value"
	}
	out := name
	for n := 1; l.names[out] || l.Pkg.Scope().Lookup(out) != nil || token.IsKeyword(out) || types.Universe.Lookup(out) != nil; n++ {
		out = fmt.Sprintf("%s%d", name, n)
	}
	l.names[out] = true
	return out
}

func (l *lowerer) variable(name string, t types.Type) *variable {
	l.count++
	return &variable{name: l.unique(name), typ: t, scope: slices.Clone(l.loops), number: l.count}
}

func (l *lowerer) emit(s stmt) { l.out = append(l.out, s) }

// nested returns the statements that f emits.
func (l *lowerer) nested(f func()) []stmt {
	outer, sized := l.out, len(l.unsizes)
	l.out = nil
	f()
	inner := l.out
	l.out = outer
	for _, u := range l.unsizes[sized:] { // perhaps they have none outside
		u.v, u.perhaps = nil, true
	}
	l.unsizes = l.unsizes[:sized]
	return inner
}

// define declares a variable with the value e, or the zero value if e is nil.
func (l *lowerer) define(name string, t types.Type, e expr) *variable {
	if e != nil && (isHeader(t) && hasComplex(e.typeOf()) || hasGonum(e.typeOf()) && !isGonum(e.typeOf())) { // of a parameter
		t = e.typeOf()
	}
	v := l.variable(name, t)
	l.emit(&assignment{l: ref(v), op: token.ASSIGN, define: true})
	if e == nil {
		return v
	}
	v.copied = isMatrix(t) && isCopy(e)
	if s, ok := l.out[len(l.out)-1].(*assignment); ok && !isAggregate(t) {
		s.r = e
		return v
	}
	l.assign(ref(v), e)
	return v
}

func isAggregate(t types.Type) bool {
	if isMatrix(t) {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// temporary returns e, or a variable with its value if it is no atom.
func (l *lowerer) temporary(name string, e expr) expr {
	if atom(e) {
		return e
	}
	return ref(l.define(name, e.typeOf(), e))
}

// assign sets a place. Structs and arrays are set part by part.
func (l *lowerer) assign(to, e expr) {
	if x, ok := e.(*reference); ok && root(to) == x.v && to.typeOf() == e.typeOf() {
		if _, ok := to.(*reference); ok {
			return
		}
	}
	if !isGonum(to.typeOf()) {
		e = viewed(e)
	}
	if t := e.typeOf(); hasGonum(to.typeOf()) != hasGonum(t) && (isHeader(to.typeOf()) || isHeader(t)) && !isLit(e, "nil") {
		panic(Refusal{Msg: "vectors and matrices of a parameter and of the function's own come to one place of a struct or a slice: copy those of the parameter"})
	}
	if isRaw(to.typeOf()) && (isMatrix(e.typeOf()) || isVector(e.typeOf())) {
		panic(Refusal{Msg: "what RawMatrix or RawVector returns is not kept in a variable that changes: write raw := m.RawMatrix()"})
	}
	if isMatrix(to.typeOf()) {
		l.emit(&assignment{l: to, op: token.ASSIGN, r: e})
		return
	}
	if isComplex(to.typeOf()) {
		panic(Refusal{Msg: "a complex number of a parameter, or of a struct with names of its own, may not change here: use a local"})
	}
	if p, ok := e.(*complexPair); ok {
		e = l.parted(to, p)
	}
	switch u := to.typeOf().Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			l.assign(&field{to, f.Name(), f.Type()}, structField(e, f))
		}
	case *types.Array:
		if u.Len() > few {
			l.over(integerLit(int(u.Len())), func(i expr) { l.assign(&element{to, i, u.Elem()}, &element{e, i, u.Elem()}) })
			return
		}
		for i := range int(u.Len()) {
			l.assign(&element{to, integerLit(i), u.Elem()}, &element{e, integerLit(i), u.Elem()})
		}
	default:
		l.emit(&assignment{l: to, op: token.ASSIGN, r: e})
	}
}

func (l *lowerer) typeOf(e ast.Expr) types.Type {
	return l.substituted(types.Default(l.Info.TypeOf(e)))
}

// substituted returns the type of a variable of type t in what is written.
func (l *lowerer) substituted(t types.Type) types.Type { return apart(deepMemory(l.instance(t))) }

// instance replaces the type parameters of functions that are inlined.
func (l *lowerer) instance(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.TypeParam:
		if u := l.types[t]; u != nil {
			return u
		}
		return t
	case *types.Named: // a function may declare it of its type parameters
		if u := l.home(t); u != types.Type(t) {
			return l.instance(u)
		}
		if len(l.types) > 0 && isLocal(t.Obj()) && !containsItself(t) {
			if u := l.instance(t.Underlying()); u != t.Underlying() {
				return u
			}
		}
	case *types.Alias:
		if isLocal(t.Obj()) {
			return l.instance(types.Unalias(t))
		}
	}
	return remade(t, l.instance)
}

// A jump says which exits statements may take, and whether they always take one.
type jump struct {
	may    []*exit
	always bool
}

func (j *jump) add(k jump) {
	for _, e := range k.may {
		if !slices.Contains(j.may, e) {
			j.may = append(j.may, e)
		}
	}
}

// list reads statements. What follows a branch that leaves becomes its other side.
func (l *lowerer) list(list []ast.Stmt) (j jump) {
	for k, s := range list {
		rest := list[k+1:]
		if s, ok := s.(*ast.SwitchStmt); ok && !breaks(s.Body) {
			if chain := l.chain(s); chain != nil {
				return l.joined(j, l.list(append([]ast.Stmt{chain}, rest...)))
			}
			continue
		}
		if s, ok := s.(*ast.IfStmt); ok {
			if s.Init != nil {
				l.stmt(s.Init)
			}
			b := &branch{cond: l.condition(s.Cond)}
			other := []ast.Stmt{}
			switch e := s.Else.(type) {
			case *ast.BlockStmt:
				other = e.List
			case ast.Stmt:
				other = []ast.Stmt{e}
			}
			switch {
			case isLit(b.cond, "true"):
				return l.joined(j, l.list(slices.Concat(s.Body.List, rest)))
			case isLit(b.cond, "false"):
				return l.joined(j, l.list(slices.Concat(other, rest)))
			}
			var then, els jump
			b.then = l.nested(func() { then = l.list(s.Body.List) })
			merged := then.always && len(then.may) > 0 // what panics ends here
			if merged {
				other, rest = append(slices.Clone(other), rest...), nil
			}
			b.els = l.nested(func() { els = l.list(other) })
			if !merged && els.always && len(then.may) == 0 {
				merged = true
				var after jump
				b.then = append(b.then, l.nested(func() { after = l.list(rest) })...)
				then = after
			}
			l.emit(b)
			j.add(then)
			j.add(els)
			if merged {
				j.always = then.always && els.always
				return j
			}
			if then.always && els.always {
				j.always = true
				return j
			}
			var now jump
			now.add(then)
			now.add(els)
			if len(now.may) > 0 && len(rest) > 0 {
				return l.joined(j, l.guarded(now.may, rest))
			}
			continue
		}
		now := l.stmt(s)
		j.add(now)
		if now.always {
			j.always = true
			return j
		}
		if len(now.may) > 0 && len(rest) > 0 {
			return l.joined(j, l.guarded(now.may, rest))
		}
	}
	return j
}

func (l *lowerer) joined(j, k jump) jump {
	j.add(k)
	j.always = k.always
	return j
}

// guarded reads statements that run unless an exit has been taken.
func (l *lowerer) guarded(exits []*exit, rest []ast.Stmt) (j jump) {
	b := &branch{cond: l.untaken(exits)}
	b.then = l.nested(func() { j = l.list(rest) })
	l.emit(b)
	j.always = false
	return j
}

// untaken returns the condition that none of the exits has been taken.
func (l *lowerer) untaken(exits []*exit) (cond expr) {
	for _, e := range exits {
		c := expr(&unary{token.NOT, ref(e.flag)})
		if cond == nil {
			cond = c
		} else {
			cond = &binary{token.LAND, cond, c, boolean}
		}
	}
	return cond
}

// breaks reports whether a break in the body of a switch leaves the switch.
func breaks(body ast.Stmt) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		case *ast.SwitchStmt:
			return n.Body == body
		case *ast.BranchStmt:
			yes = yes || n.Tok == token.BREAK && n.Label == nil
		}
		return true
	})
	return yes
}

// chain returns a switch as if and else.
func (l *lowerer) chain(s *ast.SwitchStmt) ast.Stmt {
	if s.Init != nil {
		l.stmt(s.Init)
	}
	tag := s.Tag
	if tag != nil && l.Info.Types[tag].Value == nil {
		tag = l.nameFor(tag, "tag", l.temporary("tag", l.expr(tag)))
	}
	var first, last *ast.IfStmt
	var fallback *ast.BlockStmt
	for k, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		body := &ast.BlockStmt{List: reached(s.Body.List[k:]), Lbrace: c.Pos()}
		if c.List == nil {
			fallback = body
			continue
		}
		var cond ast.Expr
		for _, e := range c.List {
			if tag != nil {
				e = l.typed(&ast.BinaryExpr{X: tag, Op: token.EQL, Y: e, OpPos: e.Pos()})
			}
			if cond == nil {
				cond = e
			} else {
				cond = l.typed(&ast.BinaryExpr{X: cond, Op: token.LOR, Y: e, OpPos: e.Pos()})
			}
		}
		i := &ast.IfStmt{If: c.Pos(), Cond: cond, Body: body}
		if first == nil {
			first = i
		} else {
			last.Else = i
		}
		last = i
	}
	switch {
	case first == nil && fallback == nil:
		return nil
	case first == nil:
		return fallback
	case fallback != nil:
		last.Else = fallback
	}
	return first
}

// reached returns the statements of the first of some cases, with those that it falls through to.
func reached(cases []ast.Stmt) []ast.Stmt {
	list := cases[0].(*ast.CaseClause).Body
	if n := len(list); n > 0 {
		if b, ok := list[n-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
			return slices.Concat(list[:n-1], reached(cases[1:]))
		}
	}
	return list
}

// typed gives a condition that is made here its type.
func (l *lowerer) typed(e *ast.BinaryExpr) ast.Expr {
	l.Info.Types[e] = types.TypeAndValue{Type: boolean}
	return e
}

// stmt reads a statement.
func (l *lowerer) stmt(s ast.Stmt) (j jump) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		l.assignStmt(s)
	case *ast.IncDecStmt:
		op := token.ADD_ASSIGN
		if s.Tok == token.DEC {
			op = token.SUB_ASSIGN
		}
		to := l.place(s.X)
		if to.typeOf() == complexType {
			l.complexSum(to, op, &complexPair{number("1"), number("0")})
			break
		}
		l.emit(&assignment{l: to, op: op, r: lit("1", to.typeOf())})
	case *ast.DeclStmt:
		l.decl(s.Decl.(*ast.GenDecl))
	case *ast.ExprStmt:
		return l.exprStmt(s)
	case *ast.BlockStmt:
		return l.list(s.List)
	case *ast.SwitchStmt: // that breaks, or has a label
		e := l.newExit("done", true)
		e.label, l.label = l.label, ""
		j = l.within(func() jump {
			if chain := l.chain(s); chain != nil {
				return l.list([]ast.Stmt{chain})
			}
			return jump{}
		}, e)
		j.may = slices.DeleteFunc(j.may, func(x *exit) bool { return x == e })
		j.always = false
		return j
	case *ast.ForStmt:
		return l.forStmt(s)
	case *ast.RangeStmt:
		return l.rangeStmt(s)
	case *ast.ReturnStmt:
		return l.returnStmt(s)
	case *ast.DeferStmt:
		l.deferStmt(s)
	case *ast.BranchStmt:
		return l.branchStmt(s)
	case *ast.LabeledStmt:
		switch s.Stmt.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt:
		default:
			l.refuse(s, "a label stands before a loop or a switch here: use a condition")
		}
		l.label = s.Label.Name
		j = l.stmt(s.Stmt)
		l.label = ""
		return j
	case *ast.EmptyStmt:
	default:
		l.refuse(s, "%s is not differentiated", describe(s))
	}
	return j
}

func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.SelectStmt, *ast.SendStmt:
		return "a channel"
	case *ast.TypeSwitchStmt, *ast.TypeAssertExpr:
		return "a value of an interface (give the variable its type)"
	case *ast.FuncLit:
		return "a function that is kept in a slice or a struct, or returned beside other results (keep it in a variable)"
	case *ast.MapType:
		return "a map"
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast."))
}

// newExit declares the flag of an exit.
func (l *lowerer) newExit(name string, loop bool) *exit {
	v := l.define(name, boolean, lit("false", boolean))
	return &exit{flag: v, loop: loop, depth: len(l.loops)}
}

// within runs f while the exits can be reached.
func (l *lowerer) within(f func() jump, exits ...*exit) jump {
	n := len(l.exits)
	l.exits = append(l.exits, exits...)
	j := f()
	l.exits = l.exits[:n]
	return j
}

func (l *lowerer) take(e *exit) jump {
	l.emit(&assignment{l: ref(e.flag), op: token.ASSIGN, r: lit("true", boolean)})
	return jump{[]*exit{e}, true}
}

func (l *lowerer) branchStmt(s *ast.BranchStmt) jump {
	for _, e := range slices.Backward(l.exits) {
		if !e.loop {
			break
		}
		if s.Label != nil && e.label != s.Label.Name {
			continue
		}
		if s.Tok == token.BREAK && !e.next || s.Tok == token.CONTINUE && e.next {
			return l.take(e)
		}
	}
	l.refuse(s, "%s is not differentiated", s.Tok)
	return jump{}
}

func (l *lowerer) returnStmt(s *ast.ReturnStmt) jump {
	f := l.frames[len(l.frames)-1]
	switch {
	case f.choice != nil:
		l.assign(f.choice.which, l.indexIn(f.choice, s.Results[0]))
	case len(s.Results) == 1 && len(f.results) > 1:
		values := l.results(s.Results[0].(*ast.CallExpr))
		for i, v := range f.results {
			l.assign(ref(v), values[i])
		}
	case len(s.Results) > 0:
		values := make([]expr, len(s.Results))
		for i, e := range s.Results {
			values[i] = l.converted(l.expr(e), f.results[i].typ)
			if v := root(values[i]); len(s.Results) > 1 && (!atom(values[i]) || v != f.results[i] && slices.Contains(f.results, v)) {
				values[i] = ref(l.define("r", values[i].typeOf(), values[i])) // before another result changes
			}
		}
		for i, v := range f.results {
			l.assign(ref(v), values[i])
		}
	}
	return l.take(f.leave)
}

// converted gives a constant the type that it is assigned to.
func (l *lowerer) converted(e expr, t types.Type) expr {
	if c, ok := e.(*literal); ok {
		return &literal{c.text, t}
	}
	return e
}

func (l *lowerer) decl(d *ast.GenDecl) {
	if d.Tok != token.VAR {
		return // constants have their values
	}
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		if len(spec.Values) == 1 && len(spec.Names) > 1 {
			values := l.results(spec.Values[0].(*ast.CallExpr))
			for i, id := range spec.Names {
				l.bind(id, values[i])
			}
			continue
		}
		for i, id := range spec.Names {
			if spec.Values == nil {
				if id.Name != "_" {
					if bind := l.changing(l.Info.Defs[id], nil); bind != nil {
						bind()
						continue
					}
					t := l.Info.Defs[id].Type()
					if isGonum(t) && !isPointer(t) {
						l.bound[l.Info.Defs[id]] = l.unsized(t)
						continue
					}
					t = l.substituted(t)
					v := l.define(id.Name, t, nil)
					v.unmade = true
					l.bound[l.Info.Defs[id]] = ref(v)
				}
				continue
			}
			l.bindTo(id, spec.Values[i])
		}
	}
}

// bindTo declares id with the value of e.
func (l *lowerer) bindTo(id *ast.Ident, e ast.Expr) {
	if bind := l.function(l.Info.Defs[id], e); bind != nil {
		bind()
		return
	}
	l.bind(id, l.value(e))
}

func (l *lowerer) bind(id *ast.Ident, e expr) {
	if id.Name == "_" {
		return
	}
	obj := l.Info.Defs[id]
	switch e.(type) {
	case *unsized, *transposed:
		l.bound[obj] = e
		return
	}
	t := l.substituted(obj.Type())
	if isRaw(t) && (isMatrix(e.typeOf()) || isVector(e.typeOf())) || types.IsInterface(t) && l.isOne(obj, e) {
		t = e.typeOf()
	}
	if isPointer(t) {
		l.bound[obj] = l.pinned(id, e)
		return
	}
	if x, ok := e.(*reference); ok && x.v.unnamed && types.Identical(x.v.typ, t) {
		x.v.name, x.v.unnamed = l.unique(id.Name), false
		l.bound[obj] = e
		return
	}
	l.bound[obj] = ref(l.define(id.Name, t, l.converted(e, t)))
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

// pinned returns a pointer as a place, or as the address of one, whose indices keep their values.
func (l *lowerer) pinned(at ast.Node, e expr) expr {
	switch x := e.(type) {
	case *reference:
		return e
	case *unary:
		return &unary{x.op, l.pinned(at, x.x)}
	case *field:
		return &field{l.pinned(at, x.x), x.name, x.typ}
	case *target:
		return &target{l.pinned(at, x.x), x.typ}
	case *element:
		i := x.i
		if _, ok := i.(*literal); !ok {
			i = ref(l.define("at", i.typeOf(), i))
		}
		return &element{l.pinned(at, x.x), i, x.typ}
	}
	l.refuse(at, "where this pointer points to is not known")
	return nil
}

func (l *lowerer) assignStmt(s *ast.AssignStmt) {
	if len(s.Rhs) == 1 && len(s.Lhs) > 1 {
		switch e := ast.Unparen(s.Rhs[0]).(type) {
		case *ast.CallExpr:
			l.setAll(s, l.results(e))
		case *ast.IndexExpr:
			l.refuse(s, "whether a map has a key is not differentiated: find it out before, and pass the value")
		default:
			l.refuse(s, "%s is not differentiated", describe(e))
		}
		return
	}
	if len(s.Lhs) == 1 {
		to := s.Lhs[0]
		if id, ok := to.(*ast.Ident); ok && s.Tok == token.DEFINE {
			l.bindTo(id, s.Rhs[0])
			return
		}
		if s.Tok == token.ASSIGN && (l.appended(to, s.Rhs[0]) || l.grown(to, s.Rhs[0])) {
			return
		}
		if s.Tok == token.ASSIGN {
			if e := l.valueFor(to, s.Rhs[0]); !isBlank(to) {
				p := l.place(to)
				l.assign(p, l.converted(l.sized(s.Rhs[0], e), p.typeOf()))
			}
			return
		}
		p := l.place(to)
		e := l.converted(l.expr(s.Rhs[0]), p.typeOf())
		switch s.Tok {
		case token.ADD_ASSIGN, token.SUB_ASSIGN:
			if p.typeOf() == complexType {
				l.complexSum(p, s.Tok, e)
				break
			}
			l.emit(&assignment{l: p, op: s.Tok, r: e})
		default:
			op, ok := operators[s.Tok]
			if !ok {
				l.refuse(s, "%s is not differentiated", s.Tok)
			}
			if p.typeOf() == complexType {
				l.assign(p, l.complexOperation(s, op, p, e))
				break
			}
			l.assign(p, l.operation(op, p, e, p.typeOf()))
		}
		return
	}
	if l.swapped(s) {
		return
	}
	values := make([]expr, len(s.Rhs))
	for i, e := range s.Rhs {
		if id, ok := s.Lhs[i].(*ast.Ident); ok && s.Tok == token.DEFINE {
			if bind := l.function(l.Info.Defs[id], e); bind != nil {
				bind()
				continue
			}
		}
		values[i] = l.valueFor(s.Lhs[i], e)
		if _, ok := values[i].(*literal); ok {
			continue
		}
		if t := values[i].typeOf(); t != nil && isPointer(t) {
			values[i] = l.pinned(e, values[i])
			continue
		}
		if fresh := !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !l.isNew(e) }); !fresh || !atom(values[i]) {
			values[i] = ref(l.define("old", values[i].typeOf(), values[i]))
		}
	}
	l.setAll(s, values)
}

// valueFor reads what a place is set to.
func (l *lowerer) valueFor(to, e ast.Expr) expr {
	if c := l.choiceOf(to); c != nil {
		return l.indexIn(c, e)
	}
	return l.expr(e)
}

// swapped reads u, v = v, u for slices, and reports whether it is that.
func (l *lowerer) swapped(s *ast.AssignStmt) bool {
	text := types.ExprString
	if s.Tok != token.ASSIGN || len(s.Lhs) != 2 || len(s.Rhs) != 2 || text(s.Lhs[0]) != text(s.Rhs[1]) || text(s.Lhs[1]) != text(s.Rhs[0]) {
		return false
	}
	if t := l.typeOf(s.Lhs[0]); !isHeader(t) || isPointer(t) {
		return false
	}
	x, y := l.expr(s.Lhs[0]), l.expr(s.Lhs[1])
	l.emit(&swap{l.steady(x, x, y), l.steady(y, x, y)})
	return true
}

// isNew reports whether := declares e.
func (l *lowerer) isNew(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "_" || l.Info.Defs[id] != nil)
}

var operators = map[token.Token]token.Token{
	token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM,
	token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
	token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// setAll assigns to what stands left of = or :=, whose indices are those from before. A value may be nil.
func (l *lowerer) setAll(s *ast.AssignStmt, values []expr) {
	places := make([]expr, len(s.Lhs))
	for i, to := range s.Lhs {
		if id, ok := to.(*ast.Ident); values[i] == nil || isBlank(to) || ok && s.Tok == token.DEFINE && l.Info.Defs[id] != nil {
			continue
		}
		places[i] = l.place(to)
	}
	l.together(s, places)
	for i, to := range s.Lhs {
		switch {
		case values[i] == nil || isBlank(to):
		case places[i] == nil:
			l.bind(to.(*ast.Ident), values[i])
		default:
			l.assign(places[i], l.converted(values[i], places[i].typeOf()))
		}
	}
}

// together makes places, of which some are nil, those that they are before any of them is set.
func (l *lowerer) together(at ast.Node, places []expr) {
	var set []expr
	for _, p := range places {
		if p != nil {
			set = append(set, p)
		}
	}
	for i, p := range places {
		if p == nil {
			continue
		}
		for x, ok := p.(*element); ok; x, ok = x.x.(*element) {
			if slices.ContainsFunc(set, func(s expr) bool { return same(s, x.x) }) {
				l.refuse(at, "a slice and an element of it are set at once: write two statements")
			}
		}
		places[i] = l.steady(p, set...)
	}
}

// steady returns a place whose indices do not change if some places are set: those that might are named.
func (l *lowerer) steady(p expr, set ...expr) expr {
	mayChange := func(e expr, s expr) bool {
		switch e := e.(type) {
		case *reference:
			x, ok := s.(*reference)
			return ok && x.v == e.v
		case *element, *field, *target:
			return !isReference(s) && (isAggregate(s.typeOf()) || types.Identical(e.typeOf(), s.typeOf()))
		}
		return false
	}
	switch x := p.(type) {
	case *field:
		return &field{l.steady(x.x, set...), x.name, x.typ}
	case *target:
		return &target{l.steady(x.x, set...), x.typ}
	case *element:
		i, changes := x.i, false
		visit(i, func(e expr) {
			changes = changes || slices.ContainsFunc(set, func(s expr) bool { return mayChange(e, s) })
		})
		if changes {
			i = ref(l.define("at", i.typeOf(), i))
		}
		return &element{l.steady(x.x, set...), i, x.typ}
	}
	return p
}

// appended reads x = append(x, e...), and reports whether it is that.
func (l *lowerer) appended(to, e ast.Expr) bool {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || !l.isBuiltin(c.Fun, "append") {
		return false
	}
	if l.isFresh(c.Args[0]) {
		return false
	}
	if types.ExprString(c.Args[0]) != types.ExprString(to) {
		l.refuse(e, "append makes another slice here: write x = append(x, e)")
	}
	x := l.place(to)
	elem := elemOf(x.typeOf())
	if isAggregate(elem) && hasHeaders(elem) && hasFloats(elem) {
		l.refuse(e, "append to a slice of %s is not differentiated: make the slice with its length, and set its elements", elem)
	}
	if c.Ellipsis.IsValid() {
		from := ref(l.define("more", x.typeOf(), l.expr(c.Args[1]))) // x may be it
		at := ref(l.define("end", integer, length(x)))
		l.emit(&growth{[]expr{x}, length(from), false})
		l.over(length(from), func(i expr) {
			l.assign(&element{x, &binary{token.ADD, at, i, integer}, elem}, &element{from, i, elem})
		})
		return true
	}
	var values []expr
	for _, a := range c.Args[1:] {
		values = append(values, l.temporary("v", l.converted(l.sized(a, l.expr(a)), elem)))
	}
	if len(values) == 0 {
		return true
	}
	l.emit(&growth{[]expr{x}, integerLit(len(values)), false}) // at once: Go's new capacity depends on the number
	for k, v := range values {
		l.assign(&element{x, &binary{token.SUB, length(x), integerLit(len(values) - k), integer}, elem}, v)
	}
	return true
}

func length(x expr) expr {
	if a, ok := x.typeOf().Underlying().(*types.Array); ok {
		return integerLit(int(a.Len()))
	}
	if p, ok := x.(*part); ok && p.hi != nil {
		if p.lo == nil {
			return p.hi
		}
		return &binary{token.SUB, p.hi, p.lo, integer}
	}
	if isLit(x, "nil") {
		return integerLit(0)
	}
	return &call{"len", "", []expr{x}, integer}
}

func (l *lowerer) isBuiltin(f ast.Expr, name string) bool {
	id, ok := ast.Unparen(f).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := l.Info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

func (l *lowerer) exprStmt(s *ast.ExprStmt) jump {
	c, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok {
		l.refuse(s, "this statement does nothing")
	}
	switch {
	case l.isBuiltin(c.Fun, "panic"):
		args := l.verbatim(c.Args[0])
		l.emit(&effect{&call{"panic", "", []expr{args}, nil}})
		return jump{nil, true}
	case l.isBuiltin(c.Fun, "copy"):
		l.copy(c)
		return jump{}
	case l.isBuiltin(c.Fun, "clear"):
		x := l.header("x", l.expr(c.Args[0]))
		elem := x.typeOf().Underlying().(*types.Slice).Elem()
		l.over(length(x), func(i expr) { l.assign(&element{x, i, elem}, l.zero(c, elem)) })
		return jump{}
	}
	for _, e := range l.results(c) {
		if v, ok := e.(*reference); ok && l.isForeign(v.v) {
			l.refuse(c, "what %s does is not differentiated", types.ExprString(c.Fun))
		}
	}
	return jump{}
}

// isForeign reports whether a variable holds the result of a call of another package.
func (l *lowerer) isForeign(v *variable) bool {
	s, ok := l.out[len(l.out)-1].(*assignment)
	if !ok || root(s.l) != v {
		return false
	}
	return slices.ContainsFunc(l.foreign, func(f foreignCall) bool { return s.r == expr(f.call) })
}

// zero returns the zero of a type.
func (l *lowerer) zero(at ast.Node, t types.Type) expr {
	switch {
	case isFloat(t), isInteger(t):
		return lit("0", t)
	case isBoolean(t):
		return lit("false", t)
	case t == complexType:
		return &complexPair{number("0"), number("0")}
	}
	l.refuse(at, "the zero of %s is not known here", t)
	return nil
}

// over emits a loop over 0 ... n-1.
func (l *lowerer) over(n expr, body func(i expr)) {
	n = l.temporary("n", n)
	info := &loopInfo{len(l.loops)}
	l.loops = append(l.loops, info)
	v := l.variable("i", integer)
	r := &ranged{v: v, lo: integerLit(0), hi: n, step: 1, info: info}
	r.body = l.nested(func() { body(ref(v)) })
	l.loops = l.loops[:len(l.loops)-1]
	l.emit(r)
}

// header returns a slice as a name.
func (l *lowerer) header(name string, e expr) expr {
	if _, ok := e.(*reference); ok {
		return e
	}
	return ref(l.define(name, e.typeOf(), e))
}

func (l *lowerer) copy(c *ast.CallExpr) {
	l.copied(l.section("to", l.expr(c.Args[0])), l.section("from", l.expr(c.Args[1])))
}

// section returns a slice as a name. A part of an array whose bounds are constant may stand for itself.
func (l *lowerer) section(name string, x expr) expr {
	constant := func(e expr) bool { _, ok := e.(*literal); return ok || e == nil }
	if p, ok := x.(*part); ok && isAggregate(p.x.typeOf()) && constant(p.lo) && constant(p.hi) {
		if p.hi == nil {
			p.hi = length(p.x)
		}
		return p
	}
	return l.header(name, x)
}

// elementAt returns an element of a slice, which may be a section.
func elementAt(x, i expr) *element {
	t := x.typeOf().Underlying().(*types.Slice).Elem()
	if p, ok := x.(*part); ok {
		if p.lo != nil {
			i = &binary{token.ADD, i, p.lo, integer}
		}
		return &element{p.x, i, t}
	}
	return &element{x, i, t}
}

// copied copies the elements that both have, which may share memory.
func (l *lowerer) copied(to, from expr) {
	n := &call{"min", "", []expr{length(to), length(from)}, integer}
	old := ref(l.define("old", to.typeOf(), &call{"make", "", []expr{length(from)}, to.typeOf()}))
	l.over(length(from), func(expr) {})
	o := overlap{to: to, from: from, first: l.out[len(l.out)-1].(*ranged)}
	l.over(n, func(i expr) {
		e := elementAt(from, i)
		l.assign(elementAt(to, i), e)
		o.keep = func() {
			o.first.body = l.nested(func() { l.assign(elementAt(old, ref(o.first.v)), elementAt(from, ref(o.first.v))) })
			e.x, e.i = old, i
		}
	})
	l.overlaps = append(l.overlaps, &o)
}

// An overlap is a copy between slices that may share memory. It then goes through another slice,
// which is not written otherwise.
type overlap struct {
	to, from expr
	first    *ranged // which fills the other slice
	keep     func()
}

// A capacity is that of a slice, which no append may change: what new memory has room for is not Go's promise.
type capacity struct {
	x  expr
	at *ast.CallExpr
}

func (c capacity) check(l *lowerer, a *analysis) {
	each(l.out, func(s stmt) {
		if g, ok := s.(*growth); ok && a.key(g.xs[0]) == a.key(c.x) {
			l.refuse(c.at, "append changes the capacity of %s in a way that Go leaves open: compute the number, or use len", types.ExprString(c.at.Args[0]))
		}
	})
}

// separate completes the copies between slices that may share memory.
func (l *lowerer) separate() {
	a := &analysis{keys: map[path]*key{}}
	a.share(l.out, nil)
	for _, f := range l.frozen {
		f.check(l, a)
	}
	for _, c := range l.caps {
		c.check(l, a)
	}
	for _, o := range l.overlaps {
		if a.key(o.to) == a.key(o.from) {
			o.keep()
		}
	}
}

// rootOf returns the name at the beginning of an expression.
func rootOf(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return rootOf(e.X)
	case *ast.SliceExpr:
		return rootOf(e.X)
	case *ast.SelectorExpr:
		return rootOf(e.X)
	case *ast.StarExpr:
		return rootOf(e.X)
	}
	return ""
}

// assigned reports whether a statement may set a variable, also through what it calls.
func (l *lowerer) assigned(obj types.Object, s ast.Node) (yes bool) {
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && (l.Info.Uses[id] == obj || l.Info.Defs[id] == obj)
	}
	isArray := func(e ast.Expr) bool {
		_, yes := l.Info.TypeOf(e).Underlying().(*types.Array)
		return yes
	}
	within := func(e ast.Expr) bool { // fields of structs, and elements of arrays, are of the variable
		for !is(e) {
			switch x := ast.Unparen(e).(type) {
			case *ast.SelectorExpr:
				e = x.X
				continue
			case *ast.IndexExpr:
				if e = x.X; isArray(e) {
					continue
				}
			}
			return false
		}
		return true
	}
	if s == nil {
		return false
	}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				yes = yes || (n.Tok != token.DEFINE || len(n.Lhs) > 1) && within(e)
			}
		case *ast.IncDecStmt:
			yes = yes || within(n.X)
		case *ast.UnaryExpr:
			yes = yes || n.Op == token.AND && within(n.X)
		case *ast.SliceExpr:
			yes = yes || isArray(n.X) && within(n.X)
		case *ast.CallExpr:
			for _, f := range l.literals(l.callee(n)) {
				if !l.inlining[f] {
					l.inlining[f] = true
					yes = yes || l.assigned(obj, f.Body)
					delete(l.inlining, f)
				}
			}
			if y := l.yields[l.callee(n)]; y != nil {
				yes = yes || l.assigned(obj, y.body)
			}
		case *ast.RangeStmt:
			yes = yes || n.Tok == token.ASSIGN && (n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value))
		}
		return true
	})
	return yes
}

// stable reports whether the variables of an integer expression keep their values in a loop.
func (l *lowerer) stable(e ast.Expr, body ast.Node) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f := ast.Unparen(n.Fun)
			if m, isMethod := l.callee(n).(*types.Func); isMethod && m.Pkg() != nil && m.Pkg().Path() == matPath && m.Name() == "Len" {
				break
			}
			ok = ok && (l.isBuiltin(f, "len") || l.isBuiltin(f, "min") || l.isBuiltin(f, "max") || l.Info.Types[f].IsType())
		case *ast.IndexExpr:
			_, array := l.Info.TypeOf(n.X).Underlying().(*types.Array)
			_, header := l.Info.TypeOf(n).Underlying().(*types.Slice)
			ok = ok && (array || header)
		case *ast.SelectorExpr:
			if v, isVar := l.Info.Uses[n.Sel].(*types.Var); isVar && v.IsField() {
				ok = ok && !l.changedField(v, body) && (!l.callsOwn(body) || !l.changedAnywhere(v))
			}
		case *ast.Ident:
			if v, isVar := l.Info.Uses[n].(*types.Var); isVar && l.assigned(v, body) {
				ok = false
			}
		}
		return ok
	})
	return ok
}

// changedField reports whether a statement may set a field.
func (l *lowerer) changedField(f *types.Var, s ast.Node) (yes bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		var to []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			to = n.Lhs
		case *ast.IncDecStmt:
			to = []ast.Expr{n.X}
		}
		for _, e := range to {
			sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
			yes = yes || ok && l.Info.Uses[sel.Sel] == f
		}
		return true
	})
	return yes
}

// callsOwn reports whether a statement calls functions of the package.
func (l *lowerer) callsOwn(s ast.Node) (yes bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			obj := l.callee(c)
			yes = yes || obj == nil || l.declOf(obj) != nil || l.lits[obj] != nil || l.choices[obj] != nil || l.Written[obj] != nil
		}
		return true
	})
	return yes
}

// changedAnywhere reports whether a function of the package may set a field.
func (l *lowerer) changedAnywhere(v *types.Var) bool {
	for _, f := range l.Funcs {
		if f.Body != nil && l.changedField(v, f.Body) {
			return true
		}
	}
	return false
}

// enterLoop begins the body of a loop, and leave ends it.
func (l *lowerer) enterLoop() *loopInfo {
	info := &loopInfo{len(l.loops)}
	l.loops = append(l.loops, info)
	return info
}

func (l *lowerer) leave() { l.loops = l.loops[:len(l.loops)-1] }

// loopBody reads the body of a loop, in which next is what continue reaches.
func (l *lowerer) loopBody(body *ast.BlockStmt, stop *exit, label string) (j jump) {
	next := l.newExit("skip", true)
	next.next, next.label, stop.label = true, label, label
	j = l.within(func() jump { return l.list(body.List) }, stop, next)
	n := len(j.may)
	j.may = slices.DeleteFunc(j.may, func(e *exit) bool { return e == next })
	j.always = j.always && len(j.may) == n // after continue the loop goes on
	return j
}

// outside returns the exits of a loop that go on outside of it.
func outside(j jump, stop *exit) jump {
	return jump{may: slices.DeleteFunc(slices.Clone(j.may), func(e *exit) bool { return e == stop })}
}

func (l *lowerer) forStmt(s *ast.ForStmt) jump {
	label := l.label
	l.label = ""
	stop := l.newExit("stop", true)
	if r, obj := l.counted(s); r != nil {
		r.info = l.enterLoop()
		r.v = l.variable(obj.Name(), l.substituted(obj.Type()))
		l.bound[obj] = ref(r.v)
		var j jump
		r.body = l.nested(func() { j = l.loopBody(s.Body, stop, label) })
		l.leave()
		if len(j.may) == 0 {
			l.emit(r)
			return jump{}
		}
		return l.broken(r, j, stop)
	}
	if s.Init != nil {
		l.stmt(s.Init)
	}
	cond := func() expr {
		if s.Cond == nil {
			return lit("true", boolean)
		}
		return l.condition(s.Cond)
	}
	var c expr
	before := l.nested(func() { c = cond() })
	simple := len(before) == 0
	l.out = append(l.out, before...)
	if !simple {
		c = ref(l.define("more", boolean, c))
	}
	w := &while{info: l.enterLoop()}
	var j jump
	w.body = l.nested(func() {
		j = l.loopBody(s.Body, stop, label)
		if j.always && len(j.may) == 0 {
			return // it panics
		}
		post := l.nested(func() {
			if s.Post != nil {
				l.stmt(s.Post)
			}
			if !simple {
				l.assign(c, cond())
			}
		})
		if len(j.may) > 0 && len(post) > 0 {
			post = []stmt{&branch{cond: l.untaken(j.may), then: post}}
		}
		l.out = append(l.out, post...)
	})
	l.leave()
	w.cond = l.and(c, j.may)
	l.emit(w)
	return outside(j, stop)
}

// and returns the condition c, and that no exit has been taken.
func (l *lowerer) and(c expr, exits []*exit) expr {
	u := l.untaken(exits)
	switch {
	case u == nil:
		return c
	case isLit(c, "true"):
		return u
	}
	return &binary{token.LAND, u, c, boolean}
}

// broken returns a counted loop with exits as one with a condition.
func (l *lowerer) broken(r *ranged, j jump, stop *exit) jump {
	v := r.v
	v.scope = v.scope[:len(v.scope)-1]
	l.emit(&assignment{l: ref(v), op: token.ASSIGN, r: r.lo, define: true})
	w := &while{info: r.info}
	op, compare := token.ADD_ASSIGN, token.LSS
	step := r.step
	if step < 0 {
		op, compare, step = token.SUB_ASSIGN, token.GEQ, -step
	}
	next := &assignment{l: ref(v), op: op, r: &literal{fmt.Sprint(step), v.typ}}
	w.body = slices.Concat(r.body, []stmt{&branch{cond: l.untaken(j.may), then: []stmt{next}}})
	w.cond = l.and(&binary{compare, ref(v), r.hi, boolean}, j.may)
	l.emit(w)
	return outside(j, stop)
}

// counted reads for i := lo; i < hi; i += step, and returns nil if s is not of this form.
func (l *lowerer) counted(s *ast.ForStmt) (*ranged, types.Object) {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 || s.Cond == nil {
		return nil, nil
	}
	id := init.Lhs[0].(*ast.Ident)
	obj := l.Info.Defs[id]
	cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	if !ok || obj == nil || !isSigned(obj.Type()) || l.assigned(obj, s.Body) {
		return nil, nil
	}
	x, shift := cond.X, 0
	if b, ok := x.(*ast.BinaryExpr); ok && (b.Op == token.ADD || b.Op == token.SUB) && l.Info.Types[b.Y].Value != nil {
		n, _ := constant.Int64Val(l.Info.Types[b.Y].Value)
		if x, shift = b.X, int(n); b.Op == token.ADD {
			shift = -shift
		}
	}
	if x, ok := x.(*ast.Ident); !ok || l.Info.Uses[x] != obj || !l.stable(cond.Y, s.Body) {
		return nil, nil
	}
	step := 1
	switch p := s.Post.(type) {
	case *ast.IncDecStmt:
		if x, ok := p.X.(*ast.Ident); !ok || l.Info.Uses[x] != obj {
			return nil, nil
		}
		if p.Tok == token.DEC {
			step = -1
		}
	case *ast.AssignStmt:
		x, ok := p.Lhs[0].(*ast.Ident)
		c := l.Info.Types[p.Rhs[0]].Value
		if !ok || l.Info.Uses[x] != obj || c == nil {
			return nil, nil
		}
		n, _ := constant.Int64Val(constant.ToInt(c))
		switch p.Tok {
		case token.ADD_ASSIGN:
			step = int(n)
		case token.SUB_ASSIGN:
			step = -int(n)
		default:
			return nil, nil
		}
	default:
		return nil, nil
	}
	r := &ranged{step: step}
	hi := func(offset int) expr {
		e := l.converted(l.expr(cond.Y), l.substituted(obj.Type()))
		if offset += shift; offset != 0 {
			e = plus(e, offset)
		}
		if _, ok := e.(*call); ok || atom(e) {
			return l.loopEnd(e)
		}
		return l.temporary("n", e)
	}
	lo := func() expr {
		return l.temporary("lo", l.converted(l.expr(init.Rhs[0]), l.substituted(obj.Type())))
	}
	switch {
	case step > 0 && cond.Op == token.LSS:
		r.lo, r.hi = lo(), hi(0)
	case step > 0 && cond.Op == token.LEQ:
		r.lo, r.hi = lo(), hi(1)
	case step < 0 && cond.Op == token.GEQ:
		r.lo, r.hi = lo(), hi(0)
	case step < 0 && cond.Op == token.GTR:
		r.lo, r.hi = lo(), hi(1)
	default:
		return nil, nil
	}
	return r, obj
}

// isSigned reports whether t is an integer type that a loop can leave downward.
func isSigned(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && b.Info()&types.IsUnsigned == 0
}

// loopEnd returns the end of a loop as an atom, or as the length of a name.
func (l *lowerer) loopEnd(e expr) expr {
	if c, ok := e.(*call); ok && c.fn == "len" && atom(c.args[0]) {
		return e
	}
	return l.temporary("n", e)
}

// plus returns e + n for integers.
func plus(e expr, n int) expr {
	if c, ok := e.(*literal); ok {
		var v int
		if _, err := fmt.Sscan(c.text, &v); err == nil {
			return &literal{fmt.Sprint(v + n), c.typ}
		}
	}
	if b, ok := e.(*binary); ok && b.op == token.SUB && n > 0 && isLit(b.y, fmt.Sprint(n)) {
		return b.x
	}
	if n < 0 {
		return &binary{token.SUB, e, &literal{fmt.Sprint(-n), e.typeOf()}, e.typeOf()}
	}
	return &binary{token.ADD, e, &literal{fmt.Sprint(n), e.typeOf()}, e.typeOf()}
}

func (l *lowerer) rangeStmt(s *ast.RangeStmt) jump {
	label := l.label
	l.label = ""
	list := l.functions(s.X)
	if c, ok := ast.Unparen(s.X).(*ast.CompositeLit); ok {
		list = l.listed(c)
	}
	if list != nil {
		return l.unrolled(s, label, list)
	}
	t := l.typeOf(s.X)
	if isFunction(t) {
		return l.iterated(s, label)
	}
	r := &ranged{step: 1}
	r.lo = lit("0", integer)
	var x expr
	var unsigned types.Type
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if !isInteger(t) {
			l.refuse(s, "a loop over %s is not differentiated", t)
		}
		kt := types.Type(integer)
		if s.Key != nil && !isBlank(s.Key) {
			kt = l.typeOf(s.Key)
		}
		n := l.converted(l.expr(s.X), kt)
		if id, name := ast.Unparen(s.X).(*ast.Ident); name && l.assigned(l.Info.Uses[id], s.Body) { // the loop runs to what it is now
			r.hi = ref(l.define("n", kt, n))
		} else {
			r.hi = l.temporary("n", n)
		}
		if isSigned(kt) {
			r.lo = lit("0", kt)
		} else { // the loop runs over int, which can run backward to 0
			r.hi, unsigned = l.temporary("n", convert(r.hi, integer)), kt
		}
	case *types.Slice, *types.Array:
		x = l.expr(s.X)
		// The loop runs over the slice or the array that this is now.
		id, name := ast.Unparen(s.X).(*ast.Ident)
		if kept := name && !l.assigned(l.Info.Uses[id], s.Body); !kept && (isHeader(u) || s.Value != nil) {
			x = ref(l.define("x", t, x))
		}
		r.hi = l.loopEnd(length(x))
	case *types.Pointer:
		x = l.deref(s.X)
		r.hi = length(x)
	default:
		l.refuse(s, "a loop over %s is not differentiated", t)
	}
	stop := l.newExit("stop", true)
	r.info = l.enterLoop()
	name, kt := "i", r.lo.typeOf()
	var key types.Object
	if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" && s.Tok == token.DEFINE {
		name, key = id.Name, l.Info.Defs[id]
	}
	r.v = l.variable(name, kt)
	var j jump
	r.body = l.nested(func() {
		if key != nil {
			l.bound[key] = ref(r.v)
			switch {
			case unsigned != nil:
				l.bound[key] = ref(l.define(name, unsigned, convert(ref(r.v), unsigned)))
			case l.assigned(key, s.Body):
				l.bound[key] = ref(l.define(name, kt, ref(r.v)))
			}
		}
		var places [2]expr
		for i, to := range [...]ast.Expr{s.Key, s.Value} {
			if s.Tok == token.ASSIGN && to != nil && !isBlank(to) {
				places[i] = l.place(to)
			}
		}
		l.together(s, places[:])
		if places[0] != nil {
			l.assign(places[0], ref(r.v))
		}
		if s.Value != nil && !isBlank(s.Value) {
			e := viewed(&element{x, ref(r.v), elemOf(x.typeOf())})
			if places[1] != nil {
				l.assign(places[1], e)
			} else {
				l.bind(s.Value.(*ast.Ident), e)
			}
		}
		j = l.loopBody(s.Body, stop, label)
	})
	l.leave()
	if len(j.may) == 0 {
		l.emit(r)
		return jump{}
	}
	return l.broken(r, j, stop)
}

func elemOf(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Array:
		return u.Elem()
	case *types.Pointer:
		return elemOf(u.Elem())
	}
	return nil
}
