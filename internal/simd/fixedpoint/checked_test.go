package fixedpoint

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/internal/simd/cpu"
)

// bigSum returns z + s or z - s with s = Σ x_i·y_i rounded to nearest even, by math/big.
func bigSum(z fixed.Q43, sign int, x, y []fixed.Q43) *big.Int {
	s := new(big.Int)
	for i, v := range x {
		s.Add(s, new(big.Int).Mul(big.NewInt(int64(v)), big.NewInt(int64(y[i]))))
	}
	unit := new(big.Int).Lsh(big.NewInt(1), fixed.FracBits)
	q, r := new(big.Int).DivMod(s, unit, new(big.Int)) // toward minus infinity
	if c := r.Lsh(r, 1).Cmp(unit); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	if sign < 0 {
		q.Neg(q)
	}
	return q.Add(q, big.NewInt(int64(z)))
}

// testChecked compares the checked loops over n elements with math/big.
func testChecked(t *testing.T, rnd *rand.Rand, n int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	x, y, z, alpha, sign := draw(rnd, n, from), draw(rnd, n, from), draw(rnd, n, from), from(rnd), 2*rnd.IntN(2)-1
	if rnd.IntN(2) == 0 && n > 0 { // one element alone may be out of range
		for i := range n {
			x[i], y[i], z[i] = x[i]>>30, y[i]>>30, z[i]>>1
		}
		alpha >>= 24
		at := rnd.IntN(n)
		x[at], y[at], z[at] = from(rnd), from(rnd), from(rnd)
	}
	check := func(what string, got []fixed.Q43, overflow int, value func(i int) *big.Int) {
		t.Helper()
		values, want := make([]*big.Int, n), -1
		for i := range n {
			values[i] = value(i)
			if want < 0 && !values[i].IsInt64() {
				want = i
			}
		}
		if overflow != want {
			t.Fatalf("%s of %d elements: element %d is the first out of range, want %d", what, n, overflow, want)
		}
		for i, v := range got {
			if overflow >= 0 && v != z[i] || overflow < 0 && int64(v) != values[i].Int64() {
				t.Fatalf("%s of %d elements, overflow at %d: element %d is %d", what, n, overflow, i, v)
			}
		}
	}
	got := slices.Clone(z)
	check("Axpy", got, AxpyChecked(sign, alpha, x, got), func(i int) *big.Int { return bigSum(z[i], sign, []fixed.Q43{alpha}, x[i:i+1]) })
	got = slices.Clone(z)
	check("AddProducts", got, AddProductsChecked(sign, x, y, got), func(i int) *big.Int { return bigSum(z[i], sign, x[i:i+1], y[i:i+1]) })
	for what, f := range map[string]func() (Exact, *big.Int){
		"Dot":        func() (Exact, *big.Int) { return ExactDot(x, y), bigSum(alpha, sign, x, y) },
		"SumSquares": func() (Exact, *big.Int) { return ExactSquares(x), bigSum(alpha, sign, x, x) },
	} {
		s, want := f()
		bias := from(rnd)
		want.Add(want, new(big.Int).Mul(big.NewInt(int64(sign)), big.NewInt(int64(bias)))) // after s is rounded
		if got, ok := s.AddTo(alpha, bias, sign); ok != want.IsInt64() || ok && int64(got) != want.Int64() {
			t.Fatalf("%s of %d elements: %d, in range %v, want %v", what, n, got, ok, want)
		}
	}
}

// testGemmChecked compares GemmChecked with math/big.
func testGemmChecked(t *testing.T, rnd *rand.Rand, m, n, k int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	a, b, c, sign := draw(rnd, m*k, from), draw(rnd, k*n, from), draw(rnd, m*n, from), 2*rnd.IntN(2)-1
	rsa, csa, rsb, csb := k, 1, n, 1
	if rnd.IntN(2) == 0 {
		rsa, csa = 1, m
	}
	if rnd.IntN(2) == 0 {
		rsb, csb = 1, k
	}
	if rnd.IntN(2) == 0 { // results a few units from an end
		for at := range c {
			var x, y []fixed.Q43
			for l := range k {
				x, y = append(x, a[at/n*rsa+l*csa]), append(y, b[l*rsb+at%n*csb])
			}
			end := []fixed.Q43{fixed.Max, fixed.Min}[rnd.IntN(2)]
			v := bigSum(end, -sign, x, y)
			v.Add(v, big.NewInt(int64(rnd.IntN(7)-3)))
			if v.IsInt64() {
				c[at] = fixed.Q43(v.Int64())
			}
		}
	}
	got, want := slices.Clone(c), slices.Clone(c)
	row, col := gemmChecked(m, n, k, sign, a, rsa, csa, b, rsb, csb, got, n)
	first := -1
	for at := range want {
		i, j := at/n, at%n
		var x, y []fixed.Q43
		for l := range k {
			x, y = append(x, a[i*rsa+l*csa]), append(y, b[l*rsb+j*csb])
		}
		v := bigSum(c[at], sign, x, y)
		if !v.IsInt64() {
			first = at
			break
		}
		want[at] = fixed.Q43(v.Int64())
	}
	if first >= 0 && (row != first/n || col != first%n) || first < 0 && (row != -1 || col != -1) {
		t.Fatalf("%d×%d×%d: element %d,%d is the first out of range, want number %d", m, n, k, row, col, first)
	}
	if first >= 0 {
		want = c
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d×%d×%d, overflow at number %d: the result is wrong", m, n, k, first)
	}
}

// gemmChecked is GemmFits. If it does not fit, it restores C and returns the first element that is out of range.
func gemmChecked(m, n, k, sign int, a []fixed.Q43, rsa, csa int, b []fixed.Q43, rsb, csb int, c []fixed.Q43, ldc int) (row, col int) {
	if GemmFits(m, n, k, sign, a, rsa, csa, b, rsb, csb, c, ldc) {
		return -1, -1
	}
	Gemm(m, n, k, -sign, a, rsa, csa, b, rsb, csb, c, ldc)
	return GemmOverflow(m, n, k, sign, a, rsa, csa, b, rsb, csb, nil, c, ldc)
}

func TestChecked(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(3, 31))
		for k, number := range numbers {
			for i, shift := range []int{0, 4, 20} {
				from := func(rnd *rand.Rand) fixed.Q43 { return number.draw(rnd) >> shift }
				for n := range 40 {
					if n%6 == i+3*(k%2) || long.Tests() {
						testChecked(t, rnd, n, from)
					}
				}
				for range long.Or(20, 3) {
					testGemmChecked(t, rnd, 1+rnd.IntN(9), 1+rnd.IntN(9), 1+rnd.IntN(20), from)
				}
			}
			if k%3 == 1 || long.Tests() {
				testChecked(t, rnd, 2*cpu.Chunk+9, number.draw)
			}
		}
	})
}

// An overflow in any lane is found, and the one before it first.
func TestCheckedLanes(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		for _, n := range []int{1, 7, 8, 9, 31, 40, cpu.Chunk + 20} {
			x, y := make([]fixed.Q43, n), make([]fixed.Q43, n)
			for i := range x {
				x[i] = fixed.One
			}
			for _, at := range []int{0, 1, 7, 8, 15, 16, n / 2, n - 2, n - 1} {
				if at < 0 || at >= n {
					continue
				}
				for sign, end := range map[int]fixed.Q43{1: fixed.Max, -1: fixed.Min} {
					clear(y)
					y[at], y[n-1] = end, end
					if got := AxpyChecked(sign, fixed.ULP, x, y); got != at {
						t.Errorf("n=%d: the first element out of range is %d, want %d", n, got, at)
					}
					if y[0] != 0 && at > 0 || y[n-1] != end {
						t.Errorf("n=%d: AxpyChecked does not restore", n)
					}
					y[at], y[n-1] = end-fixed.Q43(sign), end-fixed.Q43(sign)
					if got := AxpyChecked(sign, fixed.ULP, x, y); got != -1 || y[at] != end {
						t.Errorf("n=%d: element %d is %d, the first out of range %d", n, at, y[at], got)
					}
				}
			}
		}
	})
}

// Sums that wrap 128 bits on the way are seen.
func TestExactWide(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		x := slices.Repeat([]fixed.Q43{fixed.Min}, 1<<10)
		for s, sign := range map[Exact]int{ExactDot(x, x): 1, ExactSquares(x): -1} {
			if _, ok := s.AddTo(0, 0, sign); ok {
				t.Error("2¹³⁶ is in range")
			}
		}
	})
}

func BenchmarkChecked(b *testing.B) {
	const n, order = 1000, 256
	rnd := rand.New(rand.NewPCG(1, 2))
	small := func(n int) []fixed.Q43 {
		return draw(rnd, n, func(rnd *rand.Rand) fixed.Q43 { return fixed.FromFloat64(rnd.NormFloat64() / 1000) })
	}
	x, y, z, p, q, r := small(n), small(n), small(n), small(order*order), small(order*order), small(order*order)
	for _, f := range []struct {
		name           string
		plain, checked func()
	}{
		{"Axpy", func() { Axpy(1, 1<<33, x, y) }, func() { AxpyChecked(1, 1<<33, x, y) }},
		{"AddProducts", func() { AddProducts(1, x, y, z) }, func() { AddProductsChecked(1, x, y, z) }},
		{"Dot", func() { z[0] = Dot(x, y) }, func() { s := ExactDot(x, y); s.AddTo(0, 0, 1) }},
		{"SumSquares", func() { z[0] = SumSquares(x).Round() }, func() { s := ExactSquares(x); s.AddTo(0, 0, 1) }},
		{"Gemm/64", func() { Gemm(64, 64, 64, 1, p, 64, 1, q, 64, 1, r, 64) }, func() { GemmFits(64, 64, 64, 1, p, 64, 1, q, 64, 1, r, 64) }},
		{"Gemm/256", func() { Gemm(order, order, order, 1, p, order, 1, q, order, 1, r, order) }, func() { GemmFits(order, order, order, 1, p, order, 1, q, order, 1, r, order) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			plain, checked := math.Inf(1), math.Inf(1)
			for b.Loop() {
				plain, checked = min(plain, nsOf(f.plain)), min(checked, nsOf(f.checked))
			}
			b.ReportMetric(plain, "plain-ns")
			b.ReportMetric(checked, "checked-ns")
			b.ReportMetric(checked/plain, "ratio")
		})
	}
}

// nsOf returns the time of a call in ns.
func nsOf(f func()) float64 {
	const calls = 20
	start := time.Now()
	for range calls {
		f()
	}
	return float64(time.Since(start).Nanoseconds()) / calls
}

// An element alone is out of range, in products of several blocks whose sums are far out of range on the way.
func TestGemmFitsBlocks(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(8, 32))
		for _, shift := range []int{12, 0} { // numbers with one limb and two
			m, n, k := 3+rnd.IntN(15), 3+rnd.IntN(15), 2*gemmDepth+2*rnd.IntN(9)
			a, b, c := make([]fixed.Q43, m*k), make([]fixed.Q43, k*n), make([]fixed.Q43, m*n)
			for l := 0; l < k; l += 2 { // pairs of products nearly cancel
				for i := range m {
					u := fixed.Q43(rnd.Uint64()|1<<12) >> shift
					a[i*k+l], a[i*k+l+1] = u, -u
				}
				for j := range n {
					w := fixed.Q43(rnd.Uint64()) >> shift >> 1
					b[l*n+j], b[(l+1)*n+j] = w, w+fixed.Q43(rnd.IntN(1<<20))
				}
			}
			products := func(at int) (x, y []fixed.Q43) {
				for l := range k {
					x, y = append(x, a[at/n*k+l]), append(y, b[l*n+at%n])
				}
				return x, y
			}
			for sign, end := range map[int]fixed.Q43{1: fixed.Max, -1: fixed.Min} {
				for at := range c {
					x, y := products(at)
					v := bigSum(end, -sign, x, y)
					if !v.IsInt64() {
						v.SetInt64(0)
					}
					c[at] = fixed.Q43(v.Int64())
				}
				for range 5 {
					got := slices.Clone(c)
					if row, col := gemmChecked(m, n, k, sign, a, k, 1, b, n, 1, got, n); row != -1 || col != -1 {
						t.Fatalf("element %d,%d is said to be out of range", row, col)
					}
					at := rnd.IntN(m * n)
					if c[at] == 0 {
						continue
					}
					got = slices.Clone(c)
					step := fixed.Q43(1 - 2*int64(uint64(end)>>63))
					got[at] += step
					want := slices.Clone(got)
					if row, col := gemmChecked(m, n, k, sign, a, k, 1, b, n, 1, got, n); row != at/n || col != at%n {
						t.Fatalf("element %d,%d is the first out of range, want %d,%d", row, col, at/n, at%n)
					}
					if !slices.Equal(got, want) {
						t.Fatal("C is not restored")
					}
				}
			}
		}
	})
}
