package generated_test

import (
	"fmt"

	"revnum/benchmarks/internal/gradbench/generated"
	"revnum/rev"
)

// One step of the system y_0' = x_0 ends at y_0 = 2·x_0, and back at 0.
func ExampleODE() {
	y, x := rev.ViewSlice([]float64{0, 0, 0, 1, 0}), rev.ViewSlice([]float64{0, 0, 0, 3})
	k := generated.ODE[float64]{Y: y, X: x, Steps: 1}
	k.Forward()
	fmt.Println(y.Data[4])

	gy, gx := rev.ViewSlice([]float64{0, 0, 0, 0, 1}), rev.ViewSlice(make([]float64, 4))
	k.Adjoint(generated.ODE[float64]{Y: gy, X: gx})
	fmt.Println(y.Data[4], gx.Data[3])
	// Output:
	// 6
	// 0 2
}
