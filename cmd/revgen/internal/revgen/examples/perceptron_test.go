package examples_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/cmd/revgen/internal/revgen/examples"
	"revnum/optim"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
)

// A perceptron learns to read digits of 8×8 pixels, shifted and noisy.
func ExamplePerceptron() {
	glyphs := [10]uint64{
		0x3c66666666663c00, 0x1838181818187e00, 0x3c66060c18307e00, 0x3c66061c06663c00, 0x0c1c3c6c7e0c0c00,
		0x7e607c0606663c00, 0x3c60607c66663c00, 0x7e060c1818181800, 0x3c66663c66663c00, 0x3c66663e06063c00,
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	p, grad := make([]float64, 64*32+32+32*10+10), make([]float64, 64*32+32+32*10+10)
	for i := range p {
		p[i] = 0.2 * rnd.NormFloat64()
	}
	m, g := examples.NewPerceptron(p, 64, 32, 10), examples.NewPerceptron(grad, 64, 32, 10)
	x, labels := mat.NewDense(128, 64, nil), make([]int, 128)
	adam := &optim.Adam{Rate: optim.WarmUp(20, optim.Cosine(0.02, 0, 280))}
	for step := range 301 {
		for i := range labels {
			labels[i] = rnd.IntN(10)
			glyph := bits.RotateLeft64(glyphs[labels[i]], 8*(rnd.IntN(3)-1)+rnd.IntN(3)-1)
			for j := range 64 {
				x.Set(i, j, float64(glyph>>j&1)+0.2*rnd.NormFloat64())
			}
		}
		loss := m.LossGradient(g, x, labels)
		adam.Step(p, grad)
		if step%300 == 0 {
			fmt.Printf("step %d: cross-entropy of new digits %.2f\n", step, loss)
		}
	}
	// Output:
	// step 0: cross-entropy of new digits 2.73
	// step 300: cross-entropy of new digits 0.02
}

// BenchmarkPerceptron measures value and gradient beside the same network of kernels.
func BenchmarkPerceptron(b *testing.B) {
	for _, shape := range [][3]int{{64, 64, 64}, {64, 512, 256}} {
		inputs, hidden, batch := shape[0], shape[1], shape[2]
		size := inputs*hidden + hidden + hidden*10 + 10
		p, grad := make([]float64, size), make([]float64, size)
		rnd := rand.New(rand.NewPCG(1, 2))
		for i := range p {
			p[i] = 0.1 * rnd.NormFloat64()
		}
		x, labels := mat.NewDense(batch, inputs, nil), make([]int, batch)
		x.Apply(func(_, _ int, _ float64) float64 { return rnd.Float64() }, x)
		for i := range labels {
			labels[i] = i % 10
		}
		m, g := examples.NewPerceptron(p, inputs, hidden, 10), examples.NewPerceptron(grad, inputs, hidden, 10)
		name := fmt.Sprintf("%d-%d-10/%d/", inputs, hidden, batch)
		b.Run(name+"written", func(b *testing.B) {
			for b.Loop() {
				m.LossGradient(g, x, labels)
			}
		})
		type state struct{ h, a, y *mat.Dense }
		dense := func(r, c int) *mat.Dense { return mat.NewDense(r, c, nil) }
		s, t := state{dense(batch, hidden), dense(batch, hidden), dense(batch, 10)}, state{dense(batch, hidden), dense(batch, hidden), dense(batch, 10)}
		flat := func(m *mat.Dense) rev.Vector[float64] { return rev.ViewSlice(m.RawMatrix().Data) }
		b.Run(name+"kernels", func(b *testing.B) {
			for b.Loop() {
				for _, m := range []*mat.Dense{s.h, s.a, s.y, t.h, t.a, t.y} {
					m.Zero()
				}
				clear(grad)
				loss, one := 0.0, 1.0
				for i := range batch {
					copy(s.h.RawRowView(i), m.B1.RawVector().Data)
					copy(s.y.RawRowView(i), m.B2.RawVector().Data)
				}
				first := revlinalg.MatMul[float64]{C: rev.ViewDense(s.h), A: rev.ViewDense(x), B: rev.ViewDense(m.W1), TransB: true}
				relu := revnn.ReLU[float64]{Y: flat(s.a), X: flat(s.h)}
				second := revlinalg.MatMul[float64]{C: rev.ViewDense(s.y), A: rev.ViewDense(s.a), B: rev.ViewDense(m.W2), TransB: true}
				cross := revnn.NewCrossEntropy(&loss, s.y, nil, labels)
				first.Forward()
				relu.Forward()
				second.Forward()
				_ = rev.Gradient(cross, revnn.NewCrossEntropy(&one, t.y, nil, nil))
				second.C = rev.General[float64]{}
				second.Adjoint(revlinalg.MatMul[float64]{C: rev.ViewDense(t.y), A: rev.ViewDense(t.a), B: rev.ViewDense(g.W2)})
				relu.Y.Data = nil
				relu.Adjoint(revnn.ReLU[float64]{Y: flat(t.a), X: flat(t.h)})
				first.C = rev.General[float64]{}
				first.Adjoint(revlinalg.MatMul[float64]{C: rev.ViewDense(t.h), B: rev.ViewDense(g.W1)})
				for i := range batch {
					for j, v := range t.h.RawRowView(i) {
						g.B1.RawVector().Data[j] += v
					}
					for j, v := range t.y.RawRowView(i) {
						g.B2.RawVector().Data[j] += v
					}
				}
			}
		})
	}
}
