package nbody

import (
	"fmt"
	"math"
)

//go:generate go run revnum/cmd/revgen -instances

// totalEnergy is the kernel
//
//	Out += Σ_i ½·μ_i·|V_i|² - Σ_{i<j} μ_i·μ_j/√(|Q_j - Q_i|² + ε²),
//
// the energy of the bodies times the constant of gravitation, where ε is the Softening. A
// pair at distance 0 adds nothing if ε is 0. All passes return an error if ε is negative
// or not finite.
//
// With d_ij and w_ij of Kick, the gradients are
//
//	V̄_i += Ō·μ_i·V_i
//	Q̄_i -= Ō·Σ_j μ_i·μ_j·w_ij·d_ij
//	μ̄_i += Ō·(½·|V_i|² - Σ_j μ_j/√(|d_ij|² + ε²)).
//
// In floating point the result is within (n²/2 + n + 10)·ε times the sum of the absolute
// values of all terms. In fixed point, in units of the last place, a body adds at most
// (1 + 3·μ_i)/4 to the error, a pair at distance r = √(|d_ij|² + ε²) at most
// (1 + 1/r)/2 + μ_i·μ_j·(1/r³ + 1/(2r²)), and the sum 1/2. Speeds and distances must be
// below 2¹⁰.
//
// A pass takes n²/2 roots. Workers share the bodies.
//
//revgen:kernel Energy[T rev.Real] workers
//revgen:const softening
func totalEnergy(out *float64, q, v [][]float64, mu []float64, softening float64) error {
	if len(q) != len(mu) || len(v) != len(mu) || len(q[0]) != 3 || len(v[0]) != 3 {
		panic("shape")
	}
	if !(softening >= 0) || softening > math.MaxFloat64 {
		return fmt.Errorf("nbody: expected a softening of at least 0 that is finite, found %v", softening)
	}
	e := 0.0
	for i, m := range mu {
		a, u := q[i], v[i]
		e += m * (float64(u[0]*u[0]) + float64(u[1]*u[1]) + float64(u[2]*u[2])) / 2
		for j := i + 1; j < len(mu); j++ {
			b := q[j]
			x, y, z := b[0]-a[0], b[1]-a[1], b[2]-a[2]
			r2 := float64(x*x) + float64(y*y) + float64(z*z) + float64(softening*softening)
			if r2 != 0 {
				e -= m * mu[j] / math.Sqrt(r2)
			}
		}
	}
	*out += e
	return nil
}
