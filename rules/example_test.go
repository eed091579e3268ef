package rules_test

import (
	"fmt"
	"log"
	"unsafe"

	"revnum/rules"
)

// This calls the inner product of two vectors by the name of its kernel, and computes
// the gradient.
func Example() {
	r, err := rules.Lookup("revlinalg.Dot[float64]")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := []float64{1, 2}, []float64{3, 4}
	out, pullback, err := r.VJP([]rules.Buffer{{}, rules.Slice(x), rules.Slice(y)}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	one := 1.0
	g, err := pullback([]rules.Buffer{rules.Scalar(&one)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Equation, rules.Elements[float64](out[0]), rules.Elements[float64](g[1]), rules.Elements[float64](g[2]))
	// Output: r += Σ conj(x_i)·y_i [11] [3 4] [1 2]
}

// A call that is prepared once, and then made on other operands of the same shapes.
func ExampleRule_PrepareMoving() {
	dot, err := rules.Lookup("revlinalg.Dot[float64]")
	if err != nil {
		log.Fatal(err)
	}
	out, x, y := 0.0, []float64{1, 2, 3}, []float64{4, 5, 6}
	call, err := dot.PrepareMoving(rules.Forward, rules.Args{Operands: []rules.Buffer{rules.Scalar(&out), rules.Slice(x), rules.Slice(y)}})
	if err != nil {
		log.Fatal(err)
	}
	for _, z := range [][]float64{{1, 0, 0}, {0, 1, 0}} {
		out = 0
		if err := call.Call([]unsafe.Pointer{unsafe.Pointer(&out), unsafe.Pointer(&x[0]), unsafe.Pointer(&z[0])}); err != nil {
			log.Fatal(err)
		}
		fmt.Println(out)
	}
	// Output:
	// 1
	// 2
}
