package revgen

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// withoutExits returns list without the statements that leave it, such as return and
// continue. If one is in a branch, what follows becomes the other side of the branch.
// exit reports whether a statement leaves, and returns what replaces it.
func (r *reader) withoutExits(list []ast.Stmt, exit func(ast.Stmt) ([]ast.Stmt, bool)) []ast.Stmt {
	for i, s := range list {
		before := slices.Clip(list[:i])
		if in, ok := exit(s); ok {
			return append(before, in...)
		}
		if w, ok := s.(*ast.SwitchStmt); ok && leaves(s, exit) {
			return r.withoutExits(append(append(before, r.ifChain(w)...), list[i+1:]...), exit)
		}
		if b, ok := s.(*ast.BlockStmt); ok && leaves(s, exit) {
			return r.withoutExits(append(append(before, b.List...), list[i+1:]...), exit)
		}
		c, ok := s.(*ast.IfStmt)
		if !ok || !leaves(s, exit) {
			continue
		}
		body, els, rest := c.Body.List, []ast.Stmt(nil), list[i+1:]
		switch e := c.Else.(type) {
		case *ast.BlockStmt:
			els = e.List
		case *ast.IfStmt:
			els = []ast.Stmt{e}
		}
		switch {
		case ends(body, exit):
			els = append(slices.Clip(els), rest...)
		case ends(els, exit):
			body = append(slices.Clip(body), rest...)
		default:
			els, body = append(slices.Clip(els), rest...), append(slices.Clip(body), rest...)
		}
		n := *c
		n.Body = &ast.BlockStmt{Lbrace: c.Pos(), List: r.withoutExits(body, exit)}
		n.Else = &ast.BlockStmt{Lbrace: c.Pos(), List: r.withoutExits(els, exit)}
		return append(before, &n)
	}
	return list
}

// leaves reports whether a statement in s leaves, other than in a loop or a function
// in it.
func leaves(s ast.Node, exit func(ast.Stmt) ([]ast.Stmt, bool)) (yes bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		case ast.Stmt:
			_, ok := exit(n)
			yes = yes || ok
		}
		return true
	})
	return yes
}

// ends reports whether list always leaves.
func ends(list []ast.Stmt, exit func(ast.Stmt) ([]ast.Stmt, bool)) bool {
	if len(list) == 0 {
		return false
	}
	last := list[len(list)-1]
	if _, ok := exit(last); ok {
		return true
	}
	switch s := last.(type) {
	case *ast.BlockStmt:
		return ends(s.List, exit)
	case *ast.IfStmt:
		return s.Else != nil && ends(s.Body.List, exit) && ends([]ast.Stmt{s.Else}, exit)
	}
	return false
}

// ifChain returns a switch as if and else.
func (r *reader) ifChain(s *ast.SwitchStmt) (list []ast.Stmt) {
	if s.Init != nil {
		list = append(list, s.Init)
	}
	var first, last *ast.IfStmt
	var otherwise ast.Stmt
	for _, c := range s.Body.List {
		c := c.(*ast.CaseClause)
		block := &ast.BlockStmt{Lbrace: c.Pos(), List: c.Body}
		var cond ast.Expr
		for _, e := range c.List {
			if s.Tag != nil {
				e = &ast.BinaryExpr{X: s.Tag, OpPos: e.Pos(), Op: token.EQL, Y: e}
			}
			if cond != nil {
				e = &ast.BinaryExpr{X: cond, OpPos: e.Pos(), Op: token.LOR, Y: e}
			}
			cond = e
		}
		if cond == nil {
			otherwise = block
			continue
		}
		next := &ast.IfStmt{If: c.Pos(), Cond: cond, Body: block}
		if first == nil {
			first = next
		} else {
			last.Else = next
		}
		last = next
	}
	switch {
	case first != nil:
		last.Else = otherwise
		return append(list, first)
	case otherwise != nil:
		return append(list, otherwise)
	}
	return list
}

func (r *reader) branch(s *ast.IfStmt) {
	if s.Init != nil {
		r.stmt(s.Init)
	}
	if isPanic(s) {
		r.refuse(s, "conditions that panic belong to the beginning of the function")
	}
	c := &stmt{op: "cond", e: r.expr(s.Cond), pos: s.Pos()}
	switch {
	case c.e.op == "lit" && c.e.text == "true":
		r.stmt(s.Body)
		return
	case c.e.op == "lit" && s.Else != nil:
		r.stmt(s.Else)
		return
	case c.e.op == "lit":
		return
	}
	sides := []ast.Node{s.Body}
	if s.Else != nil {
		sides = append(sides, s.Else)
	}
	objs, result := r.changing(true, sides...)
	entry, known := maps.Clone(r.env), r.facts
	side := func(n ast.Stmt, els bool) []*stmt {
		r.facts = known.inside(c, els)
		return r.within(func() {
			r.stmts([]ast.Stmt{n})
			for _, obj := range objs {
				if v := r.env[obj].v; result[obj] != nil && v != entry[obj].v {
					v.read = true
					r.emit(set(result[obj], ref(v)))
				}
				r.env[obj] = entry[obj]
			}
		})
	}
	c.inner = side(s.Body, false)
	if s.Else != nil {
		c.els = side(s.Else, true)
	}
	r.facts = known
	r.emit(c)
	r.settle(objs, result)
}

// readLoop reads the body of a loop. start runs before the body, in its block.
func (r *reader) readLoop(l *stmt, body *ast.BlockStmt, while ast.Expr, start func()) {
	nodes := []ast.Node{body}
	if while != nil {
		nodes = append(nodes, while)
	}
	objs, result := r.changing(false, nodes...)
	var carried []types.Object
	for _, obj := range objs {
		if result[obj] != nil {
			carried = append(carried, obj)
			l.carried = append(l.carried, result[obj])
			r.env[obj] = binding{v: result[obj], scope: -1}
		}
	}
	known := r.facts
	r.facts = known.inside(l, false)
	defer func() { r.facts = known }()
	l.inner = r.within(func() {
		if while != nil {
			if l.e = r.expr(while); len(r.out) > 0 {
				r.refuse(while, "the condition of a loop cannot hold calls that take statements")
			}
		}
		start()
		r.stmts(r.withoutExits(body.List, exitOfLoop))
		last := make([]*local, len(carried))
		for i, obj := range carried {
			last[i] = r.env[obj].v
			last[i].read = true
		}
		for i, v := range l.carried {
			if last[i] != v {
				r.emit(set(v, ref(last[i])))
			}
		}
	})
	r.emit(l)
	r.settle(objs, result)
}

// exitOfLoop is the exit of straight for the body of a loop: it reports whether s leaves the
// iteration.
func exitOfLoop(s ast.Stmt) ([]ast.Stmt, bool) {
	b, ok := s.(*ast.BranchStmt)
	return nil, ok && b.Tok == token.CONTINUE && b.Label == nil
}

// unrolled reads a loop once for each value of its variable, if it indexes a local
// array by that, and reports whether it has.
func (r *reader) unrolled(l *stmt, obj types.Object, body *ast.BlockStmt, start func(i int)) bool {
	indexes := false
	ast.Inspect(body, func(n ast.Node) bool {
		if e, ok := n.(*ast.IndexExpr); ok {
			if objs, exact := r.leavesOf(e.X); objs != nil || !exact {
				ast.Inspect(e.Index, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					indexes = indexes || ok && obj != nil && r.info.Uses[id] == obj
					return true
				})
			}
		}
		return true
	})
	if !indexes {
		return false
	}
	lo, ok := l.lo.integer()
	hi, ok2 := l.hi.integer()
	if !ok || !ok2 || hi-lo > maxLeaves {
		r.refuseAt(l.pos, "the index of a local array is a constant, or the variable of a loop with constant bounds, at most %d apart", maxLeaves)
	}
	list := r.withoutExits(body.List, exitOfLoop)
	for i := lo; i < hi; i++ {
		at := i
		if l.down {
			at = hi - 1 - (i - lo)
		}
		r.env[obj] = binding{c: integerLit(at)}
		start(at)
		r.stmts(list)
	}
	return true
}

func (r *reader) forLoop(s *ast.ForStmt) {
	l := &stmt{op: "loop", v: &local{name: "n", kind: integer}, lo: none, pos: s.Pos()}
	var obj types.Object
	if s.Init != nil {
		init, ok := s.Init.(*ast.AssignStmt)
		if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
			r.refuse(s.Init, "a loop defines one variable")
		}
		id := identOf(init.Lhs[0])
		obj = r.info.Defs[id]
		l.v.name, l.lo = id.Name, r.expr(init.Rhs[0])
		if l.lo.kind != integer {
			r.refuse(s.Init, "%s is no integer: its steps would round, and the inverse take others", id.Name)
		}
		r.env[obj] = binding{v: l.v, scope: -1}
	}
	if s.Cond == nil {
		r.refuse(s, "a loop without end: give it a condition")
	}
	up, down := false, false
	if s.Post != nil {
		p, ok := s.Post.(*ast.IncDecStmt)
		if !ok || obj == nil || r.info.Uses[identOf(p.X)] != obj {
			r.refuse(s.Post, "a loop ends with its variable's ++ or --")
		}
		up, down = p.Tok == token.INC, p.Tok == token.DEC
	}
	if _, uses := r.changes(s.Body); obj != nil && uses[obj] != nil && (uses[obj].added || uses[obj].stored) {
		r.refuse(s, "%s changes in the loop that counts with it", l.v.name)
	}
	c, _ := s.Cond.(*ast.BinaryExpr)
	if c == nil || obj == nil || identOf(c.X) == nil || r.info.Uses[identOf(c.X)] != obj {
		if down {
			r.refuse(s.Cond, "a loop with a condition counts up")
		}
		r.readLoop(l, s.Body, s.Cond, func() {})
		return
	}
	next := func(e *node) *node { return binary("+", e, lit(integer, "1")) }
	bound := r.expr(c.Y)
	switch {
	case up && c.Op == token.LSS:
		l.hi = bound
	case up && c.Op == token.LEQ:
		l.hi = next(bound)
	case down && c.Op == token.GEQ:
		l.lo, l.hi, l.down = bound, next(l.lo), true
	case down && c.Op == token.GTR:
		l.lo, l.hi, l.down = next(bound), next(l.lo), true
	default:
		r.refuse(s.Cond, "a loop up ends with < or <=, a loop down with > or >=")
	}
	if !r.unrolled(l, obj, s.Body, func(int) {}) {
		r.readLoop(l, s.Body, nil, func() {})
	}
}

func (r *reader) rangeLoop(s *ast.RangeStmt) {
	l := &stmt{op: "loop", v: &local{name: "i", kind: integer}, lo: none, pos: s.Pos()}
	var obj types.Object
	if id := identOf(s.Key); id != nil && id.Name != "_" {
		l.v.name = id.Name
		obj = r.info.Defs[id]
	}
	if obj == nil && s.Key != nil && (identOf(s.Key) == nil || identOf(s.Key).Name != "_") {
		r.refuse(s, "a loop defines its variables by :=")
	}
	if t := r.info.Types[s.X].Type; t != nil {
		if a, ok := t.Underlying().(*types.Array); ok {
			r.rangeArray(s, obj, int(a.Len()))
			return
		}
		if b, ok := t.Underlying().(*types.Basic); !r.isSlice(s.X) && (!ok || b.Info()&types.IsInteger == 0) {
			r.refuse(s.X, "a range over a %s cannot be run backward: loops run over integers, slices and arrays", r.typeName(types.Default(t)))
		}
	}
	var v *view
	if r.isSlice(s.X) {
		v = r.withPlainIndices(r.view(s.X))
		l.hi = v.length()
	} else {
		l.hi = r.expr(s.X)
	}
	if obj != nil {
		r.env[obj] = binding{v: l.v, scope: -1}
	}
	start := func(i *node) {
		id := identOf(s.Value)
		if id == nil || id.Name == "_" {
			return
		}
		e := v.index(i)
		if len(e.at) < e.x.rank {
			r.env[r.info.Defs[id]] = binding{view: e}
			return
		}
		e.x.read = true
		r.store(id, elem(e.x, e.at))
	}
	if !r.unrolled(l, obj, s.Body, func(i int) { start(integerLit(i)) }) {
		r.readLoop(l, s.Body, nil, func() { start(ref(l.v)) })
	}
}

// rangeArray reads a loop over a local array.
func (r *reader) rangeArray(s *ast.RangeStmt, obj types.Object, n int) {
	leaves := r.locals(s.X)
	if leaves == nil {
		r.refuse(s.X, "%s is not a local array", types.ExprString(s.X))
	}
	size := len(leaves) / n
	if obj == nil {
		obj = types.NewVar(s.Pos(), nil, "i", types.Typ[types.Int])
	}
	var copies []*node // Go runs over a copy of the array
	id := identOf(s.Value)
	if id != nil && id.Name != "_" {
		for _, leaf := range leaves {
			copies = append(copies, r.load(s, leaf))
		}
	}
	list := r.withoutExits(s.Body.List, exitOfLoop)
	for i := range n {
		r.env[obj] = binding{c: integerLit(i)}
		if copies != nil {
			r.store(id, copies[i*size:][:size]...)
		}
		r.stmts(list)
	}
}
