package ulog

import (
	"math"
	"math/big"

	"revnum/internal/logs"
)

// The functions of this file are the exponential and the logarithm to any precision.
// They work on integers m that stand for m/2^p. Text and big.Float conversions are
// built of them, and the tests measure everything else against them.

// bigExp returns e^(r/2^p)·2^p for 0 <= r < 3·2^p, with an error of a few units. It
// halves the argument k times, sums the Taylor series, and squares the sum k times.
// With k about √p, the series and the squares cost the same.
func bigExp(r *big.Int, p uint) *big.Int {
	k := uint(math.Sqrt(float64(p)))
	w := p + k + 16 // each squaring doubles the error
	// x = r/2^k in w fraction bits.
	x := new(big.Int).Lsh(r, w-p-k)
	sum := new(big.Int).Lsh(big.NewInt(1), w)
	term := new(big.Int).Set(sum)
	for i := int64(1); term.Sign() != 0; i++ {
		term.Mul(term, x).Rsh(term, w)
		term.Quo(term, big.NewInt(i))
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum).Rsh(sum, w)
	}
	return sum.Rsh(sum, w-p)
}

// bigLog returns log(m/2^p)·2^p for 2^p <= m < 10·2^p, with an error of a few units.
// It uses Halley's iteration on e^y = m: y += 2(m - e^y)/(m + e^y). An iteration
// triples the number of correct bits. math.Log gives the first 48.
func bigLog(m *big.Int, p uint) *big.Int {
	w := p + 8
	m = new(big.Int).Lsh(m, 8)
	y, _ := new(big.Float).SetMantExp(big.NewFloat(logs.Log(ratio(m, w))), int(w)).Int(nil)
	for bits := uint(48); ; bits *= 3 {
		e := bigExp(y, w)
		num := new(big.Int).Sub(m, e)
		num.Lsh(num, w+1)
		y.Add(y, num.Quo(num, e.Add(e, m)))
		if y.Sign() < 0 { // m = 1 to within the error
			y.SetInt64(0)
		}
		if bits*3 > w {
			return y.Rsh(y, w-p)
		}
	}
}

// ratio returns the float64 nearest to m/2^p.
func ratio(m *big.Int, p uint) float64 {
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(m), -int(p)).Float64()
	return f
}

// bigLn2 and bigLn10 return log 2 and log 10 times 2^p, with an error of a few
// units. They use identities of Machin's kind over the primes 2, 3 and 5:
//
//	log 2  = 14·artanh(1/31) + 10·artanh(1/49) +  6·artanh(1/161)
//	log 10 = 46·artanh(1/31) + 34·artanh(1/49) + 20·artanh(1/161)
func bigLn2(p uint) *big.Int  { return machin(p, 14, 10, 6) }
func bigLn10(p uint) *big.Int { return machin(p, 46, 34, 20) }

func machin(p uint, c31, c49, c161 int64) *big.Int {
	w := p + 16
	s := new(big.Int).Mul(big.NewInt(c31), artanhInv(31, w))
	s.Add(s, new(big.Int).Mul(big.NewInt(c49), artanhInv(49, w)))
	s.Add(s, new(big.Int).Mul(big.NewInt(c161), artanhInv(161, w)))
	return s.Rsh(s, 16)
}

// artanhInv returns artanh(1/n)·2^p = Σ 1/((2i+1)·n^(2i+1))·2^p.
func artanhInv(n int64, p uint) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), p)
	power.Quo(power, big.NewInt(n))
	sum := new(big.Int)
	sq := big.NewInt(n * n)
	for i := int64(1); power.Sign() != 0; i += 2 {
		sum.Add(sum, new(big.Int).Quo(power, big.NewInt(i)))
		power.Quo(power, sq)
	}
	return sum
}
