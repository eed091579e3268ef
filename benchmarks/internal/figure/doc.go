// Package figure has what the figures of the benchmarks share: the style, and
// the writing to files.
package figure
