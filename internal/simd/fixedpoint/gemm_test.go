package fixedpoint

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// forEachTier runs a test on each tier that this machine has code for.
func forEachTier(t *testing.T, test func(t *testing.T)) {
	best := tier
	for at := cpu.Generic; at <= best; at++ {
		simdtest.OnTier(&tier, at, func() { t.Run(fmt.Sprint(at), test) })
	}
}

// numbers are ways to draw numbers: the ends of the ranges of limbs and of words of 32 bits, all bits, and those of
// one limb.
var numbers = []struct {
	name string
	draw func(rnd *rand.Rand) fixed.Q43
}{
	{"extremes", func(rnd *rand.Rand) fixed.Q43 {
		ends := []fixed.Q43{
			fixed.Min, fixed.Max, 1 << 62, -1 << 62, 0, 1, -1, fixed.One, -fixed.One,
			1<<51 - 1, 1 << 51, -1 << 51, -1<<51 - 1, 1<<52 - 1, -1 << 52, fixed.Max - 1<<51, fixed.Max - 1<<51 + 1,
			1<<38 - 1, 1 << 38, -1 << 38, -1<<38 - 1, 1 << 39, 1 << 40, 1<<40 - 1, fixed.Max - 1<<38, fixed.Max - 1<<38 + 1,
			1<<32 - 1, 1 << 32, 1<<31 - 1, 1 << 31, -1 << 31, -1<<31 - 1, 1<<32 - 1<<63, 1 - 1<<32, fixed.Max - 1<<32 + 1, fixed.One / 2, -fixed.One / 2,
		}
		return ends[rnd.IntN(len(ends))]
	}},
	{"all bits", func(rnd *rand.Rand) fixed.Q43 { return fixed.Q43(rnd.Uint64()) }},
	{"one limb", func(rnd *rand.Rand) fixed.Q43 { return fixed.Q43(rnd.Uint64()) >> 12 }},
	{"least", func(*rand.Rand) fixed.Q43 { return fixed.Min }},
	{"largest", func(*rand.Rand) fixed.Q43 { return fixed.Max }},
	{"least of one limb", func(*rand.Rand) fixed.Q43 { return -1 << 51 }},
	{"largest of one limb", func(*rand.Rand) fixed.Q43 { return 1<<51 - 1 }},
	{"halves", func(rnd *rand.Rand) fixed.Q43 {
		return fixed.Q43(2*rnd.IntN(3)-1) << (fixed.FracBits - 1) >> rnd.IntN(22)
	}},
}

func draw(rnd *rand.Rand, n int, from func(*rand.Rand) fixed.Q43) []fixed.Q43 {
	x := make([]fixed.Q43, n)
	for i := range x {
		x[i] = from(rnd)
	}
	return x
}

// testGemm compares a product with sums of an Accumulator, for operands stored by rows, by
// columns, and with gaps. It returns the number of multiply-adds.
func testGemm(t *testing.T, rnd *rand.Rand, m, n, k int, from func(*rand.Rand) fixed.Q43) int {
	t.Helper()
	strides := func(rows, cols int) (rs, cs, size int) {
		switch rnd.IntN(3) {
		case 0:
			rs, cs = cols+rnd.IntN(3), 1
		case 1:
			rs, cs = 1, rows+rnd.IntN(3)
		default:
			rs, cs = 2*cols+1, 2
		}
		return rs, cs, (rows-1)*rs + (cols-1)*cs + 1
	}
	rsa, csa, sizeA := strides(m, k)
	rsb, csb, sizeB := strides(k, n)
	ldc := n + rnd.IntN(3)
	a, b, c := draw(rnd, sizeA, from), draw(rnd, sizeB, from), draw(rnd, (m-1)*ldc+n, from)
	want := append([]fixed.Q43(nil), c...)
	sign := 2*rnd.IntN(2) - 1
	for i := range m {
		for j := range n {
			var s fixed.Accumulator
			for l := range k {
				s.AddMul(a[i*rsa+l*csa], b[l*rsb+j*csb])
			}
			want[i*ldc+j] += fixed.Q43(sign) * s.Round()
		}
	}
	Gemm(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc)
	for i, w := range want {
		if c[i] != w {
			t.Fatalf("%d×%d×%d, strides %d %d, %d %d, sign %d: element %d is %d, want %d", m, n, k, rsa, csa, rsb, csb, sign, i, int64(c[i]), int64(w))
		}
	}
	return m * n * k
}

func TestGemm(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		for _, number := range numbers {
			t.Run(number.name, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(1, 2))
				for m := 1; m <= 19; m++ {
					for _, n := range []int{1, 2, 7, 8, 9, 16, 21} {
						testGemm(t, rnd, m, n, 1+rnd.IntN(20), number.draw)
					}
				}
				for _, size := range [][3]int{
					{gemmRows + 9, 3, 5}, {40, 1, 300}, {40, 2, 300}, {callRows + 4, 8, 9}, {3, gemmCols + 11, 5}, {9, 10, gemmDepth}, {9, 10, gemmDepth + 1},
					{9, 10, gemmDepth / 2}, {9, 10, gemmDepth/2 + 1}, {4, 8, 3*gemmDepth - 1}, {gemmRows + 12, 17, gemmDepth + 2},
				} {
					testGemm(t, rnd, size[0], size[1], size[2], number.draw)
				}
			})
		}
		products, most := 0, 1<<19
		if long.Tests() {
			most = 1e8
		}
		rnd := rand.New(rand.NewPCG(3, 4))
		for products < most {
			from := numbers[rnd.IntN(3)].draw
			products += testGemm(t, rnd, 1+rnd.IntN(60), 1+rnd.IntN(60), 1+rnd.IntN(400), from)
		}
	})
}

func TestGemmPanics(t *testing.T) {
	x := make([]fixed.Q43, 4)
	for _, f := range []func(){
		func() { Gemm(2, 2, 2, 1, x[:3], 2, 1, x, 2, 1, x, 2) },
		func() { Gemm(2, 2, 2, 1, x, 2, 1, x[:3], 2, 1, x, 2) },
		func() { Gemm(2, 2, 2, 1, x, 2, 1, x, 2, 1, x[:3], 2) },
		func() { Gemm(2, 2, 2, 1, x, -2, 1, x, 2, 1, x, 2) },
	} {
		if !simdtest.Panics(f) {
			t.Error("no panic")
		}
	}
}

// BenchmarkGemm prints multiply-adds a second, and the fraction of what 52-bit multiply-adds
// of the processor would allow, measured in the same run: 6 for 8 products of two limbs, and 2
// for those of one.
func BenchmarkGemm(b *testing.B) {
	for _, limbs := range []int{1, 2} {
		for _, n := range []int{16, 64, 256, 1024} {
			b.Run(fmt.Sprintf("limbs=%d/n=%d", limbs, n), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(1, 2))
				from := numbers[3-limbs].draw
				x, y, z := draw(rnd, n*n, from), draw(rnd, n*n, from), make([]fixed.Q43, n*n)
				ns := simdtest.LeastTime(b.Loop, func() { Gemm(n, n, n, 1, x, n, 1, y, n, 1, z, n) })
				rate := float64(n*n*n) / ns
				b.ReportMetric(rate, "GMAC/s")
				if tier == cpu.AVX512 {
					b.ReportMetric(rate/bound(limbs), "of-bound")
				}
			})
		}
	}
}

// bound returns the products in a ns that the multiply-adds allow.
func bound(limbs int) float64 {
	const rounds = 1000
	turn := 0
	more := func() bool { turn++; return turn < 200 }
	return float64(PeakProducts(rounds, limbs)) / simdtest.LeastTime(more, func() { PeakProducts(rounds, limbs) })
}

func TestPeakProducts(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		for limbs, want := range map[int]int{1: 64, 2: 21} {
			if tier != cpu.AVX512 {
				want = 0
			}
			if got := PeakProducts(1, limbs); got != want {
				t.Errorf("%d products of %d limbs in a round, want %d", got, limbs, want)
			}
		}
	})
}
