package gradient

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Within a function a *mat.SymDense, a *mat.TriDense and a *mat.DiagDense are whole matrices, and a *mat.Cholesky is its
// lower factor. gonum stores half of a symmetric matrix. What a function makes has both halves, and
// SetSym sets both: a derivative by an element and its mirror image is then the sum of two. What a
// function is given is copied, and has neither derivatives nor changes.

// copies are the functions of num that copy what a function is given.
var copies = []string{"num.DiagonalOf", "num.SymmetricOf", "num.TriangularOf", "num.FactorOf"}

// isHalf reports whether t is such a type, or a pointer to one.
func isHalf(t types.Type) bool {
	return slices.Contains([]string{"SymDense", "TriDense", "DiagDense", "Cholesky"}, gonumType(t))
}

// isCopy reports whether e is in the memory of such a copy.
func isCopy(e expr) bool {
	if v, ok := e.(*view); ok && slices.Contains(copies, v.fn) {
		return true
	}
	v := root(e)
	return v != nil && (v.copied || v.outer != nil && isHalf(v.outer.typ))
}

// notCholesky refuses to read a factorisation as the matrix that it is of.
func (l *lowerer) notCholesky(e ast.Expr) {
	if gonumType(l.Info.TypeOf(e)) == "Cholesky" {
		l.refuse(e, "%s is a factorisation: store the matrix by ToSym", types.ExprString(e))
	}
}

// half reads a method of a symmetric or a triangular matrix that changes it.
func (l *lowerer) half(c *ast.CallExpr, f *types.Func, at ast.Expr) []expr {
	to := func(m expr) expr { return l.receiver(at, makeMatrix(dims(m, false))) }
	switch name := f.Name(); name {
	case "SetSym", "SetTri":
		m := l.receiver(at, nil)
		i, j := l.temporary("i", l.expr(c.Args[0])), l.temporary("j", l.expr(c.Args[1]))
		x := l.temporary("x", l.converted(l.expr(c.Args[2]), float))
		l.assign(entry(m, i, j), x)
		if name == "SetSym" {
			l.assign(entry(m, j, i), x)
		}
		return []expr{}
	case "SetDiag":
		m, i := l.receiver(at, nil), l.temporary("i", l.expr(c.Args[0]))
		l.assign(entry(m, i, i), l.converted(l.expr(c.Args[1]), float))
		return []expr{}
	case "AddSym":
		x, y := l.plainMatrix(c, c.Args[0]), l.plainMatrix(c, c.Args[1])
		l.use(c, l.model("DenseAdd"), to(x), x, y)
		return []expr{}
	case "ScaleSym", "ScaleTri":
		a, x := l.expr(c.Args[0]), l.plainMatrix(c, c.Args[1])
		l.use(c, l.model("DenseScale"), to(x), a, x)
		return []expr{}
	case "CopySym":
		x, m := l.plainMatrix(c, c.Args[0]), l.receiver(at, nil)
		l.copyPart(c, m, x)
		rows, _ := dims(m, false)
		of, _ := dims(x, false)
		return []expr{&call{"min", "", []expr{rows, of}, integer}}
	case "SymRankOne":
		x, a, y := l.plainMatrix(c, c.Args[0]), l.expr(c.Args[1]), l.vector(c.Args[2])
		l.use(c, l.model("SymRankOne"), to(x), x, a, y)
		return []expr{}
	case "SymOuterK", "SymRankK":
		x, trans := l.matrix(c.Args[len(c.Args)-1])
		rows, _ := dims(x, trans)
		outer := ref(l.define("outer", matrixType, makeMatrix(rows, rows)))
		l.emit(&product{c: outer, a: x, transA: trans, b: x, transB: !trans})
		a := l.expr(c.Args[len(c.Args)-2])
		if name == "SymOuterK" {
			l.use(c, l.model("DenseScale"), to(outer), a, outer)
			return []expr{}
		}
		l.use(c, l.model("DenseScale"), outer, a, outer)
		y := l.plainMatrix(c, c.Args[0])
		l.use(c, l.model("DenseAdd"), to(y), y, outer)
		return []expr{}
	case "Zero":
		l.use(c, l.model("DenseZero"), l.receiver(at, nil))
		return []expr{}
	}
	l.refuse(c, "%s is not differentiated: AddSym, At, CopySym, Dims, IsEmpty, Norm, ScaleSym, ScaleTri, SetDiag, SetSym, SetTri, SymmetricDim, SymOuterK, SymRankK, SymRankOne, T, Trace, TTri and Zero are", types.ExprString(c.Fun))
	return nil
}

// cholesky reads a method of a factorisation A = L·Lᵀ.
func (l *lowerer) cholesky(c *ast.CallExpr, f *types.Func, at ast.Expr) []expr {
	if f.Name() == "Factorize" {
		l.notCholesky(c.Args[0])
		a := l.plainMatrix(c, c.Args[0])
		to := l.receiver(at, makeMatrix(dims(a, false)))
		l.use(c, l.model("DenseZero"), to)
		ok := ref(l.define("ok", boolean, l.use(c, l.model("DenseNumbers"), a)[0]))
		l.emit(&branch{cond: ok, then: l.nested(func() {
			err := l.library(c, "Cholesky", nil, &kernelOperand{field: "L", role: "acc", x: to}, &kernelOperand{field: "A", role: "in", x: a})
			l.assign(ok, &binary{token.EQL, err, lit("nil", err.typeOf()), boolean})
		})})
		return []expr{ok}
	}
	if f.Name() == "Clone" {
		from := l.header("m", l.memory(c.Args[0]))
		l.use(c, l.model("DenseCopy"), l.receiver(at, makeMatrix(dims(from, false))), from)
		return []expr{}
	}
	m := l.header("m", l.memory(at))
	n, _ := dims(m, false)
	// solved adds op(L)⁻¹·b to x, which is zero.
	solved := func(x, b expr, plain ...string) expr {
		return l.library(c, "TriSolve", plain, &kernelOperand{field: "X", role: "acc", x: x}, &kernelOperand{field: "A", role: "in", x: m}, &kernelOperand{field: "B", role: "in", x: b})
	}
	l.use(c, l.model("CholeskyValid"), m)
	switch name := f.Name(); name {
	case "SymmetricDim":
		return []expr{n}
	case "Dims":
		return []expr{n, n}
	case "LogDet", "Det":
		log := l.use(c, l.model("CholeskyLogDet"), m)
		if name == "Det" {
			return []expr{ref(l.define("det", float, fn("Exp", log[0])))}
		}
		return log
	case "SolveVecTo", "SolveTo":
		b, trans := l.matrix(c.Args[1])
		if trans {
			b = l.plainMatrix(c, c.Args[1])
		}
		_, width := dims(b, false)
		half := ref(l.define("half", matrixType, makeMatrix(n, width)))
		solved(half, b)
		makes, zero := makeMatrix(n, width), "DenseZero"
		if name == "SolveVecTo" {
			makes, zero = makeVector(n), "VecZero"
		}
		to := l.receiver(c.Args[0], makes)
		l.use(c, l.model(zero), to)
		if name == "SolveVecTo" {
			to = column(to)
		}
		return []expr{solved(to, half, "TransA: true")}
	case "InverseTo":
		unit := ref(l.define("unit", matrixType, makeMatrix(n, n)))
		l.use(c, l.model("DenseUnit"), unit)
		half := ref(l.define("half", matrixType, makeMatrix(n, n)))
		err := solved(half, unit)
		l.emit(&product{c: l.receiver(c.Args[0], makeMatrix(n, n)), a: half, transA: true, b: half})
		return []expr{err}
	case "ToSym":
		l.emit(&product{c: l.receiver(c.Args[0], makeMatrix(n, n)), a: m, b: m, transB: true})
		return []expr{}
	case "LTo", "UTo":
		model := map[string]string{"LTo": "DenseCopy", "UTo": "DenseTranspose"}[name]
		l.use(c, l.model(model), l.receiver(c.Args[0], makeMatrix(n, n)), m)
		return []expr{}
	}
	l.refuse(c, "%s is not differentiated: Clone, Det, Dims, Factorize, InverseTo, LogDet, LTo, SolveTo, SolveVecTo, SymmetricDim, ToSym and UTo are", types.ExprString(c.Fun))
	return nil
}

// newHalf reads NewSymDense, NewTriDense and NewDiagDense. What they are given is copied.
func (l *lowerer) newHalf(c *ast.CallExpr, name string) expr {
	n, data := l.temporary("n", l.expr(c.Args[0])), c.Args[len(c.Args)-1]
	if l.isNil(data) {
		return makeMatrix(n, n)
	}
	if name == "NewTriDense" {
		l.refuse(data, "write nil, and set the elements by SetTri: memory that is shared with half a matrix is not differentiated")
	}
	x := l.header("x", l.expr(data))
	to := l.define("s", matrixType, makeMatrix(n, n))
	list := l.nested(func() {
		if name == "NewDiagDense" {
			l.use(c, l.model("DiagSet"), ref(to), x)
		} else {
			l.use(c, l.model("SymMirror"), ref(to), &view{"num.Shaped", x, []expr{n, n}, matrixType})
		}
	})
	l.out = append(l.out, list...)
	if _, ok := ast.Unparen(data).(*ast.CompositeLit); !ok {
		to.copied = true
		l.frozen = append(l.frozen, frozen{x, list[len(list)-1], data})
	}
	return ref(to)
}

// A frozen slice is one that was copied where gonum shares it: it may not change after the statement that did.
type frozen struct {
	x    expr
	copy stmt
	at   ast.Expr
}

// check refuses statements that change the slice.
func (f frozen) check(l *lowerer, a *analysis) {
	k := a.key(f.x)
	changes := func(list []stmt) {
		each(list, func(s stmt) {
			sets(s, func(e expr, _ bool) {
				if !isReference(e) && a.key(e) == k {
					l.refuse(f.at, "%s changes later, and gonum's matrix with it: give the matrix a copy", types.ExprString(f.at))
				}
			})
		})
	}
	var after func(list []stmt, info *loopInfo) bool // those after the copy, and all of a loop in which that comes again
	after = func(list []stmt, info *loopInfo) bool {
		for i, s := range list {
			found := s == f.copy
			switch s := s.(type) {
			case *branch:
				found = found || after(s.then, nil) || after(s.els, nil)
			case *ranged:
				found = found || after(s.body, s.info)
			case *while:
				found = found || after(s.body, s.info)
			}
			if found {
				if info != nil && !madeIn(l.out, root(f.x), info, nil) {
					i = -1
				}
				changes(list[i+1:])
				return true
			}
		}
		return false
	}
	after(l.out, nil)
}

// madeIn reports whether the memory of a slice is made in a loop, each time anew.
func madeIn(list []stmt, v *variable, info *loopInfo, seen []*variable) bool {
	if v == nil || slices.Contains(seen, v) || !slices.Contains(v.scope, info) {
		return false
	}
	yes := true
	each(list, func(s stmt) {
		switch s := s.(type) {
		case *assignment:
			if !isVariable(s.l, v) {
				return
			}
			of := s.r
			for p, ok := of.(*part); ok; p, ok = of.(*part) {
				of = p.x
			}
			switch of := of.(type) {
			case nil:
			case *call:
				yes = yes && of.fn == "make"
			case *reference:
				yes = yes && madeIn(list, of.v, info, append(seen, v))
			default:
				yes = yes && isLit(of, "nil")
			}
		case *swap:
			yes = yes && !isVariable(s.x, v) && !isVariable(s.y, v)
		}
	})
	return yes
}

// grown reads *dst = *(dst.GrowSym(n).(*mat.SymDense)) of an empty dst, which package stat has.
func (l *lowerer) grown(to, e ast.Expr) bool {
	dst, ok := to.(*ast.StarExpr)
	from, also := e.(*ast.StarExpr)
	if !ok || !also {
		return false
	}
	a, ok := ast.Unparen(from.X).(*ast.TypeAssertExpr)
	if !ok {
		return false
	}
	c, ok := ast.Unparen(a.X).(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := l.callee(c).(*types.Func)
	if !ok || f.FullName() != "(*"+matPath+".SymDense).GrowSym" || types.ExprString(c.Fun) != types.ExprString(dst.X)+".GrowSym" {
		return false
	}
	if u, empty := l.expr(dst.X).(*unsized); !empty || u.perhaps {
		l.refuse(c, "a matrix that has a size does not grow here")
	}
	n := l.temporary("n", l.expr(c.Args[0]))
	l.receiver(dst.X, makeMatrix(n, n))
	return true
}
