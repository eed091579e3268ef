package dense

import "revnum/internal/simd/cpu"

//go:generate go -C ../_gen run ./gemm -out ../dense/zgemm_amd64.s -stubs ../dense/zgemm_amd64.go -pkg dense

// tier is the vector code in use.
var tier = cpu.InUse()

// If C has at least this many rows and columns, Gemm copies a B that is stored by
// columns.
const (
	GemmRows = 16
	GemmCols = 24
)

// Gemm computes C += alpha·A·B. C is m×n, stored by rows with stride ldc. A is m×k
// with A[i,l] = a[i*rsa+l*csa], and B is k×n with B[l,j] = b[l*rsb+j*csb]. Strides
// must not be negative. Gemm does nothing if m, n or k is 0, and panics if a slice
// is too short.
//
// Any strides are allowed. Three cases read in place if the matrices are not large:
// A; B by rows (csb = 1); and B by columns (rsb = 1) for A by rows (csa = 1), if one
// of them is small or C has less than GemmRows rows. In other cases Gemm copies
// blocks of A and B to pooled scratch memory.
//
// An element of C depends on its row of A and column of B, on k, on alpha, and on
// which of these cases applies. For B by columns it also depends on n and on whether
// there are GemmRows rows. Otherwise it does not depend on m, on n, or on its
// neighbours. A single column may be processed as a row.
func Gemm[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	if m <= 0 || n <= 0 || k <= 0 {
		return
	}
	if rsa < 0 || csa < 0 || rsb < 0 || csb < 0 || ldc < 0 {
		panic("dense: negative stride")
	}
	_ = a[(m-1)*rsa+(k-1)*csa]
	_ = b[(k-1)*rsb+(n-1)*csb]
	_ = c[(m-1)*ldc+n-1]
	if tier == cpu.Generic {
		genericGemm(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc)
		return
	}
	gemmVector(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc)
}

// Transpose computes dst[j*ldd+i] = x[i*ldx+j] for i < m and j < n. It panics if a
// slice is too short.
func Transpose[T cpu.Float](dst []T, ldd int, x []T, ldx, m, n int) {
	if m <= 0 || n <= 0 {
		return
	}
	if ldd < 0 || ldx < 0 {
		panic("dense: negative stride")
	}
	_ = dst[(n-1)*ldd+m-1]
	_ = x[(m-1)*ldx+n-1]
	const square = 64 // of which rows and columns fit the first-level cache
	for j := 0; j < n; j += square {
		w := min(square, n-j)
		if tier == cpu.Generic {
			genericTranspose(dst[j*ldd:], ldd, x[j:], ldx, m, w)
		} else {
			transposeVector(dst[j*ldd:], ldd, x[j:], ldx, m, w)
		}
	}
}

// TriNorms computes q[p] = Σ_i (Σ_{j<=i} L[i,j]·(C[j,p] - mu[j]))² for p < n. These
// are the squared norms of the columns of L·(C - mu·1ᵀ), which it does not form. L
// is d×d lower triangular with L[i,j] = l[i*ldl+j]; elements above the diagonal are
// not read. C is d×n with C[j,p] = c[j*ldc+p]. TriNorms panics if a slice is too
// short.
//
// It takes d(d+3)n flops and the subtractions, which it repeats for each tile of
// rows because there are free units for them. It needs no scratch memory. q[p]
// depends on column p alone, not on n.
func TriNorms[T cpu.Float](d, n int, q []T, l []T, ldl int, c []T, ldc int, mu []T) {
	if n <= 0 {
		return
	}
	q = q[:n]
	if d <= 0 {
		clear(q)
		return
	}
	if ldl < 0 || ldc < 0 {
		panic("dense: negative stride")
	}
	_ = l[(d-1)*ldl+d-1]
	_ = c[(d-1)*ldc+n-1]
	_ = mu[d-1]
	if tier == cpu.Generic {
		genericTriNorms(d, n, q, l, ldl, c, ldc, mu)
		return
	}
	triNormsVector(d, n, q, l, ldl, c, ldc, mu)
}

// WeightedMoments computes M[i,j] += Σ_p w[p]·C[i,p]·C[j,p] for j <= i < d and s[i]
// += Σ_p w[p]·C[i,p] for i < d, where p < n, M[i,j] = m[i*ldm+j] and C[i,p] =
// c[i*ldc+p]. It neither reads nor writes elements above the diagonal of M. If s is
// nil, it omits the first moments. It panics if a slice is too short.
//
// It takes d(d+1)n flops, and a tenth to a fifth of that for the weights. s costs
// almost nothing.
func WeightedMoments[T cpu.Float](d, n int, s []T, m []T, ldm int, w []T, c []T, ldc int) {
	if d <= 0 || n <= 0 {
		return
	}
	if ldm < 0 || ldc < 0 {
		panic("dense: negative stride")
	}
	if s != nil {
		_ = s[d-1]
	}
	_ = m[(d-1)*ldm+d-1]
	_ = w[n-1]
	_ = c[(d-1)*ldc+n-1]
	if tier == cpu.Generic {
		genericMoments(d, n, s, m, ldm, w, c, ldc)
		return
	}
	momentsVector(d, n, s, m, ldm, w, c, ldc)
}
