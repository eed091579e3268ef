package fixedpoint

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
)

// mostOrder is the largest order of triangular matrices that the assembly takes: 16 columns are a call, which
// cannot be pre-empted for 0.4 ms then. The words of sums would do for 2¹¹.
const mostOrder = 512

// productTriNorms is TriNorms by products of matrices.
func productTriNorms(d int, l, c []fixed.Q43, ldc int, mu, y []fixed.Q43, ldy int, minus fixed.Accumulator, half []fixed.Q43) fixed.Q43 {
	n, w := len(half), workspace.Get[*triDifferences]()
	w.x = workspace.Grow(w.x, d*n)
	for j, m := range mu[:d] {
		for p, v := range c[j*ldc:][:n] {
			w.x[j*n+p] = v - m
		}
		clear(y[j*ldy:][:n])
	}
	for i := 0; i < d; i += gemmRows {
		rows := min(gemmRows, d-i)
		Gemm(rows, n, i+rows, 1, l[i*d:], d, 1, w.x, n, 1, y[i*ldy:], ldy)
	}
	workspace.Put(w)
	var bits uint64
	for i := range d {
		bits |= Largest(y[i*ldy:][:n])
	}
	for p := range half {
		sum := minus
		for i := range d {
			v := y[i*ldy+p]
			sum.AddMul(v, v)
		}
		half[p] = halfOf(sum)
	}
	return magnitude(bits)
}

// triDifferences has C - mu·1ᵀ.
type triDifferences struct{ x []fixed.Q43 }

// halfOf returns -minus/2, rounded twice.
func halfOf(minus fixed.Accumulator) fixed.Q43 {
	v := -minus.Round()
	h := v >> 1
	return h + v&h&1
}

// TriNorms sets Y = L·(C - mu·1ᵀ), and half_p to (start - Σ_i y_ip²)/2. L is d×d lower triangular with
// L[i,j] = l[i*d+j], C is d×n with C[j,p] = c[j*ldc+p], and Y[i,p] = y[i*ldy+p]. The elements of l above the diagonal must
// be zero. C - mu wraps. The sums are exact. They are rounded once and wrap; half is rounded again, to nearest with ties
// to even. narrow says that all elements of L and of C - mu are below 256 in magnitude, which is faster. TriNorms returns
// a number that is at least as large as all |y|, and less than twice the largest, or Max. scratch has at least 16·d
// numbers. It panics if a slice is too short.
func TriNorms(narrow bool, d int, l, c []fixed.Q43, ldc int, mu, y []fixed.Q43, ldy int, start fixed.Accumulator, half, scratch []fixed.Q43) fixed.Q43 {
	n := len(half)
	if n == 0 {
		return 0
	}
	if d > 0 {
		_, _, _, _, _ = l[d*d-1], c[(d-1)*ldc:][:n], y[(d-1)*ldy:][:n], mu[d-1], scratch[16*d-1]
	}
	var minus fixed.Accumulator
	minus.SubAcc(start)
	if d > mostOrder && tier > cpu.Generic || d > 0 && tier == cpu.AVX2 && hasProducts() {
		return productTriNorms(d, l, c, ldc, mu, y, ldy, minus, half)
	}
	if tier != cpu.AVX512 || d == 0 {
		return genericTriNorms(d, l, c, ldc, mu, y, ldy, minus, half, scratch)
	}
	var bits uint64
	hi, lo := words(minus)
	columns := max(1, cpu.Chunk/(d*d+16*d)) * 16 // of a call
	for p := 0; p < n; p += columns {
		part := min(columns, n-p)
		if narrow {
			bits |= vectorTriNormsNarrow(part, d, (*int64)(&l[0]), (*int64)(&c[p]), ldc, (*int64)(&mu[0]), (*int64)(&y[p]), ldy, hi, lo, (*int64)(&half[p]), (*int64)(&scratch[0]))
		} else {
			bits |= vectorTriNormsWide(part, d, (*int64)(&l[0]), (*int64)(&c[p]), ldc, (*int64)(&mu[0]), (*int64)(&y[p]), ldy, hi, lo, (*int64)(&half[p]), (*int64)(&scratch[0]))
		}
	}
	return magnitude(bits)
}

// magnitude returns Max for 2⁶³, the magnitude of Min.
func magnitude(bits uint64) fixed.Q43 { return fixed.Q43(min(bits, uint64(fixed.Max))) }

// WeighRows sets row i of Y, with Y[i,p] = y[i*ldy+p], to w_p·y_ip, rounded, and adds the sums of the rows to sums. It
// returns a number as TriNorms does. It panics if a slice is too short.
func WeighRows(w, y []fixed.Q43, ldy int, sums []fixed.Q43) fixed.Q43 {
	n, d := len(w), len(sums)
	if n == 0 || d == 0 {
		return 0
	}
	_ = y[(d-1)*ldy:][:n]
	var bits fixed.Q43
	if tier != cpu.AVX512 || n < vectorLeast || n > cpu.Chunk {
		for i := range sums {
			row := y[i*ldy:][:n]
			for p := 0; p < n; p += pieceSize {
				part := row[p:min(p+pieceSize, n)]
				AddProductsTo(1, w[p:][:len(part)], part, zeros[:len(part)], part)
				for _, v := range part {
					sums[i] += v
				}
				bits |= magnitude(Largest(part))
			}
		}
		return bits
	}
	rows := cpu.Chunk / n // of a call
	for i := 0; i < d; i += rows {
		bits |= magnitude(vectorWeighRows(n, min(rows, d-i), (*int64)(&w[0]), (*int64)(&y[i*ldy]), ldy, (*int64)(&sums[i])))
	}
	return bits
}

var zeros [pieceSize]fixed.Q43

// TriSums are sums of products of rows of two matrices: exact, but mod 2¹⁰⁷ units of 2⁻⁸⁶, which is all that Round
// looks at. The sum of rows i and j <= i is hi·2⁴³ + lo. For each row, four sums lie side by side, for j a multiple of
// four and those after it: the words hi, and then the words lo < 2⁴³.
type TriSums []uint64

// TriSumsLen returns the length of TriSums of d rows.
func TriSumsLen(d int) int { return triRow(d) }

// triRow returns where the sums of row i begin. Each row before it has 1 + i/4 lines of 8 words.
func triRow(i int) int {
	q := i / 4
	return 8 * (2*q*(q+1) + i%4*(q+1))
}

// at returns where the words of a sum are. lo lies 4 words after hi.
func (s TriSums) at(i, j int) int { return triRow(i) + j/4*8 + j%4 }

// Sum returns the sum of rows i and j <= i.
func (s TriSums) Sum(i, j int) (a fixed.Accumulator) {
	at := s.at(i, j)
	hi, lo := s[at], s[at+4]
	a.AddWords(hi>>(64-fixed.FracBits), hi<<fixed.FracBits|lo)
	return a
}

// add adds to a sum.
func (s TriSums) add(i, j int, a fixed.Accumulator) {
	at := s.at(i, j)
	hi, lo := words(a)
	lo += s[at+4]
	s[at] += hi + lo>>fixed.FracBits
	s[at+4] = lo & (1<<fixed.FracBits - 1)
}

// Add adds the sums t.
func (s TriSums) Add(t TriSums) {
	for i := range s {
		s[i] += t[i]
		if i&4 != 0 {
			s[i-4] += s[i] >> fixed.FracBits
			s[i] &= 1<<fixed.FracBits - 1
		}
	}
}

// TriScratch returns how many numbers of scratch TriDots takes.
func TriScratch(d int) int { return (d + 3) &^ 3 * (triColumns + 8) }

const triColumns = 128 // of a call of triDots

// TriDots adds Σ_p z_ip·(c_jp - mu_j) to the sums of i and j <= i, for n columns, with Z[i,p] = z[i*ldz+p] and C[j,p] = c[j*ldc+p].
// C - mu wraps. narrow says that all elements of Z and of C - mu are below 256 in magnitude, which is faster.
// It panics if a slice is too short.
func (s TriSums) TriDots(narrow bool, d, n int, z []fixed.Q43, ldz int, c []fixed.Q43, ldc int, mu, scratch []fixed.Q43) {
	if d == 0 || n == 0 {
		return
	}
	_, _, _, _, _ = s[TriSumsLen(d)-1], z[(d-1)*ldz:][:n], c[(d-1)*ldc:][:n], mu[d-1], scratch[TriScratch(d)-1]
	if tier != cpu.AVX512 {
		for p := 0; p < n; p += triColumns {
			part := min(triColumns, n-p)
			for j, m := range mu[:d] {
				differences := scratch[j*triColumns:][:part]
				for q, v := range c[j*ldc+p:][:part] {
					differences[q] = v - m
				}
				for i := j; i < d; i++ {
					var a fixed.Accumulator
					AddDot(&a, z[i*ldz+p:][:part], differences)
					s.add(i, j, a)
				}
			}
		}
		return
	}
	for p := 0; p < n; p += triColumns {
		part := min(triColumns, n-p)
		most := max(1, 2*cpu.Chunk/((d+8)*(part/8+2))) // rows of a call
		for i := 0; i < d; i += most {
			rows := min(most, d-i)
			call := vectorTriDotsWide
			if narrow {
				call = vectorTriDotsNarrow
			}
			call(part, d, i, rows, (*int64)(&z[i*ldz+p]), ldz, (*int64)(&c[p]), ldc, (*int64)(&mu[0]), &s[triRow(i)], (*int64)(&scratch[0]))
		}
	}
}

// words returns s as hi·2⁴³ + lo with 0 <= lo < 2⁴³, where hi wraps.
func words(s fixed.Accumulator) (hi, lo uint64) {
	w := *(*[2]uint64)(unsafe.Pointer(&s))
	return w[0]<<(64-fixed.FracBits) | w[1]>>fixed.FracBits, w[1] & (1<<fixed.FracBits - 1)
}

// genericTriNorms is TriNorms in plain Go. It has minus instead of start.
func genericTriNorms(d int, l, c []fixed.Q43, ldc int, mu, y []fixed.Q43, ldy int, minus fixed.Accumulator, half, scratch []fixed.Q43) fixed.Q43 {
	var bits fixed.Q43
	differences := scratch[:d] // of a point
	for p := range half {
		for j, m := range mu[:d] {
			differences[j] = c[j*ldc+p] - m
		}
		sum := minus
		for i := range d {
			var s fixed.Accumulator
			s.AddDot(l[i*d:][:i+1], differences)
			v := s.Round()
			y[i*ldy+p] = v
			bits |= v.AbsSat()
			sum.AddMul(v, v)
		}
		half[p] = halfOf(sum)
	}
	return bits
}
