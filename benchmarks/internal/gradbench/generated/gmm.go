package generated

import "math"

// gmmBlock is the number of points that a gradient keeps the values of: 32·d·K bytes a point, beside those of coordinates.
const gmmBlock = 64

// GMM is the logarithm of the posterior density of a mixture of Gaussians. The components have the
// weights exp(alpha_k)/Σ exp(alpha), the means mu_k, and the precisions QᵀQ, where Q is lower triangular
// with the diagonal exp(q_k), and the columns below it in l_k. The prior of a precision is Wishart's
// distribution with the scale 1/γ² and d+m+1 degrees of freedom.
//
//revgen:gradient alpha mu q l value
func GMM(alpha []float64, mu, q, l, points [][]float64, m int, gamma float64) float64 {
	components, d := len(alpha), len(mu[0])
	diagonal, logDet := make([]float64, components*d), make([]float64, components)
	prior := -float64(components) * wishart(d, m, gamma)
	for k, logs := range q {
		square, sum := 0.0, 0.0
		for i, v := range logs {
			e := math.Exp(v)
			diagonal[k*d+i] = e
			square += e * e
			sum += v
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
	for lo := 0; lo < n; lo += gmmBlock {
		block := points[lo:min(lo+gmmBlock, n)]
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
			// y = Q·(x - μ), row by row: l_k has the columns of Q.
			for i := range d {
				y := make([]float64, len(block))
				for p, v := range centered[i*len(block):][:len(block)] {
					y[p] = diagonal[k*d+i] * v
				}
				for j := range i {
					below := l[k][j*(2*d-j-1)/2+i-j-1]
					for p, v := range centered[j*len(block):][:len(block)] {
						y[p] += below * v
					}
				}
				for p, v := range y {
					exponent[p] -= v * v / 2
				}
			}
		}
		column := make([]float64, components)
		for p := range block {
			for k := range column {
				column[k] = exponents[k*len(block)+p]
			}
			likelihood += LogSumExp(column)
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
