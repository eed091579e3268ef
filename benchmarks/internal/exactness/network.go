package exactness

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"revnum/fixed"
	"revnum/optim"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
)

// A network is a perceptron with one hidden layer, and what it computes from points in the plane:
//
//	A = X·W1 + 1·b1ᵀ,  H = tanh A,  Y = H·W2 + 1·b2ᵀ,
//
// and Loss, the mean cross entropy of Y and Labels.
type network[T rev.Real] struct {
	X, W1, W2 rev.General[T]
	B1, B2    []T
	Labels    []int
	A, H, Y   rev.General[T]
	Loss      T
}

const arms = 3

// newNetwork returns the loss of a network with seeded weights over n points of a spiral with
// three arms. The weights depend on hidden alone, and the points on n and seed.
func newNetwork[T rev.Real](n, hidden, workers int, seed uint64) *optim.Objective[network[T], T] {
	s := &network[T]{
		X: rev.NewGeneral[T](n, 2, nil), W1: rev.NewGeneral[T](2, hidden, nil), W2: rev.NewGeneral[T](hidden, arms, nil),
		B1: make([]T, hidden), B2: make([]T, arms), Labels: make([]int, n),
		A: rev.NewGeneral[T](n, hidden, nil), H: rev.NewGeneral[T](n, hidden, nil), Y: rev.NewGeneral[T](n, arms, nil),
	}
	// In fixed point, so that all machines draw the same numbers.
	rnd := rand.New(rand.NewPCG(seed, 0))
	below := func(most q) q { return q(rnd.Int64N(int64(most))) }
	for i := range n {
		s.Labels[i] = i % arms
		radius := below(fixed.One)
		turns := fixed.FromInt(i%arms)/arms + radius*3/5 + below(fixed.One/16)
		sin, cos := fixed.SinCos(turns.Mul(2 * fixed.Pi))
		s.X.Row(i)[0], s.X.Row(i)[1] = fixed.Of[T]((2 * radius).Mul(cos).Float64()), fixed.Of[T]((2 * radius).Mul(sin).Float64())
	}
	rnd = rand.New(rand.NewPCG(1, 1))
	for _, w := range [][]T{s.W1.Data, s.W2.Data} {
		for i := range w {
			w[i] = fixed.Of[T]((below(2*fixed.One) - fixed.One).Float64())
		}
	}
	type S = network[T]
	return &optim.Objective[S, T]{
		Program: rev.Seq(
			rev.At(func(s *S) revnn.AffineBatch[T] {
				return revnn.AffineBatch[T]{Y: s.A, X: s.X, W: s.W1, B: rev.ViewSlice(s.B1), Workers: workers}
			}),
			rev.At(func(s *S) revnn.Tanh[T] {
				return revnn.Tanh[T]{Y: rev.ViewSlice(s.H.Data), X: rev.ViewSlice(s.A.Data), Workers: workers}
			}),
			rev.At(func(s *S) revnn.AffineBatch[T] {
				return revnn.AffineBatch[T]{Y: s.Y, X: s.H, W: s.W2, B: rev.ViewSlice(s.B2), Workers: workers}
			}),
			rev.At(func(s *S) revnn.CrossEntropy[T] {
				return revnn.CrossEntropy[T]{Out: &s.Loss, X: s.Y, Labels: s.Labels, Mean: true, Workers: workers}
			})),
		Output: func(s *S) *T { return &s.Loss },
		Params: func(s *S) [][]T { return [][]T{s.W1.Data, s.B1, s.W2.Data, s.B2} },
		State:  s,
	}
}

// The momentum of training is 9/10.
const num, den = 9, 10

type q = fixed.Q43

// A run of training has weights, velocities, and the learning rate of each step.
type run struct {
	W, V, Rates []q
	Step        int
	Loss        q // of other points, at the end
}

// A trainer makes the steps of a run, by descent with momentum:
//
//	v <- 9/10·v - ∇L(w),  w <- w + rate·v
//
// The buffer gets the bits that the first product loses.
type trainer struct {
	*run
	step   rev.Step[run]
	buffer *fixed.Buffer
}

func newTrainer(loss *optim.Objective[network[q], q], steps int, rate float64) *trainer {
	w := loss.Vector(nil)
	t := &trainer{
		run:    &run{W: w, V: make([]q, len(w)), Rates: slices.Repeat([]q{fixed.FromFloat64(rate)}, steps)},
		buffer: fixed.NewBuffer(len(w)),
	}
	t.step = rev.Seq(
		rev.At(func(s *run) optim.Decay { return optim.Decay{V: s.V, Num: num, Den: den, Buffer: t.buffer} }),
		rev.Uncall(rev.At(func(s *run) optim.Gradient[network[q], q] {
			return optim.Gradient[network[q], q]{Y: s.V, X: s.W, Of: loss}
		})),
		rev.AtIndex(func(s, v *run) revlinalg.Axpy[q] {
			return revlinalg.Axpy[q]{Y: rev.ViewSlice(v.W), Alpha: &v.Rates[s.Step], X: rev.ViewSlice(v.V)}
		}))
	return t
}

// ahead makes all steps.
func (t *trainer) ahead(ctx context.Context) error {
	return each(ctx, len(t.Rates), func(i int) error {
		t.Step = i
		return t.step.Forward(t.run)
	})
}

// back makes the inverse of all steps, with cotangents if g is not nil.
func (t *trainer) back(ctx context.Context, g *run) error {
	return each(ctx, len(t.Rates), func(i int) error {
		t.Step = len(t.Rates) - 1 - i
		if g == nil {
			return t.step.Inverse(t.run)
		}
		return t.step.Adjoint(t.run, g)
	})
}

// each calls f for each of n steps, until it fails or ctx ends.
func each(ctx context.Context, n int, f func(i int) error) error {
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// floatRun is the same run over float64, as a loop.
type floatRun struct {
	loss       *optim.Objective[network[float64], float64]
	w, v, grad []float64
}

func newFloatRun(loss *optim.Objective[network[float64], float64]) *floatRun {
	w := loss.Vector(nil)
	return &floatRun{loss, w, make([]float64, len(w)), make([]float64, len(w))}
}

// gradient computes the gradient at w.
func (f *floatRun) gradient() error {
	f.loss.SetVector(f.w)
	_, err := f.loss.ValueGradient(f.grad)
	return err
}

// ahead makes a step of training.
func (f *floatRun) ahead(rate float64) error {
	if err := f.gradient(); err != nil {
		return err
	}
	for i, g := range f.grad {
		f.v[i] = float64(f.v[i]*num/den) - g
		f.w[i] += float64(rate * f.v[i])
	}
	return nil
}

// back makes the inverse of ahead, as far as rounding allows.
func (f *floatRun) back(rate float64) error {
	for i, v := range f.v {
		f.w[i] -= float64(rate * v)
	}
	if err := f.gradient(); err != nil {
		return err
	}
	for i, g := range f.grad {
		f.v[i] = (f.v[i] + g) * den / num
	}
	return nil
}

// hash returns 64 bits that depend on all bits of x.
func hash(x []q) uint64 {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, x)
	return h.Sum64()
}
