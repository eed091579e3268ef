package vec

import "revnum/internal/simd/cpu"

// Packed returns n elements of a vector that has element i at x[i*inc], from
// number lo on: the storage of x itself if inc is 1, and otherwise a copy in buf.
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

// AxpyInc adds alpha·x to as many elements of a vector that has element i at
// y[i*inc], from number lo on.
func AxpyInc[T cpu.Float](alpha T, x, y []T, inc, lo int) {
	if inc == 1 {
		Axpy(alpha, x, y[lo:lo+len(x)])
		return
	}
	for i, v := range x {
		y[(lo+i)*inc] += T(alpha * v)
	}
}
