package revnn

import (
	"sync/atomic"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revlinalg"
)

// Conv2D is the kernel
//
//	Y_f(i, j) += b_f + Σ_c Σ_u Σ_v W_fc(u, v)·X_c(i·s+u·d-p, j·s'+v·d'-p')
//
// of each row of X: the convolution layer of a network, over a batch of n inputs. (It
// is a correlation, as the filters are not mirrored.) Elements outside X are 0. Strides s
// and s', the padding p and p', and the dilation d and d' are fields.
//
// Filters and channels may be in groups of equal size. The filters of a group meet only the
// channels of that group. With a channel a group the convolution is depthwise.
//
// The layout is NCHW, as in PyTorch. A row of X is an input: Channels planes one after
// the other, each of Height rows of Width elements. A row of W is a filter, of
// Channels/Groups planes of KernelHeight rows of KernelWidth elements. A row of Y has a
// plane for each filter, of (Height + 2·PadHeight - DilationHeight·(KernelHeight - 1) -
// 1)/StrideHeight + 1 rows, rounded down, and as many columns by the same formula. For
// signals in one dimension set Height, KernelHeight and StrideHeight to 1, and
// PadHeight to 0.
//
// With C(X) the matrix whose column (i, j) is what the filters meet at that place, the
// value is Y += W·C(X) + b·1ᵀ for each input. With Cᵀ the transpose of this linear map,
// the derivatives are
//
//	X̄ += Cᵀ(Wᵀ·Ȳ),  W̄ += Ȳ·C(X)ᵀ,  b̄ += Ȳ·1,  Ẏ += W·C(Ẋ) + Ẇ·C(X) + ḃ·1ᵀ
//
// and, of second order, with ĠY the tangent of Ȳ,
//
//	ĠX += Cᵀ(Wᵀ·ĠY + Ẇᵀ·Ȳ),  ĠW += ĠY·C(X)ᵀ + Ȳ·C(Ẋ)ᵀ,  ġb += ĠY·1
//
// where the gradients of W and b are sums over inputs. A nil B stands for zeros.
//
// In floating point an element of the value is within (k+1)·ε·(Σ|w·x| + |b|), where k =
// Channels/Groups·KernelHeight·KernelWidth, and the gradients have such bounds for the sums
// above. A copy of X with padding, of some places at a time, takes scratch memory of about
// half a megabyte a worker, or what a row of places needs if that is more. W is copied too.
//
// In fixed point C(X) is made for some places at a time. It takes at most 2¹⁵ elements of
// scratch memory a worker, or 128·k if that is more. A value is rounded once, and a gradient
// once for each such part; b is added after that.
//
// Workers share inputs, places, channels and filters. The bits do not depend on their number.
//
// All passes panic with an error that wraps mat.ErrShape if a size of the kernel or a
// stride is not positive, if padding is negative, if the kernel is larger than the padded
// plane, or if Groups does not divide the numbers of channels and filters.
type Conv2D[T rev.Real] struct {
	Y rev.General[T] `rev:"acc" shape:"n,f*((Height+2*PadHeight-max(1,DilationHeight)*(KernelHeight-1)-1)/StrideHeight+1)*((Width+2*PadWidth-max(1,DilationWidth)*(KernelWidth-1)-1)/StrideWidth+1)"`
	X rev.General[T] `rev:"in" shape:"n,Channels*Height*Width"`
	W rev.General[T] `rev:"in" shape:"f,Channels/max(1,Groups)*KernelHeight*KernelWidth"`
	B rev.Vector[T]  `rev:"in,optional" shape:"f"`

	Channels, Height, Width   int // of an input
	KernelHeight, KernelWidth int
	StrideHeight, StrideWidth int
	PadHeight, PadWidth       int // on each side

	DilationHeight, DilationWidth int // from an element of a filter to the next; 0 means 1
	Groups                        int // of channels and of filters; 0 means 1
	Workers                       int // 0 means GOMAXPROCS
}

// NewConv2D returns the kernel that adds to y, over gonum's types, sharing their storage.
// The vector b may be nil. The strides are 1. Set the sizes in the kernel that it
// returns. Kernels of derivatives need none.
func NewConv2D(y, x, w *mat.Dense, b *mat.VecDense) Conv2D[float64] {
	return Conv2D[float64]{
		Y: rev.ViewDense(y), X: rev.ViewDense(x), W: rev.ViewDense(w), B: rev.ViewVec(b),
		StrideHeight: 1, StrideWidth: 1,
	}
}

// conv2DRun is Run of Conv2D. It returns no error.
func conv2DRun[T rev.Real](k *Conv2D[T], p *rev.Pass[Conv2D[T]]) error {
	rows, cols, groups := convAxes[Conv2D[T]](k, "X")
	if k.X.Rows == 0 || k.W.Rows == 0 {
		return nil
	}
	switch { // floats have convdirect.go, and fixed point the rest of this file
	case number.IsFixed[T]():
	case unsafe.Sizeof(T(0)) == 4:
		runDirect(number.As[Conv2D[float32]](*k), number.As[rev.Pass[Conv2D[float32]]](*p), rows, cols, groups)
		return nil
	default:
		runDirect(number.As[Conv2D[float64]](*k), number.As[rev.Pass[Conv2D[float64]]](*p), rows, cols, groups)
		return nil
	}
	conv2DConvolve(k, *p, convolution[T]{rows: rows, cols: cols, groups: groups}, (*convolution[T]).run)
	return nil
}

// conv2DConvolve calls run for a pass with the axes and flags of w.
func conv2DConvolve[T rev.Real](k *Conv2D[T], p rev.Pass[Conv2D[T]], with convolution[T], run func(w *convolution[T])) {
	w := workspace.Get[*convolution[T]]()
	with.k, with.g, with.t, with.gt, with.sign, with.patches = *k, p.G, p.T, p.GT, p.Sign(), w.patches
	*w = with
	run(w)
	*w = convolution[T]{patches: w.patches} // without the caller's storage
	workspace.Put(w)
}

// conv2DRunChecked is RunChecked of Conv2D. It finds elements of Y. Workers share the values. After an overflow it computes the
// products up to six times.
func conv2DRunChecked[T rev.Real](k *Conv2D[T], back bool) error {
	p := rev.Pass[Conv2D[T]]{Back: back}
	rows, cols, groups := convAxes[Conv2D[T]](k, "X")
	if !number.IsFixed[T]() || k.Y.Data == nil || k.X.Rows == 0 || k.W.Rows == 0 {
		return conv2DRun(k, &p)
	}
	return vector.RunChecked(*k, back, func() bool {
		var overflow atomic.Bool
		conv2DConvolve(k, p, convolution[T]{rows: rows, cols: cols, groups: groups, overflow: &overflow}, (*convolution[T]).run)
		return !overflow.Load()
	}, func() (err *rev.OverflowError) {
		conv2DConvolve(k, p, convolution[T]{rows: rows, cols: cols, groups: groups}, func(w *convolution[T]) { err = w.firstOverflow() })
		return err
	})
}

// convAxes returns the axes of a convolution and its number of groups. It panics with an error of the kernel
// K, where the images X have the given name, if the sizes do not fit.
func convAxes[K any, T rev.Real](k *Conv2D[T], images string) (rows, cols axis, groups int) {
	rows = axisOf[K]("height", k.Height, k.KernelHeight, k.StrideHeight, k.PadHeight, k.DilationHeight)
	cols = axisOf[K]("width", k.Width, k.KernelWidth, k.StrideWidth, k.PadWidth, k.DilationWidth)
	groups = max(1, k.Groups)
	if k.Groups < 0 || k.DilationHeight < 0 || k.DilationWidth < 0 || k.Channels%groups != 0 || k.W.Rows%groups != 0 {
		panic(rev.ShapeError[K]("W", "has %d filters for %d channels, with %d groups and dilations of %d and %d",
			k.W.Rows, k.Channels, k.Groups, k.DilationHeight, k.DilationWidth))
	}
	checkProduct[K](images, k.X.Cols, k.Channels, k.Height, k.Width)
	checkProduct[K]("W", k.W.Cols, k.Channels/groups, k.KernelHeight, k.KernelWidth)
	return rows, cols, groups
}

// A convolution is a pass of Conv2D in progress.
type convolution[T rev.Real] struct {
	k, g, t, gt Conv2D[T]
	sign        int
	rows, cols  axis
	groups      int

	part     int // how many places are done at a time
	chunk    int // how many channels a block of a gradient has
	gradient convGradient
	patches  [][]T        // C(X) or its cotangent, of each worker
	overflow *atomic.Bool // set where a value may be out of range, unless it is nil
}

// A convGradient says what the blocks compute.
type convGradient int

const (
	noGradient convGradient = iota // the value, by inputs and parts
	ofX                            // by inputs and chunks of channels
	ofW                            // by chunks of channels
	ofB                            // by filters
)

const (
	patchElements = 1 << 15 // about how many elements of C(X) are made at a time
	leastPart     = 128     // places, so that products are not too narrow
	chunkRows     = 64      // about how many rows of C(X) a chunk of channels has
)

// run makes the pass. Parts and chunks depend only on the shape. Gradients are
// computed one after the other, as they may be the same storage.
func (w *convolution[T]) run() {
	k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
	area := k.KernelHeight * k.KernelWidth
	w.part = min(w.places(), max(leastPart, patchElements/max(1, w.channels()*area)))
	w.chunk = max(1, chunkRows/area)
	workers := parallel.Workers(k.Workers)
	w.patches = workspace.Grow(w.patches, max(len(w.patches), workers))
	for i := range workers {
		w.patches[i] = workspace.Grow(w.patches[i], w.channels()*area*w.part)
	}
	inputs, parts, chunks := k.X.Rows, (w.places()-1)/w.part+1, w.groups*w.chunks()
	w.stage(noGradient, workers, inputs*parts, k.Y.Data != nil || t.Y.Data != nil)
	w.stage(ofX, workers, inputs*chunks, g.X.Data != nil || gt.X.Data != nil)
	w.stage(ofW, workers, chunks, g.W.Data != nil || gt.W.Data != nil)
	w.stage(ofB, workers, k.W.Rows, g.B.Data != nil || gt.B.Data != nil)
}

func (w *convolution[T]) stage(gradient convGradient, workers, blocks int, needed bool) {
	if needed {
		w.gradient = gradient
		parallel.Run(workers, blocks, w)
	}
}

// places returns how many places the filters have on a plane.
func (w *convolution[T]) places() int { return w.rows.places * w.cols.places }

// channels returns how many channels a group has, and chunks into how many chunks they are
// cut.
func (w *convolution[T]) channels() int { return w.k.Channels / w.groups }
func (w *convolution[T]) chunks() int   { return (w.channels() + w.chunk - 1) / w.chunk }

// chunkAt returns chunk i of all.
func (w *convolution[T]) chunkAt(i int) channels {
	n := w.channels()
	first := i % w.chunks() * w.chunk
	return channels{i / w.chunks(), first, min(w.chunk, n-first)}
}

// Block computes a block of the value or of a gradient.
func (w *convolution[T]) Block(worker, b int) {
	switch w.gradient {
	case noGradient:
		parts := (w.places()-1)/w.part + 1
		for group := range w.groups {
			w.addValue(w.patches[worker], channels{group, 0, w.channels()}, w.partOf(b/parts, b%parts*w.part))
		}
	case ofX:
		for lo := 0; lo < w.places(); lo += w.part {
			chunks := w.groups * w.chunks()
			w.addGradientOfX(w.patches[worker], w.chunkAt(b%chunks), w.partOf(b/chunks, lo))
		}
	case ofW:
		for n := range w.k.X.Rows {
			for lo := 0; lo < w.places(); lo += w.part {
				w.addGradientOfW(w.patches[worker], w.chunkAt(b), w.partOf(n, lo))
			}
		}
	case ofB:
		w.addGradientOfB(b)
	}
}

// channels are the channels first, ..., first+n-1 of a group.
type channels struct{ group, first, n int }

// A convPart is the places lo, ..., lo+n-1 of an input.
type convPart struct{ input, lo, n int }

func (w *convolution[T]) partOf(input, lo int) convPart {
	return convPart{input, lo, min(w.part, w.places()-lo)}
}

// addProduct computes C += sign·A·B. It does nothing if an operand is nil.
func addProduct[T rev.Real](sign int, k revlinalg.MatMul[T]) {
	k.Workers = 1
	_ = k.Run(rev.Pass[revlinalg.MatMul[T]]{Back: sign < 0})
}

// addValue adds the value and its tangent at some places.
func (w *convolution[T]) addValue(buf []T, c channels, p convPart) {
	k, t := &w.k, &w.t
	y, ty := w.outputs(k.Y, c, p), w.outputs(t.Y, c, p)
	if y.Data != nil || t.W.Data != nil {
		patches := w.gather(buf, k.X, c, p)
		w.addChecked(revlinalg.MatMul[T]{C: y, A: w.filters(k.W, c), B: patches, Workers: 1})
		addProduct(w.sign, revlinalg.MatMul[T]{C: ty, A: w.filters(t.W, c), B: patches})
	}
	if ty.Data != nil && t.X.Data != nil {
		addProduct(w.sign, revlinalg.MatMul[T]{C: ty, A: w.filters(k.W, c), B: w.gather(buf, t.X, c, p)})
	}
	for i := range k.W.Rows / w.groups {
		f := c.group*(k.W.Rows/w.groups) + i
		w.addBias(vector.Element(k.B, f), rowIn(y, i))
		vector.AddConstant(number.Signed(w.sign, vector.Element(t.B, f)), rowIn(ty, i))
	}
}

// addChecked adds a product to Y, and looks at its range if the pass is checked.
func (w *convolution[T]) addChecked(k revlinalg.MatMul[T]) {
	if w.overflow != nil {
		if k.RunChecked(w.sign < 0) == nil {
			return
		}
		w.overflow.Store(true)
	}
	addProduct(w.sign, k)
}

// addBias adds b to elements of Y, which may be nil, as addChecked does.
func (w *convolution[T]) addBias(b T, y rev.Vector[T]) {
	vector.AddConstant(number.Signed(w.sign, b), y)
	if w.overflow == nil || b == 0 || y.Data == nil {
		return
	}
	var wrapped fixed.Q43 // negative if the sign of a sum is that of neither term
	for _, v := range y.Data[:y.N] {
		sum, term := fixed.Q43(v), fixed.Q43(v-b)
		if w.sign < 0 { // the sum is what v was; -b may be out of range
			sum, term = fixed.Q43(v+b), sum
		}
		wrapped |= (sum ^ fixed.Q43(b)) & (sum ^ term)
	}
	if wrapped < 0 {
		w.overflow.Store(true)
	}
}

// firstOverflow returns the error of the first element of Y that is out of range, or nil.
func (w *convolution[T]) firstOverflow() *rev.OverflowError {
	k, filters := &w.k, w.k.W.Rows/w.groups
	for n := range k.X.Rows {
		y, first := number.Fixed(k.Y.Row(n)), k.Y.Cols
		for at := range w.groups * w.places() {
			group, place := at/w.places(), at%w.places()
			c := channels{group, 0, w.channels()}
			patch := w.gather(make([]T, k.W.Cols), k.X, c, convPart{n, place, 1}).Data
			for f := group * filters; f < (group+1)*filters && f*w.places()+place < first; f++ {
				s := fixedpoint.ExactDot(number.Fixed(k.W.Row(f)), number.Fixed(patch))
				if _, ok := s.AddTo(y[f*w.places()+place], fixed.Q43(vector.Element(k.B, f)), w.sign); !ok {
					first = f*w.places() + place
				}
			}
		}
		if first < k.Y.Cols {
			return rev.Overflow[Conv2D[T]]("Y", n, first)
		}
	}
	return nil
}

// addGradientOfX adds what some places add to the gradients of some channels of X.
func (w *convolution[T]) addGradientOfX(buf []T, c channels, p convPart) {
	k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
	gy, gty, weights := w.outputs(g.Y, c, p), w.outputs(gt.Y, c, p), w.filters(k.W, c)
	if g.X.Data != nil && g.Y.Data != nil {
		patches := w.zeros(buf, c, p)
		addProduct(1, revlinalg.MatMul[T]{C: patches, A: weights, B: gy, TransA: true})
		w.scatter(g.X, patches, c, p)
	}
	if gt.X.Data != nil {
		patches := w.zeros(buf, c, p)
		addProduct(1, revlinalg.MatMul[T]{C: patches, A: weights, B: gty, TransA: true})
		addProduct(1, revlinalg.MatMul[T]{C: patches, A: w.filters(t.W, c), B: gy, TransA: true})
		w.scatter(gt.X, patches, c, p)
	}
}

// addGradientOfW adds what some places add to the gradients of the filters, in some
// channels.
func (w *convolution[T]) addGradientOfW(buf []T, c channels, p convPart) {
	k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
	gy, gty := w.outputs(g.Y, c, p), w.outputs(gt.Y, c, p)
	gw, gtw := w.filters(g.W, c), w.filters(gt.W, c)
	patches := w.gather(buf, k.X, c, p)
	addProduct(1, revlinalg.MatMul[T]{C: gw, A: gy, B: patches, TransB: true})
	addProduct(1, revlinalg.MatMul[T]{C: gtw, A: gty, B: patches, TransB: true})
	if gtw.Data != nil && t.X.Data != nil {
		addProduct(1, revlinalg.MatMul[T]{C: gtw, A: gy, B: w.gather(buf, t.X, c, p), TransB: true})
	}
}

// addGradientOfB adds the gradients of b_f.
func (w *convolution[T]) addGradientOfB(f int) {
	addPlaneSums(w.g.B, w.g.Y, f, w.places())
	addPlaneSums(w.gt.B, w.gt.Y, f, w.places())
}

// addPlaneSums adds the sums of plane f of all rows of y, of the given size, to element f of b.
func addPlaneSums[T rev.Real](b rev.Vector[T], y rev.General[T], f, size int) {
	for n := 0; n < y.Rows && b.Data != nil && y.Data != nil; n++ {
		b.Data[f*b.Inc] += vector.Sum(rev.ViewSlice(plane(y, n, f, size)))
	}
}

// outputs returns the planes of y of the filters that meet the channels c, as rows, at the
// places of p.
func (w *convolution[T]) outputs(y rev.General[T], c channels, p convPart) rev.General[T] {
	if y.Data == nil {
		return rev.General[T]{}
	}
	n := w.k.W.Rows / w.groups
	return rev.General[T]{Rows: n, Cols: p.n, Stride: w.places(), Data: y.Row(p.input)[c.group*n*w.places()+p.lo:]}
}

// filters returns the part of m, W or a derivative, that meets the channels c.
func (w *convolution[T]) filters(m rev.General[T], c channels) rev.General[T] {
	if m.Data == nil || m.Cols == 0 {
		return rev.General[T]{}
	}
	area, n := w.k.KernelHeight*w.k.KernelWidth, w.k.W.Rows/w.groups
	return rev.General[T]{Rows: n, Cols: c.n * area, Stride: m.Stride, Data: m.Data[c.group*n*m.Stride+c.first*area:]}
}

// zeros returns room for the rows of C(X) of some channels, with all elements zero.
func (w *convolution[T]) zeros(buf []T, c channels, p convPart) rev.General[T] {
	m := rev.NewGeneral(c.n*w.k.KernelHeight*w.k.KernelWidth, p.n, buf[:c.n*w.k.KernelHeight*w.k.KernelWidth*p.n])
	clear(m.Data)
	return m
}

// gather returns the rows of C(X) of some channels at some places.
func (w *convolution[T]) gather(buf []T, x rev.General[T], c channels, p convPart) rev.General[T] {
	patches := w.zeros(buf, c, p)
	step := w.cols.stride
	w.runs(x, patches, c, p, func(image, patch []T) {
		if step == 1 {
			copy(patch, image)
			return
		}
		for i := range patch {
			patch[i] = image[i*step]
		}
	})
	return patches
}

// scatter adds Cᵀ of the rows for some channels, at some places, to x.
func (w *convolution[T]) scatter(x, patches rev.General[T], c channels, p convPart) {
	step := w.cols.stride
	w.runs(x, patches, c, p, func(image, patch []T) {
		for i, v := range patch {
			image[i*step] += v
		}
	})
}

// runs calls do for elements of x that follow each other by the stride of columns, and
// their places in C(X). It leaves out padding.
func (w *convolution[T]) runs(x, patches rev.General[T], c channels, p convPart, do func(image, patch []T)) {
	k, r := &w.k, 0
	for ch := range c.n {
		image := plane(x, p.input, c.group*w.channels()+c.first+ch, k.Height*k.Width)
		for u := range k.KernelHeight {
			for v := range k.KernelWidth {
				patch := patches.Row(r)
				r++
				for at := 0; at < p.n; {
					i, j := (p.lo+at)/w.cols.places, (p.lo+at)%w.cols.places
					n := min(w.cols.places-j, p.n-at) // places in this row of Y
					y := w.rows.at(i, u)
					if first, end := w.cols.inside(v, j, j+n); first < end && 0 <= y && y < k.Height {
						do(image[y*k.Width+w.cols.at(first, v):(y+1)*k.Width], patch[at+first-j:at+end-j])
					}
					at += n
				}
			}
		}
	}
}
