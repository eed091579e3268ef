package ba_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"revnum/revmodels/ba"
)

func Example() {
	// Eight cameras around a vase, whose pictures have half a pixel of noise.
	p, truth, err := ba.Generate(&ba.GenerateOptions{Cameras: 8, Points: 200, Observations: 1000, Noise: 0.5, Start: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	noise := truth.Clone()
	noise.Features = p.Features

	report, err := ba.Solve(context.Background(), p, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Status)
	// The solution fits the noise too, and so has less cost than the truth.
	fmt.Println(report.Final < cost(noise), report.Final > cost(noise)/2)
	// Output:
	// cost converged
	// true true
}

// cost returns half the sum of the squared reprojection errors.
func cost(p *ba.Problem) float64 {
	k := p.Kernel()
	k.R.N, k.R.Inc, k.R.Data = 2*p.NumObservations(), 1, make([]float64, 2*p.NumObservations())
	_ = k.Forward() // in floating point there is no error
	sum := 0.
	for _, r := range k.R.Data {
		sum += r * r
	}
	return sum / 2
}

func ExampleRead() {
	_, err := ba.Read(strings.NewReader("1 1 1\n0 1 10.5 -3\n"), "broken.txt")
	fmt.Println(err)
	// Output: broken.txt:2: expected the index of a point, 0 to 0, found "1"
}

func ExampleWriteBAL() {
	p := &ba.Problem{
		Cameras: []float64{0, 0, 0, 0, 0, -5, 500, 0, 0},
		Points:  []float64{0.1, 0, 0},
		Camera:  []int{0}, Point: []int{0}, Features: []float64{10, 0},
	}
	if err := ba.WriteBAL(os.Stdout, p); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 1 1
	// 0 0 10 0
	// 0
	// 0
	// 0
	// 0
	// 0
	// -5
	// 500
	// 0
	// 0
	// 0.1
	// 0
	// 0
}
