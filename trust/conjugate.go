package trust

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// cgSubproblem minimises the model approximately, by conjugate gradients from s = 0. They stop
// when the residual g + H·s is small compared with g. They also stop at the boundary of the
// region. They go to the boundary along a direction of negative curvature, or along a
// direction that leads out of the region.
type cgSubproblem struct {
	r, d, hd []float64 // residual, direction, H·d
}

func newConjugate(n int) *cgSubproblem {
	return &cgSubproblem{r: make([]float64, n), d: make([]float64, n), hd: make([]float64, n)}
}

func (*cgSubproblem) at(Problem, *Result) error { return nil }

func (m *cgSubproblem) step(ctx context.Context, s []float64, radius float64, p Problem, r *Result) (float64, error) {
	clear(s)
	// The squares of a large gradient overflow, so the model is divided by a power of 2, near ‖g‖.
	norm := floats.Norm(r.Gradient, 2)
	_, e := math.Frexp(norm)
	scale := math.Ldexp(1, min(max(e, -1000), 1000))
	floats.ScaleTo(m.r, 1/scale, r.Gradient)
	floats.ScaleTo(m.d, -1, m.r)
	rr := floats.Dot(m.r, m.r)
	// The residual shrinks with g, for superlinear convergence.
	enough := math.Sqrt(rr) * math.Min(0.1, norm)
	var promised float64
	for range 2*len(s) + 10 {
		if ctx.Err() != nil {
			return promised, nil
		}
		p.HessVec(m.hd, r.X, m.d)
		r.HessVecs++
		if !allFinite(m.hd) {
			if promised > 0 {
				return promised, nil
			}
			return 0, ErrNotFinite
		}
		floats.Scale(1/scale, m.hd)
		curvature := floats.Dot(m.d, m.hd)
		step := rr / curvature
		out := !(curvature > 0)
		if !out {
			out = !(lengthAfter(s, m.d, step) < radius) // NaN too, if step is infinite
		}
		if out {
			step = toBoundary(s, m.d, radius)
		}
		// The decrease along d: -step·rᵀd - ½·step²·curvature, rᵀd = -rr.
		promised += float64(step * (rr - step*curvature/2) * scale)
		floats.AddScaled(s, step, m.d)
		if out {
			return promised, nil
		}
		floats.AddScaled(m.r, step, m.hd)
		next := floats.Dot(m.r, m.r)
		if math.Sqrt(next) <= enough {
			break
		}
		floats.Scale(next/rr, m.d)
		floats.Sub(m.d, m.r)
		rr = next
	}
	return promised, nil
}

// lengthAfter returns ‖s + a·d‖.
func lengthAfter(s, d []float64, a float64) float64 {
	var sum float64
	for i, v := range s {
		v += float64(a * d[i])
		sum += float64(v * v)
	}
	return math.Sqrt(sum)
}

// toBoundary returns the a >= 0 with ‖s + a·d‖ = radius.
func toBoundary(s, d []float64, radius float64) float64 {
	dd, sd, ss := floats.Dot(d, d), floats.Dot(s, d), floats.Dot(s, s)
	rest := math.Max(0, float64(radius*radius)-ss)
	root := math.Hypot(sd, math.Sqrt(dd)*math.Sqrt(rest)) // the products may overflow
	if sd > 0 {
		return rest / (sd + root)
	}
	return (root - sd) / dd
}
