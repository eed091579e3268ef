package corner

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
)

func cvec(rnd *rand.Rand, n int) rev.Vector[complex128] {
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

func number(rnd *rand.Rand) *complex128 { return &cvec(rnd, 1).Data[0] }

// Kernels over complex128 have the adjoints of their tangents, by the real inner product.
func TestComplex(t *testing.T) {
	t.Run("Mixed", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Mixed]{New: func(rnd *rand.Rand, n int) Mixed {
			return Mixed{Y: cvec(rnd, n), X: cvec(rnd, n), M: rev.NewGeneral(n, n, cvec(rnd, n*n).Data), A: number(rnd), C: *number(rnd)}
		}, Magnitudes: moderate, Sizes: few, Adjoint: 1e4})
	})
	t.Run("Wave", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Wave]{New: func(rnd *rand.Rand, n int) Wave {
			return Wave{X: cvec(rnd, n), W: cvec(rnd, n), Out: number(rnd)}
		}, Magnitudes: moderate, Sizes: few, RoundTrip: 200, Adjoint: 1e4})
	})
	t.Run("Spectrum", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Spectrum]{New: func(rnd *rand.Rand, n int) Spectrum {
			return Spectrum{Y: cvec(rnd, n), X: cvec(rnd, n), Root: number(rnd)}
		}, Sizes: few, Masked: []string{"Root"}, Adjoint: 1e4})
	})
	t.Run("Mesh", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Mesh]{New: func(rnd *rand.Rand, n int) Mesh {
			s := cvec(rnd, n)
			for i, v := range s.Data {
				s.Data[i] = v / complex(1.5*(1+cmplx.Abs(v)), 0)
			}
			return Mesh{X: cvec(rnd, 2*n), S: s}
		}, Sizes: []int{0, 1, 2, 5, 1000}, RoundTrip: 100, Adjoint: 1e5, Skip: map[revtest.Property]string{revtest.SymmetricHessian: "large and slow"}})
	})
	t.Run("Orbits", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Orbits]{New: func(rnd *rand.Rand, n int) Orbits {
			k := Orbits{Y: cvec(rnd, n), C: cvec(rnd, n), A: cvec(rnd, n), Steps: 11}
			for i := range n {
				k.C.Data[i] *= 0.1
				k.A.Data[i] *= 0.25
			}
			return k
		}, Magnitudes: moderate, Sizes: []int{0, 1, 2, 300}, Adjoint: 1e5, Skip: map[revtest.Property]string{revtest.SymmetricHessian: "large and slow"}})
	})
	t.Run("Taylor", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Taylor]{New: func(rnd *rand.Rand, n int) Taylor {
			return Taylor{Y: cvec(rnd, n), X: cvec(rnd, n)}
		}, Magnitudes: moderate, Sizes: few, Adjoint: 1e5, Skip: map[revtest.Property]string{revtest.NaN: "the loop ends"}})
	})
	t.Run("Spiral", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Spiral]{New: func(rnd *rand.Rand, n int) Spiral {
			k := Spiral{Y: cvec(rnd, n), X: cvec(rnd, n)}
			for i := range n {
				k.X.Data[i] *= 0.3
			}
			return k
		}, Magnitudes: moderate, Sizes: few, Adjoint: 1e5})
	})
	t.Run("Checked", func(t *testing.T) {
		problem := func(rnd *rand.Rand, n int) Checked {
			k := Checked{Y: cvec(rnd, n), X: cvec(rnd, n)}
			for i := range n {
				k.X.Data[i] /= complex(cmplx.Abs(k.X.Data[i]), 0)
				k.Kind = append(k.Kind, i%3)
			}
			return k
		}
		revtest.Kernel(t, revtest.Spec[Checked]{New: problem, Failing: func(rnd *rand.Rand, n int) Checked {
			k := problem(rnd, n+1)
			k.X.Data[n] = 0
			return k
		}, Sizes: few, Adjoint: 1e5, RoundTrip: 20})
	})
	t.Run("Analytic", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Analytic]{New: func(rnd *rand.Rand, n int) Analytic {
			x := cvec(rnd, n)
			for i := range x.Data {
				x.Data[i] = 0.25*x.Data[i] + 1.5 + 1.5i // away from branch points
			}
			return Analytic{Y: rev.NewGeneral(n, 18, cvec(rnd, 18*n).Data), X: x, P: cvec(rnd, n)}
		}, Magnitudes: moderate, Sizes: few, Masked: []string{"P"}, Adjoint: 1e5})
	})
	t.Run("Magnitudes", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Magnitudes]{New: func(rnd *rand.Rand, n int) Magnitudes {
			x := cvec(rnd, n)
			for i := range x.Data {
				x.Data[i] = 0.05*x.Data[i] + []complex128{1 + 1.25i, -0.5 + 2i, 2 + 1i}[i%3] // in each of the branches
			}
			return Magnitudes{Y: cvec(rnd, n), X: x, Loss: number(rnd)}
		}, Sizes: few, Adjoint: 1e5, RoundTrip: 20, Step: 0x1p-12})
	})
}

// Values and derivatives are those of mpmath 1.4.1 with 120 digits, on branch cuts at a
// distance of 10⁻⁴⁵. The zeros of Go have signs there. (cmplx.Atanh is wrong below its cut.)
func TestAnalytic(t *testing.T) {
	const functions = "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Cot Exp Log Log10 Sin Sinh Sqrt Tan Tanh Pow"
	negative := math.Copysign(0, -1)
	for _, c := range []struct {
		name                 string
		z, value, derivative complex128
	}{
		{"Acos", 0.75 - 1.25i, complex(1.1175201491561026, 1.1323936316053083), complex(-0.5616408408326039, 0.22209945515216425)},
		{"Acos", complex(2, 0), complex(0, -1.3169578969248168), complex(0, -0.5773502691896257)},
		{"Acos", complex(2, negative), complex(0, 1.3169578969248168), complex(0, 0.5773502691896257)},
		{"Acos", complex(-2, 0), complex(3.141592653589793, -1.3169578969248168), complex(0, 0.5773502691896257)},
		{"Acos", complex(-2, negative), complex(3.141592653589793, 1.3169578969248168), complex(0, -0.5773502691896257)},
		{"Acosh", 0.75 - 1.25i, complex(1.1323936316053083, -1.1175201491561026), complex(0.22209945515216425, 0.5616408408326039)},
		{"Acosh", complex(-2, 0), complex(1.3169578969248168, 3.141592653589793), complex(-0.5773502691896257, 0)},
		{"Acosh", complex(-2, negative), complex(1.3169578969248168, -3.141592653589793), complex(-0.5773502691896257, 0)},
		{"Acosh", complex(0.5, 0), complex(0, 1.0471975511965979), complex(0, -1.1547005383792515)},
		{"Asin", 0.75 - 1.25i, complex(0.4532761776387939, -1.1323936316053083), complex(0.5616408408326039, -0.22209945515216425)},
		{"Asin", complex(2, 0), complex(1.5707963267948966, 1.3169578969248168), complex(0, 0.5773502691896257)},
		{"Asin", complex(2, negative), complex(1.5707963267948966, -1.3169578969248168), complex(0, -0.5773502691896257)},
		{"Asin", complex(-2, 0), complex(-1.5707963267948966, 1.3169578969248168), complex(0, -0.5773502691896257)},
		{"Asin", complex(-2, negative), complex(-1.5707963267948966, -1.3169578969248168), complex(0, 0.5773502691896257)},
		{"Asinh", 0.75 - 1.25i, complex(1.0317185344477802, -0.9117382909684877), complex(0.5163977794943223, 0.5163977794943223)},
		{"Asinh", complex(0, 2), complex(1.3169578969248168, 1.5707963267948966), complex(0, -0.5773502691896257)},
		{"Asinh", complex(negative, 2), complex(-1.3169578969248168, 1.5707963267948966), complex(0, 0.5773502691896257)},
		{"Asinh", complex(0, -2), complex(1.3169578969248168, -1.5707963267948966), complex(0, 0.5773502691896257)},
		{"Asinh", complex(negative, -2), complex(-1.3169578969248168, -1.5707963267948966), complex(0, -0.5773502691896257)},
		{"Atan", 0.75 - 1.25i, complex(1.1071487177940904, -0.5493061443340549), complex(0, 0.5333333333333333)},
		{"Atanh", 0.75 - 1.25i, complex(0.2614921387956719, -0.9968251264639186), complex(0.2661122661122661, -0.2494802494802495)},
		{"Atanh", complex(2, 0), complex(0.5493061443340549, 1.5707963267948966), complex(-0.3333333333333333, 0)},
		{"Atanh", complex(-2, 0), complex(-0.5493061443340549, 1.5707963267948966), complex(-0.3333333333333333, 0)},
		{"Cos", 0.75 - 1.25i, complex(1.3817387306342588, 1.0919301355539746), complex(-1.2872229100264918, 1.1721063598927026)},
		{"Cosh", 0.75 - 1.25i, complex(0.4082425918779688, -0.7803659308458533), complex(0.2592948545511628, -1.2286345240950955)},
		{"Cot", 0.75 - 1.25i, complex(0.1645609805635195, 0.9981279057845646), complex(-0.03082100001814649, -0.3285058138074403)},
		{"Exp", 0.75 - 1.25i, complex(0.6675374464291316, -2.009000454940949), complex(0.6675374464291316, -2.009000454940949)},
		{"Log", 0.75 - 1.25i, complex(0.3768859011881901, -1.0303768265243125), complex(0.35294117647058826, 0.5882352941176471)},
		{"Log", complex(-2, 0), complex(0.6931471805599453, 3.141592653589793), complex(-0.5, 0)},
		{"Log", complex(-2, negative), complex(0.6931471805599453, -3.141592653589793), complex(-0.5, 0)},
		{"Log10", 0.75 - 1.25i, complex(0.16367946719316517, -0.4474869700404931), complex(0.15328040537761828, 0.25546734229603046)},
		{"Log10", complex(-2, 0), complex(0.3010299956639812, 1.3643763538418414), complex(-0.2171472409516259, 0)},
		{"Log10", complex(-2, negative), complex(0.3010299956639812, -1.3643763538418414), complex(-0.2171472409516259, 0)},
		{"Pow", 0.75 - 1.25i, complex(1.4257283425539067, -0.638345370227498), complex(0.28600641633857005, 0.5263565612639202)},
		{"Pow", complex(-2, 0), complex(-0.11117590606401738, 0.6351370486850603), complex(0.10718610760163688, -0.1448872739132629)},
		{"Pow", complex(-2, negative), complex(0.5348091814292842, -3.055312406512572), complex(-0.5156163461713925, 0.6969769539494824)},
		{"Sin", 0.75 - 1.25i, complex(1.2872229100264918, -1.1721063598927026), complex(1.3817387306342588, 1.0919301355539746)},
		{"Sinh", 0.75 - 1.25i, complex(0.2592948545511628, -1.2286345240950955), complex(0.4082425918779688, -0.7803659308458533)},
		{"Sqrt", 0.75 - 1.25i, complex(1.050651696260784, -0.594868882070379), complex(0.36037055877260277, 0.2040383432407519)},
		{"Sqrt", complex(-2, 0), complex(0, 1.4142135623730951), complex(0, -0.3535533905932738)},
		{"Sqrt", complex(-2, negative), complex(0, -1.4142135623730951), complex(0, 0.3535533905932738)},
		{"Tan", 0.75 - 1.25i, complex(0.16080778591620642, -0.9753632850312356), complex(0.07452560622434905, -0.31369202065966156)},
		{"Tanh", 0.75 - 1.25i, complex(1.3726075705337832, -0.3857959526097507), complex(-0.7352130256365896, 1.0590928904668728)},
	} {
		at := slices.Index(strings.Fields(functions), c.name)
		x, p, tx := []complex128{c.z}, []complex128{0.5 + 0.25i}, []complex128{1}
		y, ty := mat.NewCDense(1, 18, nil), mat.NewCDense(1, 18, nil)
		k := NewAnalytic(y, x, p)
		k.Tangent(NewAnalytic(ty, tx, nil))
		near := func(what string, got, want complex128) {
			if !(cmplx.Abs(got-want) <= 4e-15*(1+cmplx.Abs(want))) {
				t.Errorf("%s of %s(%v) is %v, want %v", what, c.name, c.z, got, want)
			}
		}
		near("value", y.At(0, at), c.value)
		near("tangent", ty.At(0, at), c.derivative)
		gy, gx := mat.NewCDense(1, 18, nil), []complex128{0}
		gy.Set(0, at, 1i)
		k.Adjoint(NewAnalytic(gy, gx, nil))
		near("adjoint", gx[0], 1i*cmplx.Conj(c.derivative))
	}
}

// The derivative of a power by its exponent, and those of functions with real values, in
// the direction 0.5 + 2i. They are mpmath's too.
func TestRealValued(t *testing.T) {
	z, u := 0.75-1.25i, 0.5+2i
	p, y, ty := []complex128{0.5 + 0.25i}, mat.NewCDense(1, 18, nil), mat.NewCDense(1, 18, nil)
	NewAnalytic(y, []complex128{z}, p).Tangent(NewAnalytic(ty, nil, []complex128{1}))
	if got, want := ty.At(0, 17), complex(-0.12039936556852314, -1.7096208152139616); cmplx.Abs(got-want) > 1e-15 {
		t.Errorf("by the exponent: %v, want %v", got, want)
	}
	r, phi, tr, tphi := 1.4577379737113252, -1.0303768265243125, -1.4577379737113252, 1.0
	got, tgot, source, loss := []complex128{0}, []complex128{0}, []complex128{0}, 0i
	if magnitudes(source, []complex128{z}, &loss); loss == 0 {
		t.Error("no loss")
	}
	NewMagnitudes(got, []complex128{z}, nil).Tangent(NewMagnitudes(tgot, []complex128{u}, nil))
	// r + iφ + √(1+r²)·exp(2iφ) + sin x·y + i·√(cos²x + r²)
	s, h := math.Sqrt(1+r*r), math.Hypot(math.Cos(0.75), r)
	want := complex(r, phi) + complex(s, 0)*cmplx.Exp(complex(0, 2*phi)) + complex(math.Sin(0.75)*-1.25, h)
	twant := complex(tr, tphi) + (complex(r*tr/s, 2*tphi*s))*cmplx.Exp(complex(0, 2*phi)) +
		complex(math.Cos(0.75)*0.5*-1.25+math.Sin(0.75)*2, (-math.Cos(0.75)*math.Sin(0.75)*0.5+r*tr)/h)
	if got[0] != source[0] || cmplx.Abs(got[0]-want) > 1e-14 || cmplx.Abs(tgot[0]-twant) > 1e-14 {
		t.Errorf("value %v, of the function %v, want %v; tangent %v, want %v", got[0], source[0], want, tgot[0], twant)
	}
}

// At 0 the derivatives of Abs and Phase are 0.
func TestComplexAtZero(t *testing.T) {
	loss, gx := complex128(1), []complex128{0}
	NewMagnitudes(nil, []complex128{0}, nil).Adjoint(NewMagnitudes([]complex128{1 + 1i}, gx, &loss))
	if gx[0] != 0 {
		t.Errorf("the gradient is %v", gx[0])
	}
}

// cmplx.Log and cmplx.Pow are wrong for subnormal numbers on amd64.
func TestComplexSubnormal(t *testing.T) {
	k := Analytic{Y: rev.NewGeneral[complex128](1, 18, nil), X: rev.ViewSlice([]complex128{0x1p-1072}), P: rev.ViewSlice([]complex128{0.125})}
	k.Forward()
	for i, want := range map[int]float64{10: -1072 * math.Ln2, 11: -1072 * math.Ln2 / math.Ln10, 17: 0x1p-134} {
		if got := k.Y.Data[i]; cmplx.Abs(got-complex(want, 0)) > 1e-13*math.Abs(want) {
			t.Errorf("y[%d] is %v, want %v", i, got, want)
		}
	}
}

// The transform is gonum's, and its adjoint is the inverse without the factor 1/n.
func TestSpectrum(t *testing.T) {
	const n = 12
	rnd := rand.New(rand.NewPCG(1, 2))
	root := cmplx.Exp(complex(0, -2*math.Pi/n))
	x, g := cvec(rnd, n), cvec(rnd, n)
	y, gx := make([]complex128, n), make([]complex128, n)
	k := NewSpectrum(y, x.Data, &root)
	k.Forward()
	fft := fourier.NewCmplxFFT(n)
	near := func(what string, got, want []complex128) {
		for i := range want {
			if cmplx.Abs(got[i]-want[i]) > 1e-13*n {
				t.Errorf("%s: %v at %d, want %v", what, got[i], i, want[i])
			}
		}
	}
	near("transform", y, fft.Coefficients(nil, x.Data))
	k.Adjoint(NewSpectrum(g.Data, gx, nil))
	near("adjoint", gx, fft.Sequence(nil, g.Data))
}
