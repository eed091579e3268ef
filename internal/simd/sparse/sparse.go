package sparse

import (
	"slices"

	"revnum/internal/simd/cpu"
)

//go:generate go -C ../_gen run ./sparse -out ../sparse/zsparse_amd64.s -stubs ../sparse/zsparse_amd64.go -pkg sparse

// tier is the vector code in use.
var tier = cpu.InUse()

const badLength = "sparse: slice lengths do not match"

// Index is the constraint of indices.
type Index interface {
	int | int32
}

// The loops of this file are over the entries q of some rows of a sparse matrix. ind
// holds their column indices, a their values and ga the cotangents of the values. The
// entries of row i end before end[i]-base, and begin where those of the row before end.
// The loops trust ind and end. There are at most MaxEntries entries.

// MaxEntries is the largest number of entries for one call of assembly. The call
// takes some 30 µs if the rows of a dense matrix come from the second-level cache.
const MaxEntries = 1 << 12

// The next loops are over rows of dense matrices. u_q is the row that entry q
// multiplies: its element c is u[ind[q]*ldu+c], c < n. Row i of any other dense matrix
// begins at i times its stride. n must be a result of Cols. A row without entries does
// not change.

// Cols returns how many of n columns the loops over rows of dense matrices process
// at a time. It is small enough that the rows that they add up stay in registers.
func Cols[T cpu.Float](n int) int { return sparseCols[T](n) }

// sparseMost is the largest result of Cols.
const sparseMost = 128

// Rows computes dst_i += alpha·Σ_q a_q·u_q.
//
// The sum goes in the order of q. Products with a are fused on the vector tiers.
func Rows[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T) {
	if checkEntries(n, end, base, len(ind), len(a)) && checkDense(n, len(end), len(dst), ldd) {
		sparseRows(n, end, base, ind, u, ldu, a, dst, ldd, alpha)
	}
}

// Dots computes ga_q += gamma·(v_i·u_q).
func Dots[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, ga, v []T, ldv int, gamma T) {
	if checkEntries(n, end, base, len(ind), len(ga)) && checkDense(n, len(end), len(v), ldv) {
		sparseDots(n, end, base, ind, u, ldu, ga, v, ldv, gamma)
	}
}

// RowsDots does what Rows and Dots do.
func RowsDots[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, ga, v []T, ldv int, gamma T) {
	if checkEntries(n, end, base, len(ind), min(len(a), len(ga))) && checkDense(n, len(end), len(dst), ldd) && checkDense(n, len(end), len(v), ldv) {
		sparseRowsDots(n, end, base, ind, u, ldu, a, dst, ldd, alpha, ga, v, ldv, gamma)
	}
}

// SpreadCols returns how many of n columns Spread, RowsSpread and RowsDotsSpread
// process at a time.
func SpreadCols[T cpu.Float](n int) int { return sparseCols[T](min(n, spreadMost[T]())) }

// Spread computes w_q += a_q·(beta·v_i) for rows w_q, whose element c is
// w[ind[q]*ldw+c]. n must be a result of SpreadCols.
func Spread[T cpu.Float, I Index](n int, end []I, base int, ind []I, a, v []T, ldv int, beta T, w []T, ldw int) {
	if checkEntries(n, end, base, len(ind), len(a)) && checkDense(n, len(end), len(v), ldv) {
		sparseSpread(n, end, base, ind, a, v, ldv, beta, w, ldw)
	}
}

// RowsSpread does what Rows and Spread do.
func RowsSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, v []T, ldv int, beta T, w []T, ldw int) {
	if checkEntries(n, end, base, len(ind), len(a)) && checkDense(n, len(end), len(dst), ldd) && checkDense(n, len(end), len(v), ldv) {
		sparseRowsSpread(n, end, base, ind, u, ldu, a, dst, ldd, alpha, v, ldv, beta, w, ldw)
	}
}

// RowsDotsSpread does what RowsDots and Spread do.
func RowsDotsSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T, ga []T, gamma T, v []T, ldv int, beta T, w []T, ldw int) {
	if checkEntries(n, end, base, len(ind), min(len(a), len(ga))) && checkDense(n, len(end), len(dst), ldd) && checkDense(n, len(end), len(v), ldv) {
		sparseRowsDotsSpread(n, end, base, ind, u, ldu, a, dst, ldd, alpha, ga, gamma, v, ldv, beta, w, ldw)
	}
}

// PrefetchRow prefetches x into the cache, for a caller that soon reads it.
func PrefetchRow[T cpu.Float](x []T) {
	if len(x) > 0 {
		prefetchRow(x)
	}
}

// checkEntries panics unless the entries are those of the rows and there are values
// for them. It reports whether there is work.
func checkEntries[I Index](n int, end []I, base, entries, values int) bool {
	return checkColumn(end, base, values, entries, len(end)) && n > 0
}

// checkDense panics unless a dense matrix with the given length and stride holds n
// columns of the given number of rows, at least one.
func checkDense(n, rows, length, stride int) bool {
	if stride < 0 || length < (rows-1)*stride+n {
		panic(badLength)
	}
	return true
}

// addScaled computes y_i += alpha·x_i.
func addScaled[T cpu.Float](y []T, alpha T, x []T) {
	for i, v := range x {
		y[i] += T(alpha * v)
	}
}

func genericSparseRows[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, a, dst []T, ldd int, alpha T) {
	var buf [sparseMost]T
	sum := buf[:n]
	q := 0
	for i, e := range end {
		if q == int(e)-base {
			continue
		}
		clear(sum)
		for ; q < int(e)-base; q++ {
			at := int(ind[q]) * ldu
			addScaled(sum, a[q], u[at:at+n])
		}
		d := dst[i*ldd : i*ldd+n]
		addScaled(d, alpha, sum)
	}
}

func genericSparseDots[T cpu.Float, I Index](n int, end []I, base int, ind []I, u []T, ldu int, ga, v []T, ldv int, gamma T) {
	q := 0
	for i, e := range end {
		for ; q < int(e)-base; q++ {
			at := int(ind[q]) * ldu
			var dot T
			for c, x := range v[i*ldv : i*ldv+n] {
				dot += T(x * u[at+c])
			}
			ga[q] += T(gamma * dot)
		}
	}
}

func genericSparseSpread[T cpu.Float, I Index](n int, end []I, base int, ind []I, a, v []T, ldv int, beta T, w []T, ldw int) {
	var buf [sparseMost]T
	scaled := buf[:n]
	q := 0
	for i, e := range end {
		for c, x := range v[i*ldv : i*ldv+n] {
			scaled[c] = T(beta * x)
		}
		for ; q < int(e)-base; q++ {
			at := int(ind[q]) * ldw
			addScaled(w[at:at+n], a[q], scaled)
		}
	}
}

// The next loops are over single columns. On the vector tiers the sum of a row is made
// of four partial sums. It is the same for all loops of a tier.

// Gather computes out_i += alpha·Σ_q a_q·u[ind_q].
func Gather[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u []T) {
	if checkColumn(end, base, len(a), len(ind), len(out)) {
		sparseGather(end, base, a, ind, out, alpha, u)
	}
}

// Scatter computes w[ind_q] += a_q·(beta·v_i).
func Scatter[T cpu.Float, I Index](end []I, base int, a []T, ind []I, v []T, beta T, w []T) {
	if checkColumn(end, base, len(a), len(ind), len(v)) {
		sparseScatter(end, base, a, ind, v, beta, w)
	}
}

// GatherScatter does what Gather and Scatter do.
func GatherScatter[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T) {
	if checkColumn(end, base, len(a), len(ind), min(len(out), len(v))) {
		sparseGatherScatter(end, base, a, ind, out, alpha, u, v, beta, w)
	}
}

// GatherGrad does what Gather does, and computes ga_q += (gamma·v_i)·u[ind_q].
func GatherGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v, ga []T, gamma T) {
	if checkColumn(end, base, min(len(a), len(ga)), len(ind), min(len(out), len(v))) {
		sparseGatherGrad(end, base, a, ind, out, alpha, u, v, ga, gamma)
	}
}

// GatherScatterGrad does what GatherScatter and GatherGrad do.
func GatherScatterGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T, ga []T, gamma T) {
	if checkColumn(end, base, min(len(a), len(ga)), len(ind), min(len(out), len(v))) {
		sparseGatherScatterGrad(end, base, a, ind, out, alpha, u, v, beta, w, ga, gamma)
	}
}

// Pairs does what GatherScatter does, with u_j = uw[2j] and w_j = uw[2j+1]. The two
// come from memory together. Pairs checks the indices. It stops at an index out of
// the range of uw, and reports whether there was none.
func Pairs[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, uw, v []T, beta T) bool {
	return !checkColumn(end, base, len(a), len(ind), min(len(out), len(v))) || len(uw) > 1 && sparsePairs(end, base, a, ind, out, alpha, uw, v, beta)
}

// PairsGrad does what GatherScatterGrad does, with u and w from uw as in Pairs.
func PairsGrad[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, uw, v []T, beta T, ga []T, gamma T) bool {
	return !checkColumn(end, base, min(len(a), len(ga)), len(ind), min(len(out), len(v))) || len(uw) > 1 && sparsePairsGrad(end, base, a, ind, out, alpha, uw, v, beta, ga, gamma)
}

// checkColumn panics unless the entries are those of the rows and there are values
// for both. It reports whether there are any.
func checkColumn[I Index](end []I, base, values, entries, rows int) bool {
	if len(end) == 0 && entries == 0 {
		return false
	}
	if rows < len(end) || values < entries || len(end) == 0 || int(end[len(end)-1])-base != entries {
		panic(badLength)
	}
	return entries > 0
}

// IndexRange returns the least and the largest index. It returns 0 and -1 if there
// is none.
func IndexRange[I Index](ind []I) (lo, hi I) {
	if len(ind) == 0 {
		return 0, -1
	}
	lo, hi = ind[0], ind[0]
	for part := range slices.Chunk(ind, MaxEntries) {
		least, most := indexRange(part)
		lo, hi = min(lo, least), max(hi, most)
	}
	return lo, hi
}

func genericIndexRange[I Index](ind []I) (lo, hi I) {
	lo, hi = ind[0], ind[0]
	for _, i := range ind {
		lo, hi = min(lo, i), max(hi, i)
	}
	return lo, hi
}

func genericSparseGather[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u []T) {
	q := 0
	for i, e := range end {
		var sum T
		for ; q < int(e)-base; q++ {
			sum += T(a[q] * u[ind[q]])
		}
		out[i] += T(alpha * sum)
	}
}

func genericSparseScatter[T cpu.Float, I Index](end []I, base int, a []T, ind []I, v []T, beta T, w []T) {
	q := 0
	for i, e := range end {
		f := T(beta * v[i])
		for ; q < int(e)-base; q++ {
			w[ind[q]] += T(a[q] * f)
		}
	}
}

func genericSparsePairs[T cpu.Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, uw, v []T, beta T, ga []T, gamma T) bool {
	q := 0
	for i, e := range end {
		f, g := T(beta*v[i]), T(gamma*v[i])
		var sum T
		for ; q < int(e)-base; q++ {
			if uint(ind[q]) >= uint(len(uw)/2) {
				return false
			}
			j := 2 * int(ind[q])
			sum += T(a[q] * uw[j])
			uw[j+1] += T(a[q] * f)
			if ga != nil {
				ga[q] += T(g * uw[j])
			}
		}
		out[i] += T(alpha * sum)
	}
	return true
}

func genericSparseGrad[T cpu.Float, I Index](end []I, base int, ind []I, u, v, ga []T, gamma T) {
	q := 0
	for i, e := range end {
		g := T(gamma * v[i])
		for ; q < int(e)-base; q++ {
			ga[q] += T(g * u[ind[q]])
		}
	}
}
