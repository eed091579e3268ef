package revgen

import (
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// rules return the derivatives of r = f(x...) by each x, times h. Tangents and
// cotangents use the same rules.
var rules map[string]func(x []*node, r, h *node) []*node

func init() {
	unary := func(d func(x, r, h *node) *node) func(x []*node, r, h *node) []*node {
		return func(x []*node, r, h *node) []*node { return []*node{d(x[0], r, h)} }
	}
	rules = map[string]func(x []*node, r, h *node) []*node{
		"Asin":  unary(func(x, r, h *node) *node { return quotient("over", h, complement(x)) }),
		"Acos":  unary(func(x, r, h *node) *node { return neg(quotient("over", h, complement(x))) }),
		"Exp2":  unary(func(x, r, h *node) *node { return product(h, product(ln2, r)) }),
		"Log2":  unary(func(x, r, h *node) *node { return quotient("/", h, product(ln2, x)) }),
		"Log10": unary(func(x, r, h *node) *node { return quotient("/", h, product(ln10, x)) }),
		"Asinh": unary(func(x, r, h *node) *node { return quotient("/", h, fn("Hypot", x, one)) }),
		"Acosh": unary(func(x, r, h *node) *node {
			return quotient("over", h, product(fn("Sqrt", sum(x, neg(one))), fn("Sqrt", sum(x, one))))
		}),
		"Atanh": unary(func(x, r, h *node) *node { return quotient("/", h, sum(one, neg(product(x, x)))) }),
		"Erf":   unary(func(x, r, h *node) *node { return product(h, product(bell, fn("Exp", neg(product(x, x))))) }),
		"Erfc":  unary(func(x, r, h *node) *node { return neg(product(h, product(bell, fn("Exp", neg(product(x, x)))))) }),
		"Cbrt":  unary(func(x, r, h *node) *node { return quotient("over", h, product(lit(number, "3"), product(r, r))) }),
		"Expm1": unary(func(x, r, h *node) *node { return product(h, sum(r, one)) }),
		"Log1p": unary(func(x, r, h *node) *node { return quotient("/", h, sum(one, x)) }),
		"Abs":   unary(func(x, r, h *node) *node { return product(h, fn("Sign", x)) }),
		"Sign":  unary(func(x, r, h *node) *node { return zero }),
		"Hypot": func(x []*node, r, h *node) []*node {
			return []*node{quotient("over", product(h, x[0]), r), quotient("over", product(h, x[1]), r)}
		},
		"Atan2": func(x []*node, r, h *node) []*node {
			s := sum(product(x[0], x[0]), product(x[1], x[1]))
			return []*node{quotient("over", product(h, x[1]), s), neg(quotient("over", product(h, x[0]), s))}
		},
	}
	for _, path := range []string{"", "cmplx."} {
		f := func(name string, x ...*node) *node { return fn(path+name, x...) }
		maps.Copy(rules, map[string]func(x []*node, r, h *node) []*node{
			path + "Exp":  unary(func(x, r, h *node) *node { return product(h, r) }),
			path + "Log":  unary(func(x, r, h *node) *node { return quotient("/", h, x) }),
			path + "Sqrt": unary(func(x, r, h *node) *node { return quotient("over", h, product(two, r)) }),
			path + "Sin":  unary(func(x, r, h *node) *node { return product(h, f("Cos", x)) }),
			path + "Cos":  unary(func(x, r, h *node) *node { return neg(product(h, f("Sin", x))) }),
			path + "Tan":  unary(func(x, r, h *node) *node { return product(h, sum(one, product(r, r))) }),
			path + "Atan": unary(func(x, r, h *node) *node { return quotient("/", h, sum(one, product(x, x))) }),
			path + "Sinh": unary(func(x, r, h *node) *node { return product(h, f("Cosh", x)) }),
			path + "Cosh": unary(func(x, r, h *node) *node { return product(h, f("Sinh", x)) }),
			path + "Tanh": unary(func(x, r, h *node) *node { return product(h, sum(one, neg(product(r, r)))) }),
			path + "Pow": func(x []*node, r, h *node) []*node {
				return []*node{
					product(h, product(x[1], power(f, x[0], sum(x[1], neg(one))))),
					product(h, product(r, f("Log", x[0]))),
				}
			},
		})
	}
	// Of complex numbers alone. Where the value is real, the derivative is the real part of
	// what is here.
	maps.Copy(rules, map[string]func(x []*node, r, h *node) []*node{
		"real":        unary(func(x, r, h *node) *node { return h }),
		"imag":        unary(func(x, r, h *node) *node { return neg(product(complexLit(1i), h)) }),
		"cmplx.Abs":   unary(func(x, r, h *node) *node { return quotient("over", product(h, conj(x)), r) }),
		"cmplx.Phase": unary(func(x, r, h *node) *node { return neg(quotient("over", product(complexLit(1i), h), x)) }),
		"complex":     func(x []*node, r, h *node) []*node { return []*node{h, product(complexLit(1i), h)} },
		"cmplx.Conj":  unary(func(x, r, h *node) *node { return conj(h) }),
		"cmplx.Log10": unary(func(x, r, h *node) *node { return quotient("/", h, product(ln10, x)) }),
		"cmplx.Cot":   unary(func(x, r, h *node) *node { return neg(product(h, sum(one, product(r, r)))) }),
		"cmplx.Atanh": unary(func(x, r, h *node) *node { return quotient("/", h, sum(one, neg(product(x, x)))) }),
		"cmplx.Asin":  unary(func(x, r, h *node) *node { return quotient("over", h, fn("num.CosAsin", x)) }),
		"cmplx.Acos":  unary(func(x, r, h *node) *node { return neg(quotient("over", h, fn("num.CosAsin", x))) }),
		"cmplx.Asinh": unary(func(x, r, h *node) *node { return quotient("over", h, fn("num.CoshAsinh", x)) }),
		"cmplx.Acosh": unary(func(x, r, h *node) *node { return quotient("over", h, fn("num.SinhAcosh", x)) }),

		"num.CosAsin":   unary(func(x, r, h *node) *node { return neg(quotient("over", product(h, x), r)) }),
		"num.CoshAsinh": unary(func(x, r, h *node) *node { return quotient("over", product(h, x), r) }),
		"num.SinhAcosh": unary(func(x, r, h *node) *node { return quotient("over", product(h, x), r) }),
	})
}

// power returns xⁿ. The exponent comes from a derivative and is often a literal minus 1.
func power(f func(name string, x ...*node) *node, x, n *node) *node {
	if n.op == "-" && n.args[0].op == "lit" {
		if v, err := strconv.ParseFloat(n.args[0].text, 64); err == nil {
			n = lit(number, strconv.FormatFloat(v-1, 'g', -1, 64))
		}
	}
	switch {
	case n.is(one):
		return x
	case n.is(two):
		return product(x, x)
	}
	return f("Pow", x, n)
}

var ln2, ln10 = lit(number, "0.6931471805599453"), lit(number, "2.302585092994046")

var bell = lit(number, "1.1283791670955126") // 2/√π

// complement returns √(1 - x²).
func complement(x *node) *node { return fn("Sqrt", sum(one, neg(product(x, x)))) }

// known lists the functions of package math, or of math/cmplx, that functions may call.
func known(complex bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		path, name, ok := strings.Cut(name, ".")
		if !ok {
			path, name = "", path
		}
		if complex == (path == "cmplx") && path != "num" && name != "Sign" && token.IsExported(name) {
			names = append(names, name)
		}
	}
	if complex {
		return strings.Join(names, ", ") + ", Polar and Rect"
	}
	return strings.Join(names, ", ") + ", Sincos, Max and Min"
}
