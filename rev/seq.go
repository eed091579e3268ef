package rev

import (
	"errors"
	"fmt"
)

// Seq returns the step that runs the steps one after the other.
func Seq[S any](steps ...Step[S]) Step[S] {
	q := make(seq[S], len(steps))
	for i, s := range steps {
		q[i] = nodeOf(s)
	}
	return program[S]{&q}
}

type seq[S any] []node[S]

func (q seq[S]) run(p pass[S]) error {
	for k := range q {
		i := q.order(k, p.op)
		if err := q[i].run(p); err != nil {
			err = within(fmt.Sprintf("Seq[%d]", i), err)
			return notRestored(err, undo(p, k, func(k int) node[S] { return q[q.order(k, p.op)] }))
		}
	}
	return nil
}

// order returns which step is the k-th to run.
func (q seq[S]) order(k int, o op) int {
	if o.back() {
		return len(q) - 1 - k
	}
	return k
}

// undo runs the first n nodes of a pass back, after the next one has failed.
// It returns why not all is as it was: where a kernel cannot take cotangents
// or tangents back, s alone is restored.
func undo[S any](p pass[S], n int, node func(k int) node[S]) error {
	var lost *Unsupported
	p.op = p.op.inverse()
	for k := n - 1; k >= 0; k-- {
		err := node(k).run(p)
		if lost == nil && errors.As(err, &lost) {
			p.op = p.op.primal()
			err = node(k).run(p)
		}
		if err != nil {
			return err
		}
	}
	if lost != nil {
		return lost
	}
	return nil
}

// Repeat returns the step that runs body count(s) times; count must return the
// same before and after, or the step is a Violation.
func Repeat[S any](count func(s *S) int, body Step[S]) Step[S] {
	return program[S]{&repeat[S]{count, nodeOf(body)}}
}

type repeat[S any] struct {
	count func(s *S) int
	body  node[S]
}

func (r *repeat[S]) run(p pass[S]) error {
	n := r.count(p.s)
	if n < 0 && !p.unchecked {
		return &Violation{"Repeat", "the count must not be negative", n}
	}
	for k := range n {
		if err := r.body.run(p); err != nil {
			return notRestored(within("Repeat", err), undo(p, k, r.node))
		}
	}
	if p.unchecked {
		return nil
	}
	if after := r.count(p.s); after != n {
		err := &Violation{"Repeat", fmt.Sprintf("the count must be %d again after the loop", n), after}
		return notRestored(err, undo(p, n, r.node))
	}
	return nil
}

func (r *repeat[S]) node(int) node[S] { return r.body }
