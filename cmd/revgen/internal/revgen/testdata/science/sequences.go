// Package science has functions as people write them, for their gradients.
package science

import "math"

// kalman is the negative log-likelihood of a local level model, by Kalman's filter.
//
//revgen:gradient theta hessian
func kalman(theta, y []float64) float64 {
	q, r := math.Exp(theta[0]), math.Exp(theta[1])
	m, p := theta[2], 1.0
	nll := 0.0
	for _, obs := range y {
		p += q
		s := p + r
		v := obs - m
		nll += 0.5 * (math.Log(2*math.Pi*s) + v*v/s)
		k := p / s
		m += k * v
		p *= 1 - k
	}
	return nll
}

// hmm is the log-likelihood of a hidden Markov model, by the forward algorithm with scaling.
//
//revgen:gradient logits emission
func hmm(logits, emission [][]float64, obs []int) float64 {
	n := len(logits)
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
		sum := 0.0
		for j := range a[i] {
			a[i][j] = math.Exp(logits[i][j])
			sum += a[i][j]
		}
		for j := range a[i] {
			a[i][j] /= sum
		}
	}
	alpha := make([]float64, n)
	for i := range alpha {
		alpha[i] = 1 / float64(n)
	}
	ll := 0.0
	for _, o := range obs {
		next := make([]float64, n)
		scale := 0.0
		for j := range next {
			for i := range alpha {
				next[j] += alpha[i] * a[i][j]
			}
			next[j] *= math.Exp(emission[j][o])
			scale += next[j]
		}
		for j := range next {
			next[j] /= scale
		}
		ll += math.Log(scale)
		alpha = next
	}
	return ll
}

// logSumExp does not overflow.
func logSumExp(x []float64) float64 {
	m := x[0]
	for _, v := range x[1:] {
		if v > m {
			m = v
		}
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - m)
	}
	return m + math.Log(s)
}

// crf is the negative log-likelihood of a chain of labels.
//
//revgen:gradient unary pair
func crf(unary, pair [][]float64, labels []int) float64 {
	k := len(pair)
	alpha := make([]float64, k)
	copy(alpha, unary[0])
	score := unary[0][labels[0]]
	tmp := make([]float64, k)
	for t := 1; t < len(unary); t++ {
		next := make([]float64, k)
		for j := 0; j < k; j++ {
			for i := 0; i < k; i++ {
				tmp[i] = alpha[i] + pair[i][j]
			}
			next[j] = logSumExp(tmp) + unary[t][j]
		}
		copy(alpha, next)
		score += pair[labels[t-1]][labels[t]] + unary[t][labels[t]]
	}
	return logSumExp(alpha) - score
}

// softDTW is the soft dynamic time warping distance of two series.
//
//revgen:gradient x y
func softDTW(x, y []float64, gamma float64) float64 {
	n, m := len(x), len(y)
	d := make([][]float64, n+1)
	for i := range d {
		d[i] = make([]float64, m+1)
		for j := range d[i] {
			d[i][j] = 1e10
		}
	}
	d[0][0] = 0
	for i := 1; i <= n; i++ {
		for j := 1; j <= m; j++ {
			cost := (x[i-1] - y[j-1]) * (x[i-1] - y[j-1])
			d[i][j] = cost + softMin(d[i-1][j], d[i][j-1], d[i-1][j-1], gamma)
		}
	}
	return d[n][m]
}

func softMin(a, b, c, gamma float64) float64 {
	m := min(a, b, c)
	s := math.Exp((m-a)/gamma) + math.Exp((m-b)/gamma) + math.Exp((m-c)/gamma)
	return m - gamma*math.Log(s)
}

// smithWaterman is the score of a local alignment, with a smooth substitution score.
//
//revgen:gradient sub gap
func smithWaterman(sub [][]float64, gap float64, a, b []int) float64 {
	prev := make([]float64, len(b)+1)
	best := 0.0
	for i := range a {
		cur := make([]float64, len(b)+1)
		for j := range b {
			h := prev[j] + sub[a[i]][b[j]]
			if g := prev[j+1] - gap; g > h {
				h = g
			}
			if g := cur[j] - gap; g > h {
				h = g
			}
			if h < 0 {
				h = 0
			}
			cur[j+1] = h
			best = math.Max(best, h)
		}
		prev = cur
	}
	return best
}

// garch is the negative log-likelihood of GARCH(1, 1).
//
//revgen:gradient omega alpha beta
func garch(omega, alpha, beta float64, r []float64) (nll float64) {
	v := omega / (1 - alpha - beta)
	for i, x := range r {
		if i > 0 {
			v = omega + alpha*r[i-1]*r[i-1] + beta*v
		}
		nll += 0.5 * (math.Log(v) + x*x/v)
	}
	return nll
}

type gru struct {
	wz, wr, wh [][]float64
	uz, ur, uh [][]float64
	bz, br, bh []float64
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func dot(x, y []float64) (s float64) {
	for i := range x {
		s += x[i] * y[i]
	}
	return
}

// loss runs a gated recurrent unit over a sequence.
//
//revgen:gradient g
func (g *gru) loss(xs [][]float64, target []float64) float64 {
	h := make([]float64, len(g.bz))
	for _, x := range xs {
		next := make([]float64, len(h))
		rh := make([]float64, len(h))
		for i := range rh {
			rh[i] = sigmoid(dot(g.wr[i], x)+dot(g.ur[i], h)+g.br[i]) * h[i]
		}
		for i := range next {
			z := sigmoid(dot(g.wz[i], x) + dot(g.uz[i], h) + g.bz[i])
			c := math.Tanh(dot(g.wh[i], x) + dot(g.uh[i], rh) + g.bh[i])
			next[i] = (1-z)*h[i] + z*c
		}
		h = next
	}
	s := 0.0
	for i := range h {
		d := h[i] - target[i]
		s += d * d
	}
	return s / 2
}

// arma is the sum of squares of the innovations of an ARMA(1, 1) model.
//
//revgen:gradient phi theta
func arma(phi, theta float64, y []float64) float64 {
	var e, last, ss float64
	for t, v := range y {
		if t == 0 {
			last = v
			continue
		}
		e = v - phi*last - theta*e
		ss += e * e
		last = v
	}
	return ss
}
