package kerneltest

import "math"

// Near reports whether a is b up to a relative error, or both are the same
// infinity or NaN.
func Near(a, b, tol float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= tol*math.Abs(b)
}
