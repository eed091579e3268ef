package philox

import "math"

//go:generate go test -run TestTables -update

// Parts of a factor of 2 in the tables body and tail have these logarithms, and these are the exponents where
// the tables begin. A polynomial of tail has so many terms.
const (
	bodyBits, tailBits   = 7, 2
	bodyLeast, tailLeast = -10, -53
	tailTerms            = 11
)

// normal returns Φ⁻¹(u) for u = (v + 1/2)/2⁵³, where v is w modulo 2⁵³.
//
// Below the median, q = 2u is in (0, 1). The exponent and the next bits of q select a polynomial in t = q - end, where
// end is the upper end of those q that select the same. Above the median the number is that of 1-u, negated. Products
// and sums round once where math.FMA says so, and then have the same bits on every machine.
func normal(w uint64) float64 {
	above := uint64(int64(w<<11) >> 63)
	// The number 1+v/2⁵² has the bits of v. Both differences are exact.
	q := math.Float64frombits(0x3ff<<52|(w^above)&(1<<52-1)) - (1 - 0x1p-53)
	part := math.Float64bits(q) >> (52 - bodyBits)
	var z float64
	if i := int(part) - (1023+bodyLeast)<<bodyBits; i >= 0 {
		t := q - math.Float64frombits((part+1)<<(52-bodyBits))
		c := &body[i]
		z = math.FMA(t, math.Float64frombits(c[3]&^(1<<32-1)), math.Float64frombits(c[3]<<32))
		z = math.FMA(t, z, math.Float64frombits(c[2]))
		z = math.FMA(t, z, math.Float64frombits(c[1]))
		z = math.FMA(t, z, math.Float64frombits(c[0]))
	} else {
		part >>= bodyBits - tailBits
		t := q - math.Float64frombits((part+1)<<(52-tailBits))
		c := &tail[part-(1023+tailLeast)<<tailBits]
		z = math.Float64frombits(c[tailTerms-1])
		for k := tailTerms - 2; k >= 0; k-- {
			z = math.FMA(t, z, math.Float64frombits(c[k]))
		}
	}
	return math.Float64frombits(math.Float64bits(z) ^ above<<63)
}
