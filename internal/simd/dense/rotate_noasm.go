//go:build !amd64 || noasm

package dense

import "revnum/internal/simd/cpu"

func rotate[T cpu.Float](x []T, ldx, cols, chains, steps int, c, s, pc, ps []T, ldc int, back bool) {
	if back {
		genericRotateBack(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
	} else {
		genericRotate(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
	}
}

func rotateBackCross[T cpu.Float](x []T, ldx int, g []T, ldg, cols, chains, steps int, c, s, pc, ps []T, ldc int, sums []T) {
	genericRotateBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, ldc, sums)
}

func rotateTangent[T cpu.Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []T, ldc int, back bool) {
	if back {
		genericRotateTangentBack(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
	} else {
		genericRotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
	}
}
