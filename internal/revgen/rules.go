package revgen

import (
	"maps"
	"slices"
	"strings"
)

// rules return the derivatives of r = f(x...) by each x, times h. Tangents and
// cotangents use the same.
var rules map[string]func(x []*node, r, h *node) []*node

func init() {
	unary := func(d func(x, r, h *node) *node) func(x []*node, r, h *node) []*node {
		return func(x []*node, r, h *node) []*node { return []*node{d(x[0], r, h)} }
	}
	rules = map[string]func(x []*node, r, h *node) []*node{
		"Exp":  unary(func(x, r, h *node) *node { return product(h, r) }),
		"Log":  unary(func(x, r, h *node) *node { return quotient("/", h, x) }),
		"Sqrt": unary(func(x, r, h *node) *node { return quotient("over", h, product(two, r)) }),
		"Sin":  unary(func(x, r, h *node) *node { return product(h, fn("Cos", x)) }),
		"Cos":  unary(func(x, r, h *node) *node { return neg(product(h, fn("Sin", x))) }),
		"Tanh": unary(func(x, r, h *node) *node { return product(h, sum(one, neg(product(r, r)))) }),
		"Abs":  unary(func(x, r, h *node) *node { return product(h, fn("Sign", x)) }),
		"Sign": unary(func(x, r, h *node) *node { return zero }),
		"Pow": func(x []*node, r, h *node) []*node {
			return []*node{
				product(h, product(x[1], fn("Pow", x[0], sum(x[1], neg(one))))),
				product(h, product(r, fn("Log", x[0]))),
			}
		},
	}
}

func known() string {
	names := slices.Sorted(maps.Keys(rules))
	names = slices.DeleteFunc(names, func(s string) bool { return s == "Sign" })
	return strings.Join(names, ", ") + ", Sincos, Max and Min"
}
