package generated

import (
	"math"
	"slices"
)

// Square is x².
//
//revgen:gradient x
func Square(x float64) float64 { return x * x }

// LogSumExp is the logarithm of the sum of the exponentials of x.
//
//revgen:gradient x value
func LogSumExp(x []float64) float64 {
	most, sum := sumExp(x)
	return most + math.Log(sum)
}

// sumExp returns the largest of x, and the sum of the exponentials of the differences from that.
func sumExp(x []float64) (most, sum float64) {
	most = math.Inf(-1)
	for _, v := range x {
		most = max(most, v)
	}
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return most, sum
}

// LeastSquares is half the sum of the squares of sign(t) - Σ_j x_j·t^j over n points t, evenly spaced
// from -1 to 1.
//
//revgen:gradient x value
func LeastSquares(x []float64, n int) float64 {
	t, p := make([]float64, n), make([]float64, n)
	for i := range t {
		t[i] = -1 + float64(2*i)/float64(n-1)
	}
	for _, v := range slices.Backward(x) { // Horner's rule, at all points at once
		for i, at := range t {
			p[i] = p[i]*at + v
		}
	}
	sum := 0.0
	for i, v := range t {
		e := sign(v) - p[i]
		sum += e * e
	}
	return sum / 2
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// Cost is the sum of the squared distances from points to the nearest of the centroids, which have d
// numbers each.
//
//revgen:gradient centroids value both
func Cost(centroids []float64, points [][]float64) float64 {
	sum := 0.0
	for _, p := range points {
		best := math.Inf(1)
		for c := range len(centroids) / len(p) {
			d := 0.0
			centroid := centroids[c*len(p):][:len(p)]
			for i, v := range p {
				e := v - centroid[i]
				d += e * e
			}
			best = min(best, d)
		}
		sum += best
	}
	return sum
}
