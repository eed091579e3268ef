package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/rev"
)

// Sums is n sums of float64 numbers. It adds without rounding, so the sums do not
// depend on the order of the terms or on the machine that added them. Only RoundTo
// rounds, once.
//
// A finite float64 is an integer multiple of 2⁻¹⁰⁷⁴. Sum i is kept as
//
//	2⁻¹⁰⁷⁴ · Σ_j L_ji·2^(32j),  0 <= j < 68
//
// with limbs L of type int64. A term changes three limbs, by less than 2³² each. After
// fewer than 2³¹ terms, each limb passes a carry to the next, which leaves limbs
// between -2³¹ and 2³¹. Therefore no limb overflows, and 68 limbs hold 2⁶² terms of any
// size. Sums of different machines are added as integers, in any order (Reduce). NaN
// and infinities are counted beside the limbs.
//
// The limbs are stored in rows by j. Only the rows between the least and the largest
// bit in use are read. Sums of numbers of similar size use about five of the 68 rows.
//
// Methods may not be called concurrently.
type Sums struct {
	n       int
	limbs   []int64 // 68×n; nil while all are 0
	special []int64 // 3×n: how many NaN, +Inf and -Inf; nil if there are none
	lo, hi  int     // rows of limbs that may be non-zero
	terms   int64   // added since the last carry

	windows []window // what the message of the next Reduce has room for; nil if there was none
	message []int64  // of Reduce
}

const (
	limbRows = 68
	limbBits = 32
	maxTerms = 1<<31 - 2 // what a carry leaves counts as less than one more term
)

// NewSums returns n sums, all 0. It panics with mat.ErrNegativeDimension if n is
// negative.
func NewSums(n int) *Sums {
	objective.CheckNonNegative("cluster.Sums", "n", n)
	return &Sums{n: n, lo: limbRows}
}

// room makes room for limbs.
func (s *Sums) room() {
	if s.limbs == nil {
		s.limbs = make([]int64, limbRows*s.n)
	}
}

// Len returns the number of sums.
func (s *Sums) Len() int { return s.n }

// Reset makes all sums 0.
func (s *Sums) Reset() {
	if s.lo < s.hi {
		clear(s.limbs[s.lo*s.n : s.hi*s.n])
	}
	s.lo, s.hi, s.terms, s.special = limbRows, 0, 0, nil
}

// Add adds x[i] to sum i. It panics with mat.ErrShape if x does not have Len elements.
func (s *Sums) Add(x []float64) {
	objective.CheckLen("cluster.Sums", "x", len(x), s.n)
	s.addAt(0, x)
}

// addAt adds x[i] to sum at+i. It panics with mat.ErrShape if one of these does not exist.
func (s *Sums) addAt(at int, x []float64) {
	if at < 0 || len(x) > s.n-at {
		panic(&rev.OperandError{Kernel: "cluster.Sums", Operand: "x", Reason: fmt.Sprintf("has %d elements for the sums from %d on of %d", len(x), at, s.n), Err: mat.ErrShape})
	}
	if s.terms == maxTerms {
		s.carry()
	}
	s.terms++
	s.room()
	const mantissa = 1<<52 - 1
	n, lo, hi := s.n, s.lo, s.hi
	for i, v := range x {
		b := math.Float64bits(v)
		m, e := b&mantissa, b>>52&0x7ff // v is m·2^(e-1074), once e is set right
		switch e {
		case 0:
			if m == 0 {
				continue
			}
		case 0x7ff:
			s.addSpecial(at+i, v)
			continue
		default:
			m |= 1 << 52
			e--
		}
		row, shift := int(e/limbBits), e%limbBits
		addTo(s.limbs[row*n+at+i:], n, m, shift, int64(b)>>63)
		lo, hi = min(lo, row), max(hi, row+3)
	}
	s.lo, s.hi = lo, hi
}

// addTo adds m·2^shift to a sum, or subtracts it if sign is -1 and not 0. l begins at the
// limb to which bit 0 belongs. The next limbs follow after n elements each.
func addTo(l []int64, n int, m, shift uint64, sign int64) {
	low, high := m<<shift, m>>1>>(63-shift)
	l[0] += (int64(low&(1<<limbBits-1)) ^ sign) - sign // xor and subtraction negate
	l[n] += (int64(low>>limbBits) ^ sign) - sign
	l[2*n] += (int64(high) ^ sign) - sign
}

// addSpecial counts a NaN or an infinity.
func (s *Sums) addSpecial(i int, v float64) {
	if s.special == nil {
		s.special = make([]int64, 3*s.n)
	}
	kind := 0
	switch {
	case v > 0:
		kind = 1
	case v < 0:
		kind = 2
	}
	s.special[kind*s.n+i]++
}

// carry brings the limbs between -2³¹ and 2³¹. A small negative sum keeps few limbs.
func (s *Sums) carry() {
	if s.terms == 0 {
		return
	}
	const half = 1 << (limbBits - 1)
	for row := s.lo; row < s.hi && row < limbRows-1; row++ {
		next := s.limbs[(row+1)*s.n : (row+2)*s.n]
		out := int64(0)
		for i, v := range s.limbs[row*s.n : (row+1)*s.n] {
			c := (v + half) >> limbBits
			s.limbs[row*s.n+i] = v - c<<limbBits
			next[i] += c
			out |= c
		}
		if out != 0 {
			s.hi = max(s.hi, row+2)
		}
	}
	s.terms = 0
}

// Merge adds the sums of t to those of s. It panics with mat.ErrShape if they differ in
// number. It may move carries in t, whose sums remain the same.
func (s *Sums) Merge(t *Sums) {
	objective.CheckLen("cluster.Sums", "t", t.n, s.n)
	t.carry()
	s.room()
	if s.terms == maxTerms {
		s.carry()
	}
	s.terms++
	for i := t.lo * t.n; i < t.hi*t.n; i++ {
		s.limbs[i] += t.limbs[i]
	}
	s.lo, s.hi = min(s.lo, t.lo), max(s.hi, t.hi)
	if t.special != nil && s.special == nil {
		s.special = make([]int64, 3*s.n)
	}
	for i, v := range t.special {
		s.special[i] += v
	}
}

// RoundTo stores the sums in dst, each rounded to the nearest float64 (to the even one
// of two), and to an infinity from 2¹⁰²⁴ - 2⁹⁷⁰ on. A sum of 0 is +0. A sum with a NaN
// term, or with infinities of both signs, is NaN. RoundTo panics with mat.ErrShape if
// dst does not have Len elements.
func (s *Sums) RoundTo(dst []float64) {
	objective.CheckLen("cluster.Sums", "dst", len(dst), s.n)
	s.carry()
	var limbs [limbRows]int64
	for i := range dst {
		for row := s.lo; row < s.hi; row++ {
			limbs[row] = s.limbs[row*s.n+i]
		}
		dst[i] = round(limbs[:s.hi], s.lo)
	}
	if s.special == nil {
		return
	}
	for i := range dst {
		nan, plus, minus := s.special[i], s.special[s.n+i], s.special[2*s.n+i]
		switch {
		case nan > 0 || plus > 0 && minus > 0:
			dst[i] = math.NaN()
		case plus > 0:
			dst[i] = math.Inf(1)
		case minus > 0:
			dst[i] = math.Inf(-1)
		}
	}
}

// round returns the number with the given limbs, between -2³¹ and 2³¹, of which those
// before lo are 0. It overwrites them.
func round(limbs []int64, lo int) float64 {
	top := len(limbs) - 1
	for ; top >= lo && limbs[top] == 0; top-- {
	}
	if top < lo {
		return 0
	}
	// The largest limb has the sign of all. Limbs become digits from 0 to 2³²-1.
	sign := uint64(0)
	if limbs[top] < 0 {
		sign = 1 << 63
		for j := lo; j <= top; j++ {
			limbs[j] = -limbs[j]
		}
	}
	for j := lo; j < top; j++ {
		limbs[j+1] += limbs[j] >> limbBits
		limbs[j] &= 1<<limbBits - 1
	}
	for limbs[top] == 0 { // a carry of -1 went into a limb of 1
		top--
	}
	digit := func(j int) uint64 {
		if j < lo {
			return 0
		}
		return uint64(limbs[j])
	}
	// The number is v·2^(32(top-2)-1074) and a rest, with v in two words.
	high, low := digit(top), digit(top-1)<<limbBits|digit(top-2)
	length := limbBits*top + bits.Len64(high)
	if length <= 53 { // in the unit 2⁻¹⁰⁷⁴ it is an integer with the bits of the result
		return math.Float64frombits(sign | high<<(limbBits*top) | low>>limbBits)
	}
	shift := length - 53
	drop := uint(shift - limbBits*(top-2)) // bits of v below the mantissa, 12 to 43
	m := high<<(64-drop) | low>>drop
	half := uint64(1) << (drop - 1)
	up := low&half != 0
	if up && m&1 == 0 && low&(half-1) == 0 { // half way, unless there is a rest
		up = false
		for j := lo; j < top-2; j++ {
			up = up || limbs[j] != 0
		}
	}
	if up {
		m++
	}
	if shift >= 0x7fe {
		return math.Float64frombits(sign | 0x7ff<<52)
	}
	return math.Float64frombits(sign | uint64(shift)<<52 + m)
}

// MarshalBinary implements encoding.BinaryMarshaler: the number of sums, the first row
// of limbs and the number of rows and of NaN and infinities, and their elements, all as
// little-endian int64.
func (s *Sums) MarshalBinary() ([]byte, error) {
	s.carry()
	rows := max(s.hi-s.lo, 0)
	b := make([]byte, 0, 8*(4+rows*s.n+len(s.special)))
	for _, v := range []int64{int64(s.n), int64(s.lo), int64(rows), int64(len(s.special))} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	for _, list := range [][]int64{s.limbs[min(s.lo, s.hi)*s.n : s.hi*s.n], s.special} {
		for _, v := range list {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
	}
	return b, nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It returns an error, and leaves
// s as it was, if b is not what MarshalBinary wrote.
func (s *Sums) UnmarshalBinary(b []byte) error {
	if len(b) < 32 || len(b)%8 != 0 {
		return fmt.Errorf("cluster: sums of %d bytes, expected a multiple of 8 from 32 on", len(b))
	}
	v := make([]int64, len(b)/8)
	for i := range v {
		v[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	n, lo, rows, special := v[0], v[1], v[2], v[3]
	v = v[4:]
	switch {
	case lo < 0 || rows < 0 || lo > limbRows || rows > limbRows-lo || rows == 0 && lo != limbRows:
		return fmt.Errorf("cluster: sums with limbs %d to %d, expected 0 to %d", lo, lo+rows, limbRows)
	case n < 0 || n > math.MaxInt32 || special != 0 && special != 3*n || rows*n+special != int64(len(v)):
		return fmt.Errorf("cluster: %d sums with %d rows of limbs and %d counts in %d numbers", n, rows, special, len(v))
	}
	for _, l := range v[:rows*n] {
		if l < -1<<31 || l > 1<<31 {
			return errors.New("cluster: sums with a limb beyond 2³¹")
		}
	}
	read := NewSums(int(n))
	if rows > 0 {
		read.lo, read.hi = int(lo), int(lo+rows)
		read.room()
		copy(read.limbs[read.lo*read.n:], v[:rows*n])
	}
	if special > 0 {
		read.special = v[rows*n:]
	}
	*s = *read
	return nil
}
