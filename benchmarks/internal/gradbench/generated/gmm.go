package generated

import "math"

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

	// The points are seen by coordinates, and each component is for all points at once.
	n := len(points)
	coordinates := make([][]float64, d)
	for i := range coordinates {
		coordinates[i] = make([]float64, n)
		for p, x := range points {
			coordinates[i][p] = x[i]
		}
	}
	exponents := make([][]float64, components)
	for k, mean := range mu {
		exponent := make([]float64, n)
		for p := range exponent {
			exponent[p] = alpha[k] + logDet[k]
		}
		centered := make([]float64, d*n)
		at := 0 // in centered
		for i, x := range coordinates {
			row := centered[at:][:n]
			for p, v := range x {
				row[p] = v - mean[i]
			}
			at += n
		}
		// y = Q·(x - μ), row by row: l_k has the columns of Q.
		for i := range d {
			y := make([]float64, n)
			for p, v := range centered[i*n:][:n] {
				y[p] = diagonal[k*d+i] * v
			}
			for j := range i {
				below := l[k][j*(2*d-j-1)/2+i-j-1]
				for p, v := range centered[j*n:][:n] {
					y[p] += below * v
				}
			}
			for p, v := range y {
				exponent[p] -= v * v / 2
			}
		}
		exponents[k] = exponent
	}
	column, most, sums := make([]float64, components), make([]float64, n), make([]float64, n)
	for p := range sums {
		for k := range column {
			column[k] = exponents[k][p]
		}
		most[p], sums[p] = sumExp(column)
	}
	likelihood := -float64(n) * (float64(d)/2*math.Log(2*math.Pi) + LogSumExp(alpha))
	for p, sum := range sums {
		likelihood += most[p] + math.Log(sum)
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
