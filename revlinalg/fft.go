package revlinalg

import (
	"revnum/internal/simd/fft"
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
// FFT takes some 5·n·log₂ n flops. If n has a prime factor above 61, or a smaller one for which
// this is faster, the transform is computed as a convolution with exp(iπk²/n). That takes some five
// times as long. The convolution uses transforms of at least 2·n-1 numbers. This is the method
// of L. I. Bluestein, A linear filtering approach to the computation of discrete Fourier
// transform (1970). The tables of the last 16 lengths are kept. For long vectors they hold some n/4
// complex numbers, n in pure Go, or 3·n to 5·n with a convolution.
//
// An element is within about ε·log₂(n)·‖X‖ of the exact one. So is an element that Inverse
// restores. FixedFFT restores all bits.
type FFT struct {
	X       rev.Vector[complex128] `rev:"inout" shape:"n"`
	Workers int                    // 0 means GOMAXPROCS
}

// Run implements rev.Kernel. It returns no error.
func (k FFT) Run(p rev.Pass[FFT]) error {
	if k.X.N < 2 {
		return nil
	}
	w, plan := workspace.Get[*fft.Work](), fft.Of(k.X.N)
	for _, x := range [...]rev.Vector[complex128]{k.X, p.G.X, p.T.X, p.GT.X} {
		if x.Data != nil {
			plan.Transform(w, x.Data, x.Inc, p.Back, k.Workers)
		}
	}
	workspace.Put(w)
	return nil
}
