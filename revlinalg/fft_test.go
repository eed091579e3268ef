package revlinalg_test

import (
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// fftLengths have prime factors of all kinds. For the prime 127, the transform is a
// convolution.
var fftLengths = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 30, 49, 64, 67, 127, 134}

func complexNormals(rnd *rand.Rand, n int) []complex128 {
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	return x
}

func TestFFT(t *testing.T) {
	revtest.Kernel(t, revtest.Spec[revlinalg.FFT]{
		New: func(rnd *rand.Rand, n int) revlinalg.FFT {
			return revlinalg.FFT{X: rev.ViewSlice(complexNormals(rnd, n))}
		},
		Sizes: fftLengths, RoundTrip: 64, Large: 1 << 15,
	})
}

func TestFixedFFT(t *testing.T) {
	revtest.Kernel(t, revtest.Spec[revlinalg.FixedFFT]{
		New: func(rnd *rand.Rand, n int) revlinalg.FixedFFT {
			return revlinalg.FixedFFT{kerneltest.Vector[fixed.Q43](rnd, n), kerneltest.Vector[fixed.Q43](rnd, n)}
		},
		Sizes: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 30, 49, 64}, Adjoint: 1e5, Difference: 1e-6,
	})
}

// slowDFT returns the transform by its definition, in 200 bits.
func slowDFT(x []complex128) []complex128 {
	const bits = 200
	n := len(x)
	cos, sin := make([]*big.Float, n), make([]*big.Float, n)
	// exp(-2πi/n) comes from its series, and the other roots of unity from a recurrence.
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899", 10, bits, big.ToNearestEven)
	angle := new(big.Float).Quo(new(big.Float).Mul(pi, big.NewFloat(-2)), big.NewFloat(float64(n)))
	c, s := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits)
	term := new(big.Float).SetPrec(bits).SetInt64(1)
	for k := 0; k < 120; k++ {
		switch k % 4 {
		case 0:
			c.Add(c, term)
		case 1:
			s.Add(s, term)
		case 2:
			c.Sub(c, term)
		case 3:
			s.Sub(s, term)
		}
		term.Mul(term, angle)
		term.Quo(term, big.NewFloat(float64(k+1)))
	}
	mul := func(a, b, c, d *big.Float) (re, im *big.Float) {
		p := func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Mul(x, y) }
		return new(big.Float).Sub(p(a, c), p(b, d)), new(big.Float).Add(p(a, d), p(b, c))
	}
	cos[0], sin[0] = new(big.Float).SetPrec(bits).SetInt64(1), new(big.Float).SetPrec(bits)
	for k := 1; k < n; k++ {
		cos[k], sin[k] = mul(cos[k-1], sin[k-1], c, s)
	}
	out := make([]complex128, n)
	for j := range out {
		re, im := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits)
		for k, v := range x {
			a, b := mul(big.NewFloat(real(v)).SetPrec(bits), big.NewFloat(imag(v)).SetPrec(bits), cos[j*k%n], sin[j*k%n])
			re.Add(re, a)
			im.Add(im, b)
		}
		a, _ := re.Float64()
		b, _ := im.Float64()
		out[j] = complex(a, b) / complex(math.Sqrt(float64(n)), 0)
	}
	return out
}

func TestFFTValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 1))
	for _, n := range fftLengths[1:] {
		x := complexNormals(rnd, n)
		want := slowDFT(x)
		var norm, factors float64
		for _, v := range x {
			norm = math.Hypot(norm, cmplx.Abs(v))
		}
		for rest := n; rest > 1; {
			p := 2
			for rest%p != 0 {
				p++
			}
			factors += float64(p)
			rest /= p
		}

		y := rev.Vector[complex128]{N: n, Data: make([]complex128, 3*n), Inc: 3}
		re, im := make([]fixed.Q43, n), make([]fixed.Q43, n)
		for i, v := range x {
			y.Data[3*i] = v
			re[i], im[i] = fixed.FromFloat64(real(v)), fixed.FromFloat64(imag(v))
		}
		revlinalg.FFT{X: rev.ViewSlice(x)}.Forward()
		revlinalg.FFT{X: y}.Forward()
		f := revlinalg.FixedFFT{rev.ViewSlice(re), rev.ViewSlice(im)}
		f.Forward()
		for j, v := range want {
			if d := cmplx.Abs(x[j] - v); !(d <= 4e-16*math.Log2(float64(n)+1)*norm) {
				t.Errorf("n = %d: element %d is %v, want %v", n, j, x[j], v)
			}
			if y.Data[3*j] != x[j] {
				t.Errorf("n = %d: element %d of a vector with gaps is %v, want %v", n, j, y.Data[3*j], x[j])
			}
			if d := cmplx.Abs(complex(re[j].Float64(), im[j].Float64()) - v); !(d <= 0x4p-43*(1+math.Log2(float64(n))+factors)*(1+norm)) {
				t.Errorf("n = %d: element %d in fixed point is %v, %v, want %v", n, j, re[j], im[j], v)
			}
		}
	}
}

// TestFixedFFTWraps checks that numbers that wrap are restored to the bit too.
func TestFixedFFTWraps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(62, 1))
	for _, n := range []int{2, 3, 5, 7, 60, 1024, 1001} {
		re, im := make([]fixed.Q43, n), make([]fixed.Q43, n)
		for i := range re {
			re[i], im[i] = fixed.Q43(rnd.Uint64()), fixed.Q43(rnd.Uint64())
		}
		a, b := slices.Clone(re), slices.Clone(im)
		k := revlinalg.FixedFFT{rev.ViewSlice(re), rev.ViewSlice(im)}
		k.Forward()
		if slices.Equal(re, a) {
			t.Errorf("n = %d: nothing happened", n)
		}
		k.Inverse()
		if !slices.Equal(re, a) || !slices.Equal(im, b) {
			t.Errorf("n = %d: does not come back", n)
		}
	}
}

// BenchmarkFFT counts 5·n·log₂ n flops, beside gonum's transform.
func BenchmarkFFT(b *testing.B) {
	for _, n := range []int{100, 1000, 1 << 10, 10007, 1 << 16} {
		x := complexNormals(rand.New(rand.NewPCG(1, 1)), n)
		flops := int(5 * float64(n) * math.Log2(float64(n)))
		run := func(name string, f func()) {
			b.Run(strconv.Itoa(n)+"/"+name, func(b *testing.B) {
				for b.Loop() {
					f()
				}
				kerneltest.ReportFlops(b, flops)
			})
		}
		k, g := revlinalg.FFT{X: rev.ViewSlice(x), Workers: 1}, revlinalg.FFT{X: rev.ViewSlice(slices.Clone(x))}
		run("Forward", k.Forward)
		run("Adjoint", func() { k.Adjoint(g) })
		if n == 10007 {
			continue // gonum's transform takes n² operations
		}
		f := fourier.NewCmplxFFT(n)
		run("gonum", func() {
			f.Coefficients(x, x)
			for i := range x {
				x[i] /= complex(math.Sqrt(float64(n)), 0)
			}
		})
		re, im := make([]fixed.Q43, n), make([]fixed.Q43, n)
		run("fixed", revlinalg.FixedFFT{rev.ViewSlice(re), rev.ViewSlice(im)}.Forward)
	}
}
