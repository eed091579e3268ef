package rev_test

import (
	"fmt"

	"revnum/rev"
)

// plusInt is the kernel y += by over integers.
type plusInt struct {
	Y  *int `rev:"acc"`
	By int
}

func (k plusInt) Run(p rev.Pass[plusInt]) error {
	*k.Y += p.Sign() * k.By
	return nil
}

type fibonacci struct {
	n     int
	out   int
	bound int
}

// fib adds the n-th Fibonacci number to out: by recursion, as Call takes the
// step from the variable only when it runs.
func fib() rev.Step[fibonacci] {
	n := func(by int) rev.Step[fibonacci] {
		return rev.At(func(s *fibonacci) plusInt { return plusInt{&s.n, by} })
	}
	one := rev.At(func(s *fibonacci) plusInt { return plusInt{&s.out, 1} })
	small := func(s *fibonacci) bool { return s.n <= 2 }

	var f rev.Step[fibonacci]
	f = rev.If(small, small,
		one,
		rev.Seq(n(-1), rev.Call(&f), n(-1), rev.Call(&f), n(2)))
	return f
}

// Fibonacci numbers by recursion.
func ExampleCall() {
	f := fib()
	s := &fibonacci{n: 10}
	fmt.Println(f.Forward(s), s.n, s.out)
	fmt.Println(f.Inverse(s), s.n, s.out)
	// Output:
	// <nil> 10 55
	// <nil> 10 0
}

// The smallest Fibonacci number that is not below a bound. Each number is
// uncomputed before the next is computed, so that the index alone is left.
func ExampleWhile() {
	f := fib()
	next := rev.At(func(s *fibonacci) plusInt { return plusInt{&s.n, 1} })
	search := rev.Seq(
		next,
		f,
		rev.While(
			func(s *fibonacci) bool { return s.out < s.bound },
			func(s *fibonacci) bool { return s.n > 1 },
			rev.Seq(rev.Uncall(f), next, f)),
	)
	s := &fibonacci{bound: 100}
	fmt.Println(search.Forward(s), s.n, s.out)
	fmt.Println(search.Inverse(s), s.n, s.out)

	// A postcondition that does not tell the start from later iterations.
	wrong := rev.While(
		func(s *fibonacci) bool { return s.n < 10 },
		func(s *fibonacci) bool { return s.n >= 0 },
		next)
	fmt.Println(wrong.Forward(s))
	// Output:
	// <nil> 12 144
	// <nil> 0 0
	// rev: While: the postcondition must be false at the end where the loop starts, found true
}
