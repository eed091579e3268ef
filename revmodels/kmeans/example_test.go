package kmeans_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/kmeans"
)

func ExampleCost() {
	x := mat.NewDense(4, 1, []float64{0, 2, 10, 11})
	centroids := mat.NewDense(2, 1, []float64{2, 12})
	var cost float64
	k := kmeans.NewCost(&cost, centroids, x)
	k.Forward()
	fmt.Println("cost", cost)

	one, gradient := 1.0, mat.NewDense(2, 1, nil)
	k.Adjoint(kmeans.Cost[float64]{Out: &one, Centroids: rev.ViewDense(gradient)})
	fmt.Println("gradient", gradient.RawMatrix().Data, "cost", cost)
	// Output:
	// cost 9
	// gradient [4 6] cost 0
}

func ExampleCost_NewtonDirection() {
	x := mat.NewDense(4, 1, []float64{0, 2, 10, 11})
	centroids := mat.NewDense(2, 1, []float64{2, 12})
	direction := mat.NewDense(2, 1, nil)
	cost := kmeans.NewCost(nil, centroids, x).NewtonDirection(rev.ViewDense(direction))
	centroids.Sub(centroids, direction)
	fmt.Println("from", cost, "to the means", centroids.RawMatrix().Data)
	// Output: from 9 to the means [1 10.5]
}

func ExampleFit() {
	x := mat.NewDense(6, 2, []float64{
		1, 1,
		1, 3,
		9, 8,
		9, 9,
		9, 10,
		2, 2,
	})
	c, _, err := kmeans.Fit(context.Background(), x, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("cost %.4f\n", c.Cost())
	labels := c.Predict(mat.NewDense(2, 2, []float64{0, 0, 10, 10}))
	fmt.Println("apart:", labels[0] != labels[1])
	fmt.Println("with its neighbours:", labels[0] == c.Labels()[0])
	distances := c.Transform(mat.NewDense(1, 2, []float64{9, 5})) // to each centroid
	fmt.Printf("to the nearest: %.4f\n", mat.Min(distances))
	// Output:
	// cost 4.6667
	// apart: true
	// with its neighbours: true
	// to the nearest: 4.0000
}

// A fit is kept in a file.
func ExampleWriteFile() {
	x := mat.NewDense(4, 1, []float64{0, 2, 10, 12})
	c, _, err := kmeans.Fit(context.Background(), x, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "kmeans")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "fit.json")
	if err := kmeans.WriteFile(path, c); err != nil {
		fmt.Println(err)
		return
	}
	read, err := kmeans.ReadFile(path)
	fmt.Println(err, read.Cost())
	// Output: <nil> 4
}
