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

// hostSolve is a stack of revlinalg.Solve, whose passes run on the device.
type hostSolve[T rev.Float] struct {
	X      rev.General[T] `rev:"acc" shape:"rows,m"`
	A      rev.General[T] `rev:"in" shape:"rows,rows/max(Count,1)"`
	B      rev.General[T] `rev:"in" shape:"rows,m"`
	TransA bool
	Count  int
}

func (k hostSolve[T]) Run(p rev.Pass[hostSolve[T]]) error {
	if k.A.Rows%max(k.Count, 1) != 0 {
		panic(mat.ErrShape) // before the operands travel
	}
	return through[hostSolve[T], Solve[T]](testDevice, k, p)
}

// randomSolve has systems of n equations with m right-hand sides, whose rows have to be exchanged: the large
// elements of a matrix stand on another diagonal.
func randomSolve[T rev.Float](rnd *rand.Rand, n, m, count int, trans bool) hostSolve[T] {
	rows := n * max(count, 1)
	k := hostSolve[T]{X: general[T](rnd, rows, m), A: general[T](rnd, rows, n), B: general[T](rnd, rows, m), TransA: trans, Count: count}
	for r := range rows {
		row := k.A.Row(r)
		for j := range row {
			row[j] *= T(0.5 / math.Sqrt(float64(n)))
		}
		row[(2*n-1-r%n+r/n)%n] += T(2 + r%3)
	}
	return k
}

func TestSolve(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	t.Run("float64", solveOf[float64])
	t.Run("float32", solveOf[float32])
}

func solveOf[T rev.Float](t *testing.T) {
	for _, count := range []int{0, 2} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[hostSolve[T]]{
				Sizes: []int{0, 1, 3}, RoundTrip: 4, Skip: noAllocs, Free: []string{"A.Rows"},
				New: func(rnd *rand.Rand, n int) hostSolve[T] { return randomSolve[T](rnd, n, n+1, count, count > 0) },
				Failing: func(rnd *rand.Rand, n int) hostSolve[T] {
					k := randomSolve[T](rnd, n+1, 2, count, count > 0)
					clear(k.A.Row(k.A.Rows - 1))
					return k
				},
			})
		})
	}
}

// TestSolveHalves has more columns than a launch solves.
func TestSolveHalves(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	halveSystems(t)
	compareSolve[float64](t, 140, 1, 0, true, allPasses...)
	compareSolve[float32](t, 70, 2, 2, false, allPasses...)
}

// TestSolveValues compares all passes with those of the CPU, a system after the other: in one panel and in
// several, with rows of one block and of several.
func TestSolveValues(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for i, s := range [][3]int{{1, 1, 0}, {7, 2, 3}, {16, 17, 3}, {33, 5, 0}, {65, 2, 2}, {32, 70, 1}, {32, 32, 2}, {20, 33, 2}, {140, 1, 0}, {3, 0, 2}, {0, 3, 0}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			compareSolve[float64](t, s[0], s[1], s[2], i%2 != 0, allPasses...)
			compareSolve[float32](t, s[0], s[1], s[2], i%2 == 0, allPasses...)
		})
	}
}

func compareSolve[T rev.Float](t *testing.T, n, m, count int, trans bool, passes ...string) {
	t.Helper()
	compareStack(t, count, passes, func() (o [4]hostSolve[T]) {
		rnd := rand.New(rand.NewPCG(21, 22))
		for i := range o {
			o[i] = randomSolve[T](rnd, n, m, count, trans)
		}
		return o
	}, hostSolve[T].of, near[hostSolve[T]](t, 400*epsilon[T]()*math.Sqrt(float64(n))))
}

// of returns the kernel of the CPU for a system.
func (k hostSolve[T]) of(b int) revlinalg.Solve[T] {
	return revlinalg.Solve[T]{X: matrixOf(k.X, k.count(), b), A: matrixOf(k.A, k.count(), b), B: matrixOf(k.B, k.count(), b), TransA: k.TransA}
}

func (k hostSolve[T]) count() int { return max(k.Count, 1) }

// nearByRows compares matrices whose rows may differ in magnitude.
func nearByRows(t *testing.T, what string, got, want rev.General[float64]) {
	t.Helper()
	for i := range want.Rows {
		scale := 0.0
		for _, w := range want.Row(i) {
			scale = max(scale, math.Abs(w))
		}
		for j, w := range want.Row(i) {
			if v := got.Row(i)[j]; !(math.Abs(v-w) <= 1e-12*scale) {
				t.Errorf("%s: element (%d, %d) is %v, want %v", what, i, j, v, w)
			}
		}
	}
}

// TestSolveScaled has a system of a stack whose rows differ so much in magnitude that it looks singular
// before they are scaled. Only this one is scaled.
func TestSolveScaled(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, trans := range []bool{false, true} {
		const n, count = 6, 3
		random := func() (o [4]hostSolve[float64]) {
			rnd := rand.New(rand.NewPCG(23, 24))
			for i := range o {
				o[i] = randomSolve[float64](rnd, n, 2, count, trans)
			}
			for i := range n {
				for j := range n {
					o[0].A.Row(n + i)[j] *= math.Ldexp(1, -50*i)
				}
				for j := range 2 { // so that the solutions are of one magnitude
					for k := range o {
						b := &o[k].B
						if trans {
							b = &o[k].X
						}
						b.Row(n + i)[j] *= math.Ldexp(1, -50*i)
					}
				}
				for j := range n { // Ȧ has the magnitude of A
					o[2].A.Row(n + i)[j] *= math.Ldexp(1, -50*i)
				}
			}
			return o
		}
		compareStack(t, count, allPasses, random, hostSolve[float64].of, func(what string, got, want hostSolve[float64]) {
			nearByRows(t, what+": X", got.X, want.X)
			nearByRows(t, what+": A", got.A, want.A)
			nearByRows(t, what+": B", got.B, want.B)
		})
		// The others have the bits that they have without it.
		all, two := random()[0], randomSolve[float64](rand.New(rand.NewPCG(23, 24)), n, 2, count, trans)
		if err := errors.Join(rev.Forward(all), rev.Forward(two)); err != nil {
			t.Fatal(err)
		}
		for _, b := range []int{0, 2} {
			if !slices.Equal(matrixOf(all.X, count, b).Data, matrixOf(two.X, count, b).Data) {
				t.Errorf("transposed %v: system %d is scaled", trans, b)
			}
		}
	}
}

// TestSolveSingular has singular matrices of a stack, in one block and in several. The error is that of the CPU for the
// first of them, and nothing is written.
func TestSolveSingular(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, n := range []int{5, 70} {
		k := randomSolve[float64](rand.New(rand.NewPCG(15, 16)), n, 4, 3, false)
		for b := 1; b < 3; b++ {
			for i := range n { // a column of zeros
				k.A.Row(b*n + i)[n-2] = 0
			}
		}
		before := slices.Clone(k.X.Data)
		var got, want *rev.SingularError
		if err := rev.Forward(k); !errors.As(err, &got) {
			t.Fatalf("error %v", err)
		}
		if err := k.of(1).Forward(); !errors.As(err, &want) || got.Index != n+want.Index || got.Condition != want.Condition {
			t.Errorf("error %v, on the CPU %v", got, want)
		}
		// Two rows are the same but for rounding.
		k = randomSolve[float64](rand.New(rand.NewPCG(15, 16)), n, 4, 3, false)
		k.X.Data = slices.Clone(before)
		copy(k.A.Row(2*n+1), k.A.Row(2*n+n-1))
		k.A.Row(2*n + 1)[3] += 0x1p-51
		if err := rev.Forward(k); !errors.As(err, &got) || got.Index/n != 2 || float64(got.Condition) < 1/(float64(n)*epsilon[float64]()) {
			t.Errorf("rows that are the same: error %v", err)
		}
		if !slices.Equal(k.X.Data, before) {
			t.Error("results are written")
		}
	}
}

// TestSolveNaN passes NaN on, also beside zeros.
func TestSolveNaN(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	k := randomSolve[float64](rand.New(rand.NewPCG(17, 18)), 4, 1, 2, false)
	for i := range 4 {
		k.A.Row(4 + i)[0] = 0
	}
	k.A.Row(4 + 2)[0] = math.NaN()
	if err := rev.Forward(k); err != nil {
		t.Fatal(err)
	}
	for i, v := range k.X.Data {
		if (v != v) != (i >= 4) {
			t.Errorf("element %d is %v", i, v)
		}
	}
}

func TestSolveNotFinite(t *testing.T) {
	compareNotFinite(t, func(x, a, b rev.General[float64]) hostSolve[float64] {
		return hostSolve[float64]{X: x, A: a, B: b}
	}, hostSolve[float64].of)
}
