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

	likelihood := -float64(len(points)) * (float64(d)/2*math.Log(2*math.Pi) + LogSumExp(alpha))
	for _, x := range points {
		centered, y, exponents := make([]float64, d), make([]float64, d), make([]float64, components)
		for k, mean := range mu {
			for i, v := range x {
				centered[i] = v - mean[i]
			}
			// y = Q·(x - μ), column by column.
			for i, v := range diagonal[k*d : k*d+d] {
				y[i] = v * centered[i]
			}
			at := 0 // in l_k, where column j begins
			for j, v := range centered {
				rest := y[j+1:]
				below := l[k][at:][:len(rest)]
				for i := range rest {
					rest[i] += below[i] * v
				}
				at += len(rest)
			}
			square := 0.0
			for _, v := range y {
				square += v * v
			}
			exponents[k] = alpha[k] + logDet[k] - square/2
		}
		likelihood += LogSumExp(exponents)
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
