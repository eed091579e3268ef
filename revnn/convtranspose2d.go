package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// ConvTranspose2D is the kernel
//
//	Y_c(i·s+u·d-p, j·s'+v·d'-p') += Σ_f Σ_i Σ_j Σ_u Σ_v W_fc(u, v)·X_f(i, j),  Y_c += b_c
//
// of each row of X: the transposed convolution of a network, which enlarges images. It is the transpose of
// the linear map from X to Y of [Conv2D]; what falls outside Y is left out. The sizes are those of that
// convolution: Channels, Height and Width are of Y, and X has a plane for each filter, of as many places
// as the filters have on a plane of Y. Several heights of Y may fit the places; you choose one, as PyTorch
// does by output_padding. A row of W is a filter, a channel of X, as in PyTorch.
//
// With C(Y) the matrix whose column (i, j) is what the filters meet at that place, and Cᵀ its transpose as a
// linear map, the value is Y += Cᵀ(Wᵀ·X) + b for each input, and the derivatives are
//
//	X̄ += W·C(Ȳ),  W̄ += X·C(Ȳ)ᵀ,  b̄_c += Σ_ij Ȳ_c(i, j),  Ẏ += Cᵀ(Wᵀ·Ẋ + Ẇᵀ·X) + ḃ
//
// and, of second order, with ĠY the tangent of Ȳ,
//
//	ĠX += W·C(ĠY) + Ẇ·C(Ȳ),  ĠW += X·C(ĠY)ᵀ + Ẋ·C(Ȳ)ᵀ,  ġb_c += Σ_ij ĠY_c(i, j)
//
// where the gradients of W and b are sums over inputs. A nil B stands for zeros.
//
// The loops and their bounds are those of Conv2D: the value is rounded as its gradient of X, and the gradient of X
// as its value. Over floats Inverse takes a copy of X with the other sign. The bits do not depend on the number of
// workers. Sizes panic as those of Conv2D do.
//
// Source: V. Dumoulin and F. Visin, A guide to convolution arithmetic for deep learning, arXiv 1603.07285, 2016.
type ConvTranspose2D[T rev.Real] struct {
	Y rev.General[T] `rev:"acc" shape:"n,Channels*Height*Width"`
	X rev.General[T] `rev:"in" shape:"n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1)"`
	W rev.General[T] `rev:"in" shape:"f,Channels/max(1,Groups)*KernelHeight*KernelWidth"`
	B rev.Vector[T]  `rev:"in,optional" shape:"Channels"`

	Channels, Height, Width   int // of an output
	KernelHeight, KernelWidth int
	StrideHeight, StrideWidth int
	PadHeight, PadWidth       int // left out on each side

	DilationHeight, DilationWidth int // from an element of a filter to the next; 0 means 1
	Groups                        int // of channels and of filters; 0 means 1
	Workers                       int // 0 means GOMAXPROCS
}

// NewConvTranspose2D returns the kernel that adds to y, over gonum's types, sharing their storage.
// The vector b may be nil. The strides are 1. Set the sizes in the kernel that it
// returns. Kernels of derivatives need none.
func NewConvTranspose2D(y, x, w *mat.Dense, b *mat.VecDense) ConvTranspose2D[float64] {
	return ConvTranspose2D[float64]{
		Y: rev.ViewDense(y), X: rev.ViewDense(x), W: rev.ViewDense(w), B: rev.ViewVec(b),
		StrideHeight: 1, StrideWidth: 1,
	}
}

// convTranspose2DConvolution returns the convolution of images y with filters w, which adds to x.
func convTranspose2DConvolution[T rev.Real](k *ConvTranspose2D[T], x, y, w rev.General[T]) Conv2D[T] {
	return Conv2D[T]{
		Y: x, X: y, W: w,
		Channels: k.Channels, Height: k.Height, Width: k.Width, KernelHeight: k.KernelHeight, KernelWidth: k.KernelWidth,
		StrideHeight: k.StrideHeight, StrideWidth: k.StrideWidth, PadHeight: k.PadHeight, PadWidth: k.PadWidth,
		DilationHeight: k.DilationHeight, DilationWidth: k.DilationWidth, Groups: k.Groups, Workers: k.Workers,
	}
}

// convTranspose2DRun is Run of ConvTranspose2D. It returns no error.
func convTranspose2DRun[T rev.Real](k *ConvTranspose2D[T], p *rev.Pass[ConvTranspose2D[T]]) error {
	all := convTranspose2DConvolution(k, k.X, k.Y, k.W)
	convAxes[ConvTranspose2D[T]](&all, "Y")
	g, t, gt := &p.G, &p.T, &p.GT
	w := workspace.Get[*convTranspose[T]]()
	defer workspace.Put(w)
	w.k = *k
	sign := p.Sign()
	if k.Y.Data != nil {
		w.add(sign, k.Y, k.W, k.X, k.B)
	}
	if t.Y.Data != nil {
		w.add(sign, t.Y, k.W, t.X, t.B)
		w.add(sign, t.Y, t.W, k.X, rev.Vector[T]{})
	}
	w.addGradients(g.X, g.W, k.X, g.Y, k.W)
	w.addGradients(gt.X, gt.W, k.X, gt.Y, k.W)
	w.addGradients(gt.X, gt.W, t.X, g.Y, t.W)
	for c := range k.Channels {
		addPlaneSums(g.B, g.Y, c, k.Height*k.Width)
		addPlaneSums(gt.B, gt.Y, c, k.Height*k.Width)
	}
	w.k = ConvTranspose2D[T]{} // without the caller's storage
	return nil
}

// A convTranspose is a pass of ConvTranspose2D in progress.
type convTranspose[T rev.Real] struct {
	k    ConvTranspose2D[T]
	data []T // of -X
}

// add computes Y += sign·(Cᵀ(Wᵀ·X) + b): the gradient of images of a convolution whose outputs have the
// cotangent X.
func (w *convTranspose[T]) add(sign int, y, weights, x rev.General[T], b rev.Vector[T]) {
	if weights.Data != nil && x.Data != nil {
		// In fixed point Y changes its sign before and after, because -2²⁰ in X has no negative. Over floats a
		// copy of X does, so that a 0 in Y stays one.
		turned := number.IsFixed[T]() && sign < 0
		switch {
		case turned:
			negate(y)
		case sign < 0:
			w.data = workspace.Grow(w.data, x.Rows*x.Cols)
			minus := rev.NewGeneral(x.Rows, x.Cols, w.data)
			for i := range x.Rows {
				for j, v := range x.Row(i) {
					minus.Row(i)[j] = -v
				}
			}
			x = minus
		}
		_ = convTranspose2DConvolution(&w.k, rev.General[T]{}, w.k.Y, weights).Run(rev.Pass[Conv2D[T]]{Adjoint: true, G: Conv2D[T]{Y: x, X: y}})
		if turned {
			negate(y)
		}
	}
	for n := 0; n < y.Rows && b.Data != nil; n++ {
		for c := range w.k.Channels {
			vector.AddConstant(number.Signed(sign, vector.Element(b, c)), rev.ViewSlice(plane(y, n, c, w.k.Height*w.k.Width)))
		}
	}
}

// negate changes the sign of all elements of x.
func negate[T rev.Real](x rev.General[T]) {
	for i := range x.Rows {
		row := x.Row(i)
		for j, v := range row {
			row[j] = -v
		}
	}
}

// addGradients computes X̄ += W·C(Ȳ) and W̄ += X·C(Ȳ)ᵀ.
func (w *convTranspose[T]) addGradients(gx, gw, x, gy, weights rev.General[T]) {
	if gy.Data == nil {
		return
	}
	if weights.Data == nil {
		gx, weights = rev.General[T]{}, w.k.W
	}
	if x.Data == nil {
		gw = rev.General[T]{}
	}
	if gx.Data != nil || gw.Data != nil {
		_ = convTranspose2DConvolution(&w.k, gx, gy, weights).Run(rev.Pass[Conv2D[T]]{Adjoint: true, G: Conv2D[T]{Y: x, W: gw}})
	}
}
