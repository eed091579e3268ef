package revnn

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// MaxPool is the kernel
//
//	Y_c(i, j) += max_{u, v} X_c(i·s+u-p, j·s'+v-p')
//
// of each row of X and each channel c, for u < WindowHeight and v < WindowWidth.
// Elements outside X do not count. Strides s and s' and the padding p and p' are
// fields. The layout is NCHW, as in Conv2D: a row of X has Channels planes of
// Height rows of Width elements. A row of Y has as many planes, of (Height +
// 2·PadHeight - WindowHeight)/StrideHeight + 1 rows, rounded down, and as many columns
// by the same formula. Rows and columns of X that no window reaches have no effect. For
// signals in one dimension set Height, WindowHeight and StrideHeight to 1.
//
// A window has the derivatives of its largest element. Where x_m is the largest of the window
// of y_p, and ġy is the tangent of ȳ, they are
//
//	x̄_m += ȳ_p,  ẏ_p += ẋ_m,  ġx_m += ġy_p.
//
// Of equal elements m is the first, by rows. A NaN is larger than all numbers, and of
// several the first is taken.
//
// The maximum is exact, and Inverse restores Y but for the rounding of sums. Workers
// share the planes.
//
// All passes panic with an error that wraps mat.ErrShape if a size of the window or a
// stride is not positive, if padding is negative or not smaller than the window, if the
// window is larger than the padded plane, or if the plane has no elements.
type MaxPool[T rev.Real] struct {
	Y rev.General[T] `rev:"acc" shape:"n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1)"`
	X rev.General[T] `rev:"in" shape:"n,Channels*Height*Width"`

	Channels, Height, Width   int // of an input
	WindowHeight, WindowWidth int
	StrideHeight, StrideWidth int
	PadHeight, PadWidth       int // on each side
	Workers                   int // 0 means GOMAXPROCS
}

// NewMaxPool returns the kernel that adds to y, over gonum matrices, sharing their
// storage. Set the sizes in the kernel that it returns. Kernels of derivatives need none.
func NewMaxPool(y, x *mat.Dense) MaxPool[float64] {
	return MaxPool[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x)}
}

// maxPoolRun is Run of MaxPool. It returns no error.
func maxPoolRun[T rev.Real](k *MaxPool[T], p *rev.Pass[MaxPool[T]]) error {
	runPool[MaxPool[T]](poolPass[T]{k: *k, g: p.G, t: p.T, gt: p.GT, sign: p.Sign()})
	return nil
}

// A poolPass is a pass of MaxPool in progress, or one of MeanPool, which has the same operands.
type poolPass[T rev.Real] struct {
	k, g, t, gt MaxPool[T]
	sign        int
	mean        bool
	rows, cols  axis
	scratch32   []floatPool[float32] // of each worker
	scratch64   []floatPool[float64]
}

// runPool makes a pass of the kernel K.
func runPool[K any, T rev.Real](of poolPass[T]) {
	k := &of.k
	of.rows = poolAxis[K]("height", k.Height, k.WindowHeight, k.StrideHeight, k.PadHeight)
	of.cols = poolAxis[K]("width", k.Width, k.WindowWidth, k.StrideWidth, k.PadWidth)
	checkProduct[K]("X", k.X.Cols, k.Channels, k.Height, k.Width)
	w := workspace.Get[*poolPass[T]]()
	of.scratch32, of.scratch64 = w.scratch32, w.scratch64
	*w = of
	workers := parallel.Workers(k.Workers)
	switch {
	case number.IsFixed[T]():
	case unsafe.Sizeof(T(0)) == 4:
		w.scratch32 = workspace.Grow(w.scratch32, max(workers, len(w.scratch32)))
	default:
		w.scratch64 = workspace.Grow(w.scratch64, max(workers, len(w.scratch64)))
	}
	parallel.Run(workers, k.X.Rows*k.Channels, w)
	*w = poolPass[T]{scratch32: w.scratch32, scratch64: w.scratch64} // without the caller's storage
	workspace.Put(w)
}

// Block works on a plane.
func (w *poolPass[T]) Block(worker, b int) {
	switch {
	case number.IsFixed[T]():
		w.fixedBlock(b)
	case unsafe.Sizeof(T(0)) == 4:
		w.scratch32[worker].block(number.As[*poolPass[float32]](w), b)
	default:
		w.scratch64[worker].block(number.As[*poolPass[float64]](w), b)
	}
}

// fixedBlock is Block over fixed point.
func (w *poolPass[T]) fixedBlock(b int) {
	n, c := b/w.k.Channels, b%w.k.Channels
	in := func(m rev.General[T]) []T { return plane(m, n, c, w.rows.n*w.cols.n) }
	out := func(m rev.General[T]) []T { return plane(m, n, c, w.rows.places*w.cols.places) }
	x, gx, tx, gtx := in(w.k.X), in(w.g.X), in(w.t.X), in(w.gt.X)
	y, gy, ty, gty := out(w.k.Y), out(w.g.Y), out(w.t.Y), out(w.gt.Y)
	if w.mean {
		w.addMeans(y, x)
		w.addMeans(ty, tx)
		w.spread(gx, gy)
		w.spread(gtx, gty)
		return
	}
	for i := range w.rows.places {
		for j := range w.cols.places {
			p, m := i*w.cols.places+j, w.largest(x, i, j)
			if y != nil {
				y[p] += number.Signed(w.sign, x[m])
			}
			if ty != nil && tx != nil {
				ty[p] += number.Signed(w.sign, tx[m])
			}
			if gy != nil && gx != nil {
				gx[m] += gy[p]
			}
			if gty != nil && gtx != nil {
				gtx[m] += gty[p]
			}
		}
	}
}

// largest returns where in x the first of the largest elements at place (i, j) is.
func (w *poolPass[T]) largest(x []T, i, j int) int {
	top, bottom := w.rows.within(i)
	left, right := w.cols.within(j)
	m := w.rows.at(i, top)*w.cols.n + w.cols.at(j, left)
	for u := top; u < bottom; u++ {
		row := w.rows.at(i, u) * w.cols.n
		for v := left; v < right; v++ {
			at := row + w.cols.at(j, v)
			switch {
			case x[at] > x[m]:
				m = at
			case math.IsNaN(float64(x[at])):
				return at
			}
		}
	}
	return m
}
