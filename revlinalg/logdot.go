package revlinalg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/logstep"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// LogDot is the kernel
//
//	Out ⊕= ⊕_i x_i ⊗ y_i,  that is  Out' = log(e^Out + Σ_i e^(x_i+y_i)),
//
// of two vectors of logs of the same length, the dot product of the numbers.
// With w_i = e^(x_i+y_i-Out'), the share of a term in the new value of Out,
//
//	x̄_i += Ōut'·w_i,  ȳ_i += Ōut'·w_i,  Ōut = Ōut'·e^(Out-Out'),
//	Ȯut' = Ȯut·e^(Out-Out') + Σ_i w_i·(ẋ_i + ẏ_i).
//
// LogSum says what logs as operands and their cotangents are, and what Inverse
// restores. The log s of the dot product itself is within
// (n + 4 + 3·|s| + log n)·ε/2 for n terms. The relative error of a share is the
// rounding error of x_i+y_i and, unless Out was -Inf, that of Out'; all shares
// together are e^(s-Out') within (n+4)·ε, relatively.
//
// The dot product of nothing is zero, the log -Inf. A factor +Inf makes it
// +Inf, unless the other is -Inf: that is NaN.
type LogDot[T rev.Float] struct {
	Out *T            `rev:"inout"`
	X   rev.Vector[T] `rev:"in"`
	Y   rev.Vector[T] `rev:"in"`
}

// NewLogDot returns the kernel over gonum vectors of logs, sharing their
// storage. It panics with mat.ErrShape if they differ in length.
func NewLogDot(out *float64, x, y *mat.VecDense) LogDot[float64] {
	if x.Len() != y.Len() {
		panic(mat.ErrShape)
	}
	return LogDot[float64]{Out: out, X: rev.ViewVec(x), Y: rev.ViewVec(y)}
}

// Forward computes Out ⊕= x·y.
func (k LogDot[T]) Forward() { k.run(false, LogDot[T]{}, LogDot[T]{}, LogDot[T]{}) }

// Inverse computes Out ⊖= x·y.
func (k LogDot[T]) Inverse() { k.run(true, LogDot[T]{}, LogDot[T]{}, LogDot[T]{}) }

// Adjoint computes Out ⊖= x·y and the cotangents of x, y and Out.
func (k LogDot[T]) Adjoint(g LogDot[T]) { k.run(true, g, LogDot[T]{}, LogDot[T]{}) }

// Tangent computes Out ⊕= x·y and the tangent of Out.
func (k LogDot[T]) Tangent(t LogDot[T]) { k.run(false, LogDot[T]{}, t, LogDot[T]{}) }

// AdjointTangent undoes Tangent and computes the cotangents and their tangents,
//
//	ġx_i += w_i·(Ġ + Ōut'·(ẋ_i + ẏ_i - Ȯut')),  Ġ the tangent of Ōut'.
func (k LogDot[T]) AdjointTangent(g, t, gt LogDot[T]) { k.run(true, g, t, gt) }

// InverseAdjoint undoes Adjoint.
func (k LogDot[T]) InverseAdjoint(g LogDot[T]) { k.run(false, g, LogDot[T]{}, LogDot[T]{}) }

// InverseTangent undoes Tangent.
func (k LogDot[T]) InverseTangent(t LogDot[T]) { k.run(true, LogDot[T]{}, t, LogDot[T]{}) }

// InverseAdjointTangent undoes AdjointTangent.
func (k LogDot[T]) InverseAdjointTangent(g, t, gt LogDot[T]) { k.run(false, g, t, gt) }

func (k LogDot[T]) run(back bool, g, t, gt LogDot[T]) {
	rev.Check(&k)
	if k.X.N != k.Y.N {
		panic(mat.ErrShape)
	}
	rev.CheckLike(&k, &g, &t, &gt)
	logReduction[T](k).run(back, logReduction[T](g), logReduction[T](t), logReduction[T](gt))
}

// logReduction is out ⊕= ⊕_i t_i with the terms t_i = x_i + y_i, or x_i if
// there is no y.
type logReduction[T rev.Float] struct {
	Out  *T
	X, Y rev.Vector[T]
}

// logScratch holds chunks: terms, e^(t_i-m), and vectors with gaps.
type logScratch[T rev.Float] struct {
	terms, shares, x, y [chunk]T
}

func (r logReduction[T]) run(back bool, g, t, gt logReduction[T]) {
	b := workspace.Get[logScratch[T]]()
	defer workspace.Put(b)

	top, sum := r.log(b)
	s := top
	if !math.IsInf(float64(top), 0) {
		s = T(float64(top) + math.Log(sum))
	}
	before, after := logstep.Step(r.Out, s, back)
	cotangents := g.Out != nil || gt.Out != nil
	if t.Out == nil && !cotangents {
		return
	}
	kept, v := logstep.Kept(before, after, s), 1/sum
	if s != after { // else also of infinity
		v *= logstep.Share(s, after)
	}
	var sigma, dBefore, dAfter float64
	if t.given() || t.Out != nil {
		if t.given() {
			r.eachChunk(b, top, func(lo int, e []T) {
				sigma += float64(vec.Dot(e, t.terms(b, lo, len(e))))
			})
			sigma *= v
		}
		dBefore, dAfter = logstep.Tangent(t.Out, kept, sigma, back)
	}
	if !cotangents {
		return
	}
	seed, dseed := logstep.Cotangent(g.Out, gt.Out, kept, dBefore, dAfter, back)
	if !g.given() && !gt.given() {
		return
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
}

// given reports whether r has terms, as an argument that holds derivatives.
func (r logReduction[T]) given() bool { return r.X.Data != nil || r.Y.Data != nil }

// terms returns terms lo, ..., lo+n-1 of r, in b.
func (r logReduction[T]) terms(b *logScratch[T], lo, n int) []T {
	switch {
	case r.Y.Data == nil:
		return elements(b.terms[:], r.X, lo, n)
	case r.X.Data == nil:
		return elements(b.terms[:], r.Y, lo, n)
	}
	x, y := elements(b.x[:], r.X, lo, n), elements(b.y[:], r.Y, lo, n)
	vec.AddTo(b.terms[:n], x, y)
	return b.terms[:n]
}

// add adds alpha·e_i for the terms from lo on to the derivatives in r.
func (r logReduction[T]) add(lo int, alpha T, e []T) {
	if r.X.Data != nil {
		addElements(r.X, lo, alpha, e)
	}
	if r.Y.Data != nil {
		addElements(r.Y, lo, alpha, e)
	}
}

// log returns m and Σ e^(t_i-m), which are -Inf and 1 if there is no term.
func (r logReduction[T]) log(b *logScratch[T]) (top T, sum float64) {
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

// eachChunk calls f with e^(t_i-m) for all terms, in b.shares, unless m is the
// log of zero.
func (r logReduction[T]) eachChunk(b *logScratch[T], top T, f func(lo int, e []T)) {
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
