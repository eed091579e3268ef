package dense

import "revnum/internal/simd/cpu"

// A Left is the left factor A of GemmOffsets. A[i,l] is Data[i*Rows+l*Cols]. If Packed is
// set, A is as Pack writes it, and Rows and Cols mean nothing. Strides must not be negative.
type Left[T cpu.Float] struct {
	Data       []T
	Rows, Cols int // strides, from a row to the next and from a column to the next
	Packed     bool
}

// PanelRows returns the number of rows of a panel of a packed factor. Panels have as many
// columns as the factor, and follow each other. The elements of a column of a panel are next to
// each other. The last panel has fewer rows if need be.
func PanelRows() int { return tileRows() }

// Pack writes an m×k matrix A to dst by panels. Such a factor is read faster, if its rows are
// far apart. It panics if a slice is too short.
func Pack[T cpu.Float](dst []T, m, k int, a Left[T]) {
	if m <= 0 || k <= 0 {
		return
	}
	_ = dst[:m*k]
	pack(dst, a.Data, m, tileRows(), k, a.Rows, a.Cols)
}

// GemmOffsets computes C += alpha·A·B, where row l of B is b[offsets[l]:][:n]. The rows may
// overlap. A has m rows. C is m×n, stored by rows with stride ldc, which must not be negative.
// GemmOffsets does nothing if m, n or the number of offsets is 0, and panics if a slice is too
// short.
//
// An element of C depends on its row of A and column of B, on the number of offsets, on
// alpha, and on whether m is 1.
func GemmOffsets[T cpu.Float](m, n int, alpha T, a Left[T], b []T, offsets []int, c []T, ldc int) {
	k := len(offsets)
	if m <= 0 || n <= 0 || k <= 0 {
		return
	}
	if ldc < 0 || !a.Packed && (a.Rows < 0 || a.Cols < 0) {
		panic("dense: negative stride")
	}
	_ = a.Data[a.at(m-1, k-1, m, k)]
	_ = c[(m-1)*ldc+n-1]
	for _, at := range offsets {
		_ = b[at:][:n]
	}
	if tier == cpu.Generic {
		genericGemmOffsets(m, n, alpha, a, b, offsets, c, ldc)
		return
	}
	depth, block, step := evenBlocks(k, gemmDepth), gemmRows, a.Cols
	if a.Packed {
		block, step = tileRows(), 1
	}
	for l := 0; l < k; l += depth {
		kb, at := min(depth, k-l), offsets[l:]
		if m == 1 {
			for j := 0; j < n; j += gemmOffsetsCols {
				vectorGemmOffsetsRows(1, min(gemmOffsetsCols, n-j), kb, alpha, &a.Data[a.at(0, l, m, k)], step, &b[j], 0, &at[0], &c[j], 0)
			}
			continue
		}
		for top := 0; top < m; top += gemmRows {
			var nb int
			for j := 0; j < n; j += nb {
				nb = panelCols(n-j, cpu.Lanes[T](tier))
				for i := top; i < min(m, top+gemmRows); i += block {
					mb, rs, cs := min(block, m-i), a.Rows, a.Cols
					if a.Packed {
						rs, cs = 1, mb
					}
					vectorGemmOffsets(mb, nb, kb, alpha, &a.Data[a.at(i, l, m, k)], rs, cs, &b[j], &at[0], &c[i*ldc+j], ldc)
				}
			}
		}
	}
}

// GemmOffsetsRows computes C += alpha·P, where row i of P is the product of the one row of A and the rows of
// B that begin i·ldb elements after those of GemmOffsets. C is m×n. It does nothing if m, n or the number of offsets
// is 0, and panics if a slice is too short or a stride negative. Elements have the bits of GemmOffsets with m = 1.
func GemmOffsetsRows[T cpu.Float](m, n int, alpha T, a Left[T], b []T, ldb int, offsets []int, c []T, ldc int) {
	k := len(offsets)
	if m <= 0 || n <= 0 || k <= 0 {
		return
	}
	if ldb < 0 || ldc < 0 || !a.Packed && a.Cols < 0 {
		panic("dense: negative stride")
	}
	_ = a.Data[a.at(0, k-1, 1, k)]
	_ = c[(m-1)*ldc+n-1]
	for _, at := range offsets {
		_ = b[at:][:(m-1)*ldb+n]
	}
	if tier == cpu.Generic || n > gemmOffsetsCols {
		for i := range m {
			GemmOffsets(1, n, alpha, a, b[i*ldb:], offsets, c[i*ldc:], 0)
		}
		return
	}
	step := a.Cols
	if a.Packed {
		step = 1
	}
	depth, rows := evenBlocks(k, gemmDepth), max(1, gemmOffsetsCols/n)
	for i := 0; i < m; i += rows {
		for l := 0; l < k; l += depth {
			vectorGemmOffsetsRows(min(rows, m-i), n, min(depth, k-l), alpha, &a.Data[a.at(0, l, 1, k)], step, &b[i*ldb], ldb, &offsets[l], &c[i*ldc], ldc)
		}
	}
}

// at returns where element (i, l) of an m×k factor is.
func (a *Left[T]) at(i, l, m, k int) int {
	if !a.Packed {
		return i*a.Rows + l*a.Cols
	}
	rows := tileRows()
	first := i / rows * rows
	return first*k + l*min(rows, m-first) + i - first
}

// gemmOffsetsCols is the number of columns of a call of gemmOffsetsRows.
const gemmOffsetsCols = 1024

// genericGemmOffsets adds four rows of B at a time, which saves loads and stores of sums.
func genericGemmOffsets[T cpu.Float](m, n int, alpha T, a Left[T], b []T, offsets []int, c []T, ldc int) {
	const block = 64
	var sums [block]T
	k := len(offsets)
	for i := range m {
		first := a.at(i, 0, m, k)
		x, step := a.Data[first:], a.at(i, 1, m, k)-first
		for j := 0; j < n; j += block {
			s := sums[:min(block, n-j)]
			clear(s)
			l := 0
			for ; l+4 <= k; l += 4 {
				at := offsets[l:][:4]
				a0, a1, a2, a3 := x[l*step], x[(l+1)*step], x[(l+2)*step], x[(l+3)*step]
				b0, b1, b2, b3 := b[at[0]+j:][:len(s)], b[at[1]+j:][:len(s)], b[at[2]+j:][:len(s)], b[at[3]+j:][:len(s)]
				for q, v := range s {
					v += T(a0 * b0[q])
					v += T(a1 * b1[q])
					v += T(a2 * b2[q])
					s[q] = v + T(a3*b3[q])
				}
			}
			for ; l < k; l++ {
				for q, v := range b[offsets[l]+j:][:len(s)] {
					s[q] += T(x[l*step] * v)
				}
			}
			for q, v := range s {
				c[i*ldc+j+q] += T(alpha * v)
			}
		}
	}
}

// RowDots computes out[t] += Σ_i Σ_j Y[i,j]·X_t[i,j] for i < m and j < n, where Y[i,j] =
// y[i*ldy+j] and X_t[i,j] = x[offsets[t]+i*ldx+j]. Strides must not be negative. It panics if
// a slice is too short.
func RowDots[T cpu.Float](m, n int, x []T, ldx int, offsets []int, y []T, ldy int, out []T) {
	k := len(offsets)
	if m <= 0 || n <= 0 || k == 0 {
		return
	}
	if ldx < 0 || ldy < 0 {
		panic("dense: negative stride")
	}
	out = out[:k]
	_ = y[(m-1)*ldy+n-1]
	for _, at := range offsets {
		_ = x[at:][:(m-1)*ldx+n]
	}
	if tier == cpu.Generic {
		genericRowDots(m, n, x, ldx, offsets, y, ldy, out)
		return
	}
	rows := max(1, rowDotsWork/(n*k))
	for i := 0; i < m; i += rows {
		vectorRowDots(min(rows, m-i), n, k, &x[i*ldx], ldx, &offsets[0], &y[i*ldy], ldy, &out[0])
	}
}

// rowDotsWork is about the number of multiplications of a call of rowDots.
const rowDotsWork = 1 << 17

func genericRowDots[T cpu.Float](m, n int, x []T, ldx int, offsets []int, y []T, ldy int, out []T) {
	t := 0
	for ; t+4 <= len(offsets); t += 4 { // sums that do not wait for each other
		o, to := offsets[t:][:4], out[t:][:4]
		var s0, s1, s2, s3 T
		for i := range m {
			x := x[i*ldx:]
			a0, a1, a2, a3 := x[o[0]:][:n], x[o[1]:][:n], x[o[2]:][:n], x[o[3]:][:n]
			for j, v := range y[i*ldy:][:n] {
				s0 += T(v * a0[j])
				s1 += T(v * a1[j])
				s2 += T(v * a2[j])
				s3 += T(v * a3[j])
			}
		}
		to[0] += s0
		to[1] += s1
		to[2] += s2
		to[3] += s3
	}
	for ; t < len(offsets); t++ {
		at := offsets[t]
		var s T
		for i := range m {
			a := x[at+i*ldx:][:n]
			for j, v := range y[i*ldy:][:n] {
				s += T(v * a[j])
			}
		}
		out[t] += s
	}
}

// AddRows computes Y += alpha·X for matrices of m rows and n columns, where Y[i,j] =
// y[i*ldy+j] and X[i,j] = x[i*ldx+j]. Strides must not be negative. If ldy is 0, the rows of
// X are added to one row in order. It panics if a slice is too short.
func AddRows[T cpu.Float](m, n int, alpha T, x []T, ldx int, y []T, ldy int) {
	if m <= 0 || n <= 0 {
		return
	}
	if ldx < 0 || ldy < 0 {
		panic("dense: negative stride")
	}
	_ = x[(m-1)*ldx+n-1]
	_ = y[(m-1)*ldy+n-1]
	if tier == cpu.Generic {
		for i := range m {
			to := y[i*ldy:][:n]
			for j, v := range x[i*ldx:][:n] {
				to[j] += T(alpha * v)
			}
		}
		return
	}
	rows := max(1, cpu.Chunk/n)
	for i := 0; i < m; i += rows {
		for j := 0; j < n; j += cpu.Chunk {
			vectorAddRows(min(rows, m-i), cpu.ChunkAt(j, n), alpha, &x[i*ldx+j], ldx, &y[i*ldy+j], ldy)
		}
	}
}

// CopyRows computes dst[i*ldd+j] = x[i*ldx+j*step] for i < m and j < n. Strides and the step
// must not be negative. It panics if a slice is too short.
func CopyRows[T cpu.Float](m, n int, dst []T, ldd int, x []T, ldx, step int) {
	if m <= 0 || n <= 0 {
		return
	}
	if ldd < 0 || ldx < 0 || step < 0 {
		panic("dense: negative stride")
	}
	_ = dst[(m-1)*ldd+n-1]
	_ = x[(m-1)*ldx+(n-1)*step]
	if tier == cpu.Generic || step != 1 && step != 2 {
		for i := range m {
			to, from := dst[i*ldd:][:n], x[i*ldx:]
			if step == 1 {
				copy(to, from)
				continue
			}
			for j := range to {
				to[j] = from[j*step]
			}
		}
		return
	}
	rows := max(1, cpu.Chunk/n)
	for i := 0; i < m; i += rows {
		for j := 0; j < n; j += cpu.Chunk {
			vectorCopyRows(min(rows, m-i), cpu.ChunkAt(j, n), &dst[i*ldd+j], ldd, &x[i*ldx+j*step], ldx, step)
		}
	}
}
