package rules

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
)

// TestEnds takes all kernels over Q43 there and back on operands, cotangents and tangents that include the
// ends of the range. Whatever wraps, and though -2²⁰ has no negative, outputs and their tangents come back
// to the bit.
func TestEnds(t *testing.T) {
	ends := []fixed.Q43{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, 1 << 62, -1 << 62, 0, 1, -1, fixed.One, -fixed.One}
	for _, r := range All() {
		if r.Missing != "" || slices.ContainsFunc(r.Operands, func(o Operand) bool { return o.Type != Q43 && o.Type != Int }) {
			continue
		}
		for trial := range 24 {
			rnd := rand.New(rand.NewPCG(uint64(trial), 43))
			a := r.Example(rnd, 1+rnd.IntN(8), 1+rnd.IntN(8))
			share := []float64{0.05, 0.5, 1}[trial%3]
			draw := func(list []Buffer) []Buffer {
				list = clones(list)
				for i, b := range list {
					if b.Type != Q43 || b.Data == nil || r.Operands[i].role == rev.Index {
						continue
					}
					for j, x := 0, Elements[fixed.Q43](b); j < len(x); j++ {
						if rnd.Float64() >= share {
							continue
						}
						if x[j] = fixed.Q43(rnd.Uint64()); rnd.IntN(2) == 0 {
							x[j] = ends[rnd.IntN(len(ends))]
						}
					}
				}
				return list
			}
			a.Operands = draw(a.Operands)
			derivatives := like(rnd, a.Operands)
			a.Cotangents, a.Tangents, a.CotangentTangents = draw(derivatives), draw(derivatives), draw(derivatives)
			before := Args{Operands: clones(a.Operands), Tangents: clones(a.Tangents)}
			for _, back := range []Pass{Inverse, Adjoint, AdjointTangent} {
				ahead, b := Forward, a
				switch back {
				case Inverse:
					b.Cotangents, b.Tangents, b.CotangentTangents = nil, nil, nil
				case Adjoint:
					b.Cotangents, b.Tangents, b.CotangentTangents = clones(a.Cotangents), nil, nil
				case AdjointTangent:
					ahead = Tangent
					b.Cotangents, b.Tangents, b.CotangentTangents = clones(a.Cotangents), clones(a.Tangents), clones(a.CotangentTangents)
				}
				if !r.Has(back) {
					continue
				}
				b.Operands = clones(a.Operands)
				first := b
				first.Cotangents, first.CotangentTangents = nil, nil
				if r.Call(ahead, first) != nil {
					continue // the value is out of range
				}
				var wrong *PanicError
				if err := r.Call(back, b); errors.As(err, &wrong) {
					t.Fatalf("%s, %v, trial %d: %v", r.Name, back, trial, err)
				} else if err != nil {
					continue // a derivative is
				}
				for i, o := range r.Operands {
					if o.role == rev.Index || o.Type != Q43 || b.Operands[i].Data == nil {
						continue
					}
					compareBits(t, r.Name+" after "+back.String()+": "+o.Name, b.Operands[i], before.Operands[i])
					if back == AdjointTangent && !r.InPlace && b.Tangents[i].Data != nil {
						compareBits(t, r.Name+" after "+back.String()+": the tangent of "+o.Name, b.Tangents[i], before.Tangents[i])
					}
				}
			}
		}
	}
}

func compareBits(t *testing.T, name string, got, want Buffer) {
	t.Helper()
	for j, v := range Elements[fixed.Q43](got) {
		if w := Elements[fixed.Q43](want)[j]; v != w {
			t.Errorf("%s: element %d is %d units of the last place, was %d", name, j, int64(v), int64(w))
			return
		}
	}
}

func clones(list []Buffer) []Buffer {
	c := make([]Buffer, len(list))
	for i, b := range list {
		if b.Data != nil {
			b = b.clone()
		}
		c[i] = b
	}
	return c
}
