package rev_test

import (
	"fmt"
	"math"

	"revnum/rev"
)

// matVec is the kernel y += A·x.
type matVec struct {
	Y rev.Vector[float64]  `rev:"acc"`
	A rev.General[float64] `rev:"in"`
	X rev.Vector[float64]  `rev:"in"`
}

func (k matVec) add(sign float64) {
	rev.Check(&k)
	for i := range k.A.Rows {
		var s float64
		for j, a := range k.A.Row(i) {
			s += float64(a * k.X.Data[j*k.X.Inc])
		}
		k.Y.Data[i*k.Y.Inc] += sign * s
	}
}

func (k matVec) Forward() { k.add(1) }
func (k matVec) Inverse() { k.add(-1) }

// Adjoint: Ā += ȳ·xᵀ, x̄ += Aᵀ·ȳ.
func (k matVec) Adjoint(g matVec) {
	rev.CheckLike(&k, &g)
	k.add(-1)
	for i := range k.A.Rows {
		gy := g.Y.Data[i*g.Y.Inc]
		for j, a := range k.A.Row(i) {
			g.A.Row(i)[j] += float64(gy * k.X.Data[j*k.X.Inc])
			g.X.Data[j*g.X.Inc] += float64(a * gy)
		}
	}
}

// Tangent: ẏ += Ȧ·x + A·ẋ.
func (k matVec) Tangent(t matVec) {
	rev.CheckLike(&k, &t)
	k.add(1)
	matVec{Y: t.Y, A: t.A, X: k.X}.add(1)
	matVec{Y: t.Y, A: k.A, X: t.X}.add(1)
}

// turn is the kernel that turns the pair (x_0, x_1) in place by the angle θ:
// x <- U(θ)·x.
type turn struct {
	X     rev.Vector[float64] `rev:"inout"`
	Theta *float64            `rev:"in"`
}

func (k turn) by(theta float64) {
	s, c := math.Sincos(theta)
	x, y := &k.X.Data[0], &k.X.Data[k.X.Inc]
	*x, *y = c**x-s**y, s**x+c**y
}

func (k turn) Forward() { k.by(*k.Theta) }
func (k turn) Inverse() { k.by(-*k.Theta) }

// Adjoint: θ̄ += x̄ᵀ·(∂U/∂θ)·x, x̄ <- Uᵀ·x̄. With the x that is there after
// Forward, (∂U/∂θ)·x is (-x_1, x_0).
func (k turn) Adjoint(g turn) {
	rev.CheckLike(&k, &g)
	x, gx := k.X.Data, g.X.Data
	*g.Theta += gx[g.X.Inc]*x[0] - gx[0]*x[k.X.Inc]
	k.Inverse()
	g.by(-*k.Theta)
}

// Tangent: ẋ <- U·ẋ + θ̇·(∂U/∂θ)·x.
func (k turn) Tangent(t turn) {
	rev.CheckLike(&k, &t)
	k.Forward()
	t.by(*k.Theta)
	x, tx := k.X.Data, t.X.Data
	tx[0] -= *t.Theta * x[k.X.Inc]
	tx[t.X.Inc] += *t.Theta * x[0]
}

// halfSquare is the kernel out += ‖x - a‖²/2.
type halfSquare struct {
	Out  *float64            `rev:"acc"`
	X, A rev.Vector[float64] `rev:"in"`
}

func (k halfSquare) residual(i int) float64 { return k.X.Data[i*k.X.Inc] - k.A.Data[i*k.A.Inc] }

func (k halfSquare) add(sign float64) {
	rev.Check(&k)
	var s float64
	for i := range k.X.N {
		r := k.residual(i)
		s += float64(r * r)
	}
	*k.Out += sign * s / 2
}

func (k halfSquare) Forward() { k.add(1) }
func (k halfSquare) Inverse() { k.add(-1) }

// Adjoint: x̄ += (x - a)·ō, ā -= (x - a)·ō. A nil operand of g asks for no
// gradient.
func (k halfSquare) Adjoint(g halfSquare) {
	rev.CheckLike(&k, &g)
	k.add(-1)
	for i := range k.X.N {
		d := k.residual(i) * *g.Out
		g.X.Data[i*g.X.Inc] += d
		if g.A.Data != nil {
			g.A.Data[i*g.A.Inc] -= d
		}
	}
}

// Tangent: ȯ += (x - a)ᵀ·(ẋ - ȧ).
func (k halfSquare) Tangent(t halfSquare) {
	rev.CheckLike(&k, &t)
	k.add(1)
	for i := range k.X.N {
		*t.Out += k.residual(i) * t.residual(i)
	}
}

// net is the state of a program: what its kernels read and write.
type net struct {
	weights rev.General[float64]
	theta   float64
	x, y    rev.Vector[float64]
	target  rev.Vector[float64]
	loss    float64
}

// A program is a sequence of steps, each a kernel bound to its operands in the
// state. A second state, g, holds the cotangents.
func Example() {
	prog := rev.Seq(
		rev.At(func(s *net) matVec { return matVec{Y: s.y, A: s.weights, X: s.x} }),
		rev.At(func(s *net) turn { return turn{X: s.y, Theta: &s.theta} }),
		rev.At(func(s *net) halfSquare { return halfSquare{Out: &s.loss, X: s.y, A: s.target} }),
	)

	s := &net{
		weights: rev.NewGeneral(2, 3, []float64{1, 2, 0, -1, 0, 1}),
		theta:   math.Pi / 2,
		x:       rev.ViewSlice([]float64{1, 1, 2}),
		y:       rev.ViewSlice(make([]float64, 2)),
		target:  rev.ViewSlice([]float64{0, 1}),
	}
	g := &net{
		weights: rev.NewGeneral[float64](2, 3, nil),
		x:       rev.ViewSlice(make([]float64, 3)),
		y:       rev.ViewSlice(make([]float64, 2)),
	}

	if err := prog.Forward(s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("y = %.3f, loss = %.3f\n", s.y.Data, s.loss)

	g.loss = 1
	if err := prog.Adjoint(s, g); err != nil { // s is back at the start, g is the gradient
		fmt.Println(err)
		return
	}
	fmt.Printf("y = %.0f, loss = %.0f\n", s.y.Data, s.loss)
	fmt.Printf("by weights: %.3f\n", g.weights.Data)
	fmt.Printf("by theta: %.3f\n", g.theta)
	fmt.Printf("by x: %.3f\n", g.x.Data)
	// Output:
	// y = [-1.000 3.000], loss = 2.500
	// y = [0 0], loss = 0
	// by weights: [2.000 2.000 4.000 1.000 1.000 2.000]
	// by theta: 1.000
	// by x: [1.000 4.000 1.000]
}
