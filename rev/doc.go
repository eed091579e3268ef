// Package rev is the contract of reversible kernels, and the combinators that
// compose kernels into reversible programs.
package rev
