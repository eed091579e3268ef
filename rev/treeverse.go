package rev

import (
	"math"

	"revnum/internal/revolve"
)

// Limit says how much Treeverse may use. Set exactly one of its fields.
type Limit struct {
	Snapshots int // states to keep, including the first one
	Sweeps    int // how often a step may be run ahead
}

// Treeverse returns the step y += fⁿ(x) of a chain, whose adjoint keeps a few states as
// snapshots and recomputes the others, from the last to the first. It erases states, so
// it takes fewer runs of Step than [Bennett] in the same memory.
//
// With δ snapshots, including x, and at most τ runs of each step ahead, a chain may
// have up to n = C(τ+δ, τ) steps. Adjoint takes n adjoints of Step, and the least
// number of runs ahead that is possible for n and δ. [TreeverseCost] counts them. If
// Limit gives Sweeps, δ is the least number that suffices for n and τ. Besides the
// snapshots, Treeverse holds two working states and two cotangents.
//
// Forward, Inverse and Tangent run Step n times, with two working states.
//
// If the chain has Last instead of Count, Adjoint finds n as it goes. It first runs
// ahead once, and on the way replaces snapshots by later ones. No step runs ahead more
// than τ times if n <= C(τ+δ, τ), but the total is not always the least. Limit must
// then give Snapshots.
//
// Treeverse panics unless exactly one field of limit is positive, and unless c has
// exactly one of Count and Last. If the count is not positive the step returns a
// Violation. The states are allocated in each run. Uncall(Treeverse(c, limit)) has no
// Adjoint.
//
// The schedule is that of A. Griewank, Achieving logarithmic growth of temporal and
// spatial complexity in reverse automatic differentiation, Optim. Methods Softw. 1
// (1992), and A. Griewank and A. Walther, Algorithm 799: revolve, ACM Trans. Math.
// Softw. 26 (2000). The schedule for unknown n is that of Q. Wang, P. Moin and G.
// Iaccarino, Minimal repetition dynamic checkpointing algorithm for unsteady adjoint
// calculation, SIAM J. Sci. Comput. 31 (2009).
func Treeverse[S, X any](c Chain[S, X], limit Limit) Step[S] {
	switch {
	case limit.Snapshots < 0 || limit.Sweeps < 0 || (limit.Snapshots > 0) == (limit.Sweeps > 0):
		panic(wrongArgument("Treeverse", "limit", "is %+v, want a positive number of snapshots, or of sweeps", limit))
	case (c.Count != nil) == (c.Last != nil):
		panic(wrongArgument("Treeverse", "c", "must have Count or Last, and not both"))
	case c.Last != nil && limit.Snapshots == 0:
		panic(wrongArgument("Treeverse", "limit", "has no number of snapshots, which a chain with Last needs"))
	}
	return Step[S]{node: &treeverse[S, X]{c, limit}}
}

// TreeverseCost returns how often the adjoint of a chain of n steps runs the step
// ahead, and how many states it holds at most, including the first one but not y. With
// δ snapshots, and r the least number for which n <= C(δ+r, δ), the number of runs is
//
//	r·n - C(δ+r, r-1)
//
// TreeverseCost panics if n or snapshots is less than 1.
func TreeverseCost(n, snapshots int) (runs, states int) {
	if n < 1 || snapshots < 1 {
		panic(wrongArgument("TreeverseCost", "n or snapshots", "is %d, want at least 1", min(n, snapshots)))
	}
	r := revolve.Sweeps(n, snapshots)
	runs = r*n - revolve.Binomial(snapshots+r, r-1)
	return runs, min(n, snapshots+2)
}

// snapshots returns the least δ for which n <= C(δ+τ, δ).
func (l Limit) snapshots(n int) int {
	if l.Snapshots > 0 {
		return l.Snapshots
	}
	d := 1
	for revolve.Binomial(d+l.Sweeps, d) < n {
		d++
	}
	return d
}

type treeverse[S, X any] struct {
	Chain[S, X]
	limit Limit
}

func (v *treeverse[S, X]) run(p pass) error {
	if p.g != nil && !p.back {
		return &Unsupported{"Treeverse", p.String()}
	}
	n := 0
	if v.Count != nil {
		var err error
		if n, err = v.count((*S)(p.s), "Treeverse"); err != nil {
			return err
		}
	}
	r := v.begin(p)
	defer r.end()
	last := func(i int, x *chainState[X]) bool {
		if n > 0 {
			return i == n-1
		}
		r.set(i, chainLink[X]{state: x})
		return v.Last((*S)(p.s))
	}
	var err error
	if p.g == nil {
		err = r.walk(p, last)
	} else {
		u := treeAdjoint[S, X]{chain: r, ahead: p.forwardOnly(), n: n}
		err = u.run(v.limit, last)
	}
	if err != nil {
		return r.restore(within("Treeverse", err), last)
	}
	return nil
}

// A treeAdjoint is the adjoint of a chain.
type treeAdjoint[S, X any] struct {
	chain *chainRun[S, X] // not embedded: its methods would be compiled again
	ahead pass
	n     int
	bar   *chainState[X] // the cotangent of the state after the next step back
}

func (u *treeAdjoint[S, X]) run(limit Limit, last func(i int, x *chainState[X]) bool) error {
	if u.n > 0 {
		return u.reverse(0, u.n, u.chain.first.state, limit.snapshots(u.n))
	}
	kept, x, err := u.sweep(limit.Snapshots+1, last)
	if err != nil {
		return err
	}
	end := u.n - 1
	if err := u.back(end, x); err != nil {
		return err
	}
	if x != u.chain.first.state {
		u.chain.states.drop(x)
	}
	for k := len(kept) - 1; k >= 0 && end > 0; k-- {
		s := kept[k]
		if err := u.reverse(s.i, end-s.i, s.state, limit.Snapshots-k); err != nil {
			return err
		}
		if k > 0 {
			u.chain.states.drop(s.state)
		}
		end = s.i
	}
	return nil
}

// reverse takes the cotangents from x_{i+n} to x_i, which is x. It uses the given
// number of snapshots, of which x is one.
func (u *treeAdjoint[S, X]) reverse(i, n int, x *chainState[X], snapshots int) error {
	for n > 1 {
		m := n - 1
		if snapshots > 1 {
			m = revolve.Split(n, snapshots)
		}
		z, err := u.chain.advance(u.ahead, i, m, x)
		if err != nil {
			return err
		}
		if err := u.reverse(i+m, n-m, z, snapshots-1); err != nil {
			return err
		}
		u.chain.states.drop(z)
		n = m
	}
	return u.back(i, x)
}

// back takes the cotangents from x_{i+1} to x_i, which is x.
func (u *treeAdjoint[S, X]) back(i int, x *chainState[X]) error {
	from, to := chainLink[X]{x, u.chain.first.cotangent}, u.chain.last
	if i > 0 {
		from.cotangent = u.chain.cotangents.take(&u.chain.first.state.v, u.chain.p.gt != nil)
	}
	if i < u.n-1 {
		to = chainLink[X]{u.chain.take(), u.bar} // the step does not read this state
	}
	if err := u.chain.step(u.chain.p, i, from, to); err != nil {
		return err
	}
	if i < u.n-1 {
		u.chain.states.drop(to.state)
		u.chain.cotangents.drop(to.cotangent)
	}
	u.bar = from.cotangent
	return nil
}

// A snapshot is a state that is kept while the length of the chain is not known. One of a
// higher level stays longer.
type snapshot[X any] struct {
	i, level int
	state    *chainState[X]
}

// sweep runs ahead until the last step. It returns the snapshots in order, and the
// state from which the last step runs. The last snapshot is the working state before
// that one.
func (u *treeAdjoint[S, X]) sweep(most int, last func(i int, x *chainState[X]) bool) ([]snapshot[X], *chainState[X], error) {
	kept := []snapshot[X]{{0, math.MaxInt, u.chain.first.state}}
	x := u.chain.first.state
	for i := 0; ; i++ {
		if last(i, x) {
			u.n = i + 1
			return kept, x, nil
		}
		if i > 0 {
			kept = u.keep(kept, most, snapshot[X]{i: i, state: x})
		}
		next, err := u.chain.advance(u.ahead, i, 1, x)
		if err != nil {
			return nil, nil, err
		}
		x = next
	}
}

// keep appends a snapshot. It first drops another one if there are already as many as
// allowed.
func (u *treeAdjoint[S, X]) keep(kept []snapshot[X], most int, s snapshot[X]) []snapshot[X] {
	if len(kept) == most {
		k := dispensable(kept)
		if k < 0 {
			k = most - 1
			s.level = kept[k].level + 1
		}
		u.chain.states.drop(kept[k].state)
		kept = append(kept[:k], kept[k+1:]...)
	}
	return append(kept, s)
}

// dispensable returns the last snapshot before one of a higher level, or -1.
func dispensable[X any](kept []snapshot[X]) int {
	high := 0
	for k := len(kept) - 1; k > 0; k-- {
		if kept[k].level < high {
			return k
		}
		high = max(high, kept[k].level)
	}
	return -1
}
