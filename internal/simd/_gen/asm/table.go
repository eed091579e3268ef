package asm

import (
	"math"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// A Table holds constants of 64 bytes.
type Table struct {
	Name string
	rows [][]Constant
}

// Entry returns where the constants are, repeated to fill 64 bytes.
func (t *Table) Entry(c ...Constant) Mem {
	row := c
	for len(row)*c[0].Bytes() < 64 {
		row = append(row[:len(row):len(row)], c...)
	}
	i := slices.IndexFunc(t.rows, func(r []Constant) bool { return slices.Equal(r, row) })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, row)
	}
	return NewDataAddr(NewStaticSymbol(t.Name), 64*i)
}

// Float returns where x is in all lanes.
func (t *Table) Float(g ISA, x float64) Mem {
	if g.Double() {
		return t.Entry(U64(math.Float64bits(x)))
	}
	return t.Entry(U32(math.Float32bits(float32(x))))
}

// Emit emits the table.
func (t *Table) Emit() {
	GLOBL(t.Name, attr.RODATA|attr.NOPTR)
	off := 0
	for _, row := range t.rows {
		for _, c := range row {
			DATA(off, c)
			off += c.Bytes()
		}
	}
}
