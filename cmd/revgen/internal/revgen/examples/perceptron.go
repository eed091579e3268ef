package examples

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Perceptron is a network with one hidden layer.
type Perceptron struct {
	W1 *mat.Dense // a row for each hidden unit
	B1 *mat.VecDense
	W2 *mat.Dense // a row for each class
	B2 *mat.VecDense
}

// NewPerceptron returns a network whose weights are the elements of p, one after the other.
func NewPerceptron(p []float64, inputs, hidden, classes int) *Perceptron {
	take := func(n int) []float64 {
		x := p[:n:n]
		p = p[n:]
		return x
	}
	return &Perceptron{
		mat.NewDense(hidden, inputs, take(hidden*inputs)), mat.NewVecDense(hidden, take(hidden)),
		mat.NewDense(classes, hidden, take(classes*hidden)), mat.NewVecDense(classes, take(classes)),
	}
}

// Loss is the mean cross entropy of the labels of the rows of x.
//
//revgen:gradient m
func (m *Perceptron) Loss(x *mat.Dense, labels []int) float64 {
	var h, y mat.Dense
	h.Mul(x, m.W1.T())
	n, hidden := h.Dims()
	for i := range n {
		row := h.RawRowView(i)
		for j := range hidden {
			row[j] = math.Max(0, row[j]+m.B1.AtVec(j))
		}
	}
	y.Mul(&h, m.W2.T())
	loss := 0.0
	for i, label := range labels {
		row := y.RawRowView(i)
		sum := 0.0
		for j := range row {
			row[j] += m.B2.AtVec(j)
			sum += math.Exp(row[j])
		}
		loss += math.Log(sum) - row[label]
	}
	return loss / float64(n)
}
