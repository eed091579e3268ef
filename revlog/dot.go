package revlog

import (
	"math"

	"revnum/internal/logs"
	"revnum/internal/logstep"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Dot is the kernel
//
//	Out ⊕= ⊕_i x_i ⊗ y_i,  that is  Out' = log(e^Out + Σ_i e^(x_i+y_i)),
//
// of two vectors of logs of the same length, the dot product of the numbers.
// With w_i = e^(x_i+y_i-Out'), the share of a term in the new value of Out,
//
//	x̄_i += Ōut'·w_i,  ȳ_i += Ōut'·w_i,  Ōut = Ōut'·e^(Out-Out'),
//	Ȯut' = Ȯut·e^(Out-Out') + Σ_i w_i·(ẋ_i + ẏ_i),
//	ġx_i += w_i·(ġOut' + Ōut'·(ẋ_i + ẏ_i - Ȯut')).
//
// The log s of the dot product itself is within (n + 4 + 3·|s| + log n)·ε/2 for
// n terms. The relative error of a share is the rounding error of x_i+y_i and,
// unless Out was -Inf, the one of Out'. All shares together are e^(s-Out') within
// (n+4)·ε, relatively.
//
// The dot product of nothing is zero, the log -Inf. A factor +Inf makes it
// +Inf. If the other factor is -Inf, it is NaN.
type Dot[T rev.Float] struct {
	Out *T            `rev:"inout"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
	Y   rev.Vector[T] `rev:"in" shape:"n"`
}

// dotRun is Run of Dot. It returns no error. The inverse of Adjoint is the exception: it
// may return rev.ErrUnsupported.
func dotRun[T rev.Float](k *Dot[T], p *rev.Pass[Dot[T]]) error {
	return reduction[T](*k).run(p.Back, reduction[T](p.G), reduction[T](p.T), reduction[T](p.GT))
}

// chunk is how many terms are processed at a time. Intermediate values then stay in the
// first cache.
const chunk = 1024

// reduction is out ⊕= ⊕_i t_i with the terms t_i = x_i + y_i, or x_i without a y.
type reduction[T rev.Float] struct {
	Out  *T
	X, Y rev.Vector[T]
}

// dotScratch holds chunks: terms, e^(t_i-m), and vectors with gaps.
type dotScratch[T rev.Float] struct {
	terms, shares, x, y [chunk]T
}

func (r reduction[T]) run(back bool, g, t, gt reduction[T]) error {
	b := workspace.Get[*dotScratch[T]]()
	defer workspace.Put(b)

	top, sum := r.log(b)
	s := top
	if !math.IsInf(float64(top), 0) {
		s = T(float64(top) + logs.Log(sum))
	}
	cotangents := g.Out != nil || gt.Out != nil
	if cotangents && !back && logstep.Lost(*r.Out, s) {
		return rev.ErrUnsupported
	}
	before, after := logstep.Step(r.Out, s, back)
	if t.Out == nil && !cotangents {
		return nil
	}
	kept, v := logstep.Kept(before, after, s), 1/sum
	if s != after { // else it would also be the difference of infinities
		v *= logstep.Share(s, after)
	}
	var sigma, dBefore, dAfter float64
	if t.given() || t.Out != nil {
		if t.given() {
			r.eachChunk(b, top, func(lo int, e []T) {
				sigma += float64(vec.Dot(e, t.terms(b, lo, len(e))))
			})
			sigma = float64(sigma * v)
		}
		dBefore, dAfter = logstep.Tangent(t.Out, kept, sigma, back)
	}
	if !cotangents {
		return nil
	}
	seed, dseed := logstep.Cotangent(g.Out, gt.Out, kept, dBefore, dAfter, back)
	if !g.given() && !gt.given() {
		return nil
	}
	seed, dseed = seed*v, dseed*v
	r.eachChunk(b, top, func(lo int, e []T) {
		g.add(lo, T(seed), e)
		if gt.given() {
			gt.add(lo, T(dseed), e)
			if t.given() {
				vec.MulTo(e, e, t.terms(b, lo, len(e)))
				gt.add(lo, T(seed), e)
			}
		}
	})
	return nil
}

// given reports whether r, an argument with derivatives, has terms.
func (r reduction[T]) given() bool { return r.X.Data != nil || r.Y.Data != nil }

// terms returns terms lo, ..., lo+n-1 of r, in b.
func (r reduction[T]) terms(b *dotScratch[T], lo, n int) []T {
	switch {
	case r.Y.Data == nil:
		return vec.Packed(b.terms[:], r.X.Data, r.X.Inc, lo, n)
	case r.X.Data == nil:
		return vec.Packed(b.terms[:], r.Y.Data, r.Y.Inc, lo, n)
	}
	x, y := vec.Packed(b.x[:], r.X.Data, r.X.Inc, lo, n), vec.Packed(b.y[:], r.Y.Data, r.Y.Inc, lo, n)
	vec.AddTo(b.terms[:n], x, y)
	return b.terms[:n]
}

// add adds alpha·e_i for the terms from lo on to the derivatives in r.
func (r reduction[T]) add(lo int, alpha T, e []T) {
	if r.X.Data != nil {
		vec.AxpyInc(alpha, e, r.X.Data, r.X.Inc, lo)
	}
	if r.Y.Data != nil {
		vec.AxpyInc(alpha, e, r.Y.Data, r.Y.Inc, lo)
	}
}

// log returns m and Σ e^(t_i-m). They are -Inf and 1 if there are no terms.
func (r reduction[T]) log(b *dotScratch[T]) (top T, sum float64) {
	top = T(math.Inf(-1))
	for lo := 0; lo < r.X.N; lo += chunk {
		m := vec.Max(r.terms(b, lo, min(chunk, r.X.N-lo)))
		if math.IsNaN(float64(m)) {
			return m, 1
		}
		top = max(top, m)
	}
	if math.IsInf(float64(top), 0) {
		return top, 1
	}
	for lo := 0; lo < r.X.N; lo += chunk {
		sum += float64(vec.SumExp(r.terms(b, lo, min(chunk, r.X.N-lo)), top))
	}
	return top, sum
}

// eachChunk calls f with e^(t_i-m) for all terms, in b.shares. It does nothing if m is
// the log of zero.
func (r reduction[T]) eachChunk(b *dotScratch[T], top T, f func(lo int, e []T)) {
	if logstep.IsZero(top) {
		return
	}
	for lo := 0; lo < r.X.N; lo += chunk {
		t := r.terms(b, lo, min(chunk, r.X.N-lo))
		e := b.shares[:len(t)]
		vec.ExpShiftSum(e, t, top)
		f(lo, e)
	}
}
