package revsparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func randomSpGEMM[T rev.Real, I Index](rnd *rand.Rand, size int, whole bool) SpGEMM[T, I] {
	a, b := random[T, I](rnd, size, size+1, 2), random[T, I](rnd, size+1, size, 2)
	c := random[T, I](rnd, size, size, 3).Sorted()
	// A place that C has twice gets one product, which no dense matrix has.
	c = unique(c)
	if whole {
		var err error
		if c, err = SpGEMMPattern(a, b); err != nil {
			panic(err)
		}
		c.Data = numbers[T](rnd, len(c.Ind))
	}
	return SpGEMM[T, I]{C: c, A: a, B: b}
}

// unique returns the sorted matrix a with the first entry of each place.
func unique[T any, I Index](a CSR[T, I]) CSR[T, I] {
	u := CSR[T, I]{Rows: a.Rows, Cols: a.Cols, Ptr: []I{0}, Ind: []I{}, Data: []T{}}
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

func spgemmSpec[T rev.Real, I Index](whole bool) revtest.Spec[SpGEMM[T, I]] {
	return revtest.Spec[SpGEMM[T, I]]{
		New:       func(rnd *rand.Rand, size int) SpGEMM[T, I] { return randomSpGEMM[T, I](rnd, size, whole) },
		Large:     3000,
		RoundTrip: 16,
		Masked:    []string{"A", "B"}, // entries that meet none
	}
}

func TestSpGEMM(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint("float64 ", whole), func(t *testing.T) { revtest.Kernel(t, spgemmSpec[float64, int32](whole)) })
		t.Run(fmt.Sprint("float32 ", whole), func(t *testing.T) { revtest.Kernel(t, spgemmSpec[float32, int](whole)) })
		t.Run(fmt.Sprint("Q43 ", whole), func(t *testing.T) { revtest.Kernel(t, spgemmSpec[fixed.Q43, int32](whole)) })
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

func ExampleSpGEMM() {
	a, _ := NewCSR(2, 2, []int{0, 2, 3}, []int{0, 1, 1}, []float64{1, 2, 3})
	c, err := SpGEMMPattern(a, a)
	if err != nil {
		fmt.Println(err)
		return
	}
	k := SpGEMM[float64, int]{C: c, A: a, B: a} // C += A²
	k.Forward()
	fmt.Println(c.Ind, c.Data)

	g := a.With(make([]float64, 3))
	k.Adjoint(SpGEMM[float64, int]{C: c.With([]float64{0, 1, 0}), A: g, B: g})
	fmt.Println(c.Data, g.Data)
	// Output:
	// [0 1 1] [1 8 9]
	// [0 0 0] [2 4 2]
}

// The square of a Laplacian, and of a matrix whose columns are anywhere.
func BenchmarkSpGEMM(b *testing.B) {
	rnd := rand.New(rand.NewPCG(8, 2))
	for _, m := range []struct {
		name string
		a    CSR[float64, int32]
	}{
		{"Laplacian", laplacian(300)},
		{"random", perRow(rnd, 20_000, 10, 0)},
	} {
		c, err := SpGEMMPattern(m.a, m.a)
		if err != nil {
			b.Fatal(err)
		}
		flops := 0
		for _, l := range m.a.Ind {
			flops += 2 * int(m.a.Ptr[l+1]-m.a.Ptr[l])
		}
		k := SpGEMM[float64, int32]{C: c, A: m.a, B: m.a, Workers: 1}
		g := SpGEMM[float64, int32]{
			C: c.With(numbers[float64](rnd, c.NNZ())),
			A: m.a.With(make([]float64, m.a.NNZ())), B: m.a.With(make([]float64, m.a.NNZ())),
		}
		b.Run(m.name+"/Forward", func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			reportFlops(b, flops)
		})
		b.Run(m.name+"/Adjoint", func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			reportFlops(b, 3*flops)
		})
	}
}
