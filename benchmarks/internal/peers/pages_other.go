//go:build !linux

package peers

import "revnum/rules"

// useHugePages is for Linux.
func useHugePages(rules.Buffer, int) {}
