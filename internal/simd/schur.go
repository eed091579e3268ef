package simd

//go:generate go -C _gen run ./schur -out ../schur_amd64.s -stubs ../schur_amd64.go -pkg simd

// Blocks of 9×9 elements, of which bundle adjustment makes the normal equations
// of cameras. A block b is stored for vectors of eight:
//
//	B[i,j] = b[8i+j] for j < 8,  B[i,8] = b[72+i]
//
// and seven elements at its end, which are not looked at.

// BlockLen9 is the length of a block.
const BlockLen9 = 88

// jacobianLen is the length of a Jacobian in AddNormal9, and jacobianRow that of a
// row of it.
const jacobianLen, jacobianRow = 24, 12

const (
	shortBlocks = "simd: insufficient length of blocks"
	shortA      = "simd: insufficient length of a"
	shortB      = "simd: insufficient length of b"
	shortJ      = "simd: insufficient length of j or r"
	badBlock    = "simd: block out of range"
	badJacobian = "simd: Jacobian out of range"
)

// SubProducts9 computes, for each k, block which[k] -= Aᵀ·B_k, where A = a and B_k,
// from b[27k], are 3×9 by rows. Block i begins at blocks[BlockLen9*i].
func SubProducts9(blocks []float64, which []int32, a, b []float64) {
	n := int32(min(len(blocks)/BlockLen9, 1<<30))
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
	subProducts9(blocks, which, a, b)
}

// AddNormal9 computes block += Σ_k FᵀF and g += Σ_k Fᵀr for the Jacobians F = j[24k:],
// of which the two rows begin with nine elements and are 12 apart, and the
// residuals r = r[2k:2k+2], for k in which.
func AddNormal9(block, g, j, r []float64, which []int) {
	switch {
	case len(block) < BlockLen9:
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
	addNormal9(block, g, j, r, which)
}

func genericSubProducts9(blocks []float64, which []int32, a, b []float64) {
	for k, at := range which {
		block := blocks[BlockLen9*int(at):][:BlockLen9]
		m := b[27*k:][:27]
		for i := range 9 {
			x, y, z := a[i], a[9+i], a[18+i]
			for j := range 8 {
				block[8*i+j] -= float64(x*m[j]) + float64(y*m[9+j]) + float64(z*m[18+j])
			}
			block[72+i] -= float64(x*m[8]) + float64(y*m[17]) + float64(z*m[26])
		}
	}
}

func genericAddNormal9(block, g, j, r []float64, which []int) {
	for _, k := range which {
		f, e := j[jacobianLen*k:][:jacobianRow+9], r[2*k:][:2]
		for i := range 9 {
			x, y := f[i], f[jacobianRow+i]
			for l := range 8 {
				block[8*i+l] += float64(x*f[l]) + float64(y*f[jacobianRow+l])
			}
			block[72+i] += float64(x*f[8]) + float64(y*f[jacobianRow+8])
			g[i] += float64(x*e[0]) + float64(y*e[1])
		}
	}
}
