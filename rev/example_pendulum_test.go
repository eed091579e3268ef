package rev_test

import (
	"fmt"
	"math"

	"revnum/rev"
)

// drift is the kernel q += dt·p.
type drift struct {
	Q  *float64 `rev:"acc"`
	P  *float64 `rev:"in"`
	Dt float64
}

func (k drift) Run(p rev.Pass[drift]) error {
	dt := float64(p.Sign()) * k.Dt
	*k.Q += float64(dt * *k.P)
	if t := p.T; t.Q != nil {
		*t.Q += float64(dt * *t.P)
	}
	if g := p.G; g.Q != nil {
		*g.P += float64(k.Dt * *g.Q)
	}
	return nil
}

// pull is the kernel p -= dt·w·sin q, the pull of gravity w on a pendulum.
type pull struct {
	P  *float64 `rev:"acc"`
	Q  *float64 `rev:"in"`
	W  *float64 `rev:"in"`
	Dt float64
}

func (k pull) Run(p rev.Pass[pull]) error {
	dt := float64(p.Sign()) * k.Dt
	sin, cos := math.Sincos(*k.Q)
	*k.P -= float64(dt * *k.W * sin)
	if t := p.T; t.P != nil {
		*t.P -= float64(dt * (float64(*t.W*sin) + float64(*k.W*cos**t.Q)))
	}
	if g := p.G; g.P != nil {
		*g.Q -= float64(k.Dt * *k.W * cos * *g.P)
		*g.W -= float64(k.Dt * sin * *g.P)
	}
	return nil
}

// boost is the kernel p <- c·p, in place.
type boost struct {
	P *float64 `rev:"inout"`
	C float64
}

func (k boost) Run(p rev.Pass[boost]) error {
	c := k.C
	if p.Back {
		c = 1 / c
	}
	*k.P *= c
	if p.T.P != nil {
		*p.T.P *= c
	}
	if p.G.P != nil {
		*p.G.P /= c // times k.C, if p.Back
	}
	return nil
}

// advance is the kernel n += 1 of a counter, which has no derivative.
type advance struct {
	N *int `rev:"acc"`
}

func (k advance) Run(p rev.Pass[advance]) error {
	*k.N += p.Sign()
	return nil
}

type pendulum struct {
	q, p, w float64 // angle, momentum, gravity
	n       int     // steps done
	final   float64 // the angle after all of them
}

// A pendulum in 1000 steps of the leapfrog method, pushed a little in every
// hundredth. The gradient of its final angle takes no memory beyond the state:
// the steps are run back.
func Example_pendulum() {
	const dt, steps = 0.01, 1000
	driftBy := func(dt float64) rev.Step[pendulum] {
		return rev.At(func(s *pendulum) drift { return drift{Q: &s.q, P: &s.p, Dt: dt} })
	}
	// The branch is taken by the counter, which it does not change.
	pushed := func(s *pendulum) bool { return s.n%100 == 50 }
	leapfrog := rev.Seq(
		driftBy(dt/2),
		rev.At(func(s *pendulum) pull { return pull{P: &s.p, Q: &s.q, W: &s.w, Dt: dt} }),
		rev.If(pushed, pushed, rev.At(func(s *pendulum) boost { return boost{P: &s.p, C: 1.05} }), rev.Step[pendulum]{}),
		driftBy(dt/2),
		rev.At(func(s *pendulum) advance { return advance{N: &s.n} }),
	)
	// Forward the loop runs while n < steps, back while n > 0.
	swing := rev.While(
		func(s *pendulum) bool { return s.n < steps },
		func(s *pendulum) bool { return s.n > 0 },
		leapfrog)
	// Compute, copy, uncompute: only the final angle is kept.
	prog := rev.Seq(
		swing,
		rev.At(func(s *pendulum) drift { return drift{Q: &s.final, P: &s.q, Dt: 1} }),
		rev.Uncall(swing),
	)

	s := &pendulum{q: 1, w: 9.81}
	if err := prog.Forward(s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("final %.4f; q, p, n back at %.4f, %.4f, %d\n", s.final, s.q, math.Abs(s.p), s.n)
	if err := prog.Inverse(s); err != nil {
		fmt.Println(err)
		return
	}

	// The gradient of what swing alone does to q.
	g := new(pendulum)
	angle, err := rev.ValueGradient(swing, func(s *pendulum) *float64 { return &s.q }, s, g)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("angle %.4f, by q %.4f, by p %.4f, by w %.4f\n", angle, g.q, g.p, g.w)

	// The same by a central difference in w.
	const h = 1e-6
	up, down := &pendulum{q: 1, w: 9.81 + h}, &pendulum{q: 1, w: 9.81 - h}
	_ = swing.Forward(up)
	_ = swing.Forward(down)
	fmt.Printf("difference quotient by w %.4f\n", (up.q-down.q)/(2*h))
	// Output:
	// final -1.1594; q, p, n back at 1.0000, 0.0000, 0
	// angle -1.1594, by q -4.1368, by p -0.0098, by w 0.7477
	// difference quotient by w 0.7477
}
