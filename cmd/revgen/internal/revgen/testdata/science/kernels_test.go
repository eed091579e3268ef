package science

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestKernels(t *testing.T) {
	p := random(3*3+3, -0.6, 0.6)
	check(t, "chain", p,
		func(p []float64) float64 { return chain(dense(p[:9:9], 3), p[9:], 3) },
		func(g, p []float64) float64 {
			return chainGradient(dense(g[:9:9], 3), g[9:], dense(p[:9:9], 3), p[9:], 3)
		})
	second(t, "chain", p,
		func(g, p []float64) { chainOfGradient(g, p, 3, 3) },
		func(dst, p, v []float64) { chainOfHessVec(dst, p, v, 3, 3) },
		func(dst *mat.SymDense, p []float64) { chainOfHessian(dst, p, 3, 3) })

	// The gradient by a of m·log det a / 2 + ½·tr xᵀa⁻¹x is (m·a⁻¹ - a⁻¹·x·xᵀ·a⁻¹)/2.
	a, x := dense([]float64{3, 0.5, 0.2, 0.5, 2, -0.3, 0.2, -0.3, 4}, 3), dense(random(6, -1, 1), 2)
	ga, gx := mat.NewDense(3, 3, nil), mat.NewDense(3, 2, nil)
	if _, err := densityGradient(ga, gx, a, x); err != nil {
		t.Fatal(err)
	}
	var inv, y, want mat.Dense
	if err := inv.Inverse(a); err != nil {
		t.Fatal(err)
	}
	y.Mul(&inv, x)
	want.Mul(&y, y.T())
	want.Sub(scaled(2, &inv), &want)
	for i := range 3 {
		for j := range 2 {
			if got := gx.At(i, j); math.Abs(got-y.At(i, j)) > 1e-12 {
				t.Errorf("derivative by x[%d][%d] is %v, want %v", i, j, got, y.At(i, j))
			}
		}
		for j := range 3 { // only one triangle of a is read
			if got := ga.At(i, j) + ga.At(j, i); math.Abs(got-want.At(i, j)) > 1e-12 {
				t.Errorf("derivatives by a[%d][%d] and its mirror are %v, want %v", i, j, got, want.At(i, j))
			}
		}
	}
	a.Set(2, 2, -1)
	if _, err := densityGradient(ga, gx, a, x); err == nil {
		t.Error("no error for a matrix that is not positive definite")
	}
	if n := mat.Norm(ga, 1) + mat.Norm(gx, 1); n != 0 {
		t.Errorf("the gradient of a function that fails has the norm %v", n)
	}

	check(t, "meshed", random(6+3, -1, 1),
		func(p []float64) float64 { return meshed(mat.DenseCopyOf(dense(p[:6:6], 2)), p[6:], 4) },
		func(g, p []float64) float64 {
			return meshedGradient(dense(g[:6:6], 2), g[6:], mat.DenseCopyOf(dense(p[:6:6], 2)), p[6:], 4)
		})

	jacobian(t, "solved", 2, []float64{1.2, 0.3, -0.4, 0.9}, solvedOnce, solvedJVP, solvedVJP, solvedJacobian)
}

func TestColumns(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 5} {
		check(t, "transfers", random(4*5+4, -1, 1),
			func(p []float64) float64 { return transfers(matrix(p[:20:20], 5), p[20:], n) },
			func(g, p []float64) float64 {
				return transfersGradient(matrix(g[:20:20], 5), g[20:], matrix(p[:20:20], 5), p[20:], n)
			})
	}
}

// solvedOnce is solved where dst is zero before.
func solvedOnce(dst, p []float64) {
	clear(dst)
	solved(dst, p)
}

func scaled(a float64, m *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Scale(a, m)
	return &out
}
