package revlinalg_test

import (
	"errors"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/cmplxs"

	"revnum/internal/kerneltest"
	"revnum/internal/logstep/logtest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func TestComplexKernels(t *testing.T) {
	free := []string{"X.N"}
	t.Run("Dot", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.Dot[complex128]]{New: func(rnd *rand.Rand, n int) revlinalg.Dot[complex128] {
			return revlinalg.Dot[complex128]{Out: new(complex128), X: kerneltest.Complexes(rnd, n), Y: kerneltest.Complexes(rnd, n)}
		}})
	})
	t.Run("Axpy", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.Axpy[complex128]]{New: func(rnd *rand.Rand, n int) revlinalg.Axpy[complex128] {
			return revlinalg.Axpy[complex128]{Y: kerneltest.Complexes(rnd, n), Alpha: &kerneltest.Complexes(rnd, 1).Data[0], X: kerneltest.Complexes(rnd, n)}
		}})
	})
	t.Run("Sum", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.Sum[complex128]]{Free: free, New: func(rnd *rand.Rand, n int) revlinalg.Sum[complex128] {
			return revlinalg.Sum[complex128]{Out: new(complex128), X: kerneltest.Complexes(rnd, n)}
		}})
	})
	t.Run("SumSquares", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.ComplexSumSquares]{Free: free, New: func(rnd *rand.Rand, n int) revlinalg.ComplexSumSquares {
			return revlinalg.ComplexSumSquares{Out: new(float64), X: kerneltest.Complexes(rnd, n)}
		}})
	})
	t.Run("Norm1", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.ComplexNorm1]{Free: free, New: func(rnd *rand.Rand, n int) revlinalg.ComplexNorm1 {
			return revlinalg.ComplexNorm1{Out: new(float64), X: kerneltest.Complexes(rnd, n)}
		}})
	})
	t.Run("Norm2", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.ComplexNorm2]{Free: free, New: func(rnd *rand.Rand, n int) revlinalg.ComplexNorm2 {
			return revlinalg.ComplexNorm2{Out: new(float64), X: kerneltest.Complexes(rnd, n)}
		}})
	})
	t.Run("Frobenius", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.ComplexFrobenius]{Free: []string{"A.Rows", "A.Cols"}, New: func(rnd *rand.Rand, n int) revlinalg.ComplexFrobenius {
			return revlinalg.ComplexFrobenius{Out: new(float64), A: rev.NewGeneral(n, n+1, kerneltest.Complexes(rnd, n*(n+1)).Data)}
		}})
	})
	t.Run("Abs", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revlinalg.ComplexAbs]{New: func(rnd *rand.Rand, n int) revlinalg.ComplexAbs {
			return revlinalg.ComplexAbs{Y: kerneltest.Vector[float64](rnd, n), X: kerneltest.Complexes(rnd, n)}
		}})
	})
	t.Run("Log", func(t *testing.T) {
		spec := revtest.Spec[revlinalg.Log[complex128]]{New: func(rnd *rand.Rand, n int) revlinalg.Log[complex128] {
			return revlinalg.Log[complex128]{Y: kerneltest.Complexes(rnd, n), X: kerneltest.Complexes(rnd, n)}
		}}
		spec.Failing = func(rnd *rand.Rand, n int) revlinalg.Log[complex128] {
			k := spec.New(rnd, n+1)
			k.X.Data[n] = 0
			return k
		}
		revtest.Kernel(t, spec)
	})
}

func TestComplexValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 1))
	const n = 33
	x, y := kerneltest.Complexes(rnd, n), kerneltest.Complexes(rnd, n)
	var r, s complex128
	revlinalg.Dot[complex128]{Out: &r, X: x, Y: y}.Forward()
	if want := cblas128.Dotc(cblas128.Vector{N: n, Data: x.Data, Inc: 1}, cblas128.Vector{N: n, Data: y.Data, Inc: 1}); !(cmplx.Abs(r-want) <= 1e-13) {
		t.Errorf("dot %v, want %v", r, want)
	}
	revlinalg.Sum[complex128]{Out: &s, X: x}.Forward()
	if want := cmplxs.Sum(x.Data); !(cmplx.Abs(s-want) <= 1e-13) {
		t.Errorf("sum %v, want %v", s, want)
	}
	var norm1, norm2, squares float64
	revlinalg.ComplexNorm1{Out: &norm1, X: x}.Forward()
	revlinalg.ComplexNorm2{Out: &norm2, X: x}.Forward()
	revlinalg.ComplexSumSquares{Out: &squares, X: x}.Forward()
	for _, c := range []struct{ got, want float64 }{
		{norm1, cmplxs.Norm(x.Data, 1)}, {norm2, cmplxs.Norm(x.Data, 2)}, {squares, math.Pow(cmplxs.Norm(x.Data, 2), 2)},
	} {
		if !(math.Abs(c.got-c.want) <= 1e-13*c.want) {
			t.Errorf("norm %v, want %v", c.got, c.want)
		}
	}
}

// The tangent of a dense vector may lie in a column, and its cotangent too.
func TestComplexNorm2Storage(t *testing.T) {
	x := rev.ViewSlice([]complex128{3 + 4i, 1 + 2i, -2 + 1i})
	gap := complex(math.NaN(), math.NaN())
	dx := rev.Vector[complex128]{N: 3, Data: []complex128{1 - 1i, gap, 2 - 1i, gap, 3 - 1i}, Inc: 2}
	var out, rate float64
	revlinalg.ComplexNorm2{Out: &out, X: x}.Tangent(revlinalg.ComplexNorm2{Out: &rate, X: dx})
	if want := -8 / math.Sqrt(35); !(math.Abs(rate-want) <= 1e-15) {
		t.Errorf("tangent %v, want %v", rate, want)
	}
	gx := rev.Vector[complex128]{N: 3, Data: []complex128{0, 7, 0, 7, 0}, Inc: 2}
	one := 1.0
	revlinalg.ComplexNorm2{Out: &out, X: x}.Adjoint(revlinalg.ComplexNorm2{Out: &one, X: gx})
	for i, z := range x.Data {
		if want := z / complex(math.Sqrt(35), 0); !(cmplx.Abs(gx.Data[2*i]-want) <= 1e-15) {
			t.Errorf("cotangent %d is %v, want %v", i, gx.Data[2*i], want)
		}
	}
	if gx.Data[1] != 7 || gx.Data[3] != 7 {
		t.Error("a gap is written")
	}
}

// Subgradients at zero, and moduli whose squares are out of range.
func TestComplexAbsSpecial(t *testing.T) {
	for _, c := range []struct {
		x, g complex128
		abs  float64
	}{
		{0, 0, 0},
		{3e300 - 4e300i, 0.6 - 0.8i, 5e300},
		{0x3p-1074 + 0x4p-1074i, 0.6 + 0.8i, 0x5p-1074},
	} {
		var abs, norm float64
		one, ga, gn := 1.0, complex128(0), complex128(0)
		a := revlinalg.ComplexAbs{Y: rev.Vector[float64]{N: 1, Data: []float64{0}, Inc: 1}, X: rev.ViewSlice([]complex128{c.x})}
		a.Forward()
		abs = a.Y.Data[0]
		k := revlinalg.ComplexNorm1{Out: &norm, X: a.X}
		k.Forward()
		if !(math.Abs(abs-c.abs) <= 1e-15*c.abs) || norm != abs {
			t.Errorf("|%v| is %v, %v, want %v", c.x, abs, norm, c.abs)
		}
		at := func(z *complex128) rev.Vector[complex128] {
			return rev.Vector[complex128]{N: 1, Data: []complex128{*z}, Inc: 1}
		}
		va, vn := at(&ga), at(&gn)
		a.Adjoint(revlinalg.ComplexAbs{Y: rev.ViewSlice([]float64{one}), X: va})
		k.Adjoint(revlinalg.ComplexNorm1{Out: &one, X: vn})
		if !(cmplx.Abs(va.Data[0]-c.g) <= 1e-15) || vn.Data[0] != va.Data[0] {
			t.Errorf("gradient at %v is %v, %v, want %v", c.x, va.Data[0], vn.Data[0], c.g)
		}
	}
}

// The complex functions of NiLang (arXiv 2003.04617, listing 5) are, of x = a + ib
// with r² = a² + b², the pair log r, atan2(b, a), and r: their Jacobians by a and b,
// and their Hessians.
func TestComplexInstructionTable(t *testing.T) {
	for _, x := range []complex128{1, -2 + 1i, 0.5 - 3i, 1i, -1 - 1i} {
		a, b := real(x), imag(x)
		r2 := a*a + b*b
		r := math.Sqrt(r2)
		for _, in := range []struct {
			name     string
			value    float64
			jacobian complex128 // of a and b, as ∂/∂a + i·∂/∂b
			hessian  [2]complex128
			kernel   func(x, gx, dx, dgx rev.Vector[complex128]) (value float64)
		}{
			{
				"real part of log", math.Log(r), complex(a/r2, b/r2),
				[2]complex128{complex((b*b-a*a)/(r2*r2), -2*a*b/(r2*r2)), complex(-2*a*b/(r2*r2), (a*a-b*b)/(r2*r2))},
				func(x, gx, dx, dgx rev.Vector[complex128]) float64 {
					return real(complexLogAlong(t, 1, x, gx, dx, dgx))
				},
			}, {
				"imaginary part of log", math.Atan2(b, a), complex(-b/r2, a/r2),
				[2]complex128{complex(2*a*b/(r2*r2), (b*b-a*a)/(r2*r2)), complex((b*b-a*a)/(r2*r2), -2*a*b/(r2*r2))},
				func(x, gx, dx, dgx rev.Vector[complex128]) float64 {
					return imag(complexLogAlong(t, 1i, x, gx, dx, dgx))
				},
			}, {
				"abs", r, complex(a/r, b/r),
				[2]complex128{complex(b*b/(r*r2), -a*b/(r*r2)), complex(-a*b/(r*r2), a*a/(r*r2))},
				func(x, gx, dx, dgx rev.Vector[complex128]) float64 {
					y, gy := rev.ViewSlice([]float64{0}), rev.ViewSlice([]float64{1})
					revlinalg.ComplexAbs{Y: y, X: x}.Forward()
					v := y.Data[0]
					revlinalg.ComplexAbs{Y: y, X: x}.AdjointTangent(revlinalg.ComplexAbs{Y: gy, X: gx}, revlinalg.ComplexAbs{X: dx}, revlinalg.ComplexAbs{X: dgx})
					return v
				},
			},
		} {
			for j, direction := range []complex128{1, 1i} {
				vx, gx := rev.ViewSlice([]complex128{x}), rev.ViewSlice([]complex128{0})
				dx, dgx := rev.ViewSlice([]complex128{direction}), rev.ViewSlice([]complex128{0})
				value := in.kernel(vx, gx, dx, dgx)
				if !(math.Abs(value-in.value) <= 1e-15*(1+r)) {
					t.Errorf("%s of %v is %v, want %v", in.name, x, value, in.value)
				}
				if got := gx.Data[0]; !(cmplx.Abs(got-in.jacobian) <= 1e-15) {
					t.Errorf("%s of %v: derivatives %v, want %v", in.name, x, got, in.jacobian)
				}
				if got := dgx.Data[0]; !(cmplx.Abs(got-in.hessian[j]) <= 1e-15) {
					t.Errorf("%s of %v: column %d of the Hessian is %v, want %v", in.name, x, j, got, in.hessian[j])
				}
			}
		}
	}
}

// complexLogAlong returns log x and adds to gx and dgx for the cotangent gy.
func complexLogAlong(t *testing.T, gy complex128, x, gx, dx, dgx rev.Vector[complex128]) complex128 {
	t.Helper()
	y := rev.ViewSlice([]complex128{0})
	k := revlinalg.Log[complex128]{Y: y, X: x}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	v := y.Data[0]
	if err := k.AdjointTangent(revlinalg.Log[complex128]{Y: rev.ViewSlice([]complex128{gy}), X: gx}, revlinalg.Log[complex128]{X: dx}, revlinalg.Log[complex128]{X: dgx}); err != nil {
		t.Fatal(err)
	}
	return v
}

// Magnitudes within 2ε times themselves, and the real parts of logarithms within 2ε
// and ε times themselves, near |x| = 1 and over the whole range.
func TestComplexBounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 2))
	const eps = 0x1p-52
	for trial := range 5000 {
		x := cmplx.Rect(1, 2*math.Pi*rnd.Float64())
		if trial%2 == 0 {
			x = complex(math.Ldexp(rnd.NormFloat64(), rnd.IntN(1800)-900), math.Ldexp(rnd.NormFloat64(), rnd.IntN(1800)-900))
		}
		a, b := logtest.Exact(real(x)), logtest.Exact(imag(x))
		r := new(big.Float).Sqrt(a.Add(a.Mul(a, a), b.Mul(b, b)))
		y, z := rev.ViewSlice([]float64{0}), rev.ViewSlice([]complex128{0})
		revlinalg.ComplexAbs{Y: y, X: rev.ViewSlice([]complex128{x})}.Forward()
		abs := y.Data[0]
		quotient, _ := new(big.Float).Quo(new(big.Float).Sub(logtest.Exact(abs), r), r).Float64()
		if !(math.Abs(quotient) <= 2*eps) {
			t.Fatalf("|%v| is %v, of the relative error %.3g", x, abs, quotient)
		}
		if err := (revlinalg.Log[complex128]{Y: z, X: rev.ViewSlice([]complex128{x})}).Forward(); err != nil {
			t.Fatal(err)
		}
		// log r = log abs + log(1 - quotient), up to the rounding of math.Log.
		want := math.Log(abs) - quotient
		if got := real(z.Data[0]); !(math.Abs(got-want) <= 2*eps+eps*math.Abs(want)) {
			t.Fatalf("log %v is %v, want the real part %v", x, z.Data[0], want)
		}
	}
}

// The logarithm of a number whose magnitude overflows or is subnormal is that of
// the number over, or times, a power of two.
func TestComplexLogRange(t *testing.T) {
	for _, c := range []struct {
		x    complex128
		log2 float64 // of the magnitude
	}{
		{complex(0x1p1023, 0x1p1023), 1023.5},
		{complex(-0x1p1023, 0), 1023},
		{complex(5e-324, -5e-324), -1073.5},
		{complex(0, 0x1p-1030), -1030},
	} {
		y := rev.ViewSlice([]complex128{0})
		if err := (revlinalg.Log[complex128]{Y: y, X: rev.ViewSlice([]complex128{c.x})}).Forward(); err != nil {
			t.Fatal(err)
		}
		want := c.log2 * math.Ln2
		if got := y.Data[0]; !(math.Abs(real(got)-want) <= 0x1p-52*math.Abs(want)) || imag(got) != cmplx.Phase(c.x) {
			t.Errorf("log %v is %v, want %v + %vi", c.x, got, want, cmplx.Phase(c.x))
		}
	}
	inf, nan := math.Inf(1), math.NaN()
	for _, x := range []complex128{complex(inf, 1), complex(-inf, inf), complex(1, -inf), complex(nan, inf), complex(nan, 1), 1, -2i} {
		y := rev.ViewSlice([]complex128{0})
		if err := (revlinalg.Log[complex128]{Y: y, X: rev.ViewSlice([]complex128{x})}).Forward(); err != nil {
			t.Fatal(err)
		}
		same := func(x, y float64) bool { return x == y || x != x && y != y }
		if got, want := y.Data[0], cmplx.Log(x); !same(real(got), real(want)) || !same(imag(got), imag(want)) {
			t.Errorf("log %v is %v, want %v", x, got, want)
		}
	}
}

// The kernels over complex numbers and math/cmplx agree on zeros, infinities, NaN,
// and the ends of the range, in all combinations of parts.
func TestComplexSpecial(t *testing.T) {
	inf := math.Inf(1)
	parts := []float64{math.NaN()}
	for _, v := range []float64{0, 5e-324, 1e-310, 0x1p-1022, 1e-200, 0.75, 1, 1e200, 0x1p1023, math.MaxFloat64, inf} {
		parts = append(parts, v, -v)
	}
	near := func(got, want, tol float64) bool {
		return got == want || got != got && want != want || math.Abs(got-want) <= tol*math.Abs(want)
	}
	nearComplex := func(got, want complex128, tol float64) bool {
		return near(real(got), real(want), tol) && near(imag(got), imag(want), tol)
	}
	const eps = 0x1p-52
	for _, re := range parts {
		for _, im := range parts {
			z := complex(re, im)
			x := rev.ViewSlice([]complex128{z})
			abs := cmplx.Abs(z)

			y, gx := rev.ViewSlice([]float64{0}), rev.ViewSlice([]complex128{0})
			revlinalg.ComplexAbs{Y: y, X: x}.Forward()
			var norm1, norm2, squares float64
			revlinalg.ComplexNorm1{Out: &norm1, X: x}.Forward()
			revlinalg.ComplexNorm2{Out: &norm2, X: x}.Forward()
			revlinalg.ComplexSumSquares{Out: &squares, X: x}.Forward()
			if !near(y.Data[0], abs, eps) || !near(norm1, y.Data[0], 0) {
				t.Errorf("|%v| is %v, %v, want %v", z, y.Data[0], norm1, abs)
			}
			want := abs
			if re != re || im != im {
				want = math.NaN() // as of NaN and Inf in a vector
			}
			if !near(norm2, want, 2*eps) {
				t.Errorf("norm of %v is %v, want %v", z, norm2, want)
			}
			if want := float64(re*re) + float64(im*im); !near(squares, want, 2*eps) {
				t.Errorf("sum of squares of %v is %v, want %v", z, squares, want)
			}

			revlinalg.ComplexAbs{X: x}.Adjoint(revlinalg.ComplexAbs{Y: rev.ViewSlice([]float64{1}), X: gx})
			u := cmplx.Rect(1, cmplx.Phase(z))
			if z == 0 {
				u = 0
			}
			if got := gx.Data[0]; !(cmplx.Abs(got-u) <= 4*eps) && !(cmplx.IsNaN(got) && (re != re || im != im)) {
				t.Errorf("gradient of |x| at %v is %v, want %v", z, got, u)
			}

			l := rev.ViewSlice([]complex128{0})
			err := revlinalg.Log[complex128]{Y: l, X: x}.Forward()
			if z == 0 {
				var domain *rev.DomainError
				if !errors.As(err, &domain) || l.Data[0] != 0 {
					t.Errorf("log %v: %v, %v", z, l.Data[0], err)
				}
			} else if want := cmplx.Log(z); err != nil {
				t.Errorf("log %v: %v", z, err)
			} else {
				if !cmplx.IsInf(z) && math.IsInf(abs, 1) {
					want = complex(math.Log(math.Hypot(0x1p-10*re, 0x1p-10*im))+10*math.Ln2, imag(want))
				}
				if abs < 0x1p-1000 {
					want = complex(math.Log(math.Hypot(0x1p100*re, 0x1p100*im))-100*math.Ln2, imag(want))
				}
				if !nearComplex(l.Data[0], want, 2*eps) {
					t.Errorf("log %v is %v, want %v", z, l.Data[0], want)
				}
			}

			for _, w := range []complex128{1, 2 - 3i, complex(0, inf), z} {
				var r complex128
				revlinalg.Dot[complex128]{Out: &r, X: x, Y: rev.ViewSlice([]complex128{w})}.Forward()
				if want := complex(float64(re*real(w))+float64(im*imag(w)), float64(re*imag(w))-float64(im*real(w))); !nearComplex(r, want, 2*eps) {
					t.Errorf("dot of %v and %v is %v, want %v", z, w, r, want)
				}
			}
		}
	}
}
