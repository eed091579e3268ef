package revgen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math"
	"strconv"
)

// A function over complex128 becomes a kernel over complex128. The cotangent of z = x + iy
// is x̄ + iȳ, so that the inner product of cotangents and tangents is the real part of
// Σ conj(z̄)·ż. The adjoint of a product by c is then the product by conj(c):
//
//	z = a·b     ā += z̄·conj(b),  b̄ += z̄·conj(a)
//	z = f(a)    ā += z̄·conj(f'(a)), for f that is holomorphic
//	z = conj(a) ā += conj(z̄)
//
// real(a) is (a + conj(a))/2, and imag(a) is (a - conj(a))/(2i). So a local that is float64
// in the function is complex in the kernel, and has no order there.

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

// ordered refuses that complex numbers are compared by their order: what is real there is
// complex in the kernel.
func (r *reader) ordered(e *ast.BinaryExpr) {
	if t, ok := r.info.Types[e.X].Type.(*types.Basic); r.k.complex && ok && t.Info()&types.IsFloat != 0 && e.Op != token.EQL && e.Op != token.NEQ && precedence[e.Op.String()] == precedence["<"] {
		r.refuse(e, "a condition on complex numbers is == or !=")
	}
}

// holomorphic are the functions of math/cmplx that a function over complex128 may call,
// besides Conj.
var holomorphic = map[string]bool{"Exp": true, "Log": true, "Sin": true, "Cos": true, "Tan": true, "Sinh": true, "Cosh": true, "Tanh": true}

// complexCall reads the call of a function of complex numbers, or returns nil.
func (r *reader) complexCall(e *ast.CallExpr, name string) *node {
	if !r.k.complex {
		return nil
	}
	switch f := r.mathFunc(e); {
	case f == "Conj":
		return conj(r.expr(e.Args[0]))
	case f != "" && !holomorphic[f]:
		r.refuse(e, "%s of complex numbers has no derivative here; there are Conj, Cos, Cosh, Exp, Log, Sin, Sinh, Tan and Tanh", f)
	case name == "max" || name == "min":
		r.refuse(e, "%s of complex numbers has no derivative here", name)
	case name == "real":
		x := r.atom(r.expr(e.Args[0]))
		return product(complexLit(0.5), sum(x, conj(x)))
	case name == "imag":
		x := r.atom(r.expr(e.Args[0]))
		return product(complexLit(-0.5i), sum(x, neg(conj(x))))
	case name == "complex":
		return sum(r.expr(e.Args[0]), product(complexLit(1i), r.expr(e.Args[1])))
	}
	return nil
}

// conj returns the conjugate of x.
func conj(x *node) *node {
	switch {
	case x.op == "Conj":
		return x.args[0]
	case x.minus() != nil:
		return neg(conj(x.minus()))
	case x.op != "lit":
		return fn("Conj", x)
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
