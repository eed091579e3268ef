package fixedpoint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// testVectors compares the loops over n elements with fixed.
func testVectors(t *testing.T, rnd *rand.Rand, n int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	x, y, z := draw(rnd, n, from), draw(rnd, n, from), draw(rnd, n+3, from)
	if got, want := Dot(x, y), fixed.Dot(x, y); got != want {
		t.Fatalf("n=%d: Dot is %d, want %d", n, int64(got), int64(want))
	}
	var sum, wantSum fixed.Accumulator
	sum.Add(1)
	wantSum.Add(1)
	AddDot(&sum, x, y)
	wantSum.AddDot(x, y)
	if got, want := sum.Round(), wantSum.Round(); got != want {
		t.Fatalf("n=%d: AddDot gives %d, want %d", n, int64(got), int64(want))
	}
	var squares fixed.Accumulator
	squares.AddDot(x, x)
	if got := SumSquares(x); got != squares {
		t.Fatalf("n=%d: SumSquares is %v, want %v", n, got, squares)
	}
	for _, sign := range []int{1, -1} {
		for name, f := range map[string]struct {
			run func(z []fixed.Q43)
			add func(i int) fixed.Q43
		}{
			"Axpy":        {func(z []fixed.Q43) { Axpy(sign, z[n:][0], x, z[:n]) }, func(i int) fixed.Q43 { return z[n].Mul(x[i]) }},
			"AddProducts": {func(z []fixed.Q43) { AddProducts(sign, x, y, z[:n]) }, func(i int) fixed.Q43 { return x[i].Mul(y[i]) }},
		} {
			got := slices.Clone(z)
			f.run(got)
			for i, v := range z {
				want := v
				if i < n {
					want += fixed.Q43(sign) * f.add(i)
				}
				if got[i] != want {
					t.Fatalf("%s, n=%d, sign %d: element %d is %d, want %d", name, n, sign, i, int64(got[i]), int64(want))
				}
			}
		}
	}
}

// testRowSums compares AddRowSums with sums of an Accumulator.
func testRowSums[I Index](t *testing.T, rnd *rand.Rand, n, entries int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	const rows = 5
	ldu := n + rnd.IntN(3)
	sign, alpha := 2*rnd.IntN(2)-1, from(rnd)
	if rnd.IntN(2) == 0 {
		alpha = fixed.One
	}
	a, u, out, ind := draw(rnd, entries, from), draw(rnd, rows*ldu, from), draw(rnd, n+1, from), make([]I, entries)
	for q := range ind {
		ind[q] = I(rnd.IntN(rows))
	}
	got := slices.Clone(out)
	AddRowSums(sign, alpha, a, ind, u, ldu, got[:n], make([]fixed.Accumulator, n))
	for c := range n {
		var s fixed.Accumulator
		for q, x := range a {
			s.AddMul(x, u[int(ind[q])*ldu+c])
		}
		out[c] += fixed.Q43(sign) * alpha.Mul(s.Round())
	}
	if !slices.Equal(got, out) {
		t.Fatalf("%d entries of %d columns: sums are %d, want %d", entries, n, got, out)
	}
	v, dots := draw(rnd, n, from), draw(rnd, entries, from)
	want := slices.Clone(dots)
	AddRowDots(alpha, v, ind, u, ldu, dots)
	for q, i := range ind {
		want[q] += alpha.Mul(fixed.Dot(v, u[int(i)*ldu:][:n]))
	}
	if !slices.Equal(dots, want) {
		t.Fatalf("%d entries of %d columns: dots are %d, want %d", entries, n, dots, want)
	}
}

// testSegmentDots compares SegmentDots with sums of segments, some of which are empty, one by one.
func testSegmentDots[I Index](t *testing.T, rnd *rand.Rand, n int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	a, u := draw(rnd, n, from), draw(rnd, n, from)
	ptr := []I{I(rnd.IntN(100))}
	for end := ptr[0] + I(n); ptr[len(ptr)-1] < end; {
		ptr = append(ptr, min(end, ptr[len(ptr)-1]+I(rnd.IntN(2*n/3+2))))
	}
	got := make([]fixed.Q43, len(ptr)-1)
	SegmentDots(ptr, a, u, got)
	for s, v := range got {
		lo, hi := ptr[s]-ptr[0], ptr[s+1]-ptr[0]
		if want := fixed.Dot(a[lo:hi], u[lo:hi]); v != want {
			t.Fatalf("segment %d of %v: %d, want %d", s, ptr, v, want)
		}
	}
}

// TestWrongIndices: an index out of range panics, in whichever place it is, and sums of rows stay as they were.
func TestWrongIndices(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		const n, entries, rows = 9, 7, 3
		a, v, u := make([]fixed.Q43, entries), make([]fixed.Q43, n), make([]fixed.Q43, 2*rows*n)[:rows*n-1]
		for _, wrong := range []int{-1, rows - 1, rows, 1 << 30, -1 << 31} { // the last row lacks an element
			for at := range entries {
				ind := make([]int32, entries)
				ind[at] = int32(wrong)
				sums, dots := slices.Repeat([]fixed.Q43{5}, n), slices.Repeat([]fixed.Q43{5}, entries)
				for name, f := range map[string]func(){
					"AddRowSums": func() { AddRowSums(1, fixed.One, a, ind, u, n, sums, make([]fixed.Accumulator, n)) },
					"AddRowDots": func() { AddRowDots(fixed.One, v, ind, u, n, dots) },
				} {
					if !panics(f) {
						t.Errorf("%s takes index %d in place %d of %d rows", name, wrong, at, rows)
					}
				}
				if slices.Min(sums) != 5 {
					t.Errorf("index %d changes sums to %d", wrong, sums)
				}
			}
		}
	})
}

func panics(f func()) (caught bool) {
	defer func() { caught = recover() != nil }()
	f()
	return false
}

// testShears compares Shears with the plain loop, and its inverse with where it began.
func testShears(t *testing.T, rnd *rand.Rand, n int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	a, b := draw(rnd, n, from), draw(rnd, n, from)
	angle, tan := fixed.Q43(rnd.Int64N(int64(fixed.One)+1)), fixed.Q43(rnd.Int64N(int64(fixed.One)+1))
	switch rnd.IntN(8) {
	case 0:
		angle = fixed.One
	case 1:
		tan = 0
	case 2:
		tan = -tan
	case 3:
		angle, tan = max(from(rnd), -fixed.Max), max(from(rnd), -fixed.Max)
	case 4, 5:
		angle, tan = -angle, -tan
	}
	negate := rnd.IntN(2) == 0
	a1, b1, a2, b2 := slices.Clone(a), slices.Clone(b), slices.Clone(a), slices.Clone(b)
	genericShears(tan, angle, false, negate, a1, b1)
	Shears(tan, angle, negate, a2, b2)
	if !slices.Equal(a1, a2) || !slices.Equal(b1, b2) {
		t.Fatalf("n=%d: Shears with %d and %d differs", n, int64(tan), int64(angle))
	}
	Unshear(tan, angle, negate, a2, b2)
	if !slices.Equal(a, a2) || !slices.Equal(b, b2) {
		t.Fatalf("n=%d: Unshear with %d and %d does not restore", n, int64(tan), int64(angle))
	}
}

// testChain compares ShearChain with Shears, and its inverse with where it began.
func testChain(t *testing.T, rnd *rand.Rand, columns, steps int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	ldx := columns + rnd.IntN(3)
	x := draw(rnd, (steps+2)*ldx, from)
	tan, sin, negate := make([]fixed.Q43, steps), make([]fixed.Q43, steps), make([]bool, steps)
	for i := range tan {
		tan[i], sin[i], negate[i] = fixed.Q43(rnd.Int64N(int64(fixed.One))), fixed.Q43(rnd.Int64N(int64(fixed.One))), rnd.IntN(2) == 0
		switch rnd.IntN(8) {
		case 0:
			tan[i], sin[i] = 0, 0
		case 1, 2, 3:
			tan[i], sin[i] = -tan[i], -sin[i]
		case 4:
			tan[i], sin[i] = -tan[i], 0
		}
		if rnd.IntN(200) == 0 {
			tan[i], sin[i] = fixed.One, fixed.One
		}
	}
	got, want := slices.Clone(x), slices.Clone(x)
	for i := range tan {
		row := (steps - i) * ldx
		genericShears(tan[i], sin[i], false, negate[i], want[row:][:columns], want[row+ldx:][:columns])
	}
	ShearChain(tan, sin, negate, got, ldx, steps, columns)
	if !slices.Equal(got, want) {
		t.Fatalf("%d columns, %d steps: ShearChain differs", columns, steps)
	}
	UnshearChain(tan, sin, negate, got, ldx, steps, columns)
	if !slices.Equal(got, x) {
		t.Fatalf("%d columns, %d steps: UnshearChain does not restore", columns, steps)
	}
}

// TestCrossManyColumns sums products whose low words add up to more than a word holds.
func TestCrossManyColumns(t *testing.T) {
	const n = 1<<21 + 64
	x, g := make([]fixed.Q43, 2*n), make([]fixed.Q43, 2*n)
	for i := range n {
		x[i], g[n+i] = -1, 1
	}
	want := fixed.Dot(x[:n], g[n:]) - fixed.Dot(x[n:], g[:n])
	got := make([]fixed.Q43, 1)
	UnshearChainCross([]fixed.Q43{5}, []fixed.Q43{7}, []bool{false}, x, n, g, n, 0, n, got)
	if got[0] != want {
		t.Errorf("the sum over %d columns is %d units, want %d", n, got[0], want)
	}
}

// testCross compares UnshearChainCross with UnshearChain and sums of an Accumulator.
func testCross(t *testing.T, rnd *rand.Rand, columns, steps int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	ldx, ldg := columns+rnd.IntN(3), columns+rnd.IntN(3)
	x, g := draw(rnd, (steps+2)*ldx, from), draw(rnd, (steps+2)*ldg, from)
	tan, sin, negate := make([]fixed.Q43, steps), make([]fixed.Q43, steps), make([]bool, steps)
	for i := range tan {
		tan[i], sin[i], negate[i] = fixed.Q43(rnd.Int64N(int64(fixed.One)+1)), fixed.Q43(rnd.Int64N(int64(fixed.One)+1)), rnd.IntN(2) == 0
		switch rnd.IntN(8) {
		case 0:
			tan[i], sin[i] = 0, 0
		case 1, 2, 3:
			tan[i], sin[i] = -tan[i], -sin[i]
		case 4:
			tan[i], sin[i] = -fixed.One, -fixed.One
		}
	}
	gotX, gotG, got, want := slices.Clone(x), slices.Clone(g), make([]fixed.Q43, steps), make([]fixed.Q43, steps)
	for i := steps - 1; i >= 0; i-- {
		a, b := x[(steps-i)*ldx:][:columns], x[(steps-i+1)*ldx:][:columns]
		ga, gb := g[(steps-i)*ldg:][:columns], g[(steps-i+1)*ldg:][:columns]
		want[i] = fixed.Dot(a, gb) - fixed.Dot(b, ga)
		genericShears(-tan[i], -sin[i], negate[i], false, a, b)
		genericShears(-tan[i], -sin[i], negate[i], false, ga, gb)
	}
	UnshearChainCross(tan, sin, negate, gotX, ldx, gotG, ldg, steps, columns, got)
	if !slices.Equal(gotX, x) || !slices.Equal(gotG, g) || !slices.Equal(got, want) {
		t.Fatalf("%d columns, %d steps: UnshearChainCross differs", columns, steps)
	}
}

func TestVectors(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		for _, number := range numbers {
			t.Run(number.name, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(5, 6))
				for n := range 70 {
					testVectors(t, rnd, n, number.draw)
					testShears(t, rnd, n, number.draw)
					testChain(t, rnd, n, rnd.IntN(6), number.draw)
					testCross(t, rnd, n, rnd.IntN(6), number.draw)
					testRowSums[int](t, rnd, n, rnd.IntN(20), number.draw)
					testRowSums[int32](t, rnd, n, rnd.IntN(20), number.draw)
					testSegmentDots[int](t, rnd, n, number.draw)
					testSegmentDots[int32](t, rnd, n, number.draw)
				}
				testSegmentDots[int32](t, rnd, 3<<10, number.draw)
				testSegmentDots[int](t, rnd, cpu.Chunk+1, number.draw)
				testRowSums[int32](t, rnd, 17, 1<<12, number.draw)
				testRowSums[int32](t, rnd, 1<<10, 3, number.draw)
				testRowSums[int32](t, rnd, 1<<10+1, 3, number.draw)
				testRowSums[int](t, rnd, 9, 1<<12+1, number.draw)
				testCross(t, rnd, 300, 150, number.draw)
				for _, n := range []int{cpu.Chunk, 2*cpu.Chunk + 7} {
					testVectors(t, rnd, n, number.draw)
				}
			})
		}
		most := 1 << 17
		if long.Tests() {
			most = 1e8
		}
		rnd := rand.New(rand.NewPCG(7, 8))
		for products := 0; products < most; {
			n := rnd.IntN(1 << 12)
			testVectors(t, rnd, n, numbers[rnd.IntN(3)].draw)
			testShears(t, rnd, n, numbers[rnd.IntN(3)].draw)
			testChain(t, rnd, rnd.IntN(100), rnd.IntN(10), numbers[rnd.IntN(3)].draw)
			testRowSums[int](t, rnd, 1+rnd.IntN(40), n/10, numbers[rnd.IntN(3)].draw)
			testCross(t, rnd, rnd.IntN(100), rnd.IntN(10), numbers[rnd.IntN(3)].draw)
			products += 13 * n
		}
	})
}

// A tie is rounded to even, whatever its sign and the sum it is in.
func TestTies(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		for q := fixed.Q43(-9); q < 9; q++ {
			x, y, z := make([]fixed.Q43, 17), make([]fixed.Q43, 17), make([]fixed.Q43, 17)
			for i := range x {
				x[i], y[i] = q, fixed.One/2
			}
			AddProducts(1, x, y, z)
			Axpy(-1, fixed.One/2, x, z)
			for i, v := range z {
				if v != 0 {
					t.Errorf("element %d: the product of %d ULP and 1/2 is not the same", i, int64(q))
				}
			}
			AddProducts(1, x, y, z)
			even := q >> 1
			if q&1 != 0 && even&1 != 0 {
				even++
			}
			if z[3] != even {
				t.Errorf("%d ULP times 1/2 is %d ULP, want %d", int64(q), int64(z[3]), int64(even))
			}
		}
	})
}

func TestVectorsPanic(t *testing.T) {
	x, y := make([]fixed.Q43, 3), make([]fixed.Q43, 4)
	for _, f := range []func(){
		func() { Dot(x, y) }, func() { AddRowSums(1, 1, y[:1], []int{1}, y, 2, x, nil) }, func() { AddRowSums(1, 1, y[:1], []int32{-1}, y, 1, x, nil) },
		func() { AddRowDots(1, x, []int{1}, y, 2, y) }, func() { AddRowDots(1, x, []int32{-1}, y, 1, y) }, func() { AddRowDots(1, x, []int{0, 0}, y, 1, y[:1:1]) },
		func() { AddProductsTo(1, y, y, x, y) },
		func() { TriNorms(true, 2, y, x, 2, x, y, 2, fixed.Accumulator{}, x[:2], make([]fixed.Q43, 32)) }, func() { TriNorms(true, 2, x, y, 2, x, y, 2, fixed.Accumulator{}, x[:2], make([]fixed.Q43, 32)) },
		func() { make(TriSums, 8).TriDots(true, 2, 2, y, 2, y, 2, x, make([]fixed.Q43, TriScratch(2))) }, func() { make(TriSums, 16).TriDots(true, 2, 2, x, 2, y, 2, x, make([]fixed.Q43, TriScratch(2))) },
		func() { WeighRows(x, y, 2, x[:2]) }, func() { AxpyChecked(1, 1, x, y) }, func() { AddProductsChecked(1, x, y, y) }, func() { AddProductsChecked(1, y, x, y) }, func() { ExactDot(x, y) },
		func() { UnshearChainCross(x, x, []bool{true}, y, 1, y, 1, 2, 1, x) }, func() { UnshearChainCross(x, x, make([]bool, 3), y, 1, x, 1, 2, 1, x) }, func() { Axpy(1, 1, x, y) }, func() { AddProducts(1, x, y, y) }, func() { AddProducts(1, y, x, y) }, func() { Shears(0, 0, false, x, y) },
	} {
		if !simdtest.Panics(f) {
			t.Error("no panic")
		}
	}
}

func BenchmarkVectors(b *testing.B) {
	for _, n := range []int{64, 1000, 1 << 20} {
		rnd := rand.New(rand.NewPCG(1, 2))
		x, y, z := draw(rnd, n, numbers[1].draw), draw(rnd, n, numbers[1].draw), draw(rnd, n, numbers[1].draw)
		for _, f := range []struct {
			name  string
			bytes int
			run   func()
		}{
			{"Dot", 16, func() { Dot(x, y) }},
			{"SumSquares", 8, func() { SumSquares(x) }},
			{"Axpy", 24, func() { Axpy(1, z[0], x, y) }},
			{"Shears", 32, func() { Shears(fixed.One/3, fixed.One/2, false, x, y) }},
			{"AddProducts", 32, func() { AddProducts(1, x, y, z) }},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", f.name, n), func(b *testing.B) {
				ns := simdtest.LeastTime(b.Loop, f.run)
				b.ReportMetric(float64(n)/ns, "GMAC/s")
				b.ReportMetric(float64(f.bytes*n)/ns, "GB/s")
			})
		}
	}
}
