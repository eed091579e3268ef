package fixedpoint

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/cpu"
)

const badLength = "fixedpoint: slices of different lengths"

// Dot returns Σ x_i·y_i, exact and rounded once. It panics if the lengths differ.
func Dot(x, y []fixed.Q43) fixed.Q43 {
	if len(x) != len(y) {
		panic(badLength)
	}
	if tier != cpu.AVX512 || len(x) < vectorLeast {
		return fixed.Dot(x, y)
	}
	var hi, lo uint64
	for i := 0; i < len(x); i += cpu.Chunk {
		var sum [2]uint64
		vectorDot(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), (*int64)(&y[i]), &sum[0])
		lo += sum[0]
		hi += sum[1] + lo>>fixed.FracBits
		lo &= 1<<fixed.FracBits - 1
	}
	return fixed.Q43(hi + (lo+1<<(fixed.FracBits-1)-1+hi&1)>>fixed.FracBits)
}

// SumSquares returns Σ x_i². It is exact.
func SumSquares(x []fixed.Q43) (s fixed.Accumulator) {
	if tier != cpu.AVX512 || len(x) < vectorLeast {
		s.AddDot(x, x)
		return s
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		var sums [3][8]uint64
		vectorSquares(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), &sums[0][0])
		for lane := range sums[0] {
			s.AddWords(0, sums[0][lane])
			s.AddWords(sums[1][lane]>>12, sums[1][lane]<<52)
			s.AddWords(sums[2][lane]<<40, 0)
		}
	}
	return s
}

// vectorLeast is the least length for which a call of assembly pays.
const vectorLeast = 8

// An Index is a type of indices of the entries of sparse matrices.
type Index interface{ int | int32 }

// AddRowSums computes out += alpha·s, or out -= alpha·s if sign is negative, with s = Σ a_q·u_q for
// rows u_q of a matrix. The sum is exact and rounded once, and its product with alpha once more.
// Row u_q begins at u[ind_q·ldu]. sums is scratch as long as out. It panics if a slice is too short.
func AddRowSums[I Index](sign int, alpha fixed.Q43, a []fixed.Q43, ind []I, u []fixed.Q43, ldu int, out []fixed.Q43, sums []fixed.Accumulator) {
	const most = 1 << 12 // entries of a call
	if tier != cpu.AVX512 || len(out) < 2 || len(a) == 0 || len(a) > most {
		genericAddRowSums(sign, alpha, a, ind, u, ldu, out, sums[:len(out)])
		return
	}
	ind = ind[:len(a)]
	for _, i := range ind {
		_ = u[int(i)*ldu:][:len(out)]
	}
	rounded := unsafe.Slice((*fixed.Q43)(unsafe.Pointer(unsafe.SliceData(sums[:len(out)]))), len(out))
	columns := max(2, most/len(a)&^1) * 8 // of a call
	for c := 0; c < len(out); c += columns {
		s := rounded[c:min(c+columns, len(out))]
		switch ind := any(ind).(type) {
		case []int:
			vectorRowSumsI64(len(s), len(a), (*int64)(&a[0]), &ind[0], (*int64)(&u[c]), ldu, (*int64)(&s[0]))
		case []int32:
			vectorRowSumsI32(len(s), len(a), (*int64)(&a[0]), &ind[0], (*int64)(&u[c]), ldu, (*int64)(&s[0]))
		}
	}
	Axpy(sign, alpha, rounded, out)
}

// Axpy computes y_i += alpha·x_i, or y_i -= alpha·x_i if sign is negative. Each product is
// rounded. It panics if the lengths differ.
func Axpy(sign int, alpha fixed.Q43, x, y []fixed.Q43) {
	if len(x) != len(y) {
		panic(badLength)
	}
	if tier != cpu.AVX512 || len(x) < vectorLeast {
		for i, v := range x {
			y[i] += number.Signed(sign, alpha.Mul(v))
		}
		return
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		vectorAxpy(cpu.ChunkAt(i, len(x)), int64(alpha), (*int64)(&x[i]), (*int64)(&y[i]), sign>>(bitsOfInt-1))
	}
}

// AddProducts computes z_i += x_i·y_i, or z_i -= x_i·y_i if sign is negative. Each product is
// rounded. It panics if the lengths differ.
func AddProducts(sign int, x, y, z []fixed.Q43) {
	if len(x) != len(z) || len(y) != len(z) {
		panic(badLength)
	}
	if tier != cpu.AVX512 || len(z) < vectorLeast {
		for i, v := range x {
			z[i] += number.Signed(sign, v.Mul(y[i]))
		}
		return
	}
	for i := 0; i < len(z); i += cpu.Chunk {
		vectorAddProducts(cpu.ChunkAt(i, len(z)), (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1))
	}
}

// Shears computes a -= t·b, b += s·a, a -= t·b. If negate is set, it then negates a and b. Each
// product is rounded. t and s must not be fixed.Min. It panics if the lengths differ.
func Shears(t, s fixed.Q43, negate bool, a, b []fixed.Q43) { shears(t, s, false, negate, a, b) }

// ShearChain does Shears for rotations of neighbouring rows of columns of a matrix, one after the other:
// rotation i is of the row first-i and the row below it, with t_i, s_i and negate_i. Row r begins at x[r·ldx].
// s_i and t_i have the same sign.
func ShearChain(t, s []fixed.Q43, negate []bool, x []fixed.Q43, ldx, first, columns int) {
	chain(t, s, negate, x, ldx, first, columns, false)
}

// UnshearChain undoes ShearChain.
func UnshearChain(t, s []fixed.Q43, negate []bool, x []fixed.Q43, ldx, first, columns int) {
	chain(t, s, negate, x, ldx, first, columns, true)
}

func chain(t, s []fixed.Q43, negate []bool, x []fixed.Q43, ldx, first, columns int, back bool) {
	steps := len(t)
	if len(s) != steps || len(negate) != steps {
		panic(badLength)
	}
	if steps == 0 || columns == 0 {
		return
	}
	last := first - steps + 1
	_, _ = x[last*ldx:], x[(first+1)*ldx+columns-1]
	small := true // a sine of 1 is not for the assembly
	for _, v := range s {
		small = small && v < fixed.One && v > -fixed.One
	}
	for _, v := range t {
		small = small && v < fixed.One && v > -fixed.One
	}
	if tier != cpu.AVX512 || !small || columns < vectorLeast {
		for i := range steps {
			at, turn := i, Shears
			if back {
				at, turn = steps-1-i, Unshear
			}
			row := (first - at) * ldx
			turn(t[at], s[at], negate[at], x[row:][:columns], x[row+ldx:][:columns])
		}
		return
	}
	const most = 1 << 15 // pairs of a call, of whole registers
	for j := 0; j < columns; {
		n := min(columns-j, max(32, most/steps&^31))
		if back {
			i := steps - 1
			vectorUnshearChain(n, steps, (*int64)(&t[i]), (*int64)(&s[i]), &negate[i], -1, (*int64)(&x[last*ldx+j]), ldx)
		} else {
			vectorShearChain(n, steps, (*int64)(&t[0]), (*int64)(&s[0]), &negate[0], 1, (*int64)(&x[(first+1)*ldx+j]), -ldx)
		}
		j += n
	}
}

// Unshear undoes Shears.
func Unshear(t, s fixed.Q43, negate bool, a, b []fixed.Q43) { shears(-t, -s, negate, false, a, b) }

func shears(t, s fixed.Q43, before, after bool, a, b []fixed.Q43) {
	if len(a) != len(b) {
		panic(badLength)
	}
	back := t < 0 || s < 0
	if back {
		t, s = -t, -s
	}
	if tier != cpu.AVX512 || len(a) < vectorLeast || min(t, s) < 0 || max(t, s) >= fixed.One {
		if back {
			t, s = -t, -s
		}
		genericShears(t, s, before, after, a, b)
		return
	}
	for i := 0; i < len(a); i += cpu.Chunk {
		vectorShearRows(cpu.ChunkAt(i, len(a)), int64(t), int64(s), (*int64)(&a[i]), (*int64)(&b[i]), -oneIf(back), -oneIf(before), -oneIf(after))
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
