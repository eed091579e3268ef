//go:build !amd64 || noasm

package vec

import "revnum/internal/simd/cpu"

func dot[T cpu.Float](x, y []T) T         { return genericDot(x, y) }
func sum[T cpu.Float](x []T) T            { return genericSum(x) }
func sumSquares[T cpu.Float](x []T) T     { return genericDot(x, x) }
func maxOf[T cpu.Float](x []T) T          { return genericMax(x) }
func addTo[T cpu.Float](dst, x, y []T)    { genericAddTo(dst, x, y) }
func mulTo[T cpu.Float](dst, x, y []T)    { genericMulTo(dst, x, y) }
func maxTo[T cpu.Float](dst, x, y []T)    { genericMaxTo(dst, x, y) }
func expTo[T cpu.Float](dst, x []T)       { genericExp(dst, x) }
func expSubTo[T cpu.Float](dst, x, y []T) { genericExpSubTo(dst, x, y) }
func logTo[T cpu.Float](dst, x []T)       { genericLog(dst, x) }

func axpyTo[T cpu.Float](dst []T, alpha T, x, y []T)       { genericAxpyTo(dst, alpha, x, y) }
func scaleTo[T cpu.Float](dst []T, alpha T, x []T)         { genericScaleTo(dst, alpha, x) }
func expSubAdd[T cpu.Float](x, y, sum []T)                 { genericExpSubAdd(x, y, sum) }
func affineMax[T cpu.Float](x, top []T, a, b T)            { genericAffineMax(x, top, a, b) }
func sumExp[T cpu.Float](x []T, shift T) float64           { return genericSumExp(x, shift) }
func expShiftSum[T cpu.Float](dst, x []T, s T) float64     { return genericExpShiftSum(dst, x, s) }
func peakFMA[T cpu.Float](rounds int, mul, add T) (T, int) { return genericPeakFMA(rounds, mul, add) }

func subColumn[T cpu.Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	genericSubColumn(n, dst, ldd, x, ldx, c)
}

func centerScale[T cpu.Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	genericCenterScale(dst, ldd, x, ldx, c, s)
}

func sinCos[T cpu.Float](sin, cos, x []T) { genericSinCos(sin, cos, x) }
