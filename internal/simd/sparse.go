package simd

//go:generate go -C _gen run ./sparse -out ../sparse_amd64.s -stubs ../sparse_amd64.go -pkg simd

// Loops over the entries q of a row of a sparse matrix, and the rows u_q of a dense
// matrix that they meet: element c of u_q is u[ind[q]*ldu+c]. Indices and ldu are
// trusted: u_q must lie in u.

// Index is the constraint of indices.
type Index interface {
	int | int32
}

// SparseCols returns how many of n columns the loops over rows of sparse matrices
// take at a time at most, so that the rows of the dense matrices that they add up
// stay in registers.
func SparseCols[T Float](n int) int { return sparseCols[T](n) }

// SparseRow computes dst += alpha·Σ_q a_q·u_q. The length of dst is what
// SparseCols returns for some number.
//
// Σ_q goes in the order of q, and is added to dst once for each SparseEntries of them.
// Products with a are fused on the vector tiers.
func SparseRow[T Float, I Index](dst []T, alpha T, a []T, ind []I, u []T, ldu int) {
	if len(a) != len(ind) {
		panic(badLength)
	}
	for q := 0; q < len(ind) && len(dst) > 0; q += SparseEntries {
		r := min(q+SparseEntries, len(ind))
		sparseRow(dst, alpha, a[q:r], ind[q:r], u, ldu)
	}
}

// SparseDots computes ga_q += gamma·(v·u_q). The length of v is what SparseCols
// returns for some number. The next call is expected to have a v that lies ldv
// elements further.
func SparseDots[T Float, I Index](ga []T, gamma T, v []T, ldv int, ind []I, u []T, ldu int) {
	if len(ga) != len(ind) {
		panic(badLength)
	}
	for q := 0; q < len(ind) && len(v) > 0; q += SparseEntries {
		r := min(q+SparseEntries, len(ind))
		sparseDots(ga[q:r], gamma, v, ldv, ind[q:r], u, ldu)
	}
}

// SparseRowDots computes what SparseRow and SparseDots do.
func SparseRowDots[T Float, I Index](dst []T, alpha T, a, ga []T, gamma T, v []T, ldv int, ind []I, u []T, ldu int) {
	if len(a) != len(ind) || len(ga) != len(ind) || len(v) != len(dst) {
		panic(badLength)
	}
	for q := 0; q < len(ind) && len(dst) > 0; q += SparseEntries {
		r := min(q+SparseEntries, len(ind))
		sparseRowDots(dst, alpha, a[q:r], ga[q:r], gamma, v, ldv, ind[q:r], u, ldu)
	}
}

// SparseEntries is how many entries a call of assembly takes at most: some 30 µs
// where rows come from the second-level cache. Longer rows are done in parts.
const SparseEntries = 1 << 12

// sparseMost is the most that SparseCols returns.
const sparseMost = 128

func genericSparseRow[T Float, I Index](dst []T, alpha T, a []T, ind []I, u []T, ldu int) {
	var buf [sparseMost]T
	sum := buf[:len(dst)]
	for q, i := range ind {
		at := int(i) * ldu
		genericAxpyTo(sum, a[q], u[at:at+len(sum)], sum)
	}
	genericAxpyTo(dst, alpha, sum, dst)
}

func genericSparseDots[T Float, I Index](ga []T, gamma T, v []T, ind []I, u []T, ldu int) {
	for q, i := range ind {
		at := int(i) * ldu
		ga[q] += T(gamma * genericDot(v, u[at:at+len(v)]))
	}
}

// The loops below are over the entries of some rows of a sparse matrix, which are
// those of a, ind and ga: those of row i end before end[i]-base, and begin where
// those of the row before end. Indices of entries, and end, are trusted. There are
// at most SparseEntries of them.
//
// The sum of a row is made of four on the vector tiers, and the same for all loops
// of a tier.

// SparseGather computes out_i += alpha·Σ_q a_q·u[ind_q].
func SparseGather[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u []T) {
	if checkColumn(end, base, len(a), len(ind), len(out)) {
		sparseGather(end, base, a, ind, out, alpha, u)
	}
}

// SparseScatter computes w[ind_q-lo] += a_q·(beta·v_i).
func SparseScatter[T Float, I Index](end []I, base int, a []T, ind []I, v []T, beta T, w []T, lo int) {
	if checkColumn(end, base, len(a), len(ind), len(v)) {
		sparseScatter(end, base, a, ind, v, beta, w, lo)
	}
}

// SparseGatherScatter computes what SparseGather and SparseScatter do.
func SparseGatherScatter[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T, lo int) {
	if checkColumn(end, base, len(a), len(ind), min(len(out), len(v))) {
		sparseGatherScatter(end, base, a, ind, out, alpha, u, v, beta, w, lo)
	}
}

// SparseGatherGrad computes what SparseGather does, and ga_q += (gamma·v_i)·u[ind_q].
func SparseGatherGrad[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v, ga []T, gamma T) {
	if checkColumn(end, base, min(len(a), len(ga)), len(ind), min(len(out), len(v))) {
		sparseGatherGrad(end, base, a, ind, out, alpha, u, v, ga, gamma)
	}
}

// SparseGatherScatterGrad does all of that.
func SparseGatherScatterGrad[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u, v []T, beta T, w []T, lo int, ga []T, gamma T) {
	if checkColumn(end, base, min(len(a), len(ga)), len(ind), min(len(out), len(v))) {
		sparseGatherScatterGrad(end, base, a, ind, out, alpha, u, v, beta, w, lo, ga, gamma)
	}
}

// checkColumn panics unless the entries are those of the rows and there are values
// for both, and reports whether there are any.
func checkColumn[I Index](end []I, base, values, entries, rows int) bool {
	if len(end) == 0 && entries == 0 {
		return false
	}
	if rows < len(end) || values < entries || len(end) == 0 || int(end[len(end)-1])-base != entries {
		panic(badLength)
	}
	return entries > 0
}

// IndexRange returns the least and the largest index, 0 and -1 of none.
func IndexRange[I Index](ind []I) (lo, hi I) {
	if len(ind) == 0 {
		return 0, -1
	}
	return indexRange(ind)
}

func genericIndexRange[I Index](ind []I) (lo, hi I) {
	lo, hi = ind[0], ind[0]
	for _, i := range ind {
		lo, hi = min(lo, i), max(hi, i)
	}
	return lo, hi
}

func genericSparseGather[T Float, I Index](end []I, base int, a []T, ind []I, out []T, alpha T, u []T) {
	q := 0
	for i, e := range end {
		var sum T
		for ; q < int(e)-base; q++ {
			sum += T(a[q] * u[ind[q]])
		}
		out[i] += T(alpha * sum)
	}
}

func genericSparseScatter[T Float, I Index](end []I, base int, a []T, ind []I, v []T, beta T, w []T, lo int) {
	q := 0
	for i, e := range end {
		f := T(beta * v[i])
		for ; q < int(e)-base; q++ {
			w[int(ind[q])-lo] += T(a[q] * f)
		}
	}
}

func genericSparseGrad[T Float, I Index](end []I, base int, ind []I, u, v, ga []T, gamma T) {
	q := 0
	for i, e := range end {
		g := T(gamma * v[i])
		for ; q < int(e)-base; q++ {
			ga[q] += T(g * u[ind[q]])
		}
	}
}
