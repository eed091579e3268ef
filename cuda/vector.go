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

// vectorGrid returns the grid for n elements. It depends on n alone, and so do the bits
// of sums.
func vectorGrid(n int) grid {
	threads := max(warp, min((n+warp-1)/warp*warp, maxThreads))
	return grid{blocks: [3]int{max(1, min((n+threads-1)/threads, maxBlocks)), 1, 1}, threads: [3]int{threads, 1, 1}}
}

func pointer[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

func (v Vector[T]) params() (data, inc uint64) { return uint64(v.Data.address()), uint64(v.Inc) }

// addScaled computes y += sign·α·x, unless x or y is nil. A nil alpha stands for 1.
func addScaled[T rev.Real](y Vector[T], sign int, alpha *T, x Vector[T]) error {
	if y.Data == nil || x.Data == nil || x.N == 0 {
		return nil
	}
	d, err := deviceOf(y.Data.address())
	if err != nil {
		return err
	}
	yd, yi := y.params()
	xd, xi := x.params()
	return d.launch(typed[T]("addScaled"), vectorGrid(x.N), yd, yi, xd, xi, uint64(x.N), pointer(alpha), uint64(sign))
}

// addConstant computes y_i += sign·α, unless one of them is nil.
func addConstant[T rev.Real](y Vector[T], sign int, alpha *T) error {
	if y.Data == nil || alpha == nil || y.N == 0 {
		return nil
	}
	d, err := deviceOf(y.Data.address())
	if err != nil {
		return err
	}
	yd, yi := y.params()
	return d.launch(typed[T]("addConstant"), vectorGrid(y.N), yd, yi, uint64(y.N), pointer(alpha), uint64(sign))
}

// addDot computes out += sign·Σ x_i·y_i, unless one of them is nil.
func addDot[T rev.Real](out *T, sign int, x, y Vector[T]) error {
	if y.Data == nil {
		return nil
	}
	return addSums(out, sign, x, y)
}

// addSum computes out += sign·Σ x_i, unless one of them is nil.
func addSum[T rev.Real](out *T, sign int, x Vector[T]) error {
	return addSums(out, sign, x, Vector[T]{})
}

func addSums[T rev.Real](out *T, sign int, x, y Vector[T]) error {
	if out == nil || x.Data == nil || x.N == 0 {
		return nil
	}
	d, err := deviceOf(x.Data.address())
	if err != nil {
		return err
	}
	g := vectorGrid(x.N)
	part, err := d.room(0, maxBlocks*16)
	if err != nil {
		return err
	}
	xd, xi := x.params()
	yd, yi := y.params()
	if err := d.launch(typed[T]("dotParts"), g, uint64(part), xd, xi, yd, yi, uint64(x.N)); err != nil {
		return err
	}
	end := vectorGrid(min(g.blocks[0], maxThreads)) // one block
	return d.launch(typed[T]("dotEnd"), end, pointer(out), uint64(part), uint64(g.blocks[0]), uint64(sign))
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
