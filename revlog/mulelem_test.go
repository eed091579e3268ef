package revlog_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlog"
)

func TestMulElem(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, mulElemSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, mulElemSpec[float32]()) })
}

func mulElemSpec[T rev.Float]() revtest.Spec[revlog.MulElem[T]] {
	return revtest.Spec[revlog.MulElem[T]]{
		New: func(rnd *rand.Rand, size int) revlog.MulElem[T] {
			return revlog.MulElem[T]{
				Z: rev.ViewSlice(randomLogs[T](rnd, size, 0.5)),
				X: rev.ViewSlice(randomLogs[T](rnd, size, 0.5)),
				Y: rev.ViewSlice(randomLogs[T](rnd, size, 0.5)),
			}
		},
		RoundTrip: logRoundTrip,
	}
}

// Of one term it is Dot, to the bit but for log 1 and the share's rounding.
func TestMulElemIsLogDot(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	special := []float64{0, 1, -700, 1e5, math.Inf(-1), math.Inf(1), math.NaN()}
	for range 1000 {
		draw := func() float64 {
			if rnd.IntN(3) == 0 {
				return special[rnd.IntN(len(special))]
			}
			return 3 * rnd.NormFloat64()
		}
		z := [2]float64{draw(), 0}
		z[1] = z[0]
		x, y := []float64{draw()}, []float64{draw()}
		var gz, gx [2]float64
		gz[0], gz[1] = 1, 1
		elem := revlog.MulElem[float64]{Z: rev.ViewSlice(z[:1]), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
		dot := revlog.Dot[float64]{Out: &z[1], X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
		check := func(what string, v [2]float64) {
			if !kerneltest.Near(v[0], v[1], 1e-13) {
				t.Errorf("x=%v, y=%v: %s is %v, of Dot %v", x, y, what, v[0], v[1])
			}
		}
		elem.Forward()
		dot.Forward()
		check("z'", z)
		elem.Adjoint(revlog.MulElem[float64]{Z: rev.ViewSlice(gz[:1]), X: rev.ViewSlice(gx[:1])})
		dot.Adjoint(revlog.Dot[float64]{Out: &gz[1], X: rev.ViewSlice(gx[1:])})
		check("z", z)
		check("cotangent of z", gz)
		check("cotangent of x", gx)
	}
}
