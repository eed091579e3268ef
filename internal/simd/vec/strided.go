package vec

import "revnum/internal/simd/cpu"

// Packed returns n elements, from number lo on, of a vector whose element i is
// x[i*inc]. It returns the storage of x itself if inc is 1, and otherwise a copy in
// buf.
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

// AxpyInc adds alpha·x to the elements, from number lo on, of a vector whose element
// i is y[i*inc].
func AxpyInc[T cpu.Float](alpha T, x, y []T, inc, lo int) {
	if inc == 1 {
		Axpy(alpha, x, y[lo:lo+len(x)])
		return
	}
	for i, v := range x {
		y[(lo+i)*inc] += T(alpha * v)
	}
}
