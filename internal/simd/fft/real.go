package fft

import (
	"math"
	"math/cmplx"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
)

// A Real is a plan for n real numbers x. It transforms half as many complex numbers
// z_j = x_2j + i·x_(2j+1). With Z for their transform, h = n/2 and t_k = -i·exp(-2πi·k/n), the
// spectrum of x is
//
//	y_k = a·(Z_k + conj(Z_(h-k)) + t_k·(Z_k - conj(Z_(h-k)))),  a = 1/√8,  Z_h = Z_0.
//
// The transpose has the conjugates of t_k, and the inverse transform after that. If n is odd,
// it transforms n complex numbers.
type Real struct {
	n    int
	plan *Plan        // of h, or of n if n is odd
	t    []complex128 // for k up to h/2, or nil if n is odd
}

const a = math.Sqrt2 / 4

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
		p.t = append(p.t, complex(imag(w), -real(w)))
	}
	return p
}

// AddSpectrum adds alpha/√n·Σ_j x_j·exp(-2πi·jk/n), for 0 <= k <= n/2, to y_0, y_incY, ...
func (p *Real) AddSpectrum(w *Work, y []complex128, incY int, alpha float64, x []float64, incX, workers int) {
	h := p.n / 2
	w.real = workspace.Grow(w.real, p.plan.n)
	z, src := w.real, w.real
	switch {
	case p.t == nil:
		for j := range z {
			z[j] = complex(x[j*incX], 0)
		}
	case incX == 1:
		src = unsafe.Slice((*complex128)(unsafe.Pointer(&x[0])), h)
	default:
		for j := range z {
			z[j] = complex(x[2*j*incX], x[(2*j+1)*incX])
		}
	}
	p.plan.transform(w, z, src, false, workers)
	if p.t == nil {
		for k, v := range z[:h+1] {
			y[k*incY] += complex(alpha*real(v), alpha*imag(v))
		}
		return
	}
	alpha *= a
	re, im := float64(2*alpha*real(z[0])), float64(2*alpha*imag(z[0]))
	y[0] += complex(re+im, 0)
	y[h*incY] += complex(re-im, 0)
	for k := 1; 2*k <= h; k++ {
		if n := p.registers(k); n > 0 && incY == 1 {
			vectorFoldAdd(&y[k], &z[k], &p.t[k], n, h-2*k, 0, alpha)
			k += n*numbers() - 1
			continue
		}
		u, v := p.fold(z, k, p.t[k])
		y[k*incY] += complex(alpha*real(u), alpha*imag(u))
		if 2*k != h {
			y[(h-k)*incY] += complex(alpha*real(v), alpha*imag(v))
		}
	}
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
		p.plan.transform(w, z, z, true, workers)
		x := floats(z)[:p.n]
		for j, v := range z {
			x[j] = real(v)
		}
		return x
	}
	re, im := float64(2*a*real(z[0])), float64(2*a*real(z[h]))
	z[0] = complex(re+im, re-im)
	for k := 1; 2*k <= h; k++ {
		if n := p.registers(k); n > 0 {
			vectorFold(&z[k], &z[k], &p.t[k], n, h-2*k, 1, a)
			k += n*numbers() - 1
			continue
		}
		u, v := p.fold(z, k, cmplx.Conj(p.t[k]))
		z[k], z[h-k] = complex(a*real(u), a*imag(u)), complex(a*real(v), a*imag(v))
	}
	p.plan.transform(w, z[:h], z[:h], true, workers)
	return floats(z[:h])
}

// fold returns e + t·o and conj(e - t·o), where e and o are z_k ± conj(z_(h-k)). They belong
// to k and h-k.
func (p *Real) fold(z []complex128, k int, t complex128) (u, v complex128) {
	x, y := z[k], cmplx.Conj(z[p.n/2-k])
	e, o := x+y, complex128(t*(x-y))
	return e + o, cmplx.Conj(e - o)
}

// numbers returns how many complex numbers a register holds.
func numbers() int { return cpu.Lanes[float64](tier) / 2 }

// registers returns how many registers a call of assembly folds from k on, and as many from h-k
// down. It begins where registers from k on are whole lines of the cache.
func (p *Real) registers(k int) int {
	if tier == cpu.Generic || k%numbers() != 0 {
		return 0
	}
	return min((p.n/2-2*k+1)/(2*numbers()), cpu.Chunk/numbers())
}

// floats returns the real and imaginary parts of x.
func floats(x []complex128) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}
