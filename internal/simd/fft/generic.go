package fft

import (
	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
)

// A simplePass is a pass over a single column, in Go. Its fields are those of pass.
type simplePass struct {
	r, m, s int
	tw      []complex128
	roots   []complex128
}

// newSimple returns the passes of n > 1 rows.
func newSimple(n int) []simplePass {
	var passes []simplePass
	for _, p := range newColumns(n, cpu.Generic).passes {
		passes = append(passes, simplePass{p.r, p.m, p.s, pairs(p.tw), pairs(p.roots)})
	}
	return passes
}

func pairs(x []float64) []complex128 {
	z := make([]complex128, len(x)/2)
	for i := range z {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	return z
}

// runSimple stores the transform of from in to. The inverse exchanges real and imaginary parts.
func (p *Plan) runSimple(w *Work, to, from []complex128, back bool) {
	w.simple = workspace.Grow(w.simple, 2*p.n)
	src, dst := w.simple[:p.n], w.simple[p.n:]
	if back {
		for i, v := range from {
			src[i] = complex(imag(v), real(v))
		}
	} else {
		copy(src, from)
	}
	for i := range p.simple {
		p.simple[i].run(dst, src)
		src, dst = dst, src
	}
	if back {
		for i, v := range src {
			to[i] = complex(p.scale*imag(v), p.scale*real(v))
		}
		return
	}
	for i, v := range src {
		to[i] = complex(p.scale*real(v), p.scale*imag(v))
	}
}

// minusI returns -iz.
func minusI(z complex128) complex128 { return complex(imag(z), -real(z)) }

// run makes the pass.
func (p *simplePass) run(dst, src []complex128) {
	switch p.r {
	case 2:
		p.run2(dst, src)
	case 3:
		p.run3(dst, src)
	case 4:
		p.run4(dst, src)
	case 5:
		p.run5(dst, src)
	default:
		p.runOdd(dst, src)
	}
}

// twiddles returns those of p for j = 1, ..., r-1. They are 1 for p = 0.
func (p *simplePass) twiddles(i int) []complex128 {
	if i == 0 {
		return ones[:p.r-1]
	}
	return p.tw[(i-1)*(p.r-1):][:p.r-1]
}

var ones = func() (one [most]complex128) {
	for i := range one {
		one[i] = 1
	}
	return one
}()

func (p *simplePass) run2(dst, src []complex128) {
	s, step := p.s, p.m*p.s
	for i := range p.m {
		w := p.twiddles(i)[0]
		for q := range s {
			a, b := src[q+s*i], src[q+s*i+step]
			dst[q+2*s*i], dst[q+2*s*i+s] = a+b, w*(a-b)
		}
	}
}

func (p *simplePass) run3(dst, src []complex128) {
	s, step := p.s, p.m*p.s
	cos, sin := real(p.roots[0]), imag(p.roots[0])
	for i := range p.m {
		w := p.twiddles(i)
		for q := range s {
			at := q + s*i
			a, b, c := src[at], src[at+step], src[at+2*step]
			t, d := b+c, minusI(b-c)
			u, v := a+complex(cos*real(t), cos*imag(t)), complex(sin*real(d), sin*imag(d))
			at += 2 * s * i
			dst[at], dst[at+s], dst[at+2*s] = a+t, w[0]*(u+v), w[1]*(u-v)
		}
	}
}

func (p *simplePass) run4(dst, src []complex128) {
	s, step := p.s, p.m*p.s
	for i := range p.m {
		tw := p.twiddles(i)
		w1, w2, w3 := tw[0], tw[1], tw[2]
		for q := range s {
			at := q + s*i
			a, b, c, d := src[at], src[at+step], src[at+2*step], src[at+3*step]
			t, u, v, x := a+c, a-c, b+d, minusI(b-d)
			at += 3 * s * i
			dst[at], dst[at+s], dst[at+2*s], dst[at+3*s] = t+v, w1*(u+x), w2*(t-v), w3*(u-x)
		}
	}
}

func (p *simplePass) run5(dst, src []complex128) {
	s, step := p.s, p.m*p.s
	c1, s1, c2, s2 := real(p.roots[0]), imag(p.roots[0]), real(p.roots[1]), imag(p.roots[1])
	scaled := func(c float64, z complex128) complex128 { return complex(c*real(z), c*imag(z)) }
	for i := range p.m {
		w := p.twiddles(i)
		for q := range s {
			at := q + s*i
			a, b, c, d, e := src[at], src[at+step], src[at+2*step], src[at+3*step], src[at+4*step]
			t1, d1, t2, d2 := b+e, minusI(b-e), c+d, minusI(c-d)
			u1, v1 := a+scaled(c1, t1)+scaled(c2, t2), scaled(s1, d1)+scaled(s2, d2)
			u2, v2 := a+scaled(c2, t1)+scaled(c1, t2), scaled(s2, d1)-scaled(s1, d2)
			at += 4 * s * i
			dst[at] = a + t1 + t2
			dst[at+s], dst[at+2*s], dst[at+3*s], dst[at+4*s] = w[0]*(u1+v1), w[1]*(u2+v2), w[2]*(u2-v2), w[3]*(u1-v1)
		}
	}
}

// runOdd takes sums t and differences d of a_k and a_(r-k), times -i:
//
//	b_j, b_(r-j) = u ± v,  u = a_0 + Σ_k cos(2πjk/r)·t_k,  v = Σ_k sin(2πjk/r)·d_k
func (p *simplePass) runOdd(dst, src []complex128) {
	s, step, r, half := p.s, p.m*p.s, p.r, p.r/2
	var t, d [most / 2]complex128
	for i := range p.m {
		w := p.twiddles(i)
		for q := range s {
			at, to := q+s*i, q+s*r*i
			first := src[at]
			sum := first
			for k := range half {
				a, b := src[at+(k+1)*step], src[at+(r-1-k)*step]
				t[k], d[k] = a+b, minusI(a-b)
				sum += t[k]
			}
			dst[to] = sum
			for j := range half {
				u, v := first, complex128(0)
				for k, root := range p.roots[j*half:][:half] {
					cos, sin := real(root), imag(root)
					u += complex(cos*real(t[k]), cos*imag(t[k]))
					v += complex(sin*real(d[k]), sin*imag(d[k]))
				}
				dst[to+(j+1)*s], dst[to+(r-1-j)*s] = w[j]*(u+v), w[r-2-j]*(u-v)
			}
		}
	}
}
