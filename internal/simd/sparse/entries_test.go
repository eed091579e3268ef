package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// A sparseCase holds operands of the loops over rows, in the middle of poison.
type sparseCase[T cpu.Float, I Index] struct {
	dst, v, a, ga, u []T
	end, ind         []I
	base             int
	n, ldd, ldv, ldu int
	dstAll, gaAll    []T // with the poison around
}

// entries returns the operands of a loop that reads u and v. No destination is set.
func (c *sparseCase[T, I]) entries() *Entries[T, I] {
	return &Entries[T, I]{
		End: c.end, Base: c.base, Ind: c.ind, A: c.a, U: c.u, LdU: c.ldu, V: c.v, LdV: c.ldv, LdOut: c.ldd,
		Alpha: 0.75, Beta: 1.25, Gamma: -1.5,
	}
}

// inside returns what lies within the poison.
func inside[T any](x []T) []T { return x[guard : len(x)-guard] }

// newSparseCase returns a case whose rows have the given numbers of entries. The entries
// refer to 5 rows of n elements.
func newSparseCase[T cpu.Float, I Index](rnd *rand.Rand, n int, entries ...int) *sparseCase[T, I] {
	const met = 5
	stride := func() int { return max(1, n) + rnd.IntN(3) }
	c := &sparseCase[T, I]{n: n, ldd: stride(), ldv: stride(), ldu: stride(), base: 7}
	total := 0
	for _, e := range entries {
		total += e
		c.end = append(c.end, I(c.base+total))
	}
	c.dst, c.dstAll = poisoned[T](rnd, len(entries), n, c.ldd)
	c.v, _ = poisoned[T](rnd, len(entries), n, c.ldv)
	c.u, _ = poisoned[T](rnd, met, n, c.ldu)
	c.ga, c.gaAll = poisoned[T](rnd, 1, total, total)
	c.a, _ = poisoned[T](rnd, 1, total, total)
	for range total {
		c.ind = append(c.ind, I(rnd.IntN(met)))
	}
	return c
}

const guard = 40 // elements of poison on both sides

// poisoned returns rows of n numbers with poison between them. all includes the poison around
// them.
func poisoned[T cpu.Float](rnd *rand.Rand, rows, n, stride int) (x, all []T) {
	size := (rows-1)*stride + n
	all = make([]T, size+2*guard)
	for i := range all {
		all[i] = T(math.NaN())
	}
	x = all[guard : guard+size : guard+size]
	for i := range rows {
		for j := range n {
			x[i*stride+j] = T(rnd.NormFloat64())
		}
	}
	return x, all
}

// forEachIndex runs tests of both types of elements, with both types of indices, on every
// tier.
func forEachIndex(t *testing.T, f64int, f64int32, f32int, f32int32 func(t *testing.T)) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		t.Run("float64 int", f64int)
		t.Run("float64 int32", f64int32)
		t.Run("float32 int", f32int)
		t.Run("float32 int32", f32int32)
	})
}

func TestSparse(t *testing.T) {
	forEachIndex(t, testSparse[float64, int], testSparse[float64, int32], testSparse[float32, int], testSparse[float32, int32])
}

func testSparse[T cpu.Float, I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	for cols := range 140 {
		n := Cols[T](cols)
		if n > cols || n > mostCols || n == 0 && cols > 0 {
			t.Fatalf("Cols(%d) = %d", cols, n)
		}
		for _, entries := range [][]int{{0}, {1}, {2}, {3}, {4}, {5}, {7}, {8}, {20}, {3, 0, 0, 9, 1}, {0, 4, 8, 0}} {
			checkSparse(t, fmt.Sprintf("%d columns, %d entries", n, entries), newSparseCase[T, I](rnd, n, entries...))
		}
	}
	checkSparse(t, "as many entries as a call takes", newSparseCase[T, I](rnd, Cols[T](9), 5, MaxEntries-5))
}

// checkSparse compares the loops with sums in float64, and with each other.
func checkSparse[T cpu.Float, I Index](t *testing.T, name string, c *sparseCase[T, I]) {
	t.Helper()
	const alpha, gamma = 0.75, -1.5
	dst, ga := slices.Clone(c.dstAll), slices.Clone(c.gaAll)
	e := c.entries()
	e.Out = inside(dst)
	e.Columns(c.n)
	e.Out, e.GA = nil, inside(ga)
	e.Columns(c.n)

	within := func(what string, got, want T, magnitude float64) {
		if d := math.Abs(float64(got - want)); !(d <= 4*float64(len(c.ind)+c.n+2)*simdtest.Unit[T]()*magnitude) {
			t.Fatalf("%s: %s is %v, want %v", name, what, got, want)
		}
	}
	wantDst := slices.Clone(c.dstAll) // the gaps and the poison
	q := 0
	for i, end := range c.end {
		begin := q
		for j := range c.n {
			before := c.dst[i*c.ldd+j]
			s, m := 0.0, math.Abs(float64(before))
			for q = begin; q < int(end)-c.base; q++ {
				p := float64(c.a[q]) * float64(c.u[int(c.ind[q])*c.ldu+j])
				s, m = s+p, m+math.Abs(p)
			}
			got := inside(dst)[i*c.ldd+j]
			within(fmt.Sprintf("row %d, element %d", i, j), got, before+T(alpha*s), m)
			inside(wantDst)[i*c.ldd+j] = got
		}
		for q = begin; q < int(end)-c.base; q++ {
			s, m := 0.0, math.Abs(float64(c.ga[q]))
			for j := range c.n {
				p := gamma * float64(c.v[i*c.ldv+j]) * float64(c.u[int(c.ind[q])*c.ldu+j])
				s, m = s+p, m+math.Abs(p)
			}
			within(fmt.Sprintf("ga[%d]", q), inside(ga)[q], c.ga[q]+T(s), m)
		}
	}
	simdtest.SameSlice(t, name+": between and around the rows", dst, wantDst)
	for i := range guard {
		if !math.IsNaN(float64(ga[i])) || !math.IsNaN(float64(ga[len(ga)-1-i])) {
			t.Fatalf("%s: the memory around ga is written", name)
		}
	}
	dst2, ga2 := slices.Clone(c.dstAll), slices.Clone(c.gaAll)
	e.Out, e.GA = inside(dst2), inside(ga2)
	e.Columns(c.n)
	simdtest.SameSlice(t, name+": dst of both", dst2, dst)
	simdtest.SameSlice(t, name+": ga of both", ga2, ga)
	if c.n == SpreadCols[T](c.n) {
		checkSpread(t, name, c, dst, ga)
	}
}

// checkSpread compares the loops that spread with sums in float64, and with dst and ga of
// the other loops.
func checkSpread[T cpu.Float, I Index](t *testing.T, name string, c *sparseCase[T, I], dst, ga []T) {
	t.Helper()
	const beta, met = 1.25, 5
	ldw := c.n + 1
	w, wAll := poisoned[T](rand.New(rand.NewPCG(4, 4)), met, c.n, ldw)
	want, top := make([]float64, len(w)), make([]float64, len(w))
	for i, x := range w {
		want[i], top[i] = float64(x), math.Abs(float64(x))
	}
	q := 0
	for i, end := range c.end {
		for ; q < int(end)-c.base; q++ {
			for j := range c.n {
				p := beta * float64(c.a[q]) * float64(c.v[i*c.ldv+j])
				want[int(c.ind[q])*ldw+j] += p
				top[int(c.ind[q])*ldw+j] += math.Abs(p)
			}
		}
	}
	one := slices.Clone(wAll)
	e := c.entries()
	e.W, e.LdW = inside(one), ldw
	e.Columns(c.n)
	for i, x := range inside(one) {
		// Poison must not change.
		if d := math.Abs(float64(x) - want[i]); d > 4*float64(len(c.ind)+2)*simdtest.Unit[T]()*top[i] || math.IsNaN(float64(x)) != math.IsNaN(want[i]) {
			t.Fatalf("%s: element %d of w is %v, want %v", name, i, x, want[i])
		}
	}
	for i := range guard {
		if !math.IsNaN(float64(one[i])) || !math.IsNaN(float64(one[len(one)-1-i])) {
			t.Fatalf("%s: the memory around w is written", name)
		}
	}
	w2, dst2 := slices.Clone(wAll), slices.Clone(c.dstAll)
	e.W, e.Out = inside(w2), inside(dst2)
	e.Columns(c.n)
	simdtest.SameSlice(t, name+": w of rows", w2, one)
	simdtest.SameSlice(t, name+": dst of rows", dst2, dst)
	w2, dst2 = slices.Clone(wAll), slices.Clone(c.dstAll)
	ga2 := slices.Clone(c.gaAll)
	e.W, e.Out, e.GA = inside(w2), inside(dst2), inside(ga2)
	e.Columns(c.n)
	simdtest.SameSlice(t, name+": w of all", w2, one)
	simdtest.SameSlice(t, name+": dst of all", dst2, dst)
	simdtest.SameSlice(t, name+": ga of all", ga2, ga)

	w2, ga2 = slices.Clone(wAll), slices.Clone(c.gaAll)
	e.W, e.Out, e.GA = inside(w2), nil, inside(ga2)
	e.Columns(c.n)
	simdtest.SameSlice(t, name+": w without dst", w2, one)
	simdtest.SameSlice(t, name+": ga without dst", ga2, ga)
}

func TestSparsePanics(t *testing.T) {
	x := make([]float64, 4)
	// Columns of one element, with three entries in two rows, which spoil changes.
	columns := func(n int, spoil func(e *Entries[float64, int])) func() {
		e := &Entries[float64, int]{
			End: []int{1, 3}, Ind: []int{0, 0, 0}, A: x, U: x, V: x, W: x, Out: x, GA: x, LdU: 1, LdW: 1, LdV: 1, LdOut: 1,
		}
		spoil(e)
		return func() { e.Columns(n) }
	}
	column := func(spoil func(e *Entries[float64, int])) func() {
		e := &Entries[float64, int]{End: []int{1, 3}, Ind: []int{0, 0, 0}, A: x, U: x, V: x, W: x, Out: x, GA: x}
		spoil(e)
		return e.Column
	}
	for name, f := range map[string]func(){
		"a":             columns(1, func(e *Entries[float64, int]) { e.A = x[:2] }),
		"end":           columns(1, func(e *Entries[float64, int]) { e.End = e.End[:1] }),
		"no end":        columns(1, func(e *Entries[float64, int]) { e.End = nil }),
		"out":           columns(3, func(e *Entries[float64, int]) { e.LdOut = 2 }),
		"stride":        columns(1, func(e *Entries[float64, int]) { e.LdOut = -1 }),
		"ga":            columns(1, func(e *Entries[float64, int]) { e.GA = x[:2] }),
		"v":             columns(1, func(e *Entries[float64, int]) { e.V = x[:1] }),
		"a of column":   column(func(e *Entries[float64, int]) { e.A = x[:2] }),
		"out of column": column(func(e *Entries[float64, int]) { e.Out = x[:1] }),
		"v of column":   column(func(e *Entries[float64, int]) { e.V = x[:1] }),
		"ga of column":  column(func(e *Entries[float64, int]) { e.GA = x[:2] }),
		"ga alone":      column(func(e *Entries[float64, int]) { e.Out = nil }),
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
	forEachIndex(t, testSparseColumn[float64, int], testSparseColumn[float64, int32], testSparseColumn[float32, int], testSparseColumn[float32, int32])
}

func testSparseColumn[T cpu.Float, I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 2))
	far := make([]T, 1<<18) // so large that pairs are fetched before
	for _, rows := range []int{0, 1, 2, 3, 20} {
		for _, perRow := range []int{0, 1, 3, 4, 5, 9, 30} {
			const cols, base = 12, 7
			const alpha, beta, gamma = 0.75, -1.5, 1.25
			var end []I
			n := 0
			for range rows {
				n += rnd.IntN(perRow + 1)
				end = append(end, I(base+n))
			}
			var c sparseCase[T, I]
			c.dst, c.dstAll = poisoned[T](rnd, 1, rows, rows)
			c.v, _ = poisoned[T](rnd, 1, rows, rows)
			c.ga, c.gaAll = poisoned[T](rnd, 1, n, n)
			c.a, _ = poisoned[T](rnd, 1, n, n)
			for range n {
				c.ind = append(c.ind, I(rnd.IntN(cols)))
			}
			u, w := simdtest.Normal[T](cols, 7), simdtest.Normal[T](cols, 8)
			out, ga := slices.Clone(c.dstAll), slices.Clone(c.gaAll)
			wantOut, wantW, wantGa := make([]float64, rows), make([]float64, cols), make([]float64, n)
			for j, v := range w {
				wantW[j] = float64(v)
			}
			q := 0
			for i, last := range end {
				wantOut[i] = float64(c.dst[i])
				for ; q < int(last)-base; q++ {
					j := int(c.ind[q])
					wantOut[i] += alpha * float64(c.a[q]) * float64(u[j])
					wantW[j] += beta * float64(c.a[q]) * float64(c.v[i])
					wantGa[q] = float64(c.ga[q]) + gamma*float64(c.v[i])*float64(u[j])
				}
			}
			near := func(what string, got []T, want []float64) {
				t.Helper()
				for i, x := range want {
					if d := math.Abs(float64(got[i]) - x); !(d <= 200*float64(perRow+rows+1)*simdtest.Unit[T]()) {
						t.Fatalf("%d rows, %d entries, %s: element %d is %v, want %v", rows, n, what, i, got[i], x)
					}
				}
			}
			e := Entries[T, I]{
				End: end, Base: base, Ind: c.ind, A: c.a, U: u, V: c.v, Out: inside(out), Alpha: alpha, Beta: beta, Gamma: gamma,
			}
			e.Column()
			near("Gather", inside(out), wantOut)
			outFar := slices.Clone(c.dstAll)
			e.Out, e.Far = inside(outFar), true
			e.Column()
			simdtest.SameSlice(t, "out of Gather from far", outFar, out)
			e.Far = false
			wOne := slices.Clone(w)
			e.Out, e.W = nil, wOne
			e.Column()
			near("Scatter", wOne, wantW)

			outAll, wAll := slices.Clone(c.dstAll), slices.Clone(w)
			e.Out, e.W = inside(outAll), wAll
			e.Column()
			simdtest.SameSlice(t, "out of GatherScatter", outAll, out)
			simdtest.SameSlice(t, "w of GatherScatter", wAll, wOne)

			outAll = slices.Clone(c.dstAll)
			e.Out, e.W, e.GA = inside(outAll), nil, inside(ga)
			e.Column()
			simdtest.SameSlice(t, "out of GatherGrad", outAll, out)
			near("GatherGrad", inside(ga), wantGa)

			outAll, wAll = slices.Clone(c.dstAll), slices.Clone(w)
			gaAll := slices.Clone(c.gaAll)
			e.Out, e.W, e.GA = inside(outAll), wAll, inside(gaAll)
			e.Column()
			simdtest.SameSlice(t, "out of GatherScatterGrad", outAll, out)
			simdtest.SameSlice(t, "w of GatherScatterGrad", wAll, wOne)
			simdtest.SameSlice(t, "ga of GatherScatterGrad", gaAll, ga)

			for n := range 4 {
				grad, uw := n%2 == 1, make([]T, 2*cols)
				if n > 1 {
					uw = far
				}
				for j := range cols {
					uw[2*j], uw[2*j+1] = u[j], w[j]
				}
				outAll, gaAll = slices.Clone(c.dstAll), slices.Clone(c.gaAll)
				p := e
				p.U, p.W, p.Out, p.GA = uw, nil, inside(outAll), nil
				if grad {
					p.GA = inside(gaAll)
				}
				ok := p.Pairs()
				if grad {
					simdtest.SameSlice(t, "ga of Pairs", gaAll, ga)
				}
				if !ok {
					t.Fatalf("an index of %v is outside of %d", c.ind, cols)
				}
				simdtest.SameSlice(t, "out of pairs", outAll, out)
				for j := range cols {
					if uw[2*j] != u[j] || uw[2*j+1] != wOne[j] {
						t.Fatalf("pair %d is %v", j, uw[2*j:2*j+2])
					}
				}
			}
		}
	}
}

// TestSparsePairsOutside checks that the loops over pairs stop at an index out of range,
// wherever it is.
func TestSparsePairsOutside(t *testing.T) {
	forEachIndex(t, testSparsePairsOutside[float64, int], testSparsePairsOutside[float64, int32], testSparsePairsOutside[float32, int], testSparsePairsOutside[float32, int32])
}

func testSparsePairsOutside[T cpu.Float, I Index](t *testing.T) {
	const cols, entries = 3, 23 // two groups of eight, one of four, and some
	a, v, out, ga := simdtest.Normal[T](entries, 1), simdtest.Normal[T](1, 2), make([]T, 1), make([]T, entries)
	for q := range entries {
		for _, bad := range []I{cols, -1, math.MaxInt32, math.MinInt32, 1 << (8*unsafe.Sizeof(I(0)) - 2)} {
			uw, ind := simdtest.Normal[T](2*cols+2*guard, 3), make([]I, entries)
			before := slices.Clone(uw)
			for k := range q {
				ind[k] = 1
			}
			ind[q] = bad
			e := Entries[T, I]{End: []I{entries}, Ind: ind, A: a, U: inside(uw), V: v, Out: out, Alpha: 1, Beta: 1, Gamma: 1}
			if e.Pairs() {
				t.Fatalf("no stop at index %d of entry %d", bad, q)
			}
			e.GA = ga
			if e.Pairs() {
				t.Fatalf("no stop at index %d of entry %d, with gradients", bad, q)
			}
			before[guard+3] = uw[guard+3] // of the entries before
			simdtest.SameSlice(t, "but for the entries before", uw, before)
		}
	}
	e := Entries[T, I]{End: []I{entries}, Ind: make([]I, entries), A: a, V: v, Out: out}
	if e.Pairs() {
		t.Error("no stop where there are no pairs")
	}
}

func TestIndexRange(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		t.Run("int", testIndexRange[int])
		t.Run("int32", testIndexRange[int32])
	})
}

func testIndexRange[I Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 3))
	sizes := []int{MaxEntries - 1, MaxEntries + 3, 2*MaxEntries + 17}
	for n := range 70 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		x := make([]I, n+2)
		x[0], x[n+1] = math.MinInt32, math.MaxInt32 // outside of the part that counts
		for i := range n {
			x[i+1] = I(rnd.IntN(4*n) - 2*n)
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
