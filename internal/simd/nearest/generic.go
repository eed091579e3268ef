package nearest

import "revnum/internal/simd/cpu"

// The pure-Go loops. Where there is no assembly, these are all the loops. Elsewhere
// the assembly is tested against them.

func genericTwo[T cpu.Float](best, second, label, points []T, ld int, c, halves []T, d, first int) {
	for p := 0; p < len(best); p += Width {
		best, second, label := (*[Width]T)(best[p:]), (*[Width]T)(second[p:]), (*[Width]T)(label[p:])
		for k, half := range halves {
			var sums [Width]T
			for i := range sums {
				sums[i] = half
			}
			for j, v := range c[k*d : (k+1)*d] {
				x := (*[Width]T)(points[j*ld+p:])
				for i := range sums {
					sums[i] -= T(v * x[i])
				}
			}
			for i, v := range sums {
				if v < best[i] {
					best[i], second[i], label[i] = v, best[i], T(first+k)
				} else if v < second[i] {
					second[i] = v
				}
			}
		}
	}
}

func genericOne(best, label, points []float64, ld int, c []float64, d, first int) {
	for p := 0; p < len(best); p += Width {
		best, label := (*[Width]float64)(best[p:]), (*[Width]float64)(label[p:])
		for k := range len(c) / d {
			var sums [Width]float64
			for j, v := range c[k*d : (k+1)*d] {
				x := (*[Width]float64)(points[j*ld+p:])
				for i := range sums {
					r := x[i] - v
					sums[i] += float64(r * r)
				}
			}
			for i, v := range sums {
				if v < best[i] {
					best[i], label[i] = v, float64(first+k)
				}
			}
		}
	}
}

func genericAddRows(sums, base []float64, ld int, label []int32, x []float64, ldx, d int, w []float64) {
	weight := 1.0
	for i, k := range label {
		if w != nil {
			weight = w[i]
		}
		sums, base := sums[int(k)*ld:][:d], base[int(k)*ld:][:d]
		for j, v := range x[i*ldx:][:d] {
			sums[j] += float64(weight * (v - base[j]))
		}
	}
}

func genericDistances(dists, c []float64, ld int, label []int32, x []float64, ldx, d int) {
	for i, k := range label {
		var sum float64
		c := c[int(k)*ld:][:d]
		for j, v := range x[i*ldx:][:d] {
			sum += float64((v - c[j]) * (v - c[j]))
		}
		dists[i] = sum
	}
}

func genericSubRound(dst []float32, x []float64, c float64) {
	for i, v := range x[:len(dst)] {
		dst[i] = float32(v - c)
	}
}
