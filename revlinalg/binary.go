package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
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
// of each element. binaryOperands.run runs the first two.

// binaryOperands has the operands of these kernels.
type binaryOperands[T rev.Real] struct {
	Z       rev.Vector[T]
	X       rev.Vector[T]
	Y       rev.Vector[T]
	Workers int
}

// A binaryFunction is f with its first two derivatives.
type binaryFunction struct {
	name string

	float64 binaryLoops[float64]
	float32 binaryLoops[float32]

	// These are for fixed point: the value, the products of f_x and f_y with v, and the
	// products of f_xx·ẋ + f_xy·ẏ and f_xy·ẋ + f_yy·ẏ with v.
	value43    func(x, y fixed.Q43) fixed.Q43
	gradient43 func(x, y, v fixed.Q43) (gx, gy fixed.Q43)
	hessian43  func(x, y, dx, dy, v fixed.Q43) (hx, hy fixed.Q43)
	fixed      binaryFixedLoops

	// defined reports whether f has a value and derivatives up to the order at x and y, and
	// inRange whether these fit fixed point. If everywhere is set, there always is a value.
	everywhere bool
	defined    func(x, y float64, order int) bool
	inRange    func(x, y fixed.Q43, order int) bool
}

// binaryLoops compute f of the elements of x and y.
type binaryLoops[T rev.Float] struct {
	good   func(x []T) int // how many elements of x, from the first on, have all values and derivatives
	values func(z, x, y []T)
	add    func(z []T, sign T, x, y []T)     // z_i += sign·f(x_i, y_i)
	slopes func(z, fx, fy, x, y []T)         // f, f_x and f_y
	curves func(fxx, fxy, fyy []T, x, y []T) // f_xx, f_xy and f_yy
}

// binaryFixedLoops have the bits of value43 and gradient43.
type binaryFixedLoops struct {
	// good returns how many pairs, from the first on, are known to have derivatives up to the order in range.
	good func(x, y []fixed.Q43, order int) int

	// add computes z_i += f(x_i, y_i), or the difference if sign is negative. If v is not nil, it also
	// computes gx_i += f_x·v_i and gy_i += f_y·v_i. z may be nil then.
	add func(sign int, x, y, z, v, gx, gy []fixed.Q43)
}

// A binaryPass is a pass in progress. Operands that it lacks are nil.
type binaryPass[T rev.Real] struct {
	k, g, t, gt binaryOperands[T]

	f       *binaryFunction
	sign    int
	order   int
	buffers []binaryRoom[T] // of each worker
}

// A binaryRoom has copies of operands with gaps, and intermediate values, of one PieceSize.
type binaryRoom[T rev.Real] struct {
	x, y, v             [elementwise.PieceSize]T
	f, fx, fy, fxy, sum [elementwise.PieceSize]T
}

// binaryBlock is how many elements a worker takes at a time.
const binaryBlock = 2 * elementwise.PieceSize

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
	w := workspace.Get[*binaryPass[T]]()
	w.k, w.g, w.t, w.gt, w.f, w.sign = k, g, t, gt, f, sign
	w.order = w.derivatives()
	err := w.checkDomain()
	if err == nil {
		workers, blocks := parallel.Workers(k.Workers), (k.X.N+binaryBlock-1)/binaryBlock
		w.buffers = workspace.Grow(w.buffers, min(workers, max(1, blocks)))
		parallel.Run(workers, blocks, w)
	}
	*w = binaryPass[T]{buffers: w.buffers} // without the caller's storage
	workspace.Put(w)
	return err
}

// checkDomain returns an error unless f is defined at all elements.
func (p *binaryPass[T]) checkDomain() error {
	if p.order == 0 && p.f.everywhere {
		return nil
	}
	i := leading(p.k.X, p.f.float64.good, p.f.float32.good)
	if k, ok := any(&p.k).(*binaryOperands[fixed.Q43]); ok && k.X.Inc == 1 && k.Y.Inc == 1 {
		i = p.f.fixed.good(k.X.Data[:k.X.N], k.Y.Data[:k.X.N], p.order)
	}
	for ; i < p.k.X.N; i++ {
		x, y := p.k.X.Data[i*p.k.X.Inc], p.k.Y.Data[i*p.k.Y.Inc]
		ok := p.f.defined(fixed.Float(x), fixed.Float(y), p.order)
		if number.IsFixed[T]() {
			ok = ok && p.f.inRange(fixed.Q43(x), fixed.Q43(y), p.order)
		}
		if !ok {
			return &rev.DomainError{Func: p.f.name, Args: []float64{fixed.Float(x), fixed.Float(y)}, Index: i, Order: p.order}
		}
	}
	return nil
}

// leading returns what count64 or count32 counts of the elements of x, or 0 if these have gaps or
// are not floats.
func leading[T rev.Real](x rev.Vector[T], count64 func([]float64) int, count32 func([]float32) int) int {
	if x.Inc == 1 {
		switch x := any(x.Data[:x.N]).(type) {
		case []float64:
			return count64(x)
		case []float32:
			return count32(x)
		}
	}
	return 0
}

// Block works on a block of elements.
func (p *binaryPass[T]) Block(worker, block int) {
	lo := block * binaryBlock
	hi := min(lo+binaryBlock, p.k.X.N)
	switch p := any(p).(type) {
	case *binaryPass[float64]:
		addBinary(p, &p.f.float64, &p.buffers[worker], lo, hi)
	case *binaryPass[float32]:
		addBinary(p, &p.f.float32, &p.buffers[worker], lo, hi)
	case *binaryPass[fixed.Q43]:
		addBinary43(p, &p.buffers[worker], lo, hi)
	}
}

// addBinary works on floats, a piece at a time.
func addBinary[T rev.Float](p *binaryPass[T], f *binaryLoops[T], r *binaryRoom[T], lo, hi int) {
	k, g, t, gt, sign := &p.k, &p.g, &p.t, &p.gt, T(p.sign)
	if p.order == 0 && k.Z.Data != nil && k.Z.Inc == 1 && k.X.Inc == 1 && k.Y.Inc == 1 {
		f.add(k.Z.Data[lo:hi], sign, k.X.Data[lo:hi], k.Y.Data[lo:hi])
		return
	}
	for ; lo < hi; lo += elementwise.PieceSize {
		n := min(elementwise.PieceSize, hi-lo)
		x, y := vector.Elements(r.x[:], &k.X, lo, n), vector.Elements(r.y[:], &k.Y, lo, n)
		z, fx, fy, sum := r.f[:n], r.fx[:n], r.fy[:n], r.sum[:n]
		if p.order == 0 {
			f.values(z, x, y)
		} else {
			f.slopes(z, fx, fy, x, y)
		}
		if k.Z.Data != nil {
			vector.AddElements(&k.Z, lo, sign, z)
		}
		if p.order == 0 {
			continue
		}
		addProduct := func(to rev.Vector[T], sign T, d []T, from rev.Vector[T]) {
			if to.Data == nil || from.Data == nil {
				return
			}
			v := vector.Elements(r.v[:], &from, lo, n)
			if to.Inc == 1 {
				vec.AddProduct(to.Data[lo:lo+n], sign, d, v)
				return
			}
			vec.MulTo(r.v[:n], d, v)
			vector.AddElements(&to, lo, sign, r.v[:n])
		}
		addProduct(t.Z, sign, fx, t.X)
		addProduct(t.Z, sign, fy, t.Y)
		addProduct(g.X, 1, fx, g.Z)
		addProduct(g.Y, 1, fy, g.Z)
		addProduct(gt.X, 1, fx, gt.Z)
		addProduct(gt.Y, 1, fy, gt.Z)
		if p.order < 2 {
			continue
		}
		xx, xy, yy := z, r.fxy[:n], fy
		f.curves(xx, xy, yy, x, y)
		for _, c := range [...]struct {
			to     rev.Vector[T]
			dx, dy []T
		}{{gt.X, xx, xy}, {gt.Y, xy, yy}} {
			clear(sum)
			if t.X.Data != nil {
				vec.AddProduct(sum, 1, c.dx, vector.Elements(r.v[:], &t.X, lo, n))
			}
			if t.Y.Data != nil {
				vec.AddProduct(sum, 1, c.dy, vector.Elements(r.v[:], &t.Y, lo, n))
			}
			addProduct(c.to, 1, sum, g.Z)
		}
	}
}

// addBinary43 works on fixed-point numbers: on those without gaps by loops, and on others, and for second
// derivatives, one by one.
func addBinary43(p *binaryPass[fixed.Q43], r *binaryRoom[fixed.Q43], lo, hi int) {
	f, k, g, t, gt := p.f, &p.k, &p.g, &p.t, &p.gt
	if p.order < 2 && p.isFlat() {
		addFlat43(p, r, lo, hi)
		return
	}
	for i := lo; i < hi; i++ {
		x, y := k.X.Data[i*k.X.Inc], k.Y.Data[i*k.Y.Inc]
		if k.Z.Data != nil {
			k.Z.Data[i*k.Z.Inc] += number.Signed(p.sign, f.value43(x, y))
		}
		if p.order == 0 {
			continue
		}
		dx, dy, gz := vector.Element(t.X, i), vector.Element(t.Y, i), vector.Element(g.Z, i)
		if t.Z.Data != nil {
			ax, _ := f.gradient43(x, y, dx)
			_, ay := f.gradient43(x, y, dy)
			t.Z.Data[i*t.Z.Inc] += number.Signed(p.sign, ax+ay)
		}
		if g.hasInput() && g.Z.Data != nil {
			gx, gy := f.gradient43(x, y, gz)
			g.addInputs(i, gx, gy)
		}
		if gt.hasInput() && gt.Z.Data != nil {
			gx, gy := f.gradient43(x, y, vector.Element(gt.Z, i))
			gt.addInputs(i, gx, gy)
		}
		if p.order == 2 {
			hx, hy := f.hessian43(x, y, dx, dy, gz)
			gt.addInputs(i, hx, hy)
		}
	}
}

// addFlat43 works on fixed-point numbers without gaps, up to first derivatives, a piece at a time.
func addFlat43(p *binaryPass[fixed.Q43], r *binaryRoom[fixed.Q43], lo, hi int) {
	k, g, t, gt, add := &p.k, &p.g, &p.t, &p.gt, p.f.fixed.add
	if p.order == 0 {
		if k.Z.Data != nil {
			add(p.sign, k.X.Data[lo:hi], k.Y.Data[lo:hi], k.Z.Data[lo:hi], nil, nil, nil)
		}
		return
	}
	for ; lo < hi; lo += elementwise.PieceSize {
		n := min(elementwise.PieceSize, hi-lo)
		at := func(v rev.Vector[fixed.Q43], without []fixed.Q43) []fixed.Q43 {
			if v.Data == nil {
				return without
			}
			return v.Data[lo : lo+n]
		}
		x, y, z, rate, none := at(k.X, nil), at(k.Y, nil), at(k.Z, nil), r.f[:n], r.v[:n]
		slopes := func(v rev.Vector[fixed.Q43], gx, gy []fixed.Q43) {
			if v.Data != nil {
				add(p.sign, x, y, z, at(v, nil), gx, gy)
				z = nil // has its value
			}
		}
		if t.Z.Data != nil {
			clear(rate)
			slopes(t.X, rate, none)
			slopes(t.Y, none, rate)
			fixedpoint.Axpy(p.sign, fixed.One, rate, at(t.Z, nil))
		}
		for _, g := range [...]*binaryOperands[fixed.Q43]{g, gt} {
			if g.hasInput() {
				slopes(g.Z, at(g.X, none), at(g.Y, none))
			}
		}
		if z != nil {
			add(p.sign, x, y, z, nil, nil, nil)
		}
	}
}

// isFlat reports whether no operand has gaps.
func (p *binaryPass[T]) isFlat() bool { return areFlat(&p.k, &p.g, &p.t, &p.gt) }

func areFlat[T rev.Real](operands ...*binaryOperands[T]) bool {
	for _, k := range operands {
		for _, v := range [...]*rev.Vector[T]{&k.X, &k.Y, &k.Z} {
			if v.Data != nil && v.Inc != 1 {
				return false
			}
		}
	}
	return true
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
