package catalog

import (
	"math/rand/v2"

	"revnum/rev"
	"revnum/revmath"
)

func bessel[T rev.Real](rnd *rand.Rand, n, _ int) revmath.Bessel[T] {
	return revmath.Bessel[T]{Y: vector[T](rnd, n), X: positives[T](rnd, n), Nu: 2.5}
}

func expSeries[T rev.Real](rnd *rand.Rand, n, _ int) revmath.ExpSeries[T] {
	return revmath.ExpSeries[T]{Y: vector[T](rnd, n), X: vector[T](rnd, n)}
}

func logSeries[T rev.Real](rnd *rand.Rand, n, _ int) revmath.LogSeries[T] {
	return revmath.LogSeries[T]{Y: vector[T](rnd, n), X: positives[T](rnd, n)}
}

func powSeries[T rev.Real](rnd *rand.Rand, n, _ int) revmath.PowSeries[T] {
	return revmath.PowSeries[T]{Y: vector[T](rnd, n), X: positives[T](rnd, n), P: vector[T](rnd, n)}
}

func boxMuller[T rev.Real](rnd *rand.Rand, n, _ int) revmath.BoxMuller[T] {
	k := revmath.BoxMuller[T]{Z1: vector[T](rnd, n), Z2: vector[T](rnd, n), U1: positives[T](rnd, n), U2: positives[T](rnd, n)}
	for i := range k.U1.Data {
		k.U1.Data[i] /= 2 // between 1/4 and 3/4
	}
	return k
}

func boxMullerInverse[T rev.Real](rnd *rand.Rand, n, _ int) revmath.BoxMullerInverse[T] {
	return revmath.BoxMullerInverse[T]{U1: vector[T](rnd, n), U2: vector[T](rnd, n), Z1: vector[T](rnd, n), Z2: positives[T](rnd, n)}
}
