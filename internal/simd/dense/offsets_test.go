package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// random returns n numbers and, around them, poison.
func random[T cpu.Float](rnd *rand.Rand, n int) []T { return newMatrix[T](rnd, 1, n, byRows).data }

// near fails the test unless got is within a number of roundings of want.
func near[T cpu.Float](t *testing.T, what string, got T, want, scale float64, roundings int) {
	t.Helper()
	if !(math.Abs(float64(got)-want) <= float64(roundings+3)*simdtest.Unit[T]()*scale) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func TestGemmOffsets(t *testing.T) {
	simdtest.ForEachType(t, &tier, testGemmOffsets[float64], testGemmOffsets[float32])
}

func testGemmOffsets[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(71, 1))
	check := func(m, n, k, layout int) {
		a, c := newMatrix[T](rnd, m, k, layout), newMatrix[T](rnd, m, n, byRows)
		b, offsets := random[T](rnd, n+40), make([]int, k)
		for l := range offsets {
			offsets[l] = rnd.IntN(41)
		}
		want, alpha := c.clone(), T(-0.75)
		left, packed, c2 := Left[T]{Data: a.data, Rows: a.rs, Cols: a.cs}, Left[T]{Data: make([]T, m*k), Packed: true}, c.clone()
		GemmOffsets(m, n, alpha, left, b, offsets, c.data, c.rs)
		Pack(packed.Data, m, k, left)
		GemmOffsets(m, n, alpha, packed, b, offsets, c2.data, c2.rs)
		if !sameBits(c2.all, c.all) {
			t.Fatalf("%d×%d, depth %d: other bits if A is packed", m, n, k)
		}
		for i := range m {
			for j := range n {
				s, scale := 0.0, 0.0
				for l, at := range offsets {
					p := float64(*a.at(i, l)) * float64(b[at+j])
					s, scale = s+p, scale+math.Abs(p)
				}
				y := float64(*want.at(i, j))
				near(t, "sum", *c.at(i, j), y+float64(alpha)*s, scale+math.Abs(y), k)
				*want.at(i, j) = *c.at(i, j)
			}
		}
		if !sameBits(c.all, want.all) {
			t.Fatalf("%d×%d, depth %d: written outside of the result", m, n, k)
		}
	}
	for m := range 18 {
		for n := range 70 {
			if n%5 == m%5 || long.Tests() {
				check(m, n, []int{0, 1, 2, 3, 9, 27}[(m+n)%6], (m+n)%layouts)
			}
		}
	}
	for _, s := range [][3]int{{1, 1100, 5}, {1, 150, 300}, {1, 259, 2}, {130, 50, 300}, {9, 200, 520}} {
		check(s[0], s[1], s[2], byColumns)
	}
}

// Rows at once have the bits of a row at a time, and nothing between rows of C is written.
func TestGemmOffsetsRows(t *testing.T) {
	simdtest.ForEachType(t, &tier, testGemmOffsetsRows[float64], testGemmOffsetsRows[float32])
}

func testGemmOffsetsRows[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(71, 2))
	check := func(m, n, k int) {
		ldb, ldc := n+rnd.IntN(4), n+rnd.IntN(4)
		left := Left[T]{Data: random[T](rnd, 2*k+1), Rows: 1, Cols: rnd.IntN(3)}
		b, c, offsets := random[T](rnd, m*ldb+n+8), random[T](rnd, m*ldc+n), make([]int, k)
		for l := range offsets {
			offsets[l] = rnd.IntN(9)
		}
		want := slices.Clone(c)
		GemmOffsetsRows(m, n, -0.75, left, b, ldb, offsets, c, ldc)
		for i := range m {
			GemmOffsets(1, n, -0.75, left, b[i*ldb:], offsets, want[i*ldc:], 0)
		}
		if !sameBits(c, want) {
			t.Fatalf("%d×%d, depth %d: other bits than a row at a time", m, n, k)
		}
	}
	for m := range 5 {
		for n := range 300 {
			check(m, n, rnd.IntN(10))
		}
	}
	check(3, gemmOffsetsCols, 5)
	check(3, gemmOffsetsCols+1, 5)
	check(gemmOffsetsCols+3, 1, 5)
	check(70, 30, gemmDepth+3)
}

func TestRowDots(t *testing.T) {
	simdtest.ForEachType(t, &tier, testRowDots[float64], testRowDots[float32])
}

func testRowDots[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(71, 2))
	for _, m := range []int{0, 1, 3, 700} {
		for n := 0; n < 36; n += long.Or(1, 5) {
			for k := range 12 {
				ldx, ldy := n+3, n+rnd.IntN(3)
				x, y, out := random[T](rnd, m*ldx+20), random[T](rnd, m*ldy), random[T](rnd, k)
				offsets := make([]int, k)
				for i := range offsets {
					offsets[i] = rnd.IntN(20)
				}
				before := append([]T(nil), out...)
				RowDots(m, n, x, ldx, offsets, y, ldy, out)
				for q, at := range offsets {
					s := float64(before[q])
					scale := math.Abs(s)
					for i := range m {
						for j := range n {
							p := float64(y[i*ldy+j]) * float64(x[at+i*ldx+j])
							s, scale = s+p, scale+math.Abs(p)
						}
					}
					near(t, "sum", out[q], s, scale, m*n)
				}
			}
		}
	}
}

func TestAddRows(t *testing.T) {
	simdtest.ForEachType(t, &tier, testAddRows[float64], testAddRows[float32])
}

func testAddRows[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(71, 3))
	for _, s := range [][2]int{{0, 3}, {3, 0}, {2, cpu.Chunk + 5}, {cpu.Chunk, 2}} {
		checkAddRows[T](t, rnd, s[0], s[1])
	}
	for m := range 5 {
		for n := range 50 {
			checkAddRows[T](t, rnd, m, n)
		}
	}
}

// TestAddRowsToOne adds all rows to one, by a stride of 0.
func TestAddRowsToOne(t *testing.T) {
	simdtest.ForEachType(t, &tier, testAddRowsToOne[float64], testAddRowsToOne[float32])
}

func testAddRowsToOne[T cpu.Float](t *testing.T) {
	for _, m := range []int{1, 2, 5, 100} {
		for _, n := range []int{1, 3, 16, 67, 128, 1500} {
			x, y := simdtest.Normal[T](m*(n+2), 1), simdtest.Normal[T](n+1, 2)
			want := slices.Clone(y)
			for i := range m {
				for j := range n {
					want[j] += x[i*(n+2)+j]
				}
			}
			AddRows(m, n, 1, x, n+2, y, 0)
			simdtest.SameSlice(t, fmt.Sprintf("%d×%d", m, n), y, want)
		}
	}
}

func checkAddRows[T cpu.Float](t *testing.T, rnd *rand.Rand, m, n int) {
	x, y := newMatrix[T](rnd, m, n, byRows), newMatrix[T](rnd, m, n, byRows)
	want, alpha := y.clone(), T(1.25)
	AddRows(m, n, alpha, x.data, x.rs, y.data, y.rs)
	for i := range m {
		for j := range n {
			p, y0 := float64(alpha)*float64(*x.at(i, j)), float64(*want.at(i, j))
			near(t, "sum", *y.at(i, j), y0+p, math.Abs(y0)+math.Abs(p), 1)
			*want.at(i, j) = *y.at(i, j)
		}
	}
	if !sameBits(y.all, want.all) {
		t.Fatalf("%d×%d: written outside of the result", m, n)
	}
}

func TestCopyRows(t *testing.T) {
	simdtest.ForEachType(t, &tier, testCopyRows[float64], testCopyRows[float32])
}

func testCopyRows[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(71, 4))
	check := func(m, n, step int) {
		dst, x := newMatrix[T](rnd, m, n, byRows), newMatrix[T](rnd, m, max(1, n)*max(1, step), byRows)
		want := dst.clone()
		CopyRows(m, n, dst.data, dst.rs, x.data, x.rs, step)
		for i := range m {
			for j := range n {
				*want.at(i, j) = *x.at(i, j*step)
			}
		}
		if !sameBits(dst.all, want.all) {
			t.Fatalf("%d×%d by steps of %d is wrong", m, n, step)
		}
	}
	for step := range 5 {
		for m := range 4 {
			for n := range 50 {
				check(m, n, step)
			}
		}
		check(2, cpu.Chunk+9, step)
		check(cpu.Chunk, 3, step)
	}
}

// Offsets, strides and lengths that do not fit panic.
func TestOffsetsPanic(t *testing.T) {
	x := make([]float64, 10)
	for name, f := range map[string]func(){
		"row past the end":  func() { GemmOffsets(1, 4, 1, Left[float64]{x, 1, 1, false}, x, []int{7}, make([]float64, 4), 4) },
		"row before":        func() { GemmOffsets(1, 4, 1, Left[float64]{x, 1, 1, false}, x, []int{-1}, make([]float64, 4), 4) },
		"short C":           func() { GemmOffsets(2, 4, 1, Left[float64]{x, 1, 1, false}, x, []int{0}, make([]float64, 7), 4) },
		"short A":           func() { GemmOffsets(2, 4, 1, Left[float64]{x, 10, 1, false}, x, []int{0}, make([]float64, 8), 4) },
		"short packed A":    func() { GemmOffsets(2, 4, 1, Left[float64]{x[:1], 0, 0, true}, x, []int{0}, make([]float64, 8), 4) },
		"stride of A":       func() { GemmOffsets(1, 4, 1, Left[float64]{x, -1, 1, false}, x, []int{0}, make([]float64, 4), 4) },
		"short panels":      func() { Pack(make([]float64, 5), 2, 3, Left[float64]{x, 3, 1, false}) },
		"stride":            func() { GemmOffsets(2, 4, 1, Left[float64]{x, 1, 1, false}, x, []int{0}, make([]float64, 8), -4) },
		"dots past the end": func() { RowDots(2, 3, x, 5, []int{0, 3}, x, 3, make([]float64, 2)) },
		"short sums":        func() { RowDots(2, 3, x, 5, []int{0, 1}, x, 3, make([]float64, 1)) },
		"short Y":           func() { RowDots(2, 3, x, 3, []int{0}, x, 8, make([]float64, 1)) },
		"stride of dots":    func() { RowDots(2, 3, x, 3, []int{0}, x, -3, make([]float64, 1)) },
		"short copy":        func() { CopyRows(2, 3, make([]float64, 5), 3, x, 3, 1) },
		"short original":    func() { CopyRows(2, 3, make([]float64, 6), 3, x, 6, 2) },
		"negative step":     func() { CopyRows(1, 3, make([]float64, 6), 3, x, 3, -1) },
		"short X":           func() { AddRows(2, 3, 1, x, 8, make([]float64, 6), 3) },
		"short sum":         func() { AddRows(2, 3, 1, x, 3, make([]float64, 5), 3) },
		"stride of sum":     func() { AddRows(2, 3, 1, x, 3, make([]float64, 6), -3) },
	} {
		if !simdtest.Panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}
