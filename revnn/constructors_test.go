package revnn

import (
	"testing"

	"revnum/internal/kerneltest"
)

func TestConstructors(t *testing.T) {
	kerneltest.Constructors(t, NewAttention, NewConv2D, NewConvTranspose2D, NewHuber, NewLayerNorm, NewLeakyReLU, NewMaxPool, NewMeanPool, NewRMSNorm)
}
