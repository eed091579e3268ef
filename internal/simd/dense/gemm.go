package dense

import (
	"sync"
	"unsafe"

	"revnum/internal/simd/cpu"
)

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Gemm copies a B stored by columns if C has at least GemmRows rows and GemmCols columns.
const (
	GemmRows = 16
	GemmCols = 24
)

// Gemm computes C += alpha·A·B. C is m×n, stored by rows with stride ldc. A is m×k
// with A[i,l] = a[i*rsa+l*csa], and B is k×n with B[l,j] = b[l*rsb+j*csb]. Strides
// must not be negative. Gemm does nothing if m, n or k is 0, and panics if a slice
// is too short.
//
// Any strides are allowed. If the matrices are not large, Gemm reads in place:
//   - A;
//   - B by rows (csb = 1), unless A has many rows and those of B are a multiple of 512 bytes apart;
//   - B by columns (rsb = 1), if A is by rows (csa = 1) and one of them is small or C has
//     fewer than GemmRows rows.
//
// Matrices are large from fewer numbers on if A is not by rows. How many depends on the tier.
// Otherwise Gemm copies blocks of A and B to pooled scratch memory.
//
// An element of C depends on its row of A and column of B, on k, on alpha, and on which of
// these cases applies. For B by columns it also depends on n and on whether there are
// GemmRows rows. It does not otherwise depend on m, on n, or on its neighbours. A single
// column may be processed as a row.
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
	copyA, copyB := copies[T](m, n, k, csa, rsb)
	switch rows := csb == 1 || n == 1; {
	case csa == 1 && rsb == 1 && (n == 1 || !rows && (m < GemmRows || n < GemmCols || k < packDepth)):
		gemmDot(m, n, k, alpha, a, rsa, b, csb, c, ldc)
	case n == 1 && rsa == 1 && (ldc == 1 || m == 1):
		// A single column is processed as a row: Cᵀ += alpha·Bᵀ·Aᵀ.
		gemmOuter(1, m, k, alpha, b, csb, rsb, a, csa, 1, c, m)
	case !rows || copyB:
		gemmPacked(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc, copyA)
	default:
		gemmOuter(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc)
	}
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
	const square = 64 // a block of that many rows and columns fits the first-level cache
	for j := 0; j < n; j += square {
		w := min(square, n-j)
		transposeColumns(dst[j*ldd:], ldd, x[j:], ldx, m, w)
	}
}

// transposeColumns is Transpose for few columns. It uses tiles of four rows, and handles the
// remaining rows and columns one by one.
func transposeColumns[T cpu.Float](dst []T, ldd int, x []T, ldx, m, n int) {
	if tier == cpu.Generic {
		genericTranspose(dst, ldd, x, ldx, m, n)
		return
	}
	fours, whole := m&^3, n&^3
	if whole > 0 {
		for i := 0; i < fours; i += 4 {
			vectorTranspose(&dst[i], ldd, &x[i*ldx], ldx, whole)
		}
	}
	if whole < n {
		genericTranspose(dst[whole*ldd:], ldd, x[whole:], ldx, fours, n-whole)
	}
	if fours < m {
		genericTranspose(dst[fours:], ldd, x[fours*ldx:], ldx, m-fours, n)
	}
}

// TriNorms computes q[p] = Σ_i (Σ_{j<=i} L[i,j]·(C[j,p] - mu[j]))² for p < n. These
// are the squared norms of the columns of L·(C - mu·1ᵀ), which it does not form. L
// is d×d lower triangular with L[i,j] = l[i*ldl+j]; elements above the diagonal are
// not read. C is d×n with C[j,p] = c[j*ldc+p]. TriNorms panics if a slice is too
// short.
//
// TriNorms takes d(d+3)n flops and the subtractions. The subtraction is repeated per tile
// of rows: the load ports are the bottleneck, so it costs nothing. It needs no scratch
// memory. q[p]
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
	panel := 3 * cpu.Lanes[T](tier)
	var rows int
	for i := 0; i < d; i += rows {
		// Take as many rows as fit a call, in whole tiles, and then as many panels as fit.
		rows = min(d-i, max(8, triWork/panel/d&^7))
		cols := max(1, triWork/(panel*rows*(i+rows+16))) * panel // 16: few rows wait for memory
		for p := 0; p < n; p += cols {
			vectorTriNorms(i, rows, min(cols, n-p), &q[p], &l[i*ldl], ldl, &c[p], ldc, &mu[0])
		}
	}
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
	order := 6 // of the diagonal blocks
	if tier == cpu.AVX512 {
		order = 12
	}
	depth := evenBlocks(n, momentsDepth)
	for p := 0; p < n; p += depth {
		k := min(depth, n-p)
		for j := 0; j < d; j += order {
			var sj *T
			if s != nil {
				sj = &s[j]
			}
			cj := &c[j*ldc+p]
			vectorMomentsDiagonal(min(order, d-j), k, &w[p], cj, ldc, sj, &m[j*ldm+j], ldm)
			for i := j + order; i < d; i += gemmRows {
				vectorMomentsBelow(min(gemmRows, d-i), k, &w[p], &c[i*ldc+p], cj, ldc, &m[i*ldm+j], ldm)
			}
		}
	}
}

// The sizes of the blocks of the products. Blocks of B stay in the second-level cache.
// Rows of A stay in the first-level cache while panels of B go by. The blocks also keep
// a call of assembly, which cannot be pre-empted, well under 100 µs.
const (
	gemmRows     = 128     // rows of a block of A
	gemmCols     = 528     // columns of a block of B, whole panels on all tiers
	gemmDepth    = 256     // length of a block of the contraction in Gemm's row-vector tiles,
	dotDepth     = 512     // in its dot-product tiles,
	momentsDepth = 256     // and in weighted moments
	triWork      = 1 << 19 // multiplications of a call of triNorms
)

// packWork is the number of multiply-adds from which on rows of A and B are copied. The
// numbers that a tile reads are then adjacent. The bits of the product do not change.
const packWork = 340 * 340 * 340

// cachedA is the largest size of a block of A that is read in place while B is
// copied panel by panel. Such a block stays in the second-level cache beside the
// copies.
const cachedA = 256 * gemmDepth

// packDepth is the depth k from which on a B by columns is copied for the row-vector tiles,
// even if A is by rows. C must have GemmRows rows and GemmCols columns. These tiles take
// half the time of dot products, each of which ends in a sum over a vector.
const packDepth = 16

// copies reports whether copies of A and of B by rows pay. A tile reads few adjacent numbers of each column of
// A. Rows of B that are a multiple of 512 bytes apart share few sets of the first-level cache. Neither
// was measured with AVX-512, whose panels of B do not fit that cache.
func copies[T cpu.Float](m, n, k, csa, rsb int) (a, b bool) {
	work, rows := packWork, 160
	if csa != 1 && tier != cpu.AVX512 {
		work, rows = 150*150*150, 128
	}
	if min(m, n, k) >= 32 && m*n*k >= work {
		return true, true
	}
	return false, tier != cpu.AVX512 && m >= rows && k >= 48 && rsb > 0 && rsb*int(unsafe.Sizeof(T(0)))%512 == 0
}

// packed holds copies of a block of A and of a block of B. B is cut into panels of as many columns as a tile
// has. A is stored by rows, and with AVX-512 cut into panels of as many rows as a tile has.
type packed struct {
	a [gemmRows * gemmDepth]float64
	b [gemmCols * gemmDepth]float64
}

var packedPool = sync.Pool{New: func() any { return new(packed) }}

// tileRows is the number of rows of the tallest row-vector tile.
func tileRows() int {
	if tier == cpu.AVX512 {
		return 8
	}
	return 4
}

// panelCols returns the number of columns in the next panel, if n are left. A panel has
// three vectors. For four vectors, the panels are two and two.
func panelCols(n, lanes int) int {
	if n > 3*lanes && n <= 4*lanes {
		return 2 * lanes
	}
	return min(n, 3*lanes)
}

// evenBlocks returns the size of blocks that cut n into parts of at most size. There are as
// few parts as possible, and they are as equal as possible.
func evenBlocks(n, size int) int {
	blocks := (n + size - 1) / size
	return (n + blocks - 1) / blocks
}

// gemmOuter computes C += alpha·A·B with row-vector tiles. They read A with any strides, and
// rows of B in place.
func gemmOuter[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	vl := cpu.Lanes[T](tier)
	depth := evenBlocks(k, gemmDepth)
	for l := 0; l < k; l += depth {
		kb := min(depth, k-l)
		for i := 0; i < m; i += gemmRows {
			var nb int
			for j := 0; j < n; j += nb {
				nb = panelCols(n-j, vl)
				vectorGemmNN(min(gemmRows, m-i), nb, kb, alpha, &a[i*rsa+l*csa], rsa, csa, &b[l*rsb+j*csb], rsb, &c[i*ldc+j], ldc)
			}
		}
	}
}

// gemmPacked is like gemmOuter, with a copy of B, and of A if copyA is set. The tiles of a panel of B follow each
// other, so that the panel stays in the first-level cache. With AVX-512 it does not fit, and the tiles of a
// panel of A follow each other.
func gemmPacked[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int, copyA bool) {
	p := packedPool.Get().(*packed)
	pa := unsafe.Slice((*T)(unsafe.Pointer(&p.a)), len(p.a))
	pb := unsafe.Slice((*T)(unsafe.Pointer(&p.b)), len(p.b))
	rows, cols := tileRows(), 3*cpu.Lanes[T](tier)
	panelsOfA := copyA && tier == cpu.AVX512
	depth := evenBlocks(k, gemmDepth)
	block := gemmCols
	if !copyA && m*depth <= cachedA {
		block = cols
	}
	for j0 := 0; j0 < n; j0 += block {
		nj := min(block, n-j0)
		for l := 0; l < k; l += depth {
			kb := min(depth, k-l)
			pack(pb, b[l*rsb+j0*csb:], nj, cols, kb, csb, rsb)
			for i0 := 0; i0 < m; i0 += gemmRows {
				mi := min(gemmRows, m-i0)
				x, rs, cs := a[i0*rsa+l*csa:], rsa, csa
				switch {
				case panelsOfA:
					pack(pa, x, mi, rows, kb, rsa, csa)
					for i := 0; i < mi; i += rows {
						mb := min(rows, mi-i)
						for j := 0; j < nj; j += cols {
							nb := min(cols, nj-j)
							vectorGemmNN(mb, nb, kb, alpha, &pa[i*kb], 1, mb, &pb[j*kb], nb, &c[(i0+i)*ldc+j0+j], ldc)
						}
					}
					continue
				case copyA:
					pack(pa, x, mi, 1, kb, rsa, csa)
					x, rs, cs = pa, kb, 1
				}
				for j := 0; j < nj; j += cols {
					nb := min(cols, nj-j)
					vectorGemmNN(mi, nb, kb, alpha, &x[0], rs, cs, &pb[j*kb], nb, &c[i0*ldc+j0+j], ldc)
				}
			}
		}
	}
	packedPool.Put(p)
}

// A widePanel has the bytes of a row of a panel of B in AVX2's and NEON's loops.
type widePanel [96]byte

// pack copies n vectors of length k to dst by panels of the given width. Element l of vector
// i is x[i*inc+l*step]. In a panel of w vectors that begins at vector i, element l of vector
// i+j goes to dst[i*k+l*w+j].
func pack[T cpu.Float](dst, x []T, n, width, k, inc, step int) {
	switch {
	case width == 1 && step == 1:
		for i := range n {
			copy(dst[i*k:][:k], x[i*inc:])
		}
		return
	case width == 1 && inc == 1:
		Transpose(dst, k, x, step, k, n)
		return
	}
	if inc == 1 { // read across all panels
		for l := range k {
			row := x[l*step:][:n]
			for i := 0; i < n; i += width {
				w := min(width, n-i)
				to, from := dst[i*k+l*w:][:w], row[i:][:w]
				if unsafe.Sizeof(T(0))*uintptr(w) == unsafe.Sizeof(widePanel{}) { // saves the call
					*(*widePanel)(unsafe.Pointer(&to[0])) = *(*widePanel)(unsafe.Pointer(&from[0]))
					continue
				}
				copy(to, from)
			}
		}
		return
	}
	for i := 0; i < n; i += width {
		w := min(width, n-i)
		panel := dst[i*k:][:k*w]
		if step == 1 {
			Transpose(panel, w, x[i*inc:], inc, w, k)
			continue
		}
		for j := range w {
			v := x[(i+j)*inc:]
			for l := range k {
				panel[l*w+j] = v[l*step]
			}
		}
	}
}

// gemmDot computes C += alpha·A·Bᵀ, A and B by rows, with dot-product tiles.
func gemmDot[T cpu.Float](m, n, k int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	depth := evenBlocks(k, dotDepth)
	for l := 0; l < k; l += depth {
		kb := min(depth, k-l)
		for i := 0; i < m; i += gemmRows {
			mb := min(gemmRows, m-i)
			var nb int
			for j := 0; j < n; j += nb {
				nb = dotCols(n - j)
				vectorGemmNT(mb, nb, kb, alpha, &a[i*lda+l], lda, &b[j*ldb+l], ldb, &c[i*ldc+j], ldc)
			}
		}
	}
}

// GemmNarrow is Gemm, but takes less time if A and B are by rows and C has GemmRows rows and so few columns
// that they fill a part of a vector. An element of C then also depends on n.
func GemmNarrow[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	lanes := cpu.Lanes[T](tier)
	// Each dot product ends in a sum over a vector, so it must be long.
	if tier == cpu.Generic || csa != 1 || csb != 1 || m < GemmRows || n < 2 || 2*n > lanes || k < 4*lanes {
		Gemm(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc)
		return
	}
	if rsa < 0 || rsb < 0 || ldc < 0 {
		panic("dense: negative stride")
	}
	_ = a[(m-1)*rsa+k-1]
	_ = b[(k-1)*rsb+n-1]
	_ = c[(m-1)*ldc+n-1]
	gemmNarrow(m, n, k, alpha, a, rsa, b, rsb, c, ldc)
}

// gemmNarrow computes C += alpha·A·B, A and B by rows, with dot-product tiles and copies of blocks of B by columns.
func gemmNarrow[T cpu.Float](m, n, k int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	p := packedPool.Get().(*packed)
	columns := unsafe.Slice((*T)(unsafe.Pointer(&p.b)), len(p.b))
	depth := evenBlocks(k, dotDepth)
	for l := 0; l < k; l += depth {
		kb := min(depth, k-l)
		Transpose(columns, kb, b[l*ldb:], ldb, kb, n)
		gemmDot(m, n, kb, alpha, a[l:], lda, columns, kb, c, ldc)
	}
	packedPool.Put(p)
}

// dotCols returns the number of columns of the next dot-product tiles, if n are left.
func dotCols(n int) int {
	switch {
	case tier == cpu.AVX512 && n >= 6:
		return 6
	case tier == cpu.AVX512:
		return min(n, 3)
	case n >= 4:
		return 4
	}
	return min(n, 2)
}
