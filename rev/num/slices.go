package num

import "revnum/internal/simd/vec"

// Loops over slices of float64, as revgen writes them in gradients of plain functions. The
// slice x gives the number of elements. They panic if another slice has fewer. Sums are
// in vector code: they have other roundings than a loop.

// few elements take less time in a loop than the call of vector code.
const few = 16

// Inner returns Σ x_i·y_i.
func Inner(x, y []float64) (s float64) {
	y = y[:len(x):len(y)]
	if len(x) >= few {
		return vec.Dot(x, y)
	}
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

// AxpyTo computes z = y + a·x. z may be x or y.
func AxpyTo(z []float64, a float64, x, y []float64) {
	z, y = z[:len(x):len(z)], y[:len(x):len(y)]
	if len(x) >= few {
		vec.AxpyTo(z, a, x, y)
		return
	}
	for i, v := range x {
		z[i] = y[i] + float64(a*v)
	}
}

// AxpyInner computes y += a·x, and returns Σ x_i·z_i, as Axpy and then Inner do.
func AxpyInner(y []float64, a float64, x, z []float64) (s float64) {
	y, z = y[:len(x):len(y)], z[:len(x):len(z)]
	if len(x) >= few {
		vec.Axpy(a, x, y)
		return vec.Dot(x, z)
	}
	for i := range x {
		y[i] += float64(a * x[i])
		s += float64(x[i] * z[i])
	}
	return s
}

// Axpy computes y += a·x.
func Axpy(y []float64, a float64, x []float64) {
	y = y[:len(x):len(y)]
	if len(x) >= few {
		vec.Axpy(a, x, y)
		return
	}
	for i, v := range x {
		y[i] += float64(a * v)
	}
}

// Mul computes z_i = x_i·y_i. z may be x or y.
func Mul(z, x, y []float64) {
	z, y = z[:len(x):len(z)], y[:len(x):len(y)]
	if len(x) >= few {
		vec.MulTo(z, x, y)
		return
	}
	for i, v := range x {
		z[i] = v * y[i]
	}
}

// AddMul computes z_i += a·(x_i·y_i). z may be x or y.
func AddMul(z []float64, a float64, x, y []float64) {
	z, y = z[:len(x):len(z)], y[:len(x):len(y)]
	if len(x) >= few {
		vec.AddProduct(z, a, x, y)
		return
	}
	for i, v := range x {
		z[i] += float64(a * float64(v*y[i]))
	}
}

// Scale computes y = a·x. y may be x.
func Scale(y []float64, a float64, x []float64) {
	y = y[:len(x):len(y)]
	if len(x) >= few {
		vec.ScaleTo(y, a, x)
		return
	}
	for i, v := range x {
		y[i] = a * v
	}
}

// Shift computes y_i = c + x_i. y may be x.
func Shift(y []float64, c float64, x []float64) {
	y = y[:len(x):len(y)]
	if len(x) >= few {
		if &y[0] != &x[0] {
			copy(y, x)
		}
		vec.AddConstant(y, c)
		return
	}
	for i, v := range x {
		y[i] = c + v
	}
}

// MulShift computes z_i = c + x_i·y_i. z may be x or y.
func MulShift(z []float64, c float64, x, y []float64) {
	z, y = z[:len(x):len(z)], y[:len(x):len(y)]
	if len(x) > few {
		vec.MulTo(z, x, y)
		vec.AddConstant(z, c)
		return
	}
	for i, v := range x {
		z[i] = c + float64(v*y[i])
	}
}

// Fill sets all elements of x to c.
func Fill(x []float64, c float64) {
	for i := range x {
		x[i] = c
	}
}

// Sum returns Σ x_i.
func Sum(x []float64) (s float64) {
	if len(x) >= few {
		return vec.Sum(x)
	}
	for _, v := range x {
		s += v
	}
	return s
}

// ExpSum computes y_i = exp(x_i - shift), and returns Σ y_i. y may be x.
func ExpSum(y, x []float64, shift float64) float64 {
	return vec.ExpShiftSum(y[:len(x):len(y)], x, shift)
}

// SumExp returns Σ exp(x_i - shift).
func SumExp(x []float64, shift float64) float64 { return vec.SumExp(x, shift) }

// Max returns the largest of top and the elements of x, as the built-in max does.
func Max(x []float64, top float64) float64 {
	if len(x) >= few {
		return max(top, vec.Max(x))
	}
	for _, v := range x {
		top = max(top, v)
	}
	return top
}

// IndexMax returns the index of the first of the largest elements of x, or of a NaN if there is one. It
// returns -1 if they are not larger than top.
func IndexMax(x []float64, top float64) int {
	largest := vec.Max(x)
	if largest <= top || len(x) == 0 || top != top {
		return -1
	}
	for i, v := range x {
		if v == largest || v != v {
			return i
		}
	}
	return -1
}

// ExpTo computes y_i = exp(x_i). y may be x.
func ExpTo(y, x []float64) { vec.Exp(y[:len(x):len(y)], x) }

// LogTo computes y_i = log(x_i). y may be x.
func LogTo(y, x []float64) { vec.Log(y[:len(x):len(y)], x) }

// SinTo computes y_i = sin(x_i). y may be x.
func SinTo(y, x []float64) { vec.Sin(y[:len(x):len(y)], x) }

// CosTo computes y_i = cos(x_i). y may be x.
func CosTo(y, x []float64) { vec.Cos(y[:len(x):len(y)], x) }

// TanhTo computes y_i = tanh(x_i). y may be x.
func TanhTo(y, x []float64) {
	var slopes [64]float64
	for y = y[:len(x):len(y)]; len(x) > 0; {
		n := min(len(x), len(slopes))
		vec.Tanh(y[:n], slopes[:n], x[:n])
		x, y = x[n:], y[n:]
	}
}
