package revsparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
)

// separated returns a matrix whose lower triangle has eigenvalues near 3·i, i = 1, ...,
// n, of both signs if signs is set, and is not diagonal. Its elements beside the diagonal
// are so small that no element of an eigenvector is near 3/10 of the largest, where its
// sign changes. The diagonal is stored in two parts, unsorted.
func separated[T rev.Float, I revsparse.Index](rnd *rand.Rand, n int, signs bool) revsparse.CSR[T, I] {
	a := revsparse.CSR[T, I]{Rows: n, Cols: n, Ptr: []I{0}}
	put := func(j int, v float64) { a.Ind, a.Data = append(a.Ind, I(j)), append(a.Data, T(v)) }
	order := rnd.Perm(n)
	for i := range n {
		d := float64(3*order[i] + 3)
		if signs && order[i]%2 == 0 {
			d = -d
		}
		put(i, d/4)
		if i > 0 {
			put(i-1, 0.6*rnd.Float64()-0.3)
		}
		if j := rnd.IntN(n); j != i {
			put(j, 0.6*rnd.Float64()-0.3)
		}
		put(i, 3*d/4)
		a.Ptr = append(a.Ptr, I(len(a.Ind)))
	}
	return lowerTriangle(a)
}

func eigSpec[T rev.Float, I revsparse.Index](which revsparse.Which, pairs int) revtest.Spec[revsparse.DominantEig[T, I]] {
	return revtest.Spec[revsparse.DominantEig[T, I]]{
		New: func(rnd *rand.Rand, n int) revsparse.DominantEig[T, I] {
			k := min(n, pairs)
			return revsparse.DominantEig[T, I]{
				Values: randomVector[T](rnd, k), Vectors: rev.NewGeneral(n, k, randomVector[T](rnd, n*k).Data),
				A: separated[T, I](rnd, n, which == revsparse.LargestMagnitude), EigOptions: revsparse.EigOptions{Which: which},
			}
		},
		Large: 40,
		Failing: func(rnd *rand.Rand, n int) revsparse.DominantEig[T, I] {
			n += 2
			a := revsparse.CSR[T, I]{Rows: n, Cols: n, Ptr: []I{0}}
			for i := range n { // the first eigenvalue is double
				a.Ind, a.Data = append(a.Ind, I(i)), append(a.Data, T(1+i/2))
				a.Ptr = append(a.Ptr, I(i+1))
			}
			k := min(n, pairs)
			a.Data[n-1], a.Data[n-2] = T(n), T(n)
			if which == revsparse.Smallest {
				a.Data[n-1], a.Data[n-2] = T(-n), T(-n)
			}
			return revsparse.DominantEig[T, I]{
				Values: randomVector[T](rnd, k), Vectors: rev.NewGeneral(n, k, randomVector[T](rnd, n*k).Data),
				A: a, EigOptions: revsparse.EigOptions{Which: which},
			}
		},
	}
}

func TestDominantEig(t *testing.T) {
	for _, c := range []struct {
		which revsparse.Which
		pairs int
	}{{revsparse.LargestMagnitude, 3}, {revsparse.Largest, 2}, {revsparse.LargestMagnitude, 1}, {revsparse.Smallest, 1}}[:long.Or(4, 2)] {
		t.Run(fmt.Sprintf("which=%d/pairs=%d", c.which, c.pairs), func(t *testing.T) {
			t.Run("float64", func(t *testing.T) { revtest.Kernel(t, eigSpec[float64, int](c.which, c.pairs)) })
		})
	}
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, eigSpec[float32, int32](revsparse.Smallest, 2)) })
}

// Against gonum's dense decomposition, for bases that are begun anew and not, and
// scales far from one.
func TestDominantEigDense(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 4))
	for _, which := range []revsparse.Which{revsparse.LargestMagnitude, revsparse.Largest, revsparse.Smallest} {
		for _, scale := range []float64{1, 1e-300, 1e300} {
			for _, n := range []int{1, 2, 5, 30, 120} {
				a := definite[float64, int](rnd, n)
				for p := range a.Data {
					a.Data[p] *= scale
				}
				var dense mat.EigenSym
				if !dense.Factorize(symmetricOf(a), true) {
					t.Fatal("no decomposition")
				}
				all := dense.Values(nil) // increasing, and positive
				var vectors mat.Dense
				dense.VectorsTo(&vectors)
				k := min(n, 4)
				values, got := mat.NewVecDense(k, nil), mat.NewDense(n, k, nil)
				kernel := revsparse.NewDominantEig(values, got, a)
				kernel.EigOptions = revsparse.EigOptions{Which: which, Basis: 20}
				if err := kernel.Forward(); err != nil {
					t.Fatalf("n=%d which=%d: %v", n, which, err)
				}
				for i := range k {
					from := n - 1 - i
					if which == revsparse.Smallest {
						from = i
					}
					if v := values.AtVec(i); !(math.Abs(v-all[from]) <= 1e-14*all[n-1]) {
						t.Errorf("n=%d which=%d: eigenvalue %d is %v, want %v", n, which, i, v, all[from])
					}
					if c := math.Abs(mat.Dot(got.ColView(i), vectors.ColView(from))); !(math.Abs(c-1) <= 1e-12) {
						t.Errorf("n=%d which=%d: eigenvector %d has the cosine %v with what it should be", n, which, i, c)
					}
				}
			}
		}
	}
}

// The lowest eigenvalues of a grid with sides that differ are known and close.
func TestDominantEigGrid(t *testing.T) {
	const rows, cols = 40, 31
	a := gridLaplacian[int](rows, cols)
	values := mat.NewVecDense(4, nil)
	k := revsparse.NewDominantEig(values, nil, a)
	k.Which = revsparse.Smallest
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	level := func(i, j int) float64 {
		return 4 - 2*math.Cos(float64(i)*math.Pi/(rows+1)) - 2*math.Cos(float64(j)*math.Pi/(cols+1))
	}
	for i, want := range []float64{level(1, 1), level(2, 1), level(1, 2), level(2, 2)} {
		if v := values.AtVec(i); !(math.Abs(v-want) <= 1e-13) {
			t.Errorf("level %d is %v, want %v", i, v, want)
		}
	}
}

func TestDominantEigErrors(t *testing.T) {
	diagonal := func(d ...float64) revsparse.CSR[float64, int] {
		a := revsparse.CSR[float64, int]{Rows: len(d), Cols: len(d), Ptr: []int{0}, Data: d}
		for i := range d {
			a.Ind, a.Ptr = append(a.Ind, i), append(a.Ptr, i+1)
		}
		return a
	}
	for _, c := range []struct {
		name   string
		a      revsparse.CSR[float64, int]
		which  revsparse.Which
		k      int
		i      int
		values [2]float64
		gap    float64
	}{
		{"double first", diagonal(1, 4, 2, 4, 3), revsparse.Largest, 2, 0, [2]float64{4, 4}, 0},
		{"double second", diagonal(1, 4, 3, 3), revsparse.Largest, 2, 1, [2]float64{3, 3}, 0},
		{"the last and the next", diagonal(1, 5, 3, 3+1e-8), revsparse.Largest, 2, 1, [2]float64{3 + 1e-8, 3}, 1e-8},
		{"the same magnitude", diagonal(1, -7, 7), revsparse.LargestMagnitude, 1, 0, [2]float64{7, -7}, 0},
		{"the identity", diagonal(1, 1, 1, 1), revsparse.Smallest, 1, 0, [2]float64{1, 1}, 0},
		{"zero", diagonal(0, 0), revsparse.LargestMagnitude, 1, 0, [2]float64{}, 0},
		// Square grids have pairs of levels.
		{"a square", gridLaplacian[int](30, 30), revsparse.Smallest, 2, 1, [2]float64{6 - 2*math.Cos(math.Pi/31) - 2*math.Cos(2*math.Pi/31) - 2, 0}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := revsparse.NewDominantEig(mat.NewVecDense(c.k, nil), nil, c.a)
			k.Which = c.which
			var double *rev.DegenerateError
			if err := k.Forward(); !errors.As(err, &double) {
				t.Fatalf("error %v", err)
			}
			if double.I != c.i || double.J != c.i+1 || !(math.Abs(double.Gap-c.gap) <= 1e-12) || !(math.Abs(math.Abs(double.Values[0])-math.Abs(c.values[0])) <= 1e-12) {
				t.Errorf("error %+v, want pairs %d and %d with %v and a gap of %v", double, c.i, c.i+1, c.values, c.gap)
			}
		})
	}
	// A gap below the first that was asked for does no harm.
	k := revsparse.NewDominantEig(mat.NewVecDense(2, nil), nil, diagonal(3, 5, 7, 1, 1))
	if err := k.Forward(); err != nil {
		t.Error(err)
	}

	var late *rev.ConvergenceError
	k = revsparse.NewDominantEig(mat.NewVecDense(1, nil), nil, gridLaplacian[int](50, 49))
	k.Which, k.MaxIter = revsparse.Smallest, 50
	if err := k.Forward(); !errors.As(err, &late) || late.Iterations < 50 || !(late.Residual > late.Tol) {
		t.Errorf("error %v (%+v)", err, late)
	}
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		k := revsparse.NewDominantEig(mat.NewVecDense(1, nil), nil, diagonal(1, v))
		if err := k.Forward(); !errors.As(err, &late) || !math.IsNaN(late.Residual) {
			t.Errorf("with %v: error %v", v, err)
		}
	}
}

func BenchmarkDominantEig(b *testing.B) {
	a := gridLaplacian[int](300, 299)
	k := revsparse.DominantEig[float64, int]{
		Values: rev.ViewSlice(make([]float64, 1)), Vectors: rev.NewGeneral[float64](a.Rows, 1, nil), A: a,
		EigOptions: revsparse.EigOptions{Which: revsparse.Smallest}, Workers: 1,
	}
	g := revsparse.DominantEig[float64, int]{
		Values: rev.ViewSlice([]float64{1}), Vectors: rev.NewGeneral[float64](a.Rows, 1, nil), A: a.With(make([]float64, a.NNZ())),
	}
	g.Vectors.Data[0] = 1
	for _, r := range []struct {
		name string
		call func() error
	}{{"Forward", k.Forward}, {"Adjoint", func() error { return k.Adjoint(g) }}} {
		b.Run(r.name, func(b *testing.B) {
			for b.Loop() {
				if err := r.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
