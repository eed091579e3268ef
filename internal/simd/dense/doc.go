// Package dense holds vector loops over dense matrices: products, triangular
// solves and plane rotations.
//
// The rules of package vec on operands hold here too: nothing outside of them is
// read or written, and no call of assembly takes 100 µs.
//
// Gemm, TriNorms, WeightedMoments and TriSolve work on tiles of a matrix that fit
// in registers. The comments on them say what is required and what is fast. They
// are reductions: their results differ between tiers (see package cpu) by rounding.
// Rotations fuse products with sums on the vector tiers, which write the same bits,
// apart from sums.
package dense
