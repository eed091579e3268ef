package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// MeanPool is the kernel
//
//	Y_c(i, j) += Σ_u Σ_v X_c(i·s+u-p, j·s'+v-p')/m,  m = WindowHeight·WindowWidth
//
// of each row of X and each channel c, for u < WindowHeight and v < WindowWidth. Elements
// outside X are 0, and m counts them too. Layout, sizes, and what makes passes panic are
// those of MaxPool. The derivatives are, where ĠY is the tangent of Ȳ,
//
//	X̄_c(i·s+u-p, j·s'+v-p') += Ȳ_c(i, j)/m,  Ẏ_c(i, j) += Σ_u Σ_v Ẋ_c(i·s+u-p, j·s'+v-p')/m,
//	ĠX_c(i·s+u-p, j·s'+v-p') += ĠY_c(i, j)/m.
//
// In floating point a mean is within (m+2)·ε·Σ|x|/m. In fixed point the sum is exact and
// wraps at ±2²⁰, and the quotient is rounded once. Inverse restores Y but for the rounding
// of sums. Workers share the planes.
type MeanPool[T rev.Real] struct {
	Y rev.General[T] `rev:"acc" shape:"n,Channels*((Height+2*PadHeight-WindowHeight)/StrideHeight+1)*((Width+2*PadWidth-WindowWidth)/StrideWidth+1)"`
	X rev.General[T] `rev:"in" shape:"n,Channels*Height*Width"`

	Channels, Height, Width   int // of an input
	WindowHeight, WindowWidth int
	StrideHeight, StrideWidth int
	PadHeight, PadWidth       int // on each side
	Workers                   int // 0 means GOMAXPROCS
}

// NewMeanPool returns the kernel that adds to y, over gonum matrices, sharing their
// storage. Set the sizes in the kernel that it returns. Kernels of derivatives need none.
func NewMeanPool(y, x *mat.Dense) MeanPool[float64] {
	return MeanPool[float64]{Y: rev.ViewDense(y), X: rev.ViewDense(x)}
}

// meanPoolRun is Run of MeanPool. It returns no error.
func meanPoolRun[T rev.Real](k *MeanPool[T], p *rev.Pass[MeanPool[T]]) error {
	runPool[MeanPool[T]](poolPass[T]{
		k: MaxPool[T](*k), g: MaxPool[T](p.G), t: MaxPool[T](p.T), gt: MaxPool[T](p.GT), sign: p.Sign(), mean: true,
	})
	return nil
}

// addMeans adds the means of x, with the sign of the pass, unless y or x is nil.
func (w *poolPass[T]) addMeans(y, x []T) {
	for p := 0; p < len(y) && x != nil; p++ {
		var s T
		for u, hi := w.rows.within(p / w.cols.places); u < hi; u++ {
			s += vector.Sum(rev.ViewSlice(w.windowRow(x, p, u)))
		}
		y[p] += number.Signed(w.sign, number.Over(s, w.rows.size*w.cols.size))
	}
}

// spread adds the share of each element of y to its window, unless x or y is nil.
func (w *poolPass[T]) spread(x, y []T) {
	for p := 0; p < len(y) && x != nil; p++ {
		share := number.Over(y[p], w.rows.size*w.cols.size)
		for u, hi := w.rows.within(p / w.cols.places); u < hi; u++ {
			vector.AddConstant(share, rev.ViewSlice(w.windowRow(x, p, u)))
		}
	}
}

// windowRow returns the elements of x in row u of the window at place p.
func (w *poolPass[T]) windowRow(x []T, p, u int) []T {
	i, j := p/w.cols.places, p%w.cols.places
	lo, hi := w.cols.within(j)
	return x[w.rows.at(i, u)*w.cols.n+w.cols.at(j, lo):][:hi-lo]
}
