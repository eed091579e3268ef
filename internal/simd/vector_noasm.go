//go:build !amd64 || noasm

package simd

func dot[T Float](x, y []T) T         { return genericDot(x, y) }
func sum[T Float](x []T) T            { return genericSum(x) }
func sumSquares[T Float](x []T) T     { return genericDot(x, x) }
func maxOf[T Float](x []T) T          { return genericMax(x) }
func addTo[T Float](dst, x, y []T)    { genericAddTo(dst, x, y) }
func mulTo[T Float](dst, x, y []T)    { genericMulTo(dst, x, y) }
func maxTo[T Float](dst, x, y []T)    { genericMaxTo(dst, x, y) }
func expTo[T Float](dst, x []T)       { genericExp(dst, x) }
func expSubTo[T Float](dst, x, y []T) { genericExpSubTo(dst, x, y) }
func logTo[T Float](dst, x []T)       { genericLog(dst, x) }

func axpyTo[T Float](dst []T, alpha T, x, y []T)       { genericAxpyTo(dst, alpha, x, y) }
func scaleTo[T Float](dst []T, alpha T, x []T)         { genericScaleTo(dst, alpha, x) }
func expSubAdd[T Float](x, y, sum []T)                 { genericExpSubAdd(x, y, sum) }
func affineMax[T Float](x, top []T, a, b T)            { genericAffineMax(x, top, a, b) }
func sumExp[T Float](x []T, shift T) float64           { return genericSumExp(x, shift) }
func expShiftSum[T Float](dst, x []T, s T) float64     { return genericExpShiftSum(dst, x, s) }
func peakFMA[T Float](rounds int, mul, add T) (T, int) { return genericPeakFMA(rounds, mul, add) }

func subColumn[T Float](n int, dst []T, ldd int, x []T, ldx int, c []T) {
	genericSubColumn(n, dst, ldd, x, ldx, c)
}

func centerScale[T Float](dst []T, ldd int, x []T, ldx int, c, s []T) {
	genericCenterScale(dst, ldd, x, ldx, c, s)
}
