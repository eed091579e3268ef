//go:build amd64 && !noasm

package simd

// pairChunk returns how many points a call of assembly takes at most: as many
// as have chunk coordinates, a square root being worth some of these. It is a
// multiple of 8.
func pairChunk(rows int) int { return max(8, chunk/(rows+4)&^7) }

func distances[T Float](dst, x []T, ldx int, c []T) {
	if tier == Generic {
		genericDistances(dst, x, ldx, c)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if is64[T]() {
			distances64(n, f64(&dst[p]), f64(&x[p]), ldx, f64(&c[0]), len(c))
		} else {
			distances32(n, f32(&dst[p]), f32(&x[p]), ldx, f32(&c[0]), len(c))
		}
	}
}

func invDistances[T Float](dst, x []T, ldx int, c []T) {
	if tier == Generic {
		genericInvDistances(dst, x, ldx, c)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if is64[T]() {
			invDistances64(n, f64(&dst[p]), f64(&x[p]), ldx, f64(&c[0]), len(c))
		} else {
			invDistances32(n, f32(&dst[p]), f32(&x[p]), ldx, f32(&c[0]), len(c))
		}
	}
}

func diffDots[T Float](dst, x []T, ld int, c, y, e []T) {
	if tier == Generic {
		genericDiffDots(dst, x, ld, c, y, e)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if is64[T]() {
			diffDots64(n, f64(&dst[p]), f64(&x[p]), ld, f64(&c[0]), f64(&y[p]), f64(&e[0]), len(c))
		} else {
			diffDots32(n, f32(&dst[p]), f32(&x[p]), ld, f32(&c[0]), f32(&y[p]), f32(&e[0]), len(c))
		}
	}
}

func addDiffs[T Float](n int, dst, x []T, ld int, c, w []T, ldw int, sums []T) {
	if tier == Generic {
		genericAddDiffs(n, dst, x, ld, c, w, ldw, sums)
		return
	}
	rows := len(c) / 4
	most := pairChunk(len(c))
	for p := 0; p < n; p += most {
		m := min(most, n-p)
		if is64[T]() {
			addDiffs64(m, f64(&dst[p]), f64(&x[p]), ld, f64(&c[0]), f64(&w[p]), ldw, f64(&sums[0]), rows)
		} else {
			addDiffs32(m, f32(&dst[p]), f32(&x[p]), ld, f32(&c[0]), f32(&w[p]), ldw, f32(&sums[0]), rows)
		}
	}
}

func kindSums[T Float](x []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	if tier == Generic {
		return genericKindSums(x, kinds, origin)
	}
	var part [4]T
	for p := 0; p < len(x); p += chunk {
		n := chunkAt(p, len(x))
		if is64[T]() {
			kindSums64(n, f64(&x[p]), &kinds[0][p/8], &kinds[1][p/8], f64(&origin[0]), f64(&part[0]))
		} else {
			kindSums32(n, f32(&x[p]), &kinds[0][p/8], &kinds[1][p/8], f32(&origin[0]), f32(&part[0]))
		}
		for k := range sums {
			sums[k] += part[k]
			squares[k] += part[2+k]
		}
	}
	return sums, squares
}

func kindAffine[T Float](dst, x []T, kinds Kinds, add, mul [2]T) {
	if tier == Generic {
		genericKindAffine(dst, x, kinds, add, mul)
		return
	}
	for p := 0; p < len(x); p += chunk {
		n := chunkAt(p, len(x))
		if is64[T]() {
			kindAffine64(n, f64(&dst[p]), f64(&x[p]), &kinds[0][p/8], &kinds[1][p/8], f64(&add[0]), f64(&mul[0]))
		} else {
			kindAffine32(n, f32(&dst[p]), f32(&x[p]), &kinds[0][p/8], &kinds[1][p/8], f32(&add[0]), f32(&mul[0]))
		}
	}
}

func kindDistances[T Float](n int, x []T, ldx int, c []T, kinds Kinds, origin [2]T) (sums, squares [2]T) {
	if tier == Generic {
		return genericKindDistances(n, x, ldx, c, kinds, origin)
	}
	var part [4]T
	most := pairChunk(len(c))
	for p := 0; p < n; p += most {
		m := min(most, n-p)
		if is64[T]() {
			kindDistances64(m, f64(&x[p]), ldx, f64(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], f64(&origin[0]), f64(&part[0]))
		} else {
			kindDistances32(m, f32(&x[p]), ldx, f32(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], f32(&origin[0]), f32(&part[0]))
		}
		for k := range sums {
			sums[k] += part[k]
			squares[k] += part[2+k]
		}
	}
	return sums, squares
}

func kindInvDistances[T Float](dst, x []T, ldx int, c []T, kinds Kinds, add, mul [2]T) {
	if tier == Generic {
		genericKindInvDistances(dst, x, ldx, c, kinds, add, mul)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(dst); p += most {
		n := min(most, len(dst)-p)
		if is64[T]() {
			kindInvDistances64(n, f64(&dst[p]), f64(&x[p]), ldx, f64(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], f64(&add[0]), f64(&mul[0]))
		} else {
			kindInvDistances32(n, f32(&dst[p]), f32(&x[p]), ldx, f32(&c[0]), len(c), &kinds[0][p/8], &kinds[1][p/8], f32(&add[0]), f32(&mul[0]))
		}
	}
}
