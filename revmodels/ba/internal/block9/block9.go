// Package block9 holds vector loops over blocks of 9×9 elements. The normal equations
// of cameras in bundle adjustment consist of these. A block b is stored for vectors of
// eight:
//
//	B[i,j] = b[8i+j] for j < 8,  B[i,8] = b[72+i]
//
// and seven more elements at its end, which are ignored.
//
// The loops are reductions in the order of their lists. Their results differ between
// tiers (see package cpu) by rounding.
package block9

import "revnum/internal/simd/cpu"

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Len is the length of a block.
const Len = 88

// jacobianLen is the length of a Jacobian in AddNormal, and jacobianRow the length of a
// row of it.
const jacobianLen, jacobianRow = 24, 12

// most is the largest number of blocks or Jacobians for a call of assembly. In the worst
// case all of them come from memory.
const most = 256

const (
	shortBlocks = "block9: insufficient length of blocks"
	shortG      = "block9: insufficient length of g"
	shortA      = "block9: insufficient length of a"
	shortB      = "block9: insufficient length of b"
	shortJ      = "block9: insufficient length of j or r"
	badBlock    = "block9: block out of range"
	badJacobian = "block9: Jacobian out of range"
)

// SubProducts computes block which[k] -= Aᵀ·B_k for each k. A = a and B_k = b[27k:] are
// 3×9 matrices by rows. Block i begins at blocks[Len*i].
func SubProducts(blocks []float64, which []int32, a, b []float64) {
	n := int32(min(len(blocks)/Len, 1<<30))
	switch {
	case len(a) < 27:
		panic(shortA)
	case len(b)/27 < len(which):
		panic(shortB)
	}
	for _, k := range which {
		if uint32(k) >= uint32(n) {
			panic(badBlock)
		}
	}
	if tier == cpu.Generic {
		genericSubProducts(blocks, which, a, b)
		return
	}
	for k := 0; k < len(which); k += most {
		vectorSubProducts(&blocks[0], &which[k], min(most, len(which)-k), &a[0], &b[27*k])
	}
}

// AddNormal computes block += Σ_k FᵀF and g += Σ_k Fᵀr for k in which. F = j[24k:] is a
// Jacobian, and r = r[2k:2k+2] are its residuals. The two rows of F have nine elements each
// and begin 12 elements apart.
func AddNormal(block, g, j, r []float64, which []int) {
	switch {
	case len(block) < Len:
		panic(shortBlocks)
	case len(g) < 9:
		panic(shortG)
	}
	n := min(len(j)/jacobianLen, len(r)/2)
	for _, k := range which {
		if uint(k) >= uint(n) {
			panic(badJacobian)
		}
	}
	if tier == cpu.Generic {
		genericAddNormal(block, g, j, r, which)
		return
	}
	for k := 0; k < len(which); k += most {
		vectorAddNormal(&block[0], &g[0], &j[0], &r[0], &which[k], min(most, len(which)-k))
	}
}
