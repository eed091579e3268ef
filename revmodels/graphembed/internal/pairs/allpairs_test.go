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

// withAllPairs runs test on the tier that has code for AllPairs.
func withAllPairs(t *testing.T, test func()) {
	t.Helper()
	if cpu.Best() < cpu.AVX512 {
		t.Skip("no AVX-512")
	}
	simdtest.OnTier(&tier, cpu.AVX512, test)
}

func TestAllPairs(t *testing.T) {
	withAllPairs(t, func() {
		testAllPairs[float64](t)
		testAllPairs[float32](t)
	})
}

// randomPairs returns operands with points apart from each other, a third of the
// pairs near, and NaN where nothing should be looked at.
func randomPairs[T cpu.Float](dim, n, rows, from, gap int) *AllPairs[T] {
	bytes := (n + 15) / 16 * 2
	a := &AllPairs[T]{
		Dim: dim, N: n, From: from, Ld: max(1, n+gap), C: simdtest.Normal[T](rows*dim, 1),
		Near: make([]byte, rows*(bytes+gap)), LdNear: bytes + gap,
	}
	a.X = simdtest.Normal[T](dim*a.Ld, 2)
	for i := range a.X {
		if i%a.Ld >= n {
			a.X[i] = T(math.NaN())
		}
	}
	rnd := rand.New(rand.NewPCG(3, uint64(n)))
	for i := range a.Near {
		a.Near[i] = byte(rnd.Uint32() & rnd.Uint32())
	}
	return a
}

func testAllPairs[T cpu.Float](t *testing.T) {
	for dim := 1; dim <= mostDim; dim++ {
		for _, n := range []int{0, 1, 2, 7, 8, 9, 16, 17, 33, 70} {
			for _, from := range []int{-99, -8, -3, 0, 1, 7, 8, 20} {
				a := randomPairs[T](dim, n, 6, from, n%3)
				if n > 2 { // a point at a column: their distance is 0
					for i := range dim {
						a.X[i*a.Ld+n-1] = a.C[i]
					}
				}
				checkAllPairs(t, fmt.Sprintf("dim=%d n=%d from=%d", dim, n, from), a)
			}
		}
	}
	// As many that no call of assembly takes them all.
	checkAllPairs(t, "many columns", randomPairs[T](2, cpu.Chunk+77, 4, 5, 0))
	checkAllPairs(t, "many rows", randomPairs[T](2, cpu.Chunk/8+3, 20, -1, 1))
}

// checkAllPairs compares the loops with those in Go below. Rounding of a distance is
// up to dim+4 units, of a sum a unit for each term.
func checkAllPairs[T cpu.Float](t *testing.T, name string, a *AllPairs[T]) {
	t.Helper()
	origin, add, mul := [2]T{1, 1.5}, [2]T{2, -3}, [2]T{-1, 0.5}
	rows := len(a.C) / a.Dim
	dst, own := simdtest.Normal[T](len(a.X), 4), simdtest.Normal[T](len(a.C), 5)
	before, wantDst, wantOwn := slices.Clone(dst), slices.Clone(dst), slices.Clone(own)

	// The sums of what terms are made of bound the sum of their roundings.
	var sumSize, squareSize [2]float64
	dstSize, ownSize := make([]float64, len(dst)), make([]float64, len(own))
	pairs := 0
	a.slowEach(func(q, p, kind int, d T) {
		pairs++
		size := float64(d + origin[kind])
		sumSize[kind] += size
		squareSize[kind] += size * size
		for i := range a.Dim {
			diff := math.Abs(float64(a.X[i*a.Ld+p] - a.C[q*a.Dim+i]))
			f := (math.Abs(float64(add[kind])) + math.Abs(float64(mul[kind]/d))) * diff
			dstSize[i*a.Ld+p] += f
			ownSize[q*a.Dim+i] += f
		}
	})
	near := func(what string, got, want T, size float64, terms int) {
		t.Helper()
		if !(math.Abs(float64(got-want)) <= 2*float64(terms+a.Dim+8)*simdtest.Unit[T]()*size) {
			t.Fatalf("%s: %s is %v, want %v", name, what, got, want)
		}
	}
	sums, squares := a.Moments(origin)
	wantSums, wantSquares := a.slowMoments(origin)
	for k := range sums {
		near("sum", sums[k], wantSums[k], sumSize[k], pairs)
		near("sum of squares", squares[k], wantSquares[k], squareSize[k], pairs)
	}
	a.AddForces(add, mul, dst, own)
	a.slowAddForces(add, mul, wantDst, wantOwn)
	for i := range dst {
		if i%a.Ld >= a.N && dst[i] != before[i] {
			t.Fatalf("%s: element %d of dst, between rows, has changed", name, i)
		}
		near(fmt.Sprint("dst ", i), dst[i], wantDst[i], math.Abs(float64(before[i]))+dstSize[i], rows)
	}
	for i := range own {
		near(fmt.Sprint("own ", i), own[i], wantOwn[i], 5+ownSize[i], a.N)
	}
}

// A distance is right over the whole range. It is at least the number that 0 counts as,
// and as accurate among many as alone.
func TestAllPairsDistances(t *testing.T) {
	withAllPairs(t, func() {
		testAllPairsDistances[float64](t, -500, 500)
		testAllPairsDistances[float32](t, -60, 60)
	})
}

func testAllPairsDistances[T cpu.Float](t *testing.T, least, most int) {
	for dim := 1; dim <= mostDim; dim++ {
		for e := least; e <= most; e += 20 {
			a := randomPairs[T](dim, 1, 2, 0, 0) // row 1 has no pair
			a.Near[0] = 0
			var want float64
			for i := range dim {
				a.X[i] = T(math.Ldexp(float64(a.X[i]), e))
				a.C[i] = T(math.Ldexp(float64(a.C[i]), e))
				want = math.Hypot(want, float64(a.X[i]-a.C[i]))
			}
			tol := float64(dim+4) * simdtest.Unit[T]()
			sums, _ := a.Moments([2]T{})
			if d := float64(sums[0]); !(math.Abs(d-want) <= tol*want) || sums[1] != 0 {
				t.Fatalf("dim=%d: distances %v, want %v", dim, sums, want)
			}
			dst, own := make([]T, dim), make([]T, 2*dim)
			a.AddForces([2]T{}, [2]T{1, 0}, dst, own)
			for i := range dst {
				unitVector := float64(a.X[i]-a.C[i]) / want
				if math.Abs(float64(dst[i])-unitVector) > 2*tol || dst[i] != own[i] {
					t.Fatalf("dim=%d: element %d of a unit vector is %v and %v, want %v", dim, i, dst[i], own[i], unitVector)
				}
			}
		}
		a := randomPairs[T](dim, 3, 4, -4, 1)
		for i := range a.X {
			a.X[i] = 7
		}
		for i := range a.C {
			a.C[i] = 7
		}
		clear(a.Near)
		sums, squares := a.Moments([2]T{})
		if d := float64(sums[0]); d != 12*math.Sqrt(tiny[T]()) || squares[0] != T(12*tiny[T]()) {
			t.Errorf("dim=%d: coincident points have moments %v and %v", dim, sums, squares)
		}
		dst, own := make([]T, len(a.X)), make([]T, len(a.C))
		a.AddForces([2]T{1, 1}, [2]T{1, 1}, dst, own)
		simdtest.SameSlice(t, "dst", dst, make([]T, len(dst)))
		simdtest.SameSlice(t, "own", own, make([]T, len(own)))
	}
}

// Numbers that are not finite show in their pairs, and in no others.
func TestAllPairsNaN(t *testing.T) {
	withAllPairs(t, func() {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for column := range 40 {
				const dim, rows, from = 3, 6, 9
				a := randomPairs[float64](dim, 40, rows, from, 0)
				a.X[a.Ld+column] = bad
				clear(a.Near)
				sums, _ := a.Moments([2]float64{})
				if finite := sums[0]-sums[0] == 0; finite != (column < from) || sums[1] != 0 {
					t.Fatalf("%v in column %d: sums %v", bad, column, sums)
				}
				dst, own := make([]float64, len(a.X)), make([]float64, len(a.C))
				a.AddForces([2]float64{1, 1}, [2]float64{1, 1}, dst, own)
				for i, v := range dst {
					if want := i == a.Ld+column && column >= from; want == (v-v == 0) && (want || i%a.Ld != column) {
						t.Fatalf("%v in column %d: element %d of dst is %v", bad, column, i, v)
					}
				}
				for i, v := range own {
					if want := i%dim == 1 && column >= from+i/dim; want && v-v == 0 || column < from+i/dim && v-v != 0 {
						t.Fatalf("%v in column %d: element %d of own is %v", bad, column, i, v)
					}
				}
			}
		}
	})
}

func TestAllPairsPanics(t *testing.T) {
	x := make([]float64, 40)
	bits := make([]byte, 8)
	good := AllPairs[float64]{Dim: 2, N: 3, X: x, Ld: 3, C: x[:8], Near: bits, LdNear: 2}
	for name, test := range map[string]struct {
		want string
		f    func(a *AllPairs[float64])
	}{
		"no coordinates":    {badDim, func(a *AllPairs[float64]) { a.Dim = 0; a.Moments([2]float64{}) }},
		"odd rows":          {badLength, func(a *AllPairs[float64]) { a.C = x[:6]; a.Moments([2]float64{}) }},
		"negative columns":  {badLdX, func(a *AllPairs[float64]) { a.N = -1; a.Moments([2]float64{}) }},
		"stride":            {badLdX, func(a *AllPairs[float64]) { a.Ld = 2; a.Moments([2]float64{}) }},
		"short x":           {shortX, func(a *AllPairs[float64]) { a.X = x[:5]; a.Moments([2]float64{}) }},
		"short near":        {shortKinds, func(a *AllPairs[float64]) { a.Near = bits[:7]; a.Moments([2]float64{}) }},
		"short row of near": {shortKinds, func(a *AllPairs[float64]) { a.Near, a.LdNear = bits[:1], 0; a.Moments([2]float64{}) }},
		"negative stride":   {shortKinds, func(a *AllPairs[float64]) { a.LdNear = -1; a.Moments([2]float64{}) }},
		"own":               {badLength, func(a *AllPairs[float64]) { a.AddForces([2]float64{}, [2]float64{}, x, x[:7]) }},
		"short dst":         {shortDst, func(a *AllPairs[float64]) { a.AddForces([2]float64{}, [2]float64{}, x[:5], x[:8]) }},
	} {
		t.Run(name, func(t *testing.T) {
			withAllPairs(t, func() {
				defer func() {
					if got := recover(); got != test.want {
						t.Errorf("panic %v, want %q", got, test.want)
					}
				}()
				a := good
				test.f(&a)
			})
		})
	}
}

// slowEach runs f for each pair, with its distance and kind.
func (a *AllPairs[T]) slowEach(f func(q, p, kind int, d T)) {
	least := math.Sqrt(tiny[T]())
	for q := range len(a.C) / a.Dim {
		for p := max(0, a.From+q); p < a.N; p++ {
			var s T
			for i, c := range a.C[q*a.Dim:][:a.Dim] {
				d := a.X[i*a.Ld+p] - c
				s += T(d * d)
			}
			f(q, p, int(a.Near[q*a.LdNear+p/8]>>(p%8)&1), T(max(least, math.Sqrt(float64(s)))))
		}
	}
}

// tiny is the least value of the square of a distance.
func tiny[T cpu.Float]() float64 {
	if cpu.Is64[T]() {
		return 0x1p-1020
	}
	return 0x1p-124
}

func (a *AllPairs[T]) slowMoments(origin [2]T) (sums, squares [2]T) {
	a.slowEach(func(_, _, kind int, d T) {
		e := d - origin[kind]
		sums[kind] += e
		squares[kind] += T(e * e)
	})
	return sums, squares
}

func (a *AllPairs[T]) slowAddForces(add, mul [2]T, dst, own []T) {
	a.slowEach(func(q, p, kind int, d T) {
		w := add[kind] + mul[kind]/d
		for i := range a.Dim {
			f := T(w * (a.X[i*a.Ld+p] - a.C[q*a.Dim+i]))
			dst[i*a.Ld+p] += f
			own[q*a.Dim+i] += f
		}
	})
}
