package science

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func ownCheck(t *testing.T, name string, x []float64, f func(x []float64) float64, g func(g, x []float64) float64, v func(x []float64) float64) {
	t.Helper()
	grad, want := make([]float64, len(x)), f(x)
	if value := g(grad, x); math.Abs(value-want) > 1e-12*math.Abs(want) || v != nil && math.Abs(v(x)-want) > 1e-12*math.Abs(want) {
		t.Errorf("%s: the value is %v, want %v", name, value, want)
	}
	for i := range x {
		at := func(h float64) float64 {
			y := append([]float64(nil), x...)
			y[i] += h
			return f(y)
		}
		const h = 1e-4
		if d := (8*(at(h)-at(-h)) - at(2*h) + at(-2*h)) / (12 * h); math.Abs(d-grad[i]) > 1e-8*(1+math.Abs(d)) {
			t.Errorf("%s: derivative %d is %v, want %v", name, i, grad[i], d)
		}
	}
}

func ownSeries(n int, f float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 0.2 + math.Sin(f*float64(i)+0.3)
	}
	return x
}

func TestOwnMatrices(t *testing.T) {
	y := ownSeries(10, 0.9)
	ownCheck(t, "kalman", []float64{0.5, -0.2, 0.1}, func(x []float64) float64 { return beliefs(x, y) }, func(g, x []float64) float64 { return beliefsGradient(g, x, y) }, func(x []float64) float64 { return beliefsValue(x, y) })
	net := func(x []float64) *stackedGates {
		c := func() gate {
			c := gate{mat.NewDense(2, 2, x[:4]), mat.NewDense(2, 2, x[4:8]), mat.NewVecDense(2, x[8:10])}
			x = x[10:]
			return c
		}
		return &stackedGates{[]gate{c(), c()}, mat.NewVecDense(2, x)}
	}
	xs := []*mat.VecDense{mat.NewVecDense(2, ownSeries(2, 0.3)), mat.NewVecDense(2, ownSeries(2, 1.3)), mat.NewVecDense(2, ownSeries(2, 2.3))}
	ownCheck(t, "stackedGates", ownSeries(22, 0.7), func(x []float64) float64 { return net(x).Loss(xs, y) }, func(g, x []float64) float64 {
		return net(x).LossGradient(net(g), []*mat.VecDense{mat.NewVecDense(2, nil), mat.NewVecDense(2, nil), mat.NewVecDense(2, nil)}, xs, y)
	}, nil)
	ownCheck(t, "unpacked", ownSeries(9, 0.7), func(x []float64) float64 { return unpackedLoss(x, xs[0]) }, func(g, x []float64) float64 { return unpackedLossGradient(g, x, xs[0]) }, func(x []float64) float64 { return unpackedLossValue(x, xs[0]) })
	a := mat.NewDense(3, 3, ownSeries(9, 0.7))
	ownCheck(t, "diag", ownSeries(3, 0.7), func(x []float64) float64 { return scaledBy(x, a) }, func(g, x []float64) float64 { return scaledByGradient(g, x, a) }, nil)
	ownCheck(t, "arrays", ownSeries(8, 0.7), pairNorm, pairNormGradient, nil)
	ownCheck(t, "diagmade", ownSeries(4, 0.7), func(x []float64) float64 { return diagonals(x, mat.NewDense(4, 2, ownSeries(8, 1.3))) }, func(g, x []float64) float64 { return diagonalsGradient(g, x, mat.NewDense(4, 2, ownSeries(8, 1.3))) }, nil)
	dd := mat.NewDiagDense(2, []float64{2, 3})
	ownCheck(t, "given", ownSeries(4, 0.7), func(x []float64) float64 { return givenDiagonal(mat.NewDense(2, 2, x), dd) }, func(g, x []float64) float64 {
		return givenDiagonalGradient(mat.NewDense(2, 2, g), mat.NewDense(2, 2, x), dd)
	}, nil)
	l := func(x []float64) []gate {
		return []gate{{mat.NewDense(2, 2, x[:4]), mat.NewDense(2, 2, x[4:8]), mat.NewVecDense(2, x[8:10])}, {mat.NewDense(2, 2, x[10:14]), mat.NewDense(2, 2, x[14:18]), mat.NewVecDense(2, x[18:20])}}
	}
	for w := range 2 {
		ownCheck(t, "chosen", ownSeries(20, 0.7), func(x []float64) float64 { return chosenGate(l(x), xs[0], w) }, func(g, x []float64) float64 { return chosenGateGradient(l(g), l(x), xs[0], w) }, nil)
	}
}
