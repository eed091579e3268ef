package ulog

import "math"

// logAdd returns the log of the sum of the numbers with the logs a and b:
//
//	log(eᵃ + eᵇ) = max(a, b) + log(1 + e^-|a-b|)
func logAdd(a, b float64) float64 {
	d := math.Abs(a - b)
	switch {
	case d <= farApart:
		return max(a, b) + log1pexp(d)
	case d > farApart: // also one of +Inf or -Inf
		return max(a, b)
	case a == b: // both of them
		return a
	}
	return math.NaN()
}

// logSub returns the log of the difference of the numbers with the logs a and b. It
// is NaN if the difference is negative or ∞ - ∞.
//
//	log(eᵃ - eᵇ) = a + log(1 - e^-(a-b))   for a > b
func logSub(a, b float64) float64 {
	d := a - b
	switch {
	case d > farApart: // also a = +Inf or b = -Inf
		return a
	case d > 0:
		return a + log1mexp(d)
	case a == b && a < math.Inf(1): // also zero less zero
		return math.Inf(-1)
	}
	return math.NaN()
}

// logPow returns the log of the number with the log a, raised to the power p. As for
// math.Pow, x⁰ = 1 and 1ᵖ = 1 for every x and p.
func logPow(a, p float64) float64 {
	if p == 0 || a == 0 {
		return 0
	}
	return a * p
}
