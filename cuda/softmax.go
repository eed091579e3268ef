package cuda

import "revnum/rev"

// Softmax is the kernel of revnn.Softmax over real numbers,
//
//	Y += p,  p_i = exp(x_i - m)/s,  m = max x,  s = Σ_i exp(x_i - m)
//
// with the derivatives, which all have the same form:
//
//	x̄_i += p_i·(ȳ_i - d),  d = Σ p_j·ȳ_j
//	ẏ_i += p_i·(ẋ_i - r),  r = Σ p_j·ẋ_j
//	ġx_i += p_i·(ġy_i - e + (ẋ_i - r)·(ȳ_i - d)),  e = Σ p_j·(ġy_j + (ẋ_j - r)·(ȳ_j - d)).
//
// Every launch computes the exponentials again and stores none. No exponential overflows. If an
// element of X is NaN or +Inf, or all are -Inf, all of p is NaN.
//
// In float64 an element of p that is not subnormal is within
//
//	(34 + (m - x_i) + log n + n/2¹⁸)·2⁻⁵³·p_i
//
// of the softmax: the difference from m, two exponentials, the quotient, and the sum, which is that
// of Dot. Over float32 this is computed in float64 and rounded once. In fixed point all has the
// bits of the host.
type Softmax[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Softmax[T]) Run(p rev.Pass[Softmax[T]]) error {
	w := begin(&k, &p)
	g, t, gt := &p.G, &p.T, &p.GT
	s := newSoftmax[T](&w, k.X, nil, p.Sign(), true)
	none := Vector[T]{}
	s.add(k.Y, p.Sign(), none, 0)
	turn := gt.X.Data != nil && g.Y.Data != nil && t.X.Data != nil
	if t.X.Data != nil && (t.Y.Data != nil || turn) {
		s.mean(tangentMean, nil, 1, t.X)
		s.addCentered(t.Y, p.Sign(), t.X, tangentMean)
	}
	if g.Y.Data != nil && (g.X.Data != nil || turn) {
		s.mean(cotangentMean, nil, 1, g.Y)
		s.addCentered(g.X, 1, g.Y, cotangentMean)
	}
	if gt.X.Data == nil || gt.Y.Data == nil && !turn {
		return w.end()
	}
	if gt.Y.Data != nil {
		s.mean(turnMean, nil, 1, gt.Y)
	}
	if turn {
		s.covariance(gt.Y.Data != nil, t.X, g.Y)
	}
	yd, yi := gt.X.params()
	gd, gi := gt.Y.params()
	td, ti := t.X.params()
	cd, ci := g.Y.params()
	w.launch(typed[T]("addSoftmaxTurn"), s.on, yd, yi, s.x, s.inc, s.max, s.sum, s.n,
		gd, gi, w.number(turnMean), td, ti, w.number(tangentMean), cd, ci, w.number(cotangentMean))
	return w.end()
}

// The numbers in scratch memory: m and s, and r, d and e.
const (
	softmaxMax = iota
	softmaxSum
	tangentMean
	cotangentMean
	turnMean
)

// A softmax is a pass over p, with m and s computed.
type softmax[T rev.Real] struct {
	*pass
	on        grid
	x, inc, n uint64
	max, sum  uint64
}

// newSoftmax computes m and s, and out += sign·log Σ exp(x_i) unless out is nil. If x has +Inf,
// p is NaN, or, unless nan is set, zero where x is finite.
func newSoftmax[T rev.Real](w *pass, x Vector[T], out *T, sign int, nan bool) softmax[T] {
	s := softmax[T]{pass: w, on: vectorGrid(x.N), n: uint64(x.N), max: w.number(softmaxMax), sum: w.number(softmaxSum)}
	s.x, s.inc = x.params()
	var flag uint64
	if nan {
		flag = 1
	}
	blocks := uint64(s.on.blocks[0])
	w.launch(typed[T]("maxParts"), s.on, w.parts(), s.x, s.inc, s.n)
	w.launch(typed[T]("maxEnd"), oneBlock(s.on), s.max, w.parts(), blocks)
	w.launch(typed[T]("expParts"), s.on, w.parts(), s.x, s.inc, s.n, s.max)
	w.launch(typed[T]("expEnd"), oneBlock(s.on), s.sum, pointer(out), uint64(sign), s.max, s.n, w.parts(), blocks, flag)
	return s
}

// mean computes number to = Σ p_i·y_i, and out += sign·Σ p_i·y_i unless out is nil.
func (s *softmax[T]) mean(to int, out *T, sign int, y Vector[T]) {
	yd, yi := y.params()
	s.launch(typed[T]("meanParts"), s.on, s.parts(), s.x, s.inc, s.max, s.sum, s.n, yd, yi, 0, 0, 0, 0)
	s.launch(typed[T]("meanEnd"), oneBlock(s.on), s.number(to), 0, pointer(out), uint64(sign), s.parts(), uint64(s.on.blocks[0]))
}

// covariance computes e = Σ p_i·(x_i - r)·(y_i - d), or adds it to e.
func (s *softmax[T]) covariance(add bool, x, y Vector[T]) {
	var flag uint64
	if add {
		flag = 1
	}
	xd, xi := x.params()
	yd, yi := y.params()
	s.launch(typed[T]("meanParts"), s.on, s.parts(), s.x, s.inc, s.max, s.sum, s.n, xd, xi, s.number(tangentMean), yd, yi, s.number(cotangentMean))
	s.launch(typed[T]("meanEnd"), oneBlock(s.on), s.number(turnMean), flag, 0, 1, s.parts(), uint64(s.on.blocks[0]))
}

// addCentered computes y += sign·p·(from - mean), unless one of them is nil.
func (s *softmax[T]) addCentered(y Vector[T], sign int, from Vector[T], mean int) {
	if from.Data != nil {
		s.add(y, sign, from, mean)
	}
}

// add computes y += sign·p, or what addCentered does.
func (s *softmax[T]) add(y Vector[T], sign int, from Vector[T], mean int) {
	if y.Data == nil || s.n == 0 {
		return
	}
	yd, yi := y.params()
	fd, fi := from.params()
	s.launch(typed[T]("addSoftmax"), s.on, yd, yi, uint64(sign), s.x, s.inc, s.max, s.sum, s.n, fd, fi, s.number(mean))
}
