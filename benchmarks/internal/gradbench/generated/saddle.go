package generated

// Saddle is ‖x‖² - ‖y‖².
//
//revgen:gradient y
func Saddle(x, y []float64) float64 {
	return (x[0]*x[0] + x[1]*x[1]) - (y[0]*y[0] + y[1]*y[1])
}

// Saddles is Saddle, for derivatives along directions.
//
//revgen:jacobian y jvp
func Saddles(dst, y, x []float64) { dst[0] = Saddle(x, y) }

// AscendR moves y up to the maximum of Saddle, by the gradient in reverse.
func AscendR(y, x []float64) {
	Descend(y, func(y []float64) float64 { return -Saddle(x, y) }, func(g, y []float64) {
		SaddleGradient(g, x, y)
		g[0], g[1] = -g[0], -g[1]
	})
}

// AscendF is AscendR with derivatives forward, along both axes.
func AscendF(y, x []float64) {
	d, right, up := make([]float64, 1), []float64{1, 0}, []float64{0, 1}
	Descend(y, func(y []float64) float64 { return -Saddle(x, y) }, func(g, y []float64) {
		SaddlesJVP(d, y, right, x)
		g[0] = -d[0]
		SaddlesJVP(d, y, up, x)
		g[1] = -d[0]
	})
}

// HighestR is the maximum of Saddle over y, by AscendR from start.
//
//revgen:gradient x value
func HighestR(x, start []float64) float64 {
	y := make([]float64, 2)
	copy(y, start)
	AscendR(y, x)
	return Saddle(x, y)
}

// HighestF is HighestR by AscendF.
//
//revgen:gradient x value
func HighestF(x, start []float64) float64 {
	y := make([]float64, 2)
	copy(y, start)
	AscendF(y, x)
	return Saddle(x, y)
}

// MaximaR is HighestR, for derivatives along directions.
//
//revgen:jacobian x jvp
func MaximaR(dst, x, start []float64) { dst[0] = HighestR(x, start) }

// MaximaF is HighestF, for derivatives along directions.
//
//revgen:jacobian x jvp
func MaximaF(dst, x, start []float64) { dst[0] = HighestF(x, start) }
