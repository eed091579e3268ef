package gradbench

import (
	"fmt"
	"math"
)

// A pair is a point of the plane.
type pair struct{ x, y float64 }

func (a pair) dot(b pair) float64 { return a.x*b.x + a.y*b.y }

// plus returns a + s·b.
func (a pair) plus(s float64, b pair) pair { return pair{a.x + s*b.x, a.y + s*b.y} }

// maxDescents bounds the steps of descend. The functions of the evals end well before
// it.
const maxDescents = 1 << 20

// descend minimises f by gradient descent, as the evals particle and saddle prescribe.
// The rate η is 10⁻⁵ at first. After ten steps in a row that lower f, η is doubled. A
// step that does not lower f is not taken, and η is halved. The descent ends when the
// gradient or a step is no longer than 10⁻⁵. Before each step that it takes, it calls
// accepted with the point and η, unless accepted is nil. It returns an error if f, or the square
// of the length of its gradient, is not finite at a point that it comes to, or if it does not end.
func descend(f func(x pair) (float64, pair), x pair, accepted func(x pair, eta float64)) (pair, error) {
	const short = 1e-5 * 1e-5
	eta := 1e-5
	value, g := f(x)
	for i, n := 0, 0; ; n++ {
		slope := g.dot(g)
		switch {
		case !isFinite(value) || !isFinite(slope):
			return x, fmt.Errorf("the descent came to (%g, %g), where the value is %g and the gradient (%g, %g)", x.x, x.y, value, g.x, g.y)
		case slope <= short:
			return x, nil
		case n == maxDescents:
			return x, fmt.Errorf("the descent did not end within %d steps", maxDescents)
		}
		if i == 10 {
			eta, i = 2*eta, 0
			continue
		}
		next := x.plus(-eta, g)
		if d := next.plus(-1, x); d.dot(d) <= short {
			return x, nil
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
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
