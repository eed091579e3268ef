//go:build amd64 && !noasm

package dense

import "revnum/internal/simd/cpu"

// The bits of the last parameter of the assembly.
const (
	severalChains  = 1 // RotateChains of them, else one
	severalVectors = 2 // four vectors of columns on AVX-512, two on AVX2; else one
	rotatesBack    = 4
)

// tileOf returns how many of cols columns the next call takes, and the shape of the
// call. With several vectors, all are whole on AVX2; on AVX-512 the last ones may be
// empty.
func tileOf[T cpu.Float](cols, chains, vectors int) (n, shape int) {
	if chains > 1 {
		shape = severalChains
	}
	vl := cpu.Lanes[T](tier)
	least := vectors * vl
	if tier == cpu.AVX512 {
		least = vectors/2*vl + 1
	}
	if vectors > 1 && cols >= least {
		return min(cols, vectors*vl), shape | severalVectors
	}
	return min(cols, vl), shape
}

func rotate[T cpu.Float](x []T, ldx, cols, chains, steps int, c, s, pc, ps []T, ldc int, back bool) {
	if tier == cpu.Generic {
		if back {
			genericRotateBack(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
		} else {
			genericRotate(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
		}
		return
	}
	vectors := 2
	if tier == cpu.AVX512 {
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
				rotatePhases64(cpu.F64(row), ldx, m, cpu.F64(&c[p]), cpu.F64(&s[p]), cpu.F64(&pc[p]), cpu.F64(&ps[p]), ldc, n, shape)
			} else {
				rotateTile(row, ldx, m, &c[p], &s[p], ldc, n, shape)
			}
		}
	}
}

func rotateBackCross[T cpu.Float](x []T, ldx int, g []T, ldg, cols, chains, steps int, c, s, pc, ps []T, ldc int, sums []T) {
	if tier == cpu.Generic {
		genericRotateBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, ldc, sums)
		return
	}
	vectors := 1
	if tier == cpu.AVX512 {
		vectors = 2
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = tileOf[T](cols-j, chains, vectors)
		for done := 0; done < steps; done += rotateMost {
			p, m := part(steps, done, true)
			x, g := &x[(steps-p-m)*ldx+j], &g[(steps-p-m)*ldg+j]
			if pc != nil {
				rotatePhasesBackCross64(cpu.F64(x), ldx, cpu.F64(g), ldg, m, cpu.F64(&c[p]), cpu.F64(&s[p]), cpu.F64(&pc[p]), cpu.F64(&ps[p]), ldc,
					cpu.F64(&sums[2*p*chains]), n, shape)
			} else {
				rotateBackCrossTile(x, ldx, g, ldg, m, &c[p], &s[p], ldc, &sums[p*chains], n, shape)
			}
		}
	}
}

func rotateTangent[T cpu.Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []T, ldc int, back bool) {
	if tier == cpu.Generic {
		if back {
			genericRotateTangentBack(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
		} else {
			genericRotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
		}
		return
	}
	vectors := 1
	if tier == cpu.AVX512 {
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
				rotatePhasesTangent64(cpu.F64(x), ldx, cpu.F64(t), ldt, m, cpu.F64(&c[p]), cpu.F64(&s[p]), cpu.F64(&pc[p]), cpu.F64(&ps[p]),
					cpu.F64(&d[p]), cpu.F64(&pd[p]), ldc, n, shape)
			} else {
				rotateTangentTile(x, ldx, t, ldt, m, &c[p], &s[p], &d[p], ldc, n, shape)
			}
		}
	}
}

// part returns the first step and the number of steps of the next call, after done
// steps.
func part(steps, done int, back bool) (first, n int) {
	n = min(rotateMost, steps-done)
	if back {
		return steps - done - n, n
	}
	return done, n
}

// The calls of assembly.

func rotateTile[T cpu.Float](x *T, ldx, steps int, c, s *T, ldc, cols, shape int) {
	if cpu.Is64[T]() {
		rotate64(cpu.F64(x), ldx, steps, cpu.F64(c), cpu.F64(s), ldc, cols, shape)
	} else {
		rotate32(cpu.F32(x), ldx, steps, cpu.F32(c), cpu.F32(s), ldc, cols, shape)
	}
}

func rotateBackCrossTile[T cpu.Float](x *T, ldx int, g *T, ldg, steps int, c, s *T, ldc int, sums *T, cols, shape int) {
	if cpu.Is64[T]() {
		rotateBackCross64(cpu.F64(x), ldx, cpu.F64(g), ldg, steps, cpu.F64(c), cpu.F64(s), ldc, cpu.F64(sums), cols, shape)
	} else {
		rotateBackCross32(cpu.F32(x), ldx, cpu.F32(g), ldg, steps, cpu.F32(c), cpu.F32(s), ldc, cpu.F32(sums), cols, shape)
	}
}

func rotateTangentTile[T cpu.Float](x *T, ldx int, t *T, ldt, steps int, c, s, d *T, ldc, cols, shape int) {
	if cpu.Is64[T]() {
		rotateTangent64(cpu.F64(x), ldx, cpu.F64(t), ldt, steps, cpu.F64(c), cpu.F64(s), cpu.F64(d), ldc, cols, shape)
	} else {
		rotateTangent32(cpu.F32(x), ldx, cpu.F32(t), ldt, steps, cpu.F32(c), cpu.F32(s), cpu.F32(d), ldc, cols, shape)
	}
}
