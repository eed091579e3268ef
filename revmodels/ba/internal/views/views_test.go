package views

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

func TestReproject(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testReproject[float64](t)
		testReproject[float32](t)
	})
}

func testReproject[T cpu.Float](t *testing.T) {
	for _, m := range []CameraModel{Snavely, Weighted} {
		for do := Residuals; do <= Tangent; do++ {
			for _, n := range []int{0, 16, 48, 64} {
				name := fmt.Sprintf("model %d, task %d, n = %d", m, do, n)
				var v Views[T]
				for row := range v {
					copy(v[row][:], simdtest.Normal[T](viewStride, uint64(row)+1))
				}
				if n > 20 {
					v[0][3], v[9][5], v[PointRow][7] = T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1))
					for k := range 3 { // depth 0
						v[PointRow+k][11], v[6+k][11] = 0, 0
					}
				}
				want := v
				x, w := simdtest.Normal[T](2*n, 100), simdtest.Normal[T](n, 101)
				r, z := simdtest.Normal[T](2*n, 102), simdtest.Normal[T](n, 103)
				g := simdtest.Normal[T](2*n, 104)
				wantR, wantZ, wantG := slices.Clone(r), slices.Clone(z), slices.Clone(g)
				genericReproject(&want, m, do, &Operands[T]{X: x, W: w, R: wantR, Z: wantZ, G: wantG}, -1)
				v.Reproject(m, do, &Operands[T]{X: x, W: w, R: r, Z: z, G: g}, -1)
				simdtest.SameSlice(t, name+": r", r, wantR)
				simdtest.SameSlice(t, name+": z", z, wantZ)
				simdtest.SameSlice(t, name+": g", g, wantG)
				rows, spare := 0, 0
				switch do {
				case Derivative:
					rows = 2 * m.Columns()
				case Adjoint, Tangent:
					rows, spare = 16, 16 // the last ones are scratch
				}
				for row := range v {
					switch {
					case row >= JacobianRow+rows && row < JacobianRow+rows+spare:
					case row < viewTurn, row >= JacobianRow+rows:
						simdtest.SameSlice(t, fmt.Sprintf("%s: row %d", name, row), v[row][:], want[row][:])
					case row >= JacobianRow:
						simdtest.SameSlice(t, fmt.Sprintf("%s: row %d", name, row), v[row][:n], want[row][:n])
						simdtest.SameSlice(t, fmt.Sprintf("%s: the rest of row %d", name, row), v[row][n:], want[row][n:])
					}
				}
			}
		}
	}
}

func TestViews(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testViews[float64](t)
		testViews[float32](t)
	})
}

func testViews[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, cols := range []int{0, 1, 2, 3, 4, 5, 12, 15, 23, 30} {
		for _, n := range []int{0, 1, 7, 8, 9, 16, 63, 64} {
			const rows = 9
			ld := max(1, cols+n%3)
			// Nothing lies after the last row.
			src := simdtest.Normal[T]((rows-1)*ld+cols, 1)
			index := make([]int, n)
			for i := range index {
				index[i] = rnd.IntN(rows)
			}
			var v, want Views[T]
			row := JacobianRow
			if !v.Gather(row, src, rows, ld, cols, index) || !genericGather(&want, row, 0, src, rows, ld, cols, index) {
				t.Fatal("Gather finds an index out of range")
			}
			for k := range v {
				simdtest.SameSlice(t, fmt.Sprintf("Gather %d×%d: row %d", n, cols, k), v[k][:], want[k][:])
			}
			if n == 0 {
				continue
			}
			dst := simdtest.Normal[T]((n-1)*ld+cols, 2)
			wantDst := slices.Clone(dst)
			genericScatter(&want, wantDst, ld, row, cols, 0, n)
			v.Scatter(dst, ld, row, cols, n)
			simdtest.SameSlice(t, fmt.Sprintf("Scatter %d×%d", n, cols), dst, wantDst)

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

func TestObserve(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testObserve[float64](t)
		testObserve[float32](t)
	})
}

// testObserve compares Observe with the generic code. Observe leaves the last observations
// to the caller.
func testObserve[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	const cameras, points = 5, 7
	for _, m := range []CameraModel{Snavely, Weighted} {
		for do := Residuals; do <= Derivative; do++ {
			for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 63, 64, 72, 137, 200} {
				for _, past := range []bool{false, true} {
					name := fmt.Sprintf("model %d, task %d, n = %d, past = %v", m, do, n, past)
					stride := 3 + n%3
					o := Operands[T]{
						Cameras: simdtest.Normal[T](cameras*PointRow, 1), Points: simdtest.Normal[T]((points-1)*stride+3, 2),
						NumPoints: points, PointStride: stride, Camera: make([]int, n), Point: make([]int, n),
						X: simdtest.Normal[T](2*n, 3), R: simdtest.Normal[T](2*n, 4),
					}
					o.Points[stride], o.Points[2*stride] = T(math.NaN()), T(math.Inf(1))
					if m == Weighted {
						o.W, o.Z = simdtest.Normal[T](n, 5), simdtest.Normal[T](n, 6)
					}
					if do == Derivative {
						o.J = aligned(simdtest.Normal[T](2*n*m.Columns()+16, 7))[n%2:][:2*n*m.Columns()]
						if m == Weighted {
							o.DZ = simdtest.Normal[T](n, 8)
						}
					}
					for i := range n {
						o.Camera[i], o.Point[i] = rnd.IntN(cameras), rnd.IntN(points)
					}
					want := o
					want.R, want.Z, want.J, want.DZ = slices.Clone(o.R), slices.Clone(o.Z), slices.Clone(o.J), slices.Clone(o.DZ)

					var v Views[T]
					done, ok := v.Observe(m, do, &o, -1, past)
					if !ok || done > n || n-done > 7 && tier != cpu.Generic && cpu.Is64[T]() {
						t.Fatalf("%s: done = %d, ok = %v", name, done, ok)
					}
					genericObserve(m, do, &want, done, -1)
					simdtest.SameSlice(t, name+": r", o.R, want.R)
					simdtest.SameSlice(t, name+": z", o.Z, want.Z)
					simdtest.SameSlice(t, name+": J", o.J, want.J)
					simdtest.SameSlice(t, name+": derivative of z", o.DZ, want.DZ)

					for _, bad := range []int{-1, math.MinInt, math.MaxInt} {
						if done == 0 {
							break
						}
						at := rnd.IntN(done)
						for _, index := range [][]int{o.Camera, o.Point} {
							keep := index[at]
							index[at] = bad
							if _, ok := v.Observe(m, do, &o, 1, past); ok {
								t.Errorf("%s: takes index %d", name, bad)
							}
							index[at] = keep
						}
					}
				}
			}
		}
	}
}

// genericObserve does what Observe does for the first n observations.
func genericObserve[T cpu.Float](m CameraModel, do Task, o *Operands[T], n int, sign T) {
	var v Views[T]
	for i := range n {
		genericGather(&v, 0, 0, o.Cameras, len(o.Cameras)/PointRow, PointRow, PointRow, o.Camera[i:i+1])
		genericGather(&v, PointRow, 0, o.Points, o.NumPoints, o.PointStride, 3, o.Point[i:i+1])
		one := Operands[T]{X: o.X[2*i:], R: o.R[2*i:][:2]}
		if m == Weighted {
			one.W, one.Z = o.W[i:], o.Z[i:]
		}
		genericReproject(&v, m, do, &one, sign)
		if do == Derivative {
			cols := 2 * m.Columns()
			genericScatter(&v, o.J[i*cols:], cols, JacobianRow, cols, 0, 1)
			if m == Weighted {
				o.DZ[i] = -2 * o.W[i]
			}
		}
	}
}

// aligned returns the part of x that begins at the first cache line in it.
func aligned[T cpu.Float](x []T) []T {
	for uintptr(unsafe.Pointer(&x[0]))%64 != 0 {
		x = x[1:]
	}
	return x
}

func TestAddRows(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testAddRows[float64](t)
		testAddRows[float32](t)
	})
}

func testAddRows[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, cols := range []int{0, 1, 2, 3, 4, 5, 8, 9, 11, 12, 16, 19} {
		for _, n := range []int{0, 1, 2, 17} {
			const rows = 5
			ldd, lds := max(1, cols+n%3), max(1, cols+n%2)
			// Nothing lies after the last row of either.
			dst, src := simdtest.Normal[T]((rows-1)*ldd+cols, 1), simdtest.Normal[T](max(0, n-1)*lds+cols, 2)
			index := make([]int, n)
			for i := range index {
				index[i] = rnd.IntN(rows)
			}
			want := slices.Clone(dst)
			genericAddRows(want, ldd, src, lds, cols, index)
			AddRows(dst, ldd, src, lds, cols, index)
			simdtest.SameSlice(t, fmt.Sprintf("%d×%d", n, cols), dst, want)
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
		{"Gather", badLength, func() { v.Gather(0, ten, 2, 4, 4, make([]int, Lanes+1)) }},
		{"Gather", badLength, func() { v.Gather(viewRows-3, ten, 2, 4, 4, nil) }},
		{"Scatter", badLdDst, func() { v.Scatter(ten, 3, 0, 4, 1) }},
		{"Scatter", shortDst, func() { v.Scatter(ten, 4, 0, 4, 3) }},
		{"Scatter", badLength, func() { v.Scatter(ten, 4, viewRows-3, 3, 1) }},
		{"Scatter", badLength, func() { v.Scatter(ten, 4, 0, 1, Lanes+1) }},
		{"Reproject", badLength, func() { v.Reproject(Snavely, Derivative, &Operands[float64]{X: ten, R: ten}, 1) }},
		{"Reproject", badLength, func() {
			v.Reproject(Weighted, Derivative, &Operands[float64]{X: make([]float64, 32), R: make([]float64, 32)}, 1)
		}},
		{"Reproject", badLength, func() {
			v.Reproject(Snavely, Adjoint, &Operands[float64]{X: make([]float64, 32), R: make([]float64, 32), G: ten}, 1)
		}},
		{"Observe", badLength, func() {
			v.Observe(Snavely, Residuals, &Operands[float64]{PointStride: 3, Camera: make([]int, 8)}, 1, false)
		}},
		{"Observe", badLength, func() { v.Observe(Snavely, Adjoint, &Operands[float64]{PointStride: 3}, 1, false) }},
		{"Observe", badLength, func() { v.Observe(Snavely, Residuals, &Operands[float64]{PointStride: 3, Cameras: ten}, 1, false) }},
		{"Observe", badLdX, func() { v.Observe(Snavely, Residuals, &Operands[float64]{PointStride: 2}, 1, false) }},
		{"Observe", shortX, func() {
			v.Observe(Snavely, Residuals, &Operands[float64]{PointStride: 4, Points: ten, NumPoints: 3}, 1, false)
		}},
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

// TestWithin draws limits that about a tenth of the observations exceed, and some that are met exactly.
func TestWithin(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(5, 1))
		outside := 0
		for range 200 {
			var v Views[float64]
			for i := range Lanes {
				for k := range PointRow + 3 {
					v[k][i] = rnd.NormFloat64()
				}
				v[15][i], v[16][i], v[17][i] = 16*rnd.ExpFloat64(), 1e-3*rnd.ExpFloat64(), 1e3*rnd.ExpFloat64()
				switch rnd.IntN(16) {
				case 0: // at the origin, where all bounds are met
					for k := range 3 {
						v[9+k][i], v[12+k][i], v[PointRow+k][i], v[15+k][i] = 1, 0, 1, 0
					}
				case 1:
					v[16][i] = math.Inf(1)
				}
			}
			n := rnd.IntN(Lanes + 1)
			for i := 0; i <= n; i++ {
				want := i
				for want < n && genericWithin(&v, want) {
					want++
				}
				if got := v.Within(i, n); got != want {
					t.Fatalf("from %d below %d: %d is outside, want %d", i, n, got, want)
				}
				if want < n {
					outside++
				}
			}
		}
		if outside < 1000 {
			t.Errorf("only %d are outside", outside)
		}
	})
}
