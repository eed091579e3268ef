package pairs

import (
	"math"

	"revnum/internal/simd/cpu"
)

// The loops in pure Go. Without assembly they are all the loops. Elsewhere they test
// the assembly.

func genericDistances[T cpu.Float](inverse bool, dst, x []T, ldx int, c []T) {
	for p := range dst {
		var s T
		for i, ci := range c {
			d := x[i*ldx+p] - ci
			s += T(d * d)
		}
		dst[p] = T(math.Sqrt(float64(s)))
		if inverse && dst[p] != 0 {
			dst[p] = 1 / dst[p]
		}
	}
}

func genericDiffDots[T cpu.Float](dst, x []T, ld int, c, y, e []T) {
	for p := range dst {
		var s T
		for i, ci := range c {
			s += T((x[i*ld+p] - ci) * (y[i*ld+p] - e[i]))
		}
		dst[p] = s
	}
}

func genericAddDiffs[T cpu.Float](n int, dst, x []T, ld int, c, w []T, ldw int, sums []T) {
	rows := len(c) / 4
	for i, ci := range c {
		q, row := i/rows, i%rows
		d, r := dst[row*ld:][:n], x[row*ld:][:n]
		var s T
		for p, wp := range w[q*ldw:][:n] {
			t := T(wp * (r[p] - ci))
			d[p] += t
			s += t
		}
		sums[i] += s
	}
}

// of returns the kind of element p, or -1.
func (k Kinds) of(p int) int {
	for i, bits := range k {
		if bits[p/8]>>(p%8)&1 == 1 {
			return i
		}
	}
	return -1
}

func genericKindSums[T cpu.Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	for p, v := range x {
		if k := kinds.of(p); k >= 0 {
			e := v - origin[k]
			sums[k] += e
			squares[k] += T(e * e)
		}
	}
	return sums, squares
}

func genericKindAffine[T cpu.Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	for p, v := range x {
		dst[p] = 0
		if k := kinds.of(p); k >= 0 {
			dst[p] = add[k] + T(mul[k]*v)
		}
	}
}

func genericKindDistances[T cpu.Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	var block [64]T
	for p := 0; p < n; p += len(block) {
		d := block[:min(len(block), n-p)]
		var from []T
		if len(c) > 0 {
			from = x[p:]
		}
		genericDistances(false, d, from, ldx, c)
		sum, square := genericKindSums(d, Kinds{kinds[0][p/8:], kinds[1][p/8:]}, origin)
		for k := range sums {
			sums[k] += sum[k]
			squares[k] += square[k]
		}
	}
	return sums, squares
}

func genericKindInvDistances[T cpu.Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	genericDistances(true, dst, x, ldx, c)
	genericKindAffine(dst, dst, kinds, add, mul)
}
