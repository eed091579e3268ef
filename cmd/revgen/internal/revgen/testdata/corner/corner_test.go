package corner

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/cmd/revgen/internal/revgen/examples"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func vec[T rev.Real](rnd *rand.Rand, n int, scale float64) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](scale * rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

func eps[T rev.Real]() float64 {
	if _, ok := any(T(0)).(float32); ok {
		return 1e-7
	}
	return 0
}

func scalar[T rev.Real](v float64) *T { x := fixed.Of[T](v); return &x }

func permuteSpec[T rev.Real]() revtest.Spec[Permute[T]] {
	return revtest.Spec[Permute[T]]{New: func(rnd *rand.Rand, n int) Permute[T] {
		return Permute[T]{X: vec[T](rnd, n, 1), A: scalar[T](rnd.NormFloat64()), B: scalar[T](rnd.NormFloat64()), W: vec[T](rnd, n, 0.3)}
	}, RoundTrip: 100, Sizes: []int{0, 1, 2, 3, 5, 6, 12}} // rounding errors grow with each element
}

func recurrentSpec[T rev.Real]() revtest.Spec[Recurrent[T]] {
	return revtest.Spec[Recurrent[T]]{New: func(rnd *rand.Rand, n int) Recurrent[T] {
		return Recurrent[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, n, 1), W: vec[T](rnd, n, 1), U: scalar[T](0.7)}
	}, Adjoint: 10000}
}

func branchesSpec[T rev.Real]() revtest.Spec[Branches[T]] {
	return revtest.Spec[Branches[T]]{New: func(rnd *rand.Rand, n int) Branches[T] {
		k := Branches[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, n, 1)}
		for i := range k.X.Data {
			k.X.Data[i] = fixed.Of[T]([]float64{-1.7, 0.4, 1.6, -0.4, 2.3}[i%5] + 0.05*rnd.NormFloat64())
		}
		return k
	}, Magnitudes: [2]float64{1, 1}, // X is between the bounds of branches
		Adjoint: 10000, Step: 0x1p-12, Difference: 1e-4, Sizes: []int{0, 1, 2, 3, 5}, Skip: map[revtest.Property]string{revtest.NaN: "a branch hides it"}}
}

func powerSpec[T rev.Real]() revtest.Spec[Power[T]] {
	return revtest.Spec[Power[T]]{New: func(rnd *rand.Rand, n int) Power[T] {
		k := Power[T]{Out: scalar[T](0), X: vec[T](rnd, n, 0.02), N: 3}
		for i := range k.X.Data {
			k.X.Data[i] += fixed.Of[T](0.4)
		}
		return k
	}, Adjoint: 30000, Sizes: []int{0, 1, 2, 5}}
}

func pendulumSpec[T rev.Real]() revtest.Spec[Pendulum[T]] {
	return revtest.Spec[Pendulum[T]]{New: func(rnd *rand.Rand, n int) Pendulum[T] {
		return Pendulum[T]{Q: scalar[T](0.3), P: scalar[T](0.4), K: scalar[T](1.5), H: scalar[T](0.1), Drive: vec[T](rnd, n, 1)}
	}, RoundTrip: 200, Sizes: []int{1, 2, 3, 7}, Adjoint: 10000, Difference: max(1e-5, 20000*float64(eps[T]()))}
}

func tableSpec[T rev.Real]() revtest.Spec[Table[T]] {
	return revtest.Spec[Table[T]]{New: func(rnd *rand.Rand, n int) Table[T] {
		k := Table[T]{Scale: vec[T](rnd, n, 1), X: rev.NewGeneral(n, 3, vec[T](rnd, 3*n, 1).Data), Y: rev.NewGeneral(n, 3, vec[T](rnd, 3*n, 1).Data)}
		for i := range n {
			k.From, k.To = append(k.From, i), append(k.To, i*7%n)
		}
		return k
	}}
}

// moderate is Spec.Magnitudes of most functions here. They are made of products, exponentials
// and loops that overflow, or lose all digits, for much larger operands.
var moderate = [2]float64{0.5, 2}

// all tests a kernel over the three types.
func all[A rev.Kernel[A], B rev.Kernel[B], C rev.Kernel[C]](t *testing.T, a revtest.Spec[A], b revtest.Spec[B], c revtest.Spec[C]) {
	a.Magnitudes, b.Magnitudes, c.Magnitudes = moderate, moderate, moderate
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, a) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, b) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, c) })
}

func TestPermute(t *testing.T) {
	all(t, permuteSpec[float64](), permuteSpec[float32](), permuteSpec[fixed.Q43]())
}
func TestRecurrent(t *testing.T) {
	all(t, recurrentSpec[float64](), recurrentSpec[float32](), recurrentSpec[fixed.Q43]())
}
func TestBranches(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, branchesSpec[float64]()) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, branchesSpec[fixed.Q43]()) })
}
func TestPower(t *testing.T) {
	all(t, powerSpec[float64](), powerSpec[float32](), powerSpec[fixed.Q43]())
}
func TestPendulum(t *testing.T) {
	all(t, pendulumSpec[float64](), pendulumSpec[float32](), pendulumSpec[fixed.Q43]())
}
func TestTable(t *testing.T) {
	all(t, tableSpec[float64](), tableSpec[float32](), tableSpec[fixed.Q43]())
}

func namesSpec[T rev.Float](f func(n int) rev.Vector[T]) revtest.Spec[Names[T]] {
	return revtest.Spec[Names[T]]{New: func(rnd *rand.Rand, n int) Names[T] {
		v := func(n int) []T {
			x := make([]T, n)
			for i := range x {
				x[i] = T(rnd.NormFloat64())
			}
			return x
		}
		return Names[T]{K: rev.ViewSlice(v(n)), G: rev.NewGeneral(n, n, v(n*n)), Gk: rev.NewGeneral(n, n, v(n*n)), T: &v(1)[0], Fixed: &v(1)[0], Num: &v(1)[0]}
	}, Magnitudes: moderate, RoundTrip: 200}
}

func TestNames(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, namesSpec[float64](nil)) })
	t.Run("float32", func(t *testing.T) { revtest.Kernel(t, namesSpec[float32](nil)) })
}

func TestPlain(t *testing.T) {
	revtest.Kernel(t, revtest.Spec[Plain]{New: func(rnd *rand.Rand, n int) Plain {
		k := Plain{Y: vec[float64](rnd, n, 1), X: vec[float64](rnd, n, 1), Scale: scalar[float64](1.2)}
		for i, x := range k.X.Data {
			k.X.Data[i] = x + math.Copysign(0.1, x)
		}
		return k
	}})
}

// A program of kernels that are written by revgen and by hand.
type state struct {
	W, B, H, Theta, X, Loss []float64
}

func TestProgram(t *testing.T) {
	const n = 4
	prog := rev.Seq(
		rev.At(func(s *state) examples.Affine[float64] {
			return examples.Affine[float64]{Y: rev.ViewSlice(s.H), W: rev.NewGeneral(n, n, s.W), X: rev.ViewSlice(s.X), B: rev.ViewSlice(s.B)}
		}),
		rev.Repeat(func(*state) int { return 3 }, rev.At(func(s *state) examples.Rotate[float64] {
			return examples.Rotate[float64]{X: rev.ViewSlice(s.H), Theta: rev.ViewSlice(s.Theta)}
		})),
		rev.Uncall(rev.At(func(s *state) examples.Rotate[float64] {
			return examples.Rotate[float64]{X: rev.ViewSlice(s.H), Theta: rev.ViewSlice(s.Theta)}
		})),
		rev.At(func(s *state) revlinalg.Norm2[float64] {
			return revlinalg.Norm2[float64]{Out: &s.Loss[0], X: rev.ViewSlice(s.H)}
		}),
	)
	rnd := rand.New(rand.NewPCG(1, 1))
	fresh := func(scale float64) *state {
		v := func(n int) []float64 { return vec[float64](rnd, n, scale).Data }
		return &state{v(n * n), v(n), make([]float64, n), v(n - 1), v(n), make([]float64, 1)}
	}
	s, g, d := fresh(0.5), fresh(0), fresh(1)
	clear(d.H)
	g.Loss[0] = 1
	if err := prog.Forward(s); err != nil {
		t.Fatal(err)
	}
	if err := prog.Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	parts := func(s *state) [][]float64 { return [][]float64{s.W, s.B, s.Theta, s.X} }
	slope := 0.0
	for i, p := range parts(g) {
		for j := range p {
			slope += p[j] * parts(d)[i][j]
		}
	}
	at := func(h float64) float64 {
		x := &state{H: make([]float64, n), Loss: make([]float64, 1)}
		for i, p := range []*[]float64{&x.W, &x.B, &x.Theta, &x.X} {
			for j := range parts(s)[i] {
				*p = append(*p, parts(s)[i][j]+h*parts(d)[i][j])
			}
		}
		if err := prog.Forward(x); err != nil {
			t.Fatal(err)
		}
		return x.Loss[0]
	}
	const h = 1e-5
	if want := (at(h) - at(-h)) / (2 * h); math.Abs(slope-want) > 1e-8 {
		t.Errorf("slope %v, want %v", slope, want)
	}
	for _, v := range s.H {
		if math.Abs(v) > 1e-15 {
			t.Errorf("H is %v after Adjoint", s.H)
		}
	}
}
