package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A sparseCase is operands of the loops over a row, in the middle of poison.
type sparseCase[T Float, I Index] struct {
	dst, v, a, ga, u []T
	ind              []I
	ldu              int
	dstAll, gaAll    []T // with the poison around
}

func newSparseCase[T Float, I Index](rnd *rand.Rand, n, entries, rows int) *sparseCase[T, I] {
	c := &sparseCase[T, I]{ldu: max(1, n) + rnd.IntN(3)}
	poisoned := func(n int) (x, all []T) {
		all = make([]T, n+2*guard)
		for i := range all {
			all[i] = T(math.NaN())
		}
		x = all[guard : guard+n : guard+n]
		for i := range x {
			x[i] = T(rnd.NormFloat64())
		}
		return x, all
	}
	c.dst, c.dstAll = poisoned(n)
	c.ga, c.gaAll = poisoned(entries)
	c.v, _ = poisoned(n)
	c.a, _ = poisoned(entries)
	c.u, _ = poisoned((rows-1)*c.ldu + n)
	for i := range rows - 1 {
		for j := n; j < c.ldu; j++ {
			c.u[i*c.ldu+j] = T(math.NaN())
		}
	}
	for range entries {
		c.ind = append(c.ind, I(rnd.IntN(rows)))
	}
	return c
}

func TestSparse(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		t.Run("float64 int", testSparse[float64, int])
		t.Run("float64 int32", testSparse[float64, int32])
		t.Run("float32 int", testSparse[float32, int])
		t.Run("float32 int32", testSparse[float32, int32])
	})
}

func testSparse[T Float, I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	for cols := range 140 {
		n := SparseCols[T](cols)
		if n > cols || n > sparseMost || n == 0 && cols > 0 {
			t.Fatalf("SparseCols(%d) = %d", cols, n)
		}
		for _, entries := range []int{0, 1, 2, 3, 7, 20} {
			c := newSparseCase[T, I](rnd, n, entries, 5)
			checkSparse(t, fmt.Sprintf("%d columns, %d entries", n, entries), c)
		}
	}
	checkSparse(t, "several calls", newSparseCase[T, I](rnd, SparseCols[T](9), 2*SparseEntries+5, 3))
}

// checkSparse compares the loops with sums in float64, and with each other.
func checkSparse[T Float, I Index](t *testing.T, name string, c *sparseCase[T, I]) {
	t.Helper()
	const alpha, gamma = 0.75, -1.5
	dst, ga := clone(c.dstAll), clone(c.gaAll)
	part := func(x []T) []T { return x[guard : len(x)-guard] }
	SparseRow(part(dst), alpha, c.a, c.ind, c.u, c.ldu)
	SparseDots(part(ga), gamma, c.v, 0, c.ind, c.u, c.ldu)

	within := func(what string, got, want T, magnitude float64) {
		if d := math.Abs(float64(got - want)); !(d <= 4*float64(len(c.ind)+len(c.dst)+2)*unit[T]()*magnitude) {
			t.Fatalf("%s: %s is %v, want %v", name, what, got, want)
		}
	}
	for j, before := range c.dst {
		s, m := 0.0, math.Abs(float64(before))
		for q, i := range c.ind {
			p := float64(c.a[q]) * float64(c.u[int(i)*c.ldu+j])
			s, m = s+p, m+math.Abs(p)
		}
		within(fmt.Sprintf("dst[%d]", j), part(dst)[j], before+T(alpha*s), m)
	}
	for q, i := range c.ind {
		s, m := 0.0, math.Abs(float64(c.ga[q]))
		for j, v := range c.v {
			p := gamma * float64(v) * float64(c.u[int(i)*c.ldu+j])
			s, m = s+p, m+math.Abs(p)
		}
		within(fmt.Sprintf("ga[%d]", q), part(ga)[q], c.ga[q]+T(s), m)
	}
	for _, x := range [][]T{dst, ga} {
		for i := range guard {
			if !math.IsNaN(float64(x[i])) || !math.IsNaN(float64(x[len(x)-1-i])) {
				t.Fatalf("%s: the memory around the result is written", name)
			}
		}
	}
	dst2, ga2 := clone(c.dstAll), clone(c.gaAll)
	SparseRowDots(part(dst2), alpha, c.a, part(ga2), gamma, c.v, 0, c.ind, c.u, c.ldu)
	sameSlice(t, name+": dst of both", dst2, dst)
	sameSlice(t, name+": ga of both", ga2, ga)
}

func TestSparsePanics(t *testing.T) {
	x, ind := make([]float64, 4), []int{0, 0, 0}
	for name, f := range map[string]func(){
		"SparseRow":        func() { SparseRow(x[:1], 1, x[:2], ind, x, 1) },
		"SparseDots":       func() { SparseDots(x[:2], 1, x[:1], 1, ind, x, 1) },
		"SparseRowDots":    func() { SparseRowDots(x[:1], 1, x[:3], x[:2], 1, x[:1], 1, ind, x, 1) },
		"SparseRowDots, v": func() { SparseRowDots(x[:1], 1, x[:3], x[:3], 1, x[:2], 1, ind, x, 1) },
	} {
		func() {
			defer func() {
				if v := recover(); v != badLength {
					t.Errorf("%s: panic %v, want %q", name, v, badLength)
				}
			}()
			f()
		}()
	}
}

func TestSparseColumn(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		t.Run("float64 int", testSparseColumn[float64, int])
		t.Run("float64 int32", testSparseColumn[float64, int32])
		t.Run("float32 int", testSparseColumn[float32, int])
		t.Run("float32 int32", testSparseColumn[float32, int32])
	})
}

func testSparseColumn[T Float, I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 2))
	for _, rows := range []int{0, 1, 2, 3, 20} {
		for _, perRow := range []int{0, 1, 3, 4, 5, 9, 30} {
			const lo, cols, base = 3, 12, 7
			const alpha, beta, gamma = 0.75, -1.5, 1.25
			var end []I
			n := 0
			for range rows {
				n += rnd.IntN(perRow + 1)
				end = append(end, I(base+n))
			}
			c := newSparseCase[T, I](rnd, rows, n, cols)
			for q := range c.ind {
				c.ind[q] = I(lo + rnd.IntN(cols-lo))
			}
			u, w := normalSlice[T](cols, 7), normalSlice[T](cols-lo, 8)
			out, ga := clone(c.dstAll), clone(c.gaAll)
			wantOut, wantW, wantGa := make([]float64, rows), make([]float64, cols-lo), make([]float64, n)
			for j, v := range w {
				wantW[j] = float64(v)
			}
			q := 0
			for i, e := range end {
				wantOut[i] = float64(c.dst[i])
				for ; q < int(e)-base; q++ {
					j := int(c.ind[q])
					wantOut[i] += alpha * float64(c.a[q]) * float64(u[j])
					wantW[j-lo] += beta * float64(c.a[q]) * float64(c.v[i])
					wantGa[q] = float64(c.ga[q]) + gamma*float64(c.v[i])*float64(u[j])
				}
			}
			part := func(x []T) []T { return x[guard : len(x)-guard] }
			near := func(what string, got []T, want []float64) {
				t.Helper()
				for i, x := range want {
					if d := math.Abs(float64(got[i]) - x); !(d <= 200*float64(perRow+rows+1)*unit[T]()) {
						t.Fatalf("%d rows, %d entries, %s: element %d is %v, want %v", rows, n, what, i, got[i], x)
					}
				}
			}
			// The entries of w before lo are not there.
			SparseGather(end, base, c.a, c.ind, part(out), alpha, u)
			near("SparseGather", part(out), wantOut)
			wOne := clone(w)
			SparseScatter(end, base, c.a, c.ind, c.v, beta, wOne, lo)
			near("SparseScatter", wOne, wantW)

			outAll, wAll := clone(c.dstAll), clone(w)
			SparseGatherScatter(end, base, c.a, c.ind, part(outAll), alpha, u, c.v, beta, wAll, lo)
			sameSlice(t, "out of SparseGatherScatter", outAll, out)
			sameSlice(t, "w of SparseGatherScatter", wAll, wOne)

			outAll = clone(c.dstAll)
			SparseGatherGrad(end, base, c.a, c.ind, part(outAll), alpha, u, c.v, part(ga), gamma)
			sameSlice(t, "out of SparseGatherGrad", outAll, out)
			near("SparseGatherGrad", part(ga), wantGa)

			outAll, wAll = clone(c.dstAll), clone(w)
			gaAll := clone(c.gaAll)
			SparseGatherScatterGrad(end, base, c.a, c.ind, part(outAll), alpha, u, c.v, beta, wAll, lo, part(gaAll), gamma)
			sameSlice(t, "out of SparseGatherScatterGrad", outAll, out)
			sameSlice(t, "w of SparseGatherScatterGrad", wAll, wOne)
			sameSlice(t, "ga of SparseGatherScatterGrad", gaAll, ga)
		}
	}
}

func TestIndexRange(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		t.Run("int", testIndexRange[int])
		t.Run("int32", testIndexRange[int32])
	})
}

func testIndexRange[I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 3))
	for n := range 70 {
		x := make([]I, n+2)
		x[0], x[n+1] = -1000, 1000 // outside of the part that counts
		for i := range n {
			x[i+1] = I(rnd.IntN(200) - 100)
		}
		wantLo, wantHi := I(0), I(-1)
		if n > 0 {
			wantLo, wantHi = genericIndexRange(x[1 : n+1])
		}
		if lo, hi := IndexRange(x[1 : n+1]); lo != wantLo || hi != wantHi {
			t.Errorf("of %d: %d to %d, want %d to %d", n, lo, hi, wantLo, wantHi)
		}
	}
}
