package generated

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// GMMBlock returns the number of points of a block of GMM: 64 to 4096, which have about 65536 coordinates over all components. A
// gradient keeps the values of a block, some 32 bytes a coordinate.
func GMMBlock(components, d int) int {
	return 64 * min(max(1, 1024/max(1, components*d)), 64) // 64 are whole vectors
}

// GMM is the logarithm of the posterior density of a mixture of Gaussians. The components have the
// weights exp(alpha_k)/Σ exp(alpha), the means mu_k, and the precisions QᵀQ, where Q is lower triangular
// with the diagonal exp(q_k), and the columns below it in l_k. The prior of a precision is Wishart's
// distribution with the scale 1/γ² and d+m+1 degrees of freedom.
//
//revgen:gradient alpha mu q l value
func GMM(alpha []float64, mu, q, l, points [][]float64, m int, gamma float64) float64 {
	components, d := len(alpha), len(mu[0])
	factors, logDet := make([]float64, components*d*d), make([]float64, components)
	prior := -float64(components) * wishart(d, m, gamma)
	for k, logs := range q {
		square, sum := 0.0, 0.0
		for i, v := range logs {
			e := math.Exp(v)
			factors[(k*d+i)*d+i] = e
			square += e * e
			sum += v
		}
		for j := range d { // l_k has the columns of Q below the diagonal
			for i, v := range l[k][j*(2*d-j-1)/2:][:d-j-1] {
				factors[(k*d+j+1+i)*d+j] = v
			}
		}
		for _, v := range l[k] {
			square += v * v
		}
		logDet[k] = sum
		prior += float64(m)*sum - gamma*gamma/2*square
	}

	// The points are seen by coordinates, block by block, and each component is for all points of a block at once.
	n := len(points)
	likelihood := -float64(n) * (float64(d)/2*math.Log(2*math.Pi) + LogSumExp(alpha))
	size := GMMBlock(components, d)
	for b := range (n + size - 1) / size {
		block := points[b*size : min((b+1)*size, n)]
		coordinates := make([]float64, d*len(block))
		for p, x := range block {
			for i, v := range x {
				coordinates[i*len(block)+p] = v
			}
		}
		exponents := make([]float64, components*len(block))
		for k, mean := range mu {
			exponent := exponents[k*len(block):][:len(block)]
			for p := range exponent {
				exponent[p] = alpha[k] + logDet[k]
			}
			centered := make([]float64, d*len(block))
			for i := range d {
				row := centered[i*len(block):][:len(block)]
				for p, v := range coordinates[i*len(block):][:len(block)] {
					row[p] = v - mean[i]
				}
			}
			var y mat.Dense
			y.Mul(mat.NewDense(d, d, factors[k*d*d:][:d*d]), mat.NewDense(d, len(block), centered))
			for i := range d {
				for p, v := range y.RawRowView(i) {
					exponent[p] -= v * v / 2
				}
			}
		}
		column, sums := make([]float64, components), make([]float64, len(block))
		for p := range block {
			for k := range column {
				column[k] = exponents[k*len(block)+p]
			}
			most, sum := sumExp(column)
			likelihood += most
			sums[p] = sum
		}
		for _, v := range sums {
			likelihood += math.Log(v)
		}
	}
	return likelihood + prior
}

// wishart is the logarithm of the constant that divides the density of Wishart's distribution.
func wishart(d, m int, gamma float64) float64 {
	n, p := float64(d+m+1), float64(d)
	norm := n*p/2*math.Ln2 - n*p*math.Log(gamma) + p*(p-1)/4*math.Log(math.Pi)
	for j := range d {
		log, _ := math.Lgamma((n - float64(j)) / 2)
		norm += log
	}
	return norm
}
