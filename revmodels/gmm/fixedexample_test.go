package gmm_test

import (
	"fmt"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// The log posterior of three points under two components in one dimension, in
// fixed point: Inverse restores every bit, and over float64 it does not.
func ExampleFixedLogPosterior() {
	numbers := func(decimals ...string) []fixed.Q43 {
		var x []fixed.Q43
		for _, s := range decimals {
			x = append(x, fixed.MustParse(s))
		}
		return x
	}
	out := fixed.MustParse("0.1")
	k := gmm.FixedLogPosterior{
		Out:     &out,
		Alpha:   rev.ViewSlice(numbers("0", "0.5")),
		Means:   rev.NewGeneral(2, 1, numbers("-1", "2")),
		Factors: rev.NewGeneral(2, 1, numbers("0", "0.25")),
		X:       rev.NewGeneral(3, 1, numbers("-1.5", "0.1", "2.2")),
	}
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("log posterior %.6f\n", out-fixed.MustParse("0.1"))

	one := fixed.One
	g := gmm.FixedLogPosterior{Out: &one, Means: rev.NewGeneral[fixed.Q43](2, 1, nil)}
	if err := k.Adjoint(g); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("gradient of the means %.6f\n", g.Means.Data)
	fmt.Println("back at", out)
	// Output:
	// log posterior -5.508596
	// gradient of the means [0.427776 -0.188894]
	// back at 0.1
}
