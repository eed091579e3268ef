package borrowed

const (
	loud  = false
	quick = !loud && true
)

func squared(x float64) float64 { return x * x }

// scaledBy returns a function that calls g before it reads its own variables.
func scaledBy(a float64, g func(float64) float64) func(float64) float64 {
	b := a * a
	return func(x float64) float64 { return g(x) * a * b }
}

func shifted(a float64) func(float64) float64 { return func(x float64) float64 { return x + a } }

//revgen:gradient p hessian
func makers(p []float64) float64 {
	k := p[0]
	inner := func(x float64) float64 { return scaledBy(p[2], squared)(x) } // another call of the same function
	f := scaledBy(k, inner)
	h := shifted(k)
	k *= p[1] // f and h have what k was
	s := f(p[2]) * k * h(p[3])
	if loud || p[3] > 0 {
		s *= p[3]
	}
	if quick && p[4] > 0 {
		s *= p[4]
	}
	if quick || p[4] > 0 {
		s *= p[5]
	}
	return s
}
