package generated

// ode makes steps of the classical Runge-Kutta method from time 0 to time 2, for the system
// y_0' = x_0, y_i' = x_i·y_{i-1}. Elements 0, 0, 0, 1 precede those of the system in y, and
// elements 0, 0, 0 in x.
//
// The system is linear. A step is therefore a polynomial in it, which can be computed in
// place from the last element down.
//
//revgen:kernel ODE[T rev.Real]
func ode(y, x []float64, steps int) {
	if len(y) != len(x)+1 {
		panic("shape")
	}
	h := 2 / float64(steps)
	for range steps {
		for i := len(y) - 1; i >= 4; i-- {
			y[i] += h * x[i-1] * (y[i-1] + h/2*x[i-2]*(y[i-2]+h/3*x[i-3]*(y[i-3]+h/4*x[i-4]*y[i-4])))
		}
	}
}
