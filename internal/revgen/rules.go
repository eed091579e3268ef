package revgen

import (
	"maps"
	"slices"
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
		"Exp":   unary(func(x, r, h *node) *node { return product(h, r) }),
		"Log":   unary(func(x, r, h *node) *node { return quotient("/", h, x) }),
		"Sqrt":  unary(func(x, r, h *node) *node { return quotient("over", h, product(two, r)) }),
		"Sin":   unary(func(x, r, h *node) *node { return product(h, fn("Cos", x)) }),
		"Cos":   unary(func(x, r, h *node) *node { return neg(product(h, fn("Sin", x))) }),
		"Tan":   unary(func(x, r, h *node) *node { return product(h, sum(one, product(r, r))) }),
		"Asin":  unary(func(x, r, h *node) *node { return quotient("over", h, complement(x)) }),
		"Acos":  unary(func(x, r, h *node) *node { return neg(quotient("over", h, complement(x))) }),
		"Atan":  unary(func(x, r, h *node) *node { return quotient("/", h, sum(one, product(x, x))) }),
		"Sinh":  unary(func(x, r, h *node) *node { return product(h, fn("Cosh", x)) }),
		"Cosh":  unary(func(x, r, h *node) *node { return product(h, fn("Sinh", x)) }),
		"Exp2":  unary(func(x, r, h *node) *node { return product(h, product(ln2, r)) }),
		"Log2":  unary(func(x, r, h *node) *node { return quotient("/", h, product(ln2, x)) }),
		"Cbrt":  unary(func(x, r, h *node) *node { return quotient("over", h, product(lit(number, "3"), product(r, r))) }),
		"Expm1": unary(func(x, r, h *node) *node { return product(h, sum(r, one)) }),
		"Log1p": unary(func(x, r, h *node) *node { return quotient("/", h, sum(one, x)) }),
		"Tanh":  unary(func(x, r, h *node) *node { return product(h, sum(one, neg(product(r, r)))) }),
		"Abs":   unary(func(x, r, h *node) *node { return product(h, fn("Sign", x)) }),
		"Sign":  unary(func(x, r, h *node) *node { return zero }),
		"Conj":  unary(func(x, r, h *node) *node { return conj(h) }),
		"Hypot": func(x []*node, r, h *node) []*node {
			return []*node{quotient("over", product(h, x[0]), r), quotient("over", product(h, x[1]), r)}
		},
		"Atan2": func(x []*node, r, h *node) []*node {
			s := sum(product(x[0], x[0]), product(x[1], x[1]))
			return []*node{quotient("over", product(h, x[1]), s), neg(quotient("over", product(h, x[0]), s))}
		},
		"Pow": func(x []*node, r, h *node) []*node {
			return []*node{
				product(h, product(x[1], fn("Pow", x[0], sum(x[1], neg(one))))),
				product(h, product(r, fn("Log", x[0]))),
			}
		},
	}
}

var ln2 = lit(number, "0.6931471805599453")

// complement returns √(1 - x²).
func complement(x *node) *node { return fn("Sqrt", sum(one, neg(product(x, x)))) }

func known() string {
	names := slices.Sorted(maps.Keys(rules))
	names = slices.DeleteFunc(names, func(s string) bool { return s == "Sign" || s == "Conj" })
	return strings.Join(names, ", ") + ", Sincos, Max and Min"
}
