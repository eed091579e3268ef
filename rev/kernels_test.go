package rev_test

import (
	"errors"
	"math"

	"revnum/rev"
)

// val returns *p, or zero if the derivative is absent.
func val[T rev.Real](p *T) T {
	if p == nil {
		return 0
	}
	return *p
}

// to adds v to a place, if there is one.
func to[T rev.Real](p *T, v T) {
	if p != nil {
		*p += v
	}
}

// wave is the kernel y += sin(a + b)/2.
type wave struct {
	Y    *float64 `rev:"acc"`
	A, B *float64 `rev:"in"`
}

func (k wave) Run(p rev.Pass[wave]) error {
	sign := float64(p.Sign())
	s, c := math.Sincos(*k.A + *k.B)
	dot := val(p.T.A) + val(p.T.B)
	to(k.Y, sign*s/2)
	to(p.T.Y, float64(sign*c/2*dot))
	d := val(p.G.Y) * c / 2
	to(p.G.A, d)
	to(p.G.B, d)
	d = val(p.GT.Y)*c/2 - float64(val(p.G.Y)*s/2*dot)
	to(p.GT.A, d)
	to(p.GT.B, d)
	return nil
}

// rotate is the kernel that turns (x, y) by the angle θ.
type rotate struct {
	X, Y  *float64 `rev:"inout"`
	Theta *float64 `rev:"in"`
}

// turn applies the rotation by sign·θ to a pair, if it is there.
func (k rotate) turn(sign int, x, y *float64) {
	if x == nil {
		return
	}
	s, c := math.Sincos(*k.Theta)
	s *= float64(sign)
	*x, *y = float64(c**x)-float64(s**y), float64(s**x)+float64(c**y)
}

// sweep adds a multiple of the derivative of (x, y) by θ, which is (-y, x).
func (k rotate) sweep(by float64, x, y *float64, ofX, ofY *float64) {
	to(x, float64(-by*val(ofY)))
	to(y, float64(by*val(ofX)))
}

// sweepTheta adds a multiple of the cotangents of θ.
func (k rotate) sweepTheta(by float64, p *rev.Pass[rotate]) {
	g, t, gt := p.G, p.T, p.GT
	to(g.Theta, float64(by*(float64(val(g.Y)**k.X)-float64(val(g.X)**k.Y))))
	to(gt.Theta, float64(by*(float64(val(gt.Y)**k.X)+float64(val(g.Y)*val(t.X))-float64(val(gt.X)**k.Y)-float64(val(g.X)*val(t.Y)))))
}

// The tangent of the turned cotangent (c·gx + s·gy, c·gy - s·gx) is the turned
// tangent plus θ̇ times its derivative by θ, (gy', -gx').

func (k rotate) Run(p rev.Pass[rotate]) error {
	g, t, gt := p.G, p.T, p.GT
	dot := val(t.Theta)
	if p.Back {
		k.sweepTheta(1, &p)
		k.sweep(-dot, t.X, t.Y, k.X, k.Y)
		k.turn(-1, t.X, t.Y)
		k.turn(-1, k.X, k.Y)
		k.turn(-1, g.X, g.Y)
		k.turn(-1, gt.X, gt.Y)
		k.sweep(-dot, gt.X, gt.Y, g.X, g.Y)
		return nil
	}
	k.sweep(dot, gt.X, gt.Y, g.X, g.Y)
	k.turn(1, gt.X, gt.Y)
	k.turn(1, g.X, g.Y)
	k.turn(1, k.X, k.Y)
	k.turn(1, t.X, t.Y)
	k.sweep(dot, t.X, t.Y, k.X, k.Y)
	k.sweepTheta(-1, &p)
	return nil
}

// rotateOnly is rotate that has neither second order nor the inverse of
// Adjoint and Tangent.
type rotateOnly struct {
	X, Y  *float64 `rev:"inout"`
	Theta *float64 `rev:"in"`
}

func (k rotateOnly) Run(p rev.Pass[rotateOnly]) error {
	if p.Adjoint && (p.Tangent || !p.Back) || p.Tangent && p.Back {
		return rev.ErrUnsupported
	}
	return rotate(k).Run(rev.Pass[rotate]{Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent, G: rotate(p.G), T: rotate(p.T)})
}

// count is the kernel n += by, over an integer, which has no derivative.
type count struct {
	N  *int `rev:"acc"`
	By int
}

func (k count) Run(p rev.Pass[count]) error {
	*k.N += p.Sign() * k.By
	return nil
}

// product is the kernel y += a·b, over floats or fixed point.
type product[T rev.Real] struct {
	Y    *T `rev:"acc"`
	A, B *T `rev:"in"`
}

// times rounds the product over fixed point in the test's own way; any way
// that is the same for both signs will do.
func times[T rev.Real](a, b T) T {
	if T(1)/2 != 0 {
		return T(a * b)
	}
	return T(int64(a) / (1 << 22) * (int64(b) / (1 << 21)))
}

func (k product[T]) Run(p rev.Pass[product[T]]) error {
	sign := T(p.Sign())
	g, t, gt := p.G, p.T, p.GT
	to(k.Y, T(sign*times(*k.A, *k.B)))
	to(t.Y, T(sign*(times(*k.A, val(t.B))+times(val(t.A), *k.B))))
	to(g.A, times(*k.B, val(g.Y)))
	to(g.B, times(*k.A, val(g.Y)))
	to(gt.A, times(*k.B, val(gt.Y))+times(val(t.B), val(g.Y)))
	to(gt.B, times(*k.A, val(gt.Y))+times(val(t.A), val(g.Y)))
	return nil
}

var errRoot = errors.New("root of a negative number")

// root is the kernel y += √a, which may fail.
type root struct {
	Y *float64 `rev:"acc"`
	A *float64 `rev:"in"`
}

func (k root) Run(p rev.Pass[root]) error {
	if !(*k.A >= 0) {
		return errRoot
	}
	sign, r := float64(p.Sign()), math.Sqrt(*k.A)
	to(k.Y, float64(sign*r))
	to(p.T.Y, sign*val(p.T.A)/(2*r))
	to(p.G.A, val(p.G.Y)/(2*r))
	to(p.GT.A, val(p.GT.Y)/(2*r)-val(p.G.Y)*val(p.T.A)/(4*r**k.A))
	return nil
}

// add is the kernel y += by. It has no second order.
type add[T rev.Real] struct {
	Y  *T `rev:"acc"`
	By T
}

func (k add[T]) Run(p rev.Pass[add[T]]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	*k.Y += T(T(p.Sign()) * k.By)
	return nil
}

// mixed is the kernel y += x, z <- 2z. Changing the sign of y alone does not invert it.
// It has neither second order nor the inverse of Adjoint and Tangent.
type mixed struct {
	Y *float64 `rev:"acc"`
	Z *float64 `rev:"inout"`
	X *float64 `rev:"in"`
}

func (k mixed) Run(p rev.Pass[mixed]) error {
	switch {
	case p.Adjoint && (p.Tangent || !p.Back) || p.Tangent && p.Back:
		return rev.ErrUnsupported
	case p.Back:
		*k.Y -= *k.X
		*k.Z /= 2
	default:
		*k.Y += *k.X
		*k.Z *= 2
	}
	if p.Adjoint {
		to(p.G.X, val(p.G.Y))
		*p.G.Z *= 2
	}
	if p.Tangent {
		to(p.T.Y, val(p.T.X))
		*p.T.Z *= 2
	}
	return nil
}
