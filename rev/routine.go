package rev

import (
	"fmt"
	"math"
	"unsafe"
)

// Routine returns the step compute, copy, uncompute. compute stores intermediate
// values in ancillas, copy adds the wanted ones to the state, and the inverse of
// compute makes the ancillas zero again. copy may write anything that compute neither
// reads nor writes. The derivative is the derivative of the three in sequence. See C. H.
// Bennett, Logical reversibility of computation, 1973.
//
// The ancillas are the slices that the functions return. They must be zero before and
// after the step; otherwise the step returns a Violation. Over fixed point they must
// be exactly zero after it. Over floating point they must be at most √ε·m, and the
// step then sets them to exactly zero. Here m is the largest of them by absolute
// value between compute and uncompute, and ε the distance from 1 to the next number.
//
// Ancillas are constants before and after, so they have no derivative. The step sets
// their cotangents and tangents to zero before and after. The state of cotangents
// still needs storage for them.
func Routine[S any, T Real](compute, copy Step[S], ancillas ...func(s *S) []T) Step[S] {
	return Step[S]{node: &routine[T]{[3]node{compute.node, copy.node, Uncall(compute).node}, allOnState(ancillas)}}
}

type routine[T Real] struct {
	steps    [3]node
	ancillas []func(s unsafe.Pointer) []T
}

var routineNames = [3]string{"Routine.compute", "Routine.copy", "Routine.uncompute"}

func (r *routine[T]) run(p pass) error {
	if i, v := r.largest(p.s, 0); i >= 0 {
		return &Violation{"Routine", fmt.Sprintf("element %d of the ancillas must be zero before", i), v}
	}
	r.clearDerivatives(p)
	var tol T
	for k := range r.steps {
		if err := p.over(r.steps[p.place(k, len(r.steps))]); err != nil {
			return r.undo(p, k, within(routineNames[p.place(k, len(r.steps))], err))
		}
		if k == 0 {
			_, m := r.largest(p.s, 0)
			tol = T(sqrtEpsilon[T]() * math.Abs(float64(m)))
		}
	}
	if i, v := r.largest(p.s, tol); i >= 0 {
		err := &Violation{"Routine", fmt.Sprintf("element %d of the ancillas must be zero after", i), v}
		return r.undo(p, len(r.steps), err)
	}
	r.clear(p.s)
	r.clearDerivatives(p)
	return nil
}

func (r *routine[T]) undo(p pass, n int, err error) error {
	err = notRestored(err, undo(p, n, func(k int) node { return r.steps[p.place(k, len(r.steps))] }))
	r.clear(p.s) // they were zero, and are zero again up to rounding
	r.clearDerivatives(p)
	return err
}

// largest returns the index, over all ancillas, and the value of the element that is
// largest by absolute value. It considers only elements that exceed tol by absolute
// value. If an element is NaN, largest returns that one. If there is none, it returns
// -1 and 0.
func (r *routine[T]) largest(s unsafe.Pointer, tol T) (index int, value T) {
	index = -1
	i := 0
	for _, a := range r.ancillas {
		for _, v := range a(s) {
			if math.IsNaN(float64(v)) {
				return i, v
			}
			if v > tol || v < -tol {
				index, value, tol = i, v, max(v, -v)
			}
			i++
		}
	}
	return index, value
}

func (r *routine[T]) clear(s unsafe.Pointer) {
	for _, a := range r.ancillas {
		clear(a(s))
	}
}

func (r *routine[T]) clearDerivatives(p pass) {
	for _, d := range [...]unsafe.Pointer{p.g, p.t, p.gt} {
		if d != nil {
			r.clear(d)
		}
	}
}

// sqrtEpsilon returns √ε of the type T, 0 for fixed point.
func sqrtEpsilon[T Real]() float64 {
	switch any(T(0)).(type) {
	case float64:
		return 0x1p-26
	case float32:
		return 0x1p-12 * math.Sqrt2
	}
	return 0
}
