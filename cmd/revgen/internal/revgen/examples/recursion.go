package examples

import (
	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// count is the kernel n += by.
type count struct {
	N  *int `rev:"acc"`
	By int
}

func (k count) Run(p rev.Pass[count]) error {
	*k.N += p.Sign() * k.By
	return nil
}

// atLeast is the kernel that does nothing, and fails if n is below a bound.
type atLeast struct {
	N     *int `rev:"index"`
	Bound int
	Func  string
}

func (k atLeast) Run(rev.Pass[atLeast]) error {
	if *k.N < k.Bound {
		return &rev.DomainError{Func: k.Func, Args: []float64{float64(*k.N)}}
	}
	return nil
}

// shift is the kernel x += by.
type shift[T rev.Real] struct {
	X  *T `rev:"acc"`
	By T
}

func (k shift[T]) Run(p rev.Pass[shift[T]]) error {
	*k.X += T(T(p.Sign()) * k.By)
	return nil
}

// Rising is the state of RisingFactorial.
type Rising[T rev.Real] struct {
	Log [1]T // the logarithm of the product, multiplied into
	X   [1]T
	N   int
}

// RisingFactorial demonstrates recursion in a program of package rev. It returns
//
//	y *= x·(x+1)···(x+n-1)
//
// on the logarithm of y, by recursion: multiply by x, then by the rising factorial of
// x+1 with n-1 factors. For x = 1 that is n!. The gradient by x is ψ(x+n) - ψ(x), with
// the digamma function ψ. The recursion takes stack for n calls.
//
// Over fixed.Q43 the logarithm is that of a ulog.Fixed. Forward adds the log of each
// factor, rounded to within 0.51 units, and Inverse takes the same bits away. A negative
// n, and a factor that is not positive, is an error that wraps a *rev.DomainError, and
// leaves the state as it was.
func RisingFactorial[T rev.Real]() rev.Step[Rising[T]] {
	type state = Rising[T]
	one := fixed.Of[T](1)
	n := func(by int) rev.Step[state] { return rev.At(func(s *state) count { return count{&s.N, by} }) }
	x := func(by T) rev.Step[state] { return rev.At(func(s *state) shift[T] { return shift[T]{&s.X[0], by} }) }
	more := func(s *state) bool { return s.N > 0 }
	multiply := rev.At(func(s *state) revlinalg.Log[T] {
		return revlinalg.Log[T]{Y: rev.ViewSlice(s.Log[:]), X: rev.ViewSlice(s.X[:])}
	})
	var rising rev.Step[state]
	rising = rev.If(more, more,
		rev.Seq(multiply, x(one), n(-1), rev.Call(&rising), n(1), x(-one)),
		rev.Step[state]{})
	natural := rev.At(func(s *state) atLeast { return atLeast{&s.N, 0, "RisingFactorial"} })
	return rev.Seq(natural, rising)
}

// Recurrence is the state of Fibonacci.
type Recurrence[T rev.Real] struct {
	Out  [1]T // added into
	A, B [1]T // the first number and the second, F_1 and F_2
	N    int
}

// Fibonacci demonstrates recursion that replaces its operands. It returns the program
//
//	out += F_n,  F_n = F_{n-1} + F_{n-2},
//
// from the first two numbers, by recursion: each call replaces the older of two
// neighbours by their sum, calls on, and takes the sum apart. The gradients by A and B
// are the Fibonacci numbers of seeds 1, 0 and 0, 1. The recursion takes stack for n calls.
//
// Over fixed.Q43 the numbers are those modulo 2²¹ in [-2²⁰, 2²⁰). An n below 1 is an
// error that wraps a *rev.DomainError, and leaves the state as it was.
func Fibonacci[T rev.Real]() rev.Step[Recurrence[T]] {
	type (
		state  = Recurrence[T]
		number = func(s *state) *[1]T
	)
	a, b, out := number(func(s *state) *[1]T { return &s.A }), number(func(s *state) *[1]T { return &s.B }), number(func(s *state) *[1]T { return &s.Out })
	n := func(by int) rev.Step[state] { return rev.At(func(s *state) count { return count{&s.N, by} }) }
	add := func(y, x number) rev.Step[state] {
		return rev.At(func(s *state) revlinalg.Sum[T] {
			return revlinalg.Sum[T]{Out: &y(s)[0], X: rev.ViewSlice(x(s)[:])}
		})
	}
	last := func(s *state) bool { return s.N <= 2 }
	// step returns the recursion whose newest number is newest, and which goes on by next.
	step := func(newest, older number, next *rev.Step[state]) rev.Step[state] {
		return rev.If(last, last,
			add(out, newest),
			rev.Seq(add(older, newest), n(-1), rev.Call(next), n(1), rev.Uncall(add(older, newest))))
	}
	var even, odd rev.Step[state]
	even, odd = step(b, a, &odd), step(a, b, &even)
	first := func(s *state) bool { return s.N == 1 }
	positive := rev.At(func(s *state) atLeast { return atLeast{&s.N, 1, "Fibonacci"} })
	return rev.Seq(positive, rev.If(first, first, add(out, a), even))
}
