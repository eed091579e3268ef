// Package sample has functions for the test of mutate.
package sample

// Sum returns the sum of the positive numbers of x.
func Sum[T int | float64](x []T) (s T) {
	for i := 0; i < len(x); i++ {
		if !(x[i] <= 0) {
			s += x[i]
		}
	}
	return s
}

// Middle returns a number between a and b, which need not be in order.
func Middle(a, b int) int {
	if a > b && a != b {
		a, b = b, a
	}
	return a + (b-a)/2
}

// Sign returns the sign of x, which must not be 0.
func Sign(x int) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	panic("sample: no sign")
}

// double is no mutant: its kernel would stay as it is.
//
//revgen:kernel Double
func double(y *float64, x float64) { *y += x + x }
