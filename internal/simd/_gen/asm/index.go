package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An IndexType is a type of indices: int or int32.
type IndexType string

// Indices are all types of indices.
var Indices = []IndexType{"int", "int32"}

// Bytes returns the size of an index.
func (x IndexType) Bytes() int {
	if x == "int32" {
		return 4
	}
	return 8
}

// Suffix returns I64 or I32.
func (x IndexType) Suffix() string {
	if x == "int32" {
		return "I32"
	}
	return "I64"
}

// LoadIndex loads the index at m.
func (x IndexType) LoadIndex(m Mem, to GPVirtual) {
	if x == "int32" {
		MOVLQSX(m, to)
	} else {
		MOVQ(m, to)
	}
}
