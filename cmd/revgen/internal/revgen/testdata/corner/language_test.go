package corner

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func languageSpec[T rev.Real](n int) revtest.Spec[Language[T]] {
	return revtest.Spec[Language[T]]{New: func(rnd *rand.Rand, _ int) Language[T] {
		return Language[T]{Y: vec[T](rnd, 4, 1), X: vec[T](rnd, 4, 1), N: n}
	}, Sizes: []int{4}, Skip: map[revtest.Property]string{revtest.NaN: "not all numbers are read"}}
}

func begunSpec[T rev.Real](x0 float64) revtest.Spec[Begun[T]] {
	return revtest.Spec[Begun[T]]{New: func(rnd *rand.Rand, _ int) Begun[T] {
		k := Begun[T]{Y: vec[T](rnd, 2, 1), X: vec[T](rnd, 3, 0.5)}
		k.X.Data[0] = fixed.Of[T](x0)
		return k
	}, Sizes: []int{3}, Adjoint: 1e3, Skip: map[revtest.Property]string{revtest.NaN: "a branch hides it"}}
}

func copiedSpec[T rev.Real]() revtest.Spec[Copied[T]] {
	return revtest.Spec[Copied[T]]{New: func(rnd *rand.Rand, _ int) Copied[T] {
		return Copied[T]{Y: vec[T](rnd, 3, 1), X: vec[T](rnd, 3, 1)}
	}, Sizes: []int{3}, Adjoint: 1e4}
}

func TestLanguage(t *testing.T) {
	for n := range 3 {
		all(t, languageSpec[float64](n), languageSpec[float32](n), languageSpec[fixed.Q43](n))
	}
}

func TestBegun(t *testing.T) {
	for _, x := range []float64{0.5, -0.5} {
		all(t, begunSpec[float64](x), begunSpec[float32](x), begunSpec[fixed.Q43](x))
	}
}

func TestCopied(t *testing.T) {
	all(t, copiedSpec[float64](), copiedSpec[float32](), copiedSpec[fixed.Q43]())
}

func placedSpec[T rev.Real](v1 float64) revtest.Spec[Placed[T]] {
	return revtest.Spec[Placed[T]]{New: func(rnd *rand.Rand, _ int) Placed[T] {
		k := Placed[T]{Y: vec[T](rnd, 1, 1), X: vec[T](rnd, 2, 1), V: vec[T](rnd, 2, 1)}
		k.V.Data[1] = fixed.Of[T](v1)
		return k
	}, Sizes: []int{2}, Adjoint: 1e3, Skip: map[revtest.Property]string{revtest.NaN: "a branch hides it"}}
}

func TestPlaced(t *testing.T) {
	for _, v := range []float64{0.5, -0.5} {
		all(t, placedSpec[float64](v), placedSpec[float32](v), placedSpec[fixed.Q43](v))
	}
}

// The kernels compute what the functions compute.
func TestLanguageValues(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 5 {
		l := languageSpec[float64](n).New(rnd, 0)
		b, c := begunSpec[float64](float64(n)-1.5).New(rnd, 0), copiedSpec[float64]().New(rnd, 0)
		for _, o := range []struct {
			name     string
			y, x     []float64
			function func(y, x []float64)
			kernel   func()
		}{
			{"language", l.Y.Data, l.X.Data, func(y, x []float64) { language(y, x, n) }, l.Forward},
			{"begun", b.Y.Data, b.X.Data, begun, b.Forward},
			{"copied", c.Y.Data, c.X.Data, copied, c.Forward},
		} {
			want := slices.Clone(o.y)
			o.function(want, o.x)
			o.kernel()
			for i := range want {
				if d := o.y[i] - want[i]; !(d < 1e-13 && d > -1e-13) {
					t.Errorf("%s, n = %d: y[%d] = %v, the function has %v", o.name, n, i, o.y[i], want[i])
				}
			}
		}
	}
}

func extremesSpec[T rev.Real]() revtest.Spec[Extremes[T]] {
	return revtest.Spec[Extremes[T]]{New: func(rnd *rand.Rand, n int) Extremes[T] {
		k := Extremes[T]{Y: vec[T](rnd, 2, 1), X: vec[T](rnd, n, 0.05)}
		for i := range k.X.Data {
			k.X.Data[i] += fixed.Of[T](float64(3*i%5) - 1)
		}
		return k
	}, Magnitudes: [2]float64{1, 1}, // a step changes none of the branches
		Sizes: []int{1, 2, 5}, Skip: map[revtest.Property]string{revtest.NaN: "not all numbers are kept"}}
}

// The least of no numbers is the largest number, and what a loop begins with never wins.
func TestExtremes(t *testing.T) {
	all(t, extremesSpec[float64](), extremesSpec[float32](), extremesSpec[fixed.Q43]())
	var y [2]float64
	if extremes(y[:], nil); y != [2]float64{math.MaxFloat64, -math.MaxFloat64} {
		t.Error("the function:", y)
	}
	extremesOfNone(t, math.MaxFloat64)
	extremesOfNone[float32](t, math.MaxFloat32)
	extremesOfNone(t, fixed.Max)
}

func extremesOfNone[T rev.Real](t *testing.T, largest T) {
	t.Helper()
	k := Extremes[T]{Y: rev.ViewSlice(make([]T, 2)), X: rev.ViewSlice([]T{})}
	if k.Forward(); k.Y.Data[0] != largest || k.Y.Data[1] != -largest {
		t.Errorf("%T: %v", largest, k.Y.Data)
	}
}
