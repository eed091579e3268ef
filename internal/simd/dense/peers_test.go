package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/simdtest"
)

// BenchmarkPeers times the loops beside gonum's. In pure Go, both:
// go test -tags noasm -run '^$' -bench Peers. An element is a multiply-add, but of copies.
func BenchmarkPeers(b *testing.B) {
	for _, n := range []int{4, 16, 64, 256} {
		x, y, z := simdtest.Normal[float64](n*n, 1), simdtest.Normal[float64](n*n, 2), make([]float64, n*n)
		general := func(data []float64) blas64.General {
			return blas64.General{Rows: n, Cols: n, Stride: n, Data: data}
		}
		for _, l := range []struct {
			name               string
			ta, tb             blas.Transpose
			rsa, csa, rsb, csb int
		}{
			{"NN", blas.NoTrans, blas.NoTrans, n, 1, n, 1},
			{"TN", blas.Trans, blas.NoTrans, 1, n, n, 1},
			{"NT", blas.NoTrans, blas.Trans, n, 1, 1, n},
			{"TT", blas.Trans, blas.Trans, 1, n, 1, n},
		} {
			simdtest.Beside(b, fmt.Sprintf("Gemm%s/%d", l.name, n), n*n*n,
				func() { Gemm(n, n, n, 1e-9, x, l.rsa, l.csa, y, l.rsb, l.csb, z, n) },
				func() { blas64.Gemm(l.ta, l.tb, 1e-9, general(x), general(y), 1, general(z)) })
		}
		x32, y32, z32 := simdtest.Normal[float32](n*n, 1), simdtest.Normal[float32](n*n, 2), make([]float32, n*n)
		general32 := func(data []float32) blas32.General {
			return blas32.General{Rows: n, Cols: n, Stride: n, Data: data}
		}
		simdtest.Beside(b, fmt.Sprintf("GemmNN, float32/%d", n), n*n*n,
			func() { Gemm(n, n, n, 1e-9, x32, n, 1, y32, n, 1, z32, n) },
			func() {
				blas32.Gemm(blas.NoTrans, blas.NoTrans, 1e-9, general32(x32), general32(y32), 1, general32(z32))
			})
	}

	const d, n = 32, 240 // rows and columns
	l, c, z := simdtest.Normal[float64](d*d, 1), simdtest.Normal[float64](d*n, 2), make([]float64, d*n)
	w, mu, q, m := simdtest.Normal[float64](n, 3), simdtest.Normal[float64](d, 4), make([]float64, n), make([]float64, d*d)
	for i := range w {
		w[i] = math.Abs(w[i])
	}
	for i := range l {
		l[i] /= d
	}
	for i := range d {
		l[i*(d+1)] = 1
	}
	row := func(x []float64, i int) []float64 { return x[i*n:][:n] }
	lower := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d, Stride: d, Data: l}
	whole := blas64.General{Rows: d, Cols: n, Stride: n, Data: z}
	simdtest.Beside(b, "TriNorms", d*(d+1)*n/2, func() { TriNorms(d, n, q, l, d, c, n, mu) }, func() {
		copy(z, c)
		blas64.Trmm(blas.Left, blas.NoTrans, 1, lower, whole)
		for i := range d {
			r := row(z, i)
			floats.AddConst(-mu[i], r)
			floats.Mul(r, r)
			floats.Add(q, r)
		}
	})
	simdtest.Beside(b, "WeightedMoments", d*(d+1)*n/2, func() { WeightedMoments(d, n, mu, m, d, w, c, n) }, func() {
		for i := range d {
			r := row(z, i)
			for j, v := range row(c, i) {
				r[j] = math.Sqrt(w[j]) * v
			}
			mu[i] += floats.Dot(row(c, i), w)
		}
		blas64.Syrk(blas.NoTrans, 1, whole, 1, blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: m})
	})
	copy(z, c)
	simdtest.Beside(b, "TriSolve", d*(d-1)*n/2, func() { TriSolve(d, n, l, d, 1, false, false, z, n) },
		func() { blas64.Trsm(blas.Left, blas.NoTrans, 1, lower, whole) })
	copy(z, c)
	dst, x := mat.NewDense(n, d, nil), mat.NewDense(d, n, c)
	simdtest.Beside(b, "Transpose", d*n, func() { Transpose(dst.RawMatrix().Data, d, c, n, d, n) }, func() { dst.Copy(x.T()) })
	simdtest.Beside(b, "AddRows", d*n, func() { AddRows(d, n, 1e-9, c, n, z, n) }, func() {
		for i := range d {
			floats.AddScaled(row(z, i), 1e-9, row(c, i))
		}
	})
	simdtest.Beside(b, "CopyRows", d*n, func() { CopyRows(d, n, z, n, c, n, 1) }, func() {
		for i := range d {
			copy(row(z, i), row(c, i))
		}
	})
	out := make([]float64, 4)
	offsets := []int{0, 1, 2, 3}
	simdtest.Beside(b, "RowDots", 4*(d-1)*n, func() { RowDots(d-1, n, c, n, offsets, z, n, out) }, func() {
		for t, at := range offsets {
			for i := range d - 1 {
				out[t] += floats.Dot(row(z, i), row(c[at:], i))
			}
		}
	})
	const steps = d - 1
	r, run := rotations[float64](rand.New(rand.NewPCG(5, 5)), 1, steps, steps), Run{at, 1, steps}
	simdtest.Beside(b, "Rotations", 4*steps*n, func() { r.Forward(run, z, n, n) }, func() {
		for p := range steps {
			i := steps - 1 - p
			blas64.Rot(blas64.Vector{N: n, Inc: 1, Data: row(z, i)}, blas64.Vector{N: n, Inc: 1, Data: row(z, i+1)}, r.C[at+p], -r.S[at+p])
		}
	})
	const order = 256
	a, v, u := simdtest.Normal[float64](order*order, 1), simdtest.Normal[float64](order, 2), make([]float64, order)
	simdtest.Beside(b, "Symv", order*order, func() { Symv(0, order, a, order, v, u) }, func() {
		blas64.Symv(1e-9, blas64.Symmetric{Uplo: blas.Lower, N: order, Stride: order, Data: a},
			blas64.Vector{N: order, Inc: 1, Data: v}, 1, blas64.Vector{N: order, Inc: 1, Data: u})
	})
}
