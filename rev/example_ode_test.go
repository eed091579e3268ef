package rev_test

import (
	"fmt"

	"revnum/rev"
)

// hunt is the right-hand side of the equations of Lotka and Volterra: the kernel
//
//	dx₀ += θ₀·x₀ - θ₁·x₀·x₁
//	dx₁ += θ₂·x₀·x₁ - θ₃·x₁
type hunt struct {
	DX    []float64 `rev:"acc" shape:"2"`
	X     []float64 `rev:"in" shape:"2"`
	Theta []float64 `rev:"in" shape:"4"`
}

func (k hunt) Run(p rev.Pass[hunt]) error {
	s, x, th := float64(p.Sign()), k.X, k.Theta
	met := x[0] * x[1]
	k.DX[0] += float64(s * (float64(th[0]*x[0]) - float64(th[1]*met)))
	k.DX[1] += float64(s * (float64(th[2]*met) - float64(th[3]*x[1])))
	if g := p.G; g.DX != nil {
		a, b := g.DX[0], g.DX[1]
		m := float64(th[2]*b) - float64(th[1]*a) // the cotangent of met
		g.X[0] += float64(th[0]*a) + float64(m*x[1])
		g.X[1] += float64(m*x[0]) - float64(th[3]*b)
		g.Theta[0] += float64(a * x[0])
		g.Theta[1] -= float64(a * met)
		g.Theta[2] += float64(b * met)
		g.Theta[3] -= float64(b * x[1])
	}
	return nil
}

// forest has the animals, their change and their companion, and the parameters.
type forest struct{ x, dx, z, theta []float64 }

// Hares and lynxes over ten years, and what the parameters do to the number of lynxes at the end. The gradient
// takes the memory of a few states, however many steps there are: it runs their inverses.
func ExampleIntegrate() {
	years := rev.Integrate(rev.ODE[forest, []float64]{
		RHS: rev.At(func(s *forest) hunt { return hunt{DX: s.dx, X: s.x, Theta: s.theta} }),
		X:   func(s *forest) *[]float64 { return &s.x },
		DX:  func(s *forest) *[]float64 { return &s.dx },
		Z:   func(s *forest) *[]float64 { return &s.z },
	}, rev.RK4, 0, 10, 500)

	s := &forest{x: []float64{30, 4}, dx: make([]float64, 2), z: make([]float64, 2), theta: []float64{0.5, 0.03, 0.025, 0.8}}
	g := rev.ZeroLike(s)
	lynxes, err := rev.ValueGradient(years, func(s *forest) *float64 { return &s.x[1] }, s, g)
	fmt.Printf("%.4f, %v\n", lynxes, err)
	fmt.Printf("by x(0) %.3f\nby θ %.2f\n", g.x, g.theta)

	// The same by a difference in θ₀.
	const h = 1e-5
	var ends [2]float64
	for i, d := range []float64{-h, h} {
		s := &forest{x: []float64{30, 4}, dx: make([]float64, 2), z: make([]float64, 2), theta: []float64{0.5 + d, 0.03, 0.025, 0.8}}
		if err := years.Forward(s); err != nil {
			fmt.Println(err)
		}
		ends[i] = s.x[1]
	}
	fmt.Printf("by θ₀ %.2f\n", (ends[1]-ends[0])/(2*h))
	// Output:
	// 4.5818, <nil>
	// by x(0) [-0.088 0.803]
	// by θ [-8.35 -45.60 -106.08 -4.36]
	// by θ₀ -8.35
}

// The same with steps as long as an error of a thousandth of an animal in each allows.
func ExampleIntegrateWithin() {
	type state struct {
		forest
		sizes rev.StepSizes
	}
	years := rev.IntegrateWithin(rev.ODE[state, []float64]{
		RHS: rev.At(func(s *state) hunt { return hunt{DX: s.dx, X: s.x, Theta: s.theta} }),
		X:   func(s *state) *[]float64 { return &s.x },
		DX:  func(s *state) *[]float64 { return &s.dx },
		Z:   func(s *state) *[]float64 { return &s.z },
	}, rev.DormandPrince, 0, 10, 1e-3, 0, func(s *state) *rev.StepSizes { return &s.sizes })
	s := &state{forest: forest{x: []float64{30, 4}, dx: make([]float64, 2), z: make([]float64, 2), theta: []float64{0.5, 0.03, 0.025, 0.8}}}
	err := years.Forward(s)
	fmt.Printf("%.2f in %d steps, %v\n", s.x, len(s.sizes.Last()), err)
	err = years.Inverse(s)
	fmt.Printf("%.2f again, %v\n", s.x, err)
	// Output:
	// [21.83 4.62] in 15 steps, <nil>
	// [30.00 4.00] again, <nil>
}
