package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

func TestReproject(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testReproject[float64](t)
		testReproject[float32](t)
	})
}

func testReproject[T Float](t *testing.T) {
	for _, m := range []CameraModel{Snavely, Weighted} {
		for do := ViewResiduals; do <= ViewTangent; do++ {
			for _, n := range []int{0, 16, 48, 64} {
				name := fmt.Sprintf("model %d, task %d, n = %d", m, do, n)
				var v Views[T]
				for row := range v {
					copy(v[row][:], normalSlice[T](viewStride, uint64(row)+1))
				}
				if n > 20 {
					v[0][3], v[9][5], v[ViewPoint][7] = T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1))
					for k := range 3 { // depth 0
						v[ViewPoint+k][11], v[6+k][11] = 0, 0
					}
				}
				want := v
				x, w := normalSlice[T](2*n, 100), normalSlice[T](n, 101)
				r, z := normalSlice[T](2*n, 102), normalSlice[T](n, 103)
				g := normalSlice[T](2*n, 104)
				wantR, wantZ, wantG := clone(r), clone(z), clone(g)
				genericReproject(&want, m, do, x, w, wantR, wantZ, wantG, -1)
				v.Reproject(m, do, x, w, r, z, g, -1)
				sameSlice(t, name+": r", r, wantR)
				sameSlice(t, name+": z", z, wantZ)
				sameSlice(t, name+": g", g, wantG)
				rows, spare := 0, 0
				switch do {
				case ViewDerivative:
					rows = 2 * m.Columns()
				case ViewAdjoint, ViewTangent:
					rows, spare = 16, 16 // the last ones are scratch
				}
				for row := range v {
					switch {
					case row >= ViewJacobian+rows && row < ViewJacobian+rows+spare:
					case row < viewTurn, row >= ViewJacobian+rows:
						sameSlice(t, fmt.Sprintf("%s: row %d", name, row), v[row][:], want[row][:])
					case row >= ViewJacobian:
						sameSlice(t, fmt.Sprintf("%s: row %d", name, row), v[row][:n], want[row][:n])
						sameSlice(t, fmt.Sprintf("%s: the rest of row %d", name, row), v[row][n:], want[row][n:])
					}
				}
			}
		}
	}
}

func TestViews(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testViews[float64](t)
		testViews[float32](t)
	})
}

func testViews[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, cols := range []int{0, 1, 2, 3, 4, 5, 12, 15, 23, 30} {
		for _, n := range []int{0, 1, 7, 8, 9, 16, 63, 64} {
			const rows = 9
			ld := max(1, cols+n%3)
			// Nothing lies behind the last row.
			src := normalSlice[T]((rows-1)*ld+cols, 1)
			index := make([]int, n)
			for i := range index {
				index[i] = rnd.IntN(rows)
			}
			var v, want Views[T]
			row := ViewJacobian
			if !v.Gather(row, src, rows, ld, cols, index) || !genericGather(&want, row, 0, src, rows, ld, cols, index) {
				t.Fatal("Gather finds an index out of range")
			}
			for k := range v {
				sameSlice(t, fmt.Sprintf("Gather %d×%d: row %d", n, cols, k), v[k][:], want[k][:])
			}
			if n == 0 {
				continue
			}
			dst := normalSlice[T]((n-1)*ld+cols, 2)
			wantDst := clone(dst)
			genericScatter(&want, wantDst, ld, row, cols, 0, n)
			v.Scatter(dst, ld, row, cols, n)
			sameSlice(t, fmt.Sprintf("Scatter %d×%d", n, cols), dst, wantDst)

			// Rows past the caches, from the start of a line and from within one.
			long := make([]T, n*cols+16)
			for uintptr(unsafe.Pointer(&long[0]))%64 != 0 {
				long = long[1:]
			}
			for offset := range 2 {
				dst := long[offset:][:n*cols]
				v.Stream(dst, row, cols, n)
				StreamFence()
				wantDst := make([]T, n*cols)
				if cols > 0 {
					genericScatter(&want, wantDst, cols, row, cols, 0, n)
				}
				sameSlice(t, fmt.Sprintf("Stream %d×%d", n, cols), dst, wantDst)
			}

			for _, bad := range []int{-1, rows, math.MinInt, math.MaxInt} {
				at := rnd.IntN(n)
				keep := index[at]
				index[at] = bad
				if cols > 0 && v.Gather(row, src, rows, ld, cols, index) {
					t.Errorf("Gather takes index %d of %d", bad, rows)
				}
				index[at] = keep
			}
		}
	}
}

func TestAddRows(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testAddRows[float64](t)
		testAddRows[float32](t)
	})
}

func testAddRows[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, cols := range []int{0, 1, 2, 3, 4, 5, 8, 9, 11, 12, 16, 19} {
		for _, n := range []int{0, 1, 2, 17} {
			const rows = 5
			ldd, lds := max(1, cols+n%3), max(1, cols+n%2)
			// Nothing lies behind the last row of either.
			dst, src := normalSlice[T]((rows-1)*ldd+cols, 1), normalSlice[T](max(0, n-1)*lds+cols, 2)
			index := make([]int, n)
			for i := range index {
				index[i] = rnd.IntN(rows)
			}
			want := clone(dst)
			genericAddRows(want, ldd, src, lds, cols, index)
			AddRows(dst, ldd, src, lds, cols, index)
			sameSlice(t, fmt.Sprintf("%d×%d", n, cols), dst, want)
		}
	}
}

func TestViewPanics(t *testing.T) {
	var v Views[float64]
	ten := make([]float64, 10)
	for _, test := range []struct {
		name, want string
		f          func()
	}{
		{"Gather", badLdX, func() { v.Gather(0, ten, 2, 4, 5, nil) }},
		{"Gather", shortX, func() { v.Gather(0, ten, 3, 4, 4, nil) }},
		{"Gather", shortX, func() { v.Gather(0, ten, 3, math.MaxInt/2, 4, nil) }},
		{"Gather", badLength, func() { v.Gather(0, ten, 2, 4, 4, make([]int, ViewLanes+1)) }},
		{"Gather", badLength, func() { v.Gather(viewRows-3, ten, 2, 4, 4, nil) }},
		{"Scatter", badLdDst, func() { v.Scatter(ten, 3, 0, 4, 1) }},
		{"Scatter", shortDst, func() { v.Scatter(ten, 4, 0, 4, 3) }},
		{"Scatter", badLength, func() { v.Scatter(ten, 4, viewRows-3, 3, 1) }},
		{"Scatter", badLength, func() { v.Scatter(ten, 4, 0, 1, ViewLanes+1) }},
		{"Reproject", badLength, func() { v.Reproject(Snavely, ViewDerivative, ten, nil, ten, nil, nil, 1) }},
		{"Reproject", badLength, func() {
			v.Reproject(Weighted, ViewDerivative, make([]float64, 32), nil, make([]float64, 32), nil, nil, 1)
		}},
		{"Reproject", badLength, func() { v.Reproject(Snavely, ViewAdjoint, make([]float64, 32), nil, make([]float64, 32), nil, ten, 1) }},
		{"AddRows", badLdDst, func() { AddRows(ten, 3, ten, 4, 4, nil) }},
		{"AddRows", badLdX, func() { AddRows(ten, 4, ten, 3, 4, nil) }},
		{"AddRows", shortX, func() { AddRows(ten, 4, ten, 4, 4, make([]int, 3)) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("%s: panic %v, want %q", test.name, got, test.want)
				}
			}()
			test.f()
		}()
	}
}
