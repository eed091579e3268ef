package num

import "slices"

// A Spare is a tape that is a slice, so that its length may stay in a register. It begins on the stack, and takes
// memory from the pool when that is full:
//
//	var spare num.Spare[float64]
//	tape := spare.Tape()
//	...
//	tape = spare.Push(tape, x)
//	...
//	spare.Free()
type Spare[T any] struct {
	memory [16]T
	lent   *Tape[T]
}

// Tape returns an empty tape.
func (s *Spare[T]) Tape() []T { return s.memory[:0] }

// Push returns a tape with v after it.
func (s *Spare[T]) Push(tape []T, v T) []T {
	if len(tape) == cap(tape) {
		tape = s.longer(tape)
	}
	return append(tape, v)
}

// longer returns a tape with the same values and room for more.
func (s *Spare[T]) longer(tape []T) []T {
	if s.lent == nil {
		s.lent = NewTape[T]()
	}
	long := s.lent.values[:0]
	long = append(long, tape...) // which may lie there already
	s.lent.values = slices.Grow(long, len(long))
	return s.lent.values
}

// Free makes the memory available for reuse. Do not use it afterwards.
func (s *Spare[T]) Free() {
	if s.lent != nil {
		s.lent.Free()
	}
}
