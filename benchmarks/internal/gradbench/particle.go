package gradbench

import (
	"encoding/json"
	"fmt"
	"math"
)

// A particle flies past charges at (10, 10-w) and (10, 0), whose potential is V(x) = Σ
// 1/‖x - c‖. It starts from (0, 8) with the velocity (0.75, 0) and takes Euler's steps
// x ← x + h·v, v ← v - h·∇V(x), until it meets the first axis at x_f. The control w is
// to minimise x_f². With u = h·v and d = x - c the steps are
//
//	x ← x + u,  u ← u + F,  F = h²·Σ d/‖d‖³
//	Ḟ = h²·Σ (ḋ/‖d‖³ - 3d·(dᵀḋ)/‖d‖⁵),  ḋ = ẋ - ċ
//
// Forward, the derivative of x_f² by w uses ẋ ← ẋ + u̇, u̇ ← u̇ + Ḟ. In reverse, over
// the recorded steps, it uses
//
//	w̄ += (∂F/∂w)ᵀ·ū,  (x̄, ū) ← (x̄ + (∂F/∂x)ᵀ·ū, ū + x̄).
//
// ∇V itself comes from the tangent of V in two directions, or from its adjoint. With r
// = ‖d‖ these are
//
//	V̇ = -ṙ/r², ṙ = d·ẋ/r;   r̄ = -1/r², x̄ = r̄·d/r.
//
// If the two directions share their common factors, both take the same products. Only
// the outer derivative therefore has two functions here.

const (
	particleStep = 0.1
	maxFlight    = 1 << 20 // steps after which a particle is lost

	startX, startY = -10., 8. // relative to the charge at (10, 0)
	startU         = particleStep * 0.75
	ninth          = particleStep * particleStep / 9
)

// A flight returns x_f² and its derivative by w, or NaN if the particle does not come
// down.
type flight func(w float64) (value, slope float64)

// forwardFlight returns a flight that computes the derivative forward.
//
// A step waits for a root and a division, which take most of its time. Both start from
// ‖d‖² and run side by side. In 1/‖d‖ the division would wait for the root.
func forwardFlight() flight {
	return func(w float64) (float64, float64) {
		x, y, ux, uy := startX, startY, startU, 0.
		var dx, dy, dux, duy float64
		for range maxFlight {
			a := y - (10 - w) // d is (x, a) and (x, y)
			xx := x * x
			ra, ry := xx+a*a, xx+y*y
			rootA, rootY := math.Sqrt(ra), math.Sqrt(ry)
			invA, invY := 3/ra, 3/ry
			fa, fy := ninth*invA*invA*rootA, ninth*invY*invY*rootY // h²/‖d‖³
			xd := x * dx
			dotA, dotY := invA*(xd+(a*dy+a)), invY*(xd+y*dy) // 3dᵀḋ/‖d‖²; if w grows, a does
			f := fa + fy
			ka, ky := fa*dotA, fy*dotY
			px, py := f*x, fa*a+fy*y
			dpx, dpy := f*dx-(ka+ky)*x, f*dy+fa-(ka*a+ky*y)
			x += ux
			y += uy
			dx += dux
			dy += duy
			if y <= 0 {
				end, xBar, uBar := landing(pair{x, y}, pair{ux, uy})
				return end * end, 2 * end * (xBar.dot(pair{dx, dy}) + uBar.dot(pair{dux, duy}))
			}
			ux += px
			uy += py
			dux += dpx
			duy += dpy
		}
		return math.NaN(), math.NaN()
	}
}

// landing returns x_f for a particle that came to x, below the axis, by u, and the
// derivatives of x_f by x and u.
func landing(x, u pair) (end float64, byX, byU pair) {
	slope := u.x / u.y
	return x.x - startX - x.y*slope, pair{1, -slope}, pair{-x.y / u.y, x.y * slope / u.y}
}

// passed is what the reverse pass needs of one step: F's derivatives by x and w.
type passed struct{ xx, xy, yy, xw, yw float64 }

// reverseFlight returns a flight that computes the derivative in reverse.
func reverseFlight() flight {
	var steps []passed
	return func(w float64) (float64, float64) {
		x, y, ux, uy := startX, startY, startU, 0.
		for n := range maxFlight {
			a := y - (10 - w)
			xx := x * x
			ra, ry := xx+a*a, xx+y*y
			rootA, rootY := math.Sqrt(ra), math.Sqrt(ry)
			invA, invY := 3/ra, 3/ry
			fa, fy := ninth*invA*invA*rootA, ninth*invY*invY*rootY
			f := fa + fy
			ka, ky := fa*invA, fy*invY // 3h²/‖d‖⁵
			kaa, kyy := ka*a, ky*y
			px, py := f*x, fa*a+fy*y
			if n == len(steps) {
				steps = append(steps, make([]passed, 1+n)...)
			}
			s := &steps[n]
			s.xx, s.xy, s.yy = f-(ka+ky)*xx, -x*(kaa+kyy), f-(kaa*a+kyy*y)
			s.xw, s.yw = -x*kaa, fa-kaa*a
			x += ux
			y += uy
			if y <= 0 {
				end, xBar, uBar := landing(pair{x, y}, pair{ux, uy})
				return end * end, 2 * end * back(steps[:n], xBar, uBar)
			}
			ux += px
			uy += py
		}
		return math.NaN(), math.NaN()
	}
}

// back returns w̄, given the cotangents of x and u after the last step.
func back(steps []passed, xBar, uBar pair) (wBar float64) {
	x, y, ux, uy := xBar.x, xBar.y, uBar.x+xBar.x, uBar.y+xBar.y // the last step moved x alone
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		wBar += s.xw*ux + s.yw*uy
		fx, fy := s.xx*ux+s.xy*uy, s.xy*ux+s.yy*uy
		ux += x
		uy += y
		x += fx
		y += fy
	}
	return wBar
}

// particle returns the function that finds the control by flights that mode makes.
func particle(mode func() flight) function {
	return func(input json.RawMessage, _ int) (evaluation, error) {
		start, err := parseParticle(input)
		if err != nil {
			return evaluation{}, err
		}
		return control(mode(), start), nil
	}
}

// control returns the evaluation that finds the control, from start.
func control(fly flight, start float64) evaluation {
	var w pair
	var failed error
	call := func() {
		w, failed = descend(func(w pair) (float64, pair) {
			value, slope := fly(w.x)
			return value, pair{x: slope}
		}, pair{x: start}, nil)
	}
	return toNumber(call, &w.x).unless(&failed)
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
	if value, _ := forwardFlight()(*in.W); math.IsNaN(value) {
		return 0, fmt.Errorf("w: expected a control with which the particle comes down within %d steps, found %g", maxFlight, *in.W)
	}
	return *in.W, nil
}
