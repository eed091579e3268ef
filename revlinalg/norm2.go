package revlinalg

import (
	"math"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Norm2 is the kernel
//
//	Out += ‖x‖ = √(Σ x_i²)
//
// with the derivatives, where u = x/‖x‖,
//
//	x̄ += Ōut·u,  Ȯut += r = Σ u_i·ẋ_i,  ġx += ġOut·u + Ōut·(ẋ - r·u)/‖x‖.
//
// The norm has no derivative at x = 0. There u is zero, which gives the subgradient of
// least norm.
//
// No square overflows or underflows unless the norm does. In floating point the norm is
// within (n+2)·ε times itself. In fixed point it is the nearest number if the norm is
// below 2²⁰. If not, it is undefined, but the same each time, so that Inverse restores
// Out. In fixed point an element of u is rounded once, and products with it once more.
// If the norm is less than 2⁻²⁰ times the tangents, ġx wraps.
type Norm2[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// Frobenius is the kernel
//
//	Out += ‖A‖_F = √(Σ a_ij²)
//
// It is Norm2 of the elements of a matrix.
type Frobenius[T rev.Real] struct {
	Out *T             `rev:"acc"`
	A   rev.General[T] `rev:"in" shape:"m,n"`
}

// norm2Run is Run of Norm2. It returns no error.
func norm2Run[T rev.Real](k *Norm2[T], p *rev.Pass[Norm2[T]]) error {
	r := vectorNormAt(&k.X)
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), r)
	}
	if r != 0 && p.G.Out != nil {
		addUnit(*p.G.Out, &k.X, r, &p.G.X)
	}
	if r != 0 && p.Tangent {
		norm2AddTangents(k, p, r)
	}
	return nil
}

// norm2AddTangents adds the derivatives of the norm r along p.T.
func norm2AddTangents[T rev.Real](k *Norm2[T], p *rev.Pass[Norm2[T]], r T) {
	n, g, t, gt := norm2Norm(k), norm2Norm(&p.G), norm2Norm(&p.T), norm2Norm(&p.GT)
	n.addTangents(p.Sign(), r, &g, &t, &gt)
}

// norm2RunChecked is RunChecked of Norm2. It finds Out, also where the norm is out of range.
func norm2RunChecked[T rev.Real](k *Norm2[T], back bool) error {
	if !number.IsFixed[T]() || k.Out == nil {
		return norm2Run(k, &rev.Pass[Norm2[T]]{Back: back})
	}
	x := vector.FixedAs(k.X)
	s, ok := vector.ExactSquares(&x).Root()
	var r fixedpoint.Exact
	r.Add(s)
	if out := (*fixed.Q43)(unsafe.Pointer(k.Out)); !ok || !vector.AddChecked(out, signOf(back), r) {
		return rev.Overflow[Norm2[T]]("Out")
	}
	return nil
}

// norm2RunEach makes a pass over n problems and returns n, or 0 if it does not make this pass. pass points to it, and second and
// secondPass to the kernel and the pass of the second problem. RunEach is for package rules, and checks nothing: if the
// operands are not those of problems that lie at the same distances, it reads and writes other memory.
func norm2RunEach[T rev.Real](k *Norm2[T], pass, second, secondPass any, n int) int {
	p, next, q := *pass.(*rev.Pass[Norm2[T]]), *second.(*Norm2[T]), *secondPass.(*rev.Pass[Norm2[T]])
	switch {
	case p.Tangent || number.IsFixed[T]():
		return 0
	case unsafe.Sizeof(T(0)) == 4:
		return eachNorm2(number.As[Norm2[float32]](*k), number.As[rev.Pass[Norm2[float32]]](p), number.As[Norm2[float32]](next), number.As[rev.Pass[Norm2[float32]]](q), n)
	}
	return eachNorm2(number.As[Norm2[float64]](*k), number.As[rev.Pass[Norm2[float64]]](p), number.As[Norm2[float64]](next), number.As[rev.Pass[Norm2[float64]]](q), n)
}

// eachNorm2 is RunEach without tangents.
func eachNorm2[T rev.Float](k Norm2[T], p rev.Pass[Norm2[T]], next Norm2[T], q rev.Pass[Norm2[T]], n int) int {
	e := vector.Each{N: n}
	x, gx := vector.Rows(&e, k.X, next.X), vector.Rows(&e, p.G.X, q.G.X)
	out, g := vector.Numbers(&e, k.Out, next.Out), vector.Numbers(&e, p.G.Out, q.G.Out)
	if e.Bad {
		return 0
	}
	sign, sums, quotients := T(p.Sign()), [rowsAtOnce]T{}, [rowsAtOnce]T{}
	least, most := moderate[T]()
	for lo, rows := 0, rowsFor(k.X.N, g.Data != nil && gx.Data != nil); lo < n; lo += rows {
		norms := sums[:min(rows, n-lo)]
		vec.SumSquaresRows(k.X.N, x.Data[lo*x.Stride:], x.Stride, norms)
		if vec.Above(norms, T(least)) == len(norms) && vec.Smaller(norms, T(most)) == len(norms) {
			vec.Sqrt(norms, norms)
		} else {
			for i := range norms {
				norms[i] = vectorNorm(vector.Row(x, lo+i))
			}
		}
		addSigned(sign, norms, &out, lo)
		if g.Data == nil || gx.Data == nil {
			continue
		}
		units, moderate := quotients[:len(norms)], true
		for i, r := range norms {
			units[i] = g.Data[(lo+i)*g.Inc] / r
			moderate = moderate && isModerate(units[i])
		}
		if moderate {
			vec.AxpyRows(k.X.N, gx.Data[lo*gx.Stride:], gx.Stride, x.Data[lo*x.Stride:], x.Stride, units)
			continue
		}
		for i, r := range norms {
			if x, gx := vector.Row(x, lo+i), vector.Row(gx, lo+i); r != 0 {
				addUnit(g.Data[(lo+i)*g.Inc], &x, r, &gx)
			}
		}
	}
	return n
}

// rowsAtOnce is how many rows of n problems RunEach takes at once, if they are short.
const rowsAtOnce = 64

// rowsFor returns how many rows of n elements are taken at once. If they are read again, they stay in the cache.
func rowsFor(n int, again bool) int {
	if !again {
		return rowsAtOnce
	}
	return max(1, min(rowsAtOnce, 1024/max(1, n)))
}

// addSigned adds sign·x_i to element lo+i of out, if there is an out.
func addSigned[T rev.Float](sign T, x []T, out *rev.Vector[T], lo int) {
	switch {
	case out.Data == nil:
	case out.Inc == 1:
		vec.Axpy(sign, x, out.Data[lo:][:len(x)])
	default:
		for i, v := range x {
			out.Data[(lo+i)*out.Inc] += T(sign * v)
		}
	}
}

// vectorNorm returns the norm of x.
func vectorNorm[T rev.Real](x rev.Vector[T]) T { return vectorNormAt(&x) }

// vectorNormAt is vectorNorm of a vector that is not copied.
func vectorNormAt[T rev.Real](x *rev.Vector[T]) T {
	if !number.IsFixed[T]() {
		if s := vector.SumSquaresAt(x); isModerate(s) {
			return T(math.Sqrt(float64(s)))
		}
	}
	n := normOf(nil, *x)
	return n.value()
}

func norm2Norm[T rev.Real](k *Norm2[T]) norm[T] { return normOf(k.Out, k.X) }

// frobeniusRun is Run of Frobenius. It returns no error.
func frobeniusRun[T rev.Real](k *Frobenius[T], p *rev.Pass[Frobenius[T]]) error {
	n, g, t, gt := frobeniusNorm(k), frobeniusNorm(&p.G), frobeniusNorm(&p.T), frobeniusNorm(&p.GT)
	n.run(p.Sign(), &g, &t, &gt)
	return nil
}

func frobeniusNorm[T rev.Real](k *Frobenius[T]) norm[T] { return norm[T]{k.Out, k.A, 1} }

// run makes a pass over the norm. Operands of g, t and gt that are absent are nil.
func (k *norm[T]) run(sign int, g, t, gt *norm[T]) {
	r := k.value()
	if k.out != nil {
		*k.out += number.Signed(sign, r)
	}
	if r == 0 {
		return
	}
	if g.out != nil {
		k.addUnit(*g.out, r, g)
	}
	k.addTangents(sign, r, g, t, gt)
}

// addTangents adds the derivatives of the norm r along t.
func (k *norm[T]) addTangents(sign int, r T, g, t, gt *norm[T]) {
	if t.x.Data != nil && (t.out != nil || gt.x.Data != nil) {
		rate := k.along(t, r)
		if t.out != nil {
			*t.out += number.Signed(sign, rate)
		}
		if g.out != nil && gt.x.Data != nil {
			k.addTurn(gt, t, *g.out, rate, r)
		}
	}
	if gt.out != nil {
		k.addUnit(*gt.out, r, gt)
	}
}

// addUnit adds alpha·x/r to the elements of g. It does nothing if they are nil.
func (k *norm[T]) addUnit(alpha, r T, g *norm[T]) {
	if g.x.Data == nil {
		return
	}
	if k.isFlat() && g.isFlat() {
		x, y := k.all(), g.all()
		addUnit(alpha, &x, r, &y)
		return
	}
	for i := range k.x.Rows {
		x, y := k.row(i), g.row(i)
		addUnit(alpha, &x, r, &y)
	}
}

// addUnit adds alpha·x/r to y. It does nothing if y is nil.
func addUnit[T rev.Real](alpha T, x *rev.Vector[T], r T, y *rev.Vector[T]) {
	if a := alpha / r; !number.IsFixed[T]() && isModerate(a) {
		vector.AxpyAt(a, x, y)
		return
	}
	if y.Data == nil {
		return
	}
	if number.IsFixed[T]() && x.Inc == 1 && y.Inc == 1 {
		addFixedUnit(fixed.Q43(alpha), number.As[[]fixed.Q43](x.Data[:x.N]), fixed.Q43(r), number.As[[]fixed.Q43](y.Data[:x.N]))
		return
	}
	for i := range x.N {
		y.Data[i*y.Inc] += fixed.Product(alpha, fixed.Quotient(x.Data[i*x.Inc], r))
	}
}

// addFixedUnit is addUnit for vectors without gaps.
func addFixedUnit(alpha fixed.Q43, x []fixed.Q43, r fixed.Q43, y []fixed.Q43) {
	var norms, unit [64]fixed.Q43
	for i := range norms[:min(len(x), len(norms))] {
		norms[i] = r
	}
	for lo := 0; lo < len(x); lo += len(unit) {
		hi := min(lo+len(unit), len(x))
		u := unit[:hi-lo]
		clear(u)
		fixedpoint.AddQuotients(1, x[lo:hi], norms[:hi-lo], u)
		fixedpoint.Axpy(1, alpha, u, y[lo:hi])
	}
}

// along returns Σ (x_i/r)·ẋ_i. For one element that is ±ẋ to the bit, so that the
// second derivative is zero.
func (k *norm[T]) along(t *norm[T], r T) T {
	var d T
	for i := range k.x.Rows {
		x, dx := k.row(i), t.row(i)
		for j := range x.N {
			d += fixed.Product(fixed.Quotient(x.Data[j*x.Inc], r), dx.Data[j*dx.Inc])
		}
	}
	return d
}

// addTurn adds alpha·(ẋ - rate·x/r)/r to g.
func (k *norm[T]) addTurn(g, t *norm[T], alpha, rate, r T) {
	for i := range k.x.Rows {
		x, dx, d := k.row(i), t.row(i), g.row(i)
		for j := range x.N {
			u := fixed.Quotient(x.Data[j*x.Inc], r)
			v := dx.Data[j*dx.Inc] - fixed.Product(rate, u)
			d.Data[j*d.Inc] += fixed.Product(alpha, fixed.Quotient(v, r))
		}
	}
}

// isModerate reports whether the square of a, and that of 1/a, are far from
// overflow.
func isModerate[T rev.Real](a T) bool {
	m := math.Abs(float64(a))
	least, most := moderate[T]()
	return m > least && m < most
}

// moderate returns the bounds of isModerate.
func moderate[T rev.Real]() (least, most float64) {
	if unsafe.Sizeof(T(0)) == 4 {
		return 0x1p-50, 0x1p50
	}
	return 0x1p-400, 0x1p400
}

// value returns the norm.
func (k *norm[T]) value() T {
	if number.IsFixed[T]() {
		return k.fixedValue()
	}
	if s := k.squares(); isModerate(s) {
		return T(math.Sqrt(float64(s)))
	}
	return k.scaledValue()
}

// fixedValue is value in fixed point.
func (k *norm[T]) fixedValue() T {
	if k.isFlat() {
		return T(fixedpoint.SumSquares(number.As[[]fixed.Q43](k.x.Data[:k.x.Rows*k.x.Cols])).Sqrt())
	}
	var s fixed.Accumulator
	for i := range k.x.Rows {
		x := k.row(i)
		if x.Inc == 1 {
			s.AddAcc(fixedpoint.SumSquares(number.As[[]fixed.Q43](x.Data[:x.N])))
			continue
		}
		for j := range x.N {
			v := fixed.Q43(x.Data[j*x.Inc])
			s.AddMul(v, v)
		}
	}
	return T(s.Sqrt())
}

// scaledValue is value in floating point if the squares or their sum may be out of
// range. It scales by a power of two that brings the largest element near 1.
func (k *norm[T]) scaledValue() T {
	top := 0.0
	for i := range k.x.Rows {
		x := k.row(i)
		for j := range x.N {
			top = max(top, math.Abs(float64(x.Data[j*x.Inc])))
		}
	}
	if top == 0 || !(top <= math.MaxFloat64) {
		return T(top)
	}
	_, e := math.Frexp(top)
	e = vector.ScaleExponent(e)
	scale, sum := math.Ldexp(1, -e), 0.0
	for i := range k.x.Rows {
		x := k.row(i)
		for j := range x.N {
			v := float64(x.Data[j*x.Inc]) * scale
			sum += float64(v * v)
		}
	}
	return T(math.Ldexp(math.Sqrt(sum), e))
}
