//go:build long

package examples

import (
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

// The compiler takes long for these types, so that a first go test work would wait for it. The tag long adds the tests.

func test[K rev.Kernel[K]](t *testing.T, name string, s revtest.Spec[K]) {
	t.Run(name, func(t *testing.T) { revtest.Kernel(t, s) })
}

func TestFloat32(t *testing.T) {
	test(t, "Misfit", misfitSpec[float32]())
	test(t, "Axpy", axpySpec[float32]())
	test(t, "Affine", affineSpec[float32]())
	test(t, "Norm2", norm2Spec[float32]())
	test(t, "Rotate", rotateSpec[float32]())
	test(t, "Leapfrog", leapfrogSpec[float32]())
	test(t, "Bessel", besselSpec[float32]())
	test(t, "LSTM", lstmSpec[float32]())
	test(t, "Pairs", pairsSpec[float32]())
	test(t, "Snavely", snavelySpec[float32]())
	test(t, "Gaussian", gaussianSpec[float32]())
	t.Run("Series", conform[float32])
}

func TestQ43(t *testing.T) {
	test(t, "Misfit", misfitSpec[fixed.Q43]())
	test(t, "Norm2", norm2Spec[fixed.Q43]())
	test(t, "Rotate", rotateSpec[fixed.Q43]())
	test(t, "Bessel", besselSpec[fixed.Q43]())
	test(t, "LSTM", lstmSpec[fixed.Q43]())
	test(t, "Pairs", pairsSpec[fixed.Q43]())
	test(t, "Snavely", snavelySpec[fixed.Q43]())
	t.Run("Series", conform[fixed.Q43])
	t.Run("SeriesValues", series[fixed.Q43])
}
