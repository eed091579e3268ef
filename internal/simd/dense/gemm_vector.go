//go:build amd64 && !noasm

package dense

import (
	"sync"
	"unsafe"

	"revnum/internal/simd/cpu"
)

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

// packWork is the number of multiply-adds from which on rows of A and B are copied,
// so that the numbers that a tile reads lie together. The bits of the product are
// the same.
const packWork = 340 * 340 * 340

// cachedA is the largest size of a block of A that is read in place while B is
// copied panel by panel. Such a block stays in the second-level cache beside the
// copies.
const cachedA = 256 * gemmDepth

// packDepth is the depth k from which on, given GemmRows and GemmCols, a B by
// columns is copied for the row-vector tiles even if A is by rows. These tiles take
// half the time of dot products, which end in sums.
const packDepth = 16

func packs(m, n, k int) bool { return min(m, n, k) >= 32 && m*n*k >= packWork }

// packed holds copies of a block of A, by panels of as many rows as a tile has, and
// of a block of B, by panels of as many columns as a tile has.
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

func gemmVector[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	switch rows := csb == 1 || n == 1; {
	case csa == 1 && rsb == 1 && (n == 1 || !rows && (m < GemmRows || n < GemmCols || k < packDepth)):
		gemmDot(m, n, k, alpha, a, rsa, b, csb, c, ldc)
	case n == 1 && rsa == 1 && (ldc == 1 || m == 1):
		// A single column is processed as a row: Cᵀ += alpha·Bᵀ·Aᵀ.
		gemmOuter(1, m, k, alpha, b, csb, rsb, a, csa, 1, c, m)
	case !rows || packs(m, n, k):
		gemmPacked(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc)
	default:
		gemmOuter(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc)
	}
}

// panelCols returns the number of columns, out of n, in the next panel. That is
// three vectors, but two and two rather than three and one.
func panelCols(n, lanes int) int {
	if n > 3*lanes && n <= 4*lanes {
		return 2 * lanes
	}
	return min(n, 3*lanes)
}

// evenBlocks returns the size of the blocks that cut n into as few and as equal
// parts of at most size as possible.
func evenBlocks(n, size int) int {
	blocks := (n + size - 1) / size
	return (n + blocks - 1) / blocks
}

// gemmOuter computes C += alpha·A·B with row-vector tiles, which read A with any
// strides and rows of B in place.
func gemmOuter[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	vl := cpu.Lanes[T](tier)
	depth := evenBlocks(k, gemmDepth)
	for l := 0; l < k; l += depth {
		kb := min(depth, k-l)
		for i := 0; i < m; i += gemmRows {
			var nb int
			for j := 0; j < n; j += nb {
				nb = panelCols(n-j, vl)
				tileNN(min(gemmRows, m-i), nb, kb, alpha, &a[i*rsa+l*csa], rsa, csa, &b[l*rsb+j*csb], rsb, &c[i*ldc+j], ldc)
			}
		}
	}
}

// gemmPacked is like gemmOuter, with a copy of B. It copies A too if A is large.
func gemmPacked[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	p := packedPool.Get().(*packed)
	pa := unsafe.Slice((*T)(unsafe.Pointer(&p.a)), len(p.a))
	pb := unsafe.Slice((*T)(unsafe.Pointer(&p.b)), len(p.b))
	rows, cols := tileRows(), 3*cpu.Lanes[T](tier)
	inPlace := !packs(m, n, k)
	depth := evenBlocks(k, gemmDepth)
	block := gemmCols
	if inPlace && m*depth <= cachedA {
		block = cols
	}
	for j0 := 0; j0 < n; j0 += block {
		nj := min(block, n-j0)
		for l := 0; l < k; l += depth {
			kb := min(depth, k-l)
			pack(pb, b[l*rsb+j0*csb:], nj, cols, kb, csb, rsb)
			for i0 := 0; i0 < m; i0 += gemmRows {
				mi := min(gemmRows, m-i0)
				if inPlace {
					for j := 0; j < nj; j += cols {
						nb := min(cols, nj-j)
						tileNN(mi, nb, kb, alpha, &a[i0*rsa+l*csa], rsa, csa, &pb[j*kb], nb, &c[i0*ldc+j0+j], ldc)
					}
					continue
				}
				pack(pa, a[i0*rsa+l*csa:], mi, rows, kb, rsa, csa)
				for i := 0; i < mi; i += rows {
					mb := min(rows, mi-i)
					for j := 0; j < nj; j += cols {
						nb := min(cols, nj-j)
						tileNN(mb, nb, kb, alpha, &pa[i*kb], 1, mb, &pb[j*kb], nb, &c[(i0+i)*ldc+j0+j], ldc)
					}
				}
			}
		}
	}
	packedPool.Put(p)
}

// pack copies n vectors of length k to dst by panels of the given width. Element l
// of vector i is x[i*inc+l*step]. In a panel of w vectors from vector i on, element
// l of vector i+j goes to dst[i*k+l*w+j].
func pack[T cpu.Float](dst, x []T, n, width, k, inc, step int) {
	if inc == 1 { // read along all panels
		for l := range k {
			row := x[l*step:][:n]
			for i := 0; i < n; i += width {
				w := min(width, n-i)
				copy(dst[i*k+l*w:][:w], row[i:])
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
				tileNT(mb, nb, kb, alpha, &a[i*lda+l], lda, &b[j*ldb+l], ldb, &c[i*ldc+j], ldc)
			}
		}
	}
}

// dotCols returns the number of columns, out of n, in the next dot-product tiles.
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

func transposeVector[T cpu.Float](dst []T, ldd int, x []T, ldx, m, n int) {
	fours, whole := m&^3, n&^3
	if whole > 0 {
		for i := 0; i < fours; i += 4 {
			transposeTile(&dst[i], ldd, &x[i*ldx], ldx, whole)
		}
	}
	if whole < n {
		genericTranspose(dst[whole*ldd:], ldd, x[whole:], ldx, fours, n-whole)
	}
	if fours < m {
		genericTranspose(dst[fours:], ldd, x[fours*ldx:], ldx, m-fours, n)
	}
}

func triNormsVector[T cpu.Float](d, n int, q []T, l []T, ldl int, c []T, ldc int, mu []T) {
	panel := 3 * cpu.Lanes[T](tier)
	var rows int
	for i := 0; i < d; i += rows {
		// As many rows as fit a call, in whole tiles, and then as many panels.
		rows = min(d-i, max(8, triWork/panel/d&^7))
		cols := max(1, triWork/(panel*rows*(i+rows+16))) * panel // 16: few rows wait for memory
		for p := 0; p < n; p += cols {
			tileTriNorms(i, rows, min(cols, n-p), &q[p], &l[i*ldl], ldl, &c[p], ldc, &mu[0])
		}
	}
}

func momentsVector[T cpu.Float](d, n int, s []T, m []T, ldm int, w []T, c []T, ldc int) {
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
			tileDiagonal(min(order, d-j), k, &w[p], cj, ldc, sj, &m[j*ldm+j], ldm)
			for i := j + order; i < d; i += gemmRows {
				tileBelow(min(gemmRows, d-i), k, &w[p], &c[i*ldc+p], cj, ldc, &m[i*ldm+j], ldm)
			}
		}
	}
}

// The calls of assembly.

func tileNN[T cpu.Float](m, n, k int, alpha T, a *T, rsa, csa int, b *T, rsb int, c *T, ldc int) {
	switch {
	case cpu.Is64[T]() && tier == cpu.AVX512:
		gemmNNAVX512F64(m, n, k, float64(alpha), cpu.F64(a), rsa, csa, cpu.F64(b), rsb, cpu.F64(c), ldc)
	case cpu.Is64[T]():
		gemmNNAVX2F64(m, n, k, float64(alpha), cpu.F64(a), rsa, csa, cpu.F64(b), rsb, cpu.F64(c), ldc)
	case tier == cpu.AVX512:
		gemmNNAVX512F32(m, n, k, float32(alpha), cpu.F32(a), rsa, csa, cpu.F32(b), rsb, cpu.F32(c), ldc)
	default:
		gemmNNAVX2F32(m, n, k, float32(alpha), cpu.F32(a), rsa, csa, cpu.F32(b), rsb, cpu.F32(c), ldc)
	}
}

func tileNT[T cpu.Float](m, n, k int, alpha T, a *T, lda int, b *T, ldb int, c *T, ldc int) {
	switch {
	case cpu.Is64[T]() && tier == cpu.AVX512:
		gemmNTAVX512F64(m, n, k, float64(alpha), cpu.F64(a), lda, cpu.F64(b), ldb, cpu.F64(c), ldc)
	case cpu.Is64[T]():
		gemmNTAVX2F64(m, n, k, float64(alpha), cpu.F64(a), lda, cpu.F64(b), ldb, cpu.F64(c), ldc)
	case tier == cpu.AVX512:
		gemmNTAVX512F32(m, n, k, float32(alpha), cpu.F32(a), lda, cpu.F32(b), ldb, cpu.F32(c), ldc)
	default:
		gemmNTAVX2F32(m, n, k, float32(alpha), cpu.F32(a), lda, cpu.F32(b), ldb, cpu.F32(c), ldc)
	}
}

func transposeTile[T cpu.Float](dst *T, ldd int, x *T, ldx, n int) {
	if cpu.Is64[T]() {
		transpose64(cpu.F64(dst), ldd, cpu.F64(x), ldx, n)
	} else {
		transpose32(cpu.F32(dst), ldd, cpu.F32(x), ldx, n)
	}
}

func tileTriNorms[T cpu.Float](i0, rows, n int, q *T, l *T, ldl int, c *T, ldc int, mu *T) {
	switch {
	case cpu.Is64[T]() && tier == cpu.AVX512:
		triNormsAVX512F64(i0, rows, n, cpu.F64(q), cpu.F64(l), ldl, cpu.F64(c), ldc, cpu.F64(mu))
	case cpu.Is64[T]():
		triNormsAVX2F64(i0, rows, n, cpu.F64(q), cpu.F64(l), ldl, cpu.F64(c), ldc, cpu.F64(mu))
	case tier == cpu.AVX512:
		triNormsAVX512F32(i0, rows, n, cpu.F32(q), cpu.F32(l), ldl, cpu.F32(c), ldc, cpu.F32(mu))
	default:
		triNormsAVX2F32(i0, rows, n, cpu.F32(q), cpu.F32(l), ldl, cpu.F32(c), ldc, cpu.F32(mu))
	}
}

func tileDiagonal[T cpu.Float](n, k int, w, c *T, ldc int, s, m *T, ldm int) {
	switch {
	case cpu.Is64[T]() && tier == cpu.AVX512:
		momentsDiagonalAVX512F64(n, k, cpu.F64(w), cpu.F64(c), ldc, cpu.F64(s), cpu.F64(m), ldm)
	case cpu.Is64[T]():
		momentsDiagonalAVX2F64(n, k, cpu.F64(w), cpu.F64(c), ldc, cpu.F64(s), cpu.F64(m), ldm)
	case tier == cpu.AVX512:
		momentsDiagonalAVX512F32(n, k, cpu.F32(w), cpu.F32(c), ldc, cpu.F32(s), cpu.F32(m), ldm)
	default:
		momentsDiagonalAVX2F32(n, k, cpu.F32(w), cpu.F32(c), ldc, cpu.F32(s), cpu.F32(m), ldm)
	}
}

func tileBelow[T cpu.Float](rows, k int, w, a, c *T, ldc int, m *T, ldm int) {
	switch {
	case cpu.Is64[T]() && tier == cpu.AVX512:
		momentsBelowAVX512F64(rows, k, cpu.F64(w), cpu.F64(a), cpu.F64(c), ldc, cpu.F64(m), ldm)
	case cpu.Is64[T]():
		momentsBelowAVX2F64(rows, k, cpu.F64(w), cpu.F64(a), cpu.F64(c), ldc, cpu.F64(m), ldm)
	case tier == cpu.AVX512:
		momentsBelowAVX512F32(rows, k, cpu.F32(w), cpu.F32(a), cpu.F32(c), ldc, cpu.F32(m), ldm)
	default:
		momentsBelowAVX2F32(rows, k, cpu.F32(w), cpu.F32(a), cpu.F32(c), ldc, cpu.F32(m), ldm)
	}
}
