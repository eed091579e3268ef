package revlog_test

import (
	"testing"

	"revnum/internal/kerneltest"
)

// Sizes of blocks, on whose other sides the tests have operands too.
const (
	blockCols = 128
	blockRows = 64
	chunk     = 1024
)

func TestBlocks(t *testing.T) { kerneltest.Constants(t, "blocks_test.go") }
