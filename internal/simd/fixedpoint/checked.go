package fixedpoint

import (
	"math/bits"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/cpu"
)

// Checked loops find results that are out of range: those whose exact value, rounded as the loop rounds it, is not a
// number. AVX-512 computes each result in float64 too, and keeps the largest magnitude. AVX2 looks at the highest
// bits of products and at the signs of sums. Either says whether all results are surely in range. If not, the elements
// are computed again one by one, in 128 bits or more. All tiers therefore find the same element.

// AxpyChecked is Axpy. If a result is out of range, it changes nothing and returns the first of these elements, else -1.
// y shares no memory with x.
func AxpyChecked(sign int, alpha fixed.Q43, x, y []fixed.Q43) (overflow int) {
	if len(x) != len(y) {
		panic(badLength)
	}
	return inRange(len(x), func(i, n int) bool {
		return vectorAxpyChecked(n, int64(alpha), (*int64)(&x[i]), (*int64)(&y[i]), sign>>(bitsOfInt-1))
	}, func(sign, i, n int) { Axpy(sign, alpha, x[i:i+n], y[i:i+n]) }, sign, func(i int) bool { return SumFits(y[i], sign, alpha, x[i]) })
}

// AddProductsChecked is AddProducts. If a result is out of range, it changes nothing and returns the first of these
// elements, else -1. z shares no memory with x and y.
func AddProductsChecked(sign int, x, y, z []fixed.Q43) (overflow int) {
	if len(x) != len(z) || len(y) != len(z) {
		panic(badLength)
	}
	return inRange(len(z), func(i, n int) bool {
		return vectorAddProductsChecked(n, (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&z[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1))
	}, func(sign, i, n int) { AddProducts(sign, x[i:i+n], y[i:i+n], z[i:i+n]) }, sign, func(i int) bool { return SumFits(z[i], sign, x[i], y[i]) })
}

// inRange runs a loop over n elements. vector runs it for elements i to i+n, and reports whether all are surely in
// range. run does so without a report, with the given sign. fits reports whether an element is, before the loop.
// inRange returns the first that is not, after it has undone what was done before.
func inRange(n int, vector func(i, n int) bool, run func(sign, i, n int), sign int, fits func(i int) bool) int {
	for i := 0; i < n; i += cpu.Chunk {
		part := cpu.ChunkAt(i, n)
		if hasProducts() && part >= vectorLeast {
			if vector(i, part) {
				continue
			}
			run(-sign, i, part)
		}
		for j := range part {
			if !fits(i + j) {
				for done := 0; done < i; done += cpu.Chunk {
					run(-sign, done, cpu.Chunk)
				}
				return i + j
			}
		}
		run(sign, i, part)
	}
	return -1
}

// SumFits reports whether z + x·y, or z - x·y if sign is negative, is in range, with the product rounded.
func SumFits(z fixed.Q43, sign int, x, y fixed.Q43) bool {
	if hi, _ := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y))); hi < 1<<(62+fixed.FracBits-64) {
		p := number.Signed(sign, x.Mul(y)) // at most 2⁶² units
		sum := z + p
		return (z^sum)&(p^sum) >= 0
	}
	var s Exact
	s.AddProduct(x, y)
	_, ok := s.AddTo(z, 0, sign)
	return ok
}

// Exact is a sum of products that does not wrap before 2⁶⁴ of them: an integer of 192 bits.
type Exact struct{ lo, mid, hi uint64 }

// add adds the integer of the words lo, mid and hi.
func (s *Exact) add(lo, mid, hi uint64) {
	var c uint64
	s.lo, c = bits.Add64(s.lo, lo, 0)
	s.mid, c = bits.Add64(s.mid, mid, c)
	s.hi, _ = bits.Add64(s.hi, hi, c)
}

// sub subtracts it.
func (s *Exact) sub(lo, mid, hi uint64) {
	var b uint64
	s.lo, b = bits.Sub64(s.lo, lo, 0)
	s.mid, b = bits.Sub64(s.mid, mid, b)
	s.hi, _ = bits.Sub64(s.hi, hi, b)
}

// Add adds a number.
func (s *Exact) Add(x fixed.Q43) {
	s.add(uint64(x)<<fixed.FracBits, uint64(x>>(64-fixed.FracBits)), uint64(x>>63))
}

// AddProduct adds x·y.
func (s *Exact) AddProduct(x, y fixed.Q43) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	hi -= uint64(x>>63&y) + uint64(y>>63&x) // the factors were taken for unsigned
	s.add(lo, hi, uint64(int64(hi)>>63))
}

// round rounds s to a whole number of units, ties to even.
func (s *Exact) round() {
	s.add(s.lo>>fixed.FracBits&1+1<<(fixed.FracBits-1)-1, 0, 0)
	s.lo &^= 1<<fixed.FracBits - 1
}

// AddRounded adds x·y, rounded as AddTo rounds s.
func (s *Exact) AddRounded(x, y fixed.Q43) {
	var p Exact
	p.AddProduct(x, y)
	p.round()
	s.add(p.lo, p.mid, p.hi)
}

// AddTo returns z + (s + b), or z - (s + b) if sign is negative, with s rounded to nearest, ties to even, before b is added.
// It wraps, and reports whether it is in range.
func (s Exact) AddTo(z, b fixed.Q43, sign int) (sum fixed.Q43, ok bool) {
	s.round()
	s.Add(b)
	if sign < 0 {
		t := s
		s = Exact{}
		s.sub(t.lo, t.mid, t.hi)
	}
	s.Add(z)
	sum = fixed.Q43(s.lo>>fixed.FracBits | s.mid<<(64-fixed.FracBits))
	var all Exact
	all.Add(sum)
	return sum, all == s
}

// Root returns √s, rounded, and whether it is in range.
func (s Exact) Root() (fixed.Q43, bool) {
	var a fixed.Accumulator
	a.AddWords(s.mid, s.lo)
	r := a.Sqrt()
	return r, s.hi == 0 && r >= 0
}

// ExactDot returns Σ x_i·y_i. It panics if the lengths differ.
func ExactDot(x, y []fixed.Q43) (s Exact) {
	if len(x) != len(y) {
		panic(badLength)
	}
	if !hasProducts() || len(x) < vectorLeast {
		for i, v := range x {
			s.AddProduct(v, y[i])
		}
		return s
	}
	const most = 1 << 11 // of a call
	for i := 0; i < len(x); i += most {
		n := min(most, len(x)-i)
		var t [8]uint64
		vectorDotChecked(n, (*int64)(&x[i]), (*int64)(&y[i]), &t[0])
		// With x' = x + 2⁶³, x·y = x'·y' - 2⁶³·(x' + y') + 2¹²⁶. The sum of x' + y' is r + 2⁶⁴·c.
		var r, c, count uint64
		if tier == cpu.AVX2 {
			r, c = bits.Add64(t[4], t[5]<<32, 0)
			c += t[5] >> 32
			count = uint64(n+3) &^ 3
			s.addWords((*[4]uint64)(t[:]))
		} else { // r < 2⁶⁴ and 2⁴⁰·high, of which all is t[4] mod 2⁶⁴
			high := t[5]<<12 + t[6]
			r, c = bits.Add64(t[4]-high<<40, high<<40, 0)
			c += high >> 24
			count = uint64(n+7) &^ 7
			s.add(t[0], t[3]<<28, t[3]>>36)
			s.add(t[1]<<52, t[1]>>12, 0)
			s.add(t[2]<<40, t[2]>>24, 0)
		}
		s.add(0, count<<62, count>>2)
		s.sub(r<<63, r>>1|c<<63, c>>1)
	}
	return s
}

// addWords adds words that are 32 bits apart.
func (s *Exact) addWords(t *[4]uint64) {
	s.add(t[0], t[2], 0)
	s.add(t[1]<<32, t[3]<<32|t[1]>>32, t[3]>>32)
}

// ExactSquares returns Σ x_i².
func ExactSquares(x []fixed.Q43) (s Exact) {
	if !hasProducts() || len(x) < vectorLeast {
		for _, v := range x {
			s.AddProduct(v, v)
		}
		return s
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		if tier == cpu.AVX2 {
			var sums [4]uint64
			vectorSquaresChecked(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), &sums[0])
			s.addWords(&sums)
			continue
		}
		var sums [3][8]uint64
		vectorSquares(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), &sums[0][0])
		for lane := range sums[0] {
			lo, mid, hi := sums[0][lane], sums[1][lane], sums[2][lane]
			s.add(lo, hi<<40, hi>>24)
			s.add(mid<<52, mid>>12, 0)
		}
	}
	return s
}

// GemmFits is Gemm. It reports whether all elements of the result are in range. The others have wrapped.
func GemmFits(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) bool {
	if m <= 0 || n <= 0 || k <= 0 {
		return true
	}
	const most = 1 << 22 // products of an element, of which an estimate is good enough
	w := newGemm(m, n, k, a, rsa, csa, b, rsb, csb, c, ldc)
	if w == nil || k > most || n == 1 && csa == 1 && rsb == 1 {
		w.free()
		return exactGemm(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc)
	}
	w.checks, w.bad = checksRange, [panel]uint64{}
	w.run(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc)
	var bad uint64
	for _, v := range w.bad {
		bad |= v
	}
	w.free()
	return bad>>(64-topUnit) == 0
}

// exactGemm is GemmFits element by element.
func exactGemm(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) bool {
	all := true
	var x, y []fixed.Q43
	for j := range n {
		y = line(y, b[j*csb:], k, rsb)
		for i := range m {
			x = line(x, a[i*rsa:], k, csa)
			s, at := ExactDot(x, y), &c[i*ldc+j]
			sum, ok := s.AddTo(*at, 0, sign)
			*at, all = sum, all && ok
		}
	}
	return all
}

// line returns n elements of x: x itself if inc is 1, else a copy, in old if it has room.
func line(old, x []fixed.Q43, n, inc int) []fixed.Q43 {
	if inc == 1 {
		return x[:n]
	}
	old = old[:0]
	for i := range n {
		old = append(old, x[i*inc])
	}
	return old
}

// GemmOverflow returns the first element of C ± (A·B + 1·bᵀ), by rows, that is out of range, else -1 and -1. A·B is
// rounded before b is added. A nil bias b is zero. It looks at one element after the other.
func GemmOverflow(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, bias, c []fixed.Q43, ldc int) (row, col int) {
	row, col = m, -1
	var x, y []fixed.Q43
	for j := range n {
		y = line(y, b[j*csb:], k, rsb)
		var shift fixed.Q43
		if bias != nil {
			shift = bias[j]
		}
		for i := range row {
			x = line(x, a[i*rsa:], k, csa)
			s := ExactDot(x, y)
			if _, ok := s.AddTo(c[i*ldc+j], shift, sign); !ok {
				row, col = i, j
				break
			}
		}
	}
	if col < 0 {
		row = -1
	}
	return row, col
}

// Largest returns a bound of the magnitudes of x, in units: less than twice the largest.
func Largest(x []fixed.Q43) (all uint64) {
	if !hasProducts() {
		for _, v := range x {
			all |= uint64(v.AbsSat())
		}
		return all
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		all |= vectorMagnitudes(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]))
	}
	return all
}
