package revlinalg

import "math"

// A qlIteration finds the eigenvalues of a symmetric tridiagonal matrix T with the diagonal
// d and the elements e below it, by implicit QL sweeps. A sweep is a similarity by
// rotations of rows i and i+1, from the last row of a block to its first one. The first is a
// rotation of T - σ, with the shift σ of Wilkinson. Let π be the element of the triangular
// factor at row i+1 before the rotation that makes e_i zero. With p = π², b = e_i² and
// γ = c·π, where c and s are those of the rotation before,
//
//	r = p + b,  c' = π/√r,  s' = e_i/√r,  e_{i+1} = s·√r,
//	γ' = (p·(d_i - σ) - b·γ)/r,  d_{i+1} = γ + d_i - γ',  p' = γ'²·r/p.
//
// These are the recurrences of Pal, Walker and Kahan (Parlett 1998, 8.15). From one row to
// the next, they need neither a square root nor more than one division after the other. The
// cosines and sines take no part, so eigenvalues have the same bits with and without vectors.
type qlIteration struct {
	d, e   []float64
	first  int // rows before this one are done
	sweeps int
	failed bool
}

// begin starts with a matrix, which the iteration overwrites: d will have the eigenvalues
// in any order. e has a last element that is not used.
func (q *qlIteration) begin(d, e []float64) { *q = qlIteration{d: d, e: e} }

// maxSweeps is the number of sweeps for each row that do not converge.
const maxSweeps = 30

// sweep implements sweeper.
func (q *qlIteration) sweep(to *[2]chains) (more bool) {
	c := &to[0]
	defer c.finish()
	for n := len(q.d); q.first < n; {
		last := q.last()
		switch {
		case last == q.first:
			q.first++
			continue
		case c.full():
			return true
		case q.sweeps == maxSweeps*n:
			q.failed = true
			return false
		}
		q.sweeps++
		cosines, sines := c.sweep(q.first, last)
		qlSweep(q.d[q.first:last+1], q.e[q.first:last+1], cosines, sines)
	}
	return false
}

// last returns the last row of the block that begins with the first row. Elements of e that are
// 0 up to rounding separate blocks.
func (q *qlIteration) last() int {
	d := q.d[q.first:]
	e := q.e[q.first:][:len(d)-1]
	top := math.Abs(d[0])
	for i, v := range e {
		next := math.Abs(d[i+1])
		if float64(v*v) <= float64(0x1p-106*top*next)+0x1p-1021 {
			e[i] = 0
			return q.first + i
		}
		top = next
	}
	return len(q.d) - 1
}

// qlSweep makes a sweep over a block.
func qlSweep(d, e, cosines, sines []float64) {
	k := len(d) - 1
	g := (d[1] - d[0]) / (2 * e[0])
	sigma := d[0] - e[0]/(g+math.Copysign(math.Hypot(g, 1), g))
	gamma := d[k] - sigma
	p, sign := float64(gamma*gamma), math.Copysign(1, gamma) // π² and the sign of π
	c, s := 1.0, 0.0
	sines = sines[:len(cosines)]
	for j := range cosines {
		i := k - 1 - j
		off, alpha := e[i], d[i]
		b := float64(off * off)
		root := math.Sqrt(p + b)
		e[i+1] = s * root
		s = off / root
		if p > 0x1p-120*b {
			num := float64(p*(alpha-sigma)) - float64(b*gamma)
			after := num / (p + b)
			c = sign * (math.Sqrt(p) / root)
			p = float64(after * (num / p))
			sign = math.Float64frombits(math.Float64bits(sign) ^ math.Float64bits(after)&(1<<63))
			d[i+1] = gamma + (alpha - after)
			gamma = after
		} else { // π is 0: c' = 0 and π' = -c·|e_i|
			p, sign = float64(c*c*b), -math.Copysign(1, c)
			d[i+1] = gamma + alpha
			c, gamma = 0, 0
		}
		cosines[j], sines[j] = c, s
	}
	d[0] = sigma + gamma
	e[0] = float64(s*sign) * math.Sqrt(p)
}
