package graphembed_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revmodels/gmm"
	"revnum/revmodels/graphembed"
)

// A state is the state of a program with one kernel: a scalar output, one vector of
// inputs, and other operands, which have no cotangents.
type state struct {
	out   float64
	x     []float64
	given rev.General[float64]
}

// TestDrivers gives rev's drivers kernels of different packages: the gradient,
// Hessian and products that they make of AdjointTangent are those that the models
// compute on their own.
func TestDrivers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	normals := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		return x
	}
	embedding := graphembed.NewModel(graphembed.Petersen(), 3, mat.NewDense(2, 3, normals(6)), 0.1)
	mixture := gmm.NewModel(mat.NewDense(40, 2, normals(80)), 3, gmm.Prior{Gamma: 1})
	for _, c := range []struct {
		name    string
		program rev.Step[state]
		dim     int
		given   rev.General[float64]
		sign    float64 // of the model against the kernel
		grad    func(grad, x []float64)
		hess    func(h *mat.SymDense, x []float64)
	}{
		{
			"graphembed",
			rev.At(func(s *state) graphembed.Loss[float64] {
				k := embedding.Kernel(s.x, nil)
				k.Out, k.Fixed = &s.out, s.given
				return k
			}),
			embedding.Dim(), embedding.Fixed, 1, embedding.Grad, embedding.Hess,
		},
		{
			"gmm",
			rev.At(func(s *state) gmm.LogPosterior[float64] {
				k := mixture.Kernel(s.x, nil)
				k.Out, k.X = &s.out, s.given
				return k
			}),
			mixture.Dim(), mixture.X, -1, mixture.Grad, mixture.Hess,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			zero := func() *state { return &state{x: make([]float64, c.dim)} }
			output := func(s *state) *float64 { return &s.out }
			s := zero()
			s.x, s.given = normals(c.dim), c.given
			revtest.Program(t, c.program, s)

			g, want := zero(), make([]float64, c.dim)
			if _, err := rev.ValueGradient(c.program, output, s, g); err != nil {
				t.Fatal(err)
			}
			c.grad(want, s.x)
			for i, w := range want {
				if d := math.Abs(g.x[i] - c.sign*w); !(d <= 1e-12*(1+math.Abs(w))) {
					t.Errorf("gradient %d is %v, want %v", i, g.x[i], c.sign*w)
				}
			}
			var h mat.SymDense
			if _, err := rev.Hessian(&h, c.program, output, func(s *state) []float64 { return s.x }, s); err != nil {
				t.Fatal(err)
			}
			wantH := mat.NewSymDense(c.dim, nil)
			c.hess(wantH, s.x)
			wantH.ScaleSym(c.sign, wantH)
			if !mat.EqualApprox(&h, wantH, 1e-11) {
				t.Error("the Hessian differs from the model's")
			}
		})
	}
}
