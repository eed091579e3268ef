//go:build !amd64 || noasm

package simd

func rotate[T Float](x []T, ldx, cols, chains, steps int, c, s []T, ldc int, back bool) {
	if back {
		genericRotateBack(x, ldx, cols, chains, steps, c, s, ldc)
	} else {
		genericRotate(x, ldx, cols, chains, steps, c, s, ldc)
	}
}

func rotateBackCross[T Float](x []T, ldx int, g []T, ldg, cols, chains, steps int, c, s []T, ldc int, sums []T) {
	genericRotateBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, ldc, sums)
}

func rotateTangent[T Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, d []T, ldc int, back bool) {
	if back {
		genericRotateTangentBack(x, ldx, t, ldt, cols, chains, steps, c, s, d, ldc)
	} else {
		genericRotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, d, ldc)
	}
}

func sinCos[T Float](sin, cos, x []T) { genericSinCos(sin, cos, x) }
