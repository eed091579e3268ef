// Package elementwise has the kernels of functions of single elements in common:
//
//	y_i += f(x_i)
//
// with the derivatives
//
//	x̄ += conj(f′(x))·ȳ,  ẏ += f′(x)·ẋ,  ġx += conj(f′(x))·ġy + conj(f″(x)·ẋ)·ȳ
//
// of each element. A kernel is a Function, which states f and its derivatives, and Run
// makes its passes.
package elementwise

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Operands are the operands of such a kernel.
type Operands[T rev.Number] struct {
	Y       rev.Vector[T]
	X       rev.Vector[T]
	Workers int // 0 means GOMAXPROCS
}

// kernel has the kernels whose fields are Operands.
type kernel[T rev.Number] interface {
	~struct {
		Y       rev.Vector[T] `rev:"acc" shape:"n"`
		X       rev.Vector[T] `rev:"in" shape:"n"`
		Workers int
	}
}

// A Function is f with its first two derivatives.
type Function struct {
	Name string

	Float64 Loops[float64]
	Float32 Loops[float32]

	// If ByFloat is set, fixed-point values are rounded from float64. Both must then
	// have the same bits on all machines. If Rest is set too, f(-|x|) is rounded, and
	// f(x) = max(x, 0) + f(-|x|), because f(x) itself has more digits than a float64.
	ByFloat, Rest bool

	Q43     Pointwise[fixed.Q43]
	Fixed   FixedLoops
	Complex Pointwise[complex128]

	ComplexLoops ComplexLoops

	// Defined reports whether f has a value and derivatives up to the order at a real x
	// that is not positive. It is nil if f has all of them everywhere.
	Defined func(x float64, order int) bool

	// DefinedComplex reports the same at a complex x, and is nil likewise.
	DefinedComplex func(x complex128, order int) bool
}

// Loops compute f and its derivatives of the elements of x.
type Loops[T rev.Float] struct {
	// Known returns how many elements of x, from the first on, f is known to be defined at. Without
	// it, these are positive numbers.
	Known func(x []T) int

	// Values computes y_i = f(x_i), and Slopes d_i = f′(x_i). If Both is set, it computes y and d
	// at once instead. Without Slopes and Both, f′ and f″ are f.
	Values func(y, x []T)
	Slopes func(d, x []T)
	Both   func(y, d, x []T)

	// Add computes y_i += sign·f(x_i), and AddSlope to_i += sign·(f′(x_i)·from_i), with the bits
	// that Values and Slopes lead to. They may be nil.
	Add      func(y []T, sign T, x []T)
	AddSlope func(to []T, sign T, x, from []T)

	// Curves computes d_i = f″(x_i). It is given f(x_i) and f′(x_i) in y and d, and may overwrite
	// y. Without it, f″ is 0.
	Curves func(d, x, y []T)
}

// ComplexLoops have the bits of a Pointwise. If Add is nil, there are none.
type ComplexLoops struct {
	// Known is that of Loops, and may be nil.
	Known func(x []complex128) int

	// Add computes y_i += sign·f(x_i), and AddSlope to_i += sign·f′(x_i)·from_i, or with
	// conj(f′(x_i)) if turn is -1 and not 1.
	Add      func(y []complex128, sign float64, x []complex128)
	AddSlope func(to []complex128, sign, turn float64, x, from []complex128)
}

// FixedLoops compute y_i += f(x_i) and to_i += f′(x_i)·from_i, or the differences if sign is negative,
// with the bits of Q43. If Add is nil, there are none.
type FixedLoops struct {
	Add      func(y []fixed.Q43, sign int, x []fixed.Q43)
	AddSlope func(to []fixed.Q43, sign int, x, from []fixed.Q43)

	// If f′ follows from f, Reuse turns y_i = f(x_i) into what AddSlope takes instead of x_i.
	Reuse func(y []fixed.Q43)
}

// A Pointwise has functions of single numbers: f(x), f′(x)·v and f″(x)·v·w.
type Pointwise[T rev.Number] struct {
	Value func(x T) T
	Slope func(x, v T) T
	Curve func(x, v, w T) T
}

// A pass is a pass in progress. Operands that it lacks are nil.
type pass[T rev.Number] struct {
	k, g, t, gt *Operands[T]

	f    *Function
	sign int
}

// A job is a pass whose blocks several workers share. It has the operands itself, because those of
// a pass may lie on a stack.
type job[T rev.Number] struct {
	pass[T]
	operands [4]Operands[T]
}

// Sizes of pieces of vectors.
const (
	PieceSize = 512           // how many elements are computed at a time
	BlockSize = 8 * PieceSize // how many elements a worker takes at a time

	// A worker more costs some microseconds, and keeps a processor from others, such as the threads of a
	// program that calls the library. So each has at least this many blocks, if vector code does one in 5 µs.
	shareBlocks = 4
)

// These report whether a derivative has both operands.
func (p *pass[T]) tangent() bool  { return p.t.X.Data != nil && p.t.Y.Data != nil }
func (p *pass[T]) gradient() bool { return p.g.X.Data != nil && p.g.Y.Data != nil }
func (p *pass[T]) gradientTangent() bool {
	return p.gt.X.Data != nil && p.gt.Y.Data != nil
}

func (p *pass[T]) curved() bool {
	return p.gt.X.Data != nil && p.t.X.Data != nil && p.g.Y.Data != nil
}

// order returns the highest order of derivative that the pass needs.
func (p *pass[T]) order() int {
	switch {
	case p.curved():
		return 2
	case p.tangent() || p.gradient() || p.gradientTangent():
		return 1
	}
	return 0
}

// Run makes the pass p of a kernel k of f. It returns a *rev.DomainError if f is not defined
// at an element, and then changes nothing.
func Run[K kernel[T], T rev.Number](f *Function, k *K, p *rev.Pass[K]) error {
	if !p.Adjoint && !p.Tangent && addSmall(f, operands[T](k), p.Sign()) {
		return nil
	}
	w := pass[T]{operands[T](k), operands[T](&p.G), operands[T](&p.T), operands[T](&p.GT), f, p.Sign()}
	if err := w.checkDomain(); err != nil {
		return err
	}
	n, shared := w.k.X.N, w.k.Workers
	if n <= BlockSize && shared >= 0 { // parallel.Workers panics
		parallel.CheckInterrupt()
		w.apply(0, n)
		return nil
	}
	workers, blocks := parallel.Workers(shared), (n+BlockSize-1)/BlockSize
	if !number.IsFixed[T]() && !number.IsComplex[T]() {
		workers = min(workers, max(1, blocks/shareBlocks))
	}
	j := workspace.Get[*job[T]]()
	j.operands = [4]Operands[T]{*w.k, *w.g, *w.t, *w.gt}
	o := &j.operands
	j.pass = pass[T]{&o[0], &o[1], &o[2], &o[3], f, w.sign}
	parallel.Run(workers, blocks, j)
	*j = job[T]{} // without the caller's storage
	workspace.Put(j)
	return nil
}

// addSmall adds f to a block of floats one after the other, and reports whether it could. It has none
// of the preparations of a pass, which take longer than some elements.
func addSmall[T rev.Number](f *Function, k *Operands[T], sign int) bool {
	switch k := any(k).(type) {
	case *Operands[float64]:
		return addBlock(f, &f.Float64, k, sign)
	case *Operands[float32]:
		return addBlock(f, &f.Float32, k, sign)
	}
	return false
}

func addBlock[T rev.Float](f *Function, loops *Loops[T], k *Operands[T], sign int) bool {
	n := k.X.N
	if n > BlockSize || k.Workers < 0 || k.Y.Data == nil || k.X.Inc != 1 || k.Y.Inc != 1 || loops.Add == nil {
		return false
	}
	x := k.X.Data[:n]
	if f.Defined != nil && loops.known(x) < n {
		return false
	}
	parallel.CheckInterrupt()
	loops.Add(k.Y.Data[:n], T(sign), x)
	return true
}

// operands returns the operands of a kernel.
func operands[T rev.Number, K kernel[T]](k *K) *Operands[T] { return (*Operands[T])(unsafe.Pointer(k)) }

// checkDomain returns an error unless f is defined at all elements.
func (p *pass[T]) checkDomain() error {
	switch p := any(p).(type) {
	case *pass[float64]:
		return checkDomain(p)
	case *pass[float32]:
		return checkDomain(p)
	case *pass[fixed.Q43]:
		return checkDomain(p)
	case *pass[complex128]:
		if p.f.DefinedComplex == nil {
			return nil
		}
		order, i := p.order(), 0
		if p.f.ComplexLoops.Known != nil && p.k.X.Inc == 1 {
			i = p.f.ComplexLoops.Known(p.k.X.Data[:p.k.X.N])
		}
		for ; i < p.k.X.N; i++ {
			if x := p.k.X.Data[i*p.k.X.Inc]; !p.f.DefinedComplex(x, order) {
				return &rev.DomainError{Func: p.f.Name, Args: []float64{real(x), imag(x)}, Index: i, Order: order}
			}
		}
	}
	return nil
}

// checkDomain returns an error unless f is defined at all elements, which are real.
func checkDomain[T rev.Real](p *pass[T]) error {
	if p.f.Defined == nil {
		return nil
	}
	order := p.order()
	for i := known(p); i < p.k.X.N; i++ {
		x := p.k.X.Data[i*p.k.X.Inc]
		if x > 0 { // all functions are defined there
			continue
		}
		if x := fixed.Float(x); !p.f.Defined(x, order) {
			return &rev.DomainError{Func: p.f.Name, Args: []float64{x}, Index: i, Order: order}
		}
	}
	return nil
}

// known returns the number of elements, from the first on, that f is known to be defined at.
func known[T rev.Real](p *pass[T]) int {
	if p.k.X.Inc == 1 {
		switch x := any(p.k.X.Data[:p.k.X.N]).(type) {
		case []float64:
			return p.f.Float64.known(x)
		case []float32:
			return p.f.Float32.known(x)
		}
	}
	return 0
}

func (f *Loops[T]) known(x []T) int {
	if f.Known != nil {
		return f.Known(x)
	}
	return vec.Above(x, 0)
}

// Block works on a block of elements.
func (j *job[T]) Block(_, block int) {
	lo := block * BlockSize
	j.apply(lo, min(lo+BlockSize, j.k.X.N))
}

// apply adds sign·f(x) to y, for a sign of 1 or -1, for elements from lo to hi. It adds
// sign·f′(x)·ẋ to ẏ, and the gradients to x̄ and ġx. It omits operands that are nil.
func (p *pass[T]) apply(lo, hi int) {
	switch p := any(p).(type) {
	case *pass[float64]:
		applyFloat(p, &p.f.Float64, lo, hi)
	case *pass[float32]:
		applyFloat(p, &p.f.Float32, lo, hi)
	case *pass[fixed.Q43]:
		if p.f.ByFloat {
			applyByFloat(p, lo, hi)
		} else {
			applyFixed(p, lo, hi)
		}
	case *pass[complex128]:
		if p.f.ComplexLoops.Add == nil || !applyComplex(p, &p.f.ComplexLoops, lo, hi) {
			applyPointwise(p, &p.f.Complex, lo, hi)
		}
	}
}

// buffers hold intermediate values of one PieceSize.
type buffers[T rev.Number] struct{ x, y, d, v [PieceSize]T }

// addOne makes a pass that adds to one output, and reports whether it could.
func addOne[T rev.Float](p *pass[T], f *Loops[T], lo, hi int) bool {
	to, from, sign, outputs := &p.k.Y, (*rev.Vector[T])(nil), T(p.sign), 0
	if to.Data != nil {
		outputs++
	}
	if p.tangent() {
		to, from, outputs = &p.t.Y, &p.t.X, outputs+1
	}
	if p.gradient() {
		to, from, sign, outputs = &p.g.X, &p.g.Y, 1, outputs+1
	}
	if p.gradientTangent() {
		to, from, sign, outputs = &p.gt.X, &p.gt.Y, 1, outputs+1
	}
	if outputs != 1 || p.curved() || to.Inc != 1 || p.k.X.Inc != 1 {
		return false
	}
	switch x := p.k.X.Data[lo:hi]; {
	case from == nil && f.Add != nil:
		f.Add(to.Data[lo:hi], sign, x)
	case from != nil && from.Inc == 1 && f.AddSlope != nil:
		f.AddSlope(to.Data[lo:hi], sign, x, from.Data[lo:hi])
	default:
		return false
	}
	return true
}

func applyFloat[T rev.Float](p *pass[T], f *Loops[T], lo, hi int) {
	if addOne(p, f, lo, hi) {
		return
	}
	sign, order := T(p.sign), p.order()
	w := workspace.Get[*buffers[T]]()
	defer workspace.Put(w)
	for ; lo < hi; lo += len(w.x) {
		n := min(len(w.x), hi-lo)
		x, y, d := vector.Elements(w.x[:], &p.k.X, lo, n), w.y[:n], w.d[:n]
		switch {
		case f.Both != nil && (order > 0 || f.Values == nil):
			f.Both(y, d, x)
		case p.k.Y.Data != nil || order == 2 || f.Slopes == nil:
			f.Values(y, x)
			fallthrough
		default:
			if order > 0 && f.Slopes != nil {
				f.Slopes(d, x)
			} else if f.Both == nil {
				d = y
			}
		}
		if p.k.Y.Data != nil {
			vector.AddElements(&p.k.Y, lo, sign, y)
		}
		addProduct := func(to rev.Vector[T], sign T, from rev.Vector[T]) {
			v := vector.Elements(w.v[:], &from, lo, n)
			if to.Inc == 1 {
				vec.AddProduct(to.Data[lo:lo+n], sign, d, v)
				return
			}
			vec.MulTo(w.v[:n], d, v)
			vector.AddElements(&to, lo, sign, w.v[:n])
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
		if p.curved() && (f.Curves != nil || f.Slopes == nil && f.Both == nil) {
			if f.Curves != nil {
				f.Curves(d, x, y)
			}
			vec.MulTo(w.d[:n], d, vector.Elements(w.v[:], &p.t.X, lo, n))
			d = w.d[:n]
			addProduct(p.gt.X, 1, p.g.Y)
		}
	}
}

// applyPointwise works on elements one by one. A cotangent goes through f′ as
// conj(f′·conj(ȳ)).
func applyPointwise[T rev.Number](p *pass[T], f *Pointwise[T], lo, hi int) {
	at := func(v rev.Vector[T], i int) *T { return &v.Data[i*v.Inc] }
	for i := lo; i < hi; i++ {
		x := *at(p.k.X, i)
		if p.k.Y.Data != nil {
			*at(p.k.Y, i) += number.Signed(p.sign, f.Value(x))
		}
		if p.tangent() {
			*at(p.t.Y, i) += number.Signed(p.sign, f.Slope(x, *at(p.t.X, i)))
		}
		if p.gradient() {
			*at(p.g.X, i) += number.Conj(f.Slope(x, number.Conj(*at(p.g.Y, i))))
		}
		if p.gradientTangent() {
			*at(p.gt.X, i) += number.Conj(f.Slope(x, number.Conj(*at(p.gt.Y, i))))
		}
		if p.curved() {
			*at(p.gt.X, i) += number.Conj(f.Curve(x, *at(p.t.X, i), number.Conj(*at(p.g.Y, i))))
		}
	}
}

// applyComplex makes a pass without a second derivative of elements one after the other, and reports
// whether it could.
func applyComplex(p *pass[complex128], f *ComplexLoops, lo, hi int) bool {
	for _, o := range [...]*Operands[complex128]{p.k, p.t, p.g, p.gt} {
		if o.X.Data != nil && o.X.Inc != 1 || o.Y.Data != nil && o.Y.Inc != 1 {
			return false
		}
	}
	if p.curved() {
		return false
	}
	sign, x := float64(p.sign), p.k.X.Data[lo:hi]
	if p.k.Y.Data != nil {
		f.Add(p.k.Y.Data[lo:hi], sign, x)
	}
	if p.tangent() {
		f.AddSlope(p.t.Y.Data[lo:hi], sign, 1, x, p.t.X.Data[lo:hi])
	}
	if p.gradient() {
		f.AddSlope(p.g.X.Data[lo:hi], 1, -1, x, p.g.Y.Data[lo:hi])
	}
	if p.gradientTangent() {
		f.AddSlope(p.gt.X.Data[lo:hi], 1, -1, x, p.gt.Y.Data[lo:hi])
	}
	return true
}

// applyFixed works on fixed-point elements without gaps by loops, and on others one by one.
func applyFixed(p *pass[fixed.Q43], lo, hi int) {
	k, g, t, gt, f := p.k, p.g, p.t, p.gt, &p.f.Fixed
	for _, v := range [...]*rev.Vector[fixed.Q43]{&k.X, &k.Y, &g.X, &g.Y, &t.X, &t.Y, &gt.X, &gt.Y} {
		if f.Add == nil || v.Data != nil && v.Inc != 1 {
			applyPointwise(p, &p.f.Q43, lo, hi)
			return
		}
	}
	x := k.X.Data[lo:hi]
	if f.Reuse != nil && p.order() > 0 {
		applyReused(p, lo, hi)
		return
	}
	if k.Y.Data != nil {
		f.Add(k.Y.Data[lo:hi], p.sign, x)
	}
	if p.tangent() {
		f.AddSlope(t.Y.Data[lo:hi], p.sign, x, t.X.Data[lo:hi])
	}
	if p.gradient() {
		f.AddSlope(g.X.Data[lo:hi], 1, x, g.Y.Data[lo:hi])
	}
	if p.gradientTangent() {
		f.AddSlope(gt.X.Data[lo:hi], 1, x, gt.Y.Data[lo:hi])
	}
	addCurves(p, lo, hi)
}

// applyReused is applyFixed for derivatives that follow from the value, which is computed once.
func applyReused(p *pass[fixed.Q43], lo, hi int) {
	k, g, t, gt, f := p.k, p.g, p.t, p.gt, &p.f.Fixed
	addCurves(p, lo, hi)
	w := workspace.Get[*buffers[fixed.Q43]]()
	defer workspace.Put(w)
	for ; lo < hi; lo += len(w.v) {
		to := min(lo+len(w.v), hi)
		v := w.v[:to-lo]
		clear(v)
		f.Add(v, 1, k.X.Data[lo:to])
		if k.Y.Data != nil {
			addTo(k.Y, lo, p.sign, v)
		}
		f.Reuse(v)
		if p.tangent() {
			f.AddSlope(t.Y.Data[lo:to], p.sign, v, t.X.Data[lo:to])
		}
		if p.gradient() {
			f.AddSlope(g.X.Data[lo:to], 1, v, g.Y.Data[lo:to])
		}
		if p.gradientTangent() {
			f.AddSlope(gt.X.Data[lo:to], 1, v, gt.Y.Data[lo:to])
		}
	}
}

// addCurves adds f″(x)·ẋ·ȳ to ġx.
func addCurves(p *pass[fixed.Q43], lo, hi int) {
	k, g, t, gt := p.k, p.g, p.t, p.gt
	for i := lo; p.curved() && i < hi; i++ {
		gt.X.Data[i] += p.f.Q43.Curve(k.X.Data[i], t.X.Data[i], g.Y.Data[i])
	}
}

// A byFloatRoom has intermediate values of one PieceSize.
type byFloatRoom struct {
	buffers[float64]
	x43, v43, w43 [PieceSize]fixed.Q43
}

// applyByFloat works on fixed-point elements with the functions over float64.
func applyByFloat(p *pass[fixed.Q43], lo, hi int) {
	f, order := p.f, p.order()
	w := workspace.Get[*byFloatRoom]()
	defer workspace.Put(w)
	for ; lo < hi; lo += PieceSize {
		n := min(PieceSize, hi-lo)
		x, y, d, c := w.x[:n], w.y[:n], w.d[:n], w.v[:n]
		x43, v43 := packed(&w.x43, p.k.X, lo, n), w.v43[:n]
		if f.Rest { // -|x|
			for i, v := range x43 {
				m := positive(v)
				v43[i] = (v ^ m) - m
			}
			fixedpoint.Floats(x, v43)
		} else {
			fixedpoint.Floats(x, x43)
		}
		f.Float64.Both(y, d, x)
		if p.k.Y.Data != nil {
			clear(v43)
			fixedpoint.AddRounded(1, y, v43)
			if f.Rest {
				for i, v := range x43 {
					v43[i] += v & positive(v)
				}
			}
			addTo(p.k.Y, lo, p.sign, v43)
		}
		if order == 0 {
			continue
		}
		if order == 2 {
			copy(c, d)
			f.Float64.Curves(c, x, y)
		}
		clear(v43)
		fixedpoint.AddRounded(1, d, v43)
		if f.Rest {
			for i, v := range x43 {
				m := positive(v)
				v43[i] = (v43[i] ^ m) - m + fixed.One&m
			}
		}
		addProducts := func(to rev.Vector[fixed.Q43], sign int, from rev.Vector[fixed.Q43]) {
			v := packed(&w.w43, from, lo, n)
			if to.Inc == 1 {
				fixedpoint.AddProducts(sign, v43, v, to.Data[lo:lo+n])
				return
			}
			for i, v := range v {
				to.Data[(lo+i)*to.Inc] += number.Signed(sign, v43[i].Mul(v))
			}
		}
		if p.tangent() {
			addProducts(p.t.Y, p.sign, p.t.X)
		}
		if p.gradient() {
			addProducts(p.g.X, 1, p.g.Y)
		}
		if p.gradientTangent() {
			addProducts(p.gt.X, 1, p.gt.Y)
		}
		for i := 0; p.curved() && i < n; i++ {
			p.gt.X.Data[(lo+i)*p.gt.X.Inc] += fixed.FromFloat64(c[i]).Mul(p.t.X.Data[(lo+i)*p.t.X.Inc]).Mul(p.g.Y.Data[(lo+i)*p.g.Y.Inc])
		}
	}
}

// packed returns elements lo, ..., lo+n-1 of v: the storage of v itself if it has no gaps, else a copy in buf.
func packed(buf *[PieceSize]fixed.Q43, v rev.Vector[fixed.Q43], lo, n int) []fixed.Q43 {
	if v.Inc == 1 {
		return v.Data[lo : lo+n]
	}
	for i := range n {
		buf[i] = v.Data[(lo+i)*v.Inc]
	}
	return buf[:n]
}

// addTo computes y_{lo+i} += v_i, or the difference if sign is negative.
func addTo(y rev.Vector[fixed.Q43], lo, sign int, v []fixed.Q43) {
	m := fixed.Q43(sign) >> 63
	if y.Inc == 1 {
		y := y.Data[lo:][:len(v)]
		for i, v := range v {
			y[i] += (v ^ m) - m
		}
		return
	}
	for i, v := range v {
		y.Data[(lo+i)*y.Inc] += (v ^ m) - m
	}
}

// positive returns -1 if x > 0, and otherwise 0. A branch would be mispredicted where signs are random.
func positive(x fixed.Q43) fixed.Q43 { return (-x &^ x) >> 63 }

// Curve returns a function for Curves that calls f for every value and slope.
func Curve[T rev.Float](f func(y, d T) T) func(d, x, y []T) {
	return func(d, _, y []T) {
		for i, v := range y {
			d[i] = f(v, d[i])
		}
	}
}
