package fixedpoint

import (
	"runtime"
	"slices"
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
	if !hasProducts() || len(x) < vectorLeast {
		return fixed.Dot(x, y)
	}
	return roundWords(dotWords(x, y))
}

// AddDot adds Σ x_i·y_i to s mod 2¹⁰⁷ units of 2⁻⁸⁶, which is all that Round looks at. It panics if the
// lengths differ.
func AddDot(s *fixed.Accumulator, x, y []fixed.Q43) {
	if len(x) != len(y) {
		panic(badLength)
	}
	if !hasProducts() || len(x) < vectorLeast {
		s.AddDot(x, y)
		return
	}
	hi, lo := dotWords(x, y)
	s.AddWords(hi>>(64-fixed.FracBits), hi<<fixed.FracBits|lo)
}

// dotWords returns Σ x_i·y_i as hi·2⁴³ + lo with 0 <= lo < 2⁴³.
func dotWords(x, y []fixed.Q43) (hi, lo uint64) {
	for i := 0; i < len(x); i += cpu.Chunk {
		var sum [2]uint64
		vectorDot(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), (*int64)(&y[i]), &sum[0])
		lo += sum[0]
		hi += sum[1] + lo>>fixed.FracBits
		lo &= 1<<fixed.FracBits - 1
	}
	return hi, lo
}

// roundWords returns hi·2⁴³ + lo, rounded and wrapped.
func roundWords(hi, lo uint64) fixed.Q43 {
	hi += lo >> fixed.FracBits
	lo &= 1<<fixed.FracBits - 1
	return fixed.Q43(hi + (lo+1<<(fixed.FracBits-1)-1+hi&1)>>fixed.FracBits)
}

// SumSquares returns Σ x_i². It is exact.
func SumSquares(x []fixed.Q43) (s fixed.Accumulator) {
	if !hasProducts() || len(x) < vectorLeast {
		s.AddDot(x, x)
		return s
	}
	for i := 0; i < len(x); i += cpu.Chunk {
		var sums [3][8]uint64
		vectorSquares(cpu.ChunkAt(i, len(x)), (*int64)(&x[i]), &sums[0][0])
		lanes := len(sums[0])
		if tier == cpu.AVX2 {
			lanes = 1
		}
		for lane := range lanes {
			s.AddWords(0, sums[0][lane])
			s.AddWords(sums[1][lane]>>12, sums[1][lane]<<52)
			s.AddWords(sums[2][lane]<<40, 0)
		}
	}
	return s
}

// hasProducts reports whether the assembly has loops of single products. Those of AVX2 are not for NEON.
func hasProducts() bool { return tier == cpu.AVX512 || tier == cpu.AVX2 && runtime.GOARCH == "amd64" }

// vectorLeast is the least length for which a call of assembly pays.
const vectorLeast = 8

// An Index is a type of indices of the entries of sparse matrices.
type Index interface{ int | int32 }

// AddRowSums computes out += alpha·s, or out -= alpha·s if sign is negative, with s = Σ a_q·u_q for
// rows u_q of a matrix. The sum is exact and rounded once, and its product with alpha once more.
// Row u_q begins at u[ind_q·ldu]. sums is scratch as long as out. It panics if a slice is too short.
func AddRowSums[I Index](sign int, alpha fixed.Q43, a []fixed.Q43, ind []I, u []fixed.Q43, ldu int, out []fixed.Q43, sums []fixed.Accumulator) {
	u = slices.Clip(u) // an index reaches no memory after it
	switch {
	case !hasRowSums(len(a), len(out)):
		genericAddRowSums(sign, alpha, a, ind, u, ldu, out, sums[:len(out)])
	case alpha == fixed.One: // as in most products with a matrix
		rowSums(a, ind, u, ldu, out, -1, sign>>(bitsOfInt-1))
	default:
		rounded := unsafe.Slice((*fixed.Q43)(unsafe.Pointer(unsafe.SliceData(sums[:len(out)]))), len(out))
		rowSums(a, ind, u, ldu, rounded, 0, 0)
		Axpy(sign, alpha, rounded, out)
	}
}

const mostEntries = 1 << 12 // of a call of rowSums

// hasRowSums reports whether the assembly sums so many rows of a length.
func hasRowSums(entries, length int) bool {
	return hasProducts() && length >= 2 && entries > 0 && entries <= mostEntries
}

// rowSums sets out to the sums, or adds them to out if add is -1, or subtracts them if minus is too.
func rowSums[I Index](a []fixed.Q43, ind []I, u []fixed.Q43, ldu int, out []fixed.Q43, add, minus int) {
	ind = ind[:len(a)]
	rows := rowsOf(len(out), u, ldu)
	columns := max(2, mostEntries/len(a)&^1) * 8 // of a call
	for c := 0; c < len(out); c += columns {
		s, ok := out[c:min(c+columns, len(out))], false
		switch ind := any(ind).(type) {
		case []int:
			ok = vectorRowSumsI64(len(s), len(a), (*int64)(&a[0]), &ind[0], (*int64)(&u[c]), rows, ldu, (*int64)(&s[0]), add, minus)
		case []int32:
			ok = vectorRowSumsI32(len(s), len(a), (*int64)(&a[0]), &ind[0], (*int64)(&u[c]), rows, ldu, (*int64)(&s[0]), add, minus)
		}
		if !ok {
			panicAt(ind, len(out), u, ldu)
		}
	}
}

// rowsOf returns how many rows of n elements u has. The last one may be short of ldu.
func rowsOf(n int, u []fixed.Q43, ldu int) int {
	if len(u) < n || ldu < 0 {
		return 0
	}
	return (len(u)-n)/max(1, ldu) + 1
}

// panicAt panics, as an index is not that of a row of n elements.
func panicAt[I Index](ind []I, n int, u []fixed.Q43, ldu int) {
	for _, i := range ind {
		_ = u[int(i)*ldu:][:n]
	}
	panic("fixedpoint: bad index")
}

// AddRowDots computes out_q += alpha·s_q with s_q = Σ_c v_c·u_qc for rows u_q of a matrix. Each sum is
// exact and rounded once, and its product with alpha once more. Row u_q begins at u[ind_q·ldu], and ldu is at
// least 1. It panics if a slice is too short or an index is wrong, and may have changed part of out then.
func AddRowDots[I Index](alpha fixed.Q43, v []fixed.Q43, ind []I, u []fixed.Q43, ldu int, out []fixed.Q43) {
	const most = 1 << 10 // elements of a row
	u, out = slices.Clip(u), out[:len(ind)]
	if !hasProducts() || len(v) < 2 || len(v) > most {
		for q, i := range ind {
			out[q] += alpha.Mul(Dot(v, u[int(i)*ldu:][:len(v)]))
		}
		return
	}
	rows := rowsOf(len(v), u, ldu)
	for lo := 0; lo < len(ind); lo += 16 {
		part := ind[lo:min(lo+16, len(ind))]
		var scratch [16]fixed.Q43
		dots := out[lo:][:len(part)]
		if alpha != fixed.One {
			dots = scratch[:len(part)]
		}
		ok := false
		switch part := any(part).(type) {
		case []int:
			ok = vectorRowDotsI64(len(v), len(part), (*int64)(&v[0]), &part[0], (*int64)(&u[0]), rows, ldu, (*int64)(&dots[0]))
		case []int32:
			ok = vectorRowDotsI32(len(v), len(part), (*int64)(&v[0]), &part[0], (*int64)(&u[0]), rows, ldu, (*int64)(&dots[0]))
		}
		if !ok {
			panicAt(part, len(v), u, ldu)
		}
		if alpha != fixed.One {
			Axpy(1, alpha, dots, out[lo:][:len(part)])
		}
	}
}

// SegmentDots sets sums_s to Σ a_i·u_i for i from ptr_s - ptr_0 to ptr_(s+1) - ptr_0, exact and rounded once. It
// panics if a slice is too short.
func SegmentDots[I Index](ptr []I, a, u, sums []fixed.Q43) {
	const most = 1 << 10 // products of a segment
	ptr = ptr[:len(sums)+1]
	first, last, longest := ptr[0], ptr[0], I(0)
	for _, p := range ptr[1:] {
		longest = max(longest, p-last)
		if p < last {
			panic("fixedpoint: segments run back")
		}
		last = p
	}
	n := int(last) - int(first)
	a, u = slices.Clip(a)[:n], slices.Clip(u)[:n]
	if !hasProducts() || int(longest) > most || n == 0 || n > cpu.Chunk || len(sums) > cpu.Chunk {
		for s := range sums {
			lo, hi := int(ptr[s]-first), int(ptr[s+1]-first)
			sums[s] = Dot(a[lo:hi], u[lo:hi])
		}
		return
	}
	switch ptr := any(ptr).(type) {
	case []int:
		vectorSegmentDotsI64(len(sums), &ptr[0], (*int64)(&a[0]), (*int64)(&u[0]), (*int64)(&sums[0]))
	case []int32:
		vectorSegmentDotsI32(len(sums), &ptr[0], (*int64)(&a[0]), (*int64)(&u[0]), (*int64)(&sums[0]))
	}
}

// Axpy computes y_i += alpha·x_i, or y_i -= alpha·x_i if sign is negative. Each product is
// rounded. It panics if the lengths differ.
func Axpy(sign int, alpha fixed.Q43, x, y []fixed.Q43) {
	if len(x) != len(y) {
		panic(badLength)
	}
	switch {
	case alpha == fixed.One && sign >= 0 && len(x) < 32:
		y = y[:len(x)]
		for i, v := range x {
			y[i] += v
		}
		return
	case !hasProducts() || len(x) < vectorLeast:
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
func AddProducts(sign int, x, y, z []fixed.Q43) { AddProductsTo(sign, x, y, z, z) }

// AddProductsTo sets z_i to from_i + x_i·y_i, or to from_i - x_i·y_i, as AddProducts does.
func AddProductsTo(sign int, x, y, from, z []fixed.Q43) {
	if len(x) != len(z) || len(y) != len(z) || len(from) != len(z) {
		panic(badLength)
	}
	if !hasProducts() || len(z) < vectorLeast {
		for i, v := range x {
			z[i] = from[i] + number.Signed(sign, v.Mul(y[i]))
		}
		return
	}
	for i := 0; i < len(z); i += cpu.Chunk {
		vectorAddProducts(cpu.ChunkAt(i, len(z)), (*int64)(&x[i]), (*int64)(&y[i]), (*int64)(&from[i]), (*int64)(&z[i]), sign>>(bitsOfInt-1))
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
	if tier != cpu.AVX512 || columns < vectorLeast || !areFactors(t, s) {
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

// shearLimit is above all factors of shears that the assembly takes.
const shearLimit = 1 << 52

// areFactors reports whether the assembly takes shears by t and s.
func areFactors(t, s []fixed.Q43) bool {
	var most fixed.Q43
	for i, v := range t {
		most = max(most, v, ^v, s[i], ^s[i]) // ^v is -v-1, also for the least v
	}
	return most < shearLimit-1
}

// UnshearChainCross is UnshearChain of two matrices x and gx. Before it undoes rotation i, of rows
// a and b, it sets cross_i to Σ x_a·gx_b - Σ x_b·gx_a. Each sum is exact and rounded once.
func UnshearChainCross(t, s []fixed.Q43, negate []bool, x []fixed.Q43, ldx int, gx []fixed.Q43, ldg, first, columns int, cross []fixed.Q43) {
	steps := len(t)
	if len(s) != steps || len(negate) != steps || len(cross) != steps {
		panic(badLength)
	}
	if steps == 0 || columns == 0 {
		clear(cross)
		return
	}
	last := first - steps + 1
	_, _, _, _ = x[last*ldx:], x[(first+1)*ldx+columns-1], gx[last*ldg:], gx[(first+1)*ldg+columns-1]
	if tier != cpu.AVX512 || columns < vectorLeast || !areFactors(t, s) {
		for i := steps - 1; i >= 0; i-- {
			a, b := x[(first-i)*ldx:][:columns], x[(first-i+1)*ldx:][:columns]
			ga, gb := gx[(first-i)*ldg:][:columns], gx[(first-i+1)*ldg:][:columns]
			cross[i] = Dot(a, gb) - Dot(b, ga)
			Unshear(t[i], s[i], negate[i], a, b)
			Unshear(t[i], s[i], negate[i], ga, gb)
		}
		return
	}
	var table [64]crossStep
	for i := steps - 1; i >= 0; { // the last rotation is undone first
		n := min(i+1, len(table))
		for q := range table[:n] {
			u, v := t[i-q], s[i-q]
			table[q] = crossStep{tan: uint64(max(u, -u)), sine: uint64(max(v, -v)), negative: uint64((u | v) >> 63), half: -uint64(oneIf(negate[i-q]))}
		}
		const mostColumns = 256 // of a call
		for j := 0; j < columns; j += mostColumns {
			row := first - i
			vectorUnshearCross(min(mostColumns, columns-j), n, (*uint64)(unsafe.Pointer(&table[0])), (*int64)(&x[row*ldx+j]), ldx, (*int64)(&gx[row*ldg+j]), ldg)
			for q := range table[:n] { // low words grow by 2⁴³ a column
				for c := range table[q].sums {
					sum := &table[q].sums[c]
					sum[1] += sum[0] >> fixed.FracBits
					sum[0] &= 1<<fixed.FracBits - 1
				}
			}
		}
		for q := range table[:n] {
			c := &table[q].sums
			cross[i-q] = roundWords(c[0][1], c[0][0]) - roundWords(c[1][1], c[1][0])
		}
		i -= n
	}
}

// A crossStep is a rotation of UnshearChainCross, as the assembly takes it.
type crossStep struct {
	tan, sine, negative, half uint64
	sums                      [2][2]uint64 // lo and hi of each
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
	if !hasProducts() || len(a) < vectorLeast || min(t, s) < 0 || max(t, s) >= shearLimit {
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
