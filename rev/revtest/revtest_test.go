package revtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// gather is the kernel
//
//	f_i = a·x_{I_i}·z_i + w_{i0}·w_{i1},  Y_i += f_i,  Sum += Σ f_i
//
// with operands of each kind. It is correct unless bug names what is broken.
type gather[T rev.Float] struct {
	Y       rev.Vector[T]  `rev:"acc"`
	Sum     *T             `rev:"acc"`
	A       *T             `rev:"in"`
	X, Z    rev.Vector[T]  `rev:"in"`
	W       rev.General[T] `rev:"in"`
	I       []int          `rev:"index"`
	Workers int
	bug     string
}

func (k gather[T]) check(g ...*gather[T]) {
	switch k.bug {
	case "index panic":
		_ = k.X.Data[k.I[0]*k.X.Inc]
	case "overlap":
	default:
		rev.Check(&k)
	}
	if k.bug == "wrong panic" && k.X.N != k.Z.N {
		panic("X and Z differ")
	}
	if k.bug == "shape" {
		return
	}
	n := k.X.N
	if k.Z.N != n || k.W.Rows != n || k.W.Cols != 2 || len(k.I) != n || (k.Y.Data != nil || k.Y.N != 0) && k.Y.N != n {
		if k.bug == "writes, then panics" && k.Y.N > 0 {
			k.Y.Data[0]++
		}
		panic(mat.ErrShape)
	}
	if k.bug == "shape of g" || k.bug == "overlap with g" {
		return
	}
	rev.CheckLike(&k, g...)
}

func (k gather[T]) f(i int) T {
	x, z := k.X.Data[k.I[i]*k.X.Inc], k.Z.Data[i*k.Z.Inc]
	if k.bug == "leaks a gap" && k.X.Inc > 1 && k.I[i]+1 < k.X.N {
		x += 0 * k.X.Data[k.I[i]*k.X.Inc+1]
	}
	w := k.W.Row(i)
	f := T(*k.A*x*z) + T(w[0]*w[1])
	if k.bug == "hides NaN" && math.IsNaN(float64(f)) {
		return 0
	}
	return f
}

// add adds the function, times sign, to Y and Sum.
func (k gather[T]) add(sign T) {
	n := k.X.N
	if k.bug == "allocates" {
		sink = make([]float64, n+1)
	}
	if k.bug == "hangs" && n > 0 {
		for x := k.X.Data[0]; math.IsInf(float64(x), 0); x *= 2 {
			time.Sleep(time.Millisecond)
		}
	}
	if k.bug == "indexes by a value" && n > 0 {
		_ = k.X.Data[btoi(k.X.Data[0] > 1e30)*len(k.X.Data)]
	}
	if k.bug == "writes an input" && n > 0 {
		k.X.Data[0] = -k.X.Data[0]
	}
	if k.bug == "writes a gap" && k.Y.Inc > 1 && n > 1 {
		k.Y.Data[1] = 0
	}
	if k.bug == "shifts and shifts back" && n > 0 {
		k.Z.Data[0] += 1.0 / 3
		defer func() { k.Z.Data[0] -= 1.0 / 3 }()
	}
	if k.Y.Data != nil {
		for i := range n {
			k.Y.Data[i*k.Y.Inc] += sign * k.f(i)
		}
	}
	if k.Sum != nil {
		parts := make([]T, 2, 8)
		if k.bug == "order of workers" {
			parts = parts[:max(k.Workers, 1)]
		}
		for i := range n {
			parts[i%len(parts)] += k.f(i)
		}
		var s T
		for _, p := range parts {
			s += p
		}
		*k.Sum += sign * s
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

var sink []float64

func (k gather[T]) Forward() {
	k.check()
	k.add(1)
}

func (k gather[T]) Inverse() {
	k.check()
	if k.bug == "inverse" && k.Sum != nil {
		*k.Sum += 1e-3
	}
	k.add(-1)
}

func (k gather[T]) Adjoint(g gather[T]) {
	k.check(&g)
	if k.bug == "needs an input's gradient" {
		g.Z.Data[0] += 0
	}
	if k.bug != "adjoint restores" {
		k.add(-1)
	}
	var gsum T
	if g.Sum != nil {
		gsum = *g.Sum
	}
	if k.bug == "needs an output" && k.Sum == nil || k.bug == "nil cotangent is one" && g.Sum == nil {
		gsum = 1
	}
	for i := range k.X.N {
		c := gsum
		if g.Y.Data != nil {
			c += g.Y.Data[i*g.Y.Inc]
		}
		a, x, z, w := *k.A, k.X.Data[k.I[i]*k.X.Inc], k.Z.Data[i*k.Z.Inc], k.W.Row(i)
		if g.A != nil && (k.bug != "one gradient needs another" || g.Z.Data != nil) {
			*g.A += T(c * x * z)
		}
		if g.X.Data != nil {
			gx := &g.X.Data[k.I[i]*g.X.Inc]
			switch k.bug {
			case "overwrites":
				*gx = T(c * a * z)
			case "adjoint":
				*gx += T(c * z)
			case "adjoint leaks a gap":
				*gx += T(c * a * k.Z.Data[max(i*k.Z.Inc-1, 0)])
			default:
				*gx += T(c * a * z)
			}
		}
		if g.Z.Data != nil {
			if k.bug == "shared inputs" && k.X.Data != nil && &k.X.Data[0] == &k.Z.Data[0] {
				continue
			}
			g.Z.Data[i*g.Z.Inc] += T(c * a * x)
		}
		if g.W.Data != nil {
			gw := g.W.Row(i)
			gw[0] += T(c * w[1])
			gw[1] += T(c * w[0])
		}
	}
	if k.bug == "changes ḡy" && g.Sum != nil {
		*g.Sum = 0
	}
}

func (k gather[T]) Tangent(t gather[T]) {
	k.check(&t)
	if k.bug != "tangent without forward" {
		k.add(1)
	}
	for i := range k.X.N {
		d := k.tangentAt(t, i)
		if k.bug == "both derivatives" || k.bug == "tangent needs a tangent" && t.A == nil {
			d *= 2
		}
		if k.bug == "writes a tangent" && t.X.Data != nil {
			t.X.Data[i*t.X.Inc] = 0
		}
		if t.Y.Data != nil {
			t.Y.Data[i*t.Y.Inc] += d
		}
		if t.Sum != nil {
			*t.Sum += d
		}
	}
}

func (k gather[T]) AdjointTangent(g, t, gt gather[T]) {
	k.check(&g, &t, &gt)
	if k.bug == "second order restores" {
		k.add(1)
	}
	for i := range k.X.N {
		if k.bug == "second order leaves t" {
			break
		}
		d := k.tangentAt(t, i)
		if t.Y.Data != nil {
			t.Y.Data[i*t.Y.Inc] -= d
		}
		if t.Sum != nil {
			*t.Sum -= d
		}
	}
	if k.bug == "tangent by workers" && t.Sum != nil {
		*t.Sum += T(max(k.Workers, 1))
	}
	for i := range k.X.N {
		c, dc := T(0), T(0)
		if g.Sum != nil {
			c = *g.Sum
		}
		if gt.Sum != nil {
			dc = *gt.Sum
		}
		if g.Y.Data != nil {
			c += g.Y.Data[i*g.Y.Inc]
		}
		if gt.Y.Data != nil {
			dc += gt.Y.Data[i*gt.Y.Inc]
		}
		a, x, z, w := *k.A, k.X.Data[k.I[i]*k.X.Inc], k.Z.Data[i*k.Z.Inc], k.W.Row(i)
		da, dx, dz, dw := T(0), T(0), T(0), []T{0, 0}
		if t.A != nil {
			da = *t.A
		}
		if t.X.Data != nil {
			dx = t.X.Data[k.I[i]*t.X.Inc]
		}
		if t.Z.Data != nil {
			dz = t.Z.Data[i*t.Z.Inc]
		}
		if t.W.Data != nil {
			dw = t.W.Row(i)
		}
		if k.bug == "second order needs a gradient" && g.Z.Data == nil {
			c = 0
		}
		if k.bug == "hessian" {
			da = 0 // one side of a mixed derivative is missing
		}
		if gt.A != nil {
			*gt.A += T(dc*x*z) + T(c*dx*z) + T(c*x*dz)
		}
		if gt.X.Data != nil {
			gt.X.Data[k.I[i]*gt.X.Inc] += T(dc*a*z) + T(c*da*z) + T(c*a*dz)
		}
		if gt.Z.Data != nil {
			gt.Z.Data[i*gt.Z.Inc] += T(dc*a*x) + T(c*da*x) + T(c*a*dx)
		}
		if gt.W.Data != nil {
			r := gt.W.Row(i)
			r[0] += T(dc*w[1]) + T(c*dw[1])
			r[1] += T(dc*w[0]) + T(c*dw[0])
		}
	}
	k.bug = ""
	k.Adjoint(g)
}

// tangentAt returns the tangent of f_i.
func (k gather[T]) tangentAt(t gather[T], i int) T {
	var d T
	a, x, z, w := *k.A, k.X.Data[k.I[i]*k.X.Inc], k.Z.Data[i*k.Z.Inc], k.W.Row(i)
	if t.A != nil {
		d += T(*t.A * x * z)
	}
	if t.X.Data != nil {
		d += T(a * t.X.Data[k.I[i]*t.X.Inc] * z)
	}
	if t.Z.Data != nil {
		inc := t.Z.Inc
		if k.bug == "one storage for all" {
			inc = k.Z.Inc
		}
		d += T(a * x * t.Z.Data[i*inc])
	}
	if t.W.Data != nil {
		tw := t.W.Row(i)
		d += T(tw[0]*w[1]) + T(w[0]*tw[1])
	}
	return d
}

func gatherSpec[T rev.Float](bug string) Spec[gather[T]] {
	return Spec[gather[T]]{
		New: func(rnd *rand.Rand, n int) gather[T] {
			normals := func(n int) []T {
				x := make([]T, n)
				for i := range x {
					x[i] = T(rnd.NormFloat64())
				}
				return x
			}
			return gather[T]{
				Y: rev.ViewSlice(make([]T, n)), Sum: new(T), A: &normals(1)[0],
				X: rev.ViewSlice(normals(n)), Z: rev.ViewSlice(normals(n)),
				W: rev.NewGeneral(n, 2, normals(2*n)), I: rnd.Perm(n), bug: bug,
			}
		},
		Adjoint: 1e4,
	}
}

// shear is the kernel y += θ·x², x += θ·y, in place.
type shear[T rev.Float] struct {
	X, Y  rev.Vector[T] `rev:"inout"`
	Theta *T            `rev:"in"`
	bug   string
}

func (k shear[T]) check(g ...*shear[T]) {
	rev.Check(&k)
	if k.X.N != k.Y.N {
		panic(mat.ErrShape)
	}
	rev.CheckLike(&k, g...)
}

func (k shear[T]) at(i int) (x, y *T) { return &k.X.Data[i*k.X.Inc], &k.Y.Data[i*k.Y.Inc] }

func (k shear[T]) Forward() {
	k.check()
	for i := range k.X.N {
		x, y := k.at(i)
		*y += T(*k.Theta * *x * *x)
		*x += T(*k.Theta * *y)
	}
}

func (k shear[T]) Inverse() {
	k.check()
	for i := range k.X.N {
		x, y := k.at(i)
		*x -= T(*k.Theta * *y)
		*y -= T(*k.Theta * *x * *x)
	}
}

// pair returns pointers to the derivatives of x_i, y_i and θ, to zeros of its
// own where g has none.
func (k shear[T]) pair(g shear[T], i int) (x, y, theta *T) {
	x, y, theta = new(T), new(T), new(T)
	if g.X.Data != nil {
		x = &g.X.Data[i*g.X.Inc]
	}
	if g.Y.Data != nil {
		y = &g.Y.Data[i*g.Y.Inc]
	}
	if g.Theta != nil {
		theta = g.Theta
	}
	return x, y, theta
}

func (k shear[T]) Adjoint(g shear[T]) {
	k.check(&g)
	for i := range k.X.N {
		x, y := k.at(i)
		gx, gy, gth := k.pair(g, i)
		*x -= T(*k.Theta * *y)
		*gth += T(*gx * *y)
		*gy += T(*k.Theta * *gx)
		*y -= T(*k.Theta * *x * *x)
		*gth += T(*gy * *x * *x)
		*gx += T(2 * *k.Theta * *x * *gy)
	}
}

func (k shear[T]) InverseAdjoint(g shear[T]) {
	k.check(&g)
	for i := range k.X.N {
		x, y := k.at(i)
		gx, gy, gth := k.pair(g, i)
		*gx -= T(2 * *k.Theta * *x * *gy)
		*gth -= T(*gy * *x * *x)
		*y += T(*k.Theta * *x * *x)
		*gy -= T(*k.Theta * *gx)
		if k.bug != "uncall" {
			*gth -= T(*gx * *y)
		}
		*x += T(*k.Theta * *y)
	}
}

func (k shear[T]) Tangent(t shear[T]) {
	k.check(&t)
	for i := range k.X.N {
		x, y := k.at(i)
		tx, ty, tth := k.pair(t, i)
		*ty += T(*tth**x**x) + T(2**k.Theta**x**tx)
		*y += T(*k.Theta * *x * *x)
		*tx += T(*tth**y) + T(*k.Theta**ty)
		*x += T(*k.Theta * *y)
	}
}

func (k shear[T]) InverseTangent(t shear[T]) {
	k.check(&t)
	for i := range k.X.N {
		x, y := k.at(i)
		tx, ty, tth := k.pair(t, i)
		*x -= T(*k.Theta * *y)
		*tx -= T(*tth**y) + T(*k.Theta**ty)
		*y -= T(*k.Theta * *x * *x)
		if k.bug != "uncall tangent" {
			*ty -= T(*tth**x**x) + T(2**k.Theta**x**tx)
		}
	}
}

func shearSpec[T rev.Float](bug string) Spec[shear[T]] {
	return Spec[shear[T]]{
		New: func(rnd *rand.Rand, n int) shear[T] {
			x, y := make([]T, n), make([]T, n)
			for i := range x {
				x[i], y[i] = T(rnd.NormFloat64()), T(rnd.NormFloat64())
			}
			theta := T(0.5)
			return shear[T]{X: rev.ViewSlice(x), Y: rev.ViewSlice(y), Theta: &theta, bug: bug}
		},
		RoundTrip: 20,
		Skip:      map[Property]string{NoAllocation: "zeros of its own for nil operands"},
	}
}

// add is the kernel Y += X.
type add[T rev.Real | complex128] struct {
	Y   rev.Vector[T] `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
	bug string
}

func (k add[T]) check(g ...*add[T]) {
	rev.Check(&k)
	if (k.Y.Data != nil || k.Y.N != 0) && k.Y.N != k.X.N {
		panic(mat.ErrShape)
	}
	rev.CheckLike(&k, g...)
}

func addTo[T rev.Real | complex128](y, x rev.Vector[T], minus bool) {
	if y.Data == nil || x.Data == nil {
		return
	}
	for i := range x.N {
		if minus {
			y.Data[i*y.Inc] -= x.Data[i*x.Inc]
		} else {
			y.Data[i*y.Inc] += x.Data[i*x.Inc]
		}
	}
}

func (k add[T]) Forward() {
	k.check()
	addTo(k.Y, k.X, false)
}

func (k add[T]) Inverse() {
	k.check()
	addTo(k.Y, k.X, true)
	if k.bug == "last bit" && k.Y.N > 0 {
		*any(&k.Y.Data[0]).(*fixed.Q43)++
	}
}

func (k add[T]) Adjoint(g add[T]) {
	k.check(&g)
	addTo(k.Y, k.X, true)
	addTo(g.X, g.Y, false)
}

func (k add[T]) Tangent(t add[T]) {
	k.check(&t)
	addTo(k.Y, k.X, false)
	addTo(t.Y, t.X, false)
}

func addSpec[T rev.Real | complex128](bug string) Spec[add[T]] {
	return Spec[add[T]]{New: func(rnd *rand.Rand, n int) add[T] {
		x := make([]T, n)
		for i := range x {
			for range rnd.IntN(100) {
				x[i]++
			}
		}
		return add[T]{Y: rev.ViewSlice(make([]T, n)), X: rev.ViewSlice(x), bug: bug}
	}}
}

// reciprocal is the fallible kernel Y += 1/x.
type reciprocal struct {
	Y   *float64 `rev:"acc"`
	X   *float64 `rev:"in"`
	bug string
}

func (k reciprocal) value(sign float64) error {
	rev.Check(&k)
	if k.bug == "writes, then fails" && k.Y != nil {
		*k.Y += 1
	}
	if *k.X == 0 && k.bug != "does not fail" || k.bug == "fails" {
		return errors.New("reciprocal of zero")
	}
	if k.Y != nil {
		*k.Y += sign / *k.X
	}
	return nil
}

func (k reciprocal) Forward() error { return k.value(1) }
func (k reciprocal) Inverse() error { return k.value(-1) }

func (k reciprocal) Adjoint(g reciprocal) error {
	rev.CheckLike(&k, &g)
	if err := k.value(-1); err != nil {
		return err
	}
	if g.X != nil && g.Y != nil {
		*g.X -= *g.Y / (*k.X * *k.X)
	}
	return nil
}

func (k reciprocal) Tangent(t reciprocal) error {
	rev.CheckLike(&k, &t)
	if err := k.value(1); err != nil {
		return err
	}
	if t.X != nil && t.Y != nil {
		*t.Y -= *t.X / (*k.X * *k.X)
	}
	return nil
}

func reciprocalSpec(bug string) Spec[reciprocal] {
	return Spec[reciprocal]{
		New: func(rnd *rand.Rand, _ int) reciprocal {
			x := 2 + rnd.Float64()
			return reciprocal{Y: new(float64), X: &x, bug: bug}
		},
		Failing: func(*rand.Rand, int) reciprocal {
			return reciprocal{Y: new(float64), X: new(float64), bug: bug}
		},
	}
}

// lift is the kernel x += θ², in place, with all methods that there are.
type lift struct {
	X     *float64 `rev:"inout"`
	Theta *float64 `rev:"in"`
	bug   string
}

func (k lift) add(sign float64) {
	rev.Check(&k)
	*k.X += sign * *k.Theta * *k.Theta
}

// slope returns 2·θ̇·θ, zero if t has no θ̇.
func (k lift) slope(t lift) float64 {
	if t.Theta == nil {
		return 0
	}
	return 2 * *t.Theta * *k.Theta
}

func (k lift) tangent(t lift, sign float64) {
	rev.CheckLike(&k, &t)
	k.add(sign)
	if t.X != nil {
		*t.X += sign * k.slope(t)
	}
}

func (k lift) adjoint(g lift, sign float64) {
	rev.CheckLike(&k, &g)
	k.add(-sign)
	if g.Theta != nil && g.X != nil {
		*g.Theta += sign * 2 * *k.Theta * *g.X
	}
}

func (k lift) adjointTangent(g, t, gt lift, sign float64) {
	rev.CheckLike(&k, &g, &t, &gt)
	if t.X != nil {
		*t.X -= sign * k.slope(t)
	}
	if gt.Theta != nil && gt.X != nil {
		*gt.Theta += sign * 2 * *k.Theta * *gt.X
	}
	if gt.Theta != nil && g.X != nil && t.Theta != nil {
		*gt.Theta += sign * 2 * *t.Theta * *g.X
	}
	k.adjoint(g, sign)
}

func (k lift) Forward()                     { k.add(1) }
func (k lift) Inverse()                     { k.add(-1) }
func (k lift) Tangent(t lift)               { k.tangent(t, 1) }
func (k lift) InverseTangent(t lift)        { k.tangent(t, -1) }
func (k lift) Adjoint(g lift)               { k.adjoint(g, 1) }
func (k lift) InverseAdjoint(g lift)        { k.adjoint(g, -1) }
func (k lift) AdjointTangent(g, t, gt lift) { k.adjointTangent(g, t, gt, 1) }
func (k lift) InverseAdjointTangent(g, t, gt lift) {
	if k.bug == "uncall second order" {
		gt.Theta = nil
	}
	k.adjointTangent(g, t, gt, -1)
}

func liftSpec(bug string) Spec[lift] {
	return Spec[lift]{New: func(rnd *rand.Rand, _ int) lift {
		x, theta := rnd.NormFloat64(), rnd.NormFloat64()
		return lift{X: &x, Theta: &theta, bug: bug}
	}}
}

// fallibleLift is lift with methods that return errors, which are nil.
type fallibleLift lift

func (k fallibleLift) Forward() error               { lift(k).Forward(); return nil }
func (k fallibleLift) Inverse() error               { lift(k).Inverse(); return nil }
func (k fallibleLift) Tangent(t fallibleLift) error { lift(k).Tangent(lift(t)); return nil }
func (k fallibleLift) InverseTangent(t fallibleLift) error {
	lift(k).InverseTangent(lift(t))
	return nil
}
func (k fallibleLift) Adjoint(g fallibleLift) error { lift(k).Adjoint(lift(g)); return nil }
func (k fallibleLift) InverseAdjoint(g fallibleLift) error {
	lift(k).InverseAdjoint(lift(g))
	return nil
}

func (k fallibleLift) AdjointTangent(g, t, gt fallibleLift) error {
	lift(k).AdjointTangent(lift(g), lift(t), lift(gt))
	return nil
}

func (k fallibleLift) InverseAdjointTangent(g, t, gt fallibleLift) error {
	lift(k).InverseAdjointTangent(lift(g), lift(t), lift(gt))
	return nil
}

func fallibleLiftSpec(bug string) Spec[fallibleLift] {
	return Spec[fallibleLift]{New: func(rnd *rand.Rand, n int) fallibleLift {
		return fallibleLift(liftSpec(bug).New(rnd, n))
	}}
}

// pointer is add as a kernel whose methods have a pointer for a receiver.
type pointer add[float64]

func (k *pointer) Forward()           { add[float64](*k).Forward() }
func (k *pointer) Inverse()           { add[float64](*k).Inverse() }
func (k *pointer) Adjoint(g *pointer) { add[float64](*k).Adjoint(add[float64](*g)) }
func (k *pointer) Tangent(t *pointer) { add[float64](*k).Tangent(add[float64](*t)) }

func pointerSpec() Spec[*pointer] {
	return Spec[*pointer]{New: func(rnd *rand.Rand, n int) *pointer {
		k := pointer(addSpec[float64]("").New(rnd, n))
		return &k
	}}
}

func TestCorrectKernels(t *testing.T) {
	t.Run("gather64", func(t *testing.T) { Kernel(t, gatherSpec[float64]("")) })
	t.Run("gather32", func(t *testing.T) { Kernel(t, gatherSpec[float32]("")) })
	t.Run("shear64", func(t *testing.T) { Kernel(t, shearSpec[float64]("")) })
	t.Run("shear32", func(t *testing.T) { Kernel(t, shearSpec[float32]("")) })
	t.Run("addQ43", func(t *testing.T) { Kernel(t, addSpec[fixed.Q43]("")) })
	t.Run("addComplex", func(t *testing.T) { Kernel(t, addSpec[complex128]("")) })
	t.Run("pointer", func(t *testing.T) { Kernel(t, pointerSpec()) })
	t.Run("lift", func(t *testing.T) { Kernel(t, liftSpec("")) })
	t.Run("fallibleLift", func(t *testing.T) { Fallible(t, fallibleLiftSpec("")) })
	t.Run("reciprocal", func(t *testing.T) { Fallible(t, reciprocalSpec("")) })
}

// TestErase fails where erase, or this test, leaves out a field of Spec.
func TestErase(t *testing.T) {
	got := reflect.ValueOf(erase(Spec[lift]{
		New: liftSpec("").New, Failing: liftSpec("").New, Sizes: []int{1}, Large: 1,
		RoundTrip: 1, Exact: true, Adjoint: 1, Difference: 1, Step: 1,
		Free: []string{"X.N"}, Masked: []string{"X"}, Skip: map[Property]string{NaN: "why"},
	}))
	for i := range got.NumField() {
		if got.Field(i).IsZero() {
			t.Errorf("%s is lost", got.Type().Field(i).Name)
		}
	}
}

// broken checks one property of a broken kernel.
type broken struct {
	property Property
	bug      string
	check    func(p Property, bug string) error
	want     string // part of the failure's text
}

func only(s *suite, p Property) error {
	s.patience = 50 * time.Millisecond
	i := slices.IndexFunc(s.properties(), func(q property) bool { return q.name == p })
	return s.check(s.properties()[i])
}

func brokenGather(p Property, bug string) error {
	return only(newSuite(gatherSpec[float64](bug)), p)
}

func brokenShear(p Property, bug string) error { return only(newSuite(shearSpec[float64](bug)), p) }

func brokenAdd(p Property, bug string) error { return only(newSuite(addSpec[fixed.Q43](bug)), p) }

func brokenLift(p Property, bug string) error { return only(newSuite(liftSpec(bug)), p) }

func brokenFallibleLift(p Property, bug string) error {
	return only(newFallibleSuite(fallibleLiftSpec(bug)), p)
}

func brokenReciprocal(p Property, bug string) error {
	return only(newFallibleSuite(reciprocalSpec(bug)), p)
}

var brokenKernels = []broken{
	{RoundTrip, "inverse", brokenGather, "Sum is"},
	{RoundTrip, "leaks a gap", brokenGather, "holds a NaN"},
	{RoundTrip, "last bit", brokenAdd, "Y[0] is"},
	{RoundTrip, "fails", brokenReciprocal, "reciprocal of zero"},
	{AdjointRestores, "adjoint restores", brokenGather, "Y[0] is"},
	{AdjointRestores, "changes ḡy", brokenGather, "cotangents after Adjoint: Sum is"},
	{DotProduct, "adjoint", brokenGather, "⟨g, J·t⟩"},
	{DotProduct, "adjoint leaks a gap", brokenGather, "⟨g, J·t⟩ = "},
	{Tangents, "both derivatives", brokenGather, "differences of Forward"},
	{Tangents, "tangent without forward", brokenGather, "Tangent against Forward"},
	{Tangents, "one storage for all", brokenGather, "dense and gapped operands"},
	{SecondOrder, "hessian", brokenGather, "differences of Adjoint"},
	{SecondOrder, "second order restores", brokenGather, "operands after AdjointTangent"},
	{SecondOrder, "second order leaves t", brokenGather, "tangents after AdjointTangent"},
	{SymmetricHessian, "hessian", brokenGather, "⟨H·u, v⟩"},
	{Accumulation, "overwrites", brokenGather, "gradient added to an old one: X"},
	{NilGradients, "needs an input's gradient", brokenGather, "panic"},
	{NilGradients, "one gradient needs another", brokenGather, "Z nil in g"},
	{NilGradients, "nil cotangent is one", brokenGather, "Sum nil in g, Adjoint against a zero cotangent"},
	{NilGradients, "tangent needs a tangent", brokenGather, "A nil in t, Tangent against a zero tangent"},
	{NilGradients, "second order needs a gradient", brokenGather, "Z nil in g and gt, AdjointTangent"},
	{NilOutputs, "needs an output", brokenGather, "acc operands nil"},
	{Overlap, "overlap", brokenGather, "overlap: Forward: does not panic"},
	{Overlap, "overlap with g", brokenGather, "of g is that of the kernel"},
	{SharedInputs, "shared inputs", brokenGather, "X and Z have the same storage"},
	{ReadOnly, "writes an input", brokenGather, "Forward: X[0]"},
	{ReadOnly, "shifts and shifts back", brokenGather, "Forward: Z[0]"},
	{ReadOnly, "writes a tangent", brokenGather, "Tangent: tangents: X"},
	{Gaps, "writes a gap", brokenGather, "memory between or around the elements of Y"},
	{Shapes, "shape", brokenGather, "changed from"},
	{Shapes, "shape of g", brokenGather, "in g: Adjoint"},
	{Shapes, "wrong panic", brokenGather, "panics with X and Z differ"},
	{Shapes, "writes, then panics", brokenGather, "has written to its operands"},
	{Shapes, "index panic", brokenGather, "out of range"},
	{NaN, "hides NaN", brokenGather, "but the result of Forward has none"},
	{Extremes, "hangs", brokenGather, "has not returned"},
	{Extremes, "indexes by a value", brokenGather, "out of range"},
	{NoAllocation, "allocates", brokenGather, "allocates 1 times per call"},
	{Workers, "order of workers", brokenGather, "workers, against 1: Sum"},
	{Workers, "tangent by workers", brokenGather, "tangents after AdjointTangent with 2 workers, against 1: Sum"},
	{Uncall, "uncall", brokenShear, "InverseAdjoint: Theta"},
	{Uncall, "uncall tangent", brokenShear, "InverseTangent: Y"},
	{Uncall, "uncall second order", brokenLift, "InverseAdjointTangent: Theta"},
	{Uncall, "uncall second order", brokenFallibleLift, "InverseAdjointTangent: Theta"},
	{Errors, "writes, then fails", brokenReciprocal, "Forward returns an error, but has written"},
	{Errors, "does not fail", brokenReciprocal, "Forward returns no error"},
}

func TestBrokenKernels(t *testing.T) {
	covered := map[Property]bool{}
	for _, b := range brokenKernels {
		covered[b.property] = true
		t.Run(string(b.property)+"/"+b.bug, func(t *testing.T) {
			switch err := b.check(b.property, b.bug); {
			case err == nil:
				t.Error("not caught")
			case !strings.Contains(err.Error(), b.want):
				t.Errorf("caught as %q, want %q", err, b.want)
			}
		})
	}
	for _, p := range newSuite(gatherSpec[float64]("")).properties() {
		if !covered[p.name] {
			t.Errorf("no broken kernel for %s", p.name)
		}
	}
}
