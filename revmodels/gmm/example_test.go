package gmm_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/revmodels/gmm"
)

// twoClusters returns a mixture of a round component and a narrow one.
func twoClusters() *gmm.Mixture {
	m, err := gmm.NewMixture(
		[]float64{0.3, 0.7},
		mat.NewDense(2, 2, []float64{0, 0, 5, 1}),
		[]*mat.SymDense{
			mat.NewSymDense(2, []float64{1, 0, 0, 1}),
			mat.NewSymDense(2, []float64{2, 0.9, 0.9, 0.5}),
		})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleFit() {
	x, _ := twoClusters().Sample(5000, rand.NewPCG(1, 2))

	m, report, err := gmm.Fit(context.Background(), x, 2, &gmm.Options{InitMeans: mat.NewDense(2, 2, []float64{-1, 0, 4, 0}), Polish: true})
	if err != nil {
		log.Fatal(err)
	}
	best := report.Starts[report.Best]
	fmt.Printf("converged: %v, log-likelihood %.1f, BIC %.1f\n", best.Converged, best.LogLikelihood, m.BIC(x))
	fmt.Printf("weights %.2f\n", m.Weights())
	fmt.Printf("means\n%.2f\n", mat.Formatted(m.Means()))
	fmt.Println("labels", m.Predict(mat.NewDense(3, 2, []float64{0, 1, 5, 1, 2, 0})))
	// Output:
	// converged: true, log-likelihood -14206.7, BIC 28507.0
	// weights [0.31 0.69]
	// means
	// ⎡0.04  0.01⎤
	// ⎣4.99  0.99⎦
	// labels [0 1 1]
}

// The points of a mixture with spherical covariances belong to the nearest mean, if components have
// equal weights and variances.
func ExampleNewMixtureOf() {
	covariance := mat.NewDiagDense(2, []float64{2, 2})
	round := mat.NewSymDense(2, nil)
	round.CopySym(covariance)
	m, err := gmm.NewMixtureOf(gmm.Spherical, []float64{0.5, 0.5}, mat.NewDense(2, 2, []float64{0, 0, 4, 0}), []*mat.SymDense{round, round})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Predict(mat.NewDense(2, 2, []float64{1, 7, 3, -7})), m.Covariance())
	// Output: [0 1] spherical
}

// The parameters of a mixture by a minimiser of one's own choice: here Newton's
// method, with the exact Hessian, from a rough guess.
func ExampleModel() {
	x, _ := twoClusters().Sample(5000, rand.NewPCG(1, 2))
	model := gmm.NewModel(x, 2, gmm.Prior{})

	start := make([]float64, model.Dim()) // equal weights, unit covariances
	copy(start[2:], []float64{-1, 0, 4, 0})
	problem := optimize.Problem{Func: model.Func, Grad: model.Grad, Hess: model.Hess}
	result, err := optimize.Minimize(problem, start, &optimize.Settings{GradientThreshold: 1e-3}, &optimize.Newton{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := gmm.FromParams(2, 2, result.X)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v, negative log posterior %.1f\n", result.Status, result.F)
	fmt.Printf("weights %.2f\n", m.Weights())
	// Output:
	// GradientThreshold, negative log posterior 14206.7
	// weights [0.31 0.69]
}

// The kernel itself: forward, and backward with the gradient, which restores
// the output. The cotangents are a kernel of the same shape.
func ExampleLogPosterior() {
	alpha := mat.NewVecDense(2, []float64{0, 0}) // equal weights
	means := mat.NewDense(2, 1, []float64{-1, 1})
	factors := mat.NewDense(2, 1, []float64{0, 0}) // unit variances
	x := mat.NewDense(3, 1, []float64{-2, 0.5, 1})
	var out float64
	k := gmm.NewLogPosterior(&out, alpha, means, factors, x, gmm.Prior{})
	k.Forward()
	fmt.Printf("log-likelihood   %.4f\n", out)

	gout := 1.0
	galpha, gmeans, gfactors := mat.NewVecDense(2, nil), mat.NewDense(2, 1, nil), mat.NewDense(2, 1, nil)
	gx := mat.NewDense(3, 1, nil)
	k.Adjoint(gmm.NewLogPosterior(&gout, galpha, gmeans, gfactors, gx, gmm.Prior{}))
	fmt.Printf("restored         %.4f\n", out)
	fmt.Printf("by the means     %.4f\n", mat.Formatted(gmeans.T()))
	fmt.Printf("by the points    %.4f\n", mat.Formatted(gx.T()))
	// Output:
	// log-likelihood   -5.0029
	// restored         0.0000
	// by the means     [-0.3402  -0.4195]
	// by the points    [ 1.0360  -0.0379  -0.2384]
}

// A fit is kept in a file.
func ExampleWriteFile() {
	x := mat.NewDense(6, 1, []float64{0, 1, 2, 10, 11, 12})
	m, _, err := gmm.Fit(context.Background(), x, 2, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "gmm")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "fit.json")
	if err := gmm.WriteFile(path, m); err != nil {
		fmt.Println(err)
		return
	}
	read, err := gmm.ReadFile(path)
	fmt.Println(err, read.Components())
	// Output: <nil> 2
}
