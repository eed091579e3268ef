package fixed

import (
	"math/rand/v2"
	"testing"
)

func dotSum[T Number](x, y []T) T {
	var s Sum[T]
	y = y[:len(x)]
	for i, v := range x {
		s = s.AddMul(v, y[i])
	}
	return s.Round()
}

func plainDot(x, y []float64) float64 {
	s := 0.0
	y = y[:len(x)]
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

// A Sum over fixed point has the bits of an Accumulator, and one over floats those of the
// plain sum.
func TestSum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		var a Accumulator
		var s, rest Sum[Q43]
		var f Sum[float64]
		plain := 0.0
		for range 5 {
			x, y := Q43(rnd.Uint64())>>rnd.IntN(60), Q43(rnd.Uint64())>>rnd.IntN(60)
			v, w := rnd.NormFloat64(), rnd.NormFloat64()
			a.AddMul(x, y)
			a.Add(y)
			a.SubMul(y, y)
			s = s.AddSum(Exact(x, y)).Add(y)
			rest = rest.SubMul(y, y).SubSum(SumOf(x)).Add(x)
			f = f.AddSum(Exact(v, w)).SubSum(Exact(w, w)).Add(v)
			plain = plain + float64(v*w) - float64(w*w) + v
		}
		if got := s.AddSum(rest).Round(); got != a.Round() {
			t.Fatalf("%v, want %v", got, a.Round())
		}
		if got := s.AddSum(rest); got.hi != a.hi || got.lo != a.lo {
			t.Fatalf("%v, want %v", got, a)
		}
		if f.Round() != plain {
			t.Fatalf("%v, want %v", f.Round(), plain)
		}
		if x := Q43(rnd.Uint64()); SumOf(x).Round() != x {
			t.Fatalf("%v is not itself", x)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	x, q := make([]float64, 1000), make([]Q43, 1000)
	for i := range x {
		x[i], q[i] = float64(i), Q43(i)<<40
	}
	b.Run("float64", func(b *testing.B) {
		for b.Loop() {
			_ = dotSum(x, x)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			_ = plainDot(x, x)
		}
	})
	b.Run("Q43", func(b *testing.B) {
		for b.Loop() {
			_ = dotSum(q, q)
		}
	})
	b.Run("Q43dot", func(b *testing.B) {
		for b.Loop() {
			_ = Dot(q, q)
		}
	})
	b.Run("Q43products", func(b *testing.B) {
		for b.Loop() {
			s := Q43(0)
			for _, v := range q {
				s += Product(v, v)
			}
			_ = s
		}
	})
}
