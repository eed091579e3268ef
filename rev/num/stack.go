package num

import "revnum/internal/workspace"

// A Stack keeps values that point to memory of the caller, such as slices. It recycles its own
// memory, which keeps none of them. A Tape is faster for numbers.
type Stack[T any] struct{ values []T }

// NewStack returns an empty stack.
func NewStack[T any]() *Stack[T] { return workspace.Get[*Stack[T]]() }

// Free makes the stack available for reuse. Do not use it afterwards.
func (s *Stack[T]) Free() {
	clear(s.values) // after a panic
	s.values = s.values[:0]
	workspace.Put(s)
}

// Push puts v on the stack.
func (s *Stack[T]) Push(v T) { s.values = append(s.values, v) }

// Pop takes the last value from the stack.
func (s *Stack[T]) Pop() T {
	n := len(s.values) - 1
	v, none := s.values[n], *new(T)
	s.values[n] = none
	s.values = s.values[:n]
	return v
}
