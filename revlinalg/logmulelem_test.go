package revlinalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/rev"
	"revnum/rev/revtest"
)

func TestLogMulElem(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, logMulElemSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, logMulElemSpec[float32]()) })
}

func logMulElemSpec[T rev.Float]() revtest.Spec[LogMulElem[T]] {
	return revtest.Spec[LogMulElem[T]]{
		New: func(rnd *rand.Rand, size int) LogMulElem[T] {
			return LogMulElem[T]{
				Z: rev.ViewSlice(normals[T](rnd, size, 0.5)),
				X: rev.ViewSlice(normals[T](rnd, size, 0.5)),
				Y: rev.ViewSlice(normals[T](rnd, size, 0.5)),
			}
		},
		RoundTrip: logRoundTrip,
	}
}

// Of one term it is LogDot, to the bit but for log 1 and the share's rounding.
func TestLogMulElemIsLogDot(t *testing.T) {
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
		elem := LogMulElem[float64]{Z: rev.ViewSlice(z[:1]), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
		dot := LogDot[float64]{Out: &z[1], X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
		check := func(what string, v [2]float64) {
			if !near(v[0], v[1], 1e-13) {
				t.Errorf("x=%v, y=%v: %s is %v, of LogDot %v", x, y, what, v[0], v[1])
			}
		}
		elem.Forward()
		dot.Forward()
		check("z'", z)
		elem.Adjoint(LogMulElem[float64]{Z: rev.ViewSlice(gz[:1]), X: rev.ViewSlice(gx[:1])})
		dot.Adjoint(LogDot[float64]{Out: &gz[1], X: rev.ViewSlice(gx[1:])})
		check("z", z)
		check("cotangent of z", gz)
		check("cotangent of x", gx)
	}
}
