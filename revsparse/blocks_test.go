package revsparse_test

import (
	"testing"

	"revnum/internal/kerneltest"
)

// Sizes of blocks and bounds between ways of computing, on whose other sides the tests have operands too.
const (
	fewColumns = 16
	logColumns = 4
	panelBytes = 512
	wideRange  = 1 << 17
)

func TestBlocks(t *testing.T) { kerneltest.Constants(t, "blocks_test.go") }
