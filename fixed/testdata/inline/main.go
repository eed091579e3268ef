// Command inline multiplies numbers of each type by the generic product. The
// test of package fixed compiles it, and looks at what was inlined.
package main

import "revnum/fixed"

func dot[T fixed.Number](x, y []T) T {
	var s T
	for i, v := range x {
		s += fixed.Product(v, y[i])
	}
	return s
}

func main() {
	println(dot([]float32{1}, []float32{2}), dot([]float64{1}, []float64{2}), dot([]fixed.Q43{1}, []fixed.Q43{2}))
}
