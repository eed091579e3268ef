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
// returns for some number.
func SparseDots[T Float, I Index](ga []T, gamma T, v []T, ind []I, u []T, ldu int) {
	if len(ga) != len(ind) {
		panic(badLength)
	}
	for q := 0; q < len(ind) && len(v) > 0; q += SparseEntries {
		r := min(q+SparseEntries, len(ind))
		sparseDots(ga[q:r], gamma, v, ind[q:r], u, ldu)
	}
}

// SparseRowDots computes what SparseRow and SparseDots do.
func SparseRowDots[T Float, I Index](dst []T, alpha T, a, ga []T, gamma T, v []T, ind []I, u []T, ldu int) {
	if len(a) != len(ind) || len(ga) != len(ind) || len(v) != len(dst) {
		panic(badLength)
	}
	for q := 0; q < len(ind) && len(dst) > 0; q += SparseEntries {
		r := min(q+SparseEntries, len(ind))
		sparseRowDots(dst, alpha, a[q:r], ga[q:r], gamma, v, ind[q:r], u, ldu)
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
