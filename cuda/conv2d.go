package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"revnum/rev"
	"revnum/revnn"
)

// Conv2D is the kernel of revnn.Conv2D over real numbers,
//
//	Y_f(i, j) += b_f + Σ_c Σ_u Σ_v W_fc(u, v)·X_c(i·s+u·d-p, j·s'+v·d'-p')
//
// of each row of X, with the same fields and the same layout, NCHW. With C(X) the matrix whose column
// (i, j) is what the filters meet at that place, the value is Y += W·C(X) + b·1ᵀ for each input. With Cᵀ
// the transpose of this linear map, the derivatives are
//
//	X̄ += Cᵀ(Wᵀ·Ȳ),  W̄ += Ȳ·C(X)ᵀ,  b̄ += Ȳ·1,  Ẏ += W·C(Ẋ) + Ẇ·C(X) + ḃ·1ᵀ
//
// and, of second order, with ĠY the tangent of Ȳ,
//
//	ĠX += Cᵀ(Wᵀ·ĠY + Ẇᵀ·Ȳ),  ĠW += ĠY·C(X)ᵀ + Ȳ·C(Ẋ)ᵀ,  ġb += ĠY·1
//
// where the gradients of W and b are sums over inputs. A nil B stands for zeros.
//
// The products are over all inputs at once. C(X) is not formed: its elements are found in X. The gradient by X
// takes the elements of X by the remainders of their rows and columns by s and s', since those with the
// same remainders meet the same weights. Groups of few channels and filters leave most of a tile empty.
//
// In floating point an element of the value is within (k+1)·ε·(Σ|w·x| + |b|), where k =
// Channels/Groups·KernelHeight·KernelWidth, and the gradients have such bounds for the sums above. In fixed
// point all has the bits of the host. All passes panic for sizes for which those of revnn.Conv2D do.
type Conv2D[T rev.Real] struct {
	Y General[T] `rev:"acc" shape:"n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1)"`
	X General[T] `rev:"in" shape:"n,Channels*Height*Width"`
	W General[T] `rev:"in" shape:"f,Channels/max(1,Groups)*KernelHeight*KernelWidth"`
	B Vector[T]  `rev:"in,optional" shape:"f"`

	Channels, Height, Width   int // of an input
	KernelHeight, KernelWidth int
	StrideHeight, StrideWidth int
	PadHeight, PadWidth       int // on each side

	DilationHeight, DilationWidth int // from an element of a filter to the next; 0 means 1
	Groups                        int // of channels and of filters; 0 means 1
}

// Run implements rev.Kernel. It returns the errors of the device, and one if a padded plane has 2³¹ elements or more.
func (k Conv2D[T]) Run(p rev.Pass[Conv2D[T]]) error {
	k.check()
	if k.X.Rows == 0 || k.W.Rows == 0 {
		return nil
	}
	w := begin(&k, &p)
	height, width := k.Height+2*k.PadHeight, k.Width+2*k.PadWidth
	if height > math.MaxInt32/width {
		w.fail(fmt.Errorf("cuda: %T: a padded plane of %d×%d elements, want fewer than 2^31", k, height, width))
		return w.end()
	}
	k.StrideHeight, k.StrideWidth = min(k.StrideHeight, height), min(k.StrideWidth, width) // of longer ones there is one place, too
	c := k.convolution(&w)
	g, t, gt := &p.G, &p.T, &p.GT
	if g.W.Data != nil || gt.W.Data != nil {
		c.sums()
	}
	c.add(k.Y, p.Sign(), k.W, k.X, k.B)
	c.add(t.Y, p.Sign(), k.W, t.X, t.B)
	c.add(t.Y, p.Sign(), t.W, k.X, Vector[T]{})
	c.addToX(g.X, k.W, g.Y)
	c.addToX(gt.X, k.W, gt.Y)
	c.addToX(gt.X, t.W, g.Y)
	c.addToW(g.W, g.Y, k.X)
	c.addToW(gt.W, gt.Y, k.X)
	c.addToW(gt.W, g.Y, t.X)
	c.addToB(g.B, g.Y)
	c.addToB(gt.B, gt.Y)
	return w.end()
}

// check panics as a pass of revnn.Conv2D does, one without inputs.
func (k *Conv2D[T]) check() {
	of := revnn.Conv2D[T]{
		Channels: k.Channels, Height: k.Height, Width: k.Width, KernelHeight: k.KernelHeight, KernelWidth: k.KernelWidth,
		StrideHeight: k.StrideHeight, StrideWidth: k.StrideWidth, PadHeight: k.PadHeight, PadWidth: k.PadWidth,
		DilationHeight: k.DilationHeight, DilationWidth: k.DilationWidth, Groups: k.Groups,
	}
	of.X.Cols, of.W.Rows, of.W.Cols = k.X.Cols, k.W.Rows, k.W.Cols
	if err := of.Run(rev.Pass[revnn.Conv2D[T]]{}); err != nil {
		panic(err) // it returns none
	}
}

// A convolution is a pass of Conv2D at work.
type convolution[T rev.Real] struct {
	*pass
	shape               [16]uint64 // as in kernels/conv.cu
	inputs, groups      int
	channels, filters   int // of a group
	area, phase, phases int // elements of a filter, and of the largest phase of a plane, and how many phases there are
	places, part        int // in all and in a part
}

// Parts of the places are those of revnn/conv2d.go, whose sums are rounded in fixed point.
const (
	patchElements = 1 << 15
	leastPart     = 128
)

func (k *Conv2D[T]) convolution(w *pass) convolution[T] {
	groups, dh, dw := max(1, k.Groups), max(1, k.DilationHeight), max(1, k.DilationWidth)
	rows := (k.Height+2*k.PadHeight-dh*(k.KernelHeight-1)-1)/k.StrideHeight + 1
	cols := (k.Width+2*k.PadWidth-dw*(k.KernelWidth-1)-1)/k.StrideWidth + 1
	c := convolution[T]{
		pass: w, inputs: k.X.Rows, groups: groups, channels: k.Channels / groups, filters: k.W.Rows / groups,
		area: k.KernelHeight * k.KernelWidth, places: rows * cols,
		phase: across(k.Height, k.StrideHeight) * across(k.Width, k.StrideWidth), phases: k.StrideHeight * k.StrideWidth,
	}
	c.part = min(c.places, max(leastPart, patchElements/max(1, c.channels*c.area)))
	for i, v := range [...]int{c.inputs, groups, c.channels, c.filters, k.Height, k.Width, k.KernelHeight, k.KernelWidth, k.StrideHeight, k.StrideWidth, k.PadHeight, k.PadWidth, dh, dw, rows, cols} {
		c.shape[i] = uint64(v)
	}
	return c
}

// product launches a kernel with tiles of so many products of m×n side by side for each group, or for each of its
// sums. It does nothing if they are empty.
func (c *convolution[T]) product(name string, m, n, beside, sums int, params ...uint64) {
	if m == 0 || n == 0 {
		return
	}
	name, side := c.tile(name, m, n)
	g := grid{[3]int{beside * across(n, side), min(across(m, side), bounds.rows), min(c.groups*sums, bounds.rows)}, [3]int{16, 16, 1}}
	c.launch(typed[T](name), g, append(params, c.shape[:]...)...)
}

// tile returns the name of the kernel for a product of m×n, and the side of its tiles.
func (c *convolution[T]) tile(name string, m, n int) (string, int) {
	switch {
	case min(m, n) < fixedTile:
		return name, smallTile
	case isFixed[T]():
		return name + "Large", fixedTile
	}
	return name + "Large", largeTile
}

// add computes Y += sign·(W·C(X) + b·1ᵀ). What is nil counts as zeros.
func (c *convolution[T]) add(y General[T], sign int, w, x General[T], b Vector[T]) {
	if w.Data == nil || x.Data == nil {
		w, x = General[T]{}, General[T]{}
	}
	if y.Data == nil || x.Data == nil && b.Data == nil {
		return
	}
	bd, bi := b.params()
	c.product("convolve", c.filters, c.inputs*c.places, 1, 1, append(rowParams(y, w, x), bd, bi, uint64(sign))...)
}

// addToX computes X̄ += Cᵀ(Wᵀ·Ȳ), unless one of them is nil.
func (c *convolution[T]) addToX(gx, w, gy General[T]) {
	if gx.Data != nil && w.Data != nil && gy.Data != nil {
		c.product("convolveBack", c.channels, c.inputs*c.phase, c.phases, 1, rowParams(gx, w, gy)...)
	}
}

// sums returns how many sums over parts of the places an element of W̄ consists of, so that blocks for them
// keep a card busy, over how many parts each, and where they are in scratch memory if there are several.
func (c *convolution[T]) sums() (count, each int, at uintptr) {
	parts, cols := c.inputs*across(c.places, c.part), c.channels*c.area
	if c.filters == 0 || cols == 0 {
		return 1, parts, 0
	}
	_, side := c.tile("", c.filters, cols)
	each = across(parts, max(1, enoughBlocks/(c.groups*across(c.filters, side)*across(cols, side))))
	if count = across(parts, each); count > 1 {
		at = c.room(2, count*c.groups*c.filters*cols*int(unsafe.Sizeof(*new(T))))
	}
	return count, each, at
}

// addToW computes W̄ += Σ Ȳ·C(X)ᵀ over the inputs, unless one of them is nil.
func (c *convolution[T]) addToW(gw, gy, x General[T]) {
	if gw.Data == nil || gy.Data == nil || x.Data == nil {
		return
	}
	count, each, at := c.sums()
	to, rows, cols := gw, c.groups*c.filters, c.channels*c.area
	if count > 1 {
		to = General[T]{rows, cols, memoryAt[T](at, count*rows*cols), cols}
		zero(c.pass, to.Data)
	}
	params := append(rowParams(to), uint64(rows*cols))
	c.product("convolveFilters", c.filters, cols, 1, count, append(append(params, rowParams(gy, x)...), uint64(c.part), uint64(each))...)
	if count > 1 {
		c.launch(typed[T]("addPartialProducts"), vectorGrid(rows*cols), uint64(gw.Data.address()), uint64(gw.Stride), 1, uint64(rows), uint64(cols), uint64(at), uint64(count), 1)
	}
}

// addToB computes b̄ += Ȳ·1 over the inputs, unless one of them is nil.
func (c *convolution[T]) addToB(gb Vector[T], gy General[T]) {
	if gb.Data == nil || gy.Data == nil {
		return
	}
	data, inc := gb.params()
	g := grid{[3]int{min(gb.N, bounds.blocks), 1, 1}, vectorGrid(c.places).threads}
	c.launch(typed[T]("addPlanes"), g, append(append([]uint64{data, inc}, rowParams(gy)...), uint64(c.inputs), uint64(gb.N), uint64(c.places))...)
}
