package flow_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"revnum/revmodels/flow"
)

// A flow learns a ring.
func Example() {
	rnd := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(1000, 2, nil)
	for i := range 1000 {
		r, a := 2+0.2*rnd.NormFloat64(), 2*math.Pi*rnd.Float64()
		x.SetRow(i, []float64{r * math.Cos(a), r * math.Sin(a)})
	}
	model, err := flow.New[float64](flow.Options{Kind: flow.RealNVP, Dim: 2, Depth: 6, Hidden: 16}, rand.NewPCG(3, 4))
	if err != nil {
		log.Fatal(err)
	}
	if err := model.Fit(context.Background(), x, &flow.FitOptions{Steps: 400, Batch: 128}); err != nil {
		log.Fatal(err)
	}

	density, mean := make([]float64, 1000), 0.0
	if err := model.LogDensity(density, x); err != nil {
		log.Fatal(err)
	}
	for _, v := range density {
		mean -= v / 1000
	}
	// The best normal distribution has 3.54, the ring itself 2.34.
	fmt.Println("the mean of -log p is below 2.8:", mean < 2.8)

	samples, inside := mat.NewDense(1000, 2, nil), 0
	if err := model.Sample(samples, rand.NewPCG(5, 6)); err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		if math.Hypot(samples.At(i, 0), samples.At(i, 1)) < 1 {
			inside++
		}
	}
	fmt.Println("few of 1000 samples are in the hole:", inside < 60)
	// Output:
	// the mean of -log p is below 2.8: true
	// few of 1000 samples are in the hole: true
}
