package revnn_test

import (
	"testing"

	"revnum/internal/kerneltest"
	"revnum/revnn"
)

func TestConstructors(t *testing.T) {
	kerneltest.Constructors(t, revnn.NewAttention, revnn.NewBatchNorm, revnn.NewConv2D, revnn.NewConvTranspose2D, revnn.NewGRU, revnn.NewGroupNorm, revnn.NewHuber, revnn.NewLSTM, revnn.NewLayerNorm, revnn.NewLeakyReLU, revnn.NewMaxPool, revnn.NewMeanPool, revnn.NewRMSNorm)
}
