//go:build !race && !mutants

package revtest

const instrumented = false
