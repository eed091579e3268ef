package revlinalg

import "math"

// A golubKahan finds the singular values of an upper bidiagonal matrix B with the diagonal d
// and the elements e beside it, by implicit QR sweeps. A sweep goes from the last row of a
// block to its first one. At each row it rotates two columns, and then two rows, so that B
// stays bidiagonal but for one element. The shift is the least singular value of the first two
// rows. If that is small, or an element of d is, the sweep is the one of Demmel and Kahan
// (1990), whose shift is 0 and which keeps small values accurate.
type golubKahan struct {
	d, e   []float64
	top    float64 // the largest magnitude
	first  int     // rows before this one are done
	sweeps int
	failed bool
}

// begin starts with a matrix, which the iteration overwrites: the magnitudes of d will be the
// singular values in any order. e has a last element that is not used.
func (q *golubKahan) begin(d, e []float64) {
	*q = golubKahan{d: d, e: e}
	for i, v := range d {
		q.top = max(q.top, math.Abs(v))
		if i+1 < len(d) {
			q.top = max(q.top, math.Abs(e[i]))
		}
	}
}

// sweep implements sweeper. The first chains are for the left vectors.
func (q *golubKahan) sweep(to *[2]chains) (more bool) {
	left, right := &to[0], &to[1]
	defer left.finish()
	defer right.finish()
	for n := len(q.d); q.first < n; {
		last, singular := q.block()
		switch {
		case last == q.first:
			q.first++
			continue
		case left.full():
			return true
		case q.sweeps == maxSweeps*n:
			q.failed = true
			return false
		}
		q.sweeps++
		cl, sl := left.sweep(q.first, last)
		cr, sr := right.sweep(q.first, last)
		b := sweptBlock{q.d[q.first : last+1], q.e[q.first : last+1], cl, sl, cr, sr}
		if shift := b.shift(); shift > 0 && !singular {
			b.shifted(shift)
		} else {
			b.unshifted()
		}
	}
	return false
}

// block returns the last row of the block that begins with the first row, and whether the
// smallest magnitude on its diagonal is 0 beside the largest, up to rounding. Elements of e
// that are 0 up to rounding separate blocks.
func (q *golubKahan) block() (last int, singular bool) {
	at := math.Abs(q.d[q.first])
	least, most := at, at
	for i := q.first; i < len(q.d)-1; i++ {
		next, e := math.Abs(q.d[i+1]), math.Abs(q.e[i])
		if e <= 0x1p-53*(at+next) || e <= 0x1p-56*q.top {
			q.e[i] = 0
			return i, least <= 0x1p-53*most
		}
		at, least, most = next, min(least, next), max(most, next, e)
	}
	return len(q.d) - 1, least <= 0x1p-53*most
}

// A sweptBlock is a block, and where the rotations of its sweep go.
type sweptBlock struct{ d, e, cl, sl, cr, sr []float64 }

// shift returns the least singular value of the first two rows, and 0 if its square is small
// beside that of the last element.
func (b *sweptBlock) shift() float64 {
	f, g, h := math.Abs(b.d[0]), b.e[0], math.Abs(b.d[1])
	s := float64(2 * h * (f / (math.Hypot(f+h, g) + math.Hypot(f-h, g))))
	if r := s / b.d[len(b.d)-1]; !(float64(r*r) >= 0x1p-53) {
		return 0
	}
	return s
}

// shifted makes a sweep with a shift.
func (b *sweptBlock) shifted(shift float64) {
	d, e := b.d, b.e
	k := len(d) - 1
	f := (math.Abs(d[k]) - shift) * (math.Copysign(1, d[k]) + shift/d[k])
	g := e[k-1]
	for j := range k {
		i := k - j
		c, s, r := givens(f, g)
		e[i] = r
		f = float64(c*d[i]) + float64(s*e[i-1])
		e[i-1] = float64(c*e[i-1]) - float64(s*d[i])
		g = s * d[i-1]
		d[i-1] *= c
		b.cl[j], b.sl[j] = c, s
		c, s, r = givens(f, g)
		d[i] = r
		f = float64(c*e[i-1]) + float64(s*d[i-1])
		d[i-1] = float64(c*d[i-1]) - float64(s*e[i-1])
		if i > 1 {
			g = s * e[i-2]
			e[i-2] *= c
		}
		b.cr[j], b.sr[j] = c, s
	}
	e[0], e[k] = f, 0
}

// unshifted makes a sweep with the shift 0.
func (b *sweptBlock) unshifted() {
	d, e := b.d, b.e
	k := len(d) - 1
	c, cr, sr := 1.0, 1.0, 0.0
	for j := range k {
		i := k - j
		var s, r float64
		c, s, r = givens(d[i]*c, e[i-1])
		e[i] = sr * r
		b.cl[j], b.sl[j] = c, s
		cr, sr, d[i] = givens(cr*r, d[i-1]*s)
		b.cr[j], b.sr[j] = cr, sr
	}
	h := d[0] * c
	d[0], e[0], e[k] = h*cr, h*sr, 0
}

// givens returns c, s and r with c·f + s·g = r and c·g = s·f.
func givens(f, g float64) (c, s, r float64) {
	if x := float64(f*f) + float64(g*g); x > 0x1p-960 {
		r = math.Sqrt(x)
		inverse := r * (1 / x)
		return f * inverse, g * inverse, r
	}
	if r = math.Hypot(f, g); r == 0 {
		return 1, 0, 0
	}
	return f / r, g / r, r
}
