package ba

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAngleAxis goes from vectors to matrices and back, with angles around 0 and
// π too, and about axes on which components vanish or tie.
func TestAngleAxis(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	axes := [][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}, {1, 1, 0}, {1, -1, 1}, {0, 1e-9, 1}, {-1, 1e-5, 1e-9}}
	for range 20 {
		axes = append(axes, [3]float64{rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()})
	}
	for _, axis := range axes {
		size := math.Sqrt(axis[0]*axis[0] + axis[1]*axis[1] + axis[2]*axis[2])
		for _, angle := range []float64{0, 1e-300, 1e-12, 1e-8, 1.1e-8, 1e-4, 0.5, 1.5, 2, 3, math.Pi - 1e-4, math.Pi - 1e-8, math.Pi - 1e-12} {
			w := axis
			for j := range w {
				w[j] *= angle / size
			}
			r := rotationMatrix(w)
			got := angleAxis(&r)
			for j := range w {
				if !(math.Abs(got[j]-w[j]) <= 8e-16*max(1, angle)) {
					t.Errorf("axis %v, angle %v: %v, want %v", axis, angle, got, w)
					break
				}
			}
			// It is a rotation: r·rᵀ = I.
			product := multiply(r, [9]float64{r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]})
			for i, v := range product {
				if want := float64((4 - i%4) / 4); !(math.Abs(v-want) <= 4e-15) {
					t.Errorf("axis %v, angle %v: r·rᵀ = %v", axis, angle, product)
					break
				}
			}
		}
		// A half turn is one about -axis too, and one of more than π a lesser one back.
		for _, angle := range []float64{math.Pi, math.Pi + 1e-8, 4, 2*math.Pi - 1e-6, 2 * math.Pi} {
			w := axis
			for j := range w {
				w[j] *= angle / size
			}
			r := rotationMatrix(w)
			got := angleAxis(&r)
			back := rotationMatrix(got)
			if norm := math.Sqrt(got[0]*got[0] + got[1]*got[1] + got[2]*got[2]); !(norm <= math.Pi+1e-15) {
				t.Errorf("axis %v, angle %v: an angle of %v", axis, angle, norm)
			}
			for i := range r {
				if !(math.Abs(back[i]-r[i]) <= 4e-15) {
					t.Errorf("axis %v, angle %v: %v, want %v", axis, angle, back, r)
					break
				}
			}
		}
	}
}
