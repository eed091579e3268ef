package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// The kernels Exp, Log, Sqrt, Sin, Cos, Abs, Sigmoid, Tanh, Softplus, GELU and SiLU are
//
//	y_i += f(x_i)
//
// with the derivatives
//
//	x̄ += conj(f′(x))·ȳ,  ẏ += f′(x)·ẋ,  ġx += conj(f′(x))·ġy + conj(f″(x)·ẋ)·ȳ
//
// of each element. Each has a file of its own with f and its derivatives.
// elementwise.run runs them all.

// elementwise has the operands of these kernels.
type elementwise[T rev.Number] struct {
	Y       rev.Vector[T]
	X       rev.Vector[T]
	Workers int
}

// A function is f with its first two derivatives. float32 is computed in float64.
type function struct {
	name string

	// values computes y_i = f(x_i), and slopes computes d_i = f′(x_i) from these. If
	// both is set, it computes y and d at once instead. curves computes d_i = f″(x_i)
	// and is given f′(x_i) there. slopes and curves may overwrite y.
	values func(y, x []float64)
	slopes func(d, x, y []float64)
	both   func(y, d, x []float64)
	curves func(d, x, y []float64)

	// If byFloat is set, fixed-point values are rounded from float64. both must then
	// have the same bits on all machines. If rest is set too, f(-|x|) is rounded, and
	// f(x) = max(x, 0) + f(-|x|), because f(x) itself has more digits than a float64.
	byFloat, rest bool

	q43  pointwise[fixed.Q43]
	c128 pointwise[complex128]

	// defined reports whether f has a value and derivatives up to the order at a real x
	// that is not positive. It is nil if f has all of them everywhere.
	defined func(x float64, order int) bool

	// definedComplex reports the same at a complex x.
	definedComplex func(x complex128, order int) bool
}

// A pointwise has functions of single numbers: f(x), f′(x)·v and f″(x)·v·w.
type pointwise[T rev.Number] struct {
	value func(x T) T
	slope func(x, v T) T
	curve func(x, v, w T) T
}

// An elementwisePass is a pass in progress. Operands that it lacks are nil.
type elementwisePass[T rev.Number] struct {
	k, g, t, gt elementwise[T]

	f       *function
	sign    int
	buffers []elementwiseBuffers // of each worker
}

// elementwisePiece is the number of elements that are computed at a time.
// elementwiseBlock is the number that a worker takes.
const (
	elementwisePiece = 512
	elementwiseBlock = 8 * elementwisePiece
)

// These report whether a derivative has both operands.
func (p *elementwisePass[T]) tangent() bool  { return p.t.X.Data != nil && p.t.Y.Data != nil }
func (p *elementwisePass[T]) gradient() bool { return p.g.X.Data != nil && p.g.Y.Data != nil }
func (p *elementwisePass[T]) gradientTangent() bool {
	return p.gt.X.Data != nil && p.gt.Y.Data != nil
}

func (p *elementwisePass[T]) curved() bool {
	return p.gt.X.Data != nil && p.t.X.Data != nil && p.g.Y.Data != nil
}

// order returns the highest order of derivative that the pass needs.
func (p *elementwisePass[T]) order() int {
	switch {
	case p.curved():
		return 2
	case p.tangent() || p.gradient() || p.gradientTangent():
		return 1
	}
	return 0
}

// run adds sign·f(x) to y, for a sign of 1 or -1. It adds sign·f′(x)·ẋ to ẏ, and the
// gradients to x̄ and ġx. It omits operands that are nil.
func (k elementwise[T]) run(f *function, sign int, g, t, gt elementwise[T]) error {
	w := workspace.Get[elementwisePass[T]]()
	buffers := w.buffers
	*w = elementwisePass[T]{k, g, t, gt, f, sign, buffers}
	err := w.checkDomain()
	if err == nil {
		workers, blocks := parallel.Workers(k.Workers), (k.X.N+elementwiseBlock-1)/elementwiseBlock
		if f.byFloat || !number.IsFixed[T]() && !number.IsComplex[T]() {
			w.buffers = workspace.Grow(buffers, min(workers, max(1, blocks)))
		}
		parallel.Run(workers, blocks, w)
	}
	*w = elementwisePass[T]{buffers: w.buffers} // without the caller's storage
	workspace.Put(w)
	return err
}

// checkDomain returns an error unless f is defined at all elements.
func (p *elementwisePass[T]) checkDomain() error {
	switch p := any(p).(type) {
	case *elementwisePass[float64]:
		return checkDomain(p)
	case *elementwisePass[float32]:
		return checkDomain(p)
	case *elementwisePass[fixed.Q43]:
		return checkDomain(p)
	case *elementwisePass[complex128]:
		order := p.order()
		for i := range p.k.X.N {
			if x := p.k.X.Data[i*p.k.X.Inc]; !p.f.definedComplex(x, order) {
				return &rev.DomainError{Func: p.f.name, Args: []float64{real(x), imag(x)}, Index: i, Order: order}
			}
		}
	}
	return nil
}

// checkDomain returns an error unless f is defined at all elements, which are real.
func checkDomain[T rev.Real](p *elementwisePass[T]) error {
	if p.f.defined == nil {
		return nil
	}
	order := p.order()
	for i := range p.k.X.N {
		// All functions are defined at positive numbers.
		if x := fixed.Float(p.k.X.Data[i*p.k.X.Inc]); !(x > 0) && !p.f.defined(x, order) {
			return &rev.DomainError{Func: p.f.name, Args: []float64{x}, Index: i, Order: order}
		}
	}
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
		if p.f.byFloat {
			applyByFloat(p, &p.buffers[worker], lo, hi)
		} else {
			applyPointwise(p, &p.f.q43, lo, hi)
		}
	case *elementwisePass[complex128]:
		applyPointwise(p, &p.f.c128, lo, hi)
	}
}

// elementwiseBuffers hold intermediate values of one piece.
type elementwiseBuffers struct{ x, y, d, v [elementwisePiece]float64 }

func applyFloat[T rev.Float](p *elementwisePass[T], w *elementwiseBuffers, lo, hi int) {
	f, sign, order := p.f, float64(p.sign), p.order()
	for ; lo < hi; lo += len(w.x) {
		n := min(len(w.x), hi-lo)
		x, y, d := wide(w.x[:n], p.k.X, lo), w.y[:n], w.d[:n]
		if f.both != nil {
			f.both(y, d, x)
		} else {
			f.values(y, x)
		}
		if p.k.Y.Data != nil {
			addWide(p.k.Y, lo, sign, y)
		}
		if order > 0 && f.slopes != nil {
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

// wide returns len(buf) elements of x, from lo on. They are a view if x is float64 without
// gaps, and otherwise a copy in buf.
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

// applyPointwise works on elements one by one. A cotangent goes through f′ as
// conj(f′·conj(ȳ)).
func applyPointwise[T rev.Number](p *elementwisePass[T], f *pointwise[T], lo, hi int) {
	at := func(v rev.Vector[T], i int) *T { return &v.Data[i*v.Inc] }
	for i := lo; i < hi; i++ {
		x := *at(p.k.X, i)
		if p.k.Y.Data != nil {
			*at(p.k.Y, i) += signed(p.sign, f.value(x))
		}
		if p.tangent() {
			*at(p.t.Y, i) += signed(p.sign, f.slope(x, *at(p.t.X, i)))
		}
		if p.gradient() {
			*at(p.g.X, i) += number.Conj(f.slope(x, number.Conj(*at(p.g.Y, i))))
		}
		if p.gradientTangent() {
			*at(p.gt.X, i) += number.Conj(f.slope(x, number.Conj(*at(p.gt.Y, i))))
		}
		if p.curved() {
			*at(p.gt.X, i) += number.Conj(f.curve(x, *at(p.t.X, i), number.Conj(*at(p.g.Y, i))))
		}
	}
}

// applyByFloat works on fixed-point elements with the functions over float64.
func applyByFloat(p *elementwisePass[fixed.Q43], w *elementwiseBuffers, lo, hi int) {
	f := p.f
	at := func(v rev.Vector[fixed.Q43], i int) *fixed.Q43 { return &v.Data[i*v.Inc] }
	for ; lo < hi; lo += len(w.x) {
		n := min(len(w.x), hi-lo)
		x, y, d, c := w.x[:n], w.y[:n], w.d[:n], w.v[:n]
		for i := range x {
			v := *at(p.k.X, lo+i)
			if f.rest {
				v = -v.Abs()
			}
			x[i] = v.Float64()
		}
		f.both(y, d, x)
		for i, v := range y {
			if p.k.Y.Data == nil {
				break
			}
			v := fixed.FromFloat64(v)
			if f.rest {
				v += max(*at(p.k.X, lo+i), 0)
			}
			*at(p.k.Y, lo+i) += signed(p.sign, v)
		}
		if p.curved() {
			copy(c, d)
			f.curves(c, x, y)
		}
		for i := range n {
			slope := fixed.FromFloat64(d[i])
			if i := lo + i; f.rest && *at(p.k.X, i) > 0 {
				slope = fixed.One - slope
			}
			i, curve := lo+i, c[i]
			if p.tangent() {
				*at(p.t.Y, i) += signed(p.sign, slope.Mul(*at(p.t.X, i)))
			}
			if p.gradient() {
				*at(p.g.X, i) += slope.Mul(*at(p.g.Y, i))
			}
			if p.gradientTangent() {
				*at(p.gt.X, i) += slope.Mul(*at(p.gt.Y, i))
			}
			if p.curved() {
				*at(p.gt.X, i) += fixed.FromFloat64(curve).Mul(*at(p.t.X, i)).Mul(*at(p.g.Y, i))
			}
		}
	}
}

// each, eachOf and eachSlope return functions of slices that call f for every element.
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

func eachSlope(f func(y, d float64) float64) func(d, x, y []float64) {
	return func(d, _, y []float64) {
		for i, v := range y {
			d[i] = f(v, d[i])
		}
	}
}
