package revlinalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// A network: Y += W·X + B, Y <- U(θ)·Y, Loss += ‖Y‖₂ of the first rows of Y.
type network[T rev.Real] struct {
	W        rev.General[T]
	X, B     rev.Vector[T]
	Theta, Y rev.Vector[T]
	Loss     T
}

func layers[T rev.Real]() rev.Step[network[T]] {
	return rev.Seq(
		rev.At(func(s *network[T]) revlinalg.Affine[T] { return revlinalg.Affine[T]{Y: s.Y, W: s.W, X: s.X, B: s.B} }),
		rev.At(func(s *network[T]) revlinalg.Unitary[T] {
			return revlinalg.Unitary[T]{X: rev.General[T]{Rows: s.Y.N, Cols: 1, Stride: s.Y.Inc, Data: s.Y.Data}, Theta: s.Theta}
		}),
		rev.At(func(s *network[T]) revlinalg.Norm2[T] {
			return revlinalg.Norm2[T]{Out: &s.Loss, X: rev.Vector[T]{N: 2, Data: s.Y.Data, Inc: 1}}
		}),
	)
}

func newNetwork[T rev.Real](fill func() float64) *network[T] {
	vector := func(n int) rev.Vector[T] {
		x := make([]T, n)
		for i := range x {
			x[i] = fixed.Of[T](fill())
		}
		return rev.ViewSlice(x)
	}
	return &network[T]{
		W: rev.NewGeneral(4, 3, vector(12).Data), X: vector(3), B: vector(4),
		Theta: vector(6), Y: vector(4), Loss: fixed.Of[T](fill()),
	}
}

func noughts() float64 { return 0 }

// parts are the numbers of a network, by pointer.
func (s *network[T]) parts() []*T {
	loss := &s.Loss
	var p []*T
	for _, x := range [][]T{s.W.Data, s.X.Data, s.B.Data, s.Theta.Data, s.Y.Data} {
		for i := range x {
			p = append(p, &x[i])
		}
	}
	return append(p, loss)
}

func (s *network[T]) values() []T {
	var v []T
	for _, p := range s.parts() {
		v = append(v, *p)
	}
	return v
}

// A program over fixed point comes back to the bit from both ends, and has the gradient
// that it has over floating point.
func TestProgramFixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 1))
	s := newNetwork[fixed.Q43](rnd.NormFloat64)
	f := newNetwork[float64](noughts)
	for i, p := range f.parts() {
		*p = s.values()[i].Float64()
	}
	revtest.Program(t, layers[fixed.Q43](), s)
	revtest.Program(t, layers[float64](), f)
	before := s.values()
	g, gf := newNetwork[fixed.Q43](noughts), newNetwork[float64](noughts)
	loss, err := rev.ValueGradient(layers[fixed.Q43](), func(s *network[fixed.Q43]) *fixed.Q43 { return &s.Loss }, s, g)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rev.ValueGradient(layers[float64](), func(s *network[float64]) *float64 { return &s.Loss }, f, gf)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.values(), before) {
		t.Errorf("the state is not restored: %v, want %v", s.values(), before)
	}
	if !(math.Abs(loss.Float64()-want) <= 1e-11) {
		t.Errorf("loss %v, want %v", loss, want)
	}
	for i, v := range g.values() {
		if w := gf.values()[i]; !(math.Abs(v.Float64()-w) <= 1e-11) {
			t.Errorf("gradient %d is %v, want %v", i, v, w)
		}
	}

	// There and back by a program of both directions.
	p := rev.Seq(layers[fixed.Q43](), rev.Uncall(layers[fixed.Q43]()))
	if err := p.Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.values(), before) {
		t.Errorf("the state is not restored by Uncall: %v, want %v", s.values(), before)
	}
}

func TestProgramHessian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 2))
	loss := func(s *network[float64]) *float64 { return &s.Loss }
	s, dir := newNetwork[float64](rnd.NormFloat64), newNetwork[float64](rnd.NormFloat64)
	g, h, d := newNetwork[float64](noughts), newNetwork[float64](noughts), newNetwork[float64](noughts)
	for i, p := range d.parts() {
		*p = dir.values()[i]
	}
	if _, err := rev.HessianVector(layers[float64](), loss, s, g, d, h); err != nil {
		t.Fatal(err)
	}
	gradient := func(e float64) []float64 {
		x, g := newNetwork[float64](noughts), newNetwork[float64](noughts)
		for i, p := range x.parts() {
			*p = s.values()[i] + e*dir.values()[i]
		}
		if _, err := rev.ValueGradient(layers[float64](), loss, x, g); err != nil {
			t.Fatal(err)
		}
		return g.values()
	}
	const e = 1e-5
	a, b := gradient(e), gradient(-e)
	for i, v := range h.values() {
		if want := (a[i] - b[i]) / (2 * e); !(math.Abs(v-want) <= 1e-6*(1+math.Abs(want))) {
			t.Errorf("element %d of the product with the Hessian is %v, differences give %v", i, v, want)
		}
	}
}
