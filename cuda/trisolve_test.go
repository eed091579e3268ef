package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// hostTriSolve is a stack of revlinalg.TriSolve, whose passes run on the device.
type hostTriSolve[T rev.Float] struct {
	X                   rev.General[T] `rev:"acc" shape:"rows,m"`
	A                   rev.General[T] `rev:"in" shape:"rows,rows/max(Count,1)"`
	B                   rev.General[T] `rev:"in" shape:"rows,m"`
	Upper, TransA, Unit bool
	Count               int
}

func (k hostTriSolve[T]) Run(p rev.Pass[hostTriSolve[T]]) error {
	if k.A.Rows%max(k.Count, 1) != 0 {
		panic(mat.ErrShape) // before the operands travel
	}
	return through[hostTriSolve[T], TriSolve[T]](testDevice, k, p)
}

// randomTriSolve has systems of n equations with m right-hand sides. The elements outside of the triangle
// are not numbers.
func randomTriSolve[T rev.Float](rnd *rand.Rand, n, m, count int, upper, trans, unit bool) hostTriSolve[T] {
	rows := n * max(count, 1)
	k := hostTriSolve[T]{X: general[T](rnd, rows, m), A: general[T](rnd, rows, n), B: general[T](rnd, rows, m), Upper: upper, TransA: trans, Unit: unit, Count: count}
	for r := range rows {
		i, row := r%n, k.A.Row(r)
		for j := range row {
			switch {
			case j == i && unit, j != i && (j > i) != upper:
				row[j] = T(math.NaN())
			case j == i:
				row[j] += T(math.Copysign(2, float64(row[j])))
			default:
				row[j] *= T(1 / math.Sqrt(float64(n)))
			}
		}
	}
	return k
}

// of returns the kernel of the CPU for a system.
func (k hostTriSolve[T]) of(b int) revlinalg.TriSolve[T] {
	of := func(a rev.General[T]) rev.General[T] { return matrixOf(a, k.Count, b) }
	return revlinalg.TriSolve[T]{X: of(k.X), A: of(k.A), B: of(k.B), Upper: k.Upper, TransA: k.TransA, Unit: k.Unit}
}

func TestTriSolve(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	t.Run("float64", triSolveOf[float64])
	t.Run("float32", triSolveOf[float32])
}

func triSolveOf[T rev.Float](t *testing.T) {
	for c := range 4 {
		count, upper, trans, unit := 2*(c&1), c&2 != 0, (c+1)&2 != 0, c == 3
		t.Run(fmt.Sprint(count, upper, trans, unit), func(t *testing.T) {
			spec := revtest.Spec[hostTriSolve[T]]{
				Sizes: []int{0, 1, 3}, RoundTrip: 4, Skip: noAllocs, Free: []string{"A.Rows"}, Masked: []string{"A"},
				New: func(rnd *rand.Rand, n int) hostTriSolve[T] {
					k := randomTriSolve[T](rnd, n, n+c%2, count, upper, trans, unit)
					for i, v := range k.A.Data {
						if math.IsNaN(float64(v)) {
							k.A.Data[i] = 3 // differences of values cannot change a NaN
						}
					}
					return k
				},
			}
			if !unit {
				spec.Failing = func(rnd *rand.Rand, n int) hostTriSolve[T] {
					k := randomTriSolve[T](rnd, n+1, 2, count, upper, trans, unit)
					k.A.Row(k.A.Rows - 1)[n] = 0
					return k
				}
			}
			revtest.Kernel(t, spec)
		})
	}
}

// TestTriSolveValues compares all passes with those of the CPU, a system after the other: in shared memory, in one part
// of the columns and in several, with right-hand sides of one block of threads and of several.
func TestTriSolveValues(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for i, s := range [][3]int{{1, 1, 0}, {16, 17, 3}, {33, 5, 0}, {65, 2, 2}, {32, 70, 1}, {32, 32, 2}, {20, 33, 2}, {97, 1, 0}, {3, 0, 2}, {0, 3, 0}} {
		for c := range 4 {
			t.Run(fmt.Sprint(s, c), func(t *testing.T) {
				compareTriSolve[float64](t, s[0], s[1], s[2], c&1 != 0, c&2 != 0, (i+c)%3 == 0)
				compareTriSolve[float32](t, s[0], s[1], s[2], c&1 != 0, c&2 != 0, (i+c)%3 == 0)
			})
		}
	}
}

func compareTriSolve[T rev.Float](t *testing.T, n, m, count int, upper, trans, unit bool) {
	compareStack(t, count, allPasses, func() (o [4]hostTriSolve[T]) {
		rnd := rand.New(rand.NewPCG(17, 18))
		for i := range o {
			o[i] = randomTriSolve[T](rnd, n, m, count, upper, trans, unit)
		}
		for _, ga := range []rev.General[T]{o[1].A, o[3].A} { // is added to
			for i := range ga.Data {
				ga.Data[i] = T(i)
			}
		}
		return o
	}, hostTriSolve[T].of, near[hostTriSolve[T]](t, 4500*epsilon[T]()*float64(n)))
}

// TestTriSolveHalves has more columns than a launch solves.
func TestTriSolveHalves(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	halveSystems(t)
	for c := range 4 {
		compareTriSolve[float64](t, 97, 2, c%2*2, c&1 != 0, c&2 != 0, c == 3)
		compareTriSolve[float32](t, 70, 33, 0, c&1 != 0, c&2 != 0, c == 0)
	}
}

// TestTriSolveExtremes divides numbers by those of a diagonal, with all exponents that there are, and an infinite one.
func TestTriSolveExtremes(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	triSolveExtremes[float64](t, 2100, -1074)
	triSolveExtremes[float32](t, 280, -149)
}

func triSolveExtremes[T rev.Float](t *testing.T, exponents, lowest int) {
	const n = 90
	k := hostTriSolve[T]{X: rev.NewGeneral(n, 2, make([]T, 2*n)), A: rev.NewGeneral(n, n, make([]T, n*n)), B: rev.NewGeneral(n, 2, make([]T, 2*n))}
	rnd := rand.New(rand.NewPCG(27, 28))
	for i := range n {
		v := math.Ldexp(1+rnd.Float64(), lowest+i*(exponents-4)/n)
		k.A.Row(i)[i] = T(v)
		k.B.Row(i)[0] = T(v * (1 + rnd.Float64()))
	}
	k.B.Row(n - 1)[1] = T(math.Inf(-1)) // which no other element is multiplied with
	if err := rev.Forward(k); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j, got := range k.X.Row(i) {
			want := k.B.Row(i)[j] / k.A.Row(i)[i]
			if got != want && !(math.Abs(float64(got-want)) <= 2*epsilon[T]()*math.Abs(float64(want))) {
				t.Errorf("%v/%v is %v, want %v", k.B.Row(i)[j], k.A.Row(i)[i], got, want)
			}
		}
	}
}

// TestTriSolveShared has gradients that share memory, which the threads of a system add to at two places.
func TestTriSolveShared(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	const n, count = 20, 2
	compareStack(t, count, []string{"Adjoint", "AdjointTangent"}, func() (o [4]hostTriSolve[float64]) {
		rnd := rand.New(rand.NewPCG(25, 26))
		for i := range o {
			o[i] = randomTriSolve[float64](rnd, n, n, count, true, false, false)
			for j, v := range o[i].A.Data {
				if math.IsNaN(v) {
					o[i].A.Data[j] = rnd.NormFloat64()
				}
			}
			o[i].B = o[i].A
		}
		return o
	}, hostTriSolve[float64].of, near[hostTriSolve[float64]](t, 1e-11))
}

func TestTriSolveNotFinite(t *testing.T) {
	compareNotFinite(t, func(x, a, b rev.General[float64]) hostTriSolve[float64] {
		return hostTriSolve[float64]{X: x, A: a, B: b}
	}, hostTriSolve[float64].of)
}

// TestTriSolveSingular has one singular matrix of several, which names the row, and nothing is written.
func TestTriSolveSingular(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, n := range []int{5, 40} {
		rnd := rand.New(rand.NewPCG(15, 16))
		k := randomTriSolve[float64](rnd, n, 4, 3, true, false, false)
		k.A.Row(n + 3)[3], k.A.Row(2*n + 2)[2] = 0, 0
		x := k.X.Data[0]
		err := rev.Forward(k)
		var singular *rev.SingularError
		if !errors.As(err, &singular) || singular.Index != n+3 || !math.IsInf(float64(singular.Condition), 1) {
			t.Errorf("error %v", err)
		}
		if k.X.Data[0] != x {
			t.Error("results are written")
		}
	}
}

// TestTriSolveQuotients solves systems of one equation, whose solutions are quotients: within an ulp, and nearly always
// rounded to nearest. Where the reciprocal is not precise, or the quotient not finite, they are those of a division.
func TestTriSolveQuotients(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", func(t *testing.T) { quotientsOf(t, 0x1p-1000, math.SmallestNonzeroFloat64, math.MaxFloat64) })
	t.Run("float32", func(t *testing.T) {
		quotientsOf[float32](t, 0x1p-100, math.SmallestNonzeroFloat32, math.MaxFloat32)
	})
}

// quotientsOf has divisors whose reciprocals are precise: magnitudes from least to 1/least.
func quotientsOf[T rev.Float](t *testing.T, least, tiny, huge T) {
	const m = 50 // more right-hand sides than systems in shared memory have
	rnd := rand.New(rand.NewPCG(31, 32))
	eps, inf := T(epsilon[T]()), T(math.Inf(1))
	divisors := []T{ // mantissas of ones, and of a one at the end, are the hardest
		1, -3, 2 - eps, 1 + eps, least, 1 / least, 3 * least, -0.75 / least,
		least * (1 - eps), 1 / least * (1 + eps), least / 1024 * 3, -768 / least, 3 * tiny, huge, -huge / 4 * 3,
	}
	for len(divisors) < 40 {
		divisors = append(divisors, T(rnd.NormFloat64()))
	}
	numbers := []T{0, 1, inf, -inf, huge, -huge, T(math.NaN())}
	for len(numbers) < m {
		numbers = append(numbers, T(1+rnd.Float64()))
	}
	n := len(divisors)
	h := hostTriSolve[T]{X: rev.NewGeneral(n, m, make([]T, n*m)), A: rev.NewGeneral(n, 1, divisors), B: rev.NewGeneral(n, m, slices.Repeat(numbers, n)), Count: n}
	if err := rev.Forward(h); err != nil {
		t.Fatal(err)
	}
	count, off := 0, 0
	for i, d := range divisors {
		for j, b := range numbers {
			got, want := h.X.Row(i)[j], b/d
			if got == want || math.IsNaN(float64(got)) && math.IsNaN(float64(want)) {
				continue
			}
			size := T(math.Abs(float64(d)))
			if size < least || size > 1/least || !(T(math.Abs(float64(got-want))) <= eps*T(math.Abs(float64(want)))) {
				t.Errorf("%v/%v is %v, want %v", b, d, got, want)
			}
			off++
		}
		count += m
	}
	if 200*off > count {
		t.Errorf("%d of %d quotients are not rounded to nearest", off, count)
	}
}
