package fixed

import (
	"math"
	"math/bits"
)

// Buffer multiplies vectors of n numbers by fractions. It keeps the bits that a product
// loses, so that the product can be undone to the bit. The method is from Maclaurin,
// Duvenaud and Adams, "Gradient-based hyperparameter optimization through reversible
// learning", 2015, section 3.
//
// To multiply the integer v by n/d, divide it by d. This leaves a rest in [0, d). Then
// multiply the quotient by n. This leaves room for a digit in [0, n). The buffer holds an
// integer s for each number. It takes the rest as a digit of base d, and fills the room
// with its last digit of base n:
//
//	s <- s·d + v mod d,  v <- ⌊v/d⌋·n + s mod n,  s <- ⌊s/n⌋
//
// This is a bijection of (v, s). The same step with n and d exchanged undoes it. The
// digit that comes back is noise: v is x·n/d with an error below n units in the last
// place (n = 9: 1.0·10⁻¹²).
//
// s grows by log2(d/n) bits a step, which is what the smaller range of v lost. That
// is 0.152 bits for a decay of 9/10. The measured growth is within 1% of this:
//
//	n/d          9/10     98/100   1/2      99/100   999/1000  2/3
//	measured     0.15196  0.02911  0.99993  0.01451  0.00143   0.58495
//	log2(d/n)    0.15200  0.02915  1.00000  0.01450  0.00144   0.58496
//
// s has 64 bits. If the next digit might not fit, the last 32 bits of all s move to a
// stack, with the number of the step. A step therefore takes constant time, however long
// the history is.
type Buffer struct {
	state   []uint64
	step    int
	spilled []uint32 // len(state) words for each spill
	spills  []int    // the step before which each spill was
}

// maxDenominator bounds d, so that a digit fits after 32 bits have moved to the
// stack.
const maxDenominator = 1 << 16

// NewBuffer returns an empty buffer for vectors of n numbers.
func NewBuffer(n int) *Buffer {
	return &Buffer{state: make([]uint64, n)}
}

// Bits returns the information in the buffer, in bits, for all numbers together. The
// memory is 32 bits for each 32 bits of information, and 64 for each number.
func (b *Buffer) Bits() int {
	n := 32 * len(b.spilled)
	for _, s := range b.state {
		n += bits.Len64(s)
	}
	return n
}

// Steps returns the number of multiplications that the buffer can undo.
func (b *Buffer) Steps() int { return b.step }

// Mul computes x *= n/d in place. It panics unless 0 < n <= d <= 2¹⁶ and the length
// of x is the length of the buffer.
func (b *Buffer) Mul(x []Q43, n, d int) {
	b.check(x, n, d)
	if !b.below(1 << 63 / uint64(d)) {
		b.spill()
	}
	b.step++
	b.exchange(x, uint64(d), uint64(n))
}

// Div computes x /= n/d in place. It undoes the last Mul that is not yet undone, and
// leaves x and the buffer as they were before that Mul. n and d must be the same as in that
// Mul. Div panics if there is none.
func (b *Buffer) Div(x []Q43, n, d int) {
	b.check(x, n, d)
	if b.step == 0 || !b.below(math.MaxUint64/uint64(n)) {
		panic("fixed: Buffer.Div without the Mul that it undoes")
	}
	b.exchange(x, uint64(n), uint64(d))
	b.step--
	if last := len(b.spills) - 1; last >= 0 && b.spills[last] == b.step {
		b.unspill()
	}
}

func (b *Buffer) check(x []Q43, n, d int) {
	if n <= 0 || n > d || d > maxDenominator {
		panic("fixed: Buffer fraction not in (0, 1] or of too large a denominator")
	}
	if len(x) != len(b.state) {
		panic("fixed: Buffer and vector of different lengths")
	}
}

// below reports whether all states are below bound. A state below 2⁶³/d has room for
// a digit of base d. Div, too, leaves room for it.
func (b *Buffer) below(bound uint64) bool {
	for _, s := range b.state {
		if s >= bound {
			return false
		}
	}
	return true
}

// exchange moves the last digit of base p from x to the buffer, and one of base
// q from the buffer to x.
func (b *Buffer) exchange(x []Q43, p, q uint64) {
	for i, v := range x {
		quo, rem := v/Q43(p), v%Q43(p)
		if rem < 0 {
			quo--
			rem += Q43(p)
		}
		s := b.state[i]*p + uint64(rem)
		b.state[i] = s / q
		x[i] = quo*Q43(q) + Q43(s%q)
	}
}

func (b *Buffer) spill() {
	b.spills = append(b.spills, b.step)
	for i, s := range b.state {
		b.spilled = append(b.spilled, uint32(s))
		b.state[i] = s >> 32
	}
}

func (b *Buffer) unspill() {
	b.spills = b.spills[:len(b.spills)-1]
	words := b.spilled[len(b.spilled)-len(b.state):]
	for i, w := range words {
		b.state[i] = b.state[i]<<32 | uint64(w)
	}
	b.spilled = b.spilled[:len(b.spilled)-len(words)]
}
