// Package models has functions of gonum as plain loops. Gradients are those of these loops, into
// which calls are turned. A vector is a slice here, and a matrix its memory.
//
//nolint:revive // gonum has the comments
package models

import (
	"math"

	"revnum/rev/num"
)

func FloatsAdd(dst, s []float64) {
	num.SameLengths(dst, s)
	for i := range dst {
		dst[i] += s[i]
	}
}

func FloatsAddTo(dst, s, t []float64) []float64 {
	num.SameLengths(dst, s, t)
	for i := range dst {
		dst[i] = s[i] + t[i]
	}
	return dst
}

func FloatsAddConst(c float64, dst []float64) {
	for i := range dst {
		dst[i] += c
	}
}

func FloatsAddScaled(dst []float64, alpha float64, s []float64) {
	num.SameLengths(dst, s)
	for i := range dst {
		dst[i] += alpha * s[i]
	}
}

func FloatsAddScaledTo(dst, y []float64, alpha float64, s []float64) []float64 {
	num.SameLengths(dst, y, s)
	for i := range dst {
		dst[i] = y[i] + alpha*s[i]
	}
	return dst
}

func FloatsSub(dst, s []float64) {
	num.SameLengths(dst, s)
	for i := range dst {
		dst[i] -= s[i]
	}
}

func FloatsSubTo(dst, s, t []float64) []float64 {
	num.SameLengths(dst, s, t)
	for i := range dst {
		dst[i] = s[i] - t[i]
	}
	return dst
}

func FloatsMul(dst, s []float64) {
	num.SameLengths(dst, s)
	for i := range dst {
		dst[i] *= s[i]
	}
}

func FloatsMulTo(dst, s, t []float64) []float64 {
	num.SameLengths(dst, s, t)
	for i := range dst {
		dst[i] = s[i] * t[i]
	}
	return dst
}

func FloatsDiv(dst, s []float64) {
	num.SameLengths(dst, s)
	for i := range dst {
		dst[i] /= s[i]
	}
}

func FloatsDivTo(dst, s, t []float64) []float64 {
	num.SameLengths(dst, s, t)
	for i := range dst {
		dst[i] = s[i] / t[i]
	}
	return dst
}

func FloatsScale(c float64, dst []float64) {
	for i := range dst {
		dst[i] *= c
	}
}

func FloatsScaleTo(dst []float64, c float64, s []float64) []float64 {
	num.SameLengths(dst, s)
	for i := range dst {
		dst[i] = c * s[i]
	}
	return dst
}

func FloatsCumSum(dst, s []float64) []float64 {
	num.SameLengths(dst, s)
	sum := 0.0
	for i := range dst {
		sum += s[i]
		dst[i] = sum
	}
	return dst
}

func FloatsDot(s1, s2 []float64) float64 {
	num.SameLengths(s1, s2)
	sum := 0.0
	for i, v := range s1 {
		sum += v * s2[i]
	}
	return sum
}

func FloatsSum(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum
}

func FloatsProd(s []float64) float64 {
	product := 1.0
	for _, v := range s {
		product *= v
	}
	return product
}

func FloatsMaxIdx(s []float64) int {
	if len(s) == 0 {
		panic("floats: zero length slice")
	}
	best := 0
	for i := range s {
		if s[i] > s[best] || math.IsNaN(s[best]) {
			best = i
		}
	}
	return best
}

func FloatsMinIdx(s []float64) int {
	if len(s) == 0 {
		panic("floats: zero length slice")
	}
	best := 0
	for i := range s {
		if s[i] < s[best] || math.IsNaN(s[best]) {
			best = i
		}
	}
	return best
}

func FloatsMax(s []float64) float64 { return s[FloatsMaxIdx(s)] }

func FloatsMin(s []float64) float64 { return s[FloatsMinIdx(s)] }

func FloatsLogSumExp(s []float64) float64 {
	most := num.Constant(s[FloatsMaxIdx(s)]) // the value does not depend on it
	if math.IsInf(most, 0) {
		most = 0
	}
	sum := 0.0
	for _, v := range s {
		sum += math.Exp(v - most)
	}
	return math.Log(sum) + most
}

func FloatsNorm1(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += math.Abs(v)
	}
	return sum
}

func FloatsNorm2(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v * v
	}
	return math.Sqrt(sum)
}

func FloatsNormInf(s []float64) float64 {
	most := 0.0
	for _, v := range s {
		most = max(most, math.Abs(v))
	}
	return most
}

func FloatsDistance1(s, t []float64) float64 {
	num.SameLengths(s, t)
	sum := 0.0
	for i, v := range s {
		sum += math.Abs(v - t[i])
	}
	return sum
}

func FloatsDistance2(s, t []float64) float64 {
	num.SameLengths(s, t)
	sum := 0.0
	for i, v := range s {
		d := v - t[i]
		sum += d * d
	}
	return math.Sqrt(sum)
}

func FloatsDistanceInf(s, t []float64) float64 {
	num.SameLengths(s, t)
	most := 0.0
	for i, v := range s {
		most = max(most, math.Abs(v-t[i]))
	}
	return most
}

func VecAddVec(dst, a, b []float64) { FloatsAddTo(dst, a, b) }

func VecSubVec(dst, a, b []float64) { FloatsSubTo(dst, a, b) }

func VecMulElemVec(dst, a, b []float64) { FloatsMulTo(dst, a, b) }

func VecDivElemVec(dst, a, b []float64) { FloatsDivTo(dst, a, b) }

func VecScaleVec(dst []float64, alpha float64, a []float64) { FloatsScaleTo(dst, alpha, a) }

func VecAddScaledVec(dst, a []float64, alpha float64, b []float64) {
	FloatsAddScaledTo(dst, a, alpha, b)
}

func VecCopyVec(dst, a []float64) {
	num.SameLengths(dst, a)
	for i := range dst {
		dst[i] = a[i]
	}
}

func VecZero(dst []float64) {
	for i := range dst {
		dst[i] = 0
	}
}

func DenseAdd(dst, a, b num.Matrix) {
	num.SameShapes(dst, a, b)
	for i := range dst.Rows {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		y := num.Row(b, i)
		for j := range d {
			d[j] = x[j] + y[j]
		}
	}
}

func DenseSub(dst, a, b num.Matrix) {
	num.SameShapes(dst, a, b)
	for i := range dst.Rows {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		y := num.Row(b, i)
		for j := range d {
			d[j] = x[j] - y[j]
		}
	}
}

func DenseMulElem(dst, a, b num.Matrix) {
	num.SameShapes(dst, a, b)
	for i := range dst.Rows {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		y := num.Row(b, i)
		for j := range d {
			d[j] = x[j] * y[j]
		}
	}
}

func DenseDivElem(dst, a, b num.Matrix) {
	num.SameShapes(dst, a, b)
	for i := range dst.Rows {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		y := num.Row(b, i)
		for j := range d {
			d[j] = x[j] / y[j]
		}
	}
}

func DenseScale(dst num.Matrix, f float64, a num.Matrix) {
	num.SameShapes(dst, a)
	for i := range dst.Rows {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		for j := range d {
			d[j] = f * x[j]
		}
	}
}

func DenseCopy(dst, a num.Matrix) {
	num.SameShapes(dst, a)
	for i := range dst.Rows {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		for j := range d {
			d[j] = x[j]
		}
	}
}

// DenseCopyPart copies the rows and columns that both have.
func DenseCopyPart(dst, a num.Matrix) {
	for i := range min(dst.Rows, a.Rows) {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		for j := range min(len(d), len(x)) {
			d[j] = x[j]
		}
	}
}

func DenseStack(dst, a, b num.Matrix) {
	for i := range a.Rows {
		VecCopyVec(num.Row(dst, i), num.Row(a, i))
	}
	for i := range b.Rows {
		VecCopyVec(num.Row(dst, a.Rows+i), num.Row(b, i))
	}
}

func DenseAugment(dst, a, b num.Matrix) {
	for i := range dst.Rows {
		d := num.Row(dst, i)
		VecCopyVec(d[:a.Cols], num.Row(a, i))
		VecCopyVec(d[a.Cols:], num.Row(b, i))
	}
}

// DenseTranspose stores the transpose of a.
func DenseTranspose(dst, a num.Matrix) {
	for i := range a.Rows {
		x := num.Row(a, i)
		for j := range x {
			num.Row(dst, j)[i] = x[j]
		}
	}
}

func DenseApply(dst num.Matrix, fn func(i, j int, v float64) float64, a num.Matrix) {
	num.SameShapes(dst, a)
	for i := range dst.Rows {
		d := num.Row(dst, i)
		x := num.Row(a, i)
		for j := range d {
			d[j] = fn(i, j, x[j])
		}
	}
}

func DenseOuter(dst num.Matrix, alpha float64, x, y []float64) {
	num.SameLengths(num.Row(dst, 0), y)
	for i, v := range x {
		d := num.Row(dst, i)
		f := alpha * v
		for j := range d {
			d[j] = f * y[j]
		}
	}
}

func DenseSetRow(dst num.Matrix, i int, src []float64) { VecCopyVec(num.Row(dst, i), src) }

func DenseSetCol(dst num.Matrix, j int, src []float64) {
	if len(src) != dst.Rows {
		panic("mat: col length mismatch")
	}
	for i := range dst.Rows {
		num.Row(dst, i)[j] = src[i]
	}
}

func DenseZero(dst num.Matrix) {
	for i := range dst.Rows {
		d := num.Row(dst, i)
		for j := range d {
			d[j] = 0
		}
	}
}

func DenseSum(a num.Matrix) float64 {
	sum := 0.0
	for i := range a.Rows {
		for _, v := range num.Row(a, i) {
			sum += v
		}
	}
	return sum
}

func DenseTrace(a num.Matrix) float64 {
	if a.Rows != a.Cols {
		panic("mat: expect square matrix")
	}
	sum := 0.0
	for i := range a.Rows {
		sum += num.Row(a, i)[i]
	}
	return sum
}

func DenseMax(a num.Matrix) float64 {
	most := num.Row(a, 0)[0]
	for i := range a.Rows {
		for _, v := range num.Row(a, i) {
			if v > most || math.IsNaN(most) {
				most = v
			}
		}
	}
	return most
}

func DenseMin(a num.Matrix) float64 {
	least := num.Row(a, 0)[0]
	for i := range a.Rows {
		for _, v := range num.Row(a, i) {
			if v < least || math.IsNaN(least) {
				least = v
			}
		}
	}
	return least
}

func DenseNorm1(a num.Matrix) float64 {
	most := 0.0
	for j := range a.Cols {
		sum := 0.0
		for i := range a.Rows {
			sum += math.Abs(num.Row(a, i)[j])
		}
		most = max(most, sum)
	}
	return most
}

func DenseNormInf(a num.Matrix) float64 {
	most := 0.0
	for i := range a.Rows {
		most = max(most, FloatsNorm1(num.Row(a, i)))
	}
	return most
}

func DenseNorm2(a num.Matrix) float64 {
	sum := 0.0
	for i := range a.Rows {
		for _, v := range num.Row(a, i) {
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

// DenseUnit stores the unit matrix.
func DenseUnit(dst num.Matrix) {
	for i := range dst.Rows {
		d := num.Row(dst, i)
		for j := range d {
			d[j] = 0
		}
		d[i] = 1
	}
}

// DiagSet stores x on the diagonal of dst, which is zero.
func DiagSet(dst num.Matrix, x []float64) {
	num.SameLengths(num.Row(dst, 0), x)
	for i, v := range x {
		num.Row(dst, i)[i] = v
	}
}

// SymMirror stores the upper triangle of a, and its mirror image.
func SymMirror(dst, a num.Matrix) {
	for i := range dst.Rows {
		x := num.Row(a, i)
		for j := i; j < a.Cols; j++ {
			num.Row(dst, i)[j] = x[j]
			num.Row(dst, j)[i] = x[j]
		}
	}
}

func SymRankOne(dst, a num.Matrix, alpha float64, x []float64) {
	num.SameShapes(dst, a)
	num.SameLengths(num.Row(dst, 0), x)
	for i, v := range x {
		d := num.Row(dst, i)
		y := num.Row(a, i)
		f := alpha * v
		for j := range d {
			d[j] = y[j] + f*x[j]
		}
	}
}

// DenseNumbers reports whether no element is NaN.
func DenseNumbers(a num.Matrix) bool {
	for i := range a.Rows {
		for _, v := range num.Row(a, i) {
			if math.IsNaN(v) {
				return false
			}
		}
	}
	return true
}

// Same panics if m has another shape.
func Same(m num.Matrix, rows, cols int) {
	if m.Rows != rows || m.Cols != cols {
		panic("mat: dimension mismatch")
	}
}

// CholeskyValid panics if there is no factorisation.
func CholeskyValid(l num.Matrix) {
	if l.Rows == 0 || num.Row(l, 0)[0] == 0 {
		panic("mat: invalid Cholesky factorization")
	}
}

func CholeskyLogDet(l num.Matrix) float64 {
	sum := 0.0
	for i := range l.Rows {
		sum += math.Log(num.Row(l, i)[i])
	}
	return 2 * sum
}

// Functions of math/cmplx, of the parts of their arguments.

func CmplxQuo(a, b, c, d float64) (float64, float64) {
	if math.Abs(c) >= math.Abs(d) {
		r := d / c
		m := c + r*d
		return (a + b*r) / m, (b - a*r) / m
	}
	r := c / d
	m := d + r*c
	return (a*r + b) / m, (b*r - a) / m
}

func CmplxExp(x, y float64) (float64, float64) {
	r := math.Exp(x)
	sin, cos := math.Sincos(y)
	return r * cos, r * sin
}

func CmplxLog(x, y float64) (float64, float64) { return math.Log(math.Hypot(x, y)), math.Atan2(y, x) }

func CmplxLog10(x, y float64) (float64, float64) {
	return math.Log10(math.Hypot(x, y)), math.Log10E * math.Atan2(y, x)
}

// The real part is that of the principal root, t, or t is the absolute value of the imaginary part.
func CmplxSqrt(x, y float64) (float64, float64) {
	t := math.Sqrt((math.Hypot(x, y) + math.Abs(x)) / 2)
	if t == 0 {
		return 0, 0
	}
	if x >= 0 {
		return t, y / (2 * t)
	}
	sign := math.Copysign(1, y)
	return sign * y / (2 * t), sign * t
}

func CmplxPow(x, y, a, b float64) (float64, float64) {
	m := math.Hypot(x, y)
	if m == 0 {
		if a == 0 && b == 0 {
			return 1, 0
		}
		return 0, 0
	}
	phase, log := math.Atan2(y, x), math.Log(m)
	r := math.Exp(a*log - b*phase)
	sin, cos := math.Sincos(a*phase + b*log)
	return r * cos, r * sin
}

func CmplxRect(r, phase float64) (float64, float64) {
	sin, cos := math.Sincos(phase)
	return r * cos, r * sin
}

func CmplxSin(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(x)
	return sin * math.Cosh(y), cos * math.Sinh(y)
}

func CmplxCos(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(x)
	return cos * math.Cosh(y), -sin * math.Sinh(y)
}

func CmplxSinh(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(y)
	return cos * math.Sinh(x), sin * math.Cosh(x)
}

func CmplxCosh(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(y)
	return cos * math.Cosh(x), sin * math.Sinh(x)
}

// Beyond 300 the tangents have reached their limits, where cosh overflows later.
func CmplxTanh(x, y float64) (float64, float64) {
	if math.Abs(x) > 300 {
		return math.Copysign(1, x), 0
	}
	d := math.Cosh(2*x) + math.Cos(2*y)
	return math.Sinh(2*x) / d, math.Sin(2*y) / d
}

func CmplxTan(x, y float64) (float64, float64) {
	if math.Abs(y) > 300 {
		return 0, math.Copysign(1, y)
	}
	d := math.Cos(2*x) + math.Cosh(2*y)
	return math.Sin(2*x) / d, math.Sinh(2*y) / d
}
