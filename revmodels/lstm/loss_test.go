package lstm_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revmodels/lstm"
)

// random returns a network of some layers, steps and bits.
func random[T rev.Real](rnd *rand.Rand, layers, chars, bits int) lstm.Loss[T] {
	matrix := func(r, c int) rev.General[T] {
		m := rev.NewGeneral[T](r, c, nil)
		for i := range m.Data {
			m.Data[i] = fixed.Of[T](rnd.NormFloat64())
		}
		return m
	}
	return lstm.Loss[T]{
		Out: new(T), Main: matrix(2*layers, 4*bits), Extra: matrix(3, bits),
		State: matrix(2*layers, bits), Sequence: matrix(chars, bits),
	}
}

func TestConformance(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, spec[float64]()) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, spec[float32]()) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, spec[fixed.Q43]()) })
}

func spec[T rev.Real]() revtest.Spec[lstm.Loss[T]] {
	return revtest.Spec[lstm.Loss[T]]{
		New: func(rnd *rand.Rand, size int) lstm.Loss[T] {
			return random[T](rnd, min(size, 3), min(size+1, 7), size)
		},
		Free: []string{"Sequence.Rows", "State.Rows"},
	}
}

// plain computes the loss directly from the equations.
func plain(k *lstm.Loss[float64]) float64 {
	sigmoid := func(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
	b, layers := k.Sequence.Cols, k.Main.Rows/2
	state := make([][]float64, 2*layers)
	for i := range state {
		state[i] = append([]float64(nil), k.State.Row(i)...)
	}
	total := 0.
	for t := range k.Sequence.Rows - 1 {
		y, sum := make([]float64, b), 2.
		for j := range b {
			u := k.Sequence.Row(t)[j] * k.Extra.Row(0)[j]
			for l := range layers {
				w, bias := k.Main.Row(2*l), k.Main.Row(2*l+1)
				h, c := &state[2*l][j], &state[2*l+1][j]
				f, i := sigmoid(u*w[j]+bias[j]), sigmoid(*h*w[b+j]+bias[b+j])
				o, g := sigmoid(u*w[2*b+j]+bias[2*b+j]), math.Tanh(*h*w[3*b+j]+bias[3*b+j])
				*c = *c*f + i*g
				*h = o * math.Tanh(*c)
				u = *h
			}
			y[j] = u*k.Extra.Row(1)[j] + k.Extra.Row(2)[j]
			sum += math.Exp(y[j])
		}
		for j, v := range k.Sequence.Row(t + 1) {
			total += v * (y[j] - math.Log(sum))
		}
	}
	return -total / float64((k.Sequence.Rows-1)*b)
}

func TestValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{0, 3, 5}, {1, 2, 1}, {2, 40, 14}, {3, 700, 17}, {6, 20, 33}} {
		k := random[float64](rnd, s[0], s[1], s[2])
		k.Forward()
		if want := plain(&k); math.Abs(*k.Out-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("layers, characters, bits %v: loss %v, want %v", s, *k.Out, want)
		}
	}
}

// Scores whose exponentials overflow have a finite loss and gradient.
func TestLargeScores(t *testing.T) {
	k := random[float64](rand.New(rand.NewPCG(3, 4)), 1, 4, 3)
	copy(k.Extra.Row(2), []float64{2000, 1000, -3000})
	one, g := 1., random[float64](rand.New(rand.NewPCG(5, 6)), 1, 4, 3)
	g.Out = &one
	_ = rev.Gradient(k, g)
	all := append(append([]float64{*k.Out}, g.Main.Data...), g.Extra.Data...)
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("loss %v, gradients %v", *k.Out, all[1:])
		}
	}
}

// Without predictions, and without bits, the loss is 0.
func TestEmpty(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{2, 0, 3}, {2, 1, 3}, {2, 5, 0}, {0, 0, 0}} {
		k := random[float64](rnd, s[0], s[1], s[2])
		k.Forward()
		if *k.Out != 0 {
			t.Errorf("layers, characters, bits %v: loss %v, want 0", s, *k.Out)
		}
	}
}

func BenchmarkLoss(b *testing.B) {
	k := random[float64](rand.New(rand.NewPCG(1, 2)), 2, 1024, 14)
	one := 1.
	g := lstm.Loss[float64]{Out: &one, Main: rev.NewGeneral[float64](4, 56, nil), Extra: rev.NewGeneral[float64](3, 14, nil)}
	b.Run("value", func(b *testing.B) {
		for b.Loop() {
			k.Forward()
		}
	})
	b.Run("gradient", func(b *testing.B) {
		for b.Loop() {
			_ = rev.Gradient(k, g)
		}
	})
	t := random[float64](rand.New(rand.NewPCG(3, 4)), 2, 1024, 14)
	b.Run("tangent", func(b *testing.B) {
		for b.Loop() {
			k.Tangent(t)
		}
	})
	b.Run("hessian", func(b *testing.B) {
		gt := rev.NewGeneral[float64](4, 56, nil)
		for b.Loop() {
			k.AdjointTangent(g, lstm.Loss[float64]{Main: t.Main}, lstm.Loss[float64]{Main: gt})
		}
	})
}

// A network of half a layer panics with the kernel and the shape.
func TestOddRows(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, mat.ErrShape) || !strings.Contains(err.Error(), "Main of lstm.Loss[float64] has 1 rows, want an even number") {
			t.Errorf("panic %v", err)
		}
	}()
	_ = lstm.Loss[float64]{Main: rev.General[float64]{Rows: 1}}.Run(rev.Pass[lstm.Loss[float64]]{})
}
