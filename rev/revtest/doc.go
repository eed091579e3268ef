// Package revtest is the conformance suite of reversible kernels. It checks that a
// kernel does what package rev says of every kernel.
//
// The whole test of many kernels is one line:
//
//	func TestScale(t *testing.T) { revtest.Kernel(t, revtest.Spec[Scale[float64]]{}) }
//
// The suite then draws operands by their tags, normal numbers of several shapes. Set fields
// of [Spec] where the defaults do not suit your kernel. If its operands are not any numbers
// of any shapes, write New, which returns a kernel with random operands of about a given
// size.
//
// The suite reads the rev tags of the kernel's fields to learn its operands. It checks
// one [Property] in each subtest, for all sizes of the Spec. (If the Spec has none, Omitted,
// Shapes, Extremes, NoAllocation and Workers take four of the default sizes.) For every second size all
// operands are stored densely. For the others, each operand, cotangent and tangent is stored densely or
// with gaps, at random: gaps between the rows of matrices (stride n+4) and between the
// elements of vectors (Inc 3). If REVNUM_LONG is set, all properties are
// checked with more draws, for all sizes, and most of them in both ways for each size, and with gaps in all operands.
//
// A branch of Run is tested only if operands reach it. The property Magnitudes therefore
// multiplies the in and inout operands of New by factors of 1e-3 to 1e3, all by the same or
// each by its own. Narrow Spec.Magnitudes if the kernel overflows or leaves its domain.
// This prints the statements of scale.go that the test does not reach, such as
// "scale.go:31.20,33.3 1 0" for the statement in lines 31 to 33:
//
//	go test -run '^TestScale$' -coverprofile=c.out && grep 'scale.go.* 0$' c.out
//
// Derivatives are compared with differences, so operands must stay away from kinks, such as
// that of |x| at 0. Let New draw them at least five times Spec.Step from a kink: if x is
// standard normal, x + copysign(0.5, x) stays away from 0. A factor may bring an operand near
// a kink that is not at 0. Magnitudes tries smaller steps there. If these do not help, narrow
// Spec.Magnitudes.
//
// An untyped constant in code that is generic over rev.Real is raw bits over fixed.Q43: 1 is
// 2⁻⁴³ there. The property FixedPoint finds it, because the kernel over float64 then gives
// other numbers. Write fixed.Of[T](1).
//
// A product that is added without a conversion is rounded otherwise on arm64. Tests on amd64 cannot
// find it, unless GOAMD64 is v3; a command does, which the documentation of package rev names.
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
