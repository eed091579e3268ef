package revnn_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revnn"
)

// Operands from constructors that do not fit together panic with gonum's values when the
// kernel runs.
func TestConstructorShapes(t *testing.T) {
	var out float64
	vec := func(n int) *mat.VecDense { return mat.NewVecDense(n, nil) }
	dense := func(r, c int) *mat.Dense { return mat.NewDense(r, c, nil) }
	for name, c := range map[string]struct {
		want mat.Error
		call func()
	}{
		"AffineBatch":                  {mat.ErrShape, func() { revnn.NewAffineBatch(dense(2, 3), dense(2, 4), dense(3, 4), nil).Forward() }},
		"CrossEntropy":                 {mat.ErrShape, func() { revnn.NewCrossEntropy(&out, dense(2, 3), dense(3, 2), nil).Forward() }},
		"CrossEntropy, too few labels": {mat.ErrShape, func() { revnn.NewCrossEntropy(&out, dense(2, 3), nil, []int{1}).Forward() }},
		"CrossEntropy, labels":         {mat.ErrColAccess, func() { revnn.NewCrossEntropy(&out, dense(2, 3), nil, []int{1, -1}).Forward() }},
		"Softmax":                      {mat.ErrShape, func() { revnn.NewSoftmax(vec(2), vec(3)).Forward() }},
		"Tanh":                         {mat.ErrShape, func() { revnn.NewTanh(vec(2), vec(3)).Forward() }},
	} {
		func() {
			defer func() {
				if v, ok := recover().(error); !ok || !errors.Is(v, c.want) {
					t.Errorf("%s panics with %v, want %v", name, v, c.want)
				}
			}()
			c.call()
		}()
	}
}

// Fixed-point sums are the same bits in any order, so in any blocks; with
// elements that saturate, too.
func TestLogSumExpFixedOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 1))
	x := make([]fixed.Q43, 300)
	for i := range x {
		x[i] = fixed.Q43(rnd.Uint64()) >> rnd.IntN(64)
	}
	sum := func() (out fixed.Q43) {
		revnn.LogSumExp[fixed.Q43]{Out: &out, X: rev.ViewSlice(x)}.Forward()
		return out
	}
	want := sum()
	for range 20 {
		rnd.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		if got := sum(); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}
