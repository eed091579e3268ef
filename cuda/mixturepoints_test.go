package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/gmm"
)

// twoClouds returns points around two centres. The clouds overlap, so that a fit takes some
// iterations.
func twoClouds(n int) *mat.Dense {
	rnd := rand.New(rand.NewPCG(19, 20))
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		centre := 2 * float64(i%2)
		x.SetRow(i, []float64{centre + rnd.NormFloat64(), 0.8*rnd.NormFloat64() - centre})
	}
	return x
}

// TestMixturePoints fits mixtures with each kind of covariance, and compares with fits on the
// host.
func TestMixturePoints(t *testing.T) {
	dev := interpreter(t, 1<<24)
	smallBatches(t, 50)
	x := twoClouds(80)
	for _, kind := range []gmm.Covariance{gmm.Full, gmm.Tied, gmm.Diagonal, gmm.Spherical} {
		p, err := NewMixturePoints(dev, x, kind)
		if err != nil {
			t.Fatal(err)
		}
		opts := gmm.Options{Covariance: kind, Starts: 2, MaxIter: 20, Polish: kind == gmm.Full}
		want, _, err := gmm.Fit(context.Background(), x, 2, &opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.Points = p
		got, report, err := gmm.Fit(context.Background(), x, 2, &opts)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := got.LogLikelihood(x), want.LogLikelihood(x); !(math.Abs(a-b) <= 1e-7*math.Abs(b)) {
			t.Errorf("%v: log likelihood %v, want %v", kind, a, b)
		}
		if !mat.EqualApprox(got.Means(), want.Means(), 1e-5) {
			t.Errorf("%v: means %v, want %v", kind, got.Means(), want.Means())
		}
		if kind == gmm.Full && report.Starts[report.Best].Polish == 0 {
			t.Error("no polish")
		}
		// From the means alone, and without the host's points.
		opts = gmm.Options{Covariance: kind, MaxIter: 6, InitMeans: want.Means()}
		if got, _, err = gmm.FitPoints(context.Background(), p, 2, &opts, nil); err != nil {
			t.Fatal(err)
		}
		if a, b := got.LogLikelihood(x), want.LogLikelihood(x); !(math.Abs(a-b) <= 1e-2*math.Abs(b)) {
			t.Errorf("%v: log likelihood %v from means, want %v", kind, a, b)
		}
		if err := p.Free(); err != nil {
			t.Error(err)
		}
	}
}

// TestMixtureMoments compares the sums of a step with those of the host.
func TestMixtureMoments(t *testing.T) {
	for _, capability := range []int{75, 80, 90} {
		t.Run(fmt.Sprint(capability), func(t *testing.T) { mixtureMoments(t, withTensorCores(t, 1<<24, capability)) })
	}
}

func mixtureMoments(t *testing.T, dev *Device) {
	x := twoClouds(90)
	for _, kind := range []gmm.Covariance{gmm.Full, gmm.Tied, gmm.Diagonal, gmm.Spherical} {
		p, err := NewMixturePoints(dev, x, kind)
		if err != nil {
			t.Fatal(err)
		}
		own := 1.0
		if kind == gmm.Diagonal || kind == gmm.Spherical {
			own = 0 // of the first component: its moments are about the origin
		}
		numbers := []float64{math.Log(0.3), math.Log(0.7), own, 1, 0.1, 0.2, 4, -3.5}
		switch kind {
		case gmm.Full:
			numbers = append(numbers, 1, 0, 0.2, 2, 0.7, 0, -0.3, 1)
		case gmm.Tied:
			numbers = append(numbers, 1, 0, 0.2, 2)
		default:
			numbers = append(numbers, 1, 2, 0.7, 1)
		}
		numbers = append(numbers, 2, -2, 0, 0) // the origin, and no scale
		e, err := gmm.NewExpectation(kind, 2, 2, numbers)
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]float64, e.Len()), make([]float64, e.Len())
		if err := p.Moments(got, e); err != nil {
			t.Fatal(err)
		}
		e.Moments(want, rev.ViewDense(x))
		for i, v := range got {
			if !(math.Abs(v-want[i]) <= 1e-10*(1+math.Abs(want[i]))) {
				t.Errorf("%v: moment %d is %v, want %v", kind, i, v, want[i])
			}
		}
		if err := p.Free(); err != nil {
			t.Error(err)
		}
		if _, err := p.FuncGrad(nil, make([]float64, 2*6)); err == nil {
			t.Error("no error from points that were freed")
		}
	}
}

// TestMixtureGoroutines calls methods of one MixturePoints from several goroutines, for mixtures
// of different sizes. FuncGrad keeps memory for the last size.
func TestMixtureGoroutines(t *testing.T) {
	dev := interpreter(t, 1<<24)
	p := must(NewMixturePoints(dev, twoClouds(30), gmm.Full))(t)
	var wait sync.WaitGroup
	for comps := 1; comps <= 4; comps++ {
		x := make([]float64, comps*6)
		for i := range x {
			x[i] = 0.1 * float64(i%5)
		}
		want := make([]float64, len(x))
		value := must(p.FuncGrad(want, x))(t)
		wait.Go(func() {
			for range 3 {
				got := make([]float64, len(x))
				if v, err := p.FuncGrad(got, x); err != nil || v != value || !slices.Equal(got, want) {
					t.Errorf("%d components: %v and %v, want %v and %v: %v", comps, v, got, value, want, err)
				}
			}
		})
	}
	wait.Wait()
	if err := p.Free(); err != nil {
		t.Error(err)
	}
}
