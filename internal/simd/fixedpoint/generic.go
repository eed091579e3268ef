package fixedpoint

import (
	"math/bits"
	"sync"

	"revnum/fixed"
	"revnum/internal/number"
)

// genericGemm is Gemm without its checks.
func genericGemm(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) {
	t := tilesPool.Get().(*tiles)
	for i := 0; i < m; i += tile {
		for j := 0; j < n; j += tile {
			t.clear()
			for l := 0; l < k; l += tileDepth {
				depth := min(tileDepth, k-l)
				t.a.load(a[i*rsa+l*csa:], min(tile, m-i), depth, rsa, csa)
				t.b.load(b[j*csb+l*rsb:], min(tile, n-j), depth, csb, rsb)
				t.multiply(depth)
			}
			t.store(c[i*ldc+j:], ldc, k, sign)
		}
	}
	tilesPool.Put(t)
}

var tilesPool = sync.Pool{New: func() any { return new(tiles) }}

// The plain code multiplies tiles of matrices, each of which is summed in 128 bits. Go
// has no signed product of words. A tile therefore takes the integers x' = x + 2⁶³,
// which are not negative. Then, modulo 2¹²⁸,
//
//	Σ x·y = Σ x'·y' - 2⁶³·(Σ x' + Σ y') + k·2¹²⁶
//
// where the sums over one factor are computed once for a row or column of a tile.

const (
	tile      = 32  // rows and columns of a tile of C
	tileDepth = 128 // products that are summed before the next part of A and B is loaded
)

type tiles struct {
	a, b factorTile // rows of A, columns of B
	sum  [tile * tile]word128
}

// A factorTile holds rows of A or columns of B, one after the other, and their sums.
type factorTile struct {
	n    int // rows or columns
	x    [tile * tileDepth]uint64
	sums [tile]word128
}

type word128 struct{ hi, lo uint64 }

func (t *tiles) clear() {
	clear(t.a.sums[:])
	clear(t.b.sums[:])
	clear(t.sum[:])
}

// load takes n rows of the given length from x. Element (i, l) is x[i*rs+l*cs].
func (t *factorTile) load(x []fixed.Q43, n, length, rs, cs int) {
	t.n = n
	for i := range n {
		row := t.x[i*tileDepth:][:length]
		s := t.sums[i]
		for l := range row {
			v := uint64(x[i*rs+l*cs]) ^ 1<<63
			row[l] = v
			var c uint64
			s.lo, c = bits.Add64(s.lo, v, 0)
			s.hi += c
		}
		t.sums[i] = s
	}
}

// multiply adds the products of the loaded rows and columns.
func (t *tiles) multiply(length int) {
	for i := range t.a.n {
		a := t.a.x[i*tileDepth:][:length]
		sum := t.sum[i*tile:][:t.b.n]
		j := 0
		for ; j+1 < len(sum); j += 2 {
			b0 := t.b.x[j*tileDepth:][:len(a)]
			b1 := t.b.x[(j+1)*tileDepth:][:len(a)]
			var c uint64
			h0, l0, h1, l1 := sum[j].hi, sum[j].lo, sum[j+1].hi, sum[j+1].lo
			for l, v := range a {
				hi, lo := bits.Mul64(v, b0[l])
				l0, c = bits.Add64(l0, lo, 0)
				h0, _ = bits.Add64(h0, hi, c)
				hi, lo = bits.Mul64(v, b1[l])
				l1, c = bits.Add64(l1, lo, 0)
				h1, _ = bits.Add64(h1, hi, c)
			}
			sum[j], sum[j+1] = word128{h0, l0}, word128{h1, l1}
		}
		if j < len(sum) {
			b := t.b.x[j*tileDepth:][:len(a)]
			s := sum[j]
			for l, v := range a {
				hi, lo := bits.Mul64(v, b[l])
				var c uint64
				s.lo, c = bits.Add64(s.lo, lo, 0)
				s.hi, _ = bits.Add64(s.hi, hi, c)
			}
			sum[j] = s
		}
	}
}

// store adds sign times the rounded sums of k products to c.
func (t *tiles) store(c []fixed.Q43, stride, k, sign int) {
	for i := range t.a.n {
		row := c[i*stride:][:t.b.n]
		for j := range row {
			lo, carry := bits.Add64(t.a.sums[i].lo, t.b.sums[j].lo, 0)
			hi := t.a.sums[i].hi + t.b.sums[j].hi + carry
			hi, lo = hi<<63|lo>>1, lo<<63 // times 2⁶³
			s := t.sum[i*tile+j]
			var borrow uint64
			lo, borrow = bits.Sub64(s.lo, lo, 0)
			hi = s.hi - hi - borrow + uint64(k)<<62
			v := round(hi, lo)
			if sign < 0 {
				v = -v
			}
			row[j] += v
		}
	}
}

// round returns the sum hi·2⁶⁴ + lo of products, rounded to nearest with ties to even,
// and wrapped.
func round(hi, lo uint64) fixed.Q43 {
	const f = fixed.FracBits
	lo, c := bits.Add64(lo, 1<<(f-1)-1+lo>>f&1, 0)
	return fixed.Q43((hi+c)<<(64-f) | lo>>f)
}

// genericShears is shears in plain Go.
func genericShears(t, s fixed.Q43, before, after bool, a, b []fixed.Q43) {
	for j, v := range a {
		w := b[j]
		if before {
			v, w = -v, -w
		}
		v -= t.Mul(w)
		w += s.Mul(v)
		v -= t.Mul(w)
		if after {
			v, w = -v, -w
		}
		a[j], b[j] = v, w
	}
}

// genericAddRowSums is AddRowSums in plain Go.
func genericAddRowSums[I Index](sign int, alpha fixed.Q43, a []fixed.Q43, ind []I, u []fixed.Q43, ldu int, out []fixed.Q43, sums []fixed.Accumulator) {
	clear(sums)
	for q, i := range ind {
		at := int(i) * ldu
		for c, y := range u[at : at+len(sums)] {
			sums[c].AddMul(a[q], y)
		}
	}
	for c := range sums {
		out[c] += number.Signed(sign, alpha.Mul(sums[c].Round()))
	}
}
