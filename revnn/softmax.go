package revnn

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Softmax is the kernel
//
//	Y += p,  p_i = exp(x_i - m)/s,  m = max x,  s = Σ_i exp(x_i - m)
//
// with the derivatives, which all have the same form:
//
//	x̄_i += p_i·(ȳ_i - d),  d = Σ p_j·ȳ_j
//	ẏ_i += ṗ_i = p_i·(ẋ_i - r),  r = Σ p_j·ẋ_j
//	ġx_i += p_i·(ġy_i - e) + ṗ_i·(ȳ_i - d),  e = Σ p_j·ġy_j + ṗ_j·ȳ_j
//
// Every method computes the exponentials again and stores none.
//
// No exponential overflows. In floating point an element of p is within a few units in
// the last place plus the rounding of x_i - m. If an element of X is NaN or +Inf, or
// all are -Inf, all of p is NaN.
//
// In fixed point an element of p is within 2 + n·p_i/s units in the last place, for n <
// 2²⁰ elements of any magnitude. Elements more than 31 below the maximum get zero. The
// derivatives are meaningful while the differences ȳ_i - d and so on are below 2²⁰.
//
// In floating point, workers share long vectors, except for what AdjointTangent adds to
// gradients and their tangents. The bits do not depend on the number of workers.
type Softmax[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// NewSoftmax returns the kernel over gonum vectors, sharing their storage.
func NewSoftmax(y, x *mat.VecDense) Softmax[float64] {
	return Softmax[float64]{Y: rev.ViewVec(y), X: rev.ViewVec(x)}
}

// Forward computes Y += p.
func (k Softmax[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Y -= p.
func (k Softmax[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Y -= p and x̄_i += p_i·(ȳ_i - d).
func (k Softmax[T]) Adjoint(g Softmax[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Y += p and ẏ_i += p_i·(ẋ_i - r).
func (k Softmax[T]) Tangent(t Softmax[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, ẏ_i -= p_i·(ẋ_i - r), and the
// tangent of the gradient in gt.
func (k Softmax[T]) AdjointTangent(g, t, gt Softmax[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k Softmax[T]) Run(p rev.Pass[Softmax[T]]) error {
	g, t, gt, sign := &p.G, &p.T, &p.GT, T(p.Sign())
	k.add(sign, centered[T]{t.Y, t.X, sign}, centered[T]{g.X, g.Y, 1})
	if gt.X.Data != nil && (gt.Y.Data != nil || g.Y.Data != nil && t.X.Data != nil) {
		k.addGradientTangent(g, t, gt)
	}
	return nil
}

// A centered adds sign·p_i·(from_i - Σ p_j·from_j) to the elements of to. It does
// nothing if either is nil. Signs are 1 or -1, also as integers in fixed point.
type centered[T rev.Real] struct {
	to, from rev.Vector[T]
	sign     T
}

func (c *centered[T]) wanted() bool { return c.to.Data != nil && c.from.Data != nil }

// add adds sign·p to Y if Y is there, and up to two others.
func (k *Softmax[T]) add(sign T, others ...centered[T]) {
	if !number.IsFixed[T]() {
		w := LogSumExp[T]{X: k.X, Workers: k.Workers}.open()
		if math.IsInf(w.max, 1) {
			w.sum = math.NaN() // then all of p is NaN
		}
		if k.Y.Data != nil {
			w.addSoftmax(k.Y, float64(sign))
		}
		for _, c := range others {
			if c.wanted() {
				w.addCentered(c.to, float64(c.sign), c.from)
			}
		}
		w.close()
		return
	}
	k.addPieces(sign, others...)
}

// addPieces is add by one worker, in pieces.
func (k *Softmax[T]) addPieces(sign T, others ...centered[T]) {
	var buffer [softmaxPiece]T
	w := newSoftmax(k.X, buffer[:])
	var means [2]T
	for i, c := range others {
		if c.wanted() {
			means[i] = w.mean(c.from)
		}
	}
	for w.next() {
		if sign > 0 {
			w.add(k.Y)
		} else {
			w.sub(k.Y)
		}
		for i, c := range others {
			if c.wanted() {
				w.addCentered(c.to, c.sign, c.from, means[i])
			}
		}
	}
}

// addGradientTangent adds to the tangent of x̄.
func (k *Softmax[T]) addGradientTangent(g, t, gt *Softmax[T]) {
	var buffer [softmaxPiece]T
	w := newSoftmax(k.X, buffer[:])
	var d, r, e T
	if g.Y.Data != nil {
		d = w.mean(g.Y)
	}
	if t.X.Data != nil {
		r = w.mean(t.X)
	}
	turn := g.Y.Data != nil && t.X.Data != nil
	if gt.Y.Data != nil {
		e = w.mean(gt.Y)
	}
	if turn {
		// Σ ṗ_j·ȳ_j = Σ p_j·(ẋ_j - r)·(ȳ_j - d), as Σ ṗ_j = 0.
		e += w.covariance(t.X, r, g.Y, d)
	}
	for w.next() {
		for i, p := range w.p {
			var v T
			if gt.Y.Data != nil {
				v = gt.Y.Data[(w.lo+i)*gt.Y.Inc]
			}
			v -= e
			if turn {
				v += fixed.Product(t.X.Data[(w.lo+i)*t.X.Inc]-r, g.Y.Data[(w.lo+i)*g.Y.Inc]-d)
			}
			gt.X.Data[(w.lo+i)*gt.X.Inc] += fixed.Product(p, v)
		}
	}
}

// A softmax yields the elements of p in pieces. next moves to the piece that begins
// with element lo, until there is none.
type softmax[T rev.Real] struct {
	x      rev.Vector[T]
	max, s T
	lo     int
	p      []T
	buffer []T
}

// softmaxPiece is the length of a piece. A piece lies on the stack.
const softmaxPiece = 256

// newSoftmax returns a softmax of x before its first piece. The buffer is for one
// piece.
func newSoftmax[T rev.Real](x rev.Vector[T], buffer []T) softmax[T] {
	w := softmax[T]{x: x, max: maximum(x), buffer: buffer}
	for w.advance() {
		w.s = addSat(w.s, expShift(w.p, w.max))
	}
	return w
}

// advance moves to the next piece and puts the elements of x into p. After the last
// piece it returns to before the first.
func (w *softmax[T]) advance() bool {
	w.lo += len(w.p)
	w.p = w.buffer[:min(len(w.buffer), w.x.N-w.lo)]
	if w.x.Inc == 1 {
		copy(w.p, w.x.Data[w.lo:])
	} else {
		for i := range w.p {
			w.p[i] = w.x.Data[(w.lo+i)*w.x.Inc]
		}
	}
	if len(w.p) == 0 {
		w.lo = 0
		return false
	}
	return true
}

// next moves to the next piece. After the last it returns to before the first.
func (w *softmax[T]) next() bool {
	if !w.advance() {
		return false
	}
	expShift(w.p, w.max)
	divide(w.p, w.s)
	return true
}

// logSum returns max + log s, or the least number if there are no elements.
func (w *softmax[T]) logSum() T {
	switch {
	case w.x.N == 0 || math.IsInf(float64(w.max), 0):
		return w.max
	case number.IsFixed[T]():
		return w.max + T(fixed.Log(fixed.Q43(w.s)))
	}
	return w.max + T(math.Log(float64(w.s)))
}

// mean returns Σ p_i·y_i.
func (w *softmax[T]) mean(y rev.Vector[T]) T {
	var s T
	for w.next() {
		for i, p := range w.p {
			s += fixed.Product(p, y.Data[(w.lo+i)*y.Inc])
		}
	}
	return s
}

// covariance returns Σ p_i·(x_i - r)·(y_i - d).
func (w *softmax[T]) covariance(x rev.Vector[T], r T, y rev.Vector[T], d T) T {
	var s T
	for w.next() {
		for i, p := range w.p {
			v := fixed.Product(p, x.Data[(w.lo+i)*x.Inc]-r)
			s += fixed.Product(v, y.Data[(w.lo+i)*y.Inc]-d)
		}
	}
	return s
}

// add adds the piece to y if y is there.
func (w *softmax[T]) add(y rev.Vector[T]) {
	if y.Data != nil {
		vector.Axpy(fixed.Of[T](1), rev.ViewSlice(w.p), w.piece(y))
	}
}

// sub undoes add.
func (w *softmax[T]) sub(y rev.Vector[T]) {
	if y.Data != nil {
		vector.Axmy(fixed.Of[T](1), rev.ViewSlice(w.p), w.piece(y))
	}
}

// piece returns the elements of y that belong to the piece.
func (w *softmax[T]) piece(y rev.Vector[T]) rev.Vector[T] {
	return rev.Vector[T]{N: len(w.p), Data: y.Data[w.lo*y.Inc:], Inc: y.Inc}
}

// addCentered adds sign·p_i·(x_i - mean) to y_i for the piece. The sign is 1 or -1,
// also as an integer in fixed point.
func (w *softmax[T]) addCentered(y rev.Vector[T], sign T, x rev.Vector[T], mean T) {
	for i, p := range w.p {
		y.Data[(w.lo+i)*y.Inc] += fixed.Product(p, x.Data[(w.lo+i)*x.Inc]-mean) * sign
	}
}

// maximum returns the largest element of x: NaN if one is NaN, and the least number if
// there are none.
func maximum[T rev.Real](x rev.Vector[T]) T {
	if x.N == 0 {
		return lowest[T]()
	}
	if x.Inc == 1 {
		switch xs := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(vec.Max(xs))
		case []float32:
			return T(vec.Max(xs))
		}
	}
	m := x.Data[0]
	for i := range x.N {
		m = max(m, x.Data[i*x.Inc])
	}
	return m
}

// lowest returns -Inf, or the least fixed-point number.
func lowest[T rev.Real]() T {
	if number.IsFixed[T]() {
		return T(fixed.Min)
	}
	return T(math.Inf(-1))
}

// expShift computes x_i = exp(x_i - shift), where no x_i is above shift, and returns
// the sum. In fixed point both saturate.
func expShift[T rev.Real](x []T, shift T) T {
	switch xs := any(x).(type) {
	case []float64:
		return T(vec.ExpShiftSum(xs, xs, float64(shift)))
	case []float32:
		return T(vec.ExpShiftSum(xs, xs, float32(shift)))
	}
	var s T
	for i, v := range x {
		x[i] = T(fixed.Exp(fixed.Q43(v).SubSat(fixed.Q43(shift))))
		s = addSat(s, x[i])
	}
	return s
}

// addSat returns a + b, saturated in fixed point.
func addSat[T rev.Real](a, b T) T {
	if number.IsFixed[T]() {
		return T(fixed.Q43(a).AddSat(fixed.Q43(b)))
	}
	return a + b
}

// divide computes x_i /= s. In floating point it multiplies by 1/s.
func divide[T rev.Real](x []T, s T) {
	switch x := any(x).(type) {
	case []float64:
		vec.ScaleTo(x, 1/float64(s), x)
		return
	case []float32:
		vec.ScaleTo(x, 1/float32(s), x)
		return
	}
	for i, v := range x {
		x[i] = fixed.Quotient(v, s)
	}
}
