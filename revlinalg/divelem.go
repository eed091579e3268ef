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

// DivElem is the kernel
//
//	z_i += x_i/y_i
//
// for vectors of the same length. With q = x/y, ω = z̄/y and ġz the tangent of z̄, the
// derivatives are
//
//	x̄ += ω,  ȳ -= ω·q,  ż += q̇ = (ẋ - q·ẏ)/y,
//	ġx += ω̇ = (ġz - ω·ẏ)/y,  ġy -= ω̇·q + ω·q̇.
//
// If an element of Y is zero, all passes return a *rev.DomainError that names it, and change
// nothing. A NaN is passed on. Each quotient is rounded once. In fixed point a quotient of
// magnitude 2²⁰ or more wraps and is meaningless.
type DivElem[T rev.Real] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// divElemRun is Run of DivElem. It returns a *rev.DomainError where y is zero.
func divElemRun[T rev.Real](k *DivElem[T], p *rev.Pass[DivElem[T]]) error {
	for i := leading(k.Y, vec.Nonzero[float64], vec.Nonzero[float32]); i < k.Y.N; i++ {
		if y := k.Y.Data[i*k.Y.Inc]; y == 0 {
			x := k.X.Data[i*k.X.Inc]
			return &rev.DomainError{Func: "quotient", Args: []float64{fixed.Float(x), fixed.Float(y)}, Index: i}
		}
	}
	operands := func(k *DivElem[T]) *binaryOperands[T] { return (*binaryOperands[T])(k) }
	w := quotients[T]{operands(k), operands(&p.G), operands(&p.T), operands(&p.GT), p.Sign()}
	n := k.X.N
	if n <= elementwise.BlockSize && k.Workers >= 0 { // parallel.Workers panics
		parallel.CheckInterrupt()
		w.add(0, n)
		return nil
	}
	j := workspace.Get[*quotientJob[T]]()
	j.operands = [4]binaryOperands[T]{*w.k, *w.g, *w.t, *w.gt}
	o := &j.operands
	j.quotients = quotients[T]{&o[0], &o[1], &o[2], &o[3], w.sign}
	parallel.Run(parallel.Workers(k.Workers), (n+elementwise.BlockSize-1)/elementwise.BlockSize, j)
	*j = quotientJob[T]{} // without the caller's storage
	workspace.Put(j)
	return nil
}

// quotients are a pass of DivElem in progress.
type quotients[T rev.Real] struct {
	k, g, t, gt *binaryOperands[T]
	sign        int
}

// A quotientJob is a pass whose blocks several workers share. It has the operands itself, because
// those of quotients may lie on a stack.
type quotientJob[T rev.Real] struct {
	quotients[T]
	operands [4]binaryOperands[T]
}

// A quotientRoom has copies of operands with gaps, and intermediate values, of one PieceSize.
type quotientRoom[T rev.Real] struct {
	x, y, dx, dy, gz, gtz   [elementwise.PieceSize]T
	q, dq, omega, domega, v [elementwise.PieceSize]T
}

// Block works on a block of elements.
func (j *quotientJob[T]) Block(_, block int) {
	lo := block * elementwise.BlockSize
	j.add(lo, min(lo+elementwise.BlockSize, j.k.X.N))
}

// add makes the pass for elements from lo to hi.
func (w *quotients[T]) add(lo, hi int) {
	if w, ok := any(w).(*quotients[fixed.Q43]); ok && hi-lo >= 16 && w.isFlat() {
		addFixedQuotients(w, lo, hi)
		return
	}
	switch w := any(w).(type) {
	case *quotients[float64]:
		addQuotients(w, lo, hi)
	case *quotients[float32]:
		addQuotients(w, lo, hi)
	case *quotients[fixed.Q43]:
		w.addEach(lo, hi)
	}
}

// derivatives reports whether the pass has a tangent, and whether it has a tangent of the
// gradient.
func (w *quotients[T]) derivatives() (tangent, second bool) {
	tangent = w.t.X.Data != nil || w.t.Y.Data != nil
	return tangent, w.gt.Z.Data != nil || tangent && w.g.Z.Data != nil
}

// addQuotients works on floats, a piece at a time.
func addQuotients[T rev.Float](w *quotients[T], lo, hi int) {
	k, g, t, gt := w.k, w.g, w.t, w.gt
	tangent, second := w.derivatives()
	if !tangent && g.Z.Data == nil && gt.Z.Data == nil && k.Z.Data != nil && w.isFlat() {
		vec.AddQuotient(k.Z.Data[lo:hi], T(w.sign), k.X.Data[lo:hi], k.Y.Data[lo:hi])
		return
	}
	if hi-lo < 16 { // calls take longer than so few quotients
		w.addEach(lo, hi)
		return
	}
	r := workspace.Get[*quotientRoom[T]]()
	defer workspace.Put(r)
	for ; lo < hi; lo += elementwise.PieceSize {
		n := min(elementwise.PieceSize, hi-lo)
		elements := func(buf *[elementwise.PieceSize]T, v rev.Vector[T]) []T {
			if v.Data == nil {
				clear(buf[:n])
				return buf[:n]
			}
			return vector.Elements(buf[:], &v, lo, n)
		}
		add := func(to rev.Vector[T], sign T, v []T) {
			if to.Data != nil {
				vector.AddElements(&to, lo, sign, v)
			}
		}
		// minus computes (a - b·c)/y.
		minus := func(dst, a, b, c, y []T) {
			vec.MulTo(r.v[:n], b, c)
			vec.AxpyTo(dst, -1, r.v[:n], a)
			vec.DivTo(dst, dst, y)
		}
		y, q, dq, omega, domega, v := elements(&r.y, k.Y), r.q[:n], r.dq[:n], r.omega[:n], r.domega[:n], r.v[:n]
		vec.DivTo(q, elements(&r.x, k.X), y)
		add(k.Z, T(w.sign), q)
		if tangent {
			minus(dq, elements(&r.dx, t.X), q, elements(&r.dy, t.Y), y)
			add(t.Z, T(w.sign), dq)
		}
		if g.Z.Data == nil && gt.Z.Data == nil {
			continue
		}
		vec.DivTo(omega, elements(&r.gz, g.Z), y)
		if g.Z.Data != nil {
			add(g.X, 1, omega)
			vec.MulTo(v, omega, q)
			add(g.Y, -1, v)
		}
		if !second {
			continue
		}
		minus(domega, elements(&r.gtz, gt.Z), omega, elements(&r.dy, t.Y), y)
		add(gt.X, 1, domega)
		vec.MulTo(v, domega, q)
		if tangent {
			vec.MulTo(omega, omega, dq)
			vec.AddTo(v, v, omega)
		}
		add(gt.Y, -1, v)
	}
}

// isFlat reports whether no operand has gaps.
func (w *quotients[T]) isFlat() bool { return areFlat(w.k, w.g, w.t, w.gt) }

// addFixedQuotients works on fixed-point numbers without gaps, with the bits of addEach.
func addFixedQuotients(w *quotients[fixed.Q43], lo, hi int) {
	k, g, t, gt := w.k, w.g, w.t, w.gt
	tangent, second := w.derivatives()
	var room [5][64]fixed.Q43
	for ; lo < hi; lo += len(room[0]) {
		n := min(len(room[0]), hi-lo)
		at := func(v rev.Vector[fixed.Q43]) []fixed.Q43 {
			if v.Data == nil {
				return nil
			}
			return v.Data[lo : lo+n]
		}
		y, q, dq, omega, domega, v := at(k.Y), room[0][:n], room[1][:n], room[2][:n], room[3][:n], room[4][:n]
		// divide sets dst to (a - b·c)/y. A nil operand counts as 0.
		divide := func(dst, a, b, c []fixed.Q43) {
			clear(dst)
			if b != nil && c != nil {
				clear(v)
				copy(v, a)
				fixedpoint.AddProducts(-1, b, c, v)
				a = v
			}
			if a != nil {
				fixedpoint.AddQuotients(1, a, y, dst)
			}
		}
		if k.Z.Data != nil && !tangent && !second && g.Z.Data == nil {
			fixedpoint.AddQuotients(w.sign, at(k.X), y, at(k.Z))
			continue
		}
		divide(q, at(k.X), nil, nil)
		if k.Z.Data != nil {
			fixedpoint.Axpy(w.sign, fixed.One, q, at(k.Z))
		}
		divide(dq, at(t.X), q, at(t.Y))
		if t.Z.Data != nil {
			fixedpoint.Axpy(w.sign, fixed.One, dq, at(t.Z))
		}
		divide(omega, at(g.Z), nil, nil)
		addTo := func(o *binaryOperands[fixed.Q43], x, b, c []fixed.Q43) {
			if o.X.Data != nil && x != nil {
				fixedpoint.Axpy(1, fixed.One, x, at(o.X))
			}
			if o.Y.Data != nil {
				fixedpoint.AddProducts(-1, b, c, at(o.Y))
			}
		}
		if g.Z.Data != nil {
			addTo(g, omega, omega, q)
		}
		if second {
			divide(domega, at(gt.Z), omega, at(t.Y))
			addTo(gt, domega, domega, q)
			addTo(gt, nil, omega, dq)
		}
	}
}

// addEach works on numbers one by one.
func (w *quotients[T]) addEach(lo, hi int) {
	k, g, t, gt := w.k, w.g, w.t, w.gt
	tangent, second := w.derivatives()
	for i := lo; i < hi; i++ {
		y := k.Y.Data[i*k.Y.Inc]
		q := fixed.Quotient(k.X.Data[i*k.X.Inc], y)
		if k.Z.Data != nil {
			k.Z.Data[i*k.Z.Inc] += number.Signed(w.sign, q)
		}
		if !tangent && !second && g.Z.Data == nil {
			continue
		}
		dy := vector.Element(t.Y, i)
		dq := fixed.Quotient(vector.Element(t.X, i)-fixed.Product(q, dy), y)
		if t.Z.Data != nil {
			t.Z.Data[i*t.Z.Inc] += number.Signed(w.sign, dq)
		}
		omega := fixed.Quotient(vector.Element(g.Z, i), y)
		if g.Z.Data != nil {
			g.addInputs(i, omega, -fixed.Product(omega, q))
		}
		if second {
			domega := fixed.Quotient(vector.Element(gt.Z, i)-fixed.Product(omega, dy), y)
			gt.addInputs(i, domega, -fixed.Product(domega, q)-fixed.Product(omega, dq))
		}
	}
}
