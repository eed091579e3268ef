package vec

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestRows(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testRows[float64](t)
		testRows[float32](t)
	})
}

func testRows[T cpu.Float](t *testing.T) {
	for _, rows := range []int{0, 1, 2, 5} {
		for _, n := range []int{0, 1, 3, 8, 17, 64, 70, 150, cpu.Chunk + 3} {
			for _, gap := range []int{0, 4} {
				checkRowsOf[T](t, rows, n, gap, 3)
			}
		}
	}
	checkRowsOf[T](t, cpu.Chunk/3+2, 3, 2, 3) // more rows than one call takes
	for _, v := range hostile {
		checkRowsOf[T](t, 3, 37, 1, v)
	}
}

// TestEmptyRows needs no memory for rows without elements.
func TestEmptyRows(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, ld := range []int{1, 3} {
			for name, f := range map[string]func(s []float64){
				"DotRows":        func(s []float64) { DotRows(0, nil, ld, nil, ld, s) },
				"SumRows":        func(s []float64) { SumRows(0, nil, ld, s) },
				"SumSquaresRows": func(s []float64) { SumSquaresRows(0, nil, ld, s) },
				"MaxRows":        func(s []float64) { MaxRows(0, nil, ld, s) },
			} {
				want := 0.0
				if name == "MaxRows" {
					want = math.Inf(-1)
				}
				got := []float64{1, 2, 3}
				f(got)
				simdtest.SameSlice(t, name, got, []float64{want, want, want})
			}
		}
	})
}

// checkRowsOf compares the loops over rows, one of which has an element v, with plain loops over the functions of single rows.
func checkRowsOf[T cpu.Float](t *testing.T, rows, n, gap int, v float64) {
	t.Helper()
	ldx, ldd := max(1, n)+gap, max(1, n)+2*gap
	x, c, dst := simdtest.Normal[T](rows*ldx, 1), simdtest.Normal[T](rows, 2), simdtest.Normal[T](rows*ldd, 3)
	if len(x) > 0 {
		x[len(x)/2] = T(v)
	}
	what := fmt.Sprintf("of %d×%d %T with %v", rows, n, T(0), v)

	top, want := make([]T, rows), make([]T, rows)
	for i := range rows {
		want[i] = Max(x[i*ldx:][:n])
	}
	MaxRows(n, x, ldx, top)
	simdtest.SameSlice(t, "MaxRows "+what, top, want)

	for _, ld := range []int{ldx, 0, 1} {
		for i := range rows {
			want[i] = Sum(x[i*ld:][:n])
		}
		SumRows(n, x, ld, top)
		simdtest.SameSlice(t, "SumRows "+what, top, want)
		for i := range rows {
			want[i] = SumSquares(x[i*ld:][:n])
		}
		SumSquaresRows(n, x, ld, top)
		simdtest.SameSlice(t, "SumSquaresRows "+what, top, want)
		for i := range rows {
			want[i] = Dot(x[i*ld:][:n], dst[i*ldd:][:n])
		}
		DotRows(n, x, ld, dst, ldd, top)
		simdtest.SameSlice(t, "DotRows "+what, top, want)
		DotRows(n, dst, ldd, x, ld, top)
		simdtest.SameSlice(t, "DotRows of exchanged operands "+what, top, want)
	}

	added := slices.Clone(dst)
	for i := range rows {
		Axpy(c[i], x[i*ldx:][:n], added[i*ldd:][:n])
	}
	got := slices.Clone(dst)
	AxpyRows(n, got, ldd, x, ldx, c)
	simdtest.SameSlice(t, "AxpyRows "+what, got, added)

	q := simdtest.Normal[T](rows, 4)
	squares, wantSquares := simdtest.Normal[T](n, 5), simdtest.Normal[T](n, 5)
	term := make([]T, n)
	for i := range rows {
		SubColumn(n, term, max(1, n), x[i*ldx:], max(1, n), c[i:i+1])
		ScaleTo(term, q[i], term)
		MulTo(term, term, term)
		AddTo(wantSquares, wantSquares, term)
	}
	AddSquares(squares, x, ldx, c, q)
	simdtest.SameSlice(t, "AddSquares "+what, squares, wantSquares)

	w, m1, m2 := simdtest.Normal[T](n, 6), simdtest.Normal[T](rows, 7), simdtest.Normal[T](rows, 8)
	want1, want2 := slices.Clone(m1), slices.Clone(m2)
	AddMoments(w, x, ldx, c, m1, m2)
	for i := range rows {
		s1, s2, size1, size2 := float64(want1[i]), float64(want2[i]), math.Abs(float64(want1[i])), math.Abs(float64(want2[i]))
		for p, v := range x[i*ldx:][:n] {
			d := float64(v - c[i])
			s1 += float64(w[p]) * d
			s2 += float64(w[p]) * d * d
			size1 += math.Abs(float64(w[p]) * d)
			size2 += math.Abs(float64(w[p]) * d * d)
		}
		eps, most := 0x1p-52, math.MaxFloat64
		if !cpu.Is64[T]() {
			eps, most = 0x1p-23, math.MaxFloat32
		}
		if !(size2 < most/2) { // v, or its square, is not finite
			continue
		}
		if bound := eps * float64(n+4); math.Abs(float64(m1[i])-s1) > bound*size1 || math.Abs(float64(m2[i])-s2) > bound*size2 {
			t.Errorf("AddMoments %s: row %d has %v and %v, want %v and %v", what, i, m1[i], m2[i], s1, s2)
		}
	}

	if rows > 0 {
		one := x[:n]
		added, got = slices.Clone(dst), slices.Clone(dst)
		for i := range rows {
			Axpy(c[i], one, added[i*ldd:][:n])
		}
		AxpyRows(n, got, ldd, one, 0, c)
		simdtest.SameSlice(t, "AxpyRows of one row "+what, got, added)
	}

	exps, sum, sums := slices.Clone(dst), simdtest.Normal[T](rows, 4), make([]float64, rows)
	for i := range rows {
		for p, v := range x[i*ldx:][:n] {
			exps[i*ldd+p] = v - c[i]
		}
		Exp(exps[i*ldd:][:n], exps[i*ldd:][:n])
		for _, e := range exps[i*ldd:][:n] {
			sums[i] += float64(e)
		}
	}
	got = slices.Clone(dst)
	ExpRows(n, got, ldd, x, ldx, c, sum)
	simdtest.SameSlice(t, "ExpRows "+what, got, exps)
	for i, s := range sum {
		bound := 3 * simdtest.Unit[T]() * sums[i]
		if cpu.Is64[T]() {
			bound *= float64(n)
		}
		if w := T(sums[i]); !(math.Abs(float64(s)-sums[i]) <= bound) && !simdtest.Same(s, w) {
			t.Fatalf("ExpRows %s: sum %d is %v, want %v", what, i, s, w)
		}
	}

	inPlace, want := slices.Clone(x), slices.Clone(x)
	for i := range rows {
		copy(want[i*ldx:][:n], exps[i*ldd:][:n])
	}
	ExpRows(n, inPlace, ldx, inPlace, ldx, c, sum)
	simdtest.SameSlice(t, "ExpRows in place "+what, inPlace, want)
}
