package flow

import (
	"math"
	"math/bits"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/rev"
)

// scale is the kernel
//
//	x_ij <- x_ij·e_ij,  logDet_i += Σ_j c·s_ij  with e = exp(c·s)
//
// with the derivatives, where x' is x after the kernel,
//
//	x̄ <- e·x̄',  s̄_ij += c·(x'_ij·x̄'_ij + l̄_i),  ẋ' = e·ẋ + c·x'·ṡ,  l̇_i += Σ_j c·ṡ_ij,
//	ġx <- e·(ġx' + c·ṡ·x̄'),  ġs_ij += c·(ẋ'_ij·x̄'_ij + x'_ij·ġx'_ij + ġl_i)
//
// for the cotangent l̄ of logDet and its tangent ġl. In fixed point e is a fraction n/2¹⁶, and rest has an
// integer for each element of X, row by row (see doc.go). With d = 2¹⁶ and r the rest,
//
//	r <- r·d + x mod d,  x <- ⌊x/d⌋·n + r mod n,  r <- ⌊r/n⌋.
//
// That is a bijection of (x, r). If x or r would leave its range, Run returns a
// *rev.DomainError and changes nothing.
type scale[T rev.Real] struct {
	X      rev.General[T] `rev:"inout" shape:"n,d"`
	S      rev.General[T] `rev:"in" shape:"n,d"`
	LogDet rev.Vector[T]  `rev:"acc" shape:"n"`
	C      T
	rest   []uint64
}

func (k scale[T]) Run(p rev.Pass[scale[T]]) error {
	if err := k.check(p.Back); err != nil {
		return err
	}
	sign := T(p.Sign())
	for i := range k.X.Rows {
		var sum, tangents T
		for j, s := range k.S.Row(i) {
			e, logE := factor(fixed.Product(k.C, s))
			sum += logE
			x := &k.X.Row(i)[j]
			after := *x
			*x = k.move(*x, e, i*k.X.Cols+j, p.Back)
			if !p.Back {
				after = *x
			}
			var ds T // c·ṡ
			if p.T.S.Data != nil {
				ds = fixed.Product(k.C, p.T.S.Row(i)[j])
			}
			tangents += ds
			turn := fixed.Product(after, ds)
			dAfter := turn // ẋ', as ẋ is 0 if it is nil
			if t := p.T; t.X.Data != nil {
				tx := &t.X.Row(i)[j]
				dAfter = *tx
				if p.Back {
					*tx = fixed.Quotient(*tx-turn, e)
				} else {
					*tx = fixed.Product(e, *tx) + turn
					dAfter = *tx
				}
			}
			var gAfter T // x̄'
			if g := p.G; g.X.Data != nil {
				gx := &g.X.Row(i)[j]
				gAfter = *gx
				if p.Back {
					*gx = fixed.Product(e, *gx)
				} else {
					*gx = fixed.Quotient(*gx, e)
					gAfter = *gx
				}
				if g.S.Data != nil {
					g.S.Row(i)[j] -= T(sign * fixed.Product(k.C, fixed.Product(after, gAfter)))
				}
				if gt := p.GT; gt.S.Data != nil {
					gt.S.Row(i)[j] -= T(sign * fixed.Product(k.C, fixed.Product(dAfter, gAfter)))
				}
			}
			turn = fixed.Product(gAfter, ds)
			var gtAfter T // ġx', as what is nil is 0 where the pass begins
			if !p.Back {
				gtAfter = -turn
			}
			gt := p.GT
			if gt.X.Data != nil {
				gtx := &gt.X.Row(i)[j]
				gtAfter = *gtx
				if p.Back {
					*gtx = fixed.Product(e, *gtx+turn)
				} else {
					*gtx = fixed.Quotient(*gtx, e) - turn
					gtAfter = *gtx
				}
			}
			if gt.S.Data != nil {
				gt.S.Row(i)[j] -= T(sign * fixed.Product(k.C, fixed.Product(after, gtAfter)))
			}
			k.addDet(sign, p.G, i, j)
			k.addDet(sign, p.GT, i, j)
		}
		if k.LogDet.Data != nil {
			k.LogDet.Data[i*k.LogDet.Inc] += T(sign * sum)
		}
		if p.T.LogDet.Data != nil {
			p.T.LogDet.Data[i*p.T.LogDet.Inc] += T(sign * tangents)
		}
	}
	return nil
}

// addDet takes what the determinant of row i adds to s̄_ij, or to its tangent, from g, or adds it
// if sign is -1.
func (k *scale[T]) addDet(sign T, g scale[T], i, j int) {
	if g.LogDet.Data != nil && g.S.Data != nil {
		g.S.Row(i)[j] -= T(sign * fixed.Product(k.C, g.LogDet.Data[i*g.LogDet.Inc]))
	}
}

const (
	denominator = 1 << 16 // d
	most        = 1 << 24 // the largest n
)

// factor returns e = exp(v), in fixed point the nearest fraction, and log e.
func factor[T rev.Real](v T) (e, logE T) {
	if T(1)/2 != 0 {
		return T(math.Exp(float64(v))), v
	}
	n := min(max(math.Round(math.Exp(fixed.Float(v))*denominator), 1), most)
	return fixed.Of[T](n / denominator), fixed.Of[T](logs.Log(n / denominator))
}

// move returns x·e, or x/e if back is set, for the element with a rest.
func (k *scale[T]) move(x, e T, at int, back bool) T {
	if T(1)/2 != 0 {
		if back {
			return x / e
		}
		return x * e
	}
	v, r, _ := exchange(int64(x), k.rest[at], numerator(e), back)
	k.rest[at] = r
	return T(v)
}

// numerator returns n of e = n/2¹⁶.
func numerator[T rev.Real](e T) int64 { return int64(e) >> (fixed.FracBits - 16) }

// exchange returns v·n/d and the rest after it, or before it if back is set. It reports
// whether both are in range.
func exchange(v int64, r uint64, n int64, back bool) (int64, uint64, bool) {
	from, to := int64(denominator), n
	if back {
		from, to = n, denominator
	}
	q, digit := v/from, v%from
	if digit < 0 { // v - digit might overflow
		q, digit = q-1, digit+from
	}
	hi, lo := bits.Mul64(r, uint64(from))
	lo, carry := bits.Add64(lo, uint64(digit), 0)
	if hi+carry != 0 {
		return 0, 0, false
	}
	// The bound is the same in both directions, so that every step has an inverse.
	if limit := math.MaxInt64 / max(from, to); q >= limit || q <= -limit {
		return 0, 0, false
	}
	return q*to + int64(lo%uint64(to)), lo / uint64(to), true
}

// check returns an error if a number in fixed point would leave its range.
func (k *scale[T]) check(back bool) error {
	if T(1)/2 != 0 {
		return nil
	}
	for i := range k.X.Rows {
		for j, s := range k.S.Row(i) {
			e, _ := factor(fixed.Product(k.C, s))
			x, at := k.X.Row(i)[j], i*k.X.Cols+j
			if _, _, ok := exchange(int64(x), k.rest[at], numerator(e), back); !ok {
				return &rev.DomainError{Func: "flow: the product with e^s", Args: []float64{fixed.Float(x), fixed.Float(s)}, Index: at}
			}
		}
	}
	return nil
}
