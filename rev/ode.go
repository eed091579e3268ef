package rev

import (
	"cmp"
	"errors"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/simd/vec"
)

// An ODE is the equation dx/dt = f(t, x). [Integrate] and [IntegrateWithin] solve it.
//
// X, DX and Z find places in the state s. All are of the same type and shape: slices, pointers, views without gaps,
// or structs of them and of numbers, over floating or fixed point. No number may be there twice. X
// holds x(t₀) before and x(t₁) after the step. Z holds zeros before, and the companion of x after; see
// [Integrate].
//
// RHS must add f(t, x) to DX and change nothing else in s, and must not read DX. What else it reads, such as
// the parameters of f, must be in s too. RHS may be any program; cmd/revgen writes a kernel for it from a
// plain function. While a step runs, X and DX hold other numbers; DX has its own again afterwards.
type ODE[S, X any] struct {
	RHS      Step[S] // dx += f(t, x)
	X, DX, Z func(s *S) *X

	// SetTime, if not nil, stores the time in s, where RHS finds it. Afterwards s has the time of x.
	// A cotangent that RHS adds to for it is that of t₀ and t₁ shifted together.
	SetTime func(s *S, t float64)

	// Coupling is λ of [Integrate], in (0, 1]. Zero means 1.
	Coupling float64

	// Continue says that the step goes on from one that ended at its t₀, as for observations at several
	// times. Z then holds the companion before too.
	Continue bool
}

// A Tableau is an explicit Runge-Kutta method of as many stages as B has elements: with the step size
// h, it goes from x(t) to x + Ψ_h(t, x), where
//
//	k_i = f(t + C_i·h, x + h·Σ_{j<i} A_ij·k_j)
//	Ψ_h(t, x) = h·Σ_i B_i·k_i
//
// For [IntegrateWithin], Error has the weights of an estimate h·Σ_i Error_i·k_i of the error, whose
// order in h is Order. See E. Hairer, S. P. Nørsett and G. Wanner, Solving ordinary differential
// equations I, second edition, 1993, section II.1.
type Tableau struct {
	A           [][]float64
	B, C, Error []float64
	Order       int
}

// RK4 is the classical method of order 4.
var RK4 = Tableau{
	A: [][]float64{nil, {1. / 2}, {0, 1. / 2}, {0, 0, 1}},
	B: []float64{1. / 6, 1. / 3, 1. / 3, 1. / 6},
	C: []float64{0, 1. / 2, 1. / 2, 1},
}

// DormandPrince is the method of order 5 of J. R. Dormand and P. J. Prince, A family of embedded
// Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980), with an estimate of the error.
var DormandPrince = Tableau{
	A: [][]float64{
		nil,
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	},
	B:     []float64{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0},
	C:     []float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1},
	Error: []float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40},
	Order: 5,
}

// check panics unless the tableau is well formed.
func (m *Tableau) check(name string) {
	ok := len(m.B) > 0 && len(m.A) == len(m.B) && len(m.C) == len(m.B)
	for i, row := range m.A {
		ok = ok && len(row) <= i
	}
	if !ok {
		panic(wrongArgument(name, "m", "has %d rows of A and %d elements of C for %d of B, want as many, and row i of A at most i elements", len(m.A), len(m.C), len(m.B)))
	}
}

// Integrate returns the step that takes x from t₀ to t₁ in n equal steps of the method m. It keeps
// nothing of the way: Inverse and Adjoint go back over it. Adjoint gives the derivatives of what was
// computed, not of the solution that it approximates.
//
// No explicit method is a bijection. Integrate therefore takes x and a companion z through pairs of
// steps that are, whatever the method is. With h = (t₁-t₀)/n it begins with z += x, unless it continues, and
// computes n times
//
//	x <- λ·x + (1-λ)·z + Ψ_h(t, z)
//	z <- z - Ψ₋ₕ(t + h, x)
//
// Both x and z approximate the solution to the order of the method. Each of the n takes two steps of m, and in
// Adjoint two steps and two adjoints. The companion has a gradient too: if something after the step reads
// z, its cotangent counts.
//
// With λ = 1, which fixed-point numbers need, nothing but sums occurs, and Inverse restores fixed point to
// the bit. But where solutions come together like e^(-a·t), the difference of x and z grows like e^(a·t), as in
// the leapfrog method: it begins with the error of m. Where λ < 1 it dies out if a·h < 1-λ. For stiff
// equations the pair is of no use: take [Treeverse] over steps of your own.
//
// Over floating point Inverse multiplies rounding by about e^(a·t), as solving such an equation
// backward does, and by up to λ⁻ⁿ. So choose λ as close to 1 as a·h allows. Inverse ends at z = 0 but for rounding.
// If z then is more than 2⁻²⁶ of its largest number (2⁻¹² for float32), the step returns a Violation: the
// states were not those of Forward, and the gradient would be wrong. [Checkpoint] over X and Z within shorter
// spans helps. If z is less, it is set to zero.
//
// In fixed point h·A_ij and h·B_i are rounded to 2⁻⁴³, which many short steps add up.
//
// The working memory does not depend on n. For each number of x it is as many numbers as m has stages and one
// more, and twice that in Adjoint. A pass allocates it once.
//
// Integrate panics if n is less than 1, if a time is not finite, if the tableau is not well formed, or if
// λ is not in (0, 1]. A λ other than 1 over fixed point is a Violation. So are views with gaps, numbers that X and Z
// have twice, shapes that differ, and a Z that is not zero. Cotangents and tangents of X and Z that are
// nil count as zero, but AdjointTangent needs both tangents, and otherwise returns [ErrUnsupported].
//
// The pair is the reversible method of S. McCallum and J. Foster, Efficient, accurate and stable gradients for
// neural ODEs, arXiv 2410.11648, 2024, section 2.
func Integrate[S, X any](ode ODE[S, X], m Tableau, t0, t1 float64, n int) Step[S] {
	const name = "Integrate"
	m.check(name)
	if n < 1 {
		panic(wrongArgument(name, "n", "is %d, want at least 1 step", n))
	}
	return Step[S]{node: newIntegrator(name, ode, m, t0, t1, n)}
}

// IntegrateWithin is like [Integrate], with steps whose sizes follow from the error that the tableau
// estimates in Ψ_h(t, z). The error of a step, divided by abs + rel·|x| for each number, has a root mean
// square of at most 1. Here |x| is the larger of z and z + Ψ_h(t, z). DormandPrince has an estimate, RK4 has none.
//
// Forward and Tangent choose the sizes, and keep them at sizes(s), as [Checkpoint] keeps its copies: a number
// a step. Inverse, Adjoint and AdjointTangent take them from there. Derivatives are those for these sizes: a
// size has no derivative of its own. The inverse of an Adjoint, which [Uncall] and [Routine] need, is not
// supported. Branches of [Parallel] need sizes of their own. Forward and Tangent take copies of x and z, and another
// of the stages, in addition to what Integrate takes.
//
// The estimate does not see that x and z come apart, as they do where solutions come together. If their
// difference, scaled as errors are, is more than 10 for each step so far, the step returns an error that is a
// *[ConvergenceError]. Integrate in shorter equal steps with λ < 1 then. It returns that error too if a step
// would have to be shorter than rounding of the time allows, and after a million steps. Its residual is
// what came last, where 1 is allowed. After an error all is as it was.
//
// IntegrateWithin panics where Integrate does, if the tableau has no estimate, if sizes is nil, and unless abs and
// rel are not negative and one is positive. With abs = 0, a number that is zero allows no error.
//
// The control of sizes is that of E. Hairer, S. P. Nørsett and G. Wanner, Solving ordinary differential
// equations I, second edition, 1993, section II.4.
func IntegrateWithin[S, X any](ode ODE[S, X], m Tableau, t0, t1, abs, rel float64, sizes func(s *S) *StepSizes) Step[S] {
	const name = "IntegrateWithin"
	m.check(name)
	switch {
	case len(m.Error) != len(m.B) || m.Order < 1:
		panic(wrongArgument(name, "m", "has no estimate of the error"))
	case !(abs >= 0 && rel >= 0 && abs+rel > 0 && abs+rel < math.Inf(1)):
		panic(wrongArgument(name, "abs or rel", "is wrong: they are %v and %v, want finite numbers that are not negative, and one positive", abs, rel))
	}
	if sizes == nil {
		panic(wrongArgument(name, "sizes", "is nil"))
	}
	v := newIntegrator(name, ode, m, t0, t1, 0)
	v.abs, v.rel, v.sizes = abs, rel, sizes
	return Step[S]{node: v}
}

// StepSizes are the sizes that [IntegrateWithin] has chosen. The zero value is empty.
type StepSizes struct {
	kept [][]float64 // a stack, of a slice for each run
}

// Last returns the sizes of the last run, in their order.
func (z *StepSizes) Last() []float64 {
	if len(z.kept) == 0 {
		return nil
	}
	return append([]float64(nil), z.kept[len(z.kept)-1]...)
}

type integrator[S, X any] struct {
	ODE[S, X]
	Tableau
	label    string
	t0, t1   float64
	n        int // of equal steps, 0 if sizes follow from errors
	used     int // stages that matter for Ψ
	abs, rel float64
	sizes    func(s *S) *StepSizes
}

func newIntegrator[S, X any](name string, ode ODE[S, X], m Tableau, t0, t1 float64, n int) *integrator[S, X] {
	if math.IsNaN(t0-t1) || math.IsInf(t0-t1, 0) {
		panic(wrongArgument(name, "t0 or t1", "is not finite: the times are %v and %v", t0, t1))
	}
	if ode.Coupling == 0 {
		ode.Coupling = 1
	}
	if !(ode.Coupling > 0 && ode.Coupling <= 1) {
		panic(wrongArgument(name, "Coupling of ode", "is %v, want a number in (0, 1]", ode.Coupling))
	}
	v := &integrator[S, X]{ODE: ode, Tableau: m, label: name, t0: t0, t1: t1, n: n, used: len(m.B)}
	for v.used > 1 && m.B[v.used-1] == 0 {
		v.used--
	}
	return v
}

func (v *integrator[S, X]) name() string { return v.label }

func (v *integrator[S, X]) run(p pass) error {
	r := &odeRun[S, X]{integrator: v, p: p}
	chain := &Chain[S, X]{Step: v.RHS, X: v.X, Y: v.DX}
	r.chain = chain.begin(p)
	r.x, r.z = r.chain.first, r.chain.held(v.Z)
	defer func() {
		for _, a := range r.absent {
			*a.at = a.was
		}
		r.chain.put(v.Z, r.z)
		r.chain.end()
	}()
	if err := r.room(); err != nil {
		return err
	}
	err := r.all()
	if v.SetTime != nil {
		t := v.t1
		if p.back == (err == nil) {
			t = v.t0
		}
		v.SetTime((*S)(p.s), t)
	}
	return err
}

// An odeRun is a pass over an integration.
type odeRun[S, X any] struct {
	*integrator[S, X]
	chain  *chainRun[S, X] // not embedded: its methods would be compiled again
	p      pass
	x, z   chainLink[X]
	absent []absentDerivative[X]

	u *chainState[X]   // an argument of f
	k []*chainState[X] // k_i, by stages
	// Cotangents of u and of k_i.
	uBar *chainState[X]
	kBar []*chainState[X]

	ready   bool      // whether k has the stages of the next increment
	numbers []float64 // of states, to scale an error
}

// An absentDerivative is where zeros stand for a derivative that is nil, and what was there.
type absentDerivative[X any] struct {
	at  *X
	was X
}

// room allocates the working memory, and finds the numbers of x and z.
func (r *odeRun[S, X]) room() error {
	for _, c := range [...]*chainState[X]{r.x.state, r.z.state, r.chain.last.state} {
		v := reflect.ValueOf(&c.v).Elem()
		if hasGaps(v) {
			return &Violation{r.label, "X, DX and Z must be without gaps", v.Type()}
		}
		c.memV = leaves(nil, spans(nil, v))
		if !sameShape(r.x.state.memV, c.memV) {
			return &Violation{r.label, "DX and Z must have the numbers of X, which are", count(r.x.state.memV)}
		}
	}
	if overlapping(append(slices.Clone(r.x.state.memV), r.z.state.memV...)) {
		return &Violation{r.label, "X and Z must have no number twice", r.x.state.v}
	}
	for _, m := range r.x.state.memV {
		if m.elem == reflect.TypeFor[fixed.Q43]() && r.Coupling != 1 {
			return &Violation{r.label, "over fixed point the coupling must be 1", r.Coupling}
		}
	}
	for _, l := range [...]chainLink[X]{r.x, r.z} {
		err := r.complete(r.p.t != nil, &l.state.d, &l.state.memD)
		if err == nil {
			err = r.complete(r.p.g != nil, &l.cotangent.v, &l.cotangent.memV)
		}
		if len(r.absent) > 0 && r.p.g != nil && r.p.t != nil && r.absent[len(r.absent)-1].at == &l.state.d {
			return &Unsupported{r.label, r.p.String()}
		}
		if err == nil {
			err = r.complete(r.p.gt != nil, &l.cotangent.d, &l.cotangent.memD)
		}
		if err != nil {
			return err
		}
	}
	r.u = r.scratch(&r.chain.states, r.p.t != nil)
	for range r.B {
		r.k = append(r.k, r.scratch(&r.chain.states, r.p.t != nil))
	}
	if r.p.g != nil {
		r.uBar = r.scratch(&r.chain.cotangents, r.p.gt != nil)
		for range r.used {
			r.kBar = append(r.kBar, r.scratch(&r.chain.cotangents, r.p.gt != nil))
		}
	}
	return nil
}

// complete finds the numbers of a derivative of x or z. If it is absent, zeros stand for it until the end.
func (r *odeRun[S, X]) complete(wanted bool, v *X, mem *[]numberSpan) error {
	if !wanted {
		return nil
	}
	find := func() { *mem = leaves(nil, spans(nil, reflect.ValueOf(v).Elem())) }
	if find(); len(*mem) == 0 && len(r.x.state.memV) > 0 {
		r.absent = append(r.absent, absentDerivative[X]{v, *v})
		*v = *ZeroLike(&r.x.state.v)
		find()
	}
	if !sameShape(r.x.state.memV, *mem) || hasGaps(reflect.ValueOf(v).Elem()) {
		return &Violation{r.label, "derivatives of X and Z must have the numbers of X, without gaps, which are", count(r.x.state.memV)}
	}
	return nil
}

func (r *odeRun[S, X]) scratch(pool *chainPool[X], tangent bool) *chainState[X] {
	c := pool.take(&r.x.state.v, tangent)
	c.memV, c.memD = leaves(nil, c.memV), leaves(nil, c.memD)
	return c
}

// all makes the pass, and undoes what it has done if it fails.
func (r *odeRun[S, X]) all() error {
	if !r.p.back && !r.Continue && r.z.state.largest() != 0 {
		return &Violation{r.label, "Z must be zero before, or Continue be set", r.z.state.v}
	}
	if r.n == 0 {
		return r.adaptive()
	}
	h := (r.t1 - r.t0) / float64(r.n)
	at := func(k int) (t, size float64) {
		return r.t0 + float64(float64(r.p.place(k, r.n))*h), h
	}
	if !r.p.back {
		_ = r.join(r.p)
	}
	return r.steps(r.n, at)
}

// steps makes n steps of the pass, where at returns the time and size of the k-th, and after them the end of a
// pass back. On an error it runs their inverses.
func (r *odeRun[S, X]) steps(n int, at func(k int) (t, h float64)) error {
	for k := range n {
		t, h := at(k)
		if err := r.both(r.p, t, h); err != nil {
			return r.undo(err, k, at)
		}
	}
	if r.p.back {
		if err := r.join(r.p); err != nil {
			return r.undo(err, n, at)
		}
	}
	return nil
}

// undo takes the first k steps of the pass back, after an error.
func (r *odeRun[S, X]) undo(err error, k int, at func(k int) (t, h float64)) error {
	q := r.p.inverse()
	var reason error
	for k--; k >= 0 && reason == nil; k-- {
		t, h := at(k)
		reason = r.both(q, t, h)
	}
	if !r.p.back && reason == nil {
		reason = r.join(q)
	}
	return notRestored(err, reason)
}

// adaptive makes the pass with sizes that follow from errors, or that were kept.
func (r *odeRun[S, X]) adaptive() error {
	kept := &r.sizes((*S)(r.p.s)).kept
	last := len(*kept) - 1
	switch {
	case r.p.g != nil && !r.p.back:
		return &Unsupported{r.label, r.p.String()}
	case r.p.back && last < 0:
		return &Violation{r.label, "there must be sizes that a pass forward kept, but their number is", 0}
	case r.p.back:
		sizes := (*kept)[last]
		times := make([]float64, len(sizes))
		t := r.t0
		for i, h := range sizes {
			times[i] = t
			t += h
		}
		if math.Abs(t-r.t1) > 1e-6*math.Abs(r.t1-r.t0) {
			return &Violation{r.label, "the sizes must be those of this step, with the end", t}
		}
		err := r.steps(len(sizes), func(k int) (t, h float64) { return times[len(sizes)-1-k], sizes[len(sizes)-1-k] })
		if err == nil {
			*kept = (*kept)[:last:last] // so that copies of the state do not share what comes next
		}
		return err
	}
	var was [2]*chainState[X]
	for i, l := range [...]chainLink[X]{r.x, r.z} {
		was[i] = r.scratch(&r.chain.states, r.p.t != nil)
		was[i].add(1, 1, l.state)
	}
	sizes, err := r.choose()
	if err != nil {
		for i, l := range [...]chainLink[X]{r.x, r.z} {
			l.state.copy(was[i])
		}
		return err
	}
	*kept = append((*kept)[:last+1:last+1], sizes)
	return nil
}

// choose makes a pass forward, and returns the sizes of its steps.
func (r *odeRun[S, X]) choose() (sizes []float64, err error) {
	_ = r.join(r.p)
	h, err := r.firstSize()
	if err != nil {
		return nil, err
	}
	const most = 1_000_000
	e := math.NaN()
	fail := func() error {
		return &ConvergenceError{Kernel: r.label, Iterations: len(sizes), Residual: e, Tol: 1}
	}
	for t := r.t0; t != r.t1; {
		last := math.Abs(h) >= math.Abs(r.t1-t)*(1-1e-12)
		if last {
			h = r.t1 - t
		}
		if t+h == t || len(sizes) == most {
			return nil, fail()
		}
		if err := r.stages(r.p.forwardOnly(), r.z.state, t, h, len(r.B)); err != nil {
			return nil, err
		}
		e = r.scaledError(h)
		// A smaller step for an error above 1, and at most ten times as large a one else.
		next := float64(h * 0.2)
		if e < math.Inf(1) {
			next = float64(h * min(10, max(0.2, 0.9*math.Pow(e, -1/float64(r.Order)))))
		}
		if !(e <= 1) {
			h = next
			continue
		}
		r.ready = true
		if err := r.both(r.p, t, h); err != nil {
			return nil, err
		}
		sizes = append(sizes, h)
		if apart := r.apart(); !(apart <= 10*float64(len(sizes))) {
			e = apart
			return nil, fail()
		}
		if t += h; last {
			break
		}
		h = next
	}
	return sizes, nil
}

// apart returns the root mean square of x - z, in the units of the tolerance.
func (r *odeRun[S, X]) apart() float64 {
	r.numbers = appendNumbers(r.numbers[:0], r.x.state.memV)
	n := len(r.numbers)
	r.numbers = appendNumbers(r.numbers, r.z.state.memV)
	sum := 0.
	for i, x := range r.numbers[:n] {
		z := r.numbers[n+i]
		sum += r.square(x-z, x, z)
	}
	return math.Sqrt(sum / float64(max(1, n)))
}

// square returns the square of an error e of a number that is x or y, in the units of the tolerance.
func (r *odeRun[S, X]) square(e, x, y float64) float64 {
	if e == 0 {
		return 0
	}
	e /= r.abs + float64(r.rel*max(math.Abs(x), math.Abs(y)))
	return float64(e * e)
}

// scaledError returns the root mean square of the error that the stages estimate, in the units of the
// tolerance.
func (r *odeRun[S, X]) scaledError(h float64) float64 {
	r.numbers = appendNumbers(r.numbers[:0], r.z.state.memV)
	n := len(r.numbers)
	for _, k := range r.k {
		r.numbers = appendNumbers(r.numbers, k.memV)
	}
	sum := 0.
	for i, x := range r.numbers[:n] {
		e, step := 0., 0.
		for j, weight := range r.Error {
			k := r.numbers[(j+1)*n+i]
			e += float64(weight * k)
			step += float64(r.B[j] * k)
		}
		sum += r.square(h*e, x, x+float64(h*step))
	}
	return math.Sqrt(sum / float64(max(1, n)))
}

// firstSize returns a size to begin with, such that a step of Euler's method changes little.
func (r *odeRun[S, X]) firstSize() (float64, error) {
	if err := r.stages(r.p.forwardOnly(), r.z.state, r.t0, 0, 1); err != nil {
		return 0, err
	}
	x, f := appendNumbers(nil, r.z.state.memV), appendNumbers(nil, r.k[0].memV)
	var d0, d1 float64
	for i, v := range x {
		scale := r.abs + float64(r.rel*math.Abs(v))
		d0, d1 = math.Hypot(d0, v/scale), math.Hypot(d1, f[i]/scale)
	}
	length := r.t1 - r.t0
	h := math.Abs(length)
	if d1 > 0 && d1 < math.Inf(1) {
		h = min(h, max(0.01*d0/d1, 1e-6*h))
	}
	return math.Copysign(h, length), nil
}

// join makes z += x, the beginning, or its inverse:
//
//	z += x,  x̄ += z̄ back
//
// A pass back returns a Violation if it leaves more than rounding in z.
func (r *odeRun[S, X]) join(p pass) error {
	if r.Continue {
		return nil
	}
	largest := r.z.state.largest()
	r.z.state.add(p.sign(), 1, r.x.state)
	if p.back && !r.z.state.isRemoved(largest) {
		left := r.z.state.largest()
		r.z.state.add(1, 1, r.x.state)
		return &Violation{r.label, "the companion must be zero before, but Inverse left", left}
	}
	if p.back {
		for _, m := range r.z.state.memV { // of rounding; the tangent of z may have been another than zero
			clear(m.slice())
		}
	}
	if p.g != nil {
		r.x.cotangent.add(-p.sign(), 1, r.z.cotangent)
	}
	return nil
}

// sign returns -1 if p runs back, and 1 otherwise.
func (p pass) sign() int {
	if p.back {
		return -1
	}
	return 1
}

// both makes the pass p of a step from t to t+h:
//
//	x <- λ·x + (1-λ)·z + Ψ_h(t, z)
//	z <- z - Ψ₋ₕ(t+h, x)
func (r *odeRun[S, X]) both(p pass, t, h float64) error {
	first := func(p pass) error {
		if !p.back {
			r.mix(p)
		}
		if err := r.increment(p, 1, r.x, r.z, t, h); err != nil {
			if !p.back {
				r.mix(p.inverse())
			}
			return err
		}
		if p.back {
			r.mix(p)
		}
		return nil
	}
	second := func(p pass) error { return r.increment(p, -1, r.z, r.x, t+h, -h) }
	if p.back {
		first, second = second, first
	}
	if err := first(p); err != nil {
		return err
	}
	if err := second(p); err != nil {
		return notRestored(err, first(p.inverse()))
	}
	return nil
}

// mix makes the pass p of x <- λ·x + (1-λ)·z:
//
//	back     x <- (x - (1-λ)·z)/λ,  z̄ += (1-λ)·x̄,  x̄ <- λ·x̄
//	forward  z̄ -= (1-λ)·x̄/λ,  x̄ <- x̄/λ
func (r *odeRun[S, X]) mix(p pass) {
	l := r.Coupling
	if l == 1 {
		return
	}
	if p.back {
		r.x.state.add(-1, 1-l, r.z.state)
		r.x.state.scale(1 / l)
	} else {
		r.x.state.scale(l)
		r.x.state.add(1, 1-l, r.z.state)
	}
	if p.g == nil {
		return
	}
	if p.back {
		r.z.cotangent.add(1, 1-l, r.x.cotangent)
		r.x.cotangent.scale(l)
	} else {
		r.x.cotangent.scale(1 / l)
		r.z.cotangent.add(-1, 1-l, r.x.cotangent)
	}
}

// increment makes the pass p of to += sign·Ψ_h(t, from). Its adjoint is, with c = sign·h and from the
// last stage to the first,
//
//	k̄_i = c·B_i·tō + h·Σ_{j>i} A_ji·ū_j
//	ū_i = J(t + C_i·h, u_i)ᵀ·k̄_i,  from̄ += ū_i
//
// On an error only cotangents may have changed.
func (r *odeRun[S, X]) increment(p pass, sign int, to, from chainLink[X], t, h float64) error {
	if !r.ready {
		if err := r.stages(p.forwardOnly(), from.state, t, h, r.used); err != nil {
			return err
		}
	}
	r.ready = false
	sign *= p.sign()
	for i, k := range r.k[:r.used] {
		to.state.add(sign, h*r.B[i], k)
	}
	if p.g == nil {
		return nil
	}
	for i, k := range r.kBar {
		k.clear()
		k.add(-sign, h*r.B[i], to.cotangent)
	}
	q := p
	q.back = true
	for i := r.used - 1; i >= 0; i-- {
		r.argument(from.state, i, h)
		r.uBar.clear()
		r.setTime(t + float64(r.C[i]*h))
		if err := r.chain.step(q, 0, chainLink[X]{r.u, r.uBar}, chainLink[X]{r.k[i], r.kBar[i]}); err != nil {
			again := r.increment(p.inverse().primal(), sign*p.sign(), to, from, t, h)
			return notRestored(within(r.label, err), errors.Join(again, ErrUnsupported))
		}
		from.cotangent.add(1, 1, r.uBar)
		for j, a := range r.A[i] {
			r.kBar[j].add(1, h*a, r.uBar)
		}
	}
	return nil
}

// stages computes the first n of k_i, and with tangents theirs.
func (r *odeRun[S, X]) stages(ahead pass, from *chainState[X], t, h float64, n int) error {
	for i, k := range r.k[:n] {
		k.clear()
		r.argument(from, i, h)
		r.setTime(t + float64(r.C[i]*h))
		if err := r.chain.step(ahead, 0, chainLink[X]{state: r.u}, chainLink[X]{state: k}); err != nil {
			return within(r.label, err)
		}
	}
	return nil
}

// argument computes u = from + h·Σ_j A_ij·k_j.
func (r *odeRun[S, X]) argument(from *chainState[X], i int, h float64) {
	r.u.clear()
	r.u.add(1, 1, from)
	for j, a := range r.A[i] {
		r.u.add(1, h*a, r.k[j])
	}
}

func (r *odeRun[S, X]) setTime(t float64) {
	if r.SetTime != nil {
		r.SetTime((*S)(r.p.s), t)
	}
}

// add adds sign·c·d to the state, and likewise its tangent. Over fixed point the signs 1 and -1 undo each
// other to the bit.
func (s *chainState[X]) add(sign int, c float64, d *chainState[X]) {
	if c == 0 {
		return
	}
	for i, m := range s.memV {
		m.add(sign, c, d.memV[i])
	}
	for i, m := range s.memD {
		m.add(sign, c, d.memD[i])
	}
}

func (s *chainState[X]) scale(c float64) {
	for _, list := range [...][]numberSpan{s.memV, s.memD} {
		for _, m := range list {
			m.scale(c)
		}
	}
}

// copy makes s equal to d, with its tangent.
func (s *chainState[X]) copy(d *chainState[X]) {
	for i, m := range s.memV {
		copy(m.slice(), d.memV[i].slice())
	}
	for i, m := range s.memD {
		copy(m.slice(), d.memD[i].slice())
	}
}

// leaves appends spans of plain numbers that cover those of the list.
func leaves(to, list []numberSpan) []numberSpan {
	for _, m := range list {
		if elem := plainElem(m.elem); elem != nil {
			to = append(to, numberSpan{m.at, m.bytes, elem})
			continue
		}
		for at := uintptr(0); at < m.bytes; at += m.elem.Size() {
			if m.elem.Kind() == reflect.Array {
				to = leaves(to, []numberSpan{{unsafe.Add(m.at, at), m.elem.Size(), m.elem.Elem()}})
				continue
			}
			for i := range m.elem.NumField() {
				f := m.elem.Field(i)
				to = leaves(to, []numberSpan{{unsafe.Add(m.at, at+f.Offset), f.Type.Size(), f.Type}})
			}
		}
	}
	return to
}

// plainElem returns the type of plain numbers that t, an array or a struct, has nothing but, or nil.
func plainElem(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Array:
		return plainElem(t.Elem())
	case reflect.Struct:
		elem := plainElem(t.Field(0).Type)
		for i := range t.NumField() {
			if plainElem(t.Field(i).Type) != elem {
				return nil
			}
		}
		return elem // numbers of one type have no padding
	}
	return t
}

// hasGaps reports whether v leads to a view with elements that are not its own.
func hasGaps(v reflect.Value) bool {
	switch t := v.Type(); {
	case isNumberType(t):
	case t.Kind() == reflect.Struct:
		switch k, _, _ := kindOf(t); k {
		case Vec: // N, Data, Inc
			return v.Field(1).Len() > 0 && v.Field(1).Len() != int(v.Field(0).Int())
		case Gen: // Rows, Cols, Data, Stride
			return v.Field(2).Len() > 0 && v.Field(2).Len() != int(v.Field(0).Int()*v.Field(1).Int())
		}
		for i := range t.NumField() {
			if hasGaps(exported(v.Field(i))) {
				return true
			}
		}
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			if hasGaps(v.Index(i)) {
				return true
			}
		}
	case t.Kind() == reflect.Pointer && !v.IsNil():
		return hasGaps(v.Elem())
	case t.Kind() == reflect.Slice && v.Len() > 0 && !isNumberType(t.Elem()):
		for i := range v.Len() {
			if hasGaps(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

// overlapping reports whether two spans share memory. It sorts the list.
func overlapping(list []numberSpan) bool {
	slices.SortFunc(list, func(a, b numberSpan) int { return cmp.Compare(uintptr(a.at), uintptr(b.at)) })
	for i := 1; i < len(list); i++ {
		if uintptr(list[i-1].at)+list[i-1].bytes > uintptr(list[i].at) {
			return true
		}
	}
	return false
}

func sameShape(a, b []numberSpan) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].bytes != b[i].bytes || a[i].elem != b[i].elem {
			return false
		}
	}
	return true
}

func count(list []numberSpan) (n int) {
	for _, m := range list {
		n += int(m.bytes / m.elem.Size())
	}
	return n
}

func numbersOf[T any](m numberSpan) []T {
	return unsafe.Slice((*T)(m.at), m.bytes/unsafe.Sizeof(*new(T)))
}

// add adds sign·c times the numbers of x to those of m. Over fixed point each product is rounded.
func (m numberSpan) add(sign int, c float64, x numberSpan) {
	switch m.elem.Kind() {
	case reflect.Float64, reflect.Complex128:
		vec.Axpy(float64(sign)*c, numbersOf[float64](x), numbersOf[float64](m))
	case reflect.Float32, reflect.Complex64:
		vec.Axpy(float32(float64(sign)*c), numbersOf[float32](x), numbersOf[float32](m))
	default:
		fixedpoint.Axpy(sign, fixed.FromFloat64(c), numbersOf[fixed.Q43](x), numbersOf[fixed.Q43](m))
	}
}

// scale multiplies the numbers of m, which are floating, by c.
func (m numberSpan) scale(c float64) {
	switch m.elem.Kind() {
	case reflect.Float64, reflect.Complex128:
		x := numbersOf[float64](m)
		vec.ScaleTo(x, c, x)
	default:
		x := numbersOf[float32](m)
		vec.ScaleTo(x, float32(c), x)
	}
}

// appendNumbers appends the numbers of the spans; a complex number is two.
func appendNumbers(to []float64, list []numberSpan) []float64 {
	for _, m := range list {
		switch m.elem.Kind() {
		case reflect.Float64, reflect.Complex128:
			to = append(to, numbersOf[float64](m)...)
		case reflect.Float32, reflect.Complex64:
			for _, x := range numbersOf[float32](m) {
				to = append(to, float64(x))
			}
		default:
			for _, x := range numbersOf[fixed.Q43](m) {
				to = append(to, x.Float64())
			}
		}
	}
	return to
}
