package vec

import "revnum/internal/simd/cpu"

// Packed returns n elements of a vector, from element lo on. Element i of the vector is
// x[i*inc]. If inc is 1, Packed returns storage of x, and otherwise a copy in buf.
func Packed[T any](buf, x []T, inc, lo, n int) []T {
	if inc == 1 {
		return x[lo : lo+n]
	}
	buf = buf[:n]
	for i := range buf {
		buf[i] = x[(lo+i)*inc]
	}
	return buf
}

// AxpyInc adds alpha·x to the elements of a vector, from element lo on. Element i of the
// vector is y[i*inc].
func AxpyInc[T cpu.Float](alpha T, x, y []T, inc, lo int) {
	if inc == 1 {
		Axpy(alpha, x, y[lo:lo+len(x)])
		return
	}
	for i, v := range x {
		y[(lo+i)*inc] += T(alpha * v)
	}
}
