//go:build amd64 && !noasm

package simd

// The bits of the last parameter of the assembly.
const (
	severalChains  = 1 // RotateChains of them, else one
	severalVectors = 2 // four vectors of columns on AVX-512, two on AVX2; else one
	rotatesBack    = 4
)

// tileOf returns how many of cols columns the next call takes, and of what shape
// it is. Several vectors are whole on AVX2; on AVX-512 the last ones may be
// empty.
func tileOf[T Float](cols, chains, vectors int) (n, shape int) {
	if chains > 1 {
		shape = severalChains
	}
	vl := lanes[T]()
	least := vectors * vl
	if tier == AVX512 {
		least = vectors/2*vl + 1
	}
	if vectors > 1 && cols >= least {
		return min(cols, vectors*vl), shape | severalVectors
	}
	return min(cols, vl), shape
}

func rotate[T Float](x []T, ldx, cols, chains, steps int, c, s, pc, ps []T, ldc int, back bool) {
	if tier == Generic {
		if back {
			genericRotateBack(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
		} else {
			genericRotate(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
		}
		return
	}
	vectors := 2
	if tier == AVX512 {
		vectors = 4
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = tileOf[T](cols-j, chains, vectors)
		if back {
			shape |= rotatesBack
		}
		for done := 0; done < steps; done += rotateMost {
			p, m := part(steps, done, back)
			row := &x[(steps-p-m)*ldx+j]
			if pc != nil {
				rotatePhases64(f64(row), ldx, m, f64(&c[p]), f64(&s[p]), f64(&pc[p]), f64(&ps[p]), ldc, n, shape)
			} else {
				rotateTile(row, ldx, m, &c[p], &s[p], ldc, n, shape)
			}
		}
	}
}

func rotateBackCross[T Float](x []T, ldx int, g []T, ldg, cols, chains, steps int, c, s, pc, ps []T, ldc int, sums []T) {
	if tier == Generic {
		genericRotateBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, ldc, sums)
		return
	}
	vectors := 1
	if tier == AVX512 {
		vectors = 2
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = tileOf[T](cols-j, chains, vectors)
		for done := 0; done < steps; done += rotateMost {
			p, m := part(steps, done, true)
			x, g := &x[(steps-p-m)*ldx+j], &g[(steps-p-m)*ldg+j]
			if pc != nil {
				rotatePhasesBackCross64(f64(x), ldx, f64(g), ldg, m, f64(&c[p]), f64(&s[p]), f64(&pc[p]), f64(&ps[p]), ldc,
					f64(&sums[2*p*chains]), n, shape)
			} else {
				rotateBackCrossTile(x, ldx, g, ldg, m, &c[p], &s[p], ldc, &sums[p*chains], n, shape)
			}
		}
	}
}

func rotateTangent[T Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []T, ldc int, back bool) {
	if tier == Generic {
		if back {
			genericRotateTangentBack(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
		} else {
			genericRotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
		}
		return
	}
	vectors := 1
	if tier == AVX512 {
		vectors = 2
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = tileOf[T](cols-j, chains, vectors)
		if back {
			shape |= rotatesBack
		}
		for done := 0; done < steps; done += rotateMost {
			p, m := part(steps, done, back)
			x, t := &x[(steps-p-m)*ldx+j], &t[(steps-p-m)*ldt+j]
			if pc != nil {
				rotatePhasesTangent64(f64(x), ldx, f64(t), ldt, m, f64(&c[p]), f64(&s[p]), f64(&pc[p]), f64(&ps[p]),
					f64(&d[p]), f64(&pd[p]), ldc, n, shape)
			} else {
				rotateTangentTile(x, ldx, t, ldt, m, &c[p], &s[p], &d[p], ldc, n, shape)
			}
		}
	}
}

// part returns the first step and the number of steps of a call, when some are
// done.
func part(steps, done int, back bool) (first, n int) {
	n = min(rotateMost, steps-done)
	if back {
		return steps - done - n, n
	}
	return done, n
}

func sinCos[T Float](sin, cos, x []T) {
	if tier == Generic {
		genericSinCos(sin, cos, x)
		return
	}
	const (
		most   = 1 << 10
		vector = 8 // elements, or half of them
	)
	for i := 0; i < len(x); {
		n := min(most, len(x)-i)
		done := sinCosTile(&sin[i], &cos[i], &x[i], n)
		i += min(done, n)
		if done < n {
			end := min(i+vector, len(x))
			genericSinCos(sin[i:end], cos[i:end], x[i:end])
			i = end
		}
	}
}

// The calls of assembly.

func rotateTile[T Float](x *T, ldx, steps int, c, s *T, ldc, cols, shape int) {
	if is64[T]() {
		rotate64(f64(x), ldx, steps, f64(c), f64(s), ldc, cols, shape)
	} else {
		rotate32(f32(x), ldx, steps, f32(c), f32(s), ldc, cols, shape)
	}
}

func rotateBackCrossTile[T Float](x *T, ldx int, g *T, ldg, steps int, c, s *T, ldc int, sums *T, cols, shape int) {
	if is64[T]() {
		rotateBackCross64(f64(x), ldx, f64(g), ldg, steps, f64(c), f64(s), ldc, f64(sums), cols, shape)
	} else {
		rotateBackCross32(f32(x), ldx, f32(g), ldg, steps, f32(c), f32(s), ldc, f32(sums), cols, shape)
	}
}

func rotateTangentTile[T Float](x *T, ldx int, t *T, ldt, steps int, c, s, d *T, ldc, cols, shape int) {
	if is64[T]() {
		rotateTangent64(f64(x), ldx, f64(t), ldt, steps, f64(c), f64(s), f64(d), ldc, cols, shape)
	} else {
		rotateTangent32(f32(x), ldx, f32(t), ldt, steps, f32(c), f32(s), f32(d), ldc, cols, shape)
	}
}

// sinCosTile returns how many elements come before a vector with one that is too
// large for it, n or more if there is none.
func sinCosTile[T Float](sin, cos, x *T, n int) (done int) {
	if is64[T]() {
		sinCos64(f64(sin), f64(cos), f64(x), n, &done)
	} else {
		sinCos32(f32(sin), f32(cos), f32(x), n, &done)
	}
	return done
}
