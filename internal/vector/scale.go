package vector

// ScaleExponent returns the exponent next to e whose power of two and its inverse are finite and far from
// subnormal, which XLA's threads, as other callers' may, take for 0.
func ScaleExponent(e int) int { return min(max(e, -1000), 1000) }
