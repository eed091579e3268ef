package revtest

import (
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/rev"
)

// A square is Y += X², with a bug that you choose.
type square[T rev.Real] struct {
	Y   *T `rev:"acc"`
	X   *T `rev:"in"`
	Bug string
}

func (k square[T]) Run(p rev.Pass[square[T]]) error {
	sign, x := T(p.Sign()), *k.X
	has := func(bug string) bool { return k.Bug == bug }
	if has("inverse") && p.Back {
		sign = 0
	}
	if k.Y != nil {
		*k.Y += sign * fixed.Product(x, x)
	}
	sign = T(p.Sign())
	if p.Tangent && p.T.Y != nil {
		d := 2 * fixed.Product(x, *p.T.X)
		if has("tangent") {
			d += d / 10
		}
		*p.T.Y += sign * d
	}
	factor := T(2)
	if has("adjoint") {
		factor = 3
	}
	if p.Adjoint && p.G.X != nil {
		*p.G.X += factor * fixed.Product(x, *p.G.Y)
	}
	if p.Adjoint && p.Tangent && p.GT.X != nil {
		*p.GT.X += 2 * fixed.Product(x, *p.GT.Y)
		if !has("second order") {
			*p.GT.X += 2 * fixed.Product(*p.T.X, *p.G.Y)
		}
	}
	return nil
}

type squares[T rev.Real] struct {
	X, Y, Z, Out T
	Limit        T `rev:"const"`
}

// chain is Y += X², Z += Y², Out += Z², with a bug in the second.
func chain[T rev.Real](bug string) rev.Step[squares[T]] {
	type S = squares[T]
	return rev.Seq(
		rev.At(func(s *S) square[T] { return square[T]{Y: &s.Y, X: &s.X} }),
		rev.Seq(
			rev.At(func(s *S) square[T] { return square[T]{Y: &s.Z, X: &s.Y, Bug: bug} }),
			rev.At(func(s *S) square[T] { return square[T]{Y: &s.Out, X: &s.Z} })))
}

func TestProgram(t *testing.T) {
	t.Run("float64", testProgram[float64])
	t.Run("float32", testProgram[float32])
	t.Run("Q43", testProgram[fixed.Q43])
}

// For each property there is a bug that it catches. The failure names the step.
func testProgram[T rev.Real](t *testing.T) {
	s := squares[T]{X: fixed.Of[T](0.75), Y: fixed.Of[T](0.5), Z: fixed.Of[T](-0.25), Out: fixed.Of[T](1), Limit: fixed.Of[T](3)}
	before := s
	Program(t, chain[T](""), &s)
	if s != before {
		t.Errorf("the state is %v, and was %v", s, before)
	}
	for bug, message := range map[string]string{
		"inverse":      "Forward, Inverse: Z is",
		"tangent":      "Tangent against differences of Forward: Z is",
		"adjoint":      "the adjoint is not the transpose of the tangent",
		"second order": "AdjointTangent against differences of Adjoint: Y is",
	} {
		err := checkProgram(chain[T](bug), &s, 1)
		if err == nil || !strings.HasPrefix(err.Error(), "Seq[1].Seq[0].At(revtest.square[") || !strings.Contains(err.Error(), message) {
			t.Errorf("bug in %s: %v, want %q", bug, err, message)
		}
	}
	if s != before {
		t.Errorf("the state is %v, and was %v", s, before)
	}
}

// If a step returns an error, the failure reports it and names the step.
func TestProgramError(t *testing.T) {
	type S struct{ X, Y float64 }
	prog := rev.Seq(
		rev.At(func(s *S) square[float64] { return square[float64]{Y: &s.Y, X: &s.X} }),
		rev.At(func(s *S) square[float64] { return square[float64]{Y: &s.Y, X: &s.Y} }))
	if err := checkProgram(prog, &S{X: 1}, 1); err == nil || !strings.Contains(err.Error(), "Seq[1].At(revtest.square[float64])") {
		t.Errorf("operands that overlap: %v", err)
	}
}
