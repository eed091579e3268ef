package cuda

import (
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revnn"
)

// The kernels of the host whose passes run on the device.
type (
	hostAffine[T rev.Real]      revlinalg.Affine[T]
	hostAffineBatch[T rev.Real] revnn.AffineBatch[T]
)

func (k hostAffine[T]) Run(p rev.Pass[hostAffine[T]]) error {
	return through[hostAffine[T], Affine[T]](testDevice, k, p)
}
func (k hostAffineBatch[T]) Run(p rev.Pass[hostAffineBatch[T]]) error {
	return through[hostAffineBatch[T], AffineBatch[T]](testDevice, k, p)
}

func newAffine[T rev.Real](rnd *rand.Rand, m, n int) hostAffine[T] {
	return hostAffine[T]{Y: vector[T](rnd, m), W: general[T](rnd, m, n), X: vector[T](rnd, n), B: vector[T](rnd, m)}
}

func newAffineBatch[T rev.Real](rnd *rand.Rand, n, k, m int) hostAffineBatch[T] {
	return hostAffineBatch[T]{Y: general[T](rnd, n, m), X: general[T](rnd, n, k), W: general[T](rnd, k, m), B: vector[T](rnd, m)}
}

func TestAffine(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	t.Run("float64", affineOf[float64])
	t.Run("float32", affineOf[float32])
	t.Run("Q43", affineOf[fixed.Q43])
}

func affineOf[T rev.Real](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[hostAffine[T]]{Sizes: []int{0, 1, 5}, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostAffine[T] {
		return newAffine[T](rnd, n, n+1)
	}})
	revtest.Kernel(t, revtest.Spec[hostAffineBatch[T]]{Sizes: []int{0, 1, 4}, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostAffineBatch[T] {
		return newAffineBatch[T](rnd, n, n+1, n+2)
	}})
}

// TestAffineBits compares with the host, over more rows than a part of a column has.
func TestAffineBits(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	same(t, func(rnd *rand.Rand) hostAffine[fixed.Q43] {
		return newAffine[fixed.Q43](rnd, 2*columnPart+3, 40)
	}, func(k hostAffine[fixed.Q43]) revlinalg.Affine[fixed.Q43] { return revlinalg.Affine[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostAffineBatch[fixed.Q43] {
		return newAffineBatch[fixed.Q43](rnd, columnPart+9, 3, 5)
	}, func(k hostAffineBatch[fixed.Q43]) revnn.AffineBatch[fixed.Q43] {
		return revnn.AffineBatch[fixed.Q43](k)
	})
}
