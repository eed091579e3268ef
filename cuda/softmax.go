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
// A pass reads X once for m, s and d or r, and again for the rest: launches store no exponentials. No
// exponential overflows. Sums for d and r are in units of 2⁴⁰ and do not overflow either; means below 2⁻⁹⁸²
// lose digits for that. If an element of X is NaN or +Inf, or all are -Inf, all of p is NaN.
//
// In float64 an element of p that is not subnormal is within
//
//	(100 + (m - x_i) + log n + n/2¹⁵)·2⁻⁵³·p_i
//
// of the softmax: the difference from m, exponentials, the quotient, and the sum. It has up to 512
// parts of 256 threads, so a thread adds up to 1 + n/2¹⁷ elements. For each, its sum may be scaled to a larger
// one: the exponential is off by 1.3 of these units, the product by one, and the addition by one, together less than 4.
// Parts are also scaled when they are added to others with a larger m: that is in the 100.
// Over float32 this is computed in float64 and rounded once. In fixed point all has the bits of the
// host.
type Softmax[T rev.Real] struct {
	Y Vector[T] `rev:"acc" shape:"n"`
	X Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k Softmax[T]) Run(p rev.Pass[Softmax[T]]) error {
	w := begin(&k, &p)
	g, t, gt := &p.G, &p.T, &p.GT
	turn := gt.X.Data != nil && g.Y.Data != nil && t.X.Data != nil
	tangents := t.X.Data != nil && (t.Y.Data != nil || turn)
	cotangents := g.Y.Data != nil && (g.X.Data != nil || turn)
	var means []mean[T]
	if tangents {
		means = append(means, mean[T]{to: tangentMean, of: t.X})
	}
	if cotangents {
		means = append(means, mean[T]{to: cotangentMean, of: g.Y})
	}
	s := newSoftmax(&w, k.X, nil, p.Sign(), true, means)
	y := k.Y // is computed with the first derivative
	if tangents && t.Y.Data != nil {
		s.add(y, p.Sign(), t.Y, p.Sign(), mean[T]{to: tangentMean, of: t.X})
		y = Vector[T]{}
	}
	if cotangents && g.X.Data != nil {
		s.add(y, p.Sign(), g.X, 1, mean[T]{to: cotangentMean, of: g.Y})
		y = Vector[T]{}
	}
	if y.Data != nil {
		s.add(y, p.Sign(), Vector[T]{}, 1, mean[T]{})
	}
	if gt.X.Data == nil || gt.Y.Data == nil && !turn {
		return w.end()
	}
	if gt.Y.Data != nil {
		s.mean(mean[T]{to: turnMean, of: gt.Y}, 1)
	}
	if turn {
		s.covariance(gt.Y.Data != nil, t.X, g.Y)
	}
	yd, yi := gt.X.params()
	gd, gi := gt.Y.params()
	td, ti := t.X.params()
	cd, ci := g.Y.params()
	w.launch(typed[T]("addSoftmaxTurn"), mapGrid(int(s.n)), yd, yi, s.x, s.inc, s.max, s.sum, s.n,
		gd, gi, w.number(turnMean), td, ti, w.number(tangentMean), cd, ci, w.number(cotangentMean))
	return w.end()
}

// The numbers in scratch memory: m and s, and r, d and e.
const (
	_ = iota // for a mean that nobody reads
	softmaxMax
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

// A mean is Σ p_i·y_i of a vector of. It goes to a number in scratch memory, and is added to out
// unless that is nil.
type mean[T rev.Real] struct {
	to  int
	of  Vector[T]
	out *T
}

// newSoftmax computes m and s, means, and out += sign·log Σ exp(x_i) unless out is nil. If x has +Inf,
// p is NaN, or, unless nan is set, zero where x is finite. Over floats it reads x once for m, s and a
// mean.
func newSoftmax[T rev.Real](w *pass, x Vector[T], out *T, sign int, nan bool, means []mean[T]) softmax[T] {
	s := softmax[T]{pass: w, on: vectorGrid(x.N), n: uint64(x.N), max: w.number(softmaxMax), sum: w.number(softmaxSum)}
	s.x, s.inc = x.params()
	if !isFixed[T]() {
		on := s.on
		on.blocks[0] = min(on.blocks[0], max(1, bounds.blocks/2)) // which are resident at once on large cards
		blocks := uint64(on.blocks[0])
		for i := range max(1, len(means)) {
			var m mean[T]
			if i < len(means) {
				m = means[i]
			}
			yd, yi := m.of.params()
			w.launch(typed[T]("exponentialParts"), on, w.parts(), s.x, s.inc, s.n, yd, yi)
			w.launch(typed[T]("exponentialEnd"), oneBlock(on), s.max, s.sum, w.number(m.to), pointer(out), pointer(m.out), uint64(sign), w.parts(), blocks, bit(nan))
			out = nil
		}
		return s
	}
	blocks := uint64(s.on.blocks[0])
	w.launch("maxPartsQ43", s.on, w.parts(), s.x, s.inc, s.n)
	w.launch("maxEndQ43", oneBlock(s.on), s.max, w.parts(), blocks)
	w.launch("expPartsQ43", s.on, w.parts(), s.x, s.inc, s.n, s.max)
	w.launch("expEndQ43", oneBlock(s.on), s.sum, pointer(out), uint64(sign), s.max, s.n, w.parts(), blocks)
	for _, m := range means {
		s.mean(m, sign)
	}
	return s
}

// mean computes a mean, and adds sign times it to its out.
func (s *softmax[T]) mean(m mean[T], sign int) {
	yd, yi := m.of.params()
	s.launch(typed[T]("meanParts"), s.on, s.parts(), s.x, s.inc, s.max, s.sum, s.n, yd, yi, 0, 0, 0, 0)
	s.launch(typed[T]("meanEnd"), oneBlock(s.on), s.number(m.to), 0, pointer(m.out), uint64(sign), s.parts(), uint64(s.on.blocks[0]))
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

// add computes y += sign·p, and to += signTo·p·(y - mean) for the y of a mean. What is nil is left
// out.
func (s *softmax[T]) add(y Vector[T], sign int, to Vector[T], signTo int, m mean[T]) {
	if s.n == 0 {
		return
	}
	yd, yi := y.params()
	td, ti := to.params()
	fd, fi := m.of.params()
	s.launch(typed[T]("addSoftmax"), mapGrid(int(s.n)), yd, yi, uint64(sign), s.x, s.inc, s.max, s.sum, s.n, td, ti, uint64(signTo), fd, fi, s.number(m.to))
}
