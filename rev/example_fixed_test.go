package rev_test

import (
	"fmt"

	"revnum/fixed"
	"revnum/rev"
)

// sixtyFourth is the kernel y += x/64. Over fixed point the quotient is
// rounded, but the same number is added and taken away.
type sixtyFourth[T rev.Real] struct {
	Y *T `rev:"acc"`
	X *T `rev:"in"`
}

func (k sixtyFourth[T]) Run(p rev.Pass[sixtyFourth[T]]) error {
	if p.Adjoint || p.Tangent {
		return rev.ErrUnsupported
	}
	*k.Y += T(T(p.Sign()) * (*k.X / 64))
	return nil
}

type oscillator[T rev.Real] struct{ q, p T }

// orbit returns ten thousand steps of q += p/64, p -= q/64.
func orbit[T rev.Real]() rev.Step[oscillator[T]] {
	type state = oscillator[T]
	return rev.Repeat(func(*state) int { return 10000 }, rev.Seq(
		rev.At(func(s *state) sixtyFourth[T] { return sixtyFourth[T]{&s.q, &s.p} }),
		rev.Uncall(rev.At(func(s *state) sixtyFourth[T] { return sixtyFourth[T]{&s.p, &s.q} })),
	))
}

// One program over floating and fixed point. Over floats it comes back up to
// rounding, over fixed point to the bit.
func Example_fixed() {
	a := oscillator[float64]{q: 0.3, p: 0.7}
	pa := orbit[float64]()
	_ = pa.Forward(&a)
	_ = pa.Inverse(&a)
	fmt.Println("float64:  ", a == oscillator[float64]{q: 0.3, p: 0.7})

	start := oscillator[fixed.Q43]{q: 3 << 40, p: 7 << 40}
	b := start
	pb := orbit[fixed.Q43]()
	_ = pb.Forward(&b)
	moved := b != start
	_ = pb.Inverse(&b)
	fmt.Println("fixed.Q43:", moved, b == start)
	// Output:
	// float64:   false
	// fixed.Q43: true true
}
