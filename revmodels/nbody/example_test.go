package nbody_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/nbody"
)

// The planets move for a thousand years, and back to the bit.
func Example() {
	s := nbody.NewSystem[fixed.Q43](nbody.SolarSystem())
	start := append([]fixed.Q43(nil), s.Q.Data...)
	before, _ := nbody.EnergyOf(s, 0)

	// Steps of four days.
	k := nbody.NewSteps(s, 1000*365/4, nbody.Options{Method: nbody.PEFRL, Dt: 4})
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	after, _ := nbody.EnergyOf(s, 0)
	fmt.Printf("energy changes by less than %.0e: %v\n", 1e-6, math.Abs(after/before-1) < 1e-6)

	if err := k.Inverse(); err != nil {
		fmt.Println(err)
		return
	}
	same := true
	for i, q := range s.Q.Data {
		same = same && q == start[i]
	}
	fmt.Println("back to the bit:", same)
	// Output:
	// energy changes by less than 1e-06: true
	// back to the bit: true
}

// A probe leaves from near Earth. What velocity takes it to where Mars will be in 120 days?
func ExampleSteps() {
	const days, earth, mars, probe = 120, 3, 4, 9
	bodies := nbody.SolarSystem()
	ship := nbody.Body{Name: "Probe", V: bodies[earth].V}
	for c, q := range bodies[earth].Q {
		ship.Q[c] = 1.02 * q // a million miles out
	}
	bodies = append(bodies, ship)
	o := nbody.Options{Method: nbody.PEFRL, Dt: 1}

	s := nbody.NewSystem[float64](bodies)
	if err := nbody.NewSteps(s, days, o).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	target := append([]float64(nil), s.Q.Row(mars)...)

	// miss returns half the squared distance from the target, in units of (0.01 au)², and its
	// gradient with respect to the velocity, in units of 0.01 au a day.
	const unit = 0.01
	miss := func(grad, v []float64) float64 {
		s := nbody.NewSystem[float64](bodies)
		for c := range v {
			s.V.Row(probe)[c] = unit * v[c]
		}
		k := nbody.NewSteps(s, days, o)
		if err := k.Forward(); err != nil {
			return math.NaN()
		}
		d := make([]float64, 3)
		floats.SubTo(d, s.Q.Row(probe), target)
		g := rev.ZeroLike(s)
		copy(g.Q.Row(probe), d)
		if err := k.Adjoint(nbody.NewSteps(g, days, o)); err != nil {
			return math.NaN()
		}
		if grad != nil {
			floats.ScaleTo(grad, 1/unit, g.V.Row(probe))
		}
		return floats.Dot(d, d) / 2 / (unit * unit)
	}
	start := make([]float64, 3)
	floats.ScaleTo(start, 1/unit, ship.V[:])
	r, err := optimize.Minimize(optimize.Problem{
		Func: func(v []float64) float64 { return miss(nil, v) },
		Grad: func(grad, v []float64) { miss(grad, v) },
	}, start, &optimize.Settings{GradientThreshold: 1e-5}, &optimize.BFGS{})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := make([]float64, 3)
	floats.ScaleTo(v, unit, r.X)
	floats.Sub(v, ship.V[:])
	const kilometres = 1.495978707e8 / 86400 // an au a day, in km/s
	fmt.Printf("misses by less than 100 km: %v\n", math.Sqrt(2*r.F)*unit*1.495978707e8 < 100)
	fmt.Printf("velocity relative to Earth's: %.1f km/s\n", floats.Norm(v, 2)*kilometres)
	// Output:
	// misses by less than 100 km: true
	// velocity relative to Earth's: 33.0 km/s
}
