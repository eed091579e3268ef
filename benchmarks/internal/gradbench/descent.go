package gradbench

// A pair is a point of the plane.
type pair struct{ x, y float64 }

func (a pair) dot(b pair) float64 { return a.x*b.x + a.y*b.y }

// plus returns a + s·b.
func (a pair) plus(s float64, b pair) pair { return pair{a.x + s*b.x, a.y + s*b.y} }

// maxDescents bounds the steps of descend, which ends by itself for the functions of the evals.
const maxDescents = 1 << 20

// descend finds a minimum of a function by the gradient descent that the evals particle
// and saddle prescribe: the rate η begins at 10⁻⁵, is doubled after ten steps that made the
// function smaller, and halved, without the step, after one that did not. It ends where
// the gradient, or a step, is no longer than 10⁻⁵. It calls accepted, if there is one, with the
// point of each step that it takes and with η.
func descend(f func(x pair) (float64, pair), x pair, accepted func(x pair, eta float64)) pair {
	const short = 1e-5 * 1e-5
	eta := 1e-5
	value, g := f(x)
	for i, n := 0, 0; g.dot(g) > short && n < maxDescents; n++ {
		if i == 10 {
			eta, i = 2*eta, 0
			continue
		}
		next := x.plus(-eta, g)
		if d := next.plus(-1, x); d.dot(d) <= short {
			break
		}
		v, dv := f(next)
		if !(v < value) {
			eta, i = eta/2, 0
			continue
		}
		if accepted != nil {
			accepted(x, eta)
		}
		x, value, g = next, v, dv
		i++
	}
	return x
}
