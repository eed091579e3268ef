package num_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/num"
)

func TestVectors(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testVectors(t, 0x1p-52, (*rand.Rand).NormFloat64) })
	t.Run("float32", func(t *testing.T) {
		testVectors(t, 0x1p-23, func(r *rand.Rand) float32 { return float32(r.NormFloat64()) })
	})
	t.Run("Q43", func(t *testing.T) {
		testVectors(t, 0, func(r *rand.Rand) fixed.Q43 {
			if r.IntN(9) == 0 {
				return fixed.Min
			}
			return fixed.Q43(r.Uint64()) >> r.IntN(60)
		})
	})
}

// AddScaled and AddSigned have the bits of plain loops, and Dot is within its bound of one.
func testVectors[T rev.Real](t *testing.T, eps float64, random func(*rand.Rand) T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	vector := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = random(rnd)
		}
		return x
	}
	for n := range 40 {
		a, x, y, z := random(rnd), vector(n), vector(n), vector(n)
		for _, sign := range []T{1, -1} {
			want, got := slices.Clone(y), slices.Clone(y)
			for i := range want {
				want[i] += T(sign * fixed.Product(a, x[i]))
			}
			if num.AddSigned(got, sign, a, x); !slices.Equal(got, want) {
				t.Errorf("n = %d, sign %v: %v, want %v", n, sign, got, want)
			}
			copy(got, y)
			if num.AddScaled(got, a, x); sign == 1 && !slices.Equal(got, want) {
				t.Errorf("n = %d: %v, want %v", n, got, want)
			}
			copy(got, y)
			num.AddScaled(nil, a, x)
			if num.AddScaled(got, a, nil); !slices.Equal(got, y) {
				t.Errorf("n = %d: %v, want %v", n, got, y)
			}
		}
		var want fixed.Sum[T]
		bound := 0.0
		for i, v := range x {
			want = want.AddMul(v, z[i])
			bound += float64(float64(n) * eps * math.Abs(float64(v)*float64(z[i])))
		}
		if got := num.Dot(x, z).Round(); !(math.Abs(float64(got-want.Round())) <= bound) {
			t.Errorf("n = %d: %v, want %v within %v", n, got, want.Round(), bound)
		}
		if num.Dot(nil, z).Round() != 0 || num.Dot(x, nil).Round() != 0 {
			t.Errorf("n = %d: the product with nil is not 0", n)
		}
	}
}
