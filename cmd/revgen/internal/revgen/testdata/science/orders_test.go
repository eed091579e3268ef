package science

import (
	"math"
	"testing"
)

func TestOrders(t *testing.T) {
	subj := []patient{{1, true, []float64{1, 2}}, {3, false, []float64{0.4, 1}}, {2, true, []float64{0.1, -1}}, {0.5, true, []float64{0.7, 0.3}}}
	ownCheck(t, "survival", []float64{0.5, 0.2}, func(x []float64) float64 { return survival(x, subj) }, func(g, x []float64) float64 { return survivalGradient(g, x, subj) }, func(x []float64) float64 { return survivalValue(x, subj) })
	x := []float64{0.5, -0.2, 0.9, 1.3, 0.1, -0.7, 0.33}
	ownCheck(t, "sortedWeights", x, func(x []float64) float64 { v, _ := sortedWeights(x); return v }, func(g, x []float64) float64 { v, _ := sortedWeightsGradient(g, x); return v }, func(x []float64) float64 { v, _ := sortedWeightsValue(x); return v })
	ownCheck(t, "orderedPoints", x, orderedPoints, orderedPointsGradient, orderedPointsValue)
	ownCheck(t, "byWeight", x, byWeight, byWeightGradient, nil)
	ownCheck(t, "sharedRoom", x, sharedRoom, sharedRoomGradient, sharedRoomValue)
	ownCheck(t, "freshDiagonals", x, freshDiagonals, freshDiagonalsGradient, freshDiagonalsValue)
	ownCheck(t, "notNumbers", x, notNumbers, notNumbersGradient, notNumbersValue)
	ownCheck(t, "stableTies", x, stableTies, stableTiesGradient, stableTiesValue)
	v, dst := []float64{1, 2, -1, 0.5, 0.3, 1, 0}, make([]float64, 7)
	sortedWeightsHessVec(dst, x, v)
	const h = 1e-5
	a, b := make([]float64, 7), make([]float64, 7)
	y := make([]float64, 7)
	for i := range y {
		y[i] = x[i] + h*v[i]
	}
	sortedWeightsGradient(a, y)
	for i := range y {
		y[i] = x[i] - h*v[i]
	}
	sortedWeightsGradient(b, y)
	for i := range y {
		if d := (a[i] - b[i]) / 2 / h; math.Abs(d-dst[i]) > 1e-6 {
			t.Errorf("second derivative %d is %v, want %v", i, dst[i], d)
		}
	}
}
