package ulog

import "math"

// The elementary functions of the package are the exponential, the logarithm, and the
// two functions of Gauss's logarithms:
//
//	log1pexp(d) = log(1 + e^-d)   for sums
//	log1mexp(d) = log(1 - e^-d)   for differences
//
// They use no fused multiply-add and call no function of package math that is machine
// code on some machines. They therefore return the same bits on all machines. They
// must, because over Fixed the result of a sum is part of the program's state. They
// are also more accurate than math.Exp, and finite wherever the result is (math.Exp
// on amd64 overflows from 709.7 on).
//
// For the exponential, let n be the integer nearest to x·32/log 2, and take
// T = 2^(n/32) from a table of 32 entries. Then
//
//	e^x = T·(1 + expm1(r)),   r = x - n·(log 2)/32,   |r| <= 0.0109,
//
// and expm1(r) is a polynomial of degree 6.
//
// For the logarithm of 1 + u, u in [-1/2, 1], let c be the multiple of 1/64 nearest
// to 1 + u, and take its logarithm from a table of 97 entries. Then
//
//	log(1+u) = log(c) + log(1+v),   v = (1+u-c)/c,   |v| <= 1/64,
//
// and log(1+v) is a polynomial of degree 8.
//
// An entry of a table is a float64 and a second number with the bits that the float64
// cannot hold. Near x = 0 and u = 0 the tables add nothing, so small results keep
// their relative accuracy.

const (
	// stepHi + stepLo = (log 2)/32 to 97 bits; n·stepHi is exact for |n| < 2^16.
	stepHi = 0x1.62e42fefa0000p-6
	stepLo = 0x1.cf79abc9e3b3ap-45
	// stepInv = 32/log 2.
	stepInv = 0x1.71547652b82fep+5

	// ln2Hi + ln2Lo = log 2 to 97 bits; ln2Hi = ln2Units·2^-43.
	ln2Units = 6096987078286
	ln2Hi    = ln2Units * 0x1p-43
	ln2Lo    = 0x1.ef35793c76730p-45

	// Adding roundShift to a float64 below 2^51, and subtracting it again,
	// rounds the float64 to an integer. The low bits of the sum hold that
	// integer too.
	roundShift = 0x1.8p52
)

// reduce returns n and r with x = n·(log 2)/32 + r, for |x| < 2000.
func reduce(x float64) (n int, r float64) {
	z := float64(x*stepInv) + roundShift
	n = int(int32(math.Float64bits(z)))
	f := z - roundShift
	return n, (x - float64(f*stepHi)) - float64(f*stepLo)
}

// expm1Poly returns e^r - 1 for |r| <= (log 2)/64.
func expm1Poly(r float64) float64 {
	r2 := float64(r * r)
	q := (0.5 + float64(r*(1./6))) + float64(r2*((1./24+float64(r*(1./120)))+float64(r2*(1./720))))
	return r + float64(r2*q)
}

// exp returns e^x with an error below 0.54 ulp. If the result is subnormal, the
// error is below one of its units.
func exp(x float64) float64 {
	if !(x < 710) {
		return float64(x * math.Inf(1)) // +Inf, or NaN
	}
	if x < -746 {
		return 0
	}
	n, r := reduce(x)
	e := &exp2Table[n&31]
	v := e[0] + (e[1] + float64(e[0]*expm1Poly(r)))
	return scale(v, n>>5)
}

// scale returns v·2^m for v in [1/2, 4] and -1100 < m < 1100.
func scale(v float64, m int) float64 {
	if m > -1021 && m < 1022 {
		return float64(v * pow2(m))
	}
	h := m / 2
	return float64(v * pow2(h) * pow2(m-h))
}

// pow2 returns 2^m for -1022 <= m <= 1023.
func pow2(m int) float64 {
	return math.Float64frombits(uint64(m+1023) << 52)
}

// expNeg returns e^-d for 0 <= d <= 700.
func expNeg(d float64) float64 {
	n, r := reduce(-d)
	e := &exp2Table[n&31]
	v := e[0] + (e[1] + float64(e[0]*expm1Poly(r)))
	return math.Float64frombits(math.Float64bits(v) + uint64(n>>5)<<52)
}

// log1p returns log(1+u) for u in [-1/2, 1].
func log1p(u float64) float64 {
	hi, lo := log1pParts(u)
	return hi + lo
}

// log1pParts returns log(1+u) for u in [-1/2, 1] as the sum of a multiple of
// 2^-43 and a number below 1/32.
func log1pParts(u float64) (hi, lo float64) {
	z := float64(u*64) + roundShift
	e := &logTable[int32(math.Float64bits(z))+32]
	c := float64((z - roundShift) * (1. / 64))
	v := (u - c) / (1 + c)
	v2 := float64(v * v)
	v4 := float64(v2 * v2)
	q := (1./3 - float64(v*(1./4))) + float64(v2*(1./5-float64(v*(1./6)))) + float64(v4*(1./7-float64(v*(1./8))))
	return e[0], v + (e[1] + float64(v2*(float64(v*q)-0.5)))
}

// log returns the logarithm of x with an error below 1 ulp. It is -Inf for 0, and
// NaN below 0.
func log(x float64) float64 {
	if !(x > 0) || x > math.MaxFloat64 {
		switch {
		case x == 0:
			return math.Inf(-1)
		case x < 0:
			return math.NaN()
		}
		return x
	}
	k, hi, lo := logParts(x)
	f := float64(k)
	return (float64(f*ln2Hi) + hi) + (float64(f*ln2Lo) + lo)
}

// logParts returns k, hi and lo with log x = k·log 2 + hi + lo for a finite
// x > 0: hi is a multiple of 2^-43, |hi| < 1/2, |lo| < 1/32.
func logParts(x float64) (k int, hi, lo float64) {
	if x < 0x1p-1022 {
		x *= 0x1p54
		k = -54
	}
	b := math.Float64bits(x)
	// x = 2^k·w with w in [3/4, 3/2).
	k += int(b>>52) - 1023
	b &= 1<<52 - 1
	if b < 1<<51 {
		b |= 1023 << 52
	} else {
		b |= 1022 << 52
		k++
	}
	hi, lo = log1pParts(math.Float64frombits(b) - 1)
	return k, hi, lo
}

// farApart is a distance of two logs. At this distance and beyond, the smaller
// number is too small to change the log of the larger in a float64.
const farApart = 746

// log1pexp returns log(1 + e^-d) for d >= 0, with an error below 1.5 ulp.
func log1pexp(d float64) float64 {
	if d > 700 {
		return exp(-d)
	}
	return log1p(expNeg(d))
}

// log1mexp returns log(1 - e^-d) for d > 0, with an error below 2 ulp. There are two
// ways to write it. log1p(-e^-d) is inaccurate for small d, and log(-expm1(-d)) for
// large d. They are equally good at d = log 2 (Mächler 2012, Accurately computing
// log(1 - exp(-|a|))).
func log1mexp(d float64) float64 {
	switch {
	case d > 700:
		return -exp(-d)
	case d > math.Ln2:
		return log1p(-expNeg(d))
	}
	return log(-expm1Neg(d))
}

// expm1Neg returns e^-d - 1 for 0 <= d <= log 2. With T = 2^(n/32) it is
// (T - 1) + T·expm1(r), where T - 1 is exact.
func expm1Neg(d float64) float64 {
	n, r := reduce(-d)
	p := expm1Poly(r)
	if n == 0 {
		return p
	}
	e := &exp2Table[n&31]
	t, lo := scale(e[0], n>>5), scale(e[1], n>>5)
	return (t - 1) + (lo + float64(t*p))
}
