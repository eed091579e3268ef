// Package plusplus chooses the centres that clustering begins with.
package plusplus

import (
	"context"
	"math/rand/v2"
)

// Seed chooses k points as centres by k-means++ (Arthur and Vassilvitskii, 2007):
// the first uniformly, each of the others with a probability in proportion to
// dist_i, its squared distance from the nearest so far. It hands each to add with
// its number, which updates dist. It returns false if ctx was done before the last.
func Seed(ctx context.Context, rnd *rand.Rand, k int, dist []float64, add func(n, point int)) bool {
	for n := range k {
		if ctx.Err() != nil {
			return false
		}
		at := rnd.IntN(len(dist))
		if n > 0 {
			at = weighted(rnd, dist, at)
		}
		add(n, at)
	}
	return true
}

// weighted returns i with a probability in proportion to w_i, or otherwise if
// all w are 0.
func weighted(rnd *rand.Rand, w []float64, otherwise int) int {
	var sum float64
	for _, v := range w {
		sum += v
	}
	if sum == 0 {
		return otherwise
	}
	u := rnd.Float64() * sum
	last := otherwise
	for i, v := range w {
		if v == 0 {
			continue
		}
		if last = i; u < v {
			break
		}
		u -= v
	}
	return last
}
