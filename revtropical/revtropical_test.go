package revtropical_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
	"revnum/revtropical"
	"revnum/revtropical/internal/paths"
)

func numbers[T rev.Real](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return x
}

func matrix[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, numbers[T](rnd, r*c))
}

// apart adds distances to the elements of m, so that no small change makes another winner.
func apart[T rev.Real](rnd *rand.Rand, m rev.General[T]) rev.General[T] {
	order := rnd.Perm(len(m.Data))
	for i := range m.Data {
		m.Data[i] = fixed.Of[T](float64(order[i]) + 0.1*rnd.Float64())
	}
	return m
}

// small returns a matrix of small differences.
func small[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	m := matrix[T](rnd, r, c)
	for i := range m.Data {
		m.Data[i] /= 64
	}
	return m
}

func matMul[T rev.Real](least bool) revtest.Spec[revtropical.MatMul[T]] {
	return revtest.Spec[revtropical.MatMul[T]]{
		New: func(rnd *rand.Rand, n int) revtropical.MatMul[T] {
			k := n/2 + min(n, 1)
			return revtropical.MatMul[T]{C: matrix[T](rnd, n, n+min(n, 1)), A: small[T](rnd, n, k), B: apart(rnd, matrix[T](rnd, k, n+min(n, 1))), Min: least}
		},
		Large: 80,
		Step:  0x1p-9, // winners stay
	}
}

// sparseOf returns a sparse matrix with empty rows, if the shape allows it.
func sparseOf[T rev.Real](rnd *rand.Rand, r, c int) revsparse.CSR[T, int32] {
	a := revsparse.CSR[T, int32]{Rows: r, Cols: c, Ptr: []int32{0}, Ind: []int32{}}
	for range r {
		for range 1 + rnd.IntN(3) {
			a.Ind = append(a.Ind, int32(rnd.IntN(c)))
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	a.Data = numbers[T](rnd, len(a.Ind))
	for i := range a.Data {
		a.Data[i] = fixed.Of[T](float64(i) + 0.1*rnd.Float64())
	}
	return a
}

func sparseMul[T rev.Real](least bool) revtest.Spec[revtropical.SparseMul[T, int32]] {
	return revtest.Spec[revtropical.SparseMul[T, int32]]{
		New: func(rnd *rand.Rand, n int) revtropical.SparseMul[T, int32] {
			return revtropical.SparseMul[T, int32]{C: matrix[T](rnd, n, 3), A: sparseOf[T](rnd, n, n+1), B: small[T](rnd, n+1, 3), Min: least}
		},
		Step:   0x1p-9,
		Masked: []string{"B"}, // a row that no entry of A meets
		Large:  6000,          // which has work for several workers
	}
}

func conform[T rev.Real](t *testing.T) {
	for name, least := range map[string]bool{"max": false, "min": true} {
		t.Run("MatMul/"+name, func(t *testing.T) { revtest.Kernel(t, matMul[T](least)) })
		t.Run("SparseMul/"+name, func(t *testing.T) { revtest.Kernel(t, sparseMul[T](least)) })
	}
}

func TestConformance(t *testing.T) {
	t.Run("float64", conform[float64])
	t.Run("float32", conform[float32])
	t.Run("Q43", conform[fixed.Q43])
}

// bestOf returns the best sum of a row and a column by the definition, and who wins.
func bestOf[T rev.Real](a rev.General[T], b rev.General[T], i, j int, least bool) (T, int) {
	best, at := paths.Worst[T](least), -1
	for l := range a.Cols {
		s := a.Row(i)[l] + b.Row(l)[j]
		switch {
		case math.IsNaN(float64(best)):
		case math.IsNaN(float64(s)), s > best && !least, s < best && least:
			best, at = s, l
		}
	}
	return best, at
}

func same[T rev.Real](a, b T) bool { return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b)) }

// against compares MatMul, with ties and places of no path, with the definition, and
// SparseMul with both.
func against[T rev.Real](t *testing.T, specials []T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, least := range []bool{false, true} {
		for _, shape := range [][3]int{{1, 1, 1}, {3, 5, 2}, {17, 40, 9}, {40, 1, 33}, {2, 3, 100}, {5, 0, 3}, {40, 0, 40}, {0, 2, 2}, {0, 2, 40}, {5, 90, 120}} {
			m, k, n := shape[0], shape[1], shape[2]
			a, b := rev.NewGeneral[T](m, k, nil), rev.NewGeneral[T](k, n, nil)
			for _, x := range [][]T{a.Data, b.Data} {
				for i := range x {
					x[i] = fixed.Of[T](float64(rnd.IntN(5)))
					if len(specials) > 0 && rnd.IntN(4) == 0 {
						x[i] = specials[rnd.IntN(len(specials))]
					}
				}
			}
			c, gc := rev.NewGeneral[T](m, n, nil), rev.NewGeneral[T](m, n, nil)
			for i := range gc.Data {
				gc.Data[i] = fixed.Of[T](float64(1 + rnd.IntN(7)))
			}
			ga, gb := rev.NewGeneral[T](m, k, nil), rev.NewGeneral[T](k, n, nil)
			wantA, wantB := rev.NewGeneral[T](m, k, nil), rev.NewGeneral[T](k, n, nil)
			kernel := revtropical.MatMul[T]{C: c, A: a, B: b, Min: least}
			kernel.Forward()
			winners := make([]int32, m*n)
			kernel.Winners(winners)
			for i := range m {
				for j := range n {
					want, at := bestOf(a, b, i, j, least)
					if got := c.Row(i)[j]; !same(got, want) || int(winners[i*n+j]) != at {
						t.Errorf("%v, min = %v: (%d, %d) is %v by %d, want %v by %d", shape, least, i, j, got, winners[i*n+j], want, at)
					}
					if at >= 0 {
						wantA.Row(i)[at] += gc.Row(i)[j]
						wantB.Row(at)[j] += gc.Row(i)[j]
					}
				}
			}
			kernel.C = rev.General[T]{}
			kernel.Adjoint(revtropical.MatMul[T]{C: gc, A: ga, B: gb})
			for name, p := range map[string][2][]T{"Ā": {ga.Data, wantA.Data}, "B̄": {gb.Data, wantB.Data}} {
				for i := range p[0] {
					if p[0][i] != p[1][i] {
						t.Fatalf("%v, min = %v: %s is %v, want %v", shape, least, name, p[0], p[1])
					}
				}
			}

			// The same matrix stored as a sparse one, by rows.
			s := revsparse.CSR[T, int]{Rows: m, Cols: k, Ptr: []int{0}, Ind: []int{}, Data: a.Data}
			for range m {
				for l := range k {
					s.Ind = append(s.Ind, l)
				}
				s.Ptr = append(s.Ptr, len(s.Ind))
			}
			cs, gs, gbs := rev.NewGeneral[T](m, n, nil), make([]T, len(s.Ind)), rev.NewGeneral[T](k, n, nil)
			sp := revtropical.SparseMul[T, int]{C: cs, A: s, B: b, Min: least}
			sp.Forward()
			sp.C = rev.General[T]{}
			sp.Adjoint(revtropical.SparseMul[T, int]{C: gc, A: s.With(gs), B: gbs})
			for name, p := range map[string][2][]T{"C": {cs.Data, c.Data}, "Ā": {gs, ga.Data}, "B̄": {gbs.Data, gb.Data}} {
				for i := range p[0] {
					if !same(p[0][i], p[1][i]) {
						t.Fatalf("%v, min = %v: sparse %s is %v, want %v", shape, least, name, p[0], p[1])
					}
				}
			}
		}
	}
}

// Numbers of columns that float32 does not have are refused. The matrices have no elements.
func TestTooManyColumns(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
			t.Errorf("panic with %v", err)
		}
	}()
	const k = 1 << 24
	empty := []float32{}
	revtropical.MatMul[float32]{
		C: rev.General[float32]{Stride: 1, Data: empty}, A: rev.General[float32]{Cols: k, Stride: k, Data: empty},
		B: rev.General[float32]{Rows: k, Stride: 1, Data: empty},
	}.Forward()
	t.Error("no panic")
}

func TestDefinition(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, specials := range map[string][]float64{"numbers": nil, "-∞": {-inf}, "∞": {inf}, "both": {inf, -inf}, "NaN": {nan}} {
		t.Run(name, func(t *testing.T) {
			against(t, specials)
			narrow := make([]float32, len(specials))
			for i, v := range specials {
				narrow[i] = float32(v)
			}
			against(t, narrow)
		})
	}
	against[fixed.Q43](t, nil)
}

// A product of few columns has the bits of these columns in a wide product.
func TestFewColumns(t *testing.T) {
	t.Run("float64", testFewColumns[float64])
	t.Run("float32", testFewColumns[float32])
	t.Run("Q43", testFewColumns[fixed.Q43])
}

func testFewColumns[T rev.Real](t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 3))
	const many = 40
	for _, m := range []int{1, 15, 16, 17, 100} {
		for _, k := range []int{1, 7, 64} {
			for _, least := range []bool{false, true} {
				wide := revtropical.MatMul[T]{C: matrix[T](rnd, m, many), A: matrix[T](rnd, m, k), B: matrix[T](rnd, k, many), Min: least}
				for cols := range 10 {
					few := wide
					few.C = rev.NewGeneral(m, cols+1, make([]T, m*(cols+1))) // with a gap
					few.C.Cols, few.B.Cols = cols, cols
					for i := range m {
						copy(few.C.Row(i), wide.C.Row(i))
					}
					want := wide
					want.C = rev.NewGeneral(m, many, slices.Clone(wide.C.Data))
					want.Forward()
					few.Forward()
					for i := range m {
						if got, want := few.C.Row(i), want.C.Row(i)[:cols]; !slices.Equal(got, want) {
							t.Fatalf("%d×%d by %d columns, min %v: row %d is %v, want %v", m, k, cols, least, i, got, want)
						}
						if gap := few.C.Data[i*few.C.Stride+cols]; gap != 0 {
							t.Fatalf("%d×%d by %d columns: the gap has %v", m, k, cols, gap)
						}
					}
				}
			}
		}
	}
}
