package rev_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"revnum/rev"
)

// matVec is the kernel y += A·x.
type matVec struct {
	Y rev.Vector[float64]  `rev:"acc" shape:"m"`
	A rev.General[float64] `rev:"in" shape:"m,n"`
	X rev.Vector[float64]  `rev:"in" shape:"n"`
}

func (k matVec) Run(p rev.Pass[matVec]) error {
	sign, g, t, gt := float64(p.Sign()), p.G, p.T, p.GT
	gemv(blas.NoTrans, sign, k.A, k.X, k.Y)
	gemv(blas.NoTrans, sign, t.A, k.X, t.Y) // ẏ += Ȧ·x + A·ẋ
	gemv(blas.NoTrans, sign, k.A, t.X, t.Y)
	ger(g.Y, k.X, g.A)                 // Ā += ȳ·xᵀ
	gemv(blas.Trans, 1, k.A, g.Y, g.X) // x̄ += Aᵀ·ȳ
	ger(gt.Y, k.X, gt.A)               // and the tangents of these
	ger(g.Y, t.X, gt.A)
	gemv(blas.Trans, 1, k.A, gt.Y, gt.X)
	gemv(blas.Trans, 1, t.A, g.Y, gt.X)
	return nil
}

// gemv adds alpha·A·x or alpha·Aᵀ·x to y, unless one of them is not there.
func gemv(t blas.Transpose, alpha float64, a rev.General[float64], x, y rev.Vector[float64]) {
	if a.Data != nil && x.Data != nil && y.Data != nil {
		blas64.Gemv(t, alpha, blas64.General(a), blas64.Vector(x), 1, blas64.Vector(y))
	}
}

// ger adds x·yᵀ to A, unless one of them is not there.
func ger(x, y rev.Vector[float64], a rev.General[float64]) {
	if a.Data != nil && x.Data != nil && y.Data != nil {
		blas64.Ger(1, blas64.Vector(x), blas64.Vector(y), blas64.General(a))
	}
}

// turn is the kernel that turns the pair (x_0, x_1) in place by the angle θ:
// x <- U(θ)·x.
type turn struct {
	X     rev.Vector[float64] `rev:"inout" shape:"2"`
	Theta *float64            `rev:"in"`
}

func (k turn) Run(p rev.Pass[turn]) error {
	if p.Adjoint && (p.Tangent || !p.Back) || p.Tangent && p.Back {
		return rev.ErrUnsupported
	}
	if p.Adjoint { // θ̄ += x̄ᵀ·(∂U/∂θ)·x, and (∂U/∂θ)·x is (-x_1, x_0) of the x after
		*p.G.Theta += float64(p.G.X.Data[p.G.X.Inc]*k.X.Data[0]) - float64(p.G.X.Data[0]*k.X.Data[k.X.Inc])
	}
	s, c := math.Sincos(*k.Theta)
	rot := func(x rev.Vector[float64]) {
		if x.Data != nil {
			blas64.Rot(blas64.Vector{N: 1, Data: x.Data[x.Inc:], Inc: 1}, blas64.Vector{N: 1, Data: x.Data, Inc: 1}, c, float64(p.Sign())*s)
		}
	}
	rot(k.X)
	rot(p.G.X)
	rot(p.T.X)
	if p.Tangent { // ẋ <- U·ẋ + θ̇·(∂U/∂θ)·x
		p.T.X.Data[0] -= float64(*p.T.Theta * k.X.Data[k.X.Inc])
		p.T.X.Data[p.T.X.Inc] += float64(*p.T.Theta * k.X.Data[0])
	}
	return nil
}

// halfSquare is the kernel out += ‖x - a‖²/2.
type halfSquare struct {
	Out  *float64            `rev:"acc"`
	X, A rev.Vector[float64] `rev:"in" shape:"n"`
}

func (k halfSquare) Run(p rev.Pass[halfSquare]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	sign := float64(p.Sign())
	for i := range k.X.N {
		r := k.X.Data[i*k.X.Inc] - k.A.Data[i*k.A.Inc]
		*k.Out += sign * r * r / 2
		if g := p.G; g.X.Data != nil { // x̄ += (x - a)·ō
			g.X.Data[i*g.X.Inc] += float64(r * *g.Out)
		}
		if g := p.G; g.A.Data != nil { // ā -= (x - a)·ō
			g.A.Data[i*g.A.Inc] -= float64(r * *g.Out)
		}
		if t := p.T; t.X.Data != nil { // ȯ += (x - a)ᵀ·ẋ
			*t.Out += float64(sign * r * t.X.Data[i*t.X.Inc])
		}
		if t := p.T; t.A.Data != nil {
			*t.Out -= float64(sign * r * t.A.Data[i*t.A.Inc])
		}
	}
	return nil
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
	if err := prog.Forward(s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("y = %.3f, loss = %.3f\n", s.y.Data, s.loss)

	g := rev.ZeroLike(s)
	g.target = rev.Vector[float64]{} // no gradient by the target
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
