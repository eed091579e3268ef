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
// in place, the discrete Fourier transform of n complex numbers. With the factor 1/√n it
// is unitary: the inverse is the conjugate transpose, so the derivatives are
//
//	Ẋ <- F·Ẋ,  X̄ <- Fᴴ·X̄
//
// and those of the tangents of cotangents likewise. gonum's fourier.CmplxFFT is √n·F.
//
// It takes some 5·n·log₂ n flops. If n has a prime factor above 64, the transform is
// computed as a convolution with exp(iπk²/n) by transforms whose length is a power of two,
// by L. I. Bluestein, A linear filtering approach to the computation of discrete Fourier
// transform (1970). Memory for 3·n numbers is kept for each length, or for some 10·n with
// a convolution.
//
// An element is within about ε·log₂(n)·‖X‖ of the exact one, and so is one that Inverse
// restores. FixedFFT returns to the bit.
type FFT struct {
	X rev.Vector[complex128] `rev:"inout" shape:"n"`
}

// Forward computes X <- F·X.
func (k FFT) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes X <- Fᴴ·X.
func (k FFT) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes X <- Fᴴ·X and X̄ <- Fᴴ·X̄.
func (k FFT) Adjoint(g FFT) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes X <- F·X and Ẋ <- F·Ẋ.
func (k FFT) Tangent(t FFT) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, undoes Tangent, and does the same for the
// tangent of X̄.
func (k FFT) AdjointTangent(g, t, gt FFT) { _ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt)) }

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

// An fftWork holds the plans of some lengths.
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

	// If there is a chirp, fft is that of the convolution with it. The transform is
	//
	//	X_j = c_j·Σ_k (c_k·x_k)·conj(c_(j-k)),  c_k = exp(-iπk²/n)
	//
	// because 2jk = j² + k² - (j-k)².
	chirp, kernel []complex128 // c, and the transform of conj(c), divided by the length
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

// convolve sets the first elements of p.x to the transform of x by the chirp. Back, it is
// the conjugate of that of the conjugate of x.
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
