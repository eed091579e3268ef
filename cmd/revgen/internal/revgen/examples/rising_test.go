package examples

import (
	"fmt"

	"revnum/fixed"
	"revnum/rev"
)

// 20! as a logarithmic number, by recursion. Inverse restores every bit.
func ExampleRisingFactorial() {
	type state = Rising[fixed.Q43]
	factorial := RisingFactorial[fixed.Q43]()
	s := &state{X: [1]fixed.Q43{fixed.One}, N: 20}
	g := new(state)
	log, err := rev.ValueGradient(factorial, func(s *state) *fixed.Q43 { return &s.Log[0] }, s, g)
	fmt.Printf("log 20! = %.10f, by x %.10f, left %v, %v\n", log.Float64(), g.X[0].Float64(), s.Log[0], err)
	// Output:
	// log 20! = 42.3356164608, by x 3.5977396571, left 0, <nil>
}
