//go:build !amd64 || noasm

package block9

func subProducts9(blocks []float64, which []int32, a, b []float64) {
	genericSubProducts9(blocks, which, a, b)
}

func addNormal9(block, g, j, r []float64, which []int) { genericAddNormal9(block, g, j, r, which) }
