package ulog

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
)

// Sum returns Σ x_i. The sum of no numbers is zero. With m the largest log,
//
//	log Σ x_i = m + log Σ e^(log x_i - m)
//
// so nothing overflows, and only terms that are too small to matter underflow.
// Infinity and NaN give the same results as in Add. A zero sum of Signed has the sign +.
//
// Over Fixed the terms are added as integers. The result is therefore the same in
// any order of x, and its log is rounded once. A sum over Signed is the difference
// of the sums of either sign; they cancel as they would in float64.
func Sum[T Number](x []T) T {
	var z T
	switch z := any(&z).(type) {
	case *Float64:
		z.Log = logSum(Logs(any(x).([]Float64)))
	case *Float32:
		z.Log = logSum(Logs32(any(x).([]Float32)))
	case *Fixed:
		*z = sumFixed(any(x).([]Fixed))
	case *Signed:
		*z = sumSigned(any(x).([]Signed))
	}
	return z
}

// sumBlock is the number of terms that are added one after the other. The sums of
// blocks are added pairwise.
const sumBlock = 1024

// logSum returns the log of the sum of the numbers with the given logs.
func logSum[T cpu.Float](logs []T) T {
	m := vec.Max(logs)
	if math.IsInf(float64(m), 0) || math.IsNaN(float64(m)) {
		return m // every term is zero, or one is infinite or NaN
	}
	return T(float64(m) + log(expSum(logs, m)))
}

// expSum returns Σ e^(logs_i - m).
func expSum[T cpu.Float](logs []T, m T) float64 {
	if len(logs) <= sumBlock {
		return float64(vec.SumExp(logs, m))
	}
	half := (len(logs)/sumBlock + 1) / 2 * sumBlock
	return expSum(logs[:half], m) + expSum(logs[half:], m)
}

func sumSigned(x []Signed) Signed {
	var sums [2]float64 // the logs of the sums of each sign
	for s, neg := range []bool{false, true} {
		m := math.Inf(-1)
		for _, v := range x {
			if v.Neg == neg {
				m = max(m, v.Log)
			}
		}
		sums[s] = m
		if !math.IsInf(m, 0) && m == m {
			sums[s] = m + log(expSumSign(x, neg, m))
		}
	}
	return Signed{Log: sums[0]}.Sub(Signed{Log: sums[1]})
}

// expSumSign returns Σ e^(log x_i - m) over the x_i of one sign.
func expSumSign(x []Signed, neg bool, m float64) float64 {
	if len(x) > sumBlock {
		half := (len(x)/sumBlock + 1) / 2 * sumBlock
		return expSumSign(x[:half], neg, m) + expSumSign(x[half:], neg, m)
	}
	var logs [sumBlock]float64
	n := 0
	for _, v := range x {
		if v.Neg == neg {
			logs[n] = v.Log
			n++
		}
	}
	return vec.SumExp(logs[:n], m)
}

// sumFixed adds the terms e^(log x_i - m), each at most 1. It adds them as integers
// of 128 bits with 90 bits after the point, so 2^37 terms fit.
func sumFixed(x []Fixed) Fixed {
	const fracBits = 90
	m := Max(x)
	if m.IsZero() {
		return m
	}
	hi, lo, done := fixedpoint.SumExp(FixedLogs(x), m.Log, &exp2Table)
	for _, v := range x[done:] {
		d := uint64(m.Log) - uint64(v.Log)
		if d > 63<<43 || v.IsZero() {
			continue // e^-63 is below 2^-90
		}
		t := expNeg(float64(float64(d)*unit)) * (1 << (fracBits - 64))
		whole := uint64(t)
		var carry uint64
		lo, carry = bits.Add64(lo, uint64((t-float64(whole))*0x1p64), 0)
		hi += whole + carry
	}
	// log(hi·2^64 + lo) - 90·log 2, with k·log 2 as in NewFixed.
	k, l, rest := logParts(float64(float64(hi)*0x1p64) + float64(lo))
	k -= fracBits
	s, _ := addLogs(m.Log, fixed.Q43(k)*ln2Units+roundQ43(l+(rest+float64(float64(k)*ln2Lo))))
	return Fixed{s}
}

// Prod returns Π x_i. The product of no numbers is 1. Over Fixed it is exact, and
// wraps as Mul does.
func Prod[T Number](x []T) T {
	var z T
	switch z := any(&z).(type) {
	case *Float64:
		z.Log = vec.Sum(Logs(any(x).([]Float64)))
	case *Float32:
		z.Log = vec.Sum(Logs32(any(x).([]Float32)))
	case *Fixed:
		*z = prodFixed(any(x).([]Fixed))
	case *Signed:
		for _, v := range any(x).([]Signed) {
			*z = z.Mul(v)
		}
	}
	return z
}

// prodFixed adds the logs exactly. Their sum modulo 2⁶⁴-1 does not depend on where partial sums wrap.
func prodFixed(x []Fixed) Fixed {
	hi, lo, zero := fixedpoint.ExactSum(FixedLogs(x))
	if zero {
		return fixedZero
	}
	return foldSigned(hi, lo)
}

// ProdPow returns Π x_i^p_i. Each power is rounded as Pow rounds it. Their product is exact, and wraps as Mul
// does. ProdPow panics with mat.ErrShape if the lengths differ. It also panics if an x_i is zero and p_i negative.
func ProdPow(x []Fixed, p []fixed.Q43) Fixed {
	if len(x) != len(p) {
		panic(mat.ErrShape)
	}
	hi, lo, zero := fixedpoint.ExactSumPowers(p, FixedLogs(x))
	if !zero {
		return foldSigned(hi, lo)
	}
	product := fixedOne
	for i, v := range x {
		product = product.Mul(v.Pow(p[i]))
	}
	return product
}

// foldSigned returns the number whose log is the integer with the words hi and lo, which has a sign, modulo
// 2⁶⁴-1.
func foldSigned(hi, lo uint64) Fixed {
	neg := int64(hi) < 0
	if neg {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi = -hi - borrow
	}
	s, _ := foldLog(hi, lo, neg)
	return Fixed{s}
}

// Max returns the largest of x, or NaN if one is NaN. If x is empty, it returns
// zero, or -∞ for Signed.
func Max[T Number](x []T) T {
	var z T
	switch z := any(&z).(type) {
	case *Float64:
		z.Log = vec.Max(Logs(any(x).([]Float64)))
	case *Float32:
		z.Log = vec.Max(Logs32(any(x).([]Float32)))
	case *Fixed:
		z.Log = fixedpoint.Max(FixedLogs(any(x).([]Fixed)))
	case *Signed:
		*z = Signed{math.Inf(1), true}
		for _, v := range any(x).([]Signed) {
			if z.IsNaN() || v.IsNaN() {
				z.Log = math.NaN()
			} else if z.Cmp(v) < 0 {
				*z = v
			}
		}
	}
	return z
}
