package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// A loop is a function of the package, in a form that all functions share. What it writes
// must have the same bits on all tiers. It returns a sum of terms, or, if terms is nil, a
// number that must have the same bits on all tiers.
type loop[T cpu.Float] struct {
	name  string
	run   func(dst, x, y []T, a T) T
	terms func(x, y, a float64) float64
}

// addsToDst reports whether the loop reads what is in dst.
func (l loop[T]) addsToDst() bool {
	return slices.Contains([]string{"Axpy", "AddAffine", "AddAffineProduct", "AddSign", "AddConstant", "Rectify", "Rectify with a 0", "AddMax", "AddMin", "AddGreater", "AddClip", "AddWithin", "AddWhere"}, l.name)
}

// writesX reports whether the loop also writes its operand x.
func (l loop[T]) writesX() bool {
	return l.name == "AffineMax" || l.name == "ExpSubAdd" || l.name == "Direction"
}

func loops[T cpu.Float]() []loop[T] {
	nothing := func(f func(dst, x, y []T, a T)) func(dst, x, y []T, a T) T {
		return func(dst, x, y []T, a T) T { f(dst, x, y, a); return 0 }
	}
	return []loop[T]{
		{"Dot", func(_, x, y []T, _ T) T { return Dot(x, y) }, func(x, y, _ float64) float64 { return x * y }},
		{"Sum", func(_, x, _ []T, _ T) T { return Sum(x) }, func(x, _, _ float64) float64 { return x }},
		{"SumSquares", func(_, x, _ []T, _ T) T { return SumSquares(x) }, func(x, _, _ float64) float64 { return x * x }},
		{"SumAbs", func(_, x, _ []T, _ T) T { return SumAbs(x) }, func(x, _, _ float64) float64 { return x }},
		{"DotSign", func(_, x, y []T, _ T) T { return DotSign(x, y) }, func(_, y, _ float64) float64 { return y }},
		{"SumExp", func(_, x, _ []T, a T) T { return SumExp(x, a) }, func(x, _, a float64) float64 { return math.Exp(x - a) }},
		{"ExpShiftSum", func(dst, x, _ []T, a T) T { return ExpShiftSum(dst, x, a) }, func(x, _, a float64) float64 { return math.Exp(x - a) }},
		{"CenterSquares", func(dst, x, _ []T, a T) T { return CenterSquares(dst, x, a) }, func(x, _, a float64) float64 { return (x - a) * (x - a) }},
		{"Huber", func(dst, x, y []T, a T) T { return Huber(dst, x, y, T(math.Abs(float64(a)))) }, func(x, y, a float64) float64 {
			return math.Min(math.Abs(x-y), math.Abs(a)) * math.Abs(x-y)
		}},
		{"AddAffine", nothing(func(dst, x, _ []T, a T) { AddAffine(dst, a, x, a) }), nil},
		{"AddAffineProduct", nothing(func(dst, x, y []T, a T) { AddAffineProduct(dst, a, x, y, -a, y) }), nil},
		{"Max", func(_, x, _ []T, _ T) T { return Max(x) }, nil},
		{"MaxAbs", func(_, x, _ []T, _ T) T { return MaxAbs(x) }, nil},
		{"Axpy", nothing(func(dst, x, _ []T, a T) { Axpy(a, x, dst) }), nil},
		{"AddSign", nothing(func(dst, x, _ []T, a T) { AddSign(dst, a, x) }), nil},
		{"AddConstant", nothing(func(dst, _, _ []T, a T) { AddConstant(dst, a) }), nil},
		{"AxpyTo", nothing(func(dst, x, y []T, a T) { AxpyTo(dst, a, x, y) }), nil},
		{"AddTo", nothing(func(dst, x, y []T, _ T) { AddTo(dst, x, y) }), nil},
		{"Hypot", nothing(func(dst, x, y []T, _ T) { Hypot(dst, x, y) }), nil},
		{"Direction", nothing(func(dst, x, y []T, _ T) { Direction(dst, x, x, y) }), nil},
		{"MulTo", nothing(func(dst, x, y []T, _ T) { MulTo(dst, x, y) }), nil},
		{"DivTo", nothing(func(dst, x, y []T, _ T) { DivTo(dst, x, y) }), nil},
		{"MaxTo", nothing(func(dst, x, y []T, _ T) { MaxTo(dst, x, y) }), nil},
		{"Rectify", nothing(func(dst, x, y []T, a T) { Rectify(dst, a, -a, x, y) }), nil},
		{"Rectify with a 0", nothing(func(dst, x, y []T, a T) { Rectify(dst, a, 0, x, y) }), nil},
		{"AddMax", nothing(func(dst, x, y []T, a T) { AddMax(dst, signOf(a), x, y) }), nil},
		{"AddMin", nothing(func(dst, x, y []T, a T) { AddMin(dst, signOf(a), x, y) }), nil},
		{"AddGreater", nothing(func(dst, x, y []T, a T) { AddGreater(dst, signOf(a), x, y, y) }), nil},
		{"AddClip", nothing(func(dst, x, _ []T, a T) { AddClip(dst, signOf(a), -0.5, a, x) }), nil},
		{"AddWithin", nothing(func(dst, x, y []T, a T) { AddWithin(dst, signOf(a), -0.5, a, x, y) }), nil},
		{"AddWhere", nothing(func(dst, x, y []T, a T) { AddWhere(dst, signOf(a), y, x, y) }), nil},
		{"ScaleTo", nothing(func(dst, x, _ []T, a T) { ScaleTo(dst, a, x) }), nil},
		{"AffineMax", nothing(func(dst, x, _ []T, a T) { AffineMax(x, dst, a, 0.3) }), nil},
		{"ExpSubAdd", nothing(func(dst, x, y []T, _ T) { ExpSubAdd(x, y, dst) }), nil},
		{"Exp", nothing(func(dst, x, _ []T, _ T) { Exp(dst, x) }), nil},
		{"ExpSubTo", nothing(func(dst, x, y []T, _ T) { ExpSubTo(dst, x, y) }), nil},
		{"Log", nothing(func(dst, x, _ []T, _ T) { Log(dst, x) }), nil},
	}
}

// check compares a loop on the current tier with the generic tier. dst is the content of the
// destination before the call.
func (l loop[T]) check(t *testing.T, dst, x, y []T, a T) {
	t.Helper()
	x0, y0 := slices.Clone(x), slices.Clone(y)
	want := slices.Clone(dst)
	var wantReturned T
	simdtest.OnTier(&tier, cpu.Generic, func() { wantReturned = l.run(want, x0, y0, a) })
	got := l.run(dst, x, y, a)
	for i := range want {
		if !simdtest.Same(dst[i], want[i]) {
			t.Fatalf("%s of %d %T: dst[%d] = %v, want %v (x = %v, y = %v, a = %v)",
				l.name, len(x), a, i, dst[i], want[i], x0[i], y0[i], a)
		}
	}
	simdtest.SameSlice(t, l.name+": x", x, x0)
	simdtest.SameSlice(t, l.name+": y", y, y0)
	if simdtest.Same(got, wantReturned) {
		return
	}
	bound := 0.
	if w := float64(wantReturned); l.terms != nil && !math.IsInf(w, 0) && !math.IsNaN(w) {
		for i := range x0 {
			bound += math.Abs(l.terms(float64(x0[i]), float64(y0[i]), float64(a)))
		}
		bound *= 2 * float64(len(x)+1) * simdtest.Unit[T]()
	}
	if !(math.Abs(float64(got)-float64(wantReturned)) <= bound) {
		t.Fatalf("%s of %d %T returned %v, want %v within %v", l.name, len(x), a, got, wantReturned, bound)
	}
}

// hostile are elements at which code breaks.
var hostile = []float64{
	0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 0x1p-1022, 0x1p-1023,
	math.MaxFloat64, -math.MaxFloat64, math.MaxFloat32, 0x1p-126, 0x1p-127, 1e-45, 88.72284, 88.8, -103.97, -104, -87.4,
	709.78, 709.79, -708.4, -745.1, -745.2, 1e300, -1e300, math.Sqrt2, math.Sqrt2 / 2,
}

func TestLoops(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testLoops[float64](t)
		testLoops[float32](t)
	})
}

func testLoops[T cpu.Float](t *testing.T) {
	const guard = 37
	rnd := rand.New(rand.NewPCG(7, 8))
	sizes := []int{2*cpu.Chunk + 5}
	if long.Tests() {
		sizes = append(sizes, cpu.Chunk-1, cpu.Chunk+1)
	}
	for n := 0; n < 3*64+20; n += long.Or(1, 7) { // three steps of the widest loop, and tails
		sizes = append(sizes, n)
	}
	for _, l := range loops[T]() {
		for _, n := range sizes {
			for _, special := range []bool{false, true} {
				if special && n > cpu.Chunk && !long.Tests() {
					continue
				}
				off := rnd.IntN(8)
				mem := simdtest.Normal[T](n+off+2*guard, uint64(n))
				x := simdtest.Normal[T](n+off, uint64(n+1))[off:]
				y := simdtest.Normal[T](n+off, uint64(n+2))[off:]
				if special {
					for range (n + 4) / 5 {
						v, w := hostile[rnd.IntN(len(hostile))], hostile[rnd.IntN(len(hostile))]
						if l.terms != nil && (overflows(v) || overflows(w)) {
							continue // it depends on the order whether the sum overflows
						}
						x[rnd.IntN(n)], y[rnd.IntN(n)] = T(v), T(w)
					}
				}
				around := slices.Clone(mem)
				x0, y0 := slices.Clone(x), slices.Clone(y)
				first := guard + off
				l.check(t, mem[first:first+n:first+n], x, y, T(rnd.NormFloat64()))
				simdtest.SameSlice(t, l.name+": before dst", mem[:first], around[:first])
				simdtest.SameSlice(t, l.name+": after dst", mem[first+n:], around[first+n:])
				if !l.writesX() {
					simdtest.SameSlice(t, l.name+": x", x, x0)
				}
				simdtest.SameSlice(t, l.name+": y", y, y0)
			}
		}
	}
}

// overflows reports whether a sum of x, of its square or of its exponential may overflow.
func overflows(x float64) bool { return math.Abs(x) > 80 && !math.IsInf(x, 0) }

// TestAliasing checks that results are the same if dst is x or y.
func TestAliasing(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testAliasing[float64](t)
		testAliasing[float32](t)
	})
}

func testAliasing[T cpu.Float](t *testing.T) {
	for _, l := range loops[T]() {
		if l.addsToDst() || l.writesX() {
			continue
		}
		for _, n := range []int{1, 7, 64, 150} {
			x, y, dst := simdtest.Normal[T](n, 1), simdtest.Normal[T](n, 2), make([]T, n)
			l.run(dst, x, y, 0.7)
			inX, inY := slices.Clone(x), slices.Clone(y)
			l.run(inX, inX, y, 0.7)
			l.run(inY, x, inY, 0.7)
			if strings.HasPrefix(l.name, "Max") && l.name != "MaxTo" || l.terms != nil && !slices.Contains([]string{"ExpShiftSum", "CenterSquares", "Huber"}, l.name) {
				dst = x
				copy(inY, x)
			}
			simdtest.SameSlice(t, l.name+": dst is x", inX, dst)
			simdtest.SameSlice(t, l.name+": dst is y", inY, dst)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		x, y, dst := simdtest.Normal[float64](100, 1), simdtest.Normal[float64](100, 2), make([]float64, 100)
		for _, l := range loops[float64]() {
			if n := testing.AllocsPerRun(10, func() { l.run(dst, x, y, 1) }); n != 0 {
				t.Errorf("%s allocates %v times", l.name, n)
			}
		}
		onStack := testing.AllocsPerRun(10, func() {
			var a, b [16]float64
			Exp(a[:], b[:])
			SubColumn(4, a[:], 4, b[:], 4, a[:2])
			CenterScale(a[:], 4, b[:], 4, a[:2], b[:4])
			if Dot(a[:], b[:]) != 0 {
				t.Fail()
			}
		})
		if onStack != 0 {
			t.Errorf("operands on the stack are moved to the heap: %v allocations", onStack)
		}
	})
}

// TestExpLogSameBits checks that all tiers give the same bits over the whole range.
func TestExpLogSameBits(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testSameBits[float64](t)
		testSameBits[float32](t)
	})
}

func testSameBits[T cpu.Float](t *testing.T) {
	n := 10 * sampleCount()
	x := samples[T](rand.New(rand.NewPCG(9, 10)), n, [][2]float64{{-750, 720}, {-110, 100}, {-1, 1}, {0, 3}, {0, 1e-307}, {-746, -708}}, hostile...)
	want, got := make([]T, len(x)), make([]T, len(x))
	for _, f := range []func(dst, x []T){Exp[T], Log[T]} {
		simdtest.OnTier(&tier, cpu.Generic, func() { f(want, x) })
		f(got, x)
		for i := range x {
			if !simdtest.Same(got[i], want[i]) {
				t.Fatalf("at %v: %v, generic tier %v", x[i], got[i], want[i])
			}
		}
	}
}

func TestMax(t *testing.T) {
	negZero := math.Copysign(0, -1)
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, test := range []struct {
			x    []float64
			want float64
		}{
			{nil, math.Inf(-1)},
			{[]float64{-3}, -3},
			{[]float64{negZero, negZero}, negZero},
			{[]float64{negZero, 0}, 0},
			{[]float64{0, negZero}, 0},
			{[]float64{math.NaN(), 1}, math.NaN()},
			{[]float64{1, math.NaN()}, math.NaN()},
			{[]float64{math.NaN(), math.Inf(1)}, math.NaN()},
			{[]float64{math.Inf(-1), math.Inf(-1)}, math.Inf(-1)},
		} {
			if got := Max(test.x); !simdtest.Same(got, test.want) {
				t.Errorf("Max(%v) = %v, want %v", test.x, got, test.want)
			}
			want := 0.
			for _, v := range test.x {
				want = max(want, math.Abs(v))
			}
			if got := MaxAbs(test.x); !simdtest.Same(got, want) {
				t.Errorf("MaxAbs(%v) = %v, want %v", test.x, got, want)
			}
		}
		// A NaN, the maximum or a zero with another sign in each place.
		for n := 1; n < 150; n++ {
			x := make([]float64, n)
			for i := range x {
				x[i] = negZero
			}
			if got := Max(x); !simdtest.Same(got, negZero) {
				t.Fatalf("Max of %d times -0 is %v", n, got)
			}
			for i := range x {
				x[i] = 0
				if got := Max(x); !simdtest.Same(got, 0) {
					t.Fatalf("Max of %d times -0, but +0 at %d, is %v", n, i, got)
				}
				x[i] = negZero
			}
			narrow := make([]float32, n)
			for i := range x {
				x[i], narrow[i] = -2, -2
			}
			for i := range x {
				for _, v := range []float64{math.NaN(), -1} {
					x[i] = v
					if got := Max(x); !simdtest.Same(got, v) {
						t.Fatalf("Max of %d with %v at %d is %v", n, v, i, got)
					}
					if v == -1 {
						v = -3
						x[i] = v
					}
					narrow[i] = float32(v)
					if first := Smaller(narrow, 2.5); first != i {
						t.Fatalf("of %d with %v at %d the first that is not smaller is %d", n, v, i, first)
					}
					if got, first := MaxAbs(x), Smaller(x, 2.5); !simdtest.Same(got, math.Abs(v)) || first != i {
						t.Fatalf("MaxAbs of %d with %v at %d is %v, the first that is not smaller %d", n, v, i, got, first)
					}
				}
				x[i], narrow[i] = -2, -2
			}
		}
	})
}

// TestExpShiftSumFloat32 checks that float32 exponentials are summed in float64.
func TestExpShiftSumFloat32(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		x := make([]float32, 1<<18)
		for i := range x {
			x[i] = -20
		}
		x[0] = 0
		want := 1 + float64(len(x)-1)*math.Exp(-20)
		for _, got := range []float32{SumExp(x, 0), ExpShiftSum(x, x, 0)} {
			if got != float32(want) {
				t.Errorf("sum of exponentials is %v, want %v", got, float32(want))
			}
		}
	})
}

func TestSubColumn(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testSubColumn[float64](t)
		testSubColumn[float32](t)
	})
}

func testSubColumn[T cpu.Float](t *testing.T) {
	for _, d := range []int{0, 1, 2, 5} {
		for _, n := range []int{0, 1, 3, 8, 17, 70, 150, cpu.Chunk + 3} {
			for _, gap := range []int{0, 4} {
				ldx, ldd := max(1, n)+gap, max(1, n)+2*gap
				x, c := simdtest.Normal[T](d*ldx, 1), simdtest.Normal[T](d, 2)
				dst := simdtest.Normal[T](d*ldd, 3)
				want := slices.Clone(dst)
				for i := range d {
					for p := range n {
						want[i*ldd+p] = x[i*ldx+p] - c[i]
					}
				}
				SubColumn(n, dst, ldd, x, ldx, c)
				simdtest.SameSlice(t, fmt.Sprintf("SubColumn %d×%d", d, n), dst, want)

				want = slices.Clone(x)
				for i := range d {
					for p := range n {
						want[i*ldx+p] -= c[i]
					}
				}
				SubColumn(n, x, ldx, x, ldx, c)
				simdtest.SameSlice(t, fmt.Sprintf("SubColumn %d×%d in place", d, n), x, want)

				s := simdtest.Normal[T](n, 4)
				want = slices.Clone(dst)
				for i := range d {
					for p := range n {
						want[i*ldd+p] = (x[i*ldx+p] - c[i]) * s[p]
					}
				}
				CenterScale(dst, ldd, x, ldx, c, s)
				simdtest.SameSlice(t, fmt.Sprintf("CenterScale %d×%d", d, n), dst, want)
			}
		}
	}
	// There are more rows than one call takes. The last row may be shorter than ld.
	const rows, n, ld = cpu.Chunk/3 + 2, 3, 5
	x, c := simdtest.Normal[T]((rows-1)*ld+n, 1), simdtest.Normal[T](rows, 2)
	want := slices.Clone(x)
	for i := range rows {
		for p := range n {
			want[i*ld+p] -= c[i]
		}
	}
	SubColumn(n, x, ld, x, ld, c)
	simdtest.SameSlice(t, "SubColumn of many rows", x, want)
}

func TestPanics(t *testing.T) {
	three, four := make([]float64, 3), make([]float64, 4)
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, test := range []struct {
			name, want string
			f          func()
		}{
			{"Dot", badLength, func() { Dot(three, four) }},
			{"DotSign", badLength, func() { DotSign(three, four) }},
			{"AddSign", badLength, func() { AddSign(three, 1, four) }},
			{"Axpy", badLength, func() { Axpy(1, three, four) }},
			{"AxpyTo", badLength, func() { AxpyTo(three, 1, three, four) }},
			{"AxpyTo", badLength, func() { AxpyTo(three, 1, four, three) }},
			{"AddTo", badLength, func() { AddTo(three, three, four) }},
			{"AddTo", badLength, func() { AddTo(three, four, three) }},
			{"Hypot", badLength, func() { Hypot(three, three, four) }},
			{"Direction", badLength, func() { Direction(three, four, three, three) }},
			{"MulTo", badLength, func() { MulTo(three, three, four) }},
			{"MulTo", badLength, func() { MulTo(three, four, three) }},
			{"DivTo", badLength, func() { DivTo(three, three, four) }},
			{"Rectify", badLength, func() { Rectify(three, 1, 0, three, four) }},
			{"Rectify", badLength, func() { Rectify(three, 1, 0, four, three) }},
			{"Sigmoid", badLength, func() { Sigmoid(three, three, four) }},
			{"GELU", badLength, func() { GELU(three, four, three) }},
			{"MaxTo", badLength, func() { MaxTo(three, three, four) }},
			{"MaxTo", badLength, func() { MaxTo(three, four, three) }},
			{"ScaleTo", badLength, func() { ScaleTo(four, 1, three) }},
			{"Exp", badLength, func() { Exp(four, three) }},
			{"ExpSubTo", badLength, func() { ExpSubTo(three, three, four) }},
			{"ExpSubTo", badLength, func() { ExpSubTo(three, four, three) }},
			{"ExpShiftSum", badLength, func() { ExpShiftSum(four, three, 0) }},
			{"Log", badLength, func() { Log(four, three) }},
			{"AffineMax", badLength, func() { AffineMax(four, three, 1, 1) }},
			{"ExpSubAdd", badLength, func() { ExpSubAdd(three, four, three) }},
			{"SinCos", badLength, func() { SinCos(three, four, three) }},
			{"SinCos", badLength, func() { SinCos(three, three, four) }},
			{"ExpSubAdd", badLength, func() { ExpSubAdd(three, three, four) }},
			{"CenterScale", badLdDst, func() { CenterScale(four, 1, four, 2, four[:2], four[:2]) }},
			{"CenterScale", shortX, func() { CenterScale(four, 2, three, 2, four[:2], four[:2]) }},
			{"MaxRows", badLdX, func() { MaxRows(2, four, 1, three[:2]) }},
			{"MaxRows", shortX, func() { MaxRows(2, three, 2, four[:2]) }},
			{"AxpyRows", shortDst, func() { AxpyRows(2, three, 2, four, 2, four[:2]) }},
			{"ExpRows", badLength, func() { ExpRows(2, four, 2, four, 2, three[:2], three) }},
			{"AddSquares", badLength, func() { AddSquares(four[:2], four, 2, three[:2], three) }},
			{"AddSquares", shortX, func() { AddSquares(four[:2], three, 2, four[:2], four[:2]) }},
			{"AddMoments", badLength, func() { AddMoments(four[:2], four, 2, three[:2], three[:2], three) }},
			{"AddMoments", shortX, func() { AddMoments(four[:2], three, 2, four[:2], four[:2], four[:2]) }},
			{"SubColumn", badN, func() { SubColumn(-1, four, 2, four, 2, four[:2]) }},
			{"SubColumn", badLdDst, func() { SubColumn(2, four, 1, four, 2, four[:2]) }},
			{"SubColumn", badLdX, func() { SubColumn(2, four, 2, four, -2, four[:2]) }},
			{"SubColumn", shortDst, func() { SubColumn(2, three, 2, four, 2, four[:2]) }},
			{"SubColumn", shortX, func() { SubColumn(2, four, 2, three, 2, four[:2]) }},
			{"SubColumn", shortX, func() { SubColumn(2, four, 2, four, math.MaxInt/2, four[:2]) }},
			{"SubColumn", shortDst, func() { SubColumn(4, three, 4, four, 4, four[:1]) }},
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

func TestPeak(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		x := simdtest.Normal[float32](10, 1)
		if got := ReadAll(x); got != 40 {
			t.Errorf("ReadAll of 10 float32: %d bytes", got)
		}
		y := make([]float64, 10)
		if got := Triad(y, simdtest.Normal[float64](10, 1), 2, simdtest.Normal[float64](10, 2)); got != 240 {
			t.Errorf("Triad of 10 float64: %d bytes", got)
		}
	})
}

// DotFar has the bits of Dot, at all lengths and addresses.
func TestDotFar(t *testing.T) {
	t.Run("float64", testDotFar[float64])
	t.Run("float32", testDotFar[float32])
}

func testDotFar[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x, y := make([]T, 2*cpu.Chunk), make([]T, 2*cpu.Chunk)
	for i := range x {
		x[i], y[i] = T(rnd.NormFloat64()), T(rnd.NormFloat64())
	}
	for _, n := range []int{0, 1, 63, 64, 65, 96, 128, 192, 4096, cpu.Chunk, cpu.Chunk + 64} {
		for at := range 9 {
			if got, want := DotFar(x[at:][:n], y[2*at:][:n]), Dot(x[at:][:n], y[2*at:][:n]); got != want {
				t.Errorf("%d elements from %d on: %v, want %v", n, at, got, want)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for other lengths")
		}
	}()
	DotFar(x[:64], y[:65])
}
