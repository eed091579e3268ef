package revlinalg

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// The kernels Exp, Log, Sqrt, Sin, Cos and Abs are
//
//	y_i += f(x_i)
//
// with the derivatives, where ġ is the tangent of ȳ,
//
//	x̄ += f′(x)·ȳ,  ẏ += f′(x)·ẋ,  ẋ̄ += f′(x)·ġ + f″(x)·ẋ·ȳ
//
// of each element. Each has a file, which says what f and its derivatives are;
// all methods of all of them are apply, with more or fewer operands.

// elementwise has the operands of these kernels, which convert to it.
type elementwise[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc"`
	X       rev.Vector[T] `rev:"in"`
	Workers int           // 0 means GOMAXPROCS
}

// A function is f with its first two derivatives. float32 is computed in float64.
type function struct {
	name string

	// values computes y_i = f(x_i), and slopes and curves d_i = f′(x_i) and
	// d_i = f″(x_i), given these.
	values         func(y, x []float64)
	slopes, curves func(d, x, y []float64)

	// In fixed point, f(x), f′(x)·v and f″(x)·v·w.
	value43 func(x fixed.Q43) fixed.Q43
	slope43 func(x, v fixed.Q43) fixed.Q43
	curve43 func(x, v, w fixed.Q43) fixed.Q43

	// defined reports whether f has a value at an x that is not positive, and
	// derivatives up to the order. It is nil if f has all of them everywhere.
	defined func(x float64, order int) bool
}

// DomainError says that a function has no value, or no derivative, at one of
// the elements that a kernel is given. The kernel has changed nothing.
type DomainError struct {
	Func  string    // its name
	Args  []float64 // its arguments
	Index int       // of the element
	Order int       // of the derivative that is asked for, 0 for the value
}

func (e *DomainError) Error() string {
	s := "revlinalg: "
	if e.Order > 0 {
		s += fmt.Sprintf("derivative %d of ", e.Order)
	}
	return s + fmt.Sprintf("%s%v is not defined or out of range (element %d)", e.Func, e.Args, e.Index)
}

// newElementwise returns the operands y and x, sharing their storage. It panics
// with mat.ErrShape if they differ in length.
func newElementwise(y, x *mat.VecDense) elementwise[float64] {
	k := elementwise[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x)}
	k.checkShape()
	return k
}

func (k *elementwise[T]) checkShape() {
	if k.Y.Data == nil {
		k.Y.N = k.X.N // that of its cotangent
	}
	if k.Y.N != k.X.N {
		panic(mat.ErrShape)
	}
}

func (k elementwise[T]) forward(f *function) error {
	return elementwisePass[T]{k: k}.apply(f, 1)
}

func (k elementwise[T]) inverse(f *function) error {
	return elementwisePass[T]{k: k}.apply(f, -1)
}

func (k elementwise[T]) adjoint(f *function, g elementwise[T]) error {
	return elementwisePass[T]{k: k, g: g}.apply(f, -1)
}

func (k elementwise[T]) tangent(f *function, t elementwise[T]) error {
	return elementwisePass[T]{k: k, t: t}.apply(f, 1)
}

func (k elementwise[T]) adjointTangent(f *function, g, t, gt elementwise[T]) error {
	return elementwisePass[T]{k: k, g: g, t: t, gt: gt}.apply(f, -1)
}

// An elementwisePass is a call of a method, with no operands where it has none.
type elementwisePass[T rev.Real] struct {
	k, g, t, gt elementwise[T]

	f       *function
	sign    int
	buffers []elementwiseBuffers // of each worker
}

// elementwisePiece is how many elements are computed at a time, and
// elementwiseBlock how many a worker takes.
const (
	elementwisePiece = 512
	elementwiseBlock = 8 * elementwisePiece
)

// What both ends of are there.
func (p *elementwisePass[T]) tangent() bool  { return p.t.X.Data != nil && p.t.Y.Data != nil }
func (p *elementwisePass[T]) gradient() bool { return p.g.X.Data != nil && p.g.Y.Data != nil }
func (p *elementwisePass[T]) gradientTangent() bool {
	return p.gt.X.Data != nil && p.gt.Y.Data != nil
}

func (p *elementwisePass[T]) curved() bool {
	return p.gt.X.Data != nil && p.t.X.Data != nil && p.g.Y.Data != nil
}

// order returns the order of the derivatives that are asked for.
func (p *elementwisePass[T]) order() int {
	switch {
	case p.curved():
		return 2
	case p.tangent() || p.gradient() || p.gradientTangent():
		return 1
	}
	return 0
}

// apply adds sign times f(x) to y, where the sign is 1 or -1, and, of what there
// is, sign·f′(x)·ẋ to ẏ, f′(x)·ȳ to x̄, and f′(x)·ġ + f″(x)·ẋ·ȳ to ẋ̄.
func (p elementwisePass[T]) apply(f *function, sign int) error {
	rev.Check(&p.k)
	p.k.checkShape()
	rev.CheckLike(&p.k, &p.g, &p.t, &p.gt)
	if f.defined != nil {
		order := p.order()
		for i := range p.k.X.N {
			// Positive numbers are in the domain of all.
			if x := fixed.Float(p.k.X.Data[i*p.k.X.Inc]); !(x > 0) && !f.defined(x, order) {
				return &DomainError{Func: f.name, Args: []float64{x}, Index: i, Order: order}
			}
		}
	}
	blocks := (p.k.X.N + elementwiseBlock - 1) / elementwiseBlock
	workers := parallel.Workers(p.k.Workers)
	w := workspace.Get[elementwisePass[T]]()
	p.f, p.sign, p.buffers = f, sign, w.buffers
	if !isFixed[T]() {
		p.buffers = workspace.Grow(w.buffers, min(workers, max(1, blocks)))
	}
	*w = p
	parallel.Run(workers, blocks, w)
	*w = elementwisePass[T]{buffers: p.buffers} // without the caller's storage
	workspace.Put(w)
	return nil
}

// Block works on a block of elements.
func (p *elementwisePass[T]) Block(worker, block int) {
	lo := block * elementwiseBlock
	hi := min(lo+elementwiseBlock, p.k.X.N)
	switch p := any(p).(type) {
	case *elementwisePass[float64]:
		applyFloat(p, &p.buffers[worker], lo, hi)
	case *elementwisePass[float32]:
		applyFloat(p, &p.buffers[worker], lo, hi)
	case *elementwisePass[fixed.Q43]:
		applyFixed(p, lo, hi)
	}
}

// elementwiseBuffers hold what is computed of some elements.
type elementwiseBuffers struct{ x, y, d, v [elementwisePiece]float64 }

func applyFloat[T rev.Float](p *elementwisePass[T], w *elementwiseBuffers, lo, hi int) {
	f, sign, order := p.f, float64(p.sign), p.order()
	for ; lo < hi; lo += len(w.x) {
		n := min(len(w.x), hi-lo)
		x, y, d := wide(w.x[:n], p.k.X, lo), w.y[:n], w.d[:n]
		f.values(y, x)
		if p.k.Y.Data != nil {
			addWide(p.k.Y, lo, sign, y)
		}
		if order > 0 {
			f.slopes(d, x, y)
		}
		addProduct := func(to rev.Vector[T], sign float64, from rev.Vector[T]) {
			v := w.v[:n]
			vec.MulTo(v, d, wide(v, from, lo))
			addWide(to, lo, sign, v)
		}
		if p.tangent() {
			addProduct(p.t.Y, sign, p.t.X)
		}
		if p.gradient() {
			addProduct(p.g.X, 1, p.g.Y)
		}
		if p.gradientTangent() {
			addProduct(p.gt.X, 1, p.gt.Y)
		}
		if p.curved() {
			f.curves(d, x, y)
			vec.MulTo(d, d, wide(w.v[:n], p.t.X, lo))
			addProduct(p.gt.X, 1, p.g.Y)
		}
	}
}

// wide returns elements of x from lo on, as many as buf has: in place if they
// are float64 without gaps, else copied to buf.
func wide[T rev.Float](buf []float64, x rev.Vector[T], lo int) []float64 {
	if xs, ok := any(x.Data).([]float64); ok && x.Inc == 1 {
		return xs[lo : lo+len(buf)]
	}
	for i := range buf {
		buf[i] = float64(x.Data[(lo+i)*x.Inc])
	}
	return buf
}

// addWide computes y_{lo+i} += sign·d_i, for a sign of 1 or -1.
func addWide[T rev.Float](y rev.Vector[T], lo int, sign float64, d []float64) {
	if ys, ok := any(y.Data).([]float64); ok && y.Inc == 1 {
		vec.Axpy(sign, d, ys[lo:lo+len(d)])
		return
	}
	for i, v := range d {
		y.Data[(lo+i)*y.Inc] += T(sign * v)
	}
}

func applyFixed(p *elementwisePass[fixed.Q43], lo, hi int) {
	f, sign := p.f, fixed.Q43(p.sign)
	at := func(v rev.Vector[fixed.Q43], i int) *fixed.Q43 { return &v.Data[i*v.Inc] }
	for i := lo; i < hi; i++ {
		x := *at(p.k.X, i)
		if p.k.Y.Data != nil {
			*at(p.k.Y, i) += sign * f.value43(x)
		}
		if p.tangent() {
			*at(p.t.Y, i) += sign * f.slope43(x, *at(p.t.X, i))
		}
		if p.gradient() {
			*at(p.g.X, i) += f.slope43(x, *at(p.g.Y, i))
		}
		if p.gradientTangent() {
			*at(p.gt.X, i) += f.slope43(x, *at(p.gt.Y, i))
		}
		if p.curved() {
			*at(p.gt.X, i) += f.curve43(x, *at(p.t.X, i), *at(p.g.Y, i))
		}
	}
}

// each and eachOf return functions of slices that call f for every element.
func each(f func(x float64) float64) func(y, x []float64) {
	return func(y, x []float64) {
		for i, v := range x {
			y[i] = f(v)
		}
	}
}

func eachOf(f func(x, y float64) float64) func(d, x, y []float64) {
	return func(d, x, y []float64) {
		for i, v := range x {
			d[i] = f(v, y[i])
		}
	}
}

// total takes the error of a function that has a value everywhere: there is none.
func total(err error) {
	if err != nil {
		panic(err)
	}
}
