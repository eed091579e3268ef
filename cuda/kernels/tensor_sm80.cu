// The product of matrices on the tensor cores for double, which cards of compute capability
// 8.0 and later have. tensor_sm90.cu is the same with the larger instruction of 9.0.
#include "tensorproduct.h"

// Large tiles want factors whose pieces of 16 bytes are aligned.
#define TENSOR_PRODUCTS(layout, alongA, alongB) \
	__attribute__((launch_bounds(128))) PRODUCT(double, TENSOR(addTensorProduct128##layout), (addTensorProduct<128, alongA, alongB, 2>)) \
	__attribute__((launch_bounds(128, 3))) PRODUCT(double, TENSOR(addTensorProduct64##layout), (addTensorProduct<64, alongA, alongB, 1>))
TENSOR_PRODUCTS(NN, true, false)
TENSOR_PRODUCTS(NT, true, true)
TENSOR_PRODUCTS(TN, false, false)
TENSOR_PRODUCTS(TT, false, true)

// Each warp computes 8 chains of count products each, for the benchmark. Each thread writes the
// sum of its part of them.
KERNEL TENSOR(tensorChains)(double *y, i64 count) {
	double v[8][2][2], a[2][2] = {{0.5, 0.5}, {0.5, 0.5}}, b[2] = {0.25, 0.25};
#pragma unroll
	for (int j = 0; j < 8; j++) v[j][0][0] = v[j][0][1] = v[j][1][0] = v[j][1][1] = (double)(threadX() + j);
	for (i64 c = 0; c < count; c++) {
#pragma unroll
		for (int j = 0; j < 8; j++) multiply(v[j], a, b);
	}
	double s = 0;
#pragma unroll
	for (int j = 0; j < 8; j++) s += v[j][0][0] + v[j][0][1] + (v[j][1][0] + v[j][1][1]);
	y[first()] = s;
}
