package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

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
// It takes about half the time of FFT, except for lengths that FFT transforms by a
// convolution. There it takes as long as FFT. Errors are as for FFT. Inverse restores y but
// for the rounding of a sum.
type RealFFT struct {
	Y rev.Vector[complex128] `rev:"acc" shape:"min(n,1)*(n/2+1)"`
	X rev.Vector[float64]    `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns no error.
func (k RealFFT) Run(p rev.Pass[RealFFT]) error {
	n := k.X.N
	if n == 0 {
		return nil
	}
	w := workspace.Get[realFFTWork]()
	w.plan(n)
	scale := float64(p.Sign()) * w.scale
	for _, m := range [...]*RealFFT{&k, &p.T} {
		if x, y := m.X, m.Y; x.Data != nil && y.Data != nil {
			for i := range w.x {
				w.x[i] = x.Data[i*x.Inc]
			}
			w.forward()
			for i, v := range w.y {
				y.Data[i*y.Inc] += complex(scale*real(v), scale*imag(v))
			}
		}
	}
	for _, m := range [...]*RealFFT{&p.G, &p.GT} {
		if x, y := m.X, m.Y; x.Data != nil && y.Data != nil {
			for i := range w.y {
				w.y[i] = y.Data[i*y.Inc]
			}
			w.back()
			for i, v := range w.x {
				x.Data[i*x.Inc] += float64(w.scale * v)
			}
		}
	}
	workspace.Put(w)
	return nil
}

// A realFFTWork is a plan for one length, with scratch memory.
type realFFTWork struct {
	x     []float64
	y     []complex128
	scale float64
	real  *fourier.FFT
	whole *fftPlan // or nil
	full  []complex128
}

// plan makes w the plan for length n.
func (w *realFFTWork) plan(n int) {
	if len(w.x) == n {
		return
	}
	*w = realFFTWork{x: make([]float64, n), y: make([]complex128, n/2+1), scale: 1 / math.Sqrt(float64(n))}
	if n > 1 && largestFactor(n) > 64 {
		w.whole, w.full, w.scale = newFFTPlan(n), make([]complex128, n), 1
		return
	}
	w.real = fourier.NewFFT(n)
}

// forward stores the spectrum of w.x, over w.scale, in w.y.
func (w *realFFTWork) forward() {
	if w.whole == nil {
		w.real.Coefficients(w.y, w.x)
		return
	}
	for i, v := range w.x {
		w.full[i] = complex(v, 0)
	}
	w.whole.transform(rev.ViewSlice(w.full), false)
	copy(w.y, w.full)
}

// back stores in w.x the real part of Σ_k y_k·exp(2πi·j·k/n), over w.scale. It changes
// w.y.
func (w *realFFTWork) back() {
	if w.whole != nil {
		clear(w.full[copy(w.full, w.y):])
		w.whole.transform(rev.ViewSlice(w.full), true)
		for i, v := range w.full {
			w.x[i] = real(v)
		}
		return
	}
	// Sequence takes the conjugates in the other half of the spectrum as given, so all
	// numbers count twice but those that are their own conjugates.
	n := len(w.x)
	for k := 1; 2*k < n; k++ {
		w.y[k] /= 2
	}
	w.real.Sequence(w.x, w.y)
}
