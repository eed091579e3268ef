// Package revtropical has kernels over the tropical numbers.
//
// In max-plus arithmetic the sum of two numbers is their maximum, and their product the
// ordinary sum. In min-plus arithmetic the sum is the minimum. A product of matrices is
// then a best path of two steps:
//
//	max-plus  (A ⊗ B)_ij = max_l a_il + b_lj
//	min-plus  (A ⊗ B)_ij = min_l a_il + b_lj
//
// Powers of the matrix of an undirected or directed graph have its longest or shortest
// paths, and a chain of transfer matrices has the ground state of a system of spins.
//
// The kernels add these numbers to their results by ordinary addition, so that they have
// inverses. The derivative of a best value by the length of a step is 1 if the step is on
// the winning path, and 0 otherwise. The adjoint of a program therefore says which path or
// which configuration wins.
//
// These are the rules for maxima. For minima, read them with all signs changed:
//
//   - Of equal sums the first wins: the least l, or in a sparse matrix the first entry that is
//     stored.
//   - -∞ stands for no path, and a maximum over nothing. If all sums are -∞, nobody
//     wins, and there is no derivative. What -∞ was added to cannot be restored: Inverse
//     leaves NaN there.
//   - fixed.Q43 has no infinity. A maximum over nothing is the least number there, which
//     can be taken away again. Sums of two numbers wrap at ±2²⁰. For no path, take a length
//     that is longer than all paths.
//   - If a sum is NaN, the maximum is NaN. The first such sum wins.
//
// Sums are rounded once over floats, and exact over fixed point. Inverse restores the
// results to the bit over fixed point, and up to the rounding of sums over floats.
package revtropical

//go:generate go run revnum/cmd/revgen -instances
