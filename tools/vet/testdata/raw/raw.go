package raw

import "sample/raw/fixed"

type pair[T float64 | fixed.Q43] struct{ a, b T }

func f[T float64 | fixed.Q43](x T) T {
	y := pair[T]{a: 1, b: 0} // want `1 is raw bits`
	if x > 2 || x < 0 {      // want `2 is raw bits`
		return 2*x - x/4
	}
	z := T(1) // want `T\(1\) is raw bits`
	z *= 3
	x += 1 // want `1 is raw bits`
	z = 1  // raw: meant
	return T(2)*y.a + x*z
}

func g[T float32 | float64](x T) T { return x + 1 }
