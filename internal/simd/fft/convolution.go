package fft

import (
	"math"
	"math/cmplx"

	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
)

// A convolution transforms n numbers by transforms of another length. With
// c_k = exp(-πi·k²/n),
//
//	y_j = 1/√n · c_j·Σ_k (c_k·x_k)·conj(c_(j-k))
//
// because 2jk = j² + k² - (j-k)². (L. I. Bluestein, A linear filtering approach to the
// computation of discrete Fourier transform, 1970.)
type convolution struct {
	plan   *Plan
	chirp  []complex128 // c
	kernel []complex128 // the transform of conj(c), with the scale
}

// newConvolution returns the convolution of length m, which is at least 2n-1.
func newConvolution(n, m int) *convolution {
	c := &convolution{newPlan(m), make([]complex128, n), make([]complex128, m)}
	t, square := newRoots(2*n), 0 // k² mod 2n
	for k := range n {
		z := t.at(square)
		c.chirp[k] = z
		z = cmplx.Conj(z) / complex(math.Sqrt(float64(n)/float64(m)), 0)
		c.kernel[k], c.kernel[(m-k)%m] = z, z
		square = (square + 2*k + 1) % (2 * n)
	}
	c.plan.transform(new(Work), c.kernel, c.kernel, false, 1)
	return c
}

// run stores the transform of src in dst. The inverse has the tables conjugated: conj(c) is even,
// so the conjugate of its transform is the transform of c.
func (c *convolution) run(w *Work, dst, src []complex128, back bool, workers int) {
	n := len(src)
	w.conv = workspace.Grow(w.conv, c.plan.n)
	y := w.conv
	mul(y[:n], src, c.chirp, back)
	clear(y[n:])
	c.plan.transform(w, y, y, false, workers)
	mul(y, y, c.kernel, back)
	c.plan.transform(w, y, y, true, workers)
	mul(dst, y[:n], c.chirp, back)
}

// mul computes dst_i = a_i·b_i, or a_i·conj(b_i).
func mul(dst, a, b []complex128, conj bool) {
	i := 0
	if tier != cpu.Generic {
		const least = 8 // numbers of two registers
		for i+least <= len(dst) {
			n := min((len(dst)-i)&^(least-1), cpu.Chunk)
			vectorMul(&dst[i], &a[i], &b[i], n, flag(conj))
			i += n
		}
	}
	for ; i < len(dst); i++ {
		z := b[i]
		if conj {
			z = cmplx.Conj(z)
		}
		dst[i] = a[i] * z
	}
}
