//go:build !race && !mutants

package workspace

const raceEnabled = false
