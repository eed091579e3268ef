package generated

// ODE makes steps of the classical Runge-Kutta method from y = 0 at time 0 to time 2, for the system
// y_0' = x_0, y_i' = x_i·y_{i-1}. It returns the last element of y.
//
//revgen:gradient x
func ODE(y, x []float64, steps int) float64 {
	n, h := len(x), 2/float64(steps)
	k1, k2, k3, k4, at := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	clear(y)
	for range steps {
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
			y[i] += h * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i]) / 6
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
