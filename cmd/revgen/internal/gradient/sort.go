package gradient

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A slice that is sorted gets its elements in an order, which is a slice of indices and has no derivatives:
//
//	order := num.Order(len(x), func(i, j int) bool { return x[i] < x[j] })
//	old := x, copied
//	x[k] = old[order[k]] for all k

// A comparison is a function that says whether element i comes before element j.
type comparison struct {
	i, j   *variable
	before expr
}

func (*comparison) typeOf() types.Type { return types.NewSignatureType(nil, nil, nil, nil, nil, false) }

// sorts reports whether a function sorts a slice.
func sorts(obj types.Object) bool {
	if obj == nil || obj.Pkg() == nil {
		return false
	}
	var names []string
	switch obj.Pkg().Path() {
	case "sort":
		names = []string{"Float64s", "Ints", "Slice", "SliceStable"}
	case "slices":
		names = []string{"Sort", "SortFunc", "SortStableFunc"}
	}
	return slices.Contains(names, obj.Name())
}

// sort reads a call that sorts a slice.
func (l *lowerer) sort(c *ast.CallExpr, obj types.Object) {
	x := l.header("x", l.expr(c.Args[0]))
	t := x.typeOf()
	f := &comparison{l.variable("i", integer), l.variable("j", integer), nil}
	of := func(i *variable) expr { return viewed(&element{x, ref(i), elemOf(t)}) }
	before := l.nested(func() {
		switch {
		case len(c.Args) == 1:
			f.before = less(of(f.i), of(f.j))
		case obj.Pkg().Path() == "sort":
			f.before = l.compared(c.Args[1], ref(f.i), ref(f.j))
			l.moves(c, f)
		default:
			f.before = l.compared(c.Args[1], of(f.i), of(f.j))
		}
	})
	if len(before) > 0 {
		l.refuse(c.Args[1], "an order is an expression of elements and operators here: compute the numbers that it compares before")
	}
	name := "num.Order"
	if obj.Name() == "SliceStable" || obj.Name() == "SortStableFunc" {
		name = "num.StableOrder"
	}
	ints := types.NewSlice(integer)
	order := ref(l.define("order", ints, &call{name, numPath, []expr{length(x), f}, ints}))
	old := ref(l.define("old", t, &call{"make", "", []expr{length(x)}, t}))
	l.over(length(x), func(i expr) { l.assign(&element{old, i, elemOf(t)}, &element{x, i, elemOf(t)}) })
	l.over(length(x), func(i expr) {
		l.assign(&element{x, i, elemOf(t)}, &element{old, &element{order, i, integer}, elemOf(t)})
	})
}

// compared reads a function literal of two parameters that returns one expression, or one in each of some branches.
// Of one that returns an integer it says whether that is negative.
func (l *lowerer) compared(e ast.Expr, x, y expr) (before expr) {
	lit, ok := ast.Unparen(e).(*ast.FuncLit)
	if !ok {
		l.refuse(e, "write the order as a function literal here")
	}
	k := 0
	for _, p := range lit.Type.Params.List {
		for _, id := range p.Names {
			l.bound[l.Info.Defs[id]] = []expr{x, y}[k]
			k++
		}
	}
	return l.ordered(lit.Body, lit.Body.List)
}

// ordered reads the statements of an order.
func (l *lowerer) ordered(at ast.Node, list []ast.Stmt) expr {
	if len(list) > 0 {
		rest := list[1:]
		switch s := list[0].(type) {
		case *ast.ReturnStmt:
			if len(s.Results) == 1 {
				return l.precedes(s.Results[0])
			}
		case *ast.BlockStmt:
			return l.ordered(s, slices.Concat(s.List, rest))
		case *ast.SwitchStmt:
			if s.Init == nil && !breaks(s.Body) {
				if chain := l.chain(s); chain != nil {
					rest = slices.Concat([]ast.Stmt{chain}, rest)
				}
				return l.ordered(s, rest)
			}
		case *ast.IfStmt:
			if s.Init == nil {
				cond, then := l.condition(s.Cond), l.ordered(s, slices.Concat(s.Body.List, rest))
				if s.Else != nil {
					rest = slices.Concat([]ast.Stmt{s.Else}, rest)
				}
				els := l.ordered(s, rest)
				return &binary{token.LOR, &binary{token.LAND, cond, then, boolean}, &binary{token.LAND, &unary{token.NOT, cond}, els, boolean}, boolean}
			}
		}
		at = list[0]
	}
	l.refuse(at, "an order is if, switch and return here")
	return nil
}

// precedes reads what an order returns.
func (l *lowerer) precedes(e ast.Expr) expr {
	if isBoolean(l.typeOf(e)) {
		return l.condition(e)
	}
	if c, ok := ast.Unparen(e).(*ast.CallExpr); ok {
		if f, ok := l.callee(c).(*types.Func); ok && f.Origin().FullName() == "cmp.Compare" {
			return less(l.expr(c.Args[0]), l.expr(c.Args[1]))
		}
	}
	return &binary{token.LSS, l.expr(e), integerLit(0), boolean}
}

// less returns whether x comes before y, as cmp.Less does: NaN comes first.
func less(x, y expr) expr {
	before := &binary{token.LSS, x, y, boolean}
	if !isFloat(x.typeOf()) {
		return before
	}
	nan := func(e expr, op token.Token) expr { return &binary{op, e, e, boolean} }
	return &binary{token.LOR, before, &binary{token.LAND, nan(x, token.NEQ), nan(y, token.EQL), boolean}, boolean}
}

// moves refuses an order of positions that reads more of the slice, or of other things by these positions, than the
// two elements: sort.Slice moves them while it compares, and the order here is found before they move.
func (l *lowerer) moves(c *ast.CallExpr, f *comparison) {
	start := func(e expr) expr { // the slice that e is the first elements of
		for p, ok := e.(*part); ok && p.lo == nil; p, ok = e.(*part) {
			e = p.x
		}
		return e
	}
	x := start(l.expr(c.Args[0]))
	position := func(e expr) bool { return isVariable(e, f.i) || isVariable(e, f.j) }
	plain := true
	var look func(e expr)
	look = func(e expr) {
		at, ok := e.(*element)
		switch {
		case ok && position(at.i) && same(start(at.x), x):
			return
		case position(e), isPlace(e) && same(e, x):
			plain = false
			return
		}
		for _, e := range children(e) {
			if e != nil {
				look(e)
			}
		}
	}
	look(f.before)
	if !plain {
		s := types.ExprString(c.Args[0])
		l.refuse(c.Args[1], "this order reads more than the elements of %s at its two positions, which sort.Slice moves: use the positions only as in %s[i]", s, s)
	}
}
