package revtest

import (
	"fmt"
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
		*k.Y += T(sign * fixed.Product(x, x))
	}
	sign = T(p.Sign())
	if p.Tangent && p.T.Y != nil {
		d := 2 * fixed.Product(x, *p.T.X)
		if has("tangent") {
			d += d / 10
		}
		*p.T.Y += T(sign * d)
	}
	factor := T(2)
	if has("adjoint") {
		factor = 3
	}
	if has("ahead") && p.Adjoint && !p.Back {
		factor = 3
	}
	if p.Adjoint && p.G.X != nil && !has("lost") {
		*p.G.X += T(factor * fixed.Product(x, *p.G.Y))
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
		"lost":         "the cotangent of Y after Adjoint is ",
		"ahead":        "cotangents after Adjoint, Adjoint of Uncall: Y is",
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

// A sumSquares is Out += Σ X_i², without the cotangent of one element.
type sumSquares struct {
	Out  *float32  `rev:"acc"`
	X    []float32 `rev:"in" shape:"n"`
	Lost int
}

func (k sumSquares) Run(p rev.Pass[sumSquares]) error {
	for i, x := range k.X {
		*k.Out += float32(float32(p.Sign()) * (x * x))
		if p.T.Out != nil && p.T.X != nil {
			*p.T.Out += float32(float32(p.Sign()) * (2 * x * p.T.X[i]))
		}
		if p.Adjoint && p.G.X != nil && i != k.Lost {
			p.G.X[i] += float32(2 * x * *p.G.Out)
		}
	}
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	return nil
}

// A cotangent that is lost is found among many larger numbers, and named.
func TestProgramLost(t *testing.T) {
	type S struct {
		Large, Small []float32
		Out          float32
	}
	prog := func(lost int) rev.Step[S] {
		return rev.Seq(
			rev.At(func(s *S) sumSquares { return sumSquares{&s.Out, s.Small, lost} }),
			rev.At(func(s *S) sumSquares { return sumSquares{&s.Out, s.Large, -1} }))
	}
	s := &S{Large: make([]float32, 400), Small: make([]float32, 40)}
	for i := range s.Large {
		s.Large[i] = 1
	}
	for i := range s.Small {
		s.Small[i] = 0.01
	}
	if err := checkProgram(prog(-1), s, 1); err != nil {
		t.Error(err)
	}
	for _, lost := range []int{0, 3, 26, 39} {
		err := checkProgram(prog(lost), s, 1)
		if want := fmt.Sprintf("the cotangent of Small[%d] after Adjoint", lost); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A flip is X <- -X. Its adjoint has no inverse.
type flip struct {
	X *float64 `rev:"inout"`
}

func (k flip) Run(p rev.Pass[flip]) error {
	if p.Adjoint && (!p.Back || p.Tangent) {
		return rev.ErrUnsupported
	}
	*k.X = -*k.X
	for _, x := range []*float64{p.G.X, p.T.X} {
		if x != nil {
			*x = -*x
		}
	}
	return nil
}

// ValueGradient makes passes that the methods of a program do not make.
func TestProgramGradient(t *testing.T) {
	type S struct{ X, Y float64 }
	prog := func(bug string) rev.Step[S] {
		return rev.Seq(
			rev.At(func(s *S) flip { return flip{&s.X} }),
			rev.At(func(s *S) square[float64] { return square[float64]{Y: &s.Y, X: &s.X, Bug: bug} }))
	}
	s := &S{X: 1.5, Y: 1}
	if err := checkProgram(prog(""), s, 1); err != nil {
		t.Error(err)
	}
	c := &programTrial[S]{prog: prog("ahead"), state: s, seed: 1}
	if err := c.run(); err == nil || !strings.Contains(err.Error(), "cotangents of ValueGradient of Y against Adjoint: X is") {
		t.Errorf("a wrong pass ahead with cotangents: %v", err)
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
