package corner

import . "math" //nolint:staticcheck // a dot import is what is tested

// What Go calls by other names: constants of the package and of the function, packages
// with another name, types, embedded structs.
const (
	first = iota
	second
	_
	fourth
	weight float64 = 1 << (first + 1)
)

type (
	metres   float64
	scalar64 = float64
	planar   struct{ x, y float64 }
	solid    struct {
		planar
		z float64
	}
)

// height returns the sum of the first numbers, and changes what it got.
func (s solid) height(n int) (sum metres, _ float64) {
	s.x, s.y = s.y, s.x
	for range n {
		s.z += 0.5 * s.planar.x //nolint:staticcheck // the long form
	}
	switch sum = metres(s.z); { //nolint:gocritic // a statement before the cases
	case n > first:
		sum *= metres(weight)
		return
	}
	return sum, float64(sum) * s.x
}

// language uses what has no test of its own.
//
//revgen:kernel Language[T rev.Real]
func language(y, x []float64, n int) {
	if len(y) != fourth+1 || len(x) != fourth+1 {
		panic("shape")
	}
	const half = 0x1p-1
	var a, b = scalar64(x[first]), Sin(x[second])
	a, b, c := b, a*half, x[n&second]
	{
		a := a * b // another a
		y[n&(n+1)%4] += a * c
	}
	if a := scalar64(c); a > 0 {
		y[1|n%2] += a * Pi
	}
	h, up := solid{planar{a, b}, c}.height(n)
	y[second] += scalar64(h) * up * float64((n+1)<<1-n>>1) / float64(n^3|4)
	y[first]--
	y[fourth]++
}

// extremes adds the least and the greatest of x to y. It begins with the largest number of each
// type.
//
//revgen:kernel Extremes[T rev.Real]
func extremes(y, x []float64) {
	if len(y) != 2 {
		panic("shape")
	}
	least, most := MaxFloat64, -MaxFloat64
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	y[0] += least
	y[1] += most
}
