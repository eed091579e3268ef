package cluster

import (
	"fmt"
	"math/bits"
	"slices"
)

// The messages of Reduce. The limbs of Sums have much room for carries, and many of
// them are 0. Reduce therefore does not send limbs. With two's complement, a sum in the
// unit 2⁻¹⁰⁷⁴ is an integer with bits from 0 on. Reduce sends the bits of a window: from
// the bit from on, w lanes of b bits each, each lane in an int64. The last lane has a
// sign. P ranks leave b = 63 - ⌈log₂P⌉ bits, so that the sum of P lanes fits.
//
// Where a rank has a sum that does not fit its window, it says so in the head of the
// message. All ranks then send their limbs. They put new windows where the sums over all
// ranks are, with a margin. Most sums need two lanes, and sums that remain 0 need none.
// All ranks have the same windows, because all have the same sums.

// A window says which bits of a sum a message has room for.
type window struct{ from, lanes int }

// The head of a message of Reduce: how many ranks failed, how many have NaN or infinities,
// and how many have a sum outside its window.
const (
	headFailed = iota
	headSpecial
	headOutside
	headLen
)

const (
	maxRanks = 1 << 16 // which leaves 47 bits to a lane

	// Later sums may begin lowMargin bits below those for which the windows were made, and
	// end highMargin bits above.
	lowMargin, highMargin = 20, 6

	// Windows end here. A lane reaches into three limbs, and must not reach beyond the last.
	lastBit = limbBits * (limbRows - 2)
)

// Reduce adds up the sums of all ranks, on all ranks. Each calls it with as many sums,
// and with the error for which its own are not what they should be, nil if there is
// none. If a rank has an error, all return it, with the number of the rank. There may be
// up to 65536 ranks. Always reduce the same Sums of the ranks together: Reduce remembers
// in them how large the sums were.
//
// A call is one sum of integers over the ranks, about two for each float64. Two others
// follow if numbers are of another size than in earlier calls.
func (s *Sums) Reduce(r Reducer, failed error) error {
	size := r.Size()
	switch {
	case size == 1:
		return failed
	case size > maxRanks:
		return fmt.Errorf("cluster: %d ranks, expected at most %d", size, maxRanks)
	}
	lane := 63 - bits.Len(uint(size-1))
	s.room()
	if s.windows == nil {
		s.windows = make([]window, s.n)
	}
	s.message = append(s.message[:0], make([]int64, headLen)...)
	if failed != nil {
		s.message[headFailed] = 1
	}
	if s.special != nil {
		s.message[headSpecial] = 1
	}
	s.pack(lane)
	if err := r.Sum(s.message); err != nil {
		return err
	}
	if s.message[headFailed] > 0 {
		return Agree(r, failed)
	}
	special := s.message[headSpecial] > 0
	if s.message[headOutside] > 0 {
		if err := s.sumLimbs(r); err != nil {
			return err
		}
		s.place(lane)
	} else {
		s.unpack(lane)
	}
	if !special {
		return nil
	}
	if s.special == nil {
		s.special = make([]int64, 3*s.n)
	}
	return r.Sum(s.special)
}

// pack appends the lanes of the sums to the message, and sets the head if one does not
// fit its window.
func (s *Sums) pack(lane int) {
	var x integer
	for i, w := range s.windows {
		if w.lanes == 0 && s.isEmpty(i) {
			continue
		}
		s.read(&x, i)
		if low, high := x.extent(); high >= 0 && (low < w.from || high >= w.from+w.lanes*lane) {
			s.message[headOutside] = 1
		}
		for l := range w.lanes {
			v := x.bits(w.from+l*lane) << (64 - lane)
			if l == w.lanes-1 {
				s.message = append(s.message, int64(v)>>(64-lane))
			} else {
				s.message = append(s.message, int64(v>>(64-lane)))
			}
		}
	}
}

// isEmpty reports whether all limbs of sum i are 0.
func (s *Sums) isEmpty(i int) bool {
	all := int64(0)
	for at := s.lo*s.n + i; at < s.hi*s.n; at += s.n {
		all |= s.limbs[at]
	}
	return all == 0
}

// unpack sets the sums to those of the message.
func (s *Sums) unpack(lane int) {
	special := s.special
	s.Reset()
	s.special = special
	limbs, lo, hi, at := s.limbs, s.lo, s.hi, headLen
	for i, w := range s.windows {
		for l := range w.lanes {
			v := s.message[at]
			at++
			if v == 0 {
				continue
			}
			bit := w.from + l*lane
			row := bit / limbBits
			addTo(limbs[row*s.n+i:], s.n, uint64((v^v>>63)-v>>63), uint64(bit%limbBits), v>>63)
			lo, hi = min(lo, row), max(hi, row+3)
		}
	}
	s.lo, s.hi = lo, hi
	s.terms = 3 // a limb gets a part of at most three lanes
}

// sumLimbs adds up the limbs of all ranks in the rows that any of them uses.
func (s *Sums) sumLimbs(r Reducer) error {
	s.carry()
	var ranks [limbRows]int64 // that use the row
	for row := s.lo; row < s.hi; row++ {
		if slices.ContainsFunc(s.limbs[row*s.n:(row+1)*s.n], func(v int64) bool { return v != 0 }) {
			ranks[row] = 1
		}
	}
	if err := r.Sum(ranks[:]); err != nil {
		return err
	}
	lo, hi := limbRows, 0
	for row, n := range ranks {
		if n > 0 {
			lo, hi = min(lo, row), row+1
		}
	}
	if lo >= hi {
		return nil
	}
	s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
	s.terms = int64(r.Size())
	return r.Sum(s.limbs[lo*s.n : hi*s.n])
}

// place puts the windows where the sums are.
func (s *Sums) place(lane int) {
	var x integer
	for i := range s.windows {
		s.read(&x, i)
		low, high := x.extent()
		if high < 0 {
			s.windows[i] = window{}
			continue
		}
		used := high + 1 - low // with the sign
		lanes := (used + lowMargin + highMargin + lane - 1) / lane
		if lanes*lane > lastBit { // from the least to the largest numbers: all limbs go
			s.windows[i] = window{}
			continue
		}
		spare := lanes*lane - used
		from := low - spare*lowMargin/(lowMargin+highMargin)
		s.windows[i] = window{max(min(from, lastBit-lanes*lane), 0), lanes}
	}
}

// An integer is a sum in the unit 2⁻¹⁰⁷⁴, with two's complement.
type integer struct {
	first int // bit at which the words begin; all below are 0
	len   int // words; all bits above are like sign
	word  [limbRows/2 + 1]uint64
	sign  uint64 // 0 or 2⁶⁴-1
}

// read stores sum i in x.
func (s *Sums) read(x *integer, i int) {
	n, at := s.n, s.lo*s.n+i
	limbs := s.limbs[:s.hi*n]
	words, carry := 0, int64(0)
	for ; at < len(limbs); at += 2 * n {
		v := limbs[at] + carry
		low := uint64(v) & (1<<limbBits - 1)
		v >>= limbBits
		if at+n < len(limbs) {
			v += limbs[at+n]
		}
		x.word[words] = low | uint64(v)<<limbBits
		words++
		carry = v >> limbBits
	}
	x.word[words] = uint64(carry)
	x.first, x.len, x.sign = limbBits*s.lo, words+1, uint64(carry>>63)
}

// at returns word j.
func (x *integer) at(j int) uint64 {
	switch {
	case j < 0:
		return 0
	case j < x.len:
		return x.word[j]
	}
	return x.sign
}

// bits returns 64 bits from the given one on.
func (x *integer) bits(from int) uint64 {
	from -= x.first
	j, shift := from>>6, from&63
	return x.at(j)>>shift | x.at(j+1)<<1<<(63-shift)
}

// extent returns the lowest bit that is 1, and the bit from which on all are like the
// sign. For 0 it returns 0 and -1.
func (x *integer) extent() (low, high int) {
	j, top := 0, x.len-1
	for ; j < top && x.word[j] == 0; j++ {
	}
	for ; top > j && x.word[top] == x.sign; top-- {
	}
	if x.word[j] == 0 { // all are
		return 0, -1
	}
	low = x.first + 64*j + bits.TrailingZeros64(x.word[j])
	return low, max(low, x.first+64*top+bits.Len64(x.word[top]^x.sign))
}
