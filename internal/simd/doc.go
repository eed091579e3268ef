// Package simd holds the inner loops of revnum, vectorised.
//
// # Tiers
//
// Each loop has a pure-Go form, and on amd64 assembly for AVX2 with FMA and for
// AVX-512. The best tier that the machine has is chosen when the program starts;
// the environment variable REVNUM_SIMD (generic, avx2 or avx512) asks for a
// lower one, and the build tag noasm leaves the assembly out. InUse tells.
//
// # Operands
//
// Slices of one call have the same length, or the call panics with a string;
// matrices are stored by rows with a stride (ld, leading dimension). A
// destination may be exactly an operand of the same call; other overlaps are
// not allowed. Nothing outside the operands is read or written: the last
// elements go under a mask, so that no length is slow, and elements need no
// alignment beyond their own. Nothing is allocated. A call of assembly cannot be
// pre-empted, and is kept below 100 µs by cutting long operands; where they
// are cut depends on their lengths alone.
//
// # Results
//
// A loop that writes a slice (AddTo, MulTo, MaxTo, ScaleTo, Axpy, AxpyTo,
// AffineMax, SubColumn, CenterScale, Exp, ExpSubTo, ExpSubAdd, ExpShiftSum,
// Log, SinCos) writes the same bits on all tiers and machines, but for the sign
// and payload of a NaN. Products are rounded before they are added to something.
// The loops named after Rotate fuse them on the vector tiers, which there write
// the same bits, apart from sums. The loops over pairs (Distances,
// InvDistances, DiffDots, AddDiffs, KindAffine, KindInvDistances, AddForces of
// AllPairs) fuse them too, and differ between tiers. Reprojections (Views) fuse
// nothing.
//
// A loop that reduces (Dot, Sum, SumSquares, KindSums, KindDistances, Moments of
// AllPairs, SumExp, the sum of ExpShiftSum) adds in an order that depends on the
// tier, and fuses products on the vector tiers: between tiers their results differ
// by rounding, within n·ε·Σ|terms|. On one tier they depend on the arguments alone, not on the
// address or the number of workers. Max rounds nothing, and is the same on all.
// float32 is summed in float32, but for exponentials, which are summed in
// float64. A NaN in any operand is a NaN in the result.
//
// # Exponential and logarithm
//
// Exp and Log are within one unit in the last place over the whole range of
// arguments. The bounds kept by the tests against math/big are
//
//	          float64   float32
//	Exp       0.65      0.501
//	          0.85      0.501    (subnormal results)
//	Log       0.8       0.501
//	SinCos    1.5       0.501
//
// Subnormal arguments and results are exact to the same bounds, underflow is
// gradual, and exp overflows where the true value does: exp(709.78) is finite.
// exp(-Inf) = 0, exp(+Inf) = +Inf, log(±0) = -Inf, log(x) = NaN for x < 0,
// log(+Inf) = +Inf.
//
// SinCos is no worse near multiples of π/2, and leaves angles above 2²⁰ to package
// math.
//
// # Matrix products
//
// Gemm, TriNorms and WeightedMoments work on tiles of a matrix that fit in
// registers. The comments on them say what is required and what is fast. They
// are reductions, and so differ between tiers by rounding.
//
// # Blocks of bundle adjustment
//
// SubProducts9 and AddNormal9 work on blocks of 9×9 float64, of the nine
// parameters of cameras. They are reductions too, in the order of their lists.
//
// # Generated code
//
// The assembly is written by the programs in _gen, a module of its own, by way
// of github.com/mmcloughlin/avo and of what they share, its package asm. go
// generate runs them.
package simd
