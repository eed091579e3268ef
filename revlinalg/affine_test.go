package revlinalg_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func affineSpec[T rev.Real](bias bool) revtest.Spec[revlinalg.Affine[T]] {
	spec := revtest.Spec[revlinalg.Affine[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Affine[T] {
			m, n := size, size+2
			if bias && size > 0 {
				m, n = n, m // at least two rows, as a B of no rows is none
			}
			k := revlinalg.Affine[T]{Y: kerneltest.Vector[T](rnd, m), W: kerneltest.Matrix[T](rnd, m, n), X: kerneltest.Vector[T](rnd, n)}
			if bias {
				k.B = kerneltest.Vector[T](rnd, m)
			}
			return k
		},
	}
	if !bias {
		spec.Free = []string{"B.N"} // a B of as many elements as Y fits
	}
	return spec
}

func TestAffine(t *testing.T) {
	kerneltest.Kernels(t, affineSpec[float32](true), affineSpec[float64](true), affineSpec[fixed.Q43](true))
}

func TestAffineNoBias(t *testing.T) {
	kerneltest.Kernels(t, affineSpec[float32](false), affineSpec[float64](false), affineSpec[fixed.Q43](false))
}

func TestAffineValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{1, 7, 100} {
		m := n + 3
		all := mat.NewDense(m+2, n+5, kerneltest.Normals[float64](rnd, (m+2)*(n+5), 1))
		w := all.Slice(1, m+1, 2, n+2).(*mat.Dense)
		x := mat.NewVecDense(n, kerneltest.Normals[float64](rnd, n, 1))
		b := mat.NewDense(m, 2, kerneltest.Normals[float64](rnd, 2*m, 1)).ColView(1).(*mat.VecDense)
		y := mat.NewVecDense(m, kerneltest.Normals[float64](rnd, m, 1))

		var want mat.VecDense
		want.MulVec(w, x)
		want.AddVec(&want, b)
		want.AddVec(&want, y)
		k := revlinalg.NewAffine(y, w, x, b)
		k.Forward()
		if !mat.EqualApprox(y, &want, 1e-12) {
			t.Errorf("n=%d: got %v, want %v", n, y, want)
		}

		gy := mat.NewVecDense(m, kerneltest.Normals[float64](rnd, m, 1))
		gw, gx, gb := mat.NewDense(m, n, nil), mat.NewVecDense(n, nil), mat.NewVecDense(m, nil)
		k.Adjoint(revlinalg.NewAffine(gy, gw, gx, gb))
		var wantW mat.Dense
		wantW.Outer(1, gy, x)
		var wantX mat.VecDense
		wantX.MulVec(w.T(), gy)
		if !mat.EqualApprox(gw, &wantW, 1e-12) || !mat.EqualApprox(gx, &wantX, 1e-12) || !mat.Equal(gb, gy) {
			t.Errorf("n=%d: gradients %v, %v, %v, want %v, %v, %v", n, gw, gx, gb, wantW, wantX, gy)
		}
	}
}

func BenchmarkAffine(b *testing.B) {
	for _, n := range []int{64, 256, 1024} {
		rnd := rand.New(rand.NewPCG(2, 2))
		s := affineSpec[float64](true).New(rnd, n)
		g := affineSpec[float64](true).New(rnd, n)
		b.Run(fmt.Sprintf("Forward/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Forward()
			}
			kerneltest.ReportFlops(b, 2*n*n)
		})
		b.Run(fmt.Sprintf("Adjoint/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				s.Adjoint(g)
			}
			kerneltest.ReportFlops(b, 6*n*n)
		})
	}
}
