package science

import "math"

// regression is the mean cross entropy of softmax regression.
//
//revgen:gradient w, b
func regression(w [][]float64, b []float64, xs [][]float64, labels []int) float64 {
	loss := 0.0
	logits := make([]float64, len(b))
	for i, x := range xs {
		for k := range logits {
			logits[k] = b[k] + dot(w[k], x)
		}
		loss += logSumExp(logits) - logits[labels[i]]
	}
	return loss / float64(len(xs))
}

// heat takes explicit steps of the heat equation in two arrays, which swap, and returns how far
// the result is from a target. The border keeps the values that an array began with.
//
//revgen:gradient start
func heat(start, target [][]float64, rate float64, steps int) float64 {
	n, m := len(start), len(start[0])
	u, v := make([][]float64, n), make([][]float64, n)
	for i := range u {
		u[i], v[i] = make([]float64, m), make([]float64, m)
		copy(u[i], start[i])
	}
	for range steps {
		for i := 1; i < n-1; i++ {
			for j := 1; j < m-1; j++ {
				v[i][j] = u[i][j] + rate*(u[i-1][j]+u[i+1][j]+u[i][j-1]+u[i][j+1]-4*u[i][j])
			}
		}
		u, v = v, u
	}
	s := 0.0
	for i := range u {
		for j := range u[i] {
			d := u[i][j] - target[i][j]
			s += d * d
		}
	}
	return s / 2
}

// transfers is a chain of sums over the columns of a matrix. n may be negative.
//
//revgen:gradient x w
func transfers(x [][]float64, w []float64, n int) float64 {
	s := 1.0
	for c := 0; c < n; c++ {
		o := 0.0
		for j := range w {
			o += w[j] * x[j][c]
		}
		s = math.Sin(s+o) + o*w[0]
	}
	return s
}
