// Package revtest is the conformance suite of reversible kernels. It checks that a
// kernel does what package rev says of every kernel.
//
// A test of a kernel says how to make the kernel with random operands of about a
// given size:
//
//	func TestScale(t *testing.T) {
//		revtest.Kernel(t, revtest.Spec[Scale[float64]]{
//			New: func(rnd *rand.Rand, size int) Scale[float64] {
//				return Scale[float64]{Y: ..., A: ..., X: ...}
//			},
//		})
//	}
//
// Set other fields of [Spec] where the defaults do not suit your kernel.
//
// The suite reads the rev tags of the kernel's fields to learn its operands. It checks
// one [Property] in each subtest, for all sizes of the Spec, three times each. First,
// operands are stored densely. Second, there are gaps between the rows of matrices
// (stride n+4) and between the elements of vectors (Inc 3). Third, each operand,
// cotangent and tangent is stored in one of these two ways at random. Shapes, Extremes,
// NoAllocation and Workers take longest, and omit the second way.
//
// The kernel gets copies of the operands that New returns. Poison lies in the gaps and
// on both sides of each operand. It is NaN, or for fixed-point elements the largest
// number below zero. The kernel must not write it. It spoils every result that it leaks
// into.
//
// Elements may be float32, float64, fixed.Q43 or complex128. A complex number counts as
// the pair of its real and imaginary part. The cotangent of z is the pair of
// derivatives with respect to the two parts, and ⟨g, t⟩ = Re Σ conj(g)·t.
//
// [Program] checks a whole program from one state.
//
// The random operands come from a fixed seed, so a test that passed keeps passing.
// Set REVTEST_SEED to a number to try others. A failure prints the seed.
package revtest
