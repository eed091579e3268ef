package gradbench

import (
	"encoding/json"
	"fmt"
	"math"
)

// A particle flies past charges at (10, 10-w) and (10, 0), whose potential is V(x) = Σ
// 1/‖x - c‖. It starts from (0, 8) with the velocity (0.75, 0) and takes Euler's steps
// x ← x + h·v, v ← v - h·∇V(x), until it meets the first axis at x_f. The control w is
// to minimise x_f². Forward, the derivative of x_f² by w uses
//
//	ẋ ← ẋ + h·v̇,  v̇ ← v̇ - h·(∇²V·ẋ + ∂∇V/∂w)
//
// In reverse, over the recorded steps, it uses
//
//	x̄ -= h·∇²V·v̄,  w̄ -= h·∂∇V/∂w·v̄,  v̄ += h·x̄.
//
// ∇V itself comes from the tangent of V in two directions, or from its adjoint. With d
// = x - c and r = ‖d‖:
//
//	V̇ = -ṙ/r², ṙ = d·ẋ/r;   r̄ = -1/r², x̄ = r̄·d/r.

const (
	particleStep = 0.1
	maxFlight    = 1 << 20 // steps after which a particle is lost
)

// A particleMode selects how the outer and the inner derivatives are computed.
type particleMode struct{ outerReverse, innerReverse bool }

// A curvature is ∇²V.
type curvature struct{ xx, xy, yy float64 }

func (h *curvature) times(v pair) pair {
	return pair{h.xx*v.x + h.xy*v.y, h.xy*v.x + h.yy*v.y}
}

// charge returns ∇V and ∇²V of one charge, d = (x, y) away.
func (m particleMode) charge(x, y float64) (gx, gy float64, h curvature) {
	i := 1 / math.Sqrt(x*x+y*y)
	i2 := i * i
	i3 := i2 * i
	if m.innerReverse {
		bar := -i2 * i
		gx, gy = bar*x, bar*y
	} else {
		gx, gy = -(x*i)*i2, -(y*i)*i2
	}
	k := 3 * i3 * i2
	return gx, gy, curvature{k*x*x - i3, k * x * y, k*y*y - i3}
}

// passed is what the reverse pass needs of one step.
type passed struct {
	hessian curvature
	byW     pair
}

// flight returns x_f² and its derivative by w, or NaN if the particle does not come
// down.
func (m particleMode) flight(w float64, way *[]passed) (float64, float64) {
	const h = particleStep
	x, v := pair{0, 8}, pair{0.75, 0}
	var dx, dv pair
	*way = (*way)[:0]
	for n := 0; ; n++ {
		if n == maxFlight {
			return math.NaN(), math.NaN()
		}
		// When w grows, the first charge moves along the second axis by -1.
		gx, gy, h1 := m.charge(x.x-10, x.y-(10-w))
		ex, ey, h2 := m.charge(x.x-10, x.y)
		hessian, byW := curvature{h1.xx + h2.xx, h1.xy + h2.xy, h1.yy + h2.yy}, pair{h1.xy, h1.yy}
		before := dx
		x = x.plus(h, v)
		dx = dx.plus(h, dv)
		if x.y <= 0 {
			break
		}
		v = pair{v.x - h*(gx+ex), v.y - h*(gy+ey)}
		if m.outerReverse {
			*way = append(*way, passed{hessian, byW})
		} else {
			dv = dv.plus(-h, hessian.times(before)).plus(-h, byW)
		}
	}
	// x_f = x_0 - x_1·v_0/v_1
	slope := v.x / v.y
	end := x.x - x.y*slope
	xBar := pair{2 * end, -2 * end * slope}
	vBar := pair{-2 * end * x.y / v.y, 2 * end * x.y * slope / v.y}
	if !m.outerReverse {
		return end * end, xBar.dot(dx) + vBar.dot(dv)
	}
	wBar := 0.
	vBar = vBar.plus(h, xBar) // the last step moved x alone
	for i := len(*way) - 1; i >= 0; i-- {
		s := &(*way)[i]
		wBar -= h * s.byW.dot(vBar)
		next := xBar.plus(-h, s.hessian.times(vBar))
		vBar = vBar.plus(h, xBar)
		xBar = next
	}
	return end * end, wBar
}

func (m particleMode) evaluation(input json.RawMessage, _ int) (evaluation, error) {
	start, err := parseParticle(input)
	if err != nil {
		return evaluation{}, err
	}
	var out float64
	var way []passed
	call := func() {
		out = descend(func(w pair) (float64, pair) {
			value, slope := m.flight(w.x, &way)
			return value, pair{x: slope}
		}, pair{x: start}, nil).x
	}
	return toNumber(call, &out), nil
}

// parseParticle reads the control from which the descent starts.
func parseParticle(input json.RawMessage) (float64, error) {
	var in struct{ W *float64 }
	if err := json.Unmarshal(input, &in); err != nil {
		return 0, err
	}
	if in.W == nil {
		return 0, missing("w")
	}
	var way []passed
	if value, _ := (particleMode{}).flight(*in.W, &way); math.IsNaN(value) {
		return 0, fmt.Errorf("w: expected a control with which the particle comes down within %d steps, found %g", maxFlight, *in.W)
	}
	return *in.W, nil
}
