// Package dense holds vector loops over dense matrices: products, triangular solves
// and plane rotations.
//
// The rules of package vec on operands hold here too. Nothing outside the operands
// is read or written, and no call of assembly takes 100 µs.
//
// Gemm, TriNorms, WeightedMoments and TriSolve work on tiles of a matrix that fit in
// registers. Their comments say what they require and what is fast. They are
// reductions, so their results on two tiers (see package cpu) differ by rounding.
// Rotations fuse products with sums on the vector tiers. These write the same bits,
// except in sums.
package dense
