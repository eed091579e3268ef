//go:build amd64 && !noasm

package simd

import (
	"sync"
	"unsafe"
)

// Blocks of the matrix products. A block of A stays in the second-level cache
// while panels of B go by; the sizes also keep a call of assembly, which cannot
// be pre-empted, well under 100 µs.
const (
	gemmRows  = 128     // rows of a block of A
	gemmDepth = 256     // length of a block of the contraction, in row-vector tiles
	dotDepth  = 512     // the same in dot-product tiles
	callWork  = 1 << 19 // multiplications of a call

	// Rows of a block of weighted moments: 12 of them in the first-level cache.
	momentsDepth = 256
)

// gemmScratch holds packed blocks, for float32 in the first half.
type gemmScratch struct {
	a [gemmRows * (gemmDepth + 8)]float64
	b [gemmDepth * 24]float64
}

var gemmPool = sync.Pool{New: func() any { return new(gemmScratch) }}

// lanes is the number of elements of a vector.
func lanes[T Float]() int {
	if tier == AVX512 {
		return 64 / int(unsafe.Sizeof(T(0)))
	}
	return 32 / int(unsafe.Sizeof(T(0)))
}

func first[T Float](x []T) *T { return unsafe.SliceData(x) }

func gemmVector[T Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	switch rows := csb == 1 || n == 1; {
	case csa == 1 && rsb == 1 && (n == 1 || !rows):
		gemmDot(m, n, k, alpha, a, rsa, b, csb, c, ldc)
	case n == 1 && rsa == 1 && (ldc == 1 || m == 1):
		// A column by rows: Cᵀ += alpha·Bᵀ·Aᵀ.
		gemmOuter(1, m, k, alpha, b, csb, rsb, a, csa, 1, c, m)
	default:
		gemmOuter(m, n, k, alpha, a, rsa, csa, b, rsb, csb, c, ldc)
	}
}

// panelCols returns how many of n columns the next panel has: three vectors,
// but two and two rather than three and one.
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

// gemmOuter computes C += alpha·A·B with row-vector tiles. Blocks that are read
// often, and lie scattered, are packed first.
func gemmOuter[T Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	vl := lanes[T]()
	packA := n > 2*3*vl && (rsa != 1 && csa != 1 || m*k > packFrom)
	packB := csb != 1 && n > 1 || m >= 32 && n > 3*vl && k*n > packFrom
	var pa, pb []T
	if packA || packB {
		s := gemmPool.Get().(*gemmScratch)
		defer gemmPool.Put(s)
		pa = unsafe.Slice((*T)(unsafe.Pointer(&s.a)), len(s.a))
		pb = unsafe.Slice((*T)(unsafe.Pointer(&s.b)), gemmDepth*3*vl)
	}
	depth := evenBlocks(k, gemmDepth)
	for l := 0; l < k; l += depth {
		kb := min(depth, k-l)
		for i := 0; i < m; i += gemmRows {
			mb := min(gemmRows, m-i)
			ab, ars, acs := a[i*rsa+l*csa:], rsa, csa
			if packA {
				ars, acs = packRows(pa, mb, kb, ab, rsa, csa)
				ab = pa
			}
			for j, nb := 0, 0; j < n; j += nb {
				nb = panelCols(n-j, vl)
				bb, brs := b[l*rsb+j*csb:], rsb
				if packB {
					brs = packPanel(pb, kb, nb, bb, rsb, csb)
					bb = pb
				}
				tileNN(mb, nb, kb, alpha, first(ab), ars, acs, first(bb), brs, first(c[i*ldc+j:]), ldc)
			}
		}
	}
}

// packFrom is the number of elements from which a block is worth packing.
var packFrom = 1 << 15

// packRows copies the m×k matrix A to dst, contiguous along whichever
// direction it was, and returns its strides.
func packRows[T Float](dst []T, m, k int, a []T, rsa, csa int) (rs, cs int) {
	if rsa == 1 && csa != 1 {
		for l := range k {
			copy(dst[l*m:l*m+m], a[l*csa:])
		}
		return 1, m
	}
	ld := k + 8 // so that the rows do not meet in the same cache sets
	for i := range m {
		row := dst[i*ld : i*ld+k]
		if csa == 1 {
			copy(row, a[i*rsa:])
			continue
		}
		for l := range row {
			row[l] = a[i*rsa+l*csa]
		}
	}
	return ld, 1
}

// packPanel copies the k×n matrix B to dst by rows, and returns their stride.
func packPanel[T Float](dst []T, k, n int, b []T, rsb, csb int) int {
	for l := range k {
		row := dst[l*n : l*n+n]
		if csb == 1 {
			copy(row, b[l*rsb:])
			continue
		}
		for j := range row {
			row[j] = b[l*rsb+j*csb]
		}
	}
	return n
}

// gemmDot computes C += alpha·A·Bᵀ, A and B by rows, with dot-product tiles.
func gemmDot[T Float](m, n, k int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	depth := evenBlocks(k, dotDepth)
	for l := 0; l < k; l += depth {
		kb := min(depth, k-l)
		for i := 0; i < m; i += gemmRows {
			mb := min(gemmRows, m-i)
			for j, nb := 0, 0; j < n; j += nb {
				nb = dotCols(n - j)
				tileNT(mb, nb, kb, alpha, first(a[i*lda+l:]), lda, first(b[j*ldb+l:]), ldb, first(c[i*ldc+j:]), ldc)
			}
		}
	}
}

// dotCols returns how many of n columns the next dot-product tiles have.
func dotCols(n int) int {
	switch {
	case tier == AVX512 && n >= 6:
		return 6
	case tier == AVX512:
		return min(n, 3)
	case n >= 4:
		return 4
	}
	return min(n, 2)
}

func triNormsVector[T Float](d, n int, q []T, l []T, ldl int, c []T, ldc int) {
	panel := 3 * lanes[T]()
	for i, rows := 0, 0; i < d; i += rows {
		// As many rows, whole tiles of them, and then as many panels as fit a call.
		rows = min(d-i, max(8, callWork/panel/d&^7))
		cols := max(1, callWork/(panel*rows*(i+rows))) * panel
		for p := 0; p < n; p += cols {
			tileTriNorms(i, rows, min(cols, n-p), &q[p], first(l[i*ldl:]), ldl, first(c[p:]), ldc)
		}
	}
}

func momentsVector[T Float](d, n int, s []T, m []T, ldm int, w []T, c []T, ldc int) {
	order := 6 // of the diagonal blocks
	if tier == AVX512 {
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

func tileNN[T Float](m, n, k int, alpha T, a *T, rsa, csa int, b *T, rsb int, c *T, ldc int) {
	switch {
	case is64[T]() && tier == AVX512:
		gemmNNAVX512F64(m, n, k, float64(alpha), f64(a), rsa, csa, f64(b), rsb, f64(c), ldc)
	case is64[T]():
		gemmNNAVX2F64(m, n, k, float64(alpha), f64(a), rsa, csa, f64(b), rsb, f64(c), ldc)
	case tier == AVX512:
		gemmNNAVX512F32(m, n, k, float32(alpha), f32(a), rsa, csa, f32(b), rsb, f32(c), ldc)
	default:
		gemmNNAVX2F32(m, n, k, float32(alpha), f32(a), rsa, csa, f32(b), rsb, f32(c), ldc)
	}
}

func tileNT[T Float](m, n, k int, alpha T, a *T, lda int, b *T, ldb int, c *T, ldc int) {
	switch {
	case is64[T]() && tier == AVX512:
		gemmNTAVX512F64(m, n, k, float64(alpha), f64(a), lda, f64(b), ldb, f64(c), ldc)
	case is64[T]():
		gemmNTAVX2F64(m, n, k, float64(alpha), f64(a), lda, f64(b), ldb, f64(c), ldc)
	case tier == AVX512:
		gemmNTAVX512F32(m, n, k, float32(alpha), f32(a), lda, f32(b), ldb, f32(c), ldc)
	default:
		gemmNTAVX2F32(m, n, k, float32(alpha), f32(a), lda, f32(b), ldb, f32(c), ldc)
	}
}

func tileTriNorms[T Float](i0, rows, n int, q *T, l *T, ldl int, c *T, ldc int) {
	switch {
	case is64[T]() && tier == AVX512:
		triNormsAVX512F64(i0, rows, n, f64(q), f64(l), ldl, f64(c), ldc)
	case is64[T]():
		triNormsAVX2F64(i0, rows, n, f64(q), f64(l), ldl, f64(c), ldc)
	case tier == AVX512:
		triNormsAVX512F32(i0, rows, n, f32(q), f32(l), ldl, f32(c), ldc)
	default:
		triNormsAVX2F32(i0, rows, n, f32(q), f32(l), ldl, f32(c), ldc)
	}
}

func tileDiagonal[T Float](n, k int, w, c *T, ldc int, s, m *T, ldm int) {
	switch {
	case is64[T]() && tier == AVX512:
		momentsDiagonalAVX512F64(n, k, f64(w), f64(c), ldc, f64(s), f64(m), ldm)
	case is64[T]():
		momentsDiagonalAVX2F64(n, k, f64(w), f64(c), ldc, f64(s), f64(m), ldm)
	case tier == AVX512:
		momentsDiagonalAVX512F32(n, k, f32(w), f32(c), ldc, f32(s), f32(m), ldm)
	default:
		momentsDiagonalAVX2F32(n, k, f32(w), f32(c), ldc, f32(s), f32(m), ldm)
	}
}

func tileBelow[T Float](rows, k int, w, a, c *T, ldc int, m *T, ldm int) {
	switch {
	case is64[T]() && tier == AVX512:
		momentsBelowAVX512F64(rows, k, f64(w), f64(a), f64(c), ldc, f64(m), ldm)
	case is64[T]():
		momentsBelowAVX2F64(rows, k, f64(w), f64(a), f64(c), ldc, f64(m), ldm)
	case tier == AVX512:
		momentsBelowAVX512F32(rows, k, f32(w), f32(a), f32(c), ldc, f32(m), ldm)
	default:
		momentsBelowAVX2F32(rows, k, f32(w), f32(a), f32(c), ldc, f32(m), ldm)
	}
}
