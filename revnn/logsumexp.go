package revnn

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
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
// has this error plus the rounding of m + log s. The relative error of an element of
// the gradient is that of s and of x_i - m, at most (745 + 1024 + n/1024)·ε.
//
// The result is -Inf if X is empty or all its elements are -Inf, +Inf if an element is
// +Inf, and NaN if an element is NaN. If it is -Inf or NaN, the gradient is NaN. If it
// is +Inf, the gradient is NaN where x_i is +Inf or NaN, and otherwise 0.
//
// In fixed point the result is within 1 + n/s units in the last place, for n < 2²⁰
// elements of any magnitude, and an element of p within 2 + n·p_i/s. The logarithm of
// zero, for no elements, is the least number, -2²⁰. One worker does everything.
//
// In floating point the method is that of Blanchard, Higham and Higham, Accurately
// computing the log-sum-exp and softmax functions (2021). One pass over memory computes
// the maximum and the sum. It sums each chunk shifted by the maximum of the chunk, and
// rescales these sums when it adds them up.
type LogSumExp[T rev.Real] struct {
	Out     *T            `rev:"acc"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// NewLogSumExp returns the kernel over a gonum vector, sharing its storage.
func NewLogSumExp(out *float64, x *mat.VecDense) LogSumExp[float64] {
	return LogSumExp[float64]{Out: out, X: rev.ViewVec(x)}
}

// Forward computes Out += log Σ exp(x_i).
func (k LogSumExp[T]) Forward() { _ = k.Run(rev.ForwardPass(&k)) }

// Inverse computes Out -= log Σ exp(x_i).
func (k LogSumExp[T]) Inverse() { _ = k.Run(rev.InversePass(&k)) }

// Adjoint computes Out -= log Σ exp(x_i) and x̄ += Ōut·p.
func (k LogSumExp[T]) Adjoint(g LogSumExp[T]) { _ = k.Run(rev.AdjointPass(&k, &g)) }

// Tangent computes Out += log Σ exp(x_i) and Ȯut += Σ p_i·ẋ_i.
func (k LogSumExp[T]) Tangent(t LogSumExp[T]) { _ = k.Run(rev.TangentPass(&k, &t)) }

// AdjointTangent computes what Adjoint does, takes back the tangent of Out, and adds
// the tangent of the gradient in gt.
func (k LogSumExp[T]) AdjointTangent(g, t, gt LogSumExp[T]) {
	_ = k.Run(rev.AdjointTangentPass(&k, &g, &t, &gt))
}

// Run implements rev.Kernel. It returns no error.
func (k LogSumExp[T]) Run(p rev.Pass[LogSumExp[T]]) error {
	if number.IsFixed[T]() {
		k.runPieces(p)
		return nil
	}
	w := k.open()
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), w.value())
	}
	if p.T.X.Data != nil && (p.T.Out != nil || p.GT.X.Data != nil) {
		w.t = p.T
		w.tau = w.derivative()
		if p.T.Out != nil {
			*p.T.Out += number.Signed(p.Sign(), T(w.tau))
		}
	}
	if p.G.Out != nil && p.G.X.Data != nil {
		w.addSoftmax(p.G.X, float64(*p.G.Out))
	}
	if p.GT.X.Data != nil && (p.G.Out != nil || p.GT.Out != nil) {
		w.g, w.gt = p.G, p.GT
		w.run(addSoftmaxTangent)
	}
	w.close()
	return nil
}

const (
	// chunk is how many elements are processed at a time. Intermediate values then stay
	// in the first cache.
	chunk = 1024
	// vectorParts is the largest number of parts of a vector for workers.
	vectorParts = 64
)

// partLength returns the length of the parts of a vector of n elements. The last part
// may be shorter.
func partLength(n int) int {
	chunks := (n + chunk - 1) / chunk
	return chunk * max(8, (chunks+vectorParts-1)/vectorParts)
}

// logSumExp is a call of a method of LogSumExp.
type logSumExp[T rev.Real] struct {
	k, g, t, gt LogSumExp[T]
	workers     int
	task        lseTask

	to     rev.Vector[T] // destination of addSoftmax and addCentered
	factor float64       // factor of what they add

	max, sum float64              // m and s
	tau      float64              // τ
	part     [vectorParts]lsePart // contributions of the parts of X to these
	scratch  [][3 * chunk]T       // of each worker
}

type lsePart struct{ max, sum, dot float64 }

type lseTask int

const (
	shiftedSums lseTask = iota // of exp(x_i - max) in each part
	weightedSums
	addSoftmax
	addCenteredSoftmax
	addSoftmaxTangent
)

// open returns the workspace of a call, with m and s computed.
func (k LogSumExp[T]) open() *logSumExp[T] {
	w := workspace.Get[logSumExp[T]]()
	w.k = k
	if w.parts() == 1 && k.Workers == 0 {
		k.Workers = 1 // parallel.Workers takes a lock for 0
	}
	w.workers = parallel.Workers(k.Workers)
	w.scratch = workspace.Grow(w.scratch, min(w.workers, max(1, w.parts())))
	w.run(shiftedSums)
	total := lsePart{max: math.Inf(-1)}
	for _, p := range w.part[:w.parts()] {
		total.add(p.max, p.sum)
	}
	w.max, w.sum = total.max, total.sum
	if math.IsInf(w.max, 1) {
		w.sum = 1 // for the gradient, which is 0 where x_i is finite
	}
	return w
}

// close returns the workspace, without the caller's storage.
func (w *logSumExp[T]) close() {
	w.k, w.g, w.t, w.gt, w.tau = LogSumExp[T]{}, LogSumExp[T]{}, LogSumExp[T]{}, LogSumExp[T]{}, 0
	w.to = rev.Vector[T]{}
	workspace.Put(w)
}

func (w *logSumExp[T]) parts() int {
	length := partLength(w.k.X.N)
	return (w.k.X.N + length - 1) / length
}

func (w *logSumExp[T]) run(task lseTask) {
	w.task = task
	parallel.Run(w.workers, w.parts(), w)
}

// addSoftmax adds factor·p_i to elements of x.
func (w *logSumExp[T]) addSoftmax(x rev.Vector[T], factor float64) {
	w.to, w.factor = x, factor
	w.run(addSoftmax)
}

// addCentered adds factor·p_i·(y_i - Σ p_j·y_j) to elements of x.
func (w *logSumExp[T]) addCentered(x rev.Vector[T], factor float64, y rev.Vector[T]) {
	w.to, w.factor, w.t.X = x, factor, y
	w.tau = w.derivative()
	w.run(addCenteredSoftmax)
}

// value returns m + log s.
func (w *logSumExp[T]) value() T {
	if math.IsInf(w.max, 0) {
		return T(w.max)
	}
	return T(w.max + math.Log(w.sum))
}

// derivative returns τ.
func (w *logSumExp[T]) derivative() float64 {
	w.run(weightedSums)
	d := 0.0
	for _, p := range w.part[:w.parts()] {
		d += p.dot
	}
	return d / w.sum
}

// add prepares for sum = Σ exp(x_i - max) over further elements.
func (p *lsePart) add(maximum, sum float64) {
	switch {
	case maximum == math.Inf(-1):
		// exp(-Inf) = 0 for all of them.
	case math.IsNaN(maximum) || math.IsInf(maximum, 1) || maximum > p.max:
		p.sum = float64(p.sum*math.Exp(p.max-maximum)) + sum
		p.max = maximum
	default:
		p.sum += float64(sum * math.Exp(maximum-p.max))
	}
}

// Block runs the task on a part of X.
func (w *logSumExp[T]) Block(worker, part int) {
	switch w := any(w).(type) {
	case *logSumExp[float64]:
		lseBlock(w, worker, part)
	case *logSumExp[float32]:
		lseBlock(w, worker, part)
	}
}

func lseBlock[T rev.Float](w *logSumExp[T], worker, part int) {
	scratch := &w.scratch[worker]
	bufX, bufE, bufT := scratch[:chunk], scratch[chunk:2*chunk], scratch[2*chunk:]
	length := partLength(w.k.X.N)
	sums := lsePart{max: math.Inf(-1)}
	for lo := part * length; lo < min((part+1)*length, w.k.X.N); lo += chunk {
		n := min(chunk, w.k.X.N-lo)
		x := vector.Elements(bufX, w.k.X, lo, n)
		e := bufE[:n]
		switch w.task {
		case shiftedSums:
			m := vec.Max(x)
			sums.add(float64(m), float64(vec.SumExp(x, m)))
			continue
		case weightedSums:
			vec.ExpShiftSum(e, x, T(w.max))
			sums.dot += float64(vec.Dot(e, vector.Elements(bufT, w.t.X, lo, n)))
			continue
		}
		vec.ExpShiftSum(e, x, T(w.max))
		if w.task == addCenteredSoftmax {
			tau := T(w.tau)
			for i, v := range vector.Elements(bufT, w.t.X, lo, n) {
				e[i] *= v - tau
			}
		}
		if w.task != addSoftmaxTangent {
			vector.AddElements(w.to, lo, T(w.factor/w.sum), e)
			continue
		}
		gout, dgout := float64(number.ValueOf(w.g.Out)), float64(number.ValueOf(w.gt.Out))
		vector.AddElements(w.gt.X, lo, T((dgout-float64(gout*w.tau))/w.sum), e)
		if w.t.X.Data != nil {
			vec.MulTo(e, e, vector.Elements(bufT, w.t.X, lo, n))
			vector.AddElements(w.gt.X, lo, T(gout/w.sum), e)
		}
	}
	if w.task == shiftedSums || w.task == weightedSums {
		w.part[part] = sums
	}
}

// runPieces is Run by one worker, in pieces.
func (k *LogSumExp[T]) runPieces(p rev.Pass[LogSumExp[T]]) {
	var buffer [softmaxPiece]T
	w := newSoftmax(k.X, buffer[:])
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), w.logSum())
	}
	var tau T
	if p.T.X.Data != nil {
		tau = w.mean(p.T.X)
		if p.T.Out != nil {
			*p.T.Out += number.Signed(p.Sign(), tau)
		}
	}
	g, t, gt := &p.G, &p.T, &p.GT
	gout, dgout := number.ValueOf(g.Out), number.ValueOf(gt.Out)
	for (g.X.Data != nil || gt.X.Data != nil) && w.next() {
		for i, p := range w.p {
			if g.X.Data != nil {
				g.X.Data[(w.lo+i)*g.X.Inc] += fixed.Product(p, gout)
			}
			if gt.X.Data == nil {
				continue
			}
			d := dgout
			if t.X.Data != nil {
				d += fixed.Product(gout, t.X.Data[(w.lo+i)*t.X.Inc]-tau)
			}
			gt.X.Data[(w.lo+i)*gt.X.Inc] += fixed.Product(p, d)
		}
	}
}
