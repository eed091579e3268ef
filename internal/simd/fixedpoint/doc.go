// Package fixedpoint holds vector loops over fixed.Q43. All tiers give the same bits.
//
// # Sums of products
//
// A number is an integer q that counts units of 2⁻⁴³. A sum of products S = Σ x·y is exact. Its
// value is rounded once, to nearest with ties to even, and wraps at 64 bits:
//
//	value(S) = ⌊(S + 2⁴²-1 + p)/2⁴³⌋ mod 2⁶⁴, p = bit 43 of S.
//
// So only S mod 2¹⁰⁷ counts. The code holds S = H·2⁴³ + L with 0 <= L < 2⁴³ in two words, where
// H wraps. Then value(S) = H + ⌊(L + 2⁴²-1 + (H mod 2))/2⁴³⌋. A term t·2ʷ of S adds t·2ʷ⁻⁴³ to H
// if w >= 43. Otherwise it adds ⌊t/2⁴³⁻ʷ⌋ to H and the rest, times 2ʷ, to L.
//
// Registers have 64 bits, so products are taken from limbs of numbers. Sums of the products of
// limbs stay apart, one for each w, over all steps of a block. They are joined only at its end. A
// sum with w >= 43 may wrap, because 2⁶⁴·2ʷ is 0 mod 2¹⁰⁷. One with w < 43 must not.
//
// # AVX-512 IFMA
//
// An instruction multiplies the low 52 bits of two words and adds the low or the high 52 bits of
// the product, here lo and hi. Factors must not be negative. With O = 2⁶³, x' = x + O and
// y' = y + O,
//
//	Σ x·y = Σ x'·y' - O·(Σ x + Σ y) - k·O²
//
// for k products. O is a multiple of 2⁴³, so the corrections go to H alone, and Σ x and Σ y may
// wrap. With x' = x₁·2⁵² + x₀ and y' = y₁·2⁴⁰ + y₀ the terms are
//
//	x₀·y₀            lo at w = 0, hi at w = 52
//	x₁·y₀·2⁵²        x₁ < 2¹² and y₀ < 2⁴⁰, so lo is all of it: w = 52
//	x₀·y₁·2⁴⁰        lo at w = 40, hi at w = 92
//	x₁·y₁·2⁹²        x₁·y₁ < 2³⁶: lo, w = 92
//
// which are six instructions for eight products. Sums at w = 0 and w = 40 get one term below 2⁵²
// a step. They do not wrap within 2¹² steps.
//
// # One limb
//
// If all x and y of a product are in [-2⁵¹, 2⁵¹), that is, numbers below 256, then O = 2⁵¹ makes
// them one limb. The lo and hi of x'·y' are all there is: two instructions.
//
// # Range
//
// The sums of a block are exact, so a product of matrices can tell whether an element has wrapped. It also
// adds up E, the sum S in units of 2⁸⁷, within one unit for each sum that is shifted, and a few for a block. With c and r
// the element before and after, E + ⌊c/2⁴⁴⌋ - ⌊r/2⁴⁴⌋ is then near a multiple of 2²⁰, which is 0 if r is in range.
//
// # One product
//
// A product that is rounded by itself has another cut on AVX-512 IFMA. With x = x₁·2⁴³ + x₀ and
// y = y₁·2⁴³ + y₀,
//
//	x·y = x₀·y₀ + 2⁴³·(x₁·y₀ + x·y₁).
//
// The hi of (2⁹·x₀)·y₀ is ⌊x₀·y₀/2⁴³⌋, and its lo is 2⁹·L. All else goes to H, which is mod 2⁶⁴, as are
// the two products of whole words, VPMULLQ. x₁ and y₁ may therefore be negative. The value is
// H + ⌊(2⁹·L + 2⁵¹-1 + (H mod 2))/2⁵²⌋, because 2⁹·L is a multiple of 2⁹. A shear by 0 <= m < 2⁵²
// units takes one product less: x₀·m + 2⁴³·x₁·m. Sums with few terms for each rounding, as those of
// rotations and of rows of sparse matrices, are made of such products, too: H and 2⁹·L of all terms are
// added up.
//
// # Functions
//
// Square roots, exponentials, logarithms, powers, sines, tangents and angles are those of package fixed,
// step by step. Quotients are made of two estimates in float64 and an exact remainder, and distances
// likewise. If a vector has a number that the code does not handle, such as an exponential out of
// range, plain Go does that vector.
//
// Sums of logs take the steps of package ulog, which makes the terms in float64 and adds them up in two words.
//
// # AVX2
//
// AVX2 has products of float64. For integers x and y with |x·y| <= 2¹⁰², and with C = 1.5·2¹⁰³
// and M = 1.5·2⁵²,
//
//	hi = x·y + C               is C + h·2⁵¹ with h = x·y/2⁵¹ rounded
//	lo = x·y + ((C + M) - hi)  is M + r with r = x·y - h·2⁵¹, |r| <= 2⁵⁰
//
// where each line rounds once, and lo not at all: multiples of 2⁵¹ up to 2¹⁰³ and integers up to
// 2⁵³ are float64. While hi is in [2¹⁰³, 2¹⁰⁴] and lo in [2⁵², 2⁵³), their bits as integers are
// those of C and M, and h and r more. So bits are summed, and k times the bits of C and M are
// subtracted at the end. r has a sign. Sums of r begin at 2⁶², and stay in [0, 2⁶³] for 2¹²
// steps.
//
// Limbs have signs, so there is no offset. x = x₁·2⁵² + x₀ with |x₀| <= 2⁵¹ and |x₁| <= 2¹¹,
// y = y₁·2³⁹ + y₀ with |y₀| <= 2³⁸ and |y₁| <= 2²⁴. For both limbs of y, hi also gets x₁·2⁵²
// times that limb. That is a multiple of 2⁵¹ below 2¹⁰², and exact. The sums have w = 0, 51, 39
// and 90. A block has at most 256 steps.
//
// Other sums and products of AVX2 have limbs of 32 bits, x₁·2³² + x₀, since VPMULUDQ makes whole products of these.
// NEON has no such loops. A sum takes x' = x + 2⁶³ as above. Its products go to
//
//	low = Σ x₀·y₀,   middle = Σ x₀·y₁ + x₁·y₀,   high = Σ x₁·y₁
//
// mod 2⁶⁴. The high halves of the terms are summed a second time. 2³² times that sum, subtracted from low or middle,
// leaves the sum of the low halves, which does not wrap. Hence no term needs a mask. Checked sums do so with high and with the
// sum of the factors too, and are exact.
//
// A product that is rounded by itself is that of magnitudes, which gets its sign at the end: ties to even are alike on
// both sides of 0. With m = x₀·y₁ + x₁·y₀ + ⌊x₀·y₀/2³²⌋ and l = x₀·y₀ mod 2³², its value is
//
//	2²¹·x₁·y₁ + ⌊(m + 2¹⁰ - e)/2¹¹⌋,   e = 1 if l = 0 and m mod 2¹² = 2¹⁰, else 0.
//
// In a tie m mod 2¹¹ is 2¹⁰ and l is 0, and e rounds it down if the bit above, of the value, is even. The sum does not
// wrap: if x₁ and y₁ are below 2³¹, then m <= 2·(2³²-1)·(2³¹-1) + 2³²-1 < 2⁶⁴ - 2³². If x₁ is 2³¹, then x₀ is 0
// and m = 2³¹·y₀.
//
// Functions and quotients take the steps of AVX-512 and of package fixed, with whole products of words instead of limbs of 52
// bits. Conversions to and from float64 are sums with numbers that have the right last bit.
package fixedpoint
