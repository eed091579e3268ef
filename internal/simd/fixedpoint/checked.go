package fixedpoint

import (
	"math"
	"math/bits"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/dense"
)

// Checked loops find results that are out of range: those whose exact value, rounded as the loop rounds it, is not a
// number. The vector code computes each result in float64 too, and keeps the largest magnitude. If it is below
// mostSure, all results are in range. If not, the elements are computed again one by one, in 128 bits or more. All
// tiers therefore find the same element.

// mostSure is below 2⁶³ by more than float64 rounds a + x·y of any three numbers: less than 2³³ units.
const mostSure = 1<<63 - 1<<34

// AxpyChecked is Axpy. If a result is out of range, it changes nothing and returns the first of these elements, else -1.
func AxpyChecked(sign int, alpha fixed.Q43, x, y []fixed.Q43) (overflow int) {
	if len(x) != len(y) {
		panic(badLength)
	}
	return inRange(len(x), func(i, n int) bool {
		return vectorAxpyChecked(n, int64(alpha), (*int64)(&x[i]), (*int64)(&y[i]), sign>>(bitsOfInt-1)) < mostSure
	}, func(sign, i, n int) { Axpy(sign, alpha, x[i:i+n], y[i:i+n]) }, sign, func(i int) bool { return sumFits(y[i], sign, alpha, x[i]) })
}

// AddProductsChecked is AddProducts. If a result is out of range, it changes nothing and returns the first of these
// elements, else -1.
func AddProductsChecked(sign int, x, y, z []fixed.Q43) (overflow int) {
	if len(x) != len(z) || len(y) != len(z) {
		panic(badLength)
	}
	return inRange(len(z), func(i, n int) bool {
		return vectorAddProductsChecked(n, (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&z[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1)) < mostSure
	}, func(sign, i, n int) { AddProducts(sign, x[i:i+n], y[i:i+n], z[i:i+n]) }, sign, func(i int) bool { return sumFits(z[i], sign, x[i], y[i]) })
}

// inRange runs a loop over n elements. vector runs it for elements i to i+n, and reports whether all are surely in
// range. run does so without a report, with the given sign. fits reports whether an element is, before the loop.
// inRange returns the first that is not, after it has undone what was done before.
func inRange(n int, vector func(i, n int) bool, run func(sign, i, n int), sign int, fits func(i int) bool) int {
	for i := 0; i < n; i += cpu.Chunk {
		part := cpu.ChunkAt(i, n)
		if tier == cpu.AVX512 && part >= vectorLeast {
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

// sumFits reports whether z + x·y, or z - x·y if sign is negative, is in range, with the product rounded.
func sumFits(z fixed.Q43, sign int, x, y fixed.Q43) bool {
	if hi, _ := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y))); hi < 1<<(62+fixed.FracBits-64) {
		p := number.Signed(sign, x.Mul(y)) // at most 2⁶² units
		sum := z + p
		return (z^sum)&(p^sum) >= 0
	}
	var s Exact
	s.addProduct(x, y)
	_, ok := s.AddTo(z, sign)
	return ok
}

// Exact is a sum of products that does not wrap before 2⁶⁴ of them: an integer of 192 bits, the lowest word first.
type Exact [3]uint64

// add adds 2^shift·v, with shift < 128.
func (s *Exact) add(v uint64, shift uint) {
	low, high := v<<(shift&63), v>>1>>(63-shift&63)
	var c uint64
	if shift < 64 {
		s[0], c = bits.Add64(s[0], low, 0)
		s[1], c = bits.Add64(s[1], high, c)
		s[2] += c
		return
	}
	s[1], c = bits.Add64(s[1], low, 0)
	s[2] += high + c
}

// sub subtracts 2^shift·v, with shift < 128.
func (s *Exact) sub(v uint64, shift uint) {
	low, high := v<<(shift&63), v>>1>>(63-shift&63)
	var b uint64
	if shift < 64 {
		s[0], b = bits.Sub64(s[0], low, 0)
		s[1], b = bits.Sub64(s[1], high, b)
		s[2] -= b
		return
	}
	s[1], b = bits.Sub64(s[1], low, 0)
	s[2] -= high + b
}

// addProduct adds x·y.
func (s *Exact) addProduct(x, y fixed.Q43) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	hi -= uint64(x>>63&y) + uint64(y>>63&x) // the factors were taken for unsigned
	var c uint64
	s[0], c = bits.Add64(s[0], lo, 0)
	s[1], c = bits.Add64(s[1], hi, c)
	s[2] += uint64(int64(hi)>>63) + c
}

// AddTo returns z + s, or z - s if sign is negative, with s rounded to nearest, ties to even. It wraps, and reports
// whether it is in range.
func (s Exact) AddTo(z fixed.Q43, sign int) (sum fixed.Q43, ok bool) {
	const f = fixed.FracBits
	half := s[0]>>f&1 + 1<<(f-1) - 1
	var c uint64
	s[0], c = bits.Add64(s[0], half, 0)
	s[1], c = bits.Add64(s[1], 0, c)
	s[2] += c
	q := Exact{s[0]>>f | s[1]<<(64-f), s[1]>>f | s[2]<<(64-f), uint64(int64(s[2]) >> f)}
	if sign < 0 {
		var b uint64
		for i := range q {
			q[i], b = bits.Sub64(0, q[i], b)
		}
	}
	top := uint64(z >> 63)
	q[0], c = bits.Add64(q[0], uint64(z), 0)
	q[1], c = bits.Add64(q[1], top, c)
	q[2] += top + c
	top = uint64(int64(q[0]) >> 63)
	return fixed.Q43(q[0]), q[1] == top && q[2] == top
}

// ExactDot returns Σ x_i·y_i. It panics if the lengths differ.
func ExactDot(x, y []fixed.Q43) (s Exact) {
	if len(x) != len(y) {
		panic(badLength)
	}
	if tier != cpu.AVX512 || len(x) < vectorLeast {
		for i, v := range x {
			s.addProduct(v, y[i])
		}
		return s
	}
	const most = 1 << 11 // of a call
	for i := 0; i < len(x); i += most {
		n := min(most, len(x)-i)
		var t [8]uint64
		vectorDotChecked(n, (*int64)(&x[i]), (*int64)(&y[i]), &t[0])
		// With x' = x + 2⁶³, x·y = x'·y' - 2⁶³·(x' + y') + 2¹²⁶. The sum of x' + y' is r + 2⁴⁰·high, of which r < 2⁶⁴
		// and all is t[4] mod 2⁶⁴.
		high := t[5]<<12 + t[6]
		s.add(t[0], 0)
		s.add(t[1], 52)
		s.add(t[2], 40)
		s.add(t[3], 92)
		s.sub(t[4]-high<<40, 63)
		s.sub(high, 63+40)
		s.add(uint64(n+7)&^7, 126)
	}
	return s
}

// ExactSquares returns Σ x_i².
func ExactSquares(x []fixed.Q43) (s Exact) {
	if tier != cpu.AVX512 || len(x) < vectorLeast {
		for _, v := range x {
			s.addProduct(v, v)
		}
		return s
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		var sums [3][8]uint64
		vectorSquares(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), &sums[0][0])
		for lane := range sums[0] {
			s.add(sums[0][lane], 0)
			s.add(sums[1][lane], 52)
			s.add(sums[2][lane], 104)
		}
	}
	return s
}

// GemmChecked is Gemm. If an element of the result is out of range, it changes nothing and returns the first of these,
// by rows, else -1 and -1.
//
// It takes two looks before it multiplies: at the largest numbers, which say that no result can be out of range if
// all are small, and if they do not, at the same product in float64.
func GemmChecked(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) (row, col int) {
	if m <= 0 || n <= 0 || k <= 0 {
		return -1, -1
	}
	product := math.Ldexp(largestOf(a, m, k, rsa, csa)*largestOf(b, k, n, rsb, csb)*float64(k), -fixed.FracBits)
	if !(product+largestOf(c, m, n, ldc, 1) < 1<<62) {
		if i, j := gemmOverflow(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc, product); i >= 0 {
			return i, j
		}
	}
	Gemm(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc)
	return -1, -1
}

// largestOf returns a bound of the magnitudes of a matrix, in units, less than twice the largest.
func largestOf(x []fixed.Q43, m, n, rs, cs int) float64 {
	if cs != 1 {
		m, n, rs, cs = n, m, cs, rs
	}
	var all uint64
	for i := range m {
		switch row := x[i*rs:]; {
		case cs == 1 && tier == cpu.AVX512:
			for j := 0; j < n; j += cpu.Chunk {
				all |= vectorMagnitudes(cpu.ChunkAt(j, n), (*int64)(&row[j]))
			}
		default:
			for j := range n {
				all |= uint64(row[j*cs].AbsSat())
			}
		}
	}
	return float64(all)
}

// gemmOverflow returns the first element of C ± A·B that is out of range, or -1 and -1. The products of an element
// are at most most units all together.
func gemmOverflow(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int, most float64) (row, col int) {
	fa, fb, fc := packedFloats(a, m, k, rsa, csa), packedFloats(b, k, n, rsb, csb), packedFloats(c, m, n, ldc, 1)
	dense.Gemm(m, n, k, number.Signed(sign, 1.0), fa, k, 1, fb, n, 1, fc, n)
	// Each number is rounded, each product, and each sum, some of them twice.
	sure := 1<<20 - float64(math.Ldexp(most+1<<63, -fixed.FracBits)*math.Ldexp(float64(2*k+8), -52))
	var x, y []fixed.Q43
	for i := range m {
		for j, v := range fc[i*n:][:n] {
			if math.Abs(v) < sure {
				continue
			}
			x, y = x[:0], y[:0]
			for l := range k {
				x, y = append(x, a[i*rsa+l*csa]), append(y, b[l*rsb+j*csb])
			}
			if _, ok := ExactDot(x, y).AddTo(c[i*ldc+j], sign); !ok {
				return i, j
			}
		}
	}
	return -1, -1
}

// packedFloats returns a matrix in float64, by rows.
func packedFloats(x []fixed.Q43, m, n, rs, cs int) []float64 {
	f := make([]float64, m*n)
	for i := range m {
		if row := f[i*n:][:n]; cs == 1 {
			Floats(row, x[i*rs:][:n])
		} else {
			for j := range row {
				row[j] = x[i*rs+j*cs].Float64()
			}
		}
	}
	return f
}
