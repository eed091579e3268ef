package revgen

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow more between collections. The types of the packages that tests load stay, and
// what else they allocate does not. So does the compiler of what they write, where the collector takes a fifth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Setenv("GOGC", "400")
	os.Exit(m.Run())
}
