package revsparse_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revsparse"
)

// The product has the pattern and the bits of Forward, for any number of workers.
func TestSpGEMMProduct(t *testing.T) {
	t.Run("float64", testSpGEMMProduct[float64, int32])
	t.Run("float64 int", testSpGEMMProduct[float64, int])
	t.Run("float32", testSpGEMMProduct[float32, int32])
	t.Run("Q43", testSpGEMMProduct[fixed.Q43, int])
}

func testSpGEMMProduct[T rev.Real, I revsparse.Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 6))
	for _, size := range [...]struct{ rows, inner, cols, perRow int }{
		{0, 0, 0, 1}, {0, 3, 2, 1}, {3, 0, 2, 1}, {3, 2, 0, 1}, {1, 1, 1, 1}, {5, 4, 6, 3}, {40, 30, 70, 3}, {300, 200, 9000, 2}, {3000, 2000, 50, 9},
		{9000, 9000, 9000, 4}, {4, 60, 20_000, 200},
	} {
		a, b := random[T, I](rnd, size.rows, size.inner, size.perRow), random[T, I](rnd, size.inner, size.cols, size.perRow)
		want, err := revsparse.SpGEMMPattern(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if !want.IsSorted() || slices.ContainsFunc(want.Data, func(x T) bool { return x != 0 }) {
			t.Fatalf("%v: the pattern is not sorted and zero", size)
		}
		revsparse.SpGEMM[T, I]{C: want, A: a, B: b}.Forward()
		for _, workers := range [...]int{1, 2, 7, 1} {
			got, err := revsparse.SpGEMMProduct(a, b, workers)
			if err != nil {
				t.Fatal(err)
			}
			if got.Rows != want.Rows || got.Cols != want.Cols || !slices.Equal(got.Ptr, want.Ptr) || !slices.Equal(got.Ind, want.Ind) {
				t.Fatalf("%v, %d workers: the pattern differs", size, workers)
			}
			if !slices.Equal(got.Data, want.Data) {
				t.Fatalf("%v, %d workers: the values differ", size, workers)
			}
		}
	}
}

// The pattern of rows that are nothing alike has an entry for each pair of entries that meet.
func TestSpGEMMPatternOfAll(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 7))
	a, b := random[float64, int32](rnd, 2000, 1500, 8), random[float64, int32](rnd, 1500, 3000, 3)
	c, err := revsparse.SpGEMMPattern(a, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Rows {
		var want []int32
		for _, l := range a.Ind[a.Ptr[i]:a.Ptr[i+1]] {
			want = append(want, b.Ind[b.Ptr[l]:b.Ptr[l+1]]...)
		}
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(c.Ind[c.Ptr[i]:c.Ptr[i+1]], want) {
			t.Fatalf("row %d has columns %v, want %v", i, c.Ind[c.Ptr[i]:c.Ptr[i+1]], want)
		}
	}
}

func TestSpGEMMProductPanics(t *testing.T) {
	unit := func(n int) revsparse.CSR[float64, int] {
		a := revsparse.CSR[float64, int]{Rows: n, Cols: n, Ptr: []int{0}}
		for i := range n {
			a.Ind, a.Data, a.Ptr = append(a.Ind, i), append(a.Data, 1), append(a.Ptr, i+1)
		}
		return a
	}
	for _, test := range []struct {
		name  string
		want  error
		spoil func(a, b *revsparse.CSR[float64, int])
	}{
		{"shapes", mat.ErrShape, func(_, b *revsparse.CSR[float64, int]) { *b = unit(4) }},
		{"no values of a", mat.ErrShape, func(a, _ *revsparse.CSR[float64, int]) { a.Data = nil }},
		{"no values of b", mat.ErrShape, func(_, b *revsparse.CSR[float64, int]) { b.Data = nil }},
		{"column of a", nil, func(a, _ *revsparse.CSR[float64, int]) { a.Ind[1] = 3 }},
		{"negative column of a", nil, func(a, _ *revsparse.CSR[float64, int]) { a.Ind[1] = -1 }},
		{"column of b", mat.ErrColAccess, func(_, b *revsparse.CSR[float64, int]) { b.Ind[1] = 3 }},
		{"negative column of b", mat.ErrColAccess, func(_, b *revsparse.CSR[float64, int]) { b.Ind[1] = -1 }},
	} {
		a, b := unit(3), unit(3)
		test.spoil(&a, &b)
		func() {
			defer func() {
				err, _ := recover().(error)
				if err == nil || test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("%s: panic %v, want %v", test.name, err, test.want)
				}
			}()
			_, _ = revsparse.SpGEMMProduct(a, b, 1)
		}()
	}
	if c, err := revsparse.SpGEMMProduct(unit(3), unit(3), 1); err != nil || !slices.Equal(c.Ind, []int{0, 1, 2}) || !slices.Equal(c.Data, []float64{1, 1, 1}) {
		t.Errorf("the product after panics is %v, %v", c, err)
	}
}

// A small product takes little memory, also if no workspace is kept.
func TestSpGEMMProductMemory(t *testing.T) {
	a := revsparse.CSR[float64, int]{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Data: []float64{1}}
	var before, after runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&before)
	if _, err := revsparse.SpGEMMProduct(a, a, 1); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<19 {
		t.Errorf("the product of 1×1 takes %d bytes", n)
	}
}

// The squares of a Laplacian and of a matrix whose columns are anywhere, with their patterns.
func BenchmarkSpGEMMProduct(b *testing.B) {
	rnd := rand.New(rand.NewPCG(8, 2))
	for _, m := range []struct {
		name string
		a    revsparse.CSR[float64, int32]
	}{
		{"Laplacian", gridLaplacian[int32](316, 316)},
		{"random 1e4", perRow(rnd, 10_000, 10, 0)},
		{"random 1e5", perRow(rnd, 100_000, 5, 0)},
	} {
		b.Run(m.name+"/product", func(b *testing.B) {
			for b.Loop() {
				if _, err := revsparse.SpGEMMProduct(m.a, m.a, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(m.name+"/pattern", func(b *testing.B) {
			for b.Loop() {
				if _, err := revsparse.SpGEMMPattern(m.a, m.a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
