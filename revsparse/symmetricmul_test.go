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

// triangle returns the entries of a below the diagonal and on it.
func triangle[T any, I revsparse.Index](a revsparse.CSR[T, I]) revsparse.CSR[T, I] {
	t := revsparse.CSR[T, I]{Rows: a.Rows, Cols: a.Cols, Ptr: []I{0}, Ind: []I{}, Data: []T{}}
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			if int(a.Ind[p]) <= i {
				t.Ind, t.Data = append(t.Ind, a.Ind[p]), append(t.Data, a.Data[p])
			}
		}
		t.Ptr = append(t.Ptr, I(len(t.Ind)))
	}
	return t
}

func randomSymmetricMul[T rev.Real, I revsparse.Index](rnd *rand.Rand, size, cols int, alpha bool) revsparse.SymmetricMul[T, I] {
	a := triangle(random[T, I](rnd, size, size, 5))
	k := revsparse.SymmetricMul[T, I]{C: matrixOf[T](rnd, size, cols), A: a, B: matrixOf[T](rnd, size, cols)}
	if alpha {
		x := randomNumber[T](rnd)
		k.Alpha = &x
	}
	return k
}

func symmetricMulSpec[T rev.Real, I revsparse.Index](cols int) revtest.Spec[revsparse.SymmetricMul[T, I]] {
	return revtest.Spec[revsparse.SymmetricMul[T, I]]{
		Float64: revtest.PassesOf[revsparse.SymmetricMul[float64, I]](),
		New: func(rnd *rand.Rand, size int) revsparse.SymmetricMul[T, I] {
			return randomSymmetricMul[T, I](rnd, size, min(size, cols), cols == 1)
		},
		Large:     12000, // several blocks of rows and of columns
		RoundTrip: 32,
		Masked:    []string{"B", "Alpha", "A"}, // where there are no entries, or they meet zeros
	}
}

func TestSymmetricMul(t *testing.T) {
	for _, cols := range []int{1, 3} {
		t.Run(fmt.Sprint("float64 ", cols), func(t *testing.T) { revtest.Kernel(t, symmetricMulSpec[float64, int32](cols)) })
		t.Run(fmt.Sprint("float32 ", cols), func(t *testing.T) { kerneltest.Kernel[float32](t, symmetricMulSpec[float32, int](cols)) })
	}
	t.Run("Q43", func(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, symmetricMulSpec[fixed.Q43, int32](2)) })
}

func TestSymmetricMulValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	for _, cols := range []int{1, 70} {
		for _, n := range []int{1, 5, 60} {
			k := randomSymmetricMul[float64, int](rnd, n, cols, true)
			a := toMat(k.A)
			s := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					s.Set(i, j, a.At(max(i, j), min(i, j)))
				}
			}
			c := mat.NewDense(n, cols, k.C.Data)
			var want mat.Dense
			want.Mul(s, mat.NewDense(n, cols, k.B.Data))
			want.Scale(*k.Alpha, &want)
			want.Add(&want, c)
			k.Forward()
			if !mat.EqualApprox(c, &want, 1e-12) {
				t.Errorf("n=%d, %d columns: the product differs", n, cols)
			}
		}
	}
}

// Several blocks, most of whose rows and columns are theirs alone.
func TestSymmetricMulBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 2))
	full := gridLaplacian[int32](250, 250)
	n := full.Rows
	for i := range n {
		for p := full.Ptr[i]; p < full.Ptr[i+1]; p++ {
			full.Data[p] = float64((i + 1) * int(full.Ind[p]+1) % 1000)
		}
	}
	b, want := matrixOf[float64](rnd, n, 1), rev.NewGeneral[float64](n, 1, nil)
	revsparse.Mul[float64, int32]{C: want, A: full, B: b}.Forward()
	var first []float64
	for _, workers := range []int{1, 2, 7} {
		c := rev.NewGeneral[float64](n, 1, nil)
		revsparse.SymmetricMul[float64, int32]{C: c, A: triangle(full), B: b, Workers: workers}.Forward()
		for i, x := range c.Data {
			if d := math.Abs(x - want.Data[i]); d > 1e-9 {
				t.Fatalf("%d workers: element %d is %v, want %v", workers, i, x, want.Data[i])
			}
		}
		if first == nil {
			first = c.Data
		} else if !slices.Equal(c.Data, first) {
			t.Errorf("%d workers give other bits than one", workers)
		}
	}
}

// The bytes are those of the triangle once, though the adjoint reads it several times.
func BenchmarkSymmetricMul(b *testing.B) {
	rnd := rand.New(rand.NewPCG(7, 3))
	for _, m := range []struct {
		name string
		a    revsparse.CSR[float64, int32]
	}{
		{"Laplacian", triangle(gridLaplacian[int32](1000, 1000))},
		{"banded", triangle(perRow(rnd, 1e6, 20, 20))},
		{"random", triangle(perRow(rnd, 1e5, 20, 0))},
	} {
		n := m.a.Rows
		bytes := m.a.NNZ()*12 + n*(4+3*8)
		for _, workers := range []int{1, 2} {
			k := revsparse.SymmetricMul[float64, int32]{C: matrixOf[float64](rnd, n, 1), A: m.a, B: matrixOf[float64](rnd, n, 1), Workers: workers}
			g := revsparse.SymmetricMul[float64, int32]{C: matrixOf[float64](rnd, n, 1), A: m.a.With(make([]float64, m.a.NNZ())), B: matrixOf[float64](rnd, n, 1)}
			b.Run(fmt.Sprintf("%s/Forward/workers=%d", m.name, workers), func(b *testing.B) {
				for b.Loop() {
					k.Forward()
				}
				kerneltest.ReportBytes(b, bytes)
			})
			b.Run(fmt.Sprintf("%s/Adjoint/workers=%d", m.name, workers), func(b *testing.B) {
				for b.Loop() {
					k.Adjoint(g)
				}
				kerneltest.ReportBytes(b, bytes)
			})
		}
	}
}
