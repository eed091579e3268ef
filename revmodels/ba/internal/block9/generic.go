package block9

// The loops in pure Go. Without assembly they are all the loops. Elsewhere they test
// the assembly.

func genericSubProducts(blocks []float64, which []int32, a, b []float64) {
	for k, at := range which {
		block := blocks[Len*int(at):][:Len]
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

func genericAddNormal(block, g, j, r []float64, which []int) {
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
