package rev_test

import (
	"errors"
	"math"

	"revnum/fixed"
	"revnum/rev"
)

// wave is the kernel y += sin(a + b)/2.
type wave struct {
	Y    *float64 `rev:"acc"`
	A, B *float64 `rev:"in"`
}

var _ rev.SecondOrder[wave] = wave{}

func (k wave) Forward() {
	rev.Check(&k)
	*k.Y += math.Sin(*k.A+*k.B) / 2
}

func (k wave) Inverse() {
	rev.Check(&k)
	*k.Y -= math.Sin(*k.A+*k.B) / 2
}

func (k wave) Adjoint(g wave) {
	rev.CheckLike(&k, &g)
	k.Inverse()
	d := *g.Y * math.Cos(*k.A+*k.B) / 2
	*g.A += d
	*g.B += d
}

func (k wave) Tangent(t wave) {
	rev.CheckLike(&k, &t)
	k.Forward()
	*t.Y += math.Cos(*k.A+*k.B) / 2 * (*t.A + *t.B)
}

func (k wave) AdjointTangent(g, t, gt wave) {
	rev.CheckLike(&k, &g, &t, &gt)
	k.Adjoint(g)
	s, c := math.Sincos(*k.A + *k.B)
	*t.Y -= c / 2 * (*t.A + *t.B)
	d := *gt.Y*c/2 - *g.Y*s/2*(*t.A+*t.B)
	*gt.A += d
	*gt.B += d
}

// rotate is the kernel that turns (x, y) by the angle θ.
type rotate struct {
	X, Y  *float64 `rev:"inout"`
	Theta *float64 `rev:"in"`
}

var _ rev.SecondOrderInPlace[rotate] = rotate{}

// turn applies the rotation by sign·θ to a pair.
func (k rotate) turn(sign float64, x, y *float64) {
	s, c := math.Sincos(*k.Theta)
	s *= sign
	*x, *y = c**x-s**y, s**x+c**y
}

func (k rotate) Forward() { k.turn(1, k.X, k.Y) }
func (k rotate) Inverse() { k.turn(-1, k.X, k.Y) }

// The derivative of (x', y') by θ is (-y', x').

func (k rotate) Adjoint(g rotate) {
	rev.CheckLike(&k, &g)
	*g.Theta += *g.Y**k.X - *g.X**k.Y
	k.Inverse()
	k.turn(-1, g.X, g.Y)
}

func (k rotate) InverseAdjoint(g rotate) {
	k.Forward()
	k.turn(1, g.X, g.Y)
	*g.Theta -= *g.Y**k.X - *g.X**k.Y
}

func (k rotate) Tangent(t rotate) {
	rev.CheckLike(&k, &t)
	k.Forward()
	k.turn(1, t.X, t.Y)
	*t.X -= *k.Y * *t.Theta
	*t.Y += *k.X * *t.Theta
}

func (k rotate) InverseTangent(t rotate) {
	*t.X += *k.Y * *t.Theta
	*t.Y -= *k.X * *t.Theta
	k.turn(-1, t.X, t.Y)
	k.Inverse()
}

// The tangent of the turned cotangent (c·gx + s·gy, c·gy - s·gx) is the turned
// tangent plus ṫθ times its derivative by θ, (gy', -gx').

func (k rotate) AdjointTangent(g, t, gt rotate) {
	rev.CheckLike(&k, &g, &t, &gt)
	*gt.Theta += *gt.Y**k.X + *g.Y**t.X - *gt.X**k.Y - *g.X**t.Y
	k.Adjoint(g)
	k.turn(1, k.X, k.Y)
	k.InverseTangent(t)
	k.turn(-1, gt.X, gt.Y)
	*gt.X += *g.Y * *t.Theta
	*gt.Y -= *g.X * *t.Theta
}

func (k rotate) InverseAdjointTangent(g, t, gt rotate) {
	*gt.X -= *g.Y * *t.Theta
	*gt.Y += *g.X * *t.Theta
	k.turn(1, gt.X, gt.Y)
	k.InverseAdjoint(g)
	k.turn(-1, k.X, k.Y)
	k.Tangent(t)
	*gt.Theta -= *gt.Y**k.X + *g.Y**t.X - *gt.X**k.Y - *g.X**t.Y
}

// rotateOnly is rotate without the methods of SecondOrder and InPlace.
type rotateOnly struct {
	X, Y  *float64 `rev:"inout"`
	Theta *float64 `rev:"in"`
}

func (k rotateOnly) Forward()             { rotate(k).Forward() }
func (k rotateOnly) Inverse()             { rotate(k).Inverse() }
func (k rotateOnly) Adjoint(g rotateOnly) { rotate(k).Adjoint(rotate(g)) }
func (k rotateOnly) Tangent(t rotateOnly) { rotate(k).Tangent(rotate(t)) }

// count is the kernel n += by, over an integer, which has no derivative.
type count struct {
	N  *int `rev:"acc"`
	By int
}

func (k count) Forward()                     { *k.N += k.By }
func (k count) Inverse()                     { *k.N -= k.By }
func (k count) Adjoint(count)                { k.Inverse() }
func (k count) Tangent(count)                { k.Forward() }
func (k count) AdjointTangent(_, _, _ count) { k.Inverse() }

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

func (k product[T]) Forward() { *k.Y += times(*k.A, *k.B) }
func (k product[T]) Inverse() { *k.Y -= times(*k.A, *k.B) }

func (k product[T]) Adjoint(g product[T]) {
	k.Inverse()
	*g.A += times(*k.B, *g.Y)
	*g.B += times(*k.A, *g.Y)
}

func (k product[T]) Tangent(t product[T]) {
	k.Forward()
	*t.Y += times(*k.A, *t.B) + times(*t.A, *k.B)
}

func (k product[T]) AdjointTangent(g, t, gt product[T]) {
	k.Adjoint(g)
	*t.Y -= times(*k.A, *t.B) + times(*t.A, *k.B)
	*gt.A += times(*k.B, *gt.Y) + times(*t.B, *g.Y)
	*gt.B += times(*k.A, *gt.Y) + times(*t.A, *g.Y)
}

var _ rev.SecondOrder[product[fixed.Q43]] = product[fixed.Q43]{}

var errRoot = errors.New("root of a negative number")

// root is the fallible kernel y += √a.
type root struct {
	Y *float64 `rev:"acc"`
	A *float64 `rev:"in"`
}

func (k root) Forward() error { return k.add(1) }
func (k root) Inverse() error { return k.add(-1) }

func (k root) add(sign float64) error {
	if !(*k.A >= 0) {
		return errRoot
	}
	*k.Y += sign * math.Sqrt(*k.A)
	return nil
}

func (k root) Adjoint(g root) error {
	if err := k.Inverse(); err != nil {
		return err
	}
	*g.A += *g.Y / (2 * math.Sqrt(*k.A))
	return nil
}

func (k root) Tangent(t root) error {
	if err := k.Forward(); err != nil {
		return err
	}
	*t.Y += *t.A / (2 * math.Sqrt(*k.A))
	return nil
}

func (k root) AdjointTangent(g, t, gt root) error {
	if err := k.Adjoint(g); err != nil {
		return err
	}
	r := math.Sqrt(*k.A)
	*t.Y -= *t.A / (2 * r)
	*gt.A += *gt.Y/(2*r) - *g.Y**t.A/(4*r**k.A)
	return nil
}

// rootPointer is root with pointer receivers.
type rootPointer root

func (k *rootPointer) Forward() error               { return root(*k).Forward() }
func (k *rootPointer) Inverse() error               { return root(*k).Inverse() }
func (k *rootPointer) Adjoint(g *rootPointer) error { return root(*k).Adjoint(root(*g)) }
func (k *rootPointer) Tangent(t *rootPointer) error { return root(*k).Tangent(root(*t)) }
func (k *rootPointer) AdjointTangent(g, t, gt *rootPointer) error {
	return root(*k).AdjointTangent(root(*g), root(*t), root(*gt))
}
