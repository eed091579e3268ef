package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/cmplxs"
	"gonum.org/v1/gonum/floats"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// BenchmarkPeers times the loops beside gonum's, and functions that gonum lacks beside loops over
// those of package math. In pure Go, both: go test -tags noasm -run '^$' -bench Peers.
func BenchmarkPeers(b *testing.B) {
	const n = 1000
	x, y, dst := simdtest.Normal[float64](n, 1), simdtest.Normal[float64](n, 2), make([]float64, n)
	alpha := rand.Float64() * 1e-9 // no constant
	var sink float64
	simdtest.Beside(b, "Dot", n, func() { sink = Dot(x, y) }, func() { sink = floats.Dot(x, y) })
	simdtest.Beside(b, "Sum", n, func() { sink = Sum(x) }, func() { sink = floats.Sum(x) })
	simdtest.Beside(b, "SumSquares", n, func() { sink = SumSquares(x) }, func() { sink = floats.Dot(x, x) })
	simdtest.Beside(b, "SumAbs", n, func() { sink = SumAbs(x) }, func() { sink = floats.Norm(x, 1) })
	simdtest.Beside(b, "Max", n, func() { sink = Max(x) }, func() { sink = floats.Max(x) })
	simdtest.Beside(b, "MaxAbs", n, func() { sink = MaxAbs(x) }, func() { sink = floats.Norm(x, math.Inf(1)) })
	simdtest.Beside(b, "AddConstant", n, func() { AddConstant(dst, alpha) }, func() { floats.AddConst(alpha, dst) })
	simdtest.Beside(b, "Axpy", n, func() { Axpy(alpha, x, dst) }, func() { floats.AddScaled(dst, alpha, x) })
	simdtest.Beside(b, "AxpyTo", n, func() { AxpyTo(dst, alpha, x, y) }, func() { floats.AddScaledTo(dst, y, alpha, x) })
	simdtest.Beside(b, "AddTo", n, func() { AddTo(dst, x, y) }, func() { floats.AddTo(dst, x, y) })
	simdtest.Beside(b, "MulTo", n, func() { MulTo(dst, x, y) }, func() { floats.MulTo(dst, x, y) })
	simdtest.Beside(b, "DivTo", n, func() { DivTo(dst, x, y) }, func() { floats.DivTo(dst, x, y) })
	simdtest.Beside(b, "ScaleTo", n, func() { ScaleTo(dst, alpha, x) }, func() { floats.ScaleTo(dst, alpha, x) })
	simdtest.Beside(b, "AxpyInc", n/4, func() { AxpyInc(alpha, x[:n/4], dst, 4, 0) },
		func() {
			blas64.Axpy(alpha, blas64.Vector{N: n / 4, Inc: 1, Data: x}, blas64.Vector{N: n / 4, Inc: 4, Data: dst})
		})

	x32, y32, dst32 := simdtest.Normal[float32](n, 1), simdtest.Normal[float32](n, 2), make([]float32, n)
	alpha32 := float32(alpha)
	v32 := func(x []float32) blas32.Vector { return blas32.Vector{N: n, Inc: 1, Data: x} }
	var sink32 float32
	simdtest.Beside(b, "Dot, float32", n, func() { sink32 = Dot(x32, y32) }, func() { sink32 = blas32.Dot(v32(x32), v32(y32)) })
	simdtest.Beside(b, "SumAbs, float32", n, func() { sink32 = SumAbs(x32) }, func() { sink32 = blas32.Asum(v32(x32)) })
	simdtest.Beside(b, "Axpy, float32", n, func() { Axpy(alpha32, x32, dst32) }, func() { blas32.Axpy(alpha32, v32(x32), v32(dst32)) })
	simdtest.Beside(b, "ScaleTo, float32", n, func() { ScaleTo(dst32, alpha32, x32) }, func() { blas32.Scal(1+alpha32, v32(dst32)) })

	z, w := make([]complex128, n), make([]complex128, n)
	for i := range z {
		z[i], w[i] = complex(x[i], y[i]), complex(y[i], x[i])
	}
	vz := func(z []complex128) cblas128.Vector { return cblas128.Vector{N: n, Inc: 1, Data: z} }
	alphaC := complex(alpha, alpha)
	var sinkC complex128
	simdtest.Beside(b, "ComplexDot", n, func() { sinkC = ComplexDot(z, w) }, func() { sinkC = cblas128.Dotc(vz(z), vz(w)) })
	simdtest.Beside(b, "ComplexSum", n, func() { sinkC = ComplexSum(z) }, func() { sinkC = cmplxs.Sum(z) })
	simdtest.Beside(b, "ComplexAxpy", n, func() { ComplexAxpy(alphaC, z, w) }, func() { cblas128.Axpy(alphaC, vz(z), vz(w)) })
	simdtest.Beside(b, "ComplexAddConstant", n, func() { ComplexAddConstant(w, alphaC) }, func() { cmplxs.AddConst(alphaC, w) })
	_, _, _ = sink, sink32, sinkC

	b.Run("float64", peersOfMath[float64])
	b.Run("float32", peersOfMath[float32])
}

// peersOfMath has slopes too where ours stores them, and the peer does not.
func peersOfMath[T cpu.Float](b *testing.B) {
	const n = 1000
	x, y, u, v := simdtest.Normal[T](n, 1), simdtest.Normal[T](n, 2), make([]T, n), make([]T, n)
	positive := make([]T, n)
	for i, v := range x {
		positive[i] = v*v + 0.1
	}
	unary := func(name string, x []T, ours func(), f func(float64) float64) {
		simdtest.Beside(b, name, n, ours, func() {
			for i, v := range x {
				u[i] = T(f(float64(v)))
			}
		})
	}
	binary := func(name string, x, y []T, ours func(), f func(x, y float64) float64) {
		simdtest.Beside(b, name, n, ours, func() {
			for i, v := range x {
				u[i] = T(f(float64(v), float64(y[i])))
			}
		})
	}
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	unary("Exp", x, func() { Exp(u, x) }, math.Exp)
	unary("Log", positive, func() { Log(u, positive) }, math.Log)
	unary("Sin", x, func() { Sin(u, x) }, math.Sin)
	unary("Cos", x, func() { Cos(u, x) }, math.Cos)
	unary("SinCos", x, func() { SinCos(u, v, x) }, func(x float64) float64 {
		sin, cos := math.Sincos(x)
		return sin + cos
	})
	unary("Tan", x, func() { Tan(u, v, x) }, math.Tan)
	unary("Tanh", x, func() { Tanh(u, v, x) }, math.Tanh)
	unary("Sigmoid", x, func() { Sigmoid(u, v, x) }, sigmoid)
	unary("Softplus", x, func() { Softplus(u, v, x) }, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) })
	unary("SiLU", x, func() { SiLU(u, v, x) }, func(x float64) float64 { return x * sigmoid(x) })
	unary("GELU", x, func() { GELU(u, v, x) }, func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x*math.Sqrt2/2)) })
	unary("Expm1", x, func() { Expm1(u, v, x) }, math.Expm1)
	unary("Log1p", positive, func() { Log1p(u, v, positive) }, math.Log1p)
	unary("Erf", x, func() { Erf(u, v, x) }, math.Erf)
	unary("Sqrt", positive, func() { Sqrt(u, positive) }, math.Sqrt)
	unary("Abs", x, func() { Abs(u, x) }, math.Abs)
	binary("Hypot", x, y, func() { Hypot(u, x, y) }, math.Hypot)
	binary("Atan2", x, y, func() { Atan2(u, x, y) }, math.Atan2)
	binary("Pow", positive, y, func() { Pow(u, positive, y) }, math.Pow)
	binary("MaxTo", x, y, func() { MaxTo(u, x, y) }, math.Max)
	simdtest.Beside(b, "ExpShiftSum", n, func() { ExpShiftSum(u, x, 1) }, func() {
		sum := 0.0
		for i, v := range x {
			e := math.Exp(float64(v) - 1)
			u[i] = T(e)
			sum += e
		}
		v[0] = T(sum)
	})
}
