// The instruction of tensor cores for double, which cards of compute capability 8.0 and later have. Cards of 9.0 and later
// have a larger one, for files that define HOPPER.
#pragma once
#include "number.h"

#ifndef HOPPER
#define TENSOR(name) name##F64
#else
#define TENSOR(name) name##HopperF64
#endif

// d += a·b for tiles of 16×8 and 8×8 elements. A lane has the elements a[h][l] in row i + 8·h and column
// j + 4·l, b[l] in row j + 4·l and column i, and d[h][l] in row i + 8·h and column 2·j + l, where i is lane/4
// and j is lane%4 (PTX ISA, Matrix Fragments for mma.m16n8k8 with .f64, and for mma.m8n8k4).
DEVICE void multiply(double (&d)[2][2], const double (&a)[2][2], const double (&b)[2]) {
#ifdef HOPPER
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+d"(d[0][0]), "+d"(d[0][1]), "+d"(d[1][0]), "+d"(d[1][1]) : "d"(a[0][0]), "d"(a[1][0]), "d"(a[0][1]), "d"(a[1][1]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
	for (int l = 0; l < 2; l++) {
#pragma unroll
		for (int h = 0; h < 2; h++) {
			asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[h][0]), "+d"(d[h][1]) : "d"(a[h][l]), "d"(b[l]));
		}
	}
#endif
}
