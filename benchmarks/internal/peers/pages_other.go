//go:build !linux

package peers

import "revnum/rules"

// useHugePages does nothing: only Linux has such advice.
func useHugePages(rules.Buffer, int) {}
