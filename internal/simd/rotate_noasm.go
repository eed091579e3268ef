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

func sinCos[T Float](sin, cos, x []T) { genericSinCos(sin, cos, x) }
