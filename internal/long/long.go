// Package long tells tests whether to take their time.
package long

import (
	"os"
	"testing"
)

// Tests reports whether tests that take long run in full. They do if REVNUM_LONG is
// set, as .ci/run sets it, unless -short is given.
func Tests() bool { return os.Getenv("REVNUM_LONG") != "" && !testing.Short() }

// Or returns many if tests that take long run in full, and few otherwise.
func Or(many, few int) int {
	if Tests() {
		return many
	}
	return few
}
