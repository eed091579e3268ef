package revlinalg_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func norm2Spec[T rev.Real]() revtest.Spec[revlinalg.Norm2[T]] {
	return revtest.Spec[revlinalg.Norm2[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Norm2[T] {
			return revlinalg.Norm2[T]{Out: new(T), X: kerneltest.Away[T](rnd, size)}
		},
		Free: []string{"X.N"},
	}
}

func frobeniusSpec[T rev.Real]() revtest.Spec[revlinalg.Frobenius[T]] {
	return revtest.Spec[revlinalg.Frobenius[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Frobenius[T] {
			a := rev.NewGeneral(size, size+1, kerneltest.Away[T](rnd, size*(size+1)).Data)
			return revlinalg.Frobenius[T]{Out: new(T), A: a}
		},
		Free: []string{"A.Rows", "A.Cols"},
	}
}

func TestNorm2(t *testing.T) {
	kerneltest.Kernels(t, norm2Spec[float32](), norm2Spec[float64](), norm2Spec[fixed.Q43]())
}

func TestFrobenius(t *testing.T) {
	kerneltest.Kernels(t, frobeniusSpec[float32](), frobeniusSpec[float64](), frobeniusSpec[fixed.Q43]())
}

func TestFrobeniusValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	a := mat.NewDense(9, 7, kerneltest.Normals[float64](rnd, 63, 1)).Slice(1, 8, 2, 6).(*mat.Dense)
	out := 1.0
	revlinalg.NewFrobenius(&out, a).Forward()
	if want := 1 + mat.Norm(a, 2); !(math.Abs(out-want) <= 1e-14) {
		t.Errorf("got %v, want %v", out, want)
	}
}

// Over the whole range of floating point, against gonum and big numbers.
func TestNorm2Range(t *testing.T) {
	t.Run("float64", func(t *testing.T) {
		testNorm2Range[float64](t, -1074, 1024, 0x1p-52, math.SmallestNonzeroFloat64)
	})
	t.Run("float32", func(t *testing.T) {
		testNorm2Range[float32](t, -149, 128, 0x1p-23, math.SmallestNonzeroFloat32)
	})
}

func testNorm2Range[T rev.Float](t *testing.T, least, most int, eps, tiny float64) {
	rnd := rand.New(rand.NewPCG(4, 2))
	const n = 20
	for e := least + 1; e <= most; e += 1 + rnd.IntN(4) {
		x, wide := make([]T, n), make([]float64, n)
		for i := range x {
			x[i] = T(math.Ldexp(rnd.Float64()/5, e-3*rnd.IntN(20))) // norms below 2^e
			wide[i] = float64(x[i])
		}
		want := floats.Norm(wide, 2) // gonum's scales, too
		for _, inc := range []int{1, 2} {
			v := rev.Vector[T]{N: n, Data: make([]T, n*inc), Inc: inc}
			for i := range x {
				v.Data[i*inc] = x[i]
			}
			var out T
			k := revlinalg.Norm2[T]{Out: &out, X: v}
			k.Forward()
			if got := float64(out); !(math.Abs(got-want) <= 22*eps*want+tiny) {
				t.Fatalf("e=%d inc=%d: got %v, want %v", e, inc, got, want)
			}
			// The gradient, and the derivative along x, of unit vectors.
			one, rate, gx := T(1), T(0), make([]T, n)
			k.Tangent(revlinalg.Norm2[T]{Out: &rate, X: rev.ViewSlice(x)})
			k.Adjoint(revlinalg.Norm2[T]{Out: &one, X: rev.ViewSlice(gx)})
			if want == 0 {
				continue
			}
			if !(math.Abs(float64(rate)-want) <= 44*eps*want+2*tiny*n) {
				t.Fatalf("e=%d: derivative %v, want %v", e, rate, want)
			}
			for i, g := range gx {
				// The norm that it divides by has been rounded to a multiple of tiny.
				if w := wide[i] / want; !(math.Abs(float64(g)-w) <= (44*eps+tiny/want)*w) {
					t.Fatalf("e=%d: gradient %v, want %v", e, g, w)
				}
			}
		}
	}
}

func TestNorm2Special(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{nil, 0},
		{[]float64{0, math.Copysign(0, -1)}, 0},
		{[]float64{1, -inf}, inf},
		{[]float64{nan, inf}, nan},
		{[]float64{inf, nan}, nan},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, inf},
		{[]float64{math.MaxFloat64 / 2, math.MaxFloat64 / 2}, math.MaxFloat64 / math.Sqrt2},
		{[]float64{math.SmallestNonzeroFloat64}, math.SmallestNonzeroFloat64},
	} {
		out, gout, gx := 0.0, 1.0, make([]float64, len(c.x))
		k := revlinalg.Norm2[float64]{Out: &out, X: rev.ViewSlice(c.x)}
		k.Forward()
		if !(out == c.want || math.Abs(out-c.want) <= 1e-15*c.want || math.IsNaN(out) && math.IsNaN(c.want)) {
			t.Errorf("‖%v‖ = %v, want %v", c.x, out, c.want)
		}
		k.Adjoint(revlinalg.Norm2[float64]{Out: &gout, X: rev.ViewSlice(gx)})
		if c.want == 0 {
			for _, g := range gx {
				if g != 0 {
					t.Errorf("gradient %v at zero", gx)
				}
			}
		}
	}
}

// In fixed point the norm is the nearest number, up to the ends of the range.
func TestNorm2Fixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 3))
	for range 5000 {
		n := 1 + rnd.IntN(5)
		x := make([]fixed.Q43, n)
		sum := new(big.Int)
		for i := range x {
			x[i] = fixed.Q43(rnd.Uint64()) >> rnd.IntN(64)
			v := big.NewInt(int64(x[i]))
			sum.Add(sum, v.Mul(v, v))
		}
		if rnd.IntN(50) == 0 {
			clear(x)
			x[0] = [...]fixed.Q43{0, 1, -1, fixed.Max, fixed.Min + 1}[rnd.IntN(5)]
			v := big.NewInt(int64(x[0]))
			sum.Mul(v, v)
		}
		// √s rounded is ⌊(⌊√4s⌋+1)/2⌋.
		root := new(big.Int).Sqrt(new(big.Int).Lsh(sum, 2))
		want := root.Add(root, big.NewInt(1)).Rsh(root, 1)
		if !want.IsInt64() {
			continue
		}
		var out fixed.Q43
		revlinalg.Norm2[fixed.Q43]{Out: &out, X: rev.ViewSlice(x)}.Forward()
		if int64(out) != want.Int64() {
			t.Fatalf("‖%v‖ = %v, want %v", x, out, fixed.Q43(want.Int64()))
		}
	}
}

func BenchmarkNorm2(b *testing.B) {
	rnd := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{4096, 1e6} {
		benchNorm2(b, "float64", norm2Spec[float64]().New(rnd, n))
		benchNorm2(b, "float32", norm2Spec[float32]().New(rnd, n))
		benchNorm2(b, "Q43", norm2Spec[fixed.Q43]().New(rnd, n))
	}
}

func benchNorm2[T rev.Real](b *testing.B, name string, k revlinalg.Norm2[T]) {
	b.Run(fmt.Sprintf("%s/n=%d", name, k.X.N), func(b *testing.B) {
		for b.Loop() {
			k.Forward()
		}
		kerneltest.ReportFlops(b, 2*k.X.N)
		kerneltest.ReportBytes(b, k.X.N*int(unsafe.Sizeof(k.X.Data[0])))
	})
}
