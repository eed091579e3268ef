package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A Walk addresses rows that lie a stride apart: row i is at a power of two
// times an odd multiple of the stride, and the odd multiples are registers.
type Walk struct{ odd [12]GPVirtual }

// NewWalk returns a Walk over the given number of rows, at most 13; the stride is
// in bytes.
func NewWalk(stride GPVirtual, rows int) (w Walk) {
	w.odd[1] = stride
	for i := 3; i < rows; i += 2 {
		top := 2
		for 2*top < i {
			top *= 2
		}
		w.odd[i] = GP64()
		LEAQ(Mem{Base: w.odd[i-top], Index: stride, Scale: uint8(top)}, w.odd[i])
	}
	return w
}

// Row returns the address of row i.
func (w Walk) Row(base Register, i int) Mem {
	m := Mem{Base: base}
	if i > 0 {
		pow := i & -i
		m.Index, m.Scale = w.odd[i/pow], uint8(pow)
	}
	return m
}

// Advance adds n = 1, 2, 4 or 8 strides to base.
func (w Walk) Advance(base GPVirtual, n int) {
	LEAQ(Mem{Base: base, Index: w.odd[1], Scale: uint8(n)}, base)
}

// Skip adds n < 16 strides to base.
func (w Walk) Skip(base GPVirtual, n int) {
	for bit := 1; bit <= n; bit *= 2 {
		if n&bit != 0 {
			w.Advance(base, bit)
		}
	}
}
