package rules

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow more between collections. The frames of all kernels are much to look through, and tests allocate little
// that stays: at the usual 100 % the collector takes 40 % of the processors' time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
