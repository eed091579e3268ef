package fixedpoint

import (
	"math"

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
	Tan // the end of the range where the quotient of sine and cosine is beyond it
)

// Add computes y_i += f(x_i), or y_i -= f(x_i) if sign is negative. It panics if the lengths
// differ, and where the function of package fixed does.
func (f Function) Add(sign int, x, y []fixed.Q43) {
	if len(x) != len(y) {
		panic(badLength)
	}
	addAll(len(x), func(i, n int) int { return f.vector(n, (*int64)(&x[i]), (*int64)(&y[i]), sign>>(bitsOfInt-1)) },
		func(i int) { y[i] += number.Signed(sign, f.Value(x[i])) })
}

// addAll calls vector for numbers from i on, at most n of them, which returns how many are done, and one
// for those of the next vector if these are not all.
func addAll(n int, vector func(i, n int) int, one func(i int)) {
	for i := 0; i < n; {
		end := n
		if hasProducts() && n >= vectorLeast {
			most := min(cpu.Chunk/8, n-i) // powers take 30 ns each
			done := vector(i, most)
			i += done
			if done == most {
				continue
			}
			end = min(i+8, n)
		}
		for ; i < end; i++ {
			one(i)
		}
	}
}

// AddSigned computes y_i += v_i where x_i > 0. Where x_i < 0, it computes y_i -= v_i if both is set. If sign
// is negative, it subtracts and adds. It panics if the lengths differ.
func AddSigned(sign int, both bool, x, v, y []fixed.Q43) {
	if len(x) != len(y) || len(v) != len(y) {
		panic(badLength)
	}
	if !hasProducts() || len(x) < vectorLeast {
		// Branches would be mispredicted where signs are random.
		minus, below := fixed.Q43(sign>>(bitsOfInt-1)), fixed.Q43(-oneIf(both))
		for i, x := range x {
			negative, positive := x>>63, (-x&^x)>>63
			v := (v[i] ^ minus) - minus
			y[i] += v&positive - v&negative&below
		}
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		vectorAddSigned(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), (*int64)(&v[i]), (*int64)(&y[i]), -oneIf(both), sign>>(bitsOfInt-1))
	}
}

// Floats sets y_i to x_i rounded to nearest. It panics if the lengths differ.
func Floats(y []float64, x []fixed.Q43) {
	if len(x) != len(y) {
		panic(badLength)
	}
	if !hasProducts() || len(x) < vectorLeast {
		for i, v := range x {
			y[i] = v.Float64()
		}
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		vectorToFloats(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), &y[i])
	}
}

// AddRounded computes y_i += v_i, or y_i -= v_i if sign is negative, with v_i rounded as FromFloat64 of
// package fixed does. It panics if the lengths differ, and where FromFloat64 does.
func AddRounded(sign int, v []float64, y []fixed.Q43) {
	if len(v) != len(y) {
		panic(badLength)
	}
	addAll(len(v), func(i, n int) int { return vectorAddRounded(n, &v[i], (*int64)(&y[i]), sign>>(bitsOfInt-1)) },
		func(i int) { y[i] += number.Signed(sign, fixed.FromFloat64(v[i])) })
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
	case Tan:
		return vectorAddTan(n, x, y, minus)
	}
	return vectorAddSine(n, x, y, minus, 1)
}

// Value returns f(x).
func (f Function) Value(x fixed.Q43) fixed.Q43 {
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
	case Tan:
		sin, cos := fixed.SinCos(x)
		switch {
		case cos != 0:
			return sin.DivSat(cos)
		case sin < 0:
			return fixed.Min
		}
		return fixed.Max
	}
	return fixed.Cos(x)
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
	addAll(len(z), func(i, n int) int {
		return vectorAddQuotients(n, (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1))
	}, func(i int) { z[i] += number.Signed(sign, x[i].Div(y[i])) })
}

// AddAtan2 computes z_i += atan2(y_i, x_i), or z_i -= atan2(y_i, x_i) if sign is negative. It panics if the
// lengths differ.
func AddAtan2(sign int, y, x, z []fixed.Q43) {
	if len(x) != len(z) || len(y) != len(z) {
		panic(badLength)
	}
	addAll(len(z), func(i, n int) int {
		return vectorAddAtan2(n, (*int64)(&y[i]), (*int64)(&x[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1), &fixedtables.Atan[0])
	}, func(i int) { z[i] += number.Signed(sign, fixed.Atan2(y[i], x[i])) })
}

// AddAtan2Slopes adds to gy_i and gx_i what Atan2Adjoint of package fixed returns for y_i, x_i and v_i. It
// panics if the lengths differ, and where Atan2Adjoint does.
func AddAtan2Slopes(y, x, v, gy, gx []fixed.Q43) {
	if len(x) != len(y) || len(v) != len(y) || len(gy) != len(y) || len(gx) != len(y) {
		panic(badLength)
	}
	addAll(len(y), func(i, n int) int {
		return vectorAddAtan2Slopes(n, (*int64)(&y[i]), (*int64)(&x[i]), (*int64)(&v[i]), (*int64)(&gy[i]), (*int64)(&gx[i]))
	}, func(i int) {
		toY, toX := fixed.Atan2Adjoint(y[i], x[i], v[i])
		gy[i] += toY
		gx[i] += toX
	})
}

// AddPow computes z_i += x_i to the power y_i, or the difference if sign is negative. It panics if the lengths
// differ, and where Pow of package fixed does.
func AddPow(sign int, x, y, z []fixed.Q43) {
	if len(x) != len(z) || len(y) != len(z) {
		panic(badLength)
	}
	addAll(len(z), func(i, n int) int {
		return vectorAddPow(n, (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1),
			&fixedtables.Exp2Coarse[0][0], &fixedtables.Exp2Fine[0], &fixedtables.Log[0].Inv)
	}, func(i int) { z[i] += number.Signed(sign, fixed.Pow(x[i], y[i])) })
}

// AddPowSlopes adds to gx_i and gy_i what PowAdjoint of package fixed returns for x_i, y_i and v_i. If z is
// not nil, it also does what AddPow does, which comes nearly for free. It panics if the lengths differ, and
// where Pow and PowAdjoint do.
func AddPowSlopes(sign int, x, y, z, v, gx, gy []fixed.Q43) {
	if len(x) != len(y) || z != nil && len(z) != len(y) || len(v) != len(y) || len(gx) != len(y) || len(gy) != len(y) {
		panic(badLength)
	}
	var p, q, t [pieceSize]fixed.Q43 // xʸ, xʸ⁻¹, and what they are multiplied by
	for lo := 0; lo < len(x); lo += pieceSize {
		hi := min(lo+pieceSize, len(x))
		x, y, v, p, q, t := x[lo:hi], y[lo:hi], v[lo:hi], p[:hi-lo], q[:hi-lo], t[:hi-lo]
		addAll(len(x), func(i, n int) int {
			return vectorPowers(n, (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&p[i]), (*int64)(&q[i]),
				&fixedtables.Exp2Coarse[0][0], &fixedtables.Exp2Fine[0], &fixedtables.Log[0].Inv)
		}, func(i int) {
			p[i], q[i] = 0, 0
			if z != nil || x[i] > 0 {
				p[i] = fixed.Pow(x[i], y[i])
			}
			if y[i] != 0 {
				q[i] = fixed.Pow(x[i], y[i].SubSat(fixed.One))
			}
		})
		if z != nil {
			Axpy(sign, fixed.One, p, z[lo:hi])
		}
		addProductsOf(q, y, v, gx[lo:hi], t)
		for i, x := range x { // the logarithm of 1 is 0
			if x <= 0 {
				x = fixed.One
			}
			q[i] = x
		}
		clear(t)
		Log.Add(1, q, t)
		addProductsOf(p, t, v, gy[lo:hi], q)
	}
}

// addProductsOf computes to_i += a_i·b_i·v_i, rounding twice. t is scratch.
func addProductsOf(a, b, v, to, t []fixed.Q43) {
	clear(t)
	AddProducts(1, a, b, t)
	AddProducts(1, t, v, to)
}

// PowersFit returns how many pairs, from the first on, are known to have positive x_i, and powers of x_i in range
// for all exponents from y_i-below to y_i.
func PowersFit(x, y []fixed.Q43, below float64) int {
	const most = 19.99 // 20 less what is rounded
	for i, v := range x {
		// The bits of a float64 (1+f)·2ᵉ have e+f, and log2(1+f) - f is in [0, 0.0861].
		l, p := float64(float64(int64(math.Float64bits(v.Float64()))-1023<<52)*0x1p-52), y[i].Float64()
		h, q := l+0.0861, p-below
		// Of products of numbers of [l, h] and [q, p] that are positive, the largest is h·p or l·q.
		if v <= 0 || !(h*p < most && l*q < most) {
			return i
		}
	}
	return len(x)
}
