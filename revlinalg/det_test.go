package revlinalg_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func detSpec[T rev.Float]() revtest.Spec[revlinalg.Det[T]] {
	return revtest.Spec[revlinalg.Det[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Det[T] {
			a := regular[T](rnd, size)
			for i := range a.Data {
				a.Data[i] /= 3 // a determinant of about 1
			}
			return revlinalg.Det[T]{Out: new(T), A: a}
		},
		Large:      150,
		Magnitudes: [2]float64{0.5, 2}, // of which it is the power n
		RoundTrip:  4,
	}
}

func TestDet(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, detSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, detSpec[float32]()) })
	// The determinant is smooth where the matrix is singular.
	for rank := range 3 {
		t.Run(fmt.Sprintf("rank %d below n", 1+rank), func(t *testing.T) {
			spec := detSpec[float64]()
			spec.New = func(rnd *rand.Rand, size int) revlinalg.Det[float64] {
				k := detSpec[float64]().New(rnd, size)
				for i := range min(1+rank, size) {
					copy(k.A.Row(i), k.A.Row(size-1))
				}
				return k
			}
			spec.Sizes = []int{2, 3, 5, 12}
			spec.Large = 0
			spec.Magnitudes = [2]float64{1, 1} // differences of a value of 0 are rounding
			revtest.Kernel(t, spec)
		})
	}
}

// bigDet returns the determinant of the n×n matrix a by expansion over all
// permutations of columns, exactly.
func bigDet(a [][]float64) *big.Rat {
	n := len(a)
	sum := new(big.Rat)
	perm := make([]int, 0, n)
	var visit func(used int, sign int64)
	visit = func(used int, sign int64) {
		if len(perm) == n {
			p := new(big.Rat).SetInt64(sign)
			for i, j := range perm {
				p.Mul(p, new(big.Rat).SetFloat64(a[i][j]))
			}
			sum.Add(sum, p)
			return
		}
		larger := 0 // unused columns before j
		for j := range n {
			if used>>j&1 != 0 {
				continue
			}
			perm = append(perm, j)
			visit(used|1<<j, sign*int64(1-2*(larger&1)))
			perm = perm[:len(perm)-1]
			larger++
		}
	}
	visit(0, 1)
	return sum
}

// bigCofactor returns the cofactor of element (i, j), exactly.
func bigCofactor(a [][]float64, i, j int) *big.Rat {
	var minor [][]float64
	for r := range a {
		if r != i {
			minor = append(minor, append(append([]float64{}, a[r][:j]...), a[r][j+1:]...))
		}
	}
	c := bigDet(minor)
	if (i+j)%2 != 0 {
		c.Neg(c)
	}
	return c
}

func rowsOf(a rev.General[float64]) [][]float64 {
	rows := make([][]float64, a.Rows)
	for i := range rows {
		rows[i] = a.Row(i)
	}
	return rows
}

// Cofactors of regular, nearly singular and singular matrices against their
// definition, in exact arithmetic.
func TestDetCofactors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 1))
	for n := 1; n <= 5; n++ {
		for _, gap := range []float64{1, 1e-3, 1e-6, 1e-9, 1e-13, 0} {
			a := rev.NewGeneral(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
			for j := range n {
				v := a.Row(0)[j]
				if n == 1 {
					v = 0
				}
				a.Row(n - 1)[j] = v + gap*a.Row(n - 1)[j]
			}
			out, gout := 0., 1.
			ga := rev.NewGeneral[float64](n, n, nil)
			k := revlinalg.Det[float64]{Out: &out, A: a}
			k.Forward()
			want, _ := bigDet(rowsOf(a)).Float64()
			if !(math.Abs(out-want) <= 1e-13) {
				t.Errorf("n=%d, gap %g: %v, want %v", n, gap, out, want)
			}
			k.Adjoint(revlinalg.Det[float64]{Out: &gout, A: ga})
			for i := range n {
				for j := range n {
					want, _ := bigCofactor(rowsOf(a), i, j).Float64()
					if got := ga.Row(i)[j]; !(math.Abs(got-want) <= 1e-10) {
						t.Errorf("n=%d, gap %g: cofactor (%d, %d) is %v, want %v", n, gap, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestDetOfRank has a matrix of rank n-2 above the order where SVD divides: all its cofactors are 0.
func TestDetOfRank(t *testing.T) {
	const n = divideAbove + 12
	a := rev.NewGeneral[float64](n, n, nil)
	for i := range n {
		if i != 5 && i != n/2 {
			a.Row(i)[i] = 4
		}
	}
	one := 1.0
	g := rev.NewGeneral[float64](n, n, nil)
	revlinalg.Det[float64]{Out: new(float64), A: a}.Adjoint(revlinalg.Det[float64]{Out: &one, A: g})
	if i := slices.IndexFunc(g.Data, func(x float64) bool { return x != 0 }); i >= 0 {
		t.Errorf("cofactor %d is %g, want 0", i, g.Data[i])
	}
}

// Only results that are asked for overflow or underflow.
func TestDetScale(t *testing.T) {
	for _, c := range []struct {
		diagonal, gradient []float64
		det                float64
	}{
		{[]float64{1e200, 1e200, 1e-200, 1e-200}, []float64{1e-200, 1e-200, 1e200, 1e200}, 1},
		{[]float64{1e-300, 1e-300}, []float64{1e-300, 1e-300}, 0},
		{[]float64{1e300, 1e300}, []float64{1e300, 1e300}, math.Inf(1)},
		{[]float64{1e-200, 1e200, -1}, []float64{-1e200, -1e-200, 1}, -1},
		{[]float64{5e-324, 0x1p1000, 0x1p74}, []float64{math.Inf(1), 0x1p-1000, 0x1p-74}, 1},
	} {
		n := len(c.diagonal)
		a := rev.NewGeneral[float64](n, n, nil)
		for i, v := range c.diagonal {
			a.Row(i)[i] = v
		}
		out, gout := 0., 1.
		ga := rev.NewGeneral[float64](n, n, nil)
		k := revlinalg.Det[float64]{Out: &out, A: a}
		k.Forward()
		if !kerneltest.Near(out, c.det, 1e-14) && out != c.det {
			t.Errorf("%v: got %v, want %v", c.diagonal, out, c.det)
		}
		k.Adjoint(revlinalg.Det[float64]{Out: &gout, A: ga})
		for i, want := range c.gradient {
			if got := ga.Row(i)[i]; !kerneltest.Near(got, want, 1e-14) && got != want {
				t.Errorf("%v: gradient %v of element %d, want %v", c.diagonal, got, i, want)
			}
		}
	}
}

// Tangents of cofactors, against exact sums. Each is the sum of the cofactors of A with
// one of the other columns replaced by the column of Ȧ. Columns of A are of very
// different magnitudes, those of Ȧ are not.
func TestDetCofactorTangents(t *testing.T) {
	rnd := rand.New(rand.NewPCG(25, 2))
	for _, s := range []float64{1, 1e-6, 1e-12, 1e-30, 1e-200, 1e60} {
		for n := 2; n <= 4; n++ {
			a, da := regular[float64](rnd, n), rev.NewGeneral(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
			for i := range n {
				for j := 1; j < n; j += 2 {
					a.Row(i)[j] *= s
				}
			}
			if n == 2 {
				a = rev.NewGeneral(2, 2, []float64{1, 2 * s, 3, 4 * s})
				da = rev.NewGeneral(2, 2, []float64{1, 2, 3, 1})
			}
			one := 1.0
			ga, dga := rev.NewGeneral[float64](n, n, nil), rev.NewGeneral[float64](n, n, nil)
			revlinalg.Det[float64]{A: a}.AdjointTangent(revlinalg.Det[float64]{Out: &one, A: ga}, revlinalg.Det[float64]{A: da}, revlinalg.Det[float64]{A: dga})
			for i := range n {
				for j := range n {
					sum, magnitude := new(big.Rat), 0.0
					for k := range n {
						if k == j {
							continue
						}
						b := rowsOf(rev.NewGeneral(n, n, slices.Clone(a.Data)))
						for r := range b {
							b[r][k] = da.Row(r)[k]
						}
						c := bigCofactor(b, i, j)
						v, _ := c.Float64()
						magnitude += math.Abs(v)
						sum.Add(sum, c)
					}
					want, _ := sum.Float64()
					if got := dga.Row(i)[j]; !(math.Abs(got-want) <= 1e-13*magnitude) {
						t.Errorf("scale %g, n=%d: tangent of cofactor (%d, %d) is %v, want %v", s, n, i, j, got, want)
					}
				}
			}
		}
	}
}

// Subnormal numbers have an inverse that overflows, and cofactors that do not.
func TestDetSubnormal(t *testing.T) {
	a := rev.NewGeneral(2, 2, []float64{
		0x3p-1060, 1,
		0x1p-1060, 2,
	})
	da := rev.NewGeneral(2, 2, []float64{0, 3, 0, 5})
	out, one, rate := 0., 1., 0.
	k := revlinalg.Det[float64]{Out: &out, A: a}
	k.Tangent(revlinalg.Det[float64]{Out: &rate, A: da})
	if out != 0x5p-1060 || rate != 0x1p-1058*3 {
		t.Errorf("value %g and tangent %g, want %g and %g", out, rate, 0x5p-1060, 0x3p-1058)
	}
	ga, dga := rev.NewGeneral[float64](2, 2, nil), rev.NewGeneral[float64](2, 2, nil)
	k.AdjointTangent(revlinalg.Det[float64]{Out: &one, A: ga}, revlinalg.Det[float64]{A: da}, revlinalg.Det[float64]{A: dga})
	for i := range 4 {
		want := []float64{2, -0x1p-1060, -1, 0x3p-1060}[i]
		if got := ga.Data[i]; !kerneltest.Near(got, want, 1e-15) {
			t.Errorf("cofactor %d is %g, want %g", i, got, want)
		}
		want = []float64{5, 0, -3, 0}[i]
		if got := dga.Data[i]; !(math.Abs(got-want) <= 1e-14) {
			t.Errorf("tangent of cofactor %d is %g, want %g", i, got, want)
		}
	}
}
