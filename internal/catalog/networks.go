package catalog

import (
	"math/rand/v2"

	"revnum/rev"
	"revnum/revnn"
)

func affineBatch[T rev.Real](rnd *rand.Rand, r, c int) revnn.AffineBatch[T] {
	return revnn.AffineBatch[T]{Y: matrix[T](rnd, r, 3), X: matrix[T](rnd, r, c), W: matrix[T](rnd, c, 3), B: vector[T](rnd, 3)}
}

// conv2D returns a convolution of r images with c filters.
func conv2D[T rev.Real](rnd *rand.Rand, r, c int) revnn.Conv2D[T] {
	return revnn.Conv2D[T]{
		Y: matrix[T](rnd, r, c*2*3), X: matrix[T](rnd, r, 2*3*4), W: matrix[T](rnd, c, 2*3*2), B: vector[T](rnd, c),
		Channels: 2, Height: 3, Width: 4, KernelHeight: 3, KernelWidth: 2,
		StrideHeight: 2, StrideWidth: 1, PadHeight: 1, PadWidth: 0,
	}
}

// maxPool returns a pool of r images with c channels.
func maxPool[T rev.Real](rnd *rand.Rand, r, c int) revnn.MaxPool[T] {
	return revnn.MaxPool[T]{
		Y: matrix[T](rnd, r, c*2*3), X: matrix[T](rnd, r, c*5*4), Channels: c, Height: 5, Width: 4,
		WindowHeight: 3, WindowWidth: 2, StrideHeight: 2, StrideWidth: 1,
	}
}

func meanPool[T rev.Real](rnd *rand.Rand, r, c int) revnn.MeanPool[T] {
	return revnn.MeanPool[T]{
		Y: matrix[T](rnd, r, c*2*3), X: matrix[T](rnd, r, c*5*4), Channels: c, Height: 5, Width: 4,
		WindowHeight: 3, WindowWidth: 2, StrideHeight: 2, StrideWidth: 1,
	}
}

func gather[T rev.Number](rnd *rand.Rand, r, c int) revnn.Gather[T] {
	index := make([]int, 2*r)
	for i := range index {
		index[i] = i % r
	}
	return revnn.Gather[T]{Y: matrix[T](rnd, 2*r, c), X: matrix[T](rnd, r, c), Index: index}
}

func relu[T rev.Real](rnd *rand.Rand, r, _ int) revnn.ReLU[T] {
	return revnn.ReLU[T](exp[T](rnd, r, 0))
}

func leakyReLU[T rev.Real](rnd *rand.Rand, r, _ int) revnn.LeakyReLU[T] {
	return revnn.LeakyReLU[T]{Y: vector[T](rnd, r), X: vector[T](rnd, r), Slope: 0.01}
}

func sigmoid[T rev.Real](rnd *rand.Rand, r, _ int) revnn.Sigmoid[T] {
	return revnn.Sigmoid[T](exp[T](rnd, r, 0))
}

func tanh[T rev.Real](rnd *rand.Rand, r, _ int) revnn.Tanh[T] {
	return revnn.Tanh[T](exp[T](rnd, r, 0))
}

func softplus[T rev.Real](rnd *rand.Rand, r, _ int) revnn.Softplus[T] {
	return revnn.Softplus[T](exp[T](rnd, r, 0))
}

func gelu[T rev.Real](rnd *rand.Rand, r, _ int) revnn.GELU[T] {
	return revnn.GELU[T](exp[T](rnd, r, 0))
}

func silu[T rev.Real](rnd *rand.Rand, r, _ int) revnn.SiLU[T] {
	return revnn.SiLU[T](exp[T](rnd, r, 0))
}

func softmax[T rev.Real](rnd *rand.Rand, r, _ int) revnn.Softmax[T] {
	return revnn.Softmax[T]{Y: vector[T](rnd, r), X: vector[T](rnd, r)}
}

func softmaxRows[T rev.Real](rnd *rand.Rand, r, c int) revnn.SoftmaxRows[T] {
	return revnn.SoftmaxRows[T]{Y: matrix[T](rnd, r, c), X: matrix[T](rnd, r, c)}
}

func logSumExp[T rev.Real](rnd *rand.Rand, r, _ int) revnn.LogSumExp[T] {
	return revnn.LogSumExp[T]{Out: scalar[T](rnd), X: vector[T](rnd, r)}
}

func logSumExpRows[T rev.Real](rnd *rand.Rand, r, c int) revnn.LogSumExpRows[T] {
	return revnn.LogSumExpRows[T]{Y: vector[T](rnd, r), X: matrix[T](rnd, r, c)}
}

func crossEntropy[T rev.Real](rnd *rand.Rand, r, c int) revnn.CrossEntropy[T] {
	return revnn.CrossEntropy[T]{Out: scalar[T](rnd), X: matrix[T](rnd, r, c), P: rev.NewGeneral(r, c, positives[T](rnd, r*c).Data)}
}
