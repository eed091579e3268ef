package ulog

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
)

// TestSameBits checks that results have the same bits on every machine, with and without
// assembly or fused multiply-add. The vectorised sums are the exception.
func TestSameBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 32))
	h := fnv.New64a()
	put := func(v any) {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	for range 3000 {
		a := math.Ldexp(rnd.Float64()-0.5, rnd.IntN(20))
		b := a - math.Ldexp(rnd.Float64(), rnd.IntN(30)-20)
		x, y := Float64{a}, Float64{b}
		put(x.Add(y).Log)
		put(x.Sub(y).Log)
		put(x.Float64())
		put(NewFloat64(math.Abs(b)).Log)
		put(Float32{float32(a)}.Add(Float32{float32(b)}).Log)
		if b > -1e6 {
			p, q := Fixed{fixed.FromFloat64(a)}, Fixed{fixed.FromFloat64(b)}
			put(int64(p.Add(q).Log))
			put(int64(p.Sub(q).Log))
			put(p.Float64())
			put(int64(Sum([]Fixed{p, q, q}).Log))
			put(int64(NewFixed(math.Abs(b)).Log))
		}
	}
	if have, want := h.Sum64(), uint64(0x631b80ea80fdaed2); have != want {
		t.Errorf("hash of the results is %#x, want %#x", have, want)
	}
}
