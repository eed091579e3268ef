package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// hostCholesky is a stack of revlinalg.Cholesky, whose passes run on the device.
type hostCholesky[T rev.Float] struct {
	L     rev.General[T] `rev:"acc" shape:"rows,rows/max(Count,1)"`
	A     rev.General[T] `rev:"in" shape:"rows,rows/max(Count,1)"`
	Count int
}

func (k hostCholesky[T]) Run(p rev.Pass[hostCholesky[T]]) error {
	if k.A.Rows%max(k.Count, 1) != 0 {
		panic(mat.ErrShape) // before the operands travel
	}
	return through[hostCholesky[T], Cholesky[T]](testDevice, k, p)
}

// randomCholesky has matrices with eigenvalues around 1 and above.
func randomCholesky[T rev.Float](rnd *rand.Rand, n, count int) hostCholesky[T] {
	rows := n * max(count, 1)
	k := hostCholesky[T]{L: general[T](rnd, rows, n), A: general[T](rnd, rows, n), Count: count}
	for b := range max(count, 1) {
		root := general[float64](rnd, n, n)
		for i := range n {
			for j := range n {
				s := 0.0
				if i == j {
					s = 1
				}
				for l := range n {
					s += root.Row(i)[l] * root.Row(j)[l] / float64(n)
				}
				k.A.Row(b*n + i)[j] = T(s)
			}
		}
	}
	return k
}

func TestCholesky(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	t.Run("float64", choleskyOf[float64])
	t.Run("float32", choleskyOf[float32])
}

func choleskyOf[T rev.Float](t *testing.T) {
	for _, count := range []int{0, 2} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[hostCholesky[T]]{
				Sizes: []int{0, 1, 3}, RoundTrip: 4, Skip: noAllocs, Free: []string{"A.Rows"}, Masked: []string{"A"},
				New: func(rnd *rand.Rand, n int) hostCholesky[T] { return randomCholesky[T](rnd, n, count) },
				Failing: func(rnd *rand.Rand, n int) hostCholesky[T] {
					k := randomCholesky[T](rnd, n+1, count)
					k.A.Row(k.A.Rows - 1)[n] = -1
					return k
				},
			})
		})
	}
}

// TestCholeskyValues compares all passes with those of the CPU, a matrix after the other: in one block of
// columns and in several. What is not read is NaN.
func TestCholeskyValues(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, s := range [][2]int{{1, 0}, {16, 3}, {32, 2}, {33, 0}, {65, 2}, {97, 1}, {0, 2}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			compareCholesky[float64](t, s[0], s[1], allPasses...)
			compareCholesky[float32](t, s[0], s[1], allPasses...)
		})
	}
}

// TestCholeskyBands has a product whose tiles need more rows of blocks than a grid has, so that its triangle begins anew.
func TestCholeskyBands(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	lower(t, 32, 2, 1)
	compareCholesky[float64](t, 161, 0, "Forward")
}

func compareCholesky[T rev.Float](t *testing.T, n, count int, passes ...string) {
	compareStack(t, count, passes, func() (o [4]hostCholesky[T]) {
		rnd := rand.New(rand.NewPCG(19, 20))
		for i := range o {
			o[i] = randomCholesky[T](rnd, n, count)
		}
		for r := range o[0].A.Rows {
			for j := range n {
				if j < r%n { // below the diagonal
					o[0].A.Row(r)[j], o[2].A.Row(r)[j] = T(math.NaN()), T(math.NaN())
				} else if j > r%n {
					o[1].L.Row(r)[j], o[3].L.Row(r)[j] = T(math.NaN()), T(math.NaN())
				}
			}
		}
		return o
	}, func(k hostCholesky[T], b int) revlinalg.Cholesky[T] {
		return revlinalg.Cholesky[T]{L: matrixOf(k.L, count, b), A: matrixOf(k.A, count, b)}
	}, near[hostCholesky[T]](t, 4500*epsilon[T]()*float64(n)))
}

// TestCholeskyNotFinite has an infinite cotangent without a tangent, and the converse. No product of the one with the
// other shows.
func TestCholeskyNotFinite(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, tangent := range []bool{false, true} {
		number := func(v float64) rev.General[float64] { return rev.NewGeneral(1, 1, []float64{v}) }
		k, gt := hostCholesky[float64]{L: number(0), A: number(1)}, hostCholesky[float64]{L: number(4), A: number(1)}
		var g, tan hostCholesky[float64]
		if tangent {
			tan.A = number(math.Inf(1))
		} else {
			g = hostCholesky[float64]{L: number(math.Inf(1)), A: number(0)}
		}
		if err := rev.AdjointTangent(k, g, tan, gt); err != nil {
			t.Fatal(err)
		}
		if got := gt.A.Data[0]; got != 3 {
			t.Errorf("infinite tangent %t: the tangent of the gradient is %v, want 1 + 4/2", tangent, got)
		}
	}
}

// TestCholeskyIndefinite has matrices of a stack that are not positive definite. The error names the first, and nothing is
// written.
func TestCholeskyIndefinite(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, n := range []int{5, 40} {
		rnd := rand.New(rand.NewPCG(15, 16))
		k := randomCholesky[float64](rnd, n, 3)
		k.A.Row(n + n - 2)[n-2] = -3
		k.A.Row(2 * n)[0] = -1
		l := k.L.Data[0]
		err := rev.Forward(k)
		var indefinite *rev.NotPositiveDefiniteError
		if !errors.As(err, &indefinite) || indefinite.Row != n+n-2 || !(indefinite.Value < -3) {
			t.Errorf("error %v", err)
		}
		if k.L.Data[0] != l {
			t.Error("results are written")
		}
	}
}

// TestCholeskyTensor has the products of newer cards, which leave out tiles above the diagonal.
func TestCholeskyTensor(t *testing.T) {
	defer func(tiles int) { enoughTiles = tiles }(enoughTiles)
	for _, capability := range []int{80, 90} {
		for _, tiles := range []int{1, enoughTiles} {
			enoughTiles = tiles
			testDevice = withTensorCores(t, 1<<27, capability)
			compareCholesky[float64](t, 140, 0, "Forward")
			compareCholesky[float64](t, 193, 0, "Forward")
			compareCholesky[float32](t, 193, 0, "Forward")
		}
	}
}
