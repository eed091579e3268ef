package gradient

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Solutions of linear systems, inverses and determinants of gonum are calls of kernels of package revlinalg.

const linalgPath = "revnum/revlinalg"

// library calls a kernel of package revlinalg, and returns its error, or nil if it has none.
func (l *lowerer) library(at ast.Node, name string, plain []string, operands ...*kernelOperand) (err expr) {
	pkg, failed := l.Imports.Import(linalgPath)
	if failed != nil {
		l.refuse(at, "this is a call of package revlinalg: %v", failed)
	}
	t, failed := types.Instantiate(nil, pkg.Scope().Lookup(name).Type(), []types.Type{float}, true)
	if failed != nil {
		l.refuse(at, "this is a call of package revlinalg: %v", failed)
	}
	s := &kernel{typ: t.(*types.Named), pass: "Forward", plain: plain, operands: operands}
	f, _, _ := types.LookupFieldOrMethod(t, false, pkg, "Forward")
	if s.fails = f.Type().(*types.Signature).Results().Len() > 0; s.fails {
		s.err = l.define("err", types.Universe.Lookup("error").Type(), nil)
		err = ref(s.err)
	}
	l.emit(s)
	return err
}

// solve reads x.Solve(a, b), x.SolveVec(a, b), or if there is no b x.Inverse(a).
func (l *lowerer) solve(c *ast.CallExpr, at ast.Expr) []expr {
	a, trans := l.matrix(c.Args[0])
	rows, cols := dims(a, trans)
	vector := isVector(l.expr(at).typeOf())
	name, plain, x := "Inv", []string(nil), "B"
	var b, makes expr = nil, makeMatrix(cols, rows)
	if len(c.Args) == 2 {
		var transB bool
		b, transB = l.matrix(c.Args[1])
		if transB {
			b = l.plainMatrix(c, c.Args[1])
		}
		if trans {
			plain = []string{"TransA: true"}
		}
		_, width := dims(b, false)
		name, x, makes = "Solve", "X", makeMatrix(cols, width)
	} else if trans {
		a = l.plainMatrix(c, c.Args[0])
	}
	if vector {
		makes = makeVector(cols)
	}
	to := l.receiver(at, makes)
	l.apart(c, to, &a, &b)
	if vector {
		l.use(c, l.model("VecZero"), to)
		to = column(to)
	} else {
		l.use(c, l.model("DenseZero"), to)
	}
	operands := []*kernelOperand{{field: x, role: "acc", x: to}, {field: "A", role: "in", x: a}}
	if b != nil {
		operands = append(operands, &kernelOperand{field: "B", role: "in", x: b})
	}
	return []expr{l.library(c, name, plain, operands...)}
}

// apart copies factors that are in the memory of a product, because gonum reads what they are before.
func (l *lowerer) apart(c *ast.CallExpr, to expr, factors ...*expr) {
	for _, m := range factors {
		if *m != nil && root(*m) == root(to) {
			old := ref(l.define("old", matrixType, makeMatrix(dims(*m, false))))
			l.use(c, l.model("DenseCopy"), old, l.header("m", *m))
			*m = old
		}
	}
}

// determinant reads mat.Det(a), and mat.LogDet(a), whose results of a singular matrix are -∞ and 0.
func (l *lowerer) determinant(c *ast.CallExpr, name string) []expr {
	a := &kernelOperand{field: "A", role: "in", x: l.plainMatrix(c, c.Args[0])}
	out := l.define("det", float, nil)
	operands := []*kernelOperand{{field: "Out", role: "acc", x: ref(out)}}
	if name == "Det" {
		l.library(c, name, nil, append(operands, a)...)
		return []expr{ref(out)}
	}
	sign := l.define("sign", float, nil)
	err := l.library(c, name, nil, append(operands, &kernelOperand{field: "Sign", role: "acc", x: ref(sign)}, a)...)
	singular := &binary{token.NEQ, err, lit("nil", err.typeOf()), boolean}
	l.emit(&branch{cond: singular, then: []stmt{&assignment{l: ref(out), op: token.ASSIGN, r: fn("Inf", lit("-1", integer))}}})
	return []expr{ref(out), ref(sign)}
}
