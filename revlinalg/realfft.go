package revlinalg

import (
	"revnum/internal/simd/fft"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// RealFFT is the kernel
//
//	y_k += 1/√n·Σ_j x_j·exp(-2πi·j·k/n),  0 ≤ k ≤ n/2
//
// of n real numbers. The rest of the spectrum of FFT are the conjugates of these numbers. With
// R for this map, the derivatives are
//
//	ẏ += R·ẋ,  x̄_j += 1/√n·Re Σ_k ȳ_k·exp(2πi·j·k/n)
//
// and the tangents of cotangents are transformed like x̄. The imaginary parts of y_0, and for
// even n of y_(n/2), get nothing but rounding errors.
//
// It takes about half the time of FFT if n is even, and as long if n is odd. Errors are as for
// FFT. Inverse restores y but for the rounding of a sum.
type RealFFT struct {
	Y       rev.Vector[complex128] `rev:"acc" shape:"min(n,1)*(n/2+1)"`
	X       rev.Vector[float64]    `rev:"in" shape:"n"`
	Workers int                    // 0 means GOMAXPROCS
}

// Run implements rev.Kernel. It returns no error.
func (k RealFFT) Run(p rev.Pass[RealFFT]) error {
	if k.X.N == 0 {
		return nil
	}
	w, plan, sign := workspace.Get[*fft.Work](), fft.RealOf(k.X.N), float64(p.Sign())
	for _, m := range [...]*RealFFT{&k, &p.T} {
		if x, y := m.X, m.Y; x.Data != nil && y.Data != nil {
			plan.AddSpectrum(w, y.Data, y.Inc, sign, x.Data, x.Inc, k.Workers)
		}
	}
	for _, m := range [...]*RealFFT{&p.G, &p.GT} {
		if x, y := m.X, m.Y; x.Data != nil && y.Data != nil {
			vec.AxpyInc(1, plan.Transpose(w, y.Data, y.Inc, k.Workers), x.Data, x.Inc, 0)
		}
	}
	workspace.Put(w)
	return nil
}
