package revnn

import (
	"testing"

	"revnum/internal/kerneltest"
)

func TestConstructors(t *testing.T) {
	kerneltest.Constructors(t, NewAttention, NewBatchNorm, NewConv2D, NewConvTranspose2D, NewGRU, NewGroupNorm, NewHuber, NewLSTM, NewLayerNorm, NewLeakyReLU, NewMaxPool, NewMeanPool, NewRMSNorm)
}
