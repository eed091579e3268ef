package sample

import "math"

func sums(a, b, c float64) float64 { // want sums:"false .2."
	c += a * b            // want `a \* b may be fused`
	c -= -(a * b)         // want `a \* b may be fused`
	x := a*b + c          // want `a \* b may be fused`
	y := float64(a*b) + c // rounded
	return x - y + math.FMA(a, b, c) + 2*a + a*b/c
}

func integers(a, b, c int) int { return a*b + c }

func generic[T float32 | int](a, b, c T) T { // want generic:"false .2."
	return c - a*b // want `a \* b may be fused`
}

func complexes(a, b, c complex128) complex128 { // want complexes:"false .2."
	return c + a*b // want `a \* b may be fused`
}

func statements(a, b, c float64, x []float64) float64 {
	t := a * b
	x[0] *= c
	u := float64(a * c)
	return t + // want `t may be fused`
		x[0] + // want `x\[0\] may be fused`
		u
}

func product(a, b float64) float64 { return a * b } // want product:"true"

func rounded(a, b float64) float64 { return float64(a * b) }

func add(a, b float64) float64 { return a + b } // want add:"false .0 1."

func calls(a, b, c float64) float64 { // want calls:"false .2."
	local := func(x float64) float64 { return x * c }
	c += product(a, b) // want `product\(a, b\) may be fused`
	c += rounded(a, b)
	c += local(a)              // want `local\(a\) may be fused`
	return max(add(a*b, c), 0) // want `a \* b may be fused`
}
