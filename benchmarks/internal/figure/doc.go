// Package figure holds what the figures of the benchmarks share: the style, and how
// they are saved.
package figure
