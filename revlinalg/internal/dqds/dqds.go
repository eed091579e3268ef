// Package dqds has the iteration that finds singular values without vectors.
package dqds

import (
	"math"
	"slices"

	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
)

// An Iteration finds the singular values of an upper bidiagonal matrix B by differential quotients and
// differences with shifts (Fernando and Parlett 1994). Let q be the squares of the diagonal, and e
// the squares of the elements beside it. The transform
//
//	δ_1 = q_1 - τ,  q'_i = δ_i + e_i,  e'_i = e_i·q_{i+1}/q'_i,  δ_{i+1} = δ_i·q_{i+1}/q'_i - τ,  q'_n = δ_n
//
// makes q' and e' of a B' with B'ᵀ·B' = B·Bᵀ - τ·I. It subtracts nothing but τ. The eigenvalues plus the
// sum of the shifts therefore keep their relative accuracy if no δ is negative, and none is if τ is at
// most the least eigenvalue. Otherwise the transform is made again with a smaller shift. The last
// element of e converges to 0, and then the last one of q is an eigenvalue.
//
// Element e_i counts as 0 if it is small beside δ_i or, at the end, beside q_{i+1}, each plus the sum of
// the shifts. This changes no singular value by more than rounding does (Demmel and Kahan 1990).
type Iteration struct {
	q, e         []float64 // of B
	nextQ, nextE []float64 // of B' during the transform, and then of the matrix before
	values       []float64
	lo, hi       int     // the first and the last row of the current block
	sum, lost    float64 // of the shifts of the current block, and what its rounding lost
	waiting      []part
	parted       bool // the block is new, or the last transform set an element of e to 0
	transforms   int

	// The last δ and the least one of the last transform, without its last 0 to 3 rows. Since then,
	// so many rows are gone. If it is known or more, they say nothing about the block.
	last, least [known]float64
	gone        int

	// The last shift was this fraction of the least δ, because nothing more was known.
	fraction float64
	blind    bool
}

// A part has rows lo to hi, which are not coupled to others.
type part struct {
	lo, hi    int
	sum, lost float64
}

const (
	topExponent   = 250      // exponent of the largest element of B
	floor         = 0x1p-490 // elements of e up to this one count as 0, so that no quotient overflows
	rounding      = 0x1p-104 // the square of what is small beside 1
	known         = 4
	maxTransforms = 30 // for each row, after which the iteration does not converge
)

// Run overwrites d with the singular values of the matrix with the diagonal d and the elements e beside
// it, in any order. e has a last element that is not used. The largest magnitude is 0, or between 2⁻⁵⁰⁰
// and 2⁵⁰⁰. It reports whether the iteration converges.
func (w *Iteration) Run(d, e []float64) (ok bool) {
	n := len(d)
	top := max(vec.MaxAbs(d), vec.MaxAbs(e[:n-1]))
	if top == 0 {
		clear(d)
		return true
	}
	w.q, w.e = workspace.Grow(w.q, n), workspace.Grow(w.e, n)
	w.nextQ, w.nextE = workspace.Grow(w.nextQ, n), workspace.Grow(w.nextE, n)
	_, exponent := math.Frexp(top)
	shift := topExponent - exponent
	scale := math.Ldexp(1, shift)
	for i, v := range d {
		v *= scale
		w.q[i] = v * v
		v = e[i] * scale
		w.e[i] = v * v
	}
	w.values, w.transforms = d, 0
	w.waiting = append(w.waiting[:0], part{lo: 0, hi: n - 1})
	for ok = true; ok && len(w.waiting) > 0; {
		ok = w.solve()
	}
	w.values = nil
	for i, v := range d {
		d[i] = math.Ldexp(math.Sqrt(v), -shift)
	}
	return ok
}

// solve finds the eigenvalues of the last waiting block.
func (w *Iteration) solve() (ok bool) {
	b := w.waiting[len(w.waiting)-1]
	w.waiting = w.waiting[:len(w.waiting)-1]
	w.lo, w.hi, w.sum, w.lost = b.lo, b.hi, b.sum, b.lost
	w.gone, w.parted, w.blind = known, true, false
	for {
		if w.parted {
			w.split()
		}
		hi := w.hi
		w.deflate()
		if w.hi < w.lo {
			return true
		}
		if w.gone += hi - w.hi; w.gone > 0 {
			w.flip()
		}
		tau, ok := w.advance(w.shift())
		if !ok {
			return false
		}
		w.q, w.nextQ = w.nextQ, w.q
		w.e, w.nextE = w.nextE, w.e
		w.gone = 0
		sum := w.sum + tau
		big, small := max(w.sum, tau), min(w.sum, tau)
		w.lost += small - (sum - big)
		w.sum = sum
	}
}

// split makes the rows up to the last element of e that is 0 another block.
func (w *Iteration) split() {
	w.parted = false
	for i := w.hi - 1; i >= w.lo; i-- {
		if w.e[i] == 0 {
			copy(w.nextQ[w.lo:i+1], w.q[w.lo:])
			copy(w.nextE[w.lo:i], w.e[w.lo:])
			w.waiting = append(w.waiting, part{w.lo, i, w.sum, w.lost})
			w.lo = i + 1
			return
		}
	}
}

// deflate takes rows off the end of the block while their eigenvalues are known.
func (w *Iteration) deflate() {
	for i := w.hi; i >= w.lo; i = w.hi {
		q := w.q[i]
		if i == w.lo || w.small(w.e[i-1], q) {
			w.found(q)
			continue
		}
		e, before := w.e[i-1], w.q[i-1]
		if i-1 > w.lo && !w.small(w.e[i-2], float64(before*(q/(q+e)))) {
			return
		}
		// The eigenvalues of two rows have the sum q + e + before and the product q·before.
		low, high := min(q, before), max(q, before)
		half := float64(0.5 * ((high - low) + e))
		root := math.Hypot(half, math.Sqrt(low)*math.Sqrt(e))
		top := high + (e + float64(low*(e/(half+root))))
		w.found(float64(low * (high / top)))
		w.found(top)
	}
}

// found takes the last row off the block, with an eigenvalue.
func (w *Iteration) found(v float64) {
	w.values[w.hi] = w.sum + (w.lost + v)
	w.hi--
}

// small reports whether an element of e is 0 beside a number.
func (w *Iteration) small(e, beside float64) bool {
	return e <= float64(rounding*(w.sum+beside))+floor
}

// flip reverses a block that is larger at its end, because small eigenvalues are found there.
func (w *Iteration) flip() {
	if q := w.q[w.lo : w.hi+1]; 1.5*q[0] < q[len(q)-1] {
		slices.Reverse(q)
		slices.Reverse(w.e[w.lo:w.hi])
		w.gone = known
	}
}

// advance makes a transform with shift τ, or with a smaller one that it returns.
func (w *Iteration) advance(tau float64) (shift float64, ok bool) {
	for failures := 1; w.transforms < maxTransforms*len(w.q); failures++ {
		w.transforms++
		last := w.transform(tau)
		if last >= 0 {
			return tau, true
		}
		w.blind = false
		switch {
		case tau == 0: // last is NaN
			return 0, false
		case failures > 3 || math.IsNaN(last):
			tau = 0
		case failures == 3:
			tau = float64(tau / 4) // 0 would leave equal eigenvalues as they are
		case math.IsInf(last, -1) || w.least[1] == 0: // then τ + δ_n would be 0
			tau = max(float64(tau/4), w.bound())
		default: // at the least eigenvalue λ, δ_n is 0, and then it falls faster than τ grows: τ + δ_n <= λ
			tau = float64((tau + last) * (1 - 0x1p-51))
		}
	}
	return 0, false
}

// bound returns a lower bound of the eigenvalues: no singular value of B is below the least difference
// between a diagonal element and the mean of those beside it in its row and column (Johnson 1989).
func (w *Iteration) bound() float64 {
	least, beside := math.Inf(1), 0.0
	for i := w.lo; i <= w.hi; i++ {
		next := 0.0
		if i < w.hi {
			next = math.Sqrt(w.e[i])
		}
		least, beside = min(least, math.Sqrt(w.q[i])-(beside+next)/2), next
	}
	least = max(least, 0)
	return float64(least * least)
}

// transform makes the transform with shift τ. It returns the last δ, or -∞ if one before it is negative.
func (w *Iteration) transform(tau float64) (last float64) {
	d := w.q[w.lo] - tau
	if d < 0 {
		return math.Inf(-1)
	}
	least := d
	from := w.lo
	for k := known - 1; k >= 0; k-- {
		if to := w.hi - k; to > from {
			d, least = w.rows(from, to, tau, d, least)
			from = to
		}
		if least < 0 && k > 0 {
			return math.Inf(-1)
		}
		w.last[k], w.least[k] = d, least
	}
	if d < 0 && -d <= 0x1p-53*(w.sum+tau) {
		d = 0
	}
	w.nextQ[w.hi] = d
	return d
}

// rows computes rows from to to-1. It returns δ_to and the least δ, or twice the first negative one.
//
// Positive numbers are in the order of their bits, and the least of integers needs no branch.
func (w *Iteration) rows(from, to int, tau, d, least float64) (last, smallest float64) {
	n := to - from
	q, e := w.q[from+1:][:n], w.e[from:][:n]
	nextQ, nextE := w.nextQ[from:][:n], w.nextE[from:][:n]
	small := float64(rounding*(w.sum+tau)) + floor
	bits := math.Float64bits(least)
	for i, b := range e {
		if b <= small+float64(rounding*d) {
			nextQ[i], nextE[i] = d, 0
			d = q[i] - tau
			w.parted = true
		} else {
			s := d + b
			nextQ[i], nextE[i] = s, b*q[i]/s
			d = d*q[i]/s - tau
		}
		if math.Signbit(d) {
			return d, d
		}
		bits = min(bits, math.Float64bits(d))
	}
	return d, math.Float64frombits(bits)
}

// shift returns a shift for the next transform, which may be too large (after Parlett and Marques
// 2000). If δ is least in row r, it considers a vector that is 1 there, and whose residual is δ_r there
// and 0 elsewhere. With the sum x of the squares of its other elements, the Rayleigh quotient is
// ρ = δ_r/(1 + x). An eigenvalue is within ρ·√x of it and, if all others are further from it than a gap,
// within ρ²·x/gap.
func (w *Iteration) shift() float64 {
	if w.gone >= known {
		return 0
	}
	const most, more = 0.563, 1.01 // up to which x says something, and what the first terms leave out
	last, least := w.last[w.gone:], w.least[w.gone:]
	r := slices.Index(last[:min(3, len(last))], least[0])
	row := w.hi - r
	if r < 0 || row < w.lo { // a larger fraction each time
		if !w.blind {
			w.blind, w.fraction = true, 0.25
		} else {
			w.fraction += float64((1 - w.fraction) / 3)
		}
		return float64(w.fraction * least[0])
	}
	w.blind = false
	x := 0.0
	for i := w.hi; i > row; i-- {
		x = float64((x + 1) * (w.nextE[i-1] / w.nextQ[i]))
	}
	product := 1.0
	for i := row - 1; i >= w.lo && x < most; i-- {
		product = float64(product * (w.e[i] / w.q[i]))
		if x += product; 100*product < x {
			break
		}
	}
	if x = float64(1.05 * x); x >= most {
		return least[0] / 4
	}
	rho := least[0] / (1 + x)
	s := rho * (1 - float64(more*math.Sqrt(x)))
	if r == 0 && len(least) > 1 {
		if gap := least[1]/2 - rho; gap > rho*math.Sqrt(x) {
			s = max(s, rho*(1-more*rho*x/gap))
		}
	}
	return max(s, least[0]/3)
}
