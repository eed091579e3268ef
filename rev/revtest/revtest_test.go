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
// with operands of each kind. It is correct unless bug names a defect.
type gather[T rev.Float] struct {
	Y       rev.Vector[T]  `rev:"acc" shape:"n"`
	Sum     *T             `rev:"acc"`
	A       *T             `rev:"in"`
	X, Z    rev.Vector[T]  `rev:"in" shape:"n"`
	W       rev.General[T] `rev:"in" shape:"n,2"`
	I       []int          `rev:"index" shape:"n"`
	Workers int
	bug     string
	late    chan time.Time // gets a time when the kernel hangs
}

// hang is an iteration of a loop without end.
func (k gather[T]) hang() {
	select {
	case k.late <- time.Now():
	default:
	}
	time.Sleep(time.Millisecond)
}

func (k gather[T]) f(i int) T {
	x, z := k.X.Data[k.I[i]*k.X.Inc], k.Z.Data[i*k.Z.Inc]
	if k.bug == "leaks a gap" && k.X.Inc > 1 && k.I[i]+1 < k.X.N {
		x += T(0 * k.X.Data[k.I[i]*k.X.Inc+1])
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
			k.hang()
		}
	}
	if k.bug == "indexes by a value" && n > 0 {
		_ = k.X.Data[btoi(k.X.Data[0] > 1e30)*len(k.X.Data)]
	}
	if k.bug == "writes an input" && n > 0 {
		k.X.Data[0] = -k.X.Data[0]
	}
	for k.bug == "hangs at three" && n == 3 {
		k.hang()
	}
	if k.bug == "adds to a gap" && k.Y.Inc > 1 && n > 1 {
		k.Y.Data[1]++
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
			k.Y.Data[i*k.Y.Inc] += T(sign * k.f(i))
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
		*k.Sum += T(sign * s)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

var sink []float64

func (k gather[T]) Run(p rev.Pass[gather[T]]) error {
	switch {
	case k.bug == "no gradient" && p.Adjoint && !p.Back:
		k.add(1)
		return nil
	case k.bug == "inverse" && p.Back && !p.Adjoint && !p.Tangent && k.Sum != nil:
		*k.Sum += 1e-3
	case k.bug == "adjoint restores" && p.Adjoint, k.bug == "tangent without forward" && p.Tangent:
		k.Y.Data, k.Sum = nil, nil
	case k.bug == "second order restores" && p.Adjoint && p.Tangent:
		k.add(1)
	}
	for k.bug == "hangs in second order" && p.Adjoint && p.Tangent {
		k.hang()
	}
	k.add(T(p.Sign()))
	if p.Tangent && (k.bug != "second order leaves t" || !p.Adjoint) {
		k.tangent(p.T, T(p.Sign()))
	}
	if p.Adjoint && p.Tangent {
		k.adjointTangent(p.G, p.T, p.GT)
		k.bug = ""
	}
	if p.Adjoint {
		k.adjoint(p.G)
	}
	return nil
}

func (k gather[T]) adjoint(g gather[T]) {
	if k.bug == "needs an input's gradient" && k.X.N > 0 {
		g.Z.Data[0] += 0
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
			case "large branch":
				if x > 100 {
					z *= 2
				}
				*gx += T(c * a * z)
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

func (k gather[T]) tangent(t gather[T], sign T) {
	for i := range k.X.N {
		d := k.tangentAt(t, i)
		small := *k.A != 0 && math.Abs(float64(*k.A)) < 0.01
		if k.bug == "both derivatives" || k.bug == "tangent needs a tangent" && t.A == nil || k.bug == "small branch" && small {
			d *= 2
		}
		if k.bug == "writes a tangent" && t.X.Data != nil {
			t.X.Data[i*t.X.Inc] = 0
		}
		if t.Y.Data != nil {
			t.Y.Data[i*t.Y.Inc] += T(sign * d)
		}
		if t.Sum != nil {
			*t.Sum += T(sign * d)
		}
	}
}

func (k gather[T]) adjointTangent(g, t, gt gather[T]) {
	if k.bug == "tangent by workers" && t.Sum != nil {
		*t.Sum += T(max(k.Workers, 1))
	}
	if k.bug == "rounds in two ways" && g.A != nil {
		*g.A += T(*g.A * 0x1p-52)
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
	X, Y  rev.Vector[T] `rev:"inout" shape:"n"`
	Theta *T            `rev:"in"`
	bug   string
}

func (k shear[T]) Run(p rev.Pass[shear[T]]) error {
	switch {
	case p.Adjoint && p.Tangent:
		return rev.ErrUnsupported
	case p.Adjoint && p.Back:
		k.adjoint(p.G)
	case p.Adjoint:
		k.inverseAdjoint(p.G)
	case p.Tangent && p.Back:
		k.inverseTangent(p.T)
	case p.Tangent:
		k.tangent(p.T)
	case p.Back:
		k.inverse()
	default:
		k.forward()
	}
	return nil
}

func (k shear[T]) at(i int) (x, y *T) { return &k.X.Data[i*k.X.Inc], &k.Y.Data[i*k.Y.Inc] }

func (k shear[T]) forward() {
	for i := range k.X.N {
		x, y := k.at(i)
		*y += T(*k.Theta * *x * *x)
		*x += T(*k.Theta * *y)
	}
}

func (k shear[T]) inverse() {
	for i := range k.X.N {
		x, y := k.at(i)
		*x -= T(*k.Theta * *y)
		*y -= T(*k.Theta * *x * *x)
	}
}

// pair returns pointers to the derivatives of x_i, y_i and θ. Where g has none, they
// point to fresh zeros.
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

func (k shear[T]) adjoint(g shear[T]) {
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

func (k shear[T]) inverseAdjoint(g shear[T]) {
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

func (k shear[T]) tangent(t shear[T]) {
	for i := range k.X.N {
		x, y := k.at(i)
		tx, ty, tth := k.pair(t, i)
		*ty += T(*tth**x**x) + T(2**k.Theta**x**tx)
		*y += T(*k.Theta * *x * *x)
		*tx += T(*tth**y) + T(*k.Theta**ty)
		*x += T(*k.Theta * *y)
	}
}

func (k shear[T]) inverseTangent(t shear[T]) {
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
	Y   rev.Vector[T] `rev:"acc" shape:"n"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
	bug string
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

func (k add[T]) Run(p rev.Pass[add[T]]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	addTo(k.Y, k.X, p.Back)
	if p.Back && k.bug == "last bit" && k.Y.N > 0 {
		*any(&k.Y.Data[0]).(*fixed.Q43)++
	}
	addTo(p.T.Y, p.T.X, p.Back)
	addTo(p.G.X, p.G.Y, false)
	return nil
}

// shift is the kernel Y += X + 1.
type shift[T rev.Real] struct {
	Y   rev.Vector[T] `rev:"acc" shape:"n"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
	bug string
}

func (k shift[T]) Run(p rev.Pass[shift[T]]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	one := fixed.Of[T](1)
	if k.bug == "raw constant" {
		one = 1
	}
	for i := range k.Y.N {
		if k.Y.Data != nil {
			k.Y.Data[i*k.Y.Inc] += T(T(p.Sign()) * (k.X.Data[i*k.X.Inc] + one))
		}
	}
	addTo(p.T.Y, p.T.X, p.Back)
	addTo(p.G.X, p.G.Y, false)
	return nil
}

// RunChecked looks at each element before it runs.
func (k shift[T]) RunChecked(back bool) error {
	at, p := -1, rev.Pass[shift[T]]{Back: back}
	for i := range k.Y.N {
		x := fixed.Q43(T(p.Sign()) * (k.X.Data[i*k.X.Inc] + fixed.Of[T](1)))
		if _, err := fixed.Q43(k.Y.Data[i*k.Y.Inc]).AddChecked(x); err != nil && T(1)/2 == 0 && (at < 0 || k.bug == "names the last") {
			at = i
		}
	}
	if at >= 0 && k.bug != "wraps" {
		if k.bug == "wraps, then fails" {
			_ = k.Run(p)
		}
		return rev.Overflow[shift[T]]("Y", at)
	}
	if at < 0 && k.bug == "checks other bits" && k.X.N > 0 {
		k.X.Data[0]++
	}
	return k.Run(p)
}

func shiftSpec[T rev.Real](bug string) Spec[shift[T]] {
	return Spec[shift[T]]{
		New: func(rnd *rand.Rand, n int) shift[T] {
			k := addSpec[T]("").New(rnd, n)
			return shift[T]{k.Y, k.X, bug}
		},
		Float64: PassesOf[shift[float64]](),
	}
}

func addSpec[T rev.Real | complex128](bug string) Spec[add[T]] {
	return Spec[add[T]]{Float64: PassesOf[add[float64]](), New: func(rnd *rand.Rand, n int) add[T] {
		x := make([]T, n)
		for i := range x {
			for range rnd.IntN(100) {
				x[i]++
			}
		}
		return add[T]{Y: rev.ViewSlice(make([]T, n)), X: rev.ViewSlice(x), bug: bug}
	}}
}

// reciprocal is the kernel Y += 1/x, which fails at 0.
type reciprocal struct {
	Y   *float64 `rev:"acc"`
	X   *float64 `rev:"in"`
	bug string
}

func (k reciprocal) Run(p rev.Pass[reciprocal]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	if k.bug == "writes, then fails" && k.Y != nil {
		*k.Y += 1
	}
	if *k.X == 0 && k.bug != "does not fail" || k.bug == "fails" {
		return errors.New("reciprocal of zero")
	}
	sign, slope := float64(p.Sign()), -1/(*k.X**k.X)
	if k.Y != nil {
		*k.Y += sign / *k.X
	}
	if p.G.X != nil && p.G.Y != nil {
		*p.G.X += float64(*p.G.Y * slope)
	}
	if p.T.X != nil && p.T.Y != nil {
		*p.T.Y += float64(sign * *p.T.X * slope)
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

// lift is the kernel x += θ², in place, with all passes.
type lift struct {
	X     *float64 `rev:"inout"`
	Theta *float64 `rev:"in"`
	bug   string
}

func (k lift) Run(p rev.Pass[lift]) error {
	g, t, gt := p.G, p.T, p.GT
	sign := float64(p.Sign())
	*k.X += float64(sign * *k.Theta * *k.Theta)
	if t.X != nil && t.Theta != nil {
		*t.X += float64(sign * 2 * *t.Theta * *k.Theta)
	}
	if g.Theta != nil && g.X != nil {
		*g.Theta -= float64(sign * 2 * *k.Theta * *g.X)
	}
	if gt.Theta == nil || k.bug == "uncall second order" && !p.Back {
		return nil
	}
	if gt.X != nil {
		*gt.Theta -= float64(sign * 2 * *k.Theta * *gt.X)
	}
	if g.X != nil && t.Theta != nil {
		*gt.Theta -= float64(sign * 2 * *t.Theta * *g.X)
	}
	return nil
}

func liftSpec(bug string) Spec[lift] {
	return Spec[lift]{New: func(rnd *rand.Rand, _ int) lift {
		x, theta := rnd.NormFloat64(), rnd.NormFloat64()
		return lift{X: &x, Theta: &theta, bug: bug}
	}}
}

// crossed is add. If bug names a method, that method does something else.
type crossed add[float64]

func (k crossed) Run(p rev.Pass[crossed]) error {
	return add[float64](k).Run(rev.Pass[add[float64]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent,
		G: add[float64](p.G), T: add[float64](p.T), GT: add[float64](p.GT),
	})
}

func (k crossed) Forward() error {
	if k.bug == "method without checks" {
		return k.Run(rev.Pass[crossed]{})
	}
	return k.Run(rev.ForwardPass(&k))
}

func (k crossed) Tangent(t crossed) error {
	if k.bug == "method of another pass" {
		return k.Run(rev.ForwardPass(&k))
	}
	return k.Run(rev.TangentPass(&k, &t))
}

func crossedSpec(bug string) Spec[crossed] {
	return Spec[crossed]{New: func(rnd *rand.Rand, n int) crossed {
		return crossed(addSpec[float64](bug).New(rnd, n))
	}}
}

// untagged is add without the tags that give X and Y the same length.
type untagged struct {
	Y   rev.Vector[float64] `rev:"acc"`
	X   rev.Vector[float64] `rev:"in"`
	bug string
}

func (k untagged) Run(p rev.Pass[untagged]) error {
	if k.bug == "wrong panic" && k.X.N != k.Y.N {
		panic("X and Y differ")
	}
	n := k.X.N
	if k.bug != "index panic" {
		k.X.N = min(n, k.Y.N)
	}
	addTo(k.Y, k.X, p.Back)
	if k.bug == "writes, then panics" && n != k.Y.N {
		panic(mat.ErrShape)
	}
	return nil
}

func untaggedSpec(bug string) Spec[untagged] {
	return Spec[untagged]{
		New: func(rnd *rand.Rand, n int) untagged {
			k := addSpec[float64]("").New(rnd, n)
			return untagged{k.Y, k.X, bug}
		},
		Sizes: []int{2},
		Free:  map[bool][]string{true: {"Y.N"}}[bug == "index panic" || bug == "writes, then panics"],
	}
}

func TestCorrectKernels(t *testing.T) {
	t.Run("gather64", func(t *testing.T) { Kernel(t, gatherSpec[float64]("")) })
	t.Run("gather32", func(t *testing.T) { Kernel(t, gatherSpec[float32]("")) })
	t.Run("shear64", func(t *testing.T) { Kernel(t, shearSpec[float64]("")) })
	t.Run("shear32", func(t *testing.T) { Kernel(t, shearSpec[float32]("")) })
	t.Run("addQ43", func(t *testing.T) { Kernel(t, addSpec[fixed.Q43]("")) })
	t.Run("addComplex", func(t *testing.T) { Kernel(t, addSpec[complex128]("")) })
	t.Run("shiftQ43", func(t *testing.T) { Kernel(t, shiftSpec[fixed.Q43]("")) })
	t.Run("crossed", func(t *testing.T) { Kernel(t, crossedSpec("")) })
	t.Run("lift", func(t *testing.T) { Kernel(t, liftSpec("")) })
	t.Run("reciprocal", func(t *testing.T) { Kernel(t, reciprocalSpec("")) })
}

// TestWithoutNew has kernels whose operands the tags do not say how to draw. The zero Spec of
// others draws all operands.
func TestWithoutNew(t *testing.T) {
	type sized struct {
		X     []float64 `rev:"inout" shape:"2*Width"`
		Width int
	}
	for _, test := range []struct {
		kernel reflect.Type
		ops    []rev.Operand
		want   string
	}{
		{reflect.TypeFor[gather[float64]](), rev.Operands[gather[float64]](), "has the index I"},
		{reflect.TypeFor[sized](), rev.Operands[sized](), "names the field Width"},
	} {
		err := func() (v any) {
			defer func() { v = recover() }()
			prepare(Spec[any]{}, &Passes{Kernel: test.kernel, Operands: test.ops})
			return nil
		}()
		if got, _ := err.(string); !strings.HasPrefix(got, "revtest: set Spec.New: ") || !strings.Contains(got, test.want) {
			t.Errorf("%v: panic %v, want %q", test.kernel, err, test.want)
		}
	}
	s := suiteOf(Spec[shear[float64]]{})
	k := s.New(rand.New(rand.NewPCG(1, 2)), 4).(*shear[float64])
	if k.X.N != 4 || k.Y.N != 4 || k.Theta == nil || k.X.Data[3] == 0 {
		t.Errorf("drew %+v", k)
	}
}

// untyped returns the suite of a kernel that is given by its passes.
func untyped(bug string) *suite {
	return prepare(erased(gatherSpec[float64](bug)), PassesOf[gather[float64]]())
}

func TestKernelOf(t *testing.T) {
	for _, second := range []bool{true, false} {
		p := PassesOf[lift]()
		all := p.Run
		p.Run = func(pass string, k, g, t, gt any) error {
			if pass == adjointTangent && !second {
				return rev.ErrUnsupported
			}
			return all(pass, k, g, t, gt)
		}
		KernelOf(t, *p, erased(liftSpec("")))
	}
	for _, b := range []broken{
		{DotProduct, "adjoint", nil, "the cotangent of X by Adjoint is wrong"},
		{SecondOrder, "hessian", nil, "differences of Adjoint"},
		{Gradients, "no gradient", nil, "cotangents after Gradient"},
	} {
		if err := only(untyped(b.bug), b.property); err == nil || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%s is caught as %v, want %q", b.bug, err, b.want)
		}
	}
}

// Passes do not take another type for the kernel's.
func TestOtherKernel(t *testing.T) {
	p, k := PassesOf[shift[fixed.Q43]](), shift[float64]{}
	for _, pass := range append([]string{forward}, checked...) {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of another kernel: no panic", pass)
				}
			}()
			_ = p.Run(pass, &k, nil, nil, nil)
		}()
	}
}

// TestErase fails where erase, or this test, leaves out a field of Spec.
func TestErase(t *testing.T) {
	got := reflect.ValueOf(erased(Spec[lift]{
		New: liftSpec("").New, Failing: liftSpec("").New, Sizes: []int{1}, Large: 1,
		RoundTrip: 1, Exact: true, Adjoint: 1, Difference: 1, Step: 1,
		Magnitudes: [2]float64{1, 2}, Float64: PassesOf[lift](), Rounding: 1,
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
	if err := s.probe(); err != nil {
		return err
	}
	i := slices.IndexFunc(s.properties(), func(q property) bool { return q.name == p })
	return s.check(s.properties()[i])
}

func brokenGather(p Property, bug string) error {
	spec := gatherSpec[float64](bug)
	late := make(chan time.Time, 1)
	spec.New = func(rnd *rand.Rand, n int) gather[float64] {
		k := gatherSpec[float64](bug).New(rnd, n)
		k.late = late
		return k
	}
	s := suiteOf(spec)
	s.after = func(time.Duration) <-chan time.Time { return late }
	return only(s, p)
}

func brokenShear(p Property, bug string) error { return only(suiteOf(shearSpec[float64](bug)), p) }

func brokenAdd(p Property, bug string) error { return only(suiteOf(addSpec[fixed.Q43](bug)), p) }

func brokenShift(p Property, bug string) error {
	spec := shiftSpec[fixed.Q43](bug)
	if bug == "not compared" {
		spec.Float64 = nil
	}
	return only(suiteOf(spec), p)
}

func brokenLift(p Property, bug string) error { return only(suiteOf(liftSpec(bug)), p) }

func brokenReciprocal(p Property, bug string) error {
	return only(suiteOf(reciprocalSpec(bug)), p)
}

func brokenCrossed(p Property, bug string) error { return only(suiteOf(crossedSpec(bug)), p) }

func brokenUntagged(p Property, bug string) error { return only(suiteOf(untaggedSpec(bug)), p) }

var brokenKernels = []broken{
	{RoundTrip, "inverse", brokenGather, "Sum is"},
	{RoundTrip, "leaks a gap", brokenGather, "holds a NaN"},
	{RoundTrip, "last bit", brokenAdd, "Y[0] is"},
	{RoundTrip, "fails", brokenReciprocal, "reciprocal of zero"},
	{RoundTrip, "wraps", brokenShift, "is the first element out of range"},
	{RoundTrip, "names the last", brokenShift, "is the first element out of range"},
	{RoundTrip, "wraps, then fails", brokenShift, "ForwardChecked, InverseChecked: Y["},
	{RoundTrip, "checks other bits", brokenShift, "ForwardChecked, InverseChecked: Y["},
	{AdjointRestores, "adjoint restores", brokenGather, "Y[0] is"},
	{AdjointRestores, "changes ḡy", brokenGather, "cotangents after Adjoint: Sum is"},
	{DotProduct, "adjoint", brokenGather, "the cotangent of X by Adjoint is wrong where only that of Y is not 0: ⟨g, J·t⟩"},
	{DotProduct, "both derivatives", brokenGather, "the tangent of Y by Tangent is wrong where only that of A is not 0: ⟨g, J·t⟩"},
	{DotProduct, "adjoint leaks a gap", brokenGather, "⟨g, J·t⟩ = "},
	{Tangents, "both derivatives", brokenGather, "differences of Forward"},
	{Tangents, "tangent without forward", brokenGather, "Tangent against Forward"},
	{Tangents, "one storage for all", brokenGather, "dense and gapped operands"},
	{SecondOrder, "hessian", brokenGather, "differences of Adjoint"},
	{SecondOrder, "second order restores", brokenGather, "operands after AdjointTangent"},
	{SecondOrder, "rounds in two ways", brokenGather, "AdjointTangent against Adjoint: A is"},
	{SecondOrder, "hangs in second order", brokenGather, "AdjointTangent: the kernel has not returned"},
	{SecondOrder, "second order leaves t", brokenGather, "tangents after AdjointTangent"},
	{SymmetricHessian, "hessian", brokenGather, "⟨H·u, v⟩"},
	{Magnitudes, "large branch", brokenGather, "where only the tangent of X is not 0"},
	{Magnitudes, "small branch", brokenGather, "tangents against differences of Forward"},
	{FixedPoint, "raw constant", brokenShift, "write fixed.Of[T](1) for 1"},
	{FixedPoint, "not compared", brokenShift, "set Spec.Float64 to revtest.PassesOf[shift[float64]]()"},
	{Accumulation, "overwrites", brokenGather, "gradient added to an old one: X"},
	{NilGradients, "needs an input's gradient", brokenGather, "panic"},
	{NilGradients, "one gradient needs another", brokenGather, "Z nil in g"},
	{NilGradients, "second order needs a gradient", brokenGather, "Z nil in g and gt, AdjointTangent"},
	{Omitted, "nil cotangent is one", brokenGather, "g against zeros: "},
	{Omitted, "tangent needs a tangent", brokenGather, "t against zeros: Y"},
	{NilOutputs, "needs an output", brokenGather, "acc operands nil"},
	{SharedInputs, "shared inputs", brokenGather, "X and Z have the same storage"},
	{ReadOnly, "writes an input", brokenGather, "Forward: X[0]"},
	{ReadOnly, "shifts and shifts back", brokenGather, "Forward: Z[0]"},
	{ReadOnly, "writes a tangent", brokenGather, "Tangent: tangents: X"},
	{RoundTrip, "hangs at three", brokenGather, "size 3, dense operands: the kernel has not returned"},
	{Tangents, "hangs at three", brokenGather, "revtest.gather[...].add"},
	{Gaps, "adds to a gap", brokenGather, "memory between or around the elements of Y"},
	{Gaps, "writes a gap", brokenGather, "memory between or around the elements of Y"},
	{Shapes, "no shape", brokenUntagged, "does not panic"},
	{Shapes, "wrong panic", brokenUntagged, "panics with X and Y differ"},
	{Shapes, "writes, then panics", brokenUntagged, "has written to its operands"},
	{Shapes, "index panic", brokenUntagged, "out of range"},
	{NaN, "hides NaN", brokenGather, "but the result of Forward has none"},
	{Extremes, "hangs", brokenGather, "has not returned"},
	{Extremes, "indexes by a value", brokenGather, "out of range"},
	{NoAllocation, "allocates", brokenGather, "allocates 1 times per call"},
	{Workers, "order of workers", brokenGather, "workers, against 1: Sum"},
	{Workers, "tangent by workers", brokenGather, "tangents after AdjointTangent with 2 workers, against 1: Sum"},
	{Uncall, "uncall", brokenShear, "InverseAdjoint: Theta"},
	{Uncall, "uncall tangent", brokenShear, "InverseTangent: Y"},
	{Uncall, "uncall second order", brokenLift, "InverseAdjointTangent: Theta"},
	{Gradients, "no gradient", brokenGather, "cotangents after Gradient"},
	{Methods, "method of another pass", brokenCrossed, "method Tangent against"},
	{Methods, "method without checks", brokenCrossed, "method Forward where"},
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
	for _, p := range suiteOf(gatherSpec[float64]("")).properties() {
		if !covered[p.name] {
			t.Errorf("no broken kernel for %s", p.name)
		}
	}
}

// erase takes a Spec for one of another type, so the two must lie in memory alike.
func TestEraseLayout(t *testing.T) {
	a, b := reflect.TypeFor[Spec[any]](), reflect.TypeFor[Spec[gather[float64]]]()
	if a.Size() != b.Size() || a.NumField() != b.NumField() {
		t.Fatalf("%d and %d fields of %d and %d bytes", a.NumField(), b.NumField(), a.Size(), b.Size())
	}
	for i := range a.NumField() {
		f, g := a.Field(i), b.Field(i)
		if f.Name != g.Name || f.Offset != g.Offset || f.Type != g.Type && f.Type.Kind() != reflect.Func {
			t.Errorf("fields %v and %v", f, g)
		}
	}
}

func suiteOf[K rev.Kernel[K]](spec Spec[K]) *suite { return newSuite(&spec) }

func erased[K any](spec Spec[K]) Spec[any] { return erase(&spec) }
