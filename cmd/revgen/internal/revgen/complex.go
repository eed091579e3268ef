package revgen

import (
	"fmt"
	"go/ast"
	"go/token"
	"math"
	"strconv"
	"strings"
)

// A function over complex128 becomes a kernel over complex128. The cotangent of z = x + iy
// is x̄ + iȳ, so that the inner product of cotangents and tangents is the real part of
// Σ conj(z̄)·ż. The adjoint of a product by c is then the product by conj(c):
//
//	z = a·b     ā += z̄·conj(b),  b̄ += z̄·conj(a)
//	z = f(a)    ā += z̄·conj(f'(a)), for f that is holomorphic
//	z = conj(a) ā += conj(z̄)
//
// The other functions of math/cmplx, and real and imag, have real values. Their derivative
// is Re(d·ȧ) with the d of the rules, and their adjoint
//
//	z = real(f(a)) ā += Re(z̄)·conj(d)
//
// A float64 of the function is complex in the kernel, with zero as its imaginary part. The
// imaginary part of its cotangent is not needed, and is dropped where the function has made
// the number real. Functions of package math take the real part.

// number notes that the function has complex or real numbers, and refuses it if it has
// both.
func (r *reader) number(at ast.Node, complex bool) {
	for _, p := range r.k.params {
		if x, ok := p.(*operand); r.k.complex != complex && (ok && !x.index || !ok && p.(*local).kind == number) {
			r.refuse(at, "float64 and complex128 in one kernel: write all numbers over one of them")
		}
	}
	if r.k.complex = complex; complex && r.k.generic != "" {
		r.refuse(at, "%s%s: a function over complex128 becomes a kernel over complex128, %s without type parameter", r.k.name, r.k.generic, r.k.name)
	}
}

// complexLit returns a constant.
func complexLit(v complex128) *node {
	if imag(v) == 0 {
		return signed(real(v) < 0, lit(number, strconv.FormatFloat(math.Abs(real(v)), 'g', -1, 64)))
	}
	return lit(number, fmt.Sprintf(complexForm, real(v), imag(v)))
}

const complexForm = "complex(%v, %v)"

// complexCall reads the call of a function of complex numbers, or returns nil.
func (r *reader) complexCall(e *ast.CallExpr, name string) *node {
	arg := func(i int) *node { return r.expr(e.Args[i]) }
	switch f := "cmplx." + r.mathFunc(e, "math/cmplx"); {
	case !r.k.complex:
		return nil
	case name == "real" || name == "imag":
		return fn(name, arg(0))
	case name == "complex":
		return fn(name, arg(0), arg(1))
	case f == "cmplx.":
		return nil
	case f == "cmplx.Conj":
		return conj(arg(0))
	case f == "cmplx.Rect":
		length, angle := r.atom(arg(0)), r.atom(arg(1))
		return fn("complex", product(length, fn("Cos", angle)), product(length, fn("Sin", angle)))
	case rules[f] == nil:
		r.refuse(e, "%s has no derivative here; there are %s", f, known(true))
		return nil
	default:
		c := fn(f)
		for i := range e.Args {
			c.args = append(c.args, arg(i))
		}
		return c
	}
}

// toReal reports whether e makes a complex number real.
func (e *node) toReal() bool {
	return e.op == "real" || e.op == "imag" || e.op == "cmplx.Abs" || e.op == "cmplx.Phase"
}

// isReal reports whether e is a call with a real value.
func (e *node) isReal() bool { return e.toReal() || token.IsExported(e.op) }

// realPart returns the real part of x.
func realPart(x *node) *node {
	switch {
	case x.isReal():
		return x
	case x.minus() != nil:
		return neg(realPart(x.minus()))
	}
	return fn("real", x)
}

// conj returns the conjugate of x.
func conj(x *node) *node {
	free := func(x *node) bool { return x.op == "lit" || x.op == "cmplx.Conj" || x.isReal() }
	switch {
	case x.op == "cmplx.Conj":
		return x.args[0]
	case x.isReal():
		return x
	case x.minus() != nil:
		return neg(conj(x.minus()))
	case x.op == "*" && (free(x.args[0]) || free(x.args[1])):
		return product(conj(x.args[0]), conj(x.args[1]))
	case (x.op == "/" || x.op == "over") && (free(x.args[0]) || free(x.args[1])):
		return quotient(x.op, conj(x.args[0]), conj(x.args[1]))
	case x.op != "lit":
		return fn("cmplx.Conj", x)
	}
	var re, im float64
	if n, _ := fmt.Sscanf(x.text, complexForm, &re, &im); n == 2 {
		return complexLit(complex(re, -im))
	}
	return x
}

// conj returns the conjugate of x, or x if numbers are real.
func (r *reverser) conj(x *node) *node {
	if !r.k.complex {
		return x
	}
	return conj(x)
}

// realExpr returns the real part of e as Go.
func (w *writer) realExpr(e *node) string {
	var args []string
	for _, a := range e.args {
		args = append(args, w.realExpr(a))
	}
	switch {
	case e.op == "lit" && !strings.HasPrefix(e.text, "complex("):
		return e.text
	case e.op == "Int":
		return "float64(" + w.expr(e.args[0], 0) + ")"
	case token.IsExported(e.op):
		return "num." + e.op + "(" + strings.Join(args, ", ") + ")"
	case e.isReal():
		return e.op + "(" + w.expr(e.args[0], 0) + ")"
	}
	return "real(" + w.expr(e, 0) + ")"
}
