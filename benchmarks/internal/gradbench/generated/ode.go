package generated

// ODE makes steps of the classical Runge-Kutta method from y = 0 at time 0 to time 2, for the system
// y_0' = x_0, y_i' = x_i·y_{i-1}. It returns the last element of y.
//
//revgen:gradient x value
func ODE(y, x []float64, steps int) float64 {
	n, h := len(x), 2/float64(steps)
	last := min(4*steps, n) // the elements after it stay 0: a step reaches four more
	k1, k2, k3, k4, at := make([]float64, last), make([]float64, last), make([]float64, last), make([]float64, last), make([]float64, last)
	clear(y)
	for t := range steps {
		r := min(4*t+4, n)
		y, at, x := y[:r], at[:r], x[:r]
		k1, k2, k3, k4 := k1[:r], k2[:r], k3[:r], k4[:r]
		slopes(k1, x, y)
		for i, v := range y {
			at[i] = v + h*k1[i]/2
		}
		slopes(k2, x, at)
		for i, v := range y {
			at[i] = v + h*k2[i]/2
		}
		slopes(k3, x, at)
		for i, v := range y {
			at[i] = v + h*k3[i]
		}
		slopes(k4, x, at)
		for i := range y {
			y[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
	return y[n-1]
}

func slopes(z, x, y []float64) {
	z[0] = x[0]
	for i := 1; i < len(z); i++ {
		z[i] = x[i] * y[i-1]
	}
}
