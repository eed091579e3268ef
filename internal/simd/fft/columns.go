package fft

import (
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
)

// A columns transforms columns of n rows in passes. A pass of radix r takes the transforms of
// length r·m apart into r transforms of length m. There are s of them, and row p of
// transform q is row q + s·p of a buffer:
//
//	dst[q+s·(r·p+j)] = w^(j·p) · Σ_k exp(-2πi·jk/r)·src[q+s·(p+m·k)],  w = exp(-2πi/(r·m))
//
// for 0 <= p < m. From pass to pass s grows from 1 to n/r. The rows of the result are in
// order. (This is Stockham's method: C. Van Loan, Computational frameworks for the fast
// Fourier transform, 1992, 1.7.)
type columns struct {
	n      int
	passes []pass
}

type pass struct {
	r, m, s int
	tw      []float64 // w^(jp) for p and j from 1 on, as pairs
	roots   []float64 // cos(2πjk/r), sin(2πjk/r) for j, k up to r/2, if the radix is looped
}

// most is the largest prime factor of a length that is no convolution.
const most = 61

// radices returns the radices for columns of n rows, or nil if a prime factor is larger than
// most. Those that may begin and end are outside.
func radices(n int, tier cpu.Tier) []int {
	var ends, inner []int
	take := func(to *[]int, r int) {
		for n%r == 0 {
			n /= r
			*to = append(*to, r)
		}
	}
	if tier == cpu.AVX512 {
		for n%8 == 0 && n != 16 {
			n /= 8
			ends = append(ends, 8)
		}
	}
	take(&ends, 4)
	take(&ends, 2)
	take(&ends, 3)
	for r := 5; r <= most; r += 2 {
		if hasPass(r, tier) {
			take(&ends, r)
		} else {
			take(&inner, r)
		}
	}
	if n > 1 {
		return nil
	}
	if len(ends) == 0 {
		return inner
	}
	return append(append(ends[:len(ends)-1:len(ends)-1], inner...), ends[len(ends)-1])
}

// hasPass reports whether there is unrolled code for a pass of radix r.
func hasPass(r int, tier cpu.Tier) bool {
	return r <= 4 || tier != cpu.AVX2 && (r == 5 || r == 7 || r == 8)
}

// newColumns returns the passes of n > 1 rows.
func newColumns(n int, tier cpu.Tier) columns {
	c := columns{n: n}
	m, s := n, 1
	for _, r := range radices(n, tier) {
		m /= r
		p := pass{r: r, m: m, s: s}
		if m > 1 {
			t := newRoots(r * m)
			for i := 1; i < m; i++ {
				for j := 1; j < r; j++ {
					w := t.at(i * j)
					p.tw = append(p.tw, real(w), imag(w))
				}
			}
		}
		if r%2 != 0 {
			t := newRoots(r)
			for j := 1; 2*j < r; j++ {
				for k := 1; 2*k < r; k++ {
					w := t.at(j * k)
					p.roots = append(p.roots, real(w), -imag(w))
				}
			}
		}
		s *= r
		c.passes = append(c.passes, p)
	}
	return c
}

// A buffer is the memory of the passes over a group of columns.
type buffer struct {
	a, b []float64
	sums []float64 // of looped radices
}

// grow makes room for columns of n rows.
func (w *buffer) grow(n, lanes int) {
	n = max(n, lanes) // turn reads whole groups
	w.a, w.b = aligned(w.a, 2*lanes*n), aligned(w.b, 2*lanes*n)
	w.sums = aligned(w.sums, 4*lanes*(most/2))
}

// aligned is workspace.Grow for memory that begins on a line of the cache.
func aligned(b []float64, n int) []float64 {
	if cap(b) >= n {
		return b[:n]
	}
	const line = 8
	b = workspace.Grow(b, n+line-1)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))/8) & (line - 1)
	return b[skip : skip+n]
}

// load transforms a group of columns of x, whose rows lie a stride apart. It returns where
// the blocks of the result are.
func (c *columns) load(w *buffer, x *complex128, cols, stride, back int) *float64 {
	dst, passes := &w.a[0], c.passes
	if p := &passes[0]; cols == cpu.Lanes[float64](tier) && hasPass(p.r, tier) {
		p.first(dst, x, stride, back)
		passes = passes[1:]
	} else {
		vectorLoad(dst, x, c.n, cols, stride, back)
	}
	return w.run(passes, dst)
}

// store transforms the group of columns whose blocks are at src, and stores it in rows of x.
func (c *columns) store(w *buffer, x *complex128, src *float64, cols, stride, back int) {
	inner := len(c.passes) - 1
	if p := &c.passes[inner]; cols == cpu.Lanes[float64](tier) && hasPass(p.r, tier) {
		p.last(x, w.run(c.passes[:inner], src), stride, back)
		return
	}
	vectorStore(x, w.run(c.passes, src), c.n, cols, stride, back, 1)
}

// run makes passes between blocks from src on, and returns where the result is.
func (w *buffer) run(passes []pass, src *float64) *float64 {
	for i := range passes {
		dst := &w.a[0]
		if src == dst {
			dst = &w.b[0]
		}
		passes[i].middle(dst, src, &w.sums[0])
		src = dst
	}
	return src
}

func (p *pass) first(dst *float64, x *complex128, stride, back int) {
	tw := unsafe.SliceData(p.tw)
	switch p.r {
	case 2:
		vectorFirst2(dst, x, tw, p.m, stride, back)
	case 3:
		vectorFirst3(dst, x, tw, p.m, stride, back)
	case 4:
		vectorFirst4(dst, x, tw, p.m, stride, back)
	case 5:
		vectorFirst5(dst, x, tw, p.m, stride, back)
	case 7:
		vectorFirst7(dst, x, tw, p.m, stride, back)
	case 8:
		vectorFirst8(dst, x, tw, p.m, stride, back)
	}
}

func (p *pass) middle(dst, src, sums *float64) {
	tw := unsafe.SliceData(p.tw)
	switch {
	case !hasPass(p.r, tier):
		vectorMiddleOdd(dst, src, tw, &p.roots[0], sums, p.r, p.m, p.s)
	case p.r == 2:
		vectorMiddle2(dst, src, tw, p.m, p.s)
	case p.r == 3:
		vectorMiddle3(dst, src, tw, p.m, p.s)
	case p.r == 4:
		vectorMiddle4(dst, src, tw, p.m, p.s)
	case p.r == 5:
		vectorMiddle5(dst, src, tw, p.m, p.s)
	case p.r == 7:
		vectorMiddle7(dst, src, tw, p.m, p.s)
	case p.r == 8:
		vectorMiddle8(dst, src, tw, p.m, p.s)
	}
}

func (p *pass) last(x *complex128, src *float64, stride, back int) {
	switch p.r {
	case 2:
		vectorLast2(x, src, p.s, stride, back)
	case 3:
		vectorLast3(x, src, p.s, stride, back)
	case 4:
		vectorLast4(x, src, p.s, stride, back)
	case 5:
		vectorLast5(x, src, p.s, stride, back)
	case 7:
		vectorLast7(x, src, p.s, stride, back)
	case 8:
		vectorLast8(x, src, p.s, stride, back)
	}
}
