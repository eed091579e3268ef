package optim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"revnum/fixed"
	"revnum/optim"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
)

type q = fixed.Q43

// A classifier is a layer of weights over fixed data.
type classifier struct {
	X, W, Y rev.General[q]
	Labels  []int
	Loss    q
}

// newClassifier returns the loss of a classifier of noisy points around three centres.
func newClassifier(rnd *rand.Rand, n int) *optim.Objective[classifier, q] {
	s := &classifier{X: rev.NewGeneral[q](n, 3, nil), W: rev.NewGeneral[q](3, 3, nil), Y: rev.NewGeneral[q](n, 3, nil), Labels: make([]int, n)}
	for i := range n {
		s.Labels[i] = i % 3
		angle := 2 * math.Pi * float64(i%3) / 3
		for j, v := range []float64{math.Cos(angle) + 0.6*rnd.NormFloat64(), math.Sin(angle) + 0.6*rnd.NormFloat64(), 1} {
			s.X.Row(i)[j] = fixed.FromFloat64(v)
		}
	}
	type S = classifier
	return &optim.Objective[S, q]{
		Program: rev.Seq(
			rev.At(func(s *S) revlinalg.MatMul[q] { return revlinalg.MatMul[q]{C: s.Y, A: s.X, B: s.W} }),
			rev.At(func(s *S) revnn.CrossEntropy[q] {
				return revnn.CrossEntropy[q]{Out: &s.Loss, X: s.Y, Labels: s.Labels, Mean: true}
			})),
		Output: func(s *S) *q { return &s.Loss },
		Params: func(s *S) [][]q { return [][]q{s.W.Data} },
		State:  s,
	}
}

// A run of training: weights, velocities, and a learning rate for each step.
type run struct {
	W, V, Rates []q
	Step        int
	Loss        q // on other data, at the end
}

// training returns the program of a run, by descent with momentum 9/10:
//
//	v <- 9/10·v - ∇L(w),  w <- w + rate·v
func training(train, validation *optim.Objective[classifier, q]) rev.Step[run] {
	buffer := fixed.NewBuffer(train.Dim())
	step := rev.Seq(
		rev.At(func(s *run) optim.Decay { return optim.Decay{V: s.V, Num: 9, Den: 10, Buffer: buffer} }),
		rev.Uncall(rev.At(func(s *run) optim.Gradient[classifier, q] {
			return optim.Gradient[classifier, q]{Y: s.V, X: s.W, Of: train}
		})),
		rev.AtIndex(func(s, v *run) revlinalg.Axpy[q] {
			return revlinalg.Axpy[q]{Y: rev.ViewSlice(v.W), Alpha: &v.Rates[s.Step], X: rev.ViewSlice(v.V)}
		}))
	return rev.Seq(
		rev.For(func(s *run) int { return len(s.Rates) }, func(s *run) *int { return &s.Step }, step),
		rev.At(func(s *run) optim.Value[classifier, q] {
			return optim.Value[classifier, q]{Out: &s.Loss, X: s.W, Of: validation}
		}))
}

// This computes the derivatives of the loss after training with respect to the learning
// rate of each step, as in section 4.1 of Maclaurin, Duvenaud and Adams. The adjoint
// trains backward, and restores the first weights to the bit.
func Example_learningRates() {
	rnd := rand.New(rand.NewPCG(3, 4))
	train, validation := newClassifier(rnd, 30), newClassifier(rnd, 60)
	program := training(train, validation)
	s := &run{W: make([]q, 9), V: make([]q, 9), Rates: slices.Repeat([]q{fixed.FromFloat64(0.1)}, 100)}
	for i := range s.W {
		s.W[i] = fixed.FromFloat64(rnd.NormFloat64())
	}
	before := slices.Clone(s.W)

	g := rev.ZeroLike(s)
	loss, err := rev.ValueGradient(program, func(s *run) *q { return &s.Loss }, s, g)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("loss %.4f, the weights come back to the bit: %v\n", loss.Float64(), slices.Equal(s.W, before))

	// Compare with differences of the loss.
	lossAt := func(step int, change float64) float64 {
		was := s.Rates[step]
		s.Rates[step] += fixed.FromFloat64(change)
		if err := program.Forward(s); err != nil {
			fmt.Println(err)
		}
		loss := s.Loss.Float64()
		if err := program.Inverse(s); err != nil {
			fmt.Println(err)
		}
		s.Rates[step] = was
		return loss
	}
	for _, step := range []int{0, 10, 50, 99} {
		difference := (lossAt(step, 1e-3) - lossAt(step, -1e-3)) / 2e-3
		fmt.Printf("rate of step %d: %.5f, by differences %.5f\n", step, g.Rates[step].Float64(), difference)
	}
	// Output:
	// loss 0.2234, the weights come back to the bit: true
	// rate of step 0: 0.00358, by differences 0.00358
	// rate of step 10: -0.00266, by differences -0.00266
	// rate of step 50: 0.00718, by differences 0.00718
	// rate of step 99: 0.00643, by differences 0.00643
}
