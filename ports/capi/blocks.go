//go:build cgo

package main

import (
	"fmt"
	"sync"

	"revnum/rev"
	"revnum/revmodels/ba"
)

// A block computes one observation of ba.Snavely or ba.Weighted in the form of a residual
// block of Ceres.
type block struct {
	inputs    [][]float64 // the feature, and then what the residuals are differentiated by
	residuals []float64
	jacobian  rev.General[float64] // the derivatives by all inputs but the feature
	forward   func() error
	gradient  func() error // sets jacobian too
}

// compute computes the residuals of the inputs, and their derivatives by each input but the
// feature as a matrix by rows. It does not store results in nil slices, nor compute
// derivatives if all matrices are nil.
func (b *block) compute(inputs [][]float64, residuals []float64, matrices [][]float64) error {
	run := b.forward
	for _, m := range matrices {
		if m != nil {
			run = b.gradient
		}
	}
	for i, x := range inputs {
		if len(x) != len(b.inputs[i]) {
			return fmt.Errorf("argument %d has length %d, want %d", i+1, len(x), len(b.inputs[i]))
		}
		copy(b.inputs[i], x)
	}
	clear(b.residuals)
	if err := run(); err != nil {
		return err
	}
	copy(residuals, b.residuals)
	first := 0 // column of the Jacobian
	for i, m := range matrices {
		cols := len(b.inputs[i+1])
		for row := 0; m != nil && row < len(b.residuals); row++ {
			copy(m[row*cols:][:cols], b.jacobian.Row(row)[first:])
		}
		first += cols
	}
	return nil
}

// newBlock returns a block with the given numbers of residuals and inputs, without a
// kernel.
func newBlock(residuals int, inputs ...int) *block {
	b := &block{residuals: make([]float64, residuals)}
	columns := -inputs[0]
	for _, n := range inputs {
		b.inputs = append(b.inputs, make([]float64, n))
		columns += n
	}
	b.jacobian = rev.NewGeneral[float64](residuals, columns, nil)
	return b
}

// rowOf returns a matrix of one row.
func rowOf(x []float64) rev.General[float64] { return rev.NewGeneral(1, len(x), x) }

// snavelyBlocks compute the two residuals π(c, X) - x, with matrices of 2×9 and 2×3.
var snavelyBlocks = sync.Pool{New: func() any {
	b := newBlock(2, 2, 9, 3)
	k := ba.Snavely[float64]{
		R: rev.ViewSlice(b.residuals), Features: rowOf(b.inputs[0]), Cameras: rowOf(b.inputs[1]), Points: rowOf(b.inputs[2]),
		Camera: []int{0}, Point: []int{0}, Workers: 1,
	}
	b.forward = func() error { return rev.Forward(k) }
	b.gradient = func() error { return k.Jacobian(b.jacobian) }
	return b
}}

// weightedBlocks compute the three residuals w·(π(c, X) - x) and 1 - w², with matrices of
// 3×11, 3×3 and 3×1.
var weightedBlocks = sync.Pool{New: func() any {
	b := newBlock(3, 2, 11, 3, 1)
	k := ba.Weighted[float64]{
		R: rev.ViewSlice(b.residuals[:2]), Z: rev.ViewSlice(b.residuals[2:]), Features: rowOf(b.inputs[0]), Cameras: rowOf(b.inputs[1]),
		Points: rowOf(b.inputs[2]), Weights: rev.ViewSlice(b.inputs[3]), Camera: []int{0}, Point: []int{0}, Workers: 1,
	}
	b.forward = func() error { return rev.Forward(k) }
	rows := b.jacobian
	rows.Rows = 2
	byWeight := rev.ViewSlice(b.jacobian.Row(2)[14:]) // the other elements of the row of 1 - w² are 0
	b.gradient = func() error { return k.Jacobian(rows, byWeight) }
	return b
}}
