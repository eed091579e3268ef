package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// A matrix is what the tests hand to the products: elements in the middle of a
// slice of poison, which lies in the gaps between rows and on both sides.
type matrix[T Float] struct {
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

func newMatrix[T Float](rnd *rand.Rand, rows, cols, layout int) matrix[T] {
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

// check fails if an element of m is farther from want's than bound's times that
// of scale, or if anything else changed from what it was in want.
func (m matrix[T]) check(t *testing.T, name string, want, scale matrix[T], factor float64) {
	t.Helper()
	rest := m.clone()
	for i := range m.rows {
		for j := range m.cols {
			got, want, bound := *m.at(i, j), *want.at(i, j), factor*eps[T]()*float64(*scale.at(i, j))
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

// eps is the unit roundoff.
func eps[T Float]() float64 {
	if is64[T]() {
		return 0x1p-53
	}
	return 0x1p-24
}

func sameBits[T Float](x, y []T) bool {
	bytes := func(x []T) string {
		return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0))))
	}
	return bytes(x) == bytes(y)
}

func forEachType(t *testing.T, f64, f32 func(t *testing.T)) {
	forEachTier(t, func(t *testing.T) {
		t.Run("float64", f64)
		t.Run("float32", f32)
	})
}

func TestGemm(t *testing.T) { forEachType(t, testGemm[float64], testGemm[float32]) }

func testGemm[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	depths := []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33}
	n := 0
	for rows := range 26 {
		for cols := range 3*48 + 2 {
			if cols > 26 && cols%5 != rows%5 {
				continue
			}
			checkGemm[T](t, rnd, rows, cols, depths[rnd.IntN(len(depths))], n%(layouts*layouts))
			n++
		}
	}
	// Past the blocks, where matrices are packed.
	for _, size := range [][3]int{{33, 150, 257}, {129, 150, 260}, {130, 49, 300}, {257, 20, 513}, {7, 131, 700}, {1, 5, 1100}, {140, 1, 600}} {
		for layout := range layouts * layouts {
			checkGemm[T](t, rnd, size[0], size[1], size[2], layout)
		}
	}
}

func checkGemm[T Float](t *testing.T, rnd *rand.Rand, m, n, k, layout int) {
	t.Helper()
	a := newMatrix[T](rnd, m, k, layout%layouts)
	b := newMatrix[T](rnd, k, n, layout/layouts)
	c := newMatrix[T](rnd, m, n, byRows)
	alpha := T(rnd.NormFloat64())
	want, scale := c.clone(), c.abs()
	genericGemm(m, n, k, alpha, a.data, a.rs, a.cs, b.data, b.rs, b.cs, want.data, c.rs)
	genericGemm(m, n, k, max(alpha, -alpha), a.abs().data, a.rs, a.cs, b.abs().data, b.rs, b.cs, scale.data, c.rs)
	Gemm(m, n, k, alpha, a.data, a.rs, a.cs, b.data, b.rs, b.cs, c.data, c.rs)
	// Each of the two sums has an error of k+2 roundings.
	c.check(t, fmt.Sprintf("m=%d n=%d k=%d layout %d", m, n, k, layout), want, scale, float64(2*(k+2)))
}

func TestTriNorms(t *testing.T) { forEachType(t, testTriNorms[float64], testTriNorms[float32]) }

func testTriNorms[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for d := range 27 {
		for n := range 3*48 + 2 {
			if n > 26 && n%7 != d%7 {
				continue
			}
			checkTriNorms[T](t, rnd, d, n)
		}
	}
	for _, size := range [][2]int{{33, 500}, {64, 97}, {130, 110}, {300, 49}} {
		checkTriNorms[T](t, rnd, size[0], size[1])
	}
	if is64[T]() {
		checkTriNorms[T](t, rnd, 1100, 5) // in several calls
	}
}

func checkTriNorms[T Float](t *testing.T, rnd *rand.Rand, d, n int) {
	t.Helper()
	l, c := newMatrix[T](rnd, d, d, byRows), newMatrix[T](rnd, d, n, byRows)
	for i := range d {
		for j := i + 1; j < d; j++ {
			*l.at(i, j) = T(math.NaN())
		}
	}
	q := newMatrix[T](rnd, 1, n, byRows)
	want, scale := q.clone(), q.clone()
	genericTriNorms(d, n, want.data, l.data, l.rs, c.data, c.rs)
	genericTriNorms(d, n, scale.data, l.abs().data, l.rs, c.abs().data, c.rs)
	TriNorms(d, n, q.data, l.data, l.rs, c.data, c.rs)
	// A square has twice the relative error of its root, and d of them are added.
	q.check(t, fmt.Sprintf("d=%d n=%d", d, n), want, scale, float64(2*(3*d+2)))
}

func TestWeightedMoments(t *testing.T) {
	forEachType(t, testWeightedMoments[float64], testWeightedMoments[float32])
}

func testWeightedMoments[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for d := range 27 {
		for n := range 3*16*4 + 2 {
			if n > 18 && n%11 != d%11 {
				continue
			}
			checkWeightedMoments[T](t, rnd, d, n)
		}
	}
	for _, size := range [][2]int{{64, 100}, {135, 61}, {5, 1030}, {150, 520}} {
		checkWeightedMoments[T](t, rnd, size[0], size[1])
	}
}

func checkWeightedMoments[T Float](t *testing.T, rnd *rand.Rand, d, n int) {
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

	syrk := m.clone()
	Syrk(d, n, syrk.data, m.rs, w.data, c.data, c.rs, nil)
	WeightedMoments(d, n, s.data, m.data, m.rs, w.data, c.data, c.rs)
	name := fmt.Sprintf("d=%d n=%d", d, n)
	if !sameBits(syrk.all, m.all) {
		t.Fatalf("%s: Syrk and WeightedMoments differ", name)
	}
	s.check(t, name+", first", wantS, scaleS, float64(2*(n+2)))
	// Above the diagonal there is poison, the same before and after.
	rest := m.clone()
	for i := range d {
		for j := range i + 1 {
			got, want, bound := *m.at(i, j), *wantM.at(i, j), float64(2*(n+3))*eps[T]()*float64(*scaleM.at(i, j))
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
