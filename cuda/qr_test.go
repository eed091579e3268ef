package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// hostQR is a stack of revlinalg.QR, whose passes run on the device.
type hostQR[T rev.Float] struct {
	Q     rev.General[T] `rev:"acc" shape:"rows,n"`
	R     rev.General[T] `rev:"acc" shape:"max(Count,1)*n,n"`
	A     rev.General[T] `rev:"in" shape:"rows,n"`
	Count int
}

func (k hostQR[T]) Run(p rev.Pass[hostQR[T]]) error {
	if k.A.Rows < k.A.Cols*max(k.Count, 1) || k.A.Rows%max(k.Count, 1) != 0 {
		panic(mat.ErrShape) // before the operands travel
	}
	return through[hostQR[T], QR[T]](testDevice, k, p)
}

// randomQR has matrices that are far from singular, also after a step of a difference in
// float32.
func randomQR[T rev.Float](rnd *rand.Rand, m, n, count int) hostQR[T] {
	rows := m * max(count, 1)
	k := hostQR[T]{Q: general[T](rnd, rows, n), R: general[T](rnd, n*max(count, 1), n), A: general[T](rnd, rows, n), Count: count}
	for i := range rows {
		row := k.A.Row(i)
		for j := range row {
			row[j] *= T(0.5 / math.Sqrt(float64(m+1)))
		}
		if j := i % m; j < n {
			row[j] += 2
		}
	}
	return k
}

func TestQR(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	t.Run("float64", qrOf[float64])
	t.Run("float32", qrOf[float32])
}

func qrOf[T rev.Float](t *testing.T) {
	sizes := []int{0, 1, 3}
	if long.Tests() {
		sizes = append(sizes, 6)
	}
	for _, count := range []int{0, 2} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[hostQR[T]]{
				Sizes: sizes, RoundTrip: 4, Skip: noAllocs, Free: []string{"A.Rows"},
				New: func(rnd *rand.Rand, n int) hostQR[T] { return randomQR[T](rnd, n+2, n, count) },
				Failing: func(rnd *rand.Rand, n int) hostQR[T] {
					k := randomQR[T](rnd, n+2, n+1, count)
					for i := range k.A.Rows {
						k.A.Row(i)[n] = 0
					}
					return k
				},
			})
		})
	}
}

// qrShapes are in the three sizes of the small kernel, of one and more panels, and with several and longer chunks of
// rows.
func qrShapes() [][3]int {
	shapes := [][3]int{{5, 3, 0}, {16, 16, 3}, {33, 20, 0}, {70, 5, 2}, {80, 40, 0}, {300, 7, 0}}
	if long.Tests() {
		shapes = append(shapes, [3]int{64, 64, 2}, [3]int{32, 32, 4}, [3]int{130, 100, 0}, [3]int{4500, 3, 0}, [3]int{140, 135, 0})
	}
	return shapes
}

// TestQRValues compares all passes with those of the CPU, a matrix after the other.
func TestQRValues(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, s := range qrShapes() {
		t.Run(fmt.Sprint(s), func(t *testing.T) { compareQR(t, s[0], s[1], s[2]) })
	}
}

func compareQR(t *testing.T, m, n, count int) {
	compareStack(t, count, []string{"Forward", "Adjoint", "Tangent", "AdjointTangent"}, func() (o [4]hostQR[float64]) {
		rnd := rand.New(rand.NewPCG(13, 14))
		for i := range o {
			o[i] = randomQR[float64](rnd, m, n, count)
		}
		for i := range m { // a column that needs a sign of its own, and magnitudes near the ends
			o[0].A.Row(i)[n/2] *= -1
			o[0].A.Row(i)[0] *= 0x1p-300
		}
		return o
	}, func(k hostQR[float64], b int) revlinalg.QR[float64] {
		return revlinalg.QR[float64]{Q: matrixOf(k.Q, count, b), R: matrixOf(k.R, count, b), A: matrixOf(k.A, count, b)}
	}, func(what string, got, want hostQR[float64]) {
		for name, pair := range map[string][2]rev.General[float64]{"Q": {got.Q, want.Q}, "R": {got.R, want.R}, "A": {got.A, want.A}} {
			scale := make([]float64, n) // of the columns, whose magnitudes differ
			for i := range pair[1].Rows {
				for j, v := range pair[1].Row(i) {
					scale[j] = max(scale[j], math.Abs(v))
				}
			}
			for i := range pair[0].Rows {
				for j, v := range pair[0].Row(i) {
					if want := pair[1].Row(i)[j]; !(math.Abs(v-want) <= 1e-11*scale[j]) {
						t.Fatalf("%s: element (%d, %d) of %s is %v, want %v", what, i, j, name, v, want)
					}
				}
			}
		}
	})
}

// TestQRDoubtful has a column that is nearly a multiple of the one before. What is below the diagonal then is rounding, beside
// the largest element of the column of R, and decides no sign.
func TestQRDoubtful(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, m := range []int{3, 40} {
		of := func() (k hostQR[float64]) {
			k = hostQR[float64]{Q: rev.NewGeneral(m, 2, make([]float64, 2*m)), R: rev.NewGeneral(2, 2, make([]float64, 4)), A: rev.NewGeneral(m, 2, make([]float64, 2*m))}
			copy(k.A.Data, []float64{1, 1, 0, 1e-12, 0, 1e-17})
			return k
		}
		got, want := of(), of()
		if err := errors.Join(rev.Forward(got), rev.Forward(revlinalg.QR[float64]{Q: want.Q, R: want.R, A: want.A})); err != nil {
			t.Fatal(err)
		}
		near[hostQR[float64]](t, 1e-14)(fmt.Sprint(m, " rows"), got, want)
		if want.Q.Row(1)[1] != 1 {
			t.Errorf("the host has a reflection: Q is %v", want.Q.Data)
		}
	}
}

// onHost returns one matrix of a stack for the CPU.
func onHost[T rev.Float](k hostQR[T]) revlinalg.QR[T] { return revlinalg.QR[T]{Q: k.Q, R: k.R, A: k.A} }

// TestQRSingular has one singular matrix of several.
func TestQRSingular(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	singularQR(t)
	if testDevice = withTensorCores(t, 1<<26, 90); testDevice != nil {
		singularQR(t)
	}
}

func singularQR(t *testing.T) {
	t.Helper()
	for _, m := range []int{5, 70} {
		rnd := rand.New(rand.NewPCG(15, 16))
		k := randomQR[float64](rnd, m, 4, 3)
		for i := range m {
			k.A.Row(2*m + i)[3] = k.A.Row(2*m + i)[0] - 2*k.A.Row(2*m + i)[1]
		}
		q, r := k.Q.Data[0], k.R.Data[0]
		err := rev.Forward(k)
		var singular *rev.SingularError
		if !errors.As(err, &singular) || singular.Index != 2*4+3 || !(singular.Condition > 1e12) {
			t.Errorf("error %v", err)
		}
		if k.Q.Data[0] != q || k.R.Data[0] != r {
			t.Error("results are written")
		}
	}
}
