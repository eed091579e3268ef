package rev

import (
	"fmt"
	"unsafe"
)

// If returns the step that runs then if pre holds, and els otherwise. els may be the
// zero Step. The derivative is that of the branch taken.
//
// A branch may change what pre reads. Backward, the step therefore chooses by post,
// which must hold after then and must not hold after els. Otherwise the step returns
// a Violation. The conditions must not change the state.
//
// Conditions at both ends are those of C. Lutz and H. Derby, Janus: a
// time-reversible language, 1982, and T. Yokoyama and R. Glück, A reversible
// programming language and its invertible self-interpreter, 2007.
func If[S any](pre, post func(s *S) bool, then, els Step[S]) Step[S] {
	return Step[S]{node: &branch{onState(pre), onState(post), then.node, els.node}}
}

type branch struct {
	pre, post func(s unsafe.Pointer) bool
	then, els node
}

func (b *branch) run(p pass) error {
	before, after, condition := b.pre, b.post, "postcondition"
	if p.back {
		before, after, condition = b.post, b.pre, "precondition"
	}
	taken := before(p.s)
	body, name := b.then, "If.then"
	if !taken {
		body, name = b.els, "If.else"
	}
	if err := p.over(body); err != nil {
		return within(name, err)
	}
	if got := after(p.s); got != taken {
		err := &Violation{name, fmt.Sprintf("the %s must be %v", condition, taken), got}
		return notRestored(err, undo(p, 1, func(int) node { return body }))
	}
	return nil
}

// While returns the step that runs body as long as cond holds. Backward, it runs as
// long as post holds. post must not hold before the first run of body, and must hold
// after each run. Otherwise the step returns a Violation. The conditions must not
// change the state. See [If] for the source.
func While[S any](cond, post func(s *S) bool, body Step[S]) Step[S] {
	return Step[S]{node: &whileNode{onState(cond), onState(post), body.node}}
}

type whileNode struct {
	cond, post func(s unsafe.Pointer) bool
	body       node
}

// run relies on the symmetry of the loop: backward, post is the condition and cond
// the postcondition.
func (w *whileNode) run(p pass) error {
	again, did, condition := w.cond, w.post, "postcondition"
	if p.back {
		again, did, condition = w.post, w.cond, "condition"
	}
	if did(p.s) {
		return &Violation{"While", fmt.Sprintf("the %s must be false at the end where the loop starts", condition), true}
	}
	for n := 0; again(p.s); n++ {
		if err := p.over(w.body); err != nil {
			return notRestored(within("While", err), undo(p, n, w.step))
		}
		if !did(p.s) {
			err := &Violation{"While", fmt.Sprintf("the %s must be true after iteration %d", condition, n), false}
			return notRestored(err, undo(p, n+1, w.step))
		}
	}
	return nil
}

func (w *whileNode) step(int) node { return w.body }
