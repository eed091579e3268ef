package odd

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

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
		}, Sizes: few, Adjoint: 1e4})
	})
	t.Run("Wave", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Wave]{New: func(rnd *rand.Rand, n int) Wave {
			return Wave{X: cvec(rnd, n), W: cvec(rnd, n), Out: number(rnd)}
		}, Sizes: few, RoundTrip: 200, Adjoint: 1e4})
	})
	t.Run("Spectrum", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[Spectrum]{New: func(rnd *rand.Rand, n int) Spectrum {
			return Spectrum{Y: cvec(rnd, n), X: cvec(rnd, n), Root: number(rnd)}
		}, Sizes: few, Masked: []string{"Root"}, Adjoint: 1e4})
	})
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
