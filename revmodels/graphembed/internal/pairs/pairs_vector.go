//go:build amd64 && !noasm

package pairs

import "revnum/internal/simd/cpu"

// pairChunk returns how many points a call of assembly takes at most: as many
// as have chunk coordinates, a square root being worth some of these. It is a
// multiple of 8.
func pairChunk(rows int) int { return max(8, cpu.Chunk/(rows+4)&^7) }

func distances[T cpu.Float](dst, x []T, ldx int, c []T) {
	if tier == cpu.Generic {
		genericDistances(dst, x, ldx, c)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if cpu.Is64[T]() {
			distances64(n, cpu.F64(&dst[p]), cpu.F64(&x[p]), ldx, cpu.F64(&c[0]), len(c))
		} else {
			distances32(n, cpu.F32(&dst[p]), cpu.F32(&x[p]), ldx, cpu.F32(&c[0]), len(c))
		}
	}
}

func invDistances[T cpu.Float](dst, x []T, ldx int, c []T) {
	if tier == cpu.Generic {
		genericInvDistances(dst, x, ldx, c)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if cpu.Is64[T]() {
			invDistances64(n, cpu.F64(&dst[p]), cpu.F64(&x[p]), ldx, cpu.F64(&c[0]), len(c))
		} else {
			invDistances32(n, cpu.F32(&dst[p]), cpu.F32(&x[p]), ldx, cpu.F32(&c[0]), len(c))
		}
	}
}

func diffDots[T cpu.Float](dst, x []T, ld int, c, y, e []T) {
	if tier == cpu.Generic {
		genericDiffDots(dst, x, ld, c, y, e)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if cpu.Is64[T]() {
			diffDots64(n, cpu.F64(&dst[p]), cpu.F64(&x[p]), ld, cpu.F64(&c[0]), cpu.F64(&y[p]), cpu.F64(&e[0]), len(c))
		} else {
			diffDots32(n, cpu.F32(&dst[p]), cpu.F32(&x[p]), ld, cpu.F32(&c[0]), cpu.F32(&y[p]), cpu.F32(&e[0]), len(c))
		}
	}
}

func addDiffs[T cpu.Float](n int, dst, x []T, ld int, c, w []T, ldw int, sums []T) {
	if tier == cpu.Generic {
		genericAddDiffs(n, dst, x, ld, c, w, ldw, sums)
		return
	}
	rows := len(c) / 4
	most := pairChunk(len(c))
	for p := 0; p < n; p += most {
		m := min(most, n-p)
		if cpu.Is64[T]() {
			addDiffs64(m, cpu.F64(&dst[p]), cpu.F64(&x[p]), ld, cpu.F64(&c[0]), cpu.F64(&w[p]), ldw, cpu.F64(&sums[0]), rows)
		} else {
			addDiffs32(m, cpu.F32(&dst[p]), cpu.F32(&x[p]), ld, cpu.F32(&c[0]), cpu.F32(&w[p]), ldw, cpu.F32(&sums[0]), rows)
		}
	}
}

func kindSums[T cpu.Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	if tier == cpu.Generic {
		return genericKindSums(x, kinds, origin)
	}
	var part [4]T
	for p := 0; p < len(x); p += cpu.Chunk {
		n := cpu.ChunkAt(p, len(x))
		if cpu.Is64[T]() {
			kindSums64(n, cpu.F64(&x[p]), &kinds[0][p/8], &kinds[1][p/8], cpu.F64(&origin[0]), cpu.F64(&part[0]))
		} else {
			kindSums32(n, cpu.F32(&x[p]), &kinds[0][p/8], &kinds[1][p/8], cpu.F32(&origin[0]), cpu.F32(&part[0]))
		}
		for k := range sums {
			sums[k] += part[k]
			squares[k] += part[2+k]
		}
	}
	return sums, squares
}

func kindAffine[T cpu.Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	if tier == cpu.Generic {
		genericKindAffine(dst, x, kinds, add, mul)
		return
	}
	for p := 0; p < len(x); p += cpu.Chunk {
		n := cpu.ChunkAt(p, len(x))
		if cpu.Is64[T]() {
			kindAffine64(n, cpu.F64(&dst[p]), cpu.F64(&x[p]), &kinds[0][p/8], &kinds[1][p/8], cpu.F64(&add[0]), cpu.F64(&mul[0]))
		} else {
			kindAffine32(n, cpu.F32(&dst[p]), cpu.F32(&x[p]), &kinds[0][p/8], &kinds[1][p/8], cpu.F32(&add[0]), cpu.F32(&mul[0]))
		}
	}
}

func kindDistances[T cpu.Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	if tier == cpu.Generic {
		return genericKindDistances(n, x, ldx, c, kinds, origin)
	}
	var part [4]T
	most := pairChunk(len(c))
	for p := 0; p < n; p += most {
		m := min(most, n-p)
		if cpu.Is64[T]() {
			kindDistances64(m, cpu.F64(&x[p]), ldx, cpu.F64(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], cpu.F64(&origin[0]), cpu.F64(&part[0]))
		} else {
			kindDistances32(m, cpu.F32(&x[p]), ldx, cpu.F32(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], cpu.F32(&origin[0]), cpu.F32(&part[0]))
		}
		for k := range sums {
			sums[k] += part[k]
			squares[k] += part[2+k]
		}
	}
	return sums, squares
}

func kindInvDistances[T cpu.Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	if tier == cpu.Generic {
		genericKindInvDistances(dst, x, ldx, c, kinds, add, mul)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if cpu.Is64[T]() {
			kindInvDistances64(n, cpu.F64(&dst[p]), cpu.F64(&x[p]), ldx, cpu.F64(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], cpu.F64(&add[0]), cpu.F64(&mul[0]))
		} else {
			kindInvDistances32(n, cpu.F32(&dst[p]), cpu.F32(&x[p]), ldx, cpu.F32(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], cpu.F32(&add[0]), cpu.F32(&mul[0]))
		}
	}
}
