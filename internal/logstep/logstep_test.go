package logstep

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Steps is within its bound of Step, which is far more accurate.
func TestSteps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	const n = 1000
	z, s, d, rest := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for _, scale := range []float64{1e-9, 0.1, 1, 30, 1e4} {
		for i := range z {
			z[i], s[i] = scale*rnd.NormFloat64(), scale*rnd.NormFloat64()
		}
		want, before := append([]float64(nil), z...), append([]float64(nil), z...)
		Steps(z, s, d, rest, false)
		for i := range z {
			if Step(&want[i], s[i], false); !(math.Abs(z[i]-want[i]) <= 0x1p-53*(math.Abs(want[i])+3)) {
				t.Fatalf("%v ⊕ %v = %v, want %v", before[i], s[i], z[i], want[i])
			}
		}
		copy(want, z)
		copy(before, z)
		Steps(z, s, d, rest, true)
		for i := range z {
			Step(&want[i], s[i], true)
			bound := 0x1p-53 * (math.Abs(want[i]) + 3*math.Exp(before[i]-want[i]))
			if !(math.Abs(z[i]-want[i]) <= bound) && !IsZero(want[i]) {
				t.Fatalf("%v ⊖ %v = %v, want %v within %v", before[i], s[i], z[i], want[i], bound)
			}
		}
	}
}

func TestStepsSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, back := range []bool{false, true} {
		for _, x := range []float64{-inf, -1e308, -1, 0, 2, 1e308, inf, nan} {
			for _, y := range []float64{-inf, -1e308, -1, 0, 2, 1e308, inf, nan} {
				z, want := []float64{x}, x
				Steps(z, []float64{y}, make([]float64, 1), make([]float64, 1), back)
				Step(&want, y, back)
				if math.Abs(z[0]-want) > 0x1p-50 || math.IsNaN(z[0]) != math.IsNaN(want) || math.IsInf(z[0], 0) != math.IsInf(want, 0) {
					t.Errorf("%v and %v, back %v: %v, want %v", x, y, back, z[0], want)
				}
			}
		}
	}
}
