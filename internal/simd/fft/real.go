package fft

import (
	"math"
	"math/cmplx"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
)

// A Real is a plan for n real numbers x. It transforms half as many complex numbers
// z_j = x_2j + i·x_(2j+1). With Z for their transform, h = n/2 and w = exp(-2πi/n), the
// spectrum of x is
//
//	y_k = a·(Z_k + conj(Z_(h-k))) - i·a·w^k·(Z_k - conj(Z_(h-k))),  a = 1/√8,  Z_h = Z_0.
//
// The transpose has the conjugates of i·w^k, and the inverse transform after that. If n is odd,
// it transforms n complex numbers.
type Real struct {
	n    int
	plan *Plan        // of h, or of n if n is odd
	t    []complex128 // -i·a·w^k for k up to h/2
}

var reals cache[Real]

// RealOf returns the plan for n > 0 real numbers. The last 16 plans are kept.
func RealOf(n int) *Real { return reals.of(n, newReal) }

func newReal(n int) *Real {
	if n%2 != 0 {
		return &Real{n: n, plan: Of(n)}
	}
	p := &Real{n: n, plan: Of(n / 2)}
	roots := newRoots(n)
	for k := 0; 4*k <= n; k++ {
		w := roots.at(k)
		p.t = append(p.t, complex(fold*imag(w), -fold*real(w)))
	}
	return p
}

const fold = math.Sqrt2 / 4 // a

// Spectrum returns y_k = 1/√n·Σ_j x_j·exp(-2πi·jk/n) for 0 <= k <= n/2. It lies in w.
func (p *Real) Spectrum(w *Work, x []float64, inc, workers int) []complex128 {
	if p.t == nil {
		w.real = workspace.Grow(w.real, p.n)
		for j := range w.real {
			w.real[j] = complex(x[j*inc], 0)
		}
		p.plan.Transform(w, w.real, 1, false, workers)
		return w.real[:p.n/2+1]
	}
	h := p.n / 2
	w.real = workspace.Grow(w.real, h+1)
	y := w.real
	if inc == 1 {
		copy(Floats(y), x[:p.n])
	} else {
		for j := range h {
			y[j] = complex(x[2*j*inc], x[(2*j+1)*inc])
		}
	}
	p.plan.Transform(w, y, 1, false, workers)
	a, b := real(y[0]), imag(y[0])
	p.fold(y, false)
	y[0], y[h] = complex(2*fold*(a+b), 0), complex(2*fold*(a-b), 0)
	return y
}

// Transpose returns x_j = 1/√n·Re Σ_k y_k·exp(2πi·jk/n), over 0 <= k <= n/2. It lies in w.
func (p *Real) Transpose(w *Work, y []complex128, inc, workers int) []float64 {
	h := p.n / 2
	w.real = workspace.Grow(w.real, max(h+1, p.plan.n))
	z := w.real
	for k := range h + 1 {
		z[k] = y[k*inc]
	}
	if p.t == nil {
		clear(z[h+1:])
		p.plan.Transform(w, z, 1, true, workers)
		x := Floats(z)[:p.n]
		for j, v := range z {
			x[j] = real(v)
		}
		return x
	}
	a, b := real(z[0]), real(z[h])
	p.fold(z, true)
	z[0] = complex(2*fold*(a+b), 2*fold*(a-b))
	p.plan.Transform(w, z, 1, true, workers)
	return Floats(z[:h])
}

// fold computes, for pairs k and h-k from 1 on,
//
//	e, o = z_k ± conj(z_(h-k)),  z_k = a·e + t_k·o,  z_(h-k) = conj(a·e - t_k·o)
//
// with the conjugates of t_k if conj is set.
func (p *Real) fold(z []complex128, conj bool) {
	h, k := p.n/2, 1
	if tier != cpu.Generic {
		width := cpu.Lanes[float64](tier) / 2 // numbers of a register
		for n := (h - k) / (2 * width); n > 0; n = (h - 2*k + 1) / (2 * width) {
			n = min(n, cpu.Chunk/width)
			vectorFold(&z[k], &p.t[k], n, h-2*k, flag(conj), fold)
			k += n * width
		}
	}
	for ; 2*k <= h; k++ {
		u, v, t := z[k], cmplx.Conj(z[h-k]), p.t[k]
		if conj {
			t = cmplx.Conj(t)
		}
		e, o := complex(fold*real(u+v), fold*imag(u+v)), complex128(t*(u-v))
		z[k], z[h-k] = e+o, cmplx.Conj(e-o)
	}
}

// Floats returns the real and imaginary parts of x.
func Floats(x []complex128) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}
