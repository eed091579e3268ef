package cuda

import "revnum/rev"

// LogSumExp is the kernel of revnn.LogSumExp over real numbers,
//
//	Out += log Σ_i exp(x_i) = m + log s,  m = max x,  s = Σ_i exp(x_i - m)
//
// with the derivatives, where p_i = exp(x_i - m)/s is the softmax of x,
//
//	x̄ += Ōut·p,  Ȯut += τ = Σ p_i·ẋ_i,  ġx_i += p_i·(ġOut + Ōut·(ẋ_i - τ)).
//
// No exponential overflows. Sums are in float64 over float32, too, and in the order of a tree:
// log s is within a few ε. X is read once for the value and τ. Infinities and NaN give what they give
// on the host: the result is -Inf if X is empty or all its elements are -Inf, +Inf if an element
// is +Inf, and NaN if one is NaN. In fixed point all has the bits of the host.
type LogSumExp[T rev.Real] struct {
	Out *T        `rev:"acc"`
	X   Vector[T] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k LogSumExp[T]) Run(p rev.Pass[LogSumExp[T]]) error {
	w := begin(&k, &p)
	g, t, gt := &p.G, &p.T, &p.GT
	var tau []mean[T]
	if t.X.Data != nil && (t.Out != nil || gt.X.Data != nil) {
		tau = []mean[T]{{to: tangentMean, of: t.X, out: t.Out}}
	}
	s := newSoftmax(&w, k.X, k.Out, p.Sign(), false, tau)
	if g.Out != nil {
		s.addLogSumExp(g.X, g.Out, nil, Vector[T]{})
	}
	s.addLogSumExp(gt.X, gt.Out, g.Out, t.X)
	return w.end()
}

// addLogSumExp computes y += p·(a + b·(ẋ - τ)). What is nil counts as zero.
func (s *softmax[T]) addLogSumExp(y Vector[T], a, b *T, tx Vector[T]) {
	if y.Data == nil || a == nil && (b == nil || tx.Data == nil) {
		return
	}
	yd, yi := y.params()
	td, ti := tx.params()
	s.launch(typed[T]("addLogSumExp"), mapGrid(int(s.n)), yd, yi, s.x, s.inc, s.max, s.sum, s.n, pointer(a), pointer(b), td, ti, s.number(tangentMean))
}
