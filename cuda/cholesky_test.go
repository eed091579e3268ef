package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/byname"
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
			compareCholesky[float64](t, s[0], s[1])
			compareCholesky[float32](t, s[0], s[1])
		})
	}
}

func compareCholesky[T rev.Float](t *testing.T, n, count int) {
	random := func() (k, g, tan, gt hostCholesky[T]) {
		rnd := rand.New(rand.NewPCG(19, 20))
		draw := func() hostCholesky[T] { return randomCholesky[T](rnd, n, count) }
		k, g, tan, gt = draw(), draw(), draw(), draw()
		for r := range k.A.Rows {
			for j := range n {
				if j < r%n { // below the diagonal
					k.A.Row(r)[j], tan.A.Row(r)[j] = T(math.NaN()), T(math.NaN())
				} else if j > r%n {
					g.L.Row(r)[j], gt.L.Row(r)[j] = T(math.NaN()), T(math.NaN())
				}
			}
		}
		return k, g, tan, gt
	}
	of := func(k hostCholesky[T], b int) revlinalg.Cholesky[T] {
		part := func(a rev.General[T]) rev.General[T] {
			return rev.NewGeneral(n, n, a.Data[b*n*n:(b+1)*n*n])
		}
		return revlinalg.Cholesky[T]{L: part(k.L), A: part(k.A)}
	}
	for _, pass := range []string{"Forward", "Inverse", "Adjoint", "Tangent", "AdjointTangent"} {
		k, g, tan, gt := random()
		k2, g2, tan2, gt2 := random()
		err := byname.Run(pass, &k, &g, &tan, &gt)
		for b := range max(count, 1) {
			k, g, tan, gt := of(k2, b), of(g2, b), of(tan2, b), of(gt2, b)
			err = errors.Join(err, byname.Run(pass, &k, &g, &tan, &gt))
		}
		if err != nil {
			t.Fatal(pass, err)
		}
		for name, pair := range map[string][2]rev.General[T]{
			"L": {k.L, k2.L}, "the cotangent": {g.A, g2.A}, "the tangent": {tan.L, tan2.L}, "the tangent of the cotangent": {gt.A, gt2.A},
		} {
			for i, v := range pair[0].Data {
				if want := float64(pair[1].Data[i]); !(math.Abs(float64(v)-want) <= 4500*epsilon[T]()*float64(n)*(1+math.Abs(want))) {
					t.Fatalf("%s: element %d of %s is %v, want %v", pass, i, name, v, want)
				}
			}
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
