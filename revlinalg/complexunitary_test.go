package revlinalg_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func randomComplexUnitary(rnd *rand.Rand, n, m int, rectangular bool) revlinalg.ComplexUnitary {
	k := revlinalg.ComplexUnitary{
		X: rev.NewGeneral[complex128](n, m, nil), Theta: kerneltest.Vector[float64](rnd, n*(n-1)/2), Phi: kerneltest.Vector[float64](rnd, n*(n-1)/2),
		Delta: kerneltest.Vector[float64](rnd, n), Rectangular: rectangular,
	}
	for i := range k.X.Data {
		k.X.Data[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	return k
}

func TestComplexUnitary(t *testing.T) {
	for _, rectangular := range []bool{false, true} {
		for _, cols := range []int{1, 6} {
			t.Run(fmt.Sprintf("%d columns, rectangular=%v", cols, rectangular), func(t *testing.T) {
				revtest.Kernel(t, revtest.Spec[revlinalg.ComplexUnitary]{
					New: func(rnd *rand.Rand, size int) revlinalg.ComplexUnitary {
						return randomComplexUnitary(rnd, size, cols, rectangular)
					},
					Sizes:     []int{0, 1, 2, 3, 5, 6, 12},
					RoundTrip: 50,
					Free:      []string{"X.Cols"},
				})
			})
		}
	}
}

// Several panels, and several parts of the columns.
func TestComplexUnitaryLarge(t *testing.T) {
	spec := revtest.Spec[revlinalg.ComplexUnitary]{
		New: func(rnd *rand.Rand, size int) revlinalg.ComplexUnitary {
			return randomComplexUnitary(rnd, size, 40, true)
		},
		Sizes:     []int{150},
		RoundTrip: 50,
		Skip:      map[revtest.Property]string{},
	}
	if !long.Tests() {
		for _, p := range []revtest.Property{revtest.NilOutputs, revtest.Omitted, revtest.Magnitudes, revtest.Methods, revtest.Uncall} {
			spec.Skip[p] = "tested at small sizes"
		}
	}
	for _, p := range []revtest.Property{
		revtest.Tangents, revtest.SecondOrder, revtest.SymmetricHessian, revtest.Accumulation, revtest.NilGradients,
		revtest.Shapes, revtest.Extremes, revtest.NoAllocation, revtest.SharedInputs, revtest.ReadOnly, revtest.Gaps, revtest.NaN,
	} {
		spec.Skip[p] = "tested at small sizes"
	}
	revtest.Kernel(t, spec)
}

// complexDense returns U(θ, φ, δ) from its definition.
func complexDense(k revlinalg.ComplexUnitary) [][]complex128 {
	n := k.X.Rows
	u := make([][]complex128, n)
	for i := range u {
		u[i] = make([]complex128, n)
		u[i][i] = 1
	}
	index := 0
	rotate := func(i int) { // rows i and i+1, counted from 1
		sin, cos := math.Sincos(k.Theta.Data[index])
		e := cmplx.Exp(complex(0, k.Phi.Data[index]))
		index++
		for j := range n {
			a, b := u[i-1][j], u[i][j]
			u[i-1][j] = complex(cos, 0)*e*a - complex(sin, 0)*b
			u[i][j] = complex(sin, 0)*e*a + complex(cos, 0)*b
		}
	}
	for j := 1; j <= n; j++ {
		if k.Rectangular {
			for i := 2 - j%2; i < n; i += 2 {
				rotate(i)
			}
		} else {
			for i := n - 1; i >= j; i-- {
				rotate(i)
			}
		}
	}
	for i := range u {
		for j := range u[i] {
			u[i][j] *= cmplx.Exp(complex(0, k.Delta.Data[i]))
		}
	}
	return u
}

func TestComplexUnitaryValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	for _, n := range []int{1, 2, 3, 6, 7, 20} {
		for _, rectangular := range []bool{false, true} {
			k := randomComplexUnitary(rnd, n, 5, rectangular)
			u := complexDense(k)
			want := make([]complex128, n*5)
			for i := range n {
				for j := range 5 {
					for l := range n {
						want[i*5+j] += u[i][l] * k.X.Data[l*5+j]
					}
				}
			}
			k.Forward()
			for i, v := range k.X.Data {
				if !(cmplx.Abs(v-want[i]) <= 1e-13) {
					t.Fatalf("n=%d rectangular=%v: element %d is %v, want %v", n, rectangular, i, v, want[i])
				}
			}
			for i := range n {
				for j := range n { // UᴴU - I
					d := complex128(0)
					for l := range n {
						d += cmplx.Conj(u[l][i]) * u[l][j]
					}
					if i == j {
						d--
					}
					if !(cmplx.Abs(d) <= 1e-13) {
						t.Errorf("n=%d rectangular=%v: UᴴU - I has %v", n, rectangular, d)
					}
				}
			}
		}
	}
}

// BenchmarkComplexUnitary counts six operations for each real number and rotation and
// three for its phase, and in Adjoint five more for θ̄ and φ̄.
func BenchmarkComplexUnitary(b *testing.B) {
	rnd := rand.New(rand.NewPCG(7, 2))
	for _, n := range []int{64, 256} {
		k, g, dt, dg := randomComplexUnitary(rnd, n, n, false), randomComplexUnitary(rnd, n, n, false),
			randomComplexUnitary(rnd, n, n, false), randomComplexUnitary(rnd, n, n, false)
		numbers := 2 * k.Theta.N * k.X.Cols
		for _, workers := range []int{1, 2} {
			k.Workers = workers
			for _, m := range []struct {
				name  string
				flops int
				call  func()
			}{
				{"Forward", 9, k.Forward},
				{"Adjoint", 23, func() { k.Adjoint(g) }},
				{"Tangent", 24, func() { k.Tangent(g) }},
				{"AdjointTangent", 60, func() { k.AdjointTangent(g, dt, dg) }},
			} {
				b.Run(fmt.Sprintf("n=%d/%s/workers=%d", n, m.name, workers), func(b *testing.B) {
					for b.Loop() {
						m.call()
					}
					kerneltest.ReportFlops(b, m.flops*numbers)
				})
			}
		}
	}
}
