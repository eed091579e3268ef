package revnn

import (
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// CrossEntropy is the kernel
//
//	Out += Σ_ij p_ij·(l_i - x_ij),  l_i = log Σ_j exp(x_ij)
//
// where X has the logits, a row for each of n observations and a column for each class.
// This is the cross-entropy of the probabilities softmax(x_i) relative to p_i. p_i is
// row i of P. If P is nil, p_i is one for the class Labels[i] and zero for the others.
// If Mean is set, the sum is divided by n.
//
// With q_i = softmax(x_i), s_i = Σ_j p_ij and τ_i = Σ_j q_ij·ẋ_ij, the derivatives
// are
//
//	x̄_ij += Ōut·(s_i·q_ij - p_ij),  p̄_ij += Ōut·(l_i - x_ij),
//	Ȯut += Σ_i s_i·τ_i + Σ_ij ṗ_ij·(l_i - x_ij) - p_ij·ẋ_ij
//
// and, of second order,
//
//	ġx_ij += ġOut·(s_i·q_ij - p_ij) + Ōut·(q_ij·(ṡ_i + s_i·(ẋ_ij - τ_i)) - ṗ_ij),
//	ġp_ij += ġOut·(l_i - x_ij) + Ōut·(τ_i - ẋ_ij).
//
// No exponential overflows. l_i - x_ij is computed as the distance of x_ij from the
// maximum of its row plus the logarithm of the shifted sum. A class of probability zero
// adds nothing to Out, even if its logit is -Inf. Likewise a ṗ_ij of zero adds nothing
// to Ȯut, and a cotangent of zero adds nothing to p̄_ij. In floating point the sum is
// within ε·Σ p_ij·(c + 4 + n·c·(l_i - x_ij)) for c classes and p_ij >= 0. In fixed
// point it must be below 2²⁰. If a label is no class, all passes panic with an error
// that wraps mat.ErrColAccess.
type CrossEntropy[T rev.Real] struct {
	Out     *T             `rev:"acc"`
	X       rev.General[T] `rev:"in" shape:"n,c"`
	P       rev.General[T] `rev:"in,optional" shape:"n,c"`
	Labels  []int          `rev:"index,optional" shape:"n"`
	Mean    bool
	Workers int // 0 means GOMAXPROCS
}

// crossEntropyRun is Run of CrossEntropy. It returns no error.
func crossEntropyRun[T rev.Real](k *CrossEntropy[T], p *rev.Pass[CrossEntropy[T]]) error {
	crossEntropyCheckLabels(k)
	w := workspace.Get[*crossEntropyPass[T]]()
	w.k, w.g, w.t, w.gt = *k, p.G, p.T, p.GT
	w.gout, w.dgout = share(p.G.Out, k.Mean, k.X.Rows), share(p.GT.Out, k.Mean, k.X.Rows)
	w.rows = max((k.X.Rows+crossEntropyBlocks-1)/crossEntropyBlocks, 1+crossEntropyBlock/max(1, k.X.Cols))
	blocks := (k.X.Rows + w.rows - 1) / w.rows
	workers := parallel.Workers(k.Workers)
	w.room = workspace.Grow(w.room, max(len(w.room), min(workers, blocks)))
	parallel.Run(workers, blocks, w)
	var sum, rate T
	for b := range blocks {
		sum += w.sum[b]
		rate += w.rate[b]
	}
	*w = crossEntropyPass[T]{room: w.room} // without the caller's storage
	workspace.Put(w)
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), share(&sum, k.Mean, k.X.Rows))
	}
	if p.T.Out != nil {
		*p.T.Out += number.Signed(p.Sign(), share(&rate, k.Mean, k.X.Rows))
	}
	return nil
}

// crossEntropyCheckLabels panics unless there are either probabilities or labels, and all labels
// are classes.
func crossEntropyCheckLabels[T rev.Real](k *CrossEntropy[T]) {
	switch {
	case k.P.Rows != 0 && len(k.Labels) != 0:
		panic(rev.ShapeError[CrossEntropy[T]]("Labels", "and P are both there, want one of them"))
	case k.P.Rows == 0 && len(k.Labels) != k.X.Rows:
		panic(rev.ShapeError[CrossEntropy[T]]("Labels", "has length %d, want %d, and there is no P", len(k.Labels), k.X.Rows))
	}
	for i, c := range k.Labels {
		if c < 0 || c >= k.X.Cols {
			panic(rev.Misuse[CrossEntropy[T]](mat.ErrColAccess, "Labels", "has %d at %d, want 0 to %d", c, i, k.X.Cols-1))
		}
	}
}

const (
	crossEntropyBlocks = 64   // at most
	crossEntropyBlock  = 4096 // elements of a block at least
)

// A crossEntropyPass is a pass in progress.
type crossEntropyPass[T rev.Real] struct {
	k, g, t, gt CrossEntropy[T]

	gout, dgout T // of an observation
	rows        int
	sum, rate   [crossEntropyBlocks]T // of the blocks of rows
	room        []softmaxRoom[T]      // of each worker
}

// Block works on a block of rows.
func (w *crossEntropyPass[T]) Block(worker, block int) {
	k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
	var sum, rate T
	for i := block * w.rows; i < min((block+1)*w.rows, k.X.Rows); i++ {
		r := w.openRow(i, &w.room[worker])
		for j := range k.X.Cols {
			if p := crossEntropyProbability(k, i, j); p != 0 {
				sum += r.distanceTimes(p, j)
				if t.X.Data != nil {
					rate -= fixed.Product(p, t.X.Data[i*t.X.Stride+j])
				}
			}
			if t.P.Data != nil {
				rate += r.distanceTimes(t.P.Data[i*t.P.Stride+j], j)
			}
		}
		rate += fixed.Product(r.weight, r.tau)
		if g.Out != nil {
			crossEntropyAddGradient(k, g, &r, w.gout)
		}
		if gt.Out != nil {
			crossEntropyAddGradient(k, gt, &r, w.dgout)
		}
		if g.Out != nil && (t.X.Data != nil || t.P.Data != nil) {
			crossEntropyAddTurn(gt, t, &r, w.gout)
		}
	}
	w.sum[block], w.rate[block] = sum, rate
}

// crossEntropyProbability returns p_ij.
func crossEntropyProbability[T rev.Real](k *CrossEntropy[T], i, j int) T {
	switch {
	case k.P.Rows != 0:
		return k.P.Data[i*k.P.Stride+j]
	case k.Labels[i] == j:
		return fixed.Of[T](1)
	}
	return 0
}

// A crossEntropyRow has what the derivatives need of row i.
type crossEntropyRow[T rev.Real] struct {
	i      int
	x      []T
	q      softmax[T]
	logSum T // l_i less the maximum of the row
	weight T // s_i
	rate   T // ṡ_i
	tau    T // τ_i
}

func (w *crossEntropyPass[T]) openRow(i int, room *softmaxRoom[T]) crossEntropyRow[T] {
	k, t := &w.k, &w.t
	r := crossEntropyRow[T]{i: i, x: k.X.Row(i), weight: fixed.Of[T](1)}
	if len(r.x) == 0 {
		return r
	}
	r.q = newSoftmax(rev.ViewSlice(r.x), room, w.g.X.Data != nil || t.X.Data != nil || w.gt.X.Data != nil)
	if number.IsFixed[T]() {
		r.logSum = T(fixed.Log(fixed.Q43(r.q.s)))
	} else {
		r.logSum = T(logs.Log(float64(r.q.s)))
	}
	if k.P.Rows != 0 {
		r.weight = vector.Sum(vector.Row(k.P, i))
	}
	if t.P.Data != nil && t.P.Rows != 0 {
		r.rate = vector.Sum(vector.Row(t.P, i))
	}
	if t.X.Data != nil {
		r.tau = r.q.mean(vector.Row(t.X, i))
	}
	return r
}

// distanceTimes returns p·(l_i - x_ij). It is zero for p = 0, even if the logit is
// -Inf.
func (r *crossEntropyRow[T]) distanceTimes(p T, j int) T {
	if p == 0 {
		return 0
	}
	return fixed.Product(p, r.q.max-r.x[j]+r.logSum)
}

// crossEntropyAddGradient adds gout times the gradient of a row to g.
func crossEntropyAddGradient[T rev.Real](k *CrossEntropy[T], g *CrossEntropy[T], r *crossEntropyRow[T], gout T) {
	if g.P.Data != nil {
		for j := range g.P.Cols {
			g.P.Data[r.i*g.P.Stride+j] += r.distanceTimes(gout, j)
		}
	}
	for g.X.Data != nil && r.q.next() {
		for n, q := range r.q.p {
			j := r.q.lo + n
			d := fixed.Product(r.weight, fixed.Product(q, r.q.unit)) - crossEntropyProbability(k, r.i, j)
			g.X.Data[r.i*g.X.Stride+j] += fixed.Product(gout, d)
		}
	}
}

// crossEntropyAddTurn adds gout times the tangent of the gradient of a row to gt.
func crossEntropyAddTurn[T rev.Real](gt, t *CrossEntropy[T], r *crossEntropyRow[T], gout T) {
	tangent := func(x *rev.General[T], j int) T {
		if x.Data == nil {
			return 0
		}
		return x.Data[r.i*x.Stride+j]
	}
	if gt.P.Data != nil {
		for j := range gt.P.Cols {
			gt.P.Data[r.i*gt.P.Stride+j] += fixed.Product(gout, r.tau-tangent(&t.X, j))
		}
	}
	for gt.X.Data != nil && r.q.next() {
		for n, q := range r.q.p {
			j := r.q.lo + n
			d := r.rate + fixed.Product(r.weight, tangent(&t.X, j)-r.tau)
			d = fixed.Product(fixed.Product(q, r.q.unit), d) - tangent(&t.P, j)
			gt.X.Data[r.i*gt.X.Stride+j] += fixed.Product(gout, d)
		}
	}
}
