package revsparse_test

import (
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"revnum/revsparse"
)

// ring is the Hamiltonian of a ring of spins in a transverse field,
//
//	H = -J·Σ_p Z_p·Z_(p+1) - h·Σ_p X_p,  θ = (J, h).
//
// Bit p of the number of a basis state says whether spin p is down. Z_p·Z_(p+1) is
// diagonal, and X_p flips the bit.
type ring int

// bonds returns ΣZ_p·Z_(p+1) in a state: 1 for two neighbours that are alike, -1 for
// others.
func (r ring) bonds(state int) float64 {
	turned := state>>1 | state&1<<(r-1)
	return float64(int(r) - 2*bits.OnesCount(uint(state^turned)))
}

// flipped returns an element of ΣX_p·x.
func (r ring) flipped(x []float64, state int) float64 {
	sum := 0.0
	for p := range int(r) {
		sum += x[state^1<<p]
	}
	return sum
}

func (r ring) Dims() (rows, params int) { return 1 << r, 2 }

func (r ring) AddMul(y, theta, x []float64) {
	for s := range y {
		y[s] -= theta[0]*r.bonds(s)*x[s] + theta[1]*r.flipped(x, s)
	}
}

func (r ring) AddMulTangent(y, _, dtheta, x []float64) { r.AddMul(y, dtheta, x) }

func (r ring) AddGradient(g, _, u, v []float64) {
	for s := range u {
		g[0] -= u[s] * r.bonds(s) * v[s]
		g[1] -= u[s] * r.flipped(v, s)
	}
}

func (r ring) AddGradientTangent(_, _, _, _, _ []float64) {} // H is linear in θ

// The lowest level of nine spins on a ring in a transverse field and its derivatives
// with respect to the coupling and the field, without a matrix, beside the formula
// for it (Pfeuty 1970).
func ExampleOperatorEig() {
	const n, coupling, field = 9, 1.0, 2.0
	energy, theta := mat.NewVecDense(1, nil), mat.NewVecDense(2, []float64{coupling, field})
	k := revsparse.NewOperatorEig(energy, nil, ring(n), theta)
	k.Which = revsparse.Smallest
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("energy   %.4f\n", energy.AtVec(0))

	gEnergy, gTheta := mat.NewVecDense(1, []float64{1}), mat.NewVecDense(2, nil)
	if err := k.Adjoint(revsparse.NewOperatorEig(gEnergy, nil, ring(n), gTheta)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("gradient %.4f\n", gTheta.RawVector().Data)

	// E = -Σ√(J² + h² - 2J·h·cos k) over the odd multiples k of π/n
	var level, byCoupling, byField float64
	for m := range n {
		cos := math.Cos(float64(2*m+1) * math.Pi / n)
		root := math.Sqrt(coupling*coupling + field*field - 2*coupling*field*cos)
		level -= root
		byCoupling -= (coupling - field*cos) / root
		byField -= (field - coupling*cos) / root
	}
	fmt.Printf("formula  %.4f [%.4f %.4f]\n", level, byCoupling, byField)
	// Output:
	// energy   -19.1445
	// gradient [-2.3339 -8.4053]
	// formula  -19.1445 [-2.3339 -8.4053]
}
