package consistency

import "math"

//go:generate go run revnum/cmd/revgen

// f1 is the kernel p += x, y += exp p - exp x in this order. The outputs x and p + x
// determine the parameter p.
//
//revgen:kernel F1[T rev.Real]
func f1(y *float64, x float64, p *float64) {
	*p += x
	*y -= math.Exp(x)
	*y += math.Exp(*p)
}

// f2 is the kernel that does the same, and uncomputes x from y in between: x -= log exp x.
// Its outputs are zero and p + x, which do not determine p.
//
//revgen:kernel F2[T rev.Real]
func f2(y, x, p *float64) {
	*p += *x
	*y -= math.Exp(*x)
	*x -= math.Log(-*y)
	*y += math.Exp(*p)
}
