package lstm_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/lstm"
)

// One layer reads four characters of two bits. Each step along the negative gradient
// makes the loss smaller.
func ExampleLoss() {
	text := mat.NewDense(4, 2, []float64{0, 1, 1, 0, 0, 1, 1, 0})
	main, extra, state := mat.NewDense(2, 8, nil), mat.NewDense(3, 2, nil), mat.NewDense(2, 2, nil)
	for i := range 2 {
		extra.Set(0, i, 1) // weights of the input
		extra.Set(1, i, 1) // and of the output
		for j := range 4 {
			main.Set(0, 2*j+i, 0.5)
		}
	}
	var loss float64
	k := lstm.NewLoss(&loss, main, extra, state, text)

	one, mainBar, extraBar := 1.0, mat.NewDense(2, 8, nil), mat.NewDense(3, 2, nil)
	g := lstm.NewLoss(&one, mainBar, extraBar, nil, nil)
	for range 3 {
		mainBar.Zero()
		extraBar.Zero()
		loss = 0
		if err := rev.Gradient(k, g); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.4f\n", loss)
		mainBar.Scale(-1, mainBar)
		extraBar.Scale(-1, extraBar)
		main.Add(main, mainBar)
		extra.Add(extra, extraBar)
	}
	// Output:
	// 0.6931
	// 0.6448
	// 0.6059
}
