package fixedpoint

import (
	"revnum/fixed"
	"revnum/internal/fixedtables"
	"revnum/internal/number"
	"revnum/internal/simd/cpu"
)

// A Function is a function of package fixed.
type Function int

// The functions.
const (
	Sqrt Function = iota
	Exp           // the largest number where the result is out of range
	Log
	Sin
	Cos
)

// Add computes y_i += f(x_i), or y_i -= f(x_i) if sign is negative. It panics if the lengths
// differ, and where the function of package fixed does.
func (f Function) Add(sign int, x, y []fixed.Q43) {
	if len(x) != len(y) {
		panic(badLength)
	}
	for i := 0; i < len(x); {
		end := len(x)
		if tier == cpu.AVX512 && len(x) >= vectorLeast {
			n := cpu.ChunkAt(i, len(x))
			done := f.vector(n, (*int64)(&x[i]), (*int64)(&y[i]), sign>>(bitsOfInt-1))
			i += done
			if done == n {
				continue
			}
			end = min(i+8, len(x)) // of a vector that is not for the assembly
		}
		for ; i < end; i++ {
			y[i] += number.Signed(sign, f.value(x[i]))
		}
	}
}

// AddProducts computes y_i += f(x_i)·v_i, or y_i -= f(x_i)·v_i if sign is negative, rounding f(x_i)
// and the product. It panics as Add does.
func (f Function) AddProducts(sign int, x, v, y []fixed.Q43) {
	if len(x) != len(y) || len(v) != len(y) {
		panic(badLength)
	}
	var values [pieceSize]fixed.Q43
	for lo := 0; lo < len(x); lo += pieceSize {
		hi := min(lo+pieceSize, len(x))
		d := values[:hi-lo]
		clear(d)
		f.Add(1, x[lo:hi], d)
		AddProducts(sign, d, v[lo:hi], y[lo:hi])
	}
}

// pieceSize is how many values are computed before they are used.
const pieceSize = 128

func (f Function) vector(n int, x, y *int64, minus int) int {
	switch f {
	case Sqrt:
		return vectorAddSqrt(n, x, y, minus)
	case Exp:
		return vectorAddExp(n, x, y, minus, &fixedtables.Exp2Coarse[0][0], &fixedtables.Exp2Fine[0])
	case Log:
		return vectorAddLog(n, x, y, minus, &fixedtables.Log[0].Inv)
	case Sin:
		return vectorAddSine(n, x, y, minus, 0)
	}
	return vectorAddSine(n, x, y, minus, 1)
}

func (f Function) value(x fixed.Q43) fixed.Q43 {
	switch f {
	case Sqrt:
		return fixed.Sqrt(x)
	case Exp:
		v, err := fixed.ExpChecked(x)
		if err != nil {
			return fixed.Max
		}
		return v
	case Log:
		return fixed.Log(x)
	case Sin:
		return fixed.Sin(x)
	}
	return fixed.Cos(x)
}

// AddRootQuotients computes y_i += v_i/(2·√x_i), or y_i -= v_i/(2·√x_i) if sign is negative, rounding the
// root and the quotient. It panics if the lengths differ, and if x_i is not positive.
func AddRootQuotients(sign int, v, x, y []fixed.Q43) {
	if len(x) != len(y) || len(v) != len(y) {
		panic(badLength)
	}
	var roots [pieceSize]fixed.Q43
	for lo := 0; lo < len(x); lo += pieceSize {
		hi := min(lo+pieceSize, len(x))
		d := roots[:hi-lo]
		clear(d)
		Sqrt.Add(1, x[lo:hi], d)
		for i := range d {
			d[i] *= 2
		}
		AddQuotients(sign, v[lo:hi], d, y[lo:hi])
	}
}

// AddReciprocals computes y_i += 1/x_i, or y_i -= 1/x_i if sign is negative, as AddQuotients does.
func AddReciprocals(sign int, x, y []fixed.Q43) {
	if len(x) != len(y) {
		panic(badLength)
	}
	for lo := 0; lo < len(x); lo += pieceSize {
		hi := min(lo+pieceSize, len(x))
		AddQuotients(sign, ones[:hi-lo], x[lo:hi], y[lo:hi])
	}
}

var ones = func() (x [pieceSize]fixed.Q43) {
	for i := range x {
		x[i] = fixed.One
	}
	return x
}()

// AddQuotientsTwice computes y_i += v_i/x_i/x_i, or y_i -= v_i/x_i/x_i if sign is negative, rounding
// twice, as AddQuotients does.
func AddQuotientsTwice(sign int, v, x, y []fixed.Q43) {
	if len(x) != len(y) || len(v) != len(y) {
		panic(badLength)
	}
	var quotients [pieceSize]fixed.Q43
	for lo := 0; lo < len(x); lo += pieceSize {
		hi := min(lo+pieceSize, len(x))
		d := quotients[:hi-lo]
		clear(d)
		AddQuotients(1, v[lo:hi], x[lo:hi], d)
		AddQuotients(sign, d, x[lo:hi], y[lo:hi])
	}
}

// AddQuotients computes z_i += x_i/y_i, or z_i -= x_i/y_i if sign is negative. Each quotient is
// rounded, and wraps. It panics if the lengths differ, and where y_i is 0.
func AddQuotients(sign int, x, y, z []fixed.Q43) {
	if len(x) != len(z) || len(y) != len(z) {
		panic(badLength)
	}
	for i := 0; i < len(z); {
		end := len(z)
		if tier == cpu.AVX512 && len(z) >= vectorLeast {
			n := cpu.ChunkAt(i, len(z))
			done := vectorAddQuotients(n, (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1))
			i += done
			if done == n {
				continue
			}
			end = min(i+8, len(z))
		}
		for ; i < end; i++ {
			z[i] += number.Signed(sign, x[i].Div(y[i]))
		}
	}
}
