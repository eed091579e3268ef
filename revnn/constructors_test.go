package revnn

import (
	"testing"

	"revnum/internal/kerneltest"
)

func TestConstructors(t *testing.T) {
	kerneltest.Constructors(t,
		NewAffineBatch, NewConv2D, NewCrossEntropy, NewGELU, NewGather, NewLeakyReLU, NewLogSumExp,
		NewLogSumExpRows, NewMaxPool, NewMeanPool, NewReLU, NewSiLU, NewSigmoid, NewSoftmax,
		NewSoftmaxRows, NewSoftplus, NewTanh,
	)
}
