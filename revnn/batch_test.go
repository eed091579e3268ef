package revnn_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revnn"
)

func affineBatchSpec[T rev.Real](bias bool) revtest.Spec[revnn.AffineBatch[T]] {
	spec := revtest.Spec[revnn.AffineBatch[T]]{
		New: func(rnd *rand.Rand, n int) revnn.AffineBatch[T] {
			k := revnn.AffineBatch[T]{Y: kerneltest.Matrix[T](rnd, n, n+1), X: kerneltest.Matrix[T](rnd, n, n+2), W: kerneltest.Matrix[T](rnd, n+2, n+1)}
			if bias {
				k.B = kerneltest.Vector[T](rnd, n+1)
			}
			return k
		},
		Sizes: []int{1, 2, 3, 5, 12},
	}
	if !bias {
		spec.Free = []string{"B.N"}
	}
	return spec
}

func TestAffineBatch(t *testing.T) {
	kerneltest.Kernels(t, affineBatchSpec[float32](true), affineBatchSpec[float64](true), affineBatchSpec[fixed.Q43](true))
	t.Run("NoBias", func(t *testing.T) { revtest.Kernel(t, affineBatchSpec[float64](false)) })
}

// A batch is an Affine of each row, with the transpose of W.
func TestAffineBatchByRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(41, 1))
	const n, k, m = 7, 5, 3
	random := func(r, c int) *mat.Dense { return mat.NewDense(r, c, kerneltest.Normals[float64](rnd, r*c, 1)) }
	x, w, b := random(n, k), random(k, m), mat.NewVecDense(m, kerneltest.Normals[float64](rnd, m, 1))
	y, want := random(n, m), mat.NewDense(n, m, nil)
	gy, gx, gw, gb := random(n, m), mat.NewDense(n, k, nil), mat.NewDense(k, m, nil), mat.NewVecDense(m, nil)
	want.Copy(y)
	wantGX, wantGW, wantGB := mat.NewDense(n, k, nil), mat.NewDense(m, k, nil), mat.NewVecDense(m, nil)
	wt := mat.DenseCopyOf(w.T())
	rowOf := func(a *mat.Dense, i int) *mat.VecDense { return a.RowView(i).(*mat.VecDense) }
	for i := range n {
		one := revlinalg.NewAffine(rowOf(want, i), wt, rowOf(x, i), b)
		one.Forward()
		value := mat.VecDenseCopyOf(rowOf(want, i))
		revlinalg.NewAffine(value, wt, rowOf(x, i), b).Adjoint(revlinalg.NewAffine(rowOf(gy, i), wantGW, rowOf(wantGX, i), wantGB))
	}
	layer := revnn.NewAffineBatch(y, x, w, b)
	layer.Forward()
	if !mat.EqualApprox(y, want, 1e-14) {
		t.Errorf("got %v, want %v", mat.Formatted(y), mat.Formatted(want))
	}
	layer.Adjoint(revnn.NewAffineBatch(gy, gx, gw, gb))
	if !mat.EqualApprox(gx, wantGX, 1e-14) || !mat.EqualApprox(gw.T(), wantGW, 1e-14) || !mat.EqualApprox(gb, wantGB, 1e-14) {
		t.Errorf("gradients %v, %v, %v, want %v, %v, %v", gx, gw, gb, wantGX, wantGW, wantGB)
	}
}

func softmaxRowsSpec[T rev.Real]() revtest.Spec[revnn.SoftmaxRows[T]] {
	return revtest.Spec[revnn.SoftmaxRows[T]]{
		New: func(rnd *rand.Rand, n int) revnn.SoftmaxRows[T] {
			return revnn.SoftmaxRows[T]{Y: kerneltest.Matrix[T](rnd, n, n+1), X: kerneltest.Matrix[T](rnd, n, n+1)}
		},
		Large: 130, // five blocks, for two workers
	}
}

func TestSoftmaxRows(t *testing.T) {
	kerneltest.Kernels(t, softmaxRowsSpec[float32](), softmaxRowsSpec[float64](), softmaxRowsSpec[fixed.Q43]())
}

func logSumExpRowsSpec[T rev.Real]() revtest.Spec[revnn.LogSumExpRows[T]] {
	return revtest.Spec[revnn.LogSumExpRows[T]]{
		New: func(rnd *rand.Rand, n int) revnn.LogSumExpRows[T] {
			return revnn.LogSumExpRows[T]{Y: kerneltest.Vector[T](rnd, n), X: kerneltest.Matrix[T](rnd, n, n+1)}
		},
		Large: 130,
	}
}

func TestLogSumExpRows(t *testing.T) {
	kerneltest.Kernels(t, logSumExpRowsSpec[float32](), logSumExpRowsSpec[float64](), logSumExpRowsSpec[fixed.Q43]())
}

// Rows have the results of the kernels of one vector, even if they are long, infinite or
// empty.
func TestRowsAgainstVectors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(41, 2))
	for _, c := range []int{1, 10, 700, 3000, 5000} {
		const n = 5
		x := mat.NewDense(n, c, kerneltest.Normals[float64](rnd, n*c, 30))
		y, sums := mat.NewDense(n, c, nil), mat.NewVecDense(n, nil)
		revnn.NewSoftmaxRows(y, x).Forward()
		revnn.NewLogSumExpRows(sums, x).Forward()
		for i := range n {
			row, want := x.RowView(i).(*mat.VecDense), mat.NewVecDense(c, nil)
			sum := 0.0
			revnn.NewSoftmax(want, row).Forward()
			revnn.NewLogSumExp(&sum, row).Forward()
			if !mat.EqualApprox(y.RowView(i), want, 1e-13) {
				t.Errorf("softmax of row %d of %d: got %v, want %v", i, c, y.RawRowView(i), want.RawVector().Data)
			}
			if d := sums.AtVec(i) - sum; !(d*d <= 1e-26*sum*sum) {
				t.Errorf("log Σ exp of row %d of %d: got %v, want %v", i, c, sums.AtVec(i), sum)
			}
		}
	}
}

func gatherSpec[T rev.Number](draw func(rnd *rand.Rand, n int) rev.Vector[T]) revtest.Spec[revnn.Gather[T]] {
	matrix := func(rnd *rand.Rand, r, c int) rev.General[T] { return rev.NewGeneral(r, c, draw(rnd, r*c).Data) }
	return revtest.Spec[revnn.Gather[T]]{
		New: func(rnd *rand.Rand, n int) revnn.Gather[T] {
			k := revnn.Gather[T]{Y: matrix(rnd, 2*n, n), X: matrix(rnd, n, n), Index: make([]int, 2*n)}
			for i := range k.Index {
				k.Index[i] = (i * i) % n // each row occurs, some often
			}
			for i := range n {
				k.Index[n+i] = i
			}
			return k
		},
		Large: 150, // three blocks
	}
}

func TestGather(t *testing.T) {
	kerneltest.Kernels(t, gatherSpec(kerneltest.Vector[float32]), gatherSpec(kerneltest.Vector[float64]), gatherSpec(kerneltest.Vector[fixed.Q43]))
	t.Run("complex128", func(t *testing.T) { revtest.Kernel(t, gatherSpec(kerneltest.Complexes)) })
}

func TestGatherIndex(t *testing.T) {
	for _, index := range [][]int{{0, -1}, {2, 0}} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrRowAccess) {
					t.Errorf("indices %v: panic %v", index, err)
				}
			}()
			revnn.NewGather(mat.NewDense(2, 3, nil), mat.NewDense(2, 3, nil), index).Forward()
		}()
	}
}

func BenchmarkBatch(b *testing.B) {
	rnd := rand.New(rand.NewPCG(41, 3))
	const n, c, m = 4096, 256, 64
	y, x, gy, gx := kerneltest.Matrix[float64](rnd, n, m), kerneltest.Matrix[float64](rnd, n, c), kerneltest.Matrix[float64](rnd, n, m), kerneltest.Matrix[float64](rnd, n, c)
	w, gw := kerneltest.Matrix[float64](rnd, c, m), kerneltest.Matrix[float64](rnd, c, m)
	bias, gb := kerneltest.Vector[float64](rnd, m), kerneltest.Vector[float64](rnd, m)
	layer := revnn.AffineBatch[float64]{Y: y, X: x, W: w, B: bias, Workers: 1}
	glayer := revnn.AffineBatch[float64]{Y: gy, X: gx, W: gw, B: gb}
	b.Run("AffineBatch/Forward", func(b *testing.B) {
		for b.Loop() {
			layer.Forward()
		}
		kerneltest.ReportFlops(b, 2*n*c*m)
	})
	b.Run("AffineBatch/Adjoint", func(b *testing.B) {
		for b.Loop() {
			layer.Adjoint(glayer)
		}
		kerneltest.ReportFlops(b, 6*n*c*m)
	})
	s := revnn.SoftmaxRows[float64]{Y: gx, X: x, Workers: 1}
	b.Run("SoftmaxRows/Forward", func(b *testing.B) {
		for b.Loop() {
			s.Forward()
		}
		kerneltest.ReportBytes(b, 24*n*c)
	})
	index := make([]int, n)
	for i := range index {
		index[i] = rnd.IntN(n)
	}
	g := revnn.Gather[float64]{Y: gx, X: x, Index: index, Workers: 1}
	b.Run("Gather/Forward", func(b *testing.B) {
		for b.Loop() {
			g.Forward()
		}
		kerneltest.ReportBytes(b, 24*n*c)
	})
}

// A table of 32 MB, more than caches hold, with rows at random.
func BenchmarkGather(b *testing.B) {
	rnd := rand.New(rand.NewPCG(41, 3))
	for _, d := range []int{16, 64, 512} {
		r := 1 << 22 / d
		k := revnn.Gather[float64]{Y: rev.NewGeneral[float64](r, d, nil), X: rev.NewGeneral[float64](r, d, nil), Index: rnd.Perm(r), Workers: 1}
		g := revnn.Gather[float64]{Y: rev.NewGeneral[float64](r, d, nil), X: rev.NewGeneral[float64](r, d, nil)}
		b.Run(fmt.Sprintf("d=%d/Forward", d), func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
			kerneltest.ReportBytes(b, 24*r*d)
		})
		b.Run(fmt.Sprintf("d=%d/Adjoint", d), func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
			kerneltest.ReportBytes(b, 48*r*d)
		})
	}
}

func BenchmarkSoftmaxRows(b *testing.B) {
	rnd := rand.New(rand.NewPCG(41, 4))
	for _, c := range []int{10, 100, 1000} {
		n := 1 << 16 / c
		x := rev.NewGeneral(n, c, kerneltest.Normals[float64](rnd, n*c, 1))
		rows := revnn.SoftmaxRows[float64]{Y: rev.NewGeneral[float64](n, c, nil), X: x, Workers: 1}
		sums := revnn.LogSumExpRows[float64]{Y: rev.ViewSlice(make([]float64, n)), X: x, Workers: 1}
		one := revlinalg.Exp[float64]{Y: rev.ViewSlice(rows.Y.Data), X: rev.ViewSlice(x.Data), Workers: 1}
		for _, m := range []struct {
			name string
			call func()
		}{{"SoftmaxRows", rows.Forward}, {"LogSumExpRows", sums.Forward}, {"Exp", one.Forward}} {
			b.Run(fmt.Sprintf("c=%d/%s", c, m.name), func(b *testing.B) {
				for b.Loop() {
					m.call()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n*c), "ns/element")
			})
		}
	}
}

// Sums on the way may leave the range: the bias brings them back. A bias that takes them out is found.
func TestCheckedBias(t *testing.T) {
	const big = fixed.Max - 100
	y, x, w, b := []fixed.Q43{0, big, 3}, []fixed.Q43{fixed.One}, []fixed.Q43{1, 200, 3}, []fixed.Q43{0, -300, 0}
	k := revnn.AffineBatch[fixed.Q43]{Y: rev.NewGeneral(1, 3, y), X: rev.NewGeneral(1, 1, x), W: rev.NewGeneral(1, 3, w), B: rev.ViewSlice(b)}
	c := revnn.Conv2D[fixed.Q43]{
		Y: rev.NewGeneral(1, 3, y), X: rev.NewGeneral(1, 1, x), W: rev.NewGeneral(3, 1, w), B: rev.ViewSlice(b), Channels: 1, Height: 1, Width: 1,
		KernelHeight: 1, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1,
	}
	for name, checked := range map[string][2]func() error{
		"AffineBatch": {func() error { return rev.ForwardChecked(k) }, func() error { return rev.InverseChecked(k) }},
		"Conv2D":      {func() error { return rev.ForwardChecked(c) }, func() error { return rev.InverseChecked(c) }},
	} {
		before := slices.Clone(y)
		if err := checked[0](); err != nil || !slices.Equal(y, []fixed.Q43{1, big - 100, 6}) {
			t.Errorf("%s: error %v, y = %d", name, err, y)
		}
		if err := checked[1](); err != nil || !slices.Equal(y, before) {
			t.Errorf("%s: error %v, y = %d", name, err, y)
		}
		b[2], y[2] = 99, fixed.Max-101
		var overflow *rev.OverflowError
		if err := checked[0](); !errors.As(err, &overflow) || overflow.Element() != "Y[0,2]" || y[1] != big || y[2] != fixed.Max-101 {
			t.Errorf("%s: error %v, want Y[0,2]; y = %d", name, err, y)
		}
		b[2], y[2] = 0, 3
	}
}

// A product is rounded before its bias is added: the two differ where it is a tie and the bias is odd. The inverse of the
// least number as a bias is no number.
func TestCheckedTies(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 42))
	one := func(from ...fixed.Q43) fixed.Q43 { return from[rnd.IntN(len(from))] }
	found := 0
	for range 2000 {
		m, n := 1+rnd.IntN(4), 1+rnd.IntN(12)
		y, x, w, columns, b := make([]fixed.Q43, m), make([]fixed.Q43, n), make([]fixed.Q43, m*n), make([]fixed.Q43, n*m), make([]fixed.Q43, m)
		for j := range x {
			x[j] = one(-3, -1, 0, 1, 3)
		}
		sign := 1 - 2*rnd.IntN(2)
		want, first := make([]fixed.Q43, m), -1
		for i := range y {
			s := new(big.Int) // twice the product
			for j := range x {
				w[i*n+j] = one(fixed.One/2, -fixed.One/2, 3*fixed.One/2)
				columns[j*m+i] = w[i*n+j]
				s.Add(s, big.NewInt(int64(x[j]*(w[i*n+j]>>(fixed.FracBits-1)))))
			}
			b[i] = one(1, -1, 3, 5, fixed.Max, fixed.Min, fixed.Min+1)
			half := s.Int64() >> 1
			half += s.Int64() & half & 1
			d := new(big.Int).Mul(big.NewInt(int64(sign)), new(big.Int).Add(big.NewInt(half), big.NewInt(int64(b[i]))))
			old := new(big.Int).Sub(big.NewInt(int64(one(fixed.Max, fixed.Min))), d)
			if old.Add(old, big.NewInt(int64(rnd.IntN(5)-2))); old.IsInt64() {
				y[i] = fixed.Q43(old.Int64())
			}
			v := d.Add(d, big.NewInt(int64(y[i])))
			if !v.IsInt64() && first < 0 {
				first = i
			}
			want[i] = fixed.Q43(v.Int64())
		}
		before := slices.Clone(y)
		if first >= 0 {
			want = before
			found++
		}
		for _, k := range []struct {
			err     func() error
			element string
		}{
			{checkedPass(revlinalg.Affine[fixed.Q43]{Y: rev.ViewSlice(y), W: rev.NewGeneral(m, n, w), X: rev.ViewSlice(x), B: rev.ViewSlice(b)}, sign), fmt.Sprintf("Y[%d]", first)},
			{checkedPass(revnn.AffineBatch[fixed.Q43]{Y: rev.NewGeneral(1, m, y), X: rev.NewGeneral(1, n, x), W: rev.NewGeneral(n, m, columns), B: rev.ViewSlice(b)}, sign), fmt.Sprintf("Y[0,%d]", first)},
			{checkedPass(revnn.Conv2D[fixed.Q43]{
				Y: rev.NewGeneral(1, m, y), X: rev.NewGeneral(1, n, x), W: rev.NewGeneral(m, n, w), B: rev.ViewSlice(b), Channels: n, Height: 1, Width: 1,
				KernelHeight: 1, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1,
			}, sign), fmt.Sprintf("Y[0,%d]", first)},
		} {
			copy(y, before)
			err := k.err()
			var overflow *rev.OverflowError
			if errors.As(err, &overflow) != (first >= 0) || first >= 0 && overflow.Element() != k.element {
				t.Fatalf("sign %d, Y = %v, B = %v: the error is %v, want that of %s", sign, before, b, err, k.element)
			}
			if !slices.Equal(y, want) {
				t.Fatalf("sign %d, B = %v, error %v: Y is %v, want %v", sign, b, err, y, want)
			}
		}
	}
	if found < 200 || found > 1900 {
		t.Errorf("%d of 2000 leave the range, want some", found)
	}
}

// checkedPass returns the checked pass of k in a direction.
func checkedPass[K rev.Checker[K]](k K, sign int) func() error {
	if sign < 0 {
		return func() error { return rev.InverseChecked(k) }
	}
	return func() error { return rev.ForwardChecked(k) }
}
