package cuda

import (
	"math"

	"revnum/rev"
)

// RealFFT is the kernel
//
//	y_k += 1/√n·Σ_j x_j·exp(-2πi·j·k/n),  0 ≤ k ≤ n/2
//
// of revlinalg.RealFFT, of n real numbers, for one transform or many. Count is the number of transforms, whose
// numbers stand one after the other in X and in Y; 0 means 1. With R for this map, the derivatives are
//
//	ẏ += R·ẋ,  x̄_j += 1/√n·Re Σ_k ȳ_k·exp(2πi·j·k/n)
//
// and the tangents of cotangents are transformed like x̄. The imaginary parts of y_0, and for even n of
// y_(n/2), get nothing but rounding errors.
//
// It makes the transforms of FFT, with zeros for imaginary parts. If n is a power of 2, what follows from
// other numbers by symmetry is neither written nor read between passes, and half of the transforms of all
// passes but one are left out. Otherwise it moves fewer numbers in the first pass and in the last. Errors are
// as for FFT. Inverse restores y but for the rounding of a sum.
type RealFFT struct {
	Y     Vector[complex128] `rev:"acc" shape:"max(Count,1)*min(n/max(Count,1),1)*(n/max(Count,1)/2+1)"`
	X     Vector[float64]    `rev:"in" shape:"n"`
	Count int
}

// Run implements rev.Kernel. It returns the errors of the device. It panics with a *rev.OperandError if X
// cannot be divided into Count transforms.
func (k RealFFT) Run(p rev.Pass[RealFFT]) error {
	count, n := signalsOf[RealFFT](k.X.N, k.Count)
	w := begin(&k, &p)
	if n == 1 { // which needs no tables
		addScaled(&w, k.real(), p.Sign(), nil, k.X)
		addScaled(&w, p.T.real(), p.Sign(), nil, p.T.X)
		addScaled(&w, p.G.X, 1, nil, p.G.real())
		addScaled(&w, p.GT.X, 1, nil, p.GT.real())
	} else if n > 0 {
		f, scale := newTransforms(&w, n, count, false), 1/math.Sqrt(float64(n))
		for _, m := range [...]*RealFFT{&k, &p.T} {
			if x, y := m.signals(n); x.at != 0 && y.at != 0 {
				f.run(x, y, false, float64(p.Sign())*scale)
			}
		}
		for _, m := range [...]*RealFFT{&p.G, &p.GT} {
			if x, y := m.signals(n); x.at != 0 && y.at != 0 {
				f.run(y, x, true, scale)
			}
		}
	}
	return w.end()
}

// signals returns the signals of n numbers and their spectra.
func (k *RealFFT) signals(n int) (x, y signals) {
	half := n/2 + 1
	return signals{k.X.Data.address(), k.X.Inc, n * k.X.Inc, n, realNumbers},
		signals{k.Y.Data.address(), k.Y.Inc, half * k.Y.Inc, half, addedNumbers}
}

// real returns the real parts of Y.
func (k *RealFFT) real() Vector[float64] {
	return Vector[float64]{k.Y.N, memoryAt[float64](k.Y.Data.address(), 2*len(k.Y.Data)), 2 * k.Y.Inc}
}
