package revsparse_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revsparse"
)

// Mul and SymmetricMul keep the structure of a matrix between calls. They do not use it
// for another matrix, nor for the same storage with other contents. Each goroutine has
// its own.
func TestKeptStructure(t *testing.T) {
	symmetric := func(a revsparse.CSR[float64, int32]) mat.Matrix {
		d := toMat(a)
		d.Add(d, mat.DenseCopyOf(d.T()))
		for i := range a.Rows {
			d.Set(i, i, d.At(i, i)/2)
		}
		return d
	}
	for _, workers := range []int{1, 3} {
		for _, cols := range []int{1, 3, 20, 70} {
			t.Run(fmt.Sprintf("Mul/%d columns/%d workers", cols, workers), func(t *testing.T) {
				testKeptStructure(t, cols, false, func(c rev.General[float64], a revsparse.CSR[float64, int32], b rev.General[float64]) {
					revsparse.Mul[float64, int32]{C: c, A: a, B: b, Trans: true, Workers: workers}.Forward()
				}, func(a revsparse.CSR[float64, int32]) mat.Matrix { return toMat(a).T() })
			})
			t.Run(fmt.Sprintf("SymmetricMul/%d columns/%d workers", cols, workers), func(t *testing.T) {
				testKeptStructure(t, cols, true, func(c rev.General[float64], a revsparse.CSR[float64, int32], b rev.General[float64]) {
					revsparse.SymmetricMul[float64, int32]{C: c, A: a, B: b, Workers: workers}.Forward()
				}, symmetric)
			})
		}
	}
}

// testKeptStructure compares products with those of dense matrices, from several
// goroutines at once.
func testKeptStructure(t *testing.T, cols int, square bool, product func(c rev.General[float64], a revsparse.CSR[float64, int32], b rev.General[float64]), dense func(revsparse.CSR[float64, int32]) mat.Matrix) {
	const n = 40
	var wait sync.WaitGroup
	for seed := range uint64(4) {
		wait.Go(func() {
			rnd := rand.New(rand.NewPCG(1, 100+seed))
			a := perRow(rnd, n, 5, 0)
			check := func(what string, a revsparse.CSR[float64, int32]) {
				b, c := matrixOf[float64](rnd, a.Rows, cols), matrixOf[float64](rnd, a.Cols, cols)
				var want mat.Dense
				want.Mul(dense(a), mat.NewDense(a.Rows, cols, b.Data))
				want.Add(&want, mat.NewDense(a.Cols, cols, slices.Clone(c.Data)))
				product(c, a, b)
				if !mat.EqualApprox(mat.NewDense(a.Cols, cols, c.Data), &want, 1e-12) {
					t.Errorf("%s: the product is that of another matrix", what)
				}
			}
			check("first", a)
			check("again", a)
			a.Data[33]++
			check("another value", a)
			a.Data[33] = 0
			check("a zero", a)
			a.Ind[33] = (a.Ind[33] + 1) % n
			check("another index", a)
			a.Ptr[7]++
			check("an entry of another row", a)
			other := a
			other.Ptr, other.Ind = slices.Clone(a.Ptr), slices.Clone(a.Ind)
			other.Ind[0] = (other.Ind[0] + 1) % n
			check("other storage", other)
			larger := a
			larger.Rows, larger.Cols, larger.Ptr = n+1, n+1, append(slices.Clone(a.Ptr), a.Ptr[n])
			check("one more row and column", larger)
			if !square {
				wider := a
				wider.Cols++
				check("one more column", wider)
			}
			product(rev.General[float64]{}, revsparse.CSR[float64, int32]{Ptr: []int32{0}}, rev.General[float64]{})
			product(matrixOf[float64](rnd, n, cols), revsparse.CSR[float64, int32]{Rows: n, Cols: n, Ptr: make([]int32, n+1), Data: []float64{}}, matrixOf[float64](rnd, n, cols))
			check("after matrices without entries", a)
		})
	}
	wait.Wait()
}

// Kernels keep nothing that is the caller's: a garbage collection frees the operands of
// a call, though only the second one frees workspaces.
func TestNothingOfTheCallerIsKept(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	const n = 50
	a := func() revsparse.CSR[float64, int] { return random[float64, int](rnd, n, n, 4) }
	like := func(a revsparse.CSR[float64, int]) revsparse.CSR[float64, int] {
		return a.With(make([]float64, a.NNZ()))
	}
	dense := func(cols int) rev.General[float64] { return matrixOf[float64](rnd, n, cols) }
	for name, call := range map[string]func(w *watched){
		"Mul of one column":   func(w *watched) { w.mul(a(), dense, 1) },
		"Mul of few columns":  func(w *watched) { w.mul(a(), dense, 5) },
		"Mul of many columns": func(w *watched) { w.mul(a(), dense, 40) },
		"Mul in panels":       func(w *watched) { w.mul(a(), dense, 100) },
		"SymmetricMul": func(w *watched) {
			k := revsparse.SymmetricMul[float64, int]{C: dense(3), A: a(), B: dense(3)}
			g := revsparse.SymmetricMul[float64, int]{C: dense(3), A: like(k.A), B: dense(3)}
			w.sparse(k.A, g.A)
			w.dense(k.C, k.B, g.C, g.B)
			k.Adjoint(g)
		},
		"SampledMul": func(w *watched) {
			k := revsparse.SampledMul[float64, int]{S: a(), A: dense(70), B: dense(70)}
			g := revsparse.SampledMul[float64, int]{S: like(k.S), A: dense(70), B: dense(70)}
			w.sparse(k.S, g.S)
			w.dense(k.A, k.B, g.A, g.B)
			k.Adjoint(g)
		},
		"SpGEMM": func(w *watched) {
			k := revsparse.SpGEMM[float64, int]{C: a(), A: a(), B: a()}
			g := revsparse.SpGEMM[float64, int]{C: like(k.C), A: like(k.A), B: like(k.B)}
			w.sparse(k.C, k.A, k.B, g.C, g.A, g.B)
			k.Adjoint(g)
		},
		"Dot": func(w *watched) {
			k := revsparse.Dot[float64, int]{Out: new(float64), A: a(), B: a()}
			g := revsparse.Dot[float64, int]{Out: new(float64), A: like(k.A), B: like(k.B)}
			w.sparse(k.A, k.B, g.A, g.B)
			k.Adjoint(g)
		},
		"LogMul": func(w *watched) {
			k := revsparse.LogMul[float64, int]{C: dense(3), A: a(), B: dense(3)}
			g := revsparse.LogMul[float64, int]{C: dense(3), A: like(k.A), B: dense(3)}
			w.sparse(k.A, g.A)
			w.dense(k.C, k.B, g.C, g.B)
			k.Adjoint(g)
		},
	} {
		var w watched
		call(&w)
		runtime.GC()
		// The counts go down in a goroutine of the runtime, which a busy machine may hold up.
		for range 60000 {
			if w.left.Load() == 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if left := w.left.Load(); left > 0 {
			t.Errorf("%s: %d operands are kept", name, left)
		}
	}
}

// watched counts operands that are in memory.
type watched struct{ left atomic.Int32 }

func watch[E any](w *watched, x []E) {
	if len(x) > 0 {
		w.left.Add(1)
		runtime.AddCleanup(&x[0], func(w *watched) { w.left.Add(-1) }, w)
	}
}

func (w *watched) sparse(matrices ...revsparse.CSR[float64, int]) {
	seen := map[*int]bool{}
	for _, a := range matrices {
		if len(a.Data) > 0 && !seen[&a.Ptr[0]] {
			seen[&a.Ptr[0]] = true
			watch(w, a.Ptr)
			watch(w, a.Ind)
		}
		watch(w, a.Data)
	}
}

func (w *watched) dense(matrices ...rev.General[float64]) {
	for _, m := range matrices {
		watch(w, m.Data)
	}
}

func (w *watched) mul(a revsparse.CSR[float64, int], dense func(int) rev.General[float64], cols int) {
	k := revsparse.Mul[float64, int]{C: dense(cols), A: a, B: dense(cols), Alpha: new(float64)}
	g := revsparse.Mul[float64, int]{C: dense(cols), A: a.With(make([]float64, a.NNZ())), B: dense(cols), Alpha: new(float64)}
	w.sparse(k.A, g.A)
	w.dense(k.C, k.B, g.C, g.B)
	k.Adjoint(g)
}
