package revlinalg_test

import (
	"testing"

	"revnum/internal/elementwise"
	"revnum/internal/kerneltest"
)

// Sizes of blocks and bounds between ways of computing, on whose other sides the tests have operands too.
const (
	binaryBlock  = 2 * elementwise.PieceSize
	choleskyLeaf = 8
	divideAbove  = 128
	divideLeaf   = 48
	luLeaf       = 8
	polyPanel    = 240
	qrPanel      = 24
	smallOrder   = 8
	solveRows    = 128
	symvAlone    = 384
	tileCols     = 48
)

func TestBlocks(t *testing.T) { kerneltest.Constants(t, "blocks_test.go") }
