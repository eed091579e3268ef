package rev

import "fmt"

// If returns the step that runs then where pre holds, and els, which may be
// the zero Step, where it does not. It runs back by post, which must hold after then and
// not after els, or the step is a Violation. The conditions must not change
// the state. The derivative is that of the branch taken.
func If[S any](pre, post func(s *S) bool, then, els Step[S]) Step[S] {
	return Step[S]{&branch[S]{pre, post, then, els}}
}

type branch[S any] struct {
	pre, post func(s *S) bool
	then, els Step[S]
}

func (b *branch[S]) run(p pass[S]) error {
	before, after, condition := b.pre, b.post, "postcondition"
	if p.back {
		before, after, condition = b.post, b.pre, "precondition"
	}
	taken := before(p.s)
	body, name := b.then, "If.then"
	if !taken {
		body, name = b.els, "If.else"
	}
	if err := body.pass(p); err != nil {
		return within(name, err)
	}
	if got := after(p.s); got != taken {
		err := &Violation{name, fmt.Sprintf("the %s must be %v", condition, taken), got}
		return notRestored(err, undo(p, 1, func(int) Step[S] { return body }))
	}
	return nil
}

// While returns the step that runs body as long as cond holds. It runs back by
// post, which must not hold before the first time and must hold after each
// time, or the step is a Violation. The conditions must not change the state.
func While[S any](cond, post func(s *S) bool, body Step[S]) Step[S] {
	return Step[S]{&while[S]{cond, post, body}}
}

type while[S any] struct {
	cond, post func(s *S) bool
	body       Step[S]
}

// run relies on the symmetry of the loop: backward it is the loop while post
// whose postcondition is cond.
func (w *while[S]) run(p pass[S]) error {
	again, did, condition := w.cond, w.post, "postcondition"
	if p.back {
		again, did, condition = w.post, w.cond, "condition"
	}
	if did(p.s) {
		return &Violation{"While", fmt.Sprintf("the %s must be false at the end where the loop starts", condition), true}
	}
	for n := 0; again(p.s); n++ {
		if err := w.body.pass(p); err != nil {
			return notRestored(within("While", err), undo(p, n, w.step))
		}
		if !did(p.s) {
			err := &Violation{"While", fmt.Sprintf("the %s must be true after iteration %d", condition, n), false}
			return notRestored(err, undo(p, n+1, w.step))
		}
	}
	return nil
}

func (w *while[S]) step(int) Step[S] { return w.body }
