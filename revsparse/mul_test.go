package revsparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/internal/number"
	"revnum/internal/simd/sparse"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
	"revnum/revsparse/internal/division"
)

func randomMul[T rev.Number, I revsparse.Index](rnd *rand.Rand, size, cols int, trans, alpha bool) revsparse.Mul[T, I] {
	k := revsparse.Mul[T, I]{A: random[T, I](rnd, size, size+1, 3), Trans: trans}
	if size == 0 {
		k.A = random[T, I](rnd, 0, 0, 0)
	}
	m, n := k.A.Rows, k.A.Cols
	if trans {
		m, n = n, m
	}
	k.C, k.B = matrixOf[T](rnd, m, cols), matrixOf[T](rnd, n, cols)
	if alpha {
		k.Alpha = new(T)
		*k.Alpha = randomNumber[T](rnd)
	}
	return k
}

func mulSpec[T rev.Number, I revsparse.Index](cols int, trans, alpha bool) revtest.Spec[revsparse.Mul[T, I]] {
	return revtest.Spec[revsparse.Mul[T, I]]{
		New: func(rnd *rand.Rand, size int) revsparse.Mul[T, I] {
			return randomMul[T, I](rnd, size, min(size, cols), trans, alpha)
		},
		RoundTrip: 8,                      // the sum is larger than C
		Masked:    []string{"B", "Alpha"}, // not all rows of B meet an entry, nor does Alpha where there are none
	}
}

func TestMul(t *testing.T) {
	for _, cols := range []int{1, 3} {
		for _, trans := range []bool{false, true} {
			alpha := trans != (cols == 3)
			t.Run(fmt.Sprintf("%d columns/trans=%v/alpha=%v", cols, trans, alpha), func(t *testing.T) {
				t.Run("float64", func(t *testing.T) { revtest.Kernel(t, mulSpec[float64, int](cols, trans, alpha)) })
				if cols == 3 || long.Tests() {
					t.Run("Q43", func(t *testing.T) { kerneltest.Kernel[fixed.Q43](t, mulSpec[fixed.Q43, int](cols, trans, alpha)) })
				}
				if cols == 1 || long.Tests() {
					t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, mulSpec[float32, int32](cols, trans, alpha)) })
					t.Run("complex128", func(t *testing.T) { revtest.Kernel(t, mulSpec[complex128, int32](cols, trans, alpha)) })
				}
			})
		}
	}
}

// With so many columns the adjoint goes over a transposed copy.
func TestMulColumns(t *testing.T) {
	for _, trans := range []bool{false, true} {
		t.Run(fmt.Sprintf("trans=%v", trans), func(t *testing.T) {
			t.Run("float64", func(t *testing.T) { revtest.Kernel(t, mulSpec[float64, int](fewColumns+4, trans, true)) })
			t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, mulSpec[float32, int32](fewColumns+4, trans, true)) })
			// In several panels and without alpha, the rows of the copy may have the
			// gradient of A.
			t.Run("float64 panels", func(t *testing.T) { revtest.Kernel(t, panelsSpec[float64, int32](trans)) })
			t.Run("complex128 panels", func(t *testing.T) { revtest.Kernel(t, panelsSpec[complex128, int](trans)) })
		})
	}
}

// panelsSpec has two panels of columns where there are three rows.
func panelsSpec[T rev.Number, I revsparse.Index](trans bool) revtest.Spec[revsparse.Mul[T, I]] {
	spec := mulSpec[T, I](0, trans, false)
	spec.New = func(rnd *rand.Rand, size int) revsparse.Mul[T, I] {
		cols := min(size, 2)
		if size == 3 {
			cols += panelBytes / int(unsafe.Sizeof(T(0)))
		}
		return randomMul[T, I](rnd, size, cols, trans, false)
	}
	return spec
}

// The product is that of dense matrices.
func TestMulValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 40, 3000} {
		for _, cols := range []int{1, 2, 70} {
			for _, trans := range []bool{false, true} {
				k := randomMul[float64, int32](rnd, n, cols, trans, true)
				if n == 3000 && cols > 1 {
					continue // dense A is large enough
				}
				a := toMat(k.A)
				var op mat.Matrix = a
				if trans {
					op = a.T()
				}
				b, c := mat.NewDense(k.B.Rows, cols, k.B.Data), mat.NewDense(k.C.Rows, cols, k.C.Data)
				var want mat.Dense
				want.Mul(op, b)
				want.Scale(*k.Alpha, &want)
				want.Add(&want, c)
				k.Forward()
				if !mat.EqualApprox(c, &want, 1e-11) {
					t.Errorf("n=%d, %d columns, transposed %v: the product differs", n, cols, trans)
				}
			}
		}
	}
}

func toMat[I revsparse.Index](a revsparse.CSR[float64, I]) *mat.Dense {
	d := revsparse.Dense(a)
	return mat.NewDense(d.Rows, d.Cols, d.Data)
}

// TestMulWithout leaves operands out of a product.
func TestMulWithout(t *testing.T) {
	a, _ := revsparse.NewCSR(2, 3, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 3})
	x, gy, gx := mat.NewVecDense(3, []float64{1, 10, 100}), mat.NewVecDense(2, []float64{1, -1}), mat.NewVecDense(3, nil)
	revsparse.NewMul(nil, a, x).Adjoint(revsparse.NewMul(gy, a.With(nil), gx))
	if want := []float64{1, -3, 2}; !slices.Equal(gx.RawVector().Data, want) {
		t.Errorf("gradient %v, want %v", gx.RawVector().Data, want)
	}
	defer func() {
		if got, _ := recover().(error); !errors.Is(got, mat.ErrShape) {
			t.Errorf("a product without B: panic %v, want %v", got, mat.ErrShape)
		}
	}()
	revsparse.NewMul(gy, a, nil).Forward()
}

// perRow returns a matrix with the given number of entries in each row, the
// columns being within width of the diagonal, or anywhere if it is 0.
func perRow(rnd *rand.Rand, n, entries, width int) revsparse.CSR[float64, int32] {
	a := revsparse.CSR[float64, int32]{Rows: n, Cols: n, Ptr: make([]int32, n+1), Ind: make([]int32, n*entries), Data: numbers[float64](rnd, n*entries)}
	for i := range n {
		a.Ptr[i+1] = int32((i + 1) * entries)
		row := a.Ind[i*entries : (i+1)*entries]
		for q := range row {
			if width > 0 {
				row[q] = int32(min(n-1, max(0, i+q-entries/2)))
			} else {
				row[q] = int32(rnd.IntN(n))
			}
		}
		slices.Sort(row)
	}
	return a
}

// denseRow returns a matrix with two entries in each row, in the first half of the columns,
// but for one row, which has one in each column.
func denseRow(rnd *rand.Rand, rows, cols, dense int) revsparse.CSR[float64, int32] {
	a := revsparse.CSR[float64, int32]{Rows: rows, Cols: cols, Ptr: make([]int32, 1, rows+1)}
	for i := range rows {
		if i == dense {
			for j := range cols {
				a.Ind = append(a.Ind, int32(j))
			}
		} else {
			j := int32(i * (cols / 2) / rows)
			a.Ind = append(a.Ind, j, j+1)
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	a.Data = numbers[float64](rnd, len(a.Ind))
	return a
}

// powerLaw returns a matrix with about the given number of entries in a row, which are
// of density x^(-5/2), in columns at random.
func powerLaw(rnd *rand.Rand, n, entries int) revsparse.CSR[float64, int32] {
	a := revsparse.CSR[float64, int32]{Rows: n, Cols: n, Ptr: make([]int32, 1, n+1)}
	for range n {
		first := len(a.Ind)
		for range min(n, max(1, int(float64(entries)/3*math.Pow(1-rnd.Float64(), -2.0/3)))) {
			a.Ind = append(a.Ind, int32(rnd.IntN(n)))
		}
		slices.Sort(a.Ind[first:])
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	a.Data = numbers[float64](rnd, len(a.Ind))
	return a
}

func BenchmarkMulVec(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, m := range []struct {
		name string
		a    revsparse.CSR[float64, int32]
	}{
		{"Laplacian", gridLaplacian[int32](1000, 1000)},
		{"banded", perRow(rnd, 1e6, 10, 10)},
		{"random", perRow(rnd, 1e6, 10, 0)},
		{"power law", powerLaw(rnd, 1e6, 10)},
		{"one dense row", denseRow(rnd, 1e6, 1e6, 5e5)},
		{"small", perRow(rnd, 1000, 50, 0)},
	} {
		n := m.a.Rows
		bytes := m.a.NNZ()*12 + n*(4+3*8)
		for _, workers := range []int{1, 2} {
			k := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, n, 1), A: m.a, B: matrixOf[float64](rnd, n, 1), Workers: workers}
			g := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, n, 1), A: m.a.With(make([]float64, m.a.NNZ())), B: matrixOf[float64](rnd, n, 1)}
			gb := g
			gb.A.Data = nil
			kb := k
			kb.C.Data = nil
			trans := k
			trans.Trans = true
			for _, r := range []struct {
				name string
				call func()
			}{
				{"Forward", k.Forward},
				{"ForwardTrans", trans.Forward},
				{"Adjoint", func() { k.Adjoint(g) }},
				{"AdjointTrans", func() { trans.Adjoint(g) }},
				{"AdjointB", func() { k.Adjoint(gb) }},
				{"AdjointBalone", func() { kb.Adjoint(gb) }},
			} {
				b.Run(fmt.Sprintf("%s/%s/workers=%d", m.name, r.name, workers), func(b *testing.B) {
					for b.Loop() {
						r.call()
					}
					kerneltest.ReportBytes(b, bytes)
				})
			}
		}
	}
}

func BenchmarkMulDense(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 3))
	a := perRow(rnd, 1000, 50, 0)
	for _, cols := range []int{4, 64, 1000} {
		k := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, 1000, cols), A: a, B: matrixOf[float64](rnd, 1000, cols), Workers: 1}
		g := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, 1000, cols), A: a.With(make([]float64, a.NNZ())), B: matrixOf[float64](rnd, 1000, cols)}
		trans := k
		trans.Trans = true
		flops := 2 * cols * a.NNZ()
		b.Run(fmt.Sprintf("Forward/%d columns", cols), func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportFlops(b, flops)
		})
		b.Run(fmt.Sprintf("Adjoint/%d columns", cols), func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			kerneltest.ReportFlops(b, 3*flops)
		})
		b.Run(fmt.Sprintf("AdjointTrans/%d columns", cols), func(b *testing.B) {
			for b.Loop() {
				trans.Adjoint(g)
			}
			kerneltest.ReportFlops(b, 3*flops)
		})
	}
}

// Matrices of several blocks, whose columns are near and far, and matrices with a row
// that is longer than a block, against loops over the entries.
func TestMulBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	near := perRow(rnd, 30000, 9, 9)
	slanted := perRow(rnd, 30000, 9, 9)
	slanted.Cols = 3 * slanted.Cols
	for q := range slanted.Ind {
		slanted.Ind[q] *= 3
	}
	far := random[float64, int32](rnd, 40000, 50000, 6)
	wide := random[float64, int32](rnd, 40000, 2*wideRange, 6)
	dense := perRow(rnd, 1000, 50, 0) // with repeated columns
	first, middle, last := denseRow(rnd, 1000, 100000, 0), denseRow(rnd, 20000, 100000, 9999), denseRow(rnd, 1000, 100000, 999)
	for turn, a := range []revsparse.CSR[float64, int32]{near, slanted, far, wide, dense, first, middle, last, near, far, middle} {
		cols := 1
		if turn > 7 {
			cols = 3
		}
		for _, trans := range []bool{false, true} {
			if trans != (turn%2 == 0) && !long.Tests() {
				continue
			}
			m, n := a.Rows, a.Cols
			if trans {
				m, n = n, m
			}
			k := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, m, cols), A: a, B: matrixOf[float64](rnd, n, cols), Trans: trans}
			g := revsparse.Mul[float64, int32]{C: matrixOf[float64](rnd, m, cols), A: a.With(numbers[float64](rnd, a.NNZ())), B: matrixOf[float64](rnd, n, cols)}
			wantC, wantA, wantB := slices.Clone(k.C.Data), slices.Clone(g.A.Data), slices.Clone(g.B.Data)
			for i := range a.Rows {
				for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
					r, c := i, int(a.Ind[p])
					if trans {
						r, c = c, r
					}
					for l := range cols {
						wantC[r*cols+l] -= a.Data[p] * k.B.Data[c*cols+l]
						wantB[c*cols+l] += a.Data[p] * g.C.Data[r*cols+l]
						wantA[p] += g.C.Data[r*cols+l] * k.B.Data[c*cols+l]
					}
				}
			}
			c0, a0, b0 := slices.Clone(k.C.Data), slices.Clone(g.A.Data), slices.Clone(g.B.Data)
			var first [3][]float64
			for _, k.Workers = range []int{1, 7, 3, 2}[:long.Or(4, 2)] {
				copy(k.C.Data, c0)
				copy(g.A.Data, a0)
				copy(g.B.Data, b0)
				k.Adjoint(g)
				for n, x := range [][2][]float64{{k.C.Data, wantC}, {g.A.Data, wantA}, {g.B.Data, wantB}} {
					for i := range x[0] {
						if math.Abs(x[0][i]-x[1][i]) > 1e-10 {
							t.Fatalf("transposed %v, %d workers, result %d: element %d is %v, want %v", trans, k.Workers, n, i, x[0][i], x[1][i])
						}
					}
					if first[n] == nil {
						first[n] = slices.Clone(x[0])
					} else if !slices.Equal(x[0], first[n]) {
						t.Errorf("transposed %v, %d workers: result %d has other bits", trans, k.Workers, n)
					}
				}
			}
			copy(k.C.Data, c0)
			copy(g.B.Data, b0)
			g.A.Data = nil
			k.Adjoint(g)
			if !slices.Equal(k.C.Data, first[0]) || !slices.Equal(g.B.Data, first[2]) {
				t.Errorf("transposed %v: other bits without the cotangent of A", trans)
			}
			if trans {
				continue
			}
			copy(g.B.Data, b0)
			g.A.Data, k.C.Data = slices.Clone(a0), nil
			k.Adjoint(g)
			if !slices.Equal(g.A.Data, first[1]) || !slices.Equal(g.B.Data, first[2]) {
				t.Error("other bits without the uncomputation of C")
			}
		}
	}
}

// rowsOf returns a matrix with rows of so many entries, in columns at random.
func rowsOf[T rev.Number, I revsparse.Index](rnd *rand.Rand, cols int, entries ...int) revsparse.CSR[T, I] {
	a := revsparse.CSR[T, I]{Rows: len(entries), Cols: cols, Ptr: []I{0}}
	for _, n := range entries {
		for range n {
			a.Ind = append(a.Ind, I(rnd.IntN(cols)))
		}
		a.Ptr = append(a.Ptr, I(len(a.Ind)))
	}
	a.Data = numbers[T](rnd, len(a.Ind))
	return a
}

// bandOf returns a matrix of n rows, whose entries are at most reach columns from the diagonal.
func bandOf[T rev.Number, I revsparse.Index](rnd *rand.Rand, n, reach int) revsparse.CSR[T, I] {
	a := revsparse.CSR[T, I]{Rows: n, Cols: n, Ptr: make([]I, 1)}
	for i := range n {
		for j := max(0, i-reach); j < min(n, i+reach+1); j++ {
			a.Ind = append(a.Ind, I(j))
		}
		a.Ptr = append(a.Ptr, I(len(a.Ind)))
	}
	a.Data = numbers[T](rnd, len(a.Ind))
	return a
}

// A result has the same bits whatever else is computed, except for the cotangent of
// Alpha, and for any number of workers.
func TestMulAskedFor(t *testing.T) {
	t.Run("float64 int", testMulAskedFor[float64, int])
	t.Run("Q43 int32", testMulAskedFor[fixed.Q43, int32])
	if long.Tests() {
		t.Run("float32 int32", testMulAskedFor[float32, int32])
		t.Run("complex128 int", testMulAskedFor[complex128, int])
	}
}

func testMulAskedFor[T rev.Number, I revsparse.Index](t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 8))
	short := func(n, entries int) []int { return slices.Repeat([]int{entries}, n) }
	for turn, m := range []struct {
		name string
		cols int
		a    revsparse.CSR[T, I]
	}{
		// Long rows at the ends, side by side, with an empty one between, and about as long
		// as is not divided.
		{"long rows", 1, rowsOf[T, I](rnd, 3000, 3*division.LongRow+5, 0, division.LongRow, division.LongRow+1, 2*division.LongRow, division.LongRow+sparse.MaxEntries-1, 7, 0, 2*division.LongRow+1)},
		{"long rows of many columns", 1, rowsOf[T, I](rnd, wideRange+100, 3*division.LongRow+5, 0, division.LongRow+1, 2*division.LongRow)},
		{"a long row of several columns", 3, rowsOf[T, I](rnd, 3000, 1, 3*division.LongRow+5, 2)},
		{"one block", 1, rowsOf[T, I](rnd, 500, short(400, 25)...)},
		{"several blocks", 1, rowsOf[T, I](rnd, 2000, short(2000, 40)...)},
		{"few columns", 5, rowsOf[T, I](rnd, 300, short(500, 40)...)},
		{"few columns, several blocks", 5, rowsOf[T, I](rnd, 2000, short(2000, 40)...)},
		{"few columns, a band", 5, bandOf[T, I](rnd, 6000, 4)},
		{"panels of columns", 140, rowsOf[T, I](rnd, 30, short(40, 5)...)},
	} {
		if m.a.Cols > wideRange && (number.IsFixed[T]() || number.IsComplex[T]()) {
			continue // they know no such columns
		}
		for _, trans := range []bool{false, true} {
			rows, cols := m.a.Rows, m.a.Cols
			if trans {
				rows, cols = cols, rows
			}
			alpha := randomNumber[T](rnd)
			k := revsparse.Mul[T, I]{C: matrixOf[T](rnd, rows, m.cols), Alpha: &alpha, A: m.a, B: matrixOf[T](rnd, cols, m.cols), Trans: trans}
			g := revsparse.Mul[T, I]{C: matrixOf[T](rnd, rows, m.cols), A: m.a.With(numbers[T](rnd, m.a.NNZ())), B: matrixOf[T](rnd, cols, m.cols)}
			inverse := k
			inverse.C.Data = slices.Clone(k.C.Data)
			inverse.Inverse()
			var want [4][]T // C, and the cotangents of A, B and Alpha
			for asked := 7; asked > 0; asked-- {
				if asked < 7 && (asked+turn)%3 > 0 && !long.Tests() {
					continue
				}
				for _, galpha := range []bool{true, false} {
					if galpha != (asked%2 > 0) && !long.Tests() {
						continue
					}
					k, g, sum := k, g, T(0)
					k.Workers = []int{1, 7, 3, 2}[asked%4]
					k.C.Data, g.A.Data, g.B.Data = slices.Clone(k.C.Data), slices.Clone(g.A.Data), slices.Clone(g.B.Data)
					results := [...]*[]T{&k.C.Data, &g.A.Data, &g.B.Data}
					for n, x := range results {
						if asked&(1<<n) == 0 {
							*x = nil
						}
					}
					if galpha {
						g.Alpha = &sum
					}
					k.Adjoint(g)
					if want[3] == nil {
						want[3] = []T{sum}
					}
					for n, x := range results {
						if want[n] == nil {
							want[n] = *x
						} else if *x != nil && !slices.Equal(*x, want[n]) {
							t.Errorf("%s, transposed %v, set %03b of results, alpha %v: other bits of %c", m.name, trans, asked, galpha, "CAB"[n])
						}
					}
				}
			}
			if !slices.Equal(inverse.C.Data, want[0]) {
				t.Errorf("%s, transposed %v: Adjoint restores other bits than Inverse", m.name, trans)
			}
			near(t, fmt.Sprintf("%s, transposed %v", m.name, trans), k, g, want)
		}
	}
}

// near compares what Adjoint computes with what loops over the entries do.
func near[T rev.Number, I revsparse.Index](t *testing.T, name string, k, g revsparse.Mul[T, I], got [4][]T) {
	t.Helper()
	alpha, n := complexOf(*k.Alpha), k.C.Cols
	var want [4][]complex128
	var top [4][]float64 // sums of magnitudes
	for r, x := range [...][]T{k.C.Data, g.A.Data, g.B.Data, {0}} {
		for _, v := range x {
			want[r], top[r] = append(want[r], complexOf(v)), append(top[r], cmplx.Abs(complexOf(v)))
		}
	}
	add := func(r, at int, x complex128) {
		want[r][at] += x
		top[r][at] += cmplx.Abs(x)
	}
	for i := range k.A.Rows {
		for p := k.A.Ptr[i]; p < k.A.Ptr[i+1]; p++ {
			row, col := i, int(k.A.Ind[p])
			if k.Trans {
				row, col = col, row
			}
			a := complexOf(k.A.Data[p])
			for l := range n {
				b, gc := complexOf(k.B.Data[col*n+l]), complexOf(g.C.Data[row*n+l])
				add(0, row*n+l, -alpha*a*b)
				add(1, int(p), cmplx.Conj(alpha)*gc*cmplx.Conj(b))
				add(2, col*n+l, cmplx.Conj(alpha*a)*gc)
				add(3, 0, gc*cmplx.Conj(a*b))
			}
		}
	}
	unit := 0x1p-52
	switch any(T(0)).(type) {
	case float32:
		unit = 0x1p-23
	case fixed.Q43:
		unit = 0x1p-38 // several roundings of a product, to 43 bits
	}
	for r := range want {
		for i, w := range want[r] {
			if d := cmplx.Abs(complexOf(got[r][i]) - w); !(d <= 500*unit*(1+top[r][i])) {
				t.Errorf("%s: element %d of %s is %v, want %v", name, i, [...]string{"C", "A", "B", "Alpha"}[r], got[r][i], w)
				break
			}
		}
	}
}

func complexOf[T rev.Number](x T) complex128 {
	switch x := any(x).(type) {
	case float64:
		return complex(x, 0)
	case float32:
		return complex(float64(x), 0)
	case fixed.Q43:
		return complex(x.Float64(), 0)
	case complex128:
		return x
	}
	panic("no such type")
}

// A row of most of the entries is divided between the blocks. That these are of about the same size is tested in
// package division.
func TestMulLongRow(t *testing.T) {
	// Columns of the long row.
	plain, transposed := mulSpec[float64, int](1, false, true), mulSpec[float32, int32](1, true, true)
	plain.Large, transposed.Large = 3*division.LongRow, 3*division.LongRow
	if !long.Tests() { // TestMul takes the other sizes
		plain.Sizes, transposed.Sizes = []int{5}, []int{5}
	}
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, plain) })
	t.Run("float32 transposed", func(t *testing.T) { revtest.Kernel(t, transposed) })
}

// An index out of range panics before anything is written where it points, with one
// entry or many for each column.
func TestMulIndexOutOfRange(t *testing.T) {
	for _, entries := range []int{1, 100} {
		for _, bad := range []int{2, -1} {
			a := revsparse.CSR[float64, int]{Rows: 1, Cols: 2, Ptr: []int{0, entries}, Ind: make([]int, entries), Data: make([]float64, entries)}
			a.Ind[0], a.Ind[entries-1] = 1, bad
			k := revsparse.NewMul(mat.NewVecDense(1, nil), a, mat.NewVecDense(2, nil))
			gb := mat.NewVecDense(2, nil)
			func() {
				defer func() {
					if err, _ := recover().(error); !errors.Is(err, mat.ErrColAccess) {
						t.Errorf("%d entries, column %d: panic %v, want %v", entries, bad, err, mat.ErrColAccess)
					}
				}()
				k.Adjoint(revsparse.NewMul(mat.NewVecDense(1, []float64{1}), a.With(nil), gb))
			}()
		}
	}
}

// The same over fixed point, if only the gradient by B is asked for.
func TestMulFixedIndexOutOfRange(t *testing.T) {
	for _, bad := range []int32{-1, 5, 1000} {
		a := revsparse.CSR[fixed.Q43, int32]{Rows: 2, Cols: 5, Ptr: []int32{0, 1, 2}, Ind: []int32{1, bad}, Data: make([]fixed.Q43, 2)}
		k := revsparse.Mul[fixed.Q43, int32]{A: a, B: rev.NewGeneral[fixed.Q43](5, 1, nil)}
		g := revsparse.Mul[fixed.Q43, int32]{C: rev.NewGeneral[fixed.Q43](2, 1, nil), B: rev.NewGeneral[fixed.Q43](5, 1, nil)}
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, mat.ErrColAccess) {
					t.Errorf("column %d: panic %v, want %v", bad, err, mat.ErrColAccess)
				}
			}()
			_ = k.Run(rev.Pass[revsparse.Mul[fixed.Q43, int32]]{Back: true, Adjoint: true, G: g})
		}()
	}
}

// Without columns, no index is in range.
func TestMulNoColumns(t *testing.T) {
	for _, cols := range []int{1, 3, fewColumns + 4} {
		for _, trans := range []bool{false, true} {
			k := revsparse.Mul[float64, int]{A: revsparse.CSR[float64, int]{Rows: 1, Ptr: []int{0, 1}, Ind: []int{0}, Data: []float64{1}}, Trans: trans}
			k.C, k.B = rev.NewGeneral[float64](1, cols, nil), rev.NewGeneral[float64](0, cols, nil)
			if trans {
				k.C, k.B = k.B, k.C
			}
			k.B.Data = append(k.B.Data, 0)[:len(k.B.Data)] // not nil, which would ask for nothing
			k.C.Data = append(k.C.Data, 0)[:len(k.C.Data)]
			func() {
				defer func() {
					if err, _ := recover().(error); !errors.Is(err, mat.ErrColAccess) {
						t.Errorf("%d columns, transposed %v: panic %v, want %v", cols, trans, err, mat.ErrColAccess)
					}
				}()
				k.Forward()
			}()
		}
	}
}

// Constructors say which types they do not take.
func TestConstructorsRefuse(t *testing.T) {
	a := revsparse.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, 4}))
	x := mat.NewDense(2, 2, nil)
	for _, m := range []mat.Matrix{x.T(), mat.NewSymDense(2, nil), mat.NewVecDense(2, nil).T()} {
		func() {
			defer func() {
				want := fmt.Sprintf("a %T, not a *mat.Dense or a *mat.VecDense", m)
				if err, ok := recover().(*rev.OperandError); !ok || !strings.Contains(err.Reason, want) {
					t.Errorf("panic %v, want %q in it", err, want)
				}
			}()
			revsparse.NewMul(x, a, m)
		}()
	}
}

// Products near the ends of the range, of a few numbers with the same exponents, against integers: bounds that leave out a
// factor or repeated columns let some of them wrap.
func TestMulChecked(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 43))
	rounded := func(x, y *big.Int) *big.Int {
		p, unit := new(big.Int).Mul(x, y), new(big.Int).Lsh(big.NewInt(1), fixed.FracBits)
		q, r := new(big.Int).DivMod(p, unit, new(big.Int))
		if c := r.Lsh(r, 1).Cmp(unit); c > 0 || c == 0 && q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
		return q
	}
	found := 0
	const passes = 4000
	for range passes {
		rows, inner, cols, entries := 1+rnd.IntN(3), 1+rnd.IntN(3), 1+rnd.IntN(2), 1<<rnd.IntN(6)
		trans, mixed := rnd.IntN(2) == 0, rnd.IntN(4) == 0
		// α·a·b·terms is about 2²⁰.
		ea, ealpha := rnd.IntN(41)-21, rnd.IntN(41)-21
		if rnd.IntN(2) == 0 {
			ealpha = 0
		}
		eb := 20 + rnd.IntN(4) - ea - ealpha - rnd.IntN(7)
		eb = max(-30, min(19, eb))
		number := func(exponent int) fixed.Q43 {
			v := fixed.Q43(1)<<(fixed.FracBits+exponent) - fixed.Q43(rnd.IntN(3))
			if mixed && rnd.IntN(2) == 0 {
				v = -v
			}
			return v
		}
		ptr, ind, data := []int32{0}, []int32{}, []fixed.Q43{}
		for range rows {
			for range entries {
				ind, data = append(ind, int32(rnd.IntN(inner))), append(data, number(ea))
			}
			ptr = append(ptr, int32(len(ind)))
		}
		a, err := revsparse.NewCSR(rows, inner, ptr, ind, data)
		if err != nil {
			t.Fatal(err)
		}
		m, l := rows, inner
		if trans {
			m, l = l, m
		}
		c, b, alpha := rev.NewGeneral[fixed.Q43](m, cols, nil), rev.NewGeneral[fixed.Q43](l, cols, nil), number(ealpha)
		for i := range b.Data {
			b.Data[i] = number(eb)
		}
		for i := range c.Data {
			c.Data[i] = fixed.Q43(rnd.IntN(3)-1) << 62
		}
		k := revsparse.Mul[fixed.Q43, int32]{C: c, Alpha: &alpha, A: a, B: b, Trans: trans}
		if ealpha == 0 && rnd.IntN(2) == 0 {
			k.Alpha, alpha = nil, fixed.One
		}
		sign := 1 - 2*rnd.IntN(2)
		sums, fits := make([]*big.Int, m*cols), make([]bool, m*cols)
		for i := range sums {
			sums[i], fits[i] = new(big.Int), true
		}
		bigOf := func(v fixed.Q43) *big.Int { return big.NewInt(int64(v)) }
		for i := range rows {
			for q := ptr[i]; q < ptr[i+1]; q++ {
				to, from := i, int(ind[q])
				if trans {
					to, from = from, to
				}
				for j := range cols {
					at, v := to*cols+j, bigOf(b.Data[from*cols+j])
					if trans && cols == 1 {
						v = rounded(bigOf(alpha), v)
						fits[at] = fits[at] && v.IsInt64()
						v = rounded(bigOf(data[q]), v)
						sums[at].Add(sums[at], v)
						continue
					}
					sums[at].Add(sums[at], v.Mul(v, bigOf(data[q])))
				}
			}
		}
		first, want := -1, make([]fixed.Q43, len(c.Data))
		for at, s := range sums {
			if !trans || cols > 1 {
				s = rounded(s, big.NewInt(1))
				fits[at] = s.IsInt64() || alpha == fixed.One
				s = rounded(s, bigOf(alpha))
			}
			s = new(big.Int).Mul(s, big.NewInt(int64(sign)))
			if rnd.IntN(2) == 0 { // a result a few units from an end
				old := new(big.Int).Sub(bigOf([]fixed.Q43{fixed.Max, fixed.Min}[rnd.IntN(2)]), s)
				if old.Add(old, big.NewInt(int64(rnd.IntN(5)-2))); old.IsInt64() {
					c.Data[at] = fixed.Q43(old.Int64())
				}
			}
			v := s.Add(s, bigOf(c.Data[at]))
			if fits[at] = fits[at] && v.IsInt64(); !fits[at] && first < 0 {
				first = at
			}
			want[at] = fixed.Q43(v.Int64())
		}
		if first >= 0 {
			found++
			copy(want, c.Data)
		}
		var overflow *rev.OverflowError
		if sign > 0 {
			err = rev.ForwardChecked(k)
		} else {
			err = rev.InverseChecked(k)
		}
		where := fmt.Sprintf("%d×%d, %d columns, %d entries a row, trans %v, exponents %d, %d and %d", rows, inner, cols, entries, trans, ea, eb, ealpha)
		if errors.As(err, &overflow) != (first >= 0) || first >= 0 && overflow.Element() != fmt.Sprintf("C[%d,%d]", first/cols, first%cols) {
			t.Fatalf("%s: the error is %v, number %d is the first out of range", where, err, first)
		}
		if !slices.Equal(c.Data, want) {
			t.Fatalf("%s: error %v, C is %v, want %v", where, err, c.Data, want)
		}
	}
	if found < passes/10 || found > passes*9/10 {
		t.Errorf("%d of %d leave the range, want some", found, passes)
	}
}
