package optim_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"revnum/optim"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
)

type net struct {
	X, W1, H, A, W2, Y *mat.Dense // digits, weights, hidden units before and after GELU, logits
	Labels             []int
	Loss               float64
}

// A multilayer perceptron learns to read digits of 8×8 pixels, shifted and noisy.
func Example_digits() {
	glyphs := [10]uint64{
		0x3c66666666663c00, 0x1838181818187e00, 0x3c66060c18307e00, 0x3c66061c06663c00, 0x0c1c3c6c7e0c0c00,
		0x7e607c0606663c00, 0x3c60607c66663c00, 0x7e060c1818181800, 0x3c66663c66663c00, 0x3c66663e06063c00,
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(r, c int, scale float64) *mat.Dense {
		m := mat.NewDense(r, c, nil)
		m.Apply(func(_, _ int, _ float64) float64 { return scale * rnd.NormFloat64() }, m)
		return m
	}
	s := &net{X: random(128, 64, 0), W1: random(64, 32, 0.2), H: random(128, 32, 0), A: random(128, 32, 0),
		W2: random(32, 10, 0.2), Y: random(128, 10, 0), Labels: make([]int, 128)}
	flat := func(m *mat.Dense) rev.Vector[float64] { return rev.ViewSlice(m.RawMatrix().Data) }
	program := rev.Seq(
		rev.At(func(s *net) revlinalg.MatMul[float64] { return revlinalg.NewMatMul(s.H, s.X, s.W1) }),
		rev.At(func(s *net) revnn.GELU[float64] { return revnn.GELU[float64]{Y: flat(s.A), X: flat(s.H)} }),
		rev.At(func(s *net) revlinalg.MatMul[float64] { return revlinalg.NewMatMul(s.Y, s.A, s.W2) }),
		rev.At(func(s *net) revnn.CrossEntropy[float64] {
			return revnn.NewCrossEntropy(&s.Loss, s.Y, nil, s.Labels)
		}))
	loss := &optim.Objective[net, float64]{
		Program: program, Output: func(s *net) *float64 { return &s.Loss }, State: s,
		Params: func(s *net) [][]float64 { return [][]float64{flat(s.W1).Data, flat(s.W2).Data} },
	}
	adam := &optim.Adam{Rate: optim.WarmUp(20, optim.Cosine(0.02, 0, 280))}
	for step := range 301 {
		for i := range s.Labels {
			s.Labels[i] = rnd.IntN(10)
			glyph := bits.RotateLeft64(glyphs[s.Labels[i]], 8*(rnd.IntN(3)-1)+rnd.IntN(3)-1)
			for p := range 64 {
				s.X.Set(i, p, float64(glyph>>p&1)+0.2*rnd.NormFloat64())
			}
		}
		if value, err := loss.Step(adam); step%300 == 0 || err != nil {
			fmt.Printf("step %d: cross-entropy of new digits %.2f, error %v\n", step, value/128, err)
		}
	}
	// Output:
	// step 0: cross-entropy of new digits 2.79, error <nil>
	// step 300: cross-entropy of new digits 0.04, error <nil>
}
