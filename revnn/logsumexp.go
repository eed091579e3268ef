package revnn

import (
	"revnum/internal/number"
	"revnum/rev"
)

// LogSumExp is the kernel
//
//	Out += log Σ_i exp(x_i) = m + log s,  m = max x,  s = Σ_i exp(x_i - m)
//
// with the derivatives, where p_i = exp(x_i - m)/s is the softmax of x,
//
//	x̄ += Ōut·p,  Ȯut += τ = Σ p_i·ẋ_i,  ġx_i += p_i·(ġOut + Ōut·(ẋ_i - τ)),
//
// No exponential overflows. In float64, log s is within (1024 + n/1024)·ε, and mostly
// within a few ε, because s is a sum of positive terms in chunks of 1024. The result
// has this error plus the rounding of m + log s. An element of the
// gradient has the relative errors of s and of x_i - m, at most (745 + 1024 + n/1024)·ε.
//
// The result is -Inf if X is empty or all its elements are -Inf, +Inf if an element is
// +Inf, and NaN if an element is NaN. If it is -Inf or NaN, the gradient is NaN. If it
// is +Inf, the gradient is NaN where x_i is +Inf or NaN, and otherwise 0.
//
// In fixed point the result is within 1 + n/s units in the last place, for n < 2²⁰
// elements of any magnitude, and an element of p within 2 + n·p_i/s. The logarithm of
// zero, for no elements, is the least number, -2²⁰. One worker does everything.
type LogSumExp[T rev.Real] struct {
	Out     *T            `rev:"acc"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// logSumExpRun is Run of LogSumExp. It returns no error.
func logSumExpRun[T rev.Real](k *LogSumExp[T], p *rev.Pass[LogSumExp[T]]) error {
	var o softmaxPass[T]
	derivatives := p.Adjoint || p.Tangent
	if derivatives {
		o = softmaxPass[T]{
			tx: p.T.X, gx: p.G.X, gtx: p.GT.X, d: -number.ValueOf(p.G.Out), e: -number.ValueOf(p.GT.Out),
		}
		o.dropUnused(p.G.Out != nil, p.G.Out != nil || p.GT.Out != nil, p.T.Out != nil)
	}
	w := openSoftmax(k.X, k.Workers, &o)
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), w.whole.logSum())
	}
	if derivatives {
		w.whole.forLogarithm()
		w.finish()
		if p.T.Out != nil && p.T.X.Data != nil {
			*p.T.Out += number.Signed(p.Sign(), w.r)
		}
	}
	w.close()
	return nil
}
