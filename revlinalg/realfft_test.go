package revlinalg_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strconv"
	"testing"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func realFFTOf(rnd *rand.Rand, n int) revlinalg.RealFFT {
	k := revlinalg.RealFFT{X: kerneltest.Vector[float64](rnd, n)}
	if n > 0 {
		k.Y = rev.ViewSlice(complexNormals(rnd, n/2+1))
	} else {
		k.Y = rev.ViewSlice([]complex128{})
	}
	return k
}

func TestRealFFT(t *testing.T) {
	revtest.Kernel(t, revtest.Spec[revlinalg.RealFFT]{New: realFFTOf, Sizes: fftLengths, RoundTrip: 4, Large: 1 << 16, Free: []string{"X.N"}}) // n/2 is rounded
}

// The spectrum is half of the spectrum by the definition, in 200 bits.
func TestRealFFTValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(61, 2))
	for _, n := range fftLengths[1:] {
		k := realFFTOf(rnd, n)
		clear(k.Y.Data)
		x, norm := make([]complex128, n), 0.0
		for i, v := range k.X.Data {
			x[i] = complex(v, 0)
			norm = math.Hypot(norm, v)
		}
		k.Forward()
		want := slowDFT(x)
		for i, v := range k.Y.Data {
			if d := cmplx.Abs(v - want[i]); !(d <= 4e-16*math.Log2(float64(n)+1)*norm) {
				t.Errorf("n = %d: y_%d = %v, want %v", n, i, v, want[i])
			}
		}
		for _, i := range []int{0, n / 2} {
			if i == 0 || n%2 == 0 {
				if v := imag(k.Y.Data[i]); math.Abs(v) > 4e-16*math.Log2(float64(n)+1)*norm {
					t.Errorf("n = %d: the imaginary part of y_%d is %v", n, i, v)
				}
			}
		}
	}
}

// BenchmarkRealFFT counts half the flops of FFT.
func BenchmarkRealFFT(b *testing.B) {
	for _, n := range []int{1000, 4096, 1 << 16} {
		k := realFFTOf(rand.New(rand.NewPCG(61, 3)), n)
		k.Workers = 1
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportFlops(b, int(2.5*float64(n)*math.Log2(float64(n))))
		})
	}
}
