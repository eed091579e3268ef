// Package cells holds the vector loops of layers of LSTM cells that see only
// themselves: all matrices of weights are diagonal. With x the input of a cell, h
// its hidden state and c its memory, a step is
//
//	f = σ(x·W_f + b_f),  i = σ(h·W_i + b_i),  o = σ(x·W_o + b_o),  g = tanh(h·W_g + b_g)
//	c' = c·f + i·g,      h' = o·tanh(c')
//
// with σ(z) = 1/(1 + exp(-z)). Given h̄' and c̄', the cotangents are, with q = tanh(c'),
//
//	c̄' += h̄'·o·(1-q²),   c̄ = c̄'·f
//	z_f = c̄'·c·f(1-f),   z_i = c̄'·g·i(1-i),  z_o = h̄'·q·o(1-o),  z_g = c̄'·i·(1-g²)
//	x̄ = z_f·W_f + z_o·W_o,  h̄ = z_i·W_i + z_g·W_g
//	W̄_f += z_f·x, W̄_o += z_o·x, W̄_i += z_i·h, W̄_g += z_g·h,  b̄ += z
//
// Forward keeps only the states. Backward computes the gates again from them.
//
// A row holds the numbers of all cells of a layer, in blocks of Lanes. Weights are
// stored by block: row r of block k begins at (Weights·k + r)·Lanes. Absolute errors
// of gates and of tanh are some units of 2⁻⁵³. Tiers (see package cpu) differ by
// rounding.
package cells

import "revnum/internal/simd/cpu"

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// The layout of rows, and of rows of weights.
const (
	Lanes   = 16 // cells of a block
	Weights = 8  // rows of weights: W_f, W_i, W_o, W_g, b_f, b_i, b_o, b_g

	HiddenBar = Weights // the row of h̄, after the cotangents of the weights
	CellBar   = Weights + 1
	Bars      = Weights + 2 // rows of cotangents

	most  = 512 // steps of a call of assembly
	short = "cells: insufficient length of an operand"
)

// Forward makes the given number of steps of a layer of ld cells, a multiple of
// Lanes. Row t of x is the input of step t; rows t and t+1 of h and c are the state
// before and after.
func Forward(x, h, c, w []float64, steps, ld int) {
	if !check(steps, ld, x, h, c, w) {
		return
	}
	if tier == cpu.Generic {
		genericForward(x, h, c, w, steps, ld)
		return
	}
	width := lanes()
	for lane := 0; lane < ld; lane += width {
		of := lane/Lanes*Lanes*Weights + lane%Lanes
		for t := 0; t < steps; t += most {
			at := t*ld + lane
			vectorForward(&x[at], &h[at], &c[at], &w[of], ld, min(most, steps-t))
		}
	}
}

// Backward makes the cotangents of what Forward did. On entry, row t of d is the part
// of the cotangent of row t+1 of h that comes from elsewhere. On return it is the
// cotangent of row t of x. g is stored as w is, with Bars rows. The cotangents of the
// weights are added to it, and the cotangents of the last state in it become those of
// the first.
func Backward(x, h, c, d, w, g []float64, steps, ld int) {
	if !check(steps, ld, x, h, c, w) {
		return
	}
	if len(d) < steps*ld || len(g) < Bars*ld {
		panic(short)
	}
	if tier == cpu.Generic {
		genericBackward(x, h, c, d, w, g, steps, ld)
		return
	}
	width := lanes()
	for lane := 0; lane < ld; lane += width {
		block, in := lane/Lanes*Lanes, lane%Lanes
		for end := steps; end > 0; end -= most {
			at := (end-1)*ld + lane
			vectorBackward(&x[at], &h[at], &c[at], &d[at], &w[block*Weights+in], &g[block*Bars+in], ld, min(most, end))
		}
	}
}

// lanes returns the number of cells in a call of assembly: two vectors.
func lanes() int {
	if tier == cpu.AVX512 {
		return Lanes
	}
	return Lanes / 2
}

// check panics unless the operands are long enough, and reports whether there is
// anything to do.
func check(steps, ld int, x, h, c, w []float64) bool {
	if steps < 0 || ld < 0 || ld%Lanes != 0 || len(x) < steps*ld || len(h) < (steps+1)*ld || len(c) < (steps+1)*ld || len(w) < Weights*ld {
		panic(short)
	}
	return steps > 0 && ld > 0
}
