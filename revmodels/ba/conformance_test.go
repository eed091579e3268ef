package ba

import (
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
)

// snavelyOf returns k with its operands in T.
func snavelyOf[T rev.Real](k Snavely[float64]) Snavely[T] {
	return Snavely[T]{
		R: vectorOf[T](k.R), Cameras: generalOf[T](k.Cameras), Points: generalOf[T](k.Points), Features: generalOf[T](k.Features),
		Camera: k.Camera, Point: k.Point, Workers: k.Workers,
	}
}

func weightedOf[T rev.Real](k Weighted[float64]) Weighted[T] {
	return Weighted[T]{
		R: vectorOf[T](k.R), Z: vectorOf[T](k.Z), Cameras: generalOf[T](k.Cameras), Points: generalOf[T](k.Points),
		Weights: vectorOf[T](k.Weights), Features: generalOf[T](k.Features), Camera: k.Camera, Point: k.Point, Workers: k.Workers,
	}
}

func vectorOf[T rev.Real](x rev.Vector[float64]) rev.Vector[T] {
	return rev.Vector[T]{N: x.N, Data: sliceOf[T](x.Data), Inc: x.Inc}
}

func generalOf[T rev.Real](x rev.General[float64]) rev.General[T] {
	return rev.General[T]{Rows: x.Rows, Cols: x.Cols, Data: sliceOf[T](x.Data), Stride: x.Stride}
}

func sliceOf[T rev.Real](x []float64) []T {
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = fixed.Of[T](v)
	}
	return y
}

func snavelySpec[T rev.Real]() revtest.Spec[Snavely[T]] {
	return revtest.Spec[Snavely[T]]{
		Float64: revtest.PassesOf[Snavely[float64]](),
		New:     func(rnd *rand.Rand, size int) Snavely[T] { return snavelyOf[T](randomSnavely(rnd, size)) },
		Sizes:   []int{0, 1, 2, 5, 23, 70},
		Large:   3 * viewBlock,
		Free:    []string{"Cameras.Rows", "Points.Rows"},
	}
}

func weightedSpec[T rev.Real]() revtest.Spec[Weighted[T]] {
	// Larger operands turn further, which brings points near depth 0, where π has a pole.
	magnitudes := [2]float64{1e-3, 8}
	if _, ok := any(T(0)).(fixed.Q43); ok {
		magnitudes = [2]float64{0.5, 1}
	}
	return revtest.Spec[Weighted[T]]{
		Magnitudes: magnitudes,
		Float64:    revtest.PassesOf[Weighted[float64]](),
		New:        func(rnd *rand.Rand, size int) Weighted[T] { return weightedOf[T](randomWeighted(rnd, size)) },
		Sizes:      []int{0, 1, 2, 5, 23, 70},
		Large:      3 * viewBlock,
		Free:       []string{"Cameras.Rows", "Points.Rows"},
	}
}

func TestSnavely64(t *testing.T)    { revtest.Kernel(t, snavelySpec[float64]()) }
func TestSnavely32(t *testing.T)    { kerneltest.Kernel[float32](t, snavelySpec[float32]()) }
func TestSnavelyFixed(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, snavelySpec[fixed.Q43]()) }

func TestWeighted64(t *testing.T)    { revtest.Kernel(t, weightedSpec[float64]()) }
func TestWeighted32(t *testing.T)    { kerneltest.Kernel[float32](t, weightedSpec[float32]()) }
func TestWeightedFixed(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, weightedSpec[fixed.Q43]()) }
