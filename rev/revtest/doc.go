// Package revtest is the conformance suite of reversible kernels: what it
// checks of a kernel is what package rev says of every kernel.
//
// A test of a kernel says how to make one with random operands of about a
// given size, and where the kernel is less than perfect:
//
//	func TestScale(t *testing.T) {
//		revtest.Kernel(t, revtest.Spec[Scale[float64]]{
//			New: func(rnd *rand.Rand, size int) Scale[float64] {
//				return Scale[float64]{Y: ..., A: ..., X: ...}
//			},
//		})
//	}
//
// The suite reads the rev tags of the kernel's fields to learn its operands,
// and checks one [Property] in each subtest, over all sizes of the Spec, three
// times each: with operands stored densely, with gaps between the rows of
// matrices (stride n+4) and the elements of vectors (Inc 3), and with a random
// choice of the two for each operand, cotangent and tangent. (Shapes, Extremes,
// NoAllocation and Workers, which take longest, do without the second.) The operands
// handed to the kernel are copies of those that New returns; NaNs, or the last
// number below zero for fixed-point elements, lie in the gaps and on both
// sides, must not be written, and spoil every result that they leak into.
//
// Elements may be float32, float64, fixed.Q43 or complex128. A complex number
// counts as the pair of its real and imaginary part: the cotangent of z is the
// pair of derivatives with respect to both, and ⟨g, t⟩ = Re Σ conj(g)·t.
//
// The random operands come from a fixed seed, so a test that passed keeps
// passing; set REVTEST_SEED to a number to try others. A failure prints it.
package revtest
