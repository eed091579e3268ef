package cuda

import (
	"unsafe"

	"revnum/rev"
)

// typed returns the name of a kernel for the number type T.
func typed[T rev.Real](kernel string) string {
	switch any(*new(T)).(type) {
	case float64:
		return kernel + "F64"
	case float32:
		return kernel + "F32"
	}
	return kernel + "Q43"
}

// A block over a vector has up to maxThreads threads, in whole warps, and there are up to
// maxBlocks blocks.
const (
	warp       = 32
	maxThreads = 256 // as in kernels/number.h
	maxBlocks  = 1024
)

// bounds are the most threads of a block, blocks over a vector, blocks that share out rows in the second and third
// dimension of a grid, and in the first, and the entries of a sparse row that one of its threads has, and those of a
// piece of a row that has more. Tests lower them, so that small operands take the paths of large ones.
var bounds = struct{ threads, blocks, rows, rowBlocks, turns, piece int }{maxThreads, maxBlocks, maxBlocksY, 1 << 20, 32, 256}

// vectorGrid returns the grid for n elements. It depends on n alone, and so do the bits
// of sums.
func vectorGrid(n int) grid {
	threads := max(warp, min((n+warp-1)/warp*warp, bounds.threads))
	return grid{blocks: [3]int{max(1, min((n+threads-1)/threads, bounds.blocks)), 1, 1}, threads: [3]int{threads, 1, 1}}
}

// mapGrid returns the grid for n elements that do not depend on each other. It has more blocks, so that
// they end at about the same time, however many are resident.
func mapGrid(n int) grid {
	g := vectorGrid(n)
	g.blocks[0] = max(1, min((n+g.threads[0]-1)/g.threads[0], 16*bounds.blocks))
	return g
}

func pointer[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

func (v Vector[T]) params() (data, inc uint64) { return uint64(v.Data.address()), uint64(v.Inc) }

// addScaled computes y += sign·α·x, unless x or y is nil. A nil alpha stands for 1.
func addScaled[T rev.Real](w *pass, y Vector[T], sign int, alpha *T, x Vector[T]) {
	addTwoScaled(w, y, sign, alpha, x, nil, Vector[T]{})
}

// addTwoScaled computes y += sign·α·x, unless x or y is nil, and then y += sign·β·z, unless β, z or y
// is nil.
func addTwoScaled[T rev.Real](w *pass, y Vector[T], sign int, alpha *T, x Vector[T], beta *T, z Vector[T]) {
	if beta == nil || z.Data == nil {
		beta, z = nil, Vector[T]{}
	}
	if x.Data == nil {
		alpha, x, beta, z = beta, z, nil, Vector[T]{}
	}
	if y.Data == nil || x.Data == nil || x.N == 0 {
		return
	}
	yd, yi := y.params()
	xd, xi := x.params()
	zd, zi := z.params()
	w.launch(typed[T]("addScaled"), mapGrid(x.N), yd, yi, uint64(x.N), uint64(sign), pointer(alpha), xd, xi, pointer(beta), zd, zi)
}

// addConstant computes y_i += sign·α, unless one of them is nil.
func addConstant[T rev.Real](w *pass, y Vector[T], sign int, alpha *T) {
	if y.Data == nil || alpha == nil || y.N == 0 {
		return
	}
	yd, yi := y.params()
	w.launch(typed[T]("addConstant"), mapGrid(y.N), yd, yi, uint64(y.N), pointer(alpha), uint64(sign))
}

// parts returns scratch memory for the parts of a reduction.
func (w *pass) parts() uint64 { return uint64(w.room(0, partBytes)) }

// number returns the address of number i in scratch memory. Reductions leave it alone.
func (w *pass) number(i int) uint64 { return w.parts() + numbersAt + uint64(16*i) }

// oneBlock returns the grid that adds up the parts of the blocks of g.
func oneBlock(g grid) grid { return blockOf(g.blocks[0]) }

// blockOf returns a grid of one block for n elements.
func blockOf(n int) grid { return vectorGrid(min(n, bounds.threads)) }

// addDot computes out += sign·Σ x_i·y_i, unless one of them is nil.
func addDot[T rev.Real](w *pass, out *T, sign int, x, y Vector[T]) {
	if y.Data != nil {
		addSums(w, out, sign, x, y)
	}
}

// addSum computes out += sign·Σ x_i, unless one of them is nil.
func addSum[T rev.Real](w *pass, out *T, sign int, x Vector[T]) {
	addSums(w, out, sign, x, Vector[T]{})
}

func addSums[T rev.Real](w *pass, out *T, sign int, x, y Vector[T]) {
	if out == nil || x.Data == nil || x.N == 0 {
		return
	}
	g := vectorGrid(x.N)
	part := w.parts()
	xd, xi := x.params()
	yd, yi := y.params()
	w.launch(typed[T]("dotParts"), g, part, xd, xi, yd, yi, uint64(x.N))
	w.launch(typed[T]("dotEnd"), oneBlock(g), pointer(out), part, uint64(g.blocks[0]), uint64(sign))
}

// isFixed reports whether T is fixed.Q43.
func isFixed[T rev.Real]() bool { return T(1)/2 == 0 }

// bit returns 1 for true, as a parameter of a kernel.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
