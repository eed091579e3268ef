package revlog_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlog"
	"revnum/ulog"
)

func ExampleDot() {
	prior := mat.NewVecDense(2, []float64{math.Log(0.5), math.Log(0.5)})
	likelihood := mat.NewVecDense(2, []float64{-1000, -1001})
	posterior := mat.NewVecDense(2, nil)
	evidence, one := math.Inf(-1), 1.0

	k := revlog.NewDot(&evidence, prior, likelihood)
	k.Forward()
	fmt.Printf("%.4f\n", evidence)
	k.Adjoint(revlog.Dot[float64]{Out: &one, X: rev.ViewVec(posterior)})
	fmt.Printf("%.4f %v\n", posterior.RawVector().Data, evidence)
	// Output:
	// -1000.3799
	// [0.7311 0.2689] -Inf
}

// A step of a Markov chain that cannot underflow, and the posterior of the
// state before it.
func ExampleMatMul() {
	zero := math.Inf(-1)
	now := mat.NewDense(1, 2, []float64{-1000, -1002})
	step := mat.NewDense(2, 2, []float64{math.Log(0.9), math.Log(0.1), math.Log(0.2), math.Log(0.8)})
	next := mat.NewDense(1, 2, []float64{zero, zero})

	k := revlog.NewMatMul(next, now, step)
	k.Forward()
	fmt.Printf("%.4f\n", next.RawMatrix().Data)

	// The next state is the second one.
	gNext, gNow := mat.NewDense(1, 2, []float64{0, 1}), mat.NewDense(1, 2, nil)
	k.Adjoint(revlog.MatMul[float64]{C: rev.ViewDense(gNext), A: rev.ViewDense(gNow)})
	fmt.Printf("%.4f\n", gNow.RawMatrix().Data)
	// Output:
	// [-1000.0757 -1001.5689]
	// [0.4802 0.5198]
}

func ExampleMulElem() {
	zero := math.Inf(-1)
	z := mat.NewVecDense(2, []float64{zero, zero})
	x := mat.NewVecDense(2, []float64{-1000, zero})
	y := mat.NewVecDense(2, []float64{-2000, -3000})

	k := revlog.NewMulElem(z, x, y)
	k.Forward()
	fmt.Println(z.RawVector().Data)
	k.Inverse()
	fmt.Println(z.RawVector().Data)
	// Output:
	// [-3000 -Inf]
	// [-Inf -Inf]
}

// The likelihood of independent observations. Inverse restores every bit.
func ExampleProd() {
	likelihood := ulog.Fixed{} // 1
	observations := make([]ulog.Fixed, 10_000)
	for i := range observations {
		observations[i] = ulog.NewFixed(1e-3 / float64(i+1))
	}
	k := revlog.Prod[fixed.Q43]{Out: &likelihood.Log, X: rev.ViewSlice(ulog.FixedLogs(observations))}
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4v\n", likelihood)
	if err := k.Inverse(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(likelihood == ulog.Fixed{})
	// Output:
	// 3.513e-65660
	// true
}

// Logs of numbers far outside of float64, and the posterior of two hypotheses.
func ExampleSum() {
	evidence := ulog.Float64{Log: math.Inf(-1)}
	joint := []ulog.Float64{{Log: -30000}, {Log: -30001}}
	posterior, one := make([]float64, 2), 1.0

	k := revlog.Sum[float64]{Out: &evidence.Log, X: rev.ViewSlice(ulog.Logs(joint))}
	k.Forward()
	fmt.Printf("%.4v\n", evidence)
	k.Adjoint(revlog.Sum[float64]{Out: &one, X: rev.ViewSlice(posterior)})
	fmt.Printf("%.4f\n", posterior)
	// Output:
	// 2.003e-13029
	// [0.7311 0.2689]
}

// Planck's constant, the constant of gravitation and the speed of light give
// units of length and time; the derivatives are the exponents.
func ExamplePowers() {
	x := mat.NewVecDense(3, []float64{math.Log(1.054571817e-34), math.Log(6.67430e-11), math.Log(299792458)})
	planck := mat.NewDense(2, 3, []float64{
		0.5, 0.5, -1.5, // length: √(ħG/c³)
		0.5, 0.5, -2.5, // time: √(ħG/c⁵)
	})
	y := mat.NewVecDense(2, nil)
	k := revlog.NewPowers(y, planck, x)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4v\n", ulog.OfLogs(y.RawVector().Data))

	gy, gx := mat.NewVecDense(2, []float64{1, 0}), mat.NewVecDense(3, nil)
	if err := k.Adjoint(revlog.Powers[float64]{Y: rev.ViewVec(gy), X: rev.ViewVec(gx)}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(gx.RawVector().Data)
	// Output:
	// [1.616e-35 5.391e-44]
	// [0.5 0.5 -1.5]
}
