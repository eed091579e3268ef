package revtest_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"revnum/rev"
	"revnum/rev/revtest"
)

// Logistic is the kernel Out += Σ_i log(1 + exp(-y_i·x_i)). With
// p_i = 1/(1 + exp(y_i·x_i)), and ġOut the tangent of Ōut, the derivatives are
//
//	x̄_i += -Ōut·y_i·p_i,  Ȯut += Σ -y_i·p_i·ẋ_i,  ġx_i += -ġOut·y_i·p_i + Ōut·p_i·(1-p_i)·ẋ_i
type Logistic struct {
	Out *float64  `rev:"acc"`
	X   []float64 `rev:"in" shape:"n"`
	Y   []int     `rev:"index" shape:"n"` // 1 or -1
}

func (k Logistic) Run(p rev.Pass[Logistic]) error {
	g, t, gt, sign := p.G, p.T, p.GT, float64(p.Sign())
	for i, x := range k.X {
		y := float64(k.Y[i])
		prob := 1 / (1 + math.Exp(y*x))
		if k.Out != nil {
			loss := max(0, -y*x) + math.Log1p(math.Exp(-math.Abs(x))) // exp(-y·x) may overflow
			*k.Out += float64(sign * loss)
		}
		if t.Out != nil && t.X != nil {
			*t.Out -= float64(sign * y * prob * t.X[i])
		}
		if g.Out != nil && g.X != nil {
			g.X[i] -= float64(*g.Out * y * prob)
		}
		if gt.Out != nil && gt.X != nil {
			gt.X[i] -= float64(*gt.Out * y * prob)
		}
		if g.Out != nil && gt.X != nil && t.X != nil {
			gt.X[i] += float64(*g.Out * prob * (1 - prob) * t.X[i])
		}
	}
	return nil
}

// logistic says how to test the kernel. TestLogistic does.
var logistic = revtest.Spec[Logistic]{
	New: func(rnd *rand.Rand, n int) Logistic {
		k := Logistic{Out: new(float64), X: make([]float64, n), Y: make([]int, n)}
		for i := range n {
			k.X[i], k.Y[i] = rnd.NormFloat64(), 1-2*rnd.IntN(2)
		}
		return k
	},
	RoundTrip: 64, // each term is added and subtracted separately
}

// CONTRIBUTING.md explains this kernel.
func Example_logistic() {
	out, one := 0.0, 1.0
	k := Logistic{Out: &out, X: []float64{2, -1, 0.5}, Y: []int{1, -1, -1}}
	g := Logistic{Out: &one, X: make([]float64, 3)}
	if err := rev.Gradient(k, g); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("loss %.4f, gradient %.4f\n", out, g.X)
	// Output:
	// loss 1.4143, gradient [-0.1192 0.2689 0.6225]
}
