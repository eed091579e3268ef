package pairs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestPairs(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testPairs[float64](t)
		testPairs[float32](t)
	})
}

func testPairs[T cpu.Float](t *testing.T) {
	for _, rows := range []int{0, 1, 2, 5, 12} {
		for _, n := range []int{0, 1, 3, 4, 5, 8, 17, 33, 70, cpu.Chunk/4 + 3} {
			ld := max(1, n) + 5
			x, y := simdtest.Normal[T](rows*ld, 1), simdtest.Normal[T](rows*ld, 2)
			c, e, w := simdtest.Normal[T](4*rows, 3), simdtest.Normal[T](4*rows, 4), simdtest.Normal[T](4*ld, 5)
			if rows > 0 && n > 6 {
				for i := range rows {
					x[i*ld+2] = c[i] // distance 0
				}
				x[3], x[5], y[6] = T(math.Inf(1)), T(math.NaN()), T(math.Inf(-1))
				w[4] = T(math.NaN())
			}
			// near compares elements that are sums of rows terms of the given size.
			near := func(name string, got, want, size []T, terms int) {
				t.Helper()
				for p := range want {
					g, v := float64(got[p]), float64(want[p])
					if math.IsNaN(v) != math.IsNaN(g) || math.IsInf(v, 0) && g != v ||
						math.Abs(g-v) > 2*float64(terms+3)*simdtest.Unit[T]()*float64(size[p]) {
						t.Fatalf("%s %d×%d: element %d is %v, want %v", name, rows, n, p, g, v)
					}
				}
			}
			want, got := make([]T, n), simdtest.Normal[T](n, 6)
			genericDistances(false, want, x, ld, c[:rows])
			Distances(got, x, ld, c[:rows])
			near("Distances", got, want, want, rows)

			genericDistances(true, want, x, ld, c[:rows])
			InvDistances(got, x, ld, c[:rows])
			near("InvDistances", got, want, want, rows)

			genericDiffDots(want, x, ld, c[:rows], y, e[:rows])
			DiffDots(got, x, ld, c[:rows], y, e[:rows])
			size := make([]T, n)
			for p := range size {
				for i := range rows {
					size[p] += T(math.Abs(float64((x[i*ld+p] - c[i]) * (y[i*ld+p] - e[i]))))
				}
			}
			near("DiffDots", got, want, size, rows)

			dst, sums := simdtest.Normal[T](rows*ld, 7), simdtest.Normal[T](4*rows, 8)
			before, wantDst, wantSums := slices.Clone(dst), slices.Clone(dst), slices.Clone(sums)
			genericAddDiffs(n, wantDst, x, ld, c, w, ld, wantSums)
			AddDiffs(n, dst, x, ld, c, w, ld, sums)
			dstSize, sumsSize := make([]T, len(dst)), make([]T, len(sums))
			for i := range dst {
				dstSize[i] = T(math.Abs(float64(before[i])))
				if i%ld >= n && dst[i] != before[i] {
					t.Fatalf("AddDiffs %d×%d: element %d of dst, between rows, has changed", rows, n, i)
				}
			}
			for i := range sums {
				sumsSize[i] = 1
				q, row := i/rows, i%rows
				for p := range n {
					d := T(math.Abs(float64(w[q*ld+p] * (x[row*ld+p] - c[i]))))
					dstSize[row*ld+p] += d
					sumsSize[i] += d
				}
			}
			near("AddDiffs dst", dst, wantDst, dstSize, 4)
			near("AddDiffs sums", sums, wantSums, sumsSize, n)
		}
	}
	// A point at infinity has no weight outside of the loop's range.
	sums := make([]T, 4)
	inf := T(math.Inf(1))
	AddDiffs(5, make([]T, 5), []T{1, 2, 3, 4, 5}, 5, []T{inf, inf, inf, inf}, ones[T](20), 5, sums)
	for q, s := range sums {
		if !math.IsInf(float64(s), -1) {
			t.Errorf("sum %d of differences to infinity is %v", q, s)
		}
	}
}

func ones[T cpu.Float](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// Roots are right over the whole range, and at its ends.
func TestDistancesRange(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testRange[float64](t, -500, 500)
		testRange[float32](t, -60, 60)
	})
}

func testRange[T cpu.Float](t *testing.T, least, most int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x := make([]T, 1<<16)
	for i := range x {
		x[i] = T(math.Ldexp(1+rnd.Float64(), least+rnd.IntN(most-least)))
	}
	tiny := math.Ldexp(1, 2*least) // its square is no longer a number
	ends := []T{0, T(math.Copysign(0, -1)), T(math.Inf(1)), T(math.Inf(-1)), T(math.NaN()), T(tiny), 3, 5}
	copy(x, ends)
	d, r := make([]T, len(x)), make([]T, len(x))
	Distances(d, x, len(x), []T{0})
	InvDistances(r, x, len(x), []T{0})
	for i, v := range x[len(ends):] {
		i += len(ends)
		if math.Abs(float64(d[i]/v-1)) > 5*simdtest.Unit[T]() || math.Abs(float64(r[i]*v-1)) > 6*simdtest.Unit[T]() {
			t.Fatalf("distance %v, inverse %v, want those of %v", d[i], r[i], v)
		}
	}
	inf, nan := T(math.Inf(1)), T(math.NaN())
	simdtest.SameSlice(t, "Distances", d[:8], []T{0, 0, inf, inf, nan, 0, 3, 5})
	simdtest.SameSlice(t, "InvDistances", r[:6], []T{0, 0, 0, 0, nan, 0})
}

func TestKinds(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testKinds[float64](t)
		testKinds[float32](t)
	})
}

func testKinds[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	origin, add, mul := [2]T{0.5, -2}, [2]T{3, -5}, [2]T{0.25, 7}
	sizes := []int{cpu.Chunk, cpu.Chunk + 9, 2*cpu.Chunk + 21}
	for n := range 100 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, density := range []float64{0, 0.3, 1} {
			name := fmt.Sprintf("n=%d density %v", n, density)
			x := simdtest.Normal[T](n, uint64(n))
			var kinds Kinds
			for k := range kinds {
				kinds[k] = make([]byte, (n+15)/16*2)
			}
			for p := range 8 * len(kinds[0]) { // beyond n as well
				if rnd.Float64() < 0.9 {
					k := 0
					if rnd.Float64() < density {
						k = 1
					}
					kinds[k][p/8] |= 1 << (p % 8)
				}
			}
			near := func(loop string, sums, squares, wantSums, wantSquares [2]T) {
				t.Helper()
				for k := range sums {
					// Σ|e| ≤ √(n·Σe²)
					bound := 2 * float64(n+10) * simdtest.Unit[T]()
					size := float64(wantSquares[k])
					if math.Abs(float64(squares[k])-size) > bound*size ||
						math.Abs(float64(sums[k]-wantSums[k])) > bound*math.Sqrt(float64(n)*size) {
						t.Fatalf("%s %s: sums %v, squares %v, want %v and %v", loop, name, sums, squares, wantSums, wantSquares)
					}
				}
			}
			sums, squares := KindSums(x, kinds, origin)
			wantSums, wantSquares := genericKindSums(x, kinds, origin)
			near("KindSums", sums, squares, wantSums, wantSquares)

			rows, ld := 3, n+2
			y, c := simdtest.Normal[T](rows*ld, 5), simdtest.Normal[T](rows, 6)
			sums, squares = KindDistances(n, y, max(1, ld), c, kinds, origin)
			wantSums, wantSquares = genericKindDistances(n, y, max(1, ld), c, kinds, origin)
			near("KindDistances", sums, squares, wantSums, wantSquares)

			dst, want := make([]T, n), make([]T, n)
			KindAffine(dst, x, kinds, add, mul)
			genericKindAffine(want, x, kinds, add, mul)
			for p := range dst {
				if math.Abs(float64(dst[p]-want[p])) > 4*simdtest.Unit[T]()*(5+7*math.Abs(float64(x[p]))) {
					t.Fatalf("KindAffine %s: %d is %v, want %v", name, p, dst[p], want[p])
				}
			}
			InvDistances(x, y, max(1, ld), c)
			KindInvDistances(dst, y, max(1, ld), c, kinds, add, mul)
			KindAffine(want, x, kinds, add, mul)
			for p := range dst {
				if math.Abs(float64(dst[p]-want[p])) > 4*simdtest.Unit[T]()*(5+7*float64(x[p])) {
					t.Fatalf("KindInvDistances %s: %d is %v, want %v", name, p, dst[p], want[p])
				}
			}
		}
	}
	// A number that is not finite stays among its kind, and has no weight if it has no
	// kind.
	nan := T(math.NaN())
	for p := range 20 {
		x, kinds := make([]T, 20), Kinds{make([]byte, 4), make([]byte, 4)}
		x[p] = nan
		kinds[0][p/8] = ^byte(1 << (p % 8))
		sums, squares := KindSums(x, kinds, [2]T{})
		if sums != [2]T{} || squares != [2]T{} {
			t.Errorf("NaN at %d: sums %v, squares %v", p, sums, squares)
		}
		KindAffine(x, x, kinds, add, mul)
		if x[p] != 0 {
			t.Errorf("NaN at %d: %v", p, x[p])
		}
		clear(x)
		x[p] = nan
		kinds[1][p/8] |= 1 << (p % 8)
		sums, squares = KindSums(x, kinds, [2]T{})
		if sums[0] != 0 || squares[0] != 0 || !math.IsNaN(float64(sums[1])) || !math.IsNaN(float64(squares[1])) {
			t.Errorf("NaN at %d: sums %v, squares %v", p, sums, squares)
		}
	}
	// Without coordinates all distances are 0.
	kinds := Kinds{{1, 0}, {6, 0}}
	if sums, _ := KindDistances(3, nil, 3, []T{}, kinds, [2]T{1, 2}); sums != [2]T{-1, -4} {
		t.Errorf("sums %v of distances 0", sums)
	}
	dst := []T{9, 9, 9, 9}
	KindInvDistances(dst, nil, 4, nil, kinds, add, mul)
	simdtest.SameSlice(t, "KindInvDistances", dst, []T{3, -5, -5, 0})
}

func TestPairPanics(t *testing.T) {
	three, four := make([]float64, 3), make([]float64, 4)
	bits := make([]byte, 2)
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, test := range []struct {
			name, want string
			f          func()
		}{
			{"Distances", badLdX, func() { Distances(three, four, 2, four[:1]) }},
			{"Distances", shortX, func() { Distances(three, four, 3, four[:2]) }},
			{"Distances", shortX, func() { Distances(three, four, math.MaxInt/2, four[:2]) }},
			{"InvDistances", shortX, func() { InvDistances(three, four, 3, four[:2]) }},
			{"DiffDots", badLength, func() { DiffDots(four[:2], four, 2, four[:2], four, four[:1]) }},
			{"DiffDots", shortX, func() { DiffDots(four[:2], four, 2, four[:2], three, four[:2]) }},
			{"AddDiffs", badLdX, func() { AddDiffs(-1, four, four, 2, four, four, 1, four) }},
			{"AddDiffs", badLength, func() { AddDiffs(1, four, four, 1, three, four, 1, three) }},
			{"AddDiffs", badLength, func() { AddDiffs(1, four, four, 1, four, four, 1, three) }},
			{"AddDiffs", shortX, func() { AddDiffs(1, four, four, 1, four, three, 1, four) }},
			{"AddDiffs", shortDst, func() { AddDiffs(4, three, four, 4, four, make([]float64, 16), 4, four) }},
			{"KindSums", shortKinds, func() { KindSums(three, Kinds{bits, bits[:1]}, [2]float64{}) }},
			{"KindSums", shortKinds, func() { KindSums(make([]float64, 17), Kinds{bits, bits}, [2]float64{}) }},
			{"KindAffine", badLength, func() { KindAffine(three, four, Kinds{bits, bits}, [2]float64{}, [2]float64{}) }},
			{"KindAffine", shortKinds, func() { KindAffine(three, three, Kinds{nil, bits}, [2]float64{}, [2]float64{}) }},
			{"KindDistances", shortX, func() { KindDistances(3, four, 3, four[:2], Kinds{bits, bits}, [2]float64{}) }},
			{"KindDistances", shortKinds, func() { KindDistances(3, four, 3, four[:1], Kinds{}, [2]float64{}) }},
			{"KindInvDistances", shortX, func() { KindInvDistances(three, four, 3, four[:2], Kinds{bits, bits}, [2]float64{}, [2]float64{}) }},
			{"KindInvDistances", shortKinds, func() { KindInvDistances(three, four, 3, four[:1], Kinds{}, [2]float64{}, [2]float64{}) }},
		} {
			func() {
				defer func() {
					if got := recover(); got != test.want {
						t.Errorf("%s: panic %v, want %q", test.name, got, test.want)
					}
				}()
				test.f()
			}()
		}
	})
}
