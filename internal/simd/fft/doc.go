// Package fft computes discrete Fourier transforms by vector code.
//
// A transform of length n = n1·n2 is made of transforms of columns and of rows. Input i is in
// row i/n2 and column i mod n2 of a matrix, and with w = exp(-2πi/n)
//
//	y_(k+n1·j) = Σ_q w^(n1·j·q) · w^(k·q) · Σ_p w^(n2·k·p)·x_(q+n2·p).
//
// The inner sum transforms column q. Each lane of a register has a column of its own, so that
// no pass exchanges lanes. The results get the twiddle w^(kq) and are transposed in registers,
// and the outer sum again transforms columns, one for each k. (This is the four-step method.
// D. H. Bailey, FFTs in external or hierarchical memory, 1990.)
//
// The passes over a group of columns are those of Stockham (see columns). Their memory is a few
// KiB, which stay in the first cache. A length with a prime factor above 61 becomes a
// convolution.
package fft

import "revnum/internal/simd/cpu"

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()
