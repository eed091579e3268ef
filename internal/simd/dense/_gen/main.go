// Command _gen writes the assembly of package dense. Every primitive is written once,
// over a tier (AVX2 or AVX-512) with an element type.
package main

import . "revnum/internal/simd/_gen/asm"

func main() {
	Files(func() {
		tiles := func(name, sig, doc string, body func(isa)) {
			Floats(name, sig, doc, func(g ISA) { body(newISA(g)) })
		}
		tiles("gemmNN", "func(m, n, k int, alpha T, a *T, rsa, csa int, b *T, rsb int, c *T, ldc int)",
			"computes C += alpha·A·B for at most three vectors of columns, n, k >= 1, B and C stored by rows.", isa.gemmNN)
		tiles("gemmNT", "func(m, n, k int, alpha T, a *T, lda int, b *T, ldb int, c *T, ldc int)",
			"computes C += alpha·A·Bᵀ for n as dotCols says; m, k >= 1.", isa.gemmNT)
		tiles("triNorms", "func(i0, rows, n int, q *T, l *T, ldl int, c *T, ldc int, mu *T)",
			"computes q[p] = Σ_i (Σ_{j<=i} L[i,j]·(C[j,p] - mu[j]))² for p < n, rows i0 <= i < i0+rows; l is row i0. It adds to q if i0 > 0. rows, n >= 1.", isa.triNorms)
		tiles("momentsDiagonal", "func(n, k int, w *T, c *T, ldc int, s *T, m *T, ldm int)",
			"computes the lower triangle of M += C·diag(w)·Cᵀ, and s += C·w unless s is nil, for a diagonal block of order n, at most 12 on AVX-512 and 6 on AVX2; n, k >= 1.", isa.momentsDiagonal)
		tiles("momentsBelow", "func(rows, k int, w *T, a *T, c *T, ldc int, m *T, ldm int)",
			"computes 12 columns on AVX-512, 6 on AVX2, of M += A·diag(w)·Cᵀ, where A and C have the same stride; rows, k >= 1.", isa.momentsBelow)
		for _, size := range []int{8, 4} {
			Func("transpose", Variant{Size: size}, "func(dst *T, ldd int, x *T, ldx, n int)",
				"computes dst[j*ldd+i] = x[i*ldx+j] for i < 4 and j < n, where n >= 4 is a multiple of 4.", newISA(ISA{Size: size}).transpose)
		}
		tiles("triSolve", "func(i0, rows, n int, t *T, rst, cst int, r, x *T, ldx int)",
			"solves for the rows i0 <= i < i0+rows of X, of at most three vectors of columns, T·X = B, where those before are solved; t is row i0 of T, r the reciprocals of the diagonal from there, x row 0 of X. n, rows >= 1.", isa.triSolve)
		Float64("symv", "func(i, blocks int, a *T, lda int, x, y *T)",
			"computes rows i to i+blocks·lanes-1 of Symv, where a vector has that many lanes, and a is row i of A; i is a multiple of lanes, blocks >= 1.", symv)
		Float64("gemvt", "func(groups, n int, a *T, lda int, u, x, z, y *T)",
			"computes groups of four rows of Gemvt; groups >= 1, and n >= 1 is a multiple of 8.", gemvt)
		tiles("gemmOffsets", "func(m, n, k int, alpha T, a *T, rsa, csa int, b *T, offsets *int, c *T, ldc int)",
			"is gemmNN where row l of B begins at element offsets[l] of b.", isa.gemmOffsets)
		tiles("gemmOffsetsRows", "func(m, n, k int, alpha T, a *T, csa int, b *T, ldb int, offsets *int, c *T, ldc int)",
			"is gemmOffsets for m rows of C by one row of A, with m, n, k >= 1.", isa.gemmOffsetsRows)
		tiles("rowDots", "func(m, n, k int, x *T, ldx int, offsets *int, y *T, ldy int, out *T)",
			"is RowDots; m, n, k >= 1.", isa.rowDots)
		tiles("addRows", "func(m, n int, alpha T, x *T, ldx int, y *T, ldy int)",
			"is AddRows; m, n >= 1.", isa.addRows)
		tiles("copyRows", "func(m, n int, dst *T, ldd int, x *T, ldx, step int)",
			"is CopyRows for a step of 1 or 2; m, n >= 1.", isa.copyRows)
		rotations(Floats, "rotate", false)
		rotations(Float64, "rotatePhases", true)
	})
}
