package rev

import (
	"fmt"
	"unsafe"
)

// Seq returns the step that runs the steps one after the other.
func Seq[S any](steps ...Step[S]) Step[S] {
	return Step[S]{node: seq(nodesOf(steps))}
}

type seq []node

func (q seq) run(p pass) error {
	for k := range q {
		i := p.place(k, len(q))
		if err := p.over(q[i]); err != nil {
			err = within(fmt.Sprintf("Seq[%d]", i), err)
			return notRestored(err, undo(p, k, func(k int) node { return q[p.place(k, len(q))] }))
		}
	}
	return nil
}

func (q seq) name() string { return "Seq" }

// Repeat returns the step that runs body count(s) times. count must return the same
// number before and after. Otherwise the step returns a Violation.
func Repeat[S any](count func(s *S) int, body Step[S]) Step[S] {
	return Step[S]{node: &loop{name: "Repeat", count: onState(count), body: body.node}}
}

// For returns the step that runs body with *index(s) = 0, 1, ..., count(s)-1.
// Backward, it runs body from the last index to the first. Kernels bound by AtIndex
// can select their operands by the index. At its end the step sets the index to what
// it was before.
//
// The body must not change the index, and count must return the same number before
// and after. Otherwise the step returns a Violation.
func For[S any](count func(s *S) int, index func(s *S) *int, body Step[S]) Step[S] {
	return Step[S]{node: &loop{name: "For", count: onState(count), index: onState(index), body: body.node}}
}

type loop struct {
	name  string
	count func(s unsafe.Pointer) int
	index func(s unsafe.Pointer) *int // nil in Repeat
	body  node
}

func (l *loop) run(p pass) error {
	n := l.count(p.s)
	if n < 0 {
		return &Violation{l.name, "the count must not be negative", n}
	}
	if l.index != nil {
		at := l.index(p.s)
		defer func(was int) { *at = was }(*at)
	}
	for k := range n {
		err := l.iteration(p, n, k)
		if err != nil {
			return notRestored(err, l.undo(p, n, k))
		}
	}
	if after := l.count(p.s); after != n {
		err := &Violation{l.name, fmt.Sprintf("the count must be %d again after the loop", n), after}
		return notRestored(err, l.undo(p, n, n))
	}
	return nil
}

// iteration makes the k-th run of n of a pass, in the order of the pass.
func (l *loop) iteration(p pass, n, k int) error {
	if l.index == nil {
		return within(l.name, p.over(l.body))
	}
	k = p.place(k, n)
	at := l.index(p.s)
	*at = k
	if err := p.over(l.body); err != nil {
		return within(fmt.Sprintf("%s[%d]", l.name, k), err)
	}
	if *at != k {
		err := &Violation{l.name, fmt.Sprintf("the index must be %d after the body", k), *at}
		return notRestored(err, undo(p, 1, func(int) node { return l.body }))
	}
	return nil
}

// undo runs back the first k of n iterations of a pass.
func (l *loop) undo(p pass, n, k int) error {
	return undo(p, k, func(k int) node {
		if l.index != nil {
			*l.index(p.s) = p.place(k, n)
		}
		return l.body
	})
}
