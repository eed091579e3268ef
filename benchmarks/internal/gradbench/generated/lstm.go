package generated

import (
	"math"
	"slices"
)

// LSTM is the mean loss of a recurrent network that predicts each row of sequence from those before
// it. The weights of all layers are diagonal. Layer i has in main[2i] the weights of the forget, input,
// output and change gates one after the other, in main[2i+1] their biases, and it begins with
// the hidden values state[2i] and the memory state[2i+1]. The rows of extra are the weights of the
// input and of the output, and the biases of the output.
//
//revgen:gradient main extra value
func LSTM(main, extra, state, sequence [][]float64) float64 {
	b := len(sequence[0])
	now := make([][]float64, len(state))
	for i, row := range state {
		now[i] = slices.Clone(row)
	}
	y := make([]float64, b)
	total := 0.0
	for t := range len(sequence) - 1 {
		for i, v := range sequence[t] {
			y[i] = v * extra[0][i]
		}
		for layer := 0; layer < len(main); layer += 2 {
			w, bias, hidden, cell := main[layer], main[layer+1], now[layer], now[layer+1]
			for i := range b {
				forget := sigmoid(y[i]*w[i] + bias[i])
				in := sigmoid(hidden[i]*w[b+i] + bias[b+i])
				out := sigmoid(y[i]*w[2*b+i] + bias[2*b+i])
				change := math.Tanh(hidden[i]*w[3*b+i] + bias[3*b+i])
				cell[i] = cell[i]*forget + in*change
				hidden[i] = out * math.Tanh(cell[i])
				y[i] = hidden[i]
			}
		}
		sum := 2.0
		for i := range b {
			y[i] = y[i]*extra[1][i] + extra[2][i]
			sum += math.Exp(y[i])
		}
		norm := math.Log(sum)
		for i, v := range sequence[t+1] {
			total += v * (y[i] - norm)
		}
	}
	return -total / float64((len(sequence)-1)*b)
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
