package rev

import "fmt"

// Bennett returns the step y += fⁿ(x) of a chain, by the method of Bennett. It erases
// nothing: a state that is no longer needed is uncomputed from the state before it.
//
// A chain of n steps is cut into k parts, and these into k parts, and so on. Bennett
// computes the states at the ends of the first k-1 parts, then y. Then it uncomputes
// the states, from the last to the first. If n is a power k^m, this runs Step (2k-1)^m
// times, forward or back, and holds m(k-1)+2 states, including x and y. [BennettCost]
// counts them for any n. Adjoint takes the same number of runs. Only n of them, one for
// each i, carry cotangents.
//
// Uncomputed states must be zero again. They are if Step consists of kernels that only add,
// and of Routines. Over fixed point they are zero to the bit. Over floating point sums are
// rounded, so a number may differ from zero by 2⁻²⁶ (2⁻¹² for float32) of the largest number
// that its state held. It is then set to zero, and no other number is affected. If more is
// left, the step returns a Violation. Uncall(Bennett(c, k)) has no Adjoint.
//
// Bennett panics if k is less than 2 or c.Count is nil. If the count is not positive the
// step returns a Violation. The states are allocated in each run.
//
// See C. H. Bennett, Time/space trade-offs for reversible computation,
// SIAM J. Comput. 18 (1989).
func Bennett[S, X any](c Chain[S, X], k int) Step[S] {
	if k < 2 {
		panic(wrongArgument("Bennett", "k", "is %d, want at least 2", k))
	}
	if c.Count == nil {
		panic(wrongArgument("Bennett", "Count of c", "is nil"))
	}
	return Step[S]{node: &bennett[S, X]{c, k}}
}

// BennettCost returns how often Bennett runs the step of a chain of n steps, and how
// many states it holds at most, including the first and the last. It panics if k is
// less than 2 or n less than 1.
func BennettCost(n, k int) (steps, states int) {
	if k < 2 {
		panic(wrongArgument("BennettCost", "k", "is %d, want at least 2", k))
	}
	if n < 1 {
		panic(wrongArgument("BennettCost", "n", "is %d, want at least 1", n))
	}
	if n == 1 {
		return 1, 2
	}
	m := min(k, n)
	held := map[int][2]int{} // the costs of parts by length; only two lengths occur
	for j := range m {
		length := partEnd(j, m, n) - partEnd(j-1, m, n)
		cost, ok := held[length]
		if !ok {
			cost[0], cost[1] = BennettCost(length, k)
			held[length] = cost
		}
		steps += 2 * cost[0]
		if j == m-1 {
			steps -= cost[0]
		}
		states = max(states, j+cost[1])
	}
	return steps, states
}

// partEnd returns where part j of the m parts of n steps ends.
func partEnd(j, m, n int) int { return (j + 1) * n / m }

type bennett[S, X any] struct {
	Chain[S, X]
	k int
}

func (b *bennett[S, X]) run(p pass) error {
	if p.g != nil && !p.back {
		return &Unsupported{"Bennett", p.String()}
	}
	n, err := b.count((*S)(p.s), "Bennett")
	if err != nil {
		return err
	}
	r := b.begin(p)
	defer r.end()
	if err := b.part(r, p, 0, n, r.first, r.last); err != nil {
		return r.restore(within("Bennett", err), func(i int, _ *chainState[X]) bool { return i == n-1 })
	}
	return nil
}

// part makes the pass p of the n steps from x_i, which is x, to y.
//
// The parts run in the same order forward and back: compute, copy, uncompute is its own
// inverse, except for the sign of the copy. Cotangents are needed only where states are
// removed. Where states are made, their cotangents are zero, because nothing has used
// the states yet.
func (b *bennett[S, X]) part(r *chainRun[S, X], p pass, i, n int, x, y chainLink[X]) error {
	if n == 1 {
		return r.step(p, i, x, y)
	}
	m := min(b.k, n)
	ahead, remove := p.forwardOnly(), p
	if p.g == nil {
		remove = pass{back: true, s: p.s}
	}
	at := len(r.ends) // r.ends[at:] are the states at the ends of the parts so far
	r.ends = append(r.ends, x)
	run := func(j int, q pass, y chainLink[X]) error {
		begin := partEnd(j-1, m, n)
		return b.part(r, q, i+begin, partEnd(j, m, n)-begin, r.ends[at+j], y)
	}
	for j := range m - 1 {
		next := chainLink[X]{state: r.take()}
		if err := run(j, ahead, next); err != nil {
			return err
		}
		r.ends = append(r.ends, next)
	}
	for j := m - 1; j >= 0; j-- {
		if p.g != nil && j > 0 {
			r.ends[at+j].cotangent = r.takeCotangent()
		}
		q, to := p, y
		if j < m-1 {
			q, to = remove, r.ends[at+j+1]
		}
		largest := 0.
		if j < m-1 {
			largest = to.state.largest()
		}
		if err := run(j, q, to); err != nil {
			return err
		}
		if j == m-1 {
			continue
		}
		if !to.state.isRemoved(largest) {
			return &Violation{fmt.Sprintf("Bennett[%d]", i+partEnd(j, m, n)), "the uncomputed state must be zero", "other numbers"}
		}
		r.states.drop(to.state)
		r.cotangents.drop(to.cotangent)
	}
	r.ends = r.ends[:at]
	return nil
}
