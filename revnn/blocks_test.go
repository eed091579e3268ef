package revnn_test

import (
	"testing"

	"revnum/internal/kerneltest"
	"revnum/internal/simd/dense"
)

// Sizes of blocks and bounds between ways of computing, on whose other sides the tests have operands too.
const (
	attentionQueries = 64
	attentionKeys    = 256
	chunk            = 1024
	normBlock        = 1 << 13
	normPlane        = 64
	normColumns      = 128
	normNarrow       = 64
	recurrentRows    = dense.GemmRows
)

func TestBlocks(t *testing.T) { kerneltest.Constants(t, "blocks_test.go") }
