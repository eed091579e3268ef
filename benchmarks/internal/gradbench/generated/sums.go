package generated

import "math"

// Square is x².
//
//revgen:gradient x
func Square(x float64) float64 { return x * x }

// LogSumExp is the logarithm of the sum of the exponentials of x.
//
//revgen:gradient x value
func LogSumExp(x []float64) float64 {
	most := math.Inf(-1)
	for _, v := range x {
		most = max(most, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - most)
	}
	return most + math.Log(sum)
}

// LeastSquares is half the sum of the squares of sign(t) - Σ_j x_j·t^j over n points t, evenly spaced
// from -1 to 1.
//
//revgen:gradient x
func LeastSquares(x []float64, n int) float64 {
	sum := 0.0
	for i := range n {
		t := -1 + float64(2*i)/float64(n-1)
		sign := 0.0
		if t > 0 {
			sign = 1
		} else if t < 0 {
			sign = -1
		}
		p, power := 0.0, 1.0
		for _, v := range x {
			p += v * power
			power *= t
		}
		sum += (sign - p) * (sign - p)
	}
	return sum / 2
}

// Cost is the sum of the squared distances from points to the nearest of the centroids, which have d
// numbers each.
//
//revgen:gradient centroids both
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
