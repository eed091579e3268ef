package revsparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/revsparse"
)

// unsymmetric returns a random matrix that has entries on a permutation of the diagonal,
// and about so many others in a row: unsorted, some of the same place, and in some rows and
// columns none.
func unsymmetric(rnd *rand.Rand, n, perRow int) revsparse.CSR[float64, int] {
	place := rnd.Perm(n)
	a := revsparse.CSR[float64, int]{Rows: n, Cols: n, Ptr: make([]int, 1, n+1), Ind: []int{}}
	for i := range n {
		for k := range rnd.IntN(2*perRow + 1) {
			j := rnd.IntN(n)
			a.Ind = append(a.Ind, j-j%3/2)
			if k == 1 {
				a.Ind = append(a.Ind, place[i])
			}
		}
		a.Ind = append(a.Ind, place[i])
		a.Ptr = append(a.Ptr, len(a.Ind))
	}
	a.Data = numbers[float64](rnd, len(a.Ind))
	return a
}

// convection returns the matrix of the five-point stencil on a square grid, with a flow
// that carries along what diffuses. Where speed is at most 1 it is diagonally dominant.
func convection[I revsparse.Index](n int, speed float64) revsparse.CSR[float64, I] {
	a := gridLaplacian[I](n, n)
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			switch int(a.Ind[p]) - i {
			case -n:
				a.Data[p] = -1 - speed
			case n:
				a.Data[p] = -1 + speed
			case -1:
				a.Data[p] = -1 - speed/2
			case 1:
				a.Data[p] = -1 + speed/2
			}
		}
	}
	return a
}

// times returns A·x, or Aᵀ·x.
func times[I revsparse.Index](a revsparse.CSR[float64, I], x []float64, trans bool) []float64 {
	y := make([]float64, len(x))
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			if j := a.Ind[p]; trans {
				y[j] += a.Data[p] * x[i]
			} else {
				y[i] += a.Data[p] * x[j]
			}
		}
	}
	return y
}

// backwardError returns the largest |b - A·x|_i / (‖a_i‖·‖x‖ + |b_i|) of the rows a_i of A
// or Aᵀ: the least change of a row and of b that makes x the solution.
func backwardError[I revsparse.Index](a revsparse.CSR[float64, I], x, b []float64, trans bool) (worst float64) {
	top, ones := 0.0, make([]float64, len(x))
	for i, v := range x {
		top, ones[i] = max(top, math.Abs(v)), 1
	}
	magnitudes := a.With(slices.Clone(a.Data))
	for p, v := range a.Data {
		magnitudes.Data[p] = math.Abs(v)
	}
	norms, ax := times(magnitudes, ones, trans), times(a, x, trans)
	for i, v := range b {
		if r := math.Abs(v - ax[i]); r != 0 {
			worst = max(worst, r/(norms[i]*top+math.Abs(v)))
		}
	}
	return worst
}

// testLU factors a and solves systems with it and its transpose.
func testLU[I revsparse.Index](t *testing.T, name string, lu *revsparse.LU[I], a revsparse.CSR[float64, I], bound float64) {
	t.Helper()
	if err := lu.Factorize(a); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	rnd := rand.New(rand.NewPCG(7, 1))
	for _, trans := range []bool{false, true} {
		b := numbers[float64](rnd, a.Rows)
		var x mat.VecDense
		if err := lu.SolveVecTo(&x, trans, vecDense(b)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if a.Rows == 0 {
			continue
		}
		if e := backwardError(a, x.RawVector().Data, b, trans); !(e <= bound) {
			t.Errorf("%s, transposed %t: backward error %.3g, want %.3g", name, trans, e, bound)
		}
	}
}

func vecDense(x []float64) *mat.VecDense {
	if len(x) == 0 {
		return &mat.VecDense{}
	}
	return mat.NewVecDense(len(x), x)
}

func TestLU(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 2))
	var again revsparse.LU[int]
	for n := range 70 {
		for _, perRow := range []int{0, 1, 3, 20} {
			a := unsymmetric(rnd, n, perRow)
			name := fmt.Sprintf("%d×%d, %d in a row", n, n, perRow)
			var fresh revsparse.LU[int]
			testLU(t, name, &fresh, a, 1e-13)
			testLU(t, name+", again", &again, a, 1e-13)
			if n == 0 {
				continue
			}
			// Against gonum's, of the same matrix.
			var dense mat.LU
			dense.Factorize(toMat(a))
			b := mat.NewDense(n, 3, numbers[float64](rnd, 3*n))
			for _, trans := range []bool{false, true} {
				var got, want mat.Dense
				if err := errors.Join(fresh.SolveTo(&got, trans, b), dense.SolveTo(&want, trans, b)); err != nil {
					t.Fatal(name, err)
				}
				got.Sub(&got, &want)
				if e := mat.Max(absolute(&got)) / mat.Max(absolute(&want)); !(e <= 1e-13*dense.Cond()) {
					t.Errorf("%s: differs from the dense solution by %.3g, the condition number is %.3g", name, e, dense.Cond())
				}
			}
		}
	}
}

func absolute(m *mat.Dense) *mat.Dense {
	m = mat.DenseCopyOf(m)
	m.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, m)
	return m
}

// Larger systems, for all choices of panels and supernodes.
func TestLULarge(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 3))
	full := revsparse.CSR[float64, int32]{Rows: 150, Cols: 150, Ptr: []int32{0}}
	arrow := revsparse.CSR[float64, int32]{Rows: 3000, Cols: 3000, Ptr: []int32{0}}
	for range full.Rows {
		for j := range full.Cols {
			full.Ind, full.Data = append(full.Ind, int32(j)), append(full.Data, rnd.NormFloat64())
		}
		full.Ptr = append(full.Ptr, int32(len(full.Ind)))
	}
	for i := range arrow.Rows { // a row and a column that are full
		for j := range arrow.Cols {
			if i == 0 || j == 0 || i == j {
				arrow.Ind, arrow.Data = append(arrow.Ind, int32(j)), append(arrow.Data, rnd.NormFloat64())
			}
		}
		arrow.Ptr = append(arrow.Ptr, int32(len(arrow.Ind)))
	}
	as32 := func(a revsparse.CSR[float64, int]) revsparse.CSR[float64, int32] {
		b := revsparse.CSR[float64, int32]{Rows: a.Rows, Cols: a.Cols, Data: a.Data}
		for _, p := range a.Ptr {
			b.Ptr = append(b.Ptr, int32(p))
		}
		for _, j := range a.Ind {
			b.Ind = append(b.Ind, int32(j))
		}
		return b
	}
	for _, c := range []struct {
		name string
		a    revsparse.CSR[float64, int32]
		most int // elements of the factors
	}{
		{"full", full, 2 * 150 * 150},
		{"arrow", arrow, 50_000},
		{"tridiagonal", banded(rnd, 5000, 1), 100_000},
		{"banded", banded(rnd, 2000, 7), 150_000},
		{"dominant flow", convection[int32](60, 0.4), 300_000},
		{"fast flow", convection[int32](60, 5), 600_000},
		{"random", as32(unsymmetric(rnd, 1200, 3)), 800_000},
		{"sparse", as32(unsymmetric(rnd, 4000, 1)), 800_000},
	} {
		var lu revsparse.LU[int32]
		testLU(t, c.name, &lu, c.a, 1e-12)
		factors := reflect.ValueOf(&lu).Elem().FieldByName("factors")
		if n := factors.FieldByName("ldata").Len() + factors.FieldByName("udata").Len(); n == 0 || n > c.most {
			t.Errorf("%s: the factors have %d elements, want at most %d", c.name, n, c.most)
		}
	}
}

// banded returns a random matrix with so many entries on either side of the diagonal, which
// dominates by rows.
func banded(rnd *rand.Rand, n, half int) revsparse.CSR[float64, int32] {
	a := revsparse.CSR[float64, int32]{Rows: n, Cols: n, Ptr: []int32{0}}
	for i := range n {
		for j := max(0, i-half); j <= min(n-1, i+half); j++ {
			v := rnd.NormFloat64() / float64(half)
			if j == i {
				v = 3
			}
			a.Ind, a.Data = append(a.Ind, int32(j)), append(a.Data, v)
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	return a
}

// Rows of magnitudes far apart do not change a bit, as they are scaled exactly. Columns of
// moderate ones do no harm.
func TestLUScaling(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 4))
	a := unsymmetric(rnd, 60, 3)
	var plain, scaled revsparse.LU[int]
	if err := plain.Factorize(a); err != nil {
		t.Fatal(err)
	}
	rows := make([]int, 60)
	for i := range rows {
		rows[i] = rnd.IntN(1801) - 900
	}
	s := a.With(slices.Clone(a.Data))
	for i := range rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			s.Data[p] = math.Ldexp(a.Data[p], rows[i])
		}
	}
	if err := scaled.Factorize(s); err != nil {
		t.Fatal(err)
	}
	if plain.Cond() != scaled.Cond() {
		t.Errorf("condition number %v, and %v of the scaled matrix", plain.Cond(), scaled.Cond())
	}
	b, sb := numbers[float64](rnd, 60), make([]float64, 60)
	for i, v := range b {
		sb[i] = math.Ldexp(v, rows[i])
	}
	var x, sx mat.VecDense
	if err := errors.Join(plain.SolveVecTo(&x, false, vecDense(b)), scaled.SolveVecTo(&sx, false, vecDense(sb))); err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(&x, &sx) {
		t.Errorf("the solution is %v, want %v", sx.RawVector().Data, x.RawVector().Data)
	}

	for p, j := range a.Ind {
		s.Data[p] = math.Ldexp(a.Data[p], 2*(j%10))
	}
	testLU(t, "columns", &scaled, s, 1e-14)
	if c := scaled.Cond(); c > 1e8 {
		t.Errorf("the condition number with columns scaled is %v", c)
	}

	a = revsparse.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3e-20, 4e-20}))
	var lu revsparse.LU[int]
	testLU(t, "a small row", &lu, a, 1e-15)
}

func TestLUSingular(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 5))
	matrix := func(n int, elements ...float64) revsparse.CSR[float64, int] {
		return revsparse.FromMatrix(mat.NewDense(n, n, elements))
	}
	hilbert := func(n int) revsparse.CSR[float64, int] {
		h := mat.NewDense(n, n, nil)
		h.Apply(func(i, j int, _ float64) float64 { return 1 / float64(i+j+1) }, h)
		return revsparse.FromMatrix(h)
	}
	emptyRow, emptyColumn := unsymmetric(rnd, 30, 3), unsymmetric(rnd, 30, 3)
	clear(emptyRow.Data[emptyRow.Ptr[17]:emptyRow.Ptr[18]])
	for p, j := range emptyColumn.Ind {
		if j == 11 {
			emptyColumn.Ind[p] = 12
		}
	}
	wide := unsymmetric(rnd, 200, 2) // three rows share two columns
	for i := range 3 {
		for p := wide.Ptr[i]; p < wide.Ptr[i+1]; p++ {
			wide.Ind[p] %= 2
		}
	}
	product := mat.NewDense(40, 40, nil) // of rank 39, up to rounding
	product.Mul(mat.NewDense(40, 39, numbers[float64](rnd, 40*39)), mat.NewDense(39, 40, numbers[float64](rnd, 40*39)))
	none := revsparse.CSR[float64, int]{Rows: 3, Cols: 3, Ptr: make([]int, 4), Ind: []int{}, Data: []float64{}}
	for _, c := range []struct {
		name  string
		a     revsparse.CSR[float64, int]
		exact bool // no pivot other than zero is found
	}{
		{"nothing", none, true},
		{"zero", matrix(1, 0), true},
		{"empty row", emptyRow, true},
		{"empty column", emptyColumn, true},
		{"rows that share columns", wide, true},
		{"multiple", matrix(2, 1, 2, 2, 4), true},
		{"rank 39", revsparse.FromMatrix(product), false},
		{"thirds", matrix(2, 1, 1./3, 3, 1+0x1p-52), false},
		{"Hilbert's", hilbert(14), false},
	} {
		var lu revsparse.LU[int]
		var cond mat.Condition
		for range 2 { // the second is from memory
			if err := lu.Factorize(c.a); !errors.As(err, &cond) || !(cond >= 0x1p50) || c.exact != math.IsInf(float64(cond), 1) {
				t.Errorf("%s: error %v", c.name, err)
			}
		}
		x := mat.NewVecDense(c.a.Rows, nil)
		x.SetVec(0, 7)
		if err := lu.SolveVecTo(x, false, x); !errors.As(err, &cond) || x.AtVec(0) != 7 {
			t.Errorf("%s: error %v of a solution", c.name, err)
		}
		if err := lu.SolveTo(mat.NewDense(c.a.Rows, 2, nil), false, mat.NewDense(c.a.Rows, 2, nil)); !errors.As(err, &cond) {
			t.Errorf("%s: error %v of two solutions", c.name, err)
		}
		testLU(t, "after "+c.name, &lu, hilbert(8), 1e-15) // ill-conditioned, but not singular
	}

	var lu revsparse.LU[int]
	var cond mat.Condition
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := lu.Factorize(matrix(2, 1, 2, 3, v)); !errors.As(err, &cond) || !math.IsNaN(float64(cond)) {
			t.Errorf("%v: error %v", v, err)
		}
	}
}

// The estimate is at most the condition number, and mostly near it.
func TestLUCond(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 6))
	far := 0
	for range 200 {
		n := 1 + rnd.IntN(30)
		a := unsymmetric(rnd, n, 3)
		for i := range a.Data {
			a.Data[i] = math.Copysign(0.5+rnd.Float64()/2, a.Data[i]) // scaled already, if alone in its place
		}
		a = revsparse.FromMatrix(toMat(a))
		var lu revsparse.LU[int]
		if err := lu.Factorize(a); err != nil {
			continue
		}
		factors := reflect.ValueOf(&lu).Elem().FieldByName("factors")
		rows, cols := factors.FieldByName("rowExp"), factors.FieldByName("colExp")
		s := mat.NewDense(n, n, nil)
		for i := range n {
			for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
				j := a.Ind[p]
				s.Set(i, j, math.Ldexp(a.Data[p], int(rows.Index(i).Int()+cols.Index(j).Int())))
			}
		}
		var inverse mat.Dense
		if err := inverse.Inverse(s); err != nil {
			continue
		}
		want := mat.Norm(s, 1) * mat.Norm(&inverse, 1)
		if got := lu.Cond(); !(got <= want*(1+1e-9)) || !(got >= want/10) {
			t.Errorf("n=%d: condition number %v, want %v", n, got, want)
		} else if got < want/3 {
			far++
		}
	}
	if far > 5 {
		t.Errorf("%d of 200 estimates are less than a third", far)
	}
}

// What an LU keeps of another matrix does not change a bit.
func TestLUAgain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	var lu revsparse.LU[int]
	b := vecDense(numbers[float64](rnd, 400))
	solution := func(lu *revsparse.LU[int], a revsparse.CSR[float64, int]) []float64 {
		var x mat.VecDense
		if err := errors.Join(lu.Factorize(a), lu.SolveVecTo(&x, false, b)); err != nil {
			t.Fatal(err)
		}
		return x.RawVector().Data
	}
	random := unsymmetric(rnd, 400, 3)
	list := []revsparse.CSR[float64, int]{convection[int](20, 0.4), convection[int](20, 3), random, random.With(numbers[float64](rnd, random.NNZ())), convection[int](20, 0.5)}
	for range 20 {
		a := list[rnd.IntN(len(list))]
		var fresh revsparse.LU[int]
		if !slices.Equal(solution(&lu, a), solution(&fresh, a)) {
			t.Fatal("the solution depends on the matrix before")
		}
	}
	change := slices.Clone(random.Data)
	a := random.With(change)
	solution(&lu, a)
	change[5]++
	var fresh revsparse.LU[int]
	if !slices.Equal(solution(&lu, a), solution(&fresh, random.With(slices.Clone(change)))) {
		t.Error("a change of a value is not seen")
	}
}

// Solutions at the same time do not disturb each other.
func TestLUAtOnce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 9))
	a := convection[int](20, 3)
	var lu revsparse.LU[int]
	if err := lu.Factorize(a); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		b := vecDense(numbers[float64](rnd, a.Rows))
		var want mat.VecDense
		if err := lu.SolveVecTo(&want, false, b); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 500 {
				var x mat.VecDense
				if err := lu.SolveVecTo(&x, false, b); err != nil || !mat.Equal(&x, &want) {
					t.Error("another solution than alone")
					return
				}
			}
		})
	}
	all.Wait()
}

func TestLUShapes(t *testing.T) {
	var lu revsparse.LU[int]
	if err := lu.Factorize(revsparse.FromMatrix(mat.NewDiagDense(3, []float64{1, 2, 4}))); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(){
		"a matrix that is not square": func() { _ = lu.Factorize(revsparse.CSR[float64, int]{Rows: 1, Cols: 2, Ptr: []int{0, 0}}) },
		"a matrix without values": func() {
			_ = lu.Factorize(revsparse.CSR[float64, int]{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}})
		},
		"b too long":      func() { _ = lu.SolveVecTo(mat.NewVecDense(3, nil), false, mat.NewVecDense(4, nil)) },
		"x too long":      func() { _ = lu.SolveVecTo(mat.NewVecDense(4, nil), false, mat.NewVecDense(3, nil)) },
		"too many rows":   func() { _ = lu.SolveTo(&mat.Dense{}, false, mat.NewDense(4, 2, nil)) },
		"too few columns": func() { _ = lu.SolveTo(mat.NewDense(3, 1, nil), false, mat.NewDense(3, 2, nil)) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
					t.Errorf("%s: no panic with mat.ErrShape, but %v", name, err)
				}
			}()
			call()
		}()
	}
}

func BenchmarkLU(b *testing.B) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		name string
		a    revsparse.CSR[float64, int]
	}{
		{"grid of 100×100", convection[int](100, 0.4)},
		{"grid of 300×300", convection[int](300, 0.4)},
		{"grid of 300×300, fast flow", convection[int](300, 3)},
		{"random of 2000", unsymmetric(rnd, 2000, 3)},
	} {
		var lu revsparse.LU[int]
		b.Run("Factorize/"+c.name, func(b *testing.B) {
			for b.Loop() {
				lu = revsparse.LU[int]{}
				if err := lu.Factorize(c.a); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("the same structure/"+c.name, func(b *testing.B) {
			other := c.a.With(slices.Clone(c.a.Data))
			other.Data[0] *= 1.5 // factors of equal matrices are kept
			for b.Loop() {
				c.a, other = other, c.a
				if err := lu.Factorize(c.a); err != nil {
					b.Fatal(err)
				}
			}
		})
		x := mat.NewVecDense(c.a.Rows, numbers[float64](rnd, c.a.Rows))
		b.Run("solve/"+c.name, func(b *testing.B) {
			for b.Loop() {
				if err := lu.SolveVecTo(x, false, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
