//go:build amd64 && !noasm

package simd

// pairChunk returns how many points a call of assembly takes at most: as many
// as have chunk coordinates, a square root being worth some of these.
func pairChunk(rows int) int { return max(1, chunk/(rows+4)) }

func invTo[T Float](dst, x []T) {
	if tier == Generic {
		genericInvTo(dst, x)
		return
	}
	for i := 0; i < len(x); i += chunk {
		n := chunkAt(i, len(x))
		if is64[T]() {
			invTo64(f64(&dst[i]), f64(&x[i]), n)
		} else {
			invTo32(f32(&dst[i]), f32(&x[i]), n)
		}
	}
}

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

func addDiffs[T Float](dst, x []T, ld int, c, w, sums []T) {
	if tier == Generic {
		genericAddDiffs(dst, x, ld, c, w, sums)
		return
	}
	most := pairChunk(len(c))
	for p := 0; p < len(w); p += most {
		n := min(most, len(w)-p)
		if is64[T]() {
			addDiffs64(n, f64(&dst[p]), f64(&x[p]), ld, f64(&c[0]), f64(&w[p]), f64(&sums[0]), len(c))
		} else {
			addDiffs32(n, f32(&dst[p]), f32(&x[p]), ld, f32(&c[0]), f32(&w[p]), f32(&sums[0]), len(c))
		}
	}
}
