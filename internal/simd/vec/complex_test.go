package vec

import (
	"math"
	"math/big"
	"slices"
	"testing"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// complexes returns n numbers at the parts of which code breaks, if special is set.
func complexes(n int, seed uint64, special bool) []complex128 {
	x := simdtest.Normal[float64](2*n, seed)
	for i := range x {
		if special && i%5 == 2 {
			x[i] = hostile[(i+int(seed))%len(hostile)]
		}
	}
	return unsafe.Slice((*complex128)(unsafe.Pointer(unsafe.SliceData(x))), n)
}

func parts(x []complex128) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

var complexSizes = []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 70, cpu.Chunk + 3}

// TestComplexLoops compares loops that write with pure Go.
func TestComplexLoops(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, n := range complexSizes {
			for _, special := range []bool{false, true} {
				x, y, c := complexes(n, 1, special), complexes(n, 2, special), complexes(1, 3, false)[0]
				for _, l := range []struct {
					name string
					run  func(dst []complex128)
				}{
					{"AddConstant", func(dst []complex128) { ComplexAddConstant(dst, c) }},
					{"Axpy", func(dst []complex128) { ComplexAxpy(c, x, dst) }},
					{"AddProduct", func(dst []complex128) { ComplexAddProduct(dst, 1, 1, x, y) }},
					{"AddProduct, subtracting", func(dst []complex128) { ComplexAddProduct(dst, -1, 1, x, y) }},
					{"AddProduct twice", func(dst []complex128) { ComplexAddProduct(dst, -2, 1, x, y) }},
					{"AddProduct of a conjugate", func(dst []complex128) { ComplexAddProduct(dst, 1, -1, x, y) }},
				} {
					got := complexes(n+2, 4, special)
					want := slices.Clone(got)
					l.run(got[1 : n+1])
					simdtest.OnTier(&tier, cpu.Generic, func() { l.run(want[1 : n+1]) })
					simdtest.SameSlice(t, l.name, parts(got), parts(want))
				}
			}
		}
	})
}

// Split and AddParts move parts, and write nothing else.
func TestSplit(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, n := range complexSizes {
			z, re, im := complexes(n, 1, false), make([]float64, n+2), make([]float64, n+2)
			Split(re[1:n+1], im[1:n+1], z)
			sum := append(slices.Clone(z), 7)
			AddParts(sum[:n], re[1:n+1], im[1:n+1])
			for i, v := range z {
				if re[i+1] != real(v) || im[i+1] != imag(v) || sum[i] != v+v {
					t.Fatalf("%d of %d, %v: split to %v and %v, added to %v", i, n, v, re[i+1], im[i+1], sum[i])
				}
			}
			if re[0] != 0 || re[n+1] != 0 || im[0] != 0 || im[n+1] != 0 || sum[n] != 7 {
				t.Fatalf("%d numbers: others were written", n)
			}
		}
	})
}

// The product of two numbers, and that with a conjugate.
func TestComplexProduct(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		x, y, dst := []complex128{1 + 2i}, []complex128{3 - 5i}, make([]complex128, 3)
		ComplexAddProduct(dst[:1], 1, 1, x, y)
		ComplexAddProduct(dst[1:2], -1, -1, x, y)
		ComplexAxpy(x[0], y, dst[2:])
		if want := []complex128{13 + 1i, 7 + 11i, 13 + 1i}; !slices.Equal(dst, want) {
			t.Errorf("products %v, want %v", dst, want)
		}
	})
}

// TestComplexSums compares sums with those of big.Float.
func TestComplexSums(t *testing.T) {
	exact := func(terms ...float64) float64 { // Σ terms[2i]·terms[2i+1]
		s := new(big.Float).SetPrec(200)
		for i := 0; i < len(terms); i += 2 {
			s.Add(s, new(big.Float).SetPrec(200).Mul(big.NewFloat(terms[i]), big.NewFloat(terms[i+1])))
		}
		f, _ := s.Float64()
		return f
	}
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, n := range complexSizes {
			x, y := complexes(n, 1, false), complexes(n, 2, false)
			var re, im, sumRe, sumIm []float64
			bound, sumBound := 0.0, 0.0
			for i, v := range x {
				a, b, c, d := real(v), imag(v), real(y[i]), imag(y[i])
				re, im = append(re, a, c, b, d), append(im, a, d, -b, c)
				sumRe, sumIm = append(sumRe, a, 1), append(sumIm, b, 1)
				bound += math.Hypot(a, b) * math.Hypot(c, d)
				sumBound += math.Hypot(a, b)
			}
			near := func(name string, got complex128, re, im, bound float64) {
				bound *= float64(n+1) * 0x1p-52
				if !(math.Abs(real(got)-re) <= bound && math.Abs(imag(got)-im) <= bound) {
					t.Errorf("%s of %d: %v, want %v + %vi within %v", name, n, got, re, im, bound)
				}
			}
			near("Dot", ComplexDot(x, y), exact(re...), exact(im...), bound)
			near("Sum", ComplexSum(x), exact(sumRe...), exact(sumIm...), sumBound)
		}
		for i := range 21 { // a NaN or Inf is in the part that it belongs to
			x := complexes(21, 1, false)
			x[i] = complex(math.NaN(), imag(x[i]))
			if s := ComplexSum(x); !math.IsNaN(real(s)) || math.IsNaN(imag(s)) {
				t.Errorf("NaN in a real part: sum %v", s)
			}
			if s := ComplexDot(x, complexes(21, 2, false)); !math.IsNaN(real(s)) || !math.IsNaN(imag(s)) {
				t.Errorf("NaN in a real part: product %v", s)
			}
		}
	})
}

func TestComplexPanics(t *testing.T) {
	three, four := make([]complex128, 3), make([]complex128, 4)
	for _, f := range []func(){
		func() { ComplexDot(three, four) }, func() { ComplexAxpy(1, three, four) },
		func() { ComplexAddProduct(three, 1, 1, three, four) }, func() { ComplexAddProduct(three, 1, 1, four, three) },
		func() { Split(make([]float64, 4), make([]float64, 3), four) }, func() { AddParts(four, make([]float64, 4), make([]float64, 3)) },
	} {
		func() {
			defer func() {
				if got := recover(); got != badLength {
					t.Errorf("panic %v, want %q", got, badLength)
				}
			}()
			f()
		}()
	}
}

// TestHypot compares with the root of the sum of squares in math/big.
func TestHypot(t *testing.T) {
	simdtest.ForEachType(t, &tier, testHypot[float64], testHypot[float32])
}

func testHypot[T cpu.Float](t *testing.T) {
	const n = 4000
	x, y, r := simdtest.Normal[T](n, 1), simdtest.Normal[T](n, 2), make([]T, n)
	least := 0x1p-126
	if cpu.Is64[T]() {
		least = 0x1p-1022
	}
	for i := range x { // of all magnitudes, to those with subnormal parts
		scale := T(math.Ldexp(1, i%240-120))
		if cpu.Is64[T]() {
			scale = T(math.Ldexp(1, i%2000-1000))
		}
		x[i], y[i] = x[i]*scale, y[i]*scale
	}
	u, v := make([]T, n), make([]T, n)
	Hypot(r, x, y)
	Direction(u, v, x, y)
	worst := 0.0
	for i := range r {
		a, b := big.NewFloat(float64(x[i])).SetPrec(200), big.NewFloat(float64(y[i])).SetPrec(200)
		exact := new(big.Float).SetPrec(200).Mul(a, a)
		exact.Sqrt(exact.Add(exact, new(big.Float).SetPrec(200).Mul(b, b)))
		want, _ := exact.Float64()
		if want < least || want > 0x1p127 && !cpu.Is64[T]() {
			continue
		}
		_, e := math.Frexp(want)
		difference, _ := new(big.Float).Sub(big.NewFloat(float64(r[i])), exact).Float64()
		worst = max(worst, math.Abs(difference)/math.Ldexp(simdtest.Unit[T](), e))
		for _, part := range [][2]float64{{float64(u[i]), float64(x[i]) / want}, {float64(v[i]), float64(y[i]) / want}} {
			if !(math.Abs(part[0]-part[1]) <= 4*simdtest.Unit[T]()) {
				t.Errorf("direction of %v, %v: %v, want %v", x[i], y[i], part[0], part[1])
			}
		}
	}
	if !(worst <= 1.5) {
		t.Errorf("hypot is off by %v units in the last place", worst)
	}
}
