package revgen

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// A binding is what a name of the source stands for: a local, an operand or a part
// of it, a constant, or an array or a struct of locals.
type binding struct {
	v      *local
	view   *view
	c      *node          // an integer constant: the variable of a loop that is unrolled
	leaves []types.Object // of an array or a struct, in order
	sum    bool           // v is only added to where it is now
	scope  int            // where v was defined, or -1 if v may not be changed
}

// Arrays and structs are locals for each number in them (leaves), which have objects
// of their own. An index of an array is therefore a constant, or the variable of a
// loop that is unrolled.

// maxLeaves bounds the numbers in an array or a struct.
const maxLeaves = 64

// leafTypes returns the types of the numbers in a t.
func (r *reader) leafTypes(at ast.Node, t types.Type) (leaves []types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.Float64 || u.Kind() == types.Complex128 && r.k.complex || u.Kind() == types.Int || u.Kind() == types.Bool || u.Info()&types.IsUntyped != 0 {
			return []types.Type{t}
		}
	case *types.Struct:
		for i := range u.NumFields() {
			leaves = append(leaves, r.leafTypes(at, u.Field(i).Type())...)
		}
	case *types.Array:
		if u.Len() > maxLeaves {
			r.refuse(at, "%s: each element of a local array is a variable of its own, and %d are too many: make it a parameter", r.typeName(t), u.Len())
		}
		for range u.Len() {
			leaves = append(leaves, r.leafTypes(at, u.Elem())...)
		}
	case *types.Slice:
		r.refuse(at, "there are no local slices; use an array, or a parameter to whose elements you add")
	default:
		r.refuse(at, "%s is not known: locals are float64, int, bool, and arrays and structs of them", r.typeName(t))
	}
	if len(leaves) == 0 || len(leaves) > maxLeaves {
		r.refuse(at, "%s is not known: locals are float64, int, bool, and arrays and structs of at most %d of them", r.typeName(t), maxLeaves)
	}
	return leaves
}

// typeName returns t as the package writes it.
func (r *reader) typeName(t types.Type) string { return types.TypeString(t, types.RelativeTo(r.pkg)) }

// zeros returns the zero value of t.
func (r *reader) zeros(at ast.Node, t types.Type) (es []*node) {
	for _, t := range r.leafTypes(at, t) {
		switch b := t.Underlying().(*types.Basic); {
		case b.Info()&types.IsBoolean != 0:
			es = append(es, lit(boolean, "false"))
		case b.Info()&types.IsInteger != 0:
			es = append(es, none)
		default:
			es = append(es, zero)
		}
	}
	return es
}

// locals returns the locals that e stands for, or nil if it is part of an operand.
func (r *reader) locals(e ast.Expr) []types.Object {
	objs, exact := r.leavesOf(e)
	if !exact {
		r.refuse(e, "the index of a local array is a constant, or the variable of a loop with constant bounds")
	}
	return objs
}

// leavesOf returns the locals that e may stand for, and whether it stands for all of them.
func (r *reader) leavesOf(e ast.Expr) (objs []types.Object, exact bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		obj := r.info.ObjectOf(e)
		switch b := r.env[obj]; {
		case b.leaves != nil:
			return b.leaves, true
		case b.v != nil || b.c != nil || r.info.Defs[e] != nil:
			return []types.Object{obj}, true
		}
	case *ast.SelectorExpr:
		sel := r.info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			return nil, true
		}
		objs, exact = r.leavesOf(e.X)
		if objs == nil || !exact {
			return objs, exact
		}
		from, in := 0, sel.Recv()
		for _, field := range sel.Index() { // more than one for a field of an embedded struct
			t, ok := in.Underlying().(*types.Struct)
			if !ok {
				return objs, exact
			}
			for i := range field {
				from += len(r.leafTypes(e, t.Field(i).Type()))
			}
			in = t.Field(field).Type()
		}
		return objs[from:][:len(r.leafTypes(e, in))], true
	case *ast.IndexExpr:
		objs, exact = r.leavesOf(e.X)
		t := r.info.Types[e.X].Type
		if objs == nil || !exact || t == nil {
			return objs, exact
		}
		a, ok := t.Underlying().(*types.Array)
		if !ok {
			return nil, true
		}
		i, ok := r.integer(e.Index)
		if !ok {
			return objs, false
		}
		if i < 0 || i >= int(a.Len()) {
			r.refuse(e, "the index %d is out of the %d elements of %s", i, a.Len(), types.ExprString(e.X))
		}
		n := len(objs) / int(a.Len())
		return objs[i*n:][:n], true
	}
	return nil, true
}

// integer returns the value of e, if it is known now.
func (r *reader) integer(e ast.Expr) (int, bool) {
	if v := r.info.Types[e].Value; v != nil {
		n, ok := constant.Int64Val(constant.ToInt(v))
		return int(n), ok
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if c := r.env[r.info.Uses[e]].c; c != nil {
			return c.integer()
		}
	case *ast.BinaryExpr:
		x, ok := r.integer(e.X)
		y, ok2 := r.integer(e.Y)
		if ok && ok2 {
			return binary(e.Op.String(), integerLit(x), integerLit(y)).integer()
		}
	}
	return 0, false
}

// values returns the numbers of e.
func (r *reader) values(e ast.Expr) []*node {
	t := r.info.Types[e].Type
	if t == nil {
		return []*node{r.expr(e)}
	}
	if _, ok := t.Underlying().(*types.Basic); ok {
		return []*node{r.expr(e)}
	}
	r.leafTypes(e, t)
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return r.composite(e, t)
	case *ast.CallExpr:
		return r.inline(e)
	}
	objs := r.locals(e)
	if objs == nil {
		r.refuse(e, "%s is not known", types.ExprString(e))
	}
	var es []*node
	for _, obj := range objs {
		es = append(es, r.load(e, obj))
	}
	return es
}

// load returns the value that a local has now.
func (r *reader) load(at ast.Node, obj types.Object) *node {
	b := r.lookup(at, obj)
	if b.c != nil {
		return b.c
	}
	b.v.read = true
	return ref(b.v)
}

func (r *reader) composite(e *ast.CompositeLit, t types.Type) []*node {
	es := r.zeros(e, t)
	next := 0 // the number that comes next
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = kv.Value
			next = 0
			switch u := t.Underlying().(type) {
			case *types.Struct:
				for i := 0; u.Field(i).Name() != identOf(kv.Key).Name; i++ {
					next += len(r.leafTypes(e, u.Field(i).Type()))
				}
			case *types.Array:
				i, _ := r.integer(kv.Key)
				next = i * len(r.leafTypes(e, u.Elem()))
			}
		}
		var part []*node
		if lit, ok := x.(*ast.CompositeLit); ok && lit.Type == nil {
			part = r.composite(lit, r.info.Types[x].Type)
		} else {
			part = r.values(x)
		}
		next += copy(es[next:], part)
	}
	return es
}

// store reads to = e or to := e, for a local with the given numbers.
func (r *reader) store(to ast.Expr, es ...*node) {
	id := identOf(to)
	if id != nil && id.Name == "_" {
		return
	}
	if id != nil && r.info.Defs[id] != nil {
		r.declare(r.info.Defs[id], es)
		return
	}
	objs := r.locals(to)
	if objs == nil && id == nil {
		r.refuse(to, "%s is overwritten, and what it was could not be restored: use += or -=", types.ExprString(to))
	} else if objs == nil {
		r.variable(to, r.info.Uses[id]) // which refuses
	}
	for i, obj := range objs {
		r.variable(to, obj)
		r.set(obj, es[i])
	}
}

// declare gives obj, a new variable, the given numbers.
func (r *reader) declare(obj types.Object, es []*node) {
	_, array := obj.Type().Underlying().(*types.Array)
	_, structure := obj.Type().Underlying().(*types.Struct)
	if !array && !structure {
		r.set(obj, es[0])
		return
	}
	b := binding{scope: -1}
	for i, e := range es {
		leaf := types.NewVar(obj.Pos(), nil, fmt.Sprint(obj.Name(), i), types.Typ[types.Float64])
		r.set(leaf, e)
		b.leaves = append(b.leaves, leaf)
	}
	r.env[obj] = b
}

// set gives a local a new value.
func (r *reader) set(obj types.Object, e *node) {
	if _, ok := e.integer(); ok {
		r.env[obj] = binding{c: e, scope: r.scope}
		return
	}
	r.env[obj] = binding{v: r.define(obj.Name(), e), scope: r.scope}
}

// variable returns the binding of a local that may change.
func (r *reader) variable(at ast.Node, obj types.Object) binding {
	b := r.lookup(at, obj)
	if (b.v == nil || b.v.kind != number) && (b.view != nil || b.scope != r.scope) {
		r.refuse(at, "%s changes in a loop or a branch: there, what is not float64 keeps the value that it is defined with; count with the variable of a loop", obj.Name())
	}
	return b
}

func (r *reader) lookup(at ast.Node, obj types.Object) binding {
	b, ok := r.env[obj]
	if v, isVar := obj.(*types.Var); !ok && isVar && v.Parent() != nil && v.Parent() == r.pkg.Scope() {
		r.refuse(at, "%s is a variable outside of the function: make it a parameter", obj.Name())
	}
	if !ok {
		r.abandon(at)
	}
	return b
}

// abandon skips a statement that needs something that was refused.
func (r *reader) abandon(at ast.Node) {
	if len(r.refusals) == 0 {
		r.refuse(at, "this is not a number from parameters and locals")
	}
	panic(refusal{})
}

// A usage says what statements do with a local that is defined before them.
type usage struct{ read, added, stored bool }

// A scan finds out what statements do with locals.
type scan struct {
	reader *reader
	uses   map[types.Object]*usage
}

// use returns the usages of the locals that e may stand for, and whether it stands for
// all of them.
func (s *scan) use(e ast.Expr) (us []*usage, exact bool) {
	objs, exact := s.reader.leavesOf(e)
	for _, obj := range objs {
		if s.reader.env[obj].v == nil {
			continue // defined in the statements
		}
		if s.uses[obj] == nil {
			s.uses[obj] = new(usage)
		}
		us = append(us, s.uses[obj])
	}
	return us, exact
}

// change notes an assignment to e. An addition to one of several elements counts as an
// addition to each. Another assignment to one counts as a read of all, because the others keep
// their values.
func (s *scan) change(e ast.Expr, tok token.Token) {
	us, exact := s.use(e)
	add := tok == token.ADD_ASSIGN || tok == token.SUB_ASSIGN || tok == token.INC || tok == token.DEC
	for _, u := range us {
		u.added = u.added || add
		u.stored = u.stored || !add
		u.read = u.read || !add && (!exact || tok != token.ASSIGN && tok != token.DEFINE)
	}
	if identOf(e) == nil {
		s.indices(e)
	}
}

// indices visits the indices in e.
func (s *scan) indices(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		s.indices(e.X)
		ast.Inspect(e.Index, s.visit)
	case *ast.SelectorExpr:
		s.indices(e.X)
	}
}

func (s *scan) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			s.change(to, n.Tok)
		}
		for _, e := range n.Rhs {
			ast.Inspect(e, s.visit)
		}
		return false
	case *ast.IncDecStmt:
		s.change(n.X, n.Tok)
		return false
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.Ident:
		us, _ := s.use(n.(ast.Expr))
		for _, u := range us {
			u.read = true
		}
		if us != nil {
			s.indices(n.(ast.Expr))
			return false
		}
	case *ast.KeyValueExpr:
		if _, field := s.reader.info.Uses[identOf(n.Key)].(*types.Var); field {
			ast.Inspect(n.Value, s.visit)
			return false
		}
	}
	return true
}

// changes returns the locals defined outside of nodes that nodes change, in order.
func (r *reader) changes(nodes ...ast.Node) (objs []types.Object, uses map[types.Object]*usage) {
	s := &scan{r, map[types.Object]*usage{}}
	for _, n := range nodes {
		ast.Inspect(n, s.visit)
	}
	for obj, u := range s.uses {
		if u.added || u.stored {
			objs = append(objs, obj)
		}
	}
	slices.SortFunc(objs, func(a, b types.Object) int {
		if d := int(a.Pos() - b.Pos()); d != 0 {
			return d
		}
		return strings.Compare(a.Name(), b.Name())
	})
	return objs, s.uses
}

// changing prepares the locals that a loop or branch changes: those that are only added
// to become sums in it, and for the others it returns the locals that get the results.
func (r *reader) changing(branch bool, nodes ...ast.Node) (objs []types.Object, result map[types.Object]*local) {
	all, uses := r.changes(nodes...)
	result = map[types.Object]*local{}
	for _, obj := range all {
		b, u := r.env[obj], uses[obj]
		if b.sum || b.v.kind != number {
			continue // complete elsewhere, or refused where it changes
		}
		v, sum := b.v, !u.stored && !u.read
		if v.read || b.scope != r.scope || branch && u.read {
			v.read = true
			v = r.define(v.name, ref(v))
		}
		if !sum {
			result[obj] = v
		}
		if sum || !branch || !u.read {
			r.env[obj] = binding{v: v, sum: sum, scope: r.scope}
		}
		objs = append(objs, obj)
	}
	return objs, result
}

// settle binds the variables that a loop or a branch changes to their results.
func (r *reader) settle(objs []types.Object, result map[types.Object]*local) {
	for _, obj := range objs {
		v := result[obj]
		if v == nil {
			v = r.env[obj].v
		}
		r.env[obj] = binding{v: v, scope: r.scope}
	}
}
