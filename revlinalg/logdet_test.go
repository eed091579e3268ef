package revlinalg_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func logDetSpec[T rev.Float]() revtest.Spec[revlinalg.LogDet[T]] {
	return revtest.Spec[revlinalg.LogDet[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.LogDet[T] {
			return revlinalg.LogDet[T]{Out: new(T), Sign: new(T), A: regular[T](rnd, size)}
		},
		Large:     150,
		RoundTrip: 4,
		Failing: func(rnd *rand.Rand, size int) revlinalg.LogDet[T] {
			return revlinalg.LogDet[T]{Out: new(T), Sign: new(T), A: deficient[T](rnd, size+1)}
		},
	}
}

func TestLogDet(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, logDetSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, logDetSpec[float32]()) })
}

func TestLogDetValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(24, 1))
	for i, n := range []int{1, 1, 2, 2, 3, 4, 7, 20, 33, 150} {
		for _, scale := range []float64{1, 0x1p-1000, 0x1p1000} {
			a := mat.NewDense(n, n, kerneltest.Normals[float64](rnd, n*n, scale))
			want, sign := mat.LogDet(a)
			var gotLog, gotSign float64
			if err := revlinalg.NewLogDet(&gotLog, &gotSign, a).Forward(); err != nil {
				t.Fatal(err)
			}
			if !kerneltest.Near(gotLog, want, 1e-13) || gotSign != sign {
				t.Errorf("matrix %d of order %d: got %v and %v, want %v and %v", i, n, gotLog, gotSign, want, sign)
			}
		}
	}
}

func TestLogDetEdges(t *testing.T) {
	var out, sign float64
	if err := revlinalg.NewLogDet(&out, &sign, &mat.Dense{}).Forward(); err != nil || out != 0 || sign != 1 {
		t.Errorf("of no rows: %v, %v, error %v", out, sign, err)
	}
	out, sign = 5, 6
	err := revlinalg.NewLogDet(&out, &sign, mat.NewDense(2, 2, []float64{1, 2, 2, 4})).Forward()
	if c := mat.Condition(0); !errors.As(err, &c) || out != 5 || sign != 6 {
		t.Errorf("of a singular matrix: %v, %v, error %v", out, sign, err)
	}
	err = revlinalg.NewLogDet(&out, &sign, mat.NewDense(1, 1, []float64{math.NaN()})).Forward()
	if err != nil || !math.IsNaN(out) || !math.IsNaN(sign) {
		t.Errorf("of NaN: %v, %v, error %v", out, sign, err)
	}
}

func TestLogDetOfSubnormalNumbers(t *testing.T) {
	var got, sign float64
	if err := revlinalg.NewLogDet(&got, &sign, mat.NewDense(2, 2, []float64{0, 0x1p-1070, 1, 0})).Forward(); err != nil {
		t.Fatal(err)
	}
	if want := -1070 * math.Ln2; math.Abs(got-want) > 1e-12 || sign != -1 {
		t.Errorf("%v with sign %v, want %v and -1", got, sign, want)
	}
}
