// Package figure has what the figures of the benchmarks share: the style, and the
// output to files.
package figure
