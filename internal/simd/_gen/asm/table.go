package asm

import (
	"math"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// constants are rows of 64 bytes.
var constants [][]Constant

// Entry returns where the constants are, repeated to fill 64 bytes.
func Entry(c ...Constant) Mem {
	row := c
	for len(row)*c[0].Bytes() < 64 {
		row = append(row[:len(row):len(row)], c...)
	}
	i := slices.IndexFunc(constants, func(r []Constant) bool { return slices.Equal(r, row) })
	if i < 0 {
		i = len(constants)
		constants = append(constants, row)
	}
	return NewDataAddr(NewStaticSymbol("constants"), 64*i)
}

// Bits returns where the bits x are in all lanes of 8 bytes.
func Bits(x uint64) Mem { return Entry(U64(x)) }

// Const returns where x is in all lanes.
func (g ISA) Const(x float64) Mem {
	if g.Double() {
		return Bits(math.Float64bits(x))
	}
	return Entry(U32(math.Float32bits(float32(x))))
}

func emitConstants() {
	for i, row := range constants {
		if i == 0 {
			GLOBL("constants", attr.RODATA|attr.NOPTR)
		}
		for j, c := range row {
			DATA(64*i+j*c.Bytes(), c)
		}
	}
}
