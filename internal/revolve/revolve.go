// Package revolve has the schedule by which the states of a chain are run back with few
// of them in memory: that of A. Griewank, Achieving logarithmic growth of temporal and
// spatial complexity in reverse automatic differentiation, Optim. Methods Softw. 1 (1992),
// and A. Griewank and A. Walther, Algorithm 799: revolve, ACM Trans. Math. Softw. 26
// (2000).
package revolve

import "math"

// Sweeps returns the least r for which n <= C(δ+r, δ), with δ snapshots: no step needs to
// run ahead more often.
func Sweeps(n, snapshots int) int {
	r := 0
	for Binomial(snapshots+r, r) < n {
		r++
	}
	return r
}

// Binomial returns C(n, k), or the largest int if that is more. It is 0 for k < 0.
func Binomial(n, k int) int {
	if k < 0 || k > n {
		return 0
	}
	c := 1
	for i := 1; i <= min(k, n-k); i++ {
		if c > math.MaxInt/(n+1-i) {
			return math.MaxInt
		}
		c = c * (n + 1 - i) / i
	}
	return c
}

// Split returns how many of n > 1 steps to run ahead from a snapshot to the next one. There
// are at least two snapshots, and the one at hand is one of them.
func Split(n, snapshots int) int {
	r := Sweeps(n, snapshots)
	// The steps after the snapshot must be possible in r sweeps with one snapshot less,
	// the steps before it in r-1 sweeps. Neither may be possible in one sweep less.
	return max(1, n-Binomial(snapshots-1+r, r), Binomial(snapshots+r-2, r-2))
}
