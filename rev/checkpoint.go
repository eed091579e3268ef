package rev

import "unsafe"

// Checkpoint returns the step that does what step does, and keeps copies of operands in
// the state. Forward copies them before step runs. After step has run back, the copies
// replace the restored operands. Over floats, the errors of the inverse therefore do not grow
// from one checkpoint to the next. This also serves steps whose inverse divides by a small
// number, such as the damped wave.Steps over floats.
//
// The functions in of find the operands that step changes. saved finds the place for the
// copies. Tangents are copied too, to the place in the state of tangents. A program of n
// checkpoints, such as Repeat(n, Checkpoint(...)), holds n copies between Forward and
// Adjoint. If there is no copy, or one of another length, a pass back returns a
// Violation. Uncall(Checkpoint(...)) is therefore of no use by itself.
func Checkpoint[S any, T Real](step Step[S], saved func(s *S) *Snapshots[T], of ...func(s *S) []T) Step[S] {
	return Step[S]{node: &checkpoint[T]{step.node, onState(saved), allOnState(of)}}
}

// Snapshots hold the copies of [Checkpoint]. The zero value is empty.
type Snapshots[T Real] struct {
	kept [][]T // a stack; the slices after its length are used again
}

// Len returns the number of copied operands.
func (s *Snapshots[T]) Len() int { return len(s.kept) }

func (s *Snapshots[T]) push(x []T) {
	n := len(s.kept)
	if n < cap(s.kept) && len(s.kept[:n+1][n]) == len(x) {
		s.kept = s.kept[:n+1]
	} else {
		s.kept = append(s.kept, make([]T, len(x)))
	}
	copy(s.kept[n], x)
}

// pop puts the last copy into x.
func (s *Snapshots[T]) pop(x []T) {
	n := len(s.kept) - 1
	copy(x, s.kept[n])
	s.kept = s.kept[:n]
}

type checkpoint[T Real] struct {
	step  node
	saved func(s unsafe.Pointer) *Snapshots[T]
	of    []func(s unsafe.Pointer) []T
}

func (c *checkpoint[T]) name() string { return "Checkpoint" }

func (c *checkpoint[T]) run(p pass) error {
	states := [...]unsafe.Pointer{p.s, p.t}
	if p.back {
		for _, s := range states {
			if err := c.check(s); err != nil {
				return err
			}
		}
	} else {
		for _, s := range states {
			c.save(s)
		}
	}
	err := p.over(c.step)
	if p.back == (err == nil) { // the state is where the copies were made
		for _, s := range states {
			c.restore(s)
		}
	}
	return within("Checkpoint", err)
}

// check returns a Violation unless the last copies fit the operands.
func (c *checkpoint[T]) check(s unsafe.Pointer) error {
	if s == nil {
		return nil
	}
	kept := c.saved(s).kept
	first := len(kept) - len(c.of)
	for i, of := range c.of {
		if want := len(of(s)); first < 0 || len(kept[first+i]) != want {
			return &Violation{"Checkpoint", "there must be a copy of each operand, of its length, but the number of copies is", len(kept)}
		}
	}
	return nil
}

func (c *checkpoint[T]) save(s unsafe.Pointer) {
	if s == nil {
		return
	}
	for _, of := range c.of {
		c.saved(s).push(of(s))
	}
}

func (c *checkpoint[T]) restore(s unsafe.Pointer) {
	if s == nil {
		return
	}
	for i := len(c.of) - 1; i >= 0; i-- {
		c.saved(s).pop(c.of[i](s))
	}
}
