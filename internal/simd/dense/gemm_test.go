package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// A matrix is an operand of the tests. Its elements are in the middle of a slice of poison.
// The poison is between the rows and on both sides.
type matrix[T cpu.Float] struct {
	rows, cols int
	rs, cs     int
	data       []T
	all        []T // data and the poison around it
}

const guard = 40

// layouts are the ways in which a matrix may lie.
const (
	byRows = iota
	byColumns
	scattered
	layouts
)

func newMatrix[T cpu.Float](rnd *rand.Rand, rows, cols, layout int) matrix[T] {
	gap := []int{0, 0, 1, 4}[rnd.IntN(4)]
	m := matrix[T]{rows: rows, cols: cols}
	switch layout {
	case byRows:
		m.rs, m.cs = cols+gap, 1
	case byColumns:
		m.rs, m.cs = 1, rows+gap
	case scattered:
		m.rs, m.cs = 2*cols+1+gap, 2
	}
	n := 0
	if rows > 0 && cols > 0 {
		n = (rows-1)*m.rs + (cols-1)*m.cs + 1
	}
	m.all = make([]T, n+2*guard)
	for i := range m.all {
		m.all[i] = T(math.NaN())
	}
	m.data = m.all[guard : guard+n : guard+n]
	m.each(func(x *T) { *x = T(rnd.NormFloat64()) })
	return m
}

func (m matrix[T]) at(i, j int) *T { return &m.data[i*m.rs+j*m.cs] }

func (m matrix[T]) each(f func(x *T)) {
	for i := range m.rows {
		for j := range m.cols {
			f(m.at(i, j))
		}
	}
}

func (m matrix[T]) clone() matrix[T] {
	all := append([]T(nil), m.all...)
	m.all, m.data = all, all[guard:guard+len(m.data):guard+len(m.data)]
	return m
}

// abs returns the matrix of absolute values.
func (m matrix[T]) abs() matrix[T] {
	m = m.clone()
	m.each(func(x *T) { *x = max(*x, -*x) })
	return m
}

// check fails if an element of m differs from want by more than factor roundings of scale.
// It also fails if anything outside the elements is not as in want.
func (m matrix[T]) check(t *testing.T, name string, want, scale matrix[T], factor float64) {
	t.Helper()
	rest := m.clone()
	for i := range m.rows {
		for j := range m.cols {
			got, want, bound := *m.at(i, j), *want.at(i, j), factor*simdtest.Unit[T]()*float64(*scale.at(i, j))
			if !(math.Abs(float64(got)-float64(want)) <= bound) {
				t.Fatalf("%s: element %d, %d is %v, want %v within %g", name, i, j, got, want, bound)
			}
			*rest.at(i, j) = want
		}
	}
	if !sameBits(rest.all, want.all) {
		t.Fatalf("%s: written outside of the %dx%d result", name, m.rows, m.cols)
	}
}

func sameBits[T cpu.Float](x, y []T) bool {
	bytes := func(x []T) string {
		return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
	}
	return bytes(x) == bytes(y)
}

func TestGemm(t *testing.T) { simdtest.ForEachType(t, &tier, testGemm[float64], testGemm[float32]) }

func testGemm[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	depths := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33}
	n := 0
	for rows := range 26 {
		for cols := range 3*48 + 2 {
			if (cols > 26 || !long.Tests()) && cols%5 != rows%5 || cols > 26 && cols%2 != rows%2 && !long.Tests() {
				continue
			}
			checkGemm[T](t, rnd, rows, cols, depths[rnd.IntN(len(depths))], n%(layouts*layouts))
			n++
		}
	}
	if testing.Short() || tier == cpu.Generic {
		return
	}
	// Sizes beyond those of the blocks.
	for i, size := range [][3]int{{33, 150, 257}, {129, 150, 260}, {130, 49, 300}, {257, 20, 513}, {7, 131, 700}, {1, 5, 1100}, {9, 2, 1100}, {33, 3, 65}, {70, 8, 300}, {140, 1, 600}, {70, 1040, 130}} {
		for layout := range layouts * layouts {
			if !long.Tests() && layout != i%(layouts*layouts) {
				continue
			}
			checkGemm[T](t, rnd, size[0], size[1], size[2], layout)
		}
	}
}

func checkGemm[T cpu.Float](t *testing.T, rnd *rand.Rand, m, n, k, layout int) {
	t.Helper()
	a := newMatrix[T](rnd, m, k, layout%layouts)
	b := newMatrix[T](rnd, k, n, layout/layouts)
	c := newMatrix[T](rnd, m, n, byRows)
	alpha := T(rnd.NormFloat64())
	want, scale := c.clone(), c.abs()
	simpleGemm(m, n, k, alpha, a.data, a.rs, a.cs, b.data, b.rs, b.cs, want.data, c.rs)
	simpleGemm(m, n, k, max(alpha, -alpha), a.abs().data, a.rs, a.cs, b.abs().data, b.rs, b.cs, scale.data, c.rs)
	narrow := c.clone()
	Gemm(m, n, k, alpha, a.data, a.rs, a.cs, b.data, b.rs, b.cs, c.data, c.rs)
	GemmNarrow(m, n, k, alpha, a.data, a.rs, a.cs, b.data, b.rs, b.cs, narrow.data, c.rs)
	// Each of the two sums has an error of k+2 roundings.
	c.check(t, fmt.Sprintf("m=%d n=%d k=%d layout %d", m, n, k, layout), want, scale, float64(2*(k+2)))
	narrow.check(t, fmt.Sprintf("narrow m=%d n=%d k=%d layout %d", m, n, k, layout), want, scale, float64(2*(k+2)))
}

// TestGemmNarrow compares products with few columns, of integers, with exact ones: on both sides of the sizes from
// which rows of A meet copies of columns of B, and of those of the copies.
func TestGemmNarrow(t *testing.T) {
	simdtest.ForEachType(t, &tier, testGemmNarrow[float64], testGemmNarrow[float32])
}

func testGemmNarrow[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 4))
	lanes := cpu.Lanes[T](tier)
	for _, m := range []int{GemmRows, GemmRows + 3, gemmRows + 1} {
		for n := 1; n <= lanes/2+1; n++ {
			for _, k := range []int{4*lanes - 1, 4 * lanes, dotDepth - 1, dotDepth, dotDepth + 1, 2*dotDepth + 1} {
				a, b, c := newMatrix[T](rnd, m, k, byRows), newMatrix[T](rnd, k, n, byRows), newMatrix[T](rnd, m, n, byRows)
				for _, x := range []matrix[T]{a, b, c} {
					x.each(func(x *T) { *x = T(rnd.IntN(9) - 4) })
				}
				want := c.clone()
				simpleGemm(m, n, k, -2, a.data, a.rs, a.cs, b.data, b.rs, b.cs, want.data, c.rs)
				GemmNarrow(m, n, k, -2, a.data, a.rs, a.cs, b.data, b.rs, b.cs, c.data, c.rs)
				c.check(t, fmt.Sprintf("m=%d n=%d k=%d", m, n, k), want, want.abs(), 0)
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	simdtest.ForEachType(t, &tier, testTranspose[float64], testTranspose[float32])
}

func testTranspose[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	for _, m := range []int{0, 1, 3, 4, 5, 8, 11, 70} {
		for _, n := range []int{0, 1, 3, 4, 6, 12, 67, 133} {
			x, y := newMatrix[T](rnd, m, n, byRows), newMatrix[T](rnd, n, m, byRows)
			want := y.clone()
			genericTranspose(want.data, y.rs, x.data, x.rs, m, n)
			if m > 0 && n > 0 && *want.at(n-1, m-1) != *x.at(m-1, n-1) {
				t.Fatal("the oracle is wrong")
			}
			Transpose(y.data, y.rs, x.data, x.rs, m, n)
			y.check(t, fmt.Sprintf("m=%d n=%d", m, n), want, want.abs(), 0)
		}
	}
}

func TestTriNorms(t *testing.T) {
	simdtest.ForEachType(t, &tier, testTriNorms[float64], testTriNorms[float32])
}

func testTriNorms[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for d := range 27 {
		for n := range 3*48 + 2 {
			if n > 26 && (n%7 != d%7 || n%2 != d%2 && !long.Tests()) || n <= 26 && n%3 != d%3 && !long.Tests() {
				continue
			}
			checkTriNorms[T](t, rnd, d, n)
		}
	}
	for _, size := range [][2]int{{33, 70}, {97, 65}, {130, 110}} { // larger than the blocks of pure Go
		checkTriNorms[T](t, rnd, size[0], size[1])
	}
	if testing.Short() || tier == cpu.Generic {
		return
	}
	for _, size := range [][2]int{{33, 500}, {64, 97}, {300, 49}} {
		checkTriNorms[T](t, rnd, size[0], size[1])
	}
	checkTriNorms[T](t, rnd, 1100, 5) // in several calls
}

func checkTriNorms[T cpu.Float](t *testing.T, rnd *rand.Rand, d, n int) {
	t.Helper()
	l, c := newMatrix[T](rnd, d, d, byRows), newMatrix[T](rnd, d, n, byRows)
	for i := range d {
		for j := i + 1; j < d; j++ {
			*l.at(i, j) = T(math.NaN())
		}
	}
	q, mu := newMatrix[T](rnd, 1, n, byRows), newMatrix[T](rnd, 1, d, byRows)
	want, scale, minusMu := q.clone(), q.clone(), mu.abs()
	for j := range d {
		*minusMu.at(0, j) *= -1 // so that |C| + |mu| is summed
	}
	for p := range n {
		var s T
		for i := range d {
			var y T
			for j := range i + 1 {
				y += T(*l.at(i, j) * (*c.at(j, p) - *mu.at(0, j)))
			}
			s += T(y * y)
		}
		*want.at(0, p) = s
	}
	genericTriNorms(d, n, scale.data, l.abs().data, l.rs, c.abs().data, c.rs, minusMu.data)
	TriNorms(d, n, q.data, l.data, l.rs, c.data, c.rs, mu.data)
	// A square has twice the relative error of its root, and d of them are added.
	tol := float64(2 * (3*d + 2))
	if tier == cpu.Generic {
		tol = 0 // it adds in the same order
	}
	q.check(t, fmt.Sprintf("d=%d n=%d", d, n), want, scale, tol)
}

func TestWeightedMoments(t *testing.T) {
	simdtest.ForEachType(t, &tier, testWeightedMoments[float64], testWeightedMoments[float32])
}

func testWeightedMoments[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for d := range 27 {
		for n := range 3*48 + 2 {
			if n > 18 && n%11 != d%11 {
				continue
			}
			checkWeightedMoments[T](t, rnd, d, n)
		}
	}
	if testing.Short() || tier == cpu.Generic {
		return
	}
	for _, size := range [][2]int{{64, 100}, {135, 61}, {5, 1030}, {150, 520}} {
		checkWeightedMoments[T](t, rnd, size[0], size[1])
	}
}

func checkWeightedMoments[T cpu.Float](t *testing.T, rnd *rand.Rand, d, n int) {
	t.Helper()
	c, w := newMatrix[T](rnd, d, n, byRows), newMatrix[T](rnd, 1, n, byRows)
	s, m := newMatrix[T](rnd, 1, d, byRows), newMatrix[T](rnd, d, d, byRows)
	for i := range d {
		for j := i + 1; j < d; j++ {
			*m.at(i, j) = T(math.NaN())
		}
	}
	wantM, wantS, scaleM, scaleS := m.clone(), s.clone(), m.abs(), s.abs()
	genericMoments(d, n, wantS.data, wantM.data, m.rs, w.data, c.data, c.rs)
	genericMoments(d, n, scaleS.data, scaleM.data, m.rs, w.abs().data, c.abs().data, c.rs)

	second := m.clone()
	WeightedMoments(d, n, nil, second.data, m.rs, w.data, c.data, c.rs)
	WeightedMoments(d, n, s.data, m.data, m.rs, w.data, c.data, c.rs)
	name := fmt.Sprintf("d=%d n=%d", d, n)
	if !sameBits(second.all, m.all) {
		t.Fatalf("%s: the first moments change the second", name)
	}
	s.check(t, name+", first", wantS, scaleS, float64(2*(n+2)))
	// Above the diagonal there is poison, which must not change.
	rest := m.clone()
	for i := range d {
		for j := range i + 1 {
			got, want, bound := *m.at(i, j), *wantM.at(i, j), float64(2*(n+3))*simdtest.Unit[T]()*float64(*scaleM.at(i, j))
			if !(math.Abs(float64(got)-float64(want)) <= bound) {
				t.Fatalf("%s: M[%d,%d] is %v, want %v within %g", name, i, j, got, want, bound)
			}
			*rest.at(i, j) = want
		}
	}
	if !sameBits(rest.all, wantM.all) {
		t.Fatalf("%s: written outside of the lower triangle", name)
	}
}

// class tells NaN and the infinities from each other and from the rest.
func class[T cpu.Float](x T) int {
	switch {
	case math.IsNaN(float64(x)):
		return 2
	case math.IsInf(float64(x), 0):
		return int(math.Copysign(1, float64(x)))
	}
	return 0
}

// TestGemmSpecials checks that a NaN or an infinity in an operand reaches the same results
// as in the generic code, and no others.
func TestGemmSpecials(t *testing.T) {
	simdtest.ForEachType(t, &tier, testGemmSpecials[float64], testGemmSpecials[float32])
}

func testGemmSpecials[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for trial := range 400 {
		x := T([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[trial%3])
		m, n, k := 1+rnd.IntN(20), 1+rnd.IntN(60), 1+rnd.IntN(40)
		ops := []matrix[T]{
			newMatrix[T](rnd, m, k, rnd.IntN(layouts)),
			newMatrix[T](rnd, k, n, rnd.IntN(layouts)),
			newMatrix[T](rnd, m, n, byRows),
		}
		hit := ops[rnd.IntN(3)]
		*hit.at(rnd.IntN(hit.rows), rnd.IntN(hit.cols)) = x
		a, b, c := ops[0], ops[1], ops[2]
		want := c.clone()
		simpleGemm(m, n, k, -2, a.data, a.rs, a.cs, b.data, b.rs, b.cs, want.data, c.rs)
		Gemm(m, n, k, -2, a.data, a.rs, a.cs, b.data, b.rs, b.cs, c.data, c.rs)
		sameClasses(t, "Gemm", c, want)

		l, y, q := newMatrix[T](rnd, m, m, byRows), newMatrix[T](rnd, m, n, byRows), newMatrix[T](rnd, 1, n, byRows)
		if i, j := rnd.IntN(m), rnd.IntN(m); j <= i && trial%2 == 0 {
			*l.at(i, j) = x
		} else {
			*y.at(i, rnd.IntN(n)) = x
		}
		want = q.clone()
		mu := newMatrix[T](rnd, 1, m, byRows)
		genericTriNorms(m, n, want.data, l.data, l.rs, y.data, y.rs, mu.data)
		TriNorms(m, n, q.data, l.data, l.rs, y.data, y.rs, mu.data)
		sameClasses(t, "TriNorms", q, want)

		w, s, mm := newMatrix[T](rnd, 1, n, byRows), newMatrix[T](rnd, 1, m, byRows), newMatrix[T](rnd, m, m, byRows)
		if trial%2 == 0 {
			*w.at(0, rnd.IntN(n)) = x
		}
		want, wantS := mm.clone(), s.clone()
		genericMoments(m, n, wantS.data, want.data, mm.rs, w.data, y.data, y.rs)
		WeightedMoments(m, n, s.data, mm.data, mm.rs, w.data, y.data, y.rs)
		sameClasses(t, "WeightedMoments", mm, want)
		sameClasses(t, "WeightedMoments, first", s, wantS)
	}
}

func sameClasses[T cpu.Float](t *testing.T, name string, got, want matrix[T]) {
	t.Helper()
	for i := range got.rows {
		for j := range got.cols {
			if x, y := *got.at(i, j), *want.at(i, j); class(x) != class(y) {
				t.Fatalf("%s: element %d, %d of %dx%d is %v, want %v", name, i, j, got.rows, got.cols, x, y)
			}
		}
	}
}

// TestGemmColumnsAlone checks that a column does not depend on the columns beside it.
// Callers may therefore cut the columns into blocks anywhere.
func TestGemmColumnsAlone(t *testing.T) {
	simdtest.ForEachType(t, &tier, testGemmColumnsAlone[float64], testGemmColumnsAlone[float32])
}

func testGemmColumnsAlone[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const m, n, k = 13, 131, 29
	for layout := range layouts {
		a, b, c := newMatrix[T](rnd, m, k, layout), newMatrix[T](rnd, k, n, byRows), newMatrix[T](rnd, m, n, byRows)
		q, l := make([]T, n), newMatrix[T](rnd, k, k, byRows)
		parts, qparts := c.clone(), make([]T, n)
		Gemm(m, n, k, 1, a.data, a.rs, a.cs, b.data, b.rs, 1, c.data, c.rs)
		TriNorms(k, n, q, l.data, l.rs, b.data, b.rs, a.data)
		var nb int
		for j := 0; j < n; j += nb {
			// At least two, as a single column may be taken as a row of dot products.
			nb = min(2+rnd.IntN(30), n-j)
			if n-j-nb == 1 {
				nb++
			}
			Gemm(m, nb, k, 1, a.data, a.rs, a.cs, b.data[j:], b.rs, 1, parts.data[j:], c.rs)
			TriNorms(k, nb, qparts[j:], l.data, l.rs, b.data[j:], b.rs, a.data)
		}
		if !sameBits(parts.all, c.all) {
			t.Errorf("Gemm, layout %d of A: the blocks matter", layout)
		}
		if !sameBits(q, qparts) {
			t.Error("TriNorms: the blocks matter")
		}
	}
}

func TestGemmPanics(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		long, short := make([]float64, 12), make([]float64, 11)
		for name, f := range map[string]func(){
			"a":            func() { Gemm(3, 3, 4, 1, short, 4, 1, long, 3, 1, long, 3) },
			"a by columns": func() { Gemm(3, 3, 4, 1, short, 1, 3, long, 3, 1, long, 3) },
			"b":            func() { Gemm(3, 3, 4, 1, long, 4, 1, short, 3, 1, long, 3) },
			"c":            func() { Gemm(3, 4, 3, 1, long, 3, 1, long, 4, 1, short, 4) },
			"stride":       func() { Gemm(1, 1, 1, 1, long, -1, 1, long, 1, 1, long, 1) },
			"q":            func() { TriNorms(1, 12, short[:11:11], long, 1, long, 12, long) },
			"l":            func() { TriNorms(3, 3, long, short[:8], 3, long, 3, long) },
			"c of norms":   func() { TriNorms(3, 4, long, long, 3, short, 4, long) },
			"mu":           func() { TriNorms(3, 4, long, long, 3, long, 4, short[:2:2]) },
			"m":            func() { WeightedMoments(3, 4, long, short[:8], 3, long, long, 4) },
			"s":            func() { WeightedMoments(3, 4, short[:2:2], long, 3, long, long, 4) },
			"w":            func() { WeightedMoments(3, 4, long, long, 3, short[:3], long, 4) },
			"c of moments": func() { WeightedMoments(3, 4, long, long, 3, long, short, 4) },
		} {
			if !simdtest.Panics(f) {
				t.Errorf("%s: no panic", name)
			}
		}
	})
}

// simpleGemm is Gemm as its equation.
func simpleGemm[T cpu.Float](m, n, k int, alpha T, a []T, rsa, csa int, b []T, rsb, csb int, c []T, ldc int) {
	for i := range m {
		for j := range n {
			var s T
			for l := range k {
				s += T(a[i*rsa+l*csa] * b[l*rsb+j*csb])
			}
			c[i*ldc+j] += T(alpha * s)
		}
	}
}

// In pure Go, products have the same bits for all strides and sizes.
func TestGemmGenericBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 1))
	sizes := []int{1, 2, 3, 4, 7, 8, 9, 33, 65, 130}
	for range 300 {
		m, n, k := sizes[rnd.IntN(len(sizes))], sizes[rnd.IntN(len(sizes))], sizes[rnd.IntN(len(sizes))]
		a, b := newMatrix[float64](rnd, m, k, rnd.IntN(layouts)), newMatrix[float64](rnd, k, n, rnd.IntN(layouts))
		got, want := make([]float64, m*(n+1)), make([]float64, m*(n+1))
		genericGemm(m, n, k, 0.3, a.data, a.rs, a.cs, b.data, b.rs, b.cs, got, n+1)
		simpleGemm(m, n, k, 0.3, a.data, a.rs, a.cs, b.data, b.rs, b.cs, want, n+1)
		if !slices.Equal(got, want) {
			t.Fatalf("%d×%d×%d, strides %d,%d and %d,%d: other bits", m, k, n, a.rs, a.cs, b.rs, b.cs)
		}
	}
}
