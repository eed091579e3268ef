package revsparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
)

func randomSpGEMM[T rev.Real, I revsparse.Index](rnd *rand.Rand, size int, whole bool) revsparse.SpGEMM[T, I] {
	a, b := random[T, I](rnd, size, size+1, 2), random[T, I](rnd, size+1, size, 2)
	c := random[T, I](rnd, size, size, 3).Sorted()
	// A place that C has twice gets one product, which no dense matrix has.
	c = unique(c)
	if whole {
		var err error
		if c, err = revsparse.SpGEMMPattern(a, b); err != nil {
			panic(err)
		}
		c.Data = numbers[T](rnd, len(c.Ind))
	}
	return revsparse.SpGEMM[T, I]{C: c, A: a, B: b}
}

// unique returns the sorted matrix a with the first entry of each place.
func unique[T any, I revsparse.Index](a revsparse.CSR[T, I]) revsparse.CSR[T, I] {
	u := revsparse.CSR[T, I]{Rows: a.Rows, Cols: a.Cols, Ptr: []I{0}, Ind: []I{}, Data: []T{}}
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			if p == a.Ptr[i] || a.Ind[p] != a.Ind[p-1] {
				u.Ind, u.Data = append(u.Ind, a.Ind[p]), append(u.Data, a.Data[p])
			}
		}
		u.Ptr = append(u.Ptr, I(len(u.Ind)))
	}
	return u
}

func spgemmSpec[T rev.Real, I revsparse.Index](whole bool) revtest.Spec[revsparse.SpGEMM[T, I]] {
	return revtest.Spec[revsparse.SpGEMM[T, I]]{
		Float64:   revtest.PassesOf[revsparse.SpGEMM[float64, I]](),
		New:       func(rnd *rand.Rand, size int) revsparse.SpGEMM[T, I] { return randomSpGEMM[T, I](rnd, size, whole) },
		Large:     3000,
		RoundTrip: 16,
		Masked:    []string{"A", "B"}, // entries that meet none
	}
}

func TestSpGEMM(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("float64 ", whole), func(t *testing.T) { revtest.Kernel(t, spgemmSpec[float64, int32](whole)) })
		t.Run(fmt.Sprint("float32 ", whole), func(t *testing.T) { kerneltest.Kernel[float32](t, spgemmSpec[float32, int](whole)) })
		t.Run(fmt.Sprint("Q43 ", whole), func(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, spgemmSpec[fixed.Q43, int32](whole)) })
	}
}

func TestSpGEMMValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	for _, whole := range []bool{false, true} {
		for _, n := range []int{1, 4, 40} {
			k := randomSpGEMM[float64, int](rnd, n, whole)
			clear(k.C.Data)
			k.Forward()
			var want mat.Dense
			want.Mul(toMat(k.A), toMat(k.B))
			got := toMat(k.C)
			stored := toMat(k.C.With(make([]float64, k.C.NNZ())))
			for i := range k.C.Rows {
				for p := k.C.Ptr[i]; p < k.C.Ptr[i+1]; p++ {
					stored.Set(i, k.C.Ind[p], 1)
				}
			}
			for i := range n {
				for j := range n {
					switch w := want.At(i, j); {
					case stored.At(i, j) != 0 && math.Abs(got.At(i, j)-w) > 1e-12:
						t.Errorf("n=%d: element %d,%d is %v, want %v", n, i, j, got.At(i, j), w)
					case stored.At(i, j) == 0 && whole && w != 0:
						t.Errorf("n=%d: the pattern lacks %d,%d", n, i, j)
					}
				}
			}
			if whole && !k.C.IsSorted() {
				t.Errorf("n=%d: the pattern is not sorted", n)
			}
		}
	}
}

// Products without an entry in C take no part, even if they are infinite. The last of
// two entries of a place has the product and the cotangent.
func TestSpGEMMLeftOut(t *testing.T) {
	inf := math.Inf(1)
	a, _ := revsparse.NewCSR(2, 2, []int32{0, 2, 3}, []int32{0, 1, 1}, []float64{1, inf, 2})
	b, _ := revsparse.NewCSR(2, 3, []int32{0, 2, 4}, []int32{0, 1, 1, 2}, []float64{3, inf, 5, 7})
	c, _ := revsparse.NewCSR(2, 3, []int32{0, 2, 3}, []int32{0, 0, 2}, []float64{0, 0, 0})
	k := revsparse.SpGEMM[float64, int32]{C: c, A: a, B: b}
	k.Forward()
	if want := []float64{0, 3, 14}; !slices.Equal(c.Data, want) {
		t.Errorf("product %v, want %v", c.Data, want)
	}
	g := revsparse.SpGEMM[float64, int32]{C: c.With([]float64{10, 1, 100}), A: a.With(make([]float64, 3)), B: b.With(make([]float64, 4))}
	k.Adjoint(g)
	if want := []float64{3, 0, 700}; !slices.Equal(g.A.Data, want) {
		t.Errorf("gradient of A %v, want %v", g.A.Data, want)
	}
	if want := []float64{1, 0, 0, 200}; !slices.Equal(g.B.Data, want) {
		t.Errorf("gradient of B %v, want %v", g.B.Data, want)
	}
}

// Fixed point, which has no vector code, gives the product to the last of two entries, too.
func TestSpGEMMTwice(t *testing.T) {
	one := fixed.Of[fixed.Q43](1)
	a, _ := revsparse.NewCSR(1, 1, []int{0, 1}, []int{0}, []fixed.Q43{3 * one})
	c, _ := revsparse.NewCSR(1, 1, []int{0, 2}, []int{0, 0}, []fixed.Q43{0, 0})
	revsparse.SpGEMM[fixed.Q43, int]{C: c, A: a, B: a}.Forward()
	if want := []fixed.Q43{0, 9 * one}; !slices.Equal(c.Data, want) {
		t.Errorf("product %v, want %v", c.Data, want)
	}
}

// A row of more products than vector code takes at once is like others.
func TestSpGEMMLongRow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 3))
	full := perRow(rnd, 200, 200, 200)
	first := full
	first.Rows, first.Ptr, first.Ind, first.Data = 2, []int32{0, 200, 400}, full.Ind[:400], full.Data[:400]
	c, err := revsparse.SpGEMMPattern(first, full)
	if err != nil {
		t.Fatal(err)
	}
	long := revsparse.SpGEMM[float64, int32]{C: c, A: first, B: full}
	long.Forward()
	var want mat.Dense
	want.Mul(toMat(first), toMat(full))
	if got := toMat(c); !mat.EqualApprox(got, &want, 1e-11) {
		t.Error("the product differs")
	}
}

// Several blocks, which in a banded matrix add to the most of B̄ in place.
func TestSpGEMMBanded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 4))
	a := perRow(rnd, 10_000, 5, 5)
	c, err := revsparse.SpGEMMPattern(a, a)
	if err != nil {
		t.Fatal(err)
	}
	gc := c.With(numbers[float64](rnd, c.NNZ()))
	want := a.With(make([]float64, a.NNZ()))
	revsparse.SpGEMM[float64, int32]{C: want, A: a.Transpose(), B: gc}.Forward()
	// All entries of the same place have the gradient of the last.
	for i := range a.Rows {
		for p := a.Ptr[i+1] - 2; p >= a.Ptr[i]; p-- {
			if a.Ind[p] == a.Ind[p+1] {
				want.Data[p] = want.Data[p+1]
			}
		}
	}
	for _, workers := range []int{1, 7} {
		gb := a.With(make([]float64, a.NNZ()))
		revsparse.SpGEMM[float64, int32]{C: c, A: a, B: a, Workers: workers}.Adjoint(revsparse.SpGEMM[float64, int32]{C: gc, B: gb})
		for p, x := range gb.Data {
			if math.Abs(x-want.Data[p]) > 1e-12 {
				t.Fatalf("%d workers: the gradient of entry %d is %v, want %v", workers, p, x, want.Data[p])
			}
		}
	}
}

// An index out of range panics, even if a matrix before had such a column.
func TestSpGEMMIndexOutOfRange(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 5))
	long := randomSpGEMM[float64, int](rnd, 100, true)
	for _, of := range []string{"A", "B", "C"} {
		for _, bad := range []int{3, -1} {
			for asked := 1; asked < 4; asked++ {
				long.Adjoint(revsparse.SpGEMM[float64, int]{C: long.C.With(make([]float64, long.C.NNZ())), A: long.A.With(make([]float64, long.A.NNZ()))})
				unit := func(name string) revsparse.CSR[float64, int] {
					a := revsparse.CSR[float64, int]{Rows: 3, Cols: 3, Ptr: []int{0, 1, 2, 3}, Ind: []int{0, 1, 2}, Data: []float64{1, 1, 1}}
					if name == of {
						a.Ind[1] = bad
					}
					return a
				}
				k := revsparse.SpGEMM[float64, int]{C: unit("C"), A: unit("A"), B: unit("B")}
				g := revsparse.SpGEMM[float64, int]{C: unit("C"), A: unit("A"), B: unit("B")}
				if asked&1 == 0 {
					k.C.Data = nil
				}
				if asked&2 == 0 {
					g.A.Data, g.B.Data = nil, nil
				}
				func() {
					defer func() {
						if recover() == nil {
							t.Errorf("column %d of %s, set %02b of results: no panic", bad, of, asked)
						}
					}()
					k.Adjoint(g)
				}()
			}
		}
	}
}

// The squares of a Laplacian and of matrices whose columns are anywhere.
func BenchmarkSpGEMM(b *testing.B) {
	rnd := rand.New(rand.NewPCG(8, 2))
	for _, m := range []struct {
		name string
		a    revsparse.CSR[float64, int32]
	}{
		{"Laplacian", gridLaplacian[int32](300, 300)},
		{"random", perRow(rnd, 20_000, 10, 0)},
		{"density 0.05", perRow(rnd, 1000, 50, 0)},
	} {
		c, err := revsparse.SpGEMMPattern(m.a, m.a)
		if err != nil {
			b.Fatal(err)
		}
		flops := 0
		for _, l := range m.a.Ind {
			flops += 2 * int(m.a.Ptr[l+1]-m.a.Ptr[l])
		}
		k := revsparse.SpGEMM[float64, int32]{C: c, A: m.a, B: m.a, Workers: 1}
		g := revsparse.SpGEMM[float64, int32]{
			C: c.With(numbers[float64](rnd, c.NNZ())),
			A: m.a.With(make([]float64, m.a.NNZ())), B: m.a.With(make([]float64, m.a.NNZ())),
		}
		b.Run(m.name+"/Forward", func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportFlops(b, flops)
		})
		b.Run(m.name+"/Adjoint", func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			kerneltest.ReportFlops(b, 3*flops)
		})
	}
}
