package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// The kernels Atan2, Pow and DivElem are
//
//	z_i += f(x_i, y_i)
//
// with the derivatives, where indices of f are partial derivatives,
//
//	x̄ += f_x·z̄,  ȳ += f_y·z̄,  ż += f_x·ẋ + f_y·ẏ,
//	ġx += f_x·ġz + (f_xx·ẋ + f_xy·ẏ)·z̄,  ġy += f_y·ġz + (f_xy·ẋ + f_yy·ẏ)·z̄
//
// of each element. binary.run runs the first two.

// binaryOperands has the operands of these kernels.
type binaryOperands[T rev.Real] struct {
	Z       rev.Vector[T]
	X       rev.Vector[T]
	Y       rev.Vector[T]
	Workers int
}

// A binaryFunction is f with its first two derivatives. float32 is computed in
// float64.
type binaryFunction struct {
	name string

	value    func(x, y float64) float64
	gradient func(x, y float64) (fx, fy float64)
	hessian  func(x, y float64) (fxx, fxy, fyy float64)

	// These are for fixed point: the value, the products of f_x and f_y with v, and the
	// products of f_xx·ẋ + f_xy·ẏ and f_xy·ẋ + f_yy·ẏ with v.
	value43    func(x, y fixed.Q43) fixed.Q43
	gradient43 func(x, y, v fixed.Q43) (gx, gy fixed.Q43)
	hessian43  func(x, y, dx, dy, v fixed.Q43) (hx, hy fixed.Q43)

	// defined reports whether f has a value and derivatives up to the order at x and y, and
	// inRange whether these fit fixed point.
	defined func(x, y float64, order int) bool
	inRange func(x, y fixed.Q43, order int) bool
}

// A binaryPass is a pass in progress. Operands that it lacks are nil.
type binaryPass[T rev.Real] struct {
	k, g, t, gt binaryOperands[T]

	f     *binaryFunction
	sign  int
	order int
}

// binaryBlock is how many elements a worker takes at a time.
const binaryBlock = 1024

// hasInput reports whether x or y is there.
func (k *binaryOperands[T]) hasInput() bool { return k.X.Data != nil || k.Y.Data != nil }

// derivatives returns the highest order of derivative that the pass needs.
func (p *binaryPass[T]) derivatives() int {
	switch {
	case p.gt.hasInput() && p.t.hasInput() && p.g.Z.Data != nil:
		return 2
	case p.t.hasInput() && p.t.Z.Data != nil, p.g.hasInput() && p.g.Z.Data != nil, p.gt.hasInput() && p.gt.Z.Data != nil:
		return 1
	}
	return 0
}

// run adds sign·f(x, y) to z, for a sign of 1 or -1. It adds sign·ż and the other
// derivatives above to the operands that are there.
func (k binaryOperands[T]) run(f *binaryFunction, sign int, g, t, gt binaryOperands[T]) error {
	p := binaryPass[T]{k: k, g: g, t: t, gt: gt, f: f, sign: sign}
	p.order = p.derivatives()
	for i := range k.X.N {
		x, y := k.X.Data[i*k.X.Inc], k.Y.Data[i*k.Y.Inc]
		ok := f.defined(fixed.Float(x), fixed.Float(y), p.order)
		if number.IsFixed[T]() {
			ok = ok && f.inRange(fixed.Q43(x), fixed.Q43(y), p.order)
		}
		if !ok {
			return &rev.DomainError{Func: f.name, Args: []float64{fixed.Float(x), fixed.Float(y)}, Index: i, Order: p.order}
		}
	}
	w := workspace.Get[binaryPass[T]]()
	*w = p
	parallel.Run(parallel.Workers(k.Workers), (k.X.N+binaryBlock-1)/binaryBlock, w)
	*w = binaryPass[T]{} // without the caller's storage
	workspace.Put(w)
	return nil
}

// Block works on a block of elements.
func (p *binaryPass[T]) Block(_, block int) {
	f, s, order := p.f, T(p.sign), p.order
	lo := block * binaryBlock
	for i := lo; i < min(lo+binaryBlock, p.k.X.N); i++ {
		x, y := p.k.X.Data[i*p.k.X.Inc], p.k.Y.Data[i*p.k.Y.Inc]
		if p.k.Z.Data != nil {
			p.k.Z.Data[i*p.k.Z.Inc] += T(s * functionOf(f, x, y))
		}
		if order == 0 {
			continue
		}
		dx, dy, gz := vector.Element(p.t.X, i), vector.Element(p.t.Y, i), vector.Element(p.g.Z, i)
		if p.t.Z.Data != nil {
			ax, _ := gradientOf(f, x, y, dx)
			_, ay := gradientOf(f, x, y, dy)
			p.t.Z.Data[i*p.t.Z.Inc] += T(s * (ax + ay))
		}
		if p.g.hasInput() && p.g.Z.Data != nil {
			gx, gy := gradientOf(f, x, y, gz)
			p.g.addInputs(i, gx, gy)
		}
		if p.gt.hasInput() && p.gt.Z.Data != nil {
			gx, gy := gradientOf(f, x, y, vector.Element(p.gt.Z, i))
			p.gt.addInputs(i, gx, gy)
		}
		if order == 2 {
			hx, hy := hessianOf(f, x, y, dx, dy, gz)
			p.gt.addInputs(i, hx, hy)
		}
	}
}

// addInputs adds to element i of x and y if they are there.
func (k *binaryOperands[T]) addInputs(i int, x, y T) {
	if k.X.Data != nil {
		k.X.Data[i*k.X.Inc] += x
	}
	if k.Y.Data != nil {
		k.Y.Data[i*k.Y.Inc] += y
	}
}

func functionOf[T rev.Real](f *binaryFunction, x, y T) T {
	if number.IsFixed[T]() {
		return T(f.value43(fixed.Q43(x), fixed.Q43(y)))
	}
	return T(f.value(float64(x), float64(y)))
}

func gradientOf[T rev.Real](f *binaryFunction, x, y, v T) (gx, gy T) {
	if number.IsFixed[T]() {
		gx, gy := f.gradient43(fixed.Q43(x), fixed.Q43(y), fixed.Q43(v))
		return T(gx), T(gy)
	}
	fx, fy := f.gradient(float64(x), float64(y))
	return T(fx * float64(v)), T(fy * float64(v))
}

func hessianOf[T rev.Real](f *binaryFunction, x, y, dx, dy, v T) (hx, hy T) {
	if number.IsFixed[T]() {
		hx, hy := f.hessian43(fixed.Q43(x), fixed.Q43(y), fixed.Q43(dx), fixed.Q43(dy), fixed.Q43(v))
		return T(hx), T(hy)
	}
	fxx, fxy, fyy := f.hessian(float64(x), float64(y))
	a, b := float64(dx), float64(dy)
	return T((float64(fxx*a) + float64(fxy*b)) * float64(v)), T((float64(fxy*a) + float64(fyy*b)) * float64(v))
}
