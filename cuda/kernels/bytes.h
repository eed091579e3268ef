// Exact products of matrices of Q43 on the tensor cores for bytes, whose sums are integers of 32 bits. A number of 64
// bits has the bytes x_0, ..., x_7, of which x_7 has the sign: x = Σ_u x_u·2⁸ᵘ. So
//
//	Σ_k a_k·b_k = Σ_w 2⁸ʷ·s_w with s_w = Σ_{u+v=w} Σ_k (a_k)_u·(b_k)_v.
//
// For 32 k, s_w is less than 8·32·2¹⁶ in magnitude. Cards of compute capability 8.0 and later have a larger instruction than
// 7.5, for files that define AMPERE. The integers are the same.
#pragma once
#include "number.h"

#ifndef AMPERE
#define BYTES(name) name##Q43
#else
#define BYTES(name) name##AmpereQ43
#endif

// A tile of A has 16 rows of 32 terms, and one of B has 32 terms of 8 columns.
constexpr int tileRows = 16, tileColumns = 8, tileTerms = 32;

// A Lane has the elements of A in rows i and i + 8, those of B in column i, and those of A·B in rows i and i + 8, and
// columns 2·j and 2·j + 1.
struct Lane {
	int i, j;
	DEVICE Lane() : i((int)threadX() % lanes / 4), j((int)threadX() % 4) {}
	// term returns which term is number p of four in register h of an operand. Both operands have this order of
	// the terms, in which the lanes of a row read neighbours.
	DEVICE int term(int h, int p) const { return h * tileTerms / 2 + 4 * p + j; }
	// row and column return where element e of four of A·B is.
	DEVICE int row(int e) const { return i + e / 2 * 8; }
	DEVICE int column(int e) const { return 2 * j + e % 2; }
};

// A Bytes<n> has the bytes of 4·n numbers of a lane. Byte u of four numbers is in a register of[u][h].
template <int n> struct Bytes {
	unsigned of[8][n];
	INLINE void set(int h, const Q43 (&x)[4]) {
#pragma unroll
		for (int word = 0; word < 2; word++) {
			unsigned w[4];
#pragma unroll
			for (int p = 0; p < 4; p++) w[p] = (unsigned)((u64)x[p].v >> 32 * word);
			// pairs of bytes 0 and 1 of two words, then of bytes 2 and 3
			unsigned low = __nvvm_prmt(w[0], w[1], 0x5140), lowNext = __nvvm_prmt(w[2], w[3], 0x5140);
			unsigned high = __nvvm_prmt(w[0], w[1], 0x7362), highNext = __nvvm_prmt(w[2], w[3], 0x7362);
			of[4 * word][h] = __nvvm_prmt(low, lowNext, 0x5410);
			of[4 * word + 1][h] = __nvvm_prmt(low, lowNext, 0x7632);
			of[4 * word + 2][h] = __nvvm_prmt(high, highNext, 0x5410);
			of[4 * word + 3][h] = __nvvm_prmt(high, highNext, 0x7632);
		}
	}
};
// Registers of A are those of rows i and i + 8 for the first half of the terms, then for the second.
typedef Bytes<4> Left;
typedef Bytes<2> Right;

// multiply computes d += a·b for bytes a and b, of which the last ones have signs (PTX ISA, Matrix Fragments for
// mma.m16n8k32, and for mma.m8n8k16).
INLINE void multiply(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], bool lastA, bool lastB) {
#ifdef AMPERE
	if (!lastA && !lastB) asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	if (!lastA && lastB) asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	if (lastA && !lastB) asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	if (lastA && lastB) asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
#pragma unroll
	for (int h = 0; h < 4; h++) {
		int *to = d + h % 2 * 2;
		if (!lastA && !lastB) asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(to[0]), "+r"(to[1]) : "r"(a[h]), "r"(b[h / 2]));
		if (!lastA && lastB) asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(to[0]), "+r"(to[1]) : "r"(a[h]), "r"(b[h / 2]));
		if (lastA && !lastB) asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(to[0]), "+r"(to[1]) : "r"(a[h]), "r"(b[h / 2]));
		if (lastA && lastB) asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(to[0]), "+r"(to[1]) : "r"(a[h]), "r"(b[h / 2]));
	}
#endif
}

// addProducts adds the four elements of A·B that a lane has.
INLINE void addProducts(Sum<Q43> (&to)[4], const Left &a, const Right &b) {
#pragma unroll
	for (int low = 12; low >= 0; low -= 4) { // four w at a time
		int s[4][4] = {};
#pragma unroll
		for (int u = 0; u < 8; u++) {
#pragma unroll
			for (int v = 0; v < 8; v++) {
				if (u + v >= low && u + v < low + 4) multiply(s[u + v - low], a.of[u], b.of[v], u == 7, v == 7);
			}
		}
#pragma unroll
		for (int e = 0; e < 4; e++) {
			i64 sum = 0;
#pragma unroll
			for (int w = 0; w < 4; w++) sum += (i64)s[w][e] * (1 << 8 * w);
			to[e].v += (i128)((u128)(i128)sum << 8 * low);
		}
	}
}
