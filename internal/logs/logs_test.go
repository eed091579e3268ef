package logs

import (
	"math"
	"math/cmplx"
	"testing"
)

// tiny are subnormal numbers, and the smallest normal one. The logarithms of all are known from
// that of their mantissa.
var tiny = []float64{0x1p-1022, 0x1.8p-1023, 0x1p-1023, 1e-310, 1e-320, 3 * 0x1p-1074, 0x1p-1074}

// logOf returns log x, within 2 units in the last place.
func logOf(x float64) float64 {
	m, e := math.Frexp(x)
	return math.Log(m) + float64(e)*math.Ln2
}

func near(t *testing.T, what string, got, want, bound float64) {
	t.Helper()
	if !(got == want || math.Abs(got-want) <= bound*math.Abs(want)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestSubnormal(t *testing.T) {
	const eps = 0x1p-51
	for _, x := range tiny {
		near(t, "Log", Log(x), logOf(x), eps)
		near(t, "Log10", Log10(x), logOf(x)/math.Ln10, eps)
		m, e := math.Frexp(x)
		for _, y := range []float64{-1, -0.95, -0.5, -0.3, 0.1, 0.25, 0.5, 0.9} {
			// xʸ = mʸ·2ⁿ·2^(e·y-n), and e·y-n is exact.
			n := math.RoundToEven(float64(e) * y)
			want := math.Ldexp(math.Pow(m, y)*math.Exp2(math.FMA(float64(e), y, -n)), int(n))
			near(t, "Pow", Pow(x, y), want, 1e-13)                                             // math.Pow loses as much at 1e-300
			near(t, "ComplexPow", real(ComplexPow(complex(x, 0), complex(y, 0))), want, 1e-13) // math.Pow loses as much at 1e-300
		}
		if Pow(x, 0.5) != math.Sqrt(x) || Pow(x, 1) != x || Pow(x, 0) != 1 || Pow(x, 2) != 0 || !math.IsInf(Pow(x, -2), 1) {
			t.Error("exact powers of", x)
		}
		z := complex(x, -x)
		near(t, "ComplexLog", real(ComplexLog(z)), logOf(x)+math.Ln2/2, eps)
		near(t, "ComplexLog", imag(ComplexLog(z)), -math.Pi/4, eps)
		near(t, "ComplexLog10", real(ComplexLog10(z)), (logOf(x)+math.Ln2/2)/math.Ln10, eps)
		for _, y := range []complex128{0.5, -0.3 + 1i, 0.25 - 2i} {
			got, want := ComplexPow(z, y), cmplx.Exp(y*complex(logOf(x)+math.Ln2/2, -math.Pi/4))
			near(t, "ComplexPow", cmplx.Abs(got-want)/cmplx.Abs(want)+1, 1, 1e-12)
		}
	}
	near(t, "ComplexLog", real(ComplexLog(complex(math.MaxFloat64, math.MaxFloat64))), logOf(math.MaxFloat64)+math.Ln2/2, eps)
}

// Other numbers have the bits of packages math and math/cmplx.
func TestNormal(t *testing.T) {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
	numbers := []float64{0, math.Copysign(0, -1), 0x1p-1022, 1e-300, 0.3, 1, 2.5, 1e300, math.Inf(1), math.NaN(), -1, -1e-310, math.Inf(-1)}
	for _, x := range numbers {
		if !same(Log(x), math.Log(x)) || !same(Log10(x), math.Log10(x)) {
			t.Error("logarithms of", x)
		}
		for _, y := range append(numbers, 1e-310) {
			if !same(Pow(x, y), math.Pow(x, y)) {
				t.Errorf("Pow(%v, %v)", x, y)
			}
			for f, g := range map[complex128]complex128{ComplexLog(complex(x, y)): cmplx.Log(complex(x, y)), ComplexPow(complex(x, y), 0.3i): cmplx.Pow(complex(x, y), 0.3i)} {
				if max(math.Abs(x), math.Abs(y)) >= normal && !(same(real(f), real(g)) && same(imag(f), imag(g))) {
					t.Errorf("complex functions of (%v, %v): %v, want %v", x, y, f, g)
				}
			}
		}
	}
	if x := 1e-310; !same(Pow(x, math.NaN()), math.NaN()) || Pow(x, math.Inf(1)) != 0 || Pow(x, -3.3) != math.Inf(1) || Pow(x, 3.3) != 0 {
		t.Error("large powers of subnormal numbers")
	}
}
