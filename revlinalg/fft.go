package revlinalg

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"revnum/internal/workspace"
	"revnum/rev"
)

// FFT is the kernel
//
//	X <- F·X,  F_jk = exp(-2πi·j·k/n)/√n
//
// in place. It is the discrete Fourier transform of n complex numbers. The factor 1/√n
// makes it unitary, so the inverse is the conjugate transpose. The derivatives are
//
//	Ẋ <- F·Ẋ,  X̄ <- Fᴴ·X̄
//
// and the tangents of cotangents are transformed like X̄. gonum's fourier.CmplxFFT is √n·F.
//
// FFT takes some 5·n·log₂ n flops. If n has a prime factor above 64, the transform is
// computed as a convolution with exp(iπk²/n). The convolution uses transforms whose length
// is a power of two. This is the method of L. I. Bluestein, A linear filtering approach to
// the computation of discrete Fourier transform (1970). FFT keeps memory for 3·n numbers for
// each length, or for some 10·n numbers with a convolution.
//
// An element is within about ε·log₂(n)·‖X‖ of the exact one. So is an element that Inverse
// restores. FixedFFT restores all bits.
type FFT struct {
	X rev.Vector[complex128] `rev:"inout" shape:"n"`
}

// Run implements rev.Kernel. It returns no error.
func (k FFT) Run(p rev.Pass[FFT]) error {
	if k.X.N < 2 {
		return nil
	}
	w := workspace.Get[fftWork]()
	plan := w.plan(k.X.N)
	for _, x := range [...]rev.Vector[complex128]{k.X, p.G.X, p.T.X, p.GT.X} {
		if x.Data != nil {
			plan.transform(x, p.Back)
		}
	}
	workspace.Put(w)
	return nil
}

// An fftWork holds the plans of several lengths.
type fftWork struct{ plans map[int]*fftPlan }

// plan returns the plan of a length.
func (w *fftWork) plan(n int) *fftPlan {
	p := w.plans[n]
	if p == nil {
		const most = 8
		if w.plans == nil || len(w.plans) == most {
			w.plans = map[int]*fftPlan{}
		}
		p = newFFTPlan(n)
		w.plans[n] = p
	}
	return p
}

// An fftPlan transforms vectors of one length.
type fftPlan struct {
	scale float64
	x     []complex128
	fft   *fourier.CmplxFFT

	// If there is a chirp, fft is the transform of the convolution with it. The result is
	//
	//	X_j = c_j·Σ_k (c_k·x_k)·conj(c_(j-k)),  c_k = exp(-iπk²/n)
	//
	// because 2jk = j² + k² - (j-k)².
	chirp, kernel []complex128 // c, and the transform of conj(c) divided by its length
}

func newFFTPlan(n int) *fftPlan {
	p := &fftPlan{scale: 1 / math.Sqrt(float64(n))}
	if largestFactor(n) <= 64 {
		p.fft, p.x = fourier.NewCmplxFFT(n), make([]complex128, n)
		return p
	}
	m := 1
	for m < 2*n-1 {
		m *= 2
	}
	p.fft, p.x = fourier.NewCmplxFFT(m), make([]complex128, m)
	p.chirp, p.kernel = make([]complex128, n), make([]complex128, m)
	square := 0 // k² mod 2n, which keeps the angle small
	for k := range n {
		sin, cos := math.Sincos(math.Pi * float64(square) / float64(n))
		p.chirp[k] = complex(cos, -sin)
		conj := complex(cos/float64(m), sin/float64(m))
		p.kernel[k], p.kernel[(m-k)%m] = conj, conj
		square = (square + 2*k + 1) % (2 * n)
	}
	p.fft.Coefficients(p.kernel, p.kernel)
	return p
}

// largestFactor returns the largest prime factor of n, which is at least 2.
func largestFactor(n int) int {
	largest := 1
	for f := 2; f*f <= n; f++ {
		for n%f == 0 {
			n /= f
			largest = f
		}
	}
	return max(n, largest)
}

// transform computes x <- F·x, or Fᴴ·x if back is set.
func (p *fftPlan) transform(x rev.Vector[complex128], back bool) {
	y := p.x[:x.N]
	switch {
	case p.chirp != nil:
		p.convolve(x, back)
	case x.Inc == 1 && back:
		p.fft.Sequence(y, x.Data[:x.N])
	case x.Inc == 1:
		p.fft.Coefficients(y, x.Data[:x.N])
	default:
		for i := range y {
			y[i] = x.Data[i*x.Inc]
		}
		if back {
			p.fft.Sequence(y, y)
		} else {
			p.fft.Coefficients(y, y)
		}
	}
	for i, v := range y {
		x.Data[i*x.Inc] = complex(p.scale*real(v), p.scale*imag(v))
	}
}

// convolve computes the transform of x by the chirp and stores it in the first elements of
// p.x. If back is set, it does so for the conjugate of x, and stores the conjugate.
func (p *fftPlan) convolve(x rev.Vector[complex128], back bool) {
	for k, c := range p.chirp {
		v := x.Data[k*x.Inc]
		if back {
			v = cmplx.Conj(v)
		}
		p.x[k] = v * c
	}
	clear(p.x[x.N:])
	p.fft.Coefficients(p.x, p.x)
	for i, v := range p.kernel {
		p.x[i] *= v
	}
	p.fft.Sequence(p.x, p.x)
	for k, c := range p.chirp {
		v := p.x[k] * c
		if back {
			v = cmplx.Conj(v)
		}
		p.x[k] = v
	}
}
