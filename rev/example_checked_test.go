package rev_test

import (
	"errors"
	"fmt"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// A sum over fixed.Q43 wraps at ±2²⁰. A checked pass changes nothing then, and names the element.
func ExampleForwardChecked() {
	alpha := fixed.FromInt(1000)
	x := []fixed.Q43{fixed.FromInt(1), fixed.FromInt(2), fixed.FromInt(2000)}
	y := []fixed.Q43{fixed.FromInt(1), fixed.FromInt(1), fixed.FromInt(1)}
	k := revlinalg.Axpy[fixed.Q43]{Y: rev.ViewSlice(y), Alpha: &alpha, X: rev.ViewSlice(x)}

	err := rev.ForwardChecked(k)
	var overflow *rev.OverflowError
	fmt.Println(errors.As(err, &overflow), overflow.Element(), errors.Is(err, fixed.ErrRange), y)

	k.Forward()
	fmt.Println(y)
	// Output:
	// true Y[2] true [1 1 1]
	// [1001 2001 -97151]
}
