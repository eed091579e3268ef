// Package logtest computes logs of sums to high precision, for tests of the kernels
// that compute them in floating point.
package logtest

import (
	"math"
	"math/big"

	"revnum/internal/logs"
)

// Exact returns the sum of the x without rounding.
func Exact(x ...float64) *big.Float {
	s := new(big.Float).SetPrec(2200)
	for _, v := range x {
		s.Add(s, big.NewFloat(v))
	}
	return s
}

// Sum returns log Σ e^t_i for exact terms as m + rest, with the largest term m and
// rest = log Σ e^(t_i-m). rest is at most log n, and its error is some 2⁻⁵².
func Sum(terms []*big.Float) (m *big.Float, rest float64) {
	m = terms[0]
	for _, t := range terms {
		if t.Cmp(m) > 0 {
			m = t
		}
	}
	sum := 0.0
	for _, t := range terms {
		d, _ := new(big.Float).Sub(t, m).Float64()
		sum += math.Exp(d)
	}
	return m, logs.Log(sum)
}

// Error returns got - m - rest.
func Error(got float64, m *big.Float, rest float64) float64 {
	d, _ := new(big.Float).SetPrec(2200).Sub(big.NewFloat(got), m).Float64()
	return d - rest
}
