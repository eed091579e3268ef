/* The kernels of revnum as types and functions of C and C++.
 *
 * Written by a test of package rules from the registry.
 *
 * A kernel is a struct of its operands and parameters. Its function makes a pass:
 *
 *     double x[3] = {1, 2, 3}, gx[3] = {0}, norm = 0, one = 1;
 *     rev_linalg_Norm2 k = {&norm, {x, 3}}, g = {&one, {gx, 3}};
 *     rev_linalg_Norm2_run(REV_GRADIENT, &k, &g, NULL, NULL);
 *
 * The four structs are the operands k, the cotangents g, the tangents t and the tangents
 * gt of the cotangents. All but k may be NULL. An operand without memory is left out. The
 * parameters, and the structure of sparse matrices, are those of k. The function returns a
 * status of revnum.h.
 *
 * The operands have the roles of docs/rules.json: acc is added into, inout is changed in
 * place, in and index are read. [optional] operands may be left out of k. docs/adjoints.md
 * has the equations, and docs/kernels.md says what parameters are.
 *
 * Kernels over other numbers than double have the type at the end of their names.
 */
#ifndef REVNUM_KERNELS_H
#define REVNUM_KERNELS_H

#include "revnum.h"

typedef struct rev_complex { double re, im; } rev_complex;
typedef int64_t rev_Q43; /* in units of 2^-43 */

/* Views of memory. A stride of 0 is that without gaps. */
#define REV_VIEWS(name, T) \
	typedef struct { T *data; int64_t n, stride; } rev_##name##_vector; \
	typedef struct { T *data; int64_t rows, cols, stride; } rev_##name##_matrix; \
	typedef struct { T *data; int64_t rows, cols; const int64_t *ptr, *ind; } rev_##name##_csr; \
	REV_STATIC_INLINE rev_arg rev_##name##_scalar_arg(int32_t part, int32_t index, int32_t type, T *x) { \
		return rev_any(part, index, type, x, 0, 1, 1, 1); \
	} \
	REV_STATIC_INLINE rev_arg rev_##name##_vector_arg(int32_t part, int32_t index, int32_t type, rev_##name##_vector x) { \
		return rev_any(part, index, type, x.data, 1, x.n, 1, x.stride ? x.stride : 1); \
	} \
	REV_STATIC_INLINE rev_arg rev_##name##_matrix_arg(int32_t part, int32_t index, int32_t type, rev_##name##_matrix x) { \
		return rev_any(part, index, type, x.data, 2, x.rows, x.cols, x.stride ? x.stride : x.cols); \
	} \
	REV_STATIC_INLINE rev_arg rev_##name##_csr_arg(int32_t part, int32_t index, int32_t type, T *data, rev_##name##_csr x) { \
		rev_arg a = rev_any(part, index, type, data, 2, x.rows, x.cols, 1); \
		a.ptr = x.ptr; \
		a.ptr_len = x.rows + 1; \
		a.ind = x.ind; \
		a.ind_len = a.len = x.ptr && x.rows >= 0 ? x.ptr[x.rows] : 0; \
		return a; \
	}

REV_VIEWS(float64, double)
REV_VIEWS(float32, float)
REV_VIEWS(Q43, rev_Q43)
REV_VIEWS(complex128, rev_complex)
REV_VIEWS(int, int64_t)

/* y += W·x + b */
typedef struct rev_linalg_Affine {
	rev_float64_vector Y; /* acc [optional]; m */
	rev_float64_matrix W; /* in; m,n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector B; /* in [optional]; m */
} rev_linalg_Affine;

REV_STATIC_INLINE int32_t rev_linalg_Affine_run(int32_t pass, const rev_linalg_Affine *k, const rev_linalg_Affine *g, const rev_linalg_Affine *t, const rev_linalg_Affine *gt) {
	const rev_linalg_Affine *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->W.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->W);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->X);
		if (parts[p]->B.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->B);
	}
	return rev_call(rev_kernel("revlinalg.Affine[float64]"), pass, a, n);
}

/* y += W·x + b */
typedef struct rev_linalg_Affine_float32 {
	rev_float32_vector Y; /* acc [optional]; m */
	rev_float32_matrix W; /* in; m,n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector B; /* in [optional]; m */
} rev_linalg_Affine_float32;

REV_STATIC_INLINE int32_t rev_linalg_Affine_float32_run(int32_t pass, const rev_linalg_Affine_float32 *k, const rev_linalg_Affine_float32 *g, const rev_linalg_Affine_float32 *t, const rev_linalg_Affine_float32 *gt) {
	const rev_linalg_Affine_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->W.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->W);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->X);
		if (parts[p]->B.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->B);
	}
	return rev_call(rev_kernel("revlinalg.Affine[float32]"), pass, a, n);
}

/* y += W·x + b */
typedef struct rev_linalg_Affine_Q43 {
	rev_Q43_vector Y; /* acc [optional]; m */
	rev_Q43_matrix W; /* in; m,n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector B; /* in [optional]; m */
} rev_linalg_Affine_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Affine_Q43_run(int32_t pass, const rev_linalg_Affine_Q43 *k, const rev_linalg_Affine_Q43 *g, const rev_linalg_Affine_Q43 *t, const rev_linalg_Affine_Q43 *gt) {
	const rev_linalg_Affine_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->W.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->W);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->X);
		if (parts[p]->B.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->B);
	}
	return rev_call(rev_kernel("revlinalg.Affine[Q43]"), pass, a, n);
}

/* C += op(A)·op(B) */
typedef struct rev_linalg_MatMul {
	rev_float64_matrix C; /* acc [optional]; m,n */
	rev_float64_matrix A; /* in; TransA ? k,m : m,k */
	rev_float64_matrix B; /* in; TransB ? n,k : k,n */
	int32_t TransA;
	int32_t TransB;
	int64_t Workers;
} rev_linalg_MatMul;

REV_STATIC_INLINE int32_t rev_linalg_MatMul_run(int32_t pass, const rev_linalg_MatMul *k, const rev_linalg_MatMul *g, const rev_linalg_MatMul *t, const rev_linalg_MatMul *gt) {
	const rev_linalg_MatMul *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->TransA);
	a[n++] = rev_parameter(1, (double)k->TransB);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MatMul[float64]"), pass, a, n);
}

/* C += op(A)·op(B) */
typedef struct rev_linalg_MatMul_float32 {
	rev_float32_matrix C; /* acc [optional]; m,n */
	rev_float32_matrix A; /* in; TransA ? k,m : m,k */
	rev_float32_matrix B; /* in; TransB ? n,k : k,n */
	int32_t TransA;
	int32_t TransB;
	int64_t Workers;
} rev_linalg_MatMul_float32;

REV_STATIC_INLINE int32_t rev_linalg_MatMul_float32_run(int32_t pass, const rev_linalg_MatMul_float32 *k, const rev_linalg_MatMul_float32 *g, const rev_linalg_MatMul_float32 *t, const rev_linalg_MatMul_float32 *gt) {
	const rev_linalg_MatMul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->TransA);
	a[n++] = rev_parameter(1, (double)k->TransB);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MatMul[float32]"), pass, a, n);
}

/* C += op(A)·op(B) */
typedef struct rev_linalg_MatMul_Q43 {
	rev_Q43_matrix C; /* acc [optional]; m,n */
	rev_Q43_matrix A; /* in; TransA ? k,m : m,k */
	rev_Q43_matrix B; /* in; TransB ? n,k : k,n */
	int32_t TransA;
	int32_t TransB;
	int64_t Workers;
} rev_linalg_MatMul_Q43;

REV_STATIC_INLINE int32_t rev_linalg_MatMul_Q43_run(int32_t pass, const rev_linalg_MatMul_Q43 *k, const rev_linalg_MatMul_Q43 *g, const rev_linalg_MatMul_Q43 *t, const rev_linalg_MatMul_Q43 *gt) {
	const rev_linalg_MatMul_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->TransA);
	a[n++] = rev_parameter(1, (double)k->TransB);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MatMul[Q43]"), pass, a, n);
}

/* X <- U(θ)·X */
typedef struct rev_linalg_Unitary {
	rev_float64_matrix X; /* inout; n,c */
	rev_float64_vector Theta; /* in; n*(n-1)/2 */
	int32_t Rectangular;
	int64_t Workers;
} rev_linalg_Unitary;

REV_STATIC_INLINE int32_t rev_linalg_Unitary_run(int32_t pass, const rev_linalg_Unitary *k, const rev_linalg_Unitary *g, const rev_linalg_Unitary *t, const rev_linalg_Unitary *gt) {
	const rev_linalg_Unitary *parts[4] = {k, g, t, gt};
	rev_arg a[10];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->Theta.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Theta);
	}
	a[n++] = rev_parameter(0, (double)k->Rectangular);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Unitary[float64]"), pass, a, n);
}

/* X <- U(θ)·X */
typedef struct rev_linalg_Unitary_float32 {
	rev_float32_matrix X; /* inout; n,c */
	rev_float32_vector Theta; /* in; n*(n-1)/2 */
	int32_t Rectangular;
	int64_t Workers;
} rev_linalg_Unitary_float32;

REV_STATIC_INLINE int32_t rev_linalg_Unitary_float32_run(int32_t pass, const rev_linalg_Unitary_float32 *k, const rev_linalg_Unitary_float32 *g, const rev_linalg_Unitary_float32 *t, const rev_linalg_Unitary_float32 *gt) {
	const rev_linalg_Unitary_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[10];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->Theta.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->Theta);
	}
	a[n++] = rev_parameter(0, (double)k->Rectangular);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Unitary[float32]"), pass, a, n);
}

/* X <- U(θ)·X */
typedef struct rev_linalg_Unitary_Q43 {
	rev_Q43_matrix X; /* inout; n,c */
	rev_Q43_vector Theta; /* in; n*(n-1)/2 */
	int32_t Rectangular;
	int64_t Workers;
} rev_linalg_Unitary_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Unitary_Q43_run(int32_t pass, const rev_linalg_Unitary_Q43 *k, const rev_linalg_Unitary_Q43 *g, const rev_linalg_Unitary_Q43 *t, const rev_linalg_Unitary_Q43 *gt) {
	const rev_linalg_Unitary_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[10];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->X);
		if (parts[p]->Theta.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->Theta);
	}
	a[n++] = rev_parameter(0, (double)k->Rectangular);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Unitary[Q43]"), pass, a, n);
}

/* X <- U(θ, φ, δ)·X */
typedef struct rev_linalg_ComplexUnitary_complex128 {
	rev_complex128_matrix X; /* inout; n,c */
	rev_float64_vector Theta; /* in; n*(n-1)/2 */
	rev_float64_vector Phi; /* in; n*(n-1)/2 */
	rev_float64_vector Delta; /* in; n */
	int32_t Rectangular;
	int64_t Workers;
} rev_linalg_ComplexUnitary_complex128;

REV_STATIC_INLINE int32_t rev_linalg_ComplexUnitary_complex128_run(int32_t pass, const rev_linalg_ComplexUnitary_complex128 *k, const rev_linalg_ComplexUnitary_complex128 *g, const rev_linalg_ComplexUnitary_complex128 *t, const rev_linalg_ComplexUnitary_complex128 *gt) {
	const rev_linalg_ComplexUnitary_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_complex128_matrix_arg(p, 0, 4, parts[p]->X);
		if (parts[p]->Theta.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Theta);
		if (parts[p]->Phi.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Phi);
		if (parts[p]->Delta.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Delta);
	}
	a[n++] = rev_parameter(0, (double)k->Rectangular);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.ComplexUnitary[complex128]"), pass, a, n);
}

/* X <- F·X, the discrete Fourier transform */
typedef struct rev_linalg_FFT_complex128 {
	rev_complex128_vector X; /* inout; n */
	int64_t Workers;
} rev_linalg_FFT_complex128;

REV_STATIC_INLINE int32_t rev_linalg_FFT_complex128_run(int32_t pass, const rev_linalg_FFT_complex128 *k, const rev_linalg_FFT_complex128 *g, const rev_linalg_FFT_complex128 *t, const rev_linalg_FFT_complex128 *gt) {
	const rev_linalg_FFT_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[5];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.FFT[complex128]"), pass, a, n);
}

/* the same, real and imaginary parts apart */
typedef struct rev_linalg_FixedFFT_Q43 {
	rev_Q43_vector Re; /* inout; n */
	rev_Q43_vector Im; /* inout; n */
} rev_linalg_FixedFFT_Q43;

REV_STATIC_INLINE int32_t rev_linalg_FixedFFT_Q43_run(int32_t pass, const rev_linalg_FixedFFT_Q43 *k, const rev_linalg_FixedFFT_Q43 *g, const rev_linalg_FixedFFT_Q43 *t, const rev_linalg_FixedFFT_Q43 *gt) {
	const rev_linalg_FixedFFT_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Re.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Re);
		if (parts[p]->Im.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->Im);
	}
	return rev_call(rev_kernel("revlinalg.FixedFFT[Q43]"), pass, a, n);
}

/* y += half of the spectrum F·x of real numbers */
typedef struct rev_linalg_RealFFT_complex128 {
	rev_complex128_vector Y; /* acc [optional]; min(n,1)*(n/2+1) */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_RealFFT_complex128;

REV_STATIC_INLINE int32_t rev_linalg_RealFFT_complex128_run(int32_t pass, const rev_linalg_RealFFT_complex128 *k, const rev_linalg_RealFFT_complex128 *g, const rev_linalg_RealFFT_complex128 *t, const rev_linalg_RealFFT_complex128 *gt) {
	const rev_linalg_RealFFT_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.RealFFT[complex128]"), pass, a, n);
}

/* A <-> R and angles, R = U(θ)·A */
typedef struct rev_linalg_GivensQR {
	rev_float64_matrix A; /* inout; m,n */
} rev_linalg_GivensQR;

REV_STATIC_INLINE int32_t rev_linalg_GivensQR_run(int32_t pass, const rev_linalg_GivensQR *k, const rev_linalg_GivensQR *g, const rev_linalg_GivensQR *t, const rev_linalg_GivensQR *gt) {
	const rev_linalg_GivensQR *parts[4] = {k, g, t, gt};
	rev_arg a[4];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.GivensQR[float64]"), pass, a, n);
}

/* A <-> R and angles, R = U(θ)·A */
typedef struct rev_linalg_GivensQR_float32 {
	rev_float32_matrix A; /* inout; m,n */
} rev_linalg_GivensQR_float32;

REV_STATIC_INLINE int32_t rev_linalg_GivensQR_float32_run(int32_t pass, const rev_linalg_GivensQR_float32 *k, const rev_linalg_GivensQR_float32 *g, const rev_linalg_GivensQR_float32 *t, const rev_linalg_GivensQR_float32 *gt) {
	const rev_linalg_GivensQR_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[4];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.GivensQR[float32]"), pass, a, n);
}

/* y += α·x */
typedef struct rev_linalg_Axpy {
	rev_float64_vector Y; /* acc [optional]; n */
	double *Alpha; /* in */
	rev_float64_vector X; /* in; n */
} rev_linalg_Axpy;

REV_STATIC_INLINE int32_t rev_linalg_Axpy_run(int32_t pass, const rev_linalg_Axpy *k, const rev_linalg_Axpy *g, const rev_linalg_Axpy *t, const rev_linalg_Axpy *gt) {
	const rev_linalg_Axpy *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->Alpha) a[n++] = rev_float64_scalar_arg(p, 1, 1, parts[p]->Alpha);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Axpy[float64]"), pass, a, n);
}

/* y += α·x */
typedef struct rev_linalg_Axpy_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	float *Alpha; /* in */
	rev_float32_vector X; /* in; n */
} rev_linalg_Axpy_float32;

REV_STATIC_INLINE int32_t rev_linalg_Axpy_float32_run(int32_t pass, const rev_linalg_Axpy_float32 *k, const rev_linalg_Axpy_float32 *g, const rev_linalg_Axpy_float32 *t, const rev_linalg_Axpy_float32 *gt) {
	const rev_linalg_Axpy_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->Alpha) a[n++] = rev_float32_scalar_arg(p, 1, 2, parts[p]->Alpha);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Axpy[float32]"), pass, a, n);
}

/* y += α·x */
typedef struct rev_linalg_Axpy_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43 *Alpha; /* in */
	rev_Q43_vector X; /* in; n */
} rev_linalg_Axpy_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Axpy_Q43_run(int32_t pass, const rev_linalg_Axpy_Q43 *k, const rev_linalg_Axpy_Q43 *g, const rev_linalg_Axpy_Q43 *t, const rev_linalg_Axpy_Q43 *gt) {
	const rev_linalg_Axpy_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->Alpha) a[n++] = rev_Q43_scalar_arg(p, 1, 3, parts[p]->Alpha);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Axpy[Q43]"), pass, a, n);
}

/* y += α·x */
typedef struct rev_linalg_Axpy_complex128 {
	rev_complex128_vector Y; /* acc [optional]; n */
	rev_complex *Alpha; /* in */
	rev_complex128_vector X; /* in; n */
} rev_linalg_Axpy_complex128;

REV_STATIC_INLINE int32_t rev_linalg_Axpy_complex128_run(int32_t pass, const rev_linalg_Axpy_complex128 *k, const rev_linalg_Axpy_complex128 *g, const rev_linalg_Axpy_complex128 *t, const rev_linalg_Axpy_complex128 *gt) {
	const rev_linalg_Axpy_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->Y);
		if (parts[p]->Alpha) a[n++] = rev_complex128_scalar_arg(p, 1, 4, parts[p]->Alpha);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 2, 4, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Axpy[complex128]"), pass, a, n);
}

/* r += Σ conj(x_i)·y_i */
typedef struct rev_linalg_Dot {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
} rev_linalg_Dot;

REV_STATIC_INLINE int32_t rev_linalg_Dot_run(int32_t pass, const rev_linalg_Dot *k, const rev_linalg_Dot *g, const rev_linalg_Dot *t, const rev_linalg_Dot *gt) {
	const rev_linalg_Dot *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Dot[float64]"), pass, a, n);
}

/* r += Σ conj(x_i)·y_i */
typedef struct rev_linalg_Dot_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
} rev_linalg_Dot_float32;

REV_STATIC_INLINE int32_t rev_linalg_Dot_float32_run(int32_t pass, const rev_linalg_Dot_float32 *k, const rev_linalg_Dot_float32 *g, const rev_linalg_Dot_float32 *t, const rev_linalg_Dot_float32 *gt) {
	const rev_linalg_Dot_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Dot[float32]"), pass, a, n);
}

/* r += Σ conj(x_i)·y_i */
typedef struct rev_linalg_Dot_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
} rev_linalg_Dot_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Dot_Q43_run(int32_t pass, const rev_linalg_Dot_Q43 *k, const rev_linalg_Dot_Q43 *g, const rev_linalg_Dot_Q43 *t, const rev_linalg_Dot_Q43 *gt) {
	const rev_linalg_Dot_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Dot[Q43]"), pass, a, n);
}

/* r += Σ conj(x_i)·y_i */
typedef struct rev_linalg_Dot_complex128 {
	rev_complex *Out; /* acc [optional] */
	rev_complex128_vector X; /* in; n */
	rev_complex128_vector Y; /* in; n */
} rev_linalg_Dot_complex128;

REV_STATIC_INLINE int32_t rev_linalg_Dot_complex128_run(int32_t pass, const rev_linalg_Dot_complex128 *k, const rev_linalg_Dot_complex128 *g, const rev_linalg_Dot_complex128 *t, const rev_linalg_Dot_complex128 *gt) {
	const rev_linalg_Dot_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_complex128_scalar_arg(p, 0, 4, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 2, 4, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Dot[complex128]"), pass, a, n);
}

/* r += Σ x_i */
typedef struct rev_linalg_Sum {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_linalg_Sum;

REV_STATIC_INLINE int32_t rev_linalg_Sum_run(int32_t pass, const rev_linalg_Sum *k, const rev_linalg_Sum *g, const rev_linalg_Sum *t, const rev_linalg_Sum *gt) {
	const rev_linalg_Sum *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Sum[float64]"), pass, a, n);
}

/* r += Σ x_i */
typedef struct rev_linalg_Sum_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_linalg_Sum_float32;

REV_STATIC_INLINE int32_t rev_linalg_Sum_float32_run(int32_t pass, const rev_linalg_Sum_float32 *k, const rev_linalg_Sum_float32 *g, const rev_linalg_Sum_float32 *t, const rev_linalg_Sum_float32 *gt) {
	const rev_linalg_Sum_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Sum[float32]"), pass, a, n);
}

/* r += Σ x_i */
typedef struct rev_linalg_Sum_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_linalg_Sum_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Sum_Q43_run(int32_t pass, const rev_linalg_Sum_Q43 *k, const rev_linalg_Sum_Q43 *g, const rev_linalg_Sum_Q43 *t, const rev_linalg_Sum_Q43 *gt) {
	const rev_linalg_Sum_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Sum[Q43]"), pass, a, n);
}

/* r += Σ x_i */
typedef struct rev_linalg_Sum_complex128 {
	rev_complex *Out; /* acc [optional] */
	rev_complex128_vector X; /* in; n */
} rev_linalg_Sum_complex128;

REV_STATIC_INLINE int32_t rev_linalg_Sum_complex128_run(int32_t pass, const rev_linalg_Sum_complex128 *k, const rev_linalg_Sum_complex128 *g, const rev_linalg_Sum_complex128 *t, const rev_linalg_Sum_complex128 *gt) {
	const rev_linalg_Sum_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_complex128_scalar_arg(p, 0, 4, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Sum[complex128]"), pass, a, n);
}

/* r += Σ x_i² */
typedef struct rev_linalg_SumSquares {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_linalg_SumSquares;

REV_STATIC_INLINE int32_t rev_linalg_SumSquares_run(int32_t pass, const rev_linalg_SumSquares *k, const rev_linalg_SumSquares *g, const rev_linalg_SumSquares *t, const rev_linalg_SumSquares *gt) {
	const rev_linalg_SumSquares *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.SumSquares[float64]"), pass, a, n);
}

/* r += Σ x_i² */
typedef struct rev_linalg_SumSquares_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_linalg_SumSquares_float32;

REV_STATIC_INLINE int32_t rev_linalg_SumSquares_float32_run(int32_t pass, const rev_linalg_SumSquares_float32 *k, const rev_linalg_SumSquares_float32 *g, const rev_linalg_SumSquares_float32 *t, const rev_linalg_SumSquares_float32 *gt) {
	const rev_linalg_SumSquares_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.SumSquares[float32]"), pass, a, n);
}

/* r += Σ x_i² */
typedef struct rev_linalg_SumSquares_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_linalg_SumSquares_Q43;

REV_STATIC_INLINE int32_t rev_linalg_SumSquares_Q43_run(int32_t pass, const rev_linalg_SumSquares_Q43 *k, const rev_linalg_SumSquares_Q43 *g, const rev_linalg_SumSquares_Q43 *t, const rev_linalg_SumSquares_Q43 *gt) {
	const rev_linalg_SumSquares_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.SumSquares[Q43]"), pass, a, n);
}

/* r += ‖x‖ */
typedef struct rev_linalg_Norm2 {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_linalg_Norm2;

REV_STATIC_INLINE int32_t rev_linalg_Norm2_run(int32_t pass, const rev_linalg_Norm2 *k, const rev_linalg_Norm2 *g, const rev_linalg_Norm2 *t, const rev_linalg_Norm2 *gt) {
	const rev_linalg_Norm2 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Norm2[float64]"), pass, a, n);
}

/* r += ‖x‖ */
typedef struct rev_linalg_Norm2_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_linalg_Norm2_float32;

REV_STATIC_INLINE int32_t rev_linalg_Norm2_float32_run(int32_t pass, const rev_linalg_Norm2_float32 *k, const rev_linalg_Norm2_float32 *g, const rev_linalg_Norm2_float32 *t, const rev_linalg_Norm2_float32 *gt) {
	const rev_linalg_Norm2_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Norm2[float32]"), pass, a, n);
}

/* r += ‖x‖ */
typedef struct rev_linalg_Norm2_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_linalg_Norm2_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Norm2_Q43_run(int32_t pass, const rev_linalg_Norm2_Q43 *k, const rev_linalg_Norm2_Q43 *g, const rev_linalg_Norm2_Q43 *t, const rev_linalg_Norm2_Q43 *gt) {
	const rev_linalg_Norm2_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Norm2[Q43]"), pass, a, n);
}

/* r += ‖A‖_F */
typedef struct rev_linalg_Frobenius {
	double *Out; /* acc [optional] */
	rev_float64_matrix A; /* in; m,n */
} rev_linalg_Frobenius;

REV_STATIC_INLINE int32_t rev_linalg_Frobenius_run(int32_t pass, const rev_linalg_Frobenius *k, const rev_linalg_Frobenius *g, const rev_linalg_Frobenius *t, const rev_linalg_Frobenius *gt) {
	const rev_linalg_Frobenius *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.Frobenius[float64]"), pass, a, n);
}

/* r += ‖A‖_F */
typedef struct rev_linalg_Frobenius_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix A; /* in; m,n */
} rev_linalg_Frobenius_float32;

REV_STATIC_INLINE int32_t rev_linalg_Frobenius_float32_run(int32_t pass, const rev_linalg_Frobenius_float32 *k, const rev_linalg_Frobenius_float32 *g, const rev_linalg_Frobenius_float32 *t, const rev_linalg_Frobenius_float32 *gt) {
	const rev_linalg_Frobenius_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.Frobenius[float32]"), pass, a, n);
}

/* r += ‖A‖_F */
typedef struct rev_linalg_Frobenius_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix A; /* in; m,n */
} rev_linalg_Frobenius_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Frobenius_Q43_run(int32_t pass, const rev_linalg_Frobenius_Q43 *k, const rev_linalg_Frobenius_Q43 *g, const rev_linalg_Frobenius_Q43 *t, const rev_linalg_Frobenius_Q43 *gt) {
	const rev_linalg_Frobenius_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.Frobenius[Q43]"), pass, a, n);
}

/* r += ‖x‖₁ */
typedef struct rev_linalg_Norm1 {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_linalg_Norm1;

REV_STATIC_INLINE int32_t rev_linalg_Norm1_run(int32_t pass, const rev_linalg_Norm1 *k, const rev_linalg_Norm1 *g, const rev_linalg_Norm1 *t, const rev_linalg_Norm1 *gt) {
	const rev_linalg_Norm1 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Norm1[float64]"), pass, a, n);
}

/* r += ‖x‖₁ */
typedef struct rev_linalg_Norm1_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_linalg_Norm1_float32;

REV_STATIC_INLINE int32_t rev_linalg_Norm1_float32_run(int32_t pass, const rev_linalg_Norm1_float32 *k, const rev_linalg_Norm1_float32 *g, const rev_linalg_Norm1_float32 *t, const rev_linalg_Norm1_float32 *gt) {
	const rev_linalg_Norm1_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Norm1[float32]"), pass, a, n);
}

/* r += ‖x‖₁ */
typedef struct rev_linalg_Norm1_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_linalg_Norm1_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Norm1_Q43_run(int32_t pass, const rev_linalg_Norm1_Q43 *k, const rev_linalg_Norm1_Q43 *g, const rev_linalg_Norm1_Q43 *t, const rev_linalg_Norm1_Q43 *gt) {
	const rev_linalg_Norm1_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Norm1[Q43]"), pass, a, n);
}

/* r += ‖x‖_∞ */
typedef struct rev_linalg_NormInf {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_linalg_NormInf;

REV_STATIC_INLINE int32_t rev_linalg_NormInf_run(int32_t pass, const rev_linalg_NormInf *k, const rev_linalg_NormInf *g, const rev_linalg_NormInf *t, const rev_linalg_NormInf *gt) {
	const rev_linalg_NormInf *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.NormInf[float64]"), pass, a, n);
}

/* r += ‖x‖_∞ */
typedef struct rev_linalg_NormInf_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_linalg_NormInf_float32;

REV_STATIC_INLINE int32_t rev_linalg_NormInf_float32_run(int32_t pass, const rev_linalg_NormInf_float32 *k, const rev_linalg_NormInf_float32 *g, const rev_linalg_NormInf_float32 *t, const rev_linalg_NormInf_float32 *gt) {
	const rev_linalg_NormInf_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.NormInf[float32]"), pass, a, n);
}

/* r += ‖x‖_∞ */
typedef struct rev_linalg_NormInf_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_linalg_NormInf_Q43;

REV_STATIC_INLINE int32_t rev_linalg_NormInf_Q43_run(int32_t pass, const rev_linalg_NormInf_Q43 *k, const rev_linalg_NormInf_Q43 *g, const rev_linalg_NormInf_Q43 *t, const rev_linalg_NormInf_Q43 *gt) {
	const rev_linalg_NormInf_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.NormInf[Q43]"), pass, a, n);
}

/* A += α·x·yᵀ */
typedef struct rev_linalg_Outer {
	rev_float64_matrix A; /* acc [optional]; m,n */
	double *Alpha; /* in */
	rev_float64_vector X; /* in; m */
	rev_float64_vector Y; /* in; n */
} rev_linalg_Outer;

REV_STATIC_INLINE int32_t rev_linalg_Outer_run(int32_t pass, const rev_linalg_Outer *k, const rev_linalg_Outer *g, const rev_linalg_Outer *t, const rev_linalg_Outer *gt) {
	const rev_linalg_Outer *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->A);
		if (parts[p]->Alpha) a[n++] = rev_float64_scalar_arg(p, 1, 1, parts[p]->Alpha);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Outer[float64]"), pass, a, n);
}

/* A += α·x·yᵀ */
typedef struct rev_linalg_Outer_float32 {
	rev_float32_matrix A; /* acc [optional]; m,n */
	float *Alpha; /* in */
	rev_float32_vector X; /* in; m */
	rev_float32_vector Y; /* in; n */
} rev_linalg_Outer_float32;

REV_STATIC_INLINE int32_t rev_linalg_Outer_float32_run(int32_t pass, const rev_linalg_Outer_float32 *k, const rev_linalg_Outer_float32 *g, const rev_linalg_Outer_float32 *t, const rev_linalg_Outer_float32 *gt) {
	const rev_linalg_Outer_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->A);
		if (parts[p]->Alpha) a[n++] = rev_float32_scalar_arg(p, 1, 2, parts[p]->Alpha);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Outer[float32]"), pass, a, n);
}

/* A += α·x·yᵀ */
typedef struct rev_linalg_Outer_Q43 {
	rev_Q43_matrix A; /* acc [optional]; m,n */
	rev_Q43 *Alpha; /* in */
	rev_Q43_vector X; /* in; m */
	rev_Q43_vector Y; /* in; n */
} rev_linalg_Outer_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Outer_Q43_run(int32_t pass, const rev_linalg_Outer_Q43 *k, const rev_linalg_Outer_Q43 *g, const rev_linalg_Outer_Q43 *t, const rev_linalg_Outer_Q43 *gt) {
	const rev_linalg_Outer_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->A.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->A);
		if (parts[p]->Alpha) a[n++] = rev_Q43_scalar_arg(p, 1, 3, parts[p]->Alpha);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Outer[Q43]"), pass, a, n);
}

/* r += mean of x */
typedef struct rev_linalg_Mean {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_linalg_Mean;

REV_STATIC_INLINE int32_t rev_linalg_Mean_run(int32_t pass, const rev_linalg_Mean *k, const rev_linalg_Mean *g, const rev_linalg_Mean *t, const rev_linalg_Mean *gt) {
	const rev_linalg_Mean *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Mean[float64]"), pass, a, n);
}

/* r += mean of x */
typedef struct rev_linalg_Mean_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_linalg_Mean_float32;

REV_STATIC_INLINE int32_t rev_linalg_Mean_float32_run(int32_t pass, const rev_linalg_Mean_float32 *k, const rev_linalg_Mean_float32 *g, const rev_linalg_Mean_float32 *t, const rev_linalg_Mean_float32 *gt) {
	const rev_linalg_Mean_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Mean[float32]"), pass, a, n);
}

/* r += mean of x */
typedef struct rev_linalg_Mean_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_linalg_Mean_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Mean_Q43_run(int32_t pass, const rev_linalg_Mean_Q43 *k, const rev_linalg_Mean_Q43 *g, const rev_linalg_Mean_Q43 *t, const rev_linalg_Mean_Q43 *gt) {
	const rev_linalg_Mean_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Mean[Q43]"), pass, a, n);
}

/* r += variance of x */
typedef struct rev_linalg_Variance {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_linalg_Variance;

REV_STATIC_INLINE int32_t rev_linalg_Variance_run(int32_t pass, const rev_linalg_Variance *k, const rev_linalg_Variance *g, const rev_linalg_Variance *t, const rev_linalg_Variance *gt) {
	const rev_linalg_Variance *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Variance[float64]"), pass, a, n);
}

/* r += variance of x */
typedef struct rev_linalg_Variance_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_linalg_Variance_float32;

REV_STATIC_INLINE int32_t rev_linalg_Variance_float32_run(int32_t pass, const rev_linalg_Variance_float32 *k, const rev_linalg_Variance_float32 *g, const rev_linalg_Variance_float32 *t, const rev_linalg_Variance_float32 *gt) {
	const rev_linalg_Variance_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Variance[float32]"), pass, a, n);
}

/* r += variance of x */
typedef struct rev_linalg_Variance_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_linalg_Variance_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Variance_Q43_run(int32_t pass, const rev_linalg_Variance_Q43 *k, const rev_linalg_Variance_Q43 *g, const rev_linalg_Variance_Q43 *t, const rev_linalg_Variance_Q43 *gt) {
	const rev_linalg_Variance_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.Variance[Q43]"), pass, a, n);
}

/* C += covariance of the columns of X */
typedef struct rev_linalg_Covariance {
	rev_float64_matrix C; /* acc [optional]; k,k */
	rev_float64_matrix X; /* in; n,k */
	int64_t Workers;
} rev_linalg_Covariance;

REV_STATIC_INLINE int32_t rev_linalg_Covariance_run(int32_t pass, const rev_linalg_Covariance *k, const rev_linalg_Covariance *g, const rev_linalg_Covariance *t, const rev_linalg_Covariance *gt) {
	const rev_linalg_Covariance *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Covariance[float64]"), pass, a, n);
}

/* C += covariance of the columns of X */
typedef struct rev_linalg_Covariance_float32 {
	rev_float32_matrix C; /* acc [optional]; k,k */
	rev_float32_matrix X; /* in; n,k */
	int64_t Workers;
} rev_linalg_Covariance_float32;

REV_STATIC_INLINE int32_t rev_linalg_Covariance_float32_run(int32_t pass, const rev_linalg_Covariance_float32 *k, const rev_linalg_Covariance_float32 *g, const rev_linalg_Covariance_float32 *t, const rev_linalg_Covariance_float32 *gt) {
	const rev_linalg_Covariance_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Covariance[float32]"), pass, a, n);
}

/* C += covariance of the columns of X */
typedef struct rev_linalg_Covariance_Q43 {
	rev_Q43_matrix C; /* acc [optional]; k,k */
	rev_Q43_matrix X; /* in; n,k */
	int64_t Workers;
} rev_linalg_Covariance_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Covariance_Q43_run(int32_t pass, const rev_linalg_Covariance_Q43 *k, const rev_linalg_Covariance_Q43 *g, const rev_linalg_Covariance_Q43 *t, const rev_linalg_Covariance_Q43 *gt) {
	const rev_linalg_Covariance_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Covariance[Q43]"), pass, a, n);
}

/* r += Σ abs(x_i)² */
typedef struct rev_linalg_ComplexSumSquares_complex128 {
	double *Out; /* acc [optional] */
	rev_complex128_vector X; /* in; n */
} rev_linalg_ComplexSumSquares_complex128;

REV_STATIC_INLINE int32_t rev_linalg_ComplexSumSquares_complex128_run(int32_t pass, const rev_linalg_ComplexSumSquares_complex128 *k, const rev_linalg_ComplexSumSquares_complex128 *g, const rev_linalg_ComplexSumSquares_complex128 *t, const rev_linalg_ComplexSumSquares_complex128 *gt) {
	const rev_linalg_ComplexSumSquares_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.ComplexSumSquares[complex128]"), pass, a, n);
}

/* r += ‖x‖₁ */
typedef struct rev_linalg_ComplexNorm1_complex128 {
	double *Out; /* acc [optional] */
	rev_complex128_vector X; /* in; n */
} rev_linalg_ComplexNorm1_complex128;

REV_STATIC_INLINE int32_t rev_linalg_ComplexNorm1_complex128_run(int32_t pass, const rev_linalg_ComplexNorm1_complex128 *k, const rev_linalg_ComplexNorm1_complex128 *g, const rev_linalg_ComplexNorm1_complex128 *t, const rev_linalg_ComplexNorm1_complex128 *gt) {
	const rev_linalg_ComplexNorm1_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.ComplexNorm1[complex128]"), pass, a, n);
}

/* r += ‖x‖ */
typedef struct rev_linalg_ComplexNorm2_complex128 {
	double *Out; /* acc [optional] */
	rev_complex128_vector X; /* in; n */
} rev_linalg_ComplexNorm2_complex128;

REV_STATIC_INLINE int32_t rev_linalg_ComplexNorm2_complex128_run(int32_t pass, const rev_linalg_ComplexNorm2_complex128 *k, const rev_linalg_ComplexNorm2_complex128 *g, const rev_linalg_ComplexNorm2_complex128 *t, const rev_linalg_ComplexNorm2_complex128 *gt) {
	const rev_linalg_ComplexNorm2_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.ComplexNorm2[complex128]"), pass, a, n);
}

/* r += ‖A‖_F */
typedef struct rev_linalg_ComplexFrobenius_complex128 {
	double *Out; /* acc [optional] */
	rev_complex128_matrix A; /* in; m,n */
} rev_linalg_ComplexFrobenius_complex128;

REV_STATIC_INLINE int32_t rev_linalg_ComplexFrobenius_complex128_run(int32_t pass, const rev_linalg_ComplexFrobenius_complex128 *k, const rev_linalg_ComplexFrobenius_complex128 *g, const rev_linalg_ComplexFrobenius_complex128 *t, const rev_linalg_ComplexFrobenius_complex128 *gt) {
	const rev_linalg_ComplexFrobenius_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_complex128_matrix_arg(p, 1, 4, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.ComplexFrobenius[complex128]"), pass, a, n);
}

/* y_i += abs x_i */
typedef struct rev_linalg_ComplexAbs_complex128 {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_complex128_vector X; /* in; n */
} rev_linalg_ComplexAbs_complex128;

REV_STATIC_INLINE int32_t rev_linalg_ComplexAbs_complex128_run(int32_t pass, const rev_linalg_ComplexAbs_complex128 *k, const rev_linalg_ComplexAbs_complex128 *g, const rev_linalg_ComplexAbs_complex128 *t, const rev_linalg_ComplexAbs_complex128 *gt) {
	const rev_linalg_ComplexAbs_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.ComplexAbs[complex128]"), pass, a, n);
}

/* y_i += exp x_i */
typedef struct rev_linalg_Exp {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Exp;

REV_STATIC_INLINE int32_t rev_linalg_Exp_run(int32_t pass, const rev_linalg_Exp *k, const rev_linalg_Exp *g, const rev_linalg_Exp *t, const rev_linalg_Exp *gt) {
	const rev_linalg_Exp *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Exp[float64]"), pass, a, n);
}

/* y_i += exp x_i */
typedef struct rev_linalg_Exp_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Exp_float32;

REV_STATIC_INLINE int32_t rev_linalg_Exp_float32_run(int32_t pass, const rev_linalg_Exp_float32 *k, const rev_linalg_Exp_float32 *g, const rev_linalg_Exp_float32 *t, const rev_linalg_Exp_float32 *gt) {
	const rev_linalg_Exp_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Exp[float32]"), pass, a, n);
}

/* y_i += exp x_i */
typedef struct rev_linalg_Exp_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Exp_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Exp_Q43_run(int32_t pass, const rev_linalg_Exp_Q43 *k, const rev_linalg_Exp_Q43 *g, const rev_linalg_Exp_Q43 *t, const rev_linalg_Exp_Q43 *gt) {
	const rev_linalg_Exp_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Exp[Q43]"), pass, a, n);
}

/* y_i += log x_i */
typedef struct rev_linalg_Log {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Log;

REV_STATIC_INLINE int32_t rev_linalg_Log_run(int32_t pass, const rev_linalg_Log *k, const rev_linalg_Log *g, const rev_linalg_Log *t, const rev_linalg_Log *gt) {
	const rev_linalg_Log *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Log[float64]"), pass, a, n);
}

/* y_i += log x_i */
typedef struct rev_linalg_Log_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Log_float32;

REV_STATIC_INLINE int32_t rev_linalg_Log_float32_run(int32_t pass, const rev_linalg_Log_float32 *k, const rev_linalg_Log_float32 *g, const rev_linalg_Log_float32 *t, const rev_linalg_Log_float32 *gt) {
	const rev_linalg_Log_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Log[float32]"), pass, a, n);
}

/* y_i += log x_i */
typedef struct rev_linalg_Log_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Log_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Log_Q43_run(int32_t pass, const rev_linalg_Log_Q43 *k, const rev_linalg_Log_Q43 *g, const rev_linalg_Log_Q43 *t, const rev_linalg_Log_Q43 *gt) {
	const rev_linalg_Log_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Log[Q43]"), pass, a, n);
}

/* y_i += log x_i */
typedef struct rev_linalg_Log_complex128 {
	rev_complex128_vector Y; /* acc [optional]; n */
	rev_complex128_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Log_complex128;

REV_STATIC_INLINE int32_t rev_linalg_Log_complex128_run(int32_t pass, const rev_linalg_Log_complex128 *k, const rev_linalg_Log_complex128 *g, const rev_linalg_Log_complex128 *t, const rev_linalg_Log_complex128 *gt) {
	const rev_linalg_Log_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Log[complex128]"), pass, a, n);
}

/* y_i += √x_i */
typedef struct rev_linalg_Sqrt {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Sqrt;

REV_STATIC_INLINE int32_t rev_linalg_Sqrt_run(int32_t pass, const rev_linalg_Sqrt *k, const rev_linalg_Sqrt *g, const rev_linalg_Sqrt *t, const rev_linalg_Sqrt *gt) {
	const rev_linalg_Sqrt *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Sqrt[float64]"), pass, a, n);
}

/* y_i += √x_i */
typedef struct rev_linalg_Sqrt_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Sqrt_float32;

REV_STATIC_INLINE int32_t rev_linalg_Sqrt_float32_run(int32_t pass, const rev_linalg_Sqrt_float32 *k, const rev_linalg_Sqrt_float32 *g, const rev_linalg_Sqrt_float32 *t, const rev_linalg_Sqrt_float32 *gt) {
	const rev_linalg_Sqrt_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Sqrt[float32]"), pass, a, n);
}

/* y_i += √x_i */
typedef struct rev_linalg_Sqrt_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Sqrt_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Sqrt_Q43_run(int32_t pass, const rev_linalg_Sqrt_Q43 *k, const rev_linalg_Sqrt_Q43 *g, const rev_linalg_Sqrt_Q43 *t, const rev_linalg_Sqrt_Q43 *gt) {
	const rev_linalg_Sqrt_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Sqrt[Q43]"), pass, a, n);
}

/* y_i += sin x_i */
typedef struct rev_linalg_Sin {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Sin;

REV_STATIC_INLINE int32_t rev_linalg_Sin_run(int32_t pass, const rev_linalg_Sin *k, const rev_linalg_Sin *g, const rev_linalg_Sin *t, const rev_linalg_Sin *gt) {
	const rev_linalg_Sin *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Sin[float64]"), pass, a, n);
}

/* y_i += sin x_i */
typedef struct rev_linalg_Sin_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Sin_float32;

REV_STATIC_INLINE int32_t rev_linalg_Sin_float32_run(int32_t pass, const rev_linalg_Sin_float32 *k, const rev_linalg_Sin_float32 *g, const rev_linalg_Sin_float32 *t, const rev_linalg_Sin_float32 *gt) {
	const rev_linalg_Sin_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Sin[float32]"), pass, a, n);
}

/* y_i += sin x_i */
typedef struct rev_linalg_Sin_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Sin_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Sin_Q43_run(int32_t pass, const rev_linalg_Sin_Q43 *k, const rev_linalg_Sin_Q43 *g, const rev_linalg_Sin_Q43 *t, const rev_linalg_Sin_Q43 *gt) {
	const rev_linalg_Sin_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Sin[Q43]"), pass, a, n);
}

/* y_i += cos x_i */
typedef struct rev_linalg_Cos {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Cos;

REV_STATIC_INLINE int32_t rev_linalg_Cos_run(int32_t pass, const rev_linalg_Cos *k, const rev_linalg_Cos *g, const rev_linalg_Cos *t, const rev_linalg_Cos *gt) {
	const rev_linalg_Cos *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Cos[float64]"), pass, a, n);
}

/* y_i += cos x_i */
typedef struct rev_linalg_Cos_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Cos_float32;

REV_STATIC_INLINE int32_t rev_linalg_Cos_float32_run(int32_t pass, const rev_linalg_Cos_float32 *k, const rev_linalg_Cos_float32 *g, const rev_linalg_Cos_float32 *t, const rev_linalg_Cos_float32 *gt) {
	const rev_linalg_Cos_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Cos[float32]"), pass, a, n);
}

/* y_i += cos x_i */
typedef struct rev_linalg_Cos_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Cos_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Cos_Q43_run(int32_t pass, const rev_linalg_Cos_Q43 *k, const rev_linalg_Cos_Q43 *g, const rev_linalg_Cos_Q43 *t, const rev_linalg_Cos_Q43 *gt) {
	const rev_linalg_Cos_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Cos[Q43]"), pass, a, n);
}

/* y_i += tan x_i */
typedef struct rev_linalg_Tan {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Tan;

REV_STATIC_INLINE int32_t rev_linalg_Tan_run(int32_t pass, const rev_linalg_Tan *k, const rev_linalg_Tan *g, const rev_linalg_Tan *t, const rev_linalg_Tan *gt) {
	const rev_linalg_Tan *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Tan[float64]"), pass, a, n);
}

/* y_i += tan x_i */
typedef struct rev_linalg_Tan_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Tan_float32;

REV_STATIC_INLINE int32_t rev_linalg_Tan_float32_run(int32_t pass, const rev_linalg_Tan_float32 *k, const rev_linalg_Tan_float32 *g, const rev_linalg_Tan_float32 *t, const rev_linalg_Tan_float32 *gt) {
	const rev_linalg_Tan_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Tan[float32]"), pass, a, n);
}

/* y_i += tan x_i */
typedef struct rev_linalg_Tan_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Tan_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Tan_Q43_run(int32_t pass, const rev_linalg_Tan_Q43 *k, const rev_linalg_Tan_Q43 *g, const rev_linalg_Tan_Q43 *t, const rev_linalg_Tan_Q43 *gt) {
	const rev_linalg_Tan_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Tan[Q43]"), pass, a, n);
}

/* y_i += exp(x_i) - 1 */
typedef struct rev_linalg_Expm1 {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Expm1;

REV_STATIC_INLINE int32_t rev_linalg_Expm1_run(int32_t pass, const rev_linalg_Expm1 *k, const rev_linalg_Expm1 *g, const rev_linalg_Expm1 *t, const rev_linalg_Expm1 *gt) {
	const rev_linalg_Expm1 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Expm1[float64]"), pass, a, n);
}

/* y_i += exp(x_i) - 1 */
typedef struct rev_linalg_Expm1_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Expm1_float32;

REV_STATIC_INLINE int32_t rev_linalg_Expm1_float32_run(int32_t pass, const rev_linalg_Expm1_float32 *k, const rev_linalg_Expm1_float32 *g, const rev_linalg_Expm1_float32 *t, const rev_linalg_Expm1_float32 *gt) {
	const rev_linalg_Expm1_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Expm1[float32]"), pass, a, n);
}

/* y_i += exp(x_i) - 1 */
typedef struct rev_linalg_Expm1_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Expm1_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Expm1_Q43_run(int32_t pass, const rev_linalg_Expm1_Q43 *k, const rev_linalg_Expm1_Q43 *g, const rev_linalg_Expm1_Q43 *t, const rev_linalg_Expm1_Q43 *gt) {
	const rev_linalg_Expm1_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Expm1[Q43]"), pass, a, n);
}

/* y_i += log(1 + x_i) */
typedef struct rev_linalg_Log1p {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Log1p;

REV_STATIC_INLINE int32_t rev_linalg_Log1p_run(int32_t pass, const rev_linalg_Log1p *k, const rev_linalg_Log1p *g, const rev_linalg_Log1p *t, const rev_linalg_Log1p *gt) {
	const rev_linalg_Log1p *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Log1p[float64]"), pass, a, n);
}

/* y_i += log(1 + x_i) */
typedef struct rev_linalg_Log1p_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Log1p_float32;

REV_STATIC_INLINE int32_t rev_linalg_Log1p_float32_run(int32_t pass, const rev_linalg_Log1p_float32 *k, const rev_linalg_Log1p_float32 *g, const rev_linalg_Log1p_float32 *t, const rev_linalg_Log1p_float32 *gt) {
	const rev_linalg_Log1p_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Log1p[float32]"), pass, a, n);
}

/* y_i += log(1 + x_i) */
typedef struct rev_linalg_Log1p_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Log1p_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Log1p_Q43_run(int32_t pass, const rev_linalg_Log1p_Q43 *k, const rev_linalg_Log1p_Q43 *g, const rev_linalg_Log1p_Q43 *t, const rev_linalg_Log1p_Q43 *gt) {
	const rev_linalg_Log1p_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Log1p[Q43]"), pass, a, n);
}

/* y_i += erf x_i */
typedef struct rev_linalg_Erf {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Erf;

REV_STATIC_INLINE int32_t rev_linalg_Erf_run(int32_t pass, const rev_linalg_Erf *k, const rev_linalg_Erf *g, const rev_linalg_Erf *t, const rev_linalg_Erf *gt) {
	const rev_linalg_Erf *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Erf[float64]"), pass, a, n);
}

/* y_i += erf x_i */
typedef struct rev_linalg_Erf_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Erf_float32;

REV_STATIC_INLINE int32_t rev_linalg_Erf_float32_run(int32_t pass, const rev_linalg_Erf_float32 *k, const rev_linalg_Erf_float32 *g, const rev_linalg_Erf_float32 *t, const rev_linalg_Erf_float32 *gt) {
	const rev_linalg_Erf_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Erf[float32]"), pass, a, n);
}

/* y_i += erf x_i */
typedef struct rev_linalg_Erf_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Erf_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Erf_Q43_run(int32_t pass, const rev_linalg_Erf_Q43 *k, const rev_linalg_Erf_Q43 *g, const rev_linalg_Erf_Q43 *t, const rev_linalg_Erf_Q43 *gt) {
	const rev_linalg_Erf_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Erf[Q43]"), pass, a, n);
}

/* y_i += abs x_i */
typedef struct rev_linalg_Abs {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Abs;

REV_STATIC_INLINE int32_t rev_linalg_Abs_run(int32_t pass, const rev_linalg_Abs *k, const rev_linalg_Abs *g, const rev_linalg_Abs *t, const rev_linalg_Abs *gt) {
	const rev_linalg_Abs *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Abs[float64]"), pass, a, n);
}

/* y_i += abs x_i */
typedef struct rev_linalg_Abs_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Abs_float32;

REV_STATIC_INLINE int32_t rev_linalg_Abs_float32_run(int32_t pass, const rev_linalg_Abs_float32 *k, const rev_linalg_Abs_float32 *g, const rev_linalg_Abs_float32 *t, const rev_linalg_Abs_float32 *gt) {
	const rev_linalg_Abs_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Abs[float32]"), pass, a, n);
}

/* y_i += abs x_i */
typedef struct rev_linalg_Abs_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Abs_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Abs_Q43_run(int32_t pass, const rev_linalg_Abs_Q43 *k, const rev_linalg_Abs_Q43 *g, const rev_linalg_Abs_Q43 *t, const rev_linalg_Abs_Q43 *gt) {
	const rev_linalg_Abs_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Abs[Q43]"), pass, a, n);
}

/* y_i += x_i² */
typedef struct rev_linalg_Square {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Square;

REV_STATIC_INLINE int32_t rev_linalg_Square_run(int32_t pass, const rev_linalg_Square *k, const rev_linalg_Square *g, const rev_linalg_Square *t, const rev_linalg_Square *gt) {
	const rev_linalg_Square *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Square[float64]"), pass, a, n);
}

/* y_i += x_i² */
typedef struct rev_linalg_Square_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Square_float32;

REV_STATIC_INLINE int32_t rev_linalg_Square_float32_run(int32_t pass, const rev_linalg_Square_float32 *k, const rev_linalg_Square_float32 *g, const rev_linalg_Square_float32 *t, const rev_linalg_Square_float32 *gt) {
	const rev_linalg_Square_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Square[float32]"), pass, a, n);
}

/* y_i += x_i² */
typedef struct rev_linalg_Square_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Square_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Square_Q43_run(int32_t pass, const rev_linalg_Square_Q43 *k, const rev_linalg_Square_Q43 *g, const rev_linalg_Square_Q43 *t, const rev_linalg_Square_Q43 *gt) {
	const rev_linalg_Square_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Square[Q43]"), pass, a, n);
}

/* y_i += x_i² */
typedef struct rev_linalg_Square_complex128 {
	rev_complex128_vector Y; /* acc [optional]; n */
	rev_complex128_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Square_complex128;

REV_STATIC_INLINE int32_t rev_linalg_Square_complex128_run(int32_t pass, const rev_linalg_Square_complex128 *k, const rev_linalg_Square_complex128 *g, const rev_linalg_Square_complex128 *t, const rev_linalg_Square_complex128 *gt) {
	const rev_linalg_Square_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Square[complex128]"), pass, a, n);
}

/* y_i += 1/x_i */
typedef struct rev_linalg_Recip {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Recip;

REV_STATIC_INLINE int32_t rev_linalg_Recip_run(int32_t pass, const rev_linalg_Recip *k, const rev_linalg_Recip *g, const rev_linalg_Recip *t, const rev_linalg_Recip *gt) {
	const rev_linalg_Recip *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Recip[float64]"), pass, a, n);
}

/* y_i += 1/x_i */
typedef struct rev_linalg_Recip_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Recip_float32;

REV_STATIC_INLINE int32_t rev_linalg_Recip_float32_run(int32_t pass, const rev_linalg_Recip_float32 *k, const rev_linalg_Recip_float32 *g, const rev_linalg_Recip_float32 *t, const rev_linalg_Recip_float32 *gt) {
	const rev_linalg_Recip_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Recip[float32]"), pass, a, n);
}

/* y_i += 1/x_i */
typedef struct rev_linalg_Recip_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Recip_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Recip_Q43_run(int32_t pass, const rev_linalg_Recip_Q43 *k, const rev_linalg_Recip_Q43 *g, const rev_linalg_Recip_Q43 *t, const rev_linalg_Recip_Q43 *gt) {
	const rev_linalg_Recip_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Recip[Q43]"), pass, a, n);
}

/* y_i += 1/x_i */
typedef struct rev_linalg_Recip_complex128 {
	rev_complex128_vector Y; /* acc [optional]; n */
	rev_complex128_vector X; /* in; n */
	int64_t Workers;
} rev_linalg_Recip_complex128;

REV_STATIC_INLINE int32_t rev_linalg_Recip_complex128_run(int32_t pass, const rev_linalg_Recip_complex128 *k, const rev_linalg_Recip_complex128 *g, const rev_linalg_Recip_complex128 *t, const rev_linalg_Recip_complex128 *gt) {
	const rev_linalg_Recip_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Recip[complex128]"), pass, a, n);
}

/* y_i += min(max(x_i, Lo), Hi) */
typedef struct rev_linalg_Clip {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	double Lo;
	double Hi;
	int64_t Workers;
} rev_linalg_Clip;

REV_STATIC_INLINE int32_t rev_linalg_Clip_run(int32_t pass, const rev_linalg_Clip *k, const rev_linalg_Clip *g, const rev_linalg_Clip *t, const rev_linalg_Clip *gt) {
	const rev_linalg_Clip *parts[4] = {k, g, t, gt};
	rev_arg a[11];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Lo);
	a[n++] = rev_parameter(1, (double)k->Hi);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Clip[float64]"), pass, a, n);
}

/* y_i += min(max(x_i, Lo), Hi) */
typedef struct rev_linalg_Clip_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	double Lo;
	double Hi;
	int64_t Workers;
} rev_linalg_Clip_float32;

REV_STATIC_INLINE int32_t rev_linalg_Clip_float32_run(int32_t pass, const rev_linalg_Clip_float32 *k, const rev_linalg_Clip_float32 *g, const rev_linalg_Clip_float32 *t, const rev_linalg_Clip_float32 *gt) {
	const rev_linalg_Clip_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[11];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Lo);
	a[n++] = rev_parameter(1, (double)k->Hi);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Clip[float32]"), pass, a, n);
}

/* y_i += min(max(x_i, Lo), Hi) */
typedef struct rev_linalg_Clip_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	double Lo;
	double Hi;
	int64_t Workers;
} rev_linalg_Clip_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Clip_Q43_run(int32_t pass, const rev_linalg_Clip_Q43 *k, const rev_linalg_Clip_Q43 *g, const rev_linalg_Clip_Q43 *t, const rev_linalg_Clip_Q43 *gt) {
	const rev_linalg_Clip_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[11];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Lo);
	a[n++] = rev_parameter(1, (double)k->Hi);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Clip[Q43]"), pass, a, n);
}

/* z_i += max(x_i, y_i) */
typedef struct rev_linalg_MaxElem {
	rev_float64_vector Z; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MaxElem;

REV_STATIC_INLINE int32_t rev_linalg_MaxElem_run(int32_t pass, const rev_linalg_MaxElem *k, const rev_linalg_MaxElem *g, const rev_linalg_MaxElem *t, const rev_linalg_MaxElem *gt) {
	const rev_linalg_MaxElem *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MaxElem[float64]"), pass, a, n);
}

/* z_i += max(x_i, y_i) */
typedef struct rev_linalg_MaxElem_float32 {
	rev_float32_vector Z; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MaxElem_float32;

REV_STATIC_INLINE int32_t rev_linalg_MaxElem_float32_run(int32_t pass, const rev_linalg_MaxElem_float32 *k, const rev_linalg_MaxElem_float32 *g, const rev_linalg_MaxElem_float32 *t, const rev_linalg_MaxElem_float32 *gt) {
	const rev_linalg_MaxElem_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MaxElem[float32]"), pass, a, n);
}

/* z_i += max(x_i, y_i) */
typedef struct rev_linalg_MaxElem_Q43 {
	rev_Q43_vector Z; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MaxElem_Q43;

REV_STATIC_INLINE int32_t rev_linalg_MaxElem_Q43_run(int32_t pass, const rev_linalg_MaxElem_Q43 *k, const rev_linalg_MaxElem_Q43 *g, const rev_linalg_MaxElem_Q43 *t, const rev_linalg_MaxElem_Q43 *gt) {
	const rev_linalg_MaxElem_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MaxElem[Q43]"), pass, a, n);
}

/* z_i += min(x_i, y_i) */
typedef struct rev_linalg_MinElem {
	rev_float64_vector Z; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MinElem;

REV_STATIC_INLINE int32_t rev_linalg_MinElem_run(int32_t pass, const rev_linalg_MinElem *k, const rev_linalg_MinElem *g, const rev_linalg_MinElem *t, const rev_linalg_MinElem *gt) {
	const rev_linalg_MinElem *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MinElem[float64]"), pass, a, n);
}

/* z_i += min(x_i, y_i) */
typedef struct rev_linalg_MinElem_float32 {
	rev_float32_vector Z; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MinElem_float32;

REV_STATIC_INLINE int32_t rev_linalg_MinElem_float32_run(int32_t pass, const rev_linalg_MinElem_float32 *k, const rev_linalg_MinElem_float32 *g, const rev_linalg_MinElem_float32 *t, const rev_linalg_MinElem_float32 *gt) {
	const rev_linalg_MinElem_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MinElem[float32]"), pass, a, n);
}

/* z_i += min(x_i, y_i) */
typedef struct rev_linalg_MinElem_Q43 {
	rev_Q43_vector Z; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MinElem_Q43;

REV_STATIC_INLINE int32_t rev_linalg_MinElem_Q43_run(int32_t pass, const rev_linalg_MinElem_Q43 *k, const rev_linalg_MinElem_Q43 *g, const rev_linalg_MinElem_Q43 *t, const rev_linalg_MinElem_Q43 *gt) {
	const rev_linalg_MinElem_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MinElem[Q43]"), pass, a, n);
}

/* z_i += x_i where c_i > 0, and y_i elsewhere */
typedef struct rev_linalg_Where {
	rev_float64_vector Z; /* acc [optional]; n */
	rev_float64_vector C; /* in; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Where;

REV_STATIC_INLINE int32_t rev_linalg_Where_run(int32_t pass, const rev_linalg_Where *k, const rev_linalg_Where *g, const rev_linalg_Where *t, const rev_linalg_Where *gt) {
	const rev_linalg_Where *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->C.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Where[float64]"), pass, a, n);
}

/* z_i += x_i where c_i > 0, and y_i elsewhere */
typedef struct rev_linalg_Where_float32 {
	rev_float32_vector Z; /* acc [optional]; n */
	rev_float32_vector C; /* in; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Where_float32;

REV_STATIC_INLINE int32_t rev_linalg_Where_float32_run(int32_t pass, const rev_linalg_Where_float32 *k, const rev_linalg_Where_float32 *g, const rev_linalg_Where_float32 *t, const rev_linalg_Where_float32 *gt) {
	const rev_linalg_Where_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->C.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Where[float32]"), pass, a, n);
}

/* z_i += x_i where c_i > 0, and y_i elsewhere */
typedef struct rev_linalg_Where_Q43 {
	rev_Q43_vector Z; /* acc [optional]; n */
	rev_Q43_vector C; /* in; n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Where_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Where_Q43_run(int32_t pass, const rev_linalg_Where_Q43 *k, const rev_linalg_Where_Q43 *g, const rev_linalg_Where_Q43 *t, const rev_linalg_Where_Q43 *gt) {
	const rev_linalg_Where_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->C.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Where[Q43]"), pass, a, n);
}

/* y_i += Σ_{j≤i} x_j */
typedef struct rev_linalg_CumSum {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
} rev_linalg_CumSum;

REV_STATIC_INLINE int32_t rev_linalg_CumSum_run(int32_t pass, const rev_linalg_CumSum *k, const rev_linalg_CumSum *g, const rev_linalg_CumSum *t, const rev_linalg_CumSum *gt) {
	const rev_linalg_CumSum *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.CumSum[float64]"), pass, a, n);
}

/* y_i += Σ_{j≤i} x_j */
typedef struct rev_linalg_CumSum_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
} rev_linalg_CumSum_float32;

REV_STATIC_INLINE int32_t rev_linalg_CumSum_float32_run(int32_t pass, const rev_linalg_CumSum_float32 *k, const rev_linalg_CumSum_float32 *g, const rev_linalg_CumSum_float32 *t, const rev_linalg_CumSum_float32 *gt) {
	const rev_linalg_CumSum_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.CumSum[float32]"), pass, a, n);
}

/* y_i += Σ_{j≤i} x_j */
typedef struct rev_linalg_CumSum_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
} rev_linalg_CumSum_Q43;

REV_STATIC_INLINE int32_t rev_linalg_CumSum_Q43_run(int32_t pass, const rev_linalg_CumSum_Q43 *k, const rev_linalg_CumSum_Q43 *g, const rev_linalg_CumSum_Q43 *t, const rev_linalg_CumSum_Q43 *gt) {
	const rev_linalg_CumSum_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.CumSum[Q43]"), pass, a, n);
}

/* y_i += Σ_{j≤i} x_j */
typedef struct rev_linalg_CumSum_complex128 {
	rev_complex128_vector Y; /* acc [optional]; n */
	rev_complex128_vector X; /* in; n */
} rev_linalg_CumSum_complex128;

REV_STATIC_INLINE int32_t rev_linalg_CumSum_complex128_run(int32_t pass, const rev_linalg_CumSum_complex128 *k, const rev_linalg_CumSum_complex128 *g, const rev_linalg_CumSum_complex128 *t, const rev_linalg_CumSum_complex128 *gt) {
	const rev_linalg_CumSum_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
	}
	return rev_call(rev_kernel("revlinalg.CumSum[complex128]"), pass, a, n);
}

/* z_i += x_i·y_i */
typedef struct rev_linalg_MulElem {
	rev_float64_vector Z; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MulElem;

REV_STATIC_INLINE int32_t rev_linalg_MulElem_run(int32_t pass, const rev_linalg_MulElem *k, const rev_linalg_MulElem *g, const rev_linalg_MulElem *t, const rev_linalg_MulElem *gt) {
	const rev_linalg_MulElem *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MulElem[float64]"), pass, a, n);
}

/* z_i += x_i·y_i */
typedef struct rev_linalg_MulElem_float32 {
	rev_float32_vector Z; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MulElem_float32;

REV_STATIC_INLINE int32_t rev_linalg_MulElem_float32_run(int32_t pass, const rev_linalg_MulElem_float32 *k, const rev_linalg_MulElem_float32 *g, const rev_linalg_MulElem_float32 *t, const rev_linalg_MulElem_float32 *gt) {
	const rev_linalg_MulElem_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MulElem[float32]"), pass, a, n);
}

/* z_i += x_i·y_i */
typedef struct rev_linalg_MulElem_Q43 {
	rev_Q43_vector Z; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MulElem_Q43;

REV_STATIC_INLINE int32_t rev_linalg_MulElem_Q43_run(int32_t pass, const rev_linalg_MulElem_Q43 *k, const rev_linalg_MulElem_Q43 *g, const rev_linalg_MulElem_Q43 *t, const rev_linalg_MulElem_Q43 *gt) {
	const rev_linalg_MulElem_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MulElem[Q43]"), pass, a, n);
}

/* z_i += x_i·y_i */
typedef struct rev_linalg_MulElem_complex128 {
	rev_complex128_vector Z; /* acc [optional]; n */
	rev_complex128_vector X; /* in; n */
	rev_complex128_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_MulElem_complex128;

REV_STATIC_INLINE int32_t rev_linalg_MulElem_complex128_run(int32_t pass, const rev_linalg_MulElem_complex128 *k, const rev_linalg_MulElem_complex128 *g, const rev_linalg_MulElem_complex128 *t, const rev_linalg_MulElem_complex128 *gt) {
	const rev_linalg_MulElem_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_complex128_vector_arg(p, 0, 4, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_complex128_vector_arg(p, 1, 4, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_complex128_vector_arg(p, 2, 4, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.MulElem[complex128]"), pass, a, n);
}

/* z_i += x_i × y_i */
typedef struct rev_linalg_Cross {
	rev_float64_matrix Z; /* acc [optional]; n,3 */
	rev_float64_matrix X; /* in; n,3 */
	rev_float64_matrix Y; /* in; n,3 */
} rev_linalg_Cross;

REV_STATIC_INLINE int32_t rev_linalg_Cross_run(int32_t pass, const rev_linalg_Cross *k, const rev_linalg_Cross *g, const rev_linalg_Cross *t, const rev_linalg_Cross *gt) {
	const rev_linalg_Cross *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Cross[float64]"), pass, a, n);
}

/* z_i += x_i × y_i */
typedef struct rev_linalg_Cross_float32 {
	rev_float32_matrix Z; /* acc [optional]; n,3 */
	rev_float32_matrix X; /* in; n,3 */
	rev_float32_matrix Y; /* in; n,3 */
} rev_linalg_Cross_float32;

REV_STATIC_INLINE int32_t rev_linalg_Cross_float32_run(int32_t pass, const rev_linalg_Cross_float32 *k, const rev_linalg_Cross_float32 *g, const rev_linalg_Cross_float32 *t, const rev_linalg_Cross_float32 *gt) {
	const rev_linalg_Cross_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Cross[float32]"), pass, a, n);
}

/* z_i += x_i × y_i */
typedef struct rev_linalg_Cross_Q43 {
	rev_Q43_matrix Z; /* acc [optional]; n,3 */
	rev_Q43_matrix X; /* in; n,3 */
	rev_Q43_matrix Y; /* in; n,3 */
} rev_linalg_Cross_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Cross_Q43_run(int32_t pass, const rev_linalg_Cross_Q43 *k, const rev_linalg_Cross_Q43 *g, const rev_linalg_Cross_Q43 *t, const rev_linalg_Cross_Q43 *gt) {
	const rev_linalg_Cross_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlinalg.Cross[Q43]"), pass, a, n);
}

/* z_i += x_i/y_i */
typedef struct rev_linalg_DivElem {
	rev_float64_vector Z; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_DivElem;

REV_STATIC_INLINE int32_t rev_linalg_DivElem_run(int32_t pass, const rev_linalg_DivElem *k, const rev_linalg_DivElem *g, const rev_linalg_DivElem *t, const rev_linalg_DivElem *gt) {
	const rev_linalg_DivElem *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.DivElem[float64]"), pass, a, n);
}

/* z_i += x_i/y_i */
typedef struct rev_linalg_DivElem_float32 {
	rev_float32_vector Z; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_DivElem_float32;

REV_STATIC_INLINE int32_t rev_linalg_DivElem_float32_run(int32_t pass, const rev_linalg_DivElem_float32 *k, const rev_linalg_DivElem_float32 *g, const rev_linalg_DivElem_float32 *t, const rev_linalg_DivElem_float32 *gt) {
	const rev_linalg_DivElem_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.DivElem[float32]"), pass, a, n);
}

/* z_i += x_i/y_i */
typedef struct rev_linalg_DivElem_Q43 {
	rev_Q43_vector Z; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_DivElem_Q43;

REV_STATIC_INLINE int32_t rev_linalg_DivElem_Q43_run(int32_t pass, const rev_linalg_DivElem_Q43 *k, const rev_linalg_DivElem_Q43 *g, const rev_linalg_DivElem_Q43 *t, const rev_linalg_DivElem_Q43 *gt) {
	const rev_linalg_DivElem_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.DivElem[Q43]"), pass, a, n);
}

/* z_i += atan2(x_i, y_i) */
typedef struct rev_linalg_Atan2 {
	rev_float64_vector Z; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Atan2;

REV_STATIC_INLINE int32_t rev_linalg_Atan2_run(int32_t pass, const rev_linalg_Atan2 *k, const rev_linalg_Atan2 *g, const rev_linalg_Atan2 *t, const rev_linalg_Atan2 *gt) {
	const rev_linalg_Atan2 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Atan2[float64]"), pass, a, n);
}

/* z_i += atan2(x_i, y_i) */
typedef struct rev_linalg_Atan2_float32 {
	rev_float32_vector Z; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Atan2_float32;

REV_STATIC_INLINE int32_t rev_linalg_Atan2_float32_run(int32_t pass, const rev_linalg_Atan2_float32 *k, const rev_linalg_Atan2_float32 *g, const rev_linalg_Atan2_float32 *t, const rev_linalg_Atan2_float32 *gt) {
	const rev_linalg_Atan2_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Atan2[float32]"), pass, a, n);
}

/* z_i += atan2(x_i, y_i) */
typedef struct rev_linalg_Atan2_Q43 {
	rev_Q43_vector Z; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Atan2_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Atan2_Q43_run(int32_t pass, const rev_linalg_Atan2_Q43 *k, const rev_linalg_Atan2_Q43 *g, const rev_linalg_Atan2_Q43 *t, const rev_linalg_Atan2_Q43 *gt) {
	const rev_linalg_Atan2_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Atan2[Q43]"), pass, a, n);
}

/* z_i += x_i^y_i */
typedef struct rev_linalg_Pow {
	rev_float64_vector Z; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Pow;

REV_STATIC_INLINE int32_t rev_linalg_Pow_run(int32_t pass, const rev_linalg_Pow *k, const rev_linalg_Pow *g, const rev_linalg_Pow *t, const rev_linalg_Pow *gt) {
	const rev_linalg_Pow *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Pow[float64]"), pass, a, n);
}

/* z_i += x_i^y_i */
typedef struct rev_linalg_Pow_float32 {
	rev_float32_vector Z; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Pow_float32;

REV_STATIC_INLINE int32_t rev_linalg_Pow_float32_run(int32_t pass, const rev_linalg_Pow_float32 *k, const rev_linalg_Pow_float32 *g, const rev_linalg_Pow_float32 *t, const rev_linalg_Pow_float32 *gt) {
	const rev_linalg_Pow_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Pow[float32]"), pass, a, n);
}

/* z_i += x_i^y_i */
typedef struct rev_linalg_Pow_Q43 {
	rev_Q43_vector Z; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	rev_Q43_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_Pow_Q43;

REV_STATIC_INLINE int32_t rev_linalg_Pow_Q43_run(int32_t pass, const rev_linalg_Pow_Q43 *k, const rev_linalg_Pow_Q43 *g, const rev_linalg_Pow_Q43 *t, const rev_linalg_Pow_Q43 *gt) {
	const rev_linalg_Pow_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Pow[Q43]"), pass, a, n);
}

/* y_i += J_ν(x_i) */
typedef struct rev_math_Bessel {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	double Nu;
} rev_math_Bessel;

REV_STATIC_INLINE int32_t rev_math_Bessel_run(int32_t pass, const rev_math_Bessel *k, const rev_math_Bessel *g, const rev_math_Bessel *t, const rev_math_Bessel *gt) {
	const rev_math_Bessel *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Nu);
	return rev_call(rev_kernel("revmath.Bessel[float64]"), pass, a, n);
}

/* y_i += J_ν(x_i) */
typedef struct rev_math_Bessel_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	double Nu;
} rev_math_Bessel_float32;

REV_STATIC_INLINE int32_t rev_math_Bessel_float32_run(int32_t pass, const rev_math_Bessel_float32 *k, const rev_math_Bessel_float32 *g, const rev_math_Bessel_float32 *t, const rev_math_Bessel_float32 *gt) {
	const rev_math_Bessel_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Nu);
	return rev_call(rev_kernel("revmath.Bessel[float32]"), pass, a, n);
}

/* y_i += J_ν(x_i) */
typedef struct rev_math_Bessel_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	double Nu;
} rev_math_Bessel_Q43;

REV_STATIC_INLINE int32_t rev_math_Bessel_Q43_run(int32_t pass, const rev_math_Bessel_Q43 *k, const rev_math_Bessel_Q43 *g, const rev_math_Bessel_Q43 *t, const rev_math_Bessel_Q43 *gt) {
	const rev_math_Bessel_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Nu);
	return rev_call(rev_kernel("revmath.Bessel[Q43]"), pass, a, n);
}

/* z += normal numbers of uniform ones u */
typedef struct rev_math_BoxMuller {
	rev_float64_vector Z1; /* acc [optional]; n */
	rev_float64_vector Z2; /* acc [optional]; n */
	rev_float64_vector U1; /* in; n */
	rev_float64_vector U2; /* in; n */
} rev_math_BoxMuller;

REV_STATIC_INLINE int32_t rev_math_BoxMuller_run(int32_t pass, const rev_math_BoxMuller *k, const rev_math_BoxMuller *g, const rev_math_BoxMuller *t, const rev_math_BoxMuller *gt) {
	const rev_math_BoxMuller *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z1.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z1);
		if (parts[p]->Z2.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Z2);
		if (parts[p]->U1.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->U1);
		if (parts[p]->U2.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->U2);
	}
	return rev_call(rev_kernel("revmath.BoxMuller[float64]"), pass, a, n);
}

/* z += normal numbers of uniform ones u */
typedef struct rev_math_BoxMuller_float32 {
	rev_float32_vector Z1; /* acc [optional]; n */
	rev_float32_vector Z2; /* acc [optional]; n */
	rev_float32_vector U1; /* in; n */
	rev_float32_vector U2; /* in; n */
} rev_math_BoxMuller_float32;

REV_STATIC_INLINE int32_t rev_math_BoxMuller_float32_run(int32_t pass, const rev_math_BoxMuller_float32 *k, const rev_math_BoxMuller_float32 *g, const rev_math_BoxMuller_float32 *t, const rev_math_BoxMuller_float32 *gt) {
	const rev_math_BoxMuller_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z1.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z1);
		if (parts[p]->Z2.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->Z2);
		if (parts[p]->U1.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->U1);
		if (parts[p]->U2.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->U2);
	}
	return rev_call(rev_kernel("revmath.BoxMuller[float32]"), pass, a, n);
}

/* z += normal numbers of uniform ones u */
typedef struct rev_math_BoxMuller_Q43 {
	rev_Q43_vector Z1; /* acc [optional]; n */
	rev_Q43_vector Z2; /* acc [optional]; n */
	rev_Q43_vector U1; /* in; n */
	rev_Q43_vector U2; /* in; n */
} rev_math_BoxMuller_Q43;

REV_STATIC_INLINE int32_t rev_math_BoxMuller_Q43_run(int32_t pass, const rev_math_BoxMuller_Q43 *k, const rev_math_BoxMuller_Q43 *g, const rev_math_BoxMuller_Q43 *t, const rev_math_BoxMuller_Q43 *gt) {
	const rev_math_BoxMuller_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z1.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Z1);
		if (parts[p]->Z2.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->Z2);
		if (parts[p]->U1.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->U1);
		if (parts[p]->U2.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->U2);
	}
	return rev_call(rev_kernel("revmath.BoxMuller[Q43]"), pass, a, n);
}

/* u += uniform numbers of normal ones z */
typedef struct rev_math_BoxMullerInverse {
	rev_float64_vector U1; /* acc [optional]; n */
	rev_float64_vector U2; /* acc [optional]; n */
	rev_float64_vector Z1; /* in; n */
	rev_float64_vector Z2; /* in; n */
} rev_math_BoxMullerInverse;

REV_STATIC_INLINE int32_t rev_math_BoxMullerInverse_run(int32_t pass, const rev_math_BoxMullerInverse *k, const rev_math_BoxMullerInverse *g, const rev_math_BoxMullerInverse *t, const rev_math_BoxMullerInverse *gt) {
	const rev_math_BoxMullerInverse *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U1.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->U1);
		if (parts[p]->U2.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->U2);
		if (parts[p]->Z1.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Z1);
		if (parts[p]->Z2.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Z2);
	}
	return rev_call(rev_kernel("revmath.BoxMullerInverse[float64]"), pass, a, n);
}

/* u += uniform numbers of normal ones z */
typedef struct rev_math_BoxMullerInverse_float32 {
	rev_float32_vector U1; /* acc [optional]; n */
	rev_float32_vector U2; /* acc [optional]; n */
	rev_float32_vector Z1; /* in; n */
	rev_float32_vector Z2; /* in; n */
} rev_math_BoxMullerInverse_float32;

REV_STATIC_INLINE int32_t rev_math_BoxMullerInverse_float32_run(int32_t pass, const rev_math_BoxMullerInverse_float32 *k, const rev_math_BoxMullerInverse_float32 *g, const rev_math_BoxMullerInverse_float32 *t, const rev_math_BoxMullerInverse_float32 *gt) {
	const rev_math_BoxMullerInverse_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U1.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->U1);
		if (parts[p]->U2.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->U2);
		if (parts[p]->Z1.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Z1);
		if (parts[p]->Z2.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->Z2);
	}
	return rev_call(rev_kernel("revmath.BoxMullerInverse[float32]"), pass, a, n);
}

/* u += uniform numbers of normal ones z */
typedef struct rev_math_BoxMullerInverse_Q43 {
	rev_Q43_vector U1; /* acc [optional]; n */
	rev_Q43_vector U2; /* acc [optional]; n */
	rev_Q43_vector Z1; /* in; n */
	rev_Q43_vector Z2; /* in; n */
} rev_math_BoxMullerInverse_Q43;

REV_STATIC_INLINE int32_t rev_math_BoxMullerInverse_Q43_run(int32_t pass, const rev_math_BoxMullerInverse_Q43 *k, const rev_math_BoxMullerInverse_Q43 *g, const rev_math_BoxMullerInverse_Q43 *t, const rev_math_BoxMullerInverse_Q43 *gt) {
	const rev_math_BoxMullerInverse_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U1.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->U1);
		if (parts[p]->U2.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->U2);
		if (parts[p]->Z1.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Z1);
		if (parts[p]->Z2.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->Z2);
	}
	return rev_call(rev_kernel("revmath.BoxMullerInverse[Q43]"), pass, a, n);
}

/* L += chol(A) */
typedef struct rev_linalg_Cholesky {
	rev_float64_matrix L; /* acc [optional]; n,n */
	rev_float64_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Cholesky;

REV_STATIC_INLINE int32_t rev_linalg_Cholesky_run(int32_t pass, const rev_linalg_Cholesky *k, const rev_linalg_Cholesky *g, const rev_linalg_Cholesky *t, const rev_linalg_Cholesky *gt) {
	const rev_linalg_Cholesky *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->L.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->L);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Cholesky[float64]"), pass, a, n);
}

/* L += chol(A) */
typedef struct rev_linalg_Cholesky_float32 {
	rev_float32_matrix L; /* acc [optional]; n,n */
	rev_float32_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Cholesky_float32;

REV_STATIC_INLINE int32_t rev_linalg_Cholesky_float32_run(int32_t pass, const rev_linalg_Cholesky_float32 *k, const rev_linalg_Cholesky_float32 *g, const rev_linalg_Cholesky_float32 *t, const rev_linalg_Cholesky_float32 *gt) {
	const rev_linalg_Cholesky_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->L.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->L);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Cholesky[float32]"), pass, a, n);
}

/* Q += Q(A), R += R(A), by reflections */
typedef struct rev_linalg_QR {
	rev_float64_matrix Q; /* acc [optional]; m,n */
	rev_float64_matrix R; /* acc [optional]; n,n */
	rev_float64_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_QR;

REV_STATIC_INLINE int32_t rev_linalg_QR_run(int32_t pass, const rev_linalg_QR *k, const rev_linalg_QR *g, const rev_linalg_QR *t, const rev_linalg_QR *gt) {
	const rev_linalg_QR *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Q);
		if (parts[p]->R.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->R);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.QR[float64]"), pass, a, n);
}

/* Q += Q(A), R += R(A), by reflections */
typedef struct rev_linalg_QR_float32 {
	rev_float32_matrix Q; /* acc [optional]; m,n */
	rev_float32_matrix R; /* acc [optional]; n,n */
	rev_float32_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_QR_float32;

REV_STATIC_INLINE int32_t rev_linalg_QR_float32_run(int32_t pass, const rev_linalg_QR_float32 *k, const rev_linalg_QR_float32 *g, const rev_linalg_QR_float32 *t, const rev_linalg_QR_float32 *gt) {
	const rev_linalg_QR_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Q);
		if (parts[p]->R.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->R);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.QR[float32]"), pass, a, n);
}

/* the same, R with a positive diagonal */
typedef struct rev_linalg_GramSchmidt {
	rev_float64_matrix Q; /* acc [optional]; m,n */
	rev_float64_matrix R; /* acc [optional]; n,n */
	rev_float64_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_GramSchmidt;

REV_STATIC_INLINE int32_t rev_linalg_GramSchmidt_run(int32_t pass, const rev_linalg_GramSchmidt *k, const rev_linalg_GramSchmidt *g, const rev_linalg_GramSchmidt *t, const rev_linalg_GramSchmidt *gt) {
	const rev_linalg_GramSchmidt *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Q);
		if (parts[p]->R.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->R);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.GramSchmidt[float64]"), pass, a, n);
}

/* the same, R with a positive diagonal */
typedef struct rev_linalg_GramSchmidt_float32 {
	rev_float32_matrix Q; /* acc [optional]; m,n */
	rev_float32_matrix R; /* acc [optional]; n,n */
	rev_float32_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_GramSchmidt_float32;

REV_STATIC_INLINE int32_t rev_linalg_GramSchmidt_float32_run(int32_t pass, const rev_linalg_GramSchmidt_float32 *k, const rev_linalg_GramSchmidt_float32 *g, const rev_linalg_GramSchmidt_float32 *t, const rev_linalg_GramSchmidt_float32 *gt) {
	const rev_linalg_GramSchmidt_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Q);
		if (parts[p]->R.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->R);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.GramSchmidt[float32]"), pass, a, n);
}

/* X += op(A)⁻¹·B, A triangular */
typedef struct rev_linalg_TriSolve {
	rev_float64_matrix X; /* acc [optional]; n,m */
	rev_float64_matrix A; /* in; n,n */
	rev_float64_matrix B; /* in; n,m */
	int32_t Upper;
	int32_t TransA;
	int32_t Unit;
	int64_t Workers;
} rev_linalg_TriSolve;

REV_STATIC_INLINE int32_t rev_linalg_TriSolve_run(int32_t pass, const rev_linalg_TriSolve *k, const rev_linalg_TriSolve *g, const rev_linalg_TriSolve *t, const rev_linalg_TriSolve *gt) {
	const rev_linalg_TriSolve *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Upper);
	a[n++] = rev_parameter(1, (double)k->TransA);
	a[n++] = rev_parameter(2, (double)k->Unit);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.TriSolve[float64]"), pass, a, n);
}

/* X += op(A)⁻¹·B, A triangular */
typedef struct rev_linalg_TriSolve_float32 {
	rev_float32_matrix X; /* acc [optional]; n,m */
	rev_float32_matrix A; /* in; n,n */
	rev_float32_matrix B; /* in; n,m */
	int32_t Upper;
	int32_t TransA;
	int32_t Unit;
	int64_t Workers;
} rev_linalg_TriSolve_float32;

REV_STATIC_INLINE int32_t rev_linalg_TriSolve_float32_run(int32_t pass, const rev_linalg_TriSolve_float32 *k, const rev_linalg_TriSolve_float32 *g, const rev_linalg_TriSolve_float32 *t, const rev_linalg_TriSolve_float32 *gt) {
	const rev_linalg_TriSolve_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[16];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Upper);
	a[n++] = rev_parameter(1, (double)k->TransA);
	a[n++] = rev_parameter(2, (double)k->Unit);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.TriSolve[float32]"), pass, a, n);
}

/* X += op(A)⁻¹·B */
typedef struct rev_linalg_Solve {
	rev_float64_matrix X; /* acc [optional]; n,m */
	rev_float64_matrix A; /* in; n,n */
	rev_float64_matrix B; /* in; n,m */
	int32_t TransA;
	int64_t Workers;
} rev_linalg_Solve;

REV_STATIC_INLINE int32_t rev_linalg_Solve_run(int32_t pass, const rev_linalg_Solve *k, const rev_linalg_Solve *g, const rev_linalg_Solve *t, const rev_linalg_Solve *gt) {
	const rev_linalg_Solve *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->TransA);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Solve[float64]"), pass, a, n);
}

/* X += op(A)⁻¹·B */
typedef struct rev_linalg_Solve_float32 {
	rev_float32_matrix X; /* acc [optional]; n,m */
	rev_float32_matrix A; /* in; n,n */
	rev_float32_matrix B; /* in; n,m */
	int32_t TransA;
	int64_t Workers;
} rev_linalg_Solve_float32;

REV_STATIC_INLINE int32_t rev_linalg_Solve_float32_run(int32_t pass, const rev_linalg_Solve_float32 *k, const rev_linalg_Solve_float32 *g, const rev_linalg_Solve_float32 *t, const rev_linalg_Solve_float32 *gt) {
	const rev_linalg_Solve_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->TransA);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Solve[float32]"), pass, a, n);
}

/* X += argmin_Y ‖A·Y - B‖ */
typedef struct rev_linalg_LeastSquares {
	rev_float64_matrix X; /* acc [optional]; n,k */
	rev_float64_matrix A; /* in; m,n */
	rev_float64_matrix B; /* in; m,k */
	int64_t Workers;
} rev_linalg_LeastSquares;

REV_STATIC_INLINE int32_t rev_linalg_LeastSquares_run(int32_t pass, const rev_linalg_LeastSquares *k, const rev_linalg_LeastSquares *g, const rev_linalg_LeastSquares *t, const rev_linalg_LeastSquares *gt) {
	const rev_linalg_LeastSquares *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.LeastSquares[float64]"), pass, a, n);
}

/* X += argmin_Y ‖A·Y - B‖ */
typedef struct rev_linalg_LeastSquares_float32 {
	rev_float32_matrix X; /* acc [optional]; n,k */
	rev_float32_matrix A; /* in; m,n */
	rev_float32_matrix B; /* in; m,k */
	int64_t Workers;
} rev_linalg_LeastSquares_float32;

REV_STATIC_INLINE int32_t rev_linalg_LeastSquares_float32_run(int32_t pass, const rev_linalg_LeastSquares_float32 *k, const rev_linalg_LeastSquares_float32 *g, const rev_linalg_LeastSquares_float32 *t, const rev_linalg_LeastSquares_float32 *gt) {
	const rev_linalg_LeastSquares_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.LeastSquares[float32]"), pass, a, n);
}

/* X += A⁺, the pseudo-inverse */
typedef struct rev_linalg_Pinv {
	rev_float64_matrix X; /* acc [optional]; n,m */
	rev_float64_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_Pinv;

REV_STATIC_INLINE int32_t rev_linalg_Pinv_run(int32_t pass, const rev_linalg_Pinv *k, const rev_linalg_Pinv *g, const rev_linalg_Pinv *t, const rev_linalg_Pinv *gt) {
	const rev_linalg_Pinv *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Pinv[float64]"), pass, a, n);
}

/* X += A⁺, the pseudo-inverse */
typedef struct rev_linalg_Pinv_float32 {
	rev_float32_matrix X; /* acc [optional]; n,m */
	rev_float32_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_Pinv_float32;

REV_STATIC_INLINE int32_t rev_linalg_Pinv_float32_run(int32_t pass, const rev_linalg_Pinv_float32 *k, const rev_linalg_Pinv_float32 *g, const rev_linalg_Pinv_float32 *t, const rev_linalg_Pinv_float32 *gt) {
	const rev_linalg_Pinv_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Pinv[float32]"), pass, a, n);
}

/* Y += exp(A) of a matrix */
typedef struct rev_linalg_Expm {
	rev_float64_matrix Y; /* acc [optional]; n,n */
	rev_float64_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Expm;

REV_STATIC_INLINE int32_t rev_linalg_Expm_run(int32_t pass, const rev_linalg_Expm *k, const rev_linalg_Expm *g, const rev_linalg_Expm *t, const rev_linalg_Expm *gt) {
	const rev_linalg_Expm *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Expm[float64]"), pass, a, n);
}

/* Y += exp(A) of a matrix */
typedef struct rev_linalg_Expm_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,n */
	rev_float32_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Expm_float32;

REV_STATIC_INLINE int32_t rev_linalg_Expm_float32_run(int32_t pass, const rev_linalg_Expm_float32 *k, const rev_linalg_Expm_float32 *g, const rev_linalg_Expm_float32 *t, const rev_linalg_Expm_float32 *gt) {
	const rev_linalg_Expm_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Expm[float32]"), pass, a, n);
}

/* B += A⁻¹ */
typedef struct rev_linalg_Inv {
	rev_float64_matrix B; /* acc [optional]; n,n */
	rev_float64_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Inv;

REV_STATIC_INLINE int32_t rev_linalg_Inv_run(int32_t pass, const rev_linalg_Inv *k, const rev_linalg_Inv *g, const rev_linalg_Inv *t, const rev_linalg_Inv *gt) {
	const rev_linalg_Inv *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->B);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Inv[float64]"), pass, a, n);
}

/* B += A⁻¹ */
typedef struct rev_linalg_Inv_float32 {
	rev_float32_matrix B; /* acc [optional]; n,n */
	rev_float32_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Inv_float32;

REV_STATIC_INLINE int32_t rev_linalg_Inv_float32_run(int32_t pass, const rev_linalg_Inv_float32 *k, const rev_linalg_Inv_float32 *g, const rev_linalg_Inv_float32 *t, const rev_linalg_Inv_float32 *gt) {
	const rev_linalg_Inv_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->B);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Inv[float32]"), pass, a, n);
}

/* r += det A */
typedef struct rev_linalg_Det {
	double *Out; /* acc [optional] */
	rev_float64_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Det;

REV_STATIC_INLINE int32_t rev_linalg_Det_run(int32_t pass, const rev_linalg_Det *k, const rev_linalg_Det *g, const rev_linalg_Det *t, const rev_linalg_Det *gt) {
	const rev_linalg_Det *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Det[float64]"), pass, a, n);
}

/* r += det A */
typedef struct rev_linalg_Det_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_Det_float32;

REV_STATIC_INLINE int32_t rev_linalg_Det_float32_run(int32_t pass, const rev_linalg_Det_float32 *k, const rev_linalg_Det_float32 *g, const rev_linalg_Det_float32 *t, const rev_linalg_Det_float32 *gt) {
	const rev_linalg_Det_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.Det[float32]"), pass, a, n);
}

/* r += det A, by minors */
typedef struct rev_linalg_DetMinors {
	double *Out; /* acc [optional] */
	rev_float64_matrix A; /* in; n,n */
} rev_linalg_DetMinors;

REV_STATIC_INLINE int32_t rev_linalg_DetMinors_run(int32_t pass, const rev_linalg_DetMinors *k, const rev_linalg_DetMinors *g, const rev_linalg_DetMinors *t, const rev_linalg_DetMinors *gt) {
	const rev_linalg_DetMinors *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.DetMinors[float64]"), pass, a, n);
}

/* r += det A, by minors */
typedef struct rev_linalg_DetMinors_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix A; /* in; n,n */
} rev_linalg_DetMinors_float32;

REV_STATIC_INLINE int32_t rev_linalg_DetMinors_float32_run(int32_t pass, const rev_linalg_DetMinors_float32 *k, const rev_linalg_DetMinors_float32 *g, const rev_linalg_DetMinors_float32 *t, const rev_linalg_DetMinors_float32 *gt) {
	const rev_linalg_DetMinors_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.DetMinors[float32]"), pass, a, n);
}

/* r += det A, by minors */
typedef struct rev_linalg_DetMinors_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix A; /* in; n,n */
} rev_linalg_DetMinors_Q43;

REV_STATIC_INLINE int32_t rev_linalg_DetMinors_Q43_run(int32_t pass, const rev_linalg_DetMinors_Q43 *k, const rev_linalg_DetMinors_Q43 *g, const rev_linalg_DetMinors_Q43 *t, const rev_linalg_DetMinors_Q43 *gt) {
	const rev_linalg_DetMinors_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->A);
	}
	return rev_call(rev_kernel("revlinalg.DetMinors[Q43]"), pass, a, n);
}

/* r += log abs(det A), s += sign(det A) */
typedef struct rev_linalg_LogDet {
	double *Out; /* acc [optional] */
	double *Sign; /* acc [optional] */
	rev_float64_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_LogDet;

REV_STATIC_INLINE int32_t rev_linalg_LogDet_run(int32_t pass, const rev_linalg_LogDet *k, const rev_linalg_LogDet *g, const rev_linalg_LogDet *t, const rev_linalg_LogDet *gt) {
	const rev_linalg_LogDet *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->Sign) a[n++] = rev_float64_scalar_arg(p, 1, 1, parts[p]->Sign);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.LogDet[float64]"), pass, a, n);
}

/* r += log abs(det A), s += sign(det A) */
typedef struct rev_linalg_LogDet_float32 {
	float *Out; /* acc [optional] */
	float *Sign; /* acc [optional] */
	rev_float32_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_LogDet_float32;

REV_STATIC_INLINE int32_t rev_linalg_LogDet_float32_run(int32_t pass, const rev_linalg_LogDet_float32 *k, const rev_linalg_LogDet_float32 *g, const rev_linalg_LogDet_float32 *t, const rev_linalg_LogDet_float32 *gt) {
	const rev_linalg_LogDet_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->Sign) a[n++] = rev_float32_scalar_arg(p, 1, 2, parts[p]->Sign);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.LogDet[float32]"), pass, a, n);
}

/* w += w(A), V += V(A), A = V·diag(w)·Vᵀ */
typedef struct rev_linalg_SymEig {
	rev_float64_vector W; /* acc [optional]; n */
	rev_float64_matrix V; /* acc [optional]; n,n */
	rev_float64_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_SymEig;

REV_STATIC_INLINE int32_t rev_linalg_SymEig_run(int32_t pass, const rev_linalg_SymEig *k, const rev_linalg_SymEig *g, const rev_linalg_SymEig *t, const rev_linalg_SymEig *gt) {
	const rev_linalg_SymEig *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->W.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->W);
		if (parts[p]->V.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->V);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.SymEig[float64]"), pass, a, n);
}

/* w += w(A), V += V(A), A = V·diag(w)·Vᵀ */
typedef struct rev_linalg_SymEig_float32 {
	rev_float32_vector W; /* acc [optional]; n */
	rev_float32_matrix V; /* acc [optional]; n,n */
	rev_float32_matrix A; /* in; n,n */
	int64_t Workers;
} rev_linalg_SymEig_float32;

REV_STATIC_INLINE int32_t rev_linalg_SymEig_float32_run(int32_t pass, const rev_linalg_SymEig_float32 *k, const rev_linalg_SymEig_float32 *g, const rev_linalg_SymEig_float32 *t, const rev_linalg_SymEig_float32 *gt) {
	const rev_linalg_SymEig_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->W.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->W);
		if (parts[p]->V.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->V);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.SymEig[float32]"), pass, a, n);
}

/* U += U(A), s += s(A), V += V(A), A = U·diag(s)·Vᵀ */
typedef struct rev_linalg_SVD {
	rev_float64_matrix U; /* acc [optional]; m,min(m,n) */
	rev_float64_vector S; /* acc [optional]; min(m,n) */
	rev_float64_matrix V; /* acc [optional]; n,min(m,n) */
	rev_float64_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_SVD;

REV_STATIC_INLINE int32_t rev_linalg_SVD_run(int32_t pass, const rev_linalg_SVD *k, const rev_linalg_SVD *g, const rev_linalg_SVD *t, const rev_linalg_SVD *gt) {
	const rev_linalg_SVD *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->U);
		if (parts[p]->S.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->S);
		if (parts[p]->V.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->V);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.SVD[float64]"), pass, a, n);
}

/* U += U(A), s += s(A), V += V(A), A = U·diag(s)·Vᵀ */
typedef struct rev_linalg_SVD_float32 {
	rev_float32_matrix U; /* acc [optional]; m,min(m,n) */
	rev_float32_vector S; /* acc [optional]; min(m,n) */
	rev_float32_matrix V; /* acc [optional]; n,min(m,n) */
	rev_float32_matrix A; /* in; m,n */
	int64_t Workers;
} rev_linalg_SVD_float32;

REV_STATIC_INLINE int32_t rev_linalg_SVD_float32_run(int32_t pass, const rev_linalg_SVD_float32 *k, const rev_linalg_SVD_float32 *g, const rev_linalg_SVD_float32 *t, const rev_linalg_SVD_float32 *gt) {
	const rev_linalg_SVD_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->U);
		if (parts[p]->S.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->S);
		if (parts[p]->V.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->V);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->A);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.SVD[float32]"), pass, a, n);
}

/* r += ½ Σ_i (y_i - Σ_j c_j·x_i^j)² */
typedef struct rev_linalg_PolyLeastSquares {
	double *Out; /* acc [optional] */
	rev_float64_vector C; /* in; m */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_PolyLeastSquares;

REV_STATIC_INLINE int32_t rev_linalg_PolyLeastSquares_run(int32_t pass, const rev_linalg_PolyLeastSquares *k, const rev_linalg_PolyLeastSquares *g, const rev_linalg_PolyLeastSquares *t, const rev_linalg_PolyLeastSquares *gt) {
	const rev_linalg_PolyLeastSquares *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->C.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.PolyLeastSquares[float64]"), pass, a, n);
}

/* r += ½ Σ_i (y_i - Σ_j c_j·x_i^j)² */
typedef struct rev_linalg_PolyLeastSquares_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector C; /* in; m */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
	int64_t Workers;
} rev_linalg_PolyLeastSquares_float32;

REV_STATIC_INLINE int32_t rev_linalg_PolyLeastSquares_float32_run(int32_t pass, const rev_linalg_PolyLeastSquares_float32 *k, const rev_linalg_PolyLeastSquares_float32 *g, const rev_linalg_PolyLeastSquares_float32 *t, const rev_linalg_PolyLeastSquares_float32 *gt) {
	const rev_linalg_PolyLeastSquares_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->C.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlinalg.PolyLeastSquares[float32]"), pass, a, n);
}

/* Y += X·W + 1·bᵀ */
typedef struct rev_nn_AffineBatch {
	rev_float64_matrix Y; /* acc [optional]; n,m */
	rev_float64_matrix X; /* in; n,k */
	rev_float64_matrix W; /* in; k,m */
	rev_float64_vector B; /* in [optional]; m */
	int64_t Workers;
} rev_nn_AffineBatch;

REV_STATIC_INLINE int32_t rev_nn_AffineBatch_run(int32_t pass, const rev_nn_AffineBatch *k, const rev_nn_AffineBatch *g, const rev_nn_AffineBatch *t, const rev_nn_AffineBatch *gt) {
	const rev_nn_AffineBatch *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.AffineBatch[float64]"), pass, a, n);
}

/* Y += X·W + 1·bᵀ */
typedef struct rev_nn_AffineBatch_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,m */
	rev_float32_matrix X; /* in; n,k */
	rev_float32_matrix W; /* in; k,m */
	rev_float32_vector B; /* in [optional]; m */
	int64_t Workers;
} rev_nn_AffineBatch_float32;

REV_STATIC_INLINE int32_t rev_nn_AffineBatch_float32_run(int32_t pass, const rev_nn_AffineBatch_float32 *k, const rev_nn_AffineBatch_float32 *g, const rev_nn_AffineBatch_float32 *t, const rev_nn_AffineBatch_float32 *gt) {
	const rev_nn_AffineBatch_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.AffineBatch[float32]"), pass, a, n);
}

/* Y += X·W + 1·bᵀ */
typedef struct rev_nn_AffineBatch_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,m */
	rev_Q43_matrix X; /* in; n,k */
	rev_Q43_matrix W; /* in; k,m */
	rev_Q43_vector B; /* in [optional]; m */
	int64_t Workers;
} rev_nn_AffineBatch_Q43;

REV_STATIC_INLINE int32_t rev_nn_AffineBatch_Q43_run(int32_t pass, const rev_nn_AffineBatch_Q43 *k, const rev_nn_AffineBatch_Q43 *g, const rev_nn_AffineBatch_Q43 *t, const rev_nn_AffineBatch_Q43 *gt) {
	const rev_nn_AffineBatch_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.AffineBatch[Q43]"), pass, a, n);
}

/* Y += W * X + b, the convolution of images X with filters W */
typedef struct rev_nn_Conv2D {
	rev_float64_matrix Y; /* acc [optional]; n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1) */
	rev_float64_matrix X; /* in; n,Channels*Height*Width */
	rev_float64_matrix W; /* in; f,Channels/max(1,Groups)*KernelHeight*KernelWidth */
	rev_float64_vector B; /* in [optional]; f */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t KernelHeight;
	int64_t KernelWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t DilationHeight;
	int64_t DilationWidth;
	int64_t Groups;
	int64_t Workers;
} rev_nn_Conv2D;

REV_STATIC_INLINE int32_t rev_nn_Conv2D_run(int32_t pass, const rev_nn_Conv2D *k, const rev_nn_Conv2D *g, const rev_nn_Conv2D *t, const rev_nn_Conv2D *gt) {
	const rev_nn_Conv2D *parts[4] = {k, g, t, gt};
	rev_arg a[29];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->KernelHeight);
	a[n++] = rev_parameter(4, (double)k->KernelWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->DilationHeight);
	a[n++] = rev_parameter(10, (double)k->DilationWidth);
	a[n++] = rev_parameter(11, (double)k->Groups);
	a[n++] = rev_parameter(12, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Conv2D[float64]"), pass, a, n);
}

/* Y += W * X + b, the convolution of images X with filters W */
typedef struct rev_nn_Conv2D_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1) */
	rev_float32_matrix X; /* in; n,Channels*Height*Width */
	rev_float32_matrix W; /* in; f,Channels/max(1,Groups)*KernelHeight*KernelWidth */
	rev_float32_vector B; /* in [optional]; f */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t KernelHeight;
	int64_t KernelWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t DilationHeight;
	int64_t DilationWidth;
	int64_t Groups;
	int64_t Workers;
} rev_nn_Conv2D_float32;

REV_STATIC_INLINE int32_t rev_nn_Conv2D_float32_run(int32_t pass, const rev_nn_Conv2D_float32 *k, const rev_nn_Conv2D_float32 *g, const rev_nn_Conv2D_float32 *t, const rev_nn_Conv2D_float32 *gt) {
	const rev_nn_Conv2D_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[29];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->KernelHeight);
	a[n++] = rev_parameter(4, (double)k->KernelWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->DilationHeight);
	a[n++] = rev_parameter(10, (double)k->DilationWidth);
	a[n++] = rev_parameter(11, (double)k->Groups);
	a[n++] = rev_parameter(12, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Conv2D[float32]"), pass, a, n);
}

/* Y += W * X + b, the convolution of images X with filters W */
typedef struct rev_nn_Conv2D_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1) */
	rev_Q43_matrix X; /* in; n,Channels*Height*Width */
	rev_Q43_matrix W; /* in; f,Channels/max(1,Groups)*KernelHeight*KernelWidth */
	rev_Q43_vector B; /* in [optional]; f */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t KernelHeight;
	int64_t KernelWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t DilationHeight;
	int64_t DilationWidth;
	int64_t Groups;
	int64_t Workers;
} rev_nn_Conv2D_Q43;

REV_STATIC_INLINE int32_t rev_nn_Conv2D_Q43_run(int32_t pass, const rev_nn_Conv2D_Q43 *k, const rev_nn_Conv2D_Q43 *g, const rev_nn_Conv2D_Q43 *t, const rev_nn_Conv2D_Q43 *gt) {
	const rev_nn_Conv2D_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[29];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->KernelHeight);
	a[n++] = rev_parameter(4, (double)k->KernelWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->DilationHeight);
	a[n++] = rev_parameter(10, (double)k->DilationWidth);
	a[n++] = rev_parameter(11, (double)k->Groups);
	a[n++] = rev_parameter(12, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Conv2D[Q43]"), pass, a, n);
}

/* Y += Wᵀ * X + b, the transposed convolution of images X with filters W */
typedef struct rev_nn_ConvTranspose2D {
	rev_float64_matrix Y; /* acc [optional]; n,Channels*Height*Width */
	rev_float64_matrix X; /* in; n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1) */
	rev_float64_matrix W; /* in; f,Channels/max(1,Groups)*KernelHeight*KernelWidth */
	rev_float64_vector B; /* in [optional]; Channels */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t KernelHeight;
	int64_t KernelWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t DilationHeight;
	int64_t DilationWidth;
	int64_t Groups;
	int64_t Workers;
} rev_nn_ConvTranspose2D;

REV_STATIC_INLINE int32_t rev_nn_ConvTranspose2D_run(int32_t pass, const rev_nn_ConvTranspose2D *k, const rev_nn_ConvTranspose2D *g, const rev_nn_ConvTranspose2D *t, const rev_nn_ConvTranspose2D *gt) {
	const rev_nn_ConvTranspose2D *parts[4] = {k, g, t, gt};
	rev_arg a[29];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->KernelHeight);
	a[n++] = rev_parameter(4, (double)k->KernelWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->DilationHeight);
	a[n++] = rev_parameter(10, (double)k->DilationWidth);
	a[n++] = rev_parameter(11, (double)k->Groups);
	a[n++] = rev_parameter(12, (double)k->Workers);
	return rev_call(rev_kernel("revnn.ConvTranspose2D[float64]"), pass, a, n);
}

/* Y += Wᵀ * X + b, the transposed convolution of images X with filters W */
typedef struct rev_nn_ConvTranspose2D_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,Channels*Height*Width */
	rev_float32_matrix X; /* in; n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1) */
	rev_float32_matrix W; /* in; f,Channels/max(1,Groups)*KernelHeight*KernelWidth */
	rev_float32_vector B; /* in [optional]; Channels */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t KernelHeight;
	int64_t KernelWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t DilationHeight;
	int64_t DilationWidth;
	int64_t Groups;
	int64_t Workers;
} rev_nn_ConvTranspose2D_float32;

REV_STATIC_INLINE int32_t rev_nn_ConvTranspose2D_float32_run(int32_t pass, const rev_nn_ConvTranspose2D_float32 *k, const rev_nn_ConvTranspose2D_float32 *g, const rev_nn_ConvTranspose2D_float32 *t, const rev_nn_ConvTranspose2D_float32 *gt) {
	const rev_nn_ConvTranspose2D_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[29];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->KernelHeight);
	a[n++] = rev_parameter(4, (double)k->KernelWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->DilationHeight);
	a[n++] = rev_parameter(10, (double)k->DilationWidth);
	a[n++] = rev_parameter(11, (double)k->Groups);
	a[n++] = rev_parameter(12, (double)k->Workers);
	return rev_call(rev_kernel("revnn.ConvTranspose2D[float32]"), pass, a, n);
}

/* Y += Wᵀ * X + b, the transposed convolution of images X with filters W */
typedef struct rev_nn_ConvTranspose2D_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,Channels*Height*Width */
	rev_Q43_matrix X; /* in; n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1) */
	rev_Q43_matrix W; /* in; f,Channels/max(1,Groups)*KernelHeight*KernelWidth */
	rev_Q43_vector B; /* in [optional]; Channels */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t KernelHeight;
	int64_t KernelWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t DilationHeight;
	int64_t DilationWidth;
	int64_t Groups;
	int64_t Workers;
} rev_nn_ConvTranspose2D_Q43;

REV_STATIC_INLINE int32_t rev_nn_ConvTranspose2D_Q43_run(int32_t pass, const rev_nn_ConvTranspose2D_Q43 *k, const rev_nn_ConvTranspose2D_Q43 *g, const rev_nn_ConvTranspose2D_Q43 *t, const rev_nn_ConvTranspose2D_Q43 *gt) {
	const rev_nn_ConvTranspose2D_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[29];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->W.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->W);
		if (parts[p]->B.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->KernelHeight);
	a[n++] = rev_parameter(4, (double)k->KernelWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->DilationHeight);
	a[n++] = rev_parameter(10, (double)k->DilationWidth);
	a[n++] = rev_parameter(11, (double)k->Groups);
	a[n++] = rev_parameter(12, (double)k->Workers);
	return rev_call(rev_kernel("revnn.ConvTranspose2D[Q43]"), pass, a, n);
}

/* Y += maxima over windows of images X */
typedef struct rev_nn_MaxPool {
	rev_float64_matrix Y; /* acc [optional]; n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1) */
	rev_float64_matrix X; /* in; n,Channels*Height*Width */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t WindowHeight;
	int64_t WindowWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t Workers;
} rev_nn_MaxPool;

REV_STATIC_INLINE int32_t rev_nn_MaxPool_run(int32_t pass, const rev_nn_MaxPool *k, const rev_nn_MaxPool *g, const rev_nn_MaxPool *t, const rev_nn_MaxPool *gt) {
	const rev_nn_MaxPool *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->WindowHeight);
	a[n++] = rev_parameter(4, (double)k->WindowWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->Workers);
	return rev_call(rev_kernel("revnn.MaxPool[float64]"), pass, a, n);
}

/* Y += maxima over windows of images X */
typedef struct rev_nn_MaxPool_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1) */
	rev_float32_matrix X; /* in; n,Channels*Height*Width */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t WindowHeight;
	int64_t WindowWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t Workers;
} rev_nn_MaxPool_float32;

REV_STATIC_INLINE int32_t rev_nn_MaxPool_float32_run(int32_t pass, const rev_nn_MaxPool_float32 *k, const rev_nn_MaxPool_float32 *g, const rev_nn_MaxPool_float32 *t, const rev_nn_MaxPool_float32 *gt) {
	const rev_nn_MaxPool_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->WindowHeight);
	a[n++] = rev_parameter(4, (double)k->WindowWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->Workers);
	return rev_call(rev_kernel("revnn.MaxPool[float32]"), pass, a, n);
}

/* Y += maxima over windows of images X */
typedef struct rev_nn_MaxPool_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1) */
	rev_Q43_matrix X; /* in; n,Channels*Height*Width */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t WindowHeight;
	int64_t WindowWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t Workers;
} rev_nn_MaxPool_Q43;

REV_STATIC_INLINE int32_t rev_nn_MaxPool_Q43_run(int32_t pass, const rev_nn_MaxPool_Q43 *k, const rev_nn_MaxPool_Q43 *g, const rev_nn_MaxPool_Q43 *t, const rev_nn_MaxPool_Q43 *gt) {
	const rev_nn_MaxPool_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->WindowHeight);
	a[n++] = rev_parameter(4, (double)k->WindowWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->Workers);
	return rev_call(rev_kernel("revnn.MaxPool[Q43]"), pass, a, n);
}

/* Y += means over windows of images X */
typedef struct rev_nn_MeanPool {
	rev_float64_matrix Y; /* acc [optional]; n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1) */
	rev_float64_matrix X; /* in; n,Channels*Height*Width */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t WindowHeight;
	int64_t WindowWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t Workers;
} rev_nn_MeanPool;

REV_STATIC_INLINE int32_t rev_nn_MeanPool_run(int32_t pass, const rev_nn_MeanPool *k, const rev_nn_MeanPool *g, const rev_nn_MeanPool *t, const rev_nn_MeanPool *gt) {
	const rev_nn_MeanPool *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->WindowHeight);
	a[n++] = rev_parameter(4, (double)k->WindowWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->Workers);
	return rev_call(rev_kernel("revnn.MeanPool[float64]"), pass, a, n);
}

/* Y += means over windows of images X */
typedef struct rev_nn_MeanPool_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1) */
	rev_float32_matrix X; /* in; n,Channels*Height*Width */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t WindowHeight;
	int64_t WindowWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t Workers;
} rev_nn_MeanPool_float32;

REV_STATIC_INLINE int32_t rev_nn_MeanPool_float32_run(int32_t pass, const rev_nn_MeanPool_float32 *k, const rev_nn_MeanPool_float32 *g, const rev_nn_MeanPool_float32 *t, const rev_nn_MeanPool_float32 *gt) {
	const rev_nn_MeanPool_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->WindowHeight);
	a[n++] = rev_parameter(4, (double)k->WindowWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->Workers);
	return rev_call(rev_kernel("revnn.MeanPool[float32]"), pass, a, n);
}

/* Y += means over windows of images X */
typedef struct rev_nn_MeanPool_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1) */
	rev_Q43_matrix X; /* in; n,Channels*Height*Width */
	int64_t Channels;
	int64_t Height;
	int64_t Width;
	int64_t WindowHeight;
	int64_t WindowWidth;
	int64_t StrideHeight;
	int64_t StrideWidth;
	int64_t PadHeight;
	int64_t PadWidth;
	int64_t Workers;
} rev_nn_MeanPool_Q43;

REV_STATIC_INLINE int32_t rev_nn_MeanPool_Q43_run(int32_t pass, const rev_nn_MeanPool_Q43 *k, const rev_nn_MeanPool_Q43 *g, const rev_nn_MeanPool_Q43 *t, const rev_nn_MeanPool_Q43 *gt) {
	const rev_nn_MeanPool_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Height);
	a[n++] = rev_parameter(2, (double)k->Width);
	a[n++] = rev_parameter(3, (double)k->WindowHeight);
	a[n++] = rev_parameter(4, (double)k->WindowWidth);
	a[n++] = rev_parameter(5, (double)k->StrideHeight);
	a[n++] = rev_parameter(6, (double)k->StrideWidth);
	a[n++] = rev_parameter(7, (double)k->PadHeight);
	a[n++] = rev_parameter(8, (double)k->PadWidth);
	a[n++] = rev_parameter(9, (double)k->Workers);
	return rev_call(rev_kernel("revnn.MeanPool[Q43]"), pass, a, n);
}

/* Y_i += X_{Index[i]}, of rows i */
typedef struct rev_nn_Gather {
	rev_float64_matrix Y; /* acc [optional]; n,d */
	rev_float64_matrix X; /* in; r,d */
	rev_int_vector Index; /* index; n */
	int64_t Workers;
} rev_nn_Gather;

REV_STATIC_INLINE int32_t rev_nn_Gather_run(int32_t pass, const rev_nn_Gather *k, const rev_nn_Gather *g, const rev_nn_Gather *t, const rev_nn_Gather *gt) {
	const rev_nn_Gather *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Index.data) a[n++] = rev_int_vector_arg(p, 2, 5, parts[p]->Index);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Gather[float64]"), pass, a, n);
}

/* Y_i += X_{Index[i]}, of rows i */
typedef struct rev_nn_Gather_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,d */
	rev_float32_matrix X; /* in; r,d */
	rev_int_vector Index; /* index; n */
	int64_t Workers;
} rev_nn_Gather_float32;

REV_STATIC_INLINE int32_t rev_nn_Gather_float32_run(int32_t pass, const rev_nn_Gather_float32 *k, const rev_nn_Gather_float32 *g, const rev_nn_Gather_float32 *t, const rev_nn_Gather_float32 *gt) {
	const rev_nn_Gather_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Index.data) a[n++] = rev_int_vector_arg(p, 2, 5, parts[p]->Index);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Gather[float32]"), pass, a, n);
}

/* Y_i += X_{Index[i]}, of rows i */
typedef struct rev_nn_Gather_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,d */
	rev_Q43_matrix X; /* in; r,d */
	rev_int_vector Index; /* index; n */
	int64_t Workers;
} rev_nn_Gather_Q43;

REV_STATIC_INLINE int32_t rev_nn_Gather_Q43_run(int32_t pass, const rev_nn_Gather_Q43 *k, const rev_nn_Gather_Q43 *g, const rev_nn_Gather_Q43 *t, const rev_nn_Gather_Q43 *gt) {
	const rev_nn_Gather_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Index.data) a[n++] = rev_int_vector_arg(p, 2, 5, parts[p]->Index);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Gather[Q43]"), pass, a, n);
}

/* Y_i += X_{Index[i]}, of rows i */
typedef struct rev_nn_Gather_complex128 {
	rev_complex128_matrix Y; /* acc [optional]; n,d */
	rev_complex128_matrix X; /* in; r,d */
	rev_int_vector Index; /* index; n */
	int64_t Workers;
} rev_nn_Gather_complex128;

REV_STATIC_INLINE int32_t rev_nn_Gather_complex128_run(int32_t pass, const rev_nn_Gather_complex128 *k, const rev_nn_Gather_complex128 *g, const rev_nn_Gather_complex128 *t, const rev_nn_Gather_complex128 *gt) {
	const rev_nn_Gather_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_complex128_matrix_arg(p, 0, 4, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_complex128_matrix_arg(p, 1, 4, parts[p]->X);
		if (parts[p]->Index.data) a[n++] = rev_int_vector_arg(p, 2, 5, parts[p]->Index);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Gather[complex128]"), pass, a, n);
}

/* y_i += max(x_i, 0) */
typedef struct rev_nn_ReLU {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_ReLU;

REV_STATIC_INLINE int32_t rev_nn_ReLU_run(int32_t pass, const rev_nn_ReLU *k, const rev_nn_ReLU *g, const rev_nn_ReLU *t, const rev_nn_ReLU *gt) {
	const rev_nn_ReLU *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.ReLU[float64]"), pass, a, n);
}

/* y_i += max(x_i, 0) */
typedef struct rev_nn_ReLU_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_ReLU_float32;

REV_STATIC_INLINE int32_t rev_nn_ReLU_float32_run(int32_t pass, const rev_nn_ReLU_float32 *k, const rev_nn_ReLU_float32 *g, const rev_nn_ReLU_float32 *t, const rev_nn_ReLU_float32 *gt) {
	const rev_nn_ReLU_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.ReLU[float32]"), pass, a, n);
}

/* y_i += max(x_i, 0) */
typedef struct rev_nn_ReLU_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_ReLU_Q43;

REV_STATIC_INLINE int32_t rev_nn_ReLU_Q43_run(int32_t pass, const rev_nn_ReLU_Q43 *k, const rev_nn_ReLU_Q43 *g, const rev_nn_ReLU_Q43 *t, const rev_nn_ReLU_Q43 *gt) {
	const rev_nn_ReLU_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.ReLU[Q43]"), pass, a, n);
}

/* y_i += max(x_i, 0) + Slope·min(x_i, 0) */
typedef struct rev_nn_LeakyReLU {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	double Slope;
	int64_t Workers;
} rev_nn_LeakyReLU;

REV_STATIC_INLINE int32_t rev_nn_LeakyReLU_run(int32_t pass, const rev_nn_LeakyReLU *k, const rev_nn_LeakyReLU *g, const rev_nn_LeakyReLU *t, const rev_nn_LeakyReLU *gt) {
	const rev_nn_LeakyReLU *parts[4] = {k, g, t, gt};
	rev_arg a[10];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Slope);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LeakyReLU[float64]"), pass, a, n);
}

/* y_i += max(x_i, 0) + Slope·min(x_i, 0) */
typedef struct rev_nn_LeakyReLU_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	double Slope;
	int64_t Workers;
} rev_nn_LeakyReLU_float32;

REV_STATIC_INLINE int32_t rev_nn_LeakyReLU_float32_run(int32_t pass, const rev_nn_LeakyReLU_float32 *k, const rev_nn_LeakyReLU_float32 *g, const rev_nn_LeakyReLU_float32 *t, const rev_nn_LeakyReLU_float32 *gt) {
	const rev_nn_LeakyReLU_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[10];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Slope);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LeakyReLU[float32]"), pass, a, n);
}

/* y_i += max(x_i, 0) + Slope·min(x_i, 0) */
typedef struct rev_nn_LeakyReLU_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	double Slope;
	int64_t Workers;
} rev_nn_LeakyReLU_Q43;

REV_STATIC_INLINE int32_t rev_nn_LeakyReLU_Q43_run(int32_t pass, const rev_nn_LeakyReLU_Q43 *k, const rev_nn_LeakyReLU_Q43 *g, const rev_nn_LeakyReLU_Q43 *t, const rev_nn_LeakyReLU_Q43 *gt) {
	const rev_nn_LeakyReLU_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[10];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Slope);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LeakyReLU[Q43]"), pass, a, n);
}

/* y_i += 1/(1 + exp -x_i) */
typedef struct rev_nn_Sigmoid {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Sigmoid;

REV_STATIC_INLINE int32_t rev_nn_Sigmoid_run(int32_t pass, const rev_nn_Sigmoid *k, const rev_nn_Sigmoid *g, const rev_nn_Sigmoid *t, const rev_nn_Sigmoid *gt) {
	const rev_nn_Sigmoid *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Sigmoid[float64]"), pass, a, n);
}

/* y_i += 1/(1 + exp -x_i) */
typedef struct rev_nn_Sigmoid_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Sigmoid_float32;

REV_STATIC_INLINE int32_t rev_nn_Sigmoid_float32_run(int32_t pass, const rev_nn_Sigmoid_float32 *k, const rev_nn_Sigmoid_float32 *g, const rev_nn_Sigmoid_float32 *t, const rev_nn_Sigmoid_float32 *gt) {
	const rev_nn_Sigmoid_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Sigmoid[float32]"), pass, a, n);
}

/* y_i += 1/(1 + exp -x_i) */
typedef struct rev_nn_Sigmoid_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Sigmoid_Q43;

REV_STATIC_INLINE int32_t rev_nn_Sigmoid_Q43_run(int32_t pass, const rev_nn_Sigmoid_Q43 *k, const rev_nn_Sigmoid_Q43 *g, const rev_nn_Sigmoid_Q43 *t, const rev_nn_Sigmoid_Q43 *gt) {
	const rev_nn_Sigmoid_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Sigmoid[Q43]"), pass, a, n);
}

/* y_i += tanh x_i */
typedef struct rev_nn_Tanh {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Tanh;

REV_STATIC_INLINE int32_t rev_nn_Tanh_run(int32_t pass, const rev_nn_Tanh *k, const rev_nn_Tanh *g, const rev_nn_Tanh *t, const rev_nn_Tanh *gt) {
	const rev_nn_Tanh *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Tanh[float64]"), pass, a, n);
}

/* y_i += tanh x_i */
typedef struct rev_nn_Tanh_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Tanh_float32;

REV_STATIC_INLINE int32_t rev_nn_Tanh_float32_run(int32_t pass, const rev_nn_Tanh_float32 *k, const rev_nn_Tanh_float32 *g, const rev_nn_Tanh_float32 *t, const rev_nn_Tanh_float32 *gt) {
	const rev_nn_Tanh_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Tanh[float32]"), pass, a, n);
}

/* y_i += tanh x_i */
typedef struct rev_nn_Tanh_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Tanh_Q43;

REV_STATIC_INLINE int32_t rev_nn_Tanh_Q43_run(int32_t pass, const rev_nn_Tanh_Q43 *k, const rev_nn_Tanh_Q43 *g, const rev_nn_Tanh_Q43 *t, const rev_nn_Tanh_Q43 *gt) {
	const rev_nn_Tanh_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Tanh[Q43]"), pass, a, n);
}

/* y_i += log(1 + exp x_i) */
typedef struct rev_nn_Softplus {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Softplus;

REV_STATIC_INLINE int32_t rev_nn_Softplus_run(int32_t pass, const rev_nn_Softplus *k, const rev_nn_Softplus *g, const rev_nn_Softplus *t, const rev_nn_Softplus *gt) {
	const rev_nn_Softplus *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Softplus[float64]"), pass, a, n);
}

/* y_i += log(1 + exp x_i) */
typedef struct rev_nn_Softplus_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Softplus_float32;

REV_STATIC_INLINE int32_t rev_nn_Softplus_float32_run(int32_t pass, const rev_nn_Softplus_float32 *k, const rev_nn_Softplus_float32 *g, const rev_nn_Softplus_float32 *t, const rev_nn_Softplus_float32 *gt) {
	const rev_nn_Softplus_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Softplus[float32]"), pass, a, n);
}

/* y_i += log(1 + exp x_i) */
typedef struct rev_nn_Softplus_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Softplus_Q43;

REV_STATIC_INLINE int32_t rev_nn_Softplus_Q43_run(int32_t pass, const rev_nn_Softplus_Q43 *k, const rev_nn_Softplus_Q43 *g, const rev_nn_Softplus_Q43 *t, const rev_nn_Softplus_Q43 *gt) {
	const rev_nn_Softplus_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Softplus[Q43]"), pass, a, n);
}

/* y_i += x_i·Φ(x_i) */
typedef struct rev_nn_GELU {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_GELU;

REV_STATIC_INLINE int32_t rev_nn_GELU_run(int32_t pass, const rev_nn_GELU *k, const rev_nn_GELU *g, const rev_nn_GELU *t, const rev_nn_GELU *gt) {
	const rev_nn_GELU *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GELU[float64]"), pass, a, n);
}

/* y_i += x_i·Φ(x_i) */
typedef struct rev_nn_GELU_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_GELU_float32;

REV_STATIC_INLINE int32_t rev_nn_GELU_float32_run(int32_t pass, const rev_nn_GELU_float32 *k, const rev_nn_GELU_float32 *g, const rev_nn_GELU_float32 *t, const rev_nn_GELU_float32 *gt) {
	const rev_nn_GELU_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GELU[float32]"), pass, a, n);
}

/* y_i += x_i·Φ(x_i) */
typedef struct rev_nn_GELU_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_GELU_Q43;

REV_STATIC_INLINE int32_t rev_nn_GELU_Q43_run(int32_t pass, const rev_nn_GELU_Q43 *k, const rev_nn_GELU_Q43 *g, const rev_nn_GELU_Q43 *t, const rev_nn_GELU_Q43 *gt) {
	const rev_nn_GELU_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GELU[Q43]"), pass, a, n);
}

/* y_i += x_i/(1 + exp -x_i) */
typedef struct rev_nn_SiLU {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_SiLU;

REV_STATIC_INLINE int32_t rev_nn_SiLU_run(int32_t pass, const rev_nn_SiLU *k, const rev_nn_SiLU *g, const rev_nn_SiLU *t, const rev_nn_SiLU *gt) {
	const rev_nn_SiLU *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SiLU[float64]"), pass, a, n);
}

/* y_i += x_i/(1 + exp -x_i) */
typedef struct rev_nn_SiLU_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_SiLU_float32;

REV_STATIC_INLINE int32_t rev_nn_SiLU_float32_run(int32_t pass, const rev_nn_SiLU_float32 *k, const rev_nn_SiLU_float32 *g, const rev_nn_SiLU_float32 *t, const rev_nn_SiLU_float32 *gt) {
	const rev_nn_SiLU_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SiLU[float32]"), pass, a, n);
}

/* y_i += x_i/(1 + exp -x_i) */
typedef struct rev_nn_SiLU_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_SiLU_Q43;

REV_STATIC_INLINE int32_t rev_nn_SiLU_Q43_run(int32_t pass, const rev_nn_SiLU_Q43 *k, const rev_nn_SiLU_Q43 *g, const rev_nn_SiLU_Q43 *t, const rev_nn_SiLU_Q43 *gt) {
	const rev_nn_SiLU_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SiLU[Q43]"), pass, a, n);
}

/* y += softmax x */
typedef struct rev_nn_Softmax {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Softmax;

REV_STATIC_INLINE int32_t rev_nn_Softmax_run(int32_t pass, const rev_nn_Softmax *k, const rev_nn_Softmax *g, const rev_nn_Softmax *t, const rev_nn_Softmax *gt) {
	const rev_nn_Softmax *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Softmax[float64]"), pass, a, n);
}

/* y += softmax x */
typedef struct rev_nn_Softmax_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Softmax_float32;

REV_STATIC_INLINE int32_t rev_nn_Softmax_float32_run(int32_t pass, const rev_nn_Softmax_float32 *k, const rev_nn_Softmax_float32 *g, const rev_nn_Softmax_float32 *t, const rev_nn_Softmax_float32 *gt) {
	const rev_nn_Softmax_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Softmax[float32]"), pass, a, n);
}

/* y += softmax x */
typedef struct rev_nn_Softmax_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_Softmax_Q43;

REV_STATIC_INLINE int32_t rev_nn_Softmax_Q43_run(int32_t pass, const rev_nn_Softmax_Q43 *k, const rev_nn_Softmax_Q43 *g, const rev_nn_Softmax_Q43 *t, const rev_nn_Softmax_Q43 *gt) {
	const rev_nn_Softmax_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Softmax[Q43]"), pass, a, n);
}

/* Y_i += softmax X_i, of rows i */
typedef struct rev_nn_SoftmaxRows {
	rev_float64_matrix Y; /* acc [optional]; n,c */
	rev_float64_matrix X; /* in; n,c */
	int64_t Workers;
} rev_nn_SoftmaxRows;

REV_STATIC_INLINE int32_t rev_nn_SoftmaxRows_run(int32_t pass, const rev_nn_SoftmaxRows *k, const rev_nn_SoftmaxRows *g, const rev_nn_SoftmaxRows *t, const rev_nn_SoftmaxRows *gt) {
	const rev_nn_SoftmaxRows *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SoftmaxRows[float64]"), pass, a, n);
}

/* Y_i += softmax X_i, of rows i */
typedef struct rev_nn_SoftmaxRows_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,c */
	rev_float32_matrix X; /* in; n,c */
	int64_t Workers;
} rev_nn_SoftmaxRows_float32;

REV_STATIC_INLINE int32_t rev_nn_SoftmaxRows_float32_run(int32_t pass, const rev_nn_SoftmaxRows_float32 *k, const rev_nn_SoftmaxRows_float32 *g, const rev_nn_SoftmaxRows_float32 *t, const rev_nn_SoftmaxRows_float32 *gt) {
	const rev_nn_SoftmaxRows_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SoftmaxRows[float32]"), pass, a, n);
}

/* Y_i += softmax X_i, of rows i */
typedef struct rev_nn_SoftmaxRows_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,c */
	rev_Q43_matrix X; /* in; n,c */
	int64_t Workers;
} rev_nn_SoftmaxRows_Q43;

REV_STATIC_INLINE int32_t rev_nn_SoftmaxRows_Q43_run(int32_t pass, const rev_nn_SoftmaxRows_Q43 *k, const rev_nn_SoftmaxRows_Q43 *g, const rev_nn_SoftmaxRows_Q43 *t, const rev_nn_SoftmaxRows_Q43 *gt) {
	const rev_nn_SoftmaxRows_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SoftmaxRows[Q43]"), pass, a, n);
}

/* r += log Σ exp x_i */
typedef struct rev_nn_LogSumExp {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
	int64_t Workers;
} rev_nn_LogSumExp;

REV_STATIC_INLINE int32_t rev_nn_LogSumExp_run(int32_t pass, const rev_nn_LogSumExp *k, const rev_nn_LogSumExp *g, const rev_nn_LogSumExp *t, const rev_nn_LogSumExp *gt) {
	const rev_nn_LogSumExp *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LogSumExp[float64]"), pass, a, n);
}

/* r += log Σ exp x_i */
typedef struct rev_nn_LogSumExp_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
	int64_t Workers;
} rev_nn_LogSumExp_float32;

REV_STATIC_INLINE int32_t rev_nn_LogSumExp_float32_run(int32_t pass, const rev_nn_LogSumExp_float32 *k, const rev_nn_LogSumExp_float32 *g, const rev_nn_LogSumExp_float32 *t, const rev_nn_LogSumExp_float32 *gt) {
	const rev_nn_LogSumExp_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LogSumExp[float32]"), pass, a, n);
}

/* r += log Σ exp x_i */
typedef struct rev_nn_LogSumExp_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
	int64_t Workers;
} rev_nn_LogSumExp_Q43;

REV_STATIC_INLINE int32_t rev_nn_LogSumExp_Q43_run(int32_t pass, const rev_nn_LogSumExp_Q43 *k, const rev_nn_LogSumExp_Q43 *g, const rev_nn_LogSumExp_Q43 *t, const rev_nn_LogSumExp_Q43 *gt) {
	const rev_nn_LogSumExp_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LogSumExp[Q43]"), pass, a, n);
}

/* y_i += log Σ_j exp X_ij */
typedef struct rev_nn_LogSumExpRows {
	rev_float64_vector Y; /* acc [optional]; n */
	rev_float64_matrix X; /* in; n,c */
	int64_t Workers;
} rev_nn_LogSumExpRows;

REV_STATIC_INLINE int32_t rev_nn_LogSumExpRows_run(int32_t pass, const rev_nn_LogSumExpRows *k, const rev_nn_LogSumExpRows *g, const rev_nn_LogSumExpRows *t, const rev_nn_LogSumExpRows *gt) {
	const rev_nn_LogSumExpRows *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LogSumExpRows[float64]"), pass, a, n);
}

/* y_i += log Σ_j exp X_ij */
typedef struct rev_nn_LogSumExpRows_float32 {
	rev_float32_vector Y; /* acc [optional]; n */
	rev_float32_matrix X; /* in; n,c */
	int64_t Workers;
} rev_nn_LogSumExpRows_float32;

REV_STATIC_INLINE int32_t rev_nn_LogSumExpRows_float32_run(int32_t pass, const rev_nn_LogSumExpRows_float32 *k, const rev_nn_LogSumExpRows_float32 *g, const rev_nn_LogSumExpRows_float32 *t, const rev_nn_LogSumExpRows_float32 *gt) {
	const rev_nn_LogSumExpRows_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LogSumExpRows[float32]"), pass, a, n);
}

/* y_i += log Σ_j exp X_ij */
typedef struct rev_nn_LogSumExpRows_Q43 {
	rev_Q43_vector Y; /* acc [optional]; n */
	rev_Q43_matrix X; /* in; n,c */
	int64_t Workers;
} rev_nn_LogSumExpRows_Q43;

REV_STATIC_INLINE int32_t rev_nn_LogSumExpRows_Q43_run(int32_t pass, const rev_nn_LogSumExpRows_Q43 *k, const rev_nn_LogSumExpRows_Q43 *g, const rev_nn_LogSumExpRows_Q43 *t, const rev_nn_LogSumExpRows_Q43 *gt) {
	const rev_nn_LogSumExpRows_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LogSumExpRows[Q43]"), pass, a, n);
}

/* r += cross-entropy of softmax x_i, for rows i */
typedef struct rev_nn_CrossEntropy {
	double *Out; /* acc [optional] */
	rev_float64_matrix X; /* in; n,c */
	rev_float64_matrix P; /* in [optional]; n,c */
	rev_int_vector Labels; /* index [optional]; n */
	int32_t Mean;
	int64_t Workers;
} rev_nn_CrossEntropy;

REV_STATIC_INLINE int32_t rev_nn_CrossEntropy_run(int32_t pass, const rev_nn_CrossEntropy *k, const rev_nn_CrossEntropy *g, const rev_nn_CrossEntropy *t, const rev_nn_CrossEntropy *gt) {
	const rev_nn_CrossEntropy *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->P.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->P);
		if (parts[p]->Labels.data) a[n++] = rev_int_vector_arg(p, 3, 5, parts[p]->Labels);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.CrossEntropy[float64]"), pass, a, n);
}

/* r += cross-entropy of softmax x_i, for rows i */
typedef struct rev_nn_CrossEntropy_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix X; /* in; n,c */
	rev_float32_matrix P; /* in [optional]; n,c */
	rev_int_vector Labels; /* index [optional]; n */
	int32_t Mean;
	int64_t Workers;
} rev_nn_CrossEntropy_float32;

REV_STATIC_INLINE int32_t rev_nn_CrossEntropy_float32_run(int32_t pass, const rev_nn_CrossEntropy_float32 *k, const rev_nn_CrossEntropy_float32 *g, const rev_nn_CrossEntropy_float32 *t, const rev_nn_CrossEntropy_float32 *gt) {
	const rev_nn_CrossEntropy_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->P.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->P);
		if (parts[p]->Labels.data) a[n++] = rev_int_vector_arg(p, 3, 5, parts[p]->Labels);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.CrossEntropy[float32]"), pass, a, n);
}

/* r += cross-entropy of softmax x_i, for rows i */
typedef struct rev_nn_CrossEntropy_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix X; /* in; n,c */
	rev_Q43_matrix P; /* in [optional]; n,c */
	rev_int_vector Labels; /* index [optional]; n */
	int32_t Mean;
	int64_t Workers;
} rev_nn_CrossEntropy_Q43;

REV_STATIC_INLINE int32_t rev_nn_CrossEntropy_Q43_run(int32_t pass, const rev_nn_CrossEntropy_Q43 *k, const rev_nn_CrossEntropy_Q43 *g, const rev_nn_CrossEntropy_Q43 *t, const rev_nn_CrossEntropy_Q43 *gt) {
	const rev_nn_CrossEntropy_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->P.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->P);
		if (parts[p]->Labels.data) a[n++] = rev_int_vector_arg(p, 3, 5, parts[p]->Labels);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.CrossEntropy[Q43]"), pass, a, n);
}

/* Y_i += γ·X_i/rms(X_i) of rows i */
typedef struct rev_nn_RMSNorm {
	rev_float64_matrix Y; /* acc [optional]; n,c */
	rev_float64_matrix X; /* in; n,c */
	rev_float64_vector Gain; /* in [optional]; c */
	double Epsilon;
	int64_t Workers;
} rev_nn_RMSNorm;

REV_STATIC_INLINE int32_t rev_nn_RMSNorm_run(int32_t pass, const rev_nn_RMSNorm *k, const rev_nn_RMSNorm *g, const rev_nn_RMSNorm *t, const rev_nn_RMSNorm *gt) {
	const rev_nn_RMSNorm *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Gain);
	}
	a[n++] = rev_parameter(0, (double)k->Epsilon);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.RMSNorm[float64]"), pass, a, n);
}

/* Y_i += γ·X_i/rms(X_i) of rows i */
typedef struct rev_nn_RMSNorm_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,c */
	rev_float32_matrix X; /* in; n,c */
	rev_float32_vector Gain; /* in [optional]; c */
	double Epsilon;
	int64_t Workers;
} rev_nn_RMSNorm_float32;

REV_STATIC_INLINE int32_t rev_nn_RMSNorm_float32_run(int32_t pass, const rev_nn_RMSNorm_float32 *k, const rev_nn_RMSNorm_float32 *g, const rev_nn_RMSNorm_float32 *t, const rev_nn_RMSNorm_float32 *gt) {
	const rev_nn_RMSNorm_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Gain);
	}
	a[n++] = rev_parameter(0, (double)k->Epsilon);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.RMSNorm[float32]"), pass, a, n);
}

/* Y_i += γ·X_i/rms(X_i) of rows i */
typedef struct rev_nn_RMSNorm_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,c */
	rev_Q43_matrix X; /* in; n,c */
	rev_Q43_vector Gain; /* in [optional]; c */
	double Epsilon;
	int64_t Workers;
} rev_nn_RMSNorm_Q43;

REV_STATIC_INLINE int32_t rev_nn_RMSNorm_Q43_run(int32_t pass, const rev_nn_RMSNorm_Q43 *k, const rev_nn_RMSNorm_Q43 *g, const rev_nn_RMSNorm_Q43 *t, const rev_nn_RMSNorm_Q43 *gt) {
	const rev_nn_RMSNorm_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Gain);
	}
	a[n++] = rev_parameter(0, (double)k->Epsilon);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.RMSNorm[Q43]"), pass, a, n);
}

/* Y_i += γ·(X_i - mean)/deviation + β of rows i */
typedef struct rev_nn_LayerNorm {
	rev_float64_matrix Y; /* acc [optional]; n,c */
	rev_float64_matrix X; /* in; n,c */
	rev_float64_vector Gain; /* in [optional]; c */
	rev_float64_vector Bias; /* in [optional]; c */
	double Epsilon;
	int64_t Workers;
} rev_nn_LayerNorm;

REV_STATIC_INLINE int32_t rev_nn_LayerNorm_run(int32_t pass, const rev_nn_LayerNorm *k, const rev_nn_LayerNorm *g, const rev_nn_LayerNorm *t, const rev_nn_LayerNorm *gt) {
	const rev_nn_LayerNorm *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Epsilon);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LayerNorm[float64]"), pass, a, n);
}

/* Y_i += γ·(X_i - mean)/deviation + β of rows i */
typedef struct rev_nn_LayerNorm_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,c */
	rev_float32_matrix X; /* in; n,c */
	rev_float32_vector Gain; /* in [optional]; c */
	rev_float32_vector Bias; /* in [optional]; c */
	double Epsilon;
	int64_t Workers;
} rev_nn_LayerNorm_float32;

REV_STATIC_INLINE int32_t rev_nn_LayerNorm_float32_run(int32_t pass, const rev_nn_LayerNorm_float32 *k, const rev_nn_LayerNorm_float32 *g, const rev_nn_LayerNorm_float32 *t, const rev_nn_LayerNorm_float32 *gt) {
	const rev_nn_LayerNorm_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Epsilon);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LayerNorm[float32]"), pass, a, n);
}

/* Y_i += γ·(X_i - mean)/deviation + β of rows i */
typedef struct rev_nn_LayerNorm_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,c */
	rev_Q43_matrix X; /* in; n,c */
	rev_Q43_vector Gain; /* in [optional]; c */
	rev_Q43_vector Bias; /* in [optional]; c */
	double Epsilon;
	int64_t Workers;
} rev_nn_LayerNorm_Q43;

REV_STATIC_INLINE int32_t rev_nn_LayerNorm_Q43_run(int32_t pass, const rev_nn_LayerNorm_Q43 *k, const rev_nn_LayerNorm_Q43 *g, const rev_nn_LayerNorm_Q43 *t, const rev_nn_LayerNorm_Q43 *gt) {
	const rev_nn_LayerNorm_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Epsilon);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LayerNorm[Q43]"), pass, a, n);
}

/* Y_c += γ·(X_c - mean)/deviation + β of channels c of all rows, and the means and variances */
typedef struct rev_nn_BatchNorm {
	rev_float64_matrix Y; /* acc [optional]; n,p */
	rev_float64_vector Mean; /* acc [optional]; Channels */
	rev_float64_vector Variance; /* acc [optional]; Channels */
	rev_float64_matrix X; /* in; n,p */
	rev_float64_vector Gain; /* in [optional]; Channels */
	rev_float64_vector Bias; /* in [optional]; Channels */
	int64_t Channels;
	double Epsilon;
	int64_t Workers;
} rev_nn_BatchNorm;

REV_STATIC_INLINE int32_t rev_nn_BatchNorm_run(int32_t pass, const rev_nn_BatchNorm *k, const rev_nn_BatchNorm *g, const rev_nn_BatchNorm *t, const rev_nn_BatchNorm *gt) {
	const rev_nn_BatchNorm *parts[4] = {k, g, t, gt};
	rev_arg a[27];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->Mean.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Mean);
		if (parts[p]->Variance.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Variance);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float64_vector_arg(p, 4, 1, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_float64_vector_arg(p, 5, 1, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Epsilon);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revnn.BatchNorm[float64]"), pass, a, n);
}

/* Y_c += γ·(X_c - mean)/deviation + β of channels c of all rows, and the means and variances */
typedef struct rev_nn_BatchNorm_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,p */
	rev_float32_vector Mean; /* acc [optional]; Channels */
	rev_float32_vector Variance; /* acc [optional]; Channels */
	rev_float32_matrix X; /* in; n,p */
	rev_float32_vector Gain; /* in [optional]; Channels */
	rev_float32_vector Bias; /* in [optional]; Channels */
	int64_t Channels;
	double Epsilon;
	int64_t Workers;
} rev_nn_BatchNorm_float32;

REV_STATIC_INLINE int32_t rev_nn_BatchNorm_float32_run(int32_t pass, const rev_nn_BatchNorm_float32 *k, const rev_nn_BatchNorm_float32 *g, const rev_nn_BatchNorm_float32 *t, const rev_nn_BatchNorm_float32 *gt) {
	const rev_nn_BatchNorm_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[27];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->Mean.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->Mean);
		if (parts[p]->Variance.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Variance);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float32_vector_arg(p, 4, 2, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_float32_vector_arg(p, 5, 2, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Epsilon);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revnn.BatchNorm[float32]"), pass, a, n);
}

/* Y_c += γ·(X_c - mean)/deviation + β of channels c of all rows, and the means and variances */
typedef struct rev_nn_BatchNorm_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,p */
	rev_Q43_vector Mean; /* acc [optional]; Channels */
	rev_Q43_vector Variance; /* acc [optional]; Channels */
	rev_Q43_matrix X; /* in; n,p */
	rev_Q43_vector Gain; /* in [optional]; Channels */
	rev_Q43_vector Bias; /* in [optional]; Channels */
	int64_t Channels;
	double Epsilon;
	int64_t Workers;
} rev_nn_BatchNorm_Q43;

REV_STATIC_INLINE int32_t rev_nn_BatchNorm_Q43_run(int32_t pass, const rev_nn_BatchNorm_Q43 *k, const rev_nn_BatchNorm_Q43 *g, const rev_nn_BatchNorm_Q43 *t, const rev_nn_BatchNorm_Q43 *gt) {
	const rev_nn_BatchNorm_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[27];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->Mean.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->Mean);
		if (parts[p]->Variance.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Variance);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_Q43_vector_arg(p, 4, 3, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_Q43_vector_arg(p, 5, 3, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Epsilon);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revnn.BatchNorm[Q43]"), pass, a, n);
}

/* Y_i += γ·(X_i - mean)/deviation + β of groups of channels of rows i */
typedef struct rev_nn_GroupNorm {
	rev_float64_matrix Y; /* acc [optional]; n,p */
	rev_float64_matrix X; /* in; n,p */
	rev_float64_vector Gain; /* in [optional]; Channels */
	rev_float64_vector Bias; /* in [optional]; Channels */
	int64_t Channels;
	int64_t Groups;
	double Epsilon;
	int64_t Workers;
} rev_nn_GroupNorm;

REV_STATIC_INLINE int32_t rev_nn_GroupNorm_run(int32_t pass, const rev_nn_GroupNorm *k, const rev_nn_GroupNorm *g, const rev_nn_GroupNorm *t, const rev_nn_GroupNorm *gt) {
	const rev_nn_GroupNorm *parts[4] = {k, g, t, gt};
	rev_arg a[20];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Groups);
	a[n++] = rev_parameter(2, (double)k->Epsilon);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GroupNorm[float64]"), pass, a, n);
}

/* Y_i += γ·(X_i - mean)/deviation + β of groups of channels of rows i */
typedef struct rev_nn_GroupNorm_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,p */
	rev_float32_matrix X; /* in; n,p */
	rev_float32_vector Gain; /* in [optional]; Channels */
	rev_float32_vector Bias; /* in [optional]; Channels */
	int64_t Channels;
	int64_t Groups;
	double Epsilon;
	int64_t Workers;
} rev_nn_GroupNorm_float32;

REV_STATIC_INLINE int32_t rev_nn_GroupNorm_float32_run(int32_t pass, const rev_nn_GroupNorm_float32 *k, const rev_nn_GroupNorm_float32 *g, const rev_nn_GroupNorm_float32 *t, const rev_nn_GroupNorm_float32 *gt) {
	const rev_nn_GroupNorm_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[20];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Groups);
	a[n++] = rev_parameter(2, (double)k->Epsilon);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GroupNorm[float32]"), pass, a, n);
}

/* Y_i += γ·(X_i - mean)/deviation + β of groups of channels of rows i */
typedef struct rev_nn_GroupNorm_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,p */
	rev_Q43_matrix X; /* in; n,p */
	rev_Q43_vector Gain; /* in [optional]; Channels */
	rev_Q43_vector Bias; /* in [optional]; Channels */
	int64_t Channels;
	int64_t Groups;
	double Epsilon;
	int64_t Workers;
} rev_nn_GroupNorm_Q43;

REV_STATIC_INLINE int32_t rev_nn_GroupNorm_Q43_run(int32_t pass, const rev_nn_GroupNorm_Q43 *k, const rev_nn_GroupNorm_Q43 *g, const rev_nn_GroupNorm_Q43 *t, const rev_nn_GroupNorm_Q43 *gt) {
	const rev_nn_GroupNorm_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[20];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Gain.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Gain);
		if (parts[p]->Bias.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->Bias);
	}
	a[n++] = rev_parameter(0, (double)k->Channels);
	a[n++] = rev_parameter(1, (double)k->Groups);
	a[n++] = rev_parameter(2, (double)k->Epsilon);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GroupNorm[Q43]"), pass, a, n);
}

/* Y += softmax(α·Q·Kᵀ)·V, of rows */
typedef struct rev_nn_Attention {
	rev_float64_matrix Y; /* acc [optional]; n,e */
	rev_float64_matrix Q; /* in; n,c */
	rev_float64_matrix K; /* in; m,c */
	rev_float64_matrix V; /* in; m,e */
	int64_t Heads;
	int64_t Sequences;
	double Scale;
	int32_t Causal;
	int64_t Workers;
} rev_nn_Attention;

REV_STATIC_INLINE int32_t rev_nn_Attention_run(int32_t pass, const rev_nn_Attention *k, const rev_nn_Attention *g, const rev_nn_Attention *t, const rev_nn_Attention *gt) {
	const rev_nn_Attention *parts[4] = {k, g, t, gt};
	rev_arg a[21];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->Q.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Q);
		if (parts[p]->K.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->K);
		if (parts[p]->V.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->V);
	}
	a[n++] = rev_parameter(0, (double)k->Heads);
	a[n++] = rev_parameter(1, (double)k->Sequences);
	a[n++] = rev_parameter(2, (double)k->Scale);
	a[n++] = rev_parameter(3, (double)k->Causal);
	a[n++] = rev_parameter(4, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Attention[float64]"), pass, a, n);
}

/* Y += softmax(α·Q·Kᵀ)·V, of rows */
typedef struct rev_nn_Attention_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,e */
	rev_float32_matrix Q; /* in; n,c */
	rev_float32_matrix K; /* in; m,c */
	rev_float32_matrix V; /* in; m,e */
	int64_t Heads;
	int64_t Sequences;
	double Scale;
	int32_t Causal;
	int64_t Workers;
} rev_nn_Attention_float32;

REV_STATIC_INLINE int32_t rev_nn_Attention_float32_run(int32_t pass, const rev_nn_Attention_float32 *k, const rev_nn_Attention_float32 *g, const rev_nn_Attention_float32 *t, const rev_nn_Attention_float32 *gt) {
	const rev_nn_Attention_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[21];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->Q.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Q);
		if (parts[p]->K.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->K);
		if (parts[p]->V.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->V);
	}
	a[n++] = rev_parameter(0, (double)k->Heads);
	a[n++] = rev_parameter(1, (double)k->Sequences);
	a[n++] = rev_parameter(2, (double)k->Scale);
	a[n++] = rev_parameter(3, (double)k->Causal);
	a[n++] = rev_parameter(4, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Attention[float32]"), pass, a, n);
}

/* Y_t += h_t, C += c_T of long short-term memory over sequences X */
typedef struct rev_nn_LSTM {
	rev_float64_matrix Y; /* acc [optional]; n,h */
	rev_float64_matrix C; /* acc [optional]; max(1,Sequences),h */
	rev_float64_matrix X; /* in; n,d */
	rev_float64_matrix H0; /* in [optional]; max(1,Sequences),h */
	rev_float64_matrix C0; /* in [optional]; max(1,Sequences),h */
	rev_float64_matrix WX; /* in; 4*h,d */
	rev_float64_matrix WH; /* in; 4*h,h */
	rev_float64_vector BX; /* in [optional]; 4*h */
	rev_float64_vector BH; /* in [optional]; 4*h */
	int64_t Sequences;
	int64_t Workers;
} rev_nn_LSTM;

REV_STATIC_INLINE int32_t rev_nn_LSTM_run(int32_t pass, const rev_nn_LSTM *k, const rev_nn_LSTM *g, const rev_nn_LSTM *t, const rev_nn_LSTM *gt) {
	const rev_nn_LSTM *parts[4] = {k, g, t, gt};
	rev_arg a[38];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->X);
		if (parts[p]->H0.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->H0);
		if (parts[p]->C0.data) a[n++] = rev_float64_matrix_arg(p, 4, 1, parts[p]->C0);
		if (parts[p]->WX.data) a[n++] = rev_float64_matrix_arg(p, 5, 1, parts[p]->WX);
		if (parts[p]->WH.data) a[n++] = rev_float64_matrix_arg(p, 6, 1, parts[p]->WH);
		if (parts[p]->BX.data) a[n++] = rev_float64_vector_arg(p, 7, 1, parts[p]->BX);
		if (parts[p]->BH.data) a[n++] = rev_float64_vector_arg(p, 8, 1, parts[p]->BH);
	}
	a[n++] = rev_parameter(0, (double)k->Sequences);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LSTM[float64]"), pass, a, n);
}

/* Y_t += h_t, C += c_T of long short-term memory over sequences X */
typedef struct rev_nn_LSTM_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,h */
	rev_float32_matrix C; /* acc [optional]; max(1,Sequences),h */
	rev_float32_matrix X; /* in; n,d */
	rev_float32_matrix H0; /* in [optional]; max(1,Sequences),h */
	rev_float32_matrix C0; /* in [optional]; max(1,Sequences),h */
	rev_float32_matrix WX; /* in; 4*h,d */
	rev_float32_matrix WH; /* in; 4*h,h */
	rev_float32_vector BX; /* in [optional]; 4*h */
	rev_float32_vector BH; /* in [optional]; 4*h */
	int64_t Sequences;
	int64_t Workers;
} rev_nn_LSTM_float32;

REV_STATIC_INLINE int32_t rev_nn_LSTM_float32_run(int32_t pass, const rev_nn_LSTM_float32 *k, const rev_nn_LSTM_float32 *g, const rev_nn_LSTM_float32 *t, const rev_nn_LSTM_float32 *gt) {
	const rev_nn_LSTM_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[38];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->X);
		if (parts[p]->H0.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->H0);
		if (parts[p]->C0.data) a[n++] = rev_float32_matrix_arg(p, 4, 2, parts[p]->C0);
		if (parts[p]->WX.data) a[n++] = rev_float32_matrix_arg(p, 5, 2, parts[p]->WX);
		if (parts[p]->WH.data) a[n++] = rev_float32_matrix_arg(p, 6, 2, parts[p]->WH);
		if (parts[p]->BX.data) a[n++] = rev_float32_vector_arg(p, 7, 2, parts[p]->BX);
		if (parts[p]->BH.data) a[n++] = rev_float32_vector_arg(p, 8, 2, parts[p]->BH);
	}
	a[n++] = rev_parameter(0, (double)k->Sequences);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LSTM[float32]"), pass, a, n);
}

/* Y_t += h_t, C += c_T of long short-term memory over sequences X */
typedef struct rev_nn_LSTM_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,h */
	rev_Q43_matrix C; /* acc [optional]; max(1,Sequences),h */
	rev_Q43_matrix X; /* in; n,d */
	rev_Q43_matrix H0; /* in [optional]; max(1,Sequences),h */
	rev_Q43_matrix C0; /* in [optional]; max(1,Sequences),h */
	rev_Q43_matrix WX; /* in; 4*h,d */
	rev_Q43_matrix WH; /* in; 4*h,h */
	rev_Q43_vector BX; /* in [optional]; 4*h */
	rev_Q43_vector BH; /* in [optional]; 4*h */
	int64_t Sequences;
	int64_t Workers;
} rev_nn_LSTM_Q43;

REV_STATIC_INLINE int32_t rev_nn_LSTM_Q43_run(int32_t pass, const rev_nn_LSTM_Q43 *k, const rev_nn_LSTM_Q43 *g, const rev_nn_LSTM_Q43 *t, const rev_nn_LSTM_Q43 *gt) {
	const rev_nn_LSTM_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[38];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->C.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->C);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->X);
		if (parts[p]->H0.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->H0);
		if (parts[p]->C0.data) a[n++] = rev_Q43_matrix_arg(p, 4, 3, parts[p]->C0);
		if (parts[p]->WX.data) a[n++] = rev_Q43_matrix_arg(p, 5, 3, parts[p]->WX);
		if (parts[p]->WH.data) a[n++] = rev_Q43_matrix_arg(p, 6, 3, parts[p]->WH);
		if (parts[p]->BX.data) a[n++] = rev_Q43_vector_arg(p, 7, 3, parts[p]->BX);
		if (parts[p]->BH.data) a[n++] = rev_Q43_vector_arg(p, 8, 3, parts[p]->BH);
	}
	a[n++] = rev_parameter(0, (double)k->Sequences);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.LSTM[Q43]"), pass, a, n);
}

/* Y_t += h_t of gated recurrent units over sequences X */
typedef struct rev_nn_GRU {
	rev_float64_matrix Y; /* acc [optional]; n,h */
	rev_float64_matrix X; /* in; n,d */
	rev_float64_matrix H0; /* in [optional]; max(1,Sequences),h */
	rev_float64_matrix WX; /* in; 3*h,d */
	rev_float64_matrix WH; /* in; 3*h,h */
	rev_float64_vector BX; /* in [optional]; 3*h */
	rev_float64_vector BH; /* in [optional]; 3*h */
	int64_t Sequences;
	int64_t Workers;
} rev_nn_GRU;

REV_STATIC_INLINE int32_t rev_nn_GRU_run(int32_t pass, const rev_nn_GRU *k, const rev_nn_GRU *g, const rev_nn_GRU *t, const rev_nn_GRU *gt) {
	const rev_nn_GRU *parts[4] = {k, g, t, gt};
	rev_arg a[30];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->H0.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->H0);
		if (parts[p]->WX.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->WX);
		if (parts[p]->WH.data) a[n++] = rev_float64_matrix_arg(p, 4, 1, parts[p]->WH);
		if (parts[p]->BX.data) a[n++] = rev_float64_vector_arg(p, 5, 1, parts[p]->BX);
		if (parts[p]->BH.data) a[n++] = rev_float64_vector_arg(p, 6, 1, parts[p]->BH);
	}
	a[n++] = rev_parameter(0, (double)k->Sequences);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GRU[float64]"), pass, a, n);
}

/* Y_t += h_t of gated recurrent units over sequences X */
typedef struct rev_nn_GRU_float32 {
	rev_float32_matrix Y; /* acc [optional]; n,h */
	rev_float32_matrix X; /* in; n,d */
	rev_float32_matrix H0; /* in [optional]; max(1,Sequences),h */
	rev_float32_matrix WX; /* in; 3*h,d */
	rev_float32_matrix WH; /* in; 3*h,h */
	rev_float32_vector BX; /* in [optional]; 3*h */
	rev_float32_vector BH; /* in [optional]; 3*h */
	int64_t Sequences;
	int64_t Workers;
} rev_nn_GRU_float32;

REV_STATIC_INLINE int32_t rev_nn_GRU_float32_run(int32_t pass, const rev_nn_GRU_float32 *k, const rev_nn_GRU_float32 *g, const rev_nn_GRU_float32 *t, const rev_nn_GRU_float32 *gt) {
	const rev_nn_GRU_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[30];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->H0.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->H0);
		if (parts[p]->WX.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->WX);
		if (parts[p]->WH.data) a[n++] = rev_float32_matrix_arg(p, 4, 2, parts[p]->WH);
		if (parts[p]->BX.data) a[n++] = rev_float32_vector_arg(p, 5, 2, parts[p]->BX);
		if (parts[p]->BH.data) a[n++] = rev_float32_vector_arg(p, 6, 2, parts[p]->BH);
	}
	a[n++] = rev_parameter(0, (double)k->Sequences);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GRU[float32]"), pass, a, n);
}

/* Y_t += h_t of gated recurrent units over sequences X */
typedef struct rev_nn_GRU_Q43 {
	rev_Q43_matrix Y; /* acc [optional]; n,h */
	rev_Q43_matrix X; /* in; n,d */
	rev_Q43_matrix H0; /* in [optional]; max(1,Sequences),h */
	rev_Q43_matrix WX; /* in; 3*h,d */
	rev_Q43_matrix WH; /* in; 3*h,h */
	rev_Q43_vector BX; /* in [optional]; 3*h */
	rev_Q43_vector BH; /* in [optional]; 3*h */
	int64_t Sequences;
	int64_t Workers;
} rev_nn_GRU_Q43;

REV_STATIC_INLINE int32_t rev_nn_GRU_Q43_run(int32_t pass, const rev_nn_GRU_Q43 *k, const rev_nn_GRU_Q43 *g, const rev_nn_GRU_Q43 *t, const rev_nn_GRU_Q43 *gt) {
	const rev_nn_GRU_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[30];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->H0.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->H0);
		if (parts[p]->WX.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->WX);
		if (parts[p]->WH.data) a[n++] = rev_Q43_matrix_arg(p, 4, 3, parts[p]->WH);
		if (parts[p]->BX.data) a[n++] = rev_Q43_vector_arg(p, 5, 3, parts[p]->BX);
		if (parts[p]->BH.data) a[n++] = rev_Q43_vector_arg(p, 6, 3, parts[p]->BH);
	}
	a[n++] = rev_parameter(0, (double)k->Sequences);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.GRU[Q43]"), pass, a, n);
}

/* r += Σ (x_ij - y_ij)² */
typedef struct rev_nn_SquaredError {
	double *Out; /* acc [optional] */
	rev_float64_matrix X; /* in; n,c */
	rev_float64_matrix Y; /* in; n,c */
	int32_t Mean;
	int64_t Workers;
} rev_nn_SquaredError;

REV_STATIC_INLINE int32_t rev_nn_SquaredError_run(int32_t pass, const rev_nn_SquaredError *k, const rev_nn_SquaredError *g, const rev_nn_SquaredError *t, const rev_nn_SquaredError *gt) {
	const rev_nn_SquaredError *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SquaredError[float64]"), pass, a, n);
}

/* r += Σ (x_ij - y_ij)² */
typedef struct rev_nn_SquaredError_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix X; /* in; n,c */
	rev_float32_matrix Y; /* in; n,c */
	int32_t Mean;
	int64_t Workers;
} rev_nn_SquaredError_float32;

REV_STATIC_INLINE int32_t rev_nn_SquaredError_float32_run(int32_t pass, const rev_nn_SquaredError_float32 *k, const rev_nn_SquaredError_float32 *g, const rev_nn_SquaredError_float32 *t, const rev_nn_SquaredError_float32 *gt) {
	const rev_nn_SquaredError_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SquaredError[float32]"), pass, a, n);
}

/* r += Σ (x_ij - y_ij)² */
typedef struct rev_nn_SquaredError_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix X; /* in; n,c */
	rev_Q43_matrix Y; /* in; n,c */
	int32_t Mean;
	int64_t Workers;
} rev_nn_SquaredError_Q43;

REV_STATIC_INLINE int32_t rev_nn_SquaredError_Q43_run(int32_t pass, const rev_nn_SquaredError_Q43 *k, const rev_nn_SquaredError_Q43 *g, const rev_nn_SquaredError_Q43 *t, const rev_nn_SquaredError_Q43 *gt) {
	const rev_nn_SquaredError_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.SquaredError[Q43]"), pass, a, n);
}

/* r += Σ of Huber's function of x_ij - y_ij */
typedef struct rev_nn_Huber {
	double *Out; /* acc [optional] */
	rev_float64_matrix X; /* in; n,c */
	rev_float64_matrix Y; /* in; n,c */
	double Delta;
	int32_t Mean;
	int64_t Workers;
} rev_nn_Huber;

REV_STATIC_INLINE int32_t rev_nn_Huber_run(int32_t pass, const rev_nn_Huber *k, const rev_nn_Huber *g, const rev_nn_Huber *t, const rev_nn_Huber *gt) {
	const rev_nn_Huber *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Delta);
	a[n++] = rev_parameter(1, (double)k->Mean);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Huber[float64]"), pass, a, n);
}

/* r += Σ of Huber's function of x_ij - y_ij */
typedef struct rev_nn_Huber_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix X; /* in; n,c */
	rev_float32_matrix Y; /* in; n,c */
	double Delta;
	int32_t Mean;
	int64_t Workers;
} rev_nn_Huber_float32;

REV_STATIC_INLINE int32_t rev_nn_Huber_float32_run(int32_t pass, const rev_nn_Huber_float32 *k, const rev_nn_Huber_float32 *g, const rev_nn_Huber_float32 *t, const rev_nn_Huber_float32 *gt) {
	const rev_nn_Huber_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Delta);
	a[n++] = rev_parameter(1, (double)k->Mean);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Huber[float32]"), pass, a, n);
}

/* r += Σ of Huber's function of x_ij - y_ij */
typedef struct rev_nn_Huber_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix X; /* in; n,c */
	rev_Q43_matrix Y; /* in; n,c */
	double Delta;
	int32_t Mean;
	int64_t Workers;
} rev_nn_Huber_Q43;

REV_STATIC_INLINE int32_t rev_nn_Huber_Q43_run(int32_t pass, const rev_nn_Huber_Q43 *k, const rev_nn_Huber_Q43 *g, const rev_nn_Huber_Q43 *t, const rev_nn_Huber_Q43 *gt) {
	const rev_nn_Huber_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Y);
	}
	a[n++] = rev_parameter(0, (double)k->Delta);
	a[n++] = rev_parameter(1, (double)k->Mean);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revnn.Huber[Q43]"), pass, a, n);
}

/* r += binary cross-entropy of σ(x_ij) */
typedef struct rev_nn_BinaryCrossEntropy {
	double *Out; /* acc [optional] */
	rev_float64_matrix X; /* in; n,c */
	rev_float64_matrix P; /* in; n,c */
	int32_t Mean;
	int64_t Workers;
} rev_nn_BinaryCrossEntropy;

REV_STATIC_INLINE int32_t rev_nn_BinaryCrossEntropy_run(int32_t pass, const rev_nn_BinaryCrossEntropy *k, const rev_nn_BinaryCrossEntropy *g, const rev_nn_BinaryCrossEntropy *t, const rev_nn_BinaryCrossEntropy *gt) {
	const rev_nn_BinaryCrossEntropy *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->P.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->P);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.BinaryCrossEntropy[float64]"), pass, a, n);
}

/* r += binary cross-entropy of σ(x_ij) */
typedef struct rev_nn_BinaryCrossEntropy_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix X; /* in; n,c */
	rev_float32_matrix P; /* in; n,c */
	int32_t Mean;
	int64_t Workers;
} rev_nn_BinaryCrossEntropy_float32;

REV_STATIC_INLINE int32_t rev_nn_BinaryCrossEntropy_float32_run(int32_t pass, const rev_nn_BinaryCrossEntropy_float32 *k, const rev_nn_BinaryCrossEntropy_float32 *g, const rev_nn_BinaryCrossEntropy_float32 *t, const rev_nn_BinaryCrossEntropy_float32 *gt) {
	const rev_nn_BinaryCrossEntropy_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->P.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->P);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.BinaryCrossEntropy[float32]"), pass, a, n);
}

/* r += binary cross-entropy of σ(x_ij) */
typedef struct rev_nn_BinaryCrossEntropy_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix X; /* in; n,c */
	rev_Q43_matrix P; /* in; n,c */
	int32_t Mean;
	int64_t Workers;
} rev_nn_BinaryCrossEntropy_Q43;

REV_STATIC_INLINE int32_t rev_nn_BinaryCrossEntropy_Q43_run(int32_t pass, const rev_nn_BinaryCrossEntropy_Q43 *k, const rev_nn_BinaryCrossEntropy_Q43 *g, const rev_nn_BinaryCrossEntropy_Q43 *t, const rev_nn_BinaryCrossEntropy_Q43 *gt) {
	const rev_nn_BinaryCrossEntropy_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->X);
		if (parts[p]->P.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->P);
	}
	a[n++] = rev_parameter(0, (double)k->Mean);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revnn.BinaryCrossEntropy[Q43]"), pass, a, n);
}

/* r += Σ_i min_k ‖x_i - c_k‖² */
typedef struct rev_kmeans_Cost {
	double *Out; /* acc [optional] */
	rev_float64_matrix Centroids; /* in; K,D */
	rev_float64_matrix X; /* in; N,D */
	int64_t Workers;
} rev_kmeans_Cost;

REV_STATIC_INLINE int32_t rev_kmeans_Cost_run(int32_t pass, const rev_kmeans_Cost *k, const rev_kmeans_Cost *g, const rev_kmeans_Cost *t, const rev_kmeans_Cost *gt) {
	const rev_kmeans_Cost *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->Centroids.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Centroids);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("kmeans.Cost[float64]"), pass, a, n);
}

/* r += Σ_i min_k ‖x_i - c_k‖² */
typedef struct rev_kmeans_Cost_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix Centroids; /* in; K,D */
	rev_float32_matrix X; /* in; N,D */
	int64_t Workers;
} rev_kmeans_Cost_float32;

REV_STATIC_INLINE int32_t rev_kmeans_Cost_float32_run(int32_t pass, const rev_kmeans_Cost_float32 *k, const rev_kmeans_Cost_float32 *g, const rev_kmeans_Cost_float32 *t, const rev_kmeans_Cost_float32 *gt) {
	const rev_kmeans_Cost_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->Centroids.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Centroids);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("kmeans.Cost[float32]"), pass, a, n);
}

/* C += α·op(A)·B, A sparse */
typedef struct rev_sparse_Mul {
	rev_float64_matrix C; /* acc [optional]; Trans ? k,n : m,n */
	double *Alpha; /* in [optional] */
	rev_float64_csr A; /* in; m,k */
	rev_float64_matrix B; /* in; Trans ? m,n : k,n */
	int32_t Trans;
	int64_t Workers;
} rev_sparse_Mul;

REV_STATIC_INLINE int32_t rev_sparse_Mul_run(int32_t pass, const rev_sparse_Mul *k, const rev_sparse_Mul *g, const rev_sparse_Mul *t, const rev_sparse_Mul *gt) {
	const rev_sparse_Mul *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->Alpha) a[n++] = rev_float64_scalar_arg(p, 1, 1, parts[p]->Alpha);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 2, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Trans);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Mul[float64]"), pass, a, n);
}

/* C += α·op(A)·B, A sparse */
typedef struct rev_sparse_Mul_float32 {
	rev_float32_matrix C; /* acc [optional]; Trans ? k,n : m,n */
	float *Alpha; /* in [optional] */
	rev_float32_csr A; /* in; m,k */
	rev_float32_matrix B; /* in; Trans ? m,n : k,n */
	int32_t Trans;
	int64_t Workers;
} rev_sparse_Mul_float32;

REV_STATIC_INLINE int32_t rev_sparse_Mul_float32_run(int32_t pass, const rev_sparse_Mul_float32 *k, const rev_sparse_Mul_float32 *g, const rev_sparse_Mul_float32 *t, const rev_sparse_Mul_float32 *gt) {
	const rev_sparse_Mul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->Alpha) a[n++] = rev_float32_scalar_arg(p, 1, 2, parts[p]->Alpha);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 2, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Trans);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Mul[float32]"), pass, a, n);
}

/* C += α·op(A)·B, A sparse */
typedef struct rev_sparse_Mul_Q43 {
	rev_Q43_matrix C; /* acc [optional]; Trans ? k,n : m,n */
	rev_Q43 *Alpha; /* in [optional] */
	rev_Q43_csr A; /* in; m,k */
	rev_Q43_matrix B; /* in; Trans ? m,n : k,n */
	int32_t Trans;
	int64_t Workers;
} rev_sparse_Mul_Q43;

REV_STATIC_INLINE int32_t rev_sparse_Mul_Q43_run(int32_t pass, const rev_sparse_Mul_Q43 *k, const rev_sparse_Mul_Q43 *g, const rev_sparse_Mul_Q43 *t, const rev_sparse_Mul_Q43 *gt) {
	const rev_sparse_Mul_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->C);
		if (parts[p]->Alpha) a[n++] = rev_Q43_scalar_arg(p, 1, 3, parts[p]->Alpha);
		if (parts[p]->A.data) a[n++] = rev_Q43_csr_arg(p, 2, 3, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Trans);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Mul[Q43]"), pass, a, n);
}

/* C += α·op(A)·B, A sparse */
typedef struct rev_sparse_Mul_complex128 {
	rev_complex128_matrix C; /* acc [optional]; Trans ? k,n : m,n */
	rev_complex *Alpha; /* in [optional] */
	rev_complex128_csr A; /* in; m,k */
	rev_complex128_matrix B; /* in; Trans ? m,n : k,n */
	int32_t Trans;
	int64_t Workers;
} rev_sparse_Mul_complex128;

REV_STATIC_INLINE int32_t rev_sparse_Mul_complex128_run(int32_t pass, const rev_sparse_Mul_complex128 *k, const rev_sparse_Mul_complex128 *g, const rev_sparse_Mul_complex128 *t, const rev_sparse_Mul_complex128 *gt) {
	const rev_sparse_Mul_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_complex128_matrix_arg(p, 0, 4, parts[p]->C);
		if (parts[p]->Alpha) a[n++] = rev_complex128_scalar_arg(p, 1, 4, parts[p]->Alpha);
		if (parts[p]->A.data) a[n++] = rev_complex128_csr_arg(p, 2, 4, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_complex128_matrix_arg(p, 3, 4, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Trans);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Mul[complex128]"), pass, a, n);
}

/* r += Σ conj(A_ij)·B_ij, both sparse */
typedef struct rev_sparse_Dot {
	double *Out; /* acc [optional] */
	rev_float64_csr A; /* in; m,n */
	rev_float64_csr B; /* in; m,n */
	int64_t Workers;
} rev_sparse_Dot;

REV_STATIC_INLINE int32_t rev_sparse_Dot_run(int32_t pass, const rev_sparse_Dot *k, const rev_sparse_Dot *g, const rev_sparse_Dot *t, const rev_sparse_Dot *gt) {
	const rev_sparse_Dot *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 1, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_csr_arg(p, 2, 1, parts[p]->B.data, k->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Dot[float64]"), pass, a, n);
}

/* r += Σ conj(A_ij)·B_ij, both sparse */
typedef struct rev_sparse_Dot_float32 {
	float *Out; /* acc [optional] */
	rev_float32_csr A; /* in; m,n */
	rev_float32_csr B; /* in; m,n */
	int64_t Workers;
} rev_sparse_Dot_float32;

REV_STATIC_INLINE int32_t rev_sparse_Dot_float32_run(int32_t pass, const rev_sparse_Dot_float32 *k, const rev_sparse_Dot_float32 *g, const rev_sparse_Dot_float32 *t, const rev_sparse_Dot_float32 *gt) {
	const rev_sparse_Dot_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 1, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_csr_arg(p, 2, 2, parts[p]->B.data, k->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Dot[float32]"), pass, a, n);
}

/* r += Σ conj(A_ij)·B_ij, both sparse */
typedef struct rev_sparse_Dot_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_csr A; /* in; m,n */
	rev_Q43_csr B; /* in; m,n */
	int64_t Workers;
} rev_sparse_Dot_Q43;

REV_STATIC_INLINE int32_t rev_sparse_Dot_Q43_run(int32_t pass, const rev_sparse_Dot_Q43 *k, const rev_sparse_Dot_Q43 *g, const rev_sparse_Dot_Q43 *t, const rev_sparse_Dot_Q43 *gt) {
	const rev_sparse_Dot_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_Q43_csr_arg(p, 1, 3, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_csr_arg(p, 2, 3, parts[p]->B.data, k->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Dot[Q43]"), pass, a, n);
}

/* r += Σ conj(A_ij)·B_ij, both sparse */
typedef struct rev_sparse_Dot_complex128 {
	rev_complex *Out; /* acc [optional] */
	rev_complex128_csr A; /* in; m,n */
	rev_complex128_csr B; /* in; m,n */
	int64_t Workers;
} rev_sparse_Dot_complex128;

REV_STATIC_INLINE int32_t rev_sparse_Dot_complex128_run(int32_t pass, const rev_sparse_Dot_complex128 *k, const rev_sparse_Dot_complex128 *g, const rev_sparse_Dot_complex128 *t, const rev_sparse_Dot_complex128 *gt) {
	const rev_sparse_Dot_complex128 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_complex128_scalar_arg(p, 0, 4, parts[p]->Out);
		if (parts[p]->A.data) a[n++] = rev_complex128_csr_arg(p, 1, 4, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_complex128_csr_arg(p, 2, 4, parts[p]->B.data, k->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.Dot[complex128]"), pass, a, n);
}

/* S_ij += A_i·B_j at the entries of a sparse S */
typedef struct rev_sparse_SampledMul {
	rev_float64_csr S; /* acc [optional]; m,n */
	rev_float64_matrix A; /* in; m,k */
	rev_float64_matrix B; /* in; n,k */
	int64_t Workers;
} rev_sparse_SampledMul;

REV_STATIC_INLINE int32_t rev_sparse_SampledMul_run(int32_t pass, const rev_sparse_SampledMul *k, const rev_sparse_SampledMul *g, const rev_sparse_SampledMul *t, const rev_sparse_SampledMul *gt) {
	const rev_sparse_SampledMul *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->S.data) a[n++] = rev_float64_csr_arg(p, 0, 1, parts[p]->S.data, k->S);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SampledMul[float64]"), pass, a, n);
}

/* S_ij += A_i·B_j at the entries of a sparse S */
typedef struct rev_sparse_SampledMul_float32 {
	rev_float32_csr S; /* acc [optional]; m,n */
	rev_float32_matrix A; /* in; m,k */
	rev_float32_matrix B; /* in; n,k */
	int64_t Workers;
} rev_sparse_SampledMul_float32;

REV_STATIC_INLINE int32_t rev_sparse_SampledMul_float32_run(int32_t pass, const rev_sparse_SampledMul_float32 *k, const rev_sparse_SampledMul_float32 *g, const rev_sparse_SampledMul_float32 *t, const rev_sparse_SampledMul_float32 *gt) {
	const rev_sparse_SampledMul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->S.data) a[n++] = rev_float32_csr_arg(p, 0, 2, parts[p]->S.data, k->S);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SampledMul[float32]"), pass, a, n);
}

/* S_ij += A_i·B_j at the entries of a sparse S */
typedef struct rev_sparse_SampledMul_Q43 {
	rev_Q43_csr S; /* acc [optional]; m,n */
	rev_Q43_matrix A; /* in; m,k */
	rev_Q43_matrix B; /* in; n,k */
	int64_t Workers;
} rev_sparse_SampledMul_Q43;

REV_STATIC_INLINE int32_t rev_sparse_SampledMul_Q43_run(int32_t pass, const rev_sparse_SampledMul_Q43 *k, const rev_sparse_SampledMul_Q43 *g, const rev_sparse_SampledMul_Q43 *t, const rev_sparse_SampledMul_Q43 *gt) {
	const rev_sparse_SampledMul_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->S.data) a[n++] = rev_Q43_csr_arg(p, 0, 3, parts[p]->S.data, k->S);
		if (parts[p]->A.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SampledMul[Q43]"), pass, a, n);
}

/* C_ij += Σ_l A_il·B_lj, all sparse */
typedef struct rev_sparse_SpGEMM {
	rev_float64_csr C; /* acc [optional]; m,n */
	rev_float64_csr A; /* in; m,k */
	rev_float64_csr B; /* in; k,n */
	int64_t Workers;
} rev_sparse_SpGEMM;

REV_STATIC_INLINE int32_t rev_sparse_SpGEMM_run(int32_t pass, const rev_sparse_SpGEMM *k, const rev_sparse_SpGEMM *g, const rev_sparse_SpGEMM *t, const rev_sparse_SpGEMM *gt) {
	const rev_sparse_SpGEMM *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_csr_arg(p, 0, 1, parts[p]->C.data, k->C);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 1, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_csr_arg(p, 2, 1, parts[p]->B.data, k->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SpGEMM[float64]"), pass, a, n);
}

/* C_ij += Σ_l A_il·B_lj, all sparse */
typedef struct rev_sparse_SpGEMM_float32 {
	rev_float32_csr C; /* acc [optional]; m,n */
	rev_float32_csr A; /* in; m,k */
	rev_float32_csr B; /* in; k,n */
	int64_t Workers;
} rev_sparse_SpGEMM_float32;

REV_STATIC_INLINE int32_t rev_sparse_SpGEMM_float32_run(int32_t pass, const rev_sparse_SpGEMM_float32 *k, const rev_sparse_SpGEMM_float32 *g, const rev_sparse_SpGEMM_float32 *t, const rev_sparse_SpGEMM_float32 *gt) {
	const rev_sparse_SpGEMM_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_csr_arg(p, 0, 2, parts[p]->C.data, k->C);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 1, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_csr_arg(p, 2, 2, parts[p]->B.data, k->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SpGEMM[float32]"), pass, a, n);
}

/* C_ij += Σ_l A_il·B_lj, all sparse */
typedef struct rev_sparse_SpGEMM_Q43 {
	rev_Q43_csr C; /* acc [optional]; m,n */
	rev_Q43_csr A; /* in; m,k */
	rev_Q43_csr B; /* in; k,n */
	int64_t Workers;
} rev_sparse_SpGEMM_Q43;

REV_STATIC_INLINE int32_t rev_sparse_SpGEMM_Q43_run(int32_t pass, const rev_sparse_SpGEMM_Q43 *k, const rev_sparse_SpGEMM_Q43 *g, const rev_sparse_SpGEMM_Q43 *t, const rev_sparse_SpGEMM_Q43 *gt) {
	const rev_sparse_SpGEMM_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_Q43_csr_arg(p, 0, 3, parts[p]->C.data, k->C);
		if (parts[p]->A.data) a[n++] = rev_Q43_csr_arg(p, 1, 3, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_csr_arg(p, 2, 3, parts[p]->B.data, k->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SpGEMM[Q43]"), pass, a, n);
}

/* C += α·(A + Aᵀ - diag A)·B, A sparse */
typedef struct rev_sparse_SymmetricMul {
	rev_float64_matrix C; /* acc [optional]; n,c */
	double *Alpha; /* in [optional] */
	rev_float64_csr A; /* in; n,n */
	rev_float64_matrix B; /* in; n,c */
	int64_t Workers;
} rev_sparse_SymmetricMul;

REV_STATIC_INLINE int32_t rev_sparse_SymmetricMul_run(int32_t pass, const rev_sparse_SymmetricMul *k, const rev_sparse_SymmetricMul *g, const rev_sparse_SymmetricMul *t, const rev_sparse_SymmetricMul *gt) {
	const rev_sparse_SymmetricMul *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->Alpha) a[n++] = rev_float64_scalar_arg(p, 1, 1, parts[p]->Alpha);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 2, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SymmetricMul[float64]"), pass, a, n);
}

/* C += α·(A + Aᵀ - diag A)·B, A sparse */
typedef struct rev_sparse_SymmetricMul_float32 {
	rev_float32_matrix C; /* acc [optional]; n,c */
	float *Alpha; /* in [optional] */
	rev_float32_csr A; /* in; n,n */
	rev_float32_matrix B; /* in; n,c */
	int64_t Workers;
} rev_sparse_SymmetricMul_float32;

REV_STATIC_INLINE int32_t rev_sparse_SymmetricMul_float32_run(int32_t pass, const rev_sparse_SymmetricMul_float32 *k, const rev_sparse_SymmetricMul_float32 *g, const rev_sparse_SymmetricMul_float32 *t, const rev_sparse_SymmetricMul_float32 *gt) {
	const rev_sparse_SymmetricMul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->Alpha) a[n++] = rev_float32_scalar_arg(p, 1, 2, parts[p]->Alpha);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 2, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SymmetricMul[float32]"), pass, a, n);
}

/* C += α·(A + Aᵀ - diag A)·B, A sparse */
typedef struct rev_sparse_SymmetricMul_Q43 {
	rev_Q43_matrix C; /* acc [optional]; n,c */
	rev_Q43 *Alpha; /* in [optional] */
	rev_Q43_csr A; /* in; n,n */
	rev_Q43_matrix B; /* in; n,c */
	int64_t Workers;
} rev_sparse_SymmetricMul_Q43;

REV_STATIC_INLINE int32_t rev_sparse_SymmetricMul_Q43_run(int32_t pass, const rev_sparse_SymmetricMul_Q43 *k, const rev_sparse_SymmetricMul_Q43 *g, const rev_sparse_SymmetricMul_Q43 *t, const rev_sparse_SymmetricMul_Q43 *gt) {
	const rev_sparse_SymmetricMul_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->C);
		if (parts[p]->Alpha) a[n++] = rev_Q43_scalar_arg(p, 1, 3, parts[p]->Alpha);
		if (parts[p]->A.data) a[n++] = rev_Q43_csr_arg(p, 2, 3, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.SymmetricMul[Q43]"), pass, a, n);
}

/* C_ij += max_l A_il + B_lj */
typedef struct rev_tropical_MatMul {
	rev_float64_matrix C; /* acc [optional]; m,n */
	rev_float64_matrix A; /* in; m,k */
	rev_float64_matrix B; /* in; k,n */
	int32_t Min;
	int64_t Workers;
} rev_tropical_MatMul;

REV_STATIC_INLINE int32_t rev_tropical_MatMul_run(int32_t pass, const rev_tropical_MatMul *k, const rev_tropical_MatMul *g, const rev_tropical_MatMul *t, const rev_tropical_MatMul *gt) {
	const rev_tropical_MatMul *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Min);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revtropical.MatMul[float64]"), pass, a, n);
}

/* C_ij += max_l A_il + B_lj */
typedef struct rev_tropical_MatMul_float32 {
	rev_float32_matrix C; /* acc [optional]; m,n */
	rev_float32_matrix A; /* in; m,k */
	rev_float32_matrix B; /* in; k,n */
	int32_t Min;
	int64_t Workers;
} rev_tropical_MatMul_float32;

REV_STATIC_INLINE int32_t rev_tropical_MatMul_float32_run(int32_t pass, const rev_tropical_MatMul_float32 *k, const rev_tropical_MatMul_float32 *g, const rev_tropical_MatMul_float32 *t, const rev_tropical_MatMul_float32 *gt) {
	const rev_tropical_MatMul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Min);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revtropical.MatMul[float32]"), pass, a, n);
}

/* C_ij += max_l A_il + B_lj */
typedef struct rev_tropical_MatMul_Q43 {
	rev_Q43_matrix C; /* acc [optional]; m,n */
	rev_Q43_matrix A; /* in; m,k */
	rev_Q43_matrix B; /* in; k,n */
	int32_t Min;
	int64_t Workers;
} rev_tropical_MatMul_Q43;

REV_STATIC_INLINE int32_t rev_tropical_MatMul_Q43_run(int32_t pass, const rev_tropical_MatMul_Q43 *k, const rev_tropical_MatMul_Q43 *g, const rev_tropical_MatMul_Q43 *t, const rev_tropical_MatMul_Q43 *gt) {
	const rev_tropical_MatMul_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Min);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revtropical.MatMul[Q43]"), pass, a, n);
}

/* C_ij += max_l A_il + B_lj, A sparse */
typedef struct rev_tropical_SparseMul {
	rev_float64_matrix C; /* acc [optional]; m,n */
	rev_float64_csr A; /* in; m,k */
	rev_float64_matrix B; /* in; k,n */
	int32_t Min;
	int64_t Workers;
} rev_tropical_SparseMul;

REV_STATIC_INLINE int32_t rev_tropical_SparseMul_run(int32_t pass, const rev_tropical_SparseMul *k, const rev_tropical_SparseMul *g, const rev_tropical_SparseMul *t, const rev_tropical_SparseMul *gt) {
	const rev_tropical_SparseMul *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 1, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Min);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revtropical.SparseMul[float64]"), pass, a, n);
}

/* C_ij += max_l A_il + B_lj, A sparse */
typedef struct rev_tropical_SparseMul_float32 {
	rev_float32_matrix C; /* acc [optional]; m,n */
	rev_float32_csr A; /* in; m,k */
	rev_float32_matrix B; /* in; k,n */
	int32_t Min;
	int64_t Workers;
} rev_tropical_SparseMul_float32;

REV_STATIC_INLINE int32_t rev_tropical_SparseMul_float32_run(int32_t pass, const rev_tropical_SparseMul_float32 *k, const rev_tropical_SparseMul_float32 *g, const rev_tropical_SparseMul_float32 *t, const rev_tropical_SparseMul_float32 *gt) {
	const rev_tropical_SparseMul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 1, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Min);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revtropical.SparseMul[float32]"), pass, a, n);
}

/* C_ij += max_l A_il + B_lj, A sparse */
typedef struct rev_tropical_SparseMul_Q43 {
	rev_Q43_matrix C; /* acc [optional]; m,n */
	rev_Q43_csr A; /* in; m,k */
	rev_Q43_matrix B; /* in; k,n */
	int32_t Min;
	int64_t Workers;
} rev_tropical_SparseMul_Q43;

REV_STATIC_INLINE int32_t rev_tropical_SparseMul_Q43_run(int32_t pass, const rev_tropical_SparseMul_Q43 *k, const rev_tropical_SparseMul_Q43 *g, const rev_tropical_SparseMul_Q43 *t, const rev_tropical_SparseMul_Q43 *gt) {
	const rev_tropical_SparseMul_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[14];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_Q43_csr_arg(p, 1, 3, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Min);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("revtropical.SparseMul[Q43]"), pass, a, n);
}

/* r += misfit of an embedding of a graph */
typedef struct rev_graphembed_Loss {
	double *Out; /* acc [optional] */
	rev_float64_matrix Fixed; /* in [optional]; m,k */
	rev_float64_matrix Free; /* in; r,k */
	rev_int_matrix Graph; /* index; e,2 */
	double Margin;
	int64_t Workers;
} rev_graphembed_Loss;

REV_STATIC_INLINE int32_t rev_graphembed_Loss_run(int32_t pass, const rev_graphembed_Loss *k, const rev_graphembed_Loss *g, const rev_graphembed_Loss *t, const rev_graphembed_Loss *gt) {
	const rev_graphembed_Loss *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->Fixed.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Fixed);
		if (parts[p]->Free.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Free);
		if (parts[p]->Graph.data) a[n++] = rev_int_matrix_arg(p, 3, 5, parts[p]->Graph);
	}
	a[n++] = rev_parameter(0, (double)k->Margin);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("graphembed.Loss[float64]"), pass, a, n);
}

/* r += misfit of an embedding of a graph */
typedef struct rev_graphembed_Loss_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix Fixed; /* in [optional]; m,k */
	rev_float32_matrix Free; /* in; r,k */
	rev_int_matrix Graph; /* index; e,2 */
	double Margin;
	int64_t Workers;
} rev_graphembed_Loss_float32;

REV_STATIC_INLINE int32_t rev_graphembed_Loss_float32_run(int32_t pass, const rev_graphembed_Loss_float32 *k, const rev_graphembed_Loss_float32 *g, const rev_graphembed_Loss_float32 *t, const rev_graphembed_Loss_float32 *gt) {
	const rev_graphembed_Loss_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->Fixed.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Fixed);
		if (parts[p]->Free.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Free);
		if (parts[p]->Graph.data) a[n++] = rev_int_matrix_arg(p, 3, 5, parts[p]->Graph);
	}
	a[n++] = rev_parameter(0, (double)k->Margin);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("graphembed.Loss[float32]"), pass, a, n);
}

/* r += misfit of an embedding of a graph */
typedef struct rev_graphembed_Loss_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix Fixed; /* in [optional]; m,k */
	rev_Q43_matrix Free; /* in; r,k */
	rev_int_matrix Graph; /* index; e,2 */
	double Margin;
	int64_t Workers;
} rev_graphembed_Loss_Q43;

REV_STATIC_INLINE int32_t rev_graphembed_Loss_Q43_run(int32_t pass, const rev_graphembed_Loss_Q43 *k, const rev_graphembed_Loss_Q43 *g, const rev_graphembed_Loss_Q43 *t, const rev_graphembed_Loss_Q43 *gt) {
	const rev_graphembed_Loss_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->Fixed.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->Fixed);
		if (parts[p]->Free.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Free);
		if (parts[p]->Graph.data) a[n++] = rev_int_matrix_arg(p, 3, 5, parts[p]->Graph);
	}
	a[n++] = rev_parameter(0, (double)k->Margin);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("graphembed.Loss[Q43]"), pass, a, n);
}

/* x += op(A)⁻¹·b, A sparse and triangular */
typedef struct rev_sparse_TriSolve {
	rev_float64_vector X; /* acc [optional]; n */
	rev_float64_csr A; /* in; n,n */
	rev_float64_vector B; /* in; n */
	int32_t Upper;
	int32_t Trans;
	int32_t Unit;
} rev_sparse_TriSolve;

REV_STATIC_INLINE int32_t rev_sparse_TriSolve_run(int32_t pass, const rev_sparse_TriSolve *k, const rev_sparse_TriSolve *g, const rev_sparse_TriSolve *t, const rev_sparse_TriSolve *gt) {
	const rev_sparse_TriSolve *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 1, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Upper);
	a[n++] = rev_parameter(1, (double)k->Trans);
	a[n++] = rev_parameter(2, (double)k->Unit);
	return rev_call(rev_kernel("revsparse.TriSolve[float64]"), pass, a, n);
}

/* x += op(A)⁻¹·b, A sparse and triangular */
typedef struct rev_sparse_TriSolve_float32 {
	rev_float32_vector X; /* acc [optional]; n */
	rev_float32_csr A; /* in; n,n */
	rev_float32_vector B; /* in; n */
	int32_t Upper;
	int32_t Trans;
	int32_t Unit;
} rev_sparse_TriSolve_float32;

REV_STATIC_INLINE int32_t rev_sparse_TriSolve_float32_run(int32_t pass, const rev_sparse_TriSolve_float32 *k, const rev_sparse_TriSolve_float32 *g, const rev_sparse_TriSolve_float32 *t, const rev_sparse_TriSolve_float32 *gt) {
	const rev_sparse_TriSolve_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 1, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Upper);
	a[n++] = rev_parameter(1, (double)k->Trans);
	a[n++] = rev_parameter(2, (double)k->Unit);
	return rev_call(rev_kernel("revsparse.TriSolve[float32]"), pass, a, n);
}

/* X += op(A)⁻¹·B, A sparse */
typedef struct rev_sparse_Solve {
	rev_float64_matrix X; /* acc [optional]; n,m */
	rev_float64_csr A; /* in; n,n */
	rev_float64_matrix B; /* in; n,m */
	int32_t Trans;
} rev_sparse_Solve;

REV_STATIC_INLINE int32_t rev_sparse_Solve_run(int32_t pass, const rev_sparse_Solve *k, const rev_sparse_Solve *g, const rev_sparse_Solve *t, const rev_sparse_Solve *gt) {
	const rev_sparse_Solve *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 1, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Trans);
	return rev_call(rev_kernel("revsparse.Solve[float64]"), pass, a, n);
}

/* X += op(A)⁻¹·B, A sparse */
typedef struct rev_sparse_Solve_float32 {
	rev_float32_matrix X; /* acc [optional]; n,m */
	rev_float32_csr A; /* in; n,n */
	rev_float32_matrix B; /* in; n,m */
	int32_t Trans;
} rev_sparse_Solve_float32;

REV_STATIC_INLINE int32_t rev_sparse_Solve_float32_run(int32_t pass, const rev_sparse_Solve_float32 *k, const rev_sparse_Solve_float32 *g, const rev_sparse_Solve_float32 *t, const rev_sparse_Solve_float32 *gt) {
	const rev_sparse_Solve_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 1, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Trans);
	return rev_call(rev_kernel("revsparse.Solve[float32]"), pass, a, n);
}

/* x += A⁻¹·b, A sparse, symmetric and positive definite */
typedef struct rev_sparse_CG {
	rev_float64_vector X; /* acc [optional]; n */
	rev_float64_csr A; /* in; n,n */
	rev_float64_vector B; /* in; n */
	double Tol;
	int64_t MaxIter;
	int64_t Workers;
} rev_sparse_CG;

REV_STATIC_INLINE int32_t rev_sparse_CG_run(int32_t pass, const rev_sparse_CG *k, const rev_sparse_CG *g, const rev_sparse_CG *t, const rev_sparse_CG *gt) {
	const rev_sparse_CG *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 1, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Tol);
	a[n++] = rev_parameter(1, (double)k->MaxIter);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.CG[float64]"), pass, a, n);
}

/* x += A⁻¹·b, A sparse, symmetric and positive definite */
typedef struct rev_sparse_CG_float32 {
	rev_float32_vector X; /* acc [optional]; n */
	rev_float32_csr A; /* in; n,n */
	rev_float32_vector B; /* in; n */
	double Tol;
	int64_t MaxIter;
	int64_t Workers;
} rev_sparse_CG_float32;

REV_STATIC_INLINE int32_t rev_sparse_CG_float32_run(int32_t pass, const rev_sparse_CG_float32 *k, const rev_sparse_CG_float32 *g, const rev_sparse_CG_float32 *t, const rev_sparse_CG_float32 *gt) {
	const rev_sparse_CG_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->X);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 1, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Tol);
	a[n++] = rev_parameter(1, (double)k->MaxIter);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.CG[float32]"), pass, a, n);
}

/* λ_i += eigenvalue, v_i += eigenvector, A sparse and symmetric */
typedef struct rev_sparse_DominantEig {
	rev_float64_vector Values; /* acc [optional]; k */
	rev_float64_matrix Vectors; /* acc [optional]; n,k */
	rev_float64_csr A; /* in; n,n */
	int64_t EigOptions_Which;
	double EigOptions_Tol;
	int64_t EigOptions_Basis;
	int64_t EigOptions_MaxIter;
	int64_t Workers;
} rev_sparse_DominantEig;

REV_STATIC_INLINE int32_t rev_sparse_DominantEig_run(int32_t pass, const rev_sparse_DominantEig *k, const rev_sparse_DominantEig *g, const rev_sparse_DominantEig *t, const rev_sparse_DominantEig *gt) {
	const rev_sparse_DominantEig *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Values.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Values);
		if (parts[p]->Vectors.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Vectors);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 2, 1, parts[p]->A.data, k->A);
	}
	a[n++] = rev_parameter(0, (double)k->EigOptions_Which);
	a[n++] = rev_parameter(1, (double)k->EigOptions_Tol);
	a[n++] = rev_parameter(2, (double)k->EigOptions_Basis);
	a[n++] = rev_parameter(3, (double)k->EigOptions_MaxIter);
	a[n++] = rev_parameter(4, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.DominantEig[float64]"), pass, a, n);
}

/* λ_i += eigenvalue, v_i += eigenvector, A sparse and symmetric */
typedef struct rev_sparse_DominantEig_float32 {
	rev_float32_vector Values; /* acc [optional]; k */
	rev_float32_matrix Vectors; /* acc [optional]; n,k */
	rev_float32_csr A; /* in; n,n */
	int64_t EigOptions_Which;
	double EigOptions_Tol;
	int64_t EigOptions_Basis;
	int64_t EigOptions_MaxIter;
	int64_t Workers;
} rev_sparse_DominantEig_float32;

REV_STATIC_INLINE int32_t rev_sparse_DominantEig_float32_run(int32_t pass, const rev_sparse_DominantEig_float32 *k, const rev_sparse_DominantEig_float32 *g, const rev_sparse_DominantEig_float32 *t, const rev_sparse_DominantEig_float32 *gt) {
	const rev_sparse_DominantEig_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Values.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Values);
		if (parts[p]->Vectors.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Vectors);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 2, 2, parts[p]->A.data, k->A);
	}
	a[n++] = rev_parameter(0, (double)k->EigOptions_Which);
	a[n++] = rev_parameter(1, (double)k->EigOptions_Tol);
	a[n++] = rev_parameter(2, (double)k->EigOptions_Basis);
	a[n++] = rev_parameter(3, (double)k->EigOptions_MaxIter);
	a[n++] = rev_parameter(4, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.DominantEig[float32]"), pass, a, n);
}

/* R += measured points - points of a posed hand */
typedef struct rev_hand_Residuals {
	rev_float64_vector R; /* acc [optional]; 3*n */
	rev_float64_vector Theta; /* in; 26 */
	rev_float64_matrix UV; /* in; Surface ? n,2 : 0,2 */
	rev_float64_matrix Points; /* in; n,3 */
	rev_int_vector Correspondences; /* index; n */
	rev_int_vector Parents; /* index; b */
	rev_float64_matrix Relative; /* index; b,12 */
	rev_float64_matrix InverseBase; /* index; b,12 */
	rev_float64_matrix Positions; /* index; v,3 */
	rev_float64_matrix Weights; /* index; v,b */
	rev_int_matrix Triangles; /* index [optional]; f,3 */
	int32_t Surface;
} rev_hand_Residuals;

REV_STATIC_INLINE int32_t rev_hand_Residuals_run(int32_t pass, const rev_hand_Residuals *k, const rev_hand_Residuals *g, const rev_hand_Residuals *t, const rev_hand_Residuals *gt) {
	const rev_hand_Residuals *parts[4] = {k, g, t, gt};
	rev_arg a[45];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->R);
		if (parts[p]->Theta.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Theta);
		if (parts[p]->UV.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->UV);
		if (parts[p]->Points.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->Points);
		if (parts[p]->Correspondences.data) a[n++] = rev_int_vector_arg(p, 4, 5, parts[p]->Correspondences);
		if (parts[p]->Parents.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->Parents);
		if (parts[p]->Relative.data) a[n++] = rev_float64_matrix_arg(p, 6, 1, parts[p]->Relative);
		if (parts[p]->InverseBase.data) a[n++] = rev_float64_matrix_arg(p, 7, 1, parts[p]->InverseBase);
		if (parts[p]->Positions.data) a[n++] = rev_float64_matrix_arg(p, 8, 1, parts[p]->Positions);
		if (parts[p]->Weights.data) a[n++] = rev_float64_matrix_arg(p, 9, 1, parts[p]->Weights);
		if (parts[p]->Triangles.data) a[n++] = rev_int_matrix_arg(p, 10, 5, parts[p]->Triangles);
	}
	a[n++] = rev_parameter(0, (double)k->Surface);
	return rev_call(rev_kernel("hand.Residuals[float64]"), pass, a, n);
}

/* R += measured points - points of a posed hand */
typedef struct rev_hand_Residuals_float32 {
	rev_float32_vector R; /* acc [optional]; 3*n */
	rev_float32_vector Theta; /* in; 26 */
	rev_float32_matrix UV; /* in; Surface ? n,2 : 0,2 */
	rev_float32_matrix Points; /* in; n,3 */
	rev_int_vector Correspondences; /* index; n */
	rev_int_vector Parents; /* index; b */
	rev_float64_matrix Relative; /* index; b,12 */
	rev_float64_matrix InverseBase; /* index; b,12 */
	rev_float64_matrix Positions; /* index; v,3 */
	rev_float64_matrix Weights; /* index; v,b */
	rev_int_matrix Triangles; /* index [optional]; f,3 */
	int32_t Surface;
} rev_hand_Residuals_float32;

REV_STATIC_INLINE int32_t rev_hand_Residuals_float32_run(int32_t pass, const rev_hand_Residuals_float32 *k, const rev_hand_Residuals_float32 *g, const rev_hand_Residuals_float32 *t, const rev_hand_Residuals_float32 *gt) {
	const rev_hand_Residuals_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[45];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->R);
		if (parts[p]->Theta.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->Theta);
		if (parts[p]->UV.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->UV);
		if (parts[p]->Points.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->Points);
		if (parts[p]->Correspondences.data) a[n++] = rev_int_vector_arg(p, 4, 5, parts[p]->Correspondences);
		if (parts[p]->Parents.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->Parents);
		if (parts[p]->Relative.data) a[n++] = rev_float64_matrix_arg(p, 6, 1, parts[p]->Relative);
		if (parts[p]->InverseBase.data) a[n++] = rev_float64_matrix_arg(p, 7, 1, parts[p]->InverseBase);
		if (parts[p]->Positions.data) a[n++] = rev_float64_matrix_arg(p, 8, 1, parts[p]->Positions);
		if (parts[p]->Weights.data) a[n++] = rev_float64_matrix_arg(p, 9, 1, parts[p]->Weights);
		if (parts[p]->Triangles.data) a[n++] = rev_int_matrix_arg(p, 10, 5, parts[p]->Triangles);
	}
	a[n++] = rev_parameter(0, (double)k->Surface);
	return rev_call(rev_kernel("hand.Residuals[float32]"), pass, a, n);
}

/* R += measured points - points of a posed hand */
typedef struct rev_hand_Residuals_Q43 {
	rev_Q43_vector R; /* acc [optional]; 3*n */
	rev_Q43_vector Theta; /* in; 26 */
	rev_Q43_matrix UV; /* in; Surface ? n,2 : 0,2 */
	rev_Q43_matrix Points; /* in; n,3 */
	rev_int_vector Correspondences; /* index; n */
	rev_int_vector Parents; /* index; b */
	rev_float64_matrix Relative; /* index; b,12 */
	rev_float64_matrix InverseBase; /* index; b,12 */
	rev_float64_matrix Positions; /* index; v,3 */
	rev_float64_matrix Weights; /* index; v,b */
	rev_int_matrix Triangles; /* index [optional]; f,3 */
	int32_t Surface;
} rev_hand_Residuals_Q43;

REV_STATIC_INLINE int32_t rev_hand_Residuals_Q43_run(int32_t pass, const rev_hand_Residuals_Q43 *k, const rev_hand_Residuals_Q43 *g, const rev_hand_Residuals_Q43 *t, const rev_hand_Residuals_Q43 *gt) {
	const rev_hand_Residuals_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[45];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->R);
		if (parts[p]->Theta.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->Theta);
		if (parts[p]->UV.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->UV);
		if (parts[p]->Points.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->Points);
		if (parts[p]->Correspondences.data) a[n++] = rev_int_vector_arg(p, 4, 5, parts[p]->Correspondences);
		if (parts[p]->Parents.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->Parents);
		if (parts[p]->Relative.data) a[n++] = rev_float64_matrix_arg(p, 6, 1, parts[p]->Relative);
		if (parts[p]->InverseBase.data) a[n++] = rev_float64_matrix_arg(p, 7, 1, parts[p]->InverseBase);
		if (parts[p]->Positions.data) a[n++] = rev_float64_matrix_arg(p, 8, 1, parts[p]->Positions);
		if (parts[p]->Weights.data) a[n++] = rev_float64_matrix_arg(p, 9, 1, parts[p]->Weights);
		if (parts[p]->Triangles.data) a[n++] = rev_int_matrix_arg(p, 10, 5, parts[p]->Triangles);
	}
	a[n++] = rev_parameter(0, (double)k->Surface);
	return rev_call(rev_kernel("hand.Residuals[Q43]"), pass, a, n);
}

/* r += log loss of a recurrent network */
typedef struct rev_lstm_Loss {
	double *Out; /* acc [optional] */
	rev_float64_matrix Main; /* in; M,4*B */
	rev_float64_matrix Extra; /* in; 3,B */
	rev_float64_matrix State; /* in; M,B */
	rev_float64_matrix Sequence; /* in; C,B */
} rev_lstm_Loss;

REV_STATIC_INLINE int32_t rev_lstm_Loss_run(int32_t pass, const rev_lstm_Loss *k, const rev_lstm_Loss *g, const rev_lstm_Loss *t, const rev_lstm_Loss *gt) {
	const rev_lstm_Loss *parts[4] = {k, g, t, gt};
	rev_arg a[20];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->Main.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Main);
		if (parts[p]->Extra.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Extra);
		if (parts[p]->State.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->State);
		if (parts[p]->Sequence.data) a[n++] = rev_float64_matrix_arg(p, 4, 1, parts[p]->Sequence);
	}
	return rev_call(rev_kernel("lstm.Loss[float64]"), pass, a, n);
}

/* r += log loss of a recurrent network */
typedef struct rev_lstm_Loss_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix Main; /* in; M,4*B */
	rev_float32_matrix Extra; /* in; 3,B */
	rev_float32_matrix State; /* in; M,B */
	rev_float32_matrix Sequence; /* in; C,B */
} rev_lstm_Loss_float32;

REV_STATIC_INLINE int32_t rev_lstm_Loss_float32_run(int32_t pass, const rev_lstm_Loss_float32 *k, const rev_lstm_Loss_float32 *g, const rev_lstm_Loss_float32 *t, const rev_lstm_Loss_float32 *gt) {
	const rev_lstm_Loss_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[20];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->Main.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Main);
		if (parts[p]->Extra.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Extra);
		if (parts[p]->State.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->State);
		if (parts[p]->Sequence.data) a[n++] = rev_float32_matrix_arg(p, 4, 2, parts[p]->Sequence);
	}
	return rev_call(rev_kernel("lstm.Loss[float32]"), pass, a, n);
}

/* r += log loss of a recurrent network */
typedef struct rev_lstm_Loss_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix Main; /* in; M,4*B */
	rev_Q43_matrix Extra; /* in; 3,B */
	rev_Q43_matrix State; /* in; M,B */
	rev_Q43_matrix Sequence; /* in; C,B */
} rev_lstm_Loss_Q43;

REV_STATIC_INLINE int32_t rev_lstm_Loss_Q43_run(int32_t pass, const rev_lstm_Loss_Q43 *k, const rev_lstm_Loss_Q43 *g, const rev_lstm_Loss_Q43 *t, const rev_lstm_Loss_Q43 *gt) {
	const rev_lstm_Loss_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[20];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->Main.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->Main);
		if (parts[p]->Extra.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Extra);
		if (parts[p]->State.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->State);
		if (parts[p]->Sequence.data) a[n++] = rev_Q43_matrix_arg(p, 4, 3, parts[p]->Sequence);
	}
	return rev_call(rev_kernel("lstm.Loss[Q43]"), pass, a, n);
}

/* R += reprojection errors, cameras of 9 parameters */
typedef struct rev_ba_Snavely {
	rev_float64_vector R; /* acc [optional]; 2*p */
	rev_float64_matrix Cameras; /* in; n,9 */
	rev_float64_matrix Points; /* in; m,3 */
	rev_float64_matrix Features; /* in; p,2 */
	rev_int_vector Camera; /* index; p */
	rev_int_vector Point; /* index; p */
	int64_t Workers;
} rev_ba_Snavely;

REV_STATIC_INLINE int32_t rev_ba_Snavely_run(int32_t pass, const rev_ba_Snavely *k, const rev_ba_Snavely *g, const rev_ba_Snavely *t, const rev_ba_Snavely *gt) {
	const rev_ba_Snavely *parts[4] = {k, g, t, gt};
	rev_arg a[25];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->R);
		if (parts[p]->Cameras.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Cameras);
		if (parts[p]->Points.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Points);
		if (parts[p]->Features.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->Features);
		if (parts[p]->Camera.data) a[n++] = rev_int_vector_arg(p, 4, 5, parts[p]->Camera);
		if (parts[p]->Point.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->Point);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("ba.Snavely[float64]"), pass, a, n);
}

/* R += reprojection errors, cameras of 9 parameters */
typedef struct rev_ba_Snavely_float32 {
	rev_float32_vector R; /* acc [optional]; 2*p */
	rev_float32_matrix Cameras; /* in; n,9 */
	rev_float32_matrix Points; /* in; m,3 */
	rev_float32_matrix Features; /* in; p,2 */
	rev_int_vector Camera; /* index; p */
	rev_int_vector Point; /* index; p */
	int64_t Workers;
} rev_ba_Snavely_float32;

REV_STATIC_INLINE int32_t rev_ba_Snavely_float32_run(int32_t pass, const rev_ba_Snavely_float32 *k, const rev_ba_Snavely_float32 *g, const rev_ba_Snavely_float32 *t, const rev_ba_Snavely_float32 *gt) {
	const rev_ba_Snavely_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[25];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->R);
		if (parts[p]->Cameras.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Cameras);
		if (parts[p]->Points.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Points);
		if (parts[p]->Features.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->Features);
		if (parts[p]->Camera.data) a[n++] = rev_int_vector_arg(p, 4, 5, parts[p]->Camera);
		if (parts[p]->Point.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->Point);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("ba.Snavely[float32]"), pass, a, n);
}

/* R += reprojection errors, cameras of 9 parameters */
typedef struct rev_ba_Snavely_Q43 {
	rev_Q43_vector R; /* acc [optional]; 2*p */
	rev_Q43_matrix Cameras; /* in; n,9 */
	rev_Q43_matrix Points; /* in; m,3 */
	rev_Q43_matrix Features; /* in; p,2 */
	rev_int_vector Camera; /* index; p */
	rev_int_vector Point; /* index; p */
	int64_t Workers;
} rev_ba_Snavely_Q43;

REV_STATIC_INLINE int32_t rev_ba_Snavely_Q43_run(int32_t pass, const rev_ba_Snavely_Q43 *k, const rev_ba_Snavely_Q43 *g, const rev_ba_Snavely_Q43 *t, const rev_ba_Snavely_Q43 *gt) {
	const rev_ba_Snavely_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[25];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->R);
		if (parts[p]->Cameras.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->Cameras);
		if (parts[p]->Points.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Points);
		if (parts[p]->Features.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->Features);
		if (parts[p]->Camera.data) a[n++] = rev_int_vector_arg(p, 4, 5, parts[p]->Camera);
		if (parts[p]->Point.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->Point);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("ba.Snavely[Q43]"), pass, a, n);
}

/* R += weighted ones, cameras of 11 parameters; Z += 1 - w² */
typedef struct rev_ba_Weighted {
	rev_float64_vector R; /* acc [optional]; 2*p */
	rev_float64_vector Z; /* acc [optional]; p */
	rev_float64_matrix Cameras; /* in; n,11 */
	rev_float64_matrix Points; /* in; m,3 */
	rev_float64_vector Weights; /* in; p */
	rev_float64_matrix Features; /* in; p,2 */
	rev_int_vector Camera; /* index; p */
	rev_int_vector Point; /* index; p */
	int64_t Workers;
} rev_ba_Weighted;

REV_STATIC_INLINE int32_t rev_ba_Weighted_run(int32_t pass, const rev_ba_Weighted *k, const rev_ba_Weighted *g, const rev_ba_Weighted *t, const rev_ba_Weighted *gt) {
	const rev_ba_Weighted *parts[4] = {k, g, t, gt};
	rev_arg a[33];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->R);
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Z);
		if (parts[p]->Cameras.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Cameras);
		if (parts[p]->Points.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->Points);
		if (parts[p]->Weights.data) a[n++] = rev_float64_vector_arg(p, 4, 1, parts[p]->Weights);
		if (parts[p]->Features.data) a[n++] = rev_float64_matrix_arg(p, 5, 1, parts[p]->Features);
		if (parts[p]->Camera.data) a[n++] = rev_int_vector_arg(p, 6, 5, parts[p]->Camera);
		if (parts[p]->Point.data) a[n++] = rev_int_vector_arg(p, 7, 5, parts[p]->Point);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("ba.Weighted[float64]"), pass, a, n);
}

/* R += weighted ones, cameras of 11 parameters; Z += 1 - w² */
typedef struct rev_ba_Weighted_float32 {
	rev_float32_vector R; /* acc [optional]; 2*p */
	rev_float32_vector Z; /* acc [optional]; p */
	rev_float32_matrix Cameras; /* in; n,11 */
	rev_float32_matrix Points; /* in; m,3 */
	rev_float32_vector Weights; /* in; p */
	rev_float32_matrix Features; /* in; p,2 */
	rev_int_vector Camera; /* index; p */
	rev_int_vector Point; /* index; p */
	int64_t Workers;
} rev_ba_Weighted_float32;

REV_STATIC_INLINE int32_t rev_ba_Weighted_float32_run(int32_t pass, const rev_ba_Weighted_float32 *k, const rev_ba_Weighted_float32 *g, const rev_ba_Weighted_float32 *t, const rev_ba_Weighted_float32 *gt) {
	const rev_ba_Weighted_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[33];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->R);
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->Z);
		if (parts[p]->Cameras.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Cameras);
		if (parts[p]->Points.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->Points);
		if (parts[p]->Weights.data) a[n++] = rev_float32_vector_arg(p, 4, 2, parts[p]->Weights);
		if (parts[p]->Features.data) a[n++] = rev_float32_matrix_arg(p, 5, 2, parts[p]->Features);
		if (parts[p]->Camera.data) a[n++] = rev_int_vector_arg(p, 6, 5, parts[p]->Camera);
		if (parts[p]->Point.data) a[n++] = rev_int_vector_arg(p, 7, 5, parts[p]->Point);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("ba.Weighted[float32]"), pass, a, n);
}

/* R += weighted ones, cameras of 11 parameters; Z += 1 - w² */
typedef struct rev_ba_Weighted_Q43 {
	rev_Q43_vector R; /* acc [optional]; 2*p */
	rev_Q43_vector Z; /* acc [optional]; p */
	rev_Q43_matrix Cameras; /* in; n,11 */
	rev_Q43_matrix Points; /* in; m,3 */
	rev_Q43_vector Weights; /* in; p */
	rev_Q43_matrix Features; /* in; p,2 */
	rev_int_vector Camera; /* index; p */
	rev_int_vector Point; /* index; p */
	int64_t Workers;
} rev_ba_Weighted_Q43;

REV_STATIC_INLINE int32_t rev_ba_Weighted_Q43_run(int32_t pass, const rev_ba_Weighted_Q43 *k, const rev_ba_Weighted_Q43 *g, const rev_ba_Weighted_Q43 *t, const rev_ba_Weighted_Q43 *gt) {
	const rev_ba_Weighted_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[33];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->R);
		if (parts[p]->Z.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->Z);
		if (parts[p]->Cameras.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Cameras);
		if (parts[p]->Points.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->Points);
		if (parts[p]->Weights.data) a[n++] = rev_Q43_vector_arg(p, 4, 3, parts[p]->Weights);
		if (parts[p]->Features.data) a[n++] = rev_Q43_matrix_arg(p, 5, 3, parts[p]->Features);
		if (parts[p]->Camera.data) a[n++] = rev_int_vector_arg(p, 6, 5, parts[p]->Camera);
		if (parts[p]->Point.data) a[n++] = rev_int_vector_arg(p, 7, 5, parts[p]->Point);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("ba.Weighted[Q43]"), pass, a, n);
}

/* r += log posterior of a Gaussian mixture */
typedef struct rev_gmm_LogPosterior {
	double *Out; /* acc [optional] */
	rev_float64_vector Alpha; /* in; K */
	rev_float64_matrix Means; /* in; K,D */
	rev_float64_matrix Factors; /* in; K,D*(D+1)/2 */
	rev_float64_matrix X; /* in; N,D */
	double Prior_Gamma;
	int64_t Prior_M;
	int64_t Prior_Sign;
	int64_t Workers;
} rev_gmm_LogPosterior;

REV_STATIC_INLINE int32_t rev_gmm_LogPosterior_run(int32_t pass, const rev_gmm_LogPosterior *k, const rev_gmm_LogPosterior *g, const rev_gmm_LogPosterior *t, const rev_gmm_LogPosterior *gt) {
	const rev_gmm_LogPosterior *parts[4] = {k, g, t, gt};
	rev_arg a[24];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->Alpha.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Alpha);
		if (parts[p]->Means.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Means);
		if (parts[p]->Factors.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->Factors);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 4, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Prior_Gamma);
	a[n++] = rev_parameter(1, (double)k->Prior_M);
	a[n++] = rev_parameter(2, (double)k->Prior_Sign);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("gmm.LogPosterior[float64]"), pass, a, n);
}

/* r += log posterior of a Gaussian mixture */
typedef struct rev_gmm_LogPosterior_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector Alpha; /* in; K */
	rev_float32_matrix Means; /* in; K,D */
	rev_float32_matrix Factors; /* in; K,D*(D+1)/2 */
	rev_float32_matrix X; /* in; N,D */
	double Prior_Gamma;
	int64_t Prior_M;
	int64_t Prior_Sign;
	int64_t Workers;
} rev_gmm_LogPosterior_float32;

REV_STATIC_INLINE int32_t rev_gmm_LogPosterior_float32_run(int32_t pass, const rev_gmm_LogPosterior_float32 *k, const rev_gmm_LogPosterior_float32 *g, const rev_gmm_LogPosterior_float32 *t, const rev_gmm_LogPosterior_float32 *gt) {
	const rev_gmm_LogPosterior_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[24];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->Alpha.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->Alpha);
		if (parts[p]->Means.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Means);
		if (parts[p]->Factors.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->Factors);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 4, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Prior_Gamma);
	a[n++] = rev_parameter(1, (double)k->Prior_M);
	a[n++] = rev_parameter(2, (double)k->Prior_Sign);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("gmm.LogPosterior[float32]"), pass, a, n);
}

/* the same */
typedef struct rev_gmm_FixedLogPosterior_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector Alpha; /* in; K */
	rev_Q43_matrix Means; /* in; K,D */
	rev_Q43_matrix Factors; /* in; K,D*(D+1)/2 */
	rev_Q43_matrix X; /* in; N,D */
	double Prior_Gamma;
	int64_t Prior_M;
	int64_t Prior_Sign;
	int64_t Workers;
} rev_gmm_FixedLogPosterior_Q43;

REV_STATIC_INLINE int32_t rev_gmm_FixedLogPosterior_Q43_run(int32_t pass, const rev_gmm_FixedLogPosterior_Q43 *k, const rev_gmm_FixedLogPosterior_Q43 *g, const rev_gmm_FixedLogPosterior_Q43 *t, const rev_gmm_FixedLogPosterior_Q43 *gt) {
	const rev_gmm_FixedLogPosterior_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[24];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->Alpha.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->Alpha);
		if (parts[p]->Means.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->Means);
		if (parts[p]->Factors.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->Factors);
		if (parts[p]->X.data) a[n++] = rev_Q43_matrix_arg(p, 4, 3, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Prior_Gamma);
	a[n++] = rev_parameter(1, (double)k->Prior_M);
	a[n++] = rev_parameter(2, (double)k->Prior_Sign);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("gmm.FixedLogPosterior[Q43]"), pass, a, n);
}

/* Q += dt·V, positions of bodies */
typedef struct rev_nbody_Drift {
	rev_float64_matrix Q; /* acc [optional]; n,3 */
	rev_float64_matrix V; /* in; n,3 */
	double Dt;
} rev_nbody_Drift;

REV_STATIC_INLINE int32_t rev_nbody_Drift_run(int32_t pass, const rev_nbody_Drift *k, const rev_nbody_Drift *g, const rev_nbody_Drift *t, const rev_nbody_Drift *gt) {
	const rev_nbody_Drift *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->V);
	}
	a[n++] = rev_parameter(0, (double)k->Dt);
	return rev_call(rev_kernel("nbody.Drift[float64]"), pass, a, n);
}

/* Q += dt·V, positions of bodies */
typedef struct rev_nbody_Drift_float32 {
	rev_float32_matrix Q; /* acc [optional]; n,3 */
	rev_float32_matrix V; /* in; n,3 */
	double Dt;
} rev_nbody_Drift_float32;

REV_STATIC_INLINE int32_t rev_nbody_Drift_float32_run(int32_t pass, const rev_nbody_Drift_float32 *k, const rev_nbody_Drift_float32 *g, const rev_nbody_Drift_float32 *t, const rev_nbody_Drift_float32 *gt) {
	const rev_nbody_Drift_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->V);
	}
	a[n++] = rev_parameter(0, (double)k->Dt);
	return rev_call(rev_kernel("nbody.Drift[float32]"), pass, a, n);
}

/* Q += dt·V, positions of bodies */
typedef struct rev_nbody_Drift_Q43 {
	rev_Q43_matrix Q; /* acc [optional]; n,3 */
	rev_Q43_matrix V; /* in; n,3 */
	double Dt;
} rev_nbody_Drift_Q43;

REV_STATIC_INLINE int32_t rev_nbody_Drift_Q43_run(int32_t pass, const rev_nbody_Drift_Q43 *k, const rev_nbody_Drift_Q43 *g, const rev_nbody_Drift_Q43 *t, const rev_nbody_Drift_Q43 *gt) {
	const rev_nbody_Drift_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[9];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->V);
	}
	a[n++] = rev_parameter(0, (double)k->Dt);
	return rev_call(rev_kernel("nbody.Drift[Q43]"), pass, a, n);
}

/* V += dt·attraction at Q */
typedef struct rev_nbody_Kick {
	rev_float64_matrix V; /* acc [optional]; n,3 */
	rev_float64_matrix Q; /* in; n,3 */
	rev_float64_vector Mu; /* in; n */
	double Dt;
	double Softening;
	int64_t Workers;
} rev_nbody_Kick;

REV_STATIC_INLINE int32_t rev_nbody_Kick_run(int32_t pass, const rev_nbody_Kick *k, const rev_nbody_Kick *g, const rev_nbody_Kick *t, const rev_nbody_Kick *gt) {
	const rev_nbody_Kick *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->V.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->V);
		if (parts[p]->Q.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Q);
		if (parts[p]->Mu.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->Dt);
	a[n++] = rev_parameter(1, (double)k->Softening);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("nbody.Kick[float64]"), pass, a, n);
}

/* V += dt·attraction at Q */
typedef struct rev_nbody_Kick_float32 {
	rev_float32_matrix V; /* acc [optional]; n,3 */
	rev_float32_matrix Q; /* in; n,3 */
	rev_float32_vector Mu; /* in; n */
	double Dt;
	double Softening;
	int64_t Workers;
} rev_nbody_Kick_float32;

REV_STATIC_INLINE int32_t rev_nbody_Kick_float32_run(int32_t pass, const rev_nbody_Kick_float32 *k, const rev_nbody_Kick_float32 *g, const rev_nbody_Kick_float32 *t, const rev_nbody_Kick_float32 *gt) {
	const rev_nbody_Kick_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->V.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->V);
		if (parts[p]->Q.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Q);
		if (parts[p]->Mu.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->Dt);
	a[n++] = rev_parameter(1, (double)k->Softening);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("nbody.Kick[float32]"), pass, a, n);
}

/* V += dt·attraction at Q */
typedef struct rev_nbody_Kick_Q43 {
	rev_Q43_matrix V; /* acc [optional]; n,3 */
	rev_Q43_matrix Q; /* in; n,3 */
	rev_Q43_vector Mu; /* in; n */
	double Dt;
	double Softening;
	int64_t Workers;
} rev_nbody_Kick_Q43;

REV_STATIC_INLINE int32_t rev_nbody_Kick_Q43_run(int32_t pass, const rev_nbody_Kick_Q43 *k, const rev_nbody_Kick_Q43 *g, const rev_nbody_Kick_Q43 *t, const rev_nbody_Kick_Q43 *gt) {
	const rev_nbody_Kick_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[15];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->V.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->V);
		if (parts[p]->Q.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->Q);
		if (parts[p]->Mu.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->Dt);
	a[n++] = rev_parameter(1, (double)k->Softening);
	a[n++] = rev_parameter(2, (double)k->Workers);
	return rev_call(rev_kernel("nbody.Kick[Q43]"), pass, a, n);
}

/* (Q, V) <- N steps of Drift and Kick */
typedef struct rev_nbody_Steps {
	rev_float64_matrix Q; /* inout; n,3 */
	rev_float64_matrix V; /* inout; n,3 */
	rev_float64_vector Mu; /* in; n */
	int64_t N;
	int64_t Options_Method;
	double Options_Dt;
	double Options_Softening;
	int64_t Options_Workers;
} rev_nbody_Steps;

REV_STATIC_INLINE int32_t rev_nbody_Steps_run(int32_t pass, const rev_nbody_Steps *k, const rev_nbody_Steps *g, const rev_nbody_Steps *t, const rev_nbody_Steps *gt) {
	const rev_nbody_Steps *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->V);
		if (parts[p]->Mu.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->N);
	a[n++] = rev_parameter(1, (double)k->Options_Method);
	a[n++] = rev_parameter(2, (double)k->Options_Dt);
	a[n++] = rev_parameter(3, (double)k->Options_Softening);
	a[n++] = rev_parameter(4, (double)k->Options_Workers);
	return rev_call(rev_kernel("nbody.Steps[float64]"), pass, a, n);
}

/* (Q, V) <- N steps of Drift and Kick */
typedef struct rev_nbody_Steps_float32 {
	rev_float32_matrix Q; /* inout; n,3 */
	rev_float32_matrix V; /* inout; n,3 */
	rev_float32_vector Mu; /* in; n */
	int64_t N;
	int64_t Options_Method;
	double Options_Dt;
	double Options_Softening;
	int64_t Options_Workers;
} rev_nbody_Steps_float32;

REV_STATIC_INLINE int32_t rev_nbody_Steps_float32_run(int32_t pass, const rev_nbody_Steps_float32 *k, const rev_nbody_Steps_float32 *g, const rev_nbody_Steps_float32 *t, const rev_nbody_Steps_float32 *gt) {
	const rev_nbody_Steps_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->V);
		if (parts[p]->Mu.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->N);
	a[n++] = rev_parameter(1, (double)k->Options_Method);
	a[n++] = rev_parameter(2, (double)k->Options_Dt);
	a[n++] = rev_parameter(3, (double)k->Options_Softening);
	a[n++] = rev_parameter(4, (double)k->Options_Workers);
	return rev_call(rev_kernel("nbody.Steps[float32]"), pass, a, n);
}

/* (Q, V) <- N steps of Drift and Kick */
typedef struct rev_nbody_Steps_Q43 {
	rev_Q43_matrix Q; /* inout; n,3 */
	rev_Q43_matrix V; /* inout; n,3 */
	rev_Q43_vector Mu; /* in; n */
	int64_t N;
	int64_t Options_Method;
	double Options_Dt;
	double Options_Softening;
	int64_t Options_Workers;
} rev_nbody_Steps_Q43;

REV_STATIC_INLINE int32_t rev_nbody_Steps_Q43_run(int32_t pass, const rev_nbody_Steps_Q43 *k, const rev_nbody_Steps_Q43 *g, const rev_nbody_Steps_Q43 *t, const rev_nbody_Steps_Q43 *gt) {
	const rev_nbody_Steps_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[17];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Q.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->V);
		if (parts[p]->Mu.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->N);
	a[n++] = rev_parameter(1, (double)k->Options_Method);
	a[n++] = rev_parameter(2, (double)k->Options_Dt);
	a[n++] = rev_parameter(3, (double)k->Options_Softening);
	a[n++] = rev_parameter(4, (double)k->Options_Workers);
	return rev_call(rev_kernel("nbody.Steps[Q43]"), pass, a, n);
}

/* r += energy of bodies */
typedef struct rev_nbody_Energy {
	double *Out; /* acc [optional] */
	rev_float64_matrix Q; /* in; n,3 */
	rev_float64_matrix V; /* in; n,3 */
	rev_float64_vector Mu; /* in; n */
	double Softening;
	int64_t Workers;
} rev_nbody_Energy;

REV_STATIC_INLINE int32_t rev_nbody_Energy_run(int32_t pass, const rev_nbody_Energy *k, const rev_nbody_Energy *g, const rev_nbody_Energy *t, const rev_nbody_Energy *gt) {
	const rev_nbody_Energy *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->Q.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->V);
		if (parts[p]->Mu.data) a[n++] = rev_float64_vector_arg(p, 3, 1, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->Softening);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("nbody.Energy[float64]"), pass, a, n);
}

/* r += energy of bodies */
typedef struct rev_nbody_Energy_float32 {
	float *Out; /* acc [optional] */
	rev_float32_matrix Q; /* in; n,3 */
	rev_float32_matrix V; /* in; n,3 */
	rev_float32_vector Mu; /* in; n */
	double Softening;
	int64_t Workers;
} rev_nbody_Energy_float32;

REV_STATIC_INLINE int32_t rev_nbody_Energy_float32_run(int32_t pass, const rev_nbody_Energy_float32 *k, const rev_nbody_Energy_float32 *g, const rev_nbody_Energy_float32 *t, const rev_nbody_Energy_float32 *gt) {
	const rev_nbody_Energy_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->Q.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->V);
		if (parts[p]->Mu.data) a[n++] = rev_float32_vector_arg(p, 3, 2, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->Softening);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("nbody.Energy[float32]"), pass, a, n);
}

/* r += energy of bodies */
typedef struct rev_nbody_Energy_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_matrix Q; /* in; n,3 */
	rev_Q43_matrix V; /* in; n,3 */
	rev_Q43_vector Mu; /* in; n */
	double Softening;
	int64_t Workers;
} rev_nbody_Energy_Q43;

REV_STATIC_INLINE int32_t rev_nbody_Energy_Q43_run(int32_t pass, const rev_nbody_Energy_Q43 *k, const rev_nbody_Energy_Q43 *g, const rev_nbody_Energy_Q43 *t, const rev_nbody_Energy_Q43 *gt) {
	const rev_nbody_Energy_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[18];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->Q.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->Q);
		if (parts[p]->V.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->V);
		if (parts[p]->Mu.data) a[n++] = rev_Q43_vector_arg(p, 3, 3, parts[p]->Mu);
	}
	a[n++] = rev_parameter(0, (double)k->Softening);
	a[n++] = rev_parameter(1, (double)k->Workers);
	return rev_call(rev_kernel("nbody.Energy[Q43]"), pass, a, n);
}

/* (U, Prev) <- N steps of the wave equation, Trace += U at receivers */
typedef struct rev_wave_Steps {
	rev_float64_matrix U; /* inout; r,c */
	rev_float64_matrix Prev; /* inout; r,c */
	rev_float64_matrix M; /* in; r,c */
	rev_float64_matrix Source; /* in [optional]; n,s */
	rev_float64_matrix Trace; /* acc [optional]; n,t */
	rev_int_vector SourceAt; /* index [optional]; s */
	rev_int_vector ReceiverAt; /* index [optional]; t */
	int64_t N;
	int64_t Damping_Width;
	double Damping_Loss;
	int64_t Workers;
} rev_wave_Steps;

REV_STATIC_INLINE int32_t rev_wave_Steps_run(int32_t pass, const rev_wave_Steps *k, const rev_wave_Steps *g, const rev_wave_Steps *t, const rev_wave_Steps *gt) {
	const rev_wave_Steps *parts[4] = {k, g, t, gt};
	rev_arg a[32];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->U);
		if (parts[p]->Prev.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->Prev);
		if (parts[p]->M.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->M);
		if (parts[p]->Source.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->Source);
		if (parts[p]->Trace.data) a[n++] = rev_float64_matrix_arg(p, 4, 1, parts[p]->Trace);
		if (parts[p]->SourceAt.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->SourceAt);
		if (parts[p]->ReceiverAt.data) a[n++] = rev_int_vector_arg(p, 6, 5, parts[p]->ReceiverAt);
	}
	a[n++] = rev_parameter(0, (double)k->N);
	a[n++] = rev_parameter(1, (double)k->Damping_Width);
	a[n++] = rev_parameter(2, (double)k->Damping_Loss);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("wave.Steps[float64]"), pass, a, n);
}

/* (U, Prev) <- N steps of the wave equation, Trace += U at receivers */
typedef struct rev_wave_Steps_float32 {
	rev_float32_matrix U; /* inout; r,c */
	rev_float32_matrix Prev; /* inout; r,c */
	rev_float32_matrix M; /* in; r,c */
	rev_float32_matrix Source; /* in [optional]; n,s */
	rev_float32_matrix Trace; /* acc [optional]; n,t */
	rev_int_vector SourceAt; /* index [optional]; s */
	rev_int_vector ReceiverAt; /* index [optional]; t */
	int64_t N;
	int64_t Damping_Width;
	double Damping_Loss;
	int64_t Workers;
} rev_wave_Steps_float32;

REV_STATIC_INLINE int32_t rev_wave_Steps_float32_run(int32_t pass, const rev_wave_Steps_float32 *k, const rev_wave_Steps_float32 *g, const rev_wave_Steps_float32 *t, const rev_wave_Steps_float32 *gt) {
	const rev_wave_Steps_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[32];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->U);
		if (parts[p]->Prev.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->Prev);
		if (parts[p]->M.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->M);
		if (parts[p]->Source.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->Source);
		if (parts[p]->Trace.data) a[n++] = rev_float32_matrix_arg(p, 4, 2, parts[p]->Trace);
		if (parts[p]->SourceAt.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->SourceAt);
		if (parts[p]->ReceiverAt.data) a[n++] = rev_int_vector_arg(p, 6, 5, parts[p]->ReceiverAt);
	}
	a[n++] = rev_parameter(0, (double)k->N);
	a[n++] = rev_parameter(1, (double)k->Damping_Width);
	a[n++] = rev_parameter(2, (double)k->Damping_Loss);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("wave.Steps[float32]"), pass, a, n);
}

/* (U, Prev) <- N steps of the wave equation, Trace += U at receivers */
typedef struct rev_wave_Steps_Q43 {
	rev_Q43_matrix U; /* inout; r,c */
	rev_Q43_matrix Prev; /* inout; r,c */
	rev_Q43_matrix M; /* in; r,c */
	rev_Q43_matrix Source; /* in [optional]; n,s */
	rev_Q43_matrix Trace; /* acc [optional]; n,t */
	rev_int_vector SourceAt; /* index [optional]; s */
	rev_int_vector ReceiverAt; /* index [optional]; t */
	int64_t N;
	int64_t Damping_Width;
	double Damping_Loss;
	int64_t Workers;
} rev_wave_Steps_Q43;

REV_STATIC_INLINE int32_t rev_wave_Steps_Q43_run(int32_t pass, const rev_wave_Steps_Q43 *k, const rev_wave_Steps_Q43 *g, const rev_wave_Steps_Q43 *t, const rev_wave_Steps_Q43 *gt) {
	const rev_wave_Steps_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[32];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->U.data) a[n++] = rev_Q43_matrix_arg(p, 0, 3, parts[p]->U);
		if (parts[p]->Prev.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->Prev);
		if (parts[p]->M.data) a[n++] = rev_Q43_matrix_arg(p, 2, 3, parts[p]->M);
		if (parts[p]->Source.data) a[n++] = rev_Q43_matrix_arg(p, 3, 3, parts[p]->Source);
		if (parts[p]->Trace.data) a[n++] = rev_Q43_matrix_arg(p, 4, 3, parts[p]->Trace);
		if (parts[p]->SourceAt.data) a[n++] = rev_int_vector_arg(p, 5, 5, parts[p]->SourceAt);
		if (parts[p]->ReceiverAt.data) a[n++] = rev_int_vector_arg(p, 6, 5, parts[p]->ReceiverAt);
	}
	a[n++] = rev_parameter(0, (double)k->N);
	a[n++] = rev_parameter(1, (double)k->Damping_Width);
	a[n++] = rev_parameter(2, (double)k->Damping_Loss);
	a[n++] = rev_parameter(3, (double)k->Workers);
	return rev_call(rev_kernel("wave.Steps[Q43]"), pass, a, n);
}

/* r ⊕= Σ x_i */
typedef struct rev_log_Sum {
	double *Out; /* inout */
	rev_float64_vector X; /* in; n */
} rev_log_Sum;

REV_STATIC_INLINE int32_t rev_log_Sum_run(int32_t pass, const rev_log_Sum *k, const rev_log_Sum *g, const rev_log_Sum *t, const rev_log_Sum *gt) {
	const rev_log_Sum *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Sum[float64]"), pass, a, n);
}

/* r ⊕= Σ x_i */
typedef struct rev_log_Sum_float32 {
	float *Out; /* inout */
	rev_float32_vector X; /* in; n */
} rev_log_Sum_float32;

REV_STATIC_INLINE int32_t rev_log_Sum_float32_run(int32_t pass, const rev_log_Sum_float32 *k, const rev_log_Sum_float32 *g, const rev_log_Sum_float32 *t, const rev_log_Sum_float32 *gt) {
	const rev_log_Sum_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Sum[float32]"), pass, a, n);
}

/* r ⊕= Σ x_i·y_i */
typedef struct rev_log_Dot {
	double *Out; /* inout */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
} rev_log_Dot;

REV_STATIC_INLINE int32_t rev_log_Dot_run(int32_t pass, const rev_log_Dot *k, const rev_log_Dot *g, const rev_log_Dot *t, const rev_log_Dot *gt) {
	const rev_log_Dot *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlog.Dot[float64]"), pass, a, n);
}

/* r ⊕= Σ x_i·y_i */
typedef struct rev_log_Dot_float32 {
	float *Out; /* inout */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
} rev_log_Dot_float32;

REV_STATIC_INLINE int32_t rev_log_Dot_float32_run(int32_t pass, const rev_log_Dot_float32 *k, const rev_log_Dot_float32 *g, const rev_log_Dot_float32 *t, const rev_log_Dot_float32 *gt) {
	const rev_log_Dot_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlog.Dot[float32]"), pass, a, n);
}

/* C ⊕= A·B */
typedef struct rev_log_MatMul {
	rev_float64_matrix C; /* inout; m,n */
	rev_float64_matrix A; /* in; m,k */
	rev_float64_matrix B; /* in; k,n */
	int64_t Workers;
} rev_log_MatMul;

REV_STATIC_INLINE int32_t rev_log_MatMul_run(int32_t pass, const rev_log_MatMul *k, const rev_log_MatMul *g, const rev_log_MatMul *t, const rev_log_MatMul *gt) {
	const rev_log_MatMul *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlog.MatMul[float64]"), pass, a, n);
}

/* C ⊕= A·B */
typedef struct rev_log_MatMul_float32 {
	rev_float32_matrix C; /* inout; m,n */
	rev_float32_matrix A; /* in; m,k */
	rev_float32_matrix B; /* in; k,n */
	int64_t Workers;
} rev_log_MatMul_float32;

REV_STATIC_INLINE int32_t rev_log_MatMul_float32_run(int32_t pass, const rev_log_MatMul_float32 *k, const rev_log_MatMul_float32 *g, const rev_log_MatMul_float32 *t, const rev_log_MatMul_float32 *gt) {
	const rev_log_MatMul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revlog.MatMul[float32]"), pass, a, n);
}

/* C ⊕= A·B, A sparse */
typedef struct rev_sparse_LogMul {
	rev_float64_matrix C; /* inout; m,n */
	rev_float64_csr A; /* in; m,k */
	rev_float64_matrix B; /* in; k,n */
	int64_t Workers;
} rev_sparse_LogMul;

REV_STATIC_INLINE int32_t rev_sparse_LogMul_run(int32_t pass, const rev_sparse_LogMul *k, const rev_sparse_LogMul *g, const rev_sparse_LogMul *t, const rev_sparse_LogMul *gt) {
	const rev_sparse_LogMul *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float64_csr_arg(p, 1, 1, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.LogMul[float64]"), pass, a, n);
}

/* C ⊕= A·B, A sparse */
typedef struct rev_sparse_LogMul_float32 {
	rev_float32_matrix C; /* inout; m,n */
	rev_float32_csr A; /* in; m,k */
	rev_float32_matrix B; /* in; k,n */
	int64_t Workers;
} rev_sparse_LogMul_float32;

REV_STATIC_INLINE int32_t rev_sparse_LogMul_float32_run(int32_t pass, const rev_sparse_LogMul_float32 *k, const rev_sparse_LogMul_float32 *g, const rev_sparse_LogMul_float32 *t, const rev_sparse_LogMul_float32 *gt) {
	const rev_sparse_LogMul_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[13];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->C.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->C);
		if (parts[p]->A.data) a[n++] = rev_float32_csr_arg(p, 1, 2, parts[p]->A.data, k->A);
		if (parts[p]->B.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->B);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("revsparse.LogMul[float32]"), pass, a, n);
}

/* z_i ⊕= x_i·y_i */
typedef struct rev_log_MulElem {
	rev_float64_vector Z; /* inout; n */
	rev_float64_vector X; /* in; n */
	rev_float64_vector Y; /* in; n */
} rev_log_MulElem;

REV_STATIC_INLINE int32_t rev_log_MulElem_run(int32_t pass, const rev_log_MulElem *k, const rev_log_MulElem *g, const rev_log_MulElem *t, const rev_log_MulElem *gt) {
	const rev_log_MulElem *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlog.MulElem[float64]"), pass, a, n);
}

/* z_i ⊕= x_i·y_i */
typedef struct rev_log_MulElem_float32 {
	rev_float32_vector Z; /* inout; n */
	rev_float32_vector X; /* in; n */
	rev_float32_vector Y; /* in; n */
} rev_log_MulElem_float32;

REV_STATIC_INLINE int32_t rev_log_MulElem_float32_run(int32_t pass, const rev_log_MulElem_float32 *k, const rev_log_MulElem_float32 *g, const rev_log_MulElem_float32 *t, const rev_log_MulElem_float32 *gt) {
	const rev_log_MulElem_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Z.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Z);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->Y);
	}
	return rev_call(rev_kernel("revlog.MulElem[float32]"), pass, a, n);
}

/* r *= Π x_i */
typedef struct rev_log_Prod {
	double *Out; /* acc [optional] */
	rev_float64_vector X; /* in; n */
} rev_log_Prod;

REV_STATIC_INLINE int32_t rev_log_Prod_run(int32_t pass, const rev_log_Prod *k, const rev_log_Prod *g, const rev_log_Prod *t, const rev_log_Prod *gt) {
	const rev_log_Prod *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float64_scalar_arg(p, 0, 1, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Prod[float64]"), pass, a, n);
}

/* r *= Π x_i */
typedef struct rev_log_Prod_float32 {
	float *Out; /* acc [optional] */
	rev_float32_vector X; /* in; n */
} rev_log_Prod_float32;

REV_STATIC_INLINE int32_t rev_log_Prod_float32_run(int32_t pass, const rev_log_Prod_float32 *k, const rev_log_Prod_float32 *g, const rev_log_Prod_float32 *t, const rev_log_Prod_float32 *gt) {
	const rev_log_Prod_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_float32_scalar_arg(p, 0, 2, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Prod[float32]"), pass, a, n);
}

/* r *= Π x_i */
typedef struct rev_log_Prod_Q43 {
	rev_Q43 *Out; /* acc [optional] */
	rev_Q43_vector X; /* in; n */
} rev_log_Prod_Q43;

REV_STATIC_INLINE int32_t rev_log_Prod_Q43_run(int32_t pass, const rev_log_Prod_Q43 *k, const rev_log_Prod_Q43 *g, const rev_log_Prod_Q43 *t, const rev_log_Prod_Q43 *gt) {
	const rev_log_Prod_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[8];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Out) a[n++] = rev_Q43_scalar_arg(p, 0, 3, parts[p]->Out);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 1, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Prod[Q43]"), pass, a, n);
}

/* y_i *= Π_j x_j^a_ij */
typedef struct rev_log_Powers {
	rev_float64_vector Y; /* acc [optional]; m */
	rev_float64_matrix A; /* in; m,n */
	rev_float64_vector X; /* in; n */
} rev_log_Powers;

REV_STATIC_INLINE int32_t rev_log_Powers_run(int32_t pass, const rev_log_Powers *k, const rev_log_Powers *g, const rev_log_Powers *t, const rev_log_Powers *gt) {
	const rev_log_Powers *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float64_vector_arg(p, 0, 1, parts[p]->Y);
		if (parts[p]->A.data) a[n++] = rev_float64_matrix_arg(p, 1, 1, parts[p]->A);
		if (parts[p]->X.data) a[n++] = rev_float64_vector_arg(p, 2, 1, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Powers[float64]"), pass, a, n);
}

/* y_i *= Π_j x_j^a_ij */
typedef struct rev_log_Powers_float32 {
	rev_float32_vector Y; /* acc [optional]; m */
	rev_float32_matrix A; /* in; m,n */
	rev_float32_vector X; /* in; n */
} rev_log_Powers_float32;

REV_STATIC_INLINE int32_t rev_log_Powers_float32_run(int32_t pass, const rev_log_Powers_float32 *k, const rev_log_Powers_float32 *g, const rev_log_Powers_float32 *t, const rev_log_Powers_float32 *gt) {
	const rev_log_Powers_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_float32_vector_arg(p, 0, 2, parts[p]->Y);
		if (parts[p]->A.data) a[n++] = rev_float32_matrix_arg(p, 1, 2, parts[p]->A);
		if (parts[p]->X.data) a[n++] = rev_float32_vector_arg(p, 2, 2, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Powers[float32]"), pass, a, n);
}

/* y_i *= Π_j x_j^a_ij */
typedef struct rev_log_Powers_Q43 {
	rev_Q43_vector Y; /* acc [optional]; m */
	rev_Q43_matrix A; /* in; m,n */
	rev_Q43_vector X; /* in; n */
} rev_log_Powers_Q43;

REV_STATIC_INLINE int32_t rev_log_Powers_Q43_run(int32_t pass, const rev_log_Powers_Q43 *k, const rev_log_Powers_Q43 *g, const rev_log_Powers_Q43 *t, const rev_log_Powers_Q43 *gt) {
	const rev_log_Powers_Q43 *parts[4] = {k, g, t, gt};
	rev_arg a[12];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->Y.data) a[n++] = rev_Q43_vector_arg(p, 0, 3, parts[p]->Y);
		if (parts[p]->A.data) a[n++] = rev_Q43_matrix_arg(p, 1, 3, parts[p]->A);
		if (parts[p]->X.data) a[n++] = rev_Q43_vector_arg(p, 2, 3, parts[p]->X);
	}
	return rev_call(rev_kernel("revlog.Powers[Q43]"), pass, a, n);
}

/* R_ik *= responsibility of component k for point i */
typedef struct rev_gmm_LogResponsibilities {
	rev_float64_matrix R; /* acc [optional]; N,K */
	rev_float64_vector Alpha; /* in; K */
	rev_float64_matrix Means; /* in; K,D */
	rev_float64_matrix Factors; /* in; K,D*(D+1)/2 */
	rev_float64_matrix X; /* in; N,D */
	int64_t Workers;
} rev_gmm_LogResponsibilities;

REV_STATIC_INLINE int32_t rev_gmm_LogResponsibilities_run(int32_t pass, const rev_gmm_LogResponsibilities *k, const rev_gmm_LogResponsibilities *g, const rev_gmm_LogResponsibilities *t, const rev_gmm_LogResponsibilities *gt) {
	const rev_gmm_LogResponsibilities *parts[4] = {k, g, t, gt};
	rev_arg a[21];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float64_matrix_arg(p, 0, 1, parts[p]->R);
		if (parts[p]->Alpha.data) a[n++] = rev_float64_vector_arg(p, 1, 1, parts[p]->Alpha);
		if (parts[p]->Means.data) a[n++] = rev_float64_matrix_arg(p, 2, 1, parts[p]->Means);
		if (parts[p]->Factors.data) a[n++] = rev_float64_matrix_arg(p, 3, 1, parts[p]->Factors);
		if (parts[p]->X.data) a[n++] = rev_float64_matrix_arg(p, 4, 1, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("gmm.LogResponsibilities[float64]"), pass, a, n);
}

/* R_ik *= responsibility of component k for point i */
typedef struct rev_gmm_LogResponsibilities_float32 {
	rev_float32_matrix R; /* acc [optional]; N,K */
	rev_float32_vector Alpha; /* in; K */
	rev_float32_matrix Means; /* in; K,D */
	rev_float32_matrix Factors; /* in; K,D*(D+1)/2 */
	rev_float32_matrix X; /* in; N,D */
	int64_t Workers;
} rev_gmm_LogResponsibilities_float32;

REV_STATIC_INLINE int32_t rev_gmm_LogResponsibilities_float32_run(int32_t pass, const rev_gmm_LogResponsibilities_float32 *k, const rev_gmm_LogResponsibilities_float32 *g, const rev_gmm_LogResponsibilities_float32 *t, const rev_gmm_LogResponsibilities_float32 *gt) {
	const rev_gmm_LogResponsibilities_float32 *parts[4] = {k, g, t, gt};
	rev_arg a[21];
	int64_t n = 0;
	for (int32_t p = 0; p < 4; p++) {
		if (!parts[p]) continue;
		if (parts[p]->R.data) a[n++] = rev_float32_matrix_arg(p, 0, 2, parts[p]->R);
		if (parts[p]->Alpha.data) a[n++] = rev_float32_vector_arg(p, 1, 2, parts[p]->Alpha);
		if (parts[p]->Means.data) a[n++] = rev_float32_matrix_arg(p, 2, 2, parts[p]->Means);
		if (parts[p]->Factors.data) a[n++] = rev_float32_matrix_arg(p, 3, 2, parts[p]->Factors);
		if (parts[p]->X.data) a[n++] = rev_float32_matrix_arg(p, 4, 2, parts[p]->X);
	}
	a[n++] = rev_parameter(0, (double)k->Workers);
	return rev_call(rev_kernel("gmm.LogResponsibilities[float32]"), pass, a, n);
}

/* Not here, as no buffer holds what they need:
 *   revsparse.OperatorEig[float64]: Op is a revsparse.Operator
 */

#endif
