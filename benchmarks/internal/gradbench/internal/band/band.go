// Package band multiplies by a unit lower triangular matrix with four diagonals below its own,
//
//	(B·y)_i = y_i + Σ_{k=1..4} c^k_i·y_{i-k}
//
// which is a step of the classical Runge-Kutta method for a chain y_i' = x_i·y_{i-1}. With the step
// length h and q = h·x, c^k_i = q_i·q_{i-1}···q_{i-k+1}/k!.
//
// Vectors have Pad elements before and after those that are computed. Functions compute whole vectors
// of 8 elements, up to 7 past the end, where the operands must be such that they
// compute what lies there already.
package band

import "revnum/internal/simd/cpu"

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Sizes of vectors.
const (
	Pad   = 16   // elements before and after the vectors
	round = 8    // elements of a whole vector
	chunk = 4096 // elements of a call of assembly
)

// vectors returns the elements of a call of assembly, where so many are left.
func vectors(left int) int { return min(chunk, (left+round-1)/round*round) }

// C are the diagonals c¹ to c⁴. Elements without k predecessors have c^k = 0.
type C [4][]float64

// Set computes elements from to to-1 of the diagonals for the chain x and steps of length h.
func (c *C) Set(x []float64, h float64, from, to int) {
	end := to + Pad
	x, c1, c2, c3, c4 := x[from-Pad:end], c[0][:end], c[1][:end], c[2][:end], c[3][:end]
	if tier == cpu.Generic || to-from < round { // a call takes as long as a few elements
		p1, p2, p3 := h*x[Pad-1], h*x[Pad-2], h*x[Pad-3]
		for i, v := range x[Pad : Pad+to-from] {
			i += from
			v *= h
			c1[i] = v
			c := v * (p1 * (1. / 2))
			c2[i] = c
			c *= p2 * (1. / 3)
			c3[i] = c
			c4[i] = c * (p3 * (1. / 4))
			p1, p2, p3 = v, p1, p2
		}
		return
	}
	for i := from; i < to; i += chunk {
		vectorSet(&c1[i], &c2[i], &c3[i], &c4[i], &x[i-from+Pad], h, vectors(to-i))
	}
}

// Mul computes elements from to to-1 of dst = B·y. dst is not y.
func (c *C) Mul(dst, y []float64, from, to int) {
	end := to + Pad
	dst, y, c1, c2, c3, c4 := dst[:end], y[from-Pad:end], c[0][:end], c[1][:end], c[2][:end], c[3][:end]
	if tier == cpu.Generic {
		for i := from; i < to; i++ {
			y := y[i-from:]
			dst[i] = y[Pad] + float64(c1[i]*y[Pad-1]) + float64(c2[i]*y[Pad-2]) + float64(c3[i]*y[Pad-3]) + float64(c4[i]*y[Pad-4])
		}
		return
	}
	for i := from; i < to; i += chunk {
		vectorMul(&dst[i], &y[i-from+Pad], &c1[i], &c2[i], &c3[i], &c4[i], vectors(to-i))
	}
}

// MulTrans computes elements from to to-1 of dst = Bᵀ·λ. dst is not λ.
func (c *C) MulTrans(dst, la []float64, from, to int) {
	end := to + Pad
	dst, la, c1, c2, c3, c4 := dst[:end], la[:end], c[0][:end], c[1][:end], c[2][:end], c[3][:end]
	if tier == cpu.Generic {
		for i := from; i < to; i++ {
			dst[i] = la[i] + float64(c1[i+1]*la[i+1]) + float64(c2[i+2]*la[i+2]) + float64(c3[i+3]*la[i+3]) + float64(c4[i+4]*la[i+4])
		}
		return
	}
	for i := from; i < to; i += chunk {
		vectorMulTrans(&dst[i], &la[i], &c1[i+1], &c2[i+2], &c3[i+3], &c4[i+4], vectors(to-i))
	}
}

// Solve replaces elements from to to-1 of B·y by those of y. It is a recurrence, so it has no vectors.
func (c *C) Solve(y []float64, from, to int) {
	y, c1, c2, c3, c4 := y[:to], c[0][:to], c[1][:to], c[2][:to], c[3][:to]
	a, b, d, e := y[from-1], y[from-2], y[from-3], y[from-4]
	for i := from; i < to; i++ {
		v := y[i] - float64(c4[i]*e) - float64(c3[i]*d) - float64(c2[i]*b) - float64(c1[i]*a)
		a, b, d, e = v, a, b, d
		y[i] = v
	}
}

// Outer adds to elements from to to-1 of the gradient by x what a step gives, with y before it and λ,
// the cotangent, after it. With tᵇ = c^b_{i-1}·y_{i-1-b} and uᵃ = c^a_{i+a}·λ_{i+a}, and 1 as c⁰,
//
//	x̄_i += h·Σ_{a+b≤3} a!·b!/(a+b+1)!·uᵃ·tᵇ
func (c *C) Outer(x, y, la []float64, h float64, from, to int) {
	end := to + Pad
	x, y, la, c1, c2, c3 := x[:end], y[from-Pad:end], la[:end], c[0][:end], c[1][:end], c[2][:end]
	if tier == cpu.Generic {
		for i := from; i < to; i++ {
			y := y[i-from:]
			t0, t1, t2, t3 := y[Pad-1], c1[i-1]*y[Pad-2], c2[i-1]*y[Pad-3], c3[i-1]*y[Pad-4]
			u0, u1, u2, u3 := la[i], c1[i+1]*la[i+1], c2[i+2]*la[i+2], c3[i+3]*la[i+3]
			x[i] += float64(h * (float64(u0*(t0+t1/2+t2/3+t3/4)) + float64(u1*(t0/2+t1/6+t2/12)) + float64(u2*(t0/3+t1/12)) + float64(u3*(t0/4))))
		}
		return
	}
	for i := from; i < to; i += chunk {
		vectorOuter(&x[i], &y[i-from+Pad], &la[i], &c1[i], &c2[i], &c3[i], h, vectors(to-i))
	}
}
